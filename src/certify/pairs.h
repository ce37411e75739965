/* pairs.h: the certificate of match heads. Queries and keys are functions of finitely many contexts,
 * which a task's relation shows in short inputs. All of them are run; then the sign of z of every query
 * and every key must be that of the relation, and every class and token must lead (docs/CERTIFICATE.md). */
#ifndef LG_CERTIFY_PAIRS_H
#define LG_CERTIFY_PAIRS_H

#include "base/memory.h"
#include "certify/relation.h"
#include "lengthen_certify.h"
#include "runs/run.h"

/* Distinct vectors with the number of their key, and an input that shows each. */
struct lg__vectors {
    struct lg__block data, code, input,
        slots; /* float [count, C]; int32_t; int64_t; int32_t, open */
    int count, slot_bits;
};

/* What shows a failure: an input of the relation, with an extra entry or not (-1). */
struct lg__failing {
    int64_t input, extra;
    int shift; /* of the values */
};

enum { LG__FAILING_MOST = 1000 };

struct lg__matching {
    const lg_task *task;
    const lg_plan *plan;
    lg_model_config model;
    struct lg__relation relation;
    lg_certify_progress *progress; /* or NULL */
    void *context;
    lg_example x; /* scratch */
    lg_batch text, batch;
    struct lg__block of; /* int64_t: the input of each sequence of the batch */
    struct lg__vectors query, key;
    /* The verdict. */
    int64_t contexts, wrong; /* positions of the inputs that predict; those that are wrong */
    int64_t pairs, missed, false_matches;
    double margin; /* the smallest lead of a token or class, and the smallest |z| of a pair */
    struct lg__failing list[LG__FAILING_MOST];
    int listed, cut; /* cut: 1: there are more */
};

/* Whether a head of the run is a match head. */
int lg__matching_wanted(const struct lg__run *r);
/* Refused with the reason where nothing can be certified. Cleared in any case. */
int lg__matching_open(struct lg__matching *p, const struct lg__run *r, lg_error *err);
void lg__matching_clear(struct lg__matching *p);
/* Refused if there are over `most` inputs (0: 5e7). */
int lg__matching_check(const struct lg__matching *p, double most, lg_error *err);
/* Judges the weights of now on all inputs and pairs; or, sample > 0, on so many inputs drawn by (seed,
 * index), with others whose keys differ in one word. */
int lg__matching_judge(struct lg__matching *p, const lg_model *m, lg_evaluator *e, int threads,
                       int sample, uint64_t seed, uint64_t index, lg_error *err);
/* Writes the input into p->x, and as it is evaluated into p->text: 1; 0: there is no such one. */
int lg__matching_write(struct lg__matching *p, const struct lg__failing *f, lg_error *err);
/* Whether anything was found wrong. */
static inline int64_t lg__matching_wrong(const struct lg__matching *p)
{
    return p->wrong + p->missed + p->false_matches;
}

/* product.c: the sign of z of all queries and all keys into p->pairs, missed, false_matches, margin and
 * the list. */
int lg__matching_multiply(struct lg__matching *p, const lg_model *m, int threads, lg_error *err);
/* Adds to the list, if there is room. */
void lg__matching_list(struct lg__matching *p, int64_t input, int64_t extra);

#endif
