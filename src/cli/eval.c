/* eval.c: `lengthen eval`: what a run can do, length by length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"

const char lg_cmd_eval_help[] =
    "Usage: lengthen eval RUN [OPTIONS]\n"
    "\n"
    "Generates the answers of fresh examples, token by token, for each length (and sparsity)\n"
    "and counts those that are exact: every answer token right, the stop token in its place.\n"
    "Where a run predicts IDs, there is a row with the IDs of the task's rule (given) and one\n"
    "with the model's own (predicted). The interval is Wilson's, 95%. First error: the median\n"
    "place of the first wrong token in the answers that have one; earliest: in any of them.\n"
    "Beside it the same teacher-forced: each token predicted from the right ones before it. An\n"
    "answer of one token with a given ID is the same either way, and is made once. Of own data\n"
    "(jsonl:FILE) the examples are the lines that were held out from training (task.test), each\n"
    "once; of lengths that training never shows, all lines.\n"
    "\n"
    "A run of the task text has a loss instead, in nats per token, by position on held-out\n"
    "documents: with all tokens of the document before it (truncated), and sliding, with the last\n"
    "of training's length alone; the excess is what the model loses by seeing more. The\n"
    "documents are those with a token more than the length; intervals are of the mean over\n"
    "documents, 95%.\n"
    "\n"
    "Under mpirun or srun rank 0 deals the lengths out to the other ranks, each of which must be\n"
    "able to read the run's folder.\n"
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
    "  --by-context          the same result, judged by look-up: each distinct context is run "
    "once,\n"
    "                        and an example is decoded only after its first error. For runs with "
    "a\n"
    "                        window, with given IDs or delta heads; far faster on long examples\n"
    "  --allow-exec          execute the command of a run's task exec:COMMAND though you have not\n"
    "                        trained the run here: only if you trust whoever made it\n"
    "  --force               recompute cells that the store has\n"
    "  --fallback            if the newest weights are damaged, use older ones\n"
    "  --store FILE          the store (LENGTHEN_STORE, else lengthen.db)\n"
    "  --threads N           threads (all cores); the result does not depend on it\n"
    "  --plot FILE           draw exact answers by length, or losses by position (.svg, .png,\n"
    "                        .pdf; -: in letters)\n"
    "  --size WxH            of the figure, in pixels\n"
    "  --measure KIND,..     draw these instead, columns of --csv such as token_accuracy\n"
    "  --title TEXT          of the figure (the run's name)\n"
    "  --json, --csv         one object, or one row, per cell, with all that was measured\n"
    "\n"
    "Examples:\n"
    "  lengthen eval runs/parity --lengths 20,100,1000 --samples 100\n"
    "  lengthen eval runs/parity --plot parity.svg\n"
    "  lengthen eval runs/sparse --sparsities 8 --vary ones=0,1,2,3,4 --plot ones.svg\n"
    "  lengthen eval runs/wiki --lengths 64,256 --plot wiki.svg --measure truncated,sliding\n";

enum { MOST = 256, GREATEST = 1 << 30 };

struct request {
    lg_eval_options o;
    int by_context;
    int lengths[MOST], sparsities[MOST];
    char *vary[MOST]; /* "key=value", to be freed */
    const char *plot, *title;
    struct lg_cli_measures measures; /* of the figure */
    struct lg_cli_cells cells;
    lg_comm *comm;
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
        {"text", .text = &o->texts},
        {"field", .text = &o->field},
        {"context", .whole = &o->sliding, .least = 1, .most = GREATEST},
        {"samples", .whole = &o->samples, .least = 1, .most = GREATEST},
        {"source", .word = &o->predicted, .names = "given or predicted"},
        {"allow-exec", .flag = &o->access.allow_exec},
        {"by-context", .flag = &q->by_context},
        {"force", .flag = &o->force},
        {"fallback", .flag = &o->access.fallback},
        {"store", .text = &o->store},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"plot", .text = &q->plot},
        LG_CLI_SIZE,
        {"measure", .read = lg_cli_measures_read, .to = &q->measures,
         .take = lg_cli_measures_names()},
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
    q->cells.record.form = json ? LG_CLI_JSON : csv ? LG_CLI_CSV : LG_CLI_TABLE;
    if (o->length_count) o->lengths = q->lengths;
    if (o->sparsity_count) o->sparsities = q->sparsities;
    return 0;
}

static void show_cell(void *context, const lg_cell *c)
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
    char name[256];
    const char *file = q->plot && strcmp(q->plot, "-") != 0 ? q->plot : NULL;
    int code = file ? lg_figure_check(file, &err) : 0;
    const char *form = lg_run_form(q->o.folder);
    for (int i = 0; i < q->measures.count && *form; i++)
        if (strcmp(q->measures.kind[i]->form, form) != 0)
            return lg_cli_wrong("eval", "--measure %s is of %s, but %s has %s; choose one of these",
                                q->measures.kind[i]->name, q->measures.kind[i]->form, q->o.folder,
                                form);
    q->o.store = lg_cli_store(q->o.store);
    q->o.settings = (const char *const *)q->vary;
    q->o.each = show_cell;
    q->o.context = q;
    q->cells.record.folder = q->o.folder;
    if (!code && !q->by_context) code = lg_run_eval_deal(&q->o, q->comm, &err);
    if (lg_comm_size(q->comm) > 1 && !q->by_context) q->o.force = 0; /* the workers have */
    if (!code) code = (q->by_context ? lg_run_eval_by_context : lg_run_eval)(&q->o, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen eval: %s\n", warning.text);
    if (code) return lg_cli_error("eval", code, &err);
    lg_cli_cells_explain(&q->cells);
    lg_cli_last_part(q->o.folder, name);
    int letters =
        q->cells.record.form == LG_CLI_TABLE && (isatty(STDOUT_FILENO) || (q->plot && !file));
    return lg_cli_cells_draw(&q->cells, &q->measures, q->title ? q->title : name, "eval", file,
                             letters);
}

int lg_cmd_eval(int argc, char **argv)
{
    struct request *q = calloc(1, sizeof *q);
    if (!q) return LG_EXIT_FAILED;
    q->o.predicted = -1;
    int code = read_options(q, argc, argv), serves = 0;
    if (!code) code = lg_cli_ranks_begin("eval", &q->comm, &serves);
    if (!code && !serves) code = evaluate(q);
    lg_cli_ranks_end(q->comm);
    for (int i = 0; i < q->o.setting_count; i++) free(q->vary[i]);
    lg_cli_cells_clear(&q->cells);
    free(q);
    return code;
}
