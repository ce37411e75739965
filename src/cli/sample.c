/* sample.c: `lengthen sample`, examples of a task with their IDs: for the eye, or as JSON lines
 * that jsonl: reads. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "lengthen_lab.h"

const char lg_cmd_sample_help[] =
    "Usage: lengthen sample TASK [OPTIONS]\n"
    "\n"
    "Prints examples of a task, one column a token. TASK is a name of `lengthen tasks`,\n"
    "jsonl:FILE or exec:COMMAND. The rows of an example:\n"
    "\n"
    "  token    the text: the prompt, then the answer\n"
    "  column   the token's position ID, one row a level, with the level's name; - is none\n"
    "  target   what the model has to predict at this token\n"
    "  loss     ^ under the tokens that are predicted\n"
    "\n"
    "  --length N|LO..HI        in the task's units (a short one)\n"
    "  --sparsity K|LO..HI      (the task's own range)\n"
    "  --set task.KEY=VALUE     a setting of the task; as often as needed\n"
    "  --count M                examples (3)\n"
    "  --seed S                 other examples (0); the same seed gives the same ones\n"
    "  --ids SCHEME             a name of `lengthen positions` (coupled; plain for a task\n"
    "                           without labels)\n"
    "  --levels L               coupled: only the first L levels\n"
    "  --train                  IDs as drawn in training (as in evaluation: from 1)\n"
    "  --max-id N               --train: the largest ID that is drawn\n"
    "  --target N, --chunks N   pose: the length in IDs to be ready for, and in how many pieces\n"
    "  --cut-anywhere           pose: the first of two pieces may be longer than half\n"
    "  --random-start           pose: the first piece is shifted, too\n"
    "  --source HEAD[,HEAD..]   absolute, delta, pointer or match: adds a row with the ID that "
    "this\n"
    "                           head has to predict; one for all levels, or one each\n"
    "                           (given: none)\n"
    "  --reach N                delta: changes of -N..N (what the task needs)\n"
    "  --json                   one object per line, with the keys tokens, ids, loss, length and\n"
    "                           sparsity: what jsonl:FILE reads. Coupled ids without --train are\n"
    "                           labels, to which jsonl:FILE adds the start (1)\n"
    "  --html FILE              draws them instead, as a page: arcs between tokens that share an\n"
    "                           ID, what a query sees, the ID that comes next, step by step. TASK\n"
    "                           may then be a run's folder: its model answers\n"
    "  --window LO..HI          --html: a query sees keys with ID - its own from LO to HI (all)\n"
    "  --prompt TEXT            --html: a prompt for the run, as in `lengthen generate`\n"
    "\n"
    "Wide examples are folded at the terminal's width, or at $COLUMNS.\n"
    "\n"
    "Examples:\n"
    "  lengthen sample addition\n"
    "  lengthen sample addition --html addition.html --window -1..1\n"
    "  lengthen sample runs/parity --html parity.html --prompt \"1 0 1 =\"\n"
    "  lengthen sample addition --length 3 --set task.carry=hard --set task.orientation=down\n"
    "  lengthen sample copy --length 1..8 --ids coupled --train --max-id 40\n"
    "  lengthen sample sparse-parity --length 20 --count 100000 --json > train.jsonl\n";

enum { PIECE = 1 << 16 };

struct options {
    const char *task, *sources;
    const char **settings; /* [argc] */
    int setting_count, json;
    int length[2], sparsity[2]; /* from, to; 0 if not given */
    int64_t count;
    const char *html, *prompt;
    int window[3]; /* from, to; and whether it was given */
    char command[4096];
};

/* ---- Reading the options ---------------------------------------------------------------- */

/* "-1..2". */
static int read_window(void *to, const char *text)
{
    int *window = to, used = 0;
    window[2] = 1;
    return sscanf(text, "%d..%d%n", &window[0], &window[1], &used) == 2 && !text[used] &&
                   window[0] <= 0 && window[1] >= 0
               ? 0
               : -1;
}

/* "5" or "1..20". */
static int read_range(void *to, const char *text)
{
    int *range = to;
    char *end;
    long low = strtol(text, &end, 10), high = low;
    if (end != text && strncmp(end, "..", 2) == 0) high = strtol(text = end + 2, &end, 10);
    if (end == text || *end || low < 1 || low > high || high >= INT_MAX) return -1;
    range[0] = (int)low;
    range[1] = (int)high;
    return 0;
}

/* All 64 bits of it are used. */
static int read_seed(void *to, const char *text)
{
    char *end;
    errno = 0;
    *(uint64_t *)to = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno ? 0 : -1;
}

