/* layer.c: both architectures are one set of choices: which norm, which activation, whether
 * the feed-forward reads the stream before or after the attention (parallel or not). */
#include "layer.h"

#include <string.h>

void lg__acts_take(const struct lg_model *m, struct lg__arena *to, struct lg__acts *a, int M,
                   int Mq, int kept)
{
    size_t C = (size_t)m->config.width, N = (size_t)M, Q = (size_t)Mq;
    size_t half = (size_t)m->R / 2;
    *a = (struct lg__acts){.M = M, .Mq = Mq};
    a->h1 = a->h1q = lg__arena_floats(to, N * C);
    a->mean1 = a->mean2 = lg__arena_floats(to, N);
    a->rstd1 = a->rstd2 = lg__arena_floats(to, N);
    if (M != Mq || !kept) a->xq = a->x2 = a->out = lg__arena_floats(to, Q * C);
    a->q = lg__arena_floats(to, Q * C);
    a->att = lg__arena_floats(to, Q * C);
    a->h2 = lg__arena_floats(to, Q * C);
    a->up = lg__arena_floats(to, Q * (size_t)m->U);
    a->act = lg__arena_floats(to, Q * (size_t)m->F);
    if (kept) {
        a->kv = lg__arena_floats(to, 2 * N * C);
        if (M != Mq) a->h1q = lg__arena_floats(to, Q * C);
        a->mean2 = lg__arena_floats(to, Q);
        a->rstd2 = lg__arena_floats(to, Q);
        a->lse = lg__arena_floats(to, Q * (size_t)m->config.heads);
        a->x2 = lg__arena_floats(to, m->config.parallel ? 0 : Q * C);
        a->out = lg__arena_floats(to, Q * C);
    } else if (lg__rotated(m)) {
        a->cos = a->cosq = lg__arena_floats(to, N * half);
        a->sin = a->sinq = lg__arena_floats(to, N * half);
    }
}

void lg__norm_forward(const struct lg_model *m, struct lg__norm_at n, float *out, float *mean,
                      float *rstd, const float *x, int T)
{
    int C = m->config.width;
    float eps = (float)m->config.norm_eps;
    if (m->config.norm == LG_NORM_RMS)
        m->k->rmsnorm_forward(out, rstd, x, lg__at(m, n.w), T, C, eps);
    else
        m->k->layernorm_forward(out, mean, rstd, x, lg__at(m, n.w), lg__at(m, n.b), T, C, eps);
}

static float *in_grad(float *grad, size_t offset)
{
    return offset == LG__NO_TENSOR ? NULL : grad + offset;
}

void lg__norm_backward(const struct lg_model *m, struct lg__norm_at n, float *grad, float *dx,
                       const float *dout, const float *x, const float *mean, const float *rstd,
                       int T)
{
    int C = m->config.width;
    float *dw = in_grad(grad, n.w), *db = in_grad(grad, n.b);
    if (m->config.norm == LG_NORM_RMS)
        m->k->rmsnorm_backward(dx, dw, dout, x, rstd, lg__at(m, n.w), T, C);
    else
        m->k->layernorm_backward(dx, dw, db, dout, x, mean, rstd, lg__at(m, n.w), T, C);
}

void lg__linear_forward(const struct lg_model *m, const struct lg__linear *l, float *y,
                        const float *x, int T, int add)
{
    m->k->gemm(y, (size_t)l->out, x, (size_t)l->in, m->packs + l->pack_y, lg__at(m, l->b), T,
               l->out, l->in, add);
}

/* y = x W^T + b: dx = dy W, dW = dy^T x, db = sum of dy. */
void lg__linear_backward(const struct lg_model *m, const struct lg__linear *l, float *dx,
                         const float *dy, const float *x, const struct lg__backward *b, int T,
                         int add)
{
    size_t in = (size_t)l->in, out = (size_t)l->out;
    if (dx) m->k->gemm(dx, in, dy, out, m->packs + l->pack_dx, NULL, T, l->in, l->out, add);
    m->k->gemm_tn(b->grad + l->w, in, dy, out, x, in, l->out, l->in, T, !b->first, b->tn);
    if (l->b != LG__NO_TENSOR) m->k->sum_rows(b->grad + l->b, dy, T, l->out);
}

