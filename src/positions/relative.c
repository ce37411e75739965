/* relative.c: a learned bias for each ID difference, per layer and head:
 * b(h, key ID - query ID), a table from window_lo to window_hi. With span full,
 * differences past the ends take the end's value. */
#include "positions/positions.h"

static size_t entry(const lg_model_config *c, int head, int32_t query_id, int32_t key_id)
{
    int64_t d = (int64_t)key_id - query_id;
    if (d < c->window_lo) d = c->window_lo;
    if (d > c->window_hi) d = c->window_hi;
    size_t width = (size_t)(c->window_hi - c->window_lo + 1);
    return (size_t)head * width + (size_t)(d - c->window_lo);
}

static void shape(const lg_model_config *c, int *rows, int *cols)
{
    *rows = c->heads;
    *cols = c->window_hi - c->window_lo + 1;
}

static void bias(float *out, const float *param, const lg_model_config *c, int head,
                 int32_t query_id, const int32_t *key_ids, int n)
{
    for (int j = 0; j < n; j++) out[j] = param[entry(c, head, query_id, key_ids[j])];
}

static void bias_backward(float *dparam, const float *dout, const lg_model_config *c, int head,
                          int32_t query_id, const int32_t *key_ids, int n)
{
    for (int j = 0; j < n; j++) dparam[entry(c, head, query_id, key_ids[j])] += dout[j];
}

const struct lg__encoding lg__encoding_relative = {
    .name = "relative",
    .doc = "a learned bias for each ID difference inside the window, per layer and head",
    .shape = shape,
    .bias = bias,
    .bias_backward = bias_backward,
};
