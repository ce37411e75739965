/* check.h: what is right about an example, worked out a second time. Nothing here calls or knows
 * the generators: a checker sees the text of an example and the settings that it was made with,
 * and decides by the task's definition.
 *
 * A task has three functions, apart on purpose:
 *   check   reads a whole text and verifies it, step by step as it stands there;
 *   solve   reads a prompt alone and works the answer out, in another way than check;
 *   couple  derives the label of every token from the text.
 * They share the reading of the prompt, which also says whether there can be such a prompt. */
#ifndef LG_TESTS_TASKS_CHECK_H
#define LG_TESTS_TASKS_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "lengthen.h"

/* A text in words, with the settings it was made with. */
struct ck_text {
    int n;
    const char **word;
    const char *const *setting; /* "key=value" */
    int settings;
    void *rooms; /* what ck_room gave */
};

/* Words that a solver writes. */
struct ck_words {
    int n, room;
    const char **word;
};

struct ck_coupling {
    int levels, needed, reach[LG_LEVELS];
    const char *level[LG_LEVELS]; /* NULL: the definition gives no name */
    int answer, length, sparsity;
    int n, room;
    int32_t *label[LG_LEVELS];
};

struct ck_task {
    const char *name;
    int stop;                               /* 1: "$" ends the answer */
    const char *(*check)(struct ck_text *); /* NULL, or what is wrong */
    const char *(*solve)(struct ck_text *prompt, struct ck_words *answer);
    const char *(*couple)(struct ck_text *, struct ck_coupling *);
};

/* Families, each ended by a NULL name. */
extern const struct ck_task ck_parity[], ck_lookup[], ck_planted[], ck_sums[], ck_products[],
    ck_sequences[], ck_machine[];

const struct ck_task *ck_find(const char *name); /* NULL: it has no checker */
const struct ck_task *ck_at(int i);              /* each checker; NULL ends */

/* NULL if the text is an example of the task with these settings, else what is wrong. */
const char *ck_check(const char *task, const char *text, const char *const *setting, int settings);
/* NULL if shape and example are coupled as the text demands, else what is wrong. The largest
 * change of label among the generated tokens goes to most[level] where it is larger. */
const char *ck_coupled(const char *task, const char *text, const char *const *setting, int settings,
                       const lg_task_shape *shape, const lg_example *x, int most[LG_LEVELS]);

/* ---- For the checkers --------------------------------------------------------------- */

/* Cuts the text at its spaces; 0, or -1 if there are not single spaces between words. */
int ck_open(struct ck_text *t, const char *text, const char *const *setting, int settings);
void ck_close(struct ck_text *t);
void *ck_room(struct ck_text *t, size_t bytes); /* zeroed; lives as long as the text */

const char *ck_set(const struct ck_text *t, const char *name, const char *fallback);
int ck_set_number(const struct ck_text *t, const char *name, int fallback);
int ck_set_is(const struct ck_text *t, const char *name, const char *fallback, const char *value);

int ck_is(const struct ck_text *t, int i, const char *word); /* word i is there and is this */
int ck_same(const struct ck_text *t, int i, int j);          /* words i and j are there and equal */
/* NULL if the text ends at word i with a "$"; or (bare) if it ends in front of word i. */
const char *ck_stops(const struct ck_text *t, int i);
const char *ck_ends(const struct ck_text *t, int i);
/* The number behind the prefix, as in v17, if it is below `most` and has no zero too many; or
 * -1. */
int ck_numbered(const char *word, const char *prefix, int most);
int ck_digit(const char *word, int base); /* its value, or -1 */
const char *ck_digit_word(int digit);
const char *ck_named(struct ck_text *t, const char *prefix, int number); /* the word v17 */

void ck_say(struct ck_words *w, const char *word);
void ck_label(struct ck_coupling *c, int32_t l1, int32_t l2, int32_t l3);

/* Numbers in a text: digits, each behind a hint if there are hints. */
struct ck_number {
    int n, *digit; /* digit[0] is the lowest */
};
struct ck_hints {
    int most;  /* how many hint words; 0: no hints */
    int first; /* the hint of the lowest digit; -1: none was read yet */
};
/* Reads the digits from word *at on (to what is no digit), moves *at behind them. */
const char *ck_number_read(struct ck_text *t, int *at, int base, int reversed, struct ck_hints *h,
                           struct ck_number *number);
void ck_number_say(struct ck_text *t, struct ck_words *w, const int *digit, int n, int reversed,
                   const struct ck_hints *h);
int ck_number_length(const struct ck_number *a);    /* without the zeros at the top, >= 1 */
int ck_number_at(const struct ck_number *a, int j); /* digit j; 0 above the top */
int ck_letter(const char *word, int alphabet,
              int w); /* its place in the alphabet; w: always w0.. */

/* ---- Tables of our own, for the tasks that read one ------------------------------------ */

struct ck_file {
    const char *name; /* the checkers know these tables by the file's name */
    const char *yaml;
};
extern const struct ck_file ck_planted_files[], ck_machine_files[]; /* a NULL name ends */

/* ---- Random settings and sizes -------------------------------------------------------- */

enum { CK_SETTINGS = 16 };

struct ck_made {
    int settings;
    const char *setting[CK_SETTINGS];
    char text[CK_SETTINGS][160];
};

/* A folder with the files above; ended by ck_folder_close. */
const char *ck_folder(void);
void ck_folder_close(void);

/* Each setting at random in its range, or unsaid. */
void ck_draw_settings(const lg_task_info *info, lg_rng *r, struct ck_made *m);
/* Lengths and sparsities that the task can make: mostly short, some of 300. */
void ck_draw_sizes(const lg_task_shape *s, lg_rng *r, lg_draw *d);

/* The example's text; the caller frees it. */
char *ck_text_of(const lg_task *t, const lg_example *x);
/* A task, or the test fails with the reason. */
lg_task *ck_task_new(const char *name, const char *const *setting, int settings);
void ck_example(lg_task *t, const lg_draw *d, lg_example *x);

/* Pearson's chi-square of the counts under these weights (NULL: all equal), as a share of what
 * chance exceeds once in a million. `shrink` < 1: the counts are known to vary less, by this factor
 * of their variance. The other call fails the test where the share is over 1. */
double ck_chi_ratio(const int *count, const double *weight, int bins, double shrink);
void ck_chi_square(const char *what, const int *count, const double *weight, int bins,
                   double shrink);

#endif
