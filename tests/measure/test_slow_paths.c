/* test_slow_paths.c: four paths, one result. A run of a million tokens is generated with the cache,
 * token by token and ID by ID, and evaluated packed, whole. The contexts of 10,000 of its positions
 * are cut out and run each alone, and all in one batch. All logits, of tokens and of IDs, are the
 * same bits on every path; those of a context that is cut one column too narrow are not. The models
 * are right in every context, so the whole run must be right, too. Without this test a certificate,
 * which looks at cut-out contexts in batches, could say nothing of a long run that is generated. The
 * program runs itself once for each instruction set that this CPU has; all but the best one get a
 * shorter run. */
#include "certify/contexts.h"
#include "helpers/training.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/kernels.h"

enum { EDGE = 20, MOST_WEIGHTS = 1 << 18 };

static int bits, positions; /* of the run, and those whose contexts are cut out */

/* The weights that the first instruction set trained, for the others. */
struct weights {
    int count;
    float number[MOST_WEIGHTS];
};
static struct weights *shared; /* [2], in memory that all children have */

/* ---- Models -------------------------------------------------------------------------------- */

static struct training parity(lg_arch arch, int layers, int lo, int hi)
{
    struct training x = training_default("parity-scratchpad");
    x.scheme.ids = "coupled";
    x.scheme.source[0] = "delta";
    x.model = lg_model_config_default(arch);
    x.model.span = LG_SPAN_WINDOW;
    x.model.layers = layers;
    x.model.width = 32;
    x.model.heads = 2;
    x.model.window_lo[0] = lo;
    x.model.window_hi[0] = hi;
    x.model.sink = 1;
    x.model.parallel = 0; /* what attention brings is seen by the same layer: learned by any seed */
    x.length = 20;
    return x;
}

/* Right in every context, by so much that no instruction set could see it otherwise. */
static int is_certified(const struct training *x, const struct trained *r)
{
    struct lg__run run = {.task = r->t,
                          .scheme = r->scheme,
                          .plan = r->plan,
                          .model_config = *lg_model_get_config(r->m)};
    struct lg__contexts c;
    struct lg__verdict v = {0};
    lg_batch b;
    lg_error err;
    (void)x;
    lg_batch_init(&b);
    must(lg__contexts_make(&c, &run, 0, NULL, NULL, &err), &err);
    lg_evaluator *e = lg_evaluator_new(r->m, 1, &err);
    if (!e) fail_msg("%s", err.text);
    must(lg__contexts_judge(&c, e, &b, &v, &err), &err);
    lg_evaluator_free(e);
    lg_batch_clear(&b);
    lg__contexts_clear(&c);
    return v.wrong == 0 && v.margin > 0.1;
}

/* Trains, or takes the weights of the process that did. */
static struct trained model_of(struct training *x, struct weights *w)
{
    int known = w->count > 0, n = 0;
    x->steps = known ? 1 : 3000;
    x->enough = is_certified;
    struct trained r = train(x);
    assert_true(lg_model_param_total(r.m) <= MOST_WEIGHTS);
    for (int i = 0; i < lg_model_param_count(r.m); i++) {
        lg_param p = lg_model_param(r.m, i);
        size_t size = (size_t)(p.rows * p.cols) * sizeof *p.data;
        if (known)
            memcpy(p.data, w->number + n, size);
        else
            memcpy(w->number + n, p.data, size);
        n += p.rows * p.cols;
    }
    w->count = n;
    lg_model_touch(r.m);
    assert_true(is_certified(x, &r));
    return r;
}

/* ---- The run --------------------------------------------------------------------------------- */

struct paths {
    const struct trained *r;
    const lg_model_config *c;
    lg_batch text;    /* the run, without its stop token */
    int first;        /* the first row that predicts; all behind it do, too */
    float *generated; /* [rows - first, wide] logits: of tokens, and of IDs */
    int wide;
    int *row; /* [positions] whose contexts are cut out */
    int most_id;
    int *start, *by_id; /* the rows of each ID: by_id[start[id]] .. by_id[start[id + 1] - 1] */
};

static void *get(size_t count, size_t size)
{
    void *p = calloc(count, size);
    assert_non_null(p);
    return p;
}

/* Whether these logits have other bits than those that were generated. */
static int differs(const struct paths *p, int row, const lg_eval_result *e, int k)
{
    int V = p->c->vocab, I = p->c->id_classes[0];
    const float *right = p->generated + (row - p->first) * p->wide;
    return memcmp(right, e->logits + k * V, (size_t)V * sizeof *right) != 0 ||
           memcmp(right + V, e->id_logits[0] + k * I, (size_t)I * sizeof *right) != 0;
}

