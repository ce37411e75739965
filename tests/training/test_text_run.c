/* test_text_run.c: a run of texts after its training: what it writes, exported and imported, moved
 * with its tokenizer, gone on from by another run, and its texts changed. Without it a run could
 * answer with other tokens than it was trained on, or go on from weights that are not its own. */
#include <math.h>
#include <unistd.h>

#include "runs/run.h"
#include "helpers/small_corpus.h"

static void read_text(const char *name, char *to, size_t size)
{
    to[read_file(name, to, size)] = 0;
}

/* The run that the tests below ask. */
static int train_whole(void **state)
{
    static const char *const own[] = {"model.arch=neox", "positions.ids=plain",
                                      "positions.target=0"};
    lg_error err = {0};
    if (prepare(state)) return -1;
    must(train_some("whole0", own, 3, LG_RUN_NEW, NULL, &err), &err);
    return 0;
}

/* ---- What it writes ------------------------------------------------------------------------ */

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
    lg_text_generate_options o = {.folder = in_home(run), .prompt = "[07]et", .max_tokens = 12};
    o.seed = -1;
    o.callback = add_bytes;
    o.context = text;
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
    lg_text_generate_options o = {
        .folder = in_home("whole0"), .prompt = "[07]et", .max_tokens = 30};
    o.temperature = 1;
    o.done = keep_tokens;
    o.context = &one;
    must(lg_run_generate_text(&o, &g, NULL, &err), &err);
    o.count = TEXTS;
    o.context = &all;
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
    must(lg__run_open_folder(&run, in_home("whole0"), NULL, NULL, &err), &err);
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

/* ---- Import, export, others ---------------------------------------------------------------- */

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
                             olmo ? "model.arch=olmo" : "model.tied=no",
                             olmo ? "positions.ids=pose" : "positions.ids=plain",
                             olmo ? "positions.target=24" : "positions.target=0"};
        must(train_some(name[0], own, 4, LG_RUN_NEW, NULL, &err), &err);
        int tokenizer = 0;
        must(lg_run_export(in_home(name[0]), in_home(name[1]), 0, &tokenizer, NULL, &err), &err);
        assert_int_equal(tokenizer, 1);
        char config[1200], path[40];
        snprintf(path, sizeof path, "%s/config.json", name[1]);
        read_text(path, config, sizeof config);
        assert_non_null(strstr(config, "\"eos_token_id\": 0")); /* <|endoftext|> */
        text_of(name[0], first);
        for (int i = 0; i < 2; i++) {
            lg_import_options o = {.path = in_home(name[1]), .folder = in_home(name[2])};
            if (i) must(lg_run_import(&o, &info, &err), &err);
            lg_eval_options e = {.folder = in_home(name[i ? 2 : 0]), .threads = 1};
            e.texts = in_home("a.txt");
            e.lengths = (const int[]){12};
            e.length_count = 1;
            e.each = keep_row;
            e.context = &rows[i];
            must(lg_run_eval(&e, NULL, &err), &err);
        }
        assert_int_equal(info.length, olmo ? 24 : 8); /* PoSE's target, the training length */
        assert_int_equal(rows[0].count, 5);
        assert_int_equal(rows[1].count, 5);
        assert_int_equal(rows[0].row[0].there, DOCUMENTS); /* other texts: all of them */
        for (int i = 0; i < 5; i++) /* the seeds differ, and with them the order of documents */
            assert_true(fabs(value_of(&rows[0].row[i], "truncated") -
                             value_of(&rows[1].row[i], "truncated")) < 1e-12);
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
        lg_eval_options e = {.folder = in_home("far/moved"), .threads = 1};
        e.lengths = (const int[]){12};
        e.length_count = 1;
        e.each = keep_row;
        e.context = &rows[i];
        must(lg_run_eval(&e, NULL, &err), &err);
        /* goes on with its copy of the tokenizer, and the texts under another name */
        snprintf(command, sizeof command, "cp %s/a.txt %s/far/same.txt", home, home);
        assert_int_equal(system(command), 0);
        const char *now[] = {set("task.tokenizer", file), /* where it was */
                             set("task.text", in_home("far/same.txt"))};
        if (!i) must(train_some("far/moved", now, 2, LG_RUN_RESUME, NULL, &err), &err);
    }
    assert_true(rows[0].row[0].step == 4 && rows[1].row[0].step == 8);
    /* another tokenizer in its place */
    b.vocab = 280;
    snprintf(file, sizeof file, "%s/far/moved/tokenizer/tokenizer.json", home);
    must(lg_bpe_train(&b, &made, &err), &err);
    lg_text_generated g;
    lg_text_generate_options o = {
        .folder = in_home("far/moved"), .prompt = "[07]", .max_tokens = 2};
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
    const char *own[] = {set("train.init_from", in_home("first")), "seed=9", "train.keep=0"};
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

