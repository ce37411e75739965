/* test_text_task.c: a corpus as a task, on a small one of the test's own: which documents training
 * sees, the same bits after a resume, the loss by position against a naive one, in the store and
 * on the way, and what is refused. Without it a held-out document could be trained on, or a
 * position be off by one, and every number of a language model would be wrong. */
#include <math.h>
#include <unistd.h>

#include "runs/run.h"
#include "helpers/small_corpus.h"
#include "runs/texts.h"

enum { SHARE = 30 };

/* The same documents, split the same way, through the library alone. */
static lg_corpus *corpus_of(lg_tokenizer *t)
{
    const char *path = in_home("a.txt");
    lg_error err;
    lg_corpus_options o = {.paths = &path, .path_count = 1, .test_share = SHARE / 100.0};
    o.cache = in_home("own.tokens");
    lg_corpus *c = lg_corpus_open(&o, t, &err);
    if (!c) fail_msg("%s", err.text);
    return c;
}

/* ---- Examples ------------------------------------------------------------------------------ */

/* The document that a window of bytes is of; a window of two is a failure. */
static int document_of(const lg_example *x)
{
    int found = -1;
    for (int i = 0; i + 3 < x->n; i++) {
        if (x->tokens[i] != '[' || x->tokens[i + 3] != ']') continue;
        int d = (x->tokens[i + 1] - '0') * 10 + x->tokens[i + 2] - '0';
        if (found >= 0) assert_int_equal(d, found);
        found = d;
    }
    return found;
}

static void training_never_sees_a_held_out_document(void **state)
{
    (void)state;
    lg_error err;
    lg_example x;
    const char *settings[] = {set("text", in_home("a.txt")), "test=0.3"};
    lg_task *t = lg_task_new("text", settings, 2, &err);
    if (!t) fail_msg("%s", err.text);
    lg_tokenizer *bytes = lg_tokenizer_open("bytes", &err);
    lg_corpus *c = corpus_of(bytes);
    int64_t held[DOCUMENTS] = {0}, seen[2][DOCUMENTS] = {{0}};
    for (int64_t i = 0; i < lg_corpus_documents(c, LG_CORPUS_TEST); i++)
        held[lg_corpus_document(c, LG_CORPUS_TEST, i)] = 1;
    assert_in_range(lg_corpus_documents(c, LG_CORPUS_TEST), 4, 20);
    lg_example_init(&x);
    for (int i = 0; i < 6000; i++) {
        lg_draw d = {.seed = 5, .index = (uint64_t)i, .length_lo = 20, .length_hi = 30};
        d.side = (lg_side[]){LG_SIDE_TRAIN, LG_SIDE_TEST, LG_SIDE_ANY}[i % 3];
        must(lg_task_example(t, &d, &x, &err), &err);
        int document = document_of(&x);
        assert_in_range(document, 0, DOCUMENTS - 1);
        assert_int_equal(held[document], d.side == LG_SIDE_TEST);
        seen[d.side == LG_SIDE_TEST][document]++;
        assert_in_range(x.length, 20, 30);
        assert_int_equal(x.n, x.length + 1);
        assert_int_equal(x.answer, 1);
        for (int k = 0; k < x.n; k++) assert_int_equal(x.loss[k], k > 0);
    }
    for (int i = 0; i < DOCUMENTS; i++) assert_true(seen[held[i]][i] > 0);
    lg_example_clear(&x);
    lg_corpus_free(c);
    lg_tokenizer_free(bytes);
    lg_task_free(t);
}

/* Whether there is a token of the end before the last one: the window goes on into another document. */
static int crosses(const lg_example *x)
{
    for (int i = 0; i + 1 < x->n; i++)
        if (x->tokens[i] == 256) return 1;
    return 0;
}

/* The documents of the train side, end to end; their tokens. */
static int join_naively(const lg_corpus *c, int32_t *all, int room)
{
    lg_error err = {0};
    int n = 0;
    for (int64_t i = 0; i < lg_corpus_documents(c, LG_CORPUS_TRAIN); i++) {
        int64_t d = lg_corpus_document(c, LG_CORPUS_TRAIN, i);
        int length = (int)lg_corpus_length(c, d);
        assert_true(n + length <= room);
        must(lg_corpus_read(c, d, 0, length, all + n, &err), &err);
        n += length;
    }
    return n;
}

