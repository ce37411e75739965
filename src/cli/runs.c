/* runs.c: `lengthen runs`: the runs in the store: listed and deleted here, shown in runs_show.c,
 * compared in runs_compare.c, watched in runs_watch.c. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "cli/show.h"
#include "cli/table.h"

const char lg_cmd_runs_help[] =
    "Usage: lengthen runs [list | show RUN | compare RUN RUN.. | watch [RUN..] | delete RUN.. |\n"
    "       merge STORE..] [OPTIONS]\n"
    "\n"
    "The runs in the store, which `lengthen train` and `eval` fill. RUN is a number of the list,\n"
    "the run's folder, the last part of that, or the first letters of its ID.\n"
    "\n"
    "list, or nothing: one line a run, the newest first, with its exact answers at the longest\n"
    "length of training and at the longest that was tested (with predicted IDs, if it has any);\n"
    "of a run of texts, its loss there.\n"
    "  --task NAME       only runs of this task\n"
    "  --state STATE     only these: training, stopped, done or failed\n"
    "  --last N          only the newest N (all; 40 on a terminal)\n"
    "show: one run: config, curve of the loss, what it can do, length by length, its probes.\n"
    "  --steps           the metrics of its steps instead\n"
    "  --csv             these as CSV\n"
    "compare: where the configs differ, exact answers (of texts: losses) side by side, and the "
    "last\n"
    "loss.\n"
    "  --plot FILE       draw their exact answers by length, or losses (.svg, .png, .pdf)\n"
    "  --size WxH        of the figure, in pixels\n"
    "  --measure KIND,.. these instead, columns of `lengthen eval --csv`\n"
    "watch: step, loss and accuracy of the runs that train (or RUN..), until none does; Ctrl-C\n"
    "ends the watch, not the runs. --task as in list.\n"
    "merge: joins these stores into the store: the runs that it lacks, and of runs that it has\n"
    "steps and cells that it lacks. They stay as they are.\n"
    "delete: the rows of runs and what they wrote into their folders. First shows them and asks.\n"
    "  --yes             does not ask\n"
    "\n"
    "  --store FILE      the store (LENGTHEN_STORE, or lengthen.db)\n"
    "  --json            one object per line\n"
    "\n"
    "Examples:\n"
    "  lengthen runs --task addition --state done\n"
    "  lengthen runs show 3\n"
    "  lengthen runs compare 3 4\n"
    "  lengthen runs merge part-1.db part-2.db --store all.db\n"
    "  lengthen runs delete runs/parity --yes\n";

enum { ON_A_TERMINAL = 40 };

/* ---- Shared ----------------------------------------------------------------------------- */

int lg_cli_no_memory(lg_error *err)
{
    snprintf(err->text, sizeof err->text, "no memory for what the store holds; end other programs");
    return err->code = LG_ERROR_MEMORY;
}

const char *lg_cli_run_name(const lg_store_run *r)
{
    const char *slash = strrchr(r->folder, '/');
    return slash && slash[1] ? slash + 1 : r->folder;
}

int lg_cli_run_config(const lg_store_run *r, lg_config_values *v, lg_error *err)
{
    int e = lg_config_values_read(v, r->config, err);
    if (e != LG_ERROR_ARGUMENT) return e;
    fprintf(stderr, "lengthen runs: the config of run %lld in the store cannot be read: %s\n",
            (long long)r->number, err->text);
    lg_config_values_clear(v);
    return 0;
}

const char *lg_cli_short_value(const char *value, char text[32])
{
    char *end;
    double x = strtod(value, &end);
    if (!*value) return "\"\"";
    if (end == value || *end || (!strchr(value, '.') && !strstr(value, "e-"))) return value;
    snprintf(text, 32, "%.6g", x);
    return strlen(text) < strlen(value) ? text : value; /* 1e-05 may have been written shorter */
}

const char *lg_cli_ago(double then, char *text, int size)
{
    double s = (double)time(NULL) - then;
    time_t t = (time_t)then;
    struct tm date;
    if (s < 60)
        snprintf(text, (size_t)size, "%.0f s ago", s < 0 ? 0 : s);
    else if (s < 3600)
        snprintf(text, (size_t)size, "%.0f min ago", floor(s / 60));
    else if (s < 48 * 3600)
        snprintf(text, (size_t)size, "%.0f h ago", floor(s / 3600));
    else if (s < 60 * 86400.0)
        snprintf(text, (size_t)size, "%.0f days ago", floor(s / 86400));
    else if (!localtime_r(&t, &date) || !strftime(text, (size_t)size, "%Y-%m-%d", &date))
        snprintf(text, (size_t)size, "long ago");
    return text;
}

