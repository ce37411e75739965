/* test_probe_run.c: the probe of every prediction of a run: a run that is held against another,
 * means and intervals, which predictions are looked at, the store, the user's own data, and what
 * is refused. Without it a sum could be of other predictions than it says, or of a model that
 * reads other words. */
#include <math.h>

#include "helpers/cells.h"
#include "helpers/home.h"
#include "runs/run.h"
#include "helpers/training.h"

/* ---- Runs of texts -------------------------------------------------------------------------- */

static const char *set(const char *key, const char *value)
{
    static char text[16][400];
    static int next;
    char *p = text[next++ % 16];
    snprintf(p, sizeof text[0], "%s=%s", key, value);
    return p;
}

/* Documents of 150 letters in which a word of three comes again and again. */
static void write_corpus(void)
{
    FILE *f = fopen(in_home("a.txt"), "w");
    assert_non_null(f);
    for (int d = 0; d < 30; d++) {
        lg_rng r;
        lg_rng_init(&r, 9, 0, (uint64_t)d);
        char word[3];
        for (int i = 0; i < 3; i++) word[i] = "abcdefgh"[lg_rng_below(&r, 8)];
        if (d) fputs("\n<|endoftext|>\n", f);
        for (int i = 0; i < 30; i++)
            fprintf(f, "%.3s%c%c", word, "xyz"[lg_rng_below(&r, 3)], "uvw"[lg_rng_below(&r, 3)]);
    }
    assert_int_equal(fclose(f), 0);
}

static void train_text(const char *name, const char *length, const char *seed, const char *vocab,
                       const char *scaling)
{
    const char *sets[] = {"task.name=text",
                          set("task.text", in_home("a.txt")),
                          "task.test=0.4",
                          "positions.ids=plain",
                          "model.layers=2",
                          "model.width=32",
                          "model.heads=2",
                          "train.steps=60",
                          "train.lr=5e-3",
                          "train.warmup=10",
                          "train.batch=16",
                          set("train.length", length),
                          set("seed", seed),
                          set("task.vocab", vocab),
                          set("positions.rope.scaling", scaling),
                          "positions.rope.length=16"};
    lg_run_options o = {.sets = sets, .set_count = sizeof sets / sizeof *sets, .threads = 1};
    lg_error err = {0};
    int done;
    o.folder = in_home(name);
    must(lg_run_train(&o, &done, &err), &err);
}

/* Its words are a, b, c, = and $. */
static void train_copy(void)
{
    const char *sets[] = {"task.name=copy",        "task.alphabet=3",    "seed=1",
                          "model.layers=1",        "model.width=16",     "model.heads=2",
                          "positions.ids=coupled", "train.length=[1,4]", "train.steps=2",
                          "train.batch=4"};
    lg_run_options o = {.sets = sets, .set_count = sizeof sets / sizeof *sets, .threads = 1};
    lg_error err = {0};
    int done;
    o.folder = in_home("copy");
    must(lg_run_train(&o, &done, &err), &err);
}

static int prepare(void **state)
{
    if (make_home(state)) return -1;
    setenv("LENGTHEN_CACHE", in_home("cache"), 1);
    write_corpus();
    train_text("long", "[64, 64]", "1", "0", "none");
    train_text("short", "[16, 16]", "2", "0", "none");
    train_text("dynamic", "[16, 16]", "2", "0", "dynamic");
    train_copy();
    return 0;
}

static void number_of(void *context, const lg_store_run *r) { *(int64_t *)context = r->number; }

static void count_kept(void *context, const lg_cell *p)
{
    (void)p;
    ++*(int *)context;
}

enum { LENGTH = 60, CONTEXT = 16, MOST_ROWS = 2000 };

struct told {
    lg_probe_row row[MOST_ROWS];
    int rows, passages;
    int32_t token[40][LENGTH + 1];
    int at[MOST_ROWS]; /* the passage of each row */
    double done;
};

