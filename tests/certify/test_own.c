/* test_own.c: the list of contexts against one that is written down with strings, contradictions with their
 * lines, and sampled shares against models whose share of errors is known. */
#include <math.h>

#include "base/stats.h"
#include "helpers/home.h"
#include "helpers/training.h"
#include "lengthen_certify.h"
#include "tasks/tasks.h"

static const char *const config[] = {
    "task.name=copy",
    "task.alphabet=3",
    "positions.ids=coupled",
    "positions.source=delta",
    "positions.encoding=relative",
    "positions.span=window",
    "positions.window=[0, 1]",
    "model.layers=1",
    "model.width=32",
    "model.heads=2",
    "model.parallel=no",
    "model.sink=yes",
    "train.length=[1, 6]",
    "train.steps=1500",
    "train.lr=5e-3",
    "train.warmup=20",
    "train.certify.every=25",
};
enum { CONFIG = sizeof config / sizeof *config };

static void train_run(const char *folder, const char *more)
{
    const char *sets[CONFIG + 1];
    lg_error err = {0};
    int done;
    memcpy(sets, config, sizeof config);
    sets[CONFIG] = more;
    lg_run_options o = {.folder = in_home(folder),
                        .sets = sets,
                        .set_count = CONFIG + (more != NULL),
                        .threads = 1};
    must(lg_run_train(&o, &done, &err), &err);
}

static int prepare(void **state)
{
    if (make_home(state)) return -1;
    train_run("right", NULL);
    train_run("bad", "train.steps=5");
    return 0;
}

/* n letters, =, the letters again, $; labels as the task has them. wrong: the first letter of the answer. */
static void write_line(FILE *f, const char *letters, int wrong)
{
    int n = (int)strlen(letters);
    fputs("{\"tokens\": [", f);
    for (int i = 0; i < n; i++) fprintf(f, "\"%c\", ", letters[i]);
    fputs("\"=\", ", f);
    for (int i = 0; i < n; i++) fprintf(f, "\"%c\", ", i || !wrong ? letters[i] : wrong);
    fputs("\"$\"], \"ids\": [", f);
    for (int i = 0; i < n; i++) fprintf(f, "%d, ", i + 1);
    fputs("0, ", f);
    for (int i = 0; i < n; i++) fprintf(f, "%d, ", i + 1);
    fprintf(f, "%d], \"loss\": [", n + 1);
    for (int i = 0; i <= n; i++) fputs("0, ", f);
    for (int i = 0; i < n; i++) fputs("1, ", f);
    fprintf(f, "1], \"length\": %d}\n", n);
}

static const char *data_of(const char *name)
{
    static char data[8][200];
    static int next;
    char *d = data[next++ % 8];
    snprintf(d, sizeof data[0], "jsonl:%s", in_home(name));
    return d;
}

/* ---- The list ---------------------------------------------------------------------------------------- */

/* The context of answer place i of `letters` under the window [0, 1], as letters: what stands there in the
 * input, at the place before, and what was written there; '.' is nothing, '$' the end. */
static void key_of(const char *letters, int i, char key[8])
{
    int n = (int)strlen(letters);
    snprintf(key, 8, "%c%c%c", i ? letters[i - 1] : '.', i < n ? letters[i] : '$', i ? 'w' : '=');
}

struct keys {
    char key[100][8];
    int lines[100], last[100], first[100], count;
};

static int find_key(struct keys *k, const char *key)
{
    for (int i = 0; i < k->count; i++)
        if (strcmp(k->key[i], key) == 0) return i;
    return -1;
}

static void draw_letters(lg_rng *r, char *letters, int from)
{
    int n = 1 + (int)lg_rng_below(r, 4);
    for (int i = 0; i < n; i++)
        letters[i] = (char)("abc"[from + (int)lg_rng_below(r, 3 - (uint32_t)from)]);
    letters[n] = 0;
}

