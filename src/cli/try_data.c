/* try_data.c: what `lengthen try` trains and tests: the lengths of a task that makes its examples,
 * or the lines of a file, split by length. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/try.h"

enum {
    USUAL = 20, /* length of training where nothing is said */
    LOOKS = 16,
    LEAST_LINES = 50,
    HELD_LEAST = 20,
    HELD_MOST = 1000,
    ENOUGH = 50, /* lines of a column */
    NEAR = 8,    /* lengths of a column of longer lines */
    MOST_REACH = 64,
    MOST_WINDOW = 8,
    USUAL_WINDOW = 2
};

/* What is true of some examples. */
struct survey {
    int tokens, reach[LG_LEVELS], spread[LG_LEVELS]; /* largest; of labels: step, range */
};

static void survey_add(struct survey *s, const lg_example *x, int levels)
{
    if (x->n > s->tokens) s->tokens = x->n;
    for (int l = 0; l < levels; l++) {
        int32_t before = LG_ABSENT, lo = INT32_MAX, hi = INT32_MIN;
        for (int i = 0; i < x->n; i++) {
            int32_t id = x->labels[l][i];
            if (id == LG_ABSENT) continue;
            int change = before == LG_ABSENT || i < x->answer ? 0 : abs(id - before);
            if (change > s->reach[l]) s->reach[l] = change;
            before = id;
            lo = id < lo ? id : lo;
            hi = id > hi ? id : hi;
        }
        if (hi > lo && hi - lo > s->spread[l]) s->spread[l] = hi - lo;
    }
}

/* A level whose labels grow with the length is seen a little way around; one whose labels do not
 * (a role) is seen whole. */
static void choose_windows(struct lg_try *t, const struct survey *of_short,
                           const struct survey *of_long)
{
    t->tokens = of_short->tokens;
    t->tokens_tested = of_long->tokens > of_short->tokens ? of_long->tokens : of_short->tokens;
    for (int l = 0; l < t->levels; l++) {
        int spread = of_short->spread[l], grows = of_long->spread[l] > spread;
        t->window[l] = USUAL_WINDOW;
        if (!grows && spread > USUAL_WINDOW)
            t->window[l] = spread < MOST_WINDOW ? spread : MOST_WINDOW;
    }
}

/* ---- A task that makes its examples -------------------------------------------------------- */

static int look(lg_task *task, int length, struct survey *s)
{
    lg_error err;
    lg_example x;
    lg_draw d = {.length_lo = length, .length_hi = length};
    int e = 0;
    lg_example_init(&x);
    for (int i = 0; i < LOOKS && !e; i++) {
        d.index = (uint64_t)i;
        if (!(e = lg_task_example(task, &d, &x, &err)))
            survey_add(s, &x, lg_task_get_shape(task)->levels);
    }
    lg_example_clear(&x);
    return e ? lg_cli_wrong("try", "%s", err.text) : 0;
}

static int plan_task(struct lg_try *t, lg_task *task)
{
    static const int times[] = {1, 2, 5, 10};
    const lg_task_shape *shape = lg_task_get_shape(task);
    int least = shape->length_least, most = shape->length_most;
    struct survey of_short = {0}, of_long = {0};
    t->least = least;
    t->most = t->length ? t->length : USUAL;
    if (!t->length && 2 * t->most > most) t->most = most / 2 > least ? most / 2 : least;
    if (t->most < least || t->most >= most)
        return lg_cli_wrong("try",
                            "trained up to length %d, but task %s with these settings has lengths "
                            "%d..%d (%s), and longer ones must be left for the tests; set --length "
                            "within that",
                            t->most, t->what, least, most, shape->info->unit);
    for (int i = 0; i < 4; i++) {
        int length = times[i] * t->most < most ? times[i] * t->most : most;
        if (t->columns && length <= t->column[t->columns - 1].length[0]) break;
        t->column[t->columns++] =
            (struct lg_try_column){.count = 1, .length = {length}, .mean = length};
    }
    for (int l = 0; l < t->levels; l++) t->reach[l] = shape->reach[l];
    int code = look(task, t->most, &of_short);
    if (!code) code = look(task, t->column[t->columns - 1].length[0], &of_long);
    choose_windows(t, &of_short, &of_long);
    return code;
}

/* ---- The user's own lines ------------------------------------------------------------------ */

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

static int no_memory(void)
{
    fputs("lengthen try: no memory for the lines of the file; end other programs\n", stderr);
    return LG_EXIT_FAILED;
}

