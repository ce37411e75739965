/* jsonl.c: the user's own examples, from a file with one JSON object per line. All of it is held
 * in memory, flat. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "tasks/lines.h"
#include "base/hash.h"

enum { SELECTIONS = 16 };
enum { VOCAB, TEST }; /* the settings */

struct line {
    size_t first; /* place of its first token */
    int n, answer, length, sparsity;
    int held;       /* it is held out */
    int64_t number; /* in the file, from 1 */
    uint64_t sum;   /* of its words: the content by which it is held out */
};

/* The lines of a side within a range, in the order of the file. */
struct selection {
    int length_lo, length_hi, sparsity_lo, sparsity_hi;
    lg_side side;
    int32_t *line;
    int count;
};

struct store {
    struct lg__line_parser parser;
    struct lg__block tokens, labels[LG_LEVELS], loss, lines;
    size_t used; /* tokens */
    int count;   /* lines */
    /* Ranges asked for lately. The lock guards them; all else stays as it was opened. */
    pthread_mutex_t lock;
    int locked; /* the lock was made */
    struct selection selection[SELECTIONS];
    int oldest;
};

/* ---- Reading ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Of the words with the zeros between them, whatever their numbers are; mixed. */
static uint64_t sum_words(const struct lg_task *t, const lg_example *x)
{
    uint64_t h = LG__FNV_START;
    for (int i = 0; i < x->n; i++) {
        const char *word = t->words[x->tokens[i]];
        h = lg__fnv(h, word, strlen(word) + 1);
    }
    return mix(h);
}

/* Makes room for n more entries behind `used` of them. */
static int grow(struct lg__block *b, size_t used, size_t n, size_t size, lg_error *err)
{
    if ((used + n) * size <= b->size) return 0;
    size_t room = used + n > 2 * used ? used + n + 1024 : 2 * used;
    return lg__block_grow(b, room * size, 1, "the examples of a file", err);
}

static int keep(struct store *s, const lg_example *x, lg_error *err)
{
    size_t n = (size_t)x->n, bytes = n * sizeof(int32_t);
    int e;
    if (s->count == INT32_MAX)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s has too many lines; split it", s->parser.name);
    if ((e = grow(&s->lines, (size_t)s->count, 1, sizeof(struct line), err)) ||
        (e = grow(&s->tokens, s->used, n, sizeof(int32_t), err)) ||
        (e = grow(&s->loss, s->used, n, 1, err)))
        return e;
    for (int l = 0; l < s->parser.levels; l++) {
        if ((e = grow(&s->labels[l], s->used, n, sizeof(int32_t), err))) return e;
        memcpy((int32_t *)s->labels[l].data + s->used, x->labels[l], bytes);
    }
    memcpy((int32_t *)s->tokens.data + s->used, x->tokens, bytes);
    memcpy((unsigned char *)s->loss.data + s->used, x->loss, n);
    ((struct line *)s->lines.data)[s->count++] = (struct line){.first = s->used,
                                                               .n = x->n,
                                                               .answer = x->answer,
                                                               .length = x->length,
                                                               .sparsity = x->sparsity,
                                                               .number = s->parser.line,
                                                               .sum = sum_words(s->parser.t, x)};
    s->used += n;
    return 0;
}

static int read_lines(struct store *s, struct lg__lines *lines, struct lg__survey *survey,
                      lg_error *err)
{
    lg_example x;
    char *text;
    size_t size;
    int e, first = 1;
    lg_example_init(&x);
    while ((e = lg__lines_next(lines, s->parser.name, &text, &size, err)) > 0) {
        s->parser.line = lines->line;
        e = lg__line_parse(&s->parser, text, size, first, &x, err);
        if (e < 0 || (e > 0 && (e = keep(s, &x, err)))) break;
        if (s->count > survey->examples) lg__survey_add(survey, &x, s->parser.levels);
        first = 0;
    }
    lg_example_clear(&x);
    return e;
}

/* ---- Holding out ------------------------------------------------------------------------------- */

static int by_content(const void *a, const void *b)
{
    const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->sum > y->sum) - (x->sum < y->sum);
}

static int by_words(const void *a, const void *b)
{
    const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;
    return (x->sum > y->sum) - (x->sum < y->sum);
}

/* Of each length a share of the different contents, those with the lowest sums: which ones depends on
 * nothing but the contents, and lines that are the same are all on one side. */
