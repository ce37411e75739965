/* bench_text.c: how fast text becomes tokens. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "measure/bench.h"
#include "text/text.h"
#include "base/clock.h"

enum { MADE = 2 << 20, MOST = 64 << 20, DISTINCT = 30000, VOCAB = 4096 };

/* Of this thread: what others do on the machine in the meantime does not count. */
static double busy(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct text {
    struct lg__block bytes;
    size_t n;
};

/* Words made of random letters; the k-th comes with probability about 1/k. */
static int make_text(struct text *t, lg_error *err)
{
    lg_rng draw;
    int e = lg__reserve(&t->bytes, MADE + 64, "text", err);
    lg_rng_init(&draw, 1, 0, 0);
    for (char *to = t->bytes.data; !e && t->n < MADE;) {
        uint32_t word = (uint32_t)exp(lg_rng_uniform(&draw) * log(DISTINCT));
        lg_rng letters;
        lg_rng_init(&letters, 1, 1, word);
        uint32_t n = 1 + lg_rng_below(&letters, 4) + (word > 100 ? lg_rng_below(&letters, 8) : 0);
        for (uint32_t i = 0; i < n; i++)
            to[t->n++] =
                "etaoinsrhldcumfpgwybvkxjqz"[lg_rng_below(&letters, 2 + 3 * (1 + word % 8))];
        if (lg_rng_below(&draw, 12) == 0) to[t->n++] = lg_rng_below(&draw, 3) ? ',' : '.';
        to[t->n++] = lg_rng_below(&draw, 80) ? ' ' : '\n';
    }
    return e;
}

static int add_piece(void *context, const struct lg__piece *p, lg_error *err)
{
    struct text *t = context;
    size_t n = p->n < MOST - t->n ? p->n : MOST - t->n;
    int e = lg__reserve(&t->bytes, t->n + n + 1, "text", err);
    if (e) return e;
    memcpy((char *)t->bytes.data + t->n, p->text, n);
    t->n += n;
    return t->n == MOST; /* enough */
}

static int read_text(struct text *t, const char *path, lg_error *err)
{
    struct lg__sources s;
    int e = lg__sources_find(&s, &path, 1, err);
    if (e) return e;
    e = lg__documents(&s, NULL, add_piece, t, err);
    lg__sources_free(&s);
    if (e >= 0 && !t->n)
        e = lg__fail(err, LG_ERROR_ARGUMENT, "%s has no text in it: name another", path);
    return e < 0 ? e : 0;
}

/* Learned from the text itself, by way of files that are gone afterwards. */
static lg_tokenizer *learn(const struct text *t, lg_error *err)
{
    char folder[] = "/tmp/lengthen-bench-XXXXXX", text[64], json[64];
    lg_tokenizer *made = NULL;
    if (!mkdtemp(folder)) {
        lg__fail(err, LG_ERROR_SYSTEM, "no folder could be made in /tmp: check your rights");
        return NULL;
    }
    snprintf(text, sizeof text, "%s/text.txt", folder);
    snprintf(json, sizeof json, "%s/tokenizer.json", folder);
    FILE *f = fopen(text, "wb");
    int error = !f || fwrite(t->bytes.data, 1, t->n, f) != t->n ? errno : 0;
    if (f && fclose(f) != 0 && !error) error = errno;
    const char *path = text;
    lg_bpe_options o = {.paths = &path, .path_count = 1, .vocab = VOCAB, .file = json};
    lg_bpe_result r;
    if (error)
        lg__fail_write(err, text, error);
    else if (lg_bpe_train(&o, &r, err) == 0)
        made = lg_tokenizer_open(json, err);
    unlink(text);
    unlink(json);
    rmdir(folder);
    return made;
}

/* Best of several passes over the text. */
static int measure(lg_tokenizer *t, const struct text *text, double seconds, lg_bench_row *row,
                   lg_error *err)
{
    double end = lg__now() + seconds;
    for (int pass = 0; pass < 3 || lg__now() < end; pass++) {
        const int32_t *tokens;
        size_t count, all = 0;
        double since = busy();
        for (size_t at = 0, n; at < text->n; at += n, all += count) {
            n = text->n - at < LG__PIECE ? text->n - at : LG__PIECE;
            int e = lg__tokenizer_encode(t, (const char *)text->bytes.data + at, n, 0, &tokens,
                                         &count, err);
            if (e) return e;
        }
        double took = busy() - since + 1e-9;
        if (1e-9 * (double)text->n / took > row->gbytes) {
            row->gbytes = 1e-9 * (double)text->n / took;
            row->tokens_per_s = (double)all / took;
        }
    }
    return 0;
}

int lg_bench_text(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err)
{
    struct text text = {0};
    int e = o->text ? read_text(&text, o->text, err) : make_text(&text, err);
    lg_tokenizer *t = e              ? NULL
                      : o->tokenizer ? lg_tokenizer_open(o->tokenizer, err)
                                     : learn(&text, err);
    if (!e && !t) e = err ? err->code : LG_ERROR_SYSTEM;
    const char *slash = o->tokenizer ? strrchr(o->tokenizer, '/') : NULL;
    lg_bench_row row = {.bench = "text",
                        .name = slash          ? slash + 1
                                : o->tokenizer ? o->tokenizer
                                               : "own BPE",
                        .threads = 1};
    if (!e) e = measure(t, &text, o->seconds, &row, err);
    if (!e) report(context, &row);
    lg_tokenizer_free(t);
    lg__block_free(&text.bytes);
    return e;
}
