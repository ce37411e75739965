/* rope.c: queries and keys are turned by angles proportional to their IDs; the frequencies, and
 * the ways to stretch them for texts longer than those of training. */
#include <math.h>

#include "base/error.h"
#include "positions/positions.h"

/* Pairs of dimensions of a head that turn. The same expression as the engine's R / 2. */
static int pairs_of(const lg_model_config *c)
{
    return (int)(c->rope_share * (c->width / c->heads) / 2);
}

/* ---- What a config must have ------------------------------------------------------- */

static int check_pairs(const lg_model_config *c, lg_error *err)
{
    int pairs = pairs_of(c), D = c->width / c->heads;
    if (pairs >= c->levels) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "rope_share",
        "rope has %d pairs for %d levels of IDs ({rope_share} %g of %d head dimensions); "
        "each level needs a pair: take heads of %.0f dimensions or more, a larger "
        "{rope_share}, or fewer levels",
        pairs, c->levels, c->rope_share, D, ceil(2 * c->levels / c->rope_share));
}

/* A larger base cannot slow down a single pair: its frequency is base^0, and the exponent
 * d/(d-2) has no value. */
static int check_base_change(const lg_model_config *c, lg_error *err)
{
    int pairs = pairs_of(c);
    for (int l = 0; l < c->levels; l++)
        if (lg__first_pair(pairs, c->levels, l + 1) - lg__first_pair(pairs, c->levels, l) < 2)
            return lg__fail_key(
                err, LG_ERROR_ARGUMENT, "rope_scaling",
                "{rope_scaling} by a larger base needs two pairs a level, and level %d "
                "has one (%d pairs for %d levels); take wider heads, fewer levels or "
                "linear scaling",
                l + 1, pairs, c->levels);
    return 0;
}

static int check_scaling(const lg_model_config *c, lg_error *err)
{
    if (c->rope_scaling == LG_ROPE_PLAIN) return 0;
    if (!(c->rope_factor >= 1) || !isfinite(c->rope_factor))
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "rope_factor",
            "{rope_factor} is %g; it must be 1 or more: how many times longer than in "
            "training the texts will be",
            c->rope_factor);
    int by_length = c->rope_scaling == LG_ROPE_DYNAMIC || c->rope_scaling == LG_ROPE_YARN;
    if (by_length && c->rope_length < 1)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "rope_length",
            "{rope_length} is %d; dynamic and YaRN scaling need the length of training, "
            "1 or more",
            c->rope_length);
    if (c->rope_scaling == LG_ROPE_NTK || c->rope_scaling == LG_ROPE_DYNAMIC)
        return check_base_change(c, err);
    return 0;
}

static int check(const lg_model_config *c, lg_error *err)
{
    int e;
    if (!(c->rope_share >= 0 && c->rope_share <= 1))
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "rope_share",
                            "{rope_share} is %g; it must be from 0 to 1", c->rope_share);
    if (!(c->rope_base > 1) || !isfinite(c->rope_base))
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "rope_base",
                            "{rope_base} is %g; it must be over 1 (10000)", c->rope_base);
    if ((int)c->rope_scaling < LG_ROPE_PLAIN || (int)c->rope_scaling > LG_ROPE_YARN)
        return lg__fail(err, LG_ERROR_ARGUMENT, "rope_scaling is %d; it must be from %d to %d",
                        (int)c->rope_scaling, LG_ROPE_PLAIN, LG_ROPE_YARN);
    if (!(c->rope_share > 0)) return 0; /* nothing turns: the same as none */
    if ((e = check_pairs(c, err))) return e;
    return check_scaling(c, err);
}

/* ---- Frequencies ------------------------------------------------------------------- */

static double base_of(const lg_model_config *c, int d, int length)
{
    double s = c->rope_factor, grown = 1; /* how many times longer than in training */
    if (c->rope_scaling == LG_ROPE_NTK) grown = s;
    if (c->rope_scaling == LG_ROPE_DYNAMIC && length > c->rope_length)
        grown = s * length / c->rope_length - (s - 1);
    return grown > 1 ? c->rope_base * pow(grown, (double)d / (d - 2)) : c->rope_base;
}

