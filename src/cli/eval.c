/* eval.c: `lengthen eval`: what a run can do, length by length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/eval_text.h"
#include "cli/options.h"

const char lg_cmd_eval_help[] =
    "Usage: lengthen eval RUN [OPTIONS]\n"
    "\n"
    "Generates the answers of fresh examples, token by token, for each length (and sparsity)\n"
    "and counts those that are exact: every answer token right, the stop token in its place.\n"
    "Where a run predicts IDs, there is a row with the IDs of the task's rule (given) and one\n"
    "with the model's own (predicted). The interval is Wilson's, 95%. First error: the median\n"
    "place of the first wrong token in the answers that have one. Beside it the same\n"
    "teacher-forced: each token predicted from the right ones before it. An answer of one token\n"
    "with a given ID is the same either way, and is made once. Of own data (jsonl:FILE) the\n"
    "examples are the lines that were held out from training (task.test), each once; of lengths\n"
    "that training never shows, all lines.\n"
    "\n"
    "A run of the task text has a loss instead, in nats per token, by position on held-out\n"
    "documents: truncated, with all tokens of the document before it, and sliding, with the last\n"
    "of training's length alone; the excess is what the model loses by seeing more. The\n"
    "documents are those with a token more than the length; intervals are of the mean over\n"
    "documents, 95%.\n"
    "\n"
    "Each cell goes into the store at once; the same command later takes from there what it\n"
    "has (\"kept\") and makes the rest.\n"
    "\n"
    "  --lengths A,B,..      lengths (those of the config)\n"
    "  --sparsities A,B,..   sparsities (those of the config)\n"
    "  --vary KEY=A,B,..     the grid for each of these values of a setting of the task\n"
    "  --task TASK           another task with the same words: jsonl:FILE of test examples,\n"
    "                        as `lengthen sample --json` writes them too, each line once\n"
    "  --text PATHS          a run of texts: these, all documents (those held out)\n"
    "  --field KEY           of JSON lines among them (as in the run's config)\n"
    "  --context N           a run of texts: tokens of a sliding prediction (training's)\n"
    "  --samples N           examples a cell, or documents a length (as in the config)\n"
    "  --source SOURCE       given or predicted: only these IDs\n"
    "  --allow-exec          execute the command of a run's task exec:COMMAND though you have not\n"
    "                        trained the run here: only if you trust whoever made it\n"
    "  --force               recompute cells, or losses, that the store has\n"
    "  --fallback            if the newest weights are damaged, use older ones\n"
    "  --store FILE          the store (LENGTHEN_STORE, else lengthen.db)\n"
    "  --threads N           threads (all cores); the result does not depend on it\n"
    "  --plot FILE           draw exact answers by length (.svg, .png, .pdf; -: in letters)\n"
    "  --title TEXT          of the figure (the run's name)\n"
    "  --json, --csv         one object, or one row, a cell\n"
    "\n"
    "Examples:\n"
    "  lengthen eval runs/parity --lengths 20,100,1000 --samples 100\n"
    "  lengthen eval runs/parity --plot parity.svg\n"
    "  lengthen eval runs/sparse --sparsities 8 --vary ones=0,1,2,3,4 --plot ones.svg\n"
    "  lengthen eval runs/wiki --lengths 64,256 --plot wiki.svg\n";

enum { MOST = 256, GREATEST = 1 << 30 };

struct request {
    lg_eval_options o;
    int lengths[MOST], sparsities[MOST];
    char *vary[MOST]; /* "key=value", to be freed */
    const char *plot, *title;
    const char *text, *field; /* of a run of texts */
    int context;
    struct lg_cli_cells cells;
};

/* "names=50,100" into "names=50" and "names=100". */
static int read_vary(void *to, const char *text)
{
    struct request *q = to;
    if (strncmp(text, "task.", 5) == 0) text += 5; /* as in a config */
    const char *equals = strchr(text, '=');
    int key = equals ? (int)(equals - text) : 0;
    if (key < 1 || !equals[1])
        return lg_cli_wrong("eval",
                            "--vary is \"%s\"; take a setting of the task and its values, "
                            "as in names=50,100",
                            text);
    for (const char *at = equals + 1;; at++) {
        int n = (int)strcspn(at, ",");
        if (q->o.setting_count == MOST)
            return lg_cli_wrong("eval", "--vary has over %d values; take fewer", MOST);
        if (asprintf(&q->vary[q->o.setting_count++], "%.*s=%.*s", key, text, n, at) < 0) {
            q->o.setting_count--;
            return LG_EXIT_FAILED;
        }
        at += n;
        if (!*at) return 0;
    }
}

