/* judge.h: what a model says in each context, found once and then looked up; and examples that are judged by
 * it: an answer is exact if every context on the way has the right token and the right IDs. */
#ifndef LG_CERTIFY_JUDGE_H
#define LG_CERTIFY_JUDGE_H

#include "certify/unfold.h"
#include "measure/eval.h"

/* Streams of examples beside those of a run (runs/run.h): of a list of contexts, those that are compared with
 * it, of a statistical certificate, and those that show how long that takes. */
enum { LG__STREAM_LIST = 64, LG__STREAM_FRESH, LG__STREAM_SAMPLED, LG__STREAM_COSTS };

/* What a model says in a context. */
struct lg__said {
    int32_t token, class[LG_LEVELS]; /* greedy; class of each ID head */
    float lead, id_lead[LG_LEVELS];  /* over the second best; 0 on a tie, NaN: a logit is one */
};

/* Contexts, and what the model says in each. */
struct lg__lookup {
    struct lg__unfold unfold;
    const lg_model *model;
    lg_evaluator *evaluator;
    struct lg__block said; /* struct lg__said [unfold's count, but for those in unfold.fresh] */
    size_t most;           /* bytes: over that, all is forgotten before the next text */
    int64_t run;           /* contexts that were run through the model */
};
/* threads 0: all cores. */
int lg__lookup_open(struct lg__lookup *k, const lg_model *m, int threads, lg_error *err);
void lg__lookup_clear(struct lg__lookup *k);
/* The contexts of rows from..to; lg__lookup_said has those that are not new. */
int lg__lookup_text(struct lg__lookup *k, const struct lg__text *x, int from, int to,
                    int32_t *number, lg_error *err);
/* Runs those that are new through the model. */
int lg__lookup_run(struct lg__lookup *k, lg_error *err);
const struct lg__said *lg__lookup_said(const struct lg__lookup *k, int number);
/* Forgets all, if they take more memory than they may. */
void lg__lookup_tidy(struct lg__lookup *k);

/* Examples are judged in groups: those of a group are in memory together. */
struct lg__judge;
/* A run that cannot be judged so is refused with the reason. */
int lg__judge_open(struct lg__judge **j, const struct lg__run *r, int threads, lg_error *err);
void lg__judge_free(struct lg__judge *j);
/* Its contexts; those that were run so far. */
struct lg__lookup *lg__judge_lookup(struct lg__judge *j);
int64_t lg__judge_contexts(const struct lg__judge *j);
/* The scores of examples index .. index + samples - 1 of a draw, as lg_answer and lg_answer_taught give
 * them (taught may be NULL). After a first error, or a wrong ID, an example is decoded. */
int lg__judge_draw(struct lg__judge *j, lg_task *t, const lg_draw *d, int samples, int predicted,
                   const volatile int *stop, lg_score *generated, lg_score *taught, lg_error *err);

#endif
