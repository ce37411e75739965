/* figure.c: curves over lengths, drawn by gnuplot. The script comes to it as its input and the
 * picture goes out as its output, so that no file's name is ever read by gnuplot or by a shell. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "lengthen_lab.h"

extern char **environ;

#define REMEDY "install gnuplot (Debian: gnuplot-nox), or leave --plot out"

enum { SVG, PNG };
/* Pixels of the SVG; a PNG has twice as many each way. KEY: one line of the key. */
enum { WIDE = 760, HIGH = 420, KEY = 18, LETTER = 7, SAMPLE = 60, MOST_NAME = 90 };
/* Of the caption: pixels and letters of a line. */
enum { SMALL = 15, SMALL_LETTERS = 150 };
enum { PATH = 4096, LINE = 200, COLOURS = 8, POINTS = 6, DASHES = 5 };

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
    if (!d->points)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d points; end other programs", n);
    struct point *to = d->points;
    for (int i = 0; i < f->count; i++) {
        int e = take_curve(f, &f->curves[i], to, err);
        if (e) return e;
        to += f->curves[i].n > 0 ? f->curves[i].n : 0;
    }
    set_axis(d, n);
    return 0;
}

/* ---- The script ---------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character that s begins with; 0: it begins with none that XML allows. */
static int character(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    int n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    if (u[0] > 0xf4) return 0;
    for (int i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80) return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xf0 && u[1] < 0x90) || /* longer than needed */
        (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf4 && u[1] > 0x8f) || /* no such character */
        (u[0] == 0xef && u[1] == 0xbf && u[2] > 0xbd))
        return 0;
    return n;
}

static int length(const char *text)
{
    int n = 0;
    for (; text && *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* A text of one line, of at most so many characters. In single quotes gnuplot takes everything as
 * it is (in double ones `x` would be run by a shell); the quote itself comes from a variable, for
 * gnuplot counts quotes before it reads them. */
static void quote(FILE *s, const char *text, int most)
{
    fputc('\'', s);
    for (int left = most; text && *text; left--) {
        int n = character(text);
        if (!left) {
            fputs("…", s);
            break;
        }
        if (!n)
            fputc('?', s);
        else if (*text == '\'')
            fputs("'.quote.'", s);
        else if ((unsigned char)*text < 0x20 || *text == 0x7f)
            fputc(' ', s);
        else
            fprintf(s, "%.*s", n, text);
        text += n ? n : 1;
    }
    fputc('\'', s);
}

/* 20, 500,000, 2×10⁷. */
static void number(char *text, size_t size, double x)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    double whole = round(x), a = fabs(whole);
    const char *minus = x < 0 ? "−" : "";
    if (fabs(x - whole) > 1e-9 * fmax(1, a) || a >= 1e99) {
        snprintf(text, size, "%.4g", x);
    } else if (a < 1e7) {
        int i = (int)a;
        if (i >= 1000000)
            snprintf(text, size, "%s%d,%03d,%03d", minus, i / 1000000, i / 1000 % 1000, i % 1000);
        else if (i >= 1000)
            snprintf(text, size, "%s%d,%03d", minus, i / 1000, i % 1000);
        else
            snprintf(text, size, "%s%d", i ? minus : "", i);
    } else {
        int k = (int)floor(log10(a) + 1e-9);
        char factor[32];
        snprintf(factor, sizeof factor, "%.3g×", a / pow(10, k));
        snprintf(text, size, "%s%s10%s%s", minus, strcmp(factor, "1×") == 0 ? "" : factor,
                 k > 9 ? raised[k / 10] : "", raised[k % 10]);
    }
}

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
    if (!level) number(text, sizeof text, x);
    fprintf(s, "%s'%s' %.15g %d", (*count)++ ? ", " : "", text, x, level);
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
    fputs(")\n", s);
}