static int read_options(struct request *q, int argc, char **argv)
{
    lg_eval_options *o = &q->o;
    int json = 0, csv = 0;
    const struct lg_cli_option rows[] = {
        {"lengths", .list = q->lengths, .count = &o->length_count, .room = MOST, .least = 1,
         .most = GREATEST},
        {"sparsities", .list = q->sparsities, .count = &o->sparsity_count, .room = MOST, .least = 1,
         .most = GREATEST},
        {"vary", .read = read_vary, .to = q},
        {"task", .text = &o->task},
        {"text", .text = &q->text},
        {"field", .text = &q->field},
        {"context", .whole = &q->context, .least = 1, .most = GREATEST},
        {"samples", .whole = &o->samples, .least = 1, .most = GREATEST},
        {"source", .word = &o->predicted, .names = "given or predicted"},
        {"allow-exec", .flag = &o->access.allow_exec},
        {"force", .flag = &o->force},
        {"fallback", .flag = &o->access.fallback},
        {"store", .text = &o->store},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"plot", .text = &q->plot},
        {"title", .text = &q->title},
        {"json", .flag = &json},
        {"csv", .flag = &csv},
        {0},
    };
    int code = lg_cli_options("eval", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("eval", "run", "Give its folder", argc, argv, &o->folder);
    if (code) return code;
    if (json && csv) return lg_cli_wrong("eval", "take --json or --csv, not both");
    if (q->plot && strcmp(q->plot, "-") == 0 && (json || csv))
        return lg_cli_wrong("eval", "--plot - draws below a table; with --json or --csv, name a "
                                    "file");
    q->cells.form = json ? LG_CLI_JSON : csv ? LG_CLI_CSV : LG_CLI_TABLE;
    if (o->length_count) o->lengths = q->lengths;
    if (o->sparsity_count) o->sparsities = q->sparsities;
    return 0;
}

static void show_progress(void *context, const lg_run_cell *c)
{
    struct request *q = context;
    int terminal = isatty(STDERR_FILENO);
    if (terminal) fputs("\r\033[K", stderr);
    lg_cli_cells_add(&q->cells, c);
    if (terminal && c->index + 1 < c->count)
        fprintf(stderr, "cell %d of %d ..", c->index + 2, c->count);
}

static int evaluate(struct request *q)
{
    lg_error err = {0}, warning = {0};
    const char *file = q->plot && strcmp(q->plot, "-") != 0 ? q->plot : NULL;
    int code = file ? lg_figure_check(file, &err) : 0;
    q->o.store = lg_cli_store(q->o.store);
    q->o.settings = (const char *const *)q->vary;
    q->o.table = show_progress;
    q->o.context = q;
    q->cells.folder = q->o.folder;
    char name[256];
    lg_cli_last_part(q->o.folder, name);
    snprintf(q->cells.title, sizeof q->cells.title, "%.199s", q->title ? q->title : name);
    if (!code) code = lg_run_eval(&q->o, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen eval: %s\n", warning.text);
    if (code) return lg_cli_error("eval", code, &err);
    return lg_cli_cells_plot(&q->cells, "eval", file, q->plot && !file);
}

static int is_run(const char *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/config.yaml", folder);
    return access(path, F_OK) == 0;
}

/* A run of texts has no answers, and a run of another task no texts. */
static int evaluate_text(struct request *q, int is_text)
{
    const char *none = q->o.sparsities       ? "--sparsities"
                       : q->o.setting_count  ? "--vary"
                       : q->o.task           ? "--task"
                       : q->o.predicted >= 0 ? "--source"
                                             : NULL;
    if (!is_text)
        return lg_cli_wrong("eval", "--%s is for runs of the task text, and %s is none",
                            q->text      ? "text"
                            : q->context ? "context"
                                         : "field",
                            q->o.folder);
    if (q->field && !q->text)
        return lg_cli_wrong("eval", "--field is of the texts that --text names; name them");
    if (none)
        return lg_cli_wrong("eval", "%s is a run of texts, for which there is no %s", q->o.folder,
                            none);
    struct lg_cli_text_eval t = {.form = q->cells.form, .plot = q->plot, .title = q->title};
    t.o = (lg_text_eval_options){.folder = q->o.folder,
                                 .store = lg_cli_store(q->o.store),
                                 .force = q->o.force,
                                 .access = q->o.access,
                                 .texts = q->text,
                                 .field = q->field,
                                 .lengths = q->o.lengths,
                                 .length_count = q->o.length_count,
                                 .context = q->context,
                                 .documents = q->o.samples,
                                 .threads = q->o.threads};
    return lg_cli_eval_text(&t);
}

int lg_cmd_eval(int argc, char **argv)
{
    struct request *q = calloc(1, sizeof *q);
    if (!q) return LG_EXIT_FAILED;
    q->o.predicted = -1;
    int code = read_options(q, argc, argv);
    int is_text = !code && lg_run_is_text(q->o.folder);
    int of_texts = is_text || q->text || q->field || q->context;
    if (!code) code = of_texts && is_run(q->o.folder) ? evaluate_text(q, is_text) : evaluate(q);
    for (int i = 0; i < q->o.setting_count; i++) free(q->vary[i]);
    lg_cli_cells_clear(&q->cells);
    free(q);
    return code;
}
