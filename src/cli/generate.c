/* generate.c: `lengthen generate`: what a run's model writes, token by token and ID by ID. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/generate_text.h"
#include "cli/options.h"
#include "cli/show.h"
#include "lengthen_lab.h"

const char lg_cmd_generate_help[] =
    "Usage: lengthen generate RUN [OPTIONS]\n"
    "\n"
    "The model of a run (its newest checkpoint) answers fresh examples of its task, or a prompt\n"
    "of yours, token by token. One column a token:\n"
    "\n"
    "  token         the prompt, then what the model writes\n"
    "  column        the token's position ID, one row a level, with the level's name; - is none\n"
    "  p             the probability that the model gives the token\n"
    "  right         under a wrong token: the right one; (end): the answer has ended\n"
    "  right column  under a predicted ID that is not the rule's: the rule's\n"
    "\n"
    "  --length N               examples of this length (the longest of training)\n"
    "  --sparsity K             and this sparsity (as in training)\n"
    "  --count M                examples (1)\n"
    "  --prompt TEXT            words between spaces, needless where every word of the task is\n"
    "                           one letter; - reads it from the standard input\n"
    "  --prompt-ids \"2 3 4 1\"   position IDs of the prompt, as `lengthen sample` shows them;\n"
    "                           levels between ';', - for none (those of the examples with\n"
    "                           such a prompt, where they agree)\n"
    "  --source given|predicted who supplies the IDs of the answer: the task's rule, or the\n"
    "                           model (predicted where it can)\n"
    "  --temperature T          draw each token from the model's distribution, sharper below 1,\n"
    "                           flatter above (0: the likeliest)\n"
    "  --seed S                 other examples, other draws (the examples of `lengthen eval`)\n"
    "  --max-tokens N           stop after so many tokens (twice the right answer, or 1000\n"
    "                           where it is not known)\n"
    "  --allow-exec             execute the command of a run's task exec:COMMAND though you have\n"
    "                           not trained the run here: only if you trust whoever made it\n"
    "  --fallback               if the newest weights are damaged, use older ones\n"
    "  --json                   one object per token, and one at the end of each answer\n"
    "\n"
    "Whether an answer to your prompt is right is known where the task happens to draw the same\n"
    "prompt. Wide texts are folded at the terminal's width, or at $COLUMNS; of texts over 2000\n"
    "tokens the ends and the wrong tokens are shown.\n"
    "\n"
    "A run of texts goes on with --prompt, or begins a document, for up to --max-tokens (256),\n"
    "and prints the text; --count texts have a line <|endoftext|> between them, as a corpus has.\n"
    "With --json there is one object a text, with its tokens.\n"
    "\n"
    "Examples:\n"
    "  lengthen generate runs/stories --prompt \"Once upon a time\"\n"
    "  lengthen generate runs/parity --length 40\n"
    "  lengthen generate runs/parity --prompt \"1 0 1 =\"\n"
    "  lengthen generate runs/parity --prompt 101= --temperature 1 --seed 7 --json\n";

enum { CELL = 96, MOST_COLUMNS = 1000, MOST_ROWS = 4 + 2 * LG_LEVELS };
enum { WHOLE = 2000, HEAD = 200, AROUND = 100, TAIL = 100, MOST_WRONG = 1000 };

struct show {
    int json, lost; /* lost: no memory for a token */
    struct lg_cli_look look;
    lg_run_token *token; /* of the text so far */
    int n, room;
    int *column; /* [n] the tokens that are shown */
    int columns;
    int64_t texts, known, exact;
};

/* ---- JSON lines ------------------------------------------------------------------------- */

/* NULL: not known. */
static void json_ids(const char *key, const int32_t *ids, int levels)
{
    printf(",\"%s\":", key);
    if (!ids) fputs("null", stdout);
    for (int l = 0; ids && l < levels; l++) {
        putchar(l ? ',' : '[');
        if (ids[l] == LG_ABSENT)
            fputs("null", stdout);
        else
            printf("%d", ids[l]);
    }
    if (ids) putchar(']');
}

