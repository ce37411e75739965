/* tokenizer.c: `lengthen tokenizer`: trains byte-level BPE, encodes, decodes, shows what a tokenizer
 * is, and keeps the tokens of a corpus. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"

const char lg_cmd_tokenizer_help[] =
    "Usage: lengthen tokenizer train TEXTS.. -o FILE.json [--vocab N] [--field KEY]\n"
    "       lengthen tokenizer encode TOKENIZER [FILE | --string TEXT] [--pieces]\n"
    "       lengthen tokenizer decode TOKENIZER [TOKENS..]\n"
    "       lengthen tokenizer show TOKENIZER [TOKENS..]\n"
    "       lengthen tokenizer cache TOKENIZER [TEXTS..] -o FILE.tokens [--field KEY]\n"
    "\n"
    "train learns byte-level BPE from texts and writes a tokenizer.json that Hugging Face's tools\n"
    "read too; the same texts give the same file. encode turns a text into the numbers of its\n"
    "tokens, decode turns them back into the same bytes. show says what a tokenizer is, or what\n"
    "the given tokens are. cache keeps the tokens of all documents of a corpus in one file, from\n"
    "which training reads; without texts it says what is in it. See docs/TEXT.md.\n"
    "\n"
    "TOKENIZER is Hugging Face's tokenizer.json (byte-level BPE: GPT-NeoX, OLMo, GPT-2), GPT-2's\n"
    "encoder.json with vocab.bpe beside it (or vocab.json with merges.txt), llama2.c's\n"
    "tokenizer.bin, a folder with one of these, or the word bytes.\n"
    "TEXTS are files, folders and globs: plain text (a document a file, or several with a line\n"
    "<|endoftext|> between them), JSON lines (.jsonl, .json) with the text under the key "
    "\"text\",\n"
    "as C4's, and both packed with gzip (.gz). They are streamed, never whole in memory.\n"
    "\n"
    "  --vocab N        tokens to learn, with the 256 bytes and the end of text (4096)\n"
    "  -o, --save FILE  what to write; what is there is replaced when all is done, not before\n"
    "  --field KEY      the key of the text in JSON lines (text)\n"
    "  --string TEXT    the text itself instead of a file; without either stdin is read\n"
    "  --pieces         a line a token: its number and its text\n"
    "  --json           one object\n"
    "\n"
    "Examples:\n"
    "  lengthen tokenizer train books/ -o my.json --vocab 4096\n"
    "  lengthen tokenizer encode my.json --string 'Once upon a time' --pieces\n"
    "  lengthen tokenizer encode my.json book.txt | lengthen tokenizer decode my.json\n"
    "  lengthen tokenizer cache my.json 'c4/*.json.gz' -o c4.tokens\n";

struct request {
    const char *out, *field, *text;
    int vocab;
    int json, pieces;
    char **rest; /* what is no option, behind the subcommand */
    int count;
    double start, shown;
};

/* ---- Progress ------------------------------------------------------------------------------- */

/* A line on the terminal, with the time that is left; 0 after Ctrl-C. */
static int tell(struct request *q, const char *what, double done, const char *more)
{
    double now = lg_cli_now();
    if (isatty(STDERR_FILENO) && now - q->shown > 0.2) {
        double left = done > 0.01 ? (now - q->start) * (1 - done) / done : -1;
        q->shown = now;
        fprintf(stderr, "\r\033[K%s %.0f%%%s", what, 100 * done, more);
        if (left >= 0) fprintf(stderr, ", %d:%02d left", (int)left / 60, (int)left % 60);
    }
    return !lg_cli_interrupted;
}

static void end_progress(struct request *q)
{
    if (q->shown > 0) fputs("\r\033[K", stderr);
    lg_cli_catch_interrupts(0);
}

static int watch_train(void *context, const lg_bpe_progress *p)
{
    struct request *q = context;
    char more[80];
    if (p->merging && q->vocab) { /* the second half has a clock of its own */
        q->start = lg_cli_now();
        q->vocab = 0;
    }
    snprintf(more, sizeof more, ", %lld words, %d tokens", (long long)p->words, (int)p->vocab);
    return tell(q, p->merging ? "merging" : "reading", p->done, more);
}

