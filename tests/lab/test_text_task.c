/* test_text_task.c: a corpus as a task, on a small one of the test's own: which documents training
 * sees, the same bits after a resume, the loss by position against a naive one, runs that were
 * imported, exported and asked, and what is refused. Without it a held-out document could be trained
 * on, or a position be off by one, and every number of a language model would be wrong. */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/home.h"
#include "lab/run.h"
#include "lab/texts.h"
#include "lab/training.h"

enum { DOCUMENTS = 40, SHARE = 30 };

static const char *set(const char *key, const char *value)
{
    static char text[16][400];
    static int next;
    char *p = text[next++ % 16];
    snprintf(p, sizeof text[0], "%s=%s", key, value);
    return p;
}

/* Documents of 60 to 250 bytes; every 9 bytes name the document, "[07]". */
static void write_corpus(const char *name, int from, int to)
{
    FILE *f = fopen(in_home(name), "w");
    assert_non_null(f);
    for (int d = from; d < to; d++) {
        lg_rng r;
        lg_rng_init(&r, 9, 0, (uint64_t)d);
        if (d > from) fputs("\n<|endoftext|>\n", f);
        for (int i = 0; i < 7 + (int)lg_rng_below(&r, 20); i++) {
            fprintf(f, "[%02d]", d);
            for (int k = 0; k < 5; k++) fputc("etaoin "[lg_rng_below(&r, 7)], f);
        }
    }
    assert_int_equal(fclose(f), 0);
}

static int prepare(void **state)
{
    if (make_home(state)) return -1;
    setenv("LENGTHEN_CACHE", in_home("cache"), 1);
    write_corpus("a.txt", 0, DOCUMENTS);
    return 0;
}

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
        d.stream = (uint32_t[]){LG__STREAM_TRAIN, LG__STREAM_TEST, 0}[i % 3];
        must(lg_task_example(t, &d, &x, &err), &err);
        int document = document_of(&x);
        assert_in_range(document, 0, DOCUMENTS - 1);
        assert_int_equal(held[document], d.stream == LG__STREAM_TEST);
        seen[d.stream == LG__STREAM_TEST][document]++;
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
    lg_draw d = {.seed = 5, .stream = LG__STREAM_TRAIN, .length_lo = 60, .length_hi = 60};
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

static int stop_at_four(void *context, const lg_run_step *s)
{
    (void)context;
    return s->step < 4;
}

/* Eight steps with the options and these sets. */
static int train_with(lg_run_options o, const char *const *own, int count, lg_error *err)
{
    const char *sets[24] = {"seed=2",
                            "task.name=text",
                            "task.test=0.3",
                            set("task.text", in_home("a.txt")),
                            "model.layers=1",
                            "model.width=16",
                            "model.heads=2",
                            "train.steps=8",
                            "train.batch=4",
                            "train.warmup=1",
                            "train.lr=1e-2",
                            "train.schedule=cosine",
                            "train.length=[8, 8]"};
    int n = 13, done;
    for (int i = 0; i < count; i++) sets[n++] = own[i];
    o.sets = sets;
    o.set_count = n;
    o.threads = 1;
    return lg_run_train(&o, &done, err);
}

static int train_some(const char *folder, const char *const *own, int count, int resume,
                      lg_run_watch *watch, lg_error *err)
{
    lg_run_options o = {.folder = in_home(folder), .resume = resume, .watch = watch};
    return train_with(o, own, count, err);
}

static size_t read_file(const char *name, char *to, size_t size)
{
    FILE *f = fopen(in_home(name), "rb");
    if (!f) fail_msg("%s is not there", name);
    size_t n = fread(to, 1, size, f);
    assert_true(n < size);
    fclose(f);
    return n;
}

static void read_text(const char *name, char *to, size_t size)
{
    to[read_file(name, to, size)] = 0;
}

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

enum { LONG = 24, CONTEXT = 8, MOST_ROWS = 64 };

