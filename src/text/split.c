/* split.c: a text into words by GPT-2's pattern (through PCRE2), what of it is valid UTF-8, and
 * NFC (through utf8proc) where a text is not in it yet. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/error.h"
#include "text/text.h"

/* ---- Words ----------------------------------------------------------------------------------- */

/* White space is spelled out: PCRE2's \s also has U+180E, which Unicode took out of it. */
#define SPACE "\\p{Z}\\x09-\\x0d\\x{85}"
static const char pattern[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACE
                              "\\p{L}\\p{N}]+|[" SPACE "]+(?![^" SPACE "])|[" SPACE "]+";

struct lg__split {
    pcre2_code *code;
    pcre2_match_data *match;
    int jit;
};

void lg__split_free(struct lg__split *s)
{
    if (!s) return;
    pcre2_match_data_free(s->match);
    pcre2_code_free(s->code);
    free(s);
}

struct lg__split *lg__split_new(lg_error *err)
{
    int code = 0;
    PCRE2_SIZE at;
    struct lg__split *s = lg__alloc(sizeof *s);
    if (s)
        s->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED | PCRE2_NO_START_OPTIMIZE,
                                &code, &at, NULL);
    if (s && s->code) s->match = pcre2_match_data_create(1, NULL);
    if (!s || !s->match) {
        lg__split_free(s);
        lg__fail(err, LG_ERROR_MEMORY, "PCRE2 could not compile the pattern of words (code %d)",
                 code);
        return NULL;
    }
    s->jit = pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE) == 0;
    return s;
}

/* The classes of the pattern, for ASCII. */
enum { LETTER = 1, DIGIT, BLANK, OTHER, WIDE };
static int class_of(unsigned char c)
{
    if (c >= 0x80) return WIDE;
    if ((c | 32) >= 'a' && (c | 32) <= 'z') return LETTER;
    if (c >= '0' && c <= '9') return DIGIT;
    return c == ' ' || (c >= 9 && c <= 13) ? BLANK : OTHER;
}

/* The first word, as the pattern has it, where it is ASCII with ASCII or nothing behind it: letters,
 * digits or signs of one class, perhaps with a space before them. These are most words of most
 * texts. 0: the pattern must say. */
static size_t ascii_word(const unsigned char *text, size_t n)
{
    size_t i = text[0] == ' ' && n > 1;
    int class = class_of(text[i]);
    if (text[0] == '\'' || class == BLANK || class == WIDE) return 0;
    do i++;
    while (i < n && class_of(text[i]) == class);
    return i < n && text[i] >= 0x80 ? 0 : i;
}

size_t lg__split_pattern(struct lg__split *s, const char *text, size_t n)
{
    PCRE2_SPTR at = (PCRE2_SPTR)text;
    int found = s->jit ? pcre2_jit_match(s->code, at, n, 0, PCRE2_NO_UTF_CHECK, s->match, NULL)
                       : pcre2_match(s->code, at, n, 0, PCRE2_NO_UTF_CHECK, s->match, NULL);
    size_t end = found < 0 ? 0 : pcre2_get_ovector_pointer(s->match)[1];
    return end ? end : n; /* every text begins with a word; without room to find it, all is one */
}

size_t lg__split_word(struct lg__split *s, const char *text, size_t n)
{
    size_t quick = ascii_word((const unsigned char *)text, n);
    return quick ? quick : lg__split_pattern(s, text, n);
}

/* ---- UTF-8 --------------------------------------------------------------------------------- */

size_t lg__utf8_valid(const char *text, size_t n, int *high)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t i = 0;
    *high = 0;
    while (i < n) {
        uint64_t eight;
        if (i + 8 <= n && (memcpy(&eight, s + i, 8), (eight & 0x8080808080808080u) == 0)) {
            i += 8;
            continue;
        }
        size_t m = lg_utf8_letter(text + i, n - i);
        if (m == 0) break;
        *high |= s[i] >= 0xCC; /* U+0300 and later */
        i += m;
    }
    return i;
}

/* ---- NFC ----------------------------------------------------------------------------------- */

/* Whether a letter stays what it is whatever stands around it: the first 0x300 do but for marks
 * behind them; then what is no mark, does not decompose, and is not part of a composed one. */
static int settled(int32_t letter)
{
    if (letter < 0x300) return 1;
    if (letter >= 0x1100 && letter < 0x1200) return 0; /* parts of Hangul, composed by rule */
    const utf8proc_property_t *p = utf8proc_get_property(letter);
    return p->combining_class == 0 && p->decomp_seqindex == UINT16_MAX &&
           p->comb_index == UINT16_MAX;
}

static int32_t letter_at(const char *text, size_t n, size_t *bytes)
{
    utf8proc_int32_t letter;
    *bytes = (size_t)utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)n, &letter);
    return letter;
}

/* Where a stretch that is not settled begins (with the letter before it) and ends; n: nowhere. */
static size_t unsettled(const char *text, size_t n, size_t from, size_t *end)
{
    size_t bytes, before = from;
    for (size_t i = from; i < n; before = i, i += bytes) {
        bytes = 1;
        if ((unsigned char)text[i] < 0x80) continue;
        if (settled(letter_at(text + i, n - i, &bytes))) continue;
        for (*end = i + bytes; *end < n && (unsigned char)text[*end] >= 0xCC; *end += bytes)
            letter_at(text + *end, n - *end, &bytes);
        return before;
    }
    return n;
}

/* n bytes in NFC behind those of out; *used grows. */
static int compose(struct lg__block *out, size_t *used, const char *text, size_t n, lg_error *err)
{
    const utf8proc_option_t how = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    const utf8proc_uint8_t *from = (const utf8proc_uint8_t *)text;
    utf8proc_ssize_t letters = utf8proc_decompose(from, (utf8proc_ssize_t)n, NULL, 0, how);
    if (letters < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT, "the text cannot be brought into NFC: %s",
                        utf8proc_errmsg(letters));
    size_t at = (*used + 3) / 4 * 4; /* letters are 4 bytes, and become at most as many */
    int e = lg__reserve(out, at + 4 * (size_t)letters + 4, "text in NFC", err);
    if (e) return e;
    utf8proc_int32_t *letter = (utf8proc_int32_t *)(void *)((char *)out->data + at);
    utf8proc_decompose(from, (utf8proc_ssize_t)n, letter, letters, how);
    utf8proc_ssize_t bytes = utf8proc_reencode(letter, letters, how);
    memmove((char *)out->data + *used, letter, (size_t)bytes);
    *used += (size_t)bytes;
    return 0;
}

int lg__nfc(struct lg__block *out, const char **text, size_t *n, lg_error *err)
{
    size_t used = 0, from = 0, end = 0, at = unsettled(*text, *n, 0, &end);
    if (at == *n) return 0;
    while (from < *n) {
        int e = lg__reserve(out, used + (at - from) + 1, "text in NFC", err);
        if (e) return e;
        memcpy((char *)out->data + used, *text + from, at - from);
        used += at - from;
        if (at == *n) break;
        e = compose(out, &used, *text + at, end - at, err);
        if (e) return e;
        from = end;
        at = unsettled(*text, *n, from, &end);
    }
    *text = out->data;
    *n = used;
    return 0;
}
