/* try.c: `lengthen try`: will a task extrapolate, with which positions, and how sparse are its
 * dependencies? Trains the sensible schemes within a time, tests them at longer lengths, and says
 * what to use. What is trained and tested is in try_data.c, the schemes are in try_schemes.c, and
 * what is printed in try_report.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/try.h"

const char lg_cmd_try_help[] =
    "Usage: lengthen try DATA.jsonl|TASK [OPTIONS]\n"
    "\n"
    "Answers in a few minutes: will this task extrapolate to longer inputs, which positions make\n"
    "it so, and how sparse are its dependencies? Trains small models with different positions on\n"
    "short examples, each for its share of the time, and tests them at the training length, 2, 5\n"
    "and 10 times that. Prints one table, a figure, how many earlier tokens a prediction needs,\n"
    "and what to use, as a config.\n"
    "\n"
    "DATA.jsonl has one example a line (`lengthen tasks jsonl`). It is split by length: the\n"
    "shorter half is trained on, but for some lines that are held out for the test; the longer\n"
    "lines are tested. With \"ids\" in the lines, position coupling is tried too.\n"
    "\n"
    "  --minutes M          time for all (5)\n"
    "  --set task.KEY=V     a setting of the task; as often as needed\n"
    "  --length N           longest of training (20, or what fits; of a file: its shorter half)\n"
    "  --seed S             other weights and examples (1)\n"
    "  --out DIR            keep the runs and their store there; the same command goes on with\n"
    "                       them (a temporary folder)\n"
    "  --plot FILE          the figure as .svg or .png too\n"
    "  --json               one object a cell, then one with the advice\n"
    "  --csv                one row a cell\n"
    "\n"
    "Examples:\n"
    "  lengthen try parity-scratchpad --minutes 1 --length 10\n"
    "  lengthen try addition --set task.carry=hard --plot addition.svg\n"
    "  lengthen try my-data.jsonl --minutes 10 --out tries/my-data\n";

enum {
    SAMPLES = 200,      /* of a cell, at most */
    LEAST_SAMPLES = 20, /* whatever the time */
    STREAK = 50,        /* steps without an error that end the training */
    SHORT_CURRICULUM = 100,
    LONG_CURRICULUM = 1000,
    MOST_LEARNED = 20, /* lengths that can be learned one by one */
    ROUNDS = 5,
    MOST_OVER = 3 /* a column may take so many times its share */
};
static const double SHORT_MINUTES = 3; /* under this the curriculum is the short one */
static const double TRAINING = 0.7;    /* of a scheme's time; the rest is for its tests */
static const double FOR_ALL = 0.95;    /* of the time; the rest is for the probe */

/* ---- Training ------------------------------------------------------------------------------ */

struct training {
    const struct lg_try *t;
    struct lg_try_scheme *s;
    double start, end, all, shown; /* of this scheme, of the whole try; when a line was shown */
    int terminal, streak, enough;  /* steps without an error, and how many are to be */
};

static void folder_of(const struct lg_try *t, const struct lg_try_scheme *s, char *path,
                      size_t size)
{
    snprintf(path, size, "%s/%s", t->folder, s->key);
}

static void show(struct training *w, const lg_run_step *step)
{
    if (!w->terminal || lg_cli_now() - w->shown < 0.2) return;
    w->shown = lg_cli_now();
    fprintf(stderr,
            "\r\033[K[%d/%d] %s: step %lld, length %d of %d, %.1f%% of the tokens right, %.0f s "
            "left of %.0f",
            (int)(w->s - w->t->scheme) + 1, w->t->schemes, w->s->name, (long long)step->step,
            step->length, w->t->most, 100 * step->accuracy, fmax(0, w->end - lg_cli_now()),
            fmax(0, w->all - lg_cli_now()));
}

static int watch(void *context, const lg_run_step *step)
{
    struct training *w = context;
    int right =
        step->accuracy >= 1 && (strcmp(w->s->ids, "predicted") != 0 || step->id_accuracy >= 1);
    w->streak = right && step->length == w->t->most ? w->streak + 1 : 0;
    w->s->steps = step->step;
    w->s->settled = w->streak >= w->enough;
    show(w, step);
    return !lg_cli_interrupted && !w->s->settled && lg_cli_now() < w->end;
}

