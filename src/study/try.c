/* try.c: lg_try: the schemes take turns of training and tests until the time is over, then the best is
 * probed. What is trained and tested is in try_data.c, the schemes are in try_schemes.c, and whose turn
 * it is and how long is in try_time.h. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/stats.h"
#include "certify/contexts.h"
#include "report/try_words.h"
#include "study/try.h"
#include "study/try_time.h"

enum {
    SAMPLES = 200,      /* of a cell, at most */
    OWN_SAMPLES = 1000, /* the same of own lines */
    LEAST_SAMPLES = 20, /* with fewer a cell says too little */
    STREAK = 50,        /* steps without an error that end the training */
    SHORT_CURRICULUM = 100,
    LONG_CURRICULUM = 1000,
    MOST_LEARNED = 20 /* lengths that can be learned one by one */
};
static const double SHORT_MINUTES = 3; /* under this the curriculum is the short one */
static const double FOR_ALL = 0.95;    /* of the time; the rest is for the probe */

static int stopped(void *context)
{
    const struct lg__try *t = context;
    return t->o->stop && *t->o->stop;
}

static void report(const struct lg__try *t, lg_try_progress p, int scheme)
{
    p.result = t->r;
    p.index = scheme;
    p.scheme = p.event == LG_TRY_PLANNED ? NULL : &t->r->scheme[scheme];
    if (t->o->watch) t->o->watch(t->o->context, &p);
}

/* An error of a scheme's run is never the caller's. */
static int fail_run(const lg_try_scheme *s, int code, const lg_error *why, lg_error *err)
{
    return lg__fail(err, code == LG_ERROR_ARGUMENT ? LG_ERROR_SYSTEM : code, "%s: %s", s->name,
                    why->text);
}

/* ---- The verdict ----------------------------------------------------------------------------- */

/* 99% exact; one error is allowed where there are few samples. */
static int has_learned(const lg_try_scheme *s)
{
    const lg_try_cell *c = &s->cell[0];
    int enough = (int)(0.99 * c->samples);
    return c->exact >= (enough > 1 ? enough : 1);
}

static void judge(const struct lg__try *t, int i)
{
    lg_try_scheme *s = &t->r->scheme[i];
    s->verdict = s->refused[0]                    ? LG_TRY_LEFT_OUT
                 : s->steps < LG_TRY_STEPS        ? LG_TRY_FEW
                 : !s->tested                     ? LG_TRY_NO_TIME
                 : has_learned(s)                 ? LG_TRY_LEARNED
                 : t->r->own && t->run[i].settled ? LG_TRY_BY_HEART
                                                  : LG_TRY_NOT_LEARNED;
}

/* The column that decides: five times the training length, or the nearest that there is. */
static int deciding(const lg_try_result *r)
{
    int best = r->columns - 1;
    for (int c = 1; c < r->columns; c++)
        if (fabs(log(r->column[c].mean / (5 * r->most))) <
            fabs(log(r->column[best].mean / (5 * r->most))))
            best = c;
    return best;
}

/* Of the seeds of a scheme that learned, the one whose share at the column is the median. */
static int median_seed(const lg_try_result *r, int scheme, int at)
{
    int best = -1, most = -1;
    for (int i = scheme; i < lg__try_runs(r); i += r->schemes) {
        const lg_try_scheme *s = &r->scheme[i];
        int below = 0, above = 0;
        if (s->verdict != LG_TRY_LEARNED) continue;
        for (int k = scheme; k < lg__try_runs(r); k += r->schemes) {
            if (r->scheme[k].verdict != LG_TRY_LEARNED) continue;
            below += r->scheme[k].cell[at].share <= s->cell[at].share;
            above += r->scheme[k].cell[at].share >= s->cell[at].share;
        }
        int depth = below < above ? below : above;
        if (depth > most) {
            best = i;
            most = depth;
        }
    }
    return best;
}

static void choose_best(lg_try_result *r)
{
    double most = -1;
    int at = deciding(r);
    r->best = -1;
    for (int i = 0; i < r->schemes; i++) {
        lg_try_scheme s;
        lg_try_summary(r, i, &s);
        if (s.verdict != LG_TRY_LEARNED) continue;
        double score = s.tested > at ? s.cell[at].share : 0;
        if (s.tested == r->columns) score += 0.01 * s.cell[r->columns - 1].share;
        if (score < most) continue; /* on a tie the later one: it sees less */
        r->best = median_seed(r, i, at);
        r->carries = s.tested > 1 && s.cell[s.tested - 1].share >= 0.1;
        most = score;
    }
}

/* ---- Training -------------------------------------------------------------------------------- */

