/* sweep_ranks.c: runs of a sweep, dealt to workers and taken back. */
#include "study/sweep_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "runs/run.h"

/* What comes back: the rows first. */
static const char *const names[] = {".db", "/config.yaml", "/" LG__RUN_CERTIFICATE};
enum { NAMES = sizeof names / sizeof *names };

int lg__sweep_deal(const struct lg__sweep_plan *p, int run, lg_comm *c, int rank, int threads,
                   lg_error *err)
{
    const lg_sweep_options *o = p->o;
    const struct lg__sweep_item *item = &p->runs[run];
    struct lg__job job = {.number = run, .removed = 1};
    char count[16], confirm[16], *out[NAMES] = {0};
    int e = 0;
    if (o->set_count > (LG__JOB_WORDS - 20) / 2)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%d settings are too many for a worker; write them "
                        "into the file",
                        o->set_count);
    snprintf(count, sizeof count, "%d", threads);
    snprintf(confirm, sizeof confirm, "%d", o->certify);
    for (int i = 0; i < NAMES && !e; i++) {
        out[i] = lg__alloc_print("%s%s", item->folder, names[i]);
        if (!out[i]) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for a job");
        job.out[job.out_count++] = out[i];
    }
    const char *words[] = {"sweep",   o->file,   "--only", item->name,  "--tell", "--out",
                           o->folder, "--store", out[0],   "--threads", count};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        job.words[job.word_count++] = words[i];
    if (o->scale) {
        job.words[job.word_count++] = "--scale";
        job.words[job.word_count++] = o->scale;
    }
    if (o->certify > 0) {
        job.words[job.word_count++] = "--certify";
        job.words[job.word_count++] = confirm;
    }
    for (int i = 0; i < o->set_count; i++) {
        job.words[job.word_count++] = "--set";
        job.words[job.word_count++] = o->sets[i];
    }
    if (!e) e = lg__job_send(c, rank, &job, err);
    for (int i = 0; i < NAMES; i++) free(out[i]);
    return e;
}

int lg__sweep_take(const struct lg__sweep_plan *p, int run, const struct lg__heard *h,
                   lg_error *err)
{
    int added, known, e = 0;
    for (int i = 0; i < h->out_count && i < NAMES && !e; i++) {
        if (!h->out[i].data) continue;
        char *path = i ? lg__alloc_print("%s%s", p->runs[run].folder, names[i])
                       : lg__alloc_print("%s.%d.part", p->o->store, run);
        if (!path) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the rows of a worker");
        if (i == 0 || access(path, F_OK) != 0)
            e = lg__job_write(path, h->out[i].data, h->out[i].size, err);
        if (!e && i == 0) e = lg_store_merge(p->o->store, path, &added, &known, err);
        if (i == 0) unlink(path);
        free(path);
    }
    return e;
}