/* Trains for some seconds more. What cannot go together is left out, with the reason. */
static int train(struct lg_try *t, struct lg_try_scheme *s, double seconds, double all, int enough)
{
    const char *sets[LG_TRY_SETS + 64];
    char folder[LG_TRY_PATH + 32], named[LG_TRY_PATH + 16], vocab[LG_TRY_PATH + 32];
    char(*settings)[300] = calloc((size_t)t->setting_count + 1, sizeof *settings);
    struct training w = {.t = t, .s = s, .start = lg_cli_now(), .all = all, .enough = enough};
    int n = 0, done;
    lg_error err = {0};
    if (!settings) return LG_EXIT_FAILED;
    w.end = w.start + seconds;
    w.terminal = isatty(STDERR_FILENO);
    folder_of(t, s, folder, sizeof folder);
    snprintf(named, sizeof named, "task.name=%s", t->task);
    snprintf(vocab, sizeof vocab, "task.vocab=%s/vocab.txt", t->folder);
    sets[n++] = named;
    if (t->own) sets[n++] = vocab;
    for (int i = 0; i < t->setting_count && !t->own && n < 64; i++) {
        snprintf(settings[i], sizeof settings[i], "task.%s", t->settings[i]);
        sets[n++] = settings[i];
    }
    for (int i = 0; i < s->set_count; i++) sets[n++] = s->sets[i];
    lg_run_options o = {.sets = sets,
                        .set_count = n,
                        .folder = folder,
                        .store = t->store,
                        .resume = LG_RUN_EITHER,
                        .watch = watch,
                        .context = &w};
    if (!w.terminal)
        fprintf(stderr, "[%d/%d] %s: training for at most %.0f s\n", (int)(s - t->scheme) + 1,
                t->schemes, s->name, seconds);
    int code = lg_run_train(&o, &done, &err);
    s->seconds += lg_cli_now() - w.start;
    free(settings);
    if (w.terminal) fputs("\r\033[K", stderr);
    if (!code) return 0;
    if (code == LG_ERROR_ARGUMENT) {
        snprintf(s->refused, sizeof s->refused, "%s", err.text);
        return 0;
    }
    fprintf(stderr, "lengthen try: %s: %s\n", s->name, err.text);
    return LG_EXIT_FAILED;
}

/* ---- Tests --------------------------------------------------------------------------------- */

static void pool(void *context, const lg_run_cell *cell)
{
    struct lg_try_cell *c = context;
    c->tokens += cell->tokens * cell->score.samples;
    c->samples += cell->score.samples;
    c->exact += cell->score.exact;
    c->seconds += cell->seconds;
    c->step = cell->step;
}

/* How many of the lines of each length, so that all are about `samples` together. */
static int share_of(const struct lg_try_column *c, int i, int samples, int own)
{
    if (!own) return samples;
    if (c->total <= samples) return c->lines[i];
    return (int)(((int64_t)c->lines[i] * samples + c->total - 1) / c->total);
}

/* One column: lengths with the same number of samples go together. */
static int test_column(const struct lg_try *t, const struct lg_try_scheme *s, int column,
                       int samples, struct lg_try_cell *cell)
{
    const struct lg_try_column *c = &t->column[column];
    char folder[LG_TRY_PATH + 32], done[LG_TRY_LENGTHS] = {0};
    int lengths[LG_TRY_LENGTHS];
    lg_eval_options o = {.folder = folder, .store = t->store, .generated_only = 1, .table = pool};
    lg_error err = {0};
    *cell = (struct lg_try_cell){0};
    folder_of(t, s, folder, sizeof folder);
    o.lengths = lengths;
    o.task = t->own ? t->test : NULL;
    o.predicted = strcmp(s->ids, "predicted") == 0;
    o.context = cell;
    for (int i = 0; i < c->count; i++) {
        if (done[i]) continue;
        o.samples = share_of(c, i, samples, t->own);
        o.length_count = 0;
        for (int j = i; j < c->count; j++)
            if (!done[j] && share_of(c, j, samples, t->own) == o.samples) {
                done[j] = 1;
                lengths[o.length_count++] = c->length[j];
            }
        if (lg_run_eval(&o, NULL, &err)) {
            fprintf(stderr, "lengthen try: %s: %s\n", s->name, err.text);
            return LG_EXIT_FAILED;
        }
    }
    cell->tokens /= cell->samples;
    lg_try_interval(cell);
    return 0;
}

/* As many samples as fit into the time, judged by the column before; 0: not even a few do. */
static int fitting(const struct lg_try *t, const struct lg_try_scheme *s, int column,
                   double seconds)
{
    const struct lg_try_cell *before = &s->cell[column - 1];
    double ratio = t->column[column].mean / t->column[column - 1].mean;
    double each = before->seconds / before->samples * (s->full ? ratio * ratio : ratio);
    int samples = SAMPLES;
    while (samples / 2 >= LEAST_SAMPLES && samples * each > seconds) samples /= 2;
    return samples * each > MOST_OVER * fmax(seconds, 1) ? 0 : samples;
}

