/* try_schemes.c: the schemes that `lengthen try` compares, as what they set in a config. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/try.h"

enum {
    STEPS = 1000000, /* more than fit into any time */
    MOST_BATCH = 64,
    BATCH_TOKENS = 8192,
    USUAL_REACH = 8
};

static void set(struct lg_try_scheme *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set(struct lg_try_scheme *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->sets[s->set_count++], sizeof s->sets[0], format, args);
    va_end(args);
}

static struct lg_try_scheme *add_scheme(struct lg_try *t, const char *name, const char *key,
                                        const char *ids)
{
    struct lg_try_scheme *s = &t->scheme[t->schemes++];
    *s = (struct lg_try_scheme){.name = name, .key = key, .ids = ids, .full = 1};
    return s;
}

/* One value a level as "a", or "[a, b]" for several. */
static void set_levels(struct lg_try_scheme *s, const char *key, int levels,
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
static void set_source(const struct lg_try *t, struct lg_try_scheme *s)
{
    char value[LG_LEVELS][24];
    int reach = USUAL_REACH;
    for (int l = 0; l < t->levels; l++) {
        snprintf(value[l], sizeof value[l], "%s", t->reach[l] ? "delta" : "pointer");
        reach = t->reach[l] > reach ? t->reach[l] : reach;
    }
    set_levels(s, "positions.source", t->levels, value);
    if (reach > USUAL_REACH) set(s, "positions.reach=%d", reach);
}

static void set_window(const struct lg_try *t, struct lg_try_scheme *s)
{
    char value[LG_LEVELS][24];
    for (int l = 0; l < t->levels; l++)
        snprintf(value[l], sizeof value[l], "[-%d, %d]", t->window[l], t->window[l]);
    set(s, "positions.encoding=relative");
    set(s, "positions.span=window");
    set_levels(s, "positions.window", t->levels, value);
    set(s, "model.sink=yes");
    s->full = 0;
}

/* Those of a task whose tokens have labels. */
static void add_coupled(struct lg_try *t)
{
    int depends = 0; /* IDs depend on the input: the rule would give part of the answer away */
    for (int l = 0; l < t->levels; l++) depends |= !t->reach[l];
    struct lg_try_scheme *s =
        add_scheme(t, "coupled + RoPE", "coupled-rope", depends ? "predicted" : "given");
    set(s, "positions.ids=coupled");
    if (depends) set_source(t, s);
    set(s, "positions.encoding=rope");
    set(s, "model.sink=yes");
    s = add_scheme(t, "coupled + window", "coupled-window", "predicted");
    set(s, "positions.ids=coupled");
    set_source(t, s);
    set_window(t, s);
}

static void add_window(struct lg_try *t)
{
    struct lg_try_scheme *s = add_scheme(t, "window", "window", "plain");
    set(s, "positions.ids=plain");
    set(s, "positions.encoding=relative");
    set(s, "positions.span=window");
    set(s, "positions.window=[-8, 0]");
    set(s, "model.sink=yes");
    s->full = 0;
}

/* What all schemes have. */
static void add_common(const struct lg_try *t, struct lg_try_scheme *s)
{
    int batch = BATCH_TOKENS / (t->tokens ? t->tokens : 1);
    s->own_count = s->set_count;
    set(s, "model.width=64");
    set(s, "train.lr=%s", s->full ? "2e-3" : "4e-3");
    set(s, "train.warmup=50");
    set(s, "train.batch=%d", batch > MOST_BATCH ? MOST_BATCH : batch < 8 ? 8 : batch);
    set(s, "train.length=[%d, %d]", t->least, t->most);
    set(s, "train.curriculum=length");
    set(s, "train.curriculum_steps=%d", t->curriculum);
    set(s, "train.schedule=constant");
    set(s, "train.steps=%d", STEPS);
    set(s, "train.keep=1");
    set(s, "seed=%llu", (unsigned long long)t->seed);
    set(s, "eval.lengths=[%d]", t->most); /* the tests name theirs */
}

void lg_try_schemes(struct lg_try *t)
{
    struct lg_try_scheme *s = add_scheme(t, "plain RoPE", "plain-rope", "plain");
    set(s, "positions.ids=plain");
    set(s, "positions.encoding=rope");
    s = add_scheme(t, "PoSE + RoPE", "pose-rope", "plain");
    set(s, "positions.ids=pose");
    set(s, "positions.target=%d", t->tokens_tested + 1);
    set(s, "positions.encoding=rope");
    s = add_scheme(t, "plain ALiBi", "plain-alibi", "plain");
    set(s, "positions.ids=plain");
    set(s, "positions.encoding=alibi");
    if (t->levels)
        add_coupled(t);
    else
        add_window(t);
    for (int i = 0; i < t->schemes; i++) add_common(t, &t->scheme[i]);
}
