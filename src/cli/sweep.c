/* sweep.c: `lengthen sweep`: many runs over a config, and one table of them all. Ctrl-C once saves
 * a checkpoint of each run and stops; twice stops at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cells.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "cli/progress.h"

const char lg_cmd_sweep_help[] =
    "Usage: lengthen sweep SWEEP [OPTIONS]\n"
    "\n"
    "Trains and evaluates every combination of what a sweep's file (YAML) varies over a config:\n"
    "\n"
    "  base: parity.yaml              # or config: {..}, the keys themselves\n"
    "  vary:\n"
    "    scheme:                      # a name of your own: named bundles of keys\n"
    "      plain: {positions.ids: plain, positions.source: given}\n"
    "      as is: {}\n"
    "    seed: [1, 2, 3]              # a key of the config: a list of values\n"
    "\n"
    "Each run is a folder and a row in the store. What is done is not made again: the same\n"
    "command goes on with a sweep that was stopped, at whatever instant. The table has the\n"
    "median and quartiles of exact answers over the seeds; \"not learned\" marks variants whose\n"
    "median is under 99% at the longest length of training: what they do beyond it says nothing;\n"
    "\"not tested in range\" those for which eval.lengths has not that length.\n"
    "Runs of the task text have their losses by position instead, as `lengthen eval` does.\n"
    "A run whose newest checkpoint is damaged fails; `lengthen train DIR/RUN/config.yaml --out\n"
    "DIR/RUN --resume --fallback` goes on with an older one.\n"
    "\n"
    "Under mpirun or srun rank 0 deals the runs out to the other ranks, each of which runs one at\n"
    "a time in a process of its own and sends its rows back (docs/SCALE.md).\n"
    "\n"
    "  --jobs N              runs at once, each in a process of its own (1)\n"
    "  --set KEY=VALUE       another value than the config's, for every run\n"
    "  --scale NAME          one of the file's scales (desk: the file as it is)\n"
    "  --only RUN            this run alone: 'scheme=plain,seed=1'\n"
    "  --part I/N            of N equal parts of the runs the I-th, from 1, as in an array of\n"
    "                        Slurm's; give each part a store of its own, `lengthen runs merge`\n"
    "                        joins them\n"
    "  --certify N           certify each run, too, and confirm that with N inputs\n"
    "  --tell                in place of the table: a line on stdout when something changes: a\n"
    "                        run's state, its step and, if it failed, why; with --only in this\n"
    "                        process\n"
    "  --out DIR             the folder of the runs (runs/NAME of the sweep's file, with a\n"
    "                        scale runs/NAME-SCALE)\n"
    "  --store FILE          the store (LENGTHEN_STORE, else lengthen.db)\n"
    "  --threads N           threads of each run (the cores, shared out among the jobs)\n"
    "  --table               train nothing: the table of what is in the store; a folder with a "
    "run\n"
    "                        of another config is refused\n"
    "  --plot FILE           draw medians by length (.svg, .png, .pdf; -: in letters)\n"
    "  --size WxH            of the figure, in pixels\n"
    "  --measure KIND,..     show these instead, columns of `lengthen eval --csv` such as\n"
    "                        token_accuracy\n"
    "  --json                one object per cell and measure\n"
    "  --csv                 one row per cell, measure and seed\n"
    "\n"
    "Examples:\n"
    "  lengthen sweep experiments/sweep.yaml --jobs 2\n"
    "  lengthen sweep experiments/sweep.yaml --table --plot sweep.svg\n"
    "  mpirun -n 9 lengthen sweep experiments/sweep.yaml --threads 4\n";

enum { MOST_SETS = 64, LINE = 1000 };

struct request {
    lg_sweep_options o;
    const char *sets[MOST_SETS], *plot;
    char folder[1024];
    const char *only;
    int table, tells;
    int part[2], seen, chosen; /* which part of how many; runs asked about, and taken */
    lg_comm *comm;
    struct lg_cli_measures measures;
    struct lg_cli_cells cells; /* medians over the seeds */
    struct lg_cli_progress progress;
};