/* Windows cross documents only where that is asked for; then every token of the train side is drawn,
 * even of documents that are shorter than a window, and nothing that is held out. */
static void joined_examples_cross_documents(void **state)
{
    (void)state;
    enum { LENGTH = 300, ROOM = 300 * DOCUMENTS }; /* longer than every document */
    static int32_t all[ROOM];
    static unsigned char seen[ROOM];
    lg_error err = {0};
    lg_example x;
    lg_tokenizer *bytes = lg_tokenizer_open("bytes", &err);
    lg_corpus *c = corpus_of(bytes);
    const char *settings[] = {set("text", in_home("a.txt")), "test=0.3", "join=yes"};
    lg_draw d = {.seed = 5,
                 .stream = LG__STREAM_TRAIN,
                 .length_lo = 60,
                 .length_hi = 60,
                 .side = LG_SIDE_TRAIN};
    lg_example_init(&x);
    lg_task *apart = lg_task_new("text", settings, 2, &err);
    assert_non_null(apart);
    for (int i = 0; i < 1000; i++, d.index++) {
        must(lg_task_example(apart, &d, &x, &err), &err);
        assert_false(crosses(&x));
    }
    d.length_lo = d.length_hi = LENGTH;
    assert_int_not_equal(lg_task_example(apart, &d, &x, &err), 0);
    lg_task_free(apart);
    lg_task *joined = lg_task_new("text", settings, 3, &err);
    if (!joined) fail_msg("%s", err.text);
    int n = join_naively(c, all, ROOM);
    for (int i = 0; i < 40000; i++, d.index++) {
        int at = 0;
        must(lg_task_example(joined, &d, &x, &err), &err);
        assert_int_equal(x.n, LENGTH + 1);
        assert_true(crosses(&x));
        size_t size = (size_t)x.n * sizeof *all;
        while (at + x.n <= n && memcmp(all + at, x.tokens, size) != 0) at++;
        assert_true(at + x.n <= n);
        memset(seen + at, 1, (size_t)x.n);
    }
    for (int i = 0; i < n; i++) assert_int_equal(seen[i], 1);
    lg_task_free(joined);
    lg_example_clear(&x);
    lg_corpus_free(c);
    lg_tokenizer_free(bytes);
}

/* A list in YAML, commas in a set, and the task's argument are the same texts. */
static void texts_are_named_in_three_ways(void **state)
{
    (void)state;
    lg_error err = {0};
    char yaml[600], sum[3][100];
    write_corpus("b.txt", 50, 55);
    snprintf(yaml, sizeof yaml, "task: {name: text, text: [%s, %s]}\ntrain: {length: [20, 20]}\n",
             in_home("a.txt"), in_home("b.txt"));
    FILE *f = fopen(in_home("list.yaml"), "w");
    fputs(yaml, f);
    fclose(f);
    char both[450], named[460];
    snprintf(both, sizeof both, "task.text=%s,%s", in_home("a.txt"), in_home("b.txt"));
    snprintf(named, sizeof named, "task.name=text:%s", both + strlen("task.text="));
    const char *sets[3][3] = {{"seed=0"}, {"task.name=text", both, "train.length=[20, 20]"}};
    sets[2][0] = named, sets[2][1] = "train.length=[20, 20]";
    int counts[] = {1, 3, 2};
    for (int i = 0; i < 3; i++) {
        struct lg__run r = {0};
        must(lg__run_open(&r, i ? NULL : in_home("list.yaml"), sets[i], counts[i], &err), &err);
        assert_int_equal(lg_corpus_documents(lg__text_corpus(r.task), LG_CORPUS_ALL),
                         DOCUMENTS + 5);
        for (int k = 0; k < r.config.setting_count; k++)
            if (strncmp(r.config.settings[k], "checksum=", 9) == 0)
                snprintf(sum[i], sizeof sum[i], "%s", r.config.settings[k]);
        lg__run_close(&r);
    }
    assert_int_equal(strlen(sum[0]), strlen("checksum=") + 33);
    assert_string_equal(sum[0], sum[1]);
    assert_string_equal(sum[0], sum[2]);
}

/* ---- Training ------------------------------------------------------------------------------ */

