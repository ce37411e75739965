/* check_draw.c: random settings and sizes, examples as text, and the chi-square test. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"

/* ---- Files --------------------------------------------------------------------------- */

static char folder[] = "/tmp/lengthen-tables-XXXXXX";
static int folder_open;

static const struct ck_file *const file_lists[] = {ck_planted_files, ck_machine_files};
enum { FILE_LISTS = sizeof file_lists / sizeof *file_lists };

static void file_path(char path[100], const char *name)
{
    snprintf(path, 100, "%s/%.60s", folder, name);
}

const char *ck_folder(void)
{
    if (folder_open) return folder;
    if (!mkdtemp(folder)) fail_msg("cannot make %s", folder);
    folder_open = 1;
    for (int l = 0; l < FILE_LISTS; l++)
        for (const struct ck_file *f = file_lists[l]; f->name; f++) {
            char path[100];
            file_path(path, f->name);
            FILE *out = fopen(path, "w");
            if (!out || fputs(f->yaml, out) < 0 || fclose(out)) fail_msg("cannot write %s", path);
        }
    return folder;
}

void ck_folder_close(void)
{
    if (!folder_open) return;
    for (int l = 0; l < FILE_LISTS; l++)
        for (const struct ck_file *f = file_lists[l]; f->name; f++) {
            char path[100];
            file_path(path, f->name);
            unlink(path);
        }
    rmdir(folder);
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    folder_open = 0;
}

/* ---- Settings ------------------------------------------------------------------------- */

static int below(lg_rng *r, int n) { return n > 1 ? (int)lg_rng_below(r, (uint32_t)n) : 0; }

/* Between lo and hi, every order of magnitude alike. */
static int spread(lg_rng *r, int lo, int hi)
{
    int v = lo - 1 + (int)exp(lg_rng_uniform(r) * log((double)hi - lo + 2));
    return v < lo ? lo : v > hi ? hi : v;
}

/* Some task reads a table: one of its ready ones, or a file of ours. */
static void draw_table(const char *task, lg_rng *r, char *to, size_t size)
{
    int machine = !strcmp(task, "machine");
    const struct ck_file *files = machine ? ck_machine_files : ck_planted_files;
    int count = 0;
    while (files[count].name) count++;
    int which = below(r, count + (machine ? 4 : 2)) - count;
    if (which < 0)
        snprintf(to, size, "%s/%s", ck_folder(), files[-1 - which].name);
    else if (!machine)
        snprintf(to, size, "%s", which ? "lookup" : "pair");
    else if (which == 0)
        snprintf(to, size, "comparison");
    else if (which == 1)
        snprintf(to, size, "count-%d", spread(r, 2, 100));
    else if (which == 2)
        snprintf(to, size, "times-%d", below(r, 10));
    else
        snprintf(to, size, "add-%d", 2 + below(r, 15));
}

/* The n-th of the words between bars. */
static void draw_word(const char *range, lg_rng *r, char *to, size_t size)
{
    int words = 1;
    for (const char *s = range; *s; s++) words += *s == '|';
    /* Long lists have one usual word in front: multiplier=any|0|1|.. */
    int which = words > 4 && below(r, 2) ? 0 : below(r, words);
    while (which--) range = strchr(range, '|') + 1;
    snprintf(to, size, "%.*s", (int)strcspn(range, "|"), range);
}

void ck_draw_settings(const lg_task_info *info, lg_rng *r, struct ck_made *m)
{
    m->settings = 0;
    for (const lg_setting *s = info->settings; s && s->name; s++) {
        if (below(r, 5) < 2) continue;
        if (m->settings == CK_SETTINGS) fail_msg("%s has too many settings", info->name);
        char value[120] = "";
        int lo, hi;
        if (sscanf(s->range, "%d..%d", &lo, &hi) == 2) {
            /* Every word of a large vocabulary is made anew in each task: few are that large. */
            if (hi > 2000 && below(r, 10)) hi = 2000;
            if (!strcmp(s->name, "hints"))
                hi = below(r, 2) ? 0 : 400;
            else if (!strcmp(s->name, "alphabet") && below(r, 2))
                lo = 26 + below(r, 100); /* unique letters need some */
            else if (!strcmp(s->name, "k"))
                lo = 2, hi = 3; /* those of the tables whose labels are no rule */
            snprintf(value, sizeof value, "%d", spread(r, lo, hi));
        } else if (strchr(s->range, '|')) {
            draw_word(s->range, r, value, sizeof value);
        } else if (!strcmp(s->name, "table")) {
            draw_table(info->name, r, value, sizeof value);
        } else {
            fail_msg("%s: setting %s has range %s, which this test cannot draw", info->name,
                     s->name, s->range);
        }
        char *text = m->text[m->settings];
        snprintf(text, sizeof m->text[0], "%.30s=%s", s->name, value);
        m->setting[m->settings++] = text;
    }
}

