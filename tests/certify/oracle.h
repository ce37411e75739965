/* oracle.h: what a model does on every input up to a length, found by generating. It knows nothing
 * of contexts, windows, keys or machines: it writes the texts of some tasks by their definition, by
 * counting through all of them, and decodes. */
#ifndef LG_TESTS_CERTIFY_ORACLE_H
#define LG_TESTS_CERTIFY_ORACLE_H

#include "lengthen.h"

enum { ORACLE_TOKENS = 32 }; /* most of a text */

struct oracle_text {
    int columns;
    int n, answer; /* tokens; the first generated one */
    int32_t token[ORACLE_TOKENS], id[LG_LEVELS][ORACLE_TOKENS];
    /* What the model made of it. */
    int exact; /* 1: its own answer, IDs and all, came out right with the stop token in its place */
    /* 1: with all tokens and IDs before t right, it does not write token t, or not strictly, or does
     * not predict its ID; the ID of the last token is not asked for. */
    unsigned char wrong[ORACLE_TOKENS];
};

struct oracle {
    const lg_task *task;
    const lg_plan *plan;
    int levels;
    struct oracle_text *text; /* the shortest first */
    int count, room;
};

/* Writes the text of n columns, each an input of 0.., in the order of generation: 0 if the task has
 * no such text. */
typedef int oracle_write(const struct oracle *o, const int *input, int n, struct oracle_text *x);
oracle_write oracle_parity, oracle_parity_backward; /* inputs 2: the bit */
oracle_write oracle_addition;                       /* inputs 4: two bits, in base 2 */
oracle_write oracle_machine; /* inputs 2: a or b; the table is oracle_table */
extern const char oracle_table[];
/* Of match heads; columns are entries, statements, pairs. */
oracle_write oracle_retrieval;  /* inputs 16; keys=2, key_tokens=2, values=2, gap=7 */
oracle_write oracle_assignment; /* inputs 48; names=4, constants=2 */
oracle_write oracle_walk;       /* inputs 4 */

/* Every text of 1..longest columns. */
void oracle_open(struct oracle *o, const lg_task *t, const lg_plan *p, int levels,
                 oracle_write *write, int inputs, int longest);
void oracle_close(struct oracle *o);
/* Answers all of them. */
void oracle_run(struct oracle *o, const lg_model *m);
/* The text with this prompt, as words between spaces, or NULL. */
const struct oracle_text *oracle_find(const struct oracle *o, const char *prompt);

#endif
