/* curves.c: what was measured as a figure: by length, or by position where a cell has some. */
#include "cli/curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/show.h"

enum { MOST_CURVES = 32, NAME = 1000 };

/* ---- Measures ------------------------------------------------------------------------------ */

int lg_cli_measures_read(void *measures, const char *names)
{
    struct lg_cli_measures *m = measures;
    for (m->count = 0;; names++) {
        char name[64];
        int n = (int)strcspn(names, ",");
        snprintf(name, sizeof name, "%.*s", n, names);
        const lg_kind *kind = lg_kind_find(name);
        if (!kind || m->count == LG_CELL_VALUES) return -1;
        m->kind[m->count++] = kind;
        names += n;
        if (!*names) return 0;
    }
}

const char *lg_cli_measures_names(void)
{
    static char names[1000];
    int n = lg_kind_count(), used = 0;
    for (int i = 0; i < n && used < (int)sizeof names; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%s",
                         !i          ? ""
                         : i < n - 1 ? ", "
                                     : " or ",
                         lg_kind_at(i)->name);
    return names;
}

int lg_cli_measures_have(const struct lg_cli_measures *m, const lg_kind *kind)
{
    int have = !m->count && kind->leads;
    for (int i = 0; i < m->count; i++) have |= m->kind[i] == kind;
    return have;
}

const lg_kind *lg_cli_measures_at(const struct lg_cli_measures *m, const char *form, int i)
{
    if (!m->count) return i ? NULL : lg_kind_leading(form);
    for (int k = 0; k < m->count; k++)
        if (strcmp(m->kind[k]->form, form) == 0 && i-- == 0) return m->kind[k];
    return NULL;
}

/* ---- Points -------------------------------------------------------------------------------- */

struct lg_cli_point {
    const char *of;
    const lg_cell *cell;
    const lg_kind *kind;
    double value, low, high;
};

void lg_cli_curves_add(struct lg_cli_curves *c, const char *of, const lg_cell *cell,
                       const lg_kind *kind, double value, double low, double high)
{
    struct lg_cli_point *more = lg_cli_grow(c->points, c->count, &c->room, sizeof *more);
    c->lost |= !more;
    if (!more) return;
    c->points = more;
    if (!isnan(value))
        c->points[c->count++] = (struct lg_cli_point){of, cell, kind, value, low, high};
}

void lg_cli_curves_add_cell(struct lg_cli_curves *c, const char *of, const lg_cell *cell,
                            const struct lg_cli_measures *m)
{
    const lg_kind *kind;
    for (int i = 0; (kind = lg_cli_measures_at(m, lg_cell_form(cell), i)); i++) {
        const lg_value *v = lg_cell_get(cell, kind->name);
        if (v) lg_cli_curves_add(c, of, cell, kind, v->value, v->low, v->high);
    }
}

/* ---- The figure ---------------------------------------------------------------------------- */

/* What the names and the axes need: whether it differs between the points. */
struct differ {
    int kind, setting, sparsity, context, ids, unit, range;
    int longest; /* of those with positions, which are comparable at one length alone */
};

static struct differ differences(const struct lg_cli_curves *q)
{
    struct differ d = {0};
    const lg_cell *a = q->points[0].cell;
    for (int i = 0; i < q->count; i++) {
        const lg_cell *c = q->points[i].cell;
        if (c->first && c->length > d.longest) d.longest = c->length;
        d.kind |= q->points[i].kind != q->points[0].kind;
        d.setting |= *c->setting != 0;
        d.sparsity |= c->sparsity != a->sparsity;
        d.context |= c->context != a->context;
        d.ids |= c->predicted != a->predicted;
        d.unit |= strcmp(c->unit, a->unit) != 0;
        d.range |= c->trained_least != a->trained_least || c->trained_length != a->trained_length;
    }
    return d;
}

static void add_part(char name[NAME], const char *part)
{
    size_t n = strlen(name);
    if (*part) snprintf(name + n, NAME - n, "%s%.300s", n ? ", " : "", part);
}

static void name_curve(const struct lg_cli_point *p, const struct differ *d, char name[NAME])
{
    const lg_cell *c = p->cell;
    char text[64];
    *name = 0;
    add_part(name, p->of);
    if (d->kind) add_part(name, p->kind->label);
    if (d->setting) {
        char setting[256];
        lg_cli_place_text(LG_CLI_SETTING, c, setting);
        add_part(name, setting);
    }
    snprintf(text, sizeof text, "sparsity %d", c->sparsity);
    if (d->sparsity) add_part(name, text);
    snprintf(text, sizeof text, "context %d", c->context);
    if (d->context) add_part(name, text);
    if (d->ids) add_part(name, c->predicted ? "predicted IDs" : "given IDs");
    if (!*name) add_part(name, p->kind->label);
}

/* Whether it can be beside the first one: in the same unit, both by length or both by position. */
static int fits(const struct lg_cli_curves *q, const struct lg_cli_point *p)
{
    return p->kind->unit == q->points[0].kind->unit && !p->cell->first == !q->points[0].cell->first;
}

/* Returns how many points are not in the figure. */
static int gather(const struct lg_cli_curves *q, const struct differ *d, lg_series *s)
{
    char name[NAME];
    int left_out = 0;
    for (int i = 0; i < q->count; i++) {
        const struct lg_cli_point *p = &q->points[i];
        const lg_cell *c = p->cell;
        if (c->first && c->length != d->longest) continue;
        name_curve(p, d, name);
        int known = fits(q, p) && s->count < MOST_CURVES;
        for (int k = 0; k < s->count && !known; k++) known = strcmp(s->curves[k].name, name) == 0;
        left_out += !known;
        if (known)
            lg_series_add(s, name,
                          c->last    ? c->last
                          : c->first ? c->first
                                     : c->length,
                          p->value, p->low, p->high);
    }
    return left_out;
}

static int draw(const struct lg_cli_curves *q, const char *title, const char *joined,
                const char *command, const char *file, int letters)
{
    const lg_cell *first = q->points[0].cell;
    const lg_kind *kind = q->points[0].kind;
    struct differ d = differences(q);
    lg_series s = {0};
    char x_label[100], y_label[200];
    lg_length_label(d.unit ? "length" : first->unit, x_label, sizeof x_label);
    snprintf(y_label, sizeof y_label, "%s%s, %s", kind->label, joined, lg_cli_unit_text(kind));
    lg_figure f = {.title = title,
                   .x_label = first->first ? "position (tokens)" : x_label,
                   .y_label = y_label,
                   .answers = kind->unit == LG_UNIT_SHARE && kind == lg_kind_leading(kind->form)};
    if (!d.range) {
        f.trained_low = first->first ? 1 : first->trained_least;
        f.trained_high = first->trained_length;
    }
    int left_out = gather(q, &d, &s);
    if (left_out)
        fprintf(
            stderr,
            "lengthen %s: the figure has at most %d lines, in one unit; %d points are not in it\n",
            command, MOST_CURVES, left_out);
    if (kind->unit != LG_UNIT_SHARE) lg_series_axis(&s, &f);
    return lg_cli_series(&s, &f, command, file, letters);
}

int lg_cli_curves_draw(struct lg_cli_curves *c, const char *title, const char *joined,
                       const char *command, const char *file, int letters)
{
    int code = LG_EXIT_DONE;
    if (c->lost) {
        fprintf(stderr, "lengthen %s: no memory for the figure; end other programs\n", command);
        code = LG_EXIT_FAILED;
    } else if (c->count && (file || letters)) {
        code = draw(c, title, joined, command, file, letters);
    }
    free(c->points);
    *c = (struct lg_cli_curves){0};
    return code;
}
