/* try_schemes.c: the schemes that lg_try compares, as what they set in a config. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "study/try.h"

enum {
    STEPS = 1000000, /* more than fit into any time */
    USUAL_REACH = 8
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

static struct lg__try_run *add_scheme(struct lg__try *t, const char *name, const char *key,
                                      lg_try_ids ids)
{
    int i = t->r->schemes++;
    t->r->scheme[i] = (lg_try_scheme){.name = name, .ids = ids};
    t->run[i] = (struct lg__try_run){.key = key, .full = 1};
    return &t->run[i];
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
    set(s, "positions.encoding=relative");
    set(s, "positions.span=window");
    set_levels(s, "positions.window", t->r->levels, value);
    set(s, "model.sink=yes");
    s->full = 0;
}

/* Those of a task whose tokens have labels. */
static void add_coupled(struct lg__try *t)
{
    int depends = 0; /* IDs depend on the input: the rule would give part of the answer away */
    for (int l = 0; l < t->r->levels; l++) depends |= !t->reach[l];
    struct lg__try_run *s =
        add_scheme(t, "coupled + RoPE", "coupled-rope", depends ? LG_TRY_PREDICTED : LG_TRY_GIVEN);
    set(s, "positions.ids=coupled");
    if (depends) set_source(t, s);
    set(s, "positions.encoding=rope");
    set(s, "model.sink=yes");
    s = add_scheme(t, "coupled + window", "coupled-window", LG_TRY_PREDICTED);
    set(s, "positions.ids=coupled");
    set_source(t, s);
    set_window(t, s);
}

static void add_window(struct lg__try *t)
{
    struct lg__try_run *s = add_scheme(t, "window", "window", LG_TRY_PLAIN);
    set(s, "positions.ids=plain");
    set(s, "positions.encoding=relative");
    set(s, "positions.span=window");
    set(s, "positions.window=[-8, 0]");
    set(s, "model.sink=yes");
    s->full = 0;
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
    set(s, "seed=%llu", (unsigned long long)t->o->seed);
    set(s, "eval.lengths=[%d]", t->r->most); /* the tests name theirs */
}

int lg__try_scheme_count(const struct lg__try *t) { return t->r->levels ? 5 : 4; }

void lg__try_schemes(struct lg__try *t)
{
    struct lg__try_run *s = add_scheme(t, "plain RoPE", "plain-rope", LG_TRY_PLAIN);
    set(s, "positions.ids=plain");
    set(s, "positions.encoding=rope");
    s = add_scheme(t, "PoSE + RoPE", "pose-rope", LG_TRY_PLAIN);
    set(s, "positions.ids=pose");
    set(s, "positions.target=%d", t->r->tokens_tested + 1);
    set(s, "positions.encoding=rope");
    s = add_scheme(t, "plain ALiBi", "plain-alibi", LG_TRY_PLAIN);
    set(s, "positions.ids=plain");
    set(s, "positions.encoding=alibi");
    if (t->r->levels)
        add_coupled(t);
    else
        add_window(t);
    for (int i = 0; i < t->r->schemes; i++) add_common(t, &t->run[i]);
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

/* The steps that it took here, and half as many for the rate to fall. */
void lg__try_config(lg_buffer *to, const struct lg__try *t, int scheme)
{
    const lg_try_result *r = t->r;
    const struct lg__try_run *s = &t->run[scheme];
    int64_t steps = r->scheme[scheme].steps;
    lg_buffer_print(to, "task:\n  name: %s%s\n", r->own ? "jsonl:" : "", r->task);
    for (int i = 0; i < t->o->setting_count; i++) {
        const char *text = t->o->settings[i], *value = strchr(text, '=');
        lg_buffer_print(to, "  %.*s: %s\n", (int)(value - text), text, value + 1);
    }
    write_section(to, s, "positions");
    write_section(to, s, "model");
    write_section(to, s, "train");
    if (t->curriculum) lg_buffer_print(to, "  curriculum_steps: %d\n", t->curriculum);
    lg_buffer_print(to, "  steps: %lld\n", (long long)(steps + steps / 2 + 99) / 100 * 100);
    if (r->own) return; /* the file has the lengths that it has */
    lg_buffer_put(to, "eval:\n  lengths: [");
    for (int c = 0; c < r->columns; c++)
        lg_buffer_print(to, "%s%d", c ? ", " : "", r->column[c].low);
    lg_buffer_put(to, "]\n");
}
