/* config_keys.c: the keys of a run config, one row each. */
#include "runs/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"

/* ---- Names that other tables hold -------------------------------------------------------- */

static const char *ids_name(int i) { return i < lg_ids_count() ? lg_ids_info_at(i).name : NULL; }

static const char *encoding_name(int i)
{
    return i < lg_encoding_count() ? lg_encoding_info_at(i).name : NULL;
}

/* The rule of the task, then the heads that predict. */
static const char *source_name(int i)
{
    if (i == 0) return "given";
    return i <= lg_id_head_count() ? lg_id_head_info_at(i - 1).name : NULL;
}

/* ---- The table ---------------------------------------------------------------------------- */

#define AT(field) offsetof(struct lg__config, field)
#define INT(key, range, fallback, field, doc)                                                      \
    {                                                                                              \
        key, range, fallback, doc, LG__KEY_INT, AT(field), #field, NULL                            \
    }
#define REAL(key, range, fallback, field, doc)                                                     \
    {                                                                                              \
        key, range, fallback, doc, LG__KEY_REAL, AT(field), #field, NULL                           \
    }
#define WORD(key, range, fallback, field, doc)                                                     \
    {                                                                                              \
        key, range, fallback, doc, LG__KEY_WORD, AT(field), #field, NULL                           \
    }
#define LIST(kind, key, range, fallback, field, doc)                                               \
    {                                                                                              \
        key, range, fallback, doc, LG__KEY_##kind, AT(field), #field, NULL                         \
    }
#define NAME(kind, key, names, fallback, field, doc)                                               \
    {                                                                                              \
        key, "NAME", fallback, doc, LG__KEY_##kind, AT(field), #field, names                       \
    }

