/* test_config.c: the run config. Every key reaches the struct that it is said to set, what is
 * resolved reads back as the same config, the pages have every key, and experiments train: a lab
 * whose config is misread measures something else than it says. */
#include <math.h>

#include "base/settings.h"
#include "helpers/config_file.h"
#include "helpers/plan.h"
#include "helpers/same.h"
#include "lengthen_report.h"

enum { MOST_SETS = 80, TEXT = 200 };

static void read_sets(struct lg__config *c, const char *const *sets, int count)
{
    lg_error err = {0};
    if (lg__config_read(c, NULL, sets, count, &err)) fail_msg("refused: %s", err.text);
}

static void read_yaml(struct lg__config *c, const char *text)
{
    lg_error err = {0};
    write_file(text);
    if (lg__config_read(c, path, NULL, 0, &err)) fail_msg("refused: %s\n%s", err.text, text);
}

static void open_config(const struct lg__config *c, struct opened *x)
{
    *x = (struct opened){0};
    if (lg__config_open(c, &x->t, &x->s, &x->m, &x->o, &x->err)) fail_msg("%s", x->err.text);
    assert_int_equal(x->err.code, 0);
}

/* ---- Defaults ----------------------------------------------------------------------------- */

/* The table's defaults are those of the library. */
static void defaults_are_the_librarys(void **state)
{
    (void)state;
    static const char *const archs[] = {"model.arch=neox", "model.arch=olmo", "model.arch=looped"};
    for (int a = 0; a < 3; a++) {
        const char *sets[] = {"task.name=parity-scratchpad", archs[a]};
        struct lg__config c;
        read_sets(&c, sets, 2);
        lg_model_config m = lg_model_config_default((lg_arch)a);
        m.ff = 4 * m.width;
        assert_string_equal(c.model.encoding, m.encoding);
        m.encoding = c.model.encoding;
        same_model(&c.model, &m);
        lg_train_options o = lg_train_options_default();
        same_train(&c.train, &o);
        lg_scheme s = lg_scheme_default();
        assert_string_equal(c.scheme.ids, s.ids);
        assert_int_equal(c.scheme.chunks, s.chunks);
        assert_int_equal(c.scheme.reach, s.reach);
        assert_int_equal(c.scheme.levels | c.scheme.max_id | c.scheme.target |
                             c.scheme.random_start | c.scheme.cut_anywhere,
                         0);
        for (int l = 0; l < LG_LEVELS; l++) assert_string_equal(c.scheme.source[l], "given");
        assert_int_equal(c.batch, 64);
        assert_int_equal(c.length[0], 1);
        assert_int_equal(c.length[1], 20);
        assert_int_equal(c.sparsity[0] | c.sparsity[1], 0);
        assert_int_equal(c.setting_count, 1);
        assert_string_equal(c.settings[0], "scan=forward");
        static const int lengths[] = {20, 40, 100, 200};
        assert_int_equal(c.eval_lengths.count, 4);
        assert_memory_equal(c.eval_lengths.at, lengths, sizeof lengths);
        assert_int_equal(c.eval_sparsities.count, 0);
        struct opened x;
        open_config(&c, &x);
        assert_int_equal(x.m.vocab, 4);
        assert_int_equal(x.m.levels, 1);
        lg_task_free(x.t);
        lg__config_clear(&c);
    }
}

/* ---- Every key ---------------------------------------------------------------------------- */

/* A key, a value that is not its default, and the same as a number where it ends up. */
struct effect {
    const char *key, *value;
    double number;
    double (*get)(const struct lg__config *c, const struct opened *x);
};

#define GET(name, expression)                                                                      \
    static double name(const struct lg__config *c, const struct opened *x)                         \
    {                                                                                              \
        (void)c, (void)x;                                                                          \
        return (double)(expression);                                                               \
    }
GET(get_seed, x->m.seed)
GET(get_task, strcmp(lg_task_get_shape(x->t)->info->name, "sparse-parity-scratchpad") == 0)
GET(get_ids, strcmp(x->s.ids, "coupled") == 0)
GET(get_levels, x->s.levels * 10 + x->m.levels)
GET(get_max_id, x->s.max_id)
GET(get_chunks, x->s.chunks)
GET(get_cut_anywhere, x->s.cut_anywhere)
GET(get_random_start, x->s.random_start)
GET(get_target, x->s.target)
GET(get_source, strcmp(x->s.source[0], "pointer") == 0 && strcmp(x->s.source[1], "delta") == 0 &&
                    x->m.pointer[0] && !x->m.pointer[1] && x->m.id_classes[1])
