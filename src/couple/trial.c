/* trial.c: candidates trained on the shorter lines and judged on the longer ones. Only this may say yes: a table
 * that is right on most rows it has seen looks the same for a sum and for chance. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "couple/couple.h"

enum {
    SETS = 32,
    CHOOSE_LINES = 160, /* that a candidate answers */
    PAST = 192,         /* steps that are looked back on */
    LEAST_STEPS = 120,
    MOST_STEPS = 4000, /* of a candidate */
    FINAL_STEPS = 800, /* of the winner, at least */
    BATCH = 128,       /* lines per step at most, */
    LEAST_BATCH = 32,
    TOKENS = 3000, /* and about so many tokens */
    WIDTH = 128
};
static const double RIGHT = 0.997;   /* of a batch's tokens and IDs: as good as all */
static const double BETTER = 0.002;  /* what PAST more steps must gain */
static const double ENOUGH = 0.995;  /* of the lines to choose by: nothing else is tried */
static const double ALL_SEEN = 0.98; /* of the rows' contexts: the lines show them all */
static const double FOR_CHOICE =
    0.55; /* of the steps (and of the time, at most), with all candidates */
static const double FOR_WINNER = 0.4; /* of all steps: its run has no more of them */
static const double FOR_ONE = 0.6;    /* of what is left of these: the first candidates get most */

/* ---- A run's settings ------------------------------------------------------------------------------ */

struct sets {
    char text[SETS][LG_COUPLE_PATH + 64];
    const char *at[SETS];
    int n;
};

static void set(struct sets *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void set(struct sets *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->text[s->n], sizeof s->text[0], format, args);
    va_end(args);
    s->at[s->n] = s->text[s->n];
    s->n++;
}

static void describe(const struct lg__assignment *a, lg_couple_candidate *k)
{
    int levels = a->rule.levels;
    size_t w = 0, s = 0, n = 0;
    for (int l = 0; l < levels; l++) {
        w += (size_t)snprintf(k->window + w, sizeof k->window - w, "%s[%d, %d]", l ? ", " : "",
                              a->lo[l], a->hi[l]);
        s += (size_t)snprintf(k->source + s, sizeof k->source - s, "%s%s", l ? ", " : "",
                              a->grows[l] ? "pointer" : "delta");
        n += (size_t)snprintf(k->name + n, sizeof k->name - n, "%s%s", l ? ", " : "",
                              a->rule.level[l].name);
    }
    snprintf(k->name + n, sizeof k->name - n, "; %d layer%s, decay %g", k->layers,
             k->layers > 1 ? "s" : "", k->decay);
    k->levels = levels;
    k->roles = a->roles;
}

static int batch_of(const struct lg__couple *c)
{
    double tokens = 0;
    for (int i = 0; i < c->lines.count; i++) tokens += c->lines.x[i].n;
    int batch = (int)(TOKENS * c->lines.count / tokens);
    return batch > BATCH ? BATCH : batch < LEAST_BATCH ? LEAST_BATCH : batch;
}

/* What the run of a candidate is made of; steps 0: until it is stopped. */
static void make_sets(const struct lg__couple *c, const struct lg__assignment *a, int rule,
                      const lg_couple_candidate *k, int64_t steps, struct sets *s)
{
    const char *folder = c->r->folder;
    int many = a->rule.levels > 1;
    s->n = 0;
    set(s, "task.name=jsonl:%s/%s.jsonl", folder, steps ? "train" : "fit");
    set(s, "task.vocab=%s/vocab.txt", folder);
    set(s, "task.test=0");
    set(s, "positions.ids=coupled");
    if (steps)
        set(s, "positions.coupling=%s/coupling.yaml", folder);
    else
        set(s, "positions.coupling=%s/trials/rule-%d.yaml", folder, rule + 1);
    set(s, many ? "positions.source=[%s]" : "positions.source=%s", k->source);
    set(s, "positions.reach=%d", a->reach);
    set(s, "positions.encoding=relative");
    set(s, "positions.span=window");
    set(s, many ? "positions.window=[%s]" : "positions.window=%s", k->window);
    set(s, "model.width=%d", WIDTH);
    set(s, "model.layers=%d", k->layers);
    set(s, "model.sink=yes");
    set(s, "model.parallel=no");
    set(s, "train.lr=3e-3");
    set(s, "train.warmup=50");
    set(s, "train.batch=%d", batch_of(c));
    set(s, "train.weight_decay=%g", k->decay);
    set(s, "train.length=[%d, %d]", c->r->shortest, steps ? c->r->longest : c->r->fit_longest);
    set(s, "train.schedule=%s", steps ? "linear" : "constant");
    set(s, "train.steps=%lld", (long long)(steps ? steps : 1000000));
    set(s, "train.keep=1");
    set(s, "seed=%llu", (unsigned long long)c->o->seed);
    set(s, "eval.lengths=[%d]", c->r->longest);
}