static void a_list_is_what_the_lines_have(void **state)
{
    (void)state;
    enum { LINES = 4, FRESH = 40 };
    struct keys k = {0};
    lg_list c;
    lg_error err = {0};
    lg_rng r;
    char letters[16], key[8];
    int alone[LINES] = {0}, positions = 0, left = 0, count = 0;
    lg_rng_init(&r, 3, 1, 0);
    FILE *f = fopen(in_home("few.jsonl"), "w");
    for (int line = 0; line < LINES; line++) {
        draw_letters(&r, letters, 0);
        write_line(f, letters, 0);
        for (int i = 0; i <= (int)strlen(letters); i++, positions++) {
            key_of(letters, i, key);
            int at = find_key(&k, key);
            if (at < 0) {
                at = k.count++;
                strcpy(k.key[at], key);
                k.first[at] = line;
                k.last[at] = -1;
            }
            k.lines[at] += k.last[at] != line;
            k.last[at] = line;
        }
    }
    fclose(f);
    for (int i = 0; i < k.count; i++) alone[k.first[i]] |= k.lines[i] == 1;
    for (int i = 0; i < LINES; i++) count += alone[i];
    f = fopen(in_home("fresh.jsonl"), "w");
    for (int line = 0; line < FRESH; line++) {
        int leaves = 0;
        draw_letters(&r, letters, 0);
        write_line(f, letters, 0);
        for (int i = 0; i <= (int)strlen(letters); i++) {
            key_of(letters, i, key);
            leaves |= find_key(&k, key) < 0;
        }
        left += leaves;
    }
    fclose(f);
    lg_list_options o = {.folder = in_home("right"),
                         .data = data_of("few.jsonl"),
                         .fresh = data_of("fresh.jsonl"),
                         .threads = 1};
    must(lg_certify_list(&o, &c, &err), &err);
    print_message("%lld contexts, %lld of %lld alone, %lld of %lld left\n", (long long)c.contexts,
                  (long long)c.alone, (long long)c.examples, (long long)c.left, (long long)c.fresh);
    assert_true(c.certified && c.lines && !c.wrong && !c.contradictions && !c.disagree);
    assert_true(c.min_margin > 0 && isfinite(c.min_margin));
    assert_int_equal(c.examples, LINES);
    assert_int_equal(c.positions, positions);
    assert_int_equal(c.contexts, k.count);
    assert_int_equal(c.alone, count);
    assert_int_equal(c.fresh, FRESH);
    assert_int_equal(c.left, left);
    assert_true(count > 0 && count < LINES && left > 0 && left < FRESH);
    /* one length alone */
    int length = 2;
    o.lengths = &length;
    o.length_count = 1;
    o.fresh = NULL;
    must(lg_certify_list(&o, &c, &err), &err);
    assert_true(c.examples > 0 && c.examples < LINES);
    /* draws of the task itself: all that it has, and nothing alone */
    o = (lg_list_options){.folder = in_home("right"), .samples = 2000, .threads = 1};
    must(lg_certify_list(&o, &c, &err), &err);
    assert_true(c.certified && !c.lines && c.alone == 0);
    lg_certify_options proof = {.folder = in_home("right"), .threads = 1};
    lg_certificate whole;
    must(lg_certify(&proof, &whole, &err), &err);
    assert_true(whole.certified);
    assert_int_equal(c.contexts, whole.contexts);
    must(lg_list_save(&c, in_home("right"), &err), &err);
    assert_int_equal(access(in_home("right/certificate-list.json"), R_OK), 0);
}

static void contradictions_have_their_lines(void **state)
{
    (void)state;
    lg_list c;
    lg_error err = {0};
    FILE *f = fopen(in_home("odd.jsonl"), "w");
    fputs("{\"lengthen\": {}}\n\n", f);
    write_line(f, "abc", 0); /* line 3 */
    write_line(f, "cab", 0);
    fputs("\n", f);
    write_line(f, "abb", 'b'); /* line 6: after a comes b, with the answer b */
    write_line(f, "ab", 'c');  /* line 7: the same context */
    fclose(f);
    lg_list_options o = {.folder = in_home("right"), .data = data_of("odd.jsonl"), .threads = 1};
    must(lg_certify_list(&o, &c, &err), &err);
    assert_true(!c.certified);
    assert_int_equal(c.pairs, c.contradictions);
    assert_int_equal(c.contradicting, 2);
    assert_int_equal(c.pair[0].line[0], 3);
    assert_int_equal(c.pair[0].line[1], 6);
    assert_int_equal(c.pair[0].place, 4);
    assert_string_equal(c.pair[0].answer[0], "a, ID +1");
    assert_string_equal(c.pair[0].answer[1], "b, ID +1");
    assert_string_equal(c.pair[0].context, "a@1 =@0");
    char *json = lg_list_json(&c);
    assert_non_null(strstr(json, "\"lines\":[3,6]"));
    free(json);
}

static void a_model_that_is_wrong_is_shown(void **state)
{
    (void)state;
    lg_list c;
    lg_error err = {0};
    lg_list_options o = {.folder = in_home("bad"), .data = data_of("few.jsonl"), .threads = 1};
    must(lg_certify_list(&o, &c, &err), &err);
    assert_true(!c.certified && c.wrong > 0 && !c.contradictions);
    assert_true(c.first_wrong.line[0] >= 1 && strlen(c.first_wrong.context) > 3);
    assert_string_not_equal(c.first_wrong.answer[0], c.first_wrong.answer[1]);
}

