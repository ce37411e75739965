/* figure_text.c: the same curves in letters, for a terminal. The plot is a grid of cells, one
 * column each: shading, then lines, then points, so that what matters most stays on top. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/gnuplot.h"

enum { LEAST_WIDE = 40, MOST_WIDE = 200, LEAST_HIGH = 8, MOST_HIGH = 40, FEW_ROWS = 5 };
enum { LEFT = 6 /* "100% |" */, ROOMY = 60, NOBODY = -1, BACK = -2 /* dim */, TEXT = 1024 };

struct cell {
    char glyph[8]; /* "" is a blank */
    int owner;     /* the curve, or NOBODY or BACK */
};

struct plot {
    const lg_figure *f;
    lg_buffer *out;
    struct cell *cells; /* [rows, columns] */
    int width, rows, columns, colour, ascii;
    int title, y_label, x_label, legend; /* lines for each */
    int log, empty;
    double least, most; /* x */
    int low, high;      /* of a logarithmic y axis: powers of ten */
    int numbers;        /* y is any number, on an axis whose ends are given */
    char label[5][16];  /* of that axis, from above */
};

/* ---- Letters -------------------------------------------------------------------------------- */

/* The code of the UTF-8 character at s and its bytes; bytes that are none give '?'. */
static unsigned decode(const char *s, int *bytes)
{
    const unsigned char *u = (const unsigned char *)s;
    int n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    unsigned code = n == 1 ? u[0] : u[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80) n = 0;
        code = code << 6 | (u[i] & 0x3f);
    }
    *bytes = n && u[0] <= 0xf4 ? n : 1;
    return n && u[0] <= 0xf4 ? code : '?';
}

/* Columns of a character: none for an accent of its own, two for those of East Asia and faces. */
static int columns_of(unsigned code)
{
    if ((code >= 0x300 && code < 0x370) || (code >= 0x200b && code < 0x2010) ||
        (code >= 0xfe00 && code < 0xfe10))
        return 0;
    return 1 + ((code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) ||
                (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) ||
                (code >= 0xff00 && code < 0xff61) || (code >= 0x1f300 && code < 0x1fb00) ||
                (code >= 0x20000 && code < 0x40000));
}

/* The text in at most `most` columns, cut with dots; what no terminal should get is a blank or a
 * question mark. Returns its columns. */
static int fit(char to[TEXT], const char *text, int most, int ascii)
{
    int used = 0, n = 0, kept = 0, kept_columns = 0, bytes, dots = ascii ? 3 : 1;
    for (; text && *text; text += bytes) {
        unsigned code = decode(text, &bytes);
        int control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        int plain = control || (ascii && code > 0x7f) || bytes == 1;
        int wide = plain ? 1 : columns_of(code);
        if (used + wide > most || n + bytes > TEXT - 8) {
            memcpy(to + kept, ascii ? "..." : "…", 4);
            return kept_columns + dots;
        }
        if (plain)
            to[n++] = control ? ' ' : code > 0x7f ? '?' : (char)code;
        else
            memcpy(to + n, text, (size_t)bytes), n += bytes;
        used += wide;
        if (used + dots <= most) kept = n, kept_columns = used;
    }
    while (n && to[n - 1] == ' ') n--, used--;
    to[n] = '\0';
    return used;
}

