/* sinusoidal.c: sines and cosines of the ID, added to the token's embedding. */
#include <math.h>

#include "base/error.h"
#include "positions/positions.h"

static int check(const lg_model_config *c, lg_error *err)
{
    if (c->width / 2 >= c->levels) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "width",
        "{width} %d is too small for encoding 'sinusoidal' with %d levels of IDs, which "
        "takes two dimensions a level; make {width} at least %d or take fewer levels",
        c->width, c->levels, 2 * c->levels);
}

/* One frequency w for all tokens: dimensions at and at + 1. The angle is made in double, as an
 * ID of 2 000 000 would leave a float angle with an error of 1/16. */
static void add_waves(float *x, int width, int at, double w, const int32_t *ids, int n)
{
    for (int t = 0; t < n; t++) {
        if (ids[t] == LG_ABSENT) continue;
        double angle = (double)ids[t] * w;
        float *to = x + (size_t)t * (size_t)width + at;
        to[0] += (float)sin(angle);
        to[1] += (float)cos(angle);
    }
}

static void input(float *x, const float *param, const lg_model_config *c,
                  const int32_t *const ids[LG_LEVELS], int n)
{
    int pairs = c->width / 2;
    (void)param;
    for (int l = 0; l < c->levels; l++) {
        int first = lg__first_pair(pairs, c->levels, l);
        int own = lg__first_pair(pairs, c->levels, l + 1) - first;
        for (int k = 0; k < own; k++) {
            double w = pow(10000.0, -2.0 * k / (2.0 * own));
            add_waves(x, c->width, 2 * (first + k), w, ids[l], n);
        }
    }
}

const struct lg__encoding lg__encoding_sinusoidal = {
    .name = "sinusoidal",
    .line = "sines and cosines of the ID, added to the token's embedding, not learned",
    .text = "x[2k] += sin(ID w_k),   x[2k+1] += cos(ID w_k),   w_k = 10000^(-2k/D)\n"
            "D is the width, without the last dimension if it is odd, which gets nothing.\n"
            "Levels: the width is divided among them in contiguous runs of pairs; D and k are\n"
            "those of the run. A token without an ID at a level gets nothing in its run.\n"
            "Needs: two dimensions a level; it has no parameters.",
    .flags = LG__ENCODING_ABSOLUTE,
    .check = check,
    .input = input,
};
