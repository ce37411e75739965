/* ids_table.c: every kind of IDs. A kind is named as its row is; one that can be composed with coupled
 * IDs is there a second time, after those, as "coupled+NAME". */
#include "positions/ids.h"

#include <stddef.h>
#include <string.h>

#include "base/settings.h"

/* In the order of `lengthen positions`. */
#define KINDS(X) X(plain) X(random_start) X(randomized) X(pose) X(coupled) X(abacus)

#define DECLARE(name) extern const struct lg__ids_row lg__ids_##name;
KINDS(DECLARE)

#define ROW(name) &lg__ids_##name,
static const struct lg__ids_row *const rows[] = {KINDS(ROW)};
enum { ROWS = sizeof rows / sizeof *rows };

/* The i-th of all, composed ones included; 0: there are not so many. */
static int entry(int i, const struct lg__ids_row **row, const struct lg__ids_row **over)
{
    for (int k = 0; k < ROWS; k++) {
        *row = rows[k];
        *over = NULL;
        if (i-- == 0) return 1;
        if (!(rows[k]->flags & LG__IDS_LABELS)) continue;
        for (int m = 0; m < ROWS; m++) {
            *over = rows[m];
            if (rows[m]->over_name && i-- == 0) return 1;
        }
    }
    return 0;
}

unsigned lg__ids_entry(int i, const struct lg__ids_row **row, const struct lg__ids_row **over)
{
    if (i < 0 || !entry(i, row, over)) return 0;
    return (*row)->flags | (*over ? (*over)->flags : 0);
}

int lg_ids_count(void)
{
    const struct lg__ids_row *row, *over;
    int n = 0;
    while (entry(n, &row, &over)) n++;
    return n;
}

lg_ids_info lg_ids_info_at(int i)
{
    const struct lg__ids_row *row, *over;
    if (i < 0 || !entry(i, &row, &over)) return (lg_ids_info){0};
    int labels = (row->flags & LG__IDS_LABELS) != 0;
    if (over) return (lg_ids_info){over->over_name, over->over_line, over->over_text, labels};
    return (lg_ids_info){row->name, row->line, row->text, labels};
}

int lg__ids_find(const char *name)
{
    const char *at;
    for (int i = 0; (at = lg_ids_info_at(i).name); i++)
        if (strcmp(at, name) == 0) return i;
    return -1;
}

unsigned lg__ids_flags(const char *name)
{
    const struct lg__ids_row *row, *over;
    return lg__ids_entry(lg__ids_find(name), &row, &over);
}

const char *lg__ids_names(char *text, unsigned without)
{
    const char *names[ROWS];
    int n = 0;
    for (int k = 0; k < ROWS; k++)
        if (!(rows[k]->flags & without)) names[n++] = rows[k]->name;
    return lg__either(text, LG__IDS_NAMES, names, n);
}
