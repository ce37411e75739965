/* try_schemes.c: the schemes that lg_try compares, as what they set in a config. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "study/try.h"

enum {
    STEPS = 1000000, /* more than fit into any time */
    USUAL_REACH = 8,
    MOST_LENGTHS = 20 /* of a file, in a config */
};

static void set(struct lg__try_run *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set(struct lg__try_run *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->sets[s->set_count++], sizeof s->sets[0], format, args);
    va_end(args);
}

const char *lg_try_ids_name(lg_try_ids ids)
{
    static const char *const names[] = {"plain", "given", "predicted"};
    return names[ids];
}

/* One value per level as "a", or "[a, b]" for several. */
static void set_levels(struct lg__try_run *s, const char *key, int levels,
                       char value[LG_LEVELS][24])
{
    char list[100] = "";
    for (int l = 0; l < levels; l++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", l ? ", " : "", value[l]);
    }
    set(s, levels > 1 ? "%s=[%s]" : "%s=%s", key, list);
}

/* The IDs of generated tokens: by steps where these stay small, else by a pointer. */
static void set_source(const struct lg__try *t, struct lg__try_run *s)
{
    char value[LG_LEVELS][24];
    int reach = USUAL_REACH;
    for (int l = 0; l < t->r->levels; l++) {
        snprintf(value[l], sizeof value[l], "%s", t->reach[l] ? "delta" : "pointer");
        reach = t->reach[l] > reach ? t->reach[l] : reach;
    }
    set_levels(s, "positions.source", t->r->levels, value);
    if (reach > USUAL_REACH) set(s, "positions.reach=%d", reach);
}

static void set_window(const struct lg__try *t, struct lg__try_run *s)
{
    char value[LG_LEVELS][24];
    for (int l = 0; l < t->r->levels; l++)
        snprintf(value[l], sizeof value[l], "[-%d, %d]", t->window[l], t->window[l]);
    set_levels(s, "positions.window", t->r->levels, value);
    set(s, "model.sink=yes");
    s->full = 0;
}

/* ---- The table ------------------------------------------------------------------------------ */

static void plain_window(struct lg__try *t, struct lg__try_run *s)
{
    (void)t;
    set(s, "positions.window=[-8, 0]");
    set(s, "model.sink=yes");
    s->full = 0;
}

static void pose(struct lg__try *t, struct lg__try_run *s)
{
    set(s, "positions.target=%d", t->r->tokens_tested + 1);
}

static void randomized(struct lg__try *t, struct lg__try_run *s)
{
    set(s, "positions.max_id=%d", 2 * t->r->tokens_tested);
}

/* Where IDs depend on the input, the rule would give part of the answer away. */
static int depends_on_input(const struct lg__try *t)
{
    int depends = 0;
    for (int l = 0; l < t->r->levels; l++) depends |= !t->reach[l];
    return depends;
}

static void coupled(struct lg__try *t, struct lg__try_run *s)
{
    if (depends_on_input(t)) set_source(t, s);
    set(s, "model.sink=yes");
}

static void coupled_window(struct lg__try *t, struct lg__try_run *s)
{
    set_source(t, s);
    set_window(t, s);
}

/* Usual with labels, without, or only if it is asked for. */
enum { LABELLED = 1, UNLABELLED = 2, ASKED = 0 };

static const struct kind {
    const char *key, *name, *what;
    int usual, labels; /* labels: it needs them */
    const char *ids, *encoding, *span;
    void (*more)(struct lg__try *t, struct lg__try_run *s);
} kinds[] = {
    {"rope", "plain RoPE", "usual", LABELLED | UNLABELLED, 0, "plain", "rope", "full", NULL},
    {"pose", "PoSE + RoPE", "usual", LABELLED | UNLABELLED, 0, "pose", "rope", "full", pose},
    {"alibi", "plain ALiBi", "usual", LABELLED | UNLABELLED, 0, "plain", "alibi", "full", NULL},
    {"nope", "NoPE", "no positions", ASKED, 0, "plain", "none", "full", NULL},
    {"t5", "T5 bias", "", ASKED, 0, "plain", "t5", "full", NULL},
    {"fire", "FIRE", "", ASKED, 0, "plain", "fire", "full", NULL},
    {"randomized", "randomized + RoPE", "", ASKED, 0, "randomized", "rope", "full", randomized},
    {"window", "window", "usual without labels", UNLABELLED, 0, "plain", "relative", "window",
     plain_window},
    {"coupled-rope", "coupled + RoPE", "usual with labels", LABELLED, 1, "coupled", "rope", "full",
     coupled},
    {"coupled-window", "coupled + window", "usual with labels", LABELLED, 1, "coupled", "relative",
     "window", coupled_window},
};
enum { SCHEMES = sizeof kinds / sizeof *kinds };
_Static_assert((int)SCHEMES <= (int)LG_TRY_SCHEMES, "there is room for all");

