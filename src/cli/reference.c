/* reference.c: `lengthen train --compare-with reference`. A line of experiments/reference.csv is config,step,low,high; made by
 * scripts/reference. A loss is normal up to twice the highest of the three seeds, and 0.01: seeds differ by that much. */
#include "cli/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/configs.h"
#include "cli/table.h"

int lg_cli_reference_open(struct lg_cli_reference *r, const char *config)
{
    char path[5000], line[200], name[80], names[400] = "", before[80] = "";
    long long step;
    double low, high;
    const char *base = strrchr(config, '/') ? strrchr(config, '/') + 1 : config;
    size_t n = strcspn(base, ".");
    snprintf(path, sizeof path, "%s/reference.csv", lg_cli_experiments());
    FILE *f = fopen(path, "r");
    *r = (struct lg_cli_reference){0};
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%79[^,],%lld,%lf,%lf", name, &step, &low, &high) != 4) continue;
        size_t used = strlen(names);
        if (strcmp(name, before) != 0)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
        strcpy(before, name);
        if (strlen(name) != n || strncmp(name, base, n) != 0 || r->count == LG_CLI_REFERENCE_STEPS)
            continue;
        r->at[r->count].step = step;
        r->at[r->count].low = low;
        r->at[r->count].high = high;
        r->at[r->count++].loss = NAN;
    }
    if (f) fclose(f);
    if (r->count) return 0;
    return lg_cli_wrong("train", "%s has no reference in %s; these have: %s", config, path, names);
}

void lg_cli_reference_step(struct lg_cli_reference *r, int64_t step, double loss)
{
    r->last[r->seen++ % LG_CLI_REFERENCE_MEAN] = loss;
    if (r->seen < LG_CLI_REFERENCE_MEAN) return;
    for (int i = 0; i < r->count; i++) {
        if (r->at[i].step != step) continue;
        double sum = 0;
        for (int k = 0; k < LG_CLI_REFERENCE_MEAN; k++) sum += r->last[k];
        r->at[i].loss = sum / LG_CLI_REFERENCE_MEAN;
    }
}

int lg_cli_reference_print(const struct lg_cli_reference *r)
{
    struct lg_cli_table t = {.columns = 4};
    int high = 0, seen = 0;
    const char *const heading[] = {"step", "loss", "reference", ""};
    for (int i = 0; i < 4; i++) lg_cli_table_add(&t, "%s", heading[i]);
    for (int i = 0; i < r->count; i++) {
        if (isnan(r->at[i].loss)) continue;
        int over = r->at[i].loss > 2 * r->at[i].high + 0.01;
        lg_cli_table_add(&t, "%lld", (long long)r->at[i].step);
        lg_cli_table_add(&t, "%.4f", r->at[i].loss);
        lg_cli_table_add(&t, "%.4f to %.4f", r->at[i].low, r->at[i].high);
        lg_cli_table_add(&t, "%s", over ? "high" : "normal");
        high += over;
        seen++;
    }
    lg_cli_table_print(&t, 0, 0, 0);
    lg_cli_table_clear(&t);
    if (!seen)
        puts("None of the reference's steps was in this training: nothing can be compared.");
    else if (high)
        printf("%d of %d losses are over twice those of the reference's three seeds: see "
               "docs/FAQ.md.\n",
               high, seen);
    else
        puts("The loss is normal: at most twice that of the reference's three seeds, and 0.01, at "
             "every step.");
    return high || !seen ? LG_EXIT_NO : LG_EXIT_DONE;
}