/* ---- Training ---------------------------------------------------------------------------------------- */

struct training {
    struct lg__couple *c;
    int candidate, enough, streak, stuck, layers;
    int64_t most;
    double until, past[PAST];
    double mean[2]; /* of the last PAST steps, and of those before */
    int64_t seen;
};

static int is_stopped(const struct lg__couple *c) { return c->o->stop && *c->o->stop; }

/* Whether the clock has passed; what it cuts is no longer decided by the seed alone. */
static int is_late(struct lg__couple *c, double until)
{
    int late = lg__now() >= until;
    c->r->cut |= late;
    return late;
}

/* `more`: steps of the run that trains now. */
static void report(const struct lg__couple *c, int64_t more, lg_couple_progress p)
{
    double now = lg__now(), steps = (double)(c->spent + more);
    p.left = fmax(0, c->end - now);
    if (steps >= LEAST_STEPS)
        p.left = fmin(p.left, (now - c->trials) / steps * fmax(0, (double)c->o->steps - steps));
    if (c->o->watch) c->o->watch(c->o->context, &p);
}

static int watch(void *context, const lg_run_step *step)
{
    struct training *w = context;
    lg_couple_candidate *k = w->candidate < 0 ? NULL : &w->c->r->candidate[w->candidate];
    double right = fmin(step->accuracy, step->id_accuracy);
    report(w->c, w->layers * step->step,
           (lg_couple_progress){.event = w->candidate < 0 ? LG_COUPLE_FINISHES : LG_COUPLE_TRAINS,
                                .candidate = w->candidate,
                                .step = step});
    if (!k) {
        w->c->r->steps = step->step;
        return !is_late(w->c, w->until);
    }
    k->steps = step->step;
    w->streak = right >= RIGHT ? w->streak + 1 : 0;
    w->past[w->seen++ % PAST] = 0.5 * (step->accuracy + step->id_accuracy);
    if (w->seen % PAST == 0) {
        double sum = 0;
        for (int i = 0; i < PAST; i++) sum += w->past[i] / PAST;
        w->stuck = w->seen > 2 * PAST && sum < w->mean[0] + BETTER && sum < 0.99;
        w->mean[0] = sum;
    }
    if (step->step >= w->most || w->stuck || is_late(w->c, w->until)) return 0;
    return step->step < LEAST_STEPS || w->streak < w->enough;
}

static int train(struct lg__couple *c, struct training *w, const struct sets *s, const char *folder,
                 lg_error *err)
{
    int done;
    lg_run_options o = {.sets = s->at,
                        .set_count = s->n,
                        .folder = folder,
                        .store = w->candidate < 0 ? c->o->store : NULL,
                        .resume = LG_RUN_EITHER,
                        .threads = c->o->threads,
                        .watch = watch,
                        .context = w,
                        .stop = c->o->stop};
    return lg_run_train(&o, &done, err);
}

/* ---- Tests ------------------------------------------------------------------------------------------- */

struct tally {
    lg_couple_cell *cell; /* or NULL */
    int cells, lines, exact;
};

static void count(void *context, const lg_cell *x)
{
    struct tally *t = context;
    const lg_value *share = lg_cell_get(x, "exact");
    int exact = (int)lround(share->value * share->samples);
    t->lines += share->samples;
    t->exact += exact;
    if (t->cell && t->cells < LG_COUPLE_CELLS)
        t->cell[t->cells++] = (lg_couple_cell){x->length, share->samples, exact};
}

