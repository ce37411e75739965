/* arch.c: the architectures. */
#include "arch.h"

#include <math.h>

/* GPT-NeoX: sqrt(2 / 5C) inside, 2 / (layers sqrt C) where a layer ends; with up to three layers
 * the latter would be the larger, so it is capped. */
static double neox_deviation(const lg_model_config *c, int last)
{
    double inside = sqrt(2.0 / (5.0 * c->width)), end = 2.0 / (c->layers * sqrt((double)c->width));
    return last && end < inside ? end : inside;
}

static double olmo_deviation(const lg_model_config *c, int last)
{
    (void)c;
    (void)last;
    return 0.02;
}

static const struct lg__arch neox = {
    .name = "neox",
    .norm = LG_NORM_LAYER,
    .act = LG_ACT_GELU,
    .biases = 1,
    .parallel = 1,
    .loops = 1,
    .deviation = neox_deviation,
    .published = {{"GPTNeoXForCausalLM", "gpt_neox"}, {"GPT2LMHeadModel", "gpt2"}},
};

static const struct lg__arch olmo = {
    .name = "olmo",
    .norm = LG_NORM_PLAIN,
    .act = LG_ACT_SWIGLU,
    .loops = 1,
    .deviation = olmo_deviation,
    .published = {{"OlmoForCausalLM", "olmo"}, {"LlamaForCausalLM", "llama"}},
};

const struct lg__arch *const lg__archs[] = {
    [LG_ARCH_NEOX] = &neox,
    [LG_ARCH_OLMO] = &olmo,
    [LG_ARCH_LOOPED] = &lg__arch_looped,
};
const int lg__arch_count = sizeof lg__archs / sizeof *lg__archs;