GET(get_reach, x->s.reach)
GET(get_encoding, strcmp(x->m.encoding, "alibi") == 0)
GET(get_span, x->m.span)
GET(get_window,
    x->m.window_lo[0] * 1000 + x->m.window_hi[0] * 100 + x->m.window_lo[1] * 10 + x->m.window_hi[1])
GET(get_share, x->m.rope_share)
GET(get_base, x->m.rope_base)
GET(get_scaling, x->m.rope_scaling)
GET(get_factor, x->m.rope_factor)
GET(get_rope_length, x->m.rope_length)
GET(get_arch, x->m.arch)
GET(get_layers, x->m.layers)
GET(get_width, x->m.width)
GET(get_heads, x->m.heads)
GET(get_ff, x->m.ff)
GET(get_norm, x->m.norm)
GET(get_norm_eps, x->m.norm_eps)
GET(get_act, x->m.act)
GET(get_biases, x->m.biases)
GET(get_parallel, x->m.parallel)
GET(get_loops, x->m.loops)
GET(get_inject, x->m.inject)
GET(get_tied, x->m.tied)
GET(get_attention, x->m.attention)
GET(get_sink, x->m.sink)
GET(get_steps, x->o.steps)
GET(get_batch, c->batch)
GET(get_lr, x->o.lr)
GET(get_min_lr_ratio, x->o.min_lr_ratio)
GET(get_warmup, x->o.warmup)
GET(get_cooldown, x->o.cooldown)
GET(get_schedule, x->o.schedule)
GET(get_weight_decay, x->o.weight_decay)
GET(get_beta1, x->o.beta1)
GET(get_beta2, x->o.beta2)
GET(get_match, c->scheme.match)
GET(get_eps, x->o.eps)
GET(get_grad_clip, x->o.grad_clip)
GET(get_precision, x->o.precision)
GET(get_id_weight, x->o.id_weight)
GET(get_groups, x->o.groups)
GET(get_length, c->length[0] * 100 + c->length[1])
GET(get_sparsity, c->sparsity[0] * 100 + c->sparsity[1])
GET(get_curriculum, c->curriculum)
GET(get_curriculum_steps, c->curriculum_steps)
GET(get_curriculum_at, c->curriculum_at)
GET(get_checkpoint, c->checkpoint_every)
GET(get_keep, c->keep)
GET(get_stop, c->stop_at)
GET(get_certify, c->certify_every)
GET(get_feedback, c->certify_feedback)
GET(get_coupling, strcmp(lg_task_get_shape(x->t)->level[0], "place") == 0)
GET(get_init_from, c->init_from &&strcmp(c->init_from, "runs/other") == 0)
GET(get_lengths, c->eval_lengths.count * 100 + c->eval_lengths.at[1])
GET(get_sparsities, c->eval_sparsities.count * 100 + c->eval_sparsities.at[0])
GET(get_samples, c->eval_samples)
GET(get_every, c->eval_every)

