/* figure.c: curves over lengths, as a script for gnuplot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/gnuplot.h"

/* Pixels: a line of the key, a letter in it, its sample of a line. */
enum { KEY = 18, LETTER = 7, SAMPLE = 60 };
enum { COLOURS = 8, POINTS = 6, DASHES = 5 };

struct point {
    double x, y, low, high;
};

/* What is drawn: the points of all curves, one curve after the other, each sorted by x. */
struct drawing {
    const lg_figure *f;
    struct point *points;
    int log;
    double least, most; /* x, of the points and the training range */
    double lo, hi;      /* of the axis, with a margin */
    int whole;          /* all x are whole numbers: so are those on the axis */
    int low, high;      /* of a logarithmic y axis: powers of ten */
    double squeeze;  /* the training range is drawn so much narrower than to scale; 1: it is not */
    char *unlearned; /* [curves] 1: not learned at the lengths of training */
};

/* ---- The figure ---------------------------------------------------------------------------- */

static int by_x(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* Whether y is any number, on an axis whose ends are given. */
static int numbers(const lg_figure *f) { return !f->log_y && f->y_high > f->y_low; }

static int take_curve(const lg_figure *f, const lg_curve *c, struct point *to, lg_error *err)
{
    int band = c->low && c->high, log_y = f->log_y;
    for (int i = 0; i < c->n; i++) {
        struct point p = {.x = c->x[i], .y = c->y[i], .low = c->y[i], .high = c->y[i]};
        if (log_y && isfinite(p.x) && !(p.y > 0 && isfinite(p.y)))
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "curve \"%.60s\": point %d is x %g, y %g; on a logarithmic axis give "
                            "numbers above 0",
                            c->name ? c->name : "", i + 1, p.x, p.y);
        int share = !log_y && !numbers(f);
        if (!isfinite(p.x) || !isfinite(p.y) || (share && !(p.y >= 0 && p.y <= 1)))
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "curve \"%.60s\": point %d is x %g, y %g; give numbers, y from 0 to 1",
                            c->name ? c->name : "", i + 1, p.x, p.y);
        if (band && !isnan(c->low[i])) p.low = c->low[i];
        if (band && !isnan(c->high[i])) p.high = c->high[i];
        if (log_y && !(p.low > 0)) p.low = p.y;
        to[i] = p;
    }
    if (c->n > 0) qsort(to, (size_t)c->n, sizeof *to, by_x);
    return 0;
}

static int trained(const lg_figure *f) { return f->trained_low != 0 || f->trained_high != 0; }

static void set_axis(struct drawing *d, int n)
{
    const lg_figure *f = d->f;
    double lo = d->points[0].x, hi = lo;
    for (int i = 1; i < n; i++) {
        lo = fmin(lo, d->points[i].x);
        hi = fmax(hi, d->points[i].x);
    }
    d->log = lo > 0 && hi / lo >= 10;
    d->whole = 1;
    for (int i = 0; i < n; i++) d->whole &= d->points[i].x == floor(d->points[i].x);
    for (int i = 0; i < n && f->log_y; i++) {
        int low = (int)floor(log10(d->points[i].low) + 1e-9);
        int high = (int)ceil(log10(d->points[i].high) - 1e-9);
        d->low = i && d->low < low ? d->low : low;
        d->high = i && d->high > high ? d->high : high;
    }
    d->high += d->high == d->low;
    if (trained(f)) {
        hi = fmax(hi, f->trained_high);
        if (!d->log || f->trained_low > 0) lo = fmin(lo, f->trained_low);
    }
    double margin = d->log ? pow(hi / lo, 0.03) : hi > lo ? 0.03 * (hi - lo) : 1;
    d->least = lo;
    d->most = hi;
    d->lo = d->log ? lo / margin : lo - margin;
    d->hi = d->log ? hi * margin : hi + margin;
}

/* Where x is between the ends of the axis, 0 to 1, to scale. */
static double to_scale(const struct drawing *d, double x)
{
    return d->log ? log(x / d->lo) / log(d->hi / d->lo) : (x - d->lo) / (d->hi - d->lo);
}

