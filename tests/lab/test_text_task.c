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

static int train_some(const char *folder, const char *const *own, int count, int resume,
                      lg_run_watch *watch, lg_error *err)
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
    lg_run_options o = {.folder = in_home(folder), .sets = sets, .set_count = n, .threads = 1};
    o.resume = resume;
    o.watch = watch;
    return lg_run_train(&o, &done, err);
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

struct drawn {
    int texts;
    int32_t token[3][40];
};

static void keep_tokens(void *context, const lg_text_generated *g)
{
    struct drawn *d = context;
    assert_true(d->texts < 3 && g->prompt == 6 && g->prompt + g->tokens <= 40);
    memcpy(d->token[d->texts++], g->token, (size_t)(g->prompt + g->tokens - g->ended) * 4);
}

/* Of several texts the first is the one that is written alone, and the others are others. */
static void several_texts_have_draws_of_their_own(void **state)
{
    (void)state;
    lg_text_generated g;
    lg_error err = {0};
    struct drawn one = {0}, all = {0};
    lg_text_generate_options o = {.folder = in_home("whole0"), .prompt = "[07]et", .most = 30};
    o.temperature = 1;
    o.done = keep_tokens;
    o.of = &one;
    must(lg_run_generate_text(&o, &g, NULL, &err), &err);
    o.count = 3;
    o.of = &all;
    must(lg_run_generate_text(&o, &g, NULL, &err), &err);
    assert_int_equal(one.texts, 1);
    assert_int_equal(all.texts, 3);
    assert_memory_equal(one.token[0], all.token[0], sizeof one.token[0]);
    for (int i = 0; i < 6; i++) assert_int_equal(all.token[2][i], "[07]et"[i]);
    assert_memory_not_equal(all.token[0], all.token[1], sizeof one.token[0]);
    assert_memory_not_equal(all.token[1], all.token[2], sizeof one.token[0]);
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
    static const char *const one[][2] = {
        {"positions.ids=coupled", "has no labels"},
        {"positions.ids=abacus", "none of the 257 words"},
        {"train.stop_at=0.5", "train.stop_at is set, but the task is text"},
        {"train.certify.every=5", "train.certify.every is set, but the task is text"},
        {"eval.every=5", "eval.every is set, but the task is text"},
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
    o.path = in_home("nowhere");
    assert_int_not_equal(lg_run_import(&o, NULL, &err), 0);
    assert_int_not_equal(stat(in_home("small"), &st), 0);
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
        cmocka_unit_test(texts_are_named_in_three_ways),
        cmocka_unit_test(resumed_runs_have_the_same_bits),
        cmocka_unit_test(loss_by_position_is_the_naive_one),
        cmocka_unit_test(text_is_the_likeliest),
        cmocka_unit_test(several_texts_have_draws_of_their_own),
        cmocka_unit_test(exported_runs_come_back),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_text_has_no_answers),
        cmocka_unit_test(imports_that_cannot_be_are_refused),
        cmocka_unit_test(changed_texts_are_noticed),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
