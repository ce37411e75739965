/* test_config_refused.c: a config that is wrong is refused with its place, its key, its value and
 * a remedy; the nearest key is named, and no memory is an error. Without it a slip of the pen
 * would train something else than was meant, for hours. */
#include "base/memory.h"
#include "helpers/config_file.h"
#include "lengthen_runs.h"

struct refusal {
    const char *yaml, *set; /* either may be NULL; @ in the place is the file */
    const char *place;
    const char *words[4]; /* NULL ends */
};

#define OK "task: {name: parity-scratchpad}\n"
#define COUPLED OK "positions: {ids: coupled}\n"

#define R(yaml, set, place, ...)                                                                   \
    {                                                                                              \
        yaml, set, place, { __VA_ARGS__, NULL }                                                    \
    }

static const struct refusal refusals[] = {
    R(OK "seed: -1\n", NULL, "@:2: ", "seed is \"-1\"", "whole number in 0.."),
    R(OK "seed: [1]\n", NULL, "@:2: ", "seed is a list", "whole number"),
    R(OK "seed: {a: 1}\n", NULL, "@:2: ", "seed is a map", "whole number"),
    R(OK "seed: 0x10\n", NULL, "@:2: ", "seed is \"0x10\""),
    R(OK "train:\n\n  lrr: 1\n", NULL, "@:4: ", "no key \"train.lrr\"",
      "did you mean \"train.lr\"?"),
    R(OK "lr: 1\n", NULL, "@:2: ", "no key \"lr\"", "did you mean \"train.lr\"?"),
    R(OK "temperature: 1\n", NULL, "@:2: ", "no key \"temperature\"", "docs/CONFIG.md"),
    R(OK "vary: {seed: [1, 2]}\n", NULL, "@:2: ", "\"vary\" is a key of sweeps",
      "`lengthen sweep`"),
    R(OK "modle: {width: 3}\n", NULL, "@:2: ", "no key \"modle\"", "did you mean \"model\"?"),
    R(OK "tran: {steps: 3}\n", NULL, "@:2: ", "no key \"tran\"", "did you mean \"train\"?"),
    R(OK "train: {certfy: {every: 3}}\n", NULL, "@:2: ", "no key \"train.certfy\"",
      "did you mean \"train.certify\"?"),
    R("tsak: {name: parity}\n", NULL, "@:1: ", "no key \"tsak\"", "did you mean \"task\"?"),
    R("task: {nam: parity}\n", NULL, "@:1: ", "no key \"task.nam\"", "did you mean \"task.name\"?"),
    R(OK "train: 5\n", NULL, "@:2: ", "train is \"5\"", "must be a map", "train: {steps: 500}"),
    R("task: parity\n", NULL, "@:1: ", "task is \"parity\"", "task: {name: parity}"),
    R("- a\n", NULL, "@:1: ", "a map of keys", "write"),
    R("seed: 1\n", NULL, "@: ", "task.name is missing", "write \"task: {name:"),
    R(OK "train: {lr: 1}\ntrain.lr: 2\n", NULL, "@:3: ", "train.lr is said already in line 2"),
    R(OK "train: {lr: fast}\n", NULL, "@:2: ", "train.lr is \"fast\"", "a number in 0.0..1e6"),
    R(NULL, "train.lr=nan", "--set train.lr=nan: ", "train.lr is \"nan\"", "a number in"),
    R(NULL, "train.beta1=1", "--set train.beta1=1: ", "0.0..0.999999"),
    R(OK "train: {stop_at: 1.01}\n", NULL, "@:2: ", "train.stop_at is \"1.01\"", "0.0..1.0"),
    R(OK "positions:\n  ids: couppled\n", NULL, "@:3: ", "positions.ids is \"couppled\"",
      "did you mean \"coupled\"?", "random-start"),
    R(OK "positions: {encoding: [rope]}\n", NULL, "@:2: ", "encoding is a list",
      "one of none|rope"),
    R(NULL, "model.act=relu", "--set model.act=relu: ", "\"relu\"", "one of auto|gelu"),
    R(NULL, "model.sink=1", "--set model.sink=1: ", "model.sink is \"1\"", "no|yes"),
    R(OK "model: {layers: 0}\n", NULL, "@:2: ", "model.layers is \"0\"", "1..1000"),
    R(OK "model:\n  width: 100\n  heads: 3\n", NULL, "@:4: ", "model.width is 100",
      "model.heads, 3", "take a width of 102"),
    R(OK, "train.groups=12", "--set train.groups=12: ", "train.groups is 12", "power of two"),
    R(OK "train: {cooldown: 50}\n", "train.steps=10",
      "--set train.steps=10: ", "train.cooldown is 50", "10 steps", "shorter"),
    R(OK "train: {length: 20}\n", NULL, "@:2: ", "train.length is \"20\"", "[lo, hi] within"),
    R(OK "train: {length: [20, 2]}\n", NULL, "@:2: ", "[20, 2]", "write [2, 20]"),
    R(OK "train:\n  length: [1,\n    x]\n", NULL, "@:4: ", "train.length is \"x\"", "[lo, hi]"),
    R(NULL, "train.length=[1, 2, 3]", "--set train.length=[1, 2, 3]: ", "a list of 3", "[lo, hi]"),
    R(NULL, "train.length=[1", "--set train.length=[1: ", "no list", "write [a, b"),
    R(OK "eval: {lengths: [10, 0]}\n", NULL, "@:2: ", "eval.lengths is \"0\"", "1..1048576"),
    R(OK "eval: {lengths: []}\n", NULL, "@:2: ", "eval.lengths is an empty list", "[20, 100]"),
    R(OK "positions: {window: [1, 2]}\n", NULL, "@:2: ", "positions.window is \"1\"",
      "[-1048576..0"),
    R(OK "positions: {source: [delta, delta, delta, delta]}\n", NULL, "@:2: ", "a list of 4",
      "one per level"),
    R(OK "positions: {source: predicted}\n", NULL, "@:2: ", "\"predicted\"",
      "given|absolute|delta|pointer"),
    R("task: {name: parityy}\n", NULL, "@:1: ", "\"parityy\"", "did you mean \"parity\"?",
      "`lengthen tasks`"),
    R(OK, "task.name=what", "--set task.name=what: ", "\"what\"", "`lengthen tasks`"),
    R("task:\n  name: addition\n  cary: hard\n", NULL, "@:3: ", "\"cary\"",
      "did you mean \"carry\"?"),
    R("task:\n  name: addition\n  carry: harder\n", NULL, "@:3: ", "carry is \"harder\"", "one of"),
    R("task: {name: addition, carry: [hard]}\n", NULL, "@:1: ", "task.carry is a list", "one word"),
    R(OK, "task.length=3", "--set task.length=3: ", "no setting \"length\"",
      "did you mean \"train.length\"?"),
    R(OK, "train=5", "--set train=5: ", "\"train\" is a map of keys", "--set train.steps=500"),
    R(OK, "seed", "--set seed: ", "key=value", "write"),
    R(OK, "task.vocab=\xFF", "--set task.vocab=", "UTF-8"),
    R(OK "a: [\n", NULL, "@:3: ", "not YAML", "correct"),
    /* what cannot go together */
    R(COUPLED, "positions.source=[delta, delta]", "@: ", "positions.source is a list of 2",
      "1 level", "list of 1"),
    R(COUPLED, "positions.window=[[0, 1], [0, 1], [0, 1]]",
      "@: ", "positions.window is a list of 3"),
    R(COUPLED, "positions.source=absolute", "@: ", "absolute", "set positions.max_id"),
    R(OK "positions: {ids: pose, span: window, target: 99}\n", NULL, "@:2: ", "span is a window",
      "take span full"),
    R(OK, "train.sparsity=[1, 2]", "@: ", "train.sparsity is set", "has no sparsity", "auto"),
    R(OK, "train.curriculum=sparsity", "@: ", "train.curriculum", "length or none"),
    R(OK, "train.certify.feedback=yes", "@: ", "train.certify.every is 0"),
    R(OK "train: {batch: 3, certify: {every: 5}}\n", "train.certify.feedback=yes",
      "@: ", "a quarter of every batch", "train.batch is 3", "4 or more"),
    R(OK, "train.curriculum_steps=300", "@: ", "train.curriculum_steps",
      "train.curriculum is none"),
    R("task: {name: variable-assignment}\n", "train.curriculum=sparsity", "@: ", "sparsity is auto",
      "give its range"),
    R("task: {name: sort}\n", "eval.lengths=[200]", "@: ", "eval.lengths has 200", "task sort",
      "1..100"),
    R("task: {name: flip-flop}\n", NULL, "@: ", "train.length has 1", "2.."),
    R("task: {name: variable-assignment}\n", "train.sparsity=[2, 4]",
      "@: ", "train.length is [1, 20]", "sparsity", "change"),
    R("task: {name: machine, table: /nowhere.yaml}\n", NULL, "@: ", "/nowhere.yaml"),
    R(OK "positions: {rope: {scaling: yarn}}\n", NULL, "@: ", "positions.rope.length is 0", "need"),
};