static void json_token(const lg_run_token *t)
{
    printf("{\"at\":%d,\"prompt\":%s,\"token\":", t->at, t->generated ? "false" : "true");
    lg_cli_json(stdout, t->word);
    json_ids("id", t->id, t->levels);
    if (t->generated) {
        printf(",\"p\":%.6g,\"expected\":", t->p);
        lg_cli_json(stdout, t->expected_word);
        json_ids("expected_id", t->expected_id[0] == LG_NONE ? NULL : t->expected_id, t->levels);
    }
    puts("}");
}

static void json_answer(const lg_run_answer *a)
{
    printf("{\"exact\":%s,\"example\":%lld,\"task\":",
           a->known ? a->exact ? "true" : "false" : "null", (long long)a->example);
    lg_cli_json(stdout, a->task);
    printf(",\"step\":%lld,\"source\":\"%s\",\"length\":%d,\"sparsity\":%d,\"prompt_tokens\":%d,"
           "\"tokens\":%d,\"ended\":%s,\"right_tokens\":",
           (long long)a->step, a->predicted ? "predicted" : "given", a->length, a->sparsity,
           a->prompt, a->tokens, a->ended ? "true" : "false");
    if (a->right)
        printf("%d", a->right);
    else
        fputs("null", stdout);
    if (a->wrong)
        printf(",\"wrong_from\":%d", a->wrong);
    else
        fputs(",\"wrong_from\":null", stdout);
    printf(",\"wrong_ids\":%d}\n", a->wrong_ids);
}

/* ---- Cells ------------------------------------------------------------------------------ */

struct row {
    enum { AT, TOKEN, ID, P, RIGHT, RIGHT_ID } kind;
    int level;
    char name[48];
};

static int ends(const lg_run_answer *a, const lg_run_token *t)
{
    return a->known && t->generated && t->at >= a->prompt + a->right;
}

static int wrong_token(const lg_run_answer *a, const lg_run_token *t)
{
    return ends(a, t) || (t->generated && t->expected != LG_NONE && t->token != t->expected);
}

static int wrong_id(const lg_run_token *t, int level)
{
    return t->generated && t->expected_id[level] != LG_NONE &&
           t->id[level] != t->expected_id[level];
}

static int any_wrong(const lg_run_answer *a, const lg_run_token *t)
{
    int wrong = wrong_token(a, t);
    for (int l = 0; l < t->levels; l++) wrong |= wrong_id(t, l);
    return wrong;
}

/* A word as it can stand in a table: control characters escaped, a long one cut. Its width. */
static int cell_word(char *text, const char *word)
{
    int width = 0;
    size_t n = 0;
    for (; *word; word++) {
        unsigned char c = (unsigned char)*word;
        int starts = (c & 0xc0) != 0x80; /* bytes inside a UTF-8 character have no width */
        if (starts && n > CELL - 16) return width + snprintf(text + n, CELL - n, "..");
        if (c >= 0x20 && c != 0x7f)
            text[n++] = *word, width += starts;
        else
            n += (size_t)snprintf(text + n, CELL - n, "\\x%02x", c), width += 4;
    }
    text[n] = 0;
    return width;
}

static int cell_id(char *text, int32_t id)
{
    return id == LG_ABSENT ? snprintf(text, CELL, "-") : snprintf(text, CELL, "%d", id);
}

/* 1, .97, .00 */
static int cell_p(char *text, double p)
{
    if (p >= 0.995) return snprintf(text, CELL, "1");
    char digits[16];
    snprintf(digits, sizeof digits, "%.2f", p);
    return snprintf(text, CELL, "%s", digits + 1);
}