static const struct effect effects[] = {
    {"seed", "9007199254740992", 9007199254740992, get_seed},
    {"task.name", "sparse-parity-scratchpad", 1, get_task},
    {"positions.ids", "coupled", 1, get_ids},
    {"positions.levels", "2", 22, get_levels},
    {"positions.coupling", LG_TEST_DATA "/rule-two-levels.yaml", 1, get_coupling},
    {"positions.max_id", "500", 500, get_max_id},
    {"positions.chunks", "3", 3, get_chunks},
    {"positions.target", "400", 400, get_target},
    {"positions.cut_anywhere", "yes", 1, get_cut_anywhere},
    {"positions.random_start", "yes", 1, get_random_start},
    {"positions.source", "[pointer, delta]", 1, get_source},
    {"positions.match", "previous", LG_MATCH_PREVIOUS, get_match},
    {"positions.reach", "9", 9, get_reach},
    {"positions.encoding", "alibi", 1, get_encoding},
    {"positions.span", "window", 1, get_span},
    {"positions.window", "[[-1, 2], [-3, 4]]", -1000 + 200 - 30 + 4, get_window},
    {"positions.rope.share", "0.5", 0.5, get_share},
    {"positions.rope.base", "5e5", 5e5, get_base},
    {"positions.rope.scaling", "yarn", LG_ROPE_YARN, get_scaling},
    {"positions.rope.factor", "4", 4, get_factor},
    {"positions.rope.length", "64", 64, get_rope_length},
    {"model.arch", "looped", LG_ARCH_LOOPED, get_arch},
    {"model.layers", "3", 3, get_layers},
    {"model.width", "96", 96, get_width},
    {"model.heads", "6", 6, get_heads},
    {"model.ff", "100", 100, get_ff},
    {"model.norm", "rms", LG_NORM_RMS, get_norm},
    {"model.norm_eps", "1e-6", 1e-6, get_norm_eps},
    {"model.act", "gelu-tanh", LG_ACT_GELU_TANH, get_act},
    {"model.biases", "yes", 1, get_biases},
    {"model.parallel", "yes", 1, get_parallel},
    {"model.loops", "3", 3, get_loops},
    {"model.inject", "no", 0, get_inject},
    {"model.tied", "yes", 1, get_tied},
    {"model.attention", "entmax15", LG_ATTENTION_ENTMAX15, get_attention},
    {"model.sink", "yes", 1, get_sink},
    {"train.init_from", "runs/other", 1, get_init_from},
    {"train.steps", "77", 77, get_steps},
    {"train.batch", "5", 5, get_batch},
    {"train.lr", "4e-3", 4e-3, get_lr},
    {"train.min_lr_ratio", "0.1", 0.1, get_min_lr_ratio},
    {"train.warmup", "7", 7, get_warmup},
    {"train.cooldown", "11", 11, get_cooldown},
    {"train.schedule", "constant", LG_SCHEDULE_CONSTANT, get_schedule},
    {"train.weight_decay", "0", 0, get_weight_decay},
    {"train.beta1", ".8", 0.8, get_beta1},
    {"train.beta2", "0.95", 0.95, get_beta2},
    {"train.eps", "1e-6", 1e-6, get_eps},
    {"train.grad_clip", "0.25", 0.25, get_grad_clip},
    {"train.id_weight", "2.5", 2.5, get_id_weight},
    {"train.precision", "bf16", LG_PRECISION_BF16, get_precision},
    {"train.groups", "16", 16, get_groups},
    {"train.length", "[6, 16]", 616, get_length},
    {"train.sparsity", "[2, 4]", 204, get_sparsity},
    {"train.curriculum", "both", LG__CURRICULUM_BOTH, get_curriculum},
    {"train.curriculum_steps", "300", 300, get_curriculum_steps},
    {"train.curriculum_at", "0.9", 0.9, get_curriculum_at},
    {"train.checkpoint_every", "30", 30, get_checkpoint},
    {"train.keep", "4", 4, get_keep},
    {"train.stop_at", "0.99", 0.99, get_stop},
    {"train.certify.every", "100", 100, get_certify},
    {"train.certify.feedback", "yes", 1, get_feedback},
    {"eval.lengths", "[16, 32, 99]", 332, get_lengths},
    {"eval.sparsities", "[3, 5]", 203, get_sparsities},
    {"eval.samples", "33", 33, get_samples},
    {"eval.every", "44", 44, get_every},
};
enum { EFFECTS = sizeof effects / sizeof *effects };

static void check_effects(const struct lg__config *c)
{
    struct opened x;
    open_config(c, &x);
    for (int i = 0; i < EFFECTS; i++) {
        double got = effects[i].get(c, &x);
        if (got != effects[i].number)
            fail_msg("%s is %s, but %g arrived", effects[i].key, effects[i].value, got);
    }
    lg_task_free(x.t);
}

/* Writes "a.b.c: value" as nested maps; keys of a map stand together, as in the table. */
static void write_nested(FILE *f, const char *key, const char *before, const char *value)
{
    int depth = 0, same = 1;
    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1, depth++) {
        size_t n = (size_t)(dot - key) + 1;
        same = same && strncmp(key, before, n) == 0;
        if (same) before += n;
        if (!same) fprintf(f, "%*s%.*s:\n", depth, "", (int)n - 1, key);
    }
    fprintf(f, "%*s%s: %s\n", depth, "", key, value);
}

static void every_key_has_its_effect(void **state)
{
    (void)state;
    int count;
    const struct lg__config_key *k = lg__config_keys(&count);
    assert_int_equal(count, EFFECTS); /* a new key needs a row here */
    char sets[EFFECTS][TEXT];
    const char *list[EFFECTS];
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < EFFECTS; i++) {
        assert_string_equal(effects[i].key, k[i].key);
        assert_string_not_equal(effects[i].value, k[i].fallback);
        write_nested(f, effects[i].key, i ? effects[i - 1].key : "", effects[i].value);
        snprintf(sets[i], TEXT, "%s=%s", effects[i].key, effects[i].value);
        list[i] = sets[i];
    }
    fclose(f);
    struct lg__config c;
    lg_error err = {0};
    if (lg__config_read(&c, path, NULL, 0, &err)) fail_msg("%s", err.text);
    check_effects(&c);
    lg__config_clear(&c);
    read_sets(&c, list, EFFECTS);
    check_effects(&c);
    lg__config_clear(&c);
}