/* Of the rows that predict: the first and the last ones, and one by chance of each equal part. */
static void choose_rows(struct paths *p)
{
    lg_rng r;
    lg_rng_init(&r, 5, 0, 0);
    int first = p->first, last = p->text.rows - 1, parts = positions - 2 * EDGE;
    int64_t between = last - first + 1 - 2 * EDGE;
    p->row = get((size_t)positions, sizeof *p->row);
    for (int i = 0; i < EDGE; i++) {
        p->row[i] = first + i;
        p->row[positions - 1 - i] = last - i;
    }
    for (int i = 0; i < parts; i++) {
        int64_t from = between * i / parts, to = between * (i + 1) / parts;
        p->row[EDGE + i] = first + EDGE + (int)from + (int)lg_rng_below(&r, (uint32_t)(to - from));
    }
}

/* Reads the prompt of x and generates the rest with the cache, as a user would; the tokens and IDs
 * must be those of x. Keeps all logits. */
static void generate(struct paths *p, const lg_example *x)
{
    const int32_t *ids = p->text.ids[0];
    int V = p->c->vocab, I = p->c->id_classes[0];
    int32_t carried = ids[p->first];
    float *to = p->generated;
    lg_batch prompt;
    lg_error err;
    lg_batch_init(&prompt);
    must(lg_batch_add(&prompt, x->answer, x->tokens, ids, NULL, NULL, &err), &err);
    lg_decoder *d = lg_decoder_new(p->r->m, 1, &err);
    if (!d) fail_msg("%s", err.text);
    must(lg_decoder_start(d, &prompt, &err), &err);
    for (int row = p->first; row < p->text.rows; row++, to += p->wide) {
        int32_t token = lg_argmax(lg_decoder_logits(d, 0), V);
        memcpy(to, lg_decoder_logits(d, 0), (size_t)V * sizeof *to);
        memcpy(to + V, lg_decoder_id_logits(d, 0, 0), (size_t)I * sizeof *to);
        if (token != x->tokens[row + 1]) fail_msg("token %d is wrong", row + 1);
        if (row + 1 == p->text.rows) break; /* it was the stop token */
        carried = lg_plan_next_id(&p->r->plan, p->c, d, 0, 0, carried);
        if (carried != ids[row + 1]) fail_msg("the ID of token %d is wrong", row + 1);
        must(lg_decoder_step(d, &token, &carried, &err), &err);
    }
    lg_decoder_free(d);
    lg_batch_clear(&prompt);
}

