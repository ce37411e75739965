/* theory.c: `lengthen theory`: the idealised class of the theory on planted ensembles: fitted on
 * short texts and measured on long ones, over lists, and its assumptions checked. */
#include "cli/theory.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
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
    "bridge puts the wrong answers of a transformer (evals.csv of `lengthen reproduce\n"
    "theory-bridge`) at one length beside the errors of the class (rows.csv of sweeps), over k.\n"
    "--where model.scores=softmax takes the runs with that setting alone. Runs that have not\n"
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

/* A number of the list, a word that stands for one, or -2. */
static int read_value(const char *text, size_t n, const char *const *words, const int *values,
                      int least, int *value)
{
    char *end;
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == n && strncmp(words[i], text, n) == 0) {
            *value = values[i];
            return 1;
        }
    long number = strtol(text, &end, 10);
    *value = (int)number;
    return end == text + n && n > 0 && number >= least && number <= 1 << 24;
}

/* How many, or -1. */
static int read_list(const char *text, const char *const *words, const int *values, int least,
                     int list[LG_CLI_THEORY_MOST])
{
    for (int count = 0; count < LG_CLI_THEORY_MOST;) {
        size_t n = strcspn(text, ",");
        if (!read_value(text, n, words, values, least, &list[count++])) return -1;
        if (!text[n]) return count;
        text += n + 1;
    }
    return -1;
}

static int wrong(const char *option, const char *what)
{
    return lg_cli_wrong("theory", "%s is \"%s\"; take %s", option, optarg, what);
}

static int read_number(const char *option, int least, int most, int *value)
{
    char *end, range[80];
    long n = strtol(optarg, &end, 10);
    *value = (int)n;
    if (end != optarg && !*end && n >= least && n <= most) return -1;
    snprintf(range, sizeof range, "a whole number from %d to %d", least, most);
    return wrong(option, range);
}

static int read_real(const char *option, double most, double *value)
{
    char *end, range[80];
    *value = strtod(optarg, &end);
    if (end != optarg && !*end && *value > 0 && *value <= most) return -1;
    snprintf(range, sizeof range, "a number above 0 and up to %g", most);
    return wrong(option, range);
}

static int read_coverage(struct lg_cli_theory *q)
{
    const char *text = optarg;
    for (int n = 0; n < LG_CLI_THEORY_MOST;) {
        char *end;
        q->coverage[n] = strtod(text, &end);
        if (end == text || !(q->coverage[n] > 0 && q->coverage[n] <= 1)) break;
        q->lists.coverage_count = ++n;
        if (!*end) return -1;
        if (*end != ',') break;
        text = end + 1;
    }
    return wrong("--coverage", "shares above 0 and up to 1, as in 1,0.6");
}

/* -1: go on; else an exit code. */
static int read_lists(struct lg_cli_theory *q, int c)
{
    static const char *const none[] = {NULL}, *const yes[] = {"no", "yes", NULL};
    static const char *const spans[] = {"none", "own", NULL};
    static const int zero_one[] = {0, 1}, span_values[] = {0, LG_THEORY_OWN};
    int n, end = 0;
    switch (c) {
    case 'T':
        n = sscanf(optarg, "%d..%d%n", &q->o.train[0], &q->o.train[1], &end);
        if (n == 2 && !optarg[end] && q->o.train[0] >= 1 && q->o.train[0] <= q->o.train[1])
            return -1;
        return wrong("--train-lengths", "two numbers, the shorter first, as in 10..50");
    case 'L':
        q->o.length_count = read_list(optarg, none, NULL, 1, q->lengths);
        return q->o.length_count > 0 ? -1 : wrong("--test-lengths", "numbers, as in 50,500,5000");
    case 'k':
        q->lists.k_count = read_list(optarg, none, NULL, 1, q->k);
        return q->lists.k_count > 0 ? -1 : wrong("--k", "numbers, as in 1,2,3");
    case 'l':
        q->lists.local_count = read_list(optarg, spans, span_values, 1, q->local);
        return q->lists.local_count > 0 ? -1
                                        : wrong("--local", "numbers, own or none, as in 8,none");
    case 'C':
        q->lists.coupled_count = read_list(optarg, yes, zero_one, 2, q->coupled);
        return q->lists.coupled_count > 0 ? -1 : wrong("--coupled", "yes, no, or both: no,yes");
    default: return read_coverage(q);
    }
}

static int read_class(struct lg_cli_theory *q, int c)
{
    lg_theory_class *a = &q->o.c;
    switch (c) {
    case 's':
        a->words = strcmp(optarg, "words") == 0;
        return a->words || strcmp(optarg, "tuples") == 0 ? -1
                                                         : wrong("--scores", "tuples or words");
    case 'g':
        a->sign = strcmp(optarg, "sign") == 0;
        return a->sign || strcmp(optarg, "table") == 0 ? -1 : wrong("--g", "table or sign");
    case 'p': a->patterns = 1; return -1;
    case 'w': a->window = 1; return -1;
    case 'u': a->unordered = 1; return -1;
    default: return read_number("--offsets", 1, 1 << 20, &a->offsets);
    }
}

static int read_option(struct lg_cli_theory *q, int c)
{
    int number;
    switch (c) {
    case 'S':
        if ((number = read_number("--seed", 1, 1 << 30, &(int){0})) < 0) q->o.seed = atoi(optarg);
        return number;
    case 'N': return read_number("--seeds", 1, 1000, &q->o.seeds);
    case 'm': return read_number("--steps", 1, 10000000, &q->o.steps);
    case 'b': return read_number("--batch", 1, 1 << 20, &q->o.batch);
    case 'n': return read_number("--samples", 1, 1 << 24, &q->o.samples);
    case 't': return read_number("--threads", 1, 1024, &q->o.threads);
    case 'e': return read_real("--until", 1, &q->o.until);
    case 'r': return read_real("--rate", 100, &q->o.rate);
    case 'o': q->out = optarg; return -1;
    case 'i': q->title = optarg; return -1;
    case 'j': q->json = 1; return -1;
    case 'T':
    case 'L':
    case 'k':
    case 'l':
    case 'C':
    case 'c': return read_lists(q, c);
    default: return read_class(q, c);
    }
}