/* Writes the cell of a token in this row, at most CELL bytes; returns its width. */
static int cell(char *text, const lg_run_answer *a, const struct row *row, const lg_run_token *t)
{
    *text = 0;
    switch (row->kind) {
    case AT: return snprintf(text, CELL, "%d", t->at);
    case TOKEN: return cell_word(text, t->word);
    case ID: return cell_id(text, t->id[row->level]);
    case P: return t->generated ? cell_p(text, t->p) : 0;
    case RIGHT:
        if (!wrong_token(a, t)) return 0;
        return ends(a, t) ? snprintf(text, CELL, "(end)") : cell_word(text, t->expected_word);
    default: return wrong_id(t, row->level) ? cell_id(text, t->expected_id[row->level]) : 0;
    }
}

static const char *colour(const lg_run_answer *a, const struct row *row, const lg_run_token *t)
{
    if (row->kind == TOKEN && wrong_token(a, t)) return "\033[1;31m";
    if (row->kind == TOKEN) return t->generated ? "\033[1m" : "\033[2m";
    if (row->kind == ID && wrong_id(t, row->level)) return "\033[31m";
    return row->kind == RIGHT || row->kind == RIGHT_ID ? "\033[32m" : "";
}

/* ---- The table -------------------------------------------------------------------------- */

/* `before` and the level's name. */
static void name_level(struct row *row, const char *before, const lg_run_answer *a, int level)
{
    if (a->level[level])
        snprintf(row->name, sizeof row->name, "%s%s", before, a->level[level]);
    else if (a->levels > 1)
        snprintf(row->name, sizeof row->name, "%slevel %d", before, level + 1);
    else
        snprintf(row->name, sizeof row->name, "%sid", before);
}

static int list_rows(const struct show *s, const lg_run_answer *a, struct row *row)
{
    int n = 0;
    if (s->columns < s->n) row[n++] = (struct row){AT, 0, "at"};
    row[n++] = (struct row){TOKEN, 0, "token"};
    for (int l = 0; l < a->levels; l++, n++) {
        row[n] = (struct row){ID, l, ""};
        name_level(&row[n], "", a, l);
    }
    row[n++] = (struct row){P, 0, "p"};
    row[n++] = (struct row){RIGHT, 0, "right"};
    for (int l = 0; l < a->levels; l++, n++) {
        row[n] = (struct row){RIGHT_ID, l, ""};
        name_level(&row[n], "right ", a, l);
    }
    return n;
}

/* One row of some columns; no blanks at its end, and nothing at all if all its cells are empty. */
static void print_row(const struct show *s, const lg_run_answer *a, const struct row *row,
                      int name_width, const int *column, int columns, const int *width)
{
    char text[CELL];
    int blanks = name_width - (int)strlen(row->name), filled = 0;
    for (int c = 0; c < columns; c++) filled |= cell(text, a, row, &s->token[column[c]]);
    if (!filled) return;
    printf("  %s", row->name);
    for (int c = 0; c < columns; c++) {
        const lg_run_token *t = &s->token[column[c]];
        int w = cell(text, a, row, t);
        const char *look = s->look.colour ? colour(a, row, t) : "";
        blanks += 2 - (c > 0) + width[c] - w;
        if (!w) continue;
        printf("%*s%s%s%s", blanks, "", look, text, *look ? "\033[0m" : "");
        blanks = 0;
    }
    putchar('\n');
}

/* Drops the rows that have nothing in any column; how many are left. */
static int drop_empty(const struct show *s, const lg_run_answer *a, struct row *row, int rows)
{
    char text[CELL];
    int left = 0;
    for (int r = 0; r < rows; r++) {
        int c = 0;
        while (c < s->columns && !cell(text, a, &row[r], &s->token[s->column[c]])) c++;
        if (c < s->columns) row[left++] = row[r];
    }
    return left;
}