/* ---- Sampled ----------------------------------------------------------------------------------------- */

extern const struct lg__task_row lg__task_copy;
static struct lg__task_row noisy;
static lg_setting settings[16];
static double
    rate; /* of examples whose answer is made wrong, so that a right model fails on them */

static int make_noisy(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                      lg_error *err)
{
    int e = lg__task_copy.make(t, r, length, sparsity, x, err);
    if (!e && (lg_rng_u32(r) + 0.5) / 4294967296.0 < rate)
        x->tokens[x->answer] = x->tokens[x->answer] == 0;
    return e;
}

/* Twenty models whose share of errors is known: on either side of the 5% that is asked about. */
static void known_error_rates(void **state)
{
    (void)state;
    int passed = 0, holds = 0;
    double expected = 0;
    noisy = lg__task_copy;
    noisy.info.name = "noisy-copy";
    for (int i = 0; i < 15 && lg__task_copy.info.settings[i].name; i++) {
        settings[i] = lg__task_copy.info.settings[i];
        if (strcmp(settings[i].name, "alphabet") == 0) settings[i].fallback = "3";
    }
    noisy.info.settings = settings;
    noisy.make = make_noisy;
    lg__task_row_add(&noisy);
    int lengths[] = {5, 40}, samples = (int)lg__samples_for(0.95, (1 - 0.99) / 2, 1);
    for (int i = 0; i < 20; i++) {
        lg_sampled c;
        lg_error err = {0};
        rate = i < 10 ? 0.0005 * i : 0.05 + 0.02 * (i - 9);
        lg_sampled_options o = {.folder = in_home("right"),
                                .data = "noisy-copy",
                                .lengths = lengths,
                                .length_count = 2,
                                .share = 0.95,
                                .failures = 1,
                                .threads = 1};
        must(lg_certify_sampled(&o, &c, &err), &err);
        assert_int_equal(c.rows, 2);
        for (int k = 0; k < 2; k++) {
            const lg_sampled_row *row = &c.row[k];
            assert_int_equal(row->samples, samples);
            assert_int_equal(row->certified, row->wrong <= 1);
            assert_true(row->least == lg__share_at_least(row->wrong, samples, (1 - 0.99) / 2));
            assert_int_equal(row->certified, row->least >= 0.95);
            holds += row->least <= 1 - rate;
            passed += row->certified;
            expected += lg__binomial_at_most(samples, 1, rate);
            if (rate > 0.05 && row->certified) fail_msg("certified at a rate of %g", rate);
        }
    }
    print_message("%d samples: %d of 40 passed, %.1f expected; %d bounds hold\n", samples, passed,
                  expected, holds);
    assert_int_equal(holds, 40);
    assert_true(fabs(passed - expected) < 4);
}

static void count_costs(void *context, const lg_sampled_cost *c)
{
    assert_true(c->samples > 0 && c->tokens > 0 && c->seconds > 0 && c->by_context);
    ++*(int *)context;
}

static void what_is_sampled_and_what_is_refused(void **state)
{
    (void)state;
    int costs = 0;
    lg_sampled c;
    lg_error err = {0};
    lg_sampled_options o = {
        .folder = in_home("right"), .threads = 1, .cost = count_costs, .context = &costs};
    must(lg_certify_sampled(&o, &c, &err), &err);
    assert_true(c.certified && c.rows == 1 && c.row[0].samples == 4603 && costs == 1);
    assert_int_equal(c.row[0].length, 6); /* the longest of training */
    assert_true(c.row[0].least >= 0.999 && c.by_context && c.predicted);
    must(lg_sampled_save(&c, in_home("right"), &err), &err);
    assert_int_equal(access(in_home("right/certificate-sampled.json"), R_OK), 0);
    o.folder = in_home("bad");
    must(lg_certify_sampled(&o, &c, &err), &err);
    assert_true(!c.certified && c.row[0].wrong > 0 && c.row[0].least < 0.999);
    o.data = data_of("few.jsonl");
    assert_int_equal(lg_certify_sampled(&o, &c, &err), LG_ERROR_ARGUMENT);
    assert_non_null(strstr(err.text, "lines of a file"));
    o.data = NULL;
    o.share = 1 - 1e-12;
    assert_int_equal(lg_certify_sampled(&o, &c, &err), LG_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_what_the_lines_have),
        cmocka_unit_test(contradictions_have_their_lines),
        cmocka_unit_test(a_model_that_is_wrong_is_shown),
        cmocka_unit_test(known_error_rates),
        cmocka_unit_test(what_is_sampled_and_what_is_refused),
    };
    return cmocka_run_group_tests(tests, prepare, remove_home);
}
