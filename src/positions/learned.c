/* learned.c: a learned vector for each ID, added to the token's embedding. */
#include <math.h>

#include "base/error.h"
#include "positions/positions.h"

static int check(const lg_model_config *c, lg_error *err)
{
    int most = (1 << 24) / c->levels - 1; /* rows of all levels, as many as a vocabulary may have */
    if (c->max_id >= 1 && c->max_id <= most) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "max_id",
        "{max_id} is %d; encoding 'learned' has a row for each ID from 0 to {max_id}, so "
        "set it to the largest ID that will be met, from 1 to %d",
        c->max_id, most);
}

static void input_shape(const lg_model_config *c, int *rows, int *cols, double *deviation)
{
    *rows = c->levels * (c->max_id + 1);
    *cols = c->width;
    /* as the token embedding of the architecture */
    *deviation = c->arch == LG_ARCH_OLMO ? 0.02 : sqrt(2.0 / (5.0 * c->width));
}

static size_t row_start(const lg_model_config *c, int level, int32_t id)
{
    size_t row = (size_t)level * ((size_t)c->max_id + 1) + (size_t)id;
    return row * (size_t)c->width;
}

static void input(float *x, const float *param, const lg_model_config *c,
                  const int32_t *const ids[LG_LEVELS], int n)
{
    for (int l = 0; l < c->levels; l++)
        for (int t = 0; t < n; t++) {
            if (ids[l][t] == LG_ABSENT) continue;
            const float *row = param + row_start(c, l, ids[l][t]);
            float *to = x + (size_t)t * (size_t)c->width;
            for (int i = 0; i < c->width; i++) to[i] += row[i];
        }
}

static void input_backward(float *dparam, const float *dx, const lg_model_config *c,
                           const int32_t *const ids[LG_LEVELS], int n)
{
    for (int l = 0; l < c->levels; l++)
        for (int t = 0; t < n; t++) {
            if (ids[l][t] == LG_ABSENT) continue;
            float *drow = dparam + row_start(c, l, ids[l][t]);
            const float *from = dx + (size_t)t * (size_t)c->width;
            for (int i = 0; i < c->width; i++) drow[i] += from[i];
        }
}

const struct lg__encoding lg__encoding_learned = {
    .name = "learned",
    .line = "a learned vector for each ID, added to the token's embedding",
    .text = "x += E[ID],   E has max_id + 1 rows of the model's width\n"
            "At first normal numbers of the token embedding's deviation.\n"
            "An ID that training never showed has an untrained row: train with IDs from the\n"
            "whole range (ids random-start or coupled, with max_id).\n"
            "Levels: one E each; their rows are added. A token without an ID at a level gets\n"
            "nothing there.\n"
            "Needs: max_id, the largest ID that will be met; a larger one is refused.",
    .check = check,
    .flags = LG__ENCODING_ABSOLUTE | LG__ENCODING_ROWS,
    .input_shape = input_shape,
    .input = input,
    .input_backward = input_backward,
};
