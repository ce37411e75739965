/* eval.c: what a run can do, by the form of measurement that its task names. A cell that the store has is not
 * made again. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "measure/eval.h"
#include "runs/store.h"
#include "tasks/tasks.h"

const struct lg__form *lg__form_of(const char *task)
{
    static const struct lg__form *const forms[] = {&lg__form_answers, &lg__form_losses};
    const char *name = lg__task_form(task);
    for (size_t i = 1; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i]->name, name) == 0) return forms[i];
    return forms[0];
}

int lg__eval_stopped(const struct lg__eval *e) { return e->o->stop && *e->o->stop; }

void lg__eval_tell(struct lg__eval *e, lg_cell *cell)
{
    const struct lg__config *c = &e->run->config;
    cell->index = e->index++;
    cell->count = e->count;
    cell->unit = lg_task_get_shape(e->run->task)->info->unit;
    cell->trained_least = c->length[0];
    cell->trained_length = c->length[1];
    cell->trained_sparsity = c->sparsity[1];
    if (e->o->each) e->o->each(e->o->context, cell);
}

void lg__eval_warn(lg_error *warning, const char *format, ...)
{
    if (!warning) return;
    size_t n = strlen(warning->text);
    if (n) n += (size_t)snprintf(warning->text + n, sizeof warning->text - n, "; ");
    if (n >= sizeof warning->text) return;
    va_list args;
    va_start(args, format);
    vsnprintf(warning->text + n, sizeof warning->text - n, format, args);
    va_end(args);
}

int lg__eval_refuse(const struct lg__eval *e, const char *option, lg_error *err)
{
    const char *name = lg_task_get_shape(e->run->task)->info->name;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s is a run of task %s, for which there is no %s; leave it out", e->o->folder,
                    name, option);
}

int lg__eval_list(lg_cell **cells, int *count, const lg_cell *cell, lg_error *err)
{
    enum { STEP = 64 };
    if (*count % STEP == 0) {
        size_t used = (size_t)*count * sizeof **cells;
        lg_cell *more = lg__alloc_more(*cells, used, used + STEP * sizeof *more);
        if (!more)
            return lg__fail(err, LG_ERROR_MEMORY, "no memory for the cells; end other programs");
        *cells = more;
    }
    (*cells)[(*count)++] = *cell;
    return 0;
}

/* ---- The call ---------------------------------------------------------------------------------- */

int lg__run_check_eval(struct lg__run *r, const lg_eval_options *o, lg_error *err)
{
    struct lg__eval e = {.run = r, .o = o, .strict = 1};
    return lg__form_of(r->config.task)->check(&e, err);
}

int lg__run_measure(struct lg__run *r, const lg_eval_options *o, lg_store *s, int64_t number,
                    lg_error *warning, lg_error *err)
{
    struct lg__eval e = {.run = r, .o = o, .store = s, .number = number, .warning = warning};
    int code = lg__form_of(r->config.task)->make(&e, err);
    if (r->model_config.rope_scaling == LG_ROPE_DYNAMIC) { /* as it is trained */
        int back = lg_model_set_length(r->model, r->model_config.rope_length, code ? NULL : err);
        if (!code) code = back;
    }
    return code;
}

int lg_run_eval(const lg_eval_options *o, lg_error *warning, lg_error *err)
{
    lg_error own;
    struct lg__run r = {0};
    lg_store *s = NULL;
    int64_t number = 0;
    if (!err) err = &own;
    int e = lg__run_open_folder(&r, o->folder, &o->access, warning, err);
    struct lg__eval eval = {.run = &r, .o = o};
    if (!e) e = lg__form_of(r.config.task)->check(&eval, err);
    if (!e && o->store && !(s = lg_store_open(o->store, 1, err))) e = err->code;
    if (!e) e = lg__run_register(&r, o->folder, s, 0, &number, err);
    if (!e) e = lg__run_measure(&r, o, s, number, warning, err);
    lg_store_close(s);
    lg__run_close(&r);
    return e;
}
