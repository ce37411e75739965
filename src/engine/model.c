/* model.c: the config's check, the parameter table, the initial weights, the packs. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "index.h"

enum { STREAM_INIT = 0x494e4954 }; /* "INIT" */

lg_model_config lg_model_config_default(lg_arch arch)
{
    const struct lg__arch *row = lg__archs[arch];
    return (lg_model_config){
        .arch = arch,
        .layers = 2,
        .width = 128,
        .heads = 4,
        .norm = row->norm,
        .norm_eps = 1e-5,
        .act = row->act,
        .biases = row->biases,
        .parallel = row->parallel,
        .loops = row->loops,
        .inject = row->inject,
        .levels = 1,
        .encoding = "rope",
        .rope_share = 1.0,
        .rope_base = 10000.0,
        .rope_factor = 1.0,
        .window_lo = {-2, -2, -2},
        .window_hi = {2, 2, 2},
    };
}

static const struct lg__encoding *find_encoding(lg__encoding_table *encodings, const char *name)
{
    for (int i = 0; name && encodings[i]; i++)
        if (strcmp(encodings[i]->name, name) == 0) return encodings[i];
    return NULL;
}

static int range(lg_error *err, const char *what, int64_t value, int64_t least, int64_t most)
{
    if (value >= least && value <= most) return 0;
    return lg__fail_key(err, LG_ERROR_ARGUMENT, what, "{%s} is %lld; it must be from %lld to %lld",
                        what, (long long)value, (long long)least, (long long)most);
}

static int check_levels(const lg_model_config *c, lg_error *err)
{
    int e = range(err, "levels", c->levels, 1, LG_LEVELS);
    for (int l = 0; l < c->levels && !e; l++) {
        if ((e = range(err, "id_classes", c->id_classes[l], 0, 1 << 24)) ||
            (e = range(err, "pointer", c->pointer[l], 0, c->match[l] ? 0 : 1)) ||
            (e = range(err, "match", c->match[l], LG_MATCH_NONE, LG_MATCH_ANY)) ||
            (e = range(err, "key_tokens", c->key_tokens, 0, LG_KEY_TOKENS)) ||
            (e = range(err, "window_lo", c->window_lo[l], -(1 << 20), 0)) ||
            (e = range(err, "window_hi", c->window_hi[l], 0, 1 << 20)))
            return e;
    }
    if (!e && c->levels > 1 && c->span == LG_SPAN_WINDOW && lg__rotary_rows(c) > 1 << 22)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "window_lo",
                            "the windows of the %d levels hold over 4 million combinations of "
                            "differences; make them narrower",
                            c->levels);
    return e;
}

static int check_loops(const lg_model_config *c, lg_error *err)
{
    const struct lg__arch *arch = lg__archs[c->arch];
    int e = range(err, "loops", c->loops, 1, 1000);
    if (!e) e = range(err, "inject", c->inject, 0, 1);
    if (e || arch->injects || (c->loops == 1 && !c->inject)) return e;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, c->loops > 1 ? "loops" : "inject",
        "{loops} is %d and {inject} %d, but arch %s runs its layers once; take arch "
        "looped",
        c->loops, c->inject, arch->name);
}

static int check_encoding(const lg_model_config *c, lg__encoding_table *encodings, lg_error *err)
{
    const struct lg__encoding *encoding = find_encoding(encodings, c->encoding);
    if (encoding) return encoding->check ? encoding->check(c, err) : 0;
    char list[160] = "";
    for (int i = 0; encodings[i]; i++) {
        const char *between = !i ? "" : encodings[i + 1] ? ", " : " or ";
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", between, encodings[i]->name);
    }
    return lg__fail_key(err, LG_ERROR_ARGUMENT, "encoding", "{encoding} '%s' is not known; take %s",
                        c->encoding ? c->encoding : "(null)", list);
}