/* Answers lines of a part with predicted IDs, at most about `most` of them. */
static int test(const struct lg__couple *c, const char *run, enum lg__couple_part part, int most,
                struct tally *t, lg_error *err)
{
    int length[LG_COUPLE_CELLS], lines[LG_COUPLE_CELLS];
    char task[LG_COUPLE_PATH + 64];
    int n = lg__couple_lengths(c, part, length, lines, LG_COUPLE_CELLS);
    snprintf(task, sizeof task, "jsonl:%s/%s.jsonl", c->r->folder,
             part == LG__PART_CHOOSE ? "choose" : "report");
    lg_eval_options o = {.folder = run,
                         .lengths = length,
                         .length_count = n,
                         .task = task,
                         .samples = most ? (most + n - 1) / n : 1000000,
                         .predicted = 1,
                         .generated_only = 1,
                         .threads = c->o->threads,
                         .each = count,
                         .context = t,
                         .stop = c->o->stop};
    return lg_run_eval(&o, NULL, err);
}

/* ---- Candidates ---------------------------------------------------------------------------------------- */

/* Trains until it makes no more errors, asks the longer lines, and goes on while that helps. */
static int try_candidate(struct lg__couple *c, const struct lg__assignment *a, int rule, int at,
                         int64_t most, lg_error *err)
{
    lg_couple_candidate *k = &c->r->candidate[at];
    char folder[LG_COUPLE_PATH + 64];
    struct sets *s = malloc(sizeof *s);
    lg_error why = {0};
    double start = lg__now();
    int e = 0;
    if (!s) return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    snprintf(folder, sizeof folder, "%s/trials/%d", c->r->folder, at + 1);
    make_sets(c, a, rule, k, 0, s);
    double until = c->start + FOR_CHOICE * (c->end - c->start);
    struct training w = {
        .c = c, .candidate = at, .most = most, .until = until, .layers = k->layers};
    for (int round = 0; round < 3 && !e && !is_stopped(c); round++) {
        struct tally t = {0};
        w.enough = 20 << (2 * round);
        w.streak = 0;
        e = train(c, &w, s, folder, &why);
        if (e) break;
        report(c, k->layers * k->steps,
               (lg_couple_progress){.event = LG_COUPLE_TESTS, .candidate = at});
        e = test(c, folder, LG__PART_CHOOSE, CHOOSE_LINES, &t, &why);
        k->lines = t.lines;
        k->exact = t.exact;
        if (w.stuck || t.exact >= ENOUGH * t.lines || k->steps >= most || is_late(c, until)) break;
    }
    free(s);
    k->seconds = lg__now() - start;
    c->spent += k->layers * k->steps;
    if (e != LG_ERROR_ARGUMENT) return e ? lg__fail(err, e, "%s", why.text) : 0;
    snprintf(k->refused, sizeof k->refused, "%.190s", why.text);
    return 0;
}

static double share(const lg_couple_candidate *k)
{
    return k->lines ? (double)k->exact / k->lines : 0;
}

static int write_rule(const struct lg__couple *c, const struct lg__rule *r, const char *name,
                      lg_error *err)
{
    char path[LG_COUPLE_PATH + 64];
    lg_buffer b = {0};
    snprintf(path, sizeof path, "%s/%s", c->r->folder, name);
    lg__rule_write(r, &b);
    char *text = lg_buffer_take(&b, err);
    int e = text ? lg__file_write(path, text, err) : LG_ERROR_MEMORY;
    free(text);
    return e;
}

/* The config to go on with, as text. */
static int write_config(struct lg__couple *c, const struct sets *s, lg_error *err)
{
    char path[LG_COUPLE_PATH + 64], section[16] = "";
    lg_buffer b = {0};
    for (int i = 0; i < s->n; i++) {
        const char *value = strchr(s->text[i], '=') + 1, *dot = strchr(s->text[i], '.');
        if (!dot || dot > value) {
            lg_buffer_print(&b, "%.*s: %s\n", (int)(value - 1 - s->text[i]), s->text[i], value);
            section[0] = 0;
            continue;
        }
        int n = (int)(dot - s->text[i]);
        if (strncmp(section, s->text[i], (size_t)n) != 0 || section[n]) {
            snprintf(section, sizeof section, "%.*s", n, s->text[i]);
            lg_buffer_print(&b, "%s:\n", section);
        }
        lg_buffer_print(&b, "  %.*s: %s\n", (int)(value - 1 - dot - 1), dot + 1, value);
    }
    c->r->config = lg_buffer_take(&b, err);
    if (!c->r->config) return LG_ERROR_MEMORY;
    snprintf(path, sizeof path, "%s/config.yaml", c->r->folder);
    return lg__file_write(path, c->r->config, err);
}