/* The same as it is drawn: the range of training, which nobody looks at for long, takes at most TRAINED of the
 * width; what is beyond it has the rest. */
static const double TRAINED = 0.2;

static double place(const struct drawing *d, double x)
{
    double at = to_scale(d, x);
    if (d->squeeze == 1) return at;
    double edge = to_scale(d, d->f->trained_high);
    return at <= edge ? at * d->squeeze : TRAINED + (at - edge) / (1 - edge) * (1 - TRAINED);
}

/* The number that stands for x on gnuplot's axis: x itself, or its place where the axis is not to scale. */
static double on_axis(const struct drawing *d, double x)
{
    return d->squeeze < 1 ? place(d, x) : x;
}

static void set_squeeze(struct drawing *d)
{
    double edge = trained(d->f) ? to_scale(d, d->f->trained_high) : 0;
    d->squeeze = edge > TRAINED && d->f->trained_high < 0.9 * d->most ? TRAINED / edge : 1;
}

static int prepare(struct drawing *d, lg_error *err)
{
    const lg_figure *f = d->f;
    int n = 0;
    for (int i = 0; i < f->count; i++) n += f->curves[i].n > 0 ? f->curves[i].n : 0;
    if (!n)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a figure of %d curves without a point; give it at least one", f->count);
    if (!isfinite(f->trained_low) || !isfinite(f->trained_high) || f->trained_low > f->trained_high)
        return lg__fail(err, LG_ERROR_ARGUMENT, "a training range from %g to %g; give it in order",
                        f->trained_low, f->trained_high);
    d->points = lg__alloc((size_t)n * sizeof *d->points);
    d->unlearned = lg__alloc((size_t)f->count);
    if (!d->points || !d->unlearned)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d points; end other programs", n);
    struct point *to = d->points;
    for (int i = 0; i < f->count; i++) {
        int e = take_curve(f, &f->curves[i], to, err);
        if (e) return e;
        to += f->curves[i].n > 0 ? f->curves[i].n : 0;
    }
    set_axis(d, n);
    set_squeeze(d);
    for (int i = 0; i < f->count; i++) d->unlearned[i] = (char)lg__unlearned(f, i);
    return 0;
}

/* ---- The script ---------------------------------------------------------------------------- */

/* The powers of ten on a logarithmic y axis, at most ten of them with a label. */
static void y_ticks(FILE *s, const struct drawing *d)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    int every = 1 + (d->high - d->low) / 10;
    fprintf(s, "set logscale y\nset yrange [1e%d:1e%d]\nset ytics (", d->low, d->high);
    for (int k = d->low; k <= d->high; k += every) {
        int a = abs(k);
        if (k == 0)
            fprintf(s, "'1' 1");
        else
            fprintf(s, "'10%s%s%s' 1e%d", k < 0 ? "⁻" : "", a > 9 ? raised[a / 10 % 10] : "",
                    raised[a % 10], k);
        fputs(k + every <= d->high ? ", " : ")\n", s);
    }
}

/* Level 0: with a label; 1: a small tick without. */
static void tick(FILE *s, const struct drawing *d, double x, int level, int *count)
{
    char text[64] = "";
    double near = 1e-9 * (d->log ? x : d->most - d->least);
    if (x < d->least - near || x > d->most + near) return;
    int squeezed = d->squeeze < 1 && x < d->f->trained_high * (1 - 1e-9);
    if (squeezed && level) return; /* there is no room for them */
    int near_edge = d->squeeze < 1 && fabs(place(d, d->f->trained_high) - place(d, x)) < 0.06;
    if (!level && !(near_edge && x != d->f->trained_high)) lg__plot_number(text, sizeof text, x);
    fprintf(s, "%s'%s' %.15g %d", (*count)++ ? ", " : "", text, on_axis(d, x), level);
}

