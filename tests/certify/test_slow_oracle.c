/* test_slow_oracle.c: the certificate against generation, on both sides. A few hundred models are
 * damaged a little more or less; each answers every input up to a length (oracle.c, which knows
 * nothing of contexts), and what goes wrong there must be what the certificate lists: no context
 * more, none less. Without this test a context that is never enumerated would be certified
 * unseen, and one that is run differently from how it is decoded would be judged wrongly. */
#include <math.h>
#include <unistd.h>

#include "runs/checkpoint.h"
#include "certify/contexts.h"
#include "helpers/home.h"
#include "certify/oracle.h"
#include "helpers/training.h"

enum { MODELS = 100, LEAST = 30, FEW = 5, NOISE_STREAM = 9 };

/* What a case is: the run's settings, and how the oracle writes its texts. */
struct test_case {
    const char *name;
    const char *sets[4];
    oracle_write *write;
    int inputs;
    int falls; /* 1: IDs fall from one generated column to the next */
};

/* What is looked at: a run, its contexts, and the oracle's view of it. */
struct bed {
    const struct test_case *x;
    char folder[200], checkpoint[220], *note;
    struct lg__run run;
    lg_trainer *trainer;
    lg_evaluator *evaluator;
    lg_batch batch;
    float *whole; /* the weights as they were trained */
    struct lg__contexts set;
    struct lg__verdict verdict;
    struct oracle oracle;
    /* What positions see, each view once, sorted. */
    struct view *view;
    int views;
    int *kind; /* [views] which edges are in sight */
    int *seen; /* [texts, ORACLE_TOKENS] the view from which a token is predicted */
    int *of;   /* [contexts] the view */
};

/* ---- Views ------------------------------------------------------------------------------------ */

enum { NEITHER, START, STOP, BOTH, KINDS };
static const char *const kind_name[] = {"neither edge", "the start", "the stop", "both edges"};

/* What the position that predicts sees, by the definition: the tokens so far whose first ID is near
 * enough, with their distances. */
struct view {
    int32_t n, token[ORACLE_TOKENS], apart[LG_LEVELS][ORACLE_TOKENS];
};

static int by_view(const void *a, const void *b) { return memcmp(a, b, sizeof(struct view)); }

static struct view look(const struct bed *b, const int32_t *token,
                        const int32_t *const id[LG_LEVELS], int row)
{
    const lg_model_config *m = &b->run.model_config;
    struct view v;
    memset(&v, 0, sizeof v);
    for (int t = 0; t <= row; t++) {
        int32_t apart = id[0][t] - id[0][row];
        if (apart < m->layers * m->window_lo[0] || apart > m->layers * m->window_hi[0]) continue;
        assert_true(v.n < ORACLE_TOKENS);
        v.token[v.n] = token[t];
        for (int l = 0; l < m->levels; l++) v.apart[l][v.n] = id[l][t] - id[l][row];
        v.n++;
    }
    return v;
}

/* The start is in sight with the "=", the stop where no input is as far ahead as one can see. */
static int kind_of(const struct bed *b, const struct view *v)
{
    const lg_model_config *m = &b->run.model_config;
    int start = 0, stop = 1, far = m->layers * (b->x->falls ? m->window_lo[0] : m->window_hi[0]);
    for (int i = 0; i < v->n; i++) {
        start |= strcmp(lg_task_get_shape(b->run.task)->words[v->token[i]], "=") == 0;
        stop &= v->apart[0][i] != far;
    }
    return (start ? START : 0) + (stop ? STOP : 0);
}

static int find_view(const struct bed *b, const struct view *v)
{
    const struct view *found = bsearch(v, b->view, (size_t)b->views, sizeof *v, by_view);
    return found ? (int)(found - b->view) : -1;
}

