/* model.h: the model inside the library: one flat block of parameters, the table that
 * describes it, and the same weights packed for the matmuls. */
#ifndef LG_ENGINE_MODEL_H
#define LG_ENGINE_MODEL_H

#include "arch.h"
#include "kernels.h"
#include "lengthen.h"
#include "position.h"

#define LG__NO_TENSOR ((size_t)-1)

enum lg__init { LG__INIT_ZERO, LG__INIT_ONE, LG__INIT_NORMAL, LG__INIT_ENCODING };

/* One row of the parameter table. */
struct lg__tensor {
    char name[48];
    int rows, cols;
    int decay;
    enum lg__init init;
    double deviation; /* of LG__INIT_NORMAL */
    size_t offset;    /* into params, a multiple of 16 */
};

/* y = x W^T + b: offsets of W [out, in] and b [out] in params (b may be LG__NO_TENSOR), and
 * of the two packed forms in packs: for y from x, and for dx from dy. */
struct lg__linear {
    int in, out;
    size_t w, b;
    size_t pack_y, pack_dx;
};

struct lg__norm_at {
    size_t w, b; /* LG__NO_TENSOR: not there */
};

struct lg__layer {
    struct lg__norm_at norm1, norm2;
    struct lg__linear q, kv, out, up, down;
    size_t scale;    /* [H], ssmax */
    size_t sink;     /* [H] */
    size_t position; /* the encoding's own */
};

/* Finds an earlier token: scores are query . key / sqrt(width) + u(ID difference), or of a match head + b. */
struct lg__pointer {
    struct lg__linear query, key;
    size_t place; /* [4]: u at 0; slope above; u just below; slope below. Of a match head [1]: b */
};

struct lg_model {
    lg_model_config config;
    const struct lg__kernels *k;
    const struct lg__encoding *encoding;
    const struct lg__arch *arch;
    int D;     /* head width */
    int R;     /* rotated dimensions of a head */
    int F;     /* feed-forward width */
    int U;     /* columns of `up`: F, or 2F when gated */
    int depth; /* layers that are run: layers * loops */

    struct lg__tensor *tensors;
    int tensor_count;
    float *params;
    size_t size; /* floats in params, padding included */

    struct lg__layer *layers; /* [depth], the same weights every config.layers */
    struct lg__norm_at final_norm;
    size_t input; /* the encoding's own, beside the embedding */
    struct lg__linear head;
    struct lg__linear id_head[LG_LEVELS];  /* out is 0 without it */
    struct lg__pointer pointer[LG_LEVELS]; /* query.out is 0 without it */
    struct lg__linear **linears;           /* all of them, for packing */
    int linear_count;
    float *packs;
    size_t pack_size;

    double *theta;                  /* rope: [R/2] */
    int *theta_level;               /* [R/2] the level whose ID turns this pair */
    double amplitude;               /* of cos and sin */
    unsigned rotation;              /* grows when theta changes: tables made before are void */
    float *rotary_cos, *rotary_sin; /* window and rope: [lg__rotary_rows, R/2] */
};

/* Whether what entered the first layer is added to what enters layer l. */
static inline int lg__injects(const struct lg_model *m, int l)
{
    return m->arch->injects && m->arch->injects(&m->config, l);
}

/* Whether the level's head finds earlier tokens: a pointer or a match head. */
static inline int lg__finds(const lg_model_config *c, int level)
{
    return c->pointer[level] || c->match[level] != LG_MATCH_NONE;
}

/* Packs the weights of linear i (0..linear_count-1) anew, for y and, if asked, for dx. */
void lg__model_pack(struct lg_model *m, int i, int backward);

static inline const float *lg__at(const struct lg_model *m, size_t offset)
{
    return offset == LG__NO_TENSOR ? NULL : m->params + offset;
}

/* cos[i] and sin[i] of id * theta[i], from <= i < to, times the amplitude, in double before the
 * cast. */
void lg__rotate(const struct lg_model *m, float *cos, float *sin, int64_t id, int from, int to);

/* The IDs of a batch, read only. */
static inline const int32_t *const *lg__ids(const lg_batch *b)
{
    return (const int32_t *const *)b->ids;
}

#endif