static void told_passage(void *context, const lg_probe_passage *p)
{
    struct told *t = context;
    assert_int_equal(p->n, LENGTH + 1);
    assert_true(p->piece && p->piece[0] && p->size[0] > 0);
    memcpy(t->token[t->passages++], p->tokens, sizeof t->token[0]);
}

static void told_row(void *context, const lg_probe_row *r)
{
    struct told *t = context;
    assert_true(t->rows < MOST_ROWS);
    assert_int_equal(r->token, t->token[t->passages - 1][r->position]);
    for (int i = 0; i < r->sources; i++)
        assert_true(r->source[i] > 0 && r->source[i] < r->position - 4);
    t->at[t->rows] = t->passages - 1;
    t->row[t->rows++] = *r;
}

static void progress(void *context, double done)
{
    struct told *t = context;
    assert_true(done > t->done && done <= 1);
    t->done = done;
}

static lg_run_probe_options text_options(struct told *t)
{
    lg_run_probe_options o = lg_run_probe_options_default();
    *t = (struct told){0};
    o.folder = in_home("long");
    o.against = in_home("short");
    o.length = LENGTH;
    o.documents = 5;
    o.threads = 1;
    o.passage = told_passage;
    o.row = told_row;
    o.progress = progress;
    o.context = t;
    return o;
}

/* The loss of the run on one prediction, from `from` on, by an evaluator of its own. */
static double naive_text(const lg_model *m, const int32_t *token, int from, int at)
{
    lg_error err;
    lg_eval_result r;
    lg_batch b;
    int32_t id[LENGTH], target[LENGTH];
    for (int t = 0; t < at - from; t++) {
        id[t] = t;
        target[t] = t == at - from - 1 ? token[at] : LG_NONE;
    }
    lg_batch_init(&b);
    must(lg_batch_add(&b, at - from, token + from, id, target, NULL, &err), &err);
    lg_evaluator *e = lg_evaluator_new(m, 1, &err);
    must(lg_evaluator_run(e, &b, &r, &err), &err);
    double loss = r.loss;
    lg_evaluator_free(e);
    lg_batch_clear(&b);
    return loss;
}

static void a_short_run_is_held_against_a_long_one(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    struct lg__run longer = {0}, shorter = {0};
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(s.context, CONTEXT);
    assert_int_equal(s.documents, 5);
    assert_int_equal(s.predictions, 5 * (LENGTH - CONTEXT));
    assert_int_equal(t.rows, s.predictions);
    must(lg__run_open_folder(&longer, o.folder, NULL, NULL, &err), &err);
    must(lg__run_open_folder(&shorter, o.against, NULL, NULL, &err), &err);
    int depend = 0, in_bins = 0;
    for (int i = 0; i < t.rows; i++) {
        const lg_probe_row *r = &t.row[i];
        const int32_t *token = t.token[t.at[i]];
        assert_in_range(r->position, CONTEXT + 1, LENGTH);
        depend += r->depends;
        if (i % 7) continue;
        assert_true(fabs(r->loss - naive_text(longer.model, token, 0, r->position)) < 1e-4);
        assert_true(fabs(r->against - naive_text(shorter.model, token, 0, r->position)) < 1e-4);
        assert_true(fabs(r->against_short - naive_text(shorter.model, token, r->position - CONTEXT,
                                                       r->position)) < 1e-4);
    }
    assert_int_equal(depend, s.dependent);
    assert_true(depend > 0);
    for (int i = 0; i < LG_PROBE_BINS; i++) in_bins += s.bin[i].predictions;
    assert_int_equal(in_bins, s.predictions);
    assert_int_equal(s.bin[0].predictions, s.predictions - depend);
    lg__run_close(&longer);
    lg__run_close(&shorter);
}