/* The views of all predicted tokens of all texts, and which token has which. */
static void collect_views(struct bed *b)
{
    const struct oracle *o = &b->oracle;
    size_t places = (size_t)o->count * ORACLE_TOKENS, n = 0;
    struct view *all = calloc(places, sizeof *all);
    b->seen = calloc(places, sizeof *b->seen);
    assert_true(all && b->seen);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < o->count; i++)
            for (int t = o->text[i].answer; t < o->text[i].n; t++) {
                const struct oracle_text *x = &o->text[i];
                const int32_t *id[LG_LEVELS] = {x->id[0], x->id[1], x->id[2]};
                struct view v = look(b, x->token, id, t - 1);
                if (pass)
                    b->seen[i * ORACLE_TOKENS + t] = find_view(b, &v);
                else
                    all[n++] = v;
            }
        if (pass) break;
        qsort(all, n, sizeof *all, by_view);
        for (size_t i = 0; i < n; i++)
            if (!b->views || by_view(&all[b->views - 1], &all[i]) != 0) all[b->views++] = all[i];
        b->view = all;
    }
    b->kind = calloc((size_t)b->views, sizeof *b->kind);
    assert_non_null(b->kind);
    for (int i = 0; i < b->views; i++) b->kind[i] = kind_of(b, &b->view[i]);
}

/* Every context of the certificate is a view of the oracle, another one each, and there are no
 * more views. */
static void match_contexts(struct bed *b)
{
    lg_error err = {0};
    unsigned char *met = calloc((size_t)b->views, 1);
    b->of = calloc((size_t)b->set.count, sizeof *b->of);
    assert_true(met && b->of);
    for (int i = 0; i < b->set.count; i++) {
        lg_batch_reset(&b->batch);
        must(lg__contexts_add(&b->set, i, &b->batch, &err), &err);
        const int32_t *id[LG_LEVELS] = {b->batch.ids[0], b->batch.ids[1], b->batch.ids[2]};
        struct view v = look(b, b->batch.tokens, id, b->batch.rows - 1);
        assert_int_equal(v.n, b->batch.rows);
        b->of[i] = find_view(b, &v);
        if (b->of[i] < 0) fail_msg("%s: context %d is in no text", b->x->name, i);
        assert_int_equal(met[b->of[i]]++, 0);
    }
    assert_int_equal(b->set.count, b->views);
    free(met);
}

/* ---- Making and damaging ---------------------------------------------------------------------- */

/* Trains until all contexts are right. */
static void train_whole(struct bed *b, const struct test_case *x)
{
    static const char *const shared[] = {
        "seed=1",
        "positions.ids=coupled",
        "positions.source=delta",
        "positions.encoding=relative",
        "positions.span=window",
        "model.width=16",
        "model.heads=2",
        "model.sink=yes",
        "model.parallel=no",
        "train.lr=4e-3",
        "train.warmup=20",
        "train.length=[1, 10]",
        "train.steps=3000",
        "train.batch=16",
        "train.certify.every=20",
        "train.certify.feedback=yes",
    };
    const char *all[sizeof shared / sizeof *shared + 4];
    int n = sizeof shared / sizeof *shared, done;
    lg_error err = {0};
    memcpy(all, shared, sizeof shared);
    for (int i = 0; i < 4 && x->sets[i]; i++) all[n++] = x->sets[i];
    lg_run_options o = {.sets = all, .set_count = n, .folder = b->folder, .threads = 1};
    must(lg_run_train(&o, &done, &err), &err);
}