static void sets_come_after_the_file(void **state)
{
    (void)state;
    struct lg__config c;
    lg_error err = {0};
    const char *sets[] = {"train.steps=5", "train.steps=6", "model.norm=auto", "task.carry=hard"};
    write_file("task: {name: addition, carry: random}\ntrain.steps: 4\nmodel:\n  arch: olmo\n"
               "  norm: rms\neval:\n");
    if (lg__config_read(&c, path, sets, 4, &err)) fail_msg("%s", err.text);
    assert_int_equal(c.train.steps, 6);
    assert_int_equal(c.model.norm, LG_NORM_PLAIN);
    int hard = 0;
    for (int i = 0; i < c.setting_count; i++) hard += strcmp(c.settings[i], "carry=hard") == 0;
    assert_int_equal(hard, 1);
    assert_string_equal(c.file, path);
    lg__config_clear(&c);
}

static void levels_have_one_value_or_one_each(void **state)
{
    (void)state;
    struct lg__config c;
    struct opened x;
    read_yaml(&c, "task: {name: variable-assignment}\n"
                  "positions: {ids: coupled, encoding: relative, span: window, window: [-1, 3]}\n"
                  "train: {length: [1, 10]}\neval: {lengths: [10, 100]}\n");
    open_config(&c, &x);
    assert_int_equal(x.m.levels, 2);
    for (int l = 0; l < 2; l++) {
        assert_int_equal(x.m.window_lo[l], -1);
        assert_int_equal(x.m.window_hi[l], 3);
        assert_string_equal(x.s.source[l], "given");
    }
    lg_task_free(x.t);
    lg__config_clear(&c);
    read_yaml(&c, "task: {name: variable-assignment}\n"
                  "positions: {ids: coupled, source: pointer, window: [[0, 0], [-6, 6]]}\n"
                  "train: {length: [1, 10]}\neval: {lengths: [10]}\n");
    open_config(&c, &x);
    assert_true(x.m.pointer[0] && x.m.pointer[1]); /* one for all, and none past the levels */
    assert_null(x.s.source[2]);
    assert_int_equal(x.m.window_hi[0], 0);
    assert_int_equal(x.m.window_hi[1], 6);
    lg_task_free(x.t);
    lg__config_clear(&c);
}

static void a_remark_is_no_reason_to_stop(void **state)
{
    (void)state;
    struct lg__config c;
    struct opened x;
    read_yaml(&c, "task: {name: variable-assignment}\n"
                  "positions: {ids: coupled, levels: 1, span: window}\nmodel: {layers: 1}\n"
                  "train: {length: [1, 10]}\n");
    open_config(&c, &x);
    assert_has(x.err.text, "levels 1 leaves out level 2 (role)");
    lg_task_free(x.t);
    lg__config_clear(&c);
}

/* ---- The resolved text -------------------------------------------------------------------- */

static void assert_same(const struct lg__config *a, const struct lg__config *b)
{
    assert_true(a->seed == b->seed);
    assert_string_equal(a->task, b->task);
    assert_int_equal(a->setting_count, b->setting_count);
    for (int i = 0; i < a->setting_count; i++) assert_string_equal(a->settings[i], b->settings[i]);
    same_scheme(&a->scheme, &b->scheme);
    same_model(&a->model, &b->model);
    same_train(&a->train, &b->train);
    assert_int_equal(a->source_count, b->source_count);
    assert_int_equal(a->window_count, b->window_count);
    assert_memory_equal(a->length, b->length, sizeof a->length);
    assert_memory_equal(a->sparsity, b->sparsity, sizeof a->sparsity);
    assert_true(a->stop_at == b->stop_at);
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->eval_lengths.count, b->eval_lengths.count);
    assert_int_equal(a->eval_sparsities.count, b->eval_sparsities.count);
}

/* The text of c reads as c, and has the same text again. */
static void check_round(const struct lg__config *c)
{
    struct lg__config again;
    char *text = lg__config_text(c);
    assert_non_null(text);
    read_yaml(&again, text);
    assert_same(c, &again);
    char *second = lg__config_text(&again);
    assert_string_equal(text, second);
    lg__config_clear(&again);
    free(text);
    free(second);
}

