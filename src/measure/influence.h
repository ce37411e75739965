/* influence.h: which earlier tokens the predictions of one text need. A token that is left out is in
 * the input of no layer; the others keep their IDs (docs/PROBE.md). */
#ifndef LG_MEASURE_INFLUENCE_H
#define LG_MEASURE_INFLUENCE_H

#include "base/memory.h"
#include "lengthen_measure.h"

/* A text of n tokens; wanted[t] 1: the prediction of token t (t >= 1) is looked at. */
struct lg__passage {
    int n;
    const int32_t *tokens, *ids[LG_LEVELS];
    const unsigned char *wanted;
};

/* What a prediction needs; as in lg_probe_row. */
struct lg__need {
    int at; /* the token that is predicted */
    float loss, loss_0;
    int depends, k;
    int sources; /* earlier tokens that may be left out, at most most_k, the most influential first */
    int *source;
    float *influence;
    const float *curve; /* the loss with the first 0, 1, .. of them, up to k */
};

/* Starts from {0}. Of the options: method, keep_last, keep_first, most_k, epsilon, least, threads. */
struct lg__influence {
    lg_model *m;
    lg_run_probe_options o;
    lg_evaluator *evaluator;
    lg_trainer *trainer; /* of the method gradient */
    lg_batch batch;
    struct lg__need *need; /* [count] of the last text */
    int count;
    /* Told of the rows that were computed, of all that leaving out takes; or NULL. */
    void (*progress)(void *context, double done);
    void *context;
    /* Of the text: struct lg__need [count]; float [count, n]: influence; float: losses as asked for. */
    struct lg__block needs, scores, asked;
    struct lg__block places, values;     /* int and float [count, most_k] */
    struct lg__block to;                 /* size_t: where each loss of the batch goes, in `into` */
    struct lg__block shared;             /* int [sequences of the batch] */
    struct lg__block order, kept;        /* struct token [n], bytes [n] */
    struct lg__block some, some_targets; /* int32_t: of a sequence with tokens left out */
    struct lg__block some_ids[LG_LEVELS];
    struct lg__block inputs; /* float: gradients */
    float *into;
    int to_count;
};

int lg__influence_open(struct lg__influence *f, lg_model *m, const lg_run_probe_options *o,
                       lg_error *err);
void lg__influence_close(struct lg__influence *f);
/* Lists the wanted predictions of a text, f->need[f->count], in their order, and makes room for what is
 * found of them. */
int lg__influence_list(struct lg__influence *f, const struct lg__passage *p, lg_error *err);
/* Looks at them. */
int lg__influence_run(struct lg__influence *f, const struct lg__passage *p, lg_error *err);
/* Only how much each token matters to each of them: scores[i * n + t], 0 for what is never left
 * out. */
int lg__influence_scores(struct lg__influence *f, const struct lg__passage *p, lg_error *err);

#endif
