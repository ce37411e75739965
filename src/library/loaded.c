/* loaded.c: a run's model, task and scheme for programs of the user's own. */
#include "lengthen_library.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "runs/run.h"

struct lg_loaded {
    struct lg__run run;
};

lg_loaded *lg_run_load(const char *folder, const lg_run_access *access, lg_error *warning,
                       lg_error *err)
{
    lg_loaded *r = lg__alloc(sizeof *r);
    if (!r) {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for run %s; end other programs", folder);
        return NULL;
    }
    if (lg__run_open_folder(&r->run, folder, access, warning, err)) {
        lg_loaded_free(r);
        return NULL;
    }
    return r;
}

void lg_loaded_free(lg_loaded *r)
{
    if (!r) return;
    lg__run_close(&r->run);
    free(r);
}

const lg_model *lg_loaded_model(const lg_loaded *r) { return r->run.model; }
lg_task *lg_loaded_task(const lg_loaded *r) { return r->run.task; }
const lg_scheme *lg_loaded_scheme(const lg_loaded *r) { return &r->run.scheme; }
int64_t lg_loaded_step(const lg_loaded *r) { return r->run.step; }

lg_draw lg_loaded_draw(const lg_loaded *r)
{
    const struct lg__config *c = &r->run.config;
    return (lg_draw){.seed = (uint64_t)c->seed,
                     .stream = LG__STREAM_TRAIN,
                     .length_lo = c->length[0],
                     .length_hi = c->length[1],
                     .sparsity_lo = c->sparsity[0],
                     .sparsity_hi = c->sparsity[1]};
}
