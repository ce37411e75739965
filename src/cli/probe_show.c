/* probe_show.c: the bins of a probe in words, as `lengthen probe` prints them and `lengthen runs show` does
 * those that the store has. */
#include <math.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/probe.h"
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

void lg_cli_probe_verdict(const lg_probe_summary *s, char *text, size_t size)
{
    const lg_text_mean *d = &s->difference;
    char between[80] = "no interval from one document", many[24];
    const char *few = s->few > 1 ? "1 or 2" : "1";
    snprintf(many, sizeof many, "over %d", s->many);
    if (!isnan(d->low)) snprintf(between, sizeof between, "95%% %+.3f..%+.3f", d->low, d->high);
    if (isnan(d->value)) {
        snprintf(text, size,
                 "Whether predictions with small k* extrapolate better cannot be said: there are "
                 "none with k* %s%s.",
                 isnan(s->small.value) ? "of " : "", isnan(s->small.value) ? few : many);
        return;
    }
    const char *how = isnan(d->low) || (d->low <= 0 && d->high >= 0)
                          ? "extrapolate no better or worse, as far as these documents tell"
                      : d->value > 0 ? "extrapolate better"
                                     : "extrapolate worse";
    snprintf(text, size,
             "Past %d tokens, predictions with small k* %s: the excess loss is %+.3f nats where k* "
             "is %s and %+.3f where it is %s, a difference of %+.3f (%s).",
             s->context, how, s->small.value, few, s->large.value, many, d->value, between);
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

void lg_cli_json_mean(const char *name, const lg_text_mean *m)
{
    const struct {
        const char *end;
        double value;
    } part[] = {{"", m->value}, {"_low", m->low}, {"_high", m->high}};
    for (int i = 0; i < 3; i++)
        if (isnan(part[i].value))
            printf(",\"%s%s\":null", name, part[i].end);
        else
            printf(",\"%s%s\":%.6g", name, part[i].end, part[i].value);
}

void lg_cli_probe_json(const lg_probe_bin *b)
{
    char name[24];
    printf("\"k\":\"%s\",\"low\":%d,\"high\":%d,\"predictions\":%d", lg_cli_probe_bin(b, name),
           b->low, b->high, b->predictions);
    lg_cli_json_mean("loss", &b->loss);
    lg_cli_json_mean("excess", &b->excess);
}
