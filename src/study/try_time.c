/* try_time.c: the turns and the shares of `lengthen try` (try_time.h). */
#include "study/try_time.h"

#include <math.h>

enum { ROUNDS = 5 };
static const double TRAINING = 0.7;   /* of a turn; the rest is for its tests */
static const double LEAST_LEFT = 0.1; /* of all: with less there is no further round */

double lg__try_training_share(double seconds, int count) { return TRAINING * seconds / count; }

/* One that took too long takes nothing from those after it, but all end with the time. */
static int take_round(const struct lg__try_turns *w, int round, double share)
{
    for (int i = 0; i < w->count && !w->stopped(w->context); i++) {
        double start = w->now(w->context);
        if (start >= w->end) return 0;
        if (!w->open(w->context, i)) continue;
        int code = w->turn(w->context, i, round, fmin(start + TRAINING * share, w->end),
                           fmin(start + share, w->end));
        if (code) return code;
    }
    return 0;
}

int lg__try_take_turns(const struct lg__try_turns *w)
{
    for (int round = 0; round < ROUNDS && !w->stopped(w->context); round++) {
        double left = w->end - w->now(w->context);
        int open = 0, code;
        for (int i = 0; i < w->count; i++) open += w->open(w->context, i) != 0;
        if (!open || left <= LEAST_LEFT * w->seconds) return 0;
        if ((code = take_round(w, round, left / open))) return code;
    }
    return 0;
}

struct lg__try_cost lg__try_cost_fit(const int n[2], const double seconds[2])
{
    double each[2] = {seconds[0] / n[0], seconds[1] / n[1]}; /* token + pair * n */
    struct lg__try_cost c = {.pair = fmax(0, (each[1] - each[0]) / (n[1] - n[0]))};
    c.token = fmax(0, each[1] - c.pair * n[1]);
    return c;
}

double lg__try_cost_step(const struct lg__try_cost *c, int tokens, int batch, int cores)
{
    double n = tokens, rounds = ceil((double)batch / cores);
    return rounds * (c->token * n + c->pair * n * n);
}

int lg__try_cost_batch(const struct lg__try_cost *c, int tokens, int most, int cores,
                       double seconds)
{
    int batch = most;
    while (batch && LG_TRY_STEPS * lg__try_cost_step(c, tokens, batch, cores) > seconds) batch--;
    return batch;
}

int lg__try_cost_tokens(const struct lg__try_cost *c, double seconds)
{
    int low = 0, high = 1 << 28;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (LG_TRY_STEPS * lg__try_cost_step(c, middle, 1, 1) <= seconds)
            low = middle;
        else
            high = middle;
    }
    return low;
}