/* The mean and the interval of a bin, by their formulas. */
static void means_are_over_predictions_and_intervals_over_documents(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    double sum[5] = {0}, n[5] = {0}, all = 0, count = 0, squares = 0;
    for (int i = 0; i < t.rows; i++) {
        if (t.row[i].depends) continue;
        sum[t.at[i]] += t.row[i].against - t.row[i].against_short;
        n[t.at[i]]++;
    }
    for (int d = 0; d < 5; d++) all += sum[d], count += n[d];
    for (int d = 0; d < 5; d++) squares += pow((sum[d] - all / count * n[d]) / count, 2);
    assert_true(fabs(s.bin[0].excess.value - all / count) < 1e-9);
    assert_true(fabs(s.bin[0].excess.high - all / count - 1.96 * sqrt(squares * 5 / 4)) < 1e-4);
    assert_true(fabs(s.bin[0].excess.high + s.bin[0].excess.low - 2 * all / count) < 1e-9);
}

/* What the claim rests on: large k* less small, and an interval in which a document's part of both counts
 * once. */
static void the_difference_is_of_large_less_small(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    o.most_k = 1; /* 1, and more than 1 */
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    double sum[2][5] = {{0}}, n[2][5] = {{0}}, all[2] = {0}, count[2] = {0}, mean[2], squares = 0;
    for (int i = 0; i < t.rows; i++) {
        const lg_probe_row *r = &t.row[i];
        int large = r->k > s.many;
        if (!r->depends || (!large && r->k > s.few)) continue;
        sum[large][t.at[i]] += r->against - r->against_short;
        n[large][t.at[i]]++;
    }
    for (int g = 0; g < 2; g++) {
        for (int d = 0; d < 5; d++) all[g] += sum[g][d], count[g] += n[g][d];
        assert_true(count[g] > 1);
        mean[g] = all[g] / count[g];
    }
    for (int d = 0; d < 5; d++)
        squares += pow((sum[1][d] - mean[1] * n[1][d]) / count[1] -
                           (sum[0][d] - mean[0] * n[0][d]) / count[0],
                       2);
    assert_true(fabs(s.small.value - mean[0]) < 1e-9 && fabs(s.large.value - mean[1]) < 1e-9);
    assert_true(fabs(s.difference.value - (mean[1] - mean[0])) < 1e-9);
    assert_true(fabs(s.difference.high - s.difference.value - 1.96 * sqrt(squares * 5 / 4)) < 1e-4);
}

static void stop_after_one(void *context, double done)
{
    (void)done;
    *(int *)context = 1;
}

/* What is of fewer documents than were asked for says so, and is not in the store. */
static void a_stopped_probe_is_not_kept(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    int stop = 0, rows = 0;
    int64_t number = 0;
    o.store = in_home("stopped.db");
    o.stop = &stop;
    o.progress = stop_after_one;
    o.passage = NULL;
    o.row = NULL;
    o.context = &stop;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_true(s.stopped && s.documents == 1);
    lg_store *store = lg_store_open(o.store, 0, &err);
    assert_non_null(store);
    if (!lg_store_find(store, o.folder, number_of, &number, &err))
        must(lg_store_cells(store, number, -2, "probe", count_kept, &rows, &err), &err);
    assert_int_equal(rows, 0);
    lg_store_close(store);
    assert_int_not_equal(lg_run_probe(&o, &s, NULL, &err), 0); /* stopped before it began */
    assert_non_null(strstr(err.text, "stopped before"));
}

/* ---- One that was stopped ------------------------------------------------------------------ */

struct stopping {
    struct told told;
    int stop, documents, computed; /* to stop after so many documents; those that were not there */
    double done;
};

static void stopping_passage(void *context, const lg_probe_passage *p)
{
    struct stopping *s = context;
    told_passage(&s->told, p);
    s->stop = s->told.passages == s->documents;
}

static void stopping_row(void *context, const lg_probe_row *r)
{
    told_row(&((struct stopping *)context)->told, r);
}

/* Leaving out is told of, reading back is not. */
static void stopping_progress(void *context, double done)
{
    struct stopping *s = context;
    int document = (int)(done * 5 - 1e-9);
    s->computed += !s->done || document != (int)(s->done * 5 - 1e-9);
    s->done = done;
}

