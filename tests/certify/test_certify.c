/* test_certify.c: the contexts of a task's columns against all inputs up to a length, by code that
 * knows nothing of states or ways; and the certificate against generation. */
#include <unistd.h>

#include "certify/contexts.h"
#include "runs/note.h"
#include "training/feedback.h"
#include "helpers/home.h"
#include "helpers/training.h"

/* ---- Contexts -------------------------------------------------------------------------------- */

enum { MOST = 400000 };

/* A context with its answer as one line of text. */
struct lines {
    char **at;
    int count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_line(struct lines *l, const char *text)
{
    assert_true(l->count < MOST);
    l->at[l->count++] = strdup(text);
}

/* Sorted, each once. */
static void tidy(struct lines *l)
{
    int n = 0;
    qsort(l->at, (size_t)l->count, sizeof *l->at, by_text);
    for (int i = 0; i < l->count; i++)
        if (!n || strcmp(l->at[n - 1], l->at[i]) != 0)
            l->at[n++] = l->at[i];
        else
            free(l->at[i]);
    l->count = n;
}

static void clear(struct lines *l)
{
    for (int i = 0; i < l->count; i++) free(l->at[i]);
    free(l->at);
}

/* The rows of a sequence up to `row` that lie within lo..hi of it at level 0, and what follows. */
static void add_row(struct lines *l, const lg_batch *b, int row, int from, int lo, int hi, int stop)
{
    char text[2000];
    size_t n = 0;
    for (int t = from; t <= row; t++) {
        int apart = b->ids[0][t] - b->ids[0][row];
        if (apart < lo || apart > hi) continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%d@%d", b->tokens[t], apart);
        for (int k = 1; k < b->levels; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, ",%d", b->ids[k][t] - b->ids[k][row]);
        text[n++] = ' ';
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "-> %d", b->targets[row]);
    for (int k = 0; k < b->levels && b->targets[row] != stop; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, " %d", b->id_targets[k][row]);
    add_line(l, text);
}

static const char *const shared[] = {
    "positions.ids=coupled", "positions.encoding=relative",
    "positions.span=window", "positions.source=delta",
    "model.width=16",        "model.heads=2",
    "train.length=[1, 5]",
};
enum { SHARED = sizeof shared / sizeof *shared };

static void open_run(struct lg__run *r, const char *const *sets, int count)
{
    const char *all[SHARED + 8];
    lg_error err = {0};
    memcpy(all, shared, sizeof shared);
    memcpy(all + SHARED, sets, (size_t)count * sizeof *sets);
    *r = (struct lg__run){0};
    must(lg__run_open(r, NULL, all, SHARED + count, &err), &err);
}

/* Every text of 1..longest columns, by counting through all strings of inputs; those that the task
 * cannot make are left out by the machine's own word, which test_columns has checked. */
static void all_texts(struct lg__run *r, const struct lg__contexts *c, int longest, struct lines *l)
{
    int stop = lg_task_get_shape(r->task)->stop, layers = r->model_config.layers;
    int lo = layers * r->model_config.window_lo[0], hi = layers * r->model_config.window_hi[0];
    lg_example x;
    lg_batch b;
    lg_error err;
    lg_example_init(&x);
    lg_batch_init(&b);
    for (int n = 1; n <= longest; n++) {
        int32_t input[32] = {0};
        for (int more = 1; more;) {
            int state = c->columns.start;
            for (int i = 0; i < n && state >= 0; i++)
                state = c->columns.next(r->task, state, input[i]);
            if (state >= 0 && c->columns.ends(r->task, state)) {
                lg_batch_reset(&b);
                must(c->columns.write(r->task, input, n, &x, &err), &err);
                must(lg_plan_add(&r->plan, &x, NULL, &b, &err), &err);
                for (int row = 0; row < b.rows; row++)
                    if (b.targets[row] >= 0) add_row(l, &b, row, 0, lo, hi, stop);
            }
            int i = 0;
            while (i < n && ++input[i] == c->columns.inputs) input[i++] = 0;
            more = i < n;
        }
    }
    lg_example_clear(&x);
    lg_batch_clear(&b);
}

static void compare(const char *const *sets, int count, int longest)
{
    struct lg__run r;
    struct lg__contexts c;
    struct lines found = {.at = calloc(MOST, sizeof(char *))},
                 all = {.at = calloc(MOST, sizeof(char *))};
    lg_error err = {0};
    lg_batch b;
    open_run(&r, sets, count);
    must(lg__contexts_open(&c, &r, &err), &err);
    must(lg__contexts_fill(&c, &err), &err);
    lg_batch_init(&b);
    int stop = lg_task_get_shape(r.task)->stop;
    for (int i = 0; i < c.count; i++) {
        lg_batch_reset(&b);
        must(lg__contexts_add(&c, i, &b, &err), &err);
        add_row(&found, &b, b.rows - 1, 0, -1000, 1000, stop);
    }
    assert_true(c.input_count <= c.expected);
    assert_int_equal(found.count, c.count);
    tidy(&found);
    assert_int_equal(found.count, c.count); /* each once */
    all_texts(&r, &c, longest, &all);
    tidy(&all);
    for (int i = 0; i < all.count && i < found.count; i++)
        if (strcmp(all.at[i], found.at[i]) != 0)
            fail_msg("%s: \"%s\" of all texts, \"%s\" of the set", sets[0], all.at[i], found.at[i]);
    assert_int_equal(found.count, all.count);
    print_message("%s %s: %d contexts, %d inputs, %.0f expected\n", sets[0],
                  count > 1 ? sets[1] : "", c.count, c.input_count, c.expected);
    lg_batch_clear(&b);
    clear(&found);
    clear(&all);
    lg__contexts_clear(&c);
    lg__run_close(&r);
}

static void contexts_are_those_of_all_texts(void **state)
{
    (void)state;
    static const struct {
        const char *sets[6];
        int longest; /* field, states, and some more */
    } cases[] = {
        {{"task.name=parity-scratchpad", "positions.window=[0, 1]", "model.layers=1"}, 8},
        {{"task.name=parity-scratchpad", "positions.window=[0, 1]", "model.layers=2"}, 9},
        {{"task.name=parity-scratchpad", "positions.window=[-1, 1]", "model.layers=2"}, 11},
        {{"task.name=parity-scratchpad", "positions.window=[-2, 2]", "model.layers=1"}, 11},
        {{"task.name=parity-scratchpad", "positions.window=[-1, 0]", "model.layers=1",
          "task.scan=backward"},
         9},
        {{"task.name=addition", "task.base=2", "positions.window=[0, 1]", "model.layers=1"}, 6},
        {{"task.name=addition", "task.base=2", "positions.window=[0, 1]", "model.layers=2"}, 7},
        {{"task.name=addition", "task.base=3", "positions.window=[0, 1]", "model.layers=1",
          "task.lengths=equal"},
         5},
        {{"task.name=addition", "task.base=2", "positions.window=[-1, 0]", "model.layers=1",
          "task.orientation=down"},
         6},
        {{"task.name=subtraction", "task.base=2", "positions.window=[[0, 1], [-2, 0]]",
          "model.layers=2"},
         7},
        {{"task.name=subtraction", "task.base=2", "task.wrap=yes",
          "positions.window=[[0, 1], [-2, 0]]"},
         7},
        {{"task.name=copy", "task.alphabet=3", "positions.window=[0, 1]"}, 6},
        {{"task.name=reverse", "task.alphabet=3", "positions.window=[-1, 0]"}, 6},
        {{"task.name=multiplication", "task.base=3", "task.multiplier=2",
          "positions.window=[-1, 0]", "model.layers=1"},
         8},
        {{"task.name=machine", "task.table=count-3", "positions.window=[[0, 1], [-2, 1]]"}, 9},
        {{"task.name=machine", "task.table=add-2", "positions.window=[[0, 1], [-2, 1]]"}, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n = 0;
        while (n < 6 && cases[i].sets[n]) n++;
        compare(cases[i].sets, n, cases[i].longest);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sets[6], *words;
    } cases[] = {
        {{"task.name=parity-scratchpad", "positions.span=full"}, "span is full"},
        {{"task.name=parity-scratchpad", "positions.encoding=learned", "positions.max_id=100"},
         "learned"},
        {{"task.name=parity-scratchpad", "positions.encoding=fire"}, "fire"},
        {{"task.name=parity-scratchpad", "positions.encoding=rope",
          "positions.rope.scaling=dynamic", "positions.rope.factor=4", "positions.rope.length=20"},
         "scaled by the length of the text"},
        {{"task.name=sparse-parity-scratchpad", "positions.source=[pointer, delta]",
          "positions.window=[[0, 0], [-1, 0]]"},
         "pointer"},
        {{"task.name=sort", "positions.source=given"}, "sort"},
        {{"task.name=addition", "task.answer=plain"}, "answer"},
        {{"task.name=copy", "task.kind=unique", "eval.lengths=[5]"}, "unique"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lg__run r;
        struct lg__contexts c = {0};
        lg_error err = {0};
        int n = 0;
        while (n < 6 && cases[i].sets[n]) n++;
        open_run(&r, cases[i].sets, n);
        assert_int_equal(lg__contexts_open(&c, &r, &err), LG_ERROR_ARGUMENT);
        if (!strstr(err.text, cases[i].words))
            fail_msg("\"%s\" is not in: %s", cases[i].words, err.text);
        lg__contexts_clear(&c);
        lg__run_close(&r);
    }
}

/* A machine whose outputs hide its state: two inputs look the same and go on differently. */
static void a_hidden_state_is_refused(void **state)
{
    (void)state;
    char table[300];
    snprintf(table, sizeof table, "task.table=%s/experiments/machines/every-third.yaml",
             LG_SOURCE_DIR);
    for (int emit = 0; emit < 2; emit++) {
        const char *sets[] = {"task.name=machine", table, "positions.window=[[-1, 1], [-3, 3]]",
                              emit ? "task.emit=state" : "task.emit=output"};
        struct lg__run r;
        struct lg__contexts c;
        lg_error err = {0};
        open_run(&r, sets, 4);
        must(lg__contexts_open(&c, &r, &err), &err);
        int e = lg__contexts_fill(&c, &err);
        assert_int_equal(e, emit ? 0 : LG_ERROR_ARGUMENT);
        if (!emit) {
            assert_non_null(strstr(err.text, "does not decide the answer"));
            assert_non_null(strstr(err.text, "emit=state"));
            print_message("%s\n", err.text);
        }
        /* Training says so, too, before any work. */
        char remark[300] = "";
        lg__certificate_warn(&r, remark, sizeof remark);
        assert_int_equal(strncmp(remark, "no training can make it exact: ", 31) == 0, !emit);
        lg__contexts_clear(&c);
        lg__run_close(&r);
    }
}

struct told {
    int calls, ended;
    int64_t done;
    char phase[40];
};

/* Forward within a phase, which ends with all; then the next. */
static void tell(void *context, const char *phase, int64_t done, int64_t all)
{
    struct told *t = context;
    if (strcmp(t->phase, phase) != 0) {
        assert_int_equal(t->calls > 0, t->ended);
        snprintf(t->phase, sizeof t->phase, "%s", phase);
        t->done = t->ended = 0;
    }
    assert_true(done > t->done && done <= all && !t->ended);
    t->done = done;
    t->ended = done == all;
    t->calls++;
}

/* Finding many contexts takes a while, and checking them too: without a word it seems stuck. */
static void both_phases_are_told(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=parity-scratchpad", "positions.window=[-5, 5]",
                                       "model.layers=1"};
    struct lg__run r;
    struct lg__contexts c;
    struct lg__verdict v = {0};
    struct told told = {0};
    lg_batch b;
    lg_error err = {0};
    open_run(&r, sets, 3);
    must(lg__contexts_make(&c, &r, 0, tell, &told, &err), &err);
    assert_string_equal(told.phase, "finding contexts");
    assert_true(told.ended && told.calls >= 2 && c.input_count > 4096);
    lg_evaluator *e = lg_evaluator_new(r.model, 1, &err);
    assert_non_null(e);
    lg_batch_init(&b);
    must(lg__contexts_judge(&c, e, &b, &v, &err), &err);
    assert_string_equal(told.phase, "checking contexts");
    assert_true(told.ended && told.done == c.count);
    lg_batch_clear(&b);
    lg_evaluator_free(e);
    lg__contexts_clear(&c);
    lg__run_close(&r);
}

/* ---- The certificate -------------------------------------------------------------------------- */

static void train_to(const char *name, const char *steps)
{
    static const char *const sets[] = {"task.name=parity-scratchpad",
                                       "positions.ids=coupled",
                                       "positions.source=delta",
                                       "positions.encoding=relative",
                                       "positions.span=window",
                                       "positions.window=[0, 1]",
                                       "model.width=64",
                                       "model.sink=yes",
                                       "train.lr=4e-3",
                                       "train.warmup=50",
                                       "train.length=[1, 10]",
                                       "seed=1"};
    const char *all[13];
    memcpy(all, sets, sizeof sets);
    all[12] = steps;
    lg_run_options o = {.sets = all, .set_count = 13, .folder = in_home(name)};
    lg_error err = {0};
    int done;
    must(lg_run_train(&o, &done, &err), &err);
}

/* A confirmation that could not fail would say nothing. */
static void confirming_finds_what_is_wrong(const char *name)
{
    struct lg__run r = {0};
    struct lg__contexts set;
    lg_confirmed c;
    lg_error err = {0};
    must(lg__run_open_folder(&r, in_home(name), NULL, NULL, &err), &err);
    must(lg__contexts_open(&set, &r, &err), &err);
    must(lg__confirm(&set, &r, 10, 1, &c, &err), &err);
    assert_true(c.random == 10 && c.worst == 4 && c.wrong > 0 && c.wrong <= 15);
    lg__contexts_clear(&set);
    lg__run_close(&r);
}

/* What is certified is right on long inputs; what is not fails on the input that is shown. */
static void a_certificate_holds(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_certificate c;
    train_to("good", "train.steps=400");
    lg_certify_options o = {.folder = in_home("good"), .confirm = 20};
    must(lg_certify(&o, &c, &err), &err);
    assert_int_equal(c.certified, 1);
    assert_int_equal(c.wrong, 0);
    assert_true(c.contexts > 20 && c.min_margin > 0);
    assert_true(c.confirmed.random == 20 && c.confirmed.columns == 20);
    assert_true(c.confirmed.worst == 4 && c.confirmed.longest == 10000 && c.confirmed.wrong == 0);
    train_to("bad", "train.steps=40");
    o.folder = in_home("bad");
    must(lg_certify(&o, &c, &err), &err);
    assert_int_equal(c.certified, 0);
    assert_true(c.wrong > 0 && c.first > 0 && c.columns > 0);
    assert_string_not_equal(c.right, c.answer);
    print_message("not certified: %s: %s, not %s\n", c.input, c.answer, c.right);
    confirming_finds_what_is_wrong("bad");
    o.most = 3;
    assert_int_equal(lg_certify(&o, &c, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "narrower window"));
}

/* ---- On the way ------------------------------------------------------------------------------- */

struct watched {
    int64_t stop, last;
    int notes, certified;
};

static int watch(void *context, const lg_run_step *s)
{
    struct watched *w = context;
    w->last = s->step;
    w->notes += s->note && strstr(s->note, "contexts") != NULL;
    w->certified |= s->note && strstr(s->note, "certified, all") != NULL;
    return s->step != w->stop;
}

/* base: "task.base=2" */
static void train_add(const char *name, const char *base, const char *steps, int64_t stop,
                      struct watched *w)
{
    const char *const sets[] = {"seed=2", /* some seeds are not certified in so few steps */
                                "task.name=addition",
                                base,
                                "positions.ids=coupled",
                                "positions.source=delta",
                                "positions.span=window",
                                "positions.encoding=relative",
                                "positions.window=[0, 1]",
                                "model.width=32",
                                "model.sink=yes",
                                "model.layers=1",
                                "model.parallel=no",
                                "train.lr=4e-3",
                                "train.warmup=20",
                                "train.length=[1, 3]",
                                steps,
                                "train.certify.every=20",
                                "train.certify.feedback=yes",
                                "train.batch=16"};
    lg_run_options o = {.sets = sets,
                        .set_count = sizeof sets / sizeof *sets,
                        .folder = in_home(name),
                        .resume = LG_RUN_EITHER,
                        .watch = watch,
                        .context = w};
    lg_error err = {0};
    int done;
    *w = (struct watched){.stop = stop};
    must(lg_run_train(&o, &done, &err), &err);
    if (!stop) assert_int_equal(done, 1);
}

static void same_checkpoint(const char *one, const char *other, int step)
{
    char command[400];
    snprintf(command, sizeof command,
             "for f in model state; do cmp %s/%s/checkpoint/step-%09d/$f.safetensors "
             "%s/%s/checkpoint/step-%09d/$f.safetensors || exit 1; done",
             home, one, step, home, other, step);
    assert_int_equal(system(command), 0);
}

/* The machine whose outputs hide its state, once the state is written out. */
static void with_its_state_it_is_certified(void **state)
{
    (void)state;
    const char *const sets[] = {
        "task.name=machine",
        "task.table=" LG_SOURCE_DIR "/experiments/machines/every-third.yaml",
        "task.emit=state",
        "positions.ids=coupled",
        "positions.source=delta",
        "positions.span=window",
        "positions.encoding=relative",
        "positions.window=[[-1, 1], [-3, 3]]",
        "model.width=32",
        "model.sink=yes",
        "model.layers=1",
        "model.parallel=no",
        "train.lr=4e-3",
        "train.warmup=20",
        "train.length=[1, 10]",
        "train.steps=2000",
        "train.certify.every=50",
    };
    struct watched w = {0};
    lg_run_options o = {.sets = sets,
                        .set_count = sizeof sets / sizeof *sets,
                        .folder = in_home("third"),
                        .watch = watch,
                        .context = &w};
    lg_certify_options judge = {.folder = in_home("third"), .confirm = 20};
    lg_certificate c;
    lg_error err = {0};
    int done;
    must(lg_run_train(&o, &done, &err), &err);
    must(lg_certify(&judge, &c, &err), &err);
    print_message("certified after %d steps, %d contexts\n", (int)w.last, (int)c.contexts);
    assert_true(c.certified && !c.wrong && c.confirmed.wrong == 0);
}

/* Ends once it is certified; stopped between two looks it goes on with the same inputs fed back. */
static void it_ends_when_it_is_certified(void **state)
{
    (void)state;
    static const char two[] = "task.base=2", many[] = "train.steps=1500";
    struct watched whole, first, second;
    train_add("fed", two, many, 0, &whole);
    assert_int_equal(whole.certified, 1);
    assert_true(whole.last < 1500 && whole.last % 20 == 0 && whole.notes == whole.last / 20);
    train_add("fed-stopped", two, many, 50, &first);
    assert_int_equal(first.certified, 0);
    train_add("fed-stopped", two, many, 0, &second);
    assert_int_equal(second.certified, 1);
    assert_int_equal(second.last, whole.last);
    same_checkpoint("fed", "fed-stopped", (int)whole.last);
    lg_certificate c;
    lg_error err = {0};
    lg_certify_options o = {.folder = in_home("fed")};
    must(lg_certify(&o, &c, &err), &err);
    assert_int_equal(c.certified, 1);
    print_message("certified after %d steps\n", (int)whole.last);
}

/* As many inputs as are fed back at all, with numbers of five digits: none may be lost in the note. */
static void many_are_fed_back_after_a_stop(void **state)
{
    (void)state;
    static const char ten[] = "task.base=10", few[] = "train.steps=50";
    struct watched w;
    train_add("ten", ten, few, 0, &w);
    assert_int_equal(w.certified, 0);
    train_add("ten-stopped", ten, few, 30, &w);
    train_add("ten-stopped", ten, few, 0, &w);
    same_checkpoint("ten", "ten-stopped", 50);
}

/* An untrained model is wrong on contexts that only longer or shorter inputs reach: these are never
 * fed back. */
static void only_training_lengths_are_fed_back(void **state)
{
    (void)state;
    static const char *const sets[] = {"task.name=parity-scratchpad", "positions.window=[-1, 1]",
                                       "train.length=[2, 3]", "train.certify.every=10",
                                       "train.certify.feedback=yes"};
    struct lg__run r;
    struct lg__feedback *f;
    lg_error err = {0};
    open_run(&r, sets, 5);
    must(lg__feedback_open(&f, &r, 1, &err), &err);
    must(lg__feedback_look(f, &r, &err), &err);
    assert_true(f->wrong > 0 && f->count > 0 && f->outside > 0);
    lg_rng chance;
    lg_example x;
    lg_example_init(&x);
    lg_rng_init(&chance, 1, 1, 1);
    for (int i = 0; i < 300; i++) {
        must(lg__feedback_example(f, &chance, &x, &err), &err);
        assert_true(x.length >= 2 && x.length <= 3);
    }
    lg_buffer note = {0};
    int before[LG__FEEDBACK_MOST], n = f->count;
    memcpy(before, f->input, sizeof before);
    lg__note_put_text(&note, "kernels", "feedback contexts 1"); /* no keys: they begin no line */
    lg__feedback_write(f, &note);
    char *text = lg_buffer_take(&note, &err);
    assert_non_null(text);
    memset(f->input, 0, sizeof f->input);
    must(lg__feedback_read(f, text, &err), &err);
    assert_int_equal(f->count, n);
    assert_memory_equal(f->input, before, sizeof before[0] * (size_t)n);
    strstr(text, "\nfeedback ")[10] = 'x'; /* no number */
    assert_int_equal(lg__feedback_read(f, text, &err), LG_ERROR_ARGUMENT);
    strstr(text, "\ncontexts ")[11] ^= 1; /* the sum of another set: none are taken */
    must(lg__feedback_read(f, text, &err), &err);
    assert_int_equal(f->count, 0);
    free(text);
    lg_example_clear(&x);
    lg__feedback_free(f);
    lg__run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_are_those_of_all_texts),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_hidden_state_is_refused),
        cmocka_unit_test(both_phases_are_told),
        cmocka_unit_test(a_certificate_holds),
        cmocka_unit_test(it_ends_when_it_is_certified),
        cmocka_unit_test(with_its_state_it_is_certified),
        cmocka_unit_test(many_are_fed_back_after_a_stop),
        cmocka_unit_test(only_training_lengths_are_fed_back),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
