/* feedback.h: certify on the way: every so many steps all contexts are run; inputs that reach those
 * that are wrong join the training examples, as long as they are no longer than these. */
#ifndef LG_TRAINING_FEEDBACK_H
#define LG_TRAINING_FEEDBACK_H

#include "certify/contexts.h"
#include "certify/pairs.h"

enum { LG__FEEDBACK_MOST = 200 };   /* inputs that are fed back at a time */
enum { LG__FEEDBACK_SAMPLE = 500 }; /* match heads: inputs that are drawn, with their neighbours */

struct lg__feedback {
    struct lg__contexts set;
    struct lg__matching *pairs; /* of match heads, in place of the set; or NULL */
    struct lg__failing failing[LG__FEEDBACK_MOST]; /* and what is fed back */
    int threads;
    int64_t looks; /* contexts, and pairs, of the last look */
    lg_evaluator *evaluator;
    lg_batch batch;
    int input[LG__FEEDBACK_MOST], count; /* contexts whose inputs are fed back */
    int *list;                           /* [set.count] wrong contexts */
    int64_t wrong, outside; /* at the last look; those whose shortest input is of other lengths than
                               those of training */
    double margin;
};

/* Of a run whose config certifies on the way; refused before any work if nothing can be certified.
 * *f stays NULL if it does not. */
int lg__feedback_open(struct lg__feedback **f, const struct lg__run *r, int threads, lg_error *err);
void lg__feedback_free(struct lg__feedback *f);

/* Looks at all contexts with the weights of now. */
int lg__feedback_look(struct lg__feedback *f, const struct lg__run *r, lg_error *err);
/* One of the inputs that are fed back, by chance; count must not be 0. */
int lg__feedback_example(struct lg__feedback *f, lg_rng *r, lg_example *x, lg_error *err);

/* The inputs in the checkpoint's note, and back. Those of another set of contexts, of a build that
 * had them in another order, are not taken. */
void lg__feedback_write(const struct lg__feedback *f, lg_buffer *note);
int lg__feedback_read(struct lg__feedback *f, const char *note, lg_error *err);

#endif
