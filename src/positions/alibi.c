/* alibi.c: a penalty that grows with the distance of the IDs, steeper in some heads. */
#include <math.h>

#include "positions/positions.h"

/* m_h = 2^(-8h/H), h = 1..H. For H between powers of two: the slopes of the power below, P, and
 * then every other slope of 2P, the first, third, fifth and so on, as ALiBi's authors do. */
static double slope(int head, int heads)
{
    int power = 1;
    while (power <= heads / 2) power *= 2;
    if (head < power) return exp2(-8.0 * (head + 1) / power);
    return exp2(-8.0 * (2 * (head - power) + 1) / (2 * power));
}

static void bias(float *out, const float *param, const lg_model_config *c, int head,
                 const struct lg__pairs *p)
{
    double m = slope(head, c->heads);
    (void)param;
    for (int j = 0; j < p->n; j++) {
        int64_t d, sum = 0;
        for (int l = 0; l < c->levels; l++)
            if (lg__difference(p, l, j, &d)) sum += lg__distance(d);
        out[j] = (float)(-m * (double)sum);
    }
}

const struct lg__encoding lg__encoding_alibi = {
    .name = "alibi",
    .line = "a penalty proportional to the distance of the IDs, not learned",
    .text = "score -= m_h |D|,   D = key ID - query ID,   m_h = 2^(-8h/H), h = 1..H\n"
            "H not a power of two: the slopes of the power P below, then the first, third,\n"
            "fifth .. slope of 2P.\n"
            "ALiBi knows keys behind the query only; with coupled IDs a key may lie ahead, and\n"
            "its distance counts the same.\n"
            "Levels: the distances are added. A level that either token lacks adds nothing.\n"
            "Needs: nothing; it has no parameters.",
    .flags = LG__ENCODING_RELATIVE,
    .bias = bias,
};
