/* kinds.c: the table of what is measured, and cells that hold it. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "runs/cells.h"

#define KIND(name, form, measure, label, unit, better, interval, leads)                            \
    {#name, #form, label, LG_UNIT_##unit, better, LG_INTERVAL_##interval, leads},
static const lg_kind kinds[] = {
#include "runs/kinds_def.h"
};
#undef KIND

int lg_kind_count(void) { return (int)(sizeof kinds / sizeof *kinds); }

const lg_kind *lg_kind_at(int i) { return &kinds[i]; }

const lg_kind *lg_kind_find(const char *name)
{
    for (int i = 0; i < lg_kind_count(); i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

const lg_kind *lg_kind_leading(const char *form)
{
    for (int i = 0; i < lg_kind_count(); i++)
        if (kinds[i].leads && strcmp(kinds[i].form, form) == 0) return &kinds[i];
    return NULL;
}

const lg_value *lg_cell_get(const lg_cell *c, const char *kind)
{
    for (int i = 0; i < c->values; i++)
        if (strcmp(c->value[i].kind->name, kind) == 0) return &c->value[i];
    return NULL;
}

const char *lg_cell_form(const lg_cell *c) { return c->values ? c->value[0].kind->form : ""; }

void lg__cell_add(lg_cell *c, const char *kind, int samples, double value, double low, double high)
{
    if (c->values == LG_CELL_VALUES) return;
    c->value[c->values++] = (lg_value){lg_kind_find(kind), samples, value, low, high};
}

void lg__cell_add_share(lg_cell *c, const char *kind, int samples, double right, double n)
{
    double low = NAN, high = NAN;
    if (lg_kind_find(kind)->interval == LG_INTERVAL_WILSON && n > 0)
        lg__wilson(right, n, &low, &high);
    lg__cell_add(c, kind, samples, n > 0 ? right / n : 0, low, high);
}
