/* split.c: the lines of a file of own data, split by their length: what is trained on, what is held out,
 * and which lengths are tested together. */
#include "training/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"

enum {
    LEAST_LINES = 50,
    HELD_LEAST = 20,
    HELD_MOST = 1000,
    ENOUGH = 50, /* lines of a column */
    SEEN = 20,   /* training lines with a word: enough to know it by */
    LEAST_CLEAR = 20,
    NAMED = 6 /* rare words */
};
static const double NEAR = 1.5; /* lengths that few lines have are put together up to this ratio */

struct line {
    const char *text; /* without its end */
    int length;
    uint64_t hash;
    int twice; /* the same text is there again */
    int held, rare;
};

struct file {
    char *text; /* all of it, cut into lines */
    struct line *line;
    int count, header;              /* header: the first line was one */
    int *lengths, *lines, distinct; /* rising, and how many lines of each */
};

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY,
                    "no memory for the lines of the file; end other programs");
}

/* A first line {"lengthen": ..} is no example. */
static int is_header(const char *text)
{
    text += strspn(text, " \t\r");
    if (*text++ != '{') return 0;
    text += strspn(text, " \t\r");
    return strncmp(text, "\"lengthen\"", 10) == 0;
}

static int read_file(const char *name, struct file *f, lg_error *err)
{
    int code = lg__file_read(name, &f->text, err), lines = 1;
    if (code) return code;
    if (!f->text)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s cannot be read: check the name", name);
    for (const char *s = f->text; *s; s++) lines += *s == '\n';
    if (!(f->line = lg__alloc((size_t)lines * sizeof *f->line))) return no_memory(err);
    char *rest = f->text;
    for (char *text; (text = strsep(&rest, "\n"));) {
        if (!text[strspn(text, " \t\r")]) continue;
        if (!f->count && !f->header && is_header(text))
            f->header = 1;
        else
            f->line[f->count++].text = text;
    }
    return 0;
}

static void clear_file(struct file *f)
{
    free(f->text);
    free(f->line);
    free(f->lengths);
    free(f->lines);
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b)
{
    return strcmp((*(struct line *const *)a)->text, (*(struct line *const *)b)->text);
}

static int by_hash(const void *a, const void *b)
{
    const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

int lg__split_example(lg_task *task, int i, lg_example *x, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(task);
    lg_draw d = {.index = (uint64_t)i};
    d.length_lo = shape->length_least;
    d.length_hi = shape->length_most;
    return lg_task_example(task, &d, x, err) ? LG_ERROR_ARGUMENT : 0;
}

/* The lengths of all lines, and how many lines have each. */
static int measure(struct lg__split *s, lg_task *task, struct file *f, lg_error *err)
{
    lg_example x;
    int code = 0;
    lg_example_init(&x);
    s->everything = 1;
    for (int i = 0; i < f->count && !code; i++) {
        if ((code = lg__split_example(task, i, &x, err))) break;
        f->line[i].length = x.length;
        s->everything &= x.answer == 1;
    }
    lg_example_clear(&x);
    f->lengths = lg__alloc((size_t)f->count * sizeof *f->lengths);
    f->lines = lg__alloc((size_t)f->count * sizeof *f->lines);
    if (!code && (!f->lengths || !f->lines)) code = no_memory(err);
    if (code) return code;
    for (int i = 0; i < f->count; i++) f->lengths[i] = f->line[i].length;
    qsort(f->lengths, (size_t)f->count, sizeof *f->lengths, by_number);
    for (int i = 0; i < f->count; i++) {
        int length = f->lengths[i];
        if (!f->distinct || f->lengths[f->distinct - 1] != length)
            f->lengths[f->distinct++] = length;
        f->lines[f->distinct - 1]++;
    }
    return 0;
}

/* Trained on the shorter half, with two longer lengths left where there are three. */
static int choose_cut(struct lg__split *s, const struct file *f, lg_error *err)
{
    int last = f->distinct - (f->distinct > 2 ? 3 : 2), at = 0, below = f->lines[0];
    while (at < last && 2 * below < f->count) below += f->lines[++at];
    s->least = f->lengths[0];
    s->most = s->length ? s->length : f->lengths[at];
    if (s->most >= s->least && s->most < f->lengths[f->distinct - 1]) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "--length is %d, but the lines of %s have lengths %d..%d, and some must be "
                    "trained on and longer ones left for the tests; set it within that",
                    s->length, s->file, s->least, f->lengths[f->distinct - 1]);
}