int lg__model_config_check(const lg_model_config *c, lg__encoding_table *encodings, lg_error *err)
{
    int e;
    if ((e = range(err, "arch", c->arch, 0, lg__arch_count - 1)) ||
        (e = range(err, "vocab", c->vocab, 1, 1 << 24)) ||
        (e = range(err, "layers", c->layers, 1, 1000)) ||
        (e = range(err, "width", c->width, 1, 1 << 16)) ||
        (e = range(err, "heads", c->heads, 1, 1024)) || (e = range(err, "ff", c->ff, 0, 1 << 18)) ||
        (e = range(err, "norm", c->norm, LG_NORM_LAYER, LG_NORM_RMS)) ||
        (e = range(err, "act", c->act, LG_ACT_GELU, LG_ACT_SWIGLU)) ||
        (e = range(err, "span", c->span, LG_SPAN_FULL, LG_SPAN_WINDOW)) ||
        (e = range(err, "attention", c->attention, LG_ATTENTION_SOFTMAX, LG_ATTENTION_ENTMAX15)) ||
        (e = range(err, "sink", c->sink, 0, 1)) ||
        (e = range(err, "rope_scaling", c->rope_scaling, LG_ROPE_PLAIN, LG_ROPE_YARN)) ||
        (e = range(err, "max_id", c->max_id, 0, INT32_MAX)) || (e = check_levels(c, err)) ||
        (e = check_loops(c, err)))
        return e;
    if (c->isa && !lg__kernels_find(c->isa))
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "isa",
            "{isa} is \"%s\", which this program or this CPU does not have; take " LG_ISAS
            ", or NULL for %s",
            c->isa, lg_isa());
    if (c->width % c->heads)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "heads",
                            "{width} %d is not a multiple of {heads} %d; change one of them",
                            c->width, c->heads);
    if (!(c->norm_eps >= 1e-30 && c->norm_eps < 1)) /* less may be 0 as a float */
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "norm_eps",
                            "{norm_eps} is %g; it must be 1e-30 or more and under 1", c->norm_eps);
    return check_encoding(c, encodings, err);
}

/* ---- The parameter table ------------------------------------------------------------ */

static size_t add_tensor(struct lg_model *m, enum lg__init init, double deviation, int rows,
                         int cols, int decay, const char *format, int layer)
{
    struct lg__tensor *t = &m->tensors[m->tensor_count++];
    snprintf(t->name, sizeof t->name, format, layer);
    t->rows = rows;
    t->cols = cols;
    t->decay = decay;
    t->init = init;
    t->deviation = deviation;
    t->offset = m->size;
    m->size += ((size_t)rows * (size_t)cols + 15) / 16 * 16;
    return t->offset;
}

static struct lg__norm_at add_norm(struct lg_model *m, const char *weight, const char *bias,
                                   int layer)
{
    struct lg__norm_at n = {LG__NO_TENSOR, LG__NO_TENSOR};
    int C = m->config.width;
    if (m->config.norm != LG_NORM_PLAIN)
        n.w = add_tensor(m, LG__INIT_ONE, 0, 1, C, 0, weight, layer);
    if (m->config.norm == LG_NORM_LAYER)
        n.b = add_tensor(m, LG__INIT_ZERO, 0, 1, C, 0, bias, layer);
    return n;
}

/* Rows from..from+out of the weight at w (and its bias at b) as a linear map. */
static void map_linear(struct lg_model *m, struct lg__linear *l, size_t w, size_t b, int from,
                       int out, int in)
{
    l->in = in;
    l->out = out;
    l->w = w + (size_t)from * (size_t)in;
    l->b = b == LG__NO_TENSOR ? b : b + (size_t)from;
    l->pack_y = m->pack_size;
    m->pack_size += (m->k->pack_size(in, out) + 15) / 16 * 16;
    l->pack_dx = m->pack_size;
    m->pack_size += (m->k->pack_size(out, in) + 15) / 16 * 16;
    m->linears[m->linear_count++] = l;
}

static void add_linear(struct lg_model *m, size_t *w, size_t *b, int out, int in, double deviation,
                       const char *weight, const char *bias, int layer)
{
    *w = add_tensor(m, LG__INIT_NORMAL, deviation, out, in, 1, weight, layer);
    *b = bias && m->config.biases ? add_tensor(m, LG__INIT_ZERO, 0, 1, out, 0, bias, layer)
                                  : LG__NO_TENSOR;
}

