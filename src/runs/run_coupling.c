/* run_coupling.c: a run's own copy of its coupling's rule, so that it keeps the labels it was trained with. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "coupling/coupling.h"
#include "runs/run.h"

int lg__run_keep_coupling(const struct lg__run *r, const char *folder, lg_error *err)
{
    const struct lg__rule *rule = lg__task_rule(r->task);
    char path[4096], *old = NULL;
    lg_buffer b = {0};
    if (!rule) return 0;
    int e = lg__file_path(path, sizeof path, folder, LG__RUN_COUPLING, err);
    if (!e) e = lg__file_read(path, &old, err);
    if (e) return e;
    lg__rule_write(rule, &b);
    char *text = lg_buffer_take(&b, err);
    if (!text)
        e = LG_ERROR_MEMORY;
    else if (old && strcmp(old, text) != 0)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s has another rule than %s, with which the run is to go on; take that one, "
                     "or train anew in another folder (--out)",
                     path, r->config.coupling);
    else if (!old)
        e = lg__file_write(path, text, err);
    free(text);
    free(old);
    return e;
}