/* Marks the short lines that are tested and never trained on: those whose text is there once, in
 * the order of a hash of the line's number. */
static int hold_out(struct lg__split *s, struct file *f, lg_error *err)
{
    struct line **shorts = lg__alloc((size_t)f->count * sizeof *shorts);
    int n = 0, once = 0;
    if (!shorts) return no_memory(err);
    for (int i = 0; i < f->count; i++) {
        struct line *line = &f->line[i];
        lg_rng r;
        lg_rng_init(&r, (uint64_t)s->seed, 0, (uint64_t)i);
        line->hash = (uint64_t)lg_rng_u32(&r) << 32 | (uint32_t)i;
        if (line->length <= s->most) shorts[n++] = line;
    }
    qsort(shorts, (size_t)n, sizeof *shorts, by_text);
    for (int i = 1; i < n; i++)
        if (strcmp(shorts[i - 1]->text, shorts[i]->text) == 0)
            shorts[i - 1]->twice = shorts[i]->twice = 1;
    for (int i = 0; i < n; i++)
        if (!shorts[i]->twice) shorts[once++] = shorts[i];
    qsort(shorts, (size_t)once, sizeof *shorts, by_hash);
    int wanted = n / 10 > HELD_LEAST ? n / 10 : HELD_LEAST;
    if (wanted > once / 3) wanted = once / 3;
    if (wanted > HELD_MOST) wanted = HELD_MOST;
    for (int i = 0; i < wanted; i++) shorts[i]->held = 1;
    s->least = s->most; /* of those that are left to train on */
    for (int i = 0; i < f->count; i++)
        if (!f->line[i].held && f->line[i].length < s->least) s->least = f->line[i].length;
    free(shorts);
    s->held = wanted;
    s->trained = n - wanted;
    s->longer = f->count - n;
    if (wanted) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%d lines of %s have a length of at most %d, and only %d of these differ "
                    "from all others: none can be held out for the test; add more, or set a "
                    "larger --length",
                    n, s->file, s->most, once);
}

/* ---- Rare words ---------------------------------------------------------------------------------- */

/* The next word of a line that was not there before, from place *at on; -1: none. mark: [vocab] of 0 at first. */
static int next_word(const lg_example *x, int line, int *mark, int *at)
{
    for (; *at < x->n; (*at)++) {
        int word = x->tokens[*at];
        if (mark[word] == line + 1) continue;
        mark[word] = line + 1;
        return word;
    }
    return -1;
}

enum kind { TRAINED, HELD, LONGER, UNUSUAL, KINDS };

static enum kind kind_of(const struct lg__split *s, const struct line *line)
{
    if (!line->held && line->length <= s->most) return TRAINED;
    return line->rare ? UNUSUAL : line->held ? HELD : LONGER;
}

/* In how many lines of training each word is, and with how few it is rare: 20, less where training has
 * few lines or few of every word. */
static int count_words(const struct lg__split *s, lg_task *task, const struct file *f, int *seen,
                       int *mark, int *few, lg_error *err)
{
    int vocab = lg_task_get_shape(task)->vocab, known = 0, code = 0;
    double all = 0;
    lg_example x;
    lg_example_init(&x);
    for (int i = 0; i < f->count && !code; i++) {
        if (kind_of(s, &f->line[i]) != TRAINED) continue;
        code = lg__split_example(task, i, &x, err);
        for (int at = 0, word; !code && (word = next_word(&x, i, mark, &at)) >= 0;) seen[word]++;
    }
    lg_example_clear(&x);
    for (int i = 0; i < vocab; i++) {
        known += seen[i] > 0;
        all += seen[i];
    }
    *few = known && all / known / 10 < SEEN ? (int)(all / known / 10) : SEEN;
    if (*few > s->trained / 50) *few = s->trained / 50;
    if (*few < 1) *few = 1;
    return code;
}