static void marker(const struct plot *p, int curve, char glyph[8])
{
    static const char *const signs[] = {"●", "○", "▲", "△", "■", "□", "◆", "◇", "▼", "▽"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int k = curve - (p->ascii ? 0 : 10);
    if (k < 0)
        snprintf(glyph, 8, "%s", signs[curve]);
    else
        snprintf(glyph, 8, "%c", letters[k % 52]);
}

/* 1,000,000; no more than 15 letters. */
static int number(char text[32], double x)
{
    char digits[32];
    if (x != floor(x) || fabs(x) >= 1e12) return snprintf(text, 32, "%.4g", x);
    int n = snprintf(digits, sizeof digits, "%.0f", fabs(x)), at = 0;
    if (x < 0) text[at++] = '-';
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return at;
}

/* 100% and 0% are said of nothing else. */
static void percent(char text[16], double y)
{
    double p = 100 * y;
    if (p > 99.9 && p < 100)
        snprintf(text, 16, ">99.9%%");
    else if (p > 0 && p < 0.1)
        snprintf(text, 16, "<0.1%%");
    else
        snprintf(text, 16, fabs(p - round(p)) < 0.05 ? "%.0f%%" : "%.1f%%", p);
}

/* ---- Where things are ------------------------------------------------------------------------ */

static int is_point(const lg_curve *c, int i) { return isfinite(c->x[i]) && isfinite(c->y[i]); }

/* The decades that hold y; what is not above 0 is put at their foot. */
static void set_decades(struct plot *p)
{
    double least = INFINITY, most = 0;
    for (int i = 0; i < p->f->count && p->f->log_y; i++)
        for (int j = 0; j < p->f->curves[i].n; j++) {
            double y = p->f->curves[i].y[j];
            if (!is_point(&p->f->curves[i], j) || !(y > 0)) continue;
            least = fmin(least, y);
            most = fmax(most, y);
        }
    p->low = most > 0 ? (int)floor(log10(least) + 1e-9) : -1;
    p->high = most > 0 ? (int)ceil(log10(most) - 1e-9) : 0;
    p->high += p->high == p->low;
}

static void set_numbers(struct plot *p)
{
    const lg_figure *f = p->f;
    p->numbers = !f->log_y && f->y_high > f->y_low;
    for (int i = 0; i < 5 && p->numbers; i++)
        snprintf(p->label[i], sizeof p->label[i], "%4.3g",
                 f->y_high - (f->y_high - f->y_low) * i / 4);
}

static int trained(const lg_figure *f)
{
    return isfinite(f->trained_low) && isfinite(f->trained_high) &&
           (f->trained_low != 0 || f->trained_high != 0);
}

/* The range of x and whether it is logarithmic, as lg_figure_write has it. */
static void set_axis(struct plot *p)
{
    const lg_figure *f = p->f;
    p->empty = 1;
    for (int i = 0; i < f->count; i++)
        for (int j = 0; j < f->curves[i].n; j++) {
            double x = f->curves[i].x[j];
            if (!is_point(&f->curves[i], j)) continue;
            p->least = p->empty ? x : fmin(p->least, x);
            p->most = p->empty ? x : fmax(p->most, x);
            p->empty = 0;
        }
    p->log = p->least > 0 && p->most / p->least >= 10;
    if (!trained(f)) return;
    p->most = fmax(p->most, f->trained_high);
    if (!p->log || f->trained_low > 0) p->least = fmin(p->least, f->trained_low);
}

/* A column is free on either side of the points. */
static int column(const struct plot *p, double x)
{
    double from = p->least, to = p->most, share;
    if (!(to > from)) return p->columns / 2;
    x = fmin(fmax(x, from), to);
    share = p->log ? log(x / from) / log(to / from) : (x - from) / (to - from);
    return 1 + (int)lround(fmin(fmax(share, 0), 1) * (p->columns - 3));
}

static int row(const struct plot *p, double y)
{
    if (p->f->log_y) y = y > 0 ? (log10(y) - p->low) / (p->high - p->low) : 0;
    if (p->numbers) y = (y - p->f->y_low) / (p->f->y_high - p->f->y_low);
    return (int)lround((1 - fmin(fmax(y, 0), 1)) * (p->rows - 1));
}

static struct cell *at(const struct plot *p, int r, int c)
{
    return &p->cells[(size_t)r * (size_t)p->columns + (size_t)c];
}

/* How the lines are shared out: the plot has an odd number of rows, so that 50% has its own. Where
 * lines are few the title goes, then the labels, then two rows, then the end of the legend. */
static void share_lines(struct plot *p, int height)
{
    const lg_figure *f = p->f;
    int wanted = f->count + trained(f), least = height - 2 - wanted < FEW_ROWS ? 3 : FEW_ROWS;
    int left = height - 2 - least - wanted;
    if (least < FEW_ROWS && left > 0) left = 0;
    p->x_label = f->x_label && *f->x_label && left > 0;
    p->y_label = f->y_label && *f->y_label && left - p->x_label > 0;
    p->title = f->title && *f->title && left - p->x_label - p->y_label > 0;
    left -= p->x_label + p->y_label + p->title;
    p->legend = left < 0 ? wanted + left : wanted;
    p->rows = least + (left > 0 ? left / 2 * 2 : 0);
}

/* ---- The grid -------------------------------------------------------------------------------- */

static void put(struct plot *p, int r, int c, const char *glyph, int owner)
{
    struct cell *to = at(p, r, c);
    snprintf(to->glyph, sizeof to->glyph, "%s", glyph);
    to->owner = owner;
}

static void put_training(struct plot *p)
{
    if (!trained(p->f)) return;
    int from = column(p, p->f->trained_low), to = column(p, p->f->trained_high);
    for (int c = from; c <= to; c++)
        for (int r = 0; r < p->rows; r++) put(p, r, c, p->ascii ? ":" : "░", BACK);
}

static void put_line(struct plot *p, int curve, int r0, int c0, int r1, int c1)
{
    int n = abs(r1 - r0) > abs(c1 - c0) ? abs(r1 - r0) : abs(c1 - c0);
    for (int i = 1; i < n; i++)
        put(p, r0 + (int)lround((double)(r1 - r0) * i / n),
            c0 + (int)lround((double)(c1 - c0) * i / n), p->ascii ? "." : "·", curve);
}

/* From point i the next to its right, so that they need no sorting; -1: there is none. Of several
 * at one x the later is the further one. */
static int next_point(const lg_curve *c, int i)
{
    int best = -1;
    for (int j = 0; j < c->n; j++) {
        if (!is_point(c, j)) continue;
        if (i >= 0 && (c->x[j] < c->x[i] || (c->x[j] == c->x[i] && j <= i))) continue;
        if (best < 0 || c->x[j] < c->x[best]) best = j;
    }
    return best;
}

static void put_curves(struct plot *p)
{
    char glyph[8];
    for (int i = 0; i < p->f->count; i++) {
        const lg_curve *c = &p->f->curves[i];
        for (int a = next_point(c, -1), b; a >= 0 && (b = next_point(c, a)) >= 0; a = b)
            put_line(p, i, row(p, c->y[a]), column(p, c->x[a]), row(p, c->y[b]),
                     column(p, c->x[b]));
    }
    for (int i = 0; i < p->f->count; i++) {
        const lg_curve *c = &p->f->curves[i];
        marker(p, i, glyph);
        for (int j = 0; j < c->n; j++)
            if (is_point(c, j)) put(p, row(p, c->y[j]), column(p, c->x[j]), glyph, i);
    }
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void use_colour(const struct plot *p, int owner, int *now)
{
    static const char *const colours[] = {"34", "33", "32", "35", "36", "31"};
    if (!p->colour || owner == *now) return;
    if (*now != NOBODY) lg_buffer_put(p->out, "\033[0m");
    if (owner == BACK)
        lg_buffer_put(p->out, "\033[2m");
    else if (owner != NOBODY)
        lg_buffer_print(p->out, "\033[%sm", colours[owner % 6]);
    *now = owner;
}

/* The label of this row on the left axis; NULL: none. */
static const char *row_label(const struct plot *p, int r)
{
    static const char *const label[] = {"100%", " 75%", " 50%", " 25%", "  0%"};
    static const char *const power[] = {"1e-9", "1e-8", "1e-7", "1e-6", "1e-5",
                                        "1e-4", "1e-3", "1e-2", " 0.1", "   1"};
    int every = p->rows >= 9 ? 1 : 2;
    for (int k = p->high; k >= p->low && p->f->log_y; k--)
        if (row(p, pow(10, k)) == r) return k >= -9 && k <= 0 ? power[k + 9] : NULL;
    if (p->f->log_y) return NULL;
    for (int i = 0; i < 5; i += every)
        if ((int)lround(i / 4.0 * (p->rows - 1)) == r) return p->numbers ? p->label[i] : label[i];
    return NULL;
}

static void print_rows(const struct plot *p)
{
    for (int r = 0; r < p->rows; r++) {
        const char *label = row_label(p, r);
        int last = p->columns, now = NOBODY;
        while (last && !at(p, r, last - 1)->glyph[0]) last--;
        lg_buffer_print(p->out, "%4s %s", label ? label : "",
                        p->ascii ? label ? "+" : "|"
                        : label  ? "┤"
                                 : "│");
        for (int c = 0; c < last; c++) {
            const struct cell *cell = at(p, r, c);
            use_colour(p, cell->owner, &now);
            lg_buffer_put(p->out, cell->glyph[0] ? cell->glyph : " ");
        }
        use_colour(p, NOBODY, &now);
        lg_buffer_put(p->out, "\n");
    }
}

/* A label under this x, if two blanks stay free between it and the others. */
static void place_tick(const struct plot *p, double x, char *axis, char *labels)
{
    char text[32];
    int c = LEFT + column(p, x), n = number(text, x), from = c - n / 2;
    if (from + n > p->width) from = p->width - n;
    if (from < 0) from = 0;
    for (int i = from - 2; i < from + n + 2; i++)
        if (i >= 0 && i < p->width && labels[i] != ' ') return;
    memcpy(labels + from, text, (size_t)n);
    axis[c] = '+';
}

/* Labels at the least and the greatest x of the points, then at those between that fit. */
static void print_axis(const struct plot *p)
{
    char axis[MOST_WIDE + 1], labels[MOST_WIDE + 1];
    double least = INFINITY, most = -INFINITY;
    memset(axis, '-', sizeof axis);
    memset(labels, ' ', sizeof labels);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->f->count; i++)
            for (int j = 0; j < p->f->curves[i].n; j++) {
                double x = p->f->curves[i].x[j];
                if (!is_point(&p->f->curves[i], j)) continue;
                if (pass) place_tick(p, x, axis, labels);
                least = fmin(least, x);
                most = fmax(most, x);
            }
        if (!pass) place_tick(p, most, axis, labels);
        if (!pass && least < most) place_tick(p, least, axis, labels);
    }
    if (trained(p->f) && p->f->trained_low >= p->least)
        place_tick(p, p->f->trained_low, axis, labels);
    if (trained(p->f) && p->f->trained_high >= p->least)
        place_tick(p, p->f->trained_high, axis, labels);
    lg_buffer_print(p->out, "%*s%s", LEFT - 1, "", p->ascii ? "+" : "└");
    for (int c = LEFT; c < p->width; c++) {
        const char *line = axis[c] == '+' ? "┬" : "─";
        if (p->ascii)
            lg_buffer_add(p->out, &axis[c], 1);
        else
            lg_buffer_put(p->out, line);
    }
    int end = p->width;
    while (end && labels[end - 1] == ' ') end--;
    lg_buffer_print(p->out, "\n%.*s\n", end, labels);
}