/* The whole run in one call. How many of all rows that predict differ. */
static int run_packed(const struct paths *p)
{
    lg_error err;
    lg_eval_result e;
    int count = 0;
    lg_evaluator *evaluator = lg_evaluator_new(p->r->m, 1, &err);
    if (!evaluator) fail_msg("%s", err.text);
    must(lg_evaluator_run(evaluator, &p->text, &e, &err), &err);
    assert_int_equal(e.rows, p->text.rows - p->first);
    for (int k = 0; k < e.rows; k++) count += differs(p, e.row[k], &e, k);
    lg_evaluator_free(evaluator);
    return count;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static void sort_by_id(struct paths *p)
{
    const lg_batch *b = &p->text;
    int most = 0;
    for (int t = 0; t < b->rows; t++) most = b->ids[0][t] > most ? b->ids[0][t] : most;
    p->most_id = most;
    p->start = get((size_t)most + 3, sizeof *p->start);
    p->by_id = get((size_t)b->rows, sizeof *p->by_id);
    for (int t = 0; t < b->rows; t++) p->start[b->ids[0][t] + 2]++;
    for (int id = 0; id <= most; id++) p->start[id + 2] += p->start[id + 1];
    for (int t = 0; t < b->rows; t++) p->by_id[p->start[b->ids[0][t] + 1]++] = t;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Adds the rows not later than the chosen row i whose IDs differ from its own by lo..hi, in the order
 * of the text, IDs moved down, the last row wanted. */
static void add_context(const struct paths *p, int i, int lo, int hi, lg_batch *b)
{
    enum { MOST = 64 };
    int member[MOST], n = 0;
    int32_t token[MOST], id[MOST], target[MOST], at = p->text.ids[0][p->row[i]];
    int32_t least = at + lo > 0 ? at + lo : 0;
    lg_error err;
    for (int32_t k = least; k <= at + hi && k <= p->most_id; k++)
        for (int j = p->start[k]; j < p->start[k + 1]; j++) {
            if (p->by_id[j] > p->row[i]) continue;
            assert_true(n < MOST);
            member[n++] = p->by_id[j];
        }
    qsort(member, (size_t)n, sizeof *member, by_number);
    for (int t = 0; t < n; t++) {
        token[t] = p->text.tokens[member[t]];
        id[t] = p->text.ids[0][member[t]] - least;
        target[t] = t == n - 1 ? 0 : LG_NONE;
    }
    must(lg_batch_add(b, n, token, id, target, NULL, &err), &err);
}

/* The contexts of all chosen rows, `beside` in a batch. How many differ. */
static int run_contexts(const struct paths *p, int lo, int hi, int beside)
{
    lg_error err;
    lg_eval_result e;
    lg_batch b;
    int count = 0;
    lg_batch_init(&b);
    lg_evaluator *evaluator = lg_evaluator_new(p->r->m, 1, &err);
    if (!evaluator) fail_msg("%s", err.text);
    for (int i = 0; i < positions; i += beside) {
        lg_batch_reset(&b);
        for (int k = 0; k < beside; k++) add_context(p, i + k, lo, hi, &b);
        must(lg_evaluator_run(evaluator, &b, &e, &err), &err);
        assert_int_equal(e.rows, beside);
        for (int k = 0; k < beside; k++) count += differs(p, p->row[i + k], &e, k);
    }
    lg_evaluator_free(evaluator);
    lg_batch_clear(&b);
    return count;
}

/* ---- The comparison ---------------------------------------------------------------------------- */

/* behind, ahead: whether a context without its last column at that end must give other bits. (Two
 * layers see one column ahead, not two: the bits of the prompt do not see later ones.) */
static void four_paths(struct training *x, struct weights *w, int behind, int ahead)
{
    struct trained r = model_of(x, w);
    struct paths p = {.r = &r, .c = lg_model_get_config(r.m)};
    int lo = p.c->layers * p.c->window_lo[0], hi = p.c->layers * p.c->window_hi[0];
    lg_draw d = draw_of(x, TEST_STREAM, bits, 0);
    lg_example example;
    lg_error err;
    p.wide = p.c->vocab + p.c->id_classes[0];
    lg_example_init(&example);
    lg_batch_init(&p.text);
    must(lg_task_example(r.t, &d, &example, &err), &err);
    must(lg_plan_add(&r.plan, &example, NULL, &p.text, &err), &err);
    p.first = example.answer - 1;
    p.generated = get((size_t)(p.text.rows - p.first), (size_t)p.wide * sizeof *p.generated);
    choose_rows(&p);
    sort_by_id(&p);
    generate(&p, &example);
    int packed = run_packed(&p);
    int alone = run_contexts(&p, lo, hi, 1), beside = run_contexts(&p, lo, hi, positions);
    int less_behind = run_contexts(&p, lo + (lo < 0), hi, positions);
    int less_ahead = run_contexts(&p, lo, hi - (hi > 0), positions);
    print_message(
        "%s, %d layers, columns %d to %d, %d tokens: of %d positions %d differ packed; of "
        "%d %d cut out alone, %d in a batch; cut short: %d behind, %d ahead\n",
        lg_isa(), p.c->layers, lo, hi, example.n, p.text.rows - p.first, packed, positions, alone,
        beside, less_behind, less_ahead);
    assert_int_equal(packed, 0);
    assert_int_equal(alone, 0);
    assert_int_equal(beside, 0);
    assert_true(!behind || less_behind > positions / 2);
    assert_true(!ahead || less_ahead > positions / 2);
    free(p.generated);
    free(p.row);
    free(p.start);
    free(p.by_id);
    lg_batch_clear(&p.text);
    lg_example_clear(&example);
    trained_free(&r);
}

static void with_one_layer(void **state)
{
    (void)state;
    struct training x = parity(LG_ARCH_NEOX, 1, 0, 1);
    x.model.encoding = "relative";
    four_paths(&x, &shared[0], 0, 1);
}

static void with_two_layers_and_rope(void **state)
{
    (void)state;
    struct training x = parity(LG_ARCH_OLMO, 2, -1, 1);
    x.model.encoding = "rope";
    four_paths(&x, &shared[1], 1, 0);
}

static int paths_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_one_layer),
        cmocka_unit_test(with_two_layers_and_rope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The instruction set is chosen once a process: a child for each. */
int main(void)
{
    const char *const isas[] = {"avx512", "avx2", "neon", "c", "wide", "naive"};
    int failed = 0;
    shared =
        mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            setenv("LENGTHEN_ISA", isas[i], 1);
            if (strcmp(lg_isa(), isas[i]) != 0) exit(0); /* not on this CPU */
            int best = lg__kernels_all()[0] == lg__kernels_get();
            bits = best ? 500000 : 10000;
            positions = best ? 10000 : 1000;
            exit(paths_tests() ? 1 : 0);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) {
            fprintf(stderr, "%s: failed\n", isas[i]);
            failed = 1;
        }
    }
    return failed;
}