static int name_words(struct lg__split *s, const lg_task_shape *shape, const int *seen,
                      const char *rare, lg_error *err)
{
    lg_buffer b = {0};
    int n = 0;
    for (int i = 0; i < shape->vocab; i++) {
        if (!rare[i] || n++ >= NAMED) continue;
        lg_buffer_print(&b, n > 1 ? ", %.40s (%d)" : "%.40s (in %d lines)", shape->words[i],
                        seen[i]);
    }
    if (n > NAMED) lg_buffer_print(&b, " and %d more", n - NAMED);
    return (s->rare_words = lg_buffer_take(&b, err)) ? 0 : LG_ERROR_MEMORY;
}

/* Marks the lines of the tests with a word that training hardly shows; all of them are tested if else
 * too few were. */
static int mark_rare(struct lg__split *s, lg_task *task, struct file *f, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(task);
    int *seen = lg__alloc(2 * (size_t)shape->vocab * sizeof *seen), few = 0, clear = 0;
    char *rare = lg__alloc((size_t)shape->vocab);
    lg_example x;
    lg_example_init(&x);
    int code = seen && rare ? count_words(s, task, f, seen, seen + shape->vocab, &few, err)
                            : no_memory(err);
    for (int i = 0; i < f->count && !code; i++) {
        struct line *line = &f->line[i];
        if (kind_of(s, line) == TRAINED || (code = lg__split_example(task, i, &x, err))) continue;
        for (int at = 0; at < x.n; at++)
            if (seen[x.tokens[at]] < few) line->rare = rare[x.tokens[at]] = 1;
        s->rare += line->rare;
        clear += !line->rare && line->length > s->most;
    }
    if (!code && s->rare) code = name_words(s, shape, seen, rare, err);
    s->rare_tested = clear < LEAST_CLEAR;
    for (int i = 0; i < f->count && s->rare_tested; i++) f->line[i].rare = 0;
    lg_example_clear(&x);
    free(seen);
    free(rare);
    return code;
}

/* ---- Columns --------------------------------------------------------------------------------------- */

static void finish_column(struct lg__split_column *c)
{
    double sum = 0;
    c->total = 0;
    for (int i = 0; i < c->count; i++) {
        c->total += c->lines[i];
        sum += (double)c->lines[i] * c->length[i];
    }
    c->mean = sum / c->total;
}

/* Parts of the lengths 0..n-1, which begin at start[]: neighbours whose lengths differ least are put
 * together while there are too many parts, or one has few lines and another is near. */
static int part_lengths(const int *lengths, const int *lines, int n, int *start)
{
    int parts = n;
    for (int i = 0; i < n; i++) start[i] = i;
    while (parts > 1) {
        int best = -1;
        double least = 0;
        for (int i = 0; i + 1 < parts; i++) {
            int end = i + 2 < parts ? start[i + 2] : n, of[2] = {0};
            for (int k = start[i]; k < end; k++) of[k >= start[i + 1]] += lines[k];
            double ratio = (double)lengths[end - 1] / lengths[start[i]];
            int small = (of[0] < ENOUGH || of[1] < ENOUGH) && ratio <= NEAR;
            if ((parts > LG__SPLIT_COLUMNS - 1 || small) && (best < 0 || ratio < least)) {
                best = i;
                least = ratio;
            }
        }
        if (best < 0) break;
        memmove(start + best + 1, start + best + 2, (size_t)(parts - best - 2) * sizeof *start);
        parts--;
    }
    return parts;
}

static int *lines_of(const struct file *f, const struct line *line)
{
    const int *at =
        bsearch(&line->length, f->lengths, (size_t)f->distinct, sizeof *f->lengths, by_number);
    return &f->lines[at - f->lengths];
}

/* The longest length of training of which a tenth of the different lines is one at least; and what else
 * --length could be: about half of it, with different lines enough, and more, with some left to test. */
static void choose_others(struct lg__split *s, const struct file *f)
{
    memset(f->lines, 0, (size_t)f->distinct * sizeof *f->lines);
    for (int i = 0; i < f->count; i++) *lines_of(f, &f->line[i]) += !f->line[i].twice;
    for (int i = 0, lines = 0; i < f->distinct; i++) {
        int length = f->lengths[i];
        lines += f->lines[i];
        if (length <= s->most && f->lines[i] >= 5) s->tested = length;
        if (length < s->most && lines >= LEAST_LINES && (2 * length <= s->most || !s->shorter))
            s->shorter = length;
        if (length > s->most && i + 1 < f->distinct && 2 * s->further < 3 * s->most)
            s->further = length;
    }
}

