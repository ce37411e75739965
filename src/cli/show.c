/* show.c: examples for the eye: one column a token, the IDs and targets under it. */
#include "cli/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

enum { LEAST_WIDTH = 20, MOST_WIDTH = 1000, CELL = 256 };

/* ---- The look --------------------------------------------------------------------------- */

struct lg_cli_look lg_cli_look_plain(void) { return (struct lg_cli_look){80, 0}; }

struct lg_cli_look lg_cli_look_stdout(void)
{
    struct lg_cli_look look = lg_cli_look_plain();
    struct winsize size;
    const char *columns = getenv("COLUMNS"), *no_colour = getenv("NO_COLOR"),
               *terminal = getenv("TERM");
    int is_terminal = isatty(STDOUT_FILENO), width = columns ? atoi(columns) : 0;
    if (width <= 0 && is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width > 0) look.width = width < LEAST_WIDTH ? LEAST_WIDTH : width;
    if (look.width > MOST_WIDTH) look.width = MOST_WIDTH;
    look.colour =
        is_terminal && !(no_colour && *no_colour) && !(terminal && strcmp(terminal, "dumb") == 0);
    return look;
}

int lg_cli_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return 0;
}

void lg_cli_figure(const lg_figure *f)
{
    struct lg_cli_look look = lg_cli_look_stdout();
    int width = look.width < 100 ? look.width : 100;
    char *text = lg_figure_text(f, width, 16, look.colour, !lg_cli_utf8());
    if (text)
        printf("\n%s", text);
    else
        fputs("lengthen: no memory to draw the figure; end other programs\n", stderr);
    free(text);
}

static int size[2];

int lg_cli_read_size(void *to, const char *text)
{
    char end;
    int w, h;
    (void)to;
    if (sscanf(text, "%dx%d%c", &w, &h, &end) != 2 || w < 200 || h < 200 || w > 8000 || h > 8000)
        return -1;
    size[0] = w;
    size[1] = h;
    return 0;
}

int lg_cli_series(lg_series *s, lg_figure *f, const char *command, const char *file, int letters)
{
    lg_error err = {0};
    int code = lg_series_put(s, f, &err);
    f->width = size[0];
    f->height = size[1];
    if (code) code = lg_cli_error(command, code, &err);
    if (!code && letters) lg_cli_figure(f);
    if (!code && file) {
        if (lg_figure_write(f, file, &err))
            code = lg_cli_error(command, LG_ERROR_SYSTEM, &err);
        else
            fprintf(stderr, "The figure is in %s\n", file);
    }
    lg_series_clear(s);
    return code;
}

/* ---- Cells ------------------------------------------------------------------------------ */

struct row {
    enum { TOKEN, ID, NEXT, TARGET, LOSS } kind;
    int level;
    char name[64];
};
enum { MOST_ROWS = 3 + 2 * LG_LEVELS };

/* A word as it can stand in a table: control characters escaped, quotes around blanks, and a very
 * long one cut. Returns its width in characters. */
static int cell_word(char *text, const char *word)
{
    int quoted = !*word || strchr(word, ' ') != NULL, width = quoted;
    size_t n = 0;
    if (quoted) text[n++] = '"';
    for (; *word && n < CELL - 16; word++) {
        unsigned char c = (unsigned char)*word;
        if (c >= 0x20 && c != 0x7f) {
            text[n++] = *word;
            width += (c & 0xc0) != 0x80; /* bytes inside a UTF-8 character have no width */
            continue;
        }
        int more = c == '\n'   ? snprintf(text + n, 8, "\\n")
                   : c == '\t' ? snprintf(text + n, 8, "\\t")
                               : snprintf(text + n, 8, "\\x%02x", c);
        n += (size_t)more;
        width += more;
    }
    if (*word) {
        while (n && ((unsigned char)*word & 0xc0) == 0x80) word--, n--; /* no half character */
        memcpy(text + n, "..", 2);
        n += 2;
        width += 2;
    }
    if (quoted) text[n++] = '"';
    text[n] = 0;
    return width + quoted;
}

/* The pointer: the ID it is to find and the step from there, or = (the ID stays), - (none). */
static int cell_pointer(char *text, int32_t class, int32_t point)
{
    enum { STEPS = 2, STAY = 5 };
    if (class == STAY) return snprintf(text, CELL, "=");
    if (class > STAY || point == LG_NONE) return snprintf(text, CELL, "-");
    if (class == STEPS) return snprintf(text, CELL, "%d", point);
    return snprintf(text, CELL, "%d%+d", point, class - STEPS);
}

/* What the head of a level is to predict at token t. */
static int cell_next(char *text, const lg_sampler *s, int level, int t)
{
    *text = 0;
    if (t >= s->batch.rows) return 0;
    int32_t class = s->batch.id_targets[level][t], reach = s->scheme.reach;
    if (class == LG_NONE) return 0;
    if (s->config.pointer[level] || s->config.match[level])
        return cell_pointer(text, class, s->batch.point_targets[level][t]);
    int delta = lg_id_head_info_at(s->plan.head[level]).steps;
    if (class > (delta ? 2 * reach : s->scheme.max_id)) return snprintf(text, CELL, "-");
    if (!delta) return snprintf(text, CELL, "%d", class);
    return snprintf(text, CELL, class == reach ? "0" : "%+d", class - reach);
}

