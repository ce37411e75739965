/* find.h: which earlier tokens each token of an answer depends on, found from examples alone.
 *
 * 1. structure.c: words that every prompt has as often, whatever its length, are separators; parts are cut
 *    further where a phase has words of its own, or where a word cuts every text into equal segments.
 * 2. address.c: a token of the answer may read other tokens at addresses: t + d from the start or the end of
 *    a part, a fixed place, an earlier token of the answer, the segment that has the current word, ..
 * 3. search.c: the smallest set of addresses of which the token is a function. A table on the set's values,
 *    each row left out of its own cell, says how often it is right on the longer lines.
 * 4. assign.c: levels, roles and windows under which these addresses are neighbours. */
#ifndef LG_COUPLING_FIND_H
#define LG_COUPLING_FIND_H

#include "coupling/coupling.h"

enum { LG__SET = 6 }; /* largest set */

/* The thresholds of the search. They were fixed before the tasks that results/couple calls "not built on"
 * were run for the first time. */
#define LG__FIND_ACCURACY 0.94 /* of the rows that the table has seen */
#define LG__FIND_FORM 0.97     /* share of lines that have the structure */
enum { LG__FIND_SEEN = 60 };   /* rows that it must have seen, and 4% of all */

/* Lines as they are read. */
struct lg__examples {
    lg_example *x;
    int count;
    const lg_task_shape *shape;
};

enum lg__address_kind {
    LG__AT_BACK,   /* the token d before this one */
    LG__AT_LINE,   /* part, at times * step + d, from its start or its end */
    LG__AT_FIXED,  /* part, at d */
    LG__AT_BEFORE, /* the answer's segment e before this one, at index + d */
    LG__AT_CELL,   /* part, segment number + e, at index + d from its start or its end */
    LG__AT_HAS,    /* part: whether there is a segment number + e */
    LG__AT_RECORD, /* part, segment step + d from the start or the end, at `at` */
    LG__AT_MATCH, /* part: the segment whose token `at` is the one `back` before the group; its token e */
    LG__AT_OCCURRENCE /* part: the (step + d)-th segment that has `word` at `at`; its token e */
};

struct lg__address {
    enum lg__address_kind kind;
    int part, from_end, times, d, e, at, back;
    int32_t word;
};

/* What the tokens of one phase of the answer read. */
struct lg__slot {
    int count;
    struct lg__address address[LG__SET];
    double accuracy; /* on the rows of longer lines that the table has seen */
    double seen;     /* share of these rows */
    double chance;   /* accuracy without any address */
    int copies;      /* it is the token at its one address */
};

struct lg__finding {
    struct lg__structure structure;
    int slots; /* phases of the answer */
    struct lg__slot slot[LG__PHASES];
    double accuracy;      /* of the worst slot */
    int roles;            /* tokens that would share an ID must be told apart */
    int disagree;         /* lines that contradict the others */
    unsigned char *wrong; /* [lines] 1: such a line; the caller frees it, or NULL */
    double cost;          /* of its description */
};

/* ---- Structure ------------------------------------------------------------------------------ */

/* The structures that the prompts may have, likeliest first, with the answer whole; how many. */
enum { LG__STRUCTURES = 3 };
int lg__structures_find(const struct lg__examples *lines, struct lg__structure *s, lg_error *err);
/* A word that cuts every answer into segments of one size per line; LG_NONE: there is none. */
int32_t lg__answer_word(const struct lg__examples *lines);
void lg__rule_word_set(struct lg__rule_word *w, const lg_task_shape *shape, int32_t token);

/* ---- Addresses ------------------------------------------------------------------------------ */

/* A text with its parts at hand. */
struct lg__view {
    const lg_example *x;
    struct lg__extent {
        int start, end, size, of, stride;
    } part[LG__PARTS + 2]; /* the last: the answer */
};
/* 0: the text is not of this form. */
int lg__view_make(struct lg__view *v, const struct lg__structure *s, const lg_example *x);
/* What a token of the answer is told at an address: a token, or that there is none. */
enum { LG__NO_SEGMENT = -2, LG__NO_START = -3, LG__NO_END = -4, LG__IS_THERE = -5 };
int32_t lg__address_read(const struct lg__address *a, const struct lg__structure *s,
                         const struct lg__view *v, int t);
/* The place of the token that it reads; -1: none. */
int lg__address_place(const struct lg__address *a, const struct lg__structure *s,
                      const struct lg__view *v, int t);
/* All addresses for a phase; at most `room`. */
int lg__addresses_list(struct lg__address *list, int room, const struct lg__examples *lines,
                       const struct lg__structure *s, int phase);
double lg__address_cost(const struct lg__address *a);
/* "a[n-1-i]". */
void lg__address_words(const struct lg__address *a, const struct lg__structure *s,
                       const lg_task_shape *shape, lg_buffer *to);

/* ---- Search --------------------------------------------------------------------------------- */

struct lg__find_watch {
    void (*progress)(void *context, double share);
    void *context;
    const volatile int *stop;
    double until; /* by lg__now; 0: none */
};
/* Up to `most` findings, best first; 0: there is nothing to be found in these addresses; *best is then the
 * nearest. A negative number is an error. */
int lg__find(const struct lg__examples *lines, struct lg__finding *found, int most,
             struct lg__finding *best, const struct lg__find_watch *watch, lg_error *err);
/* What it found, in words, one line per slot. */
void lg__finding_words(const struct lg__finding *f, const lg_task_shape *shape, lg_buffer *to);

/* ---- IDs ------------------------------------------------------------------------------------ */

/* A rule with the window that its levels need. */
struct lg__assignment {
    struct lg__rule rule;
    int lo[LG_LEVELS], hi[LG_LEVELS];
    int grows
        [LG_LEVELS]; /* the steps of this level's labels grow with the length: a pointer is needed */
    double
        seen; /* share of the longer lines' rows whose context other rows have, too, of the worst phase */
    int reach; /* largest step of the others */
    int roles;
};
/* roles: with a level that tells parts and phases apart. -1 and the reason: no assignment of IDs makes
 * these addresses neighbours. */
int lg__assign(const struct lg__finding *f, const struct lg__examples *lines, int roles,
               struct lg__assignment *a, lg_error *err);

#endif