static lg_probe_summary probe_until(struct stopping *s, int documents, double epsilon)
{
    lg_probe_summary r;
    lg_error err = {0};
    lg_run_probe_options o = text_options(&s->told);
    *s = (struct stopping){.documents = documents};
    o.begun = in_home("begun");
    o.epsilon = epsilon;
    o.passage = stopping_passage;
    o.row = stopping_row;
    o.progress = stopping_progress;
    o.stop = &s->stop;
    o.context = s;
    must(lg_run_probe(&o, &r, NULL, &err), &err);
    return r;
}

static void same_rows(const struct told *a, const struct told *b)
{
    assert_int_equal(a->rows, b->rows);
    for (int i = 0; i < a->rows; i++) {
        const lg_probe_row *x = &a->row[i], *y = &b->row[i];
        assert_true(x->document == y->document && x->position == y->position && x->k == y->k);
        assert_true(x->loss == y->loss && x->loss_0 == y->loss_0 && x->depends == y->depends);
        assert_true(x->against == y->against && x->against_short == y->against_short);
        assert_int_equal(x->sources, y->sources);
    }
}

static void change_byte(const char *name, long from_end)
{
    FILE *f = fopen(in_home(name), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -from_end, SEEK_END), 0);
    int byte = fgetc(f);
    assert_int_equal(fseek(f, -from_end, SEEK_END), 0);
    fputc(byte ^ 1, f);
    assert_int_equal(fclose(f), 0);
}

/* Stopped after two of five documents, the same probe goes on with the third and ends as if it had
 * never been; what is damaged, and what another probe had begun, is made anew. */
static void a_stopped_probe_goes_on(void **state)
{
    (void)state;
    static struct stopping whole, part;
    lg_probe_summary all = probe_until(&whole, 0, 0.1), s;
    assert_true(!all.stopped && all.documents == 5);
    assert_int_equal(whole.computed, 5);
    s = probe_until(&part, 0, 0.1); /* all of it is there, and stays */
    assert_true(!s.stopped && part.computed == 0);
    same_rows(&part.told, &whole.told);
    assert_int_equal(remove(in_home("begun")), 0);
    for (int damage = 0; damage < 3; damage++) {
        if (damage) assert_int_equal(remove(in_home("begun")), 0);
        s = probe_until(&part, 2, 0.1);
        assert_true(s.stopped && s.documents == 2 && part.computed == 2);
        if (damage == 1) change_byte("begun", 40); /* in the second document */
        if (damage == 2) probe_until(&part, 1, 0.2);
        s = probe_until(&part, 0, 0.1);
        assert_true(!s.stopped && s.documents == 5);
        assert_int_equal(part.computed, damage == 0 ? 3 : damage == 1 ? 4 : 5);
        same_rows(&part.told, &whole.told);
        assert_memory_equal(&s.difference, &all.difference, sizeof s.difference);
    }
}

static void most_marked(void *context, const lg_probe_passage *p)
{
    int marked = 0;
    for (int i = 0; i < p->n; i++) marked += strcmp(p->words[p->tokens[i]], "*") == 0;
    if (marked > *(int *)context) *(int *)context = marked;
}

/* A run is probed on examples as dense as it was trained on, not on those of the task's own range. */
static void sparsity_is_that_of_training(void **state)
{
    (void)state;
    const char *sets[] = {"task.name=sparse-parity", "seed=1",        "model.layers=1",
                          "model.width=16",          "model.heads=2", "train.length=[10,12]",
                          "train.sparsity=[1,2]",    "train.steps=2", "train.batch=4"};
    lg_run_options r = {.sets = sets, .set_count = sizeof sets / sizeof *sets, .threads = 1};
    lg_run_probe_options o = lg_run_probe_options_default();
    lg_probe_summary s;
    lg_error err = {0};
    int done, most = 0;
    r.folder = o.folder = in_home("parity");
    must(lg_run_train(&r, &done, &err), &err);
    o.documents = 30;
    o.threads = 1;
    o.passage = most_marked;
    o.context = &most;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(most, 2);
}