static const struct option known[] = {{"train-lengths", required_argument, NULL, 'T'},
                                      {"test-lengths", required_argument, NULL, 'L'},
                                      {"k", required_argument, NULL, 'k'},
                                      {"local", required_argument, NULL, 'l'},
                                      {"coverage", required_argument, NULL, 'c'},
                                      {"coupled", required_argument, NULL, 'C'},
                                      {"scores", required_argument, NULL, 's'},
                                      {"patterns", no_argument, NULL, 'p'},
                                      {"offsets", required_argument, NULL, 'O'},
                                      {"window", no_argument, NULL, 'w'},
                                      {"g", required_argument, NULL, 'g'},
                                      {"unordered", no_argument, NULL, 'u'},
                                      {"seeds", required_argument, NULL, 'N'},
                                      {"seed", required_argument, NULL, 'S'},
                                      {"steps", required_argument, NULL, 'm'},
                                      {"until", required_argument, NULL, 'e'},
                                      {"batch", required_argument, NULL, 'b'},
                                      {"rate", required_argument, NULL, 'r'},
                                      {"samples", required_argument, NULL, 'n'},
                                      {"out", required_argument, NULL, 'o'},
                                      {"title", required_argument, NULL, 'i'},
                                      {"threads", required_argument, NULL, 't'},
                                      {"json", no_argument, NULL, 'j'},
                                      {0}};

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
    return -1;
}

static int read_options(struct lg_cli_theory *q, int argc, char **argv, const char **what)
{
    static const char *const kinds[] = {"fit", "sweep", "check", "bridge"};
    int code = -1, kind = 0;
    opterr = 0;
    optind = 1;
    for (int c; code < 0 && (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == '?')
            return lg_cli_wrong("theory", "\"%s\" is not an option, or lacks its value",
                                argv[optind - 1]);
        code = read_option(q, c);
    }
    if (code >= 0) return code;
    *what = optind < argc ? argv[optind] : "";
    while (kind < 3 && strcmp(*what, kinds[kind]) != 0) kind++;
    if (kind == 3) {
        const char *near = lg_cli_nearest(*what, kinds, 4);
        return lg_cli_wrong("theory", "fit, sweep, check or bridge? \"%s\" is none of them%s%s%s",
                            *what, near ? "; did you mean \"" : "", near ? near : "",
                            near ? "\"?" : "");
    }
    if (optind + 1 >= argc) return lg_cli_wrong("theory", "which ensemble? Give its YAML file");
    if (optind + 2 < argc)
        return lg_cli_wrong("theory", "one ensemble at a time; \"%s\" is too much",
                            argv[optind + 2]);
    q->o.ensemble = argv[optind + 1];
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
    if (q->count == q->room) {
        int room = q->room ? 2 * q->room : 64;
        lg_theory_row *rows = realloc(q->rows, (size_t)room * sizeof *rows);
        if (!rows) {
            q->lost++;
            return;
        }
        q->rows = rows;
        q->room = room;
    }
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

static int failed_call(int code, const lg_error *err)
{
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    fprintf(stderr, "lengthen theory: %s\n", err->text);
    return code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
}

static int run(struct lg_cli_theory *q, const char *what)
{
    lg_error err = {0};
    int code, failed = 0;
    q->o.row = keep_row;
    q->o.watch = watch;
    q->o.context = q;
    q->start = lg_cli_now();
    if (q->out && (code = lg_cli_theory_folder(q))) return code;
    lg_cli_catch_interrupts(1);
    if (strcmp(what, "check") == 0)
        code = lg_theory_check(&q->o, finding, q, &failed, &err);
    else if (strcmp(what, "sweep") == 0)
        code = lg_theory_sweep(&q->o, &q->lists, &err);
    else
        code = lg_theory_fit(&q->o, &err);
    lg_cli_catch_interrupts(0);
    if (code) return failed_call(code, &err);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (lg_cli_interrupted) {
        fputs("lengthen theory: stopped; nothing was written\n", stderr);
        return LG_EXIT_FAILED;
    }
    if (strcmp(what, "check") == 0) {
        code = q->out ? lg_cli_theory_write_check(q) : 0;
        return code ? code : failed ? LG_EXIT_NO : LG_EXIT_DONE;
    }
    if (q->lost) {
        fprintf(stderr, "lengthen theory: no memory for %d rows; end other programs\n", q->lost);
        return LG_EXIT_FAILED;
    }
    lg_cli_theory_show(q);
    return q->out ? lg_cli_theory_write(q) : LG_EXIT_DONE;
}

int lg_cmd_theory(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "bridge") == 0) return lg_cli_theory_bridge(argc, argv);
    struct lg_cli_theory *q = calloc(1, sizeof *q);
    const char *what = "";
    if (!q) return LG_EXIT_FAILED;
    q->o = lg_theory_options_default();
    q->command = command_of(argc, argv); /* before getopt sorts the words */
    int code = read_options(q, argc, argv, &what);
    if (code < 0) code = run(q, what);
    for (int i = 0; i < q->count; i++) free((char *)(uintptr_t)q->rows[i].variant);
    free(q->rows);
    free(q->command);
    free(q);
    return code;
}