/* ---- Over the seeds ------------------------------------------------------------------------ */

static void put_joined(struct lg_cli_record *r, const void *row)
{
    const lg_joined *j = row;
    const lg_cell *at = j->at;
    const lg_kind *leading = lg_kind_leading(j->kind->form);
    int csv = r->form == LG_CLI_CSV;
    lg_cli_put_text(r, "variant", j->variant);
    lg_cli_put_place(r, at);
    lg_cli_put_word(r, "kind", j->kind->name);
    lg_cli_put_real(r, "tokens", "%.0f", at->tokens);
    if (csv) {
        lg_cli_put_int(r, "seed", *j->seed);
        lg_cli_put_number(r, "value", j->kind, *j->value);
    } else {
        lg_cli_put_int(r, "samples", j->samples);
    }
    lg_cli_put_number(r, "median", j->kind, j->median);
    lg_cli_put_number(r, "quartile_low", j->kind, j->lower);
    lg_cli_put_number(r, "quartile_high", j->kind, j->upper);
    lg_cli_put_number(r, "low", j->kind, j->low);
    lg_cli_put_number(r, "high", j->kind, j->high);
    lg_cli_put_number(r, "learned", leading, j->learned < 0 ? NAN : j->learned);
    lg_cli_put_int(r, "trained_length_min", at->trained_least);
    lg_cli_put_int(r, "trained_length", at->trained_length);
    lg_cli_put_int(r, "trained_sparsity", at->trained_sparsity);
    if (csv) return;
    lg_cli_put_open(r, "seeds", '[');
    for (int i = 0; i < j->seeds; i++) lg_cli_put_int(r, NULL, j->seed[i]);
    lg_cli_put_close(r, ']');
    lg_cli_put_open(r, "values", '[');
    for (int i = 0; i < j->seeds; i++) lg_cli_put_number(r, NULL, j->kind, j->value[i]);
    lg_cli_put_close(r, ']');
}

/* One row of CSV for each seed. */
static void print_joined(struct lg_cli_record *r, const lg_joined *j)
{
    lg_joined one = *j;
    if (r->form == LG_CLI_JSON) lg_cli_record_print(r, put_joined, j);
    for (int i = 0; i < j->seeds && r->form == LG_CLI_CSV; i++) {
        one.seed = j->seed + i;
        one.value = j->value + i;
        lg_cli_record_print(r, put_joined, &one);
    }
}

/* Below 99% at the longest of training: what a model does beyond it says nothing. */
static const char *remark(const lg_joined *j)
{
    if (lg_kind_leading(j->kind->form)->unit != LG_UNIT_SHARE) return "";
    return j->learned < 0 ? "not tested in range" : j->learned < 0.99 ? "not learned" : "";
}

/* The row of a variant and a place, made if there is none; NULL: no memory. */
static struct lg_cli_row *row_of(struct lg_cli_cells *t, const lg_joined *j)
{
    for (int i = t->count - 1; i >= 0; i--)
        if (strcmp(t->rows[i].of, j->variant) == 0 && lg_cli_same_place(&t->rows[i].cell, j->at))
            return &t->rows[i];
    lg_cell cell = *j->at;
    cell.values = 0;
    t->of = j->variant;
    lg_cli_cells_keep(t, &cell);
    return t->lost ? NULL : &t->rows[t->count - 1];
}

/* What each seed gave; where several kinds are shown there is room for their number alone. */
static const char *seeds_of(const struct request *q, const lg_joined *j)
{
    char line[LINE] = "", text[32];
    int kinds = 0, n = 0;
    for (int i = 0; i < lg_kind_count(); i++)
        kinds += strcmp(lg_kind_at(i)->form, j->kind->form) == 0 &&
                 lg_cli_measures_have(&q->measures, lg_kind_at(i));
    if (kinds > 1) snprintf(line, sizeof line, "%d", j->seeds);
    for (int i = 0; i < j->seeds && n < LINE - 40 && kinds == 1; i++) {
        lg_cli_value_text(j->kind, j->value[i], text);
        text[strcspn(text, "%")] = 0;
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s", i ? " " : "", text);
    }
    return lg_cli_intern(line);
}