static void add_layer(struct lg_model *m, int n)
{
    struct lg__layer *l = &m->layers[n];
    const lg_model_config *c = &m->config;
    int C = c->width, H = c->heads, rows, cols;
    size_t w, b;
    double inside = m->arch->deviation(c, 0), last = m->arch->deviation(c, 1);

    l->norm1 = add_norm(m, "layers.%d.norm1.weight", "layers.%d.norm1.bias", n);
    add_linear(m, &w, &b, 3 * C, C, inside, "layers.%d.attn.qkv.weight", "layers.%d.attn.qkv.bias",
               n);
    map_linear(m, &l->q, w, b, 0, C, C);
    map_linear(m, &l->kv, w, b, C, 2 * C, C);
    add_linear(m, &w, &b, C, C, last, "layers.%d.attn.out.weight", "layers.%d.attn.out.bias", n);
    map_linear(m, &l->out, w, b, 0, C, C);
    l->scale = l->sink = l->position = LG__NO_TENSOR;
    if (c->attention == LG_ATTENTION_SSMAX)
        l->scale = add_tensor(m, LG__INIT_ONE, 0, 1, H, 0, "layers.%d.attn.scale", n);
    if (c->sink) l->sink = add_tensor(m, LG__INIT_ZERO, 0, 1, H, 0, "layers.%d.attn.sink", n);
    if (m->encoding->shape) {
        m->encoding->shape(c, &rows, &cols);
        l->position = add_tensor(m, m->encoding->init ? LG__INIT_ENCODING : LG__INIT_ZERO, 0, rows,
                                 cols, 0, "layers.%d.position.bias", n);
    }
    l->norm2 = add_norm(m, "layers.%d.norm2.weight", "layers.%d.norm2.bias", n);
    add_linear(m, &w, &b, m->U, C, inside, "layers.%d.ff.up.weight", "layers.%d.ff.up.bias", n);
    map_linear(m, &l->up, w, b, 0, m->U, C);
    add_linear(m, &w, &b, C, m->F, last, "layers.%d.ff.down.weight", "layers.%d.ff.down.bias", n);
    map_linear(m, &l->down, w, b, 0, C, m->F);
}

/* What predicts the next ID at one level. The first level's head keeps the short name. */
static void add_id_head(struct lg_model *m, int level, double deviation)
{
    const lg_model_config *c = &m->config;
    struct lg__pointer *p = &m->pointer[level];
    size_t none = LG__NO_TENSOR, w;
    int C = c->width;
    if (c->id_classes[level]) {
        w = add_tensor(m, LG__INIT_NORMAL, deviation, c->id_classes[level], C, 1,
                       level ? "id_head.%d.weight" : "id_head.weight", level);
        map_linear(m, &m->id_head[level], w, none, 0, c->id_classes[level], C);
    }
    if (!lg__finds(c, level)) return;
    int match = c->match[level] != LG_MATCH_NONE;
    /* pointer.c and match.c multiply the scores by 64 = 8 * 8. */
    w = add_tensor(m, LG__INIT_NORMAL, deviation / 8, C, C, 1,
                   match ? "match.%d.query.weight" : "pointer.%d.query.weight", level);
    map_linear(m, &p->query, w, none, 0, C, C);
    w = add_tensor(m, LG__INIT_NORMAL, deviation / 8, C, C, 1,
                   match ? "match.%d.key.weight" : "pointer.%d.key.weight", level);
    map_linear(m, &p->key, w, none, 0, C, C);
    p->place = add_tensor(m, LG__INIT_ZERO, 0, 1, match ? 1 : 4, 0,
                          match ? "match.%d.bias" : "pointer.%d.place", level);
}