static void resumed_runs_have_the_same_bits(void **state)
{
    (void)state;
    static char a[1 << 20], b[1 << 20];
    static const char *const own[][3] = {
        {"model.arch=neox", "positions.ids=plain", "positions.target=0"},
        {"model.arch=olmo", "positions.ids=pose", "positions.target=32"},
        {"model.arch=neox", "positions.ids=random-start", "positions.max_id=40"},
        {"model.arch=olmo", "positions.ids=randomized", "positions.max_id=40"}};
    for (int i = 0; i < 4; i++) {
        lg_error err = {0};
        char whole[40], parts[40], path[120];
        snprintf(whole, sizeof whole, "whole%d", i);
        snprintf(parts, sizeof parts, "parts%d", i);
        must(train_some(whole, own[i], 3, LG_RUN_NEW, NULL, &err), &err);
        must(train_some(parts, own[i], 3, LG_RUN_NEW, stop_at_four, &err), &err);
        must(train_some(parts, own[i], 3, LG_RUN_RESUME, NULL, &err), &err);
        snprintf(path, sizeof path, "%s/checkpoint/step-000000008/model.safetensors", whole);
        size_t n = read_file(path, a, sizeof a);
        snprintf(path, sizeof path, "%s/checkpoint/step-000000008/model.safetensors", parts);
        assert_int_equal(read_file(path, b, sizeof b), n);
        assert_memory_equal(a, b, n);
    }
}

/* ---- Loss by position ------------------------------------------------------------------------ */

enum { LONG = 24, CONTEXT = 8 };

/* The loss of the token after these, nothing else in the batch. */
static double naive_loss(lg_evaluator *e, int vocab, const int32_t *tokens, int n)
{
    int32_t targets[LONG];
    lg_batch b;
    lg_eval_result r;
    lg_error err;
    double sum = 0;
    lg_batch_init(&b);
    for (int i = 0; i < n; i++) targets[i] = i == n - 1 ? tokens[n] : LG_NONE;
    must(lg_batch_add(&b, n, tokens, NULL, targets, NULL, &err), &err);
    must(lg_evaluator_run(e, &b, &r, &err), &err);
    assert_int_equal(r.rows, 1);
    for (int i = 0; i < vocab; i++) sum += exp((double)r.logits[i]);
    lg_batch_clear(&b);
    return log(sum) - (double)r.logits[tokens[n]];
}

struct naive {
    double loss[3][DOCUMENTS][LONG + 1]; /* truncated, sliding, excess: by document and position */
    int documents;
};

static void measure_naively(struct naive *v, const struct lg__run *run)
{
    lg_error err;
    lg_corpus *c = corpus_of(lg__text_tokenizer(run->task));
    lg_evaluator *e = lg_evaluator_new(run->model, 1, &err);
    int vocab = lg_model_get_config(run->model)->vocab;
    for (int64_t i = 0; i < lg_corpus_documents(c, LG_CORPUS_TEST); i++) {
        int32_t tokens[LONG + 1];
        int64_t d = lg_corpus_document(c, LG_CORPUS_TEST, i);
        if (lg_corpus_length(c, d) <= LONG) continue;
        must(lg_corpus_read(c, d, 0, LONG + 1, tokens, &err), &err);
        for (int p = 1; p <= LONG; p++) {
            int from = p > CONTEXT ? p - CONTEXT : 0;
            double all = naive_loss(e, vocab, tokens, p);
            double last = naive_loss(e, vocab, tokens + from, p - from);
            v->loss[0][v->documents][p] = all;
            v->loss[1][v->documents][p] = last;
            v->loss[2][v->documents][p] = all - last;
        }
        v->documents++;
    }
    lg_evaluator_free(e);
    lg_corpus_free(c);
}

static void same_mean(const struct naive *v, int which, const lg_cell *c, const char *kind)
{
    double mean = 0, squares = 0, one[DOCUMENTS];
    int low = c->first, high = c->last;
    lg_text_mean m = mean_of(c, kind);
    for (int d = 0; d < v->documents; d++) {
        one[d] = 0;
        for (int p = low; p <= high; p++) one[d] += v->loss[which][d][p] / (high - low + 1);
        mean += one[d] / v->documents;
    }
    for (int d = 0; d < v->documents; d++) squares += (one[d] - mean) * (one[d] - mean);
    double error = sqrt(squares / (v->documents - 1) / v->documents);
    assert_true(fabs(m.value - mean) < 1e-6);
    assert_true(fabs(m.low - (mean - 1.96 * error)) < 1e-4);
    assert_true(fabs(m.high - (mean + 1.96 * error)) < 1e-4);
}