/* Copies the run; one block, NULL if there was no memory, holds all of its words. */
static void copy_run(void *context, const lg_store_run *r)
{
#define WORD(name) offsetof(lg_store_run, name)
    static const size_t words[] = {WORD(id),      WORD(folder),    WORD(state),  WORD(error),
                                   WORD(task),    WORD(positions), WORD(unit),   WORD(config),
                                   WORD(machine), WORD(kernels),   WORD(commit), WORD(compiler)};
#undef WORD
    enum { WORDS = sizeof words / sizeof *words };
    struct lg_cli_run *to = context;
    const char **at[WORDS];
    size_t size = 0, used = 0;
    to->r = *r;
    for (int i = 0; i < WORDS; i++) {
        at[i] = (const char **)(void *)((char *)&to->r + words[i]);
        size += strlen(*at[i]) + 1;
    }
    if (!(to->text = malloc(size))) return;
    for (int i = 0; i < WORDS; i++) {
        size_t n = strlen(*at[i]) + 1;
        *at[i] = memcpy(to->text + used, *at[i], n);
        used += n;
    }
}

void lg_cli_runs_free(struct lg_cli_run *runs, int count)
{
    for (int i = 0; i < count && runs; i++) free(runs[i].text);
    free(runs);
}

struct lg_cli_run *lg_cli_runs_find(struct lg_cli_asked *a, int *count)
{
    struct lg_cli_run *runs = calloc((size_t)a->name_count, sizeof *runs);
    int e = runs ? 0 : lg_cli_no_memory(&a->err);
    *count = 0;
    for (int i = 0; i < a->name_count && !e; i++) {
        struct lg_cli_run *run = &runs[*count];
        e = lg_store_find(a->store, a->names[i], copy_run, run, &a->err);
        if (!e && !run->text) e = lg_cli_no_memory(&a->err);
        if (e) break;
        int again = 0;
        for (int j = 0; j < *count; j++) again |= runs[j].r.number == run->r.number;
        if (again)
            free(run->text);
        else
            (*count)++;
    }
    if (!e) return runs;
    lg_cli_runs_free(runs, *count);
    return NULL;
}

void lg_cli_run_put(struct lg_cli_record *to, const lg_store_run *r)
{
    lg_cli_put_int(to, "run", r->number);
    lg_cli_put_text(to, "id", r->id);
    lg_cli_put_text(to, "name", lg_cli_run_name(r));
    lg_cli_put_text(to, "folder", r->folder);
    lg_cli_put_text(to, "task", r->task);
    lg_cli_put_text(to, "positions", r->positions);
    lg_cli_put_text(to, "state", r->state);
    lg_cli_put_text(to, "error", r->error);
    lg_cli_put_text(to, "machine", r->machine);
    lg_cli_put_text(to, "kernels", r->kernels);
    lg_cli_put_text(to, "unit", r->unit);
    lg_cli_put_int(to, "seed", r->seed);
    lg_cli_put_int(to, "step", r->step);
    lg_cli_put_int(to, "steps", r->steps);
    lg_cli_put_int(to, "parameters", r->parameters);
    lg_cli_put_int(to, "length", r->length);
    lg_cli_put_int(to, "sparsity", r->sparsity);
    lg_cli_put_real(to, "created", "%.3f", r->created);
    lg_cli_put_real(to, "updated", "%.3f", r->updated);
    lg_cli_put_real(to, "seconds", "%.3f", r->seconds);
}

/* ---- Cells ------------------------------------------------------------------------------ */

int lg_cli_cells_read(struct lg_cli_asked *a, int64_t number, int64_t step,
                      struct lg_cli_cells *cells)
{
    static const char *const forms[] = {"answers", "losses"}; /* a run has one of them */
    const char *form = a->measures.count ? a->measures.kind[0]->form : NULL;
    int e = 0, before = cells->count;
    for (int i = 0; i < 2 && !e && cells->count == before; i++)
        e = lg_store_cells(a->store, number, step, form ? form : forms[i], lg_cli_cells_keep, cells,
                           &a->err);
    return !e && cells->lost ? lg_cli_no_memory(&a->err) : e;
}