/* Writes the cell of token t in this row, at most CELL bytes; returns its width. */
static int cell(char *text, const lg_sampler *s, const struct row *row, int t)
{
    const lg_example *x = &s->x;
    const char *const *words = lg_task_get_shape(s->task)->words;
    *text = 0;
    switch (row->kind) {
    case TOKEN: return cell_word(text, words[x->tokens[t]]);
    case ID:
        if (s->ids[row->level][t] == LG_ABSENT) return snprintf(text, CELL, "-");
        return snprintf(text, CELL, "%d", s->ids[row->level][t]);
    case NEXT: return cell_next(text, s, row->level, t);
    case TARGET:
        return t + 1 < x->n && x->loss[t + 1] ? cell_word(text, words[x->tokens[t + 1]]) : 0;
    default: return x->loss[t] ? snprintf(text, CELL, "^") : 0;
    }
}

/* ---- Rows ------------------------------------------------------------------------------- */

/* The rows of this sampler; an ID row has the name of its level where IDs follow the labels. */
static int list_rows(const lg_sampler *s, struct row *row)
{
    const lg_task_shape *shape = lg_task_get_shape(s->task);
    int n = 0, coupled = s->plan.ids.labels;
    row[n++] = (struct row){TOKEN, 0, "token"};
    for (int l = 0; l < s->config.levels; l++) {
        char level[32] = "id";
        if (coupled && shape->level[l])
            snprintf(level, sizeof level, "%s", shape->level[l]);
        else if (s->config.levels > 1)
            snprintf(level, sizeof level, "level %d", l + 1);
        row[n] = (struct row){ID, l, ""};
        snprintf(row[n++].name, sizeof row->name, "%s", level);
        if (!s->config.id_classes[l] && !s->config.pointer[l]) continue;
        row[n] = (struct row){NEXT, l, ""};
        snprintf(row[n++].name, sizeof row->name, "next %s", level);
    }
    row[n++] = (struct row){TARGET, 0, "target"};
    row[n++] = (struct row){LOSS, 0, "loss"};
    return n;
}

/* One row of the columns from..from+columns-1; no blanks at its end. */
static void print_row(const lg_sampler *s, const struct row *row, int name_width, int from,
                      int columns, const int *width, int colour)
{
    char text[CELL];
    const char *now = "";
    printf("  %s", row->name);
    int blanks = name_width - (int)strlen(row->name);
    for (int c = 0; c < columns; c++) {
        int w = cell(text, s, row, from + c);
        blanks += 2 - (c > 0) + width[c] - w;
        if (!w) continue;
        printf("%*s", blanks, "");
        blanks = 0;
        const char *look = from + c < s->x.answer ? "\033[2m" : "\033[1m";
        if (colour && row->kind == TOKEN && look != now) {
            printf("\033[0m%s", look);
            now = look;
        }
        fputs(text, stdout);
    }
    puts(*now ? "\033[0m" : "");
}

static void print_heading(const lg_sampler *s)
{
    const lg_task_info *info = lg_task_get_shape(s->task)->info;
    printf("%s, example %llu: length %d (%s), ", info->name, (unsigned long long)s->draw.index - 1,
           s->x.length, info->unit);
    if (info->sparsity) printf("sparsity %d (%s), ", s->x.sparsity, info->sparsity);
    printf("%d tokens\n", s->x.n);
}

void lg_cli_show(const lg_sampler *s, struct lg_cli_look look)
{
    struct row row[MOST_ROWS];
    int width[MOST_WIDTH], rows = list_rows(s, row), name_width = 0;
    char text[CELL];
    for (int r = 0; r < rows; r++) {
        int n = (int)strlen(row[r].name);
        name_width = n > name_width ? n : name_width;
    }
    print_heading(s);
    for (int from = 0, columns; from < s->x.n; from += columns) {
        int used = 3 + name_width;
        for (columns = 0; columns < MOST_WIDTH && from + columns < s->x.n; columns++) {
            int widest = 0;
            for (int r = 0; r < rows; r++) {
                int w = cell(text, s, &row[r], from + columns);
                widest = w > widest ? w : widest;
            }
            if (columns && used + 1 + widest > look.width) break;
            used += 1 + widest;
            width[columns] = widest;
        }
        if (from) putchar('\n');
        for (int r = 0; r < rows; r++)
            print_row(s, &row[r], name_width, from, columns, width, look.colour);
    }
}

/* ---- Text and JSON ------------------------------------------------------------------------------- */

void lg_cli_text(const char *text)
{
    size_t n = strlen(text);
    printf("%s%s", text, n && text[n - 1] == '\n' ? "" : "\n");
}

void lg_cli_json_text(FILE *to, const char *text, size_t n)
{
    lg_buffer b = {0};
    lg_buffer_json(&b, text, n);
    if (b.size) fwrite(b.data, 1, b.size, to);
    lg_buffer_clear(&b);
}

void lg_cli_json(FILE *to, const char *text)
{
    if (text)
        lg_cli_json_text(to, text, strlen(text));
    else
        fputs("null", to);
}

void lg_cli_json_word(const char *key, const char *value)
{
    printf(",\"%s\":", key);
    lg_cli_json(stdout, value);
}

void lg_cli_json_number(const char *key, double value)
{
    if (isfinite(value))
        printf(",\"%s\":%.9g", key, value);
    else
        printf(",\"%s\":null", key);
}

void lg_cli_json_mean(const char *name, const lg_text_mean *m)
{
    const struct {
        const char *end;
        double value;
    } part[] = {{"", m->value}, {"_low", m->low}, {"_high", m->high}};
    for (int i = 0; i < 3; i++)
        if (isnan(part[i].value))
            printf(",\"%s%s\":null", name, part[i].end);
        else
            printf(",\"%s%s\":%.6g", name, part[i].end, part[i].value);
}

void lg_cli_json_folder(const char *folder)
{
    if (folder) lg_cli_json_word("folder", folder);
}

void lg_cli_csv(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"') putchar('"');
        putchar((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? '?' : c);
    }
    putchar('"');
}
