/* try_data.c: what lg_try trains and tests: the lengths of a task that makes its examples,
 * or the lines of a file, split by length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "runs/texts.h"
#include "study/try.h"
#include "tasks/tasks.h"

enum {
    USUAL = 20, /* length of training where nothing is said */
    LOOKS = 16,
    LOOK_TOKENS = 1 << 20, /* of all looks, if the first has not more */
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
static void choose_windows(struct lg__try *t, const struct survey *of_short,
                           const struct survey *of_long)
{
    t->r->tokens = of_short->tokens;
    t->r->tokens_tested = of_long->tokens > of_short->tokens ? of_long->tokens : of_short->tokens;
    for (int l = 0; l < t->r->levels; l++) {
        int spread = of_short->spread[l], grows = of_long->spread[l] > spread;
        t->window[l] = USUAL_WINDOW;
        if (!grows && spread > USUAL_WINDOW)
            t->window[l] = spread < MOST_WINDOW ? spread : MOST_WINDOW;
    }
}

/* ---- A task that makes its examples -------------------------------------------------------- */

static int look(lg_task *task, int length, struct survey *s, lg_error *err)
{
    lg_example x;
    lg_draw d = {.length_lo = length, .length_hi = length};
    int e = 0;
    lg_example_init(&x);
    for (int64_t i = 0, tokens = 0; i < LOOKS && tokens < LOOK_TOKENS && !e; i++, tokens += x.n) {
        d.index = (uint64_t)i;
        if (!(e = lg_task_example(task, &d, &x, err)))
            survey_add(s, &x, lg_task_get_shape(task)->levels);
    }
    lg_example_clear(&x);
    return e ? LG_ERROR_ARGUMENT : 0;
}

static int plan_task(struct lg__try *t, lg_task *task, lg_error *err)
{
    static const int times[] = {1, 2, 5, 10};
    const lg_task_shape *shape = lg_task_get_shape(task);
    int least = shape->length_least, most = shape->length_most;
    struct survey of_short = {0}, of_long = {0};
    t->r->least = least;
    t->r->most = t->o->length ? t->o->length : USUAL;
    if (!t->o->length && 2 * t->r->most > most) t->r->most = most / 2 > least ? most / 2 : least;
    if (t->r->most < least || t->r->most >= most)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "trained up to length %d, but task %s with these settings has lengths "
                        "%d..%d (%s), and longer ones must be left for the tests; set --length "
                        "within that",
                        t->r->most, t->r->task, least, most, shape->info->unit);
    for (int i = 0; i < 4; i++) {
        int length = times[i] * t->r->most < most ? times[i] * t->r->most : most;
        if (t->r->columns && length <= t->column[t->r->columns - 1].length[0]) break;
        t->length[t->r->columns] = length;
        t->column[t->r->columns] = (struct lg__split_column){
            .count = 1, .length = &t->length[t->r->columns], .mean = length};
        t->r->columns++;
    }
    if (least < t->r->most) t->r->shorter = t->r->most / 2 > least ? t->r->most / 2 : least;
    if (t->r->most + 1 < most) t->r->further = 2 * t->r->most < most ? 2 * t->r->most : most - 1;
    for (int l = 0; l < t->r->levels; l++) t->reach[l] = shape->reach[l];
    int code = look(task, t->r->most, &of_short, err);
    if (!code) code = look(task, t->column[t->r->columns - 1].length[0], &of_long, err);
    choose_windows(t, &of_short, &of_long);
    return code;
}

/* ---- The user's own lines ------------------------------------------------------------------ */

/* The steps and ranges of labels, of the lines that are trained on and of the others. */
static int survey_lines(struct lg__try *t, lg_task *task, int lines, lg_error *err)
{
    struct survey part[2] = {0};
    lg_example x;
    int code = 0;
    lg_example_init(&x);
    for (int i = 0; i < lines && !code; i++)
        if (!(code = lg__split_example(task, i, &x, err)))
            survey_add(&part[x.length > t->r->most], &x, t->r->levels);
    lg_example_clear(&x);
    for (int l = 0; l < t->r->levels; l++) {
        int reach = part[0].reach[l], grows = part[1].reach[l] > reach || reach > MOST_REACH;
        t->reach[l] = grows ? 0 : reach ? reach : 1;
    }
    choose_windows(t, &part[0], &part[1]);
    return code;
}