static int hold_out(struct store *s, double share, lg_error *err)
{
    struct line *lines = s->lines.data, **sorted = lg__alloc((size_t)s->count * sizeof *sorted);
    if (!sorted)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no memory for the lines of a file; end other programs");
    for (int i = 0; i < s->count; i++) sorted[i] = &lines[i];
    qsort(sorted, (size_t)s->count, sizeof *sorted, by_content);
    for (int from = 0, to; from < s->count; from = to) {
        int contents = 0, held = 0;
        for (to = from; to < s->count && sorted[to]->length == sorted[from]->length; to++)
            contents += to == from || sorted[to]->sum != sorted[to - 1]->sum;
        int wanted = (int)(share * contents + 0.5);
        for (int i = from; i < to; i++) {
            held += i == from || sorted[i]->sum != sorted[i - 1]->sum;
            sorted[i]->held = held <= wanted;
        }
    }
    /* Lines of the same words with other lengths: on one side, too. */
    qsort(sorted, (size_t)s->count, sizeof *sorted, by_words);
    for (int from = 0, to; from < s->count; from = to) {
        int held = 1;
        for (to = from; to < s->count && sorted[to]->sum == sorted[from]->sum; to++)
            held &= sorted[to]->held;
        for (int i = from; i < to; i++) sorted[i]->held = held;
    }
    free(sorted);
    return 0;
}

static int open_jsonl(struct lg_task *t, lg_error *err)
{
    struct lg__survey survey = {0};
    const char *vocabulary = t->value[VOCAB].text;
    struct store *s = t->own = lg__alloc(sizeof *s);
    int e;
    if (!s) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a file; end other programs");
    s->parser = (struct lg__line_parser){.t = t, .name = t->argument, .between = ":", .levels = -1};
    if (pthread_mutex_init(&s->lock, NULL))
        return lg__fail(err, LG_ERROR_SYSTEM, "no lock could be made; end other programs");
    s->locked = 1;
    if ((e = lg__line_vocabulary(&s->parser, vocabulary, err))) return e;
    struct lg__lines lines = {.fd = open(t->argument, O_RDONLY | O_CLOEXEC)};
    if (lines.fd < 0)
        return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s; check the name", t->argument,
                        strerror(errno));
    e = read_lines(s, &lines, &survey, err);
    close(lines.fd);
    free(lines.buffer);
    if (e) return e;
    if (!s->count)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: there is no example in it; write one JSON object per line",
                        t->argument);
    lg__survey_shape(&survey, s->parser.levels, t);
    return hold_out(s, strtod(t->value[TEST].text, NULL), err);
}

static void close_jsonl(struct lg_task *t)
{
    struct store *s = t->own;
    if (!s) return;
    lg__texts_free(&s->parser.words);
    lg__block_free(&s->tokens);
    lg__block_free(&s->loss);
    lg__block_free(&s->lines);
    for (int l = 0; l < LG_LEVELS; l++) lg__block_free(&s->labels[l]);
    for (int i = 0; i < SELECTIONS; i++) free(s->selection[i].line);
    if (s->locked) pthread_mutex_destroy(&s->lock);
}

/* ---- Drawing ---------------------------------------------------------------------------------- */

static int in_range(const struct line *line, const lg_draw *d)
{
    int any_sparsity = !d->sparsity_lo && !d->sparsity_hi;
    return (d->side == LG_SIDE_ANY || line->held == (d->side == LG_SIDE_TEST)) &&
           line->length >= d->length_lo && line->length <= d->length_hi &&
           (any_sparsity || (line->sparsity >= d->sparsity_lo && line->sparsity <= d->sparsity_hi));
}

/* The selection of this range, made if it is not there; in place of the oldest. */
static struct selection *find_selection(struct store *s, const lg_draw *d, lg_error *err)
{
    const struct line *lines = s->lines.data;
    for (int i = 0; i < SELECTIONS; i++) {
        struct selection *c = &s->selection[i];
        if (c->line && c->length_lo == d->length_lo && c->length_hi == d->length_hi &&
            c->sparsity_lo == d->sparsity_lo && c->sparsity_hi == d->sparsity_hi &&
            c->side == d->side)
            return c;
    }
    struct selection made = {
        d->length_lo, d->length_hi, d->sparsity_lo, d->sparsity_hi, d->side, NULL, 0};
    for (int i = 0; i < s->count; i++) made.count += in_range(&lines[i], d);
    made.line = lg__alloc((size_t)made.count * sizeof *made.line);
    if (!made.line) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for the lines of a range; end other programs");
        return NULL;
    }
    for (int i = 0, n = 0; i < s->count; i++)
        if (in_range(&lines[i], d)) made.line[n++] = i;
    struct selection *place = &s->selection[s->oldest];
    s->oldest = (s->oldest + 1) % SELECTIONS;
    free(place->line);
    *place = made;
    return place;
}