static int watch_cache(void *context, const lg_corpus_progress *p)
{
    struct request *q = context;
    char more[120];
    double seconds = lg_cli_now() - q->start;
    snprintf(more, sizeof more, ", %lld documents, %.1f million tokens, %.1f MB/s",
             (long long)p->documents, 1e-6 * (double)p->tokens,
             seconds > 0 ? 1e-6 * (double)p->bytes / seconds : 0);
    return tell(q, "reading", p->done, more);
}

/* ---- train ------------------------------------------------------------------------------------ */

static int train(struct request *q)
{
    lg_error err = {0};
    lg_bpe_result r;
    int32_t asked = q->vocab;
    if (!q->count) return lg_cli_wrong("tokenizer", "train on which texts? Name files or folders");
    if (!q->out) return lg_cli_wrong("tokenizer", "where to? Name the file with -o FILE.json");
    lg_bpe_options o = {.paths = (const char *const *)q->rest,
                        .path_count = q->count,
                        .field = q->field,
                        .vocab = q->vocab,
                        .file = q->out,
                        .watch = watch_train,
                        .context = q};
    double start = q->start;
    lg_cli_catch_interrupts(1);
    int e = lg_bpe_train(&o, &r, &err);
    end_progress(q);
    if (e) return lg_cli_error("tokenizer", err.code, &err);
    double seconds = lg_cli_now() - start;
    if (q->json) {
        printf("{\"file\":");
        lg_cli_json(stdout, q->out);
        printf(",\"vocab\":%d,\"documents\":%lld,\"bytes\":%lld,\"words\":%lld,\"seconds\":%.2f}\n",
               (int)r.vocab, (long long)r.documents, (long long)r.bytes, (long long)r.words,
               seconds);
        return LG_EXIT_DONE;
    }
    printf("%s: %d tokens, learned from %lld documents, %.1f MB with %lld different words, in %.1f "
           "s\n",
           q->out, (int)r.vocab, (long long)r.documents, 1e-6 * (double)r.bytes, (long long)r.words,
           seconds);
    if (r.vocab < asked)
        printf(
            "No pair comes twice any more, so there are fewer tokens than %d; with more text there "
            "would be more.\n",
            (int)asked);
    return LG_EXIT_DONE;
}

/* ---- encode, decode ------------------------------------------------------------------------------ */

/* Bytes of a token so that they stay on their line; what is not a visible letter as \xHH. */
static void print_piece(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\\')
            fputs("\\\\", stdout);
        else if (c == '\n')
            fputs("\\n", stdout);
        else if (c >= 0x20 && c < 0x7f)
            putchar(c);
        else
            printf("\\x%02X", c);
    }
}

static void print_tokens(const struct request *q, const lg_tokenizer *t, const int32_t *tokens,
                         size_t count, size_t bytes)
{
    if (q->json) printf("{\"bytes\":%zu,\"count\":%zu,\"tokens\":[", bytes, count);
    for (size_t i = 0; i < count; i++) {
        if (!q->pieces || q->json) {
            printf("%s%d", !i ? "" : q->json ? "," : " ", (int)tokens[i]);
            continue;
        }
        size_t n = 0;
        const char *piece = lg_tokenizer_piece(t, tokens[i], &n);
        printf("%-7d ", (int)tokens[i]);
        print_piece(piece, n);
        putchar('\n');
    }
    fputs(q->json ? "]}\n" : q->pieces ? "" : "\n", stdout);
}

static int encode(struct request *q, lg_tokenizer *t)
{
    lg_error err = {0};
    const int32_t *tokens;
    size_t n = 0, count;
    if (q->count > (q->text ? 0 : 1))
        return lg_cli_wrong("tokenizer", "encode takes one file or --string; \"%s\" is too much",
                            q->rest[q->count - 1]);
    char *text = q->text ? NULL : lg_cli_read_all("tokenizer", q->count ? q->rest[0] : "-", &n);
    if (!q->text && !text) return LG_EXIT_FAILED;
    int e = q->text ? lg_tokenizer_encode(t, q->text, n = strlen(q->text), &tokens, &count, &err)
                    : lg_tokenizer_encode(t, text, n, &tokens, &count, &err);
    if (!e) print_tokens(q, t, tokens, count, n);
    free(text);
    return e ? lg_cli_error("tokenizer", err.code, &err) : LG_EXIT_DONE;
}