/* The length of a cell, or the last of its positions. */
static int end_of(const lg_cell *c) { return c->last ? c->last : c->length; }

static int is_better(const lg_cell *c, const lg_cell *than, int sparsity)
{
    if (c->predicted != than->predicted) return c->predicted;
    if (c->length != than->length) return c->length > than->length;
    if (c->last != than->last) return c->last > than->last;
    return abs(c->sparsity - sparsity) < abs(than->sparsity - sparsity);
}

/* The cell as trained, with predicted IDs where there are any, up to this length or position (0: the greatest
 * there is), and of the sparsity nearest to training's; NULL: none. */
static const lg_cell *pick(const struct lg_cli_cells *cells, const lg_store_run *r, int end)
{
    const lg_cell *best = NULL;
    for (int i = 0; i < cells->count; i++) {
        const lg_cell *c = &cells->rows[i].cell;
        if (c->setting[0] || (end && end_of(c) != end)) continue;
        if (!best || is_better(c, best, r->sparsity)) best = c;
    }
    return best;
}

/* ---- The list --------------------------------------------------------------------------- */

struct list {
    struct lg_cli_asked *a;
    struct lg_cli_run *runs;
    int count, room, lost; /* kept; there was no memory */
    int all, fitting;      /* in the store; of the task and state asked for */
    int most;
};

static void keep_run(void *context, const lg_store_run *r)
{
    struct list *l = context;
    const struct lg_cli_asked *a = l->a;
    l->all++;
    if ((a->task && strcmp(a->task, r->task) != 0) || (a->state && strcmp(a->state, r->state) != 0))
        return;
    l->fitting++;
    if (l->count == l->most || l->lost) return;
    struct lg_cli_run *runs = lg_cli_grow(l->runs, l->count, &l->room, sizeof *runs);
    l->lost = !runs;
    if (!runs) return;
    l->runs = runs;
    lg_store_run short_one = *r;
    short_one.config = ""; /* long, and not listed */
    copy_run(&l->runs[l->count], &short_one);
    l->lost = !l->runs[l->count].text;
    l->count += !l->lost;
}

static const lg_value *leading_value(const lg_cell *c)
{
    const lg_kind *kind = lg_kind_leading(lg_cell_form(c));
    return kind ? lg_cell_get(c, kind->name) : NULL;
}

/* What a run can do, at the longest of training and at the longest there is. */
struct ability {
    const lg_cell *trained, *longest;
};

/* "100.0% -> 93.5% at 50", "loss 1.234 at 64": what is no share has its name. */
static void add_ability(struct lg_cli_table *t, const struct ability *can, const char *arrow)
{
    char from[32] = "", to[32];
    const lg_value *longest = can->longest ? leading_value(can->longest) : NULL;
    const lg_value *trained = can->trained ? leading_value(can->trained) : NULL;
    if (!longest) {
        lg_cli_table_add(t, "-");
        return;
    }
    int named = longest->kind->unit != LG_UNIT_SHARE;
    if (trained && can->trained != can->longest)
        lg_cli_value_text(trained->kind, trained->value, from);
    lg_cli_table_add(t, "%s%s%s%s%s%s%s at %d", named ? longest->kind->label : "", named ? " " : "",
                     from, *from ? " " : "", *from ? arrow : "", *from ? " " : "",
                     lg_cli_value_text(longest->kind, longest->value, to), end_of(can->longest));
}

static void list_row(struct lg_cli_table *t, const lg_store_run *r, const struct ability *can,
                     const char *arrow)
{
    char when[40];
    lg_cli_table_add(t, "%lld", (long long)r->number);
    lg_cli_table_add(t, "%s", lg_cli_run_name(r));
    lg_cli_table_add(t, "%s", r->task);
    lg_cli_table_add(t, "%s", r->positions);
    lg_cli_table_add(t, "%lld", (long long)r->seed);
    lg_cli_table_add(t, "%lld/%lld", (long long)r->step, (long long)r->steps);
    lg_cli_table_add(t, "%s", r->state);
    lg_cli_table_add(t, "%d %s", r->length, r->unit);
    add_ability(t, can, arrow);
    lg_cli_table_add(t, "%s", lg_cli_ago(r->updated, when, sizeof when));
}