static void loss_by_position_is_the_naive_one(void **state)
{
    (void)state;
    static const int bins[][2] = {{1, 1}, {2, 2}, {3, 4}, {5, 8}, {9, 16}, {17, 24}};
    static const char *const runs[] = {"whole0", "whole1"};
    for (int i = 0; i < 2; i++) {
        struct lg__run run = {0};
        struct rows rows = {.count = 0};
        struct naive *v = calloc(1, sizeof *v);
        lg_error err = {0};
        lg_eval_options o = {.folder = in_home(runs[i]), .threads = 1};
        o.lengths = (const int[]){LONG, 100000};
        o.length_count = 2;
        o.each = keep_row;
        o.context = &rows;
        must(lg_run_eval(&o, NULL, &err), &err);
        must(lg__run_open_folder(&run, in_home(runs[i]), NULL, NULL, &err), &err);
        measure_naively(v, &run);
        assert_true(v->documents > 3);
        assert_int_equal(rows.count, 6); /* no document has 100,000 tokens: left out */
        for (int b = 0; b < 6; b++) {
            const lg_cell *r = &rows.row[b];
            assert_int_equal(r->length, LONG);
            assert_int_equal(r->first, bins[b][0]);
            assert_int_equal(r->last, bins[b][1]);
            assert_int_equal(samples_of(r, "truncated"), v->documents);
            assert_int_equal(r->there, v->documents);
            assert_int_equal(r->context, CONTEXT);
            same_mean(v, 0, r, "truncated");
            same_mean(v, 1, r, "sliding");
            same_mean(v, 2, r, "excess");
        }
        assert_true(value_of(&rows.row[5], "excess") != 0);
        lg__run_close(&run);
        free(v);
    }
}

/* ---- In the store -------------------------------------------------------------------------- */

static void eval_into(const char *store, const int *lengths, int count, int documents, int context,
                      int again, struct rows *rows)
{
    lg_error err = {0};
    lg_eval_options o = {.folder = in_home("whole0"), .store = in_home(store), .threads = 1};
    o.lengths = lengths;
    o.length_count = count;
    o.samples = documents;
    o.sliding = context;
    o.force = again;
    o.each = keep_row;
    o.context = rows;
    rows->count = 0;
    must(lg_run_eval(&o, NULL, &err), &err);
}

static int kept(const struct rows *rows)
{
    int n = 0;
    for (int i = 0; i < rows->count; i++) n += rows->row[i].kept;
    return n;
}

static void same_rows(const struct rows *a, const struct rows *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const lg_cell *x = &a->row[i], *y = &b->row[i];
        assert_true(x->step == y->step && x->length == y->length && x->first == y->first &&
                    x->last == y->last && x->context == y->context);
        assert_true(x->there == y->there && x->values == 3 && same_values(x, y));
        assert_true(x->trained_least == y->trained_least && x->trained_length == y->trained_length);
        assert_string_equal(x->setting, y->setting);
        assert_string_equal(x->data, y->data);
    }
}

static void take_number(void *context, const lg_store_run *r) { *(int64_t *)context = r->number; }

/* What the store has of the same step, texts, context, length and documents is not made again; what
 * differs in one of them is. */
