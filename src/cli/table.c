/* table.c: text in columns. */
#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { GAP = 2, LEAST_CUT = 8 };

void lg_cli_table_add(struct lg_cli_table *t, const char *format, ...)
{
    char **more = lg_cli_grow(t->cell, t->count, &t->room, sizeof *more);
    t->lost |= !more;
    if (!more) return;
    t->cell = more;
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    if (!text) t->lost = 1;
    for (char *c = text ? lg_plain(text) : NULL; c && *c; c++)
        if (*c == '\n' || *c == '\t') *c = ' '; /* a cell is one line */
    t->cell[t->count++] = text;
}

static const char *text_at(const struct lg_cli_table *t, int row, int column)
{
    int i = row * t->columns + column;
    return i < t->count && t->cell[i] ? t->cell[i] : "";
}

static int rows(const struct lg_cli_table *t) { return (t->count + t->columns - 1) / t->columns; }

/* Characters, not bytes. */
static int wide(const char *text)
{
    int n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int column_width(const struct lg_cli_table *t, int column)
{
    int most = column < LG_CLI_COLUMNS ? t->min[column] : 0;
    for (int r = 0; r < rows(t); r++) {
        int n = wide(text_at(t, r, column));
        most = n > most ? n : most;
    }
    return most;
}

/* Keeps the first n characters, the last two of them dots. */
static void shorten(char *text, int n)
{
    if (!text || wide(text) <= n) return;
    for (n -= 2; n > 0; n--) do
            text++;
        while (((unsigned char)*text & 0xc0) == 0x80);
    memcpy(text, "..", 3);
}

void lg_cli_table_cut(struct lg_cli_table *t, int cut, int width)
{
    int used = -GAP, now = column_width(t, cut);
    for (int c = 0; c < t->columns; c++) used += column_width(t, c) + GAP;
    int wanted = now - (used - width);
    if (used <= width) return;
    if (wanted < LEAST_CUT) wanted = LEAST_CUT;
    for (int i = cut; i < t->count; i += t->columns) shorten(t->cell[i], wanted);
}

static void print_cell(const struct lg_cli_table *t, int row, int column, int width, int *blanks)
{
    const char *text = text_at(t, row, column);
    int left = column < LG_CLI_COLUMNS && (t->left >> column & 1), rest = width - wide(text);
    if (!*text) {
        *blanks += width + GAP;
        return;
    }
    printf("%*s%s", *blanks + (left ? 0 : rest), "", text);
    *blanks = GAP + (left ? rest : 0);
}

/* The columns 0..keep-1 and from..to-1 of every row; no blanks at the end of a line. */
static void print_piece(const struct lg_cli_table *t, int indent, int keep, int from, int to,
                        const int *width)
{
    for (int r = t->done; r < rows(t); r++) {
        int blanks = indent;
        for (int c = 0; c < keep; c++) print_cell(t, r, c, width[c], &blanks);
        for (int c = from; c < to; c++) print_cell(t, r, c, width[c], &blanks);
        putchar('\n');
    }
}

void lg_cli_table_print(const struct lg_cli_table *t, int indent, int keep, int width)
{
    int *widths = calloc((size_t)t->columns, sizeof *widths);
    if (!widths) return;
    for (int c = 0; c < t->columns; c++) widths[c] = column_width(t, c);
    if (!width) keep = 0;
    for (int from = keep, to; from < t->columns; from = to) {
        int used = indent;
        for (int c = 0; c < keep; c++) used += widths[c] + GAP;
        for (to = from; to < t->columns; to++) {
            if (width && to > from && used + widths[to] > width) break;
            used += widths[to] + GAP;
        }
        if (from > keep) putchar('\n');
        print_piece(t, indent, keep, from, to, widths);
    }
    free(widths);
}

void lg_cli_table_flush(struct lg_cli_table *t)
{
    lg_cli_table_print(t, 0, 0, 0);
    t->done = rows(t);
}

void lg_cli_table_clear(struct lg_cli_table *t)
{
    for (int i = 0; i < t->count; i++) free(t->cell[i]);
    free(t->cell);
    *t = (struct lg_cli_table){0};
}