/* ---- Refusals ------------------------------------------------------------------------------ */

/* Weights of another shape or of other tokens, or none at all. */
static void other_weights_are_refused(void **state)
{
    (void)state;
    const char *whole = set("train.init_from", in_home("whole0")),
               *bpe = set("train.init_from", in_home("bpe0"));
    const char *wide[] = {whole, "model.width=32"}, *deep[] = {whole, "model.layers=2"};
    const char *nowhere[] = {set("train.init_from", in_home("nowhere"))};
    refused("none", wide, 2, LG_RUN_NEW, "train.init_from: ");
    refused("none", wide, 2, LG_RUN_NEW, ", the model's is 257 x 32;");
    refused("none", deep, 2, LG_RUN_NEW, "which the model needs");
    refused("none", nowhere, 1, LG_RUN_NEW, "which is no run; give the folder of one");
    refused("none", &bpe, 1, LG_RUN_NEW, "which was made with another tokenizer");
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
    assert_non_null(strstr(err.text, "bytes has 257 tokens, the model"));
    o.path =
        LG_TEST_DATA "/imports/llama2c_tied.bin"; /* whose tokenizer may look whole and be cut */
    o.tokenizer = LG_TEST_DATA "/tokens/llama.bin";
    assert_int_not_equal(lg_run_import(&o, NULL, &err), 0);
    assert_non_null(strstr(err.text, "take the model's own tokenizer, whole"));
    o.path = in_home("nowhere");
    assert_int_not_equal(lg_run_import(&o, NULL, &err), 0);
    assert_int_not_equal(stat(in_home("small"), &st), 0);
}

/* Other texts than those of training are read by the key that the run's own were. */
static void other_texts_have_the_field_of_the_run(void **state)
{
    (void)state;
    lg_error err = {0};
    FILE *f = fopen(in_home("body.jsonl"), "w");
    assert_non_null(f);
    for (int i = 0; i < DOCUMENTS; i++)
        fprintf(f, "{\"body\": \"%02d: as many letters as a text of %02d needs\"}\n", i, i);
    assert_int_equal(fclose(f), 0);
    const char *own[] = {set("task.text", in_home("body.jsonl")), "task.field=body"};
    must(train_some("body", own, 2, LG_RUN_NEW, stop_at_four, &err), &err);
    lg_eval_options o = {.folder = in_home("body"), .threads = 1, .lengths = (const int[]){8}};
    o.length_count = 1;
    o.texts = in_home("body.jsonl");
    must(lg_run_eval(&o, NULL, &err), &err);
    o.field = "text";
    assert_int_not_equal(lg_run_eval(&o, NULL, &err), 0);
    assert_non_null(strstr(err.text, "has no string \"text\""));
}

/* However many texts there are, the config has them all. */
static void imports_name_all_texts(void **state)
{
    (void)state;
    enum { TIMES = 300 };
    lg_error err = {0};
    static char list[TIMES * 100], config[TIMES * 100];
    size_t used = 0;
    int named = 0, tokenizer;
    for (int i = 0; i < TIMES; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? "," : "",
                                 in_home("a.txt"));
    assert_true(used < sizeof list - 1);
    lg_import_options o = {.path = in_home("exported"), .folder = in_home("many"), .texts = list};
    must(lg_run_export(in_home("whole0"), o.path, 0, &tokenizer, NULL, &err), &err);
    o.tokenizer = "bytes";
    must(lg_run_import(&o, NULL, &err), &err);
    read_text("many/config.yaml", config, sizeof config);
    for (const char *at = config; (at = strstr(at, "/a.txt")); at++) named++;
    assert_int_equal(named, TIMES);
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
    lg_eval_options o = {.folder = in_home("whole0"), .threads = 1};
    assert_int_not_equal(lg_run_eval(&o, NULL, &err), 0);
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
        cmocka_unit_test(text_is_the_likeliest),
        cmocka_unit_test(several_texts_have_draws_of_their_own),
        cmocka_unit_test(exported_runs_come_back),
        cmocka_unit_test(runs_carry_their_tokenizer),
        cmocka_unit_test(a_tokenizer_may_have_any_name),
        cmocka_unit_test(runs_go_on_from_others),
        cmocka_unit_test(other_weights_are_refused),
        cmocka_unit_test(imports_that_cannot_be_are_refused),
        cmocka_unit_test(other_texts_have_the_field_of_the_run),
        cmocka_unit_test(imports_name_all_texts),
        cmocka_unit_test(changed_texts_are_noticed),
    };
    return cmocka_run_group_tests(tests, train_whole, remove_home);
}