static int read_setting(void *to, const char *text)
{
    struct options *o = to;
    return lg_cli_task_setting("sample", text, &o->settings[o->setting_count++]);
}

static int read_options(int argc, char **argv, struct options *o, lg_sampler *s)
{
    const char *range = "a number of 1 or more, or a range as in 1..20";
    lg_scheme *scheme = &s->scheme;
    const struct lg_cli_option rows[] = {
        {"length", .read = read_range, .to = o->length, .take = range},
        {"sparsity", .read = read_range, .to = o->sparsity, .take = range},
        {"set", .read = read_setting, .to = o},
        {"count", .large = &o->count, .least = 1},
        {"seed", .read = read_seed, .to = &s->draw.seed, .take = "a whole number"},
        {"ids", .text = &scheme->ids},
        {"levels", .whole = &scheme->levels, .least = 1},
        {"train", .flag = &s->train},
        {"max-id", .whole = &scheme->max_id, .least = 1},
        {"target", .whole = &scheme->target, .least = 1},
        {"chunks", .whole = &scheme->chunks, .least = 2},
        {"cut-anywhere", .flag = &scheme->cut_anywhere},
        {"random-start", .flag = &scheme->random_start},
        {"source", .text = &o->sources},
        {"reach", .whole = &scheme->reach, .least = 1},
        {"json", .flag = &o->json},
        {"html", .text = &o->html},
        {"prompt", .text = &o->prompt},
        {"window", .read = read_window, .to = o->window,
         .take = "LO..HI, LO at most 0, HI at least 0"},
        {0},
    };
    lg_cli_command_line(argc, argv, o->command, sizeof o->command);
    int code = lg_cli_options("sample", rows, &argc, &argv);
    s->draw.length_lo = o->length[0];
    s->draw.length_hi = o->length[1];
    s->draw.sparsity_lo = o->sparsity[0];
    s->draw.sparsity_hi = o->sparsity[1];
    if (code) return code;
    return lg_cli_argument("sample", "task", "`lengthen tasks` lists them", argc, argv, &o->task);
}

/* ---- Getting ready ---------------------------------------------------------------------- */

static int known_ids(const char *name)
{
    for (int i = 0; i < lg_ids_count(); i++)
        if (strcmp(lg_ids_info_at(i).name, name) == 0) return 1;
    return 0;
}

static int unknown_ids(const char *name)
{
    const char *names[64];
    int n = 0;
    for (; n < lg_ids_count() && n < 64; n++) names[n] = lg_ids_info_at(n).name;
    const char *near = lg_cli_nearest(name, names, n);
    if (near)
        return lg_cli_wrong("sample", "there are no IDs \"%s\"; did you mean \"%s\"?", name, near);
    return lg_cli_wrong("sample", "there are no IDs \"%s\"; `lengthen positions` lists them", name);
}

/* The name of the head, as it lives in the library, or NULL. */
static const char *head_named(const char *name, size_t n)
{
    for (int i = 0; i < lg_id_head_count(); i++) {
        const char *head = lg_id_head_info_at(i).name;
        if (strlen(head) == n && strncmp(head, name, n) == 0) return head;
    }
    return n == 5 && strncmp(name, "given", n) == 0 ? "given" : NULL;
}

/* --source: one head for all levels, or one each. */
static int read_sources(const char *text, int levels, lg_scheme *scheme)
{
    int n = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        const char *head = head_named(at, length);
        if (!head)
            return lg_cli_wrong(
                "sample",
                "--source is \"%s\"; take given, absolute, delta, pointer or match, or "
                "one of these for each level with commas between",
                text);
        if (n < LG_LEVELS) scheme->source[n] = head;
        n++;
        at += length;
        if (!*at) break;
    }
    if (n != 1 && n != levels)
        return lg_cli_wrong("sample", "--source \"%s\" names %d heads, but the IDs have %d level%s",
                            text, n, levels, levels == 1 ? "" : "s");
    for (int l = n; l < levels; l++) scheme->source[l] = scheme->source[0];
    return 0;
}

/* Everything is refused here that can be known before the first line is printed; 0, or an exit
 * code. Makes the first example. */
static int get_ready(struct options *o, lg_sampler *s)
{
    lg_error err = {0};
    if (s->scheme.ids && !known_ids(s->scheme.ids)) return unknown_ids(s->scheme.ids);
    s->task = lg_task_new(o->task, o->settings, o->setting_count, &err);
    if (!s->task) return lg_cli_error("sample", err.code, &err);
    int code = lg_sampler_ready(s, &err);
    if (!code && o->sources) {
        if ((code = read_sources(o->sources, s->config.levels, &s->scheme))) return code;
        code = lg_sampler_ready(s, &err);
    }
    if (!code) code = lg_sampler_check(s, &err);
    if (!code) code = lg_sampler_next(s, &err);
    return code ? lg_cli_error("sample", code, &err) : 0;
}