/* The curve that hides all points of this one; NOBODY: some are seen, or there are none. */
static int hidden_by(const struct plot *p, int curve)
{
    const lg_curve *c = &p->f->curves[curve];
    int by = NOBODY;
    for (int j = 0; j < c->n; j++) {
        if (!is_point(c, j)) continue;
        by = at(p, row(p, c->y[j]), column(p, c->x[j]))->owner;
        if (by == curve) return NOBODY;
    }
    return by;
}

/* What the curve comes to at its greatest x, and where to look for it if there is room to say so.
 * Returns its columns. */
static int last_value(const struct plot *p, int curve, char text[TEXT])
{
    const lg_curve *c = &p->f->curves[curve];
    int last = -1, by = hidden_by(p, curve), n;
    char share[16], x[32], glyph[8];
    for (int j = 0; j < c->n; j++)
        if (is_point(c, j) && (last < 0 || c->x[j] >= c->x[last])) last = j;
    if (last < 0) return snprintf(text, TEXT, "no points");
    if (p->f->log_y)
        snprintf(share, sizeof share, "%.2g", c->y[last]);
    else if (p->numbers)
        snprintf(share, sizeof share, "%.4g", c->y[last]);
    else
        percent(share, c->y[last]);
    number(x, c->x[last]);
    n = snprintf(text, TEXT, "%6s at %s%s", share, x,
                 p->width >= ROOMY && lg__unlearned(p->f, curve) ? ", not learned" : "");
    if (by < 0 || p->width < ROOMY) return n;
    marker(p, by, glyph);
    snprintf(text + n, (size_t)(TEXT - n), ", under %s", glyph);
    return n + 9;
}

