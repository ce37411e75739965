/* probe_verdict.c: what a probe says of small and large k*, in one sentence. */
#include <math.h>
#include <stdio.h>

#include "lengthen_measure.h"

/* Predictions with k* from 1 to few, and with more than many. */
static void count_groups(const lg_probe_summary *s, int *small, int *large)
{
    *small = *large = 0;
    for (int i = 0; i < LG_PROBE_BINS; i++) {
        const lg_probe_bin *b = &s->bin[i];
        if (b->low > s->many)
            *large += b->predictions;
        else if (b->low && b->low <= s->few)
            *small += b->predictions;
    }
}

int lg_probe_concludes(const lg_probe_summary *s)
{
    int small, large;
    count_groups(s, &small, &large);
    if (!s->context) return s->dependent >= LG_PROBE_ENOUGH;
    return small >= LG_PROBE_ENOUGH && large >= LG_PROBE_ENOUGH;
}

#define MORE "Take more with --documents, --predictions or --text."

/* What the excess is, and with which interval. */
static void compare(const lg_probe_summary *s, const char *few, const char *many, char *text,
                    size_t size)
{
    const lg_text_mean *d = &s->difference;
    char between[80] = "no interval from one document";
    if (!isnan(d->low)) snprintf(between, sizeof between, "95%% %+.3f..%+.3f", d->low, d->high);
    snprintf(
        text, size,
        "the excess loss is %+.3f nats where k* is %s and %+.3f where it is %s, a difference of "
        "%+.3f (%s)",
        s->small.value, few, s->large.value, many, d->value, between);
}

void lg_probe_verdict(const lg_probe_summary *s, char *text, size_t size)
{
    const lg_text_mean *d = &s->difference;
    const char *few = s->few > 1 ? "1 or 2" : "1";
    char many[24], excess[300];
    int small, large;
    snprintf(many, sizeof many, "over %d", s->many);
    count_groups(s, &small, &large);
    compare(s, few, many, excess, sizeof excess);
    if (!s->context && lg_probe_concludes(s)) {
        *text = 0;
    } else if (!s->context) {
        snprintf(text, size,
                 "Only %d predictions depend on their context, too few to conclude from: %d are "
                 "needed. " MORE,
                 s->dependent, LG_PROBE_ENOUGH);
    } else if (isnan(d->value)) {
        snprintf(text, size,
                 "Whether predictions with small k* extrapolate better cannot be said: there are "
                 "none with k* %s%s.",
                 isnan(s->small.value) ? "of " : "", isnan(s->small.value) ? few : many);
    } else if (!lg_probe_concludes(s)) {
        snprintf(
            text, size,
            "Whether predictions with small k* extrapolate better cannot be said: %s, but of %d "
            "and %d predictions, too few to conclude from: %d of each are needed. " MORE,
            excess, small, large, LG_PROBE_ENOUGH);
    } else {
        const char *how = isnan(d->low) || (d->low <= 0 && d->high >= 0)
                              ? "extrapolate no better or worse, as far as these documents tell"
                          : d->value > 0 ? "extrapolate better"
                                         : "extrapolate worse";
        snprintf(text, size, "Past %d tokens, predictions with small k* %s: %s.", s->context, how,
                 excess);
    }
}
