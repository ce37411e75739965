/* theory.c: `lengthen theory`: the idealised class of the theory on planted ensembles: fitted on
 * short texts and measured on long ones, over lists, and its assumptions checked. */
#include "cli/theory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"

const char lg_cmd_theory_help[] =
    "Usage: lengthen theory fit ENSEMBLE --train-lengths LO..HI --test-lengths A,B,.. [OPTIONS]\n"
    "       lengthen theory sweep ENSEMBLE ..    the same over lists of k, local, coverage, "
    "coupled\n"
    "       lengthen theory check ENSEMBLE ..    do coverage, locality, realizability hold?\n"
    "       lengthen theory bridge EVALS.csv --class NAME=ROWS.csv .. --length N [--plot "
    "FILE.svg]\n"
    "\n"
    "An ensemble is a table of the task planted (lengthen tasks planted): k words, planted at\n"
    "places S of a text, decide its label. Sparse functional attention reads a text by all its\n"
    "k-subsets: h = sum of A(S, X_S) g(X_S) / sum of A(S, X_S). A and g are learned on short\n"
    "texts; the error, the mean of |h - Y| (0 right, 1 wrong), is taken at each length, with 95%\n"
    "intervals over the seeds, and how fast it grows: slope 1 is as the length. The sums are\n"
    "exact at any length. Definitions and what is reconstructed: docs/THEORY.md.\n"
    "\n"
    "  --train-lengths LO..HI   lengths of training\n"
    "  --test-lengths A,B,..    lengths at which the error is taken\n"
    "Where lists are said, sweep takes several values, as in 1,2,3:\n"
    "  --k LIST                 planted words, in place of the ensemble's, whose label is a rule\n"
    "  --local LIST             A is 0 unless S lies within so many places; none: anywhere; own:\n"
    "                           the span of the ensemble's positions (own)\n"
    "  --coverage LIST          share of the patterns of S that training shows (1)\n"
    "  --coupled LIST           yes: local counts coupled position IDs, not places (no)\n"
    "  --scores tuples|words    A has a score a tuple of words, or one a word, added up (tuples)\n"
    "  --patterns               A has a weight for each pattern of S, too\n"
    "  --offsets N              and scores for the distances from the end below N\n"
    "  --window                 A is 0 beyond these\n"
    "  --g table|sign           g a distribution for each tuple, or a product of signs (table)\n"
    "  --unordered              tuples with the same words are one\n"
    "  --seeds N, --seed S      so many fits, from seed S on (5, 1)\n"
    "  --steps N                at most (2000); --until E: ends when the error at the longest\n"
    "                           training length is E (5e-5)\n"
    "  --batch N, --rate R      texts a step, and Adam's rate (64, 0.1)\n"
    "  --samples N              texts that an error is the mean of (200)\n"
    "  --out DIR                writes rows.csv, errors.svg and run.json there; check:\n"
    "                           findings.csv, check.svg and run.json\n"
    "  --title TEXT             of the figure\n"
    "  --threads N              threads (all cores); the result does not depend on them\n"
    "  --json                   one object a cell, a variant, or a finding\n"
    "\n"
    "bridge puts the wrong answers of a transformer (measurements.csv of `lengthen reproduce\n"
    "theory-bridge`) at one length beside the errors of the class (rows.csv of sweeps), over k.\n"
    "--where model.attention=softmax takes the runs with that setting alone. Runs that have not\n"
    "learned their training lengths are drawn, too, and named.\n"
    "\n"
    "Exit code 3: check found that an assumption fails.\n"
    "\n"
    "Examples:\n"
    "  lengthen theory fit experiments/ensembles/parity-span.yaml --train-lengths 10..50 \\\n"
    "      --test-lengths 50,500,5000\n"
    "  lengthen theory sweep experiments/ensembles/parity-span.yaml --train-lengths 10..50 \\\n"
    "      --test-lengths 50,500,5000 --k 1,2,3,4 --local own,none --out local\n"
    "  lengthen theory check experiments/ensembles/parity-columns.yaml --train-lengths 10..50 \\\n"
    "      --test-lengths 50,100\n";

/* ---- Options -------------------------------------------------------------------------------- */

static int read_train(void *to, const char *text)
{
    int *train = to, end = 0, n = sscanf(text, "%d..%d%n", &train[0], &train[1], &end);
    return n == 2 && !text[end] && train[0] >= 1 && train[0] <= train[1] ? 0 : -1;
}

static int read_coverage(void *to, const char *text)
{
    struct lg_cli_theory *q = to;
    for (int n = 0; n < LG_CLI_THEORY_MOST;) {
        char *end;
        q->coverage[n] = strtod(text, &end);
        if (end == text || !(q->coverage[n] > 0 && q->coverage[n] <= 1)) break;
        q->lists.coverage_count = ++n;
        if (!*end) return 0;
        if (*end != ',') break;
        text = end + 1;
    }
    return -1;
}

