/* curves.c: which measures were asked for, and what was measured as a figure. */
#include "cli/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- The figure ---------------------------------------------------------------------------- */

/* A figure of cells: what the names of its curves need, namely whether it differs between the rows. */
struct drawing {
    const struct lg_cli_cells *t;
    const struct lg_cli_row *first; /* that is drawn, and the measure: */
    const lg_kind *kind;
    int kinds, setting, sparsity, context, ids, unit, range;
    int longest;  /* positions are comparable at one length alone */
    int left_out; /* points that do not fit */
};

static void look(struct drawing *d, const struct lg_cli_measures *m)
{
    for (int i = 0; i < d->t->count; i++) {
        const struct lg_cli_row *row = &d->t->rows[i];
        const lg_cell *c = &row->cell;
        const lg_kind *kind;
        for (int k = 0; (kind = lg_cli_measures_at(m, lg_cell_form(c), k)); k++) {
            const lg_value *v = lg_cell_get(c, kind->name);
            if (!v || isnan(v->value)) continue;
            if (!d->first) d->first = row, d->kind = kind;
            const lg_cell *a = &d->first->cell;
            if (c->first && c->length > d->longest) d->longest = c->length;
            d->kinds |= kind != d->kind;
            d->setting |= *c->setting != 0;
            d->sparsity |= c->sparsity != a->sparsity;
            d->context |= c->context != a->context;
            d->ids |= c->predicted != a->predicted;
            d->unit |= strcmp(c->unit, a->unit) != 0;
            d->range |=
                c->trained_least != a->trained_least || c->trained_length != a->trained_length;
        }
    }
}

static void add_part(char name[NAME], const char *part)
{
    size_t n = strlen(name);
    if (*part) snprintf(name + n, NAME - n, "%s%.300s", n ? ", " : "", part);
}

/* "encoding rope, 4" for "positions.encoding=rope,scheme=4": the last part of each key, in words. */
static void name_variant(const char *variant, char name[NAME])
{
    for (const char *at = variant; *at;) {
        char part[300];
        size_t all = strcspn(at, ","), key = strcspn(at, "=,"), from = key;
        while (from && at[from - 1] != '.') from--;
        int named = key < all && strncmp(at + from, "method", 6) != 0 &&
                    strncmp(at + from, "scheme", 6) != 0;
        snprintf(part, sizeof part, "%.*s%s%.*s", named ? (int)(key - from) : 0, at + from,
                 named ? " " : "", (int)(key < all ? all - key - 1 : all),
                 key < all ? at + key + 1 : at);
        add_part(name, part);
        at += all + (at[all] == ',');
    }
}

static void name_curve(const struct drawing *d, const struct lg_cli_row *row, const lg_kind *kind,
                       char name[NAME])
{
    const lg_cell *c = &row->cell;
    char text[64];
    *name = 0;
    if (d->t->joined)
        name_variant(row->of, name);
    else
        add_part(name, row->of);
    if (d->kinds) add_part(name, kind->label);
    if (d->setting) add_part(name, lg_cli_place_setting(c));
    snprintf(text, sizeof text, "sparsity %d", c->sparsity);
    if (d->sparsity) add_part(name, text);
    snprintf(text, sizeof text, "context %d", c->context);
    if (d->context) add_part(name, text);
    if (d->ids) add_part(name, c->predicted ? "predicted IDs" : "given IDs");
    if (!*name) add_part(name, kind->label);
}

/* Points fit if they are in the same unit as the first, both by length or both by position. */
static void add_point(struct drawing *d, lg_series *s, const struct lg_cli_row *row,
                      const lg_value *v)
{
    const lg_cell *c = &row->cell;
    char name[NAME];
    name_curve(d, row, v->kind, name);
    int fits = s->count < MOST_CURVES;
    for (int k = 0; k < s->count && !fits; k++) fits = strcmp(s->curves[k].name, name) == 0;
    fits &= v->kind->unit == d->kind->unit && !c->first == !d->first->cell.first;
    d->left_out += !fits;
    if (fits)
        lg_series_add(s, name,
                      c->last    ? c->last
                      : c->first ? c->first
                                 : c->length,
                      v->value, v->low, v->high);
}

static void gather(struct drawing *d, const struct lg_cli_measures *m, lg_series *s)
{
    for (int i = 0; i < d->t->count; i++) {
        const struct lg_cli_row *row = &d->t->rows[i];
        const lg_kind *kind;
        if (row->cell.first && row->cell.length != d->longest) continue;
        for (int k = 0; (kind = lg_cli_measures_at(m, lg_cell_form(&row->cell), k)); k++) {
            const lg_value *v = lg_cell_get(&row->cell, kind->name);
            if (v && !isnan(v->value)) add_point(d, s, row, v);
        }
    }
}

int lg_cli_cells_draw(const struct lg_cli_cells *t, const struct lg_cli_measures *m,
                      const char *title, const char *command, const char *file, int letters)
{
    struct drawing d = {.t = t};
    lg_series s = {0};
    char x_label[100], y_label[NAME] = "";
    look(&d, m);
    if (!d.first || (!file && !letters)) return LG_EXIT_DONE;
    const lg_cell *c = &d.first->cell;
    gather(&d, m, &s);
    if (d.left_out || t->lost)
        fprintf(stderr,
                "lengthen %s: not everything is in the figure, which has at most %d lines, in one "
                "unit\n",
                command, MOST_CURVES);
    lg_length_label(d.unit ? "length" : c->unit, x_label, sizeof x_label);
    if (!d.kinds) add_part(y_label, d.kind->label);
    if (t->joined) add_part(y_label, "median of the seeds");
    add_part(y_label, lg_cli_unit_text(d.kind));
    lg_figure f = {.title = title,
                   .x_label = c->first ? "position (tokens)" : x_label,
                   .y_label = y_label,
                   .answers =
                       d.kind->unit == LG_UNIT_SHARE && d.kind == lg_kind_leading(d.kind->form)};
    if (!d.range) {
        f.trained_low = c->first ? 1 : c->trained_least;
        f.trained_high = c->trained_length;
    }
    if (d.kind->unit != LG_UNIT_SHARE) lg_series_axis(&s, &f);
    return lg_cli_series(&s, &f, command, file, letters);
}