/* Words stand in the order of their enums in lengthen.h. */
static const struct lg__config_key keys[] = {
    {"seed", "0..9223372036854775807", "0", "of the weights, the examples and the drawn IDs",
     LG__KEY_SEED, AT(seed), "seed", NULL},

    {"task.name", "TASK", "", "a name of `lengthen tasks`, jsonl:FILE or exec:COMMAND; needed",
     LG__KEY_TASK, AT(task), "task", NULL},

    NAME(NAME, "positions.ids", ids_name, "plain", scheme.ids, "which ID a token gets"),
    INT("positions.levels", "0..3", "0", scheme.levels,
        "coupled: only the first so many of the task's levels; 0: all"),
    {"positions.coupling", "TEXT", "",
     "coupled: a file with the rule that gives labels, as `lengthen couple` writes it; else the "
     "task's own labels",
     LG__KEY_TEXT, AT(coupling), "coupling", NULL},
    INT("positions.max_id", "0..16777216", "0", scheme.max_id,
        "IDs are drawn up to this; rows of encoding learned; 0: none are drawn"),
    INT("positions.chunks", "2..1000000", "2", scheme.chunks, "pose: pieces of an example"),
    INT("positions.target", "0..1000000000", "0", scheme.target,
        "pose: the length in IDs to be ready for"),
    WORD("positions.cut_anywhere", "no|yes", "no", scheme.cut_anywhere,
         "pose: of two pieces the first may be longer than half, too"),
    WORD("positions.random_start", "no|yes", "no", scheme.random_start,
         "pose: the first piece is shifted at random, too"),
    NAME(SOURCE, "positions.source", source_name, "given", scheme.source,
         "who supplies the IDs of generated tokens: the task's rule, or a head that predicts "
         "them; one, or a list with one a level"),
    WORD("positions.match", "task|next|previous|any", "task", scheme.match,
         "source match: of the keys that match, the nearest with an ID above or below the carried "
         "one, or the latest in the text; task: as the task says, of own data any"),
    INT("positions.reach", "1..1000000", "8", scheme.reach, "source delta: steps of -reach..reach"),
    NAME(NAME, "positions.encoding", encoding_name, "rope", model.encoding,
         "how an ID enters the network"),
    WORD("positions.span", "full|window", "full", model.span,
         "which keys a query sees: all, or those whose ID is near"),
    LIST(WINDOW, "positions.window", "[-1048576..0, 0..1048576]", "[-2, 2]", model.window_lo,
         "key's ID - query's ID, from lo to hi, of span window and encoding relative; one [lo, "
         "hi], or a list with one a level"),
    REAL("positions.rope.share", "0.0..1.0", "1", model.rope_share, "of each head that is turned"),
    REAL("positions.rope.base", "1.0..1e30", "10000", model.rope_base, "of the frequencies"),
    WORD("positions.rope.scaling", "none|linear|ntk|dynamic|yarn", "none", model.rope_scaling,
         "how rope is stretched to longer texts"),
    REAL("positions.rope.factor", "1.0..1e6", "1", model.rope_factor,
         "how many times longer than rope.length"),
    INT("positions.rope.length", "0..1000000000", "0", model.rope_length,
        "tokens of training; dynamic and yarn need it"),

    WORD("model.arch", "neox|olmo|looped", "neox", model.arch,
         "neox: parallel, LayerNorm, GELU, biases; olmo: sequential, plain norm, SwiGLU; looped: "
         "sequential, LayerNorm, GELU, biases, the layers run several times"),
    INT("model.layers", "1..1000", "2", model.layers, "layers"),
    INT("model.width", "1..65536", "128", model.width, "of the stream; a multiple of heads"),
    INT("model.heads", "1..1024", "4", model.heads, "attention heads"),
    INT("model.ff", "auto|1..262144", "auto", model.ff, "of the feed-forward; auto: 4 times width"),
    WORD("model.norm", "auto|layer|plain|rms", "auto", model.norm,
         "LayerNorm, the same without weights, RMSNorm; auto: as the arch has it"),
    REAL("model.norm_eps", "1e-30..0.5", "1e-05", model.norm_eps, "added to the variance"),
    WORD("model.act", "auto|gelu|gelu-tanh|swiglu", "auto", model.act,
         "of the feed-forward; auto: as the arch has it"),
    WORD("model.biases", "auto|no|yes", "auto", model.biases,
         "in the linear layers; auto: as arch"),
    WORD("model.parallel", "auto|no|yes", "auto", model.parallel,
         "attention and feed-forward side by side; auto: as the arch has it"),
    INT("model.loops", "auto|1..1000", "auto", model.loops, "looped: how many times; auto: 4"),
    WORD("model.inject", "auto|no|yes", "auto", model.inject, "looped: adds the input each time"),
    WORD("model.tied", "no|yes", "no", model.tied, "the output head is the embedding"),
    WORD("model.attention", "softmax|ssmax|entmax15", "softmax", model.attention,
         "how attention scores become weights"),
    WORD("model.sink", "no|yes", "no", model.sink,
         "a learned score without a value: shows that no key is where a query looks"),

    {"train.init_from", "TEXT", "",
     "the folder of a run whose weights it begins with; else drawn ones", LG__KEY_TEXT,
     AT(init_from), "init_from", NULL},
    INT("train.steps", "1..2147483647", "1000", train.steps, "of the schedule"),
    INT("train.batch", "1..1000000", "64", batch, "sequences a step"),
    REAL("train.lr", "0.0..1e6", "0.001", train.lr, "learning rate after the warmup"),
    REAL("train.min_lr_ratio", "0.0..1.0", "0", train.min_lr_ratio,
         "the rate at the end, as a share of train.lr"),
    INT("train.warmup", "0..2147483647", "100", train.warmup, "steps of linear rise from 0"),
    INT("train.cooldown", "0..2147483647", "0", train.cooldown,
        "schedule constant: the last steps fall linearly"),
    WORD("train.schedule", "linear|cosine|constant", "linear", train.schedule,
         "how the rate falls"),
    REAL("train.weight_decay", "0.0..1e6", "0.1", train.weight_decay,
         "AdamW's weight decay, decoupled"),
    REAL("train.beta1", "0.0..0.999999", "0.9", train.beta1, "AdamW's first moment"),
    REAL("train.beta2", "0.0..0.9999999", "0.999", train.beta2, "AdamW's second moment"),
    REAL("train.eps", "1e-30..1.0", "1e-08", train.eps, "AdamW's epsilon"),
    REAL("train.grad_clip", "0.0..1e30", "1", train.grad_clip, "largest gradient norm; 0: any"),
    REAL("train.id_weight", "0.0..1e6", "1", train.id_weight,
         "weight of the ID loss beside the token loss"),
    WORD("train.precision", "fp32|bf16", "fp32", train.precision, "of what enters a matmul"),
    INT("train.groups", "1..64", "8", train.groups,
        "gradient blocks, a power of two; part of the result's bits"),
    LIST(PAIR, "train.length", "[1..1048576, 1..1048576]", "[1, 20]", length,
         "shortest and longest example, in the task's unit"),
    LIST(PAIR, "train.sparsity", "auto|[1..1048576, 1..1048576]", "auto", sparsity,
         "least and largest sparsity; auto: the task's own range"),
    WORD("train.curriculum", "none|length|sparsity|both", "none", curriculum,
         "what starts at its least and grows to its largest during training"),
    INT("train.curriculum_steps", "0..2147483647", "0", curriculum_steps,
        "it grows evenly over the first so many steps; 0: by one whenever it is learned so far"),
    REAL("train.curriculum_at", "0.5..1.0", "0.98", curriculum_at,
         "learned: so many of the tokens of about the last 60 steps are right"),
    INT("train.checkpoint_every", "0..2147483647", "500", checkpoint_every,
        "steps between checkpoints; 0: at the end only"),
    INT("train.keep", "0..1000000", "2", keep, "checkpoints that are kept, the last ones; 0: all"),
    REAL("train.stop_at", "0.0..1.0", "0", stop_at,
         "stop early at this share of exact answers at training lengths; 0: never"),
    INT("train.certify.every", "0..2147483647", "0", certify_every,
        "steps between certifications (`lengthen certify`); stop once it is certified; 0: never"),
    WORD("train.certify.feedback", "no|yes", "no", certify_feedback,
         "a quarter of the examples are inputs that reach contexts which were wrong, no longer "
         "than train.length"),

    LIST(LIST, "eval.lengths", "auto|[1..1048576, ..]", "auto", eval_lengths,
         "in the task's unit; auto: 1, 2, 5 and 10 times the longest of training"),
    LIST(LIST, "eval.sparsities", "auto|[1..1048576, ..]", "auto", eval_sparsities,
         "auto: drawn from the task's own range"),
    INT("eval.samples", "1..100000000", "200", eval_samples, "examples for each cell of the grid"),
    INT("eval.every", "0..2147483647", "0", eval_every,
        "steps between evaluations of this grid during training; 0: none, `lengthen eval` makes "
        "it"),
};
enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)LG__CONFIG_ROWS, "a config has a line for each key");