struct training {
    struct lg__try *t;
    int scheme, streak, enough; /* steps without an error, and how many are to be */
    double end;
};

static void folder_of(const struct lg__try *t, int i, char path[LG_TRY_PATH + 64])
{
    int n = snprintf(path, LG_TRY_PATH + 64, "%s/%s", t->r->folder, t->run[i].key);
    if (i >= t->r->schemes) /* the first seed's has no number: more of them can follow */
        snprintf(path + n, (size_t)(LG_TRY_PATH + 64 - n), "-%lld",
                 (long long)t->r->scheme[i].seed);
}

static int is_predicted(const lg_try_scheme *s) { return s->ids == LG_TRY_PREDICTED; }

static int watch(void *context, const lg_run_step *step)
{
    struct training *w = context;
    struct lg__try *t = w->t;
    lg_try_scheme *s = &t->r->scheme[w->scheme];
    int right = step->accuracy >= 1 && (!is_predicted(s) || step->id_accuracy >= 1);
    double now = lg__now();
    w->streak = right && step->length == t->r->most ? w->streak + 1 : 0;
    s->steps = step->step;
    t->run[w->scheme].settled = w->streak >= w->enough;
    report(t,
           (lg_try_progress){.event = LG_TRY_STEP,
                             .step = step,
                             .seconds = fmax(0, w->end - now),
                             .all_left = fmax(0, t->end - now)},
           w->scheme);
    return !t->run[w->scheme].settled && now < w->end;
}

enum { ALL_SETS = LG__TRY_SETS + LG__TRY_SETTINGS + 5 };

/* The config of a scheme's run, to be freed one by one; how many, or -1: no memory. */
static int make_sets(const struct lg__try *t, int scheme, char *sets[ALL_SETS])
{
    const struct lg__try_run *run = &t->run[scheme];
    int n = 0, e = asprintf(&sets[n++], "task.name=%s", t->name);
    if (e >= 0) e = asprintf(&sets[n++], "seed=%lld", (long long)t->r->scheme[scheme].seed);
    if (t->r->own && e >= 0) e = asprintf(&sets[n++], "task.vocab=%s/vocab.txt", t->r->folder);
    if (t->r->own && e >= 0) /* what is held out is in a file of its own */
        e = asprintf(&sets[n++], "task.test=0");
    for (int i = 0; i < t->o->setting_count && !t->r->own && e >= 0; i++)
        e = asprintf(&sets[n++], "task.%s", t->o->settings[i]);
    for (int i = 0; i < run->set_count && e >= 0; i++) e = asprintf(&sets[n++], "%s", run->sets[i]);
    if (e < 0) sets[n - 1] = NULL;
    return e < 0 ? -1 : n;
}