static void ticks(FILE *s, const struct drawing *d)
{
    int count = 0;
    fputs("set xtics (", s);
    if (d->log) {
        double decades = log10(d->hi / d->lo);
        int every = 1 + (int)(decades / 9), last = (int)ceil(log10(d->hi));
        for (int k = (int)floor(log10(d->lo)); k <= last; k++)
            for (int m = 1; m < 10; m++) {
                int labelled = m == 1 ? k % every == 0 : decades < 3 && (m == 2 || m == 5);
                tick(s, d, m * pow(10, k), !labelled, &count);
            }
    } else {
        static const double factor[] = {1, 2, 5, 10};
        double step = pow(10, floor(log10((d->hi - d->lo) / 10)));
        int i = 0;
        while (i < 3 && (d->hi - d->lo) / (factor[i] * step) > 10) i++;
        step *= factor[i];
        if (d->whole && step < 1) step = 1;
        double first = ceil(d->lo / step);
        for (int j = 0; j < 20 && (first + j) * step <= d->hi; j++)
            tick(s, d, (first + j) * step, 0, &count);
    }
    if (d->squeeze < 1) tick(s, d, d->f->trained_high, 0, &count);
    fputs(")\n", s);
}

static int wide(const lg_figure *f) { return f->width > 0 ? f->width : LG__PLOT_WIDE; }

/* Lines of the key, in so many columns that the longest name fits; one line alone needs none. */
static int key_lines(const lg_figure *f, int *columns)
{
    int longest = 0;
    for (int i = 0; i < f->count; i++) {
        int n = lg__plot_length(f->curves[i].name);
        if (n > longest) longest = n < LG__PLOT_NAME ? n : LG__PLOT_NAME;
    }
    *columns = (wide(f) - 60) /
               (LETTER * (longest + (f->answers ? (int)sizeof LG__NOT_LEARNED - 1 : 0)) + SAMPLE);
    if (*columns < 1) *columns = 1;
    return f->count < 2 ? 0 : (f->count + *columns - 1) / *columns;
}

static void terminal(FILE *s, const lg_figure *f, enum lg__picture kind)
{
    int columns, lines = key_lines(f, &columns), high = f->height > 0 ? f->height : LG__PLOT_HIGH;
    if (f->height <= 0) high += lines > 2 ? KEY * (lines - 2) : 0;
    if (f->height <= 0) high += lg__plot_caption(NULL, f->caption, high);
    lg__plot_terminal(s, kind, wide(f), high);
    if (lines)
        fprintf(s, "set key below center horizontal Left reverse samplen 3 height 1 maxcols %d\n",
                columns);
    else
        fputs("unset key\n", s);
    lg__plot_caption(s, f->caption, high);
}

/* The training range behind the curves, at least so wide that it is seen. */
static void shade(FILE *s, const struct drawing *d)
{
    if (!trained(d->f)) return;
    double from = place(d, fmax(d->f->trained_low, d->lo)), to = place(d, d->f->trained_high);
    double thin = fmax(0, 0.006 - (to - from) / 2), middle = (from + to) / 2;
    from = fmax(0, from - thin);
    to = fmin(1, to + thin);
    fprintf(
        s,
        "set object 1 rectangle from graph %.6f,0 to graph %.6f,1 behind "
        "fillcolor rgb '#ececec' fillstyle solid noborder\n"
        "set label 1 'training, %g to %g%s' at graph %.6f,0.09 center textcolor rgb '#777777'\n",
        from, to, d->f->trained_low, d->f->trained_high, d->squeeze < 1 ? " (narrowed)" : "",
        fmin(fmax(middle, 0.13), 0.87));
}

static void axes(FILE *s, const struct drawing *d)
{
    fputs("set title ", s);
    lg__plot_quote(s, d->f->title, LG__PLOT_NAME);
    fputs("\nset xlabel ", s);
    lg__plot_quote(s, d->f->x_label, LG__PLOT_NAME);
    fputs(" offset 0,0.6\nset ylabel ", s);
    lg__plot_quote(s, d->f->y_label, LG__PLOT_NAME);
    if (d->squeeze < 1)
        fputs("\nset xrange [0:1]\n", s);
    else
        fprintf(s, "\n%sset xrange [%.15g:%.15g]\n", d->log ? "set logscale x\n" : "", d->lo,
                d->hi);
    ticks(s, d);
    shade(s, d);
    if (d->f->log_y)
        y_ticks(s, d);
    else if (numbers(d->f))
        fprintf(s, "set yrange [%.15g:%.15g]\nset ytics autofreq format '%%g'\n", d->f->y_low,
                d->f->y_high);
    else
        fputs("set yrange [-4:104]\nset ytics 0,20,100 format '%.0f'\n", s);
    fputs("set tics nomirror out textcolor rgb '#333333'\n"
          "set xtics offset 0,0.2\n"
          "set border 3 linecolor rgb '#777777'\n"
          "set grid noxtics ytics back linetype 1 linewidth 1 linecolor rgb '#d9d9d9'\n",
          s);
}