const char *lg_try_scheme_name(int i, const char **what)
{
    if (i < 0 || i >= SCHEMES) return NULL;
    if (what) *what = kinds[i].what;
    return kinds[i].key;
}

/* What all schemes have. */
static void add_common(const struct lg__try *t, struct lg__try_run *s)
{
    set(s, "model.width=%d", LG__TRY_WIDTH);
    set(s, "train.lr=%s", s->full ? "2e-3" : "4e-3");
    set(s, "train.warmup=%d", LG_TRY_STEPS);
    set(s, "train.batch=%d", t->batch);
    set(s, "train.length=[%d, %d]", t->r->least, t->r->most);
    set(s, "train.curriculum=length");
    set(s, "train.curriculum_steps=%d", t->curriculum);
    set(s, "train.schedule=constant");
    set(s, "train.steps=%d", STEPS);
    set(s, "train.keep=1");
    set(s, "eval.lengths=[%d]", t->r->most); /* the tests name theirs */
}

static int select_kind(struct lg__try *t, int k, lg_error *err)
{
    if (kinds[k].labels && !t->r->levels)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "--schemes: %s needs labels, and %s has none%s; leave it out", kinds[k].key,
                        t->r->task, t->r->own ? " (\"ids\", see `lengthen tasks jsonl`)" : "");
    for (int i = 0; i < t->r->schemes; i++)
        if (t->kind[i] == k)
            return lg__fail(err, LG_ERROR_ARGUMENT, "--schemes has %s twice; take one out",
                            kinds[k].key);
    t->kind[t->r->schemes++] = k;
    return 0;
}

static int select_name(struct lg__try *t, const char *name, int size, lg_error *err)
{
    const char *names[SCHEMES];
    char word[40], list[200] = "";
    snprintf(word, sizeof word, "%.*s", size, name);
    for (int k = 0; k < SCHEMES; k++) {
        if (strcmp(word, kinds[k].key) == 0) return select_kind(t, k, err);
        names[k] = kinds[k].key;
        strcat(strcat(list, k ? ", " : ""), kinds[k].key);
    }
    int near = lg_nearest(word, names, SCHEMES);
    return lg__fail(err, LG_ERROR_ARGUMENT, "--schemes: there is no \"%s\"%s%s%s; there are %s",
                    word, near < 0 ? "" : ", did you mean \"", near < 0 ? "" : names[near],
                    near < 0 ? "" : "\"?", list);
}

int lg__try_select(struct lg__try *t, lg_error *err)
{
    const char *names = t->o->schemes;
    int all = names && strcmp(names, "all") == 0, code = 0;
    t->r->seeds = t->o->seeds ? t->o->seeds : 1;
    if (t->r->seeds < 1 || t->r->seeds > LG_TRY_SEEDS)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%d seeds; take 1 to %d", t->r->seeds,
                        LG_TRY_SEEDS);
    for (int k = 0; k < SCHEMES && (!names || all) && !code; k++) {
        int wanted = kinds[k].usual & (t->r->levels ? LABELLED : UNLABELLED);
        if (all ? t->r->levels || !kinds[k].labels : wanted) code = select_kind(t, k, err);
    }
    for (const char *at = names; at && !all && !code;) {
        int n = (int)strcspn(at, ",");
        code = select_name(t, at, n, err);
        at = at[n] ? at + n + 1 : NULL;
    }
    return code;
}