struct rows {
    lg_text_row row[MOST_ROWS];
    int count;
};

static void keep_row(void *context, const lg_text_row *r)
{
    struct rows *s = context;
    assert_true(s->count < MOST_ROWS);
    s->row[s->count++] = *r;
}

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

static void same_mean(const struct naive *v, int which, int low, int high, const lg_text_mean *m)
{
    double mean = 0, squares = 0, one[DOCUMENTS];
    for (int d = 0; d < v->documents; d++) {
        one[d] = 0;
        for (int p = low; p <= high; p++) one[d] += v->loss[which][d][p] / (high - low + 1);
        mean += one[d] / v->documents;
    }
    for (int d = 0; d < v->documents; d++) squares += (one[d] - mean) * (one[d] - mean);
    double error = sqrt(squares / (v->documents - 1) / v->documents);
    assert_true(fabs(m->value - mean) < 1e-6);
    assert_true(fabs(m->low - (mean - 1.96 * error)) < 1e-4);
    assert_true(fabs(m->high - (mean + 1.96 * error)) < 1e-4);
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
        lg_text_eval_options o = {.folder = in_home(runs[i]), .threads = 1};
        o.lengths = (const int[]){LONG, 100000};
        o.length_count = 2;
        o.told = keep_row;
        o.of = &rows;
        must(lg_run_eval_text(&o, NULL, &err), &err);
        must(lg__run_open_folder(&run, in_home(runs[i]), NULL, &err), &err);
        measure_naively(v, &run);
        assert_true(v->documents > 3);
        assert_int_equal(rows.count, 6); /* no document has 100,000 tokens: left out */
        for (int b = 0; b < 6; b++) {
            const lg_text_row *r = &rows.row[b];
            assert_int_equal(r->length, LONG);
            assert_int_equal(r->low, bins[b][0]);
            assert_int_equal(r->high, bins[b][1]);
            assert_int_equal(r->documents, v->documents);
            assert_int_equal(r->there, v->documents);
            assert_int_equal(r->context, CONTEXT);
            same_mean(v, 0, r->low, r->high, &r->truncated);
            same_mean(v, 1, r->low, r->high, &r->sliding);
            same_mean(v, 2, r->low, r->high, &r->excess);
        }
        assert_true(rows.row[5].excess.value != 0);
        lg__run_close(&run);
        free(v);
    }
}

/* ---- In the store -------------------------------------------------------------------------- */