static void put_cell(struct lg_cli_record *r, const char *key, const lg_cell *c)
{
    const lg_value *v = c ? leading_value(c) : NULL;
    if (!v) {
        lg_cli_put_text(r, key, NULL);
        return;
    }
    lg_cli_put_open(r, key, '{');
    lg_cli_put_place(r, c);
    lg_cli_put_int(r, "samples", v->samples);
    lg_cli_put_value(r, v->kind, v);
    lg_cli_put_close(r, '}');
}

/* A run of the list. */
struct listed {
    const lg_store_run *r;
    struct ability can;
};

static void put_listed(struct lg_cli_record *r, const void *row)
{
    const struct listed *l = row;
    lg_cli_run_put(r, l->r);
    put_cell(r, "at_trained", l->can.trained);
    put_cell(r, "at_longest", l->can.longest);
}

/* Says why there is nothing to list. */
static void none_fits(const struct list *l)
{
    const struct lg_cli_asked *a = l->a;
    if (!l->all)
        printf("The store %s has no runs yet. To make one: lengthen train CONFIG.yaml\n", a->file);
    else
        printf("None of the %d runs in the store %s is%s%s%s%s; `lengthen runs` lists them all.\n",
               l->all, a->file, a->task ? " of the task " : "", a->task ? a->task : "",
               a->state ? " in the state " : "", a->state ? a->state : "");
}

static int print_list(struct list *l)
{
    static const char *const heading[] = {"run",  "name",  "task",    "positions", "seed",
                                          "step", "state", "trained", "score",     "updated"};
    enum { COLUMNS = sizeof heading / sizeof *heading, POSITIONS = 3 };
    struct lg_cli_asked *a = l->a;
    struct lg_cli_table t = {.columns = COLUMNS, .left = 0x3ce};
    struct lg_cli_cells cells = {0};
    struct lg_cli_record json = {.form = LG_CLI_JSON};
    const char *arrow = lg_cli_utf8() ? "\u2192" : "->";
    int e = 0;
    for (int i = 0; i < COLUMNS; i++) lg_cli_table_add(&t, "%s", heading[i]);
    for (int i = 0; i < l->count && !e; i++) {
        const lg_store_run *r = &l->runs[i].r;
        cells.count = 0;
        if ((e = lg_cli_cells_read(a, r->number, -1, &cells))) break;
        struct listed row = {r, {pick(&cells, r, r->length), pick(&cells, r, 0)}};
        if (a->json)
            lg_cli_record_print(&json, put_listed, &row);
        else
            list_row(&t, r, &row.can, arrow);
    }
    if (isatty(STDOUT_FILENO)) lg_cli_table_cut(&t, POSITIONS, lg_cli_look_stdout().width);
    if (!e && t.lost) e = lg_cli_no_memory(&a->err);
    if (!e && !a->json) lg_cli_table_print(&t, 0, 0, 0);
    lg_cli_table_clear(&t);
    lg_cli_cells_clear(&cells);
    return e;
}

static int list_runs(struct lg_cli_asked *a)
{
    struct list l = {.a = a, .most = a->last ? a->last : INT_MAX};
    if (!a->last && !a->json && isatty(STDOUT_FILENO)) l.most = ON_A_TERMINAL;
    int e = lg_store_runs(a->store, keep_run, &l, &a->err);
    if (!e && l.lost) e = lg_cli_no_memory(&a->err);
    if (!e && l.count)
        e = print_list(&l);
    else if (!e && !a->json)
        none_fits(&l);
    if (!e && !a->json && l.fitting > l.count)
        printf("%d more; --last %d shows all.\n", l.fitting - l.count, l.fitting);
    lg_cli_runs_free(l.runs, l.count);
    return e ? -1 : LG_EXIT_DONE;
}

/* ---- Deleting --------------------------------------------------------------------------- */

static int count_step(void *context, const lg_run_step *s)
{
    (void)s;
    ++*(long long *)context;
    return 1;
}

static void count_cell(void *context, const lg_cell *c)
{
    (void)c;
    ++*(long long *)context;
}