/* Trains on until some moment. What cannot go together is left out, with the reason. */
static int train(struct lg__try *t, int i, double until, int enough, lg_error *err)
{
    char folder[LG_TRY_PATH + 64], *sets[ALL_SETS] = {0};
    lg_try_scheme *s = &t->r->scheme[i];
    struct training w = {.t = t, .scheme = i, .enough = enough, .end = until};
    double start = lg__now();
    lg_error why = {0};
    int done, n = make_sets(t, i, sets), e = 0;
    folder_of(t, i, folder);
    lg_run_options o = {.sets = (const char *const *)sets,
                        .set_count = n,
                        .folder = folder,
                        .store = t->r->store,
                        .resume = LG_RUN_EITHER,
                        .watch = watch,
                        .context = &w,
                        .stop = t->o->stop};
    report(t, (lg_try_progress){.event = LG_TRY_TRAINS, .seconds = fmax(0, until - start)}, i);
    if (n < 0)
        e = lg__fail(&why, LG_ERROR_MEMORY, "no memory; end other programs");
    else
        e = lg_run_train(&o, &done, &why);
    for (int k = 0; k < ALL_SETS; k++) free(sets[k]);
    s->seconds += lg__now() - start;
    report(t, (lg_try_progress){.event = LG_TRY_TRAINED}, i);
    if (e == LG_ERROR_ARGUMENT) snprintf(s->refused, sizeof s->refused, "%s", why.text);
    return e && e != LG_ERROR_ARGUMENT ? fail_run(s, e, &why, err) : 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void pool(void *context, const lg_cell *cell)
{
    lg_try_cell *c = context;
    const lg_value *exact = lg_cell_get(cell, "exact");
    c->tokens += cell->tokens * exact->samples;
    c->samples += exact->samples;
    c->exact += (int)lround(exact->value * exact->samples);
    c->seconds += cell->seconds;
    c->step = cell->step;
}

/* How many examples of each length: of own lines all, or so many that they are about OWN_SAMPLES. */
static int samples_of(const struct lg__split_column *c, int own)
{
    int most = 0, sum = 0;
    for (int i = 0; i < c->count && own; i++) most = c->lines[i] > most ? c->lines[i] : most;
    if (!own) return SAMPLES;
    if (c->total <= OWN_SAMPLES) return most;
    for (int n = 1;; n++) {
        for (int i = sum = 0; i < c->count; i++) sum += c->lines[i] < n ? c->lines[i] : n;
        if (sum >= OWN_SAMPLES) return n;
    }
}

/* The lengths of a column together, of the test examples or of another task. */
static int test_column(const struct lg__try *t, int scheme, const struct lg__split_column *c,
                       const char *task, double until, lg_try_cell *cell, lg_error *err)
{
    const lg_try_scheme *s = &t->r->scheme[scheme];
    char folder[LG_TRY_PATH + 64];
    lg_error why = {0};
    *cell = (lg_try_cell){0};
    folder_of(t, scheme, folder);
    lg_eval_options o = {.folder = folder,
                         .store = t->r->store,
                         .lengths = c->length,
                         .length_count = c->count,
                         .samples = samples_of(c, t->r->own),
                         .task = task,
                         .predicted = is_predicted(s),
                         .generated_only = 1,
                         .seconds = until - lg__now(),
                         .each = pool,
                         .context = cell,
                         .stop = t->o->stop};
    if (o.seconds <= 0) return 0;
    int e = lg_run_eval(&o, NULL, &why);
    if (e) return fail_run(s, e, &why, err);
    if (!cell->samples) return 0;
    cell->tokens /= cell->samples;
    cell->share = (double)cell->exact / cell->samples;
    lg__wilson(cell->exact, cell->samples, &cell->low, &cell->high);
    return 0;
}

/* Whether a few samples of the column fit into the time, judged by the column before. */
static int fits(const struct lg__try *t, int scheme, int column, double seconds)
{
    const lg_try_cell *before = &t->r->scheme[scheme].cell[column - 1];
    double ratio = t->column[column].mean / t->column[column - 1].mean;
    double each = before->seconds / before->samples * (t->run[scheme].full ? ratio * ratio : ratio);
    return LEAST_SAMPLES * each <= seconds;
}

/* The cell of a column, in its part of the time that is left: half of it for the training lengths, on
 * which all depends; 0 without an error: it was too short. */
static int test_next(const struct lg__try *t, int scheme, double until, int *code, lg_error *err)
{
    lg_try_scheme *s = &t->r->scheme[scheme];
    int c = s->tested, total = t->column[c].total;
    int least = t->r->own && total < LEAST_SAMPLES ? total : LEAST_SAMPLES;
    double now = lg__now(), seconds = (until - now) / (c ? t->r->columns - c : 2);
    if (seconds <= 0 || (c && !fits(t, scheme, c, seconds))) return 0;
    *code = test_column(t, scheme, &t->column[c], t->test, now + seconds, &s->cell[c], err);
    return !*code && s->cell[c].samples >= least;
}

/* Every column; one that does not answer half of the short examples is not asked longer ones. What an
 * earlier test found stays if there is no time for another. */
static int test(struct lg__try *t, int scheme, double until, lg_error *err)
{
    lg_try_scheme *s = &t->r->scheme[scheme], before = *s;
    int code = 0, more = s->steps >= LG_TRY_STEPS;
    s->tested = s->late = 0;
    while (more && s->tested < t->r->columns && !stopped(t)) {
        int made = test_next(t, scheme, until, &code, err);
        if (code) return code;
        s->late = !made && !stopped(t);
        if (!made) break;
        s->steps = s->cell[s->tested++].step;
        more = 2 * s->cell[0].exact >= s->cell[0].samples;
    }
    if (!s->tested && before.tested) *s = before;
    judge(t, scheme);
    report(t, (lg_try_progress){.event = LG_TRY_TESTED}, scheme);
    return 0;
}

/* ---- Turns ----------------------------------------------------------------------------------- */

struct turns {
    struct lg__try *t;
    lg_error *err;
};

static double clock_now(void *context)
{
    (void)context;
    return lg__now();
}

/* Whether more training could still help. */
static int is_open(void *context, int i)
{
    const struct turns *w = context;
    lg_try_verdict v = w->t->r->scheme[i].verdict;
    return v != LG_TRY_LEFT_OUT && v != LG_TRY_LEARNED;
}

static int turns_stopped(void *context) { return stopped(((struct turns *)context)->t); }

/* A run of an earlier try, with a checkpoint. */
static int is_there(const struct lg__try *t, int i)
{
    char path[LG_TRY_PATH + 64];
    folder_of(t, i, path);
    strcat(path, "/checkpoint");
    return t->o->folder && access(path, F_OK) == 0;
}

/* A scheme that made no more errors, but fails in the test, has in the next round to go on without
 * any for longer. */
static int take_turn(void *context, int i, int round, double train_until, double test_until)
{
    struct turns *w = context;
    struct lg__try *t = w->t;
    lg_try_scheme *s = &t->r->scheme[i];
    int code;
    if (round == 0 && is_there(t, i)) {
        s->steps = LG_TRY_STEPS; /* the test says how many there are */
        if ((code = test(t, i, train_until, w->err)) || !is_open(w, i)) return code;
        if (!s->tested) s->steps = 0;
    }
    code = train(t, i, train_until, STREAK << round, w->err);
    if (!code && !s->refused[0] && !stopped(t)) code = test(t, i, test_until, w->err);
    judge(t, i);
    return code;
}

static int run_schemes(struct lg__try *t, double seconds, lg_error *err)
{
    struct turns w = {t, err};
    struct lg__try_turns turns = {.count = lg__try_runs(t->r),
                                  .seconds = seconds,
                                  .end = t->end,
                                  .context = &w,
                                  .now = clock_now,
                                  .open = is_open,
                                  .stopped = turns_stopped,
                                  .turn = take_turn};
    for (int i = 0; i < turns.count; i++) judge(t, i);
    return lg__try_take_turns(&turns);
}

/* ---- Sparsity -------------------------------------------------------------------------------- */

/* The lengths of a half: the exact one of a task; of a file, the lower and the upper part of those
 * that were held out. */
static int probe_lengths(const struct lg__try *t, int half, int length[2])
{
    const struct lg__split_column *c = &t->column[0];
    int least = t->r->least, most = t->r->most, found = 0;
    int middle = most / 2 > least ? most / 2 : least;
    length[0] = length[1] = half ? middle : most;
    if (!t->r->own) return !half || middle < most;
    length[0] = half ? least : middle + 1;
    for (int i = 0; i < c->count; i++)
        found |= c->length[i] >= length[0] && c->length[i] <= length[1];
    return found;
}

static int probe(struct lg__try *t, double until, lg_error *err)
{
    char folder[LG_TRY_PATH + 64];
    lg_try_result *r = t->r;
    lg_probe_options o = lg_probe_options_default();
    const int most = 2 * LG_PROBE_ENOUGH; /* one in two must depend on its context to be enough */
    int64_t predictions = (int64_t)2e6 / ((int64_t)r->tokens * r->tokens + 1);
    int least = INT_MAX, e;
    folder_of(t, r->best, folder);
    o.folder = folder;
    o.task = t->test;
    o.keep_last = 1;
    o.keep_first = 0;
    o.stop = t->o->stop;
    o.predictions = predictions > most ? most : predictions < 10 ? 10 : (int)predictions;
    for (int half = 1; half >= 0 && !stopped(t); half--) {
        lg_probe_result *x = &r->probe[r->probed];
        if (!probe_lengths(t, half, o.length)) continue;
        o.seconds = (until - lg__now()) / (1 + half);
        if (o.seconds <= 0) break;
        if ((e = lg_probe(&o, x, err))) return e == LG_ERROR_ARGUMENT ? LG_ERROR_SYSTEM : e;
        if (!x->predictions) break; /* there was no time for one */
        int n = x->dependent ? x->dependent : x->predictions;
        least = n < least ? n : least;
        r->probed++;
    }
    r->conclusive = r->probed && least >= LG_PROBE_ENOUGH;
    return 0;
}

/* What else there is to say of the best: its answers to lines with rare words, and whether it can be
 * certified. */
static int look_at_best(struct lg__try *t, double until, lg_error *err)
{
    struct lg__run run = {0};
    lg_try_result *r = t->r;
    lg_error why = {0};
    int e = t->split.unusual.count
                ? test_column(t, r->best, &t->split.unusual, t->rest, until, &r->unusual, err)
                : 0;
    folder_of(t, r->best, r->best_folder);
    if (e || r->own || !r->carries) return e;
    if (!lg__run_open_folder(&run, r->best_folder, NULL, NULL, &why))
        r->certifiable = !lg__certificate_possible(&run, &why);
    lg__run_close(&run);
    return 0;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* The folder of the runs, and the names of what lies in it. */
static int open_folder(struct lg__try *t, lg_error *err)
{
    const char *base = getenv("TMPDIR"), *out = t->o->folder;
    lg_try_result *r = t->r;
    char made[LG_TRY_PATH];
    int code;
    snprintf(made, sizeof made, "%s/lengthen-try-XXXXXX", base && *base ? base : "/tmp");
    if (out && (code = lg__folder_out(out, err))) return code;
    if (!out && !mkdtemp(made))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "no temporary folder could be made as %s: %s; set TMPDIR, or --out", made,
                        strerror(errno));
    char *whole = realpath(out ? out : made, NULL);
    snprintf(r->folder, sizeof r->folder, "%s", whole ? whole : out ? out : made);
    free(whole);
    if (t->o->store)
        snprintf(r->store, sizeof r->store, "%s", t->o->store);
    else
        snprintf(r->store, sizeof r->store, "%.*s/lengthen.db", LG_TRY_PATH - 16, r->folder);
    if (!r->own) return lg__try_write(t, err);
    if (strlen(r->folder) + sizeof "jsonl:/unusual.jsonl" > sizeof((lg_cell *)0)->setting)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the folder's name %s is too long; set --out (or TMPDIR) to a shorter one",
                        r->folder);
    free(t->name);
    if (asprintf(&t->name, "jsonl:%s/train.jsonl", r->folder) < 0) t->name = NULL;
    if (asprintf(&t->test, "jsonl:%s/test.jsonl", r->folder) < 0) t->test = NULL;
    if (asprintf(&t->rest, "jsonl:%s/unusual.jsonl", r->folder) < 0) t->rest = NULL;
    if (!t->name || !t->test || !t->rest)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    return lg__try_write(t, err);
}