static void open_bed(struct bed *b, const struct test_case *x)
{
    lg_error err = {0};
    *b = (struct bed){.x = x};
    snprintf(b->folder, sizeof b->folder, "%s/%s", home, x->name);
    snprintf(b->checkpoint, sizeof b->checkpoint, "%s/checkpoint", b->folder);
    train_whole(b, x);
    lg_batch_init(&b->batch);
    must(lg__run_open_folder(&b->run, b->folder, NULL, NULL, &err), &err);
    lg_model *m = b->run.model;
    must(lg__checkpoint_load(b->checkpoint, m, NULL, 0, &b->note, NULL, &err), &err);
    b->trainer = lg_trainer_new(m, &b->run.options, &err);
    b->evaluator = lg_evaluator_new(m, 1, &err);
    if (!b->trainer || !b->evaluator) fail_msg("%s", err.text);
    lg_trainer_set_steps(b->trainer, b->run.step);
    b->whole = malloc((size_t)lg_model_param_total(m) * sizeof *b->whole);
    assert_non_null(b->whole);
    float *to = b->whole;
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        size_t n = (size_t)p.rows * (size_t)p.cols;
        memcpy(to, p.data, n * sizeof *to);
        to += n;
    }
    must(lg__contexts_make(&b->set, &b->run, 0, NULL, NULL, &err), &err);
    b->verdict.most = b->set.count;
    b->verdict.list = malloc((size_t)b->set.count * sizeof *b->verdict.list);
    assert_non_null(b->verdict.list);
    int field = b->set.back + 1 + b->set.ahead;
    oracle_open(&b->oracle, b->run.task, &b->run.plan, b->run.model_config.levels, x->write,
                x->inputs, field + b->set.columns.states);
    collect_views(b);
    match_contexts(b);
}

static void close_bed(struct bed *b)
{
    lg_trainer_free(b->trainer);
    lg_evaluator_free(b->evaluator);
    lg_batch_clear(&b->batch);
    lg__contexts_clear(&b->set);
    lg__run_close(&b->run);
    oracle_close(&b->oracle);
    free(b->note);
    free(b->whole);
    free(b->verdict.list);
    free(b->view);
    free(b->kind);
    free(b->seen);
    free(b->of);
}

/* The trained weights and Gaussian noise, `scale` times as large as the weights of each tensor, or in
 * every second model of the heads that predict IDs alone; how many contexts are wrong then. */
static int damage(struct bed *b, int number, double scale)
{
    const float *whole = b->whole;
    int heads_only = number % 2;
    lg_error err = {0};
    for (int i = 0; i < lg_model_param_count(b->run.model); i++) {
        lg_param p = lg_model_param(b->run.model, i);
        int n = p.rows * p.cols;
        double size = 0;
        lg_rng r;
        lg_rng_init(&r, (uint64_t)number, NOISE_STREAM, (uint64_t)i);
        for (int k = 0; k < n; k++) size += (double)whole[k] * (double)whole[k];
        size = heads_only && !strstr(p.name, "id_head") ? 0 : scale * sqrt(size / n);
        for (int k = 0; k < n; k++)
            p.data[k] = (float)((double)whole[k] + size * lg_rng_normal(&r));
        whole += n;
    }
    lg_model_touch(b->run.model);
    must(lg__contexts_judge(&b->set, b->evaluator, &b->batch, &b->verdict, &err), &err);
    assert_int_equal(b->verdict.listed, b->verdict.wrong);
    return b->verdict.listed;
}

/* Damages the model so that nothing is wrong yet, a few contexts are, or many, in turn: a scale with
 * none and a scale with some are brought together by bisection. */
static void damage_in_turn(struct bed *b, int number)
{
    double none = 0, some = 1;
    int wanted = number % 3, wrong;
    for (; (wrong = damage(b, number, some)) == 0; some *= 2)
        if (some > 1e6) fail_msg("%s, model %d: no noise does any harm", b->x->name, number);
    for (int round = 0; round < (wanted == 1 ? 40 : 10); round++) {
        if (wanted == 1 && wrong && wrong <= FEW) return;
        wrong = damage(b, number, (none + some) / 2);
        if (wrong)
            some = (none + some) / 2;
        else
            none = (none + some) / 2;
    }
    if (wanted == 0) damage(b, number, none);
    if (wanted == 2) damage(b, number, some * pow(3, 1 + number / 3 % 3));
}

/* ---- The comparison ------------------------------------------------------------------------------ */

