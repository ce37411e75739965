/* variants.c: what the runs of a variant share: how they are measured, and which cells each is to have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/eval.h"
#include "study/sweep.h"
#include "tasks/tasks.h"

/* The axis `seed` names it; else the config does. */
static void set_seeds(struct lg__sweep_plan *p, int group)
{
    for (int i = 0; i < p->count; i++) {
        if (p->runs[i].group != group) continue;
        p->runs[i].seed = p->variants[group].seed;
        for (int a = 0; a < p->axis_count; a++)
            if (strcmp(p->axes[a].at->key, "seed") == 0)
                p->runs[i].seed = strtoll(lg__sweep_value_of(p, i, a)->name, NULL, 10);
    }
}

int lg__variant_fill(struct lg__sweep_plan *p, int run, const struct lg__config *c,
                     const lg_task *task, int predicts, lg_error *err)
{
    struct lg__variant *v = lg__variant_of(p, run);
    const lg_task_info *info = lg_task_info_find(c->task);
    const struct lg__form *form = lg__form_of(c->task);
    if (v->form) return 0;
    *v = (struct lg__variant){.form = form->name,
                              .least = c->length[0],
                              .length = c->length[1],
                              .sparsest = c->sparsity[0],
                              .sparsity = c->sparsity[1],
                              .seed = c->seed};
    for (int i = 0; i < c->eval_lengths.count; i++)
        if (c->eval_lengths.at[i] > v->longest) v->longest = c->eval_lengths.at[i];
    int own = info->own != LG_OWN_NONE;
    snprintf(v->unit, sizeof v->unit, "%s", info->unit);
    snprintf(v->sparse, sizeof v->sparse, "%s", info->sparsity && !own ? info->sparsity : "sparse");
    lg__run_sum_data(c, NULL, NULL, v->data);
    set_seeds(p, p->runs[run].group);
    int e = form->list(c, task, predicts, &v->cells, &v->count, err);
    for (int i = 0; i < v->count; i++) {
        v->cells[i].unit = v->unit;
        v->cells[i].trained_least = v->least;
        v->cells[i].trained_length = v->length;
        v->cells[i].trained_sparsity = v->sparsity;
    }
    return e;
}

/* The config as its runs will have it; the weights are not needed. Of texts it is taken as it is written: what
 * is in them decides nothing here, and they need not be there to read what was made of them. */
static int open_variant(struct lg__sweep_plan *p, int run, const struct lg__config *c, int makes,
                        lg_error *err)
{
    lg_task *task = NULL;
    lg_scheme scheme;
    lg_model_config model = {0};
    lg_train_options train;
    int predicts = 0, e = 0;
    if (lg__form_of(c->task) == &lg__form_answers) {
        if (!makes && lg__task_executes(c->task)) {
            *lg__variant_of(p, run) = (struct lg__variant){.form = lg__form_answers.name};
            return 0; /* a list executes nothing: which cells there are is not known */
        }
        e = lg__config_open(c, &task, &scheme, &model, &train, err);
    }
    for (int l = 0; l < model.levels && !e; l++) predicts |= model.id_classes[l] > 0;
    if (!e) e = lg__variant_fill(p, run, c, task, predicts, err);
    lg_task_free(task);
    return e;
}

int lg__variants_open(struct lg__sweep_plan *p, int makes, lg_error *err)
{
    const char **sets = lg__alloc((size_t)lg__sweep_sets(p, 0, NULL) * sizeof *sets);
    int e = sets ? 0 : lg__fail(err, LG_ERROR_MEMORY, "no memory for a plan; end other programs");
    for (int i = 0; i < p->count && !e; i++) {
        struct lg__config c;
        if (lg__variant_of(p, i)->form) continue;
        e = lg__config_read(&c, NULL, sets, lg__sweep_sets(p, i, sets), err);
        if (!e) {
            e = open_variant(p, i, &c, makes, err);
            lg__config_clear(&c);
        }
        if (e) lg__sweep_blame(p, i, err);
    }
    free(sets);
    return e;
}