const struct lg__config_key *lg__config_keys(int *count)
{
    if (count) *count = KEYS;
    return keys;
}

const struct lg__config_key *lg__config_find(const char *key)
{
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[i].key, key) == 0) return &keys[i];
    return NULL;
}

const char *lg__config_key_of(const char *name)
{
    for (int i = 0; i < KEYS; i++) {
        const char *dot = strchr(keys[i].field, '.');
        if (dot && strcmp(dot + 1, name) == 0) return keys[i].key;
    }
    return NULL;
}

int lg__config_section(const char *key)
{
    size_t n = strlen(key);
    for (int i = 0; n && i < KEYS; i++)
        if (strncmp(keys[i].key, key, n) == 0 && keys[i].key[n] == '.') return 1;
    return 0;
}

/* ---- Suggestions -------------------------------------------------------------------------- */

static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

static int task_setting(const char *name)
{
    for (int i = 0; i < lg_task_count(); i++)
        for (const lg_setting *s = lg_task_info_at(i)->settings; s && s->name; s++)
            if (strcmp(s->name, name) == 0) return 1;
    return 0;
}

/* The key that ends in this word, the one in the fewest maps; or NULL. */
static const char *ending_in(const char *last)
{
    const char *found = NULL;
    int least = 0;
    for (int i = 0; i < KEYS; i++) {
        int dots = 0;
        for (const char *s = keys[i].key; *s; s++) dots += *s == '.';
        if (strcmp(last_part(keys[i].key), last) != 0 || (found && dots >= least)) continue;
        found = keys[i].key;
        least = dots;
    }
    return found;
}

/* The key, or the map of keys, of as many parts as this one has that is nearest; or NULL. */
static const char *nearest_of_parts(const char *key)
{
    static _Thread_local char cut[KEYS][64];
    const char *names[KEYS];
    int parts = 1;
    for (const char *s = key; *s; s++) parts += *s == '.';
    for (int i = 0; i < KEYS; i++) {
        size_t n = 0;
        for (int k = 0; k < parts && (!k || keys[i].key[n]); k++)
            n += (k > 0) + strcspn(keys[i].key + n + (k > 0), ".");
        snprintf(cut[i], sizeof cut[i], "%.*s", (int)n, keys[i].key);
        names[i] = cut[i];
    }
    int near = lg_nearest(key, names, KEYS);
    return near < 0 ? NULL : cut[near];
}

/* A right word in the wrong map is likelier than a slip in the whole key. */
const char *lg_config_nearest(const char *key)
{
    static _Thread_local char setting[80];
    const char *names[KEYS], *last = last_part(key), *found = ending_in(last);
    if (found) return found;
    if (strncmp(key, "task.", 5) != 0 && strlen(last) < 64 && task_setting(last)) {
        snprintf(setting, sizeof setting, "task.%s", last);
        return setting;
    }
    if ((found = nearest_of_parts(key)) || strlen(last) < 4) return found;
    for (int i = 0; i < KEYS; i++) names[i] = last_part(keys[i].key);
    int near = lg_nearest(last, names, KEYS);
    return near < 0 ? NULL : keys[near].key;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

const char *lg__config_range(const struct lg__config_key *k, char *text, size_t size)
{
    if (!k->name) {
        snprintf(text, size, "%s", k->range);
        return text;
    }
    *text = 0;
    for (int i = 0; k->name(i); i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? "|" : "", k->name(i));
    }
    return text;
}

/* strtod would read "1..2" as 1. and .2, so the number before the dots is cut out first. */
int lg__config_bounds(const char *range, int i, double *least, double *most)
{
    const char *dots = range;
    for (;; dots += 2, i--) {
        dots = strstr(dots, "..");
        if (!dots) return 0;
        if (i == 0) break;
    }
    const char *from = dots;
    char low[32], *end;
    while (from > range && !strchr("[|, ", from[-1])) from--;
    size_t n = (size_t)(dots - from);
    if (!n || n >= sizeof low) return 0;
    memcpy(low, from, n);
    low[n] = 0;
    *least = strtod(low, &end);
    if (*end) return 0;
    *most = strtod(dots + 2, &end);
    return end != dots + 2;
}