static void eval_into(const char *store, const int *lengths, int count, int documents, int context,
                      int again, struct rows *rows)
{
    lg_error err = {0};
    lg_text_eval_options o = {.folder = in_home("whole0"), .store = in_home(store), .threads = 1};
    o.lengths = lengths;
    o.length_count = count;
    o.documents = documents;
    o.context = context;
    o.again = again;
    o.told = keep_row;
    o.of = rows;
    rows->count = 0;
    must(lg_run_eval_text(&o, NULL, &err), &err);
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
        const lg_text_row *x = &a->row[i], *y = &b->row[i];
        assert_true(x->step == y->step && x->length == y->length && x->low == y->low &&
                    x->high == y->high && x->context == y->context);
        assert_true(x->documents == y->documents && x->there == y->there);
        assert_memory_equal(&x->truncated, &y->truncated, sizeof x->truncated);
        assert_memory_equal(&x->sliding, &y->sliding, sizeof x->sliding);
        assert_memory_equal(&x->excess, &y->excess, sizeof x->excess);
        assert_true(x->trained_least == y->trained_least && x->trained_length == y->trained_length);
        assert_string_equal(x->texts, y->texts);
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
    assert_true(isnan(second.row[0].truncated.low)); /* of one document: no interval */
    eval_into("s.db", both, 2, 1, 0, 0, &third);
    assert_int_equal(kept(&third), 11);
    assert_true(isnan(third.row[0].truncated.low) && isnan(third.row[0].excess.high));
    assert_true(third.row[3].truncated.value == second.row[3].truncated.value);
    /* read again: of two numbers of documents, the greater one */
    lg_store *s = lg_store_open(in_home("s.db"), 0, &err);
    if (!s) fail_msg("%s", err.text);
    must(lg_store_find(s, in_home("whole0"), take_number, &number, &err), &err);
    second.count = 0;
    must(lg_store_losses(s, number, -1, keep_row, &second, &err), &err);
    assert_int_equal(second.count, 11 + 4 + 11); /* context 4; context 8 with length 8, 16, 24 */
    memmove(second.row, second.row + 15, 11 * sizeof second.row[0]);
    second.count = 11;
    same_rows(&first, &second);
    second.count = 0;
    must(lg_store_losses(s, number, 7, keep_row, &second, &err), &err);
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
        lg_run_options o = {.folder = in_home(i ? "way-parts" : "way"), .told = keep_row};
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
        must(lg_store_losses(s, number, -2, keep_row, i ? &again : &end, &err), &err);
        lg_store_close(s);
        same_rows(&way, i ? &again : &end);
    }
    assert_int_equal(end.count, 2 * (4 + 6)); /* steps 3 and 6 */
    same_rows(&end, &again);
    assert_true(end.row[0].step == 3 && end.row[19].step == 6 && end.row[19].documents == 4);
    size_t n = read_file("way/checkpoint/step-000000008/model.safetensors", a, sizeof a);
    assert_int_equal(read_file("whole0/checkpoint/step-000000008/model.safetensors", b, sizeof b),
                     n);
    assert_memory_equal(a, b, n);
}

/* ---- Import, export, text ---------------------------------------------------------------------- */

static void add_bytes(void *context, const char *bytes, size_t n)
{
    char *text = context;
    size_t used = strlen(text);
    assert_true(used + n < 400);
    memcpy(text + used, bytes, n);
    text[used + n] = 0;
}

static void text_of(const char *run, char text[400])
{
    lg_text_generated g;
    lg_error err = {0};
    lg_text_generate_options o = {.folder = in_home(run), .prompt = "[07]et", .most = 12};
    o.seed = -1;
    o.told = add_bytes;
    o.of = text;
    text[0] = 0;
    must(lg_run_generate_text(&o, &g, NULL, &err), &err);
    assert_true(g.tokens == 12 || g.ended);
}

enum { TEXTS = 35 }; /* more than are written side by side */

struct drawn {
    int texts;
    int32_t token[TEXTS][40];
};

static void keep_tokens(void *context, const lg_text_generated *g)
{
    struct drawn *d = context;
    assert_true(d->texts < TEXTS && g->prompt == 6 && g->prompt + g->tokens <= 40);
    memcpy(d->token[d->texts++], g->token, (size_t)(g->prompt + g->tokens - g->ended) * 4);
}

/* Of several texts the first is the one that is written alone, and the others are others. */
static void several_texts_have_draws_of_their_own(void **state)
{
    (void)state;
    lg_text_generated g;
    lg_error err = {0};
    static struct drawn one, all;
    lg_text_generate_options o = {.folder = in_home("whole0"), .prompt = "[07]et", .most = 30};
    o.temperature = 1;
    o.done = keep_tokens;
    o.of = &one;
    must(lg_run_generate_text(&o, &g, NULL, &err), &err);
    o.count = TEXTS;
    o.of = &all;
    must(lg_run_generate_text(&o, &g, NULL, &err), &err);
    assert_int_equal(one.texts, 1);
    assert_int_equal(all.texts, TEXTS);
    assert_memory_equal(one.token[0], all.token[0], sizeof one.token[0]);
    for (int i = 0; i < 6; i++) assert_int_equal(all.token[2][i], "[07]et"[i]);
    assert_memory_not_equal(all.token[0], all.token[1], sizeof one.token[0]);
    assert_memory_not_equal(all.token[1], all.token[2], sizeof one.token[0]);
    assert_memory_not_equal(all.token[0], all.token[TEXTS - 1], sizeof one.token[0]);
    assert_memory_not_equal(all.token[2], all.token[TEXTS - 1], sizeof one.token[0]);
}