/* Every column; one that does not answer half of the short examples is not asked longer ones. */
static int test(const struct lg_try *t, struct lg_try_scheme *s, double seconds)
{
    double end = lg_cli_now() + seconds;
    s->tested = 0;
    for (int c = 0; c < t->columns && !lg_cli_interrupted; c++) {
        int samples = c ? fitting(t, s, c, (end - lg_cli_now()) / (t->columns - c)) : SAMPLES;
        int code = samples ? test_column(t, s, c, samples, &s->cell[c]) : 0;
        if (code) return code;
        if (!samples) break;
        s->steps = s->cell[c].step;
        s->tested++;
        if (c == 0 && 2 * s->cell[0].exact < s->cell[0].samples) break;
    }
    if (!isatty(STDERR_FILENO) && s->tested)
        fprintf(stderr, "[%d/%d] %s: %lld steps in %.0f s, %.1f%% exact at the training length\n",
                (int)(s - t->scheme) + 1, t->schemes, s->name, (long long)s->steps, s->seconds,
                100.0 * s->cell[0].exact / s->cell[0].samples);
    return 0;
}

/* A run of an earlier try, with a checkpoint. */
static int is_there(const struct lg_try *t, const struct lg_try_scheme *s)
{
    char path[LG_TRY_PATH + 64];
    folder_of(t, s, path, sizeof path - 16);
    strcat(path, "/checkpoint");
    return t->out && access(path, F_OK) == 0;
}

/* Whether more training could still help. */
static int is_open(const struct lg_try_scheme *s) { return !s->refused[0] && !lg_try_learned(s); }

/* Each scheme gets its share of what is left; what one does not need goes to the next ones, and in
 * the end to those that have not learned; one that made no more errors, but fails in the test, has
 * then to go on without any for longer. */
static int run_schemes(struct lg_try *t, double end)
{
    double budget = 60 * t->minutes, left = end - lg_cli_now();
    for (int round = 0; round < ROUNDS && left > 0.1 * budget && !lg_cli_interrupted; round++) {
        int open = 0, code;
        for (int i = 0; i < t->schemes; i++) open += is_open(&t->scheme[i]);
        for (int i = 0; i < t->schemes && !lg_cli_interrupted; i++) {
            struct lg_try_scheme *s = &t->scheme[i];
            if (!is_open(s)) continue;
            double share = fmax(0, end - lg_cli_now()) / open--;
            if (round == 0 && is_there(t, s) && (code = test(t, s, share))) return code;
            if (!is_open(s)) continue;
            if ((code = train(t, s, TRAINING * share, end, STREAK << round))) return code;
            if (s->refused[0] || lg_cli_interrupted) continue;
            if ((code = test(t, s, fmax(0, end - lg_cli_now()) / (open + 1)))) return code;
        }
        left = end - lg_cli_now();
    }
    return 0;
}

/* ---- Sparsity ------------------------------------------------------------------------------- */

/* The lengths of a half: the exact one of a task; of a file, the lower and the upper part of those
 * that were held out. */
static int probe_lengths(const struct lg_try *t, int half, int length[2])
{
    const struct lg_try_column *c = &t->column[0];
    int middle = t->most / 2 > t->least ? t->most / 2 : t->least, found = 0;
    length[0] = length[1] = half ? middle : t->most;
    if (!t->own) return !half || middle < t->most;
    length[0] = half ? t->least : middle + 1;
    for (int i = 0; i < c->count; i++)
        found |= c->length[i] >= length[0] && c->length[i] <= length[1];
    return found;
}

static int probe(struct lg_try *t, const struct lg_try_scheme *s)
{
    char folder[LG_TRY_PATH + 32];
    lg_probe_options o = lg_probe_options_default();
    lg_error err = {0};
    int64_t predictions = (int64_t)4e5 / ((int64_t)t->tokens * t->tokens + 1);
    folder_of(t, s, folder, sizeof folder);
    o.folder = folder;
    o.task = t->own ? t->test : NULL;
    o.keep_last = 1;
    o.keep_first = 0;
    o.predictions = predictions > 100 ? 100 : predictions < 10 ? 10 : (int)predictions;
    for (int half = 1; half >= 0 && !lg_cli_interrupted; half--) {
        if (!probe_lengths(t, half, o.length)) continue;
        if (lg_probe(&o, &t->probe[t->probed], &err)) {
            fprintf(stderr, "lengthen try: %s\n", err.text);
            return LG_EXIT_FAILED;
        }
        t->probed++;
    }
    return 0;
}

/* ---- The folder ----------------------------------------------------------------------------- */