/* Says on stderr what would go. */
static int print_doomed(struct lg_cli_asked *a, const lg_store_run *r)
{
    char config[PATH_MAX];
    long long steps = 0, cells = 0;
    int e = lg_store_steps(a->store, r->number, count_step, &steps, &a->err);
    if (!e) e = lg_store_cells(a->store, r->number, -2, NULL, count_cell, &cells, &a->err);
    if (e) return e;
    snprintf(config, sizeof config, "%s/config.yaml", r->folder);
    fprintf(stderr, "run %lld, %s: %lld steps, %lld cells; %s%s\n", (long long)r->number,
            lg_cli_plain(lg_cli_run_name(r)), steps, cells,
            access(config, F_OK) == 0 ? "config and checkpoints in " : "no more files in ",
            lg_cli_plain(r->folder));
    return 0;
}

/* 1: yes. */
static int ask(int count)
{
    char line[16] = "";
    fprintf(stderr, "Delete %d run%s? [y/N] ", count, count == 1 ? "" : "s");
    if (!fgets(line, sizeof line, stdin)) fputc('\n', stderr);
    return line[0] == 'y' || line[0] == 'Y';
}

/* -1: go on; else an exit code. */
static int may_delete(struct lg_cli_asked *a, const struct lg_cli_run *runs, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(runs[i].r.state, "training") == 0)
            return lg_cli_wrong("runs",
                                "run %lld is being trained in %s; stop that process first. "
                                "Nothing was deleted",
                                (long long)runs[i].r.number, runs[i].r.folder);
    if (a->yes) return -1;
    if (!isatty(STDIN_FILENO))
        return lg_cli_wrong("runs",
                            "there is no terminal to ask on, so nothing was deleted; add --yes");
    if (ask(count)) return -1;
    fputs("Nothing was deleted.\n", stderr);
    return LG_EXIT_DONE;
}

static void put_deleted(struct lg_cli_record *r, const void *row)
{
    lg_cli_run_put(r, row);
    lg_cli_put_bool(r, "deleted", 1);
}

static int delete_runs(struct lg_cli_asked *a)
{
    struct lg_cli_record json = {.form = LG_CLI_JSON};
    int count, code = -1, e = 0;
    struct lg_cli_run *runs = lg_cli_runs_find(a, &count);
    if (!runs) return -1;
    for (int i = 0; i < count && !e; i++) e = print_doomed(a, &runs[i].r);
    if (!e) code = may_delete(a, runs, count);
    int agreed = !e && code < 0;
    for (int i = 0; i < count && agreed && !e; i++) {
        e = lg_store_delete(a->store, runs[i].r.number, &a->err);
        if (e && i) fprintf(stderr, "Deleted %d of %d runs.\n", i, count);
        if (!e && a->json) lg_cli_record_print(&json, put_deleted, &runs[i].r);
    }
    if (agreed && !e) {
        if (!a->json) printf("Deleted %d run%s.\n", count, count == 1 ? "" : "s");
        code = LG_EXIT_DONE;
    }
    lg_cli_runs_free(runs, count);
    return e ? -1 : code;
}

/* ---- Merging ---------------------------------------------------------------------------- */

static int merge_stores(struct lg_cli_asked *a)
{
    for (int i = 0; i < a->name_count; i++) {
        int added, known, e = lg_store_merge(a->file, a->names[i], &added, &known, &a->err);
        if (e) return -1;
        if (a->json) {
            printf("{\"store\":");
            lg_cli_json(stdout, a->names[i]);
            printf(",\"added\":%d,\"known\":%d}\n", added, known);
        } else {
            printf("%s: %d runs added, %d known already\n", a->names[i], added, known);
        }
    }
    return LG_EXIT_DONE;
}

/* ---- The command ------------------------------------------------------------------------ */

enum { LIST, SHOW, COMPARE, WATCH, DELETE, MERGE, VERBS };
static const char *const verbs[VERBS] = {"list", "show", "compare", "watch", "delete", "merge"};

static int wrong_verb(const char *word)
{
    const char *near = lg_cli_nearest(word, verbs, VERBS);
    if (near)
        return lg_cli_wrong("runs", "there is no `runs %s`; did you mean `runs %s`?", word, near);
    return lg_cli_wrong(
        "runs", "there is no `runs %s`; take list, show, compare, watch, delete or merge", word);
}