size_t lg__layer_tn_scratch(const struct lg_model *m, int T)
{
    size_t most = 0;
    for (int i = 0; i < m->linear_count; i++) {
        size_t n = m->k->gemm_tn_scratch(m->linears[i]->out, m->linears[i]->in, T);
        if (n > most) most = n;
    }
    return most;
}

void lg__layer_rotate(const struct lg_model *m, float *x, size_t ld, const float *cos,
                      const float *sin, int T, int sign)
{
    if (cos) m->k->rotary(x, ld, cos, sin, T, m->config.heads, m->D, m->R, sign);
}

void lg__layer_keys(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a)
{
    lg__norm_forward(m, l->norm1, a->h1, a->mean1, a->rstd1, a->x, a->M);
    lg__linear_forward(m, &l->kv, a->kv, a->h1, a->M, 0);
    lg__layer_rotate(m, a->kv, 2 * (size_t)m->config.width, a->cos, a->sin, a->M, 1);
}

void lg__layer_query(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a)
{
    lg__linear_forward(m, &l->q, a->q, a->h1q, a->Mq, 0);
    lg__layer_rotate(m, a->q, (size_t)m->config.width, a->cosq, a->sinq, a->Mq, 1);
}

void lg__layer_feed(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a,
                    int add)
{
    int act = m->config.act;
    lg__linear_forward(m, &l->up, a->up, a->h2, a->Mq, 0);
    if (act == LG_ACT_SWIGLU)
        m->k->swiglu_forward(a->act, a->up, a->Mq, m->F);
    else
        m->k->gelu_forward(a->act, a->up, (size_t)a->Mq * (size_t)m->F, act == LG_ACT_GELU_TANH);
    lg__linear_forward(m, &l->down, a->out, a->act, a->Mq, add);
}

void lg__layer_after(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a)
{
    const lg_model_config *c = &m->config;
    size_t C = (size_t)c->width, bytes = (size_t)a->Mq * C * sizeof(float);
    float *stream = c->parallel ? a->xq : a->x2;
    float *sum = c->parallel ? a->out : a->x2;
    if (sum != a->xq) memcpy(sum, a->xq, bytes);
    if (c->parallel && !a->fed)
        lg__norm_forward(m, l->norm2, a->h2, a->mean2, a->rstd2, stream, a->Mq);
    lg__linear_forward(m, &l->out, sum, a->att, a->Mq, 1);
    if (!c->parallel) {
        lg__norm_forward(m, l->norm2, a->h2, a->mean2, a->rstd2, stream, a->Mq);
        if (a->out != a->x2) memcpy(a->out, a->x2, bytes);
    }
    if (!a->fed) lg__layer_feed(m, l, a, 1);
    for (int i = 0; a->fed && i < a->Mq; i++)
        m->k->add(a->out + (size_t)i * C, a->fed + (size_t)a->kind[i] * C, C);
}

/* out += act Wdown; act = f(up); up = h2 Wup */
void lg__layer_feed_backward(const struct lg_model *m, const struct lg__layer *l,
                             const struct lg__acts *a, const struct lg__backward *b)
{
    int act = m->config.act;
    lg__linear_backward(m, &l->down, b->dact, b->d, a->act, b, a->Mq, 0);
    if (act == LG_ACT_SWIGLU)
        m->k->swiglu_backward(b->dup, b->dact, a->up, a->Mq, m->F);
    else
        m->k->gelu_backward(b->dup, b->dact, a->up, (size_t)a->Mq * (size_t)m->F,
                            act == LG_ACT_GELU_TANH);
    lg__linear_backward(m, &l->up, b->dh, b->dup, a->h2, b, a->Mq, 0);
}