/* ---- Sizes ---------------------------------------------------------------------------- */

static int at_most(int a, int b) { return a < b ? a : b; }
static int at_least(int a, int b) { return a > b ? a : b; }

void ck_draw_sizes(const lg_task_shape *s, lg_rng *r, lg_draw *d)
{
    int least = s->length_least;
    int most = at_most(s->length_most, at_least(least, below(r, 100) < 8 ? 300 : 40));
    d->length_lo = least + below(r, most - least + 1);
    d->length_hi = d->length_lo + below(r, at_most(8, most - d->length_lo) + 1);
    d->sparsity_lo = d->sparsity_hi = 0;
    if (!s->info->sparsity || below(r, 2)) return;
    /* Important pairs and statements of a chain are among those that there are; operands and
     * factors multiply the text, which is to stay short. */
    int among = !strcmp(s->info->family, "paper");
    int k = at_most(s->sparsity_most,
                    at_least(s->sparsity_least, among ? d->length_lo : 4000 / d->length_hi));
    d->sparsity_lo = spread(r, s->sparsity_least, k);
    d->sparsity_hi = d->sparsity_lo + below(r, k - d->sparsity_lo + 1);
    if (!among) d->sparsity_hi = at_most(d->sparsity_hi, d->sparsity_lo + 2);
}

/* ---- Examples -------------------------------------------------------------------------- */

char *ck_text_of(const lg_task *t, const lg_example *x)
{
    size_t size = lg_example_text(t, x, NULL, 0) + 1;
    char *text = malloc(size);
    assert_non_null(text);
    assert_int_equal(lg_example_text(t, x, text, size), size - 1);
    assert_int_equal(strlen(text), size - 1);
    return text;
}

lg_task *ck_task_new(const char *name, const char *const *setting, int settings)
{
    lg_error err = {0};
    lg_task *t = lg_task_new(name, setting, settings, &err);
    if (!t) fail_msg("%s: %s", name, err.text);
    return t;
}

void ck_example(lg_task *t, const lg_draw *d, lg_example *x)
{
    lg_error err = {0};
    if (lg_task_example(t, d, x, &err))
        fail_msg("%s, lengths %d..%d, sparsities %d..%d: %s", lg_task_get_shape(t)->info->name,
                 d->length_lo, d->length_hi, d->sparsity_lo, d->sparsity_hi, err.text);
}

/* ---- Chance ------------------------------------------------------------------------------ */

double ck_chi_ratio(const int *count, const double *weight, int bins, double shrink)
{
    double samples = 0, total = 0, sum = 0;
    for (int i = 0; i < bins; i++) {
        samples += count[i];
        total += weight ? weight[i] : 1;
    }
    for (int i = 0; i < bins; i++) {
        double expected = samples * (weight ? weight[i] : 1) / total;
        if (expected < 5) fail_msg("bin %d expects %g, too few to test", i, expected);
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    }
    /* Wilson and Hilferty's cube for p = 1e-6. */
    double free = bins - 1, v = 2 / (9 * free), limit = free * pow(1 - v + 4.7534 * sqrt(v), 3);
    return sum / shrink / limit;
}

void ck_chi_square(const char *what, const int *count, const double *weight, int bins,
                   double shrink)
{
    double ratio = ck_chi_ratio(count, weight, bins, shrink);
    if (ratio <= 1) return;
    for (int i = 0; i < bins; i++)
        print_error("  bin %d: %d, weight %g\n", i, count[i], weight ? weight[i] : 1);
    fail_msg("%s: chi-square is %g times what may be chance", what, ratio);
}