/* Token by token with the evaluator, without a cache. */
static void text_is_the_likeliest(void **state)
{
    (void)state;
    struct lg__run run = {0};
    lg_error err = {0};
    char text[400], want[64] = "[07]et";
    text_of("whole0", text);
    must(lg__run_open_folder(&run, in_home("whole0"), NULL, &err), &err);
    lg_evaluator *e = lg_evaluator_new(run.model, 1, &err);
    for (int n = 6; n < 18; n++) {
        int32_t tokens[32], targets[32];
        lg_batch b;
        lg_eval_result r;
        lg_batch_init(&b);
        for (int i = 0; i < n; i++) {
            tokens[i] = (unsigned char)want[i];
            targets[i] = i == n - 1 ? 0 : LG_NONE;
        }
        must(lg_batch_add(&b, n, tokens, NULL, targets, NULL, &err), &err);
        must(lg_evaluator_run(e, &b, &r, &err), &err);
        int32_t token = lg_argmax(r.logits, 257);
        lg_batch_clear(&b);
        if (token == 256) break;
        want[n] = (char)token;
        want[n + 1] = 0;
    }
    assert_string_equal(text, want);
    lg_evaluator_free(e);
    lg__run_close(&run);
}

/* A run with BPE of its own, out as Hugging Face's folder and in again: the same losses and text,
 * also once the tokenizer's file is gone. */
static void exported_runs_come_back(void **state)
{
    (void)state;
    for (int olmo = 0; olmo < 2; olmo++) {
        struct rows rows[2] = {{.count = 0}, {.count = 0}};
        lg_error err = {0};
        lg_bpe_result made;
        lg_import_info info;
        char first[400], second[400], name[4][20];
        static const char *const names[] = {"bpe", "hf", "back", "tok"};
        for (int i = 0; i < 4; i++) snprintf(name[i], sizeof name[i], "%s%d", names[i], olmo);
        const char *text = in_home("a.txt");
        lg_bpe_options b = {.paths = &text, .path_count = 1, .vocab = 300};
        b.file = in_home(name[3]);
        char file[220];
        snprintf(file, sizeof file, "%s.json", b.file);
        b.file = file;
        must(lg_bpe_train(&b, &made, &err), &err);
        const char *own[] = {set("task.tokenizer", file),
                             olmo ? "model.arch=olmo" : "model.tied=no"};
        must(train_some(name[0], own, 2, LG_RUN_NEW, NULL, &err), &err);
        int tokenizer = 0;
        must(lg_run_export(in_home(name[0]), in_home(name[1]), &tokenizer, NULL, &err), &err);
        assert_int_equal(tokenizer, 1);
        text_of(name[0], first);
        for (int i = 0; i < 2; i++) {
            lg_import_options o = {.path = in_home(name[1]), .folder = in_home(name[2])};
            if (i) must(lg_run_import(&o, &info, &err), &err);
            lg_text_eval_options e = {.folder = in_home(name[i ? 2 : 0]), .threads = 1};
            e.texts = in_home("a.txt");
            e.lengths = (const int[]){12};
            e.length_count = 1;
            e.told = keep_row;
            e.of = &rows[i];
            must(lg_run_eval_text(&e, NULL, &err), &err);
        }
        assert_int_equal(info.length, 8);
        assert_int_equal(rows[0].count, 5);
        assert_int_equal(rows[1].count, 5);
        assert_int_equal(rows[0].row[0].there, DOCUMENTS); /* other texts: all of them */
        for (int i = 0; i < 5; i++) /* the seeds differ, and with them the order of documents */
            assert_true(fabs(rows[0].row[i].truncated.value - rows[1].row[i].truncated.value) <
                        1e-12);
        char command[300];
        snprintf(command, sizeof command, "rm -r %s %s", file, in_home(name[1]));
        assert_int_equal(system(command), 0);
        text_of(name[2], second);
        assert_string_equal(first, second);
    }
}