/* What came out over all models of a case. */
struct tally {
    int none, few;
    /* Models on which a certificate without the contexts of this kind differs from the oracle; those
     * of them that it would certify. */
    int differ[KINDS], unsound[KINDS];
    int harmless; /* models with wrong contexts that answer every text rightly all the same */
};

/* How many views are not in both sets, if the certificate leaves a kind out (KINDS: none). */
static int differ(const struct bed *b, const unsigned char *listed, const unsigned char *failed,
                  int without)
{
    int n = 0;
    for (int i = 0; i < b->views; i++) n += (listed[i] && b->kind[i] != without) != failed[i];
    return n;
}

/* The wrong views, by the certificate's list and by the texts in which the oracle met them. */
static void compare(const struct bed *b, int number, struct tally *tally)
{
    const struct oracle *o = &b->oracle;
    unsigned char *listed = calloc((size_t)b->views, 1), *failed = calloc((size_t)b->views, 1);
    int wrong = 0;
    assert_true(listed && failed);
    for (int i = 0; i < b->verdict.listed; i++) listed[b->of[b->verdict.list[i]]] = 1;
    for (int i = 0; i < o->count; i++)
        for (int t = o->text[i].answer; t < o->text[i].n; t++) {
            int view = b->seen[i * ORACLE_TOKENS + t];
            failed[view] |= o->text[i].wrong[t];
            /* Wherever a view occurs the same happens. */
            if (o->text[i].wrong[t] != listed[view])
                fail_msg("%s, model %d: token %d of text %d is %s, its context %s", b->x->name,
                         number, t, i, o->text[i].wrong[t] ? "wrong" : "right",
                         listed[view] ? "listed as wrong" : "not listed");
        }
    assert_int_equal(differ(b, listed, failed, KINDS), 0);
    for (int i = 0; i < b->views; i++) wrong += failed[i];
    tally->none += wrong == 0;
    tally->few += wrong >= 1 && wrong <= FEW;
    for (int k = 0; k < KINDS; k++) {
        int missed = differ(b, listed, failed, k);
        tally->differ[k] += missed > 0;
        tally->unsound[k] += missed && missed == wrong;
    }
    free(listed);
    free(failed);
}

/* The shortest text that is not answered rightly, or NULL. */
static const struct oracle_text *first_failure(const struct oracle *o)
{
    for (int i = 0; i < o->count; i++)
        if (!o->text[i].exact) return &o->text[i];
    return NULL;
}

static void note_answer(void *context, const lg_run_answer *a) { *(lg_run_answer *)context = *a; }

/* An input that is shown as failing fails when it is generated, as from the command line. */
static void generate_shown(const struct bed *b, const lg_certificate *c)
{
    lg_error err = {0};
    lg_run_answer a = {0};
    lg_generate_options o = {.folder = b->folder,
                             .prompt = c->input,
                             .seed = -1,
                             .predicted = -1,
                             .answered = note_answer,
                             .context = &a};
    must(lg_run_generate(&o, NULL, &err), &err);
    assert_int_equal(a.known, 1);
    assert_int_equal(a.predicted, 1);
    assert_int_equal(a.exact, 0);
    assert_int_equal(a.wrong, c->first);
}

/* The certificate itself, of the damaged model as a run like any other. Where an input fails the
 * shortest such is shown; a wrong ID that does no harm is not said to. */
