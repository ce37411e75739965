/* split.c: the lines of a file of own data, split by their length: what is trained on, what is held out,
 * and which lengths are tested together. */
#include "tasks/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
    LEAST_LINES = 50,
    HELD_LEAST = 20,
    HELD_MOST = 1000,
    ENOUGH = 50, /* lines of a column */
    NEAR = 8     /* lengths of a column of longer lines */
};

struct line {
    char *text; /* without its end */
    int length;
    uint64_t hash;
    int twice; /* the same text is there again */
    int held;
};

struct file {
    struct line *line;
    int count, room;
    int *lengths, *lines, distinct; /* rising, and how many lines of each */
};

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY,
                    "no memory for the lines of the file; end other programs");
}

static int add_line(struct file *f, const char *text, lg_error *err)
{
    if (f->count == f->room) {
        int room = f->room ? 2 * f->room : 1024;
        struct line *more = realloc(f->line, (size_t)room * sizeof *more);
        if (!more) return no_memory(err);
        f->line = more;
        f->room = room;
    }
    f->line[f->count] = (struct line){.text = strdup(text)};
    return f->line[f->count++].text ? 0 : no_memory(err);
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
    FILE *in = fopen(name, "r");
    char *text = NULL;
    size_t room = 0;
    int code = 0, first = 1;
    if (!in)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s cannot be read: %s", name, strerror(errno));
    for (ssize_t n; !code && (n = getline(&text, &room, in)) >= 0;) {
        if (n && text[n - 1] == '\n') text[--n] = 0;
        if (strspn(text, " \t\r") >= (size_t)n) continue;
        if (!(first && is_header(text))) code = add_line(f, text, err);
        first = 0;
    }
    free(text);
    fclose(in);
    return code;
}

static void clear_file(struct file *f)
{
    for (int i = 0; i < f->count; i++) free(f->line[i].text);
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
    f->lengths = malloc((size_t)f->count * sizeof *f->lengths);
    f->lines = calloc((size_t)f->count, sizeof *f->lines);
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
    struct line **shorts = malloc((size_t)f->count * sizeof *shorts);
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

/* The held-out lines; where they have very many lengths, the longest of these. */
static void held_column(struct lg__split *s, const struct file *f)
{
    struct lg__split_column *c = &s->column[s->columns++];
    int *held = f->lines; /* of the training lengths they are not needed any more */
    for (int i = 0; i < f->distinct && f->lengths[i] <= s->most; i++) held[i] = 0;
    for (int i = 0; i < f->count; i++) {
        const struct line *line = &f->line[i];
        int *at = line->held ? bsearch(&line->length, f->lengths, (size_t)f->distinct,
                                       sizeof *f->lengths, by_number)
                             : NULL;
        if (at) held[at - f->lengths]++;
    }
    int n = 0, skip;
    for (int i = 0; i < f->distinct && f->lengths[i] <= s->most; i++) n += held[i] > 0;
    skip = n - LG__SPLIT_LENGTHS;
    for (int i = 0; i < f->distinct && f->lengths[i] <= s->most; i++) {
        if (!held[i] || skip-- > 0) continue;
        c->length[c->count] = f->lengths[i];
        c->lines[c->count++] = held[i];
    }
    finish_column(c);
}

/* The longer lengths from..to-1 of the file that are nearest to `wanted`, until there are enough
 * lines; none if the nearest is a third away. */
static void near_column(struct lg__split *s, const struct file *f, int from, int to, double wanted)
{
    int lo = from, lines = 0;
    while (lo + 1 < to && wanted - f->lengths[lo] > f->lengths[lo + 1] - wanted) lo++;
    if (lo >= to || f->lengths[lo] > 1.34 * wanted || f->lengths[lo] < 0.75 * wanted) return;
    int hi = lo + 1;
    lines = f->lines[lo];
    while (lines < ENOUGH && hi - lo < NEAR) {
        double down = lo > from ? wanted - f->lengths[lo - 1] : 1e9;
        double up = hi < to ? f->lengths[hi] - wanted : 1e9;
        if (down > 0.25 * wanted && up > 0.25 * wanted) break;
        lines += down < up ? f->lines[--lo] : f->lines[hi++];
    }
    struct lg__split_column *c = &s->column[s->columns];
    while (s->columns > 1 && lo < hi && f->lengths[lo] <= c[-1].length[c[-1].count - 1]) lo++;
    if (lo == hi) return;
    for (; lo < hi; lo++) {
        c->length[c->count] = f->lengths[lo];
        c->lines[c->count++] = f->lines[lo];
    }
    finish_column(c);
    s->columns++;
}

static void longer_columns(struct lg__split *s, const struct file *f)
{
    int from = 0, to = f->distinct;
    while (f->lengths[from] <= s->most) from++;
    int longest = f->lengths[to - 1];
    if (2 * s->most < 0.8 * longest) near_column(s, f, from, to, 2.0 * s->most);
    if (5 * s->most < 0.8 * longest) near_column(s, f, from, to, 5.0 * s->most);
    near_column(s, f, from, to, longest);
}

/* The texts of the files that will be written. */
static int make_texts(struct lg__split *s, const struct file *f, const lg_task_shape *shape,
                      lg_error *err)
{
    lg_buffer to[3] = {{0}};
    for (int i = 0; i < f->count; i++) {
        const struct line *line = &f->line[i];
        lg_buffer_print(&to[line->held || line->length > s->most], "%s\n", line->text);
    }
    for (int i = 0; i < shape->vocab; i++) lg_buffer_print(&to[2], "%s\n", shape->words[i]);
    s->train = lg_buffer_take(&to[0], NULL);
    s->test = lg_buffer_take(&to[1], NULL);
    s->vocab = lg_buffer_take(&to[2], NULL);
    return s->train && s->test && s->vocab ? 0 : no_memory(err);
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
    if (code) return code;
    held_column(s, f);
    longer_columns(s, f);
    return make_texts(s, f, lg_task_get_shape(task), err);
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
    free(s->vocab);
    *s = (struct lg__split){0};
}