static int below(lg_rng *r, int n) { return (int)lg_rng_below(r, (uint32_t)n); }

static long within(lg_rng *r, double least, double most)
{
    double span = most - least < 1e9 ? most - least : 1e9;
    return (long)(least + floor(lg_rng_uniform(r) * (span + 1)));
}

/* A value of the row at random, as it is written. */
static void random_value(lg_rng *r, const struct lg__config_key *k, char *text)
{
    double least = 0, most = 0;
    char range[256], *rest = range, *word = NULL;
    lg__config_range(k, range, sizeof range);
    lg__config_bounds(k->range, 0, &least, &most);
    if (strncmp(k->range, "auto|", 5) == 0 && below(r, 3) == 0) {
        strcpy(text, "auto");
    } else if (k->kind == LG__KEY_INT || k->kind == LG__KEY_SEED) {
        snprintf(text, TEXT, "%ld", within(r, least, most));
    } else if (k->kind == LG__KEY_REAL) {
        double share = lg_rng_uniform(r);
        snprintf(text, TEXT, "%.17g", least + share * share * ((most < 1e9 ? most : 1e9) - least));
    } else if (k->kind == LG__KEY_PAIR) {
        long lo = within(r, 1, 1000);
        snprintf(text, TEXT, "[%ld, %ld]", lo, lo + below(r, 1000));
    } else if (k->kind == LG__KEY_LIST) {
        snprintf(text, TEXT, "[%d, %d]", 1 + below(r, 1000), 1 + below(r, 1000000));
    } else if (k->kind == LG__KEY_WINDOW) {
        snprintf(text, TEXT, below(r, 2) ? "[-%d, %d]" : "[[-%d, %d], [0, 9]]", below(r, 99),
                 below(r, 99));
    } else { /* words */
        int n = 1;
        for (const char *s = range; *s; s++) n += *s == '|';
        for (int i = below(r, n); i >= 0; i--) word = strsep(&rest, "|");
        int list = k->kind == LG__KEY_SOURCE && below(r, 2);
        snprintf(text, TEXT, list ? "[%s, given, %s]" : "%s", word, word);
    }
}

static void random_configs_read_back(void **state)
{
    (void)state;
    int count;
    const struct lg__config_key *k = lg__config_keys(&count);
    for (uint64_t round = 0; round < 200; round++) {
        char sets[MOST_SETS][2 * TEXT], value[TEXT];
        const char *list[MOST_SETS];
        int n = 0;
        lg_rng r;
        lg_rng_init(&r, 1, 0, round);
        for (int i = 0; i < count; i++) {
            if (k[i].kind == LG__KEY_TASK || below(&r, 2)) continue;
            random_value(&r, &k[i], value);
            /* what keys must keep between them */
            if (strcmp(k[i].key, "train.groups") == 0) sprintf(value, "%d", 1 << below(&r, 7));
            if (strcmp(k[i].key, "train.cooldown") == 0) strcpy(value, "0");
            if (strcmp(k[i].key, "model.heads") == 0) strcpy(value, "1");
            if (strcmp(k[i].key, "model.width") == 0)
                sprintf(value, "%d", 1024 * (1 + below(&r, 64)));
            snprintf(sets[n++], 2 * TEXT, "%.100s=%s", k[i].key, value);
        }
        const lg_task_info *info = lg_task_info_at(below(&r, lg_task_count()));
        snprintf(sets[n++], 2 * TEXT, "task.name=%s%s", info->name,
                 strcmp(info->family, "own data") ? "" : ":a \"b\" # \\ \xC3\xA4: [x]\n");
        for (int i = 0; i < n; i++) list[i] = sets[i];
        struct lg__config c;
        read_sets(&c, list, n);
        check_round(&c);
        lg__config_clear(&c);
    }
}

/* Texts that YAML would read otherwise if they were not quoted. */
static void odd_texts_read_back(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "",  "-",    "- a",   "a: b", "a #b",  "'", "\"", "\\n",       "\n",
        " ", "\t x", "[1, 2", "{",    "&a *a", "%", "@",  "\xC2\x85y", "\xE2\x80\xA8",
        "~", "\x7F", "\x01",  "!t",   "|",     ">", "?",  "a,b",       "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char name[TEXT], vocab[TEXT];
        snprintf(name, sizeof name, "task.name=exec:%s", odd[i]);
        snprintf(vocab, sizeof vocab, "task.vocab=%s", odd[i]);
        const char *sets[] = {name, vocab};
        struct lg__config c;
        read_sets(&c, sets, 2);
        assert_string_equal(c.task, name + strlen("task.name="));
        assert_string_equal(c.settings[0], vocab + strlen("task."));
        check_round(&c);
        lg__config_clear(&c);
    }
}

