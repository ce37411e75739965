/* json.c: counts commas and brackets, and writes strings. */
#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "lengthen.h"

size_t lg__json_values(const char *text, size_t n)
{
    size_t values = 1;
    int string = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '"')
            string = !string;
        else if (string)
            i += c == '\\'; /* what comes next, a quote too, is a letter */
        else
            values += c == ',' ? 1 : c == '[' || c == '{' ? 4 : 0;
    }
    return values;
}

size_t lg_utf8_letter(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t m = s[0] < 0x80   ? 1
               : s[0] < 0xC2 ? 0
               : s[0] < 0xE0 ? 2
               : s[0] < 0xF0 ? 3
               : s[0] < 0xF5 ? 4
                             : 0;
    if (m > n) return 0;
    for (size_t i = 1; i < m; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return m;
}

/* The letter at text[*at] as JSON has it; moves *at behind it. Returns the bytes of `letter`. */
static size_t json_letter(const char *text, size_t n, size_t *at, char letter[8])
{
    size_t m = lg_utf8_letter(text + *at, n - *at);
    unsigned char c = (unsigned char)text[*at];
    const char *from = text + *at;
    *at += m ? m : 1;
    if (m == 0) return (size_t)snprintf(letter, 8, "\\ufffd");
    if (c == '"' || c == '\\') return (size_t)snprintf(letter, 8, "\\%c", c);
    if (c == '\n') return (size_t)snprintf(letter, 8, "\\n");
    if (c < 0x20 || c == 0x7f) return (size_t)snprintf(letter, 8, "\\u%04x", c);
    if (m == 2 && c == 0xc2 && (unsigned char)from[1] < 0xa0) /* controls, too */
        return (size_t)snprintf(letter, 8, "\\u%04x", (unsigned char)from[1]);
    memcpy(letter, from, m);
    return m;
}

void lg_buffer_json(lg_buffer *b, const char *text, size_t n)
{
    char letter[8];
    lg_buffer_put(b, text ? "\"" : "null");
    for (size_t at = 0; text && at < n;)
        lg_buffer_add(b, letter, json_letter(text, n, &at, letter));
    if (text) lg_buffer_put(b, "\"");
}
