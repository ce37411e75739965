/* demo.c: `lengthen demo`, the main job: train on short sequences, answer long ones, four ways.
 * Parity with scratchpad: n bits, '=', then the n running parities and a stop, generated token by
 * token. What differs is where a token believes it is, and what it may see. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"

const char lg_cmd_demo_help[] =
    "Usage: lengthen demo [OPTIONS]\n"
    "\n"
    "Trains small transformers on parity with scratchpad (bits, '=', the running parities, a\n"
    "stop), then generates the answers at growing lengths. Four ways to tell a token where it\n"
    "is:\n"
    "\n"
    "  plain          its place in the text, by RoPE\n"
    "  PoSE           the same, trained with a random gap so that large places are met\n"
    "  coupled        bit i and running parity i share an ID; every earlier token is seen\n"
    "  coupled, window, predicted\n"
    "                 only tokens whose ID is its own or the next are seen, and the model\n"
    "                 predicts the ID of each token that it generates; up to a million tokens\n"
    "\n"
    "The first two learn the task only up to a few bits in the time of a demo, so they are\n"
    "trained and tested from there. A sample counts as exact when every generated token is\n"
    "right and the stop is in its place.\n"
    "\n"
    "  --seed N              another initialisation and other data (1)\n"
    "  --out DIR             keep the runs there, with their store unless LENGTHEN_STORE names "
    "it,\n"
    "                        to look at with eval, runs and generate; the same command goes\n"
    "                        on with what is there\n"
    "  --plot FILE           write the figure: .svg, .png or .pdf\n"
    "  --json                one object a cell\n"
    "\n"
    "Example:\n"
    "  lengthen demo --out demo --plot demo.svg\n";

enum { CELLS = 9, SETS = 12 };

static const struct method {
    const char *name, *folder;
    const char *sets[SETS];
    int longest, steps; /* bits of training, at most; steps of it */
    int predicted;      /* whether it predicts IDs */
    int cells[CELLS];   /* bits of the tests; 0 ends. The first is the longest of training */
} methods[] = {
    {"plain",
     "plain",
     {"positions.ids=plain", "train.length=[1, 8]", "train.steps=3000", "train.lr=2e-3"},
     8,
     3000,
     0,
     {8, 16, 40, 80, 200, 400}},
    {"PoSE",
     "pose",
     {"positions.ids=pose", "positions.target=502", "train.length=[1, 5]", "train.steps=3000",
      "train.lr=2e-3"},
     5,
     3000,
     0,
     {5, 10, 25, 50, 125, 250}},
    {"coupled",
     "coupled",
     {"positions.ids=coupled", "train.length=[1, 20]", "train.steps=600", "train.lr=2e-3"},
     20,
     600,
     0,
     {20, 50, 100, 200, 500, 1000}},
    {"coupled, window, predicted",
     "window",
     {"positions.ids=coupled", "positions.source=delta", "positions.encoding=relative",
      "positions.span=window", "positions.window=[0, 1]", "train.length=[1, 20]", "train.steps=600",
      "train.lr=4e-3"},
     20,
     600,
     1,
     {20, 50, 100, 200, 500, 1000, 4999, 49999, 499999}},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Fewer where one takes long. */
static int samples_at(int bits)
{
    return bits >= 40000 ? 1 : bits >= 4000 ? 4 : bits >= 500 ? 16 : 64;
}

struct demo {
    int64_t seed;
    int json, terminal;
    const char *plot, *out;
    char folder[1024], store[1100];
    const struct method *way;
    double since;
    lg_cell cell; /* the last one */
    int count[METHODS];
    double x[METHODS][CELLS], exact[METHODS][CELLS];
    double tenfold[METHODS]; /* exact at ten times the training length */
    lg_error err;
};

/* ---- One method -------------------------------------------------------------------------- */

static int progress(void *context, const lg_run_step *s)
{
    struct demo *d = context;
    if (d->terminal && !d->json && s->step % 20 == 0) {
        double left = (lg_cli_now() - d->since) * (double)(s->steps - s->step) / (double)s->step;
        fprintf(stderr, "\r\033[K%s: step %lld of %lld, loss %.4f, %.0f s left", d->way->name,
                (long long)s->step, (long long)s->steps, s->loss, left);
        if (s->step == s->steps) fputs("\r\033[K", stderr);
    }
    return !lg_cli_interrupted;
}

static int stop(struct demo *d)
{
    snprintf(d->err.text, sizeof d->err.text, "stopped%s",
             d->out ? "; the same command goes on" : "");
    return LG_ERROR_STOPPED;
}

static int train(struct demo *d, const struct method *way, const char *folder)
{
    char seed[40];
    const char *sets[SETS + 8] = {"task.name=parity-scratchpad", "model.width=64", "model.sink=yes",
                                  "train.warmup=50", seed};
    int n = 5, done = 0;
    snprintf(seed, sizeof seed, "seed=%lld", (long long)d->seed);
    for (int i = 0; i < SETS && way->sets[i]; i++) sets[n++] = way->sets[i];
    lg_run_options o = {.sets = sets,
                        .set_count = n,
                        .folder = folder,
                        .store = d->store,
                        .resume = LG_RUN_EITHER,
                        .watch = progress,
                        .context = d};
    d->way = way;
    d->since = lg_cli_now();
    int code = lg_run_train(&o, &done, &d->err);
    if (!code && !done) code = stop(d);
    if (!code && !d->json)
        printf("\n%s: trained %d steps on 1 to %d bits in %.0f s\n"
               "     bits     tokens    exact    tokens  samples  seconds\n"
               "                                  right\n",
               way->name, way->steps, way->longest, lg_cli_now() - d->since);
    return code;
}

static double measured(const struct demo *d, const char *kind)
{
    const lg_value *v = lg_cell_get(&d->cell, kind);
    return v ? v->value : 0;
}

static void print_cell(const struct demo *d, const struct method *way)
{
    const lg_cell *c = &d->cell;
    double exact = measured(d, "exact"), right = measured(d, "token_accuracy");
    int samples = c->values ? c->value[0].samples : 0;
    if (d->json)
        printf("{\"method\":\"%s\",\"bits\":%d,\"tokens\":%.0f,\"exact\":%.6f,"
               "\"token_accuracy\":%.6f,\"samples\":%d,\"trained\":%d,\"seconds\":%.3f,"
               "\"seed\":%llu}\n",
               way->name, c->length, c->tokens, exact, right, samples, 2 * way->longest + 2,
               c->seconds, (unsigned long long)d->seed);
    else
        printf("  %7d  %9.0f  %6.1f%%  %7.2f%%  %7d  %7.1f%s\n", c->length, c->tokens, 100 * exact,
               100 * right, samples, c->seconds,
               c->length == way->longest ? "   <- longest in training" : "");
    fflush(stdout);
}

static void keep_cell(void *context, const lg_cell *cell)
{
    ((struct demo *)context)->cell = *cell;
}

static int test(struct demo *d, int index, const char *folder)
{
    const struct method *way = &methods[index];
    for (int i = 0; i < CELLS && way->cells[i]; i++) {
        lg_eval_options o = {.folder = folder,
                             .store = d->store,
                             .lengths = &way->cells[i],
                             .length_count = 1,
                             .samples = samples_at(way->cells[i]),
                             .predicted = way->predicted,
                             .generated_only = 1,
                             .each = keep_cell,
                             .context = d};
        if (lg_cli_interrupted) return stop(d);
        if (lg_run_eval(&o, NULL, &d->err)) return -1;
        print_cell(d, way);
        d->x[index][i] = round((double)way->cells[i] / way->longest * 2) / 2;
        d->exact[index][i] = measured(d, "exact");
        d->count[index] = i + 1;
        if (way->cells[i] == 10 * way->longest) d->tenfold[index] = d->exact[index][i];
    }
    return 0;
}

/* ---- All of them ---------------------------------------------------------------------------- */

static void print_meaning(const struct demo *d)
{
    const struct method *last = &methods[METHODS - 1];
    printf("\n");
    for (int i = 0; i < METHODS; i++)
        if (d->exact[i][0] < 0.99)
            printf("%s: not learned (%.1f%% exact at %d bits), so its longer cells say nothing.\n",
                   methods[i].name, 100 * d->exact[i][0], methods[i].longest);
        else
            printf("%s: learned (%.1f%% exact at %d bits); %.1f%% at ten times the length.\n",
                   methods[i].name, 100 * d->exact[i][0], methods[i].longest, 100 * d->tenfold[i]);
    printf(
        "\nAll were trained on short inputs alone. With plain places a longer input holds places\n"
        "and distances that were never met. Coupled IDs put a bit and its parity side by side,\n"
        "but a full span lets ever more tokens in. With the window a step sees the same few\n"
        "tokens at any length, and says itself where the next one belongs");
    printf(d->exact[METHODS - 1][d->count[METHODS - 1] - 1] == 1
               ? ":\nexact at a million tokens after training on %d.\n"
               : "; trained on %d\ntokens, it was not exact to the end.\n",
           2 * last->longest + 2);
}

/* Exact answers by length, as a multiple of the longest in training: that differs. */
static int draw(struct demo *d)
{
    lg_curve curve[METHODS];
    char name[METHODS][80];
    for (int i = 0; i < METHODS; i++) {
        const struct method *way = &methods[METHODS - 1 - i];
        int k = METHODS - 1 - i;
        snprintf(name[i], sizeof name[i], "%s (from %d tokens)%s", way->name, 2 * way->longest + 2,
                 d->exact[k][0] < 0.99 ? ": not learned" : "");
        curve[i] = (lg_curve){name[i], d->count[k], d->x[k], d->exact[k], NULL, NULL};
    }
    lg_figure f = {.title = "Parity with scratchpad: trained short, tested long",
                   .x_label = "length, as a multiple of the longest in training",
                   .y_label = "answers with every token right, %",
                   .curves = curve,
                   .count = METHODS,
                   .trained_low = 0.2,
                   .trained_high = 1,
                   .answers = 1};
    if (!d->json) lg_cli_figure(&f);
    return d->plot ? lg_figure_write(&f, d->plot, &d->err) : 0;
}

static int run_all(struct demo *d)
{
    int failed = 0;
    if (!d->json)
        printf("Parity with scratchpad: n bits, '=', the n running parities and a stop, generated\n"
               "token by token, by models that were trained on a few bits only.\n");
    if (d->out)
        lg_cli_store_in(d->folder, d->store, sizeof d->store);
    else
        snprintf(d->store, sizeof d->store, "%s/lengthen.db", d->folder);
    for (int i = 0; i < METHODS && !failed; i++) {
        char folder[1100];
        snprintf(folder, sizeof folder, "%s/%s", d->folder, methods[i].folder);
        failed = train(d, &methods[i], folder);
        if (!failed) failed = test(d, i, folder);
    }
    return failed ? failed : draw(d);
}

/* ---- The command ------------------------------------------------------------------------------ */

/* --out, or a folder that is removed at the end. */
static int make_folder(struct demo *d)
{
    const char *temporary = getenv("TMPDIR");
    if (d->out) {
        snprintf(d->folder, sizeof d->folder, "%s", d->out);
        if (mkdir(d->out, 0777) == 0 || errno == EEXIST) return 0;
    } else {
        snprintf(d->folder, sizeof d->folder, "%s/lengthen-demo-XXXXXX",
                 temporary && *temporary ? temporary : "/tmp");
        if (mkdtemp(d->folder)) return 0;
    }
    return lg_cli_wrong("demo", "the folder %s cannot be made: %s; name another with --out",
                        d->folder, strerror(errno));
}

static int read_options(struct demo *d, int argc, char **argv)
{
    const struct lg_cli_option rows[] = {{"seed", .large = &d->seed},
                                         {"out", .text = &d->out},
                                         {"plot", .text = &d->plot},
                                         {"json", .flag = &d->json},
                                         {0}};
    int code = lg_cli_options("demo", rows, &argc, &argv);
    if (!code && argc) code = lg_cli_wrong("demo", "it takes no argument, but got \"%s\"", argv[0]);
    return code;
}

int lg_cmd_demo(int argc, char **argv)
{
    static struct demo d;
    d = (struct demo){.seed = 1, .terminal = isatty(STDERR_FILENO)};
    int code = read_options(&d, argc, argv);
    if (code) return code;
    if (d.plot && (code = lg_figure_check(d.plot, &d.err)))
        return lg_cli_error("demo", code, &d.err);
    if ((code = make_folder(&d))) return code;
    lg_cli_catch_interrupts(1);
    int failed = run_all(&d);
    lg_cli_catch_interrupts(0);
    if (failed) fprintf(stderr, "%slengthen demo: %s\n", d.terminal ? "\n" : "", d.err.text);
    if (!failed && !d.json) print_meaning(&d);
    if (!failed && d.out && !d.json)
        printf(
            "\nThe runs are in %s: see lengthen runs --store %s, or lengthen generate %s/window.\n",
            d.out, d.store, d.out);
    if (!failed && d.plot && !d.json) printf("The figure is in %s.\n", d.plot);
    if (!d.out) lg_folder_remove(d.folder);
    return failed == LG_ERROR_STOPPED ? lg_cli_stopped() : failed ? LG_EXIT_FAILED : LG_EXIT_DONE;
}
