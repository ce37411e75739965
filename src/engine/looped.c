/* looped.c: the layers are run `loops` times, one time after the other, with the same weights. With
 * `inject`, each time but the first begins with what the last one left plus the embedding, so that
 * the input is not forgotten however often the layers are run. */
#include "arch.h"

#include <math.h>

/* As GPT-NeoX, for the depth that there is. */
static double deviation(const lg_model_config *c, int last)
{
    double depth = (double)c->layers * c->loops, inside = sqrt(2.0 / (5.0 * c->width));
    double end = 2.0 / (depth * sqrt((double)c->width));
    return last && end < inside ? end : inside;
}

static int injects(const lg_model_config *c, int l) { return c->inject && l && l % c->layers == 0; }

const struct lg__arch lg__arch_looped = {
    .name = "looped",
    .loops = 4,
    .inject = 1,
    .norm = LG_NORM_LAYER,
    .act = LG_ACT_GELU,
    .biases = 1,
    .deviation = deviation,
    .injects = injects,
    .unpublished = "layers that are run several times with the same weights",
};