/* Adds the lengths of the lines of a kind, and how many have each, behind the n that are there. */
static int gather(struct lg__split *s, const struct file *f, enum kind kind, int n)
{
    memset(f->lines, 0, (size_t)f->distinct * sizeof *f->lines);
    for (int i = 0; i < f->count; i++) *lines_of(f, &f->line[i]) += kind_of(s, &f->line[i]) == kind;
    for (int i = 0; i < f->distinct; i++) {
        if (!f->lines[i]) continue;
        s->lengths[n] = f->lengths[i];
        s->lines[n++] = f->lines[i];
    }
    return n;
}

/* The held-out lines are one column, the longer ones several. */
static int make_columns(struct lg__split *s, const struct file *f, lg_error *err)
{
    size_t room = 3 * (size_t)f->distinct;
    int *start = lg__alloc((size_t)f->distinct * sizeof *start);
    s->lengths = lg__alloc(room * sizeof *s->lengths);
    s->lines = lg__alloc(room * sizeof *s->lines);
    int code = start && s->lengths && s->lines ? 0 : no_memory(err);
    if (!code) choose_others(s, f);
    for (int kind = HELD, from = 0, end; kind < KINDS && !code; kind++, from = end) {
        end = gather(s, f, (enum kind)kind, from);
        int n = end - from, parts = n > 0;
        const int *lengths = s->lengths + from, *lines = s->lines + from;
        start[0] = 0;
        if (kind == LONGER) parts = part_lengths(lengths, lines, n, start);
        for (int i = 0; i < parts; i++) {
            struct lg__split_column *c = kind == UNUSUAL ? &s->unusual : &s->column[s->columns++];
            c->count = (i + 1 < parts ? start[i + 1] : n) - start[i];
            c->length = lengths + start[i];
            c->lines = lines + start[i];
            finish_column(c);
        }
    }
    free(start);
    return code;
}

/* The texts of the files that will be written. */
static int make_texts(struct lg__split *s, const struct file *f, const lg_task_shape *shape,
                      lg_error *err)
{
    static const int place[KINDS] = {0, 1, 1, 2};
    char **text[] = {&s->train, &s->test, &s->rest, &s->vocab};
    enum { TEXTS = sizeof text / sizeof *text, VOCAB = TEXTS - 1 };
    lg_buffer to[TEXTS] = {{0}};
    int code = 0;
    for (int i = 0; i < f->count; i++) {
        const struct line *line = &f->line[i];
        lg_buffer_print(&to[place[kind_of(s, line)]], "%s\n", line->text);
    }
    for (int i = 0; i < shape->vocab; i++) lg_buffer_print(&to[VOCAB], "%s\n", shape->words[i]);
    for (int i = 0; i < TEXTS; i++)
        if (!(*text[i] = lg_buffer_take(&to[i], NULL))) code = no_memory(err);
    return code;
}

static int split(struct lg__split *s, lg_task *task, struct file *f, lg_error *err)
{
    int code = read_file(s->file, f, err);
    if (!code && f->count < LEAST_LINES)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has %d lines, too few to learn from and to test on; give %d or more, "
                        "better thousands",
                        s->file, f->count, LEAST_LINES);
    if (!code) code = measure(s, task, f, err);
    if (!code && f->distinct < 2)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "all %d lines of %s have length %d, so there is nothing longer to test "
                        "on; add longer lines, or say with \"length\" what counts as length",
                        f->count, s->file, f->lengths[0]);
    if (!code) code = choose_cut(s, f, err);
    if (!code) code = hold_out(s, f, err);
    if (!code) code = mark_rare(s, task, f, err);
    if (!code) code = make_columns(s, f, err);
    return code ? code : make_texts(s, f, lg_task_get_shape(task), err);
}

int lg__split_lines(struct lg__split *s, lg_task *task, lg_error *err)
{
    struct file f = {0};
    int code = split(s, task, &f, err);
    clear_file(&f);
    return code;
}

void lg__split_clear(struct lg__split *s)
{
    free(s->train);
    free(s->test);
    free(s->rest);
    free(s->vocab);
    free(s->rare_words);
    free(s->lengths);
    free(s->lines);
    *s = (struct lg__split){0};
}