/* Where `at` goes in a random permutation of 0..n-1 that is nowhere written down (Hoang, Morris,
 * Rogaway 2012, swap or not): a round pairs all places by a random reflection and swaps each pair
 * by a coin of its own, so that places can be followed one by one. */
static uint32_t permute(lg_rng *r, uint32_t n, uint32_t at)
{
    int rounds = 8;
    for (uint32_t m = n; m; m /= 2) rounds += 6;
    uint64_t key = (uint64_t)lg_rng_u32(r) << 32 | lg_rng_u32(r);
    for (int i = 0; i < rounds; i++) {
        uint32_t sum = lg_rng_below(r, n), other = sum >= at ? sum - at : n - at + sum;
        uint64_t pair = at > other ? at : other;
        if (mix(key + mix(pair << 8 | (uint64_t)i)) & 1) at = other;
    }
    return at;
}

/* Stream 0 reads the selection in the order of the file, others shuffled, anew at each pass. */
static int pick(const struct selection *c, const lg_draw *d)
{
    uint64_t count = (uint64_t)c->count;
    uint32_t at = (uint32_t)(d->index % count);
    if (d->stream) {
        lg_rng r;
        lg_rng_init(&r, d->seed, d->stream, d->index / count);
        at = permute(&r, (uint32_t)count, at);
    }
    return c->line[at];
}

static int count_jsonl(const struct lg_task *t, const lg_draw *d)
{
    const struct store *s = t->own;
    const struct line *lines = s->lines.data;
    int n = 0;
    for (int i = 0; i < s->count; i++) n += in_range(&lines[i], d);
    return n;
}

/* The range has lines, but not of this side. */
static int wrong_side(const struct lg_task *t, const lg_draw *d, int there, lg_error *err)
{
    int test = d->side == LG_SIDE_TEST;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s: of its %d line%s with length %d..%d none is %s with task.test %s; %s",
                    t->argument, there, there == 1 ? "" : "s", d->length_lo, d->length_hi,
                    test ? "held out for tests" : "left to train on", t->value[TEST].text,
                    test ? "give more lines, set task.test higher, or test on a file of its own "
                           "(lengthen eval --task jsonl:FILE)"
                         : "set task.test lower");
}

/* The line of a draw; -1: there is none; else an error. */
static int find_line(struct store *s, const lg_draw *d, int *at, lg_error *err)
{
    pthread_mutex_lock(&s->lock);
    const struct selection *c = find_selection(s, d, err);
    *at = c && c->count ? pick(c, d) : -1;
    pthread_mutex_unlock(&s->lock);
    return c ? 0 : LG_ERROR_MEMORY;
}

static int64_t line_jsonl(const struct lg_task *t, const lg_draw *d)
{
    struct store *s = t->own;
    int at;
    if (find_line(s, d, &at, NULL) || at < 0) return 0;
    return ((const struct line *)s->lines.data)[at].number;
}

static int fetch_jsonl(struct lg_task *t, const lg_draw *d, lg_example *x, lg_error *err)
{
    struct store *s = t->own;
    int at, e = find_line(s, d, &at, err), found = at >= 0;
    if (e) return e;
    lg_draw any = *d;
    any.side = LG_SIDE_ANY;
    int there = found ? 0 : count_jsonl(t, &any);
    if (there) return wrong_side(t, d, there, err);
    if (!found)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no line with length %d..%d and sparsity %d..%d (0..0: any); its "
                        "lengths are %d..%d and sparsities %d..%d: ask for those",
                        t->argument, d->length_lo, d->length_hi, d->sparsity_lo, d->sparsity_hi,
                        t->shape.length_least, t->shape.length_most, t->shape.sparsity_least,
                        t->shape.sparsity_most);
    const struct line *line = (const struct line *)s->lines.data + at;
    size_t bytes = (size_t)line->n * sizeof(int32_t);
    if ((e = lg__example_room(x, line->n, err))) return e;
    memcpy(x->tokens, (const int32_t *)s->tokens.data + line->first, bytes);
    memcpy(x->loss, (const unsigned char *)s->loss.data + line->first, (size_t)line->n);
    for (int l = 0; l < LG_LEVELS; l++) {
        if (l < s->parser.levels)
            memcpy(x->labels[l], (const int32_t *)s->labels[l].data + line->first, bytes);
        for (int i = 0; i < line->n && l >= s->parser.levels; i++) x->labels[l][i] = LG_ABSENT;
    }
    x->n = line->n;
    x->answer = line->answer;
    x->length = line->length;
    x->sparsity = line->sparsity;
    return 0;
}