/* A run has a copy of its tokenizer: its folder can be moved, and the checksum still rules. Where the
 * texts and the tokenizer lie is no part of the run. */
static void runs_carry_their_tokenizer(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_bpe_result made;
    char before[400], after[400], file[220], command[900];
    static struct rows rows[2];
    const char *text = in_home("a.txt");
    lg_bpe_options b = {.paths = &text, .path_count = 1, .vocab = 290};
    snprintf(file, sizeof file, "%s/mine.json", home);
    b.file = file;
    must(lg_bpe_train(&b, &made, &err), &err);
    const char *own[] = {set("task.tokenizer", file)};
    must(train_some("own", own, 1, LG_RUN_NEW, stop_at_four, &err), &err);
    text_of("own", before);
    snprintf(command, sizeof command,
             "mkdir %s/far && cd %s && mv mine.json far && mv own far/moved", home, home);
    assert_int_equal(system(command), 0);
    text_of("far/moved", after);
    assert_string_equal(before, after);
    for (int i = 0; i < 2; i++) {
        lg_text_eval_options e = {.folder = in_home("far/moved"), .threads = 1};
        e.lengths = (const int[]){12};
        e.length_count = 1;
        e.told = keep_row;
        e.of = &rows[i];
        must(lg_run_eval_text(&e, NULL, &err), &err);
        /* goes on with the tokenizer where that is now, and the texts under another name */
        snprintf(command, sizeof command, "cp %s/a.txt %s/far/same.txt", home, home);
        assert_int_equal(system(command), 0);
        const char *now[] = {set("task.tokenizer", in_home("far/mine.json")),
                             set("task.text", in_home("far/same.txt"))};
        if (!i) must(train_some("far/moved", now, 2, LG_RUN_RESUME, NULL, &err), &err);
    }
    assert_true(rows[0].row[0].step == 4 && rows[1].row[0].step == 8);
    /* another tokenizer in its place */
    b.vocab = 280;
    snprintf(file, sizeof file, "%s/far/moved/tokenizer/tokenizer.json", home);
    must(lg_bpe_train(&b, &made, &err), &err);
    lg_text_generated g;
    lg_text_generate_options o = {.folder = in_home("far/moved"), .prompt = "[07]", .most = 2};
    assert_int_not_equal(lg_run_generate_text(&o, &g, NULL, &err), 0);
    assert_non_null(strstr(err.text, "is another one than the run was made with"));
}

/* A tokenizer is what its file says, whatever its name: the copy must be read as the file was. */
static void a_tokenizer_may_have_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"mine", "mine.JSON", "mine.tokens"};
    lg_error err = {0};
    lg_bpe_result made;
    char file[220], text[400], command[900];
    const char *paths = in_home("a.txt");
    lg_bpe_options b = {.paths = &paths, .path_count = 1, .vocab = 290, .file = file};
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/%s", home, names[i]);
        must(lg_bpe_train(&b, &made, &err), &err);
        const char *own[] = {set("task.tokenizer", file)};
        must(train_some("named", own, 1, LG_RUN_NEW, stop_at_four, &err), &err);
        text_of("named", text); /* with its copy */
        snprintf(command, sizeof command, "rm -r %s %s", in_home("named"), file);
        assert_int_equal(system(command), 0);
    }
}

/* A run that begins with the weights of another: with none of its own steps it answers like that one,
 * wherever that is now; killed and resumed it has the same bits. */