/* Lines of the key, in so many columns that the longest name fits. */
static int key_lines(const lg_figure *f, int *columns)
{
    int longest = 0;
    for (int i = 0; i < f->count; i++) {
        int n = length(f->curves[i].name);
        if (n > longest) longest = n < MOST_NAME ? n : MOST_NAME;
    }
    *columns = (WIDE - 60) / (LETTER * longest + SAMPLE);
    if (*columns < 1) *columns = 1;
    return (f->count + *columns - 1) / *columns;
}

/* Bytes of the first line of a text, which is broken at a blank. */
static int caption_line(const char *text)
{
    int letters = 0, blank = 0, at = 0;
    for (; text[at]; at++) {
        if (((unsigned char)text[at] & 0xc0) != 0x80 && letters++ == SMALL_LETTERS)
            return blank ? blank : at;
        if (text[at] == ' ') blank = at;
    }
    return at;
}

/* Writes the caption at the foot of a figure so high, and the plot above it; s NULL: nothing.
 * Returns its height. */
static int caption(FILE *s, const lg_figure *f, int high)
{
    const char *text = f->caption ? f->caption : "";
    int lines = 0, line = 0;
    for (const char *at = text; *at; at += strspn(at, " "), lines++) at += caption_line(at);
    int foot = lines ? SMALL * lines + SMALL / 2 : 0;
    if (!s || !lines) return foot;
    fprintf(s, "set origin 0,%.6f\nset size 1,%.6f\n", (double)foot / high,
            (double)(high - foot) / high);
    for (; *text; text += strspn(text, " "), line++) {
        char part[4 * SMALL_LETTERS + 1];
        int n = caption_line(text);
        snprintf(part, sizeof part, "%.*s", n, text);
        text += n;
        fprintf(s, "set label %d ", 10 + line);
        quote(s, part, SMALL_LETTERS);
        fprintf(s, " at screen 0.02,%.6f font ',9' textcolor rgb '#555555'\n",
                (foot - SMALL * (line + 0.75)) / high);
    }
    return foot;
}

static void terminal(FILE *s, const lg_figure *f, int kind)
{
    int columns, lines = key_lines(f, &columns), high = HIGH + (lines > 2 ? KEY * (lines - 2) : 0);
    high += caption(NULL, f, high);
    fputs("set encoding utf8\nquote = \"\\047\"\n", s);
    if (kind == SVG) {
        fprintf(s,
                "set terminal svg noenhanced size %d,%d background '#ffffff' "
                "font 'sans-serif,12'\n",
                WIDE, high);
    } else {
        fprintf(s,
                "if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
                "  set terminal pngcairo noenhanced size %d,%d background '#ffffff' "
                "font 'sans,12' fontscale 2 linewidth 2 pointscale 2\n"
                "} else {\n"
                "  set terminal png noenhanced truecolor size %d,%d background '#ffffff' "
                "font 'sans,24' linewidth 2\n"
                "}\n",
                2 * WIDE, 2 * high, 2 * WIDE, 2 * high);
    }
    fprintf(s, "set key below center horizontal Left reverse samplen 3 height 1 maxcols %d\n",
            columns);
    caption(s, f, high);
}

/* The training range behind the curves, at least so wide that it is seen. */
static void shade(FILE *s, const struct drawing *d)
{
    if (!trained(d->f)) return;
    double scale = d->log ? log(d->hi / d->lo) : d->hi - d->lo;
    double from = fmax(d->f->trained_low, d->lo), to = d->f->trained_high;
    from = d->log ? log(from / d->lo) / scale : (from - d->lo) / scale;
    to = d->log ? log(to / d->lo) / scale : (to - d->lo) / scale;
    double thin = fmax(0, 0.006 - (to - from) / 2), middle = (from + to) / 2;
    from = fmax(0, from - thin);
    to = fmin(1, to + thin);
    fprintf(s,
            "set object 1 rectangle from graph %.6f,0 to graph %.6f,1 behind "
            "fillcolor rgb '#ececec' fillstyle solid noborder\n"
            "set label 1 'training, %g to %g' at graph %.6f,0.09 center textcolor rgb '#777777'\n",
            from, to, d->f->trained_low, d->f->trained_high, fmin(fmax(middle, 0.1), 0.9));
}