static int by_sum(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lines of `t` whose words are those of a line of another file in this draw. */
static int overlap_jsonl(const struct lg_task *t, const struct lg_task *trained, const lg_draw *d)
{
    const struct store *s = t->own, *other = trained->own;
    const struct line *lines = s->lines.data, *theirs = other->lines.data;
    uint64_t *sums = lg__alloc((size_t)other->count * sizeof *sums);
    int count = 0, n = 0;
    if (!sums) return 0;
    for (int i = 0; i < other->count; i++)
        if (in_range(&theirs[i], d)) sums[count++] = theirs[i].sum;
    qsort(sums, (size_t)count, sizeof *sums, by_sum);
    for (int i = 0; i < s->count; i++)
        n += bsearch(&lines[i].sum, sums, (size_t)count, sizeof *sums, by_sum) != NULL;
    free(sums);
    return n;
}

static const lg_setting jsonl_settings[] = {
    {"vocab", "TEXT", "", "a file with one word per line: all words there may be, in this order"},
    {"test", "0.0..1.0", "0.1", "share of the lines of each length that are held out for tests"},
    {0},
};

const struct lg__task_row lg__task_jsonl = {
    .info =
        {.name = "jsonl",
         .family = "own data",
         .own = LG_OWN_LINES,
         .line = "jsonl:FILE, examples of your own from a file",
         .text =
             "One JSON object per line, in UTF-8, of at most 64 MiB; empty lines are skipped.\n"
             "\n"
             "  {\"tokens\": [1, 0, \"=\", 1, 1, \"$\"], \"ids\": [1, 2, 0, 1, 2, 3],\n"
             "   \"loss\": [0, 0, 0, 1, 1, 1], \"length\": 2, \"sparsity\": 1}      (on one line)\n"
             "\n"
             "  tokens    two or more strings or whole numbers; the number 7 is the word \"7\". A\n"
             "            word is not empty and has no spaces.\n"
             "  ids       optional: the labels of coupling, -1 to 2147483646, one per token, or up "
             "to "
             "3\n"
             "            lists of them, [[..], [..]], one per level; null is none at that level, "
             "but "
             "every\n"
             "            token has one at some level. Tokens with the same label belong together, "
             "and\n"
             "            the scheme adds its start, 1 or more. All lines have labels at the same "
             "number\n"
             "            of levels, or none has.\n"
             "  loss      optional: 1 or true where a token is to be predicted, else 0 or false, "
             "one\n"
             "            a token; without it, all but the first. The first 1 starts the "
             "generated\n"
             "            part; it cannot be at the first token.\n"
             "  length    optional: a whole number from 1 on; without it, the number of tokens\n"
             "  sparsity  optional: a whole number from 0 on; without it, 0\n"
             "\n"
             "Other keys are refused. A first line {\"lengthen\": {..}}, as programs of exec "
             "write,\n"
             "is skipped. The vocabulary is every word in the order of first appearance, or what\n"
             "the setting vocab names; words outside of that are refused. If all lines end in the\n"
             "same word, and it is nowhere else in their generated parts, it is the stop token.\n"
             "Test examples of a run (`lengthen eval RUN --task jsonl:FILE`) have the run's words "
             "and\n"
             "stop token instead.\n"
             "\n"
             "Of each length a tenth of the lines (setting test) is held out, chosen by their "
             "words:\n"
             "training does not see them, and `lengthen eval` tests on nothing else, each line "
             "once.\n"
             "Lines that are the same are on the same side. Of lengths outside of train.length "
             "all\n"
             "lines are tested.\n"
             "A draw takes the lines whose length, and sparsity if that is asked for, are in its\n"
             "range: stream 0 in the order of the file, other streams in a random order that the\n"
             "seed decides, anew at each pass; after the last line it starts again.\n",
         .unit = "length",
         .sparsity = "as \"sparsity\" says",
         .settings = jsonl_settings},
    .argument = LG__ARGUMENT_MUST,
    .open = open_jsonl,
    .close = close_jsonl,
    .fetch = fetch_jsonl,
    .count = count_jsonl,
    .line = line_jsonl,
    .overlap = overlap_jsonl,
};