/* What is told of a prediction does not hang on which others are looked at. */
static void same_as_among_all(const struct told *some, const struct told *all, int k_too)
{
    for (int i = 0; i < some->rows; i++) {
        const lg_probe_row *r = &some->row[i], *found = NULL;
        for (int j = 0; j < all->rows && !found; j++)
            if (all->row[j].document == r->document && all->row[j].position == r->position)
                found = &all->row[j];
        assert_non_null(found);
        assert_true(fabs(r->loss - found->loss) < 1e-5);
        assert_true(fabs(r->loss_0 - found->loss_0) < 1e-5);
        assert_true(fabs(r->against - found->against) < 1e-5);
        assert_true(fabs(r->against_short - found->against_short) < 1e-5);
        if (k_too) assert_int_equal(r->k, found->k);
    }
}

static void fewer_predictions_are_spread_evenly(void **state)
{
    (void)state;
    static struct told all, t;
    lg_run_probe_options o = text_options(&all);
    lg_probe_summary s;
    lg_error err = {0};
    int of[5] = {0};
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    o = text_options(&t);
    o.predictions = 23;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(s.predictions, 23);
    for (int i = 0; i < t.rows; i++) of[t.at[i]]++;
    for (int d = 0; d < 5; d++) assert_in_range(of[d], 4, 5);
    same_as_among_all(&t, &all, 1);
    o = text_options(&t);
    o.predictions = 5;
    o.method = LG_PROBE_GRADIENT;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(t.rows, 5);
    same_as_among_all(&t, &all, 0);
}

/* A document of which nothing is looked at is not read: the page would show it, and the number of
 * texts be too large. */
