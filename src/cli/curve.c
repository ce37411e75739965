/* curve.c: loss and accuracy as a small curve of letters. */
#include "cli/curve.h"

#include <math.h>
#include <string.h>

#include "cli/show.h"

void lg_cli_curve_add(struct lg_cli_curve *c, double loss, double right)
{
    if (!c->each) c->each = 1;
    if (c->count == LG_CLI_POINTS && c->open == c->each) {
        for (int i = 0; i < LG_CLI_POINTS / 2; i++) {
            c->loss[i] = (c->loss[2 * i] + c->loss[2 * i + 1]) / 2;
            c->right[i] = (c->right[2 * i] + c->right[2 * i + 1]) / 2;
        }
        c->count /= 2;
        c->each *= 2;
        c->open = c->each;
    }
    if (!c->count || c->open == c->each) {
        c->loss[c->count] = c->right[c->count] = 0;
        c->count++;
        c->open = 0;
    }
    double n = (double)++c->open, *l = &c->loss[c->count - 1], *r = &c->right[c->count - 1];
    *l += (loss - *l) / n;
    *r += (right - *r) / n;
}

static double height(double v, int log) { return log ? log10(fmax(v, 1e-12)) : v; }

void lg_cli_curve_text(const double *v, int n, int log, int width, int utf8, char *text)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {"_", ".", ",", "-", "=", "+", "*", "#"};
    double low = INFINITY, high = -INFINITY;
    int columns = n < width ? n : width;
    *text = 0;
    for (int i = 0; i < n; i++) {
        low = fmin(low, height(v[i], log));
        high = fmax(high, height(v[i], log));
    }
    for (int c = 0; c < columns; c++) {
        int from = (int)((int64_t)c * n / columns), to = (int)((int64_t)(c + 1) * n / columns);
        double mean = 0;
        for (int i = from; i < to; i++) mean += height(v[i], log) / (to - from);
        int level = high > low ? (int)(7.999 * (mean - low) / (high - low)) : 0;
        level = level < 0 ? 0 : level > 7 ? 7 : level;
        text += strlen(strcpy(text, utf8 ? blocks[level] : letters[level]));
    }
}

static void print_row(const char *name, const char *first, const char *last, const double *v, int n,
                      int log, int width, FILE *to)
{
    char text[4 * LG_CLI_POINTS + 1];
    int room = width - 8 - (int)strlen(first) - (int)strlen(last);
    if (room > LG_CLI_POINTS) room = LG_CLI_POINTS;
    lg_cli_curve_text(v, n, log, room > 0 ? room : 0, lg_cli_utf8(), text);
    fprintf(to, "%-5s %s %s %s\n", name, first, text, last);
}

void lg_cli_curve_print(const struct lg_cli_curve *c, int width, FILE *to)
{
    char first[32], last[32];
    int n = c->count;
    if (!n) return;
    snprintf(first, sizeof first, "%.4g", c->loss[0]);
    snprintf(last, sizeof last, "%.4g", c->loss[n - 1]);
    print_row("loss", first, last, c->loss, n, 1, width, to);
    snprintf(first, sizeof first, "%.0f%%", 100 * c->right[0]);
    snprintf(last, sizeof last, "%.1f%%", 100 * c->right[n - 1]);
    print_row("right", first, last, c->right, n, 0, width, to);
}
