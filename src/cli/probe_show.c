/* probe_show.c: the table of a probe, as `lengthen probe` prints it and `lengthen runs show` does those that the
 * store has. */
#include <math.h>
#include <stdio.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/probe.h"

/* "1", "3-4", "none"; the last one "33+", or "over 10" where k* was looked for up to 10. */
static const char *range_of(const lg_cell *c, char text[32])
{
    if (!c->first)
        snprintf(text, 32, "none");
    else if (!c->last && c->first < 33)
        snprintf(text, 32, "over %d", c->first - 1);
    else if (!c->last)
        snprintf(text, 32, "%d+", c->first);
    else if (c->first == c->last)
        snprintf(text, 32, "%d", c->first);
    else
        snprintf(text, 32, "%d-%d", c->first, c->last);
    return text;
}

void lg_cli_probe_table(const struct lg_cli_row *rows, int count)
{
    struct lg_cli_table t = {.columns = 3, .left = 1};
    const lg_cell *first = &rows[0].cell;
    int shown[LG_CELL_VALUES] = {0};
    int64_t all = 0;
    char text[64];
    for (int i = 0; i < count; i++) {
        all += rows[i].cell.value[0].samples;
        for (int k = 0; k < first->values; k++) shown[k] |= !isnan(rows[i].cell.value[k].value);
    }
    for (int k = 0; k < first->values; k++) t.columns += 2 * shown[k];
    lg_cli_table_add(&t, "k*");
    lg_cli_table_add(&t, "predictions");
    lg_cli_table_add(&t, "share");
    for (int k = 0; k < first->values; k++) {
        if (!shown[k]) continue;
        lg_cli_table_add(&t, "%s", first->value[k].kind->label);
        lg_cli_table_add(&t, "95%%");
    }
    for (int i = 0; i < count; i++) {
        const lg_value *v = rows[i].cell.value;
        lg_cli_table_add(&t, "%s", range_of(&rows[i].cell, text));
        lg_cli_table_add(&t, "%d", v->samples);
        lg_cli_table_add(&t, "%.1f%%", 100 * lg_cli_share(v->samples, all));
        for (int k = 0; k < first->values; k++) {
            if (!shown[k]) continue;
            lg_cli_table_add(&t, "%s", lg_cli_value_text(v[k].kind, v[k].value, text));
            lg_cli_table_add(&t, "%s", lg_cli_range_text(v[k].kind, v[k].low, v[k].high, text));
        }
    }
    lg_cli_table_print(&t, 0, 0, 0);
    lg_cli_table_clear(&t);
}
