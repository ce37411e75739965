/* table.c: every task there is, in the order of `lengthen tasks`: one row each. */
#include <stdatomic.h>
#include <stddef.h>

#include "tasks.h"

/* X(name) stands for lg__task_name, defined in the file of its family. */
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
    X(exec)

#define DECLARE(name) extern const struct lg__task_row lg__task_##name;
#define ROW(name) &lg__task_##name,

TASKS(DECLARE)

enum { MORE = 64 };
static const struct lg__task_row *const rows[] = {TASKS(ROW)};
enum { ROWS = sizeof rows / sizeof *rows };

/* Of other rooms. They are added once and never go. */
static const struct lg__task_row *_Atomic more[MORE + 1];

const struct lg__task_row *lg__task_row_at(int i)
{
    return i < ROWS ? rows[i] : i - ROWS < MORE ? more[i - ROWS] : NULL;
}

int lg__task_row_add(const struct lg__task_row *row)
{
    for (int i = 0; i < MORE; i++) {
        const struct lg__task_row *none = NULL;
        if (atomic_compare_exchange_strong(&more[i], &none, row) || none == row) return 0;
    }
    return -1;
}