static void losses_are_kept(void **state)
{
    (void)state;
    static const int both[] = {16, LONG}, more[] = {8, 16, LONG};
    static struct rows first, second, third;
    lg_error err = {0};
    int64_t number = 0;
    eval_into("s.db", both, 2, 0, 0, 0, &first);
    assert_int_equal(first.count, 5 + 6);
    assert_int_equal(kept(&first), 0);
    eval_into("s.db", both, 2, 0, 0, 0, &second);
    assert_int_equal(kept(&second), 11);
    same_rows(&first, &second);
    eval_into("s.db", more, 3, 100000, 0, 0, &second); /* more than there are: the same documents */
    assert_int_equal(second.count, 4 + 11);
    assert_int_equal(kept(&second), 11);
    eval_into("s.db", both, 2, 0, 0, 1, &second);
    assert_int_equal(kept(&second), 0);
    same_rows(&first, &second);
    eval_into("s.db", both, 2, 0, 4, 0, &second);
    assert_int_equal(kept(&second), 0);
    eval_into("s.db", both, 2, 1, 0, 0, &second);
    assert_int_equal(kept(&second), 0);
    assert_true(isnan(mean_of(&second.row[0], "truncated").low)); /* of one document: no interval */
    eval_into("s.db", both, 2, 1, 0, 0, &third);
    assert_int_equal(kept(&third), 11);
    assert_true(isnan(mean_of(&third.row[0], "truncated").low) &&
                isnan(mean_of(&third.row[0], "excess").high));
    assert_true(value_of(&third.row[3], "truncated") == value_of(&second.row[3], "truncated"));
    /* read again: of two numbers of documents, the greater one */
    lg_store *s = lg_store_open(in_home("s.db"), 0, &err);
    if (!s) fail_msg("%s", err.text);
    must(lg_store_find(s, in_home("whole0"), take_number, &number, &err), &err);
    second.count = 0;
    must(lg_store_cells(s, number, -1, "losses", keep_row, &second, &err), &err);
    assert_int_equal(second.count, 11 + 4 + 11); /* context 4; context 8 with length 8, 16, 24 */
    memmove(second.row, second.row + 15, 11 * sizeof second.row[0]);
    second.count = 11;
    same_rows(&first, &second);
    second.count = 0;
    must(lg_store_cells(s, number, 7, "losses", keep_row, &second, &err), &err);
    assert_int_equal(second.count, 0);
    lg_store_close(s);
}

/* eval.every: the losses on the way are those that eval gives, and training goes on as without; a run
 * that is stopped and resumed has the same rows. */
static void losses_are_made_on_the_way(void **state)
{
    (void)state;
    static char a[1 << 20], b[1 << 20];
    static struct rows way, end, again;
    static const char *const own[] = {"eval.every=3", "eval.lengths=[8, 24]", "eval.samples=4"};
    lg_error err = {0};
    int64_t number = 0;
    for (int i = 0; i < 2; i++) { /* whole, and in two parts */
        lg_run_options o = {.folder = in_home(i ? "way-parts" : "way"), .each = keep_row};
        o.store = in_home(i ? "way-parts.db" : "way.db");
        o.context = &way;
        way.count = 0;
        for (int part = 0; part <= i; part++) {
            o.resume = part ? LG_RUN_RESUME : LG_RUN_NEW;
            o.watch = i && !part ? stop_at_four : NULL;
            must(train_with(o, own, 3, &err), &err);
        }
        lg_store *s = lg_store_open(o.store, 0, &err);
        if (!s) fail_msg("%s", err.text);
        must(lg_store_find(s, o.folder, take_number, &number, &err), &err);
        must(lg_store_cells(s, number, -2, "losses", keep_row, i ? &again : &end, &err), &err);
        lg_store_close(s);
        same_rows(&way, i ? &again : &end);
    }
    assert_int_equal(end.count, 2 * (4 + 6)); /* steps 3 and 6 */
    same_rows(&end, &again);
    assert_true(end.row[0].step == 3 && end.row[19].step == 6 &&
                samples_of(&end.row[19], "excess") == 4);
    size_t n = read_file("way/checkpoint/step-000000008/model.safetensors", a, sizeof a);
    assert_int_equal(read_file("whole0/checkpoint/step-000000008/model.safetensors", b, sizeof b),
                     n);
    assert_memory_equal(a, b, n);
}

/* ---- Refusals --------------------------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const far[] = {"eval.every=5", "eval.lengths=[8, 5000]"};
    static const char *const near[] = {"train.length=[2, 64]", "positions.ids=pose",
                                       "positions.target=62"}; /* short ones would do */
    static const char *const one[][2] = {
        {"positions.ids=coupled", "has no labels"},
        {"positions.ids=abacus", "none of the 257 words"},
        {"train.stop_at=0.5", "train.stop_at is set, but the task is text"},
        {"train.certify.every=5", "train.certify.every is set, but the task is text"},
        {"train.sparsity=[1, 2]", "train.sparsity is set, but the task is text"},
        {"eval.sparsities=[1]", "eval.sparsities is set, but the task is text"},
        {"task.test=1.5", "test is \"1.5\"; it must be a number from 0 to 1"},
        {"task.test=1", "none is left to train on"},
        {"task.vocab=100", "has 257 tokens; set vocab to 257 or more"},
        {"task.tokenizer=/no/such.json", "/no/such.json"},
        {"task.text=/no/such.txt", "/no/such.txt"},
        {"task.text=", "task.text is missing"},
        {"task.name=text:x.txt", "the texts are said twice"},
        {"train.length=[8, 5000]", "no training document with 5001 tokens"},
        {"task.checksum=xyz", "checksum is \"xyz\", which is none"},
        {"task.checksum=00000000000000aa", "is another one than the run was made with"},
    };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        refused("none", &one[i][0], 1, LG_RUN_NEW, one[i][1]);
    refused("none", far, 2, LG_RUN_NEW, "eval.lengths has 5000, but of ");
    refused("none", near, 3, LG_RUN_NEW, "target");
}