static void check_refusal(const struct refusal *w)
{
    struct lg__config c;
    struct opened x;
    lg_error err = {0};
    char place[128];
    if (w->yaml) write_file(w->yaml);
    snprintf(place, sizeof place, "%s%s", w->place[0] == '@' ? path : "",
             w->place + (w->place[0] == '@'));
    const char *sets[] = {"task.name=parity-scratchpad", w->set};
    int from = w->yaml ? 1 : 0, count = w->set ? 2 - from : 0;
    const char *file = w->yaml ? path : NULL;
    int e = lg__config_read(&c, file, sets + from, count, &err);
    if (e)
        assert_null(c.task); /* cleared */
    else
        e = lg__config_open(&c, &x.t, &x.s, &x.m, &x.o, &err);
    if (!e) fail_msg("accepted: %s%s", w->yaml ? w->yaml : "", w->set ? w->set : "");
    assert_true(e < 0 && err.code == e);
    if (strncmp(err.text, place, strlen(place)) != 0)
        fail_msg("does not start with \"%s\": %s", place, err.text);
    for (int i = 0; w->words[i]; i++) assert_has(err.text, w->words[i]);
    if (c.task) assert_true(lg__config_open(&c, &x.t, &x.s, &x.m, &x.o, NULL) < 0);
    lg__config_clear(&c);
    assert_true(lg__config_read(&c, file, sets + from, count, NULL) <= 0);
    lg__config_clear(&c);
}