/* The columns that are shown, folded at the width. */
static void print_table(const struct show *s, const lg_run_answer *a)
{
    struct row row[MOST_ROWS];
    char text[CELL];
    int width[MOST_COLUMNS], rows = list_rows(s, a, row), name_width = 0;
    rows = drop_empty(s, a, row, rows);
    for (int r = 0; r < rows; r++) {
        int n = (int)strlen(row[r].name);
        name_width = n > name_width ? n : name_width;
    }
    for (int from = 0, columns; from < s->columns; from += columns) {
        int used = 3 + name_width;
        for (columns = 0; columns < MOST_COLUMNS && from + columns < s->columns; columns++) {
            const lg_run_token *t = &s->token[s->column[from + columns]];
            int widest = 0;
            for (int r = 0; r < rows; r++) {
                int w = cell(text, a, &row[r], t);
                widest = w > widest ? w : widest;
            }
            if (columns && used + 1 + widest > s->look.width) break;
            used += 1 + widest;
            width[columns] = widest;
        }
        if (from) putchar('\n');
        for (int r = 0; r < rows; r++)
            print_row(s, a, &row[r], name_width, s->column + from, columns, width);
    }
}

/* Which tokens are shown: all, or of a long text its ends, the start of the answer, and what is
 * wrong. Returns how many wrong ones are left out. */
static int choose_columns(struct show *s, const lg_run_answer *a)
{
    int wrong = 0, left = 0;
    s->columns = 0;
    for (int i = 0; i < s->n; i++) {
        int near = s->n <= WHOLE || i < HEAD || i >= s->n - TAIL ||
                   (i >= a->prompt - AROUND && i < a->prompt + AROUND);
        int marked = any_wrong(a, &s->token[i]);
        left += !near && marked && wrong >= MOST_WRONG;
        if (near || (marked && wrong < MOST_WRONG)) s->column[s->columns++] = i;
        wrong += !near && marked;
    }
    return left;
}

static void print_heading(const lg_run_answer *a)
{
    if (a->length)
        printf("%s, example %lld: length %d (%s), ", a->task, (long long)a->example, a->length,
               a->unit);
    else
        printf("%s, a prompt: ", a->task);
    if (a->sparsity) printf("sparsity %d, ", a->sparsity);
    printf("%d tokens of prompt; step %lld, IDs %s\n", a->prompt, (long long)a->step,
           a->predicted ? "predicted" : "given");
}

static void print_verdict(const lg_run_answer *a)
{
    char word[CELL];
    if (a->exact)
        fputs("exact", stdout);
    else if (a->wrong) {
        printf("wrong from token %d on (expected ", a->wrong);
        cell_word(word, a->expected ? a->expected : "the end");
        printf("%s, got ", word);
        cell_word(word, a->got);
        printf("%s)", word);
    } else if (a->known)
        printf("right so far: %d of %d tokens", a->tokens, a->right);
    else
        printf("%d token%s%s; the right answer is not known", a->tokens, a->tokens == 1 ? "" : "s",
               a->ended ? "" : " and no end");
    if (a->wrong_ids)
        printf("; %d predicted ID%s not the rule's", a->wrong_ids, a->wrong_ids == 1 ? "" : "s");
    putchar('\n');
}

static void print_text(struct show *s, const lg_run_answer *a)
{
    int left = choose_columns(s, a);
    if (s->texts) putchar('\n');
    print_heading(a);
    print_table(s, a);
    if (s->columns < s->n)
        printf("%d of %d tokens are shown: the ends, the start of the answer, and those that are "
               "wrong",
               s->columns, s->n);
    if (left) printf(" (%d more are)", left);
    if (s->columns < s->n) puts("; --json gives all");
    print_verdict(a);
}

/* ---- What is told ----------------------------------------------------------------------- */

static void told(void *context, const lg_run_token *t)
{
    struct show *s = context;
    if (s->json) {
        json_token(t);
        return;
    }
    if (s->n == s->room) {
        size_t room = s->room ? 2 * (size_t)s->room : 1024;
        lg_run_token *token = realloc(s->token, room * sizeof *token);
        if (token) s->token = token;
        int *column = realloc(s->column, room * sizeof *column);
        if (column) s->column = column;
        if (!token || !column) s->lost = 1;
        if (!s->lost) s->room = (int)room;
    }
    if (!s->lost) s->token[s->n++] = *t;
}