/* What there is only of answers is refused before anything is measured. */
static void a_text_has_no_answers(void **state)
{
    (void)state;
    static const int two[] = {2};
    static const char *const names[] = {"names=5"};
    const lg_eval_options wrong[] = {{.sparsities = two, .sparsity_count = 1, .predicted = -1},
                                     {.settings = names, .setting_count = 1, .predicted = -1},
                                     {.task = "copy", .predicted = -1},
                                     {.predicted = 1}};
    static const char *const says[] = {"--sparsities", "--vary", "--task", "--source"};
    for (int i = 0; i < 4; i++) {
        lg_error err = {0};
        lg_eval_options o = wrong[i];
        o.folder = in_home("whole0");
        assert_int_equal(lg_run_eval(&o, NULL, &err), LG_ERROR_ARGUMENT);
        assert_non_null(strstr(err.text, "is a run of task text, for which there is no"));
        assert_non_null(strstr(err.text, says[i]));
    }
}

static int keep_note(void *context, const lg_run_step *s)
{
    if (s->note) snprintf(context, 400, "%s", s->note);
    return 1;
}

/* Tokens that are made again are told of, in training and in evaluation. */
static void stale_tokens_are_told(void **state)
{
    (void)state;
    char note[400] = "";
    lg_error err = {0}, warning = {0};
    write_corpus("c.txt", 60, 90);
    const char *own[] = {set("task.text", in_home("c.txt")),
                         set("task.cache", in_home("c.tokens"))};
    lg_run_options o = {.folder = in_home("stale1"), .watch = keep_note, .context = note};
    must(train_with(o, own, 2, &err), &err);
    assert_string_equal(note, "");
    write_corpus("c.txt", 60, 91);
    o.folder = in_home("stale2");
    must(train_with(o, own, 2, &err), &err);
    assert_non_null(strstr(note, "c.tokens was made of other texts, or they have changed since"));
    assert_non_null(strstr(note, "it was rebuilt"));
    lg_eval_options e = {.folder = in_home("stale2"), .threads = 1, .samples = 2};
    e.lengths = (const int[]){8};
    e.length_count = 1;
    must(lg_run_eval(&e, &warning, &err), &err);
    assert_string_equal(warning.text, "");
    FILE *f = fopen(in_home("c.tokens"), "r+"); /* cut off */
    assert_true(f && ftruncate(fileno(f), 200) == 0 && fclose(f) == 0);
    must(lg_run_eval(&e, &warning, &err), &err);
    assert_non_null(strstr(warning.text, "is cut off; it was rebuilt"));
    /* the same of texts that are named */
    e.texts = in_home("d.txt");
    write_corpus("d.txt", 0, 5);
    warning.text[0] = 0;
    must(lg_run_eval(&e, &warning, &err), &err);
    assert_string_equal(warning.text, "");
    write_corpus("d.txt", 0, 6);
    must(lg_run_eval(&e, &warning, &err), &err);
    assert_non_null(strstr(warning.text, "it was rebuilt"));
}

int main(void)
{
    lg_text_task_add();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_never_sees_a_held_out_document),
        cmocka_unit_test(joined_examples_cross_documents),
        cmocka_unit_test(texts_are_named_in_three_ways),
        cmocka_unit_test(resumed_runs_have_the_same_bits),
        cmocka_unit_test(loss_by_position_is_the_naive_one),
        cmocka_unit_test(losses_are_kept),
        cmocka_unit_test(losses_are_made_on_the_way),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_text_has_no_answers),
        cmocka_unit_test(stale_tokens_are_told),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