static void build_table(struct lg_model *m)
{
    const lg_model_config *c = &m->config;
    int C = c->width, rows, cols;
    double embed = m->arch->deviation(c, 0), deviation;
    size_t none = LG__NO_TENSOR, w;
    size_t table = add_tensor(m, LG__INIT_NORMAL, embed, c->vocab, C, 1, "embed.weight", 0);
    m->input = none;
    if (m->encoding->input_shape) {
        m->encoding->input_shape(c, &rows, &cols, &deviation);
        m->input = add_tensor(m, LG__INIT_NORMAL, deviation, rows, cols, 1, "position.weight", 0);
    }
    for (int n = 0; n < c->layers; n++) add_layer(m, n);
    for (int n = c->layers; n < m->depth; n++) m->layers[n] = m->layers[n % c->layers];
    m->final_norm = add_norm(m, "final_norm.weight", "final_norm.bias", 0);
    w = c->tied ? table : add_tensor(m, LG__INIT_NORMAL, embed, c->vocab, C, 1, "head.weight", 0);
    map_linear(m, &m->head, w, none, 0, c->vocab, C);
    for (int l = 0; l < c->levels; l++) add_id_head(m, l, embed);
}

static void fill_params(struct lg_model *m)
{
    for (int i = 0; i < m->tensor_count; i++) {
        const struct lg__tensor *t = &m->tensors[i];
        float *p = m->params + t->offset;
        size_t n = (size_t)t->rows * (size_t)t->cols;
        lg_rng r;
        lg_rng_init(&r, m->config.seed, STREAM_INIT, (uint64_t)i);
        if (t->init == LG__INIT_ENCODING) m->encoding->init(p, &m->config, &r);
        for (size_t j = 0; j < n && t->init == LG__INIT_ONE; j++) p[j] = 1.0f;
        for (size_t j = 0; j < n && t->init == LG__INIT_NORMAL; j++)
            p[j] = (float)(t->deviation * lg_rng_normal(&r));
    }
}

/* ---- Rotations ------------------------------------------------------------------------ */

void lg__rotate(const struct lg_model *m, float *c, float *s, int64_t id, int from, int to)
{
    for (int i = from; i < to; i++) {
        double angle = (double)id * m->theta[i];
        c[i] = (float)(m->amplitude * cos(angle));
        s[i] = (float)(m->amplitude * sin(angle));
    }
}

/* Row `row` of the window's table: the differences of all levels. The amplitude is that of query
 * and key together. */
static void fill_rotary(struct lg_model *m, int64_t row)
{
    const lg_model_config *c = &m->config;
    float *cosine = m->rotary_cos + (size_t)row * (size_t)(m->R / 2);
    float *sine = m->rotary_sin + (size_t)row * (size_t)(m->R / 2);
    int64_t d[LG_LEVELS];
    int shared[LG_LEVELS];
    lg__rotary_row(c, row, d, shared);
    for (int i = 0; i < m->R / 2; i++) {
        int l = m->theta_level[i];
        double angle = (double)d[l] * m->theta[i], a = shared[l] ? m->amplitude * m->amplitude : 0;
        cosine[i] = (float)(a * cos(angle));
        sine[i] = (float)(a * sin(angle));
    }
}

static void set_rotations(struct lg_model *m, int length)
{
    if (!m->R) return;
    m->rotation++;
    m->encoding->frequencies(m->theta, m->theta_level, &m->amplitude, &m->config, m->R, length);
    for (int64_t row = 0; m->rotary_cos && row < lg__rotary_rows(&m->config); row++)
        fill_rotary(m, row);
}

int lg_model_set_length(lg_model *m, int n, lg_error *err)
{
    if (n < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT, "a length of %d tokens; it must be at least 1", n);
    set_rotations(m, n);
    return 0;
}

/* ---- Weights in the order of the matmuls --------------------------------------------------- */

void lg__model_pack(struct lg_model *m, int i, int backward)
{
    const struct lg__linear *l = m->linears[i];
    const float *w = m->params + l->w;
    m->k->pack(m->packs + l->pack_y, w, 1, (size_t)l->in, l->in, l->out);
    if (backward) m->k->pack(m->packs + l->pack_dx, w, (size_t)l->in, 1, l->out, l->in);
}

void lg_model_touch(lg_model *m)
{
    for (int i = 0; i < m->linear_count; i++) lg__model_pack(m, i, 1);
}