/* The folder of the runs, and the names of what lies in it. */
static int open_folder(struct lg_try *t)
{
    const char *base = getenv("TMPDIR");
    char made[LG_TRY_PATH], *whole;
    int code;
    snprintf(made, sizeof made, "%s/lengthen-try-XXXXXX", base && *base ? base : "/tmp");
    if (t->out && (code = lg_cli_make_folder("try", t->out))) return code;
    if (!t->out && !mkdtemp(made))
        return lg_cli_wrong("try",
                            "no temporary folder could be made as %s: %s; set TMPDIR, or "
                            "--out",
                            made, strerror(errno));
    whole = realpath(t->out ? t->out : made, NULL);
    snprintf(t->folder, sizeof t->folder, "%s", whole ? whole : t->out ? t->out : made);
    free(whole);
    snprintf(t->store, sizeof t->store, "%.*s/lengthen.db", LG_TRY_PATH - 16, t->folder);
    if (!t->own) return lg_try_write(t);
    if (strlen(t->folder) + sizeof "jsonl:/test.jsonl" > sizeof((lg_run_cell *)0)->setting)
        return lg_cli_wrong("try",
                            "the folder's name %s is too long; set --out (or TMPDIR) to a "
                            "shorter one",
                            t->folder);
    snprintf(t->task, sizeof t->task, "jsonl:%.*s/train.jsonl", 200, t->folder);
    snprintf(t->test, sizeof t->test, "jsonl:%.*s/test.jsonl", 200, t->folder);
    return lg_try_write(t);
}

/* ---- The command ---------------------------------------------------------------------------- */

static int read_setting(void *to, const char *text)
{
    struct lg_try *t = to;
    if (strncmp(text, "task.", 5) != 0 || !strchr(text, '='))
        return lg_cli_wrong("try",
                            "--set %s: here only the task's settings can be set, as in --set "
                            "task.KEY=VALUE; for anything else write a config (lengthen train)",
                            text);
    if (strlen(text) > 290) return lg_cli_wrong("try", "--set %.40s..: it is too long", text);
    t->settings[t->setting_count++] = text + 5;
    return 0;
}

static int read_options(int argc, char **argv, struct lg_try *t)
{
    const struct lg_cli_option rows[] = {
        {"minutes", .real = &t->minutes, .least = 0.01, .most = 100000, .take = "0.01 or more"},
        {"set", .read = read_setting, .to = t},
        {"length", .whole = &t->length, .least = 1, .most = 1 << 20},
        {"seed", .large = &t->seed},
        {"out", .text = &t->out},
        {"plot", .text = &t->plot},
        {"json", .flag = &t->json},
        {"csv", .flag = &t->csv},
        {0},
    };
    int code = lg_cli_options("try", rows, &argc, &argv);
    if (!code)
        code = lg_cli_argument("try", "task",
                               "Give a name of `lengthen tasks`, or a file with examples of your "
                               "own (`lengthen tasks jsonl`)",
                               argc, argv, &t->what);
    if (code) return code;
    if (t->json && t->csv) return lg_cli_wrong("try", "take --json or --csv, not both");
    if (t->setting_count > 60) return lg_cli_wrong("try", "too many --set");
    if (t->out && strlen(t->out) > LG_TRY_PATH / 2)
        return lg_cli_wrong("try", "--out is too long; take a shorter name");
    return 0;
}

static int run(struct lg_try *t, double start)
{
    const struct lg_try_scheme *best;
    lg_cli_catch_interrupts(1);
    lg_try_schemes(t);
    int code = run_schemes(t, start + FOR_ALL * 60 * t->minutes);
    best = lg_try_best(t);
    if (!code && best && !lg_cli_interrupted) code = probe(t, best);
    t->interrupted = lg_cli_interrupted;
    lg_cli_catch_interrupts(0);
    if (!code) code = lg_try_report(t);
    return !code && t->interrupted ? LG_EXIT_FAILED : code;
}

int lg_cmd_try(int argc, char **argv)
{
    struct lg_try *t = calloc(1, sizeof *t);
    double start = lg_cli_now();
    lg_error err = {0};
    if (!t || !(t->settings = calloc((size_t)argc + 1, sizeof *t->settings))) {
        fputs("lengthen try: no memory\n", stderr);
        free(t);
        return LG_EXIT_FAILED;
    }
    t->minutes = 5;
    t->seed = 1;
    int code = read_options(argc, argv, t);
    if (!code && t->plot && lg_figure_check(t->plot, &err))
        code = lg_cli_wrong("try", "%s", err.text);
    if (!code) code = lg_try_plan(t);
    t->curriculum = t->minutes < SHORT_MINUTES          ? SHORT_CURRICULUM
                    : t->most - t->least > MOST_LEARNED ? LONG_CURRICULUM
                                                        : 0;
    if (!code) code = open_folder(t);
    if (!code) code = run(t, start);
    if (!t->out && t->folder[0]) lg_cli_remove_folder(t->folder);
    lg_try_clear(t);
    free(t);
    return code;
}