/* The numbers in a text, separated by spaces, commas or brackets, behind those there are; NULL after
 * it was said what is wrong. */
static int32_t *read_numbers(const char *text, int32_t *tokens, size_t *count)
{
    for (const char *at = text + strspn(text, " \t\r\n,[]"); *at; at += strspn(at, " \t\r\n,[]")) {
        char *end;
        errno = 0;
        long v = strtol(at, &end, 10);
        int32_t *more = (*count & (*count - 1)) && tokens
                            ? tokens
                            : realloc(tokens, (2 * *count + 2) * sizeof *tokens);
        if (end == at || errno || v < 0 || v > INT32_MAX || !more ||
            (*end && !strchr(" \t\r\n,[]", *end))) {
            lg_cli_wrong("tokenizer", "\"%.20s\" is no number of a token", at);
            free(more ? more : tokens);
            return NULL;
        }
        tokens = more;
        tokens[(*count)++] = (int32_t)v;
        at = end;
    }
    return tokens;
}

/* Tokens from the arguments, or else from stdin. */
static int32_t *read_tokens(const struct request *q, size_t *count)
{
    int32_t *tokens = calloc(1, sizeof *tokens);
    *count = 0;
    for (int i = 0; i < q->count && tokens; i++) tokens = read_numbers(q->rest[i], tokens, count);
    if (q->count || !tokens) return tokens;
    size_t n;
    char *text = lg_cli_read_all("tokenizer", "-", &n);
    if (text)
        tokens = read_numbers(text, tokens, count);
    else
        free(tokens), tokens = NULL;
    free(text);
    return tokens;
}

static int decode(struct request *q, lg_tokenizer *t)
{
    lg_error err = {0};
    const char *text;
    size_t n, count;
    int32_t *tokens = read_tokens(q, &count);
    if (!tokens) return LG_EXIT_USE;
    int e = lg_tokenizer_decode(t, tokens, count, &text, &n, &err);
    free(tokens);
    if (e) return lg_cli_error("tokenizer", err.code, &err);
    if (q->json) {
        printf("{\"bytes\":%zu,\"text\":", n);
        lg_cli_json_text(stdout, text, n);
        printf("}\n");
    } else {
        fwrite(text, 1, n, stdout);
    }
    return LG_EXIT_DONE;
}

/* ---- show, cache ------------------------------------------------------------------------------------ */

static int show_tokens(struct request *q, lg_tokenizer *t)
{
    size_t count, n = 0;
    int32_t *tokens = read_tokens(q, &count);
    if (!tokens) return LG_EXIT_USE;
    for (size_t i = 0; i < count; i++)
        if (!lg_tokenizer_piece(t, tokens[i], &n)) {
            int code = lg_cli_wrong("tokenizer", "there is no token %d; they are 0 to %d",
                                    (int)tokens[i], (int)lg_tokenizer_get_info(t).vocab - 1);
            free(tokens);
            return code;
        }
    q->pieces = 1;
    for (size_t i = 0; i < count && q->json; i++) {
        const char *piece = lg_tokenizer_piece(t, tokens[i], &n);
        printf("{\"token\":%d,\"hex\":\"", (int)tokens[i]);
        for (size_t j = 0; j < n; j++) printf("%02x", (unsigned char)piece[j]);
        printf("\"}\n");
    }
    if (!q->json) print_tokens(q, t, tokens, count, 0);
    free(tokens);
    return LG_EXIT_DONE;
}

static void print_special(const char *name, const lg_tokenizer *t, int32_t token)
{
    size_t n = 0;
    if (token == LG_NONE) return;
    const char *piece = lg_tokenizer_piece(t, token, &n);
    printf("%-11s %d ", name, (int)token);
    print_piece(piece, n);
    putchar('\n');
}