static void answered(void *context, const lg_run_answer *a)
{
    struct show *s = context;
    if (s->json)
        json_answer(a);
    else if (!s->lost)
        print_text(s, a);
    s->texts++;
    s->known += a->known;
    s->exact += a->exact;
    s->n = 0;
    fflush(stdout);
}

/* ---- Options ---------------------------------------------------------------------------- */

static int answer(const lg_generate_options *o, struct show *s);
static int go_on(const lg_generate_options *o, struct show *s)
{
    return lg_cli_generate_text(o, s->json);
}

/* What there is to generate, by the form of what is measured of a task. */
static const struct way {
    const char *form;
    int counts; /* 1: several texts can be made from one prompt */
    int (*run)(const lg_generate_options *o, struct show *s);
} ways[] = {{"answers", 0, answer}, {"losses", 1, go_on}};

static const struct way *way_of(const char *folder)
{
    const char *form = lg_run_form(folder);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].form, form) == 0) return &ways[i];
    return &ways[0];
}

static int read_options(int argc, char **argv, lg_generate_options *o, struct show *s)
{
    const struct lg_cli_option rows[] = {
        {"length", .whole = &o->length, .least = 1, .most = 1 << 30},
        {"sparsity", .whole = &o->sparsity, .least = 1, .most = 1 << 30},
        {"count", .whole = &o->count, .least = 1, .most = 1 << 30},
        {"prompt", .text = &o->prompt},
        {"prompt-ids", .text = &o->prompt_ids},
        {"source", .word = &o->predicted, .names = "given or predicted"},
        {"temperature", .real = &o->temperature, .most = 1e6,
         .take = "0 (the likeliest token) or more, as in 0.7"},
        {"seed", .large = &o->seed},
        {"fallback", .flag = &o->access.fallback},
        {"max-tokens", .whole = &o->max_tokens, .least = 1, .most = 1 << 30},
        {"allow-exec", .flag = &o->access.allow_exec},
        {"json", .flag = &s->json},
        {0},
    };
    int code = lg_cli_options("generate", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("generate", "run", "Give its folder", argc, argv, &o->folder);
    if (code) return code;
    if (o->prompt && (o->length || o->sparsity || (o->count && !way_of(o->folder)->counts)))
        return lg_cli_wrong("generate",
                            "--prompt is a text of yours, and --%s is for examples of the task; "
                            "leave out one of the two",
                            o->length     ? "length"
                            : o->sparsity ? "sparsity"
                                          : "count");
    return 0;
}

static int answer(const lg_generate_options *o, struct show *s)
{
    lg_error err = {0}, warning = {0};
    int code = lg_run_generate(o, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen generate: %s\n", warning.text);
    if (code) return lg_cli_error("generate", code, &err);
    if (s->lost) {
        fputs("lengthen generate: no memory to show such a text; take --json\n", stderr);
        return LG_EXIT_FAILED;
    }
    if (!s->json && s->texts > 1)
        printf("\n%lld of %lld exact\n", (long long)s->exact, (long long)s->texts);
    return LG_EXIT_DONE;
}

int lg_cmd_generate(int argc, char **argv)
{
    lg_generate_options o = {.seed = -1, .predicted = -1};
    struct show s = {.look = lg_cli_look_stdout()};
    char *input = NULL;
    int code = read_options(argc, argv, &o, &s);
    if (!code && o.prompt && strcmp(o.prompt, "-") == 0) {
        size_t n;
        o.prompt = input = lg_cli_read_all("generate", "-", &n);
        if (!input) code = LG_EXIT_FAILED;
    }
    o.callback = told;
    o.answered = answered;
    o.context = &s;
    if (!code) code = way_of(o.folder)->run(&o, &s);
    free(input);
    free(s.token);
    free(s.column);
    return code;
}