static void certify(const struct bed *b, int number, struct tally *tally)
{
    static lg_certificate c;
    lg_error err = {0};
    must(lg__checkpoint_save(b->checkpoint, b->run.model, b->trainer, b->note, 1, &err), &err);
    lg_certify_options o = {.folder = b->folder, .threads = 1};
    must(lg_certify(&o, &c, &err), &err);
    const struct oracle_text *shortest = first_failure(&b->oracle);
    assert_int_equal(c.contexts, b->views);
    assert_int_equal(c.wrong, b->verdict.wrong);
    assert_int_equal(c.certified, c.wrong == 0);
    assert_true(c.wrong || !shortest);
    if (!c.wrong) return;
    const struct oracle_text *shown = oracle_find(&b->oracle, c.input);
    assert_non_null(shown);
    tally->harmless += !shortest;
    if (shown->exact != !shortest || c.shortest != !!shortest || (c.first > 0) != !!shortest ||
        (shortest && c.columns != shortest->columns))
        fail_msg(
            "%s, model %d: %d contexts are wrong; \"%s\" is shown, of %d columns, first wrong at "
            "token %d, and is %s; the shortest input that fails has %d columns (0: none does)",
            b->x->name, number, (int)c.wrong, c.input, c.columns, c.first,
            shown->exact ? "answered rightly" : "not answered rightly",
            shortest ? shortest->columns : 0);
    if (shortest) generate_shown(b, &c);
}

static void examine(const struct test_case *x)
{
    struct bed b;
    struct tally tally = {0};
    int kinds[KINDS] = {0};
    open_bed(&b, x);
    assert_int_equal(damage(&b, 0, 0), 0);
    for (int i = 0; i < b.views; i++) kinds[b.kind[i]]++;
    for (int i = 0; i < MODELS; i++) {
        damage_in_turn(&b, i);
        oracle_run(&b.oracle, b.run.model);
        compare(&b, i, &tally);
        certify(&b, i, &tally);
    }
    print_message("%s: %d texts, %d contexts; %d models without a wrong one, %d with 1 to %d; %d "
                  "answer all the same\n",
                  x->name, b.oracle.count, b.views, tally.none, tally.few, FEW, tally.harmless);
    assert_true(tally.none >= LEAST && tally.few >= LEAST);
    for (int k = 0; k < KINDS; k++) {
        print_message("  %s in sight: %d contexts; without them %d models differ, %d would be "
                      "certified\n",
                      kind_name[k], kinds[k], tally.differ[k], tally.unsound[k]);
        if (kinds[k]) assert_true(tally.differ[k] > 0);
    }
    close_bed(&b);
}

/* ---- Cases ------------------------------------------------------------------------------------ */

static void parity(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        {"parity-1-1",
         {"task.name=parity-scratchpad", "positions.window=[0, 1]", "model.layers=1"},
         oracle_parity,
         2,
         0},
        {"parity-1-2",
         {"task.name=parity-scratchpad", "positions.window=[0, 1]", "model.layers=2"},
         oracle_parity,
         2,
         0},
        {"parity-2-1",
         {"task.name=parity-scratchpad", "positions.window=[-1, 2]", "model.layers=1"},
         oracle_parity,
         2,
         0},
        {"parity-2-2",
         {"task.name=parity-scratchpad", "positions.window=[-2, 1]", "model.layers=2"},
         oracle_parity,
         2,
         0},
        {"parity-2-2-backward",
         {"task.name=parity-scratchpad", "task.scan=backward", "positions.window=[-2, 1]",
          "model.layers=2"},
         oracle_parity_backward,
         2,
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) examine(&cases[i]);
}

static void addition(void **state)
{
    (void)state;
    static const struct test_case x = {
        "addition",
        {"task.name=addition", "task.base=2", "positions.window=[0, 1]", "model.layers=1"},
        oracle_addition,
        4,
        0};
    examine(&x);
}

static void machine(void **state)
{
    (void)state;
    char table[200];
    snprintf(table, sizeof table, "task.table=%s/three.yaml", home);
    FILE *f = fopen(strchr(table, '=') + 1, "w");
    assert_non_null(f);
    fputs(oracle_table, f);
    fclose(f);
    struct test_case x = {
        "machine",
        {"task.name=machine", table, "positions.window=[[-1, 1], [-2, 1]]", "model.layers=1"},
        oracle_machine,
        2,
        0};
    examine(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parity),
        cmocka_unit_test(addition),
        cmocka_unit_test(machine),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
