/* run_data.c: what a run's examples are: the files that they come from, known by their content, and what is
 * held out of them for tests. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/hash.h"
#include "runs/run.h"
#include "tasks/tasks.h"

/* On from the sum so far. */
static uint64_t sum_file(uint64_t sum, const char *path)
{
    char bytes[1 << 14];
    FILE *f = fopen(path, "rb");
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;) sum = lg__fnv(sum, bytes, n);
    if (f) fclose(f);
    return sum;
}

void lg__run_sum_data(const struct lg__config *c, const char *task, const char *setting,
                      char data[20])
{
    static const char *const keys[] = {"table=", "vocab="};
    uint64_t sum = LG__FNV_START;
    const char *name = task ? task : c->task;
    size_t kind = strcspn(name, ":");
    int same = kind == strcspn(c->task, ":") && strncmp(name, c->task, kind) == 0;
    if (lg__task_file(name)) sum = sum_file(sum, lg__task_file(name));
    for (int k = 0; k < 2; k++) {
        const char *file = NULL;
        size_t n = strlen(keys[k]);
        for (int i = 0; i < c->setting_count && same; i++)
            if (strncmp(c->settings[i], keys[k], n) == 0) file = c->settings[i] + n;
        if (setting && strncmp(setting, keys[k], n) == 0) file = setting + n;
        if (file && *file) sum = sum_file(sum, file);
    }
    data[0] = 0;
    if (sum != LG__FNV_START) snprintf(data, 20, "%016llx", (unsigned long long)sum);
}

lg_side lg__run_test_side(const struct lg__config *c, const lg_task *t, int lo, int hi)
{
    int untrained = !c->init_from && (lo > c->length[1] || hi < c->length[0]);
    return untrained && lg__task_has_lines(t) ? LG_SIDE_ANY : LG_SIDE_TEST;
}

int lg__run_samples(const struct lg__config *c, const lg_task *t, int length, int sparsity)
{
    lg_draw d = {.length_lo = length, .length_hi = length};
    d.sparsity_lo = d.sparsity_hi = sparsity;
    d.side = lg__run_test_side(c, t, length, length);
    int lines = lg__task_count(t, &d);
    return lines && lines < c->eval_samples ? lines : c->eval_samples;
}

const char *lg_run_form(const char *folder)
{
    char path[4096];
    struct lg__config c;
    if (lg__file_path(path, sizeof path, folder, "config.yaml", NULL) ||
        lg__config_read(&c, path, NULL, 0, NULL))
        return "";
    const char *form = lg__task_form(c.task);
    lg__config_clear(&c);
    return form;
}