/* The schemes with the first seed, then with each other one. */
void lg__try_schemes(struct lg__try *t)
{
    for (int i = 0; i < lg__try_runs(t->r); i++) {
        const struct kind *k = &kinds[t->kind[i % t->r->schemes]];
        struct lg__try_run *s = &t->run[i];
        int given = k->more == coupled && !depends_on_input(t);
        *s = (struct lg__try_run){.key = k->key, .full = 1};
        t->r->scheme[i] = (lg_try_scheme){.name = k->name,
                                          .ids = !k->labels ? LG_TRY_PLAIN
                                                 : given    ? LG_TRY_GIVEN
                                                            : LG_TRY_PREDICTED,
                                          .seed = t->o->seed + i / t->r->schemes};
        set(s, "positions.ids=%s", k->ids);
        set(s, "positions.encoding=%s", k->encoding);
        if (strcmp(k->span, "full") != 0) set(s, "positions.span=%s", k->span);
        if (k->more) k->more(t, s);
        add_common(t, s);
    }
}

/* ---- The config ----------------------------------------------------------------------------- */

/* The keys of a section that are among the sets. */
static void write_section(lg_buffer *to, const struct lg__try_run *s, const char *section)
{
    size_t n = strlen(section);
    lg_buffer_print(to, "%s:\n", section);
    for (int i = 0; i < s->set_count; i++) {
        const char *text = s->sets[i], *value = strchr(text, '=') + 1;
        if (strncmp(text, section, n) != 0 || text[n] != '.') continue;
        const char *key = text + n + 1;
        int size = (int)(value - 1 - key);
        static const char *const own[] = {"steps=", "schedule=", "keep=", "curriculum_steps="};
        int skip = 0;
        for (int k = 0; k < 4; k++) skip |= strncmp(key, own[k], strlen(own[k])) == 0;
        if (!skip) lg_buffer_print(to, "  %.*s: %s\n", size, key, value);
    }
}

/* A text of YAML, in quotes where it needs some. */
static void write_name(lg_buffer *to, const char *before, const char *name)
{
    int plain = 1;
    for (const char *s = name; *s; s++)
        plain &= (unsigned char)*s > ' ' && !strchr("\"'#:,[]{}&*!|>%@`\\", *s);
    lg_buffer_print(to, plain ? "%s" : "\"%s", before);
    for (const char *s = name; *s; s++)
        lg_buffer_print(to, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    lg_buffer_put(to, plain ? "\n" : "\"\n");
}

/* The lengths that `lengthen eval` finds lines of: of the training lengths, of which a tenth is held out,
 * the longest with enough; of the longer ones all, or as many as there are columns for. */
static void write_lengths(lg_buffer *to, const struct lg__try *t)
{
    int many = 0, n = 0;
    for (int c = 1; c < t->r->columns; c++) many += t->column[c].count;
    if (t->split.tested) lg_buffer_print(to, "%s%d", n++ ? ", " : "", t->split.tested);
    for (int c = 1; c < t->r->columns; c++)
        for (int i = 0; i < t->column[c].count; i++)
            if (many <= MOST_LENGTHS || i == t->column[c].count - 1)
                lg_buffer_print(to, "%s%d", n++ ? ", " : "", t->column[c].length[i]);
}

/* The steps that it took here, and half as many for the rate to fall. */
void lg__try_config(lg_buffer *to, const struct lg__try *t, int scheme)
{
    const lg_try_result *r = t->r;
    const struct lg__try_run *s = &t->run[scheme];
    int64_t steps = r->scheme[scheme].steps;
    lg_buffer_put(to, "task:\n  name: ");
    write_name(to, r->own ? "jsonl:" : "", r->task);
    for (int i = 0; i < t->o->setting_count; i++) {
        const char *text = t->o->settings[i], *value = strchr(text, '=');
        lg_buffer_print(to, "  %.*s: %s\n", (int)(value - text), text, value + 1);
    }
    write_section(to, s, "positions");
    write_section(to, s, "model");
    write_section(to, s, "train");
    if (t->curriculum) lg_buffer_print(to, "  curriculum_steps: %d\n", t->curriculum);
    lg_buffer_print(to, "  steps: %lld\n", (long long)(steps + steps / 2 + 99) / 100 * 100);
    lg_buffer_put(to, "eval:\n  lengths: [");
    if (r->own) write_lengths(to, t);
    for (int c = 0; c < r->columns && !r->own; c++)
        lg_buffer_print(to, "%s%d", c ? ", " : "", r->column[c].low);
    lg_buffer_put(to, "]\n");
}
