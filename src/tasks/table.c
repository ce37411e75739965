/* table.c: every task there is, in the order of `lengthen tasks`: one row each. */
#include <stddef.h>

#include "tasks.h"

/* X(name) stands for lg__task_name, defined in the file of its family; that of text, which needs
 * tokenizers and corpora, is in lab/texts.c. */
#define TASKS(X)                                                                                   \
    X(parity)                                                                                      \
    X(parity_scratchpad)                                                                           \
    X(sparse_parity)                                                                               \
    X(sparse_parity_scratchpad)                                                                    \
    X(variable_assignment)                                                                         \
    X(retrieval)                                                                                   \
    X(planted)                                                                                     \
    X(addition)                                                                                    \
    X(subtraction)                                                                                 \
    X(multi_addition)                                                                              \
    X(multiplication)                                                                              \
    X(copy)                                                                                        \
    X(reverse)                                                                                     \
    X(sort)                                                                                        \
    X(majority)                                                                                    \
    X(flip_flop)                                                                                   \
    X(machine)                                                                                     \
    X(jsonl)                                                                                       \
    X(exec)                                                                                        \
    X(text)

#define DECLARE(name) extern const struct lg__task_row lg__task_##name;
#define ROW(name) &lg__task_##name,

TASKS(DECLARE)

const struct lg__task_row *const lg__tasks[] = {TASKS(ROW) NULL};