/* The winner once more, on all lines but those to report. */
static int finish(struct lg__couple *c, const struct lg__assignment *a, lg_error *err)
{
    lg_couple_candidate *k = &c->r->candidate[c->r->best];
    char folder[LG_COUPLE_PATH + 64];
    struct sets *s = malloc(sizeof *s);
    if (!s) return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    double each = k->seconds / (double)(k->steps + 1);
    /* contexts that the lines do not show are learned last */
    int all = a->seen >= ALL_SEEN;
    int64_t steps = (all ? 3 : 4) * k->steps, fits = (c->o->steps - c->spent) / k->layers;
    int64_t in_time = (int64_t)(fmax(0, 0.85 * (c->end - lg__now())) / fmax(each, 1e-4));
    if (steps < FINAL_STEPS) steps = FINAL_STEPS;
    if (!all && steps < 2 * FINAL_STEPS) steps = 2 * FINAL_STEPS;
    int64_t most = (int64_t)(FOR_WINNER * (double)c->o->steps);
    /* a pointer's margins go on growing: at greater distances they are needed */
    for (int l = 0; l < a->rule.levels; l++)
        if (a->grows[l]) steps = most;
    if (steps > most) steps = most;
    if (steps > fits) steps = fits;
    if (steps > in_time) {
        steps = in_time;
        c->r->cut = 1;
    }
    if (steps < 100) steps = 100;
    snprintf(folder, sizeof folder, "%s/best", c->r->folder);
    struct training w = {.c = c, .candidate = -1, .until = INFINITY, .layers = k->layers};
    struct tally t = {.cell = c->r->cell};
    int e = write_rule(c, &a->rule, "coupling.yaml", err);
    make_sets(c, a, 0, k, steps, s);
    if (!e) e = write_config(c, s, err);
    if (!e) e = train(c, &w, s, folder, err);
    if (!e && !is_stopped(c)) e = test(c, folder, LG__PART_REPORT, 0, &t, err);
    c->r->cells = t.cells;
    c->r->report_lines = t.lines;
    c->r->report_exact = t.exact;
    free(s);
    return e;
}

int lg__couple_trials(struct lg__couple *c, const struct lg__assignment *a, int count,
                      const struct lg__assignment **best, lg_error *err)
{
    static const struct {
        int layers;
        double decay;
    } settings[] = {{1, 1}, {2, 1}, {1, 0.1}};
    lg_couple_result *r = c->r;
    char path[LG_COUPLE_PATH + 64], name[64];
    int rule_of[LG_COUPLE_CANDIDATES] = {0}, e;
    snprintf(path, sizeof path, "%s/trials", r->folder);
    if ((e = lg__folder_make(path, err))) return e;
    r->best = -1;
    c->trials = lg__now();
    for (size_t g = 0; g < sizeof settings / sizeof *settings && !e; g++)
        for (int i = 0; i < count && !e && !is_stopped(c); i++) {
            int64_t most =
                (int64_t)(FOR_ONE * (FOR_CHOICE * (double)c->o->steps - (double)c->spent));
            most /= settings[g].layers;
            if (most > MOST_STEPS) most = MOST_STEPS;
            if (r->candidates == LG_COUPLE_CANDIDATES || most < LEAST_STEPS) break;
            if (r->best >= 0 && share(&r->candidate[r->best]) >= ENOUGH) break;
            if (r->candidates && is_late(c, c->start + FOR_CHOICE * (c->end - c->start))) break;
            lg_couple_candidate *k = &r->candidate[r->candidates];
            k->layers = settings[g].layers;
            k->decay = settings[g].decay;
            describe(&a[i], k);
            rule_of[r->candidates] = i;
            snprintf(name, sizeof name, "trials/rule-%d.yaml", i + 1);
            if (g == 0) e = write_rule(c, &a[i].rule, name, err);
            if (!e) e = try_candidate(c, &a[i], i, r->candidates, most, err);
            if (!e && share(k) > (r->best < 0 ? 0 : share(&r->candidate[r->best])))
                r->best = r->candidates;
            r->candidates++;
        }
    if (e || is_stopped(c)) return e;
    if (r->best < 0 || share(&r->candidate[r->best]) < 0.5) {
        snprintf(r->why, sizeof r->why,
                 "what was found explains the table, but no model that was trained with it answers "
                 "half of the longer lines");
        return 0;
    }
    *best = &a[rule_of[r->best]];
    return finish(c, *best, err);
}
