/* eval.c: an evaluation, dealt to workers by its lengths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "cluster/jobs.h"
#include "runs/config.h"
#include "runs/run.h"

enum { MOST_KILLED = 3 };
enum { WAITING, RUNNING, DONE };

struct length {
    int length, state, killed, rank;
};

struct deal {
    const lg_eval_options *o;
    lg_comm *comm;
    struct length *lengths;
    int count, running;
    char *data; /* the store that goes with each: what is known of the run so far */
    size_t size;
    char rows[64]; /* where workers have it: the length is added */
};

/* Longest first: they take longest. */
static int by_length(const void *a, const void *b)
{
    return ((const struct length *)b)->length - ((const struct length *)a)->length;
}

static int list_lengths(struct deal *d, lg_error *err)
{
    struct lg__config c;
    char path[4096];
    int e = lg__file_path(path, sizeof path, d->o->folder, "config.yaml", err);
    if (!e) e = lg__config_read(&c, path, NULL, 0, err);
    if (e) return e;
    const int *from = d->o->lengths ? d->o->lengths : c.eval_lengths.at;
    int n = d->o->lengths ? d->o->length_count : c.eval_lengths.count;
    d->lengths = lg__alloc((size_t)(n + 1) * sizeof *d->lengths);
    if (!d->lengths) e = lg__fail(err, LG_ERROR_MEMORY, "no memory for %d lengths", n);
    for (int i = 0; i < n && !e; i++) {
        int j = 0;
        while (j < d->count && d->lengths[j].length != from[i]) j++;
        if (j == d->count) d->lengths[d->count++].length = from[i];
    }
    if (!e) qsort(d->lengths, (size_t)d->count, sizeof *d->lengths, by_length);
    lg__config_clear(&c);
    return e;
}

/* The run's rows as a store of its own. */
static int pack_rows(struct deal *d, lg_error *err)
{
    char id[LG__RUN_ID], *path = lg__alloc_print("%s.%d.part", d->o->store, (int)getpid());
    int added, known, e = path ? 0 : lg__fail(err, LG_ERROR_MEMORY, "no memory for a store");
    lg__run_id(d->o->folder, id);
    if (!e && *id && access(d->o->store, F_OK) == 0) {
        e = lg__store_merge(path, d->o->store, id, &added, &known, err);
        if (!e && !(d->data = lg__job_read(path, &d->size)))
            e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read", path);
        lg__store_remove(path);
    }
    free(path);
    return e;
}

static void word(struct lg__job *job, const char *name, const char *value)
{
    if (job->word_count + 2 > LG__JOB_WORDS) return;
    job->words[job->word_count++] = name;
    if (value) job->words[job->word_count++] = value;
}

static int send_length(struct deal *d, int i, int rank, lg_error *err)
{
    const lg_eval_options *o = d->o;
    char rows[96];
    struct lg__job job = {.number = i, .out = {rows}, .out_count = 1, .removed = 1};
    char length[16], samples[16], threads[16], sliding[16];
    lg_buffer list = {0};
    snprintf(length, sizeof length, "%d", d->lengths[i].length);
    snprintf(rows, sizeof rows, "%s-%s.db", d->rows, length);
    snprintf(samples, sizeof samples, "%d", o->samples);
    snprintf(sliding, sizeof sliding, "%d", o->sliding);
    snprintf(threads, sizeof threads, "%d", lg__comm_threads(d->comm, o->threads));
    for (int k = 0; k < o->sparsity_count; k++)
        lg_buffer_print(&list, "%s%d", k ? "," : "", o->sparsities[k]);
    char *sparsities = lg_buffer_take(&list, NULL);
    word(&job, "eval", o->folder);
    word(&job, "--json", NULL);
    word(&job, "--lengths", length);
    word(&job, "--store", rows);
    word(&job, "--threads", threads);
    if (o->samples) word(&job, "--samples", samples);
    if (o->sparsity_count && sparsities) word(&job, "--sparsities", sparsities);
    for (int k = 0; k < o->setting_count; k++) word(&job, "--vary", o->settings[k]);
    if (o->task) word(&job, "--task", o->task);
    if (o->texts) word(&job, "--text", o->texts);
    if (o->field) word(&job, "--field", o->field);
    if (o->sliding) word(&job, "--context", sliding);
    if (o->predicted >= 0) word(&job, "--source", o->predicted ? "predicted" : "given");
    if (o->access.allow_exec) word(&job, "--allow-exec", NULL);
    if (o->access.fallback) word(&job, "--fallback", NULL);
    if (o->force) word(&job, "--force", NULL);
    if (d->data) job.in[job.in_count++] = (struct lg__job_file){rows, d->data, d->size};
    int e = lg__job_send(d->comm, rank, &job, err);
    free(sparsities);
    if (e) return e;
    d->lengths[i].state = RUNNING;
    d->lengths[i].rank = rank;
    d->running++;
    return 0;
}

static int idle_rank(const struct deal *d)
{
    for (int rank = 1; rank < lg_comm_size(d->comm); rank++) {
        int i = 0;
        while (i < d->count && !(d->lengths[i].state == RUNNING && d->lengths[i].rank == rank)) i++;
        if (i == d->count) return rank;
    }
    return 0;
}

static int next_waiting(const struct deal *d)
{
    int i = 0;
    while (i < d->count && d->lengths[i].state != WAITING) i++;
    return i;
}

/* A length whose process was killed is dealt again; one that failed is left to the caller, who says why. */
static int take(struct deal *d, const struct lg__heard *h, lg_error *err)
{
    struct length *l = &d->lengths[h->number];
    int added, known, e = 0;
    if (!h->ended || h->number >= d->count) return 0;
    d->running--;
    l->state = h->signal > 0 && ++l->killed < MOST_KILLED ? WAITING : DONE;
    if (!h->out[0].data) return 0;
    char *path = lg__alloc_print("%s.%d.part", d->o->store, (int)getpid());
    if (!path) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the rows of a worker");
    e = lg__job_write(path, h->out[0].data, h->out[0].size, err);
    if (!e) e = lg_store_merge(d->o->store, path, &added, &known, err);
    lg__store_remove(path);
    free(path);
    return e;
}

static int deal_all(struct deal *d, lg_error *err)
{
    int e = 0;
    for (;;) {
        int i, rank;
        int stops = d->o->stop && *d->o->stop;
        while (!e && !stops && (i = next_waiting(d)) < d->count && (rank = idle_rank(d)))
            e = send_length(d, i, rank, err);
        if (e || !d->running) return e;
        struct lg__heard h;
        int heard = lg__job_hear(d->comm, &h, 0.2, err);
        if (heard < 0) return heard;
        if (heard) e = take(d, &h, err);
        if (heard) lg__heard_clear(&h);
    }
}

int lg_run_eval_deal(const lg_eval_options *o, lg_comm *c, lg_error *err)
{
    struct deal d = {.o = o, .comm = c};
    lg_error own;
    if (!err) err = &own;
    if (lg_comm_size(c) == 1 || !o->store) return 0;
    snprintf(d.rows, sizeof d.rows, "/tmp/lengthen-eval-%016llx",
             (unsigned long long)getpid() << 20 ^ (unsigned long long)time(NULL));
    int e = list_lengths(&d, err);
    if (!e) e = pack_rows(&d, err);
    if (!e) e = deal_all(&d, err);
    free(d.lengths);
    free(d.data);
    return e;
}