static int show(struct request *q, lg_tokenizer *t)
{
    if (q->count) return show_tokens(q, t);
    lg_tokenizer_info i = lg_tokenizer_get_info(t);
    if (q->json) {
        printf("{\"kind\":");
        lg_cli_json(stdout, i.kind);
        printf(",\"vocab\":%d,\"tokens\":%d,\"merges\":%lld,\"added\":%d,\"bytes\":%d,\"begin\":%d,"
               "\"end\":%d,\"nfc\":%s,\"prefix_space\":%s,\"checksum\":\"%016llx\"}\n",
               (int)i.vocab, (int)i.tokens, (long long)i.merges, i.added, i.bytes, (int)i.begin,
               (int)i.end, i.nfc ? "true" : "false", i.prefix_space ? "true" : "false",
               (unsigned long long)i.checksum);
        return LG_EXIT_DONE;
    }
    printf("kind        %s\ntokens      %d, from 0 to %d\n", i.kind, (int)i.tokens,
           (int)i.vocab - 1);
    if (i.merges) printf("merges      %lld\n", (long long)i.merges);
    if (i.added) printf("added       %d, found in the text as they are\n", i.added);
    printf("bytes       %d of 256 have a token\n", i.bytes);
    if (i.nfc) printf("normalises  NFC\n");
    if (i.prefix_space) printf("prefix      a space before the text\n");
    print_special("begin", t, i.begin);
    print_special("end", t, i.end);
    printf("checksum    %016llx\n", (unsigned long long)i.checksum);
    return LG_EXIT_DONE;
}

static int cache(struct request *q, lg_tokenizer *t)
{
    lg_error err = {0};
    if (!q->out) return lg_cli_wrong("tokenizer", "which cache? Name the file with -o FILE.tokens");
    lg_corpus_options o = {.paths = (const char *const *)q->rest,
                           .path_count = q->count,
                           .field = q->field,
                           .cache = q->out,
                           .watch = watch_cache,
                           .context = q};
    lg_cli_catch_interrupts(1);
    lg_corpus *c = lg_corpus_open(&o, t, &err);
    end_progress(q);
    if (!c) return lg_cli_error("tokenizer", err.code, &err);
    if (lg_corpus_note(c)) fprintf(stderr, "lengthen tokenizer: %s\n", lg_corpus_note(c));
    long long documents = lg_corpus_documents(c, LG_CORPUS_ALL);
    long long tokens = lg_corpus_tokens(c, LG_CORPUS_ALL), bytes = lg_corpus_bytes(c);
    double seconds = lg_cli_now() - q->start;
    lg_corpus_free(c);
    if (q->json)
        printf("{\"documents\":%lld,\"tokens\":%lld,\"bytes\":%lld,\"seconds\":%.2f}\n", documents,
               tokens, bytes, seconds);
    else
        printf("%s: %lld documents, %lld tokens of %.2f bytes, in %.1f s\n", q->out, documents,
               tokens, tokens ? (double)bytes / (double)tokens : 0, seconds);
    return LG_EXIT_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------- */

static int read_options(struct request *q, int argc, char **argv)
{
    const struct lg_cli_option rows[] = {
        {"vocab", .whole = &q->vocab, .least = 258, .most = 1000000},
        {"save", .letter = 'o', .text = &q->out},
        {"field", .text = &q->field},
        {"string", .text = &q->text},
        {"pieces", .flag = &q->pieces},
        {"json", .flag = &q->json},
        {0},
    };
    int code = lg_cli_options("tokenizer", rows, &argc, &argv);
    q->rest = argv;
    q->count = argc;
    return code;
}

int lg_cmd_tokenizer(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(struct request *q, lg_tokenizer *t);
    } part[] = {{"encode", encode}, {"decode", decode}, {"show", show}, {"cache", cache}};
    static const char *const names[] = {"train", "encode", "decode", "show", "cache"};
    struct request q = {.vocab = 4096, .start = lg_cli_now()};
    lg_error err = {0};
    int code = read_options(&q, argc, argv);
    if (code) return code;
    const char *name = q.count ? q.rest[0] : "";
    q.rest++;
    q.count--;
    if (strcmp(name, "train") == 0) return train(&q);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (strcmp(name, part[i].name) != 0) continue;
        if (q.count < 1)
            return lg_cli_wrong("tokenizer", "%s with which tokenizer? Name its file", name);
        lg_tokenizer *t = lg_tokenizer_open(q.rest[0], &err);
        if (!t) return lg_cli_error("tokenizer", err.code, &err);
        q.rest++;
        q.count--;
        code = part[i].run(&q, t);
        lg_tokenizer_free(t);
        return code;
    }
    const char *nearest = lg_cli_nearest(name, names, sizeof names / sizeof *names);
    return lg_cli_wrong(
        "tokenizer", "\"%s\" is none of train, encode, decode, show and cache%s%s%s", name,
        nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}