static void keep_joined(void *context, const lg_joined *j)
{
    struct request *q = context;
    struct lg_cli_cells *t = &q->cells;
    if (!lg_cli_measures_have(&q->measures, j->kind)) return;
    if (t->record.form != LG_CLI_TABLE) print_joined(&t->record, j);
    struct lg_cli_row *row = row_of(t, j);
    if (!row || row->cell.values == LG_CELL_VALUES) return;
    row->cell.value[row->cell.values++] =
        (lg_value){j->kind, j->samples, j->median, j->lower, j->upper};
    row->tail = seeds_of(q, j);
    row->remark = remark(j);
}

/* ---- The command ------------------------------------------------------------------------- */

/* runs/NAME or runs/NAME-SCALE, where NAME is the file's without folder and ending. */
static void own_folder(struct request *q)
{
    const char *name = strrchr(q->o.file, '/') ? strrchr(q->o.file, '/') + 1 : q->o.file;
    const char *dot = strrchr(name, '.');
    int scaled = q->o.scale && strcmp(q->o.scale, "desk") != 0;
    snprintf(q->folder, sizeof q->folder, "runs/%.*s%s%s",
             dot ? (int)(dot - name) : (int)strlen(name), name, scaled ? "-" : "",
             scaled ? q->o.scale : "");
    q->o.folder = q->folder;
}

/* "2/8". */
static int read_part(void *to, const char *text)
{
    int *part = to, n = 0;
    return sscanf(text, "%d/%d%n", &part[0], &part[1], &n) == 2 && !text[n] && part[0] >= 1 &&
                   part[0] <= part[1]
               ? 0
               : -1;
}

/* Called once for each run, in their order. */
static int is_chosen(void *context, const char *name)
{
    struct request *q = context;
    int mine = !q->part[1] || q->seen % q->part[1] == q->part[0] - 1;
    q->seen++;
    if (q->only && strcmp(q->only, name) != 0) mine = 0;
    q->chosen += mine;
    return mine;
}

static int read_options(struct request *q, int argc, char **argv)
{
    lg_sweep_options *o = &q->o;
    int json = 0, csv = 0;
    const struct lg_cli_option rows[] = {
        {"jobs", .whole = &o->jobs, .least = 1, .most = 1024},
        {"set", .texts = q->sets, .count = &o->set_count, .room = MOST_SETS,
         .take = "write them into the file"},
        {"scale", .text = &o->scale},
        {"only", .text = &q->only},
        {"part", .read = read_part, .to = q->part, .take = "I/N, as in 2/8"},
        {"certify", .whole = &o->certify, .least = 1, .most = 1000000},
        {"tell", .flag = &q->tells},
        {"out", .text = &o->folder},
        {"store", .text = &o->store},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"table", .flag = &q->table},
        {"plot", .text = &q->plot},
        LG_CLI_SIZE,
        {"measure", .read = lg_cli_measures_read, .to = &q->measures,
         .take = lg_cli_measures_names()},
        {"json", .flag = &json},
        {"csv", .flag = &csv},
        {0},
    };
    int code = lg_cli_options("sweep", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("sweep", "sweep", "Give a YAML file", argc, argv, &o->file);
    if (code) return code;
    if (json && csv) return lg_cli_wrong("sweep", "take --json or --csv, not both");
    if (q->table && (o->jobs || o->threads))
        return lg_cli_wrong("sweep", "--table trains nothing; leave --jobs and --threads out");
    if (q->only && q->part[1]) return lg_cli_wrong("sweep", "take --only or --part, not both");
    if (q->table && (q->tells || o->certify))
        return lg_cli_wrong("sweep", "--table trains nothing; leave --tell and --certify out");
    if (q->only || q->part[1]) {
        o->wanted = is_chosen;
        o->wanted_context = q;
    }
    o->here = q->only && q->tells;
    q->cells.record.form = json ? LG_CLI_JSON : csv ? LG_CLI_CSV : LG_CLI_TABLE;
    o->sets = q->sets;
    o->store = lg_cli_store(o->store);
    if (!o->folder) own_folder(q);
    return 0;
}

