/* import_hf_config.c: config.json, key by key, with the defaults of the published classes. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/arch.h"
#include "formats/import_hf.h"

/* The reading of one file. After the first error the rest returns anything. */
struct reader {
    const char *file, *kind;
    json_t *all;
    lg_error *err;
    int e;
};

/* ---- Values ------------------------------------------------------------------------------- */

/* The value; JSON's null is the same as none. */
static const json_t *find(const struct reader *r, const char *key)
{
    const json_t *v = json_object_get(r->all, key);
    return json_is_null(v) ? NULL : v;
}

/* "FILE: "key" is VALUE; REASON". */
static void refuse(struct reader *r, const char *key, const json_t *value, const char *reason)
{
    if (r->e) return;
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    r->e = lg__fail(r->err, LG_ERROR_ARGUMENT, "%s: \"%s\" is %.60s; %s", r->file, key,
                    text ? text : "not to be read", reason);
    free(text);
}

static void missing(struct reader *r, const char *key)
{
    if (r->e) return;
    r->e = lg__fail(r->err, LG_ERROR_ARGUMENT,
                    "%s has no \"%s\", which a %s needs; take the config.json that was published "
                    "with the weights",
                    r->file, key, r->kind);
}

enum { NEEDED = INT_MIN };

static int get_int(struct reader *r, const char *key, int fallback)
{
    const json_t *v = find(r, key);
    if (!v && fallback == NEEDED) missing(r, key);
    if (!v) return r->e ? 1 : fallback;
    json_int_t n = json_integer_value(v);
    if (!json_is_integer(v) || n < 1 || n > 1 << 24)
        refuse(r, key, v, "it must be a whole number from 1 to 16777216");
    return r->e ? 1 : (int)n;
}

static double get_real(struct reader *r, const char *key, double fallback)
{
    const json_t *v = find(r, key);
    if (v && !json_is_number(v)) refuse(r, key, v, "it must be a number");
    return v ? json_number_value(v) : fallback;
}

static int get_flag(struct reader *r, const char *key, int fallback)
{
    const json_t *v = find(r, key);
    if (v && !json_is_boolean(v)) refuse(r, key, v, "it must be true or false");
    return v ? json_is_true(v) : fallback;
}

/* ---- What must not be there --------------------------------------------------------------- */

static const struct {
    const char *key;
    int wanted; /* besides null */
    const char *reason;
} demands[] = {
    {"quantization_config", -1,
     "quantized weights are not read; take the model in fp32, fp16 or bf16"},
    {"clip_qkv", -1,
     "the engine does not clip queries, keys and values; take a model with clip_qkv null (the 1B "
     "one of OLMo)"},
    {"add_cross_attention", 0, "the engine has no attention to a second text; take a decoder"},
    {"is_encoder_decoder", 0, "the engine has no encoder; take a decoder"},
    {"scale_attn_weights", 1,
     "the engine divides scores by the root of the head width; take a "
     "model that does so"},
    {"scale_attn_by_inverse_layer_idx", 0,
     "the engine does not divide scores by the layer's number; take a model that does not"},
};

static void check_demands(struct reader *r)
{
    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++) {
        const json_t *v = find(r, demands[i].key);
        int same = v && (demands[i].wanted ? json_is_true(v) : json_is_false(v));
        if (v && (demands[i].wanted < 0 || !same)) refuse(r, demands[i].key, v, demands[i].reason);
    }
}

/* ---- Parts -------------------------------------------------------------------------------- */

static lg_act read_act(struct reader *r, const char *key, const char *fallback, int gated)
{
    static const struct {
        const char *name;
        lg_act act;
    } acts[] = {
        {"gelu", LG_ACT_GELU},           {"gelu_new", LG_ACT_GELU_TANH},
        {"gelu_fast", LG_ACT_GELU_TANH}, {"gelu_pytorch_tanh", LG_ACT_GELU_TANH},
        {"silu", LG_ACT_SWIGLU},         {"swish", LG_ACT_SWIGLU},
    };
    const json_t *v = find(r, key);
    const char *name = v ? json_string_value(v) : fallback;
    for (size_t i = 0; name && i < sizeof acts / sizeof *acts; i++)
        if (strcmp(name, acts[i].name) == 0 && (acts[i].act == LG_ACT_SWIGLU) == gated)
            return acts[i].act;
    refuse(r, key, v,
           gated ? "the engine's gated feed-forward has silu alone; take a model with it"
                 : "the engine's plain feed-forward has gelu, gelu_new, gelu_fast and "
                   "gelu_pytorch_tanh; take a model with one of them");
    return LG_ACT_GELU;
}