static void print_legend(const struct plot *p)
{
    char name[TEXT], value[TEXT], glyph[8], from[32], to[32];
    int longest = 0, room = p->width, curves = p->f->count;
    if (curves > p->legend) curves = p->legend - 1;
    for (int i = 0; i < curves; i++) {
        int left = p->width - LEFT - 2 - last_value(p, i, value);
        if (left < room) room = left;
    }
    for (int i = 0; i < curves; i++) {
        int n = fit(name, p->f->curves[i].name, room, p->ascii);
        if (n > longest) longest = n;
    }
    for (int i = 0; i < curves; i++) {
        int n = fit(name, p->f->curves[i].name, room, p->ascii), now = NOBODY;
        marker(p, i, glyph);
        last_value(p, i, value);
        lg_buffer_print(p->out, "%*s", LEFT - 2, "");
        use_colour(p, i, &now);
        lg_buffer_put(p->out, glyph);
        use_colour(p, NOBODY, &now);
        lg_buffer_print(p->out, " %s%*s%s\n", name, longest - n + 2 * (longest > 0), "", value);
    }
    if (curves < p->f->count)
        lg_buffer_print(p->out, "%*sand %d more\n", LEFT, "", p->f->count - curves);
    if (!trained(p->f) || p->f->count >= p->legend) return;
    number(from, p->f->trained_low);
    number(to, p->f->trained_high);
    snprintf(value, sizeof value, "%s training, %s to %s", p->ascii ? ":" : "░", from, to);
    fit(name, value, p->width - LEFT + 2, p->ascii);
    lg_buffer_print(p->out, "%*s%s\n", LEFT - 2, "", name);
}

