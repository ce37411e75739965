/* coupling.h: a rule that gives the tokens of a text their coupling labels, for data whose lines have none
 * (docs/COUPLE.md). The rule cuts a text into places, and each level says what a token's label is by its
 * place. It is read from and written as YAML; `lengthen couple` finds it from examples (find.h). */
#ifndef LG_COUPLING_COUPLING_H
#define LG_COUPLING_COUPLING_H

#include "tasks/tasks.h"

enum {
    LG__PARTS = 12,  /* of a prompt */
    LG__PHASES = 12, /* widest group of an answer */
    LG__FIXED = 6,   /* places that all steps read */
    LG__RULE_WORD = 64
};

struct lg__rule_word {
    char text[LG__RULE_WORD];
    int32_t token; /* in the task's vocabulary, set by lg__rule_resolve */
};

/* How a part is cut into segments: not at all; every `width` tokens; or at each `word`. */
enum lg__cut { LG__CUT_WHOLE, LG__CUT_WIDTH, LG__CUT_WORD };
struct lg__cutting {
    enum lg__cut cut;
    int width;
    struct lg__rule_word word;
};

/* The prompt is part 0, separator 0, part 1, .. up to the last part, which is empty where a separator ends
 * the prompt. Then comes the answer. */
struct lg__structure {
    int separators;
    struct lg__rule_word separator[LG__PARTS];
    struct lg__cutting part[LG__PARTS + 1], answer;
};

/* Where a token is. A separator ends the part before it (index = its segment's length, or the segment after
 * the last one where the part is cut by width); the word that cuts a prompt's part ends the segment before
 * it, one that cuts an answer begins the segment behind it. If the prompt ends in a separator, that is place
 * -1 of the answer. */
struct lg__place {
    int part;        /* -1: the answer */
    int number, of;  /* of the segment, and how many there are in the part */
    int index, size; /* in the segment, and the segment's tokens */
};

enum lg__by {
    LG__BY_NONE,
    LG__BY_CONSTANT,
    LG__BY_NUMBER, /* of the segment */
    LG__BY_INDEX,  /* in the segment */
    LG__BY_FIND    /* answers: the segment of the prompt that the rule's search finds */
};

/* label = plus + times * value, the value counted from the part's (the segment's) start or end. */
struct lg__axis {
    enum lg__by by;
    int from_end, times, plus;
};

struct lg__rule_level {
    char name[24];
    struct lg__axis part[LG__PARTS + 1], answer;
    /* Added to the labels of an answer's phase (index in its group) where it is cut by width; LG_ABSENT: the
     * phase has no label here. */
    int phase[LG__PHASES];
    int fixed; /* label of the fixed places; LG_ABSENT: none */
};

/* Which segment of the prompt a group of the answer belongs to, by what they say. */
enum lg__find_kind { LG__FIND_NONE, LG__FIND_MATCH, LG__FIND_OCCURRENCE };
struct lg__find_rule {
    enum lg__find_kind kind;
    int part, at; /* compared: the token at this index of each segment of the part, */
    int back;     /* match: with the token so many before the group (1: the one right before it) */
    struct lg__rule_word
        word; /* occurrence: with this word; group g is the (g + plus)-th that has it */
    int plus;
};

struct lg__fixed_place {
    int part, from_end, at;
};

struct lg__rule {
    struct lg__structure structure;
    struct lg__find_rule find;
    int fixed;
    struct lg__fixed_place fixed_at[LG__FIXED];
    int levels;
    struct lg__rule_level level[LG_LEVELS];
    char reads[1024]; /* what was found, in words; lines */
};

/* The places of all tokens; place has room for x->n. Refused: a text that is not of this form. */
int lg__structure_places(const struct lg__structure *s, const lg_example *x,
                         struct lg__place *place, lg_error *err);

/* Writes the labels of all tokens of x at the rule's levels, and none at the others. */
int lg__rule_label(const struct lg__rule *r, lg_example *x, lg_error *err);
/* Looks the words up in a vocabulary; one that is not there is refused. */
int lg__rule_resolve(struct lg__rule *r, const lg_task *t, lg_error *err);

int lg__rule_read(struct lg__rule *r, const char *path, lg_error *err);
void lg__rule_write(const struct lg__rule *r, lg_buffer *to);

/* The largest steps that the labels of answers make, by how many labels there are. Starts as {0}. */
enum { LG__STEP_RANGES = 1024 };
struct lg__steps {
    int most[LG_LEVELS][LG__STEP_RANGES]; /* + 1; 0: no text has so many */
};
void lg__steps_add(struct lg__steps *s, const lg_example *x, int levels);
/* The largest step of a level; 0: it grows with the number of labels. */
int lg__steps_reach(const struct lg__steps *s, int level);

/* Replaces the task's labels by those of a rule, which is copied: every example that it makes from now on has
 * them, and so has a task that is opened like it. Its shape says the rule's levels, and reaches as its
 * examples of lengths lo..hi (0, 0: all it has) show them. */
int lg__task_couple(lg_task *t, const struct lg__rule *r, int lo, int hi, lg_error *err);
/* The same by the rule of a file; length NULL: as 0, 0. */
int lg__task_couple_file(lg_task *t, const char *path, const int length[2], lg_error *err);
/* Writes the task's rule, if it has one, to FOLDER/NAME; another one that is there is refused, and `from` is
 * where this one came from. */
int lg__task_keep_rule(const lg_task *t, const char *folder, const char *name, const char *from,
                       lg_error *err);
/* The task's rule; NULL: it has none. */
const struct lg__rule *lg__task_rule(const lg_task *t);

#endif