/* rope_scaling, or rope_parameters of newer files: {"rope_type": "linear", "factor": 4}. */
static void read_scaling(struct reader *r, const char *key, lg_model_config *c)
{
    const json_t *all = find(r, key), *factor = json_object_get(all, "factor");
    if (!all) return;
    const char *type = json_string_value(json_object_get(all, "rope_type"));
    if (!type) type = json_string_value(json_object_get(all, "type"));
    if (!type && json_is_object(all) && !factor) type = "default";
    if (type && strcmp(type, "default") == 0) return;
    if (type && json_is_number(factor) && strcmp(type, "linear") == 0)
        c->rope_scaling = LG_ROPE_LINEAR;
    else if (type && json_is_number(factor) && strcmp(type, "dynamic") == 0)
        c->rope_scaling = LG_ROPE_DYNAMIC;
    else
        refuse(r, key, all,
               "default, linear and dynamic rotations with a factor are read; take a model with "
               "one of them");
    c->rope_factor = json_number_value(factor);
}

/* share_key NULL: all of each head turns. */
static void read_rope(struct reader *r, lg_model_config *c, const char *base_key,
                      const char *share_key, double share)
{
    json_t *all = r->all, *newer = json_object_get(all, "rope_parameters");
    c->rope_base = get_real(r, base_key, get_real(r, "rope_theta", 10000));
    if (share_key) share = get_real(r, share_key, share);
    share = get_real(r, "partial_rotary_factor", share);
    read_scaling(r, "rope_scaling", c);
    read_scaling(r, "rope_parameters", c);
    if (json_is_object(newer)) {
        r->all = newer;
        c->rope_base = get_real(r, "rope_theta", c->rope_base);
        share = get_real(r, "partial_rotary_factor", share);
        r->all = all;
    }
    c->rope_share = share;
    int turned = share >= 0 && share <= 1 ? (int)(c->width / c->heads * share) : 0;
    if (!r->e && turned % 2)
        r->e = lg__fail(r->err, LG_ERROR_ARGUMENT,
                        "%s: %d of the %d dimensions of a head turn; they turn in pairs: take a "
                        "model in which their number is even",
                        r->file, turned, c->width / c->heads);
}

static void read_shape(struct reader *r, lg_model_config *c)
{
    c->vocab = get_int(r, "vocab_size", NEEDED);
    c->width = get_int(r, "hidden_size", NEEDED);
    c->layers = get_int(r, "num_hidden_layers", NEEDED);
    c->heads = get_int(r, "num_attention_heads", NEEDED);
    c->ff = get_int(r, "intermediate_size", NEEDED);
    if (!r->e && c->width % c->heads)
        r->e = lg__fail(r->err, LG_ERROR_ARGUMENT,
                        "%s: \"hidden_size\" is %d, no multiple of \"num_attention_heads\", %d; "
                        "take the config.json that was published with the weights",
                        r->file, c->width, c->heads);
}

/* ---- The architectures -------------------------------------------------------------------- */

static void read_neox(struct reader *r, struct lg__layout *l, int *length)
{
    lg_model_config *c = &l->c;
    read_shape(r, c);
    c->act = read_act(r, "hidden_act", "gelu", 0);
    c->norm_eps = get_real(r, "layer_norm_eps", 1e-5);
    c->parallel = get_flag(r, "use_parallel_residual", 1);
    c->tied = get_flag(r, "tie_word_embeddings", 0);
    l->kv_heads = c->heads;
    l->attention_biases = get_flag(r, "attention_bias", 1);
    l->ff_biases = 1;
    read_rope(r, c, "rotary_emb_base", "rotary_pct", 0.25);
    *length = get_int(r, "max_position_embeddings", 2048);
}

/* Llama, and OLMo, whose norms have no weights. */
static void read_rotary(struct reader *r, struct lg__layout *l, int *length, int olmo)
{
    lg_model_config *c = &l->c;
    read_shape(r, c);
    read_act(r, "hidden_act", "silu", 1);
    c->norm = olmo ? LG_NORM_PLAIN : LG_NORM_RMS;
    c->norm_eps = olmo ? 1e-5 : get_real(r, "rms_norm_eps", 1e-6);
    c->tied = get_flag(r, "tie_word_embeddings", 0);
    l->kv_heads = get_int(r, "num_key_value_heads", c->heads);
    l->attention_biases = get_flag(r, "attention_bias", 0);
    l->ff_biases = olmo ? 0 : get_flag(r, "mlp_bias", 0);
    c->biases = l->attention_biases || l->ff_biases;
    read_rope(r, c, "rope_theta", NULL, 1);
    *length = get_int(r, "max_position_embeddings", 2048);
    if (!r->e && c->heads % l->kv_heads)
        refuse(r, "num_key_value_heads", find(r, "num_key_value_heads"),
               "it must divide num_attention_heads; take the config.json that was published with "
               "the weights");
    if (!r->e && get_int(r, "head_dim", c->width / c->heads) != c->width / c->heads)
        refuse(r, "head_dim", find(r, "head_dim"),
               "the engine's heads share hidden_size among them; take a model in which head_dim "
               "times num_attention_heads is hidden_size");
}