static int read_state(void *to, const char *word)
{
    static const char *const states[] = {"training", "stopped", "done", "failed"};
    for (int i = 0; i < 4; i++)
        if (strcmp(word, states[i]) == 0) {
            *(const char **)to = word;
            return 0;
        }
    const char *near = lg_cli_nearest(word, states, 4);
    if (near) return lg_cli_wrong("runs", "--state is \"%s\"; did you mean \"%s\"?", word, near);
    return -1;
}

/* *verb is one of LIST, .. */
static int read_words(int argc, char **argv, struct lg_cli_asked *a, int *verb)
{
    const char *word = argc ? argv[0] : "list";
    *verb = LIST;
    while (*verb < VERBS && strcmp(word, verbs[*verb]) != 0) ++*verb;
    if (*verb == VERBS) return wrong_verb(word);
    a->names = (const char *const *)argv + 1;
    a->name_count = argc ? argc - 1 : 0;
    if (*verb == LIST && a->name_count)
        return lg_cli_wrong("runs", "`runs list` takes no \"%s\"; did you mean `runs show %s`?",
                            a->names[0], a->names[0]);
    if (*verb == SHOW && a->name_count > 1)
        return lg_cli_wrong("runs", "one run at a time; \"%s\" is too much", a->names[1]);
    if (*verb == COMPARE && a->name_count < 2)
        return lg_cli_wrong("runs", "which runs? `runs compare` takes two or more");
    if (*verb == MERGE && !a->name_count)
        return lg_cli_wrong("runs", "which stores? `runs merge` takes their files");
    if (*verb != LIST && *verb != WATCH && !a->name_count)
        return lg_cli_wrong("runs", "which run? `lengthen runs` lists them");
    return 0;
}

/* Options that go with one verb alone, and with each other. */
static int check_options(const struct lg_cli_asked *a, int verb)
{
    const struct {
        const char *name;
        int used, verb;
    } rows[] = {{"task", a->task != NULL, LIST},
                {"state", a->state != NULL, LIST},
                {"last", a->last, LIST},
                {"steps", a->steps, SHOW},
                {"csv", a->csv, SHOW},
                {"yes", a->yes, DELETE},
                {"plot", a->plot != NULL, COMPARE},
                {"measure", a->measures.count, COMPARE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].used && rows[i].verb != verb && !(i == 0 && verb == WATCH))
            return lg_cli_wrong("runs", "--%s goes with `runs %s` alone", rows[i].name,
                                verbs[rows[i].verb]);
    if (a->csv && !a->steps) return lg_cli_wrong("runs", "--csv goes with --steps; add it");
    if (a->csv && a->json) return lg_cli_wrong("runs", "take --json or --csv, not both");
    return 0;
}

static int read_options(int argc, char **argv, struct lg_cli_asked *a, int *verb)
{
    const struct lg_cli_option rows[] = {
        {"task", .text = &a->task},
        {"state", .read = read_state, .to = &a->state, .take = "training, stopped, done or failed"},
        {"last", .whole = &a->last, .least = 1, .most = INT_MAX},
        {"steps", .flag = &a->steps},
        {"csv", .flag = &a->csv},
        {"yes", .flag = &a->yes},
        {"plot", .text = &a->plot},
        LG_CLI_SIZE,
        {"measure", .read = lg_cli_measures_read, .to = &a->measures,
         .take = lg_cli_measures_names()},
        {"store", .text = &a->file},
        {"json", .flag = &a->json},
        {0},
    };
    int code = lg_cli_options("runs", rows, &argc, &argv);
    if (!code) code = read_words(argc, argv, a, verb);
    return code ? code : check_options(a, *verb);
}

int lg_cmd_runs(int argc, char **argv)
{
    struct lg_cli_asked a = {0};
    int verb, code = read_options(argc, argv, &a, &verb);
    if (code) return code;
    a.file = lg_cli_store(a.file);
    if (verb != MERGE) a.store = lg_store_open(a.file, 0, &a.err);
    code = verb == MERGE     ? merge_stores(&a)
           : !a.store        ? -1
           : verb == SHOW    ? lg_cli_runs_show(&a)
           : verb == COMPARE ? lg_cli_runs_compare(&a)
           : verb == WATCH   ? lg_cli_runs_watch(&a)
           : verb == DELETE  ? delete_runs(&a)
                             : list_runs(&a);
    lg_store_close(a.store);
    return code < 0 ? lg_cli_error("runs", a.err.code, &a.err) : code;
}