static int plan_lines(struct lg__try *t, lg_task *task, lg_error *err)
{
    lg_try_result *r = t->r;
    struct lg__split *s = &t->split;
    *s = (struct lg__split){.file = r->task, .length = t->o->length, .seed = t->o->seed};
    int code = lg__split_lines(s, task, err);
    if (code) return code;
    r->least = s->least;
    r->most = s->most;
    r->shorter = s->shorter;
    r->further = s->further;
    r->columns = s->columns;
    memcpy(t->column, s->column, sizeof t->column);
    r->rare = s->rare;
    r->rare_tested = s->rare_tested;
    r->rare_words = s->rare_words;
    s->rare_words = NULL; /* the result's now */
    r->everything = s->everything;
    r->trained = s->trained;
    r->held = s->held;
    r->longer = s->longer;
    return survey_lines(t, task, s->trained + s->held + s->longer, err);
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

/* What others see of the columns. */
static void show_columns(struct lg__try *t)
{
    for (int c = 0; c < t->r->columns; c++) {
        const struct lg__split_column *x = &t->column[c];
        t->r->column[c] = (lg_try_column){.low = x->length[0],
                                          .high = x->length[x->count - 1],
                                          .mean = x->mean,
                                          .times = x->mean / t->r->most};
    }
}

static int refuse(const lg_try_result *r, lg_error *err)
{
    const lg_task_info *info = r->own ? NULL : lg_task_info_find(r->task);
    if (info && info->own == LG_OWN_PROGRAM)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a program's examples come only once; write some thousands of its lines "
                        "into a file, and try that");
    size_t n = strlen(r->task);
    int text = n > 4 && strcmp(r->task + n - 4, ".txt") == 0;
    char remedy[4400];
    snprintf(remedy, sizeof remedy,
             "train on it (lengthen train, task: {name: text, text: %.4096s}) and look at its loss "
             "by position (lengthen eval)",
             text ? r->task : "FILE");
    return lg__text_refuse(text ? lg_task_info_find("text") : info, remedy, err);
}

int lg__try_plan(struct lg__try *t, lg_error *err)
{
    lg_try_result *r = t->r;
    lg_text_task_add(); /* to be refused */
    const char *file = lg__task_file(t->o->task);
    r->task = file ? file : t->o->task;
    r->own = file || is_file(r->task);
    int code = refuse(r, err);
    if (code) return code;
    if (asprintf(&t->name, "%s%s", r->own ? "jsonl:" : "", r->task) < 0) {
        t->name = NULL;
        return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    }
    lg_task *task = lg_task_new(t->name, t->o->settings, t->o->setting_count, err);
    if (!task) return LG_ERROR_ARGUMENT;
    r->unit = r->own ? "length" : lg_task_get_shape(task)->info->unit;
    r->levels = lg_task_get_shape(task)->levels;
    code = r->own ? plan_lines(t, task, err) : plan_task(t, task, err);
    if (!code) code = lg__try_select(t, err);
    if (!code) show_columns(t);
    lg_task_free(task);
    return code;
}

/* A file with this text; one that is there must have the same. */
static int write_text(const char *folder, const char *name, const char *text, lg_error *err)
{
    char path[LG_TRY_PATH + 32], *old = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int e = lg__file_read(path, &old, err), same = old && strcmp(old, text) == 0;
    if (!e && old && !same)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is of another try (other data, another task, --length or --seed); take "
                     "another --out",
                     path);
    free(old);
    return e || same ? e : lg__file_write(path, text, err);
}

/* A try that goes on keeps its curriculum and its batch, whatever time it now has. */
static int keep_plan(struct lg__try *t, lg_error *err)
{
    char path[LG_TRY_PATH + 32], *text;
    snprintf(path, sizeof path, "%s/try.txt", t->r->folder);
    int curriculum, batch, e = lg__file_read(path, &text, err);
    const char *at = text ? strstr(text, ", curriculum of ") : NULL;
    if (at && sscanf(at, ", curriculum of %d steps, batch of %d", &curriculum, &batch) == 2) {
        t->curriculum = curriculum;
        t->batch = batch;
    }
    free(text);
    return e;
}

int lg__try_write(struct lg__try *t, lg_error *err)
{
    lg_buffer b = {0};
    const char *folder = t->r->folder;
    int code = keep_plan(t, err);
    if (code) return code;
    lg_buffer_print(&b, "lengthen try %s", t->r->task);
    for (int i = 0; i < t->o->setting_count; i++)
        lg_buffer_print(&b, " --set task.%s", t->o->settings[i]);
    lg_buffer_print(&b, " --length %d --seed %llu, curriculum of %d steps, batch of %d examples\n",
                    t->r->most, (unsigned long long)t->o->seed, t->curriculum, t->batch);
    char *about = lg_buffer_take(&b, err);
    code = about ? write_text(folder, "try.txt", about, err) : LG_ERROR_MEMORY;
    free(about);
    if (!code && t->r->own) code = write_text(folder, "train.jsonl", t->split.train, err);
    if (!code && t->r->own) code = write_text(folder, "test.jsonl", t->split.test, err);
    if (!code && t->r->own) code = write_text(folder, "unusual.jsonl", t->split.rest, err);
    if (!code && t->r->own) code = write_text(folder, "vocab.txt", t->split.vocab, err);
    return code;
}