static void tell_note(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "lengthen sweep: %s\n", sentence);
}

/* A line of --tell. */
static int tell(void *context, const lg_sweep_run *r)
{
    struct request *q = context;
    const char *name = q->only ? "" : r->name;
    printf("%s %lld %s%s%s\n", r->state, (long long)r->step, name, *name && *r->error ? ": " : "",
           r->error);
    fflush(stdout);
    return !lg_cli_interrupted;
}

static int no_such_run(const struct request *q)
{
    return q->only ? lg_cli_wrong("sweep", "--only \"%s\" is no run of %s", q->only, q->o.file)
                   : lg_cli_wrong("sweep", "--part %d/%d has no run: there are only %d", q->part[0],
                                  q->part[1], q->seen);
}

/* *stopped: there is nothing more to show. */
static int train(struct request *q, int *stopped)
{
    lg_error err = {0};
    int failed, left, code;
    q->o.note = tell_note;
    q->progress.folder = q->o.folder;
    q->progress.store = q->o.store;
    q->seen = q->chosen = 0;
    *stopped = 1;
    if (q->tells) {
        lg_cli_catch_interrupts(1);
        code = lg_sweep(&q->o, tell, q, &failed, &left, &err);
        lg_cli_catch_interrupts(0);
    } else {
        code = lg_sweep(&q->o, lg_cli_progress_watch, &q->progress, &failed, &left, &err);
        *stopped = lg_cli_progress_end(&q->progress, "sweep", left) || code;
    }
    if (code) return lg_cli_error("sweep", code, &err);
    if (q->o.wanted && !q->chosen) return no_such_run(q);
    return failed ? LG_EXIT_FAILED : left ? lg_cli_stopped() : LG_EXIT_DONE;
}

static int show(struct request *q, const char *file)
{
    lg_error err = {0};
    struct lg_cli_cells *t = &q->cells;
    q->seen = 0;
    int code = lg_sweep_cells(&q->o, keep_joined, q, &err);
    if (code) return lg_cli_error("sweep", code, &err);
    int table = t->record.form == LG_CLI_TABLE;
    if (table) lg_cli_cells_print(t);
    lg_cli_cells_explain(t);
    if (t->lost || t->table.lost) {
        fputs("lengthen sweep: no memory for all of the table; end other programs\n", stderr);
        return LG_EXIT_FAILED;
    }
    if (!t->count)
        fprintf(stderr, "No run of this sweep is done%s: nothing of %s is in the store %s yet.\n",
                q->measures.count ? ", or none has such a measure" : "", q->o.folder, q->o.store);
    int letters = (q->plot && !file) || (table && isatty(STDOUT_FILENO));
    return lg_cli_cells_draw(t, &q->measures, q->o.file, "sweep", file, letters);
}

static int sweep(struct request *q)
{
    lg_error err = {0};
    const char *file = q->plot && strcmp(q->plot, "-") != 0 ? q->plot : NULL;
    int stopped = 0, trained = LG_EXIT_DONE, code = file ? lg_figure_check(file, &err) : 0;
    if (code) return lg_cli_error("sweep", code, &err);
    if (!q->table) trained = train(q, &stopped);
    if (stopped) return trained;
    code = show(q, file);
    return trained ? trained : code;
}

int lg_cmd_sweep(int argc, char **argv)
{
    struct request *q = calloc(1, sizeof *q);
    if (!q) return LG_EXIT_FAILED;
    q->cells.joined = 1;
    int code = read_options(q, argc, argv), serves = 0;
    if (!code && !q->table) code = lg_cli_ranks_begin("sweep", &q->comm, &serves);
    q->o.comm = q->comm;
    if (!code && !serves) code = sweep(q);
    lg_cli_ranks_end(q->comm);
    lg_cli_progress_clear(&q->progress);
    lg_cli_cells_clear(&q->cells);
    free(q);
    return code;
}
