/* run_from.c: the weights of another run, with which a run begins (train.init_from). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runs/checkpoint.h"
#include "runs/run.h"
#include "base/files.h"

/* The checksum of a tokenizer, 16 digits, in the config of a run of texts; "": it has no such setting. */
static const char *tokenizer_sum(const struct lg__config *c)
{
    for (int i = 0; i < c->setting_count; i++)
        if (strncmp(c->settings[i], "checksum=", 9) == 0) return c->settings[i] + 9;
    return "";
}

/* A model knows tokens by their numbers, so these must mean the same. */
static int check_tokens(const struct lg__run *r, const char *from, lg_error *err)
{
    char path[4096];
    struct lg__config c;
    int e = lg__file_path(path, sizeof path, from, "config.yaml", err);
    if (!e) e = lg__config_read(&c, path, NULL, 0, err);
    if (e) return e;
    const char *theirs = tokenizer_sum(&c), *own = tokenizer_sum(&r->config);
    if (!*theirs != !*own)
        e = lg__fail(
            err, LG_ERROR_ARGUMENT,
            "train.init_from is %.200s, a run of task %.60s, whose tokens are others than those "
            "of %.60s; take a run of the same task",
            from, c.task, r->config.task);
    else if (strncmp(theirs, own, 16) != 0)
        e = lg__fail(
            err, LG_ERROR_ARGUMENT,
            "train.init_from is %.200s, which was made with another tokenizer (checksum %.16s, "
            "this one's is %.16s); take that one, %.200s/" LG__RUN_TOKENIZER ", as task.tokenizer",
            from, theirs, own, from);
    lg__config_clear(&c);
    return e;
}

int lg__run_take_weights(struct lg__run *r, int fallback, lg_error *err)
{
    const char *from = r->config.init_from;
    char path[4096], id[LG__RUN_ID], *note = NULL;
    lg_error inner = {0}, warning = {0};
    struct lg__run_note n;
    if (!from) return 0;
    lg__run_id(from, id);
    if (!*id)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "train.init_from is %.200s, which is no run; give the folder of one, or leave it "
            "out",
            from);
    int e = check_tokens(r, from, err);
    if (!e) e = lg__file_path(path, sizeof path, from, "checkpoint", err);
    if (e) return e;
    e = lg__checkpoint_load(path, r->model, NULL, fallback, &note, &warning, &inner);
    if (!e) e = lg__run_read_note(&n, note, &inner);
    free(note);
    if (e) return lg__fail(err, e, "train.init_from: %s", inner.text);
    size_t used = strlen(r->remark);
    if (warning.text[0])
        snprintf(r->remark + used, sizeof r->remark - used, "%strain.init_from: %s",
                 used ? "; " : "", warning.text);
    snprintf(r->origin, sizeof r->origin, "step %lld of run %s, %.400s", (long long)n.step, id,
             from);
    return 0;
}