static void read_llama(struct reader *r, struct lg__layout *l, int *length)
{
    read_rotary(r, l, length, 0);
}

static void read_olmo(struct reader *r, struct lg__layout *l, int *length)
{
    read_rotary(r, l, length, 1);
}

static void read_gpt2(struct reader *r, struct lg__layout *l, int *length)
{
    lg_model_config *c = &l->c;
    c->vocab = get_int(r, "vocab_size", NEEDED);
    c->width = get_int(r, "n_embd", NEEDED);
    c->layers = get_int(r, "n_layer", NEEDED);
    c->heads = get_int(r, "n_head", NEEDED);
    c->ff = get_int(r, "n_inner", 4 * c->width);
    *length = get_int(r, "n_positions", NEEDED);
    c->act = read_act(r, "activation_function", "gelu_new", 0);
    c->norm_eps = get_real(r, "layer_norm_epsilon", 1e-5);
    c->parallel = 0;
    c->tied = get_flag(r, "tie_word_embeddings", 1);
    c->encoding = "learned";
    c->max_id = *length - 1;
    l->kv_heads = c->heads;
    l->attention_biases = l->ff_biases = 1;
}

static const struct {
    lg_arch arch;
    int name; /* of the arch's published ones */
    enum lg__format format;
    void (*read)(struct reader *r, struct lg__layout *l, int *length);
} kinds[] = {
    {LG_ARCH_NEOX, 0, LG__FORMAT_NEOX, read_neox},
    {LG_ARCH_OLMO, 0, LG__FORMAT_LLAMA, read_olmo},
    {LG_ARCH_OLMO, 1, LG__FORMAT_LLAMA, read_llama},
    {LG_ARCH_NEOX, 1, LG__FORMAT_GPT2, read_gpt2},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *name_of(int i, int type)
{
    const struct lg__arch *arch = lg__archs[kinds[i].arch];
    return type ? arch->published[kinds[i].name].type : arch->published[kinds[i].name].kind;
}

/* By "architectures", where there is none by "model_type"; -1 after an error. */
static int find_kind(struct reader *r)
{
    const json_t *list = find(r, "architectures"), *type = find(r, "model_type");
    const json_t *first = list ? json_array_get(list, 0) : type;
    const char *name = json_string_value(first);
    for (int i = 0; name && i < KINDS; i++)
        if (strcmp(name, name_of(i, !list)) == 0) return i;
    if (!list && !type) missing(r, "architectures");
    refuse(r, list ? "architectures" : "model_type", list ? list : type,
           "GPTNeoXForCausalLM, OlmoForCausalLM, LlamaForCausalLM and GPT2LMHeadModel are read; "
           "take a model of one of them");
    return -1;
}

static int read_all(struct reader *r, struct lg__layout *l, lg_import_info *info)
{
    int kind = find_kind(r);
    if (kind < 0) return r->e;
    r->kind = name_of(kind, 0);
    *l = (struct lg__layout){.format = kinds[kind].format};
    l->c = lg_model_config_default(kinds[kind].arch);
    check_demands(r);
    kinds[kind].read(r, l, &info->length);
    l->c.rope_length = info->length;
    snprintf(info->kind, sizeof info->kind, "%s", r->kind);
    lg_error why = {0};
    if (!r->e && lg_model_config_check(&l->c, &why))
        r->e = lg__fail(r->err, why.code, "%s: %s", r->file, why.text);
    return r->e;
}

int lg__hf_config(struct lg__layout *l, lg_import_info *info, const char *file, lg_error *err)
{
    json_error_t why;
    struct lg__mapped f;
    struct reader r = {.file = file, .kind = "model", .err = err};
    int e = lg__map_file(&f, file,
                         "give the folder of a published model, with its config.json and "
                         "model.safetensors",
                         err);
    if (e) return e;
    if (f.size > LG__HF_CONFIG_BYTES) {
        lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%s has %zu bytes, and at most %d are read; take the config.json that was published "
            "with the weights",
            file, f.size, LG__HF_CONFIG_BYTES);
        lg__unmap_file(&f);
        return LG_ERROR_ARGUMENT;
    }
    r.all = json_loadb(f.data ? f.data : "", f.size, JSON_REJECT_DUPLICATES, &why);
    lg__unmap_file(&f);
    if (!r.all)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is not JSON in line %d: %s; take a whole copy of it", file, why.line,
                        why.text);
    e = read_all(&r, l, info);
    json_decref(r.all);
    return e;
}