/* ---- Pages -------------------------------------------------------------------------------- */

static void pages_have_every_key(void **state)
{
    (void)state;
    int count;
    const struct lg__config_key *k = lg__config_keys(&count);
    char *page = lg_config_page(), *help = lg_config_help(), name[TEXT];
    assert_non_null(page);
    assert_non_null(help);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "| `%s` |", k[i].key);
        assert_has(page, name);
        snprintf(name, sizeof name, "  %s: ", k[i].key);
        assert_has(help, name);
        assert_true(lg__config_find(k[i].key) == &k[i]);
    }
    for (int i = 0; i < lg_task_count(); i++)
        for (const lg_setting *s = lg_task_info_at(i)->settings; s && s->name; s++) {
            assert_string_not_equal(s->name, "name"); /* task.name is the task's */
            snprintf(name, sizeof name, "`task.%s`", s->name);
            assert_has(page, name);
        }
    for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    free(page);
    free(help);
}

/* ---- The examples ------------------------------------------------------------------------- */

static void add_examples(const struct lg__config *c, struct opened *x, int step, lg_batch *b)
{
    lg_example e;
    lg_example_init(&e);
    lg_batch_reset(b);
    for (int i = 0; i < c->batch; i++) {
        lg_draw d = {.seed = (uint64_t)c->seed, .stream = 1};
        lg_rng r;
        d.index = (uint64_t)(step * c->batch + i);
        d.length_lo = c->length[0], d.length_hi = c->length[1];
        d.sparsity_lo = c->sparsity[0], d.sparsity_hi = c->sparsity[1];
        lg_rng_init(&r, d.seed, 2, d.index);
        if (lg_task_example(x->t, &d, &e, &x->err) || add_once(&x->s, x->t, &e, &r, b, &x->err))
            fail_msg("%s", x->err.text);
    }
    lg_example_clear(&e);
}

/* Opens an experiment and trains it for some steps: the loss falls. */
static void try_experiment(const char *name)
{
    enum { STEPS = 60 };
    char file[512], first[512];
    struct lg__config c;
    struct opened x;
    lg_error err = {0};
    snprintf(file, sizeof file, LG_SOURCE_DIR "/experiments/%s", name);
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    assert_non_null(fgets(first, sizeof first, f));
    fclose(f);
    assert_true(first[0] == '#' && strchr(first, '?') && strstr(first, "Expected:"));
    if (lg__config_read(&c, file, NULL, 0, &err)) fail_msg("%s", err.text);
    check_round(&c);
    open_config(&c, &x);
    lg_model *m = lg_model_new(&x.m, &err);
    lg_trainer *t = m ? lg_trainer_new(m, &x.o, &err) : NULL;
    if (!t) fail_msg("%s", err.text);
    lg_batch b;
    lg_train_result start = {0}, now = {0};
    lg_batch_init(&b);
    for (int step = 0; step < STEPS; step++) {
        add_examples(&c, &x, step, &b);
        if (lg_trainer_step(t, &b, step ? &now : &start, &err)) fail_msg("%s", err.text);
    }
    print_message("%s: loss %.3f, after %d steps %.3f; IDs %.3f, %.3f\n", name, start.loss, STEPS,
                  now.loss, start.id_loss, now.id_loss);
    assert_true(now.loss < 0.7 * start.loss);
    assert_true(now.id_loss < 0.7 * start.id_loss);
    lg_batch_clear(&b);
    lg_trainer_free(t);
    lg_model_free(m);
    lg_task_free(x.t);
    lg__config_clear(&c);
}

static void experiments_train(void **state)
{
    (void)state;
    try_experiment("parity.yaml");
    try_experiment("assignment.yaml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_librarys),
        cmocka_unit_test(every_key_has_its_effect),
        cmocka_unit_test(sets_come_after_the_file),
        cmocka_unit_test(levels_have_one_value_or_one_each),
        cmocka_unit_test(a_remark_is_no_reason_to_stop),
        cmocka_unit_test(random_configs_read_back),
        cmocka_unit_test(odd_texts_read_back),
        cmocka_unit_test(pages_have_every_key),
        cmocka_unit_test(experiments_train),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
