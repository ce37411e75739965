/* series.c: rows to curves: the one place where points are gathered into the lines of a figure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/gnuplot.h"

enum {
    FEW = 16,
    PARTS = 4
}; /* x, y, low and high lie one behind the other, each with room for `room` */

static void lose(lg_series *s)
{
    lg_series_clear(s);
    s->lost = 1;
}

/* A curve more, which has this name. */
static lg_curve *new_curve(lg_series *s, const char *name)
{
    struct lg__block curves = {s->curves, (size_t)s->count * sizeof *s->curves};
    struct lg__block rooms = {s->rooms, (size_t)s->count * sizeof *s->rooms};
    char *copy = lg__alloc(strlen(name) + 1);
    size_t n = (size_t)s->count + 1;
    int bad = !copy || lg__block_grow(&curves, n * sizeof *s->curves, 1, "a figure", NULL);
    if (!bad) {
        s->curves = curves.data;
        bad = lg__block_grow(&rooms, n * sizeof *s->rooms, 1, "a figure", NULL);
    }
    if (bad) {
        free(copy);
        return NULL;
    }
    s->rooms = rooms.data;
    s->rooms[s->count] = 0;
    strcpy(copy, name);
    s->curves[s->count] = (lg_curve){.name = copy};
    return &s->curves[s->count++];
}

static lg_curve *find_curve(lg_series *s, const char *name)
{
    for (int i = s->count; i-- > 0;) /* mostly the latest */
        if (strcmp(s->curves[i].name, name) == 0) return &s->curves[i];
    return new_curve(s, name);
}

/* Room for a point more. */
static double *make_room(lg_series *s, lg_curve *c)
{
    int *room = &s->rooms[c - s->curves], n = *room;
    double *old = (double *)(uintptr_t)c->x, *new = old;
    if (c->n == n) {
        n = n ? 2 * n : FEW;
        if (!(new = lg__alloc(PARTS * (size_t)n * sizeof *new))) return NULL;
        for (int k = 0; k < PARTS && c->n; k++)
            memcpy(new + (size_t)k *(size_t)n, old + (size_t)k * (size_t)*room,
                   (size_t)c->n * sizeof *new);
        free(old);
        *room = n;
    }
    c->x = new;
    c->y = new + n;
    c->low = new + 2 * n;
    c->high = new + 3 * n;
    return new;
}

void lg_series_add(lg_series *s, const char *name, double x, double y, double low, double high)
{
    const double point[PARTS] = {x, y, low, high};
    lg_curve *c = s->lost ? NULL : find_curve(s, name);
    double *to = c ? make_room(s, c) : NULL;
    if (!to) {
        lose(s);
        return;
    }
    int room = s->rooms[c - s->curves];
    for (int k = 0; k < PARTS; k++) to[(size_t)k * (size_t)room + (size_t)c->n] = point[k];
    c->n++;
}

/* A band whose ends are not known anywhere is none. */
static int has_band(const lg_curve *c)
{
    for (int i = 0; i < c->n; i++)
        if (!isnan(c->low[i])) return 1;
    return 0;
}

int lg_series_put(lg_series *s, lg_figure *f, lg_error *err)
{
    if (s->lost)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for a figure; end other programs");
    f->curves = s->curves;
    f->count = s->count;
    for (int i = 0; i < s->count; i++)
        if (!has_band(&s->curves[i])) s->curves[i].low = s->curves[i].high = NULL;
    return 0;
}

void lg_series_axis(const lg_series *s, lg_figure *f)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < s->curves[i].n; k++) {
            const lg_curve *c = &s->curves[i];
            least = fmin(least, c->low ? fmin(c->y[k], c->low[k]) : c->y[k]);
            most = fmax(most, c->high ? fmax(c->y[k], c->high[k]) : c->y[k]);
        }
    double part = most - least > 1 ? 2 : 10;
    f->y_low = floor(part * least) / part;
    f->y_high = ceil(part * most + 0.01) / part;
}

void lg_series_clear(lg_series *s)
{
    for (int i = 0; i < s->count; i++) {
        free((void *)(uintptr_t)s->curves[i].name);
        free((void *)(uintptr_t)s->curves[i].x);
    }
    free(s->curves);
    free(s->rooms);
    *s = (lg_series){0};
}

const char *lg_length_label(const char *unit, char *label, size_t size)
{
    if (strcmp(unit, "length") == 0)
        snprintf(label, size, "length");
    else
        snprintf(label, size, "length (%s)", unit);
    return label;
}

int lg__unlearned(const lg_figure *f, int curve)
{
    const lg_curve *c = &f->curves[curve];
    int last = -1;
    if (!f->answers || (f->outside && f->outside[curve])) return 0;
    for (int i = 0; i < c->n; i++)
        if (c->x[i] <= f->trained_high && c->x[i] >= f->trained_low &&
            (last < 0 || c->x[i] > c->x[last]))
            last = i;
    return last >= 0 && c->y[last] < 0.99;
}