/* The lists into the options; fit and check take one value of each. */
static int settle(struct lg_cli_theory *q, const char *what)
{
    lg_theory_lists *l = &q->lists;
    const int counts[] = {l->k_count, l->local_count, l->coupled_count, l->coverage_count};
    static const char *const names[] = {"--k", "--local", "--coupled", "--coverage"};
    q->fits = q->o.seeds;
    for (int i = 0; i < 4; i++) {
        q->fits *= counts[i] ? counts[i] : 1;
        if (counts[i] > 1 && strcmp(what, "sweep") != 0)
            return lg_cli_wrong("theory", "%s has %d values; %s takes one, sweep takes lists",
                                names[i], counts[i], what);
    }
    if (!q->o.train[1]) return lg_cli_wrong("theory", "--train-lengths is missing; as in 10..50");
    if (!q->o.length_count)
        return lg_cli_wrong("theory", "--test-lengths is missing; as in 50,500,5000");
    if (q->o.c.window && !q->o.c.offsets)
        return lg_cli_wrong("theory", "--window needs --offsets, the distances that it holds");
    q->o.lengths = q->lengths;
    l->k = q->k;
    l->local = q->local;
    l->coupled = q->coupled;
    l->coverage = q->coverage;
    if (l->k_count) q->o.k = q->k[0];
    if (l->coupled_count) q->o.c.coupled = q->coupled[0];
    if (l->coverage_count) q->o.coverage = q->coverage[0];
    q->o.c.local = l->local_count ? q->local[0] : LG_THEORY_OWN;
    return 0;
}

static int read_rows(struct lg_cli_theory *q, int *argc, char ***argv)
{
    enum { MOST = LG_CLI_THEORY_MOST, LONGEST = 1 << 24 };
    lg_theory_options *o = &q->o;
    lg_theory_lists *l = &q->lists;
    const struct lg_cli_option rows[] = {
        {"train-lengths", .read = read_train, .to = o->train,
         .take = "two numbers, the shorter first, as in 10..50"},
        {"test-lengths", .list = q->lengths, .count = &o->length_count, .room = MOST, .least = 1,
         .most = LONGEST, .take = "numbers, as in 50,500,5000"},
        {"k", .list = q->k, .count = &l->k_count, .room = MOST, .least = 1, .most = LONGEST,
         .take = "numbers, as in 1,2,3"},
        {"local", .list = q->local, .count = &l->local_count, .room = MOST, .least = LG_THEORY_OWN,
         .most = LONGEST, .names = "own or none", .take = "numbers, own or none, as in 8,none"},
        {"coverage", .read = read_coverage, .to = q,
         .take = "shares above 0 and up to 1, as in 1,0.6"},
        {"coupled", .list = q->coupled, .count = &l->coupled_count, .room = MOST, .most = 1,
         .names = "no or yes", .take = "yes, no, or both: no,yes"},
        {"scores", .word = &o->c.words, .names = "tuples or words"},
        {"patterns", .flag = &o->c.patterns},
        {"offsets", .whole = &o->c.offsets, .least = 1, .most = 1 << 20},
        {"window", .flag = &o->c.window},
        {"g", .word = &o->c.sign, .names = "table or sign"},
        {"unordered", .flag = &o->c.unordered},
        {"seeds", .whole = &o->seeds, .least = 1, .most = 1000},
        {"seed", .large = &o->seed, .least = 1, .most = 1 << 30},
        {"steps", .whole = &o->steps, .least = 1, .most = 10000000},
        {"until", .real = &o->until, .least = LG_CLI_ABOVE_0, .most = 1},
        {"batch", .whole = &o->batch, .least = 1, .most = 1 << 20},
        {"rate", .real = &o->rate, .least = LG_CLI_ABOVE_0, .most = 100},
        {"samples", .whole = &o->samples, .least = 1, .most = LONGEST},
        {"out", .text = &q->files.folder},
        {"title", .text = &q->files.title},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"json", .flag = &q->json},
        {0},
    };
    return lg_cli_options("theory", rows, argc, argv);
}

static int read_options(struct lg_cli_theory *q, int argc, char **argv, const char **what)
{
    static const char *const kinds[] = {"fit", "sweep", "check", "bridge"};
    int kind = 0, code = read_rows(q, &argc, &argv);
    if (code) return code;
    *what = argc ? argv[0] : "";
    while (kind < 3 && strcmp(*what, kinds[kind]) != 0) kind++;
    if (kind == 3) {
        const char *near = lg_cli_nearest(*what, kinds, 4);
        return lg_cli_wrong("theory", "fit, sweep, check or bridge? \"%s\" is none of them%s%s%s",
                            *what, near ? "; did you mean \"" : "", near ? near : "",
                            near ? "\"?" : "");
    }
    code = lg_cli_argument("theory", "ensemble", "Give its YAML file", argc - 1, argv + 1,
                           &q->o.ensemble);
    if (code) return code;
    return settle(q, *what);
}

/* ---- Progress ------------------------------------------------------------------------------- */

