/* test_export_length.c: how long a text an exported model was made for, which other tools read as
 * tokens. Without it a length in the task's own unit, bits or pairs, would be taken for tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helpers/home.h"
#include "lengthen_lab.h"

enum { MOST_SETS = 8 };

/* max_position_embeddings of the run with these sets (NULL ends them): the longest text that training has
 * shown, for which the 1,280 examples of each run here are enough to have the longest there is. */
static int exported(const char *const *own)
{
    static int runs;
    static const char *const small[] = {"model.layers=1", "model.width=16", "model.heads=2",
                                        "train.steps=20", "train.batch=64"};
    const char *sets[MOST_SETS + 5];
    char folder[32], to[32], config[64], text[2000] = "";
    int count = 0, done, tokenizer;
    lg_error err = {0};
    for (; own[count]; count++) sets[count] = own[count];
    for (int i = 0; i < 5; i++) sets[count++] = small[i];
    snprintf(folder, sizeof folder, "run%d", ++runs);
    snprintf(to, sizeof to, "out%d", runs);
    snprintf(config, sizeof config, "%s/config.json", to);
    lg_run_options o = {.sets = sets, .set_count = count, .folder = in_home(folder), .threads = 1};
    if (lg_run_train(&o, &done, &err)) fail_msg("%s", err.text);
    if (lg_run_export(in_home(folder), in_home(to), 0, &tokenizer, NULL, &err))
        fail_msg("%s", err.text);
    FILE *f = fopen(in_home(config), "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    const char *at = strstr(text, "\"max_position_embeddings\":");
    assert_non_null(at);
    return atoi(strchr(at, ':') + 1);
}

#define EXPORTED(...) exported((const char *const[]){__VA_ARGS__, NULL})

static void tokens_of_the_longest_example(void **state)
{
    (void)state;
    assert_int_equal(EXPORTED("task.name=sparse-parity", "train.length=[2, 9]"), 19);
    assert_int_equal(EXPORTED("task.name=parity-scratchpad", "train.length=[1, 20]"), 42);
    assert_int_equal(EXPORTED("task.name=addition", "train.length=[1, 5]"), 19);
}

/* The walk has three tokens for each pair that counts: the densest are the longest. */
static void of_the_densest(void **state)
{
    (void)state;
    assert_int_equal(EXPORTED("task.name=sparse-parity-scratchpad", "train.length=[2, 4]",
                              "train.sparsity=[1, 2]"),
                     18);
    assert_int_equal(EXPORTED("task.name=sparse-parity-scratchpad", "train.length=[2, 4]",
                              "train.sparsity=[1, 4]"),
                     24);
}

static void the_target_of_pose(void **state)
{
    (void)state;
    assert_int_equal(EXPORTED("task.name=sparse-parity", "train.length=[2, 9]",
                              "positions.ids=pose", "positions.target=30"),
                     30);
}

/* Own data has lengths of its own, which need not grow with the tokens; those that are longer than
 * training's do not count. */
static void every_line_of_own_data(void **state)
{
    (void)state;
    char task[100];
    FILE *f = fopen(in_home("own.jsonl"), "w");
    assert_non_null(f);
    fputs("{\"tokens\": [1, 0, 1, \"=\", 1], \"length\": 3}\n"
          "{\"tokens\": [1, 0, 1, 0, 1, 1, \"=\", 1], \"length\": 2}\n"
          "{\"tokens\": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, \"=\", 1], \"length\": 4}\n",
          f);
    assert_int_equal(fclose(f), 0);
    snprintf(task, sizeof task, "task.name=jsonl:%s", in_home("own.jsonl"));
    assert_int_equal(EXPORTED(task, "train.length=[2, 3]"), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_of_the_longest_example),
        cmocka_unit_test(of_the_densest),
        cmocka_unit_test(the_target_of_pose),
        cmocka_unit_test(every_line_of_own_data),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