static void block(FILE *s, const struct drawing *d, int curve, const struct point *p, int n,
                  double unit)
{
    fprintf(s, "$curve%d << EOD\n", curve);
    for (int i = 0; i < n; i++)
        fprintf(s, "%.15g %.15g %.15g %.15g\n", on_axis(d, p[i].x), unit * p[i].y, unit * p[i].low,
                unit * p[i].high);
    fputs("EOD\n", s);
}

/* The bands of all curves first, then the lines: no band hides a line. */
static void curves(FILE *s, const struct drawing *d)
{
    /* Okabe and Ito, told apart with any colour vision; grey for their yellow, pale on white. */
    static const char *const colour[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000", "#8c8c8c"};
    static const int shape[POINTS] = {7, 5, 9, 13, 11, 15};
    const lg_figure *f = d->f;
    const char *between = "plot ";
    for (int i = 0, at = 0; i < f->count; i++) {
        if (f->curves[i].n < 1) continue;
        block(s, d, i, d->points + at, f->curves[i].n, f->log_y || numbers(f) ? 1 : 100);
        at += f->curves[i].n;
    }
    for (int i = 0; i < f->count; i++) {
        const lg_curve *c = &f->curves[i];
        if (c->n < 1 || !c->low || !c->high) continue;
        if (c->n == 1)
            fprintf(s, "%s$curve%d using 1:2:3:4 with yerrorbars pointtype 0", between, i);
        else
            fprintf(s,
                    "%s$curve%d using 1:3:4 with filledcurves fillstyle transparent solid 0.18 "
                    "noborder",
                    between, i);
        fprintf(s, " linecolor rgb '%s' notitle", colour[i % COLOURS]);
        between = ", \\\n  ";
    }
    for (int i = 0; i < f->count; i++) {
        const char *name = f->curves[i].name;
        fputs(between, s);
        if (f->curves[i].n > 0)
            fprintf(s, "$curve%d using 1:2", i);
        else
            fputs("NaN", s); /* in the key, without a point */
        fprintf(s,
                " with linespoints linewidth %d dashtype %d pointtype %d pointsize 0.7 "
                "linecolor rgb '%s' ",
                d->unlearned[i] ? 1 : 2, 1 + (i + i / COLOURS) % DASHES,
                shape[i % POINTS] - d->unlearned[i], colour[i % COLOURS]);
        if (name && *name) fputs("title ", s);
        if (name && *name)
            lg__plot_quote(s, name, LG__PLOT_NAME);
        else
            fputs("notitle", s);
        if (name && *name && d->unlearned[i]) fprintf(s, ".'%s'", LG__NOT_LEARNED);
        between = ", \\\n  ";
    }
    fputc('\n', s);
}

static void write_script(FILE *s, enum lg__picture kind, const void *context)
{
    const struct drawing *d = context;
    terminal(s, d->f, kind);
    axes(s, d);
    curves(s, d);
}

static int make(const lg_figure *f, const char *file, int keep, lg_error *err)
{
    struct drawing d = {.f = f};
    int e = prepare(&d, err);
    if (!e) e = lg__gnuplot(file, keep, write_script, &d, err);
    free(d.points);
    free(d.unlearned);
    return e;
}

int lg_figure_check(const char *file, lg_error *err)
{
    static const double x[] = {1, 10}, y[] = {0, 1};
    static const lg_curve curve = {.name = "try", .n = 2, .x = x, .y = y, .low = y, .high = y};
    return make(&(lg_figure){.curves = &curve, .count = 1, .trained_high = 1}, file, 0, err);
}

int lg_figure_write(const lg_figure *f, const char *file, lg_error *err)
{
    return make(f, file, 1, err);
}
