/* probe_show.c: the bins of a probe in words, as `lengthen probe` prints them and `lengthen runs show` does
 * those that the store has. */
#include <math.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/probe.h"
#include "cli/show.h"
#include "cli/table.h"

const char *lg_cli_probe_bin(const lg_probe_bin *b, char name[24])
{
    if (!b->low)
        snprintf(name, 24, "none");
    else if (!b->high && b->low < 33)
        snprintf(name, 24, "over %d", b->low - 1);
    else if (!b->high)
        snprintf(name, 24, "%d+", b->low);
    else if (b->low == b->high)
        snprintf(name, 24, "%d", b->low);
    else
        snprintf(name, 24, "%d-%d", b->low, b->high);
    return name;
}

static void mean_cells(struct lg_cli_table *t, const lg_text_mean *m, const char *form)
{
    if (isnan(m->value))
        lg_cli_table_add(t, "-");
    else
        lg_cli_table_add(t, form, m->value);
    if (isnan(m->low))
        lg_cli_table_add(t, "-");
    else
        lg_cli_table_add(t, "%.3f..%.3f", m->low, m->high);
}

int lg_cli_probe_is_past(const lg_probe_bin *b, int most_k) { return b->high && b->low > most_k; }

void lg_cli_probe_table(const lg_probe_bin *bins, int count, int most_k, int excess)
{
    static const char *const heads[] = {"k*",  "predictions", "share", "loss",
                                        "95%", "excess",      "95%"};
    struct lg_cli_table t = {.columns = excess ? 7 : 5, .left = 1};
    int64_t all = 0;
    char name[24];
    for (int i = 0; i < t.columns; i++) lg_cli_table_add(&t, "%s", heads[i]);
    for (int i = 0; i < count; i++) all += bins[i].predictions;
    for (int i = 0; i < count; i++) {
        const lg_probe_bin *b = &bins[i];
        if (lg_cli_probe_is_past(b, most_k)) continue;
        lg_cli_table_add(&t, "%s", lg_cli_probe_bin(b, name));
        lg_cli_table_add(&t, "%d", b->predictions);
        lg_cli_table_add(&t, "%.1f%%", 100 * lg_cli_share(b->predictions, all));
        mean_cells(&t, &b->loss, "%.3f");
        if (excess) mean_cells(&t, &b->excess, "%+.3f");
    }
    lg_cli_table_print(&t, 0, 0, 0);
    lg_cli_table_clear(&t);
}

void lg_cli_probe_json(const lg_probe_bin *b)
{
    char name[24];
    printf("\"k\":\"%s\",\"low\":%d,\"high\":%d,\"predictions\":%d", lg_cli_probe_bin(b, name),
           b->low, b->high, b->predictions);
    lg_cli_json_mean("loss", &b->loss);
    lg_cli_json_mean("excess", &b->excess);
}