static void axes(FILE *s, const struct drawing *d)
{
    fputs("set title ", s);
    quote(s, d->f->title, MOST_NAME);
    fputs("\nset xlabel ", s);
    quote(s, d->f->x_label, MOST_NAME);
    fputs(" offset 0,0.6\nset ylabel ", s);
    quote(s, d->f->y_label, MOST_NAME);
    fprintf(s, "\n%sset xrange [%.15g:%.15g]\n", d->log ? "set logscale x\n" : "", d->lo, d->hi);
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

static void block(FILE *s, int curve, const struct point *p, int n, double unit)
{
    fprintf(s, "$curve%d << EOD\n", curve);
    for (int i = 0; i < n; i++)
        fprintf(s, "%.15g %.15g %.15g %.15g\n", p[i].x, unit * p[i].y, unit * p[i].low,
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
        block(s, i, d->points + at, f->curves[i].n, f->log_y || numbers(f) ? 1 : 100);
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
                " with linespoints linewidth 2 dashtype %d pointtype %d pointsize 0.7 "
                "linecolor rgb '%s' ",
                1 + (i + i / COLOURS) % DASHES, shape[i % POINTS], colour[i % COLOURS]);
        if (name && *name) fputs("title ", s);
        if (name && *name)
            quote(s, name, MOST_NAME);
        else
            fputs("notitle", s);
        between = ", \\\n  ";
    }
    fputc('\n', s);
}

/* ---- gnuplot ------------------------------------------------------------------------------- */

/* gnuplot -d: without the user's own settings, nor GNUTERM. The script as a file, not as lines of a
 * terminal: then the first error ends it. */
static int spawn(int script, int picture, int complaints, pid_t *pid)
{
    char *const words[] = {"gnuplot", "-d", "/dev/stdin", NULL};
    posix_spawn_file_actions_t files;
    int e, n = 0, kept = 0;
    while (environ && environ[n]) n++;
    char **environment = lg__alloc((size_t)(n + 1) * sizeof *environment);
    if (!environment) return ENOMEM;
    for (int i = 0; i < n; i++)
        if (strncmp(environ[i], "GNUTERM=", 8) != 0) environment[kept++] = environ[i];
    if (!(e = posix_spawn_file_actions_init(&files))) {
        e = posix_spawn_file_actions_adddup2(&files, script, 0);
        if (!e) e = posix_spawn_file_actions_adddup2(&files, picture, 1);
        if (!e) e = posix_spawn_file_actions_adddup2(&files, complaints, 2);
        if (!e) e = posix_spawnp(pid, words[0], &files, NULL, words, environment);
        posix_spawn_file_actions_destroy(&files);
    }
    free(environment);
    return e;
}

/* What gnuplot complains of: the first line that is neither a warning nor its echo of the script,
 * which has a line with ^ after it. */
static void first_complaint(FILE *f, char line[LINE])
{
    char *next = NULL;
    size_t room = 0;
    rewind(f);
    line[0] = '\0';
    while (getline(&next, &room, f) > 0) {
        char *from = next + strspn(next, " \t");
        from[strcspn(from, "\n")] = '\0';
        if (!*from || strcasestr(from, "warning")) continue;
        if (line[0] && *from != '^') break;
        snprintf(line, LINE, "%s", *from == '^' ? "" : from);
    }
    free(next);
}

/* The picture ends as such a picture does: a full disk leaves half of one. */
static int is_whole(int picture, int kind)
{
    char tail[33] = "";
    off_t size = lseek(picture, 0, SEEK_END);
    if (size < 1) return 0;
    ssize_t n = pread(picture, tail, 32, size > 32 ? size - 32 : 0);
    return n > 0 && memmem(tail, (size_t)n, kind == SVG ? "</svg>" : "IEND", kind == SVG ? 6 : 4);
}