void lg__layer_after_backward(const struct lg_model *m, const struct lg__layer *l,
                              const struct lg__acts *a, const struct lg__backward *b)
{
    const lg_model_config *c = &m->config;
    lg__layer_feed_backward(m, l, a, b);
    /* h2 = norm2(xq), out = xq + att Wout + ..; or h2 = norm2(x2), x2 = xq + att Wout */
    if (c->parallel) lg__linear_backward(m, &l->out, b->datt, b->d, a->att, b, a->Mq, 0);
    lg__norm_backward(m, l->norm2, b->grad, b->d, b->dh, c->parallel ? a->xq : a->x2, a->mean2,
                      a->rstd2, a->Mq);
    if (!c->parallel) lg__linear_backward(m, &l->out, b->datt, b->d, a->att, b, a->Mq, 0);
}

void lg__layer_keys_backward(const struct lg_model *m, const struct lg__layer *l,
                             const struct lg__acts *a, const struct lg__backward *b, float *dx,
                             const int *rows)
{
    size_t C = (size_t)m->config.width;
    lg__layer_rotate(m, b->dq, C, a->cosq, a->sinq, a->Mq, -1);
    lg__layer_rotate(m, b->dkv, 2 * C, a->cos, a->sin, a->M, -1);
    lg__linear_backward(m, &l->kv, b->dh, b->dkv, a->h1, b, a->M, 0);
    if (!rows) {
        lg__linear_backward(m, &l->q, b->dh, b->dq, a->h1q, b, a->M, 1);
    } else {
        lg__linear_backward(m, &l->q, b->datt, b->dq, a->h1q, b, a->Mq, 0);
        for (int i = 0; i < a->Mq; i++)
            m->k->add(b->dh + (size_t)rows[i] * C, b->datt + (size_t)i * C, C);
    }
    for (int i = 0; b->dpointer && i < m->config.levels; i++)
        if (m->pointer[i].key.out)
            lg__linear_backward(m, &m->pointer[i].key, b->dh, b->dpointer[i], a->h1, b, a->M, 1);
    lg__norm_backward(m, l->norm1, b->grad, dx, b->dh, a->x, a->mean1, a->rstd1, a->M);
}

/* ---- The first layer by kinds of tokens ---- */

int lg__by_kind(const struct lg_model *m) { return m->depth > 1 && !m->encoding->input; }

int lg__kinds_list(int *slot, const int32_t *tokens, int n, int32_t *kind, int *of)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int *at = &slot[tokens[i]];
        if (*at < 0) {
            kind[count] = tokens[i];
            *at = count++;
        }
        of[i] = *at;
    }
    for (int i = 0; i < count; i++) slot[kind[i]] = -1;
    return count;
}

void lg__kinds_make(const struct lg_model *m, const struct lg__layer *l, const struct lg__acts *a)
{
    lg__layer_keys(m, l, a);
    lg__layer_query(m, l, a);
    if (!m->config.parallel) return;
    lg__norm_forward(m, l->norm2, a->h2, a->mean2, a->rstd2, a->x, a->M);
    lg__layer_feed(m, l, a, 0);
}

void lg__kinds_backward(const struct lg_model *m, const struct lg__layer *l,
                        const struct lg__acts *a, const struct lg__backward *b)
{
    if (m->config.parallel) {
        lg__layer_feed_backward(m, l, a, b);
        lg__norm_backward(m, l->norm2, b->grad, b->d, b->dh, a->x, a->mean2, a->rstd2, a->M);
    }
    lg__layer_keys_backward(m, l, a, b, b->d, NULL);
}

void lg__kinds_give(float *to, const float *from, const int *of, int n, size_t wide)
{
    for (int i = 0; i < n; i++, to += wide)
        memcpy(to, from + (size_t)of[i] * wide, wide * sizeof *to);
}

void lg__kinds_sum(const struct lg_model *m, float *to, int count, const float *from, const int *of,
                   int n, size_t wide)
{
    memset(to, 0, (size_t)count * wide * sizeof *to);
    for (int i = 0; i < n; i++, from += wide) m->k->add(to + (size_t)of[i] * wide, from, wide);
}