static int add_line(struct file *f, const char *text)
{
    if (f->count == f->room) {
        int room = f->room ? 2 * f->room : 1024;
        struct line *more = realloc(f->line, (size_t)room * sizeof *more);
        if (!more) return no_memory();
        f->line = more;
        f->room = room;
    }
    f->line[f->count] = (struct line){.text = strdup(text)};
    return f->line[f->count++].text ? 0 : no_memory();
}

/* A first line {"lengthen": ..} is no example. */
static int is_header(const char *text)
{
    text += strspn(text, " \t\r");
    if (*text++ != '{') return 0;
    text += strspn(text, " \t\r");
    return strncmp(text, "\"lengthen\"", 10) == 0;
}

static int read_file(const char *name, struct file *f)
{
    FILE *in = fopen(name, "r");
    char *text = NULL;
    size_t room = 0;
    int code = 0, first = 1;
    if (!in) return lg_cli_wrong("try", "%s cannot be read: %s", name, strerror(errno));
    for (ssize_t n; !code && (n = getline(&text, &room, in)) >= 0;) {
        if (n && text[n - 1] == '\n') text[--n] = 0;
        if (strspn(text, " \t\r") >= (size_t)n) continue;
        if (!(first && is_header(text))) code = add_line(f, text);
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

/* The i-th line of the file is the i-th example of stream 0. */
static int example_of(lg_task *task, int i, lg_example *x)
{
    const lg_task_shape *shape = lg_task_get_shape(task);
    lg_error err;
    lg_draw d = {.index = (uint64_t)i};
    d.length_lo = shape->length_least;
    d.length_hi = shape->length_most;
    return lg_task_example(task, &d, x, &err) ? lg_cli_wrong("try", "%s", err.text) : 0;
}

/* The lengths of all lines, and how many lines have each. */
static int measure(struct lg_try *t, lg_task *task, struct file *f)
{
    lg_example x;
    int code = 0;
    lg_example_init(&x);
    t->everything = 1;
    for (int i = 0; i < f->count && !code; i++) {
        if ((code = example_of(task, i, &x))) break;
        f->line[i].length = x.length;
        t->everything &= x.answer == 1;
    }
    lg_example_clear(&x);
    f->lengths = malloc((size_t)f->count * sizeof *f->lengths);
    f->lines = calloc((size_t)f->count, sizeof *f->lines);
    if (!code && (!f->lengths || !f->lines)) code = no_memory();
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
static int choose_cut(struct lg_try *t, const struct file *f)
{
    int last = f->distinct - (f->distinct > 2 ? 3 : 2), at = 0, below = f->lines[0];
    while (at < last && 2 * below < f->count) below += f->lines[++at];
    t->least = f->lengths[0];
    t->most = t->length ? t->length : f->lengths[at];
    if (t->most >= t->least && t->most < f->lengths[f->distinct - 1]) return 0;
    return lg_cli_wrong("try",
                        "--length is %d, but the lines of %s have lengths %d..%d, and some must be "
                        "trained on and longer ones left for the tests; set it within that",
                        t->length, t->what, t->least, f->lengths[f->distinct - 1]);
}

/* Marks the short lines that are tested and never trained on: those whose text is there once, in
 * the order of a hash of the line's number. */
static int hold_out(struct lg_try *t, struct file *f)
{
    struct line **shorts = malloc((size_t)f->count * sizeof *shorts);
    int n = 0, once = 0;
    if (!shorts) return no_memory();
    for (int i = 0; i < f->count; i++) {
        struct line *line = &f->line[i];
        lg_rng r;
        lg_rng_init(&r, (uint64_t)t->seed, 0, (uint64_t)i);
        line->hash = (uint64_t)lg_rng_u32(&r) << 32 | (uint32_t)i;
        if (line->length <= t->most) shorts[n++] = line;
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
    t->least = t->most; /* of those that are left to train on */
    for (int i = 0; i < f->count; i++)
        if (!f->line[i].held && f->line[i].length < t->least) t->least = f->line[i].length;
    free(shorts);
    t->held = wanted;
    t->trained = n - wanted;
    t->longer = f->count - n;
    if (wanted) return 0;
    return lg_cli_wrong("try",
                        "%d lines of %s have a length of at most %d, and only %d of these differ "
                        "from all others: none can be held out for the test; add more, or set a "
                        "larger --length",
                        n, t->what, t->most, once);
}

static void finish_column(struct lg_try_column *c)
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
static void held_column(struct lg_try *t, const struct file *f)
{
    struct lg_try_column *c = &t->column[t->columns++];
    int *held = f->lines; /* of the training lengths they are not needed any more */
    for (int i = 0; i < f->distinct && f->lengths[i] <= t->most; i++) held[i] = 0;
    for (int i = 0; i < f->count; i++) {
        const struct line *line = &f->line[i];
        int *at = line->held ? bsearch(&line->length, f->lengths, (size_t)f->distinct,
                                       sizeof *f->lengths, by_number)
                             : NULL;
        if (at) held[at - f->lengths]++;
    }
    int n = 0, skip;
    for (int i = 0; i < f->distinct && f->lengths[i] <= t->most; i++) n += held[i] > 0;
    skip = n - LG_TRY_LENGTHS;
    for (int i = 0; i < f->distinct && f->lengths[i] <= t->most; i++) {
        if (!held[i] || skip-- > 0) continue;
        c->length[c->count] = f->lengths[i];
        c->lines[c->count++] = held[i];
    }
    finish_column(c);
}

/* The longer lengths from..to-1 of the file that are nearest to `wanted`, until there are enough
 * lines; none if the nearest is a third away. */
static void near_column(struct lg_try *t, const struct file *f, int from, int to, double wanted)
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
    struct lg_try_column *c = &t->column[t->columns];
    while (t->columns > 1 && lo < hi && f->lengths[lo] <= c[-1].length[c[-1].count - 1]) lo++;
    if (lo == hi) return;
    for (; lo < hi; lo++) {
        c->length[c->count] = f->lengths[lo];
        c->lines[c->count++] = f->lines[lo];
    }
    finish_column(c);
    t->columns++;
}

static void longer_columns(struct lg_try *t, const struct file *f)
{
    int from = 0, to = f->distinct;
    while (f->lengths[from] <= t->most) from++;
    int longest = f->lengths[to - 1];
    if (2 * t->most < 0.8 * longest) near_column(t, f, from, to, 2.0 * t->most);
    if (5 * t->most < 0.8 * longest) near_column(t, f, from, to, 5.0 * t->most);
    near_column(t, f, from, to, longest);
}

/* The steps and ranges of labels, of the lines that are trained on and of the others. */
static int survey_lines(struct lg_try *t, lg_task *task, const struct file *f)
{
    struct survey part[2] = {0};
    lg_example x;
    int code = 0;
    lg_example_init(&x);
    for (int i = 0; i < f->count && !code; i++)
        if (!(code = example_of(task, i, &x))) survey_add(&part[x.length > t->most], &x, t->levels);
    lg_example_clear(&x);
    for (int l = 0; l < t->levels; l++) {
        int reach = part[0].reach[l], grows = part[1].reach[l] > reach || reach > MOST_REACH;
        t->reach[l] = grows ? 0 : reach ? reach : 1;
    }
    choose_windows(t, &part[0], &part[1]);
    return code;
}

/* The texts of the files that will be written. */
static int make_texts(struct lg_try *t, const struct file *f, const lg_task_shape *shape)
{
    size_t size[3];
    char **text[] = {&t->train_text, &t->test_text, &t->vocab_text};
    FILE *to[3];
    int ok = 1;
    for (int i = 0; i < 3; i++) ok &= (to[i] = open_memstream(text[i], &size[i])) != NULL;
    for (int i = 0; i < f->count && ok; i++) {
        const struct line *line = &f->line[i];
        ok &= fprintf(to[line->held || line->length > t->most], "%s\n", line->text) >= 0;
    }
    for (int i = 0; i < shape->vocab && ok; i++) ok &= fprintf(to[2], "%s\n", shape->words[i]) >= 0;
    for (int i = 0; i < 3; i++) ok &= to[i] && fclose(to[i]) == 0;
    return ok ? 0 : no_memory();
}

static int plan_lines(struct lg_try *t, lg_task *task, struct file *f)
{
    int code = read_file(t->what, f);
    if (!code && f->count < LEAST_LINES)
        return lg_cli_wrong("try",
                            "%s has %d lines, too few to learn from and to test on; give %d or "
                            "more, better thousands",
                            t->what, f->count, LEAST_LINES);
    if (!code) code = measure(t, task, f);
    if (!code && f->distinct < 2)
        return lg_cli_wrong("try",
                            "all %d lines of %s have length %d, so there is nothing longer to test "
                            "on; add longer lines, or say with \"length\" what counts as length",
                            f->count, t->what, f->lengths[0]);
    if (!code) code = choose_cut(t, f);
    if (!code) code = hold_out(t, f);
    if (!code) code = survey_lines(t, task, f);
    if (code) return code;
    held_column(t, f);
    longer_columns(t, f);
    return make_texts(t, f, lg_task_get_shape(task));
}

/* ---- Either --------------------------------------------------------------------------------- */

/* A name of the list is a task; what looks like a file is one. */
static int is_file(const char *what)
{
    size_t n = strlen(what);
    FILE *f = NULL;
    if (lg_task_info_find(what)) return 0;
    int looks = strchr(what, '/') || (n > 5 && strcmp(what + n - 5, ".json") == 0) ||
                (n > 6 && strcmp(what + n - 6, ".jsonl") == 0);
    if (!looks && (f = fopen(what, "r"))) fclose(f);
    return looks || f;
}

int lg_try_plan(struct lg_try *t)
{
    char name[LG_TRY_PATH];
    lg_error err = {0};
    struct file f = {0};
    if (strncmp(t->what, "jsonl:", 6) == 0) {
        t->own = 1;
        t->what += 6;
    }
    t->own |= is_file(t->what);
    if (strncmp(t->what, "exec:", 5) == 0)
        return lg_cli_wrong("try", "a program's examples come only once; write some thousands of "
                                   "its lines into a file, and try that");
    if (!t->own && strncmp(t->what, "text", 4) == 0 && strchr(":", t->what[4]))
        return lg_cli_wrong("try",
                            "a text has no answers that could be right; train on it (lengthen "
                            "train, task: {name: text, ..}) and look at its loss by "
                            "position (lengthen eval)");
    snprintf(name, sizeof name, "%s%s", t->own ? "jsonl:" : "", t->what);
    lg_task *task = lg_task_new(name, t->settings, t->setting_count, &err);
    if (!task) return lg_cli_wrong("try", "%s", err.text);
    snprintf(t->task, sizeof t->task, "%s", name);
    t->unit = t->own ? "length" : lg_task_get_shape(task)->info->unit;
    t->levels = lg_task_get_shape(task)->levels;
    int code = t->own ? plan_lines(t, task, &f) : plan_task(t, task);
    clear_file(&f);
    lg_task_free(task);
    return code;
}

/* A file with this text; one that is there must have the same. */
static int write_text(const char *folder, const char *name, const char *text)
{
    char path[LG_TRY_PATH + 32], *old = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (f) {
        ssize_t n = getdelim(&old, &room, 0, f);
        int same = n < 0 ? !*text : strcmp(old, text) == 0;
        free(old);
        fclose(f);
        if (same) return 0;
        return lg_cli_wrong("try",
                            "%s is of another try (other data, another task, --length or --seed); "
                            "take another --out",
                            path);
    }
    f = fopen(path, "w");
    int ok = f && fputs(text, f) >= 0;
    if (f && fclose(f) != 0) ok = 0;
    if (ok) return 0;
    fprintf(stderr, "lengthen try: %s could not be written: %s\n", path, strerror(errno));
    return LG_EXIT_FAILED;
}

/* A try that goes on keeps its curriculum, whatever time it now has. */
static void keep_curriculum(struct lg_try *t)
{
    char path[LG_TRY_PATH + 32], line[2 * LG_TRY_PATH];
    snprintf(path, sizeof path, "%s/try.txt", t->folder);
    FILE *f = fopen(path, "r");
    const char *at = f && fgets(line, sizeof line, f) ? strstr(line, ", curriculum of ") : NULL;
    if (at) t->curriculum = atoi(at + strlen(", curriculum of "));
    if (f) fclose(f);
}

int lg_try_write(struct lg_try *t)
{
    char *about = NULL;
    size_t size;
    keep_curriculum(t);
    FILE *f = open_memstream(&about, &size);
    if (!f) return no_memory();
    fprintf(f, "lengthen try %s", t->what);
    for (int i = 0; i < t->setting_count; i++) fprintf(f, " --set task.%s", t->settings[i]);
    fprintf(f, " --length %d --seed %llu, curriculum of %d steps\n", t->most,
            (unsigned long long)t->seed, t->curriculum);
    int code = fclose(f) == 0 ? write_text(t->folder, "try.txt", about) : no_memory();
    free(about);
    if (!code && t->own) code = write_text(t->folder, "train.jsonl", t->train_text);
    if (!code && t->own) code = write_text(t->folder, "test.jsonl", t->test_text);
    if (!code && t->own) code = write_text(t->folder, "vocab.txt", t->vocab_text);
    return code;
}

void lg_try_clear(struct lg_try *t)
{
    free(t->train_text);
    free(t->test_text);
    free(t->vocab_text);
    free(t->settings);
}