/* The pair, as a real number, that makes `turns` full turns within the length of training. */
static double pair_of_turns(const lg_model_config *c, int d, double turns)
{
    const double two_pi = 6.283185307179586;
    return d * log(c->rope_length / (two_pi * turns)) / (2 * log(c->rope_base));
}

static double clamp(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

/* YaRN: how much of pair k's frequency is kept, the rest is divided by the factor. Pairs that
 * turn over 32 times in training are kept whole, under once divided whole. As in Hugging Face's
 * code the ends are clamped to d - 1 (not to the last pair, d/2 - 1); clamping them at both
 * sides differs from it only where rope_length is under 2 pi or 32 turns reach past the end. */
static double yarn_kept(const lg_model_config *c, int d, int k)
{
    double lo = clamp(floor(pair_of_turns(c, d, 32)), 0, d - 1);
    double hi = clamp(ceil(pair_of_turns(c, d, 1)), 0, d - 1);
    if (!(hi > lo)) hi = lo + 0.001;
    return 1 - clamp((k - lo) / (hi - lo), 0, 1);
}

static void level_frequencies(double *theta, const lg_model_config *c, int pairs, int length)
{
    int d = 2 * pairs;
    double base = base_of(c, d, length), s = c->rope_factor;
    for (int k = 0; k < pairs; k++) {
        theta[k] = pow(base, -2.0 * k / d);
        if (c->rope_scaling == LG_ROPE_LINEAR) theta[k] /= s;
        if (c->rope_scaling == LG_ROPE_YARN) {
            double m = yarn_kept(c, d, k);
            theta[k] *= (1 - m) / s + m;
        }
    }
}

static void frequencies(double *theta, int *level, double *amplitude, const lg_model_config *c,
                        int R, int length)
{
    for (int l = 0; l < c->levels; l++) {
        int first = lg__first_pair(R / 2, c->levels, l);
        int end = lg__first_pair(R / 2, c->levels, l + 1);
        for (int i = first; i < end; i++) level[i] = l;
        level_frequencies(theta + first, c, end - first, length);
    }
    *amplitude =
        c->rope_scaling == LG_ROPE_YARN && c->rope_factor > 1 ? 0.1 * log(c->rope_factor) + 1 : 1;
}

const struct lg__encoding lg__encoding_rope = {
    .name = "rope",
    .line = "queries and keys are turned by angles proportional to their IDs",
    .text = "R = rope_share of a head's dimensions, in pairs (i, i + R/2). Pair k turns by\n"
            "  ID theta_k,   theta_k = b^(-2k/d),   b = rope_base, d = R\n"
            "so that the score depends on key ID - query ID. rope_scaling, with s = rope_factor,\n"
            "L = rope_length and n the length that is read:\n"
            "  none     as above\n"
            "  linear   theta / s\n"
            "  ntk      b' = b s^(d/(d-2))\n"
            "  dynamic  b' = b (s n/L - (s-1))^(d/(d-2)) if n > L, else b\n"
            "  yarn     theta ((1-m)/s + m),  m = 1 - clamp((k-lo)/(hi-lo), 0, 1),\n"
            "           lo = floor(p(32)), hi = ceil(p(1)), p(t) = d ln(L/(2 pi t)) / (2 ln b);\n"
            "           cos and sin times 0.1 ln s + 1\n"
            "Levels: the R/2 pairs are divided among them in contiguous runs; d and k are those\n"
            "of the run. A token without an ID at a level has no part in the scores of its\n"
            "run.\n"
            "Needs: a pair a level, with ntk and dynamic two; rope_factor >= 1 for all but\n"
            "none; rope_length for dynamic and yarn. rope_share 0 turns nothing.",
    .flags = LG__ENCODING_RELATIVE,
    .check = check,
    .frequencies = frequencies,
};