static void runs_go_on_from_others(void **state)
{
    (void)state;
    static char a[1 << 20], b[1 << 20];
    lg_error err = {0};
    char text[8192], command[900];
    snprintf(command, sizeof command, "cp -r %s %s", in_home("whole0"), in_home("first"));
    assert_int_equal(system(command), 0);
    const char *own[] = {set("train.from", in_home("first")), "seed=9", "train.keep=0"};
    must(train_some("on", own, 3, LG_RUN_NEW, NULL, &err), &err);
    size_t n = read_file("on/checkpoint/step-000000000/model.safetensors", a, sizeof a);
    assert_int_equal(read_file("whole0/checkpoint/step-000000008/model.safetensors", b, sizeof b),
                     n);
    size_t head = 8 + (unsigned char)a[0] + 256u * (unsigned char)a[1]; /* which has the step */
    assert_memory_equal(a + head, b + head, n - head);
    n = read_file("on/checkpoint/step-000000008/model.safetensors", a, sizeof a);
    assert_memory_not_equal(a + head, b + head, n - head);
    read_text("on/config.yaml", text, sizeof text);
    assert_non_null(strstr(text, "\n# begins with the weights of step 8 of run "));
    /* stopped; the other one is gone */
    must(train_some("on-parts", own, 3, LG_RUN_NEW, stop_at_four, &err), &err);
    snprintf(command, sizeof command, "rm -r %s", in_home("first"));
    assert_int_equal(system(command), 0);
    must(train_some("on-parts", own, 3, LG_RUN_RESUME, NULL, &err), &err);
    assert_int_equal(read_file("on-parts/checkpoint/step-000000008/model.safetensors", b, sizeof b),
                     n);
    assert_memory_equal(a, b, n);
}

/* ---- Refusals --------------------------------------------------------------------------------- */

static void refused(const char *folder, const char *const *own, int count, int resume,
                    const char *says)
{
    lg_error err = {0};
    struct stat st;
    int there = stat(in_home(folder), &st) == 0;
    if (!train_some(folder, own, count, resume, NULL, &err)) fail_msg("not refused: %s", says);
    if (!strstr(err.text, says)) fail_msg("\"%s\" is not in: %s", says, err.text);
    assert_int_equal(stat(in_home(folder), &st) == 0, there);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const far[] = {"eval.every=5", "eval.lengths=[8, 5000]"};
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
}

/* Weights of another shape or of other tokens, or none at all. */
static void other_weights_are_refused(void **state)
{
    (void)state;
    const char *whole = set("train.from", in_home("whole0")),
               *bpe = set("train.from", in_home("bpe0"));
    const char *wide[] = {whole, "model.width=32"}, *deep[] = {whole, "model.layers=2"};
    const char *nowhere[] = {set("train.from", in_home("nowhere"))};
    refused("none", wide, 2, LG_RUN_NEW, "train.from: ");
    refused("none", wide, 2, LG_RUN_NEW, ", the model's is 257 x 32;");
    refused("none", deep, 2, LG_RUN_NEW, "which the model needs");
    refused("none", nowhere, 1, LG_RUN_NEW, "which is no run; give the folder of one");
    refused("none", &bpe, 1, LG_RUN_NEW, "which was made with another tokenizer");
}

/* Its answers would all be wrong. */
static void a_text_has_no_answers(void **state)
{
    (void)state;
    lg_error err = {0};
    lg_eval_options o = {.folder = in_home("whole0"), .predicted = -1};
    assert_int_equal(lg_run_eval(&o, NULL, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "is a run of texts, which has no answers"));
}

