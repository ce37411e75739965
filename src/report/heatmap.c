/* heatmap.c: a share for each pair of numbers, as a table of coloured cells: what many crossing lines would hide. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/gnuplot.h"

enum { CELL_HIGH = 34, HEAD = 170 }; /* pixels: of a row, and of all that is not a row */
enum { FIRST = 1000 };               /* of the numbers that gnuplot knows the cells by */

struct map {
    const lg_heatmap *m;
    double *x, *y; /* the columns and rows, rising */
    int columns, rows;
};

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorted, each once; how many there are. */
static int sort_out(double *to, const double *from, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) to[i] = from[i];
    qsort(to, (size_t)n, sizeof *to, by_number);
    for (int i = 0; i < n; i++)
        if (!count || to[count - 1] != to[i]) to[count++] = to[i];
    return count;
}

static int place_of(const double *in, int n, double x)
{
    const double *at = bsearch(&x, in, (size_t)n, sizeof *in, by_number);
    return (int)(at - in);
}

/* Which of the columns, or rows, training shows: from *first on, so many. */
static int trained(const double *in, int n, const double range[2], int *first)
{
    int count = 0;
    for (*first = 0; *first < n && in[*first] < range[0];) ++*first;
    while (*first + count < n && in[*first + count] <= range[1]) count++;
    return count;
}

/* White is 0, blue is 1; the number is written in what is seen on it. */
static void cell(FILE *s, int index, int column, int row, double share)
{
    int red = (int)(255 - share * 255), green = (int)(255 - share * (255 - 114));
    int blue = (int)(255 - share * (255 - 178));
    fprintf(s,
            "set object %d rectangle from %d,%d to %d,%d fillcolor rgb '#%02x%02x%02x' fillstyle "
            "solid border linecolor rgb '#ffffff'\n"
            "set label %d '%.0f' at %.1f,%.1f center front textcolor rgb '%s'\n",
            index + 1, column, row, column + 1, row + 1, red, green, blue, index + 1, 100 * share,
            column + 0.5, row + 0.5, share > 0.6 ? "#ffffff" : "#333333");
}

static void ticks(FILE *s, char axis, const double *at, int n)
{
    fprintf(s, "set %ctics (", axis);
    for (int i = 0; i < n; i++) {
        char text[64];
        lg__plot_number(text, sizeof text, at[i]);
        fprintf(s, "%s'%s' %.1f", i ? ", " : "", text, i + 0.5);
    }
    fputs(") scale 0\n", s);
}

static void write_script(FILE *s, enum lg__picture kind, const void *context)
{
    const struct map *p = context;
    const lg_heatmap *m = p->m;
    int high = m->height > 0 ? m->height : HEAD + CELL_HIGH * p->rows;
    if (m->height <= 0) high += lg__plot_caption(NULL, m->caption, high);
    lg__plot_terminal(s, kind, m->width > 0 ? m->width : LG__PLOT_WIDE, high);
    lg__plot_caption(s, m->caption, high);
    fputs("unset key\nset title ", s);
    lg__plot_quote(s, m->title, LG__PLOT_NAME);
    fputs("\nset xlabel ", s);
    lg__plot_quote(s, m->x_label, LG__PLOT_NAME);
    fputs("\nset ylabel ", s);
    lg__plot_quote(s, m->y_label, LG__PLOT_NAME);
    fprintf(s, "\nset xrange [0:%d]\nset yrange [0:%d]\nunset border\n", p->columns, p->rows);
    ticks(s, 'x', p->x, p->columns);
    ticks(s, 'y', p->y, p->rows);
    for (int i = 0; i < m->n; i++)
        cell(s, FIRST + i, place_of(p->x, p->columns, m->x[i]), place_of(p->y, p->rows, m->y[i]),
             m->value[i]);
    int x, y, columns = trained(p->x, p->columns, m->trained_x, &x);
    int rows = trained(p->y, p->rows, m->trained_y, &y);
    if (columns && rows)
        fprintf(
            s,
            "set object 1 rectangle from %d,%d to %d,%d front fillstyle empty border linecolor rgb "
            "'#d55e00' linewidth 3\n",
            x, y, x + columns, y + rows);
    fputs("plot NaN\n", s);
}

static int check(const lg_heatmap *m, lg_error *err)
{
    if (m->n < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT, "a map of no cells; give it at least one");
    for (int i = 0; i < m->n; i++) {
        if (!isfinite(m->x[i]) || !isfinite(m->y[i]) || !(m->value[i] >= 0 && m->value[i] <= 1))
            return lg__fail(
                err, LG_ERROR_ARGUMENT,
                "cell %d of the map is x %g, y %g, value %g; give numbers, values from 0 "
                "to 1",
                i + 1, m->x[i], m->y[i], m->value[i]);
        for (int k = 0; k < i; k++)
            if (m->x[k] == m->x[i] && m->y[k] == m->y[i])
                return lg__fail(
                    err, LG_ERROR_ARGUMENT,
                    "two cells of the map are at x %g, y %g; choose one of them (where)", m->x[i],
                    m->y[i]);
    }
    return 0;
}

int lg_heatmap_write(const lg_heatmap *m, const char *file, lg_error *err)
{
    struct map p = {.m = m};
    int e = check(m, err);
    if (e) return e;
    p.x = lg__alloc(2 * (size_t)m->n * sizeof *p.x);
    if (!p.x) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a map; end other programs");
    p.y = p.x + m->n;
    p.columns = sort_out(p.x, m->x, m->n);
    p.rows = sort_out(p.y, m->y, m->n);
    e = lg__gnuplot(file, 1, write_script, &p, err);
    free(p.x);
    return e;
}