static void wrong_configs_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) check_refusal(&refusals[i]);
    struct lg__config c;
    lg_error err = {0};
    assert_int_equal(lg__config_read(&c, "/nowhere.yaml", NULL, 0, &err), LG_ERROR_SYSTEM);
    assert_has(err.text, "/nowhere.yaml cannot be read");
}

/* The key and its place are said apart from the sentence, too. */
static void key_and_place_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *set, *key;
        int line, number;
    } cases[] = {
        {OK "train:\n  lr: fast\n", NULL, "train.lr", 3, 0},
        {OK "train:\n  lrr: 1\n", NULL, "train.lrr", 3, 0},
        {OK, "train.lr=fast", "train.lr", 0, 2},
        {OK, "model.width=17", "model.width", 0, 2},
        {"seed: 1\n", NULL, "task.name", 0, 0},
        {OK "positions: {rope: {scaling: yarn}}\n", NULL, "positions.rope.length", 0, 0},
        {OK "positions: {ids: coupled, source: absolute}\n", NULL, "positions.max_id", 0, 0},
        {OK "positions: {ids: pose, span: window, target: 99}\n", NULL, "positions.span", 2, 0},
        {"task: {name: sort}\n", "eval.lengths=[200]", "eval.lengths", 0, 0},
        {"task: {name: sort}\neval:\n  lengths: [200]\n", NULL, "eval.lengths", 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sets[] = {"seed=1", cases[i].set};
        struct lg__config c;
        struct opened x;
        lg_error err;
        write_file(cases[i].yaml);
        int e = lg__config_read(&c, path, sets, cases[i].set ? 2 : 1, &err);
        if (!e) e = lg__config_open(&c, &x.t, &x.s, &x.m, &x.o, &err);
        assert_int_equal(e, LG_ERROR_ARGUMENT);
        assert_string_equal(err.key, cases[i].key);
        assert_string_equal(err.file, cases[i].number ? "" : path);
        if (err.line != cases[i].line || err.set != cases[i].number) fail_msg("%s", err.text);
        lg__config_clear(&c);
    }
}