/* ---- As a page -------------------------------------------------------------------------- */

static int add_examples(const struct options *o, lg_sampler *s, lg_page *p, lg_error *err)
{
    int code = 0;
    for (int64_t i = 1; !code; i++) {
        code = lg_page_add_example(p, s, o->window[2] ? o->window : NULL, err);
        if (code || i == o->count) break;
        code = lg_sampler_next(s, err);
    }
    return code;
}

/* Examples of the task, or (s NULL) what the model of a run answers. */
static int write_page(const struct options *o, lg_sampler *s)
{
    lg_error err = {0}, warning = {0};
    lg_page *p = lg_page_new(o->task, o->command, &err);
    lg_generate_options g = {.folder = o->task,
                             .prompt = o->prompt,
                             .length = o->length[1],
                             .count = o->prompt ? 1 : (int)o->count,
                             .seed = -1,
                             .predicted = -1};
    int code = !p  ? err.code
               : s ? add_examples(o, s, p, &err)
                   : lg_page_add_answers(p, &g, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen sample: %s\n", warning.text);
    if (!code) code = lg_page_write(p, o->html, &err);
    lg_page_free(p);
    if (code) return lg_cli_error("sample", code, &err);
    printf("%s\n", o->html);
    return LG_EXIT_DONE;
}

/* What goes with --html alone, or not with it; 0, or an exit code. */
static int check_page(const struct options *o, int run)
{
    if (o->html && o->json) return lg_cli_wrong("sample", "take --html or --json, not both");
    if (o->html && o->count > 1000)
        return lg_cli_wrong("sample", "a page of %lld examples; take at most 1000",
                            (long long)o->count);
    if (!o->html && (o->window[2] || o->prompt))
        return lg_cli_wrong("sample", "--%s goes with --html", o->prompt ? "prompt" : "window");
    if (o->prompt && !run)
        return lg_cli_wrong("sample", "--prompt needs a run that answers it: give its folder");
    if (run && !o->html)
        return lg_cli_wrong("sample",
                            "%s is a run; `lengthen generate` shows what it writes, "
                            "--html FILE draws it",
                            o->task);
    return 0;
}

/* ---- The command ------------------------------------------------------------------------ */

/* A line of JSON; what is gathered is printed in large pieces, or when it is the last. */
static int print_line(lg_sampler *s, lg_buffer *b, int last, lg_error *err)
{
    int code = lg_sampler_line(s, b, err);
    if (code || (b->size < PIECE && !last)) return code;
    fwrite(b->data, 1, b->size, stdout);
    b->size = 0;
    return 0;
}

/* Prints the example at hand, makes the next, and so on. */
static int print_all(struct options *o, lg_sampler *s)
{
    struct lg_cli_look look = lg_cli_look_stdout();
    lg_buffer b = {0};
    lg_error err = {0};
    int code = 0;
    for (int64_t i = 1; !code; i++) {
        if (o->json)
            code = print_line(s, &b, i == o->count, &err);
        else
            lg_cli_show(s, look);
        if (code || i == o->count || ferror(stdout)) break; /* main speaks of lost output */
        if (!o->json) putchar('\n');
        code = lg_sampler_next(s, &err);
    }
    if (b.size) fwrite(b.data, 1, b.size, stdout); /* those before an error */
    lg_buffer_clear(&b);
    if (code) lg_cli_error("sample", code, &err);
    return code ? LG_EXIT_FAILED : LG_EXIT_DONE;
}

int lg_cmd_sample(int argc, char **argv)
{
    struct options o = {.count = 3};
    lg_sampler s;
    lg_sampler_init(&s);
    o.settings = calloc((size_t)argc, sizeof *o.settings);
    if (!o.settings) {
        fputs("lengthen sample: no memory\n", stderr);
        return LG_EXIT_FAILED;
    }
    int code = read_options(argc, argv, &o, &s);
    int run = !code && *lg_run_form(o.task);
    if (!code) code = check_page(&o, run);
    if (!code && !run) code = get_ready(&o, &s);
    if (!code) code = o.html ? write_page(&o, run ? NULL : &s) : print_all(&o, &s);
    lg_task *task = s.task;
    lg_sampler_clear(&s);
    lg_task_free(task);
    free(o.settings);
    return code;
}