static int run(FILE *script, int picture, FILE *complaints, const char *file, int kind,
               lg_error *err)
{
    pid_t pid = 0;
    int status = 0, e = spawn(fileno(script), picture, fileno(complaints), &pid);
    char line[LINE];
    if (!e)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    if (e == ENOENT || (!e && WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return lg__fail(err, LG_ERROR_SYSTEM, "%.150s: there is no gnuplot to draw it; " REMEDY,
                        file);
    if (e)
        return lg__fail(err, LG_ERROR_SYSTEM, "%.150s: gnuplot could not be started: %s; " REMEDY,
                        file, strerror(e));
    if (status == 0 && is_whole(picture, kind)) return 0;
    first_complaint(complaints, line);
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%.150s: gnuplot could not draw it (\"%.150s\"); see that its version is 5 or "
                    "later and the disk not full, " REMEDY,
                    file, line[0] ? line : "no message");
}

static int draw(const struct drawing *d, int picture, const char *file, int kind, lg_error *err)
{
    FILE *script = tmpfile(), *complaints = tmpfile();
    int e = 0;
    if (script) {
        terminal(script, d->f, kind);
        axes(script, d);
        curves(script, d);
    }
    if (!script || !complaints || fflush(script) || lseek(fileno(script), 0, SEEK_SET))
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "%.150s: the script for gnuplot could not be written to " P_tmpdir
                     ": %s; make room there",
                     file, strerror(errno));
    if (!e) e = run(script, picture, complaints, file, kind, err);
    if (script) fclose(script);
    if (complaints) fclose(complaints);
    return e;
}

/* ---- The file ------------------------------------------------------------------------------ */

static int find_kind(const char *file, int *kind, lg_error *err)
{
    size_t n = file ? strlen(file) : 0;
    const char *end = n > 4 ? file + n - 4 : "";
    *kind = strcasecmp(end, ".png") == 0 ? PNG : SVG;
    if (*kind == PNG || strcasecmp(end, ".svg") == 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "\"%.150s\" is no name for a figure; let it end in .svg or .png",
                    file ? file : "");
}

/* A new file in the folder of the other, with the rights that any new file gets. */
static int open_beside(const char *file, char temporary[PATH], int *fd, lg_error *err)
{
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0;
    struct stat st;
    if (stat(file, &st) == 0 && S_ISDIR(st.st_mode))
        return lg__fail(err, LG_ERROR_ARGUMENT, "%.150s is a folder; give the figure another name",
                        file);
    if (folder > PATH - 100) folder = 0, errno = ENAMETOOLONG;
    *fd = -1;
    for (int i = 0; i < 100 && *fd < 0; i++) {
        snprintf(temporary, PATH, "%.*s.lengthen-figure-%ld-%d", folder, file, (long)getpid(), i);
        *fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd < 0 && errno != EEXIST) break;
    }
    if (*fd >= 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%.150s: its folder cannot be written to: %s; make the folder, or give another",
                    file, strerror(errno));
}

/* Draws beside the file and, to keep it, puts it in its place. */
static int make(const lg_figure *f, const char *file, int keep, lg_error *err)
{
    struct drawing d = {.f = f};
    char temporary[PATH];
    int kind = SVG, fd = -1, e = find_kind(file, &kind, err);
    if (!e) e = prepare(&d, err);
    if (!e) e = open_beside(file, temporary, &fd, err);
    if (!e) e = draw(&d, fd, file, kind, err);
    if (fd >= 0) {
        close(fd);
        if (!e && keep && rename(temporary, file))
            e = lg__fail(err, LG_ERROR_SYSTEM, "%.150s could not be put in its place: %s; check it",
                         file, strerror(errno));
        if (e || !keep) unlink(temporary);
    }
    free(d.points);
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