static int plan(struct lg__try *t, lg_error *err)
{
    const lg_try_options *o = t->o;
    if (o->setting_count > LG__TRY_SETTINGS)
        return lg__fail(err, LG_ERROR_ARGUMENT, "too many --set");
    if (o->folder && strlen(o->folder) > LG_TRY_PATH / 2)
        return lg__fail(err, LG_ERROR_ARGUMENT, "--out is too long; take a shorter name");
    int code = lg__try_plan(t, err);
    if (code) return code;
    t->curriculum = o->minutes < SHORT_MINUTES                ? SHORT_CURRICULUM
                    : t->r->most - t->r->least > MOST_LEARNED ? LONG_CURRICULUM
                                                              : 0;
    return lg__try_choose_batch(t, FOR_ALL * 60 * o->minutes, err);
}

static int run(struct lg__try *t, double start, lg_error *err)
{
    lg_try_result *r = t->r;
    lg_buffer config = {0};
    t->end = start + FOR_ALL * 60 * t->o->minutes;
    double taken = 0;
    int e = lg__try_couple(t, &taken, err);
    lg__try_schemes(t);
    double end = start + 60 * t->o->minutes, since;
    if (!e) e = run_schemes(t, FOR_ALL * 60 * t->o->minutes - taken, err);
    choose_best(r);
    since = lg__now();
    if (!e && r->best >= 0 && !stopped(t)) e = look_at_best(t, since + (end - since) / 3, err);
    if (!e && r->best >= 0 && !stopped(t)) e = probe(t, end, err);
    r->interrupted = stopped(t);
    if (!e) e = lg__try_words(t->o, r, err);
    if (!e) e = lg__try_couple_words(t, err);
    if (e || r->config || !r->carries) return e;
    lg__try_config(&config, t, r->best);
    return (r->config = lg_buffer_take(&config, err)) ? 0 : LG_ERROR_MEMORY;
}

lg_try_options lg_try_options_default(void) { return (lg_try_options){.minutes = 5, .seed = 1}; }

int lg_try(const lg_try_options *o, lg_try_result *result, lg_error *err)
{
    double start = lg__now();
    *result = (lg_try_result){.best = -1};
    struct lg__try *t = calloc(1, sizeof *t);
    if (!t) return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    t->o = o;
    t->r = result;
    int e = plan(t, err);
    if (!e) {
        report(t, (lg_try_progress){.event = LG_TRY_PLANNED}, 0);
        e = open_folder(t, err);
    }
    if (!e) e = run(t, start, err);
    if (!o->folder && result->folder[0]) lg_folder_remove(result->folder);
    lg__split_clear(&t->split);
    free(t->name);
    free(t->test);
    free(t->rest);
    free(t);
    return e;
}

void lg_try_result_clear(lg_try_result *r)
{
    free(r->advice);
    free(r->sparsity);
    free(r->config);
    free(r->rare_words);
    if (r->coupled) lg_couple_clear(r->coupled);
    free(r->coupled);
    *r = (lg_try_result){0};
}