static int allocate(struct lg_model *m, lg_error *err)
{
    const lg_model_config *c = &m->config;
    size_t half = (size_t)(m->R / 2);
    size_t turns = c->span == LG_SPAN_WINDOW ? half * (size_t)lg__rotary_rows(c) : 0;
    m->params = lg__alloc(m->size * sizeof(float));
    m->packs = lg__alloc(m->pack_size * sizeof(float));
    m->theta = lg__alloc((half + 1) * sizeof *m->theta);
    m->theta_level = lg__alloc((half + 1) * sizeof *m->theta_level);
    int ok = m->params && m->packs && m->theta && m->theta_level;
    if (ok && c->span == LG_SPAN_WINDOW && m->R) {
        m->rotary_cos = lg__alloc(turns * sizeof(float));
        m->rotary_sin = lg__alloc(turns * sizeof(float));
        ok = m->rotary_cos && m->rotary_sin;
    }
    if (ok) return 0;
    return lg__fail(err, LG_ERROR_MEMORY,
                    "no memory for a model of %.0f MB; make width, layers or vocab smaller",
                    (double)(m->size + m->pack_size) * sizeof(float) / 1e6);
}

lg_model *lg__model_new_zero(const lg_model_config *c, lg__encoding_table *encodings, lg_error *err)
{
    if (lg__model_config_check(c, encodings, err)) return NULL;
    struct lg_model *m = lg__alloc(sizeof *m);
    if (!m) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a model; end other programs");
        return NULL;
    }
    m->config = *c;
    m->k = c->isa ? lg__kernels_find(c->isa) : lg__kernels_get();
    m->config.isa = m->k->name;
    m->arch = lg__archs[c->arch];
    m->depth = c->layers * c->loops;
    m->encoding = find_encoding(encodings, c->encoding);
    m->config.encoding = m->encoding->name;
    m->D = c->width / c->heads;
    m->R = m->encoding->frequencies ? 2 * (int)(c->rope_share * m->D / 2) : 0;
    m->F = m->config.ff = c->ff ? c->ff : 4 * c->width;
    m->U = c->act == LG_ACT_SWIGLU ? 2 * m->F : m->F;
    m->tensors = lg__alloc(sizeof *m->tensors * (size_t)(15 * c->layers + 6 + 4 * LG_LEVELS));
    m->layers = lg__alloc(sizeof *m->layers * (size_t)m->depth);
    m->linears = lg__alloc(sizeof *m->linears * (size_t)(5 * c->layers + 1 + 3 * LG_LEVELS));
    if (!m->tensors || !m->layers || !m->linears) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a model of %d layers", c->layers);
        lg_model_free(m);
        return NULL;
    }
    build_table(m);
    if (allocate(m, err)) {
        lg_model_free(m);
        return NULL;
    }
    set_rotations(m, c->rope_length);
    return m;
}

lg_model *lg__model_new(const lg_model_config *c, lg__encoding_table *encodings, lg_error *err)
{
    struct lg_model *m = lg__model_new_zero(c, encodings, err);
    if (!m) return NULL;
    fill_params(m);
    lg_model_touch(m);
    return m;
}

void lg_model_free(lg_model *m)
{
    if (!m) return;
    free(m->tensors);
    free(m->layers);
    free(m->linears);
    free(m->params);
    free(m->packs);
    free(m->theta);
    free(m->theta_level);
    free(m->rotary_cos);
    free(m->rotary_sin);
    free(m);
}

const char *lg_model_isa(const lg_model *m) { return m->k->name; }

const char *lg_model_isa_bf16(const lg_model *m) { return m->k->half; }

const lg_model_config *lg_model_get_config(const lg_model *m) { return &m->config; }

int lg_model_param_count(const lg_model *m) { return m->tensor_count; }

lg_param lg_model_param(const lg_model *m, int i)
{
    const struct lg__tensor *t = &m->tensors[i];
    return (lg_param){t->name, t->rows, t->cols, t->decay, m->params + t->offset};
}

int lg_model_param_find(const lg_model *m, const char *name)
{
    for (int i = 0; i < m->tensor_count; i++)
        if (strcmp(m->tensors[i].name, name) == 0) return i;
    return -1;
}

int64_t lg_model_param_total(const lg_model *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->tensor_count; i++) n += (int64_t)m->tensors[i].rows * m->tensors[i].cols;
    return n;
}