static void print_label(const struct plot *p, const char *text, int centred)
{
    char line[TEXT];
    int n = fit(line, text, p->width - LEFT, p->ascii);
    lg_buffer_print(p->out, "%*s%s\n", n ? centred ? LEFT + (p->columns - n) / 2 : LEFT : 0, "",
                    line);
}

static void print(struct plot *p)
{
    char line[TEXT];
    if (p->title) {
        fit(line, p->f->title, p->width, p->ascii);
        lg_buffer_print(p->out, "%s\n", line);
    }
    if (p->empty) {
        lg_buffer_put(p->out, "no points to show\n");
        return;
    }
    put_training(p);
    put_curves(p);
    if (p->y_label) print_label(p, p->f->y_label, 0);
    print_rows(p);
    print_axis(p);
    if (p->x_label) print_label(p, p->f->x_label, 1);
    print_legend(p);
}

static int between(int x, int least, int most) { return x < least ? least : x > most ? most : x; }

char *lg_figure_text(const lg_figure *f, int width, int height, int colour, int ascii)
{
    lg_buffer b = {0};
    struct plot p = {.f = f, .out = &b, .colour = colour, .ascii = ascii};
    p.width = between(width, LEAST_WIDE, MOST_WIDE);
    p.columns = p.width - LEFT;
    set_axis(&p);
    set_decades(&p);
    set_numbers(&p);
    share_lines(&p, between(height, LEAST_HIGH, MOST_HIGH));
    int n = p.rows * p.columns;
    p.cells = lg__alloc((size_t)n * sizeof *p.cells);
    if (!p.cells) return NULL;
    for (int i = 0; i < n; i++) p.cells[i].owner = NOBODY;
    print(&p);
    free(p.cells);
    return lg_buffer_take(&b, NULL);
}