/* A file of the user's whose name has a field's name in it. */
static void the_users_words_stay(void **state)
{
    (void)state;
    char data[200], task[220];
    const char *sets[] = {task, "positions.source=[given, given]"};
    struct lg__config c;
    struct opened x;
    lg_error err = {0};
    snprintf(data, sizeof data, "%s/my max_id is 9, set reach to 1.jsonl", folder);
    snprintf(task, sizeof task, "task.name=jsonl:%s", data);
    FILE *f = fopen(data, "w");
    assert_non_null(f);
    for (int i = 0; i < 20; i++) fprintf(f, "{\"tokens\": [1, 0, \"=\", %d]}\n", i % 2);
    fclose(f);
    if (lg__config_read(&c, NULL, sets, 2, &err)) fail_msg("%s", err.text);
    assert_int_equal(lg__config_open(&c, &x.t, &x.s, &x.m, &x.o, &err), LG_ERROR_ARGUMENT);
    assert_has(err.text, "positions.source is a list of 2");
    assert_has(err.text, data);
    lg__config_clear(&c);
    unlink(data);
}

static void the_nearest_key(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"train.lrr", "train.lr"},
        {"model.lr", "train.lr"},
        {"train.seed", "seed"},
        {"length", "train.length"},
        {"positions.factor", "positions.rope.factor"},
        {"model.widht", "model.width"},
        {"widht", "model.width"},
        {"carry", "task.carry"},
        {"curriculm", "train.curriculum"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *near = lg_config_nearest(pairs[i][0]);
        if (!near || strcmp(near, pairs[i][1]) != 0)
            fail_msg("%s: %s, want %s", pairs[i][0], near ? near : "none", pairs[i][1]);
    }
    assert_null(lg_config_nearest("temperature"));
    assert_null(lg_config_nearest("x"));
}

/* Whatever allocation fails, the reader says so and leaks nothing (the sanitizers see that). */
static void no_memory_is_an_error(void **state)
{
    (void)state;
    const char *sets[] = {"train.length=[1, 9]", "task.carry=hard"};
    int e = LG_ERROR_MEMORY;
    write_file("task: {name: addition}\neval: {lengths: [1, 2], sparsities: [1]}\n");
    for (long n = 0; e; n++) {
        struct lg__config c;
        lg_error err = {0};
        assert_true(n < 1000);
        lg__alloc_fail_after(n);
        e = lg__config_read(&c, path, sets, 2, &err);
        lg__alloc_fail_after(-1);
        if (e) assert_int_equal(e, LG_ERROR_MEMORY);
        if (e) assert_int_equal(err.code, LG_ERROR_MEMORY);
        lg__config_clear(&c);
    }
}

/* Every key is compared with those before it, so that their number has a limit. */
static void too_many_keys_are_refused(void **state)
{
    (void)state;
    char *text = malloc(1 << 20), *at = text, place[80];
    assert_non_null(text);
    at += sprintf(at, "task:\n  name: parity\n");
    for (int i = 0; i < 50000; i++) at += sprintf(at, "  k%d: 1\n", i);
    write_file(text);
    free(text);
    struct lg__config c;
    lg_error err = {0};
    assert_int_equal(lg__config_read(&c, path, NULL, 0, &err), LG_ERROR_ARGUMENT);
    snprintf(place, sizeof place, "%s:1002: ", path);
    if (strncmp(err.text, place, strlen(place)) != 0 || !strstr(err.text, "over 1000 keys"))
        fail_msg("%s", err.text);
    lg__config_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_configs_are_refused), cmocka_unit_test(key_and_place_are_known),
        cmocka_unit_test(the_users_words_stay),      cmocka_unit_test(the_nearest_key),
        cmocka_unit_test(too_many_keys_are_refused), cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
