/* contexts.h: every context in which a window-span model can find itself on a task that a finite
 * machine writes. The context of a position is all that its output depends on: the tokens not later
 * in the text whose column is near enough for the layers to see, with their ID differences and their
 * order (docs/CERTIFICATE.md). */
#ifndef LG_CERTIFY_CONTEXTS_H
#define LG_CERTIFY_CONTEXTS_H

#include <jansson.h>

#include "base/memory.h"
#include "runs/run.h"
#include "tasks/tasks.h"
#include "lengthen_certify.h"

/* An input: the shortest way to a state, then free columns, then the shortest way to an end. */
struct lg__input {
    int state;     /* that the free columns start from */
    int free;      /* how many they are */
    int64_t which; /* their inputs as one number, the first column lowest */
};

struct lg__context {
    uint32_t at;              /* of its key in the arena */
    uint16_t size;            /* bytes of the key */
    int32_t answer;           /* the right next token */
    int32_t class[LG_LEVELS]; /* the right classes of the ID heads, or LG_NONE */
    int input, row;           /* where it was first met: the input's number, the row of its text */
};

struct lg__contexts {
    const lg_task *task;
    const lg_plan *plan;
    lg_model_config model;
    struct lg__columns columns;
    int back, ahead;               /* columns that a position sees behind and ahead of its own */
    double expected;               /* inputs that it will have at most */
    lg_certify_progress *progress; /* of filling and judging; NULL: nobody is told */
    void *context;
    /* Of each state: the shortest input to it, and from it to an end (NULL: there is none). */
    int32_t **to, **on;
    int *to_count, *on_count;
    struct lg__block inputs; /* struct lg__input [input_count] */
    int input_count;
    /* The set. */
    struct lg__block list, keys, slots; /* struct lg__context [count]; bytes; int32_t, open */
    int count;
    size_t key_bytes;
    int slot_bits;
    lg_example x; /* scratch */
    lg_batch text;
    struct lg__block string; /* int32_t: the columns of an input */
};

/* Opens from a run, whose task and plan must outlive it: refused with the reason where nothing can
 * be certified. Cleared in any case. */
int lg__contexts_open(struct lg__contexts *c, const struct lg__run *r, lg_error *err);
/* Fills the set. Two inputs in which the same context has different answers are refused. */
int lg__contexts_fill(struct lg__contexts *c, lg_error *err);
void lg__contexts_clear(struct lg__contexts *c);

/* Adds a context to a batch as a sequence of its own, its answer the target of the last row. */
int lg__contexts_add(const struct lg__contexts *c, int i, lg_batch *b, lg_error *err);
/* The columns of the input in which a context was first met. */
int lg__contexts_columns(struct lg__contexts *c, int i, lg_error *err);
/* A sum over all of them in their order. */
uint64_t lg__contexts_sum(const struct lg__contexts *c);
/* The text in which a context was first met, into c->x; *row is the place that predicts. */
int lg__contexts_text(struct lg__contexts *c, int i, int *row, lg_error *err);
/* The text of n columns whose inputs, as one number, are `which`, into c->x and c->text: 1, or 0 if
 * the task has no such text. */
int lg__contexts_write(struct lg__contexts *c, int n, int64_t which, lg_error *err);
/* Whether a position of the text in c->text shows a context i with flag[i]: 1 or 0. */
int lg__contexts_meet(struct lg__contexts *c, const unsigned char *flag, lg_error *err);
/* Refused if there may be over `most` inputs (0: 5e7). */
int lg__contexts_check(const struct lg__contexts *c, double most, lg_error *err);
/* Opens and fills; refused if there may be over `most` inputs (0: 5e7). progress may be NULL. */
int lg__contexts_make(struct lg__contexts *c, const struct lg__run *r, double most,
                      lg_certify_progress *progress, void *context, lg_error *err);

/* What a model makes of all contexts. */
struct lg__verdict {
    int64_t wrong;
    double margin;           /* the smallest lead of a right answer over the second */
    int *list, most, listed; /* the first wrong ones: list has room for `most` */
};
int lg__contexts_judge(const struct lg__contexts *c, lg_evaluator *e, lg_batch *b,
                       struct lg__verdict *v, lg_error *err);

/* certificate.c: says in remark if the window of a run that is opened does not show what decides an
 * answer; remark stays as it is otherwise, and where nothing can be certified. */
void lg__certificate_warn(const struct lg__run *r, char *remark, size_t size);
/* Whether a run that is opened could be certified; whether its folder has a certificate of that run at
 * that step, confirmed so; makes it and keeps it there, with the seconds that the run took so far. */
/* The certificate in a run's folder. */
int lg__certificate_read(const char *folder, json_t **certificate, lg_error *err);
int lg__certificate_possible(const struct lg__run *r, lg_error *err);
int lg__certificate_is_there(const char *folder, int64_t step, int confirm);
int lg__certificate_make(const char *folder, const char *store, int threads, int confirm,
                         lg_error *err);

/* confirm.c: a run answers n random inputs of n columns, the dullest of n, and one of 500 n. */
int lg__confirm(struct lg__contexts *c, const struct lg__run *r, int n, int threads,
                lg_confirmed *confirmed, lg_error *err);
/* Of a run with match heads: n inputs of n entries, and one of 500 n; both no longer than the task has. */
int lg__confirm_pairs(const struct lg__run *r, int n, int threads, lg_confirmed *confirmed,
                      lg_error *err);

#endif