/* Two tokens of vocabulary are not 257: nothing is made. */
static void imports_that_cannot_be_are_refused(void **state)
{
    (void)state;
    lg_error err = {0};
    struct stat st;
    lg_import_options o = {.path = LG_TEST_DATA "/imports/neox", .folder = in_home("small")};
    assert_int_not_equal(lg_run_import(&o, NULL, &err), 0);
    assert_non_null(strstr(err.text, "there is no tokenizer beside"));
    o.tokenizer = "bytes";
    assert_int_not_equal(lg_run_import(&o, NULL, &err), 0);
    assert_non_null(strstr(err.text, "the tokenizer bytes has 257 tokens"));
    o.path =
        LG_TEST_DATA "/imports/llama2c_tied.bin"; /* whose tokenizer may look whole and be cut */
    o.tokenizer = LG_TEST_DATA "/tokens/llama.bin";
    assert_int_not_equal(lg_run_import(&o, NULL, &err), 0);
    assert_non_null(strstr(err.text, "take the model's own tokenizer, whole"));
    o.path = in_home("nowhere");
    assert_int_not_equal(lg_run_import(&o, NULL, &err), 0);
    assert_int_not_equal(stat(in_home("small"), &st), 0);
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
    assert_non_null(strstr(note, "it was made again"));
    lg_text_eval_options e = {.folder = in_home("stale2"), .threads = 1, .documents = 2};
    e.lengths = (const int[]){8};
    e.length_count = 1;
    must(lg_run_eval_text(&e, &warning, &err), &err);
    assert_string_equal(warning.text, "");
    FILE *f = fopen(in_home("c.tokens"), "r+"); /* cut off */
    assert_true(f && ftruncate(fileno(f), 200) == 0 && fclose(f) == 0);
    must(lg_run_eval_text(&e, &warning, &err), &err);
    assert_non_null(strstr(warning.text, "is cut off; it was made again"));
    /* the same of texts that are named */
    e.texts = in_home("d.txt");
    write_corpus("d.txt", 0, 5);
    warning.text[0] = 0;
    must(lg_run_eval_text(&e, &warning, &err), &err);
    assert_string_equal(warning.text, "");
    write_corpus("d.txt", 0, 6);
    must(lg_run_eval_text(&e, &warning, &err), &err);
    assert_non_null(strstr(warning.text, "it was made again"));
}

/* Last: it changes the texts. */
static void changed_texts_are_noticed(void **state)
{
    (void)state;
    lg_error err = {0};
    char before[400], after[400];
    static const char *const plain[] = {"model.arch=neox", "positions.ids=plain",
                                        "positions.target=0"};
    text_of("whole0", before);
    write_corpus("a.txt", 0, DOCUMENTS + 1);
    refused("whole0", plain, 3, LG_RUN_RESUME, "have changed since the run was made");
    lg_text_eval_options o = {.folder = in_home("whole0"), .threads = 1};
    assert_int_not_equal(lg_run_eval_text(&o, NULL, &err), 0);
    assert_non_null(strstr(err.text, "have changed since the run was made"));
    text_of("whole0", after); /* which needs no texts */
    assert_string_equal(before, after);
    unlink(in_home("a.txt"));
    text_of("whole0", after);
    assert_string_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_never_sees_a_held_out_document),
        cmocka_unit_test(joined_examples_cross_documents),
        cmocka_unit_test(texts_are_named_in_three_ways),
        cmocka_unit_test(resumed_runs_have_the_same_bits),
        cmocka_unit_test(loss_by_position_is_the_naive_one),
        cmocka_unit_test(losses_are_kept),
        cmocka_unit_test(losses_are_made_on_the_way),
        cmocka_unit_test(text_is_the_likeliest),
        cmocka_unit_test(several_texts_have_draws_of_their_own),
        cmocka_unit_test(exported_runs_come_back),
        cmocka_unit_test(runs_carry_their_tokenizer),
        cmocka_unit_test(a_tokenizer_may_have_any_name),
        cmocka_unit_test(runs_go_on_from_others),
        cmocka_unit_test(other_weights_are_refused),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_text_has_no_answers),
        cmocka_unit_test(imports_that_cannot_be_are_refused),
        cmocka_unit_test(stale_tokens_are_told),
        cmocka_unit_test(changed_texts_are_noticed),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