static void no_document_is_read_for_nothing(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    o.predictions = 3;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(s.documents, 3);
    assert_int_equal(s.predictions, 3);
    assert_int_equal(t.passages, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(t.at[i], i);
}

/* Where k* is looked for up to 2, 3 is no k* but "more than 2", and belongs to the last bin. */
static void more_than_was_looked_for_is_in_the_last_bin(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    static const int most[] = {1, 2, 4, 10};
    for (int m = 0; m < 4; m++) {
        int most_k = most[m], over = 0, in_bins = 0;
        double excess = 0;
        o = text_options(&t);
        o.most_k = most_k;
        o.least = 0.01;
        o.epsilon = 1e-4;
        must(lg_run_probe(&o, &s, NULL, &err), &err);
        for (int i = 0; i < t.rows; i++) {
            if (t.row[i].k <= (most_k < 8 ? most_k : 8)) continue;
            excess += t.row[i].against - t.row[i].against_short;
            over++;
        }
        print_message("%d of %d over %d\n", over, s.dependent, most_k);
        if (most_k < 8) assert_true(over > 0);
        for (int i = 0; i < LG_PROBE_BINS; i++) {
            in_bins += s.bin[i].predictions;
            if (s.bin[i].low > most_k && s.bin[i].high) assert_int_equal(s.bin[i].predictions, 0);
        }
        assert_int_equal(in_bins, s.predictions);
        assert_int_equal(s.bin[LG_PROBE_BINS - 1].low, most_k + 1);
        if (most_k < 8) assert_int_equal(s.bin[LG_PROBE_BINS - 1].predictions, over);
        assert_int_equal(s.many, most_k < 8 ? most_k : 8);
        assert_int_equal(s.few, most_k < 2 ? 1 : 2);
        if (over) assert_true(fabs(s.large.value - excess / over) < 1e-9);
        assert_true(s.k_share[32] == s.k_share[most_k]);
        if (most_k < 8) assert_true(s.k_share[32] < 1);
    }
}

/* Dynamic scaling goes by the tokens of a text that are read, as in eval: all but the last. */
static void rope_that_stretches_goes_by_what_is_read(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    struct lg__run dynamic = {0};
    double most = 0;
    o.folder = in_home("dynamic");
    o.against = NULL;
    o.documents = 2;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    must(lg__run_open_folder(&dynamic, o.folder, NULL, NULL, &err), &err);
    for (int by = LENGTH; by <= LENGTH + 1; by++) {
        must(lg_model_set_length(dynamic.model, by, &err), &err);
        for (int i = 0; i < t.rows; i++) {
            double loss = naive_text(dynamic.model, t.token[t.at[i]], 0, t.row[i].position);
            double off = fabs(t.row[i].loss - loss);
            if (by == LENGTH) assert_true(off < 1e-5);
            most = fmax(most, off);
        }
    }
    print_message("by one token more, losses differ by up to %g\n", most);
    assert_true(most > 1e-4); /* else the length would not matter */
    lg__run_close(&dynamic);
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

struct kept {
    const lg_probe_summary *s;
    int rows;
};

/* Bins without predictions are not kept. */
static void told_kept(void *context, const lg_cell *c)
{
    struct kept *k = context;
    char setting[120];
    const lg_probe_bin *b = &k->s->bin[k->rows++];
    while (!b->predictions) b = &k->s->bin[k->rows++];
    assert_int_equal(c->length, LENGTH);
    assert_int_equal(c->context, CONTEXT);
    assert_int_equal(c->there, 5);
    assert_int_equal(c->step, 60);
    snprintf(setting, sizeof setting,
             "probe loo, keep 4+1, epsilon 0.1, min_rise 0.5, max_k 32, against ");
    assert_int_equal(strncmp(c->setting, setting, strlen(setting)), 0);
    assert_int_equal(strcspn(c->setting + strlen(setting), " "), 16);
    assert_int_equal(c->first, b->low);
    assert_int_equal(c->last, b->high);
    assert_int_equal(samples_of(c, "kstar_loss"), b->predictions);
    assert_true(same(value_of(c, "kstar_excess"), b->excess.value) &&
                same(mean_of(c, "kstar_loss").low, b->loss.low));
}

static void the_store_has_the_bins(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    lg_probe_summary s;
    lg_error err = {0};
    struct kept k = {&s, 0};
    int64_t number = 0;
    o.store = in_home("lab.db");
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    lg_store *store = lg_store_open(o.store, 0, &err);
    assert_non_null(store);
    must(lg_store_find(store, o.folder, number_of, &number, &err), &err);
    must(lg_store_cells(store, number, -2, "probe", told_kept, &k, &err), &err);
    assert_true(k.rows > 1);
    while (k.rows < LG_PROBE_BINS) assert_int_equal(s.bin[k.rows++].predictions, 0);
    lg_store_close(store);
}

static void refused(const lg_run_probe_options *o, const char *why)
{
    lg_probe_summary s;
    lg_error err = {0};
    assert_int_equal(lg_run_probe(o, &s, NULL, &err), LG_ERROR_ARGUMENT);
    if (!strstr(err.text, why)) fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static struct told t;
    lg_run_probe_options o = text_options(&t);
    o.folder = in_home("none");
    refused(&o, "is no run");
    o = text_options(&t);
    o.against = o.folder;
    refused(&o, "the run that is probed itself");
    o = text_options(&t);
    o.length = CONTEXT;
    refused(&o, "nothing of 16 lies past");
    o = text_options(&t);
    o.length = 5000;
    refused(&o, "none has 5000 tokens");
    o = text_options(&t);
    o.keep_last = 0;
    refused(&o, "1 or more");
    o = text_options(&t);
    o.epsilon = 0;
    refused(&o, "above 0");
    o = text_options(&t);
    o.least = o.epsilon;
    refused(&o, "take more than epsilon");
    o = text_options(&t);
    o.task = "parity";
    refused(&o, "--text, not --task");
    train_text("wide", "[16, 16]", "3", "300", "none");
    o = text_options(&t);
    o.against = in_home("wide");
    refused(&o, "different tokenizers or vocabularies");
}

/* ---- Own data ------------------------------------------------------------------------------- */

enum { LINES = 6 };

/* Different examples of copy, lengths 3 to 5, with these three letters in the order of their first
 * appearance, and IDs at so many levels. */
static const char *write_lines(const char *name, const char *letters, int levels)
{
    static char task[400];
    snprintf(task, sizeof task, "jsonl:%s", in_home(name));
    FILE *f = fopen(task + 6, "w");
    assert_non_null(f);
    for (int i = 0; i < LINES; i++) {
        int n = 3 + i % 3;
        fprintf(f, "{\"tokens\": [");
        for (int t = 0; t < 2 * n + 1; t++) {
            int place = t % (n + 1), at = (i + (i < 3 ? 1 : 2) * place) % 3;
            if (place == n)
                fputs("\"=\", ", f);
            else
                fprintf(f, "\"%c\", ", letters[at]);
        }
        fputs("\"$\"], \"ids\": [", f);
        for (int l = 0; l < levels; l++) {
            if (levels > 1) fputs(l ? ", [" : "[", f);
            for (int t = 0; t < 2 * n + 2; t++)
                fprintf(f, "%s%d", t ? ", " : "", (t + 1) % (n + 1));
            if (levels > 1) fputs("]", f);
        }
        fputs("], \"loss\": [0", f);
        for (int t = 1; t < 2 * n + 2; t++) fprintf(f, ", %d", t > n);
        fprintf(f, "], \"length\": %d}\n", n);
    }
    assert_int_equal(fclose(f), 0);
    return task;
}

/* A run has no number for a word it was not trained with, and a scheme as many levels as then. */
static void other_words_and_labels_are_refused(void **state)
{
    (void)state;
    lg_run_probe_options o = lg_run_probe_options_default();
    lg_probe_options one = lg_probe_options_default();
    lg_probe_result result;
    lg_error err = {0};
    o.folder = one.folder = in_home("copy");
    o.threads = one.threads = 1;
    for (int i = 0; i < 2; i++) {
        const char *why =
            i ? "labels at 2 levels" : "\"d\", which is not in the words that the run";
        o.task = one.task =
            i ? write_lines("levels.jsonl", "abc", 2) : write_lines("words.jsonl", "bad", 1);
        refused(&o, why);
        assert_int_equal(lg_probe(&one, &result, &err), LG_ERROR_ARGUMENT);
        assert_non_null(strstr(err.text, why));
    }
}

static void count_passage(void *context, const lg_probe_passage *p)
{
    int *seen = context; /* no two lines have the same length and second letter */
    seen[3 * p->n + p->tokens[1]]++;
}

/* The run's setting, alphabet, is none of jsonl's, and must not be passed on. A file of six lines is
 * six texts, however many are asked for. */
static void a_line_of_own_data_is_one_text(void **state)
{
    (void)state;
    lg_run_probe_options o = lg_run_probe_options_default();
    lg_probe_summary s;
    lg_error err = {0};
    int seen[60] = {0};
    o.folder = in_home("copy");
    o.task = write_lines("good.jsonl", "abc", 1);
    o.documents = 50;
    o.threads = 1;
    o.passage = count_passage;
    o.context = seen;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(s.documents, LINES);
    for (int i = 0; i < 60; i++) assert_in_range(seen[i], 0, 1);
    assert_int_equal(s.length_least, 3);
    assert_int_equal(s.length, 5);
    assert_int_equal(s.trained_length, 0); /* in letters, not in units of the file */
    o.length = 4;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(s.documents, 2);
    o.task = NULL;
    must(lg_run_probe(&o, &s, NULL, &err), &err);
    assert_int_equal(s.documents, 50);
    assert_int_equal(s.trained_length, 4);
    assert_string_equal(s.unit, "letters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_run_is_held_against_a_long_one),
        cmocka_unit_test(means_are_over_predictions_and_intervals_over_documents),
        cmocka_unit_test(the_difference_is_of_large_less_small),
        cmocka_unit_test(a_stopped_probe_is_not_kept),
        cmocka_unit_test(a_stopped_probe_goes_on),
        cmocka_unit_test(sparsity_is_that_of_training),
        cmocka_unit_test(fewer_predictions_are_spread_evenly),
        cmocka_unit_test(no_document_is_read_for_nothing),
        cmocka_unit_test(more_than_was_looked_for_is_in_the_last_bin),
        cmocka_unit_test(rope_that_stretches_goes_by_what_is_read),
        cmocka_unit_test(other_words_and_labels_are_refused),
        cmocka_unit_test(a_line_of_own_data_is_one_text),
        cmocka_unit_test(the_store_has_the_bins),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