static int watch(void *context, const char *variant, int64_t seed, int step, int steps,
                 double error)
{
    struct lg_cli_theory *q = context;
    double now = lg_cli_now();
    if (isatty(STDERR_FILENO) && now - q->shown > 0.2) {
        q->shown = now;
        fprintf(stderr, "\r\033[K%d of %d fits", q->done, q->fits);
        if (q->done)
            fprintf(stderr, ", about %.0f s left",
                    (now - q->start) / q->done * (q->fits - q->done));
        fprintf(stderr, "; %.40s, seed %lld: step %d of %d, error %.1e", variant, (long long)seed,
                step, steps, error);
    }
    return !lg_cli_interrupted;
}

static void keep_row(void *context, const lg_theory_row *r)
{
    struct lg_cli_theory *q = context;
    lg_theory_row *rows = lg_cli_grow(q->rows, q->count, &q->room, sizeof *rows);
    q->lost += !rows;
    if (!rows) return;
    q->rows = rows;
    lg_theory_row *to = &q->rows[q->count];
    *to = *r;
    to->variant = strdup(r->variant);
    if (to->variant)
        q->count++;
    else
        q->lost++;
    q->done += r->length == q->lengths[q->o.length_count - 1];
}

/* ---- Checking ------------------------------------------------------------------------------- */

static void finding(void *context, const lg_theory_finding *f)
{
    struct lg_cli_theory *q = context;
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (q->finding_count < 3 * LG_CLI_THEORY_MOST) q->findings[q->finding_count++] = *f;
    if (!q->json) {
        printf("%-13s %8d  %-5s  %s\n", f->assumption, f->length, f->holds ? "holds" : "FAILS",
               f->text);
        return;
    }
    printf("{\"assumption\":\"%s\",\"length\":%d,\"holds\":%s,\"value\":%.9g,\"text\":",
           f->assumption, f->length, f->holds ? "true" : "false", f->value);
    lg_cli_json(stdout, f->text);
    printf("}\n");
}

/* ---- The command ---------------------------------------------------------------------------- */

static char *command_of(int argc, char **argv)
{
    size_t size = 16;
    for (int i = 0; i < argc; i++) size += strlen(argv[i]) + 3;
    char *text = malloc(size), *to = text;
    if (!text) return NULL;
    to += sprintf(to, "lengthen");
    for (int i = 0; i < argc; i++)
        to += sprintf(to, strpbrk(argv[i], " '\"*?") ? " '%s'" : " %s", argv[i]);
    return text;
}

int lg_cli_theory_write(const struct lg_cli_theory *q)
{
    lg_error err = {0}, warning = {0};
    if (q->files.folder && lg_theory_files_write(&q->files, &warning, &err))
        return lg_cli_error("theory", LG_ERROR_SYSTEM, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen theory: %s\n", warning.text);
    return LG_EXIT_DONE;
}

/* The files of a check, or what is shown and written of rows. */
static int finish(struct lg_cli_theory *q, int check, int failed)
{
    q->files.o = &q->o;
    q->files.isa = lg_isa();
    q->files.seconds = lg_cli_now() - q->start;
    if (check) {
        q->files.findings = q->findings;
        q->files.finding_count = q->finding_count;
        int code = lg_cli_theory_write(q);
        if (code) return code;
        return failed ? LG_EXIT_NO : LG_EXIT_DONE;
    }
    if (!q->lost) return lg_cli_theory_finish(q);
    fprintf(stderr, "lengthen theory: no memory for %d rows; end other programs\n", q->lost);
    return LG_EXIT_FAILED;
}

static int run(struct lg_cli_theory *q, const char *what)
{
    lg_error err = {0};
    int code = 0, failed = 0, check = strcmp(what, "check") == 0;
    q->o.row = keep_row;
    q->o.watch = watch;
    q->o.context = q;
    q->start = lg_cli_now();
    if (q->files.folder) code = lg_theory_files_open(q->files.folder, &err);
    if (code == LG_ERROR_ARGUMENT) return lg_cli_wrong("theory", "%s", err.text);
    if (code) return lg_cli_error("theory", code, &err);
    lg_cli_catch_interrupts(1);
    if (check)
        code = lg_theory_check(&q->o, finding, q, &failed, &err);
    else if (strcmp(what, "sweep") == 0)
        code = lg_theory_sweep(&q->o, &q->lists, &err);
    else
        code = lg_theory_fit(&q->o, &err);
    lg_cli_catch_interrupts(0);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (code) return lg_cli_error("theory", code, &err);
    if (!lg_cli_interrupted) return finish(q, check, failed);
    fputs("lengthen theory: stopped; nothing was written\n", stderr);
    return lg_cli_stopped();
}

int lg_cmd_theory(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "bridge") == 0) return lg_cli_theory_bridge(argc, argv);
    struct lg_cli_theory *q = calloc(1, sizeof *q);
    const char *what = "";
    if (!q) return LG_EXIT_FAILED;
    q->o = lg_theory_options_default();
    char *command = command_of(argc, argv); /* before getopt sorts the words */
    q->files.command = command;
    int code = read_options(q, argc, argv, &what);
    if (!code) code = run(q, what);
    for (int i = 0; i < q->count; i++) free((char *)(uintptr_t)q->rows[i].variant);
    free(q->rows);
    free(command);
    free(q);
    return code;
}
