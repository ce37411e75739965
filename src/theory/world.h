/* world.h: an ensemble as the theory room samples it: words and labels by number, the patterns of S
 * that training shows, and texts. */
#ifndef LG_THEORY_WORLD_H
#define LG_THEORY_WORLD_H

#include "tasks/ensemble.h"
#include "theory/member.h"

struct lg__world {
    struct lg_task words; /* holds the vocabulary, nothing else */
    struct lg__ensemble e;
    int vocab, labels;
    int32_t *label; /* [tuple]: the number of its label */
    /* The patterns that S can have, where they are few enough to be numbered and the same at every
     * length that holds them: with positions span or patterns. Else there are none. */
    struct lg__patterns patterns;
    unsigned char *hidden; /* [pattern] 1: training does not show it */
};

/* Opens the ensemble of the options; lengths that cannot hold S are refused. */
int lg__world_open(struct lg__world *w, const lg_theory_options *o, lg_error *err);
void lg__world_close(struct lg__world *w);
/* Hides all but this share of the patterns, at least one shown and one hidden, by the seed. */
void lg__world_hide(struct lg__world *w, double coverage, uint64_t seed);
/* The number of a pattern of S, or -1. */
int lg__world_pattern(const struct lg__world *w, const int *place);
/* A text; shown 1: of the patterns that training shows. */
int lg__world_draw(const struct lg__world *w, lg_rng *r, int length, int shown,
                   struct lg__sample *x, lg_error *err);
void lg__sample_clear(struct lg__sample *x);

#endif
