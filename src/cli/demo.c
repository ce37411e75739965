/* demo.c: `lengthen demo`, the main job: train on short sequences, answer long ones, four ways.
 * Parity with scratchpad: n bits, '=', then the n running parities and a stop, generated token by
 * token. What differs is where a token believes it is, and what it may see. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lengthen.h"

const char lg_cmd_demo_help[] =
    "Usage: lengthen demo [--seed N] [--json]\n"
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
    "  --seed N      another initialisation and other data (1)\n"
    "  --json        one object a cell\n"
    "\n"
    "Example:\n"
    "  lengthen demo\n";

enum { BATCH = 64, STREAM_TRAIN = 1, STREAM_IDS = 2, STREAM_TEST = 3, CELLS = 9 };

static const struct method {
    const char *name, *ids, *source;
    lg_span span;
    int longest, steps; /* bits of training, at most; steps of it */
    double lr;
    int cells[CELLS]; /* bits of the tests; 0 ends. The first is the longest of training */
} methods[] = {
    {"plain", "plain", NULL, LG_SPAN_FULL, 8, 3000, 2e-3, {8, 16, 40, 80, 200, 400}},
    {"PoSE", "pose", NULL, LG_SPAN_FULL, 5, 3000, 2e-3, {5, 10, 25, 50, 125, 250}},
    {"coupled", "coupled", NULL, LG_SPAN_FULL, 20, 600, 2e-3, {20, 50, 100, 200, 500, 1000}},
    {"coupled, window, predicted",
     "coupled",
     "delta",
     LG_SPAN_WINDOW,
     20,
     600,
     4e-3,
     {20, 50, 100, 200, 500, 1000, 4999, 49999, 499999}},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Fewer where one takes long. */
static int samples_at(int bits)
{
    return bits >= 40000 ? 1 : bits >= 4000 ? 4 : bits >= 500 ? 16 : 64;
}

struct demo {
    uint64_t seed;
    int json, terminal;
    lg_task *task;
    double learned[METHODS], tenfold[METHODS], last[METHODS]; /* exact: at training length, at ten
                                                                 times it, at the longest */
    lg_error err;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void progress(const struct demo *d, const struct method *way, int done, double since,
                     double loss)
{
    if (d->json || !d->terminal) return;
    double left = (now() - since) * (way->steps - done) / done;
    fprintf(stderr, "\r\033[K%s: step %d of %d, loss %.4f, %.0f s left", way->name, done,
            way->steps, loss, left);
    if (done == way->steps) fputs("\r\033[K", stderr);
}

static lg_scheme scheme_of(const struct method *way)
{
    lg_scheme s = lg_scheme_default();
    s.ids = way->ids;
    s.target = 2 * way->cells[5] + 2; /* PoSE: ready for its longest test */
    s.source[0] = way->source;
    return s;
}

static int fill_batch(struct demo *d, const struct method *way, const lg_scheme *s, int step,
                      lg_batch *b, lg_example *x)
{
    lg_draw draw = {.seed = d->seed, .stream = STREAM_TRAIN, .length_lo = 1};
    draw.length_hi = way->longest;
    int e = 0;
    lg_batch_reset(b);
    for (int i = 0; i < BATCH && !e; i++) {
        lg_rng ids;
        draw.index = (uint64_t)step * BATCH + (uint64_t)i;
        lg_rng_init(&ids, d->seed, STREAM_IDS, draw.index);
        e = lg_task_example(d->task, &draw, x, &d->err);
        if (!e) e = lg_scheme_add(s, d->task, x, &ids, b, &d->err);
    }
    return e;
}

static int train(struct demo *d, lg_model *m, const struct method *way, const lg_scheme *s)
{
    lg_train_options o = lg_train_options_default();
    o.steps = way->steps;
    o.warmup = 50;
    o.lr = way->lr;
    lg_trainer *t = lg_trainer_new(m, &o, &d->err);
    lg_batch b;
    lg_example x;
    lg_train_result r;
    lg_batch_init(&b);
    lg_example_init(&x);
    double since = now();
    int code = t ? 0 : -1;
    for (int step = 0; step < way->steps && !code; step++) {
        code = fill_batch(d, way, s, step, &b, &x);
        if (!code) code = lg_trainer_step(t, &b, &r, &d->err);
        if (!code && (step + 1) % 20 == 0) progress(d, way, step + 1, since, r.loss);
    }
    lg_batch_clear(&b);
    lg_example_clear(&x);
    lg_trainer_free(t);
    return code;
}

static void print_cell(const struct demo *d, const struct method *way, int bits, const lg_score *s,
                       double seconds)
{
    double exact = (double)s->exact / s->samples, right = (double)s->right / (double)s->tokens;
    int tokens = 2 * bits + 2;
    if (d->json)
        printf("{\"method\":\"%s\",\"bits\":%d,\"tokens\":%d,\"exact\":%.6f,"
               "\"token_accuracy\":%.6f,\"samples\":%d,\"trained\":%d,\"seconds\":%.3f,"
               "\"seed\":%llu}\n",
               way->name, bits, tokens, exact, right, s->samples, 2 * way->longest + 2, seconds,
               (unsigned long long)d->seed);
    else
        printf("  %7d  %9d  %6.1f%%  %7.2f%%  %7d  %7.1f%s\n", bits, tokens, 100 * exact,
               100 * right, s->samples, seconds,
               bits == way->longest ? "   <- longest in training" : "");
    fflush(stdout);
}

static int test(struct demo *d, const lg_model *m, int index, const lg_scheme *s)
{
    const struct method *way = &methods[index];
    for (int i = 0; i < CELLS && way->cells[i]; i++) {
        int bits = way->cells[i], predicted = way->source != NULL;
        lg_draw draw = {.seed = d->seed, .stream = STREAM_TEST};
        lg_score score;
        draw.length_lo = draw.length_hi = bits;
        draw.index = (uint64_t)bits * 1000; /* other bits at each length */
        double since = now();
        if (lg_answer(m, d->task, s, &draw, samples_at(bits), predicted, &score, &d->err))
            return -1;
        print_cell(d, way, bits, &score, now() - since);
        d->last[index] = (double)score.exact / score.samples;
        if (i == 0) d->learned[index] = d->last[index];
        if (bits == 10 * way->longest) d->tenfold[index] = d->last[index];
    }
    return 0;
}

static int run_method(struct demo *d, int index)
{
    const struct method *way = &methods[index];
    lg_scheme s = scheme_of(way);
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = lg_task_get_shape(d->task)->vocab;
    c.width = 64;
    c.seed = d->seed;
    c.span = way->span;
    c.encoding = way->span == LG_SPAN_WINDOW ? "relative" : "rope";
    c.sink = 1;
    c.window_lo[0] = 0;
    c.window_hi[0] = 1;
    if (lg_scheme_config(&s, d->task, &c, &d->err) ||
        lg_scheme_check(&s, d->task, &c, way->longest, NULL, &d->err))
        return -1;
    double since = now();
    lg_model *m = lg_model_new(&c, &d->err);
    int code = m ? train(d, m, way, &s) : -1;
    if (!code && !d->json)
        printf("\n%s: trained %d steps on 1 to %d bits in %.0f s\n"
               "     bits     tokens    exact    tokens  samples  seconds\n"
               "                                  right\n",
               way->name, way->steps, way->longest, now() - since);
    if (!code) code = test(d, m, index, &s);
    lg_model_free(m);
    return code;
}

static void print_meaning(const struct demo *d)
{
    printf("\n");
    for (int i = 0; i < METHODS; i++)
        if (d->learned[i] < 0.99)
            printf("%s: not learned (%.1f%% exact at %d bits), so its longer cells say nothing.\n",
                   methods[i].name, 100 * d->learned[i], methods[i].longest);
        else
            printf("%s: learned (%.1f%% exact at %d bits); %.1f%% at ten times the length.\n",
                   methods[i].name, 100 * d->learned[i], methods[i].longest, 100 * d->tenfold[i]);
    printf(
        "\nAll were trained on short inputs alone. With plain places a longer input holds places\n"
        "and distances that were never met. Coupled IDs put a bit and its parity side by side,\n"
        "but a full span lets ever more tokens in. With the window a step sees the same few\n"
        "tokens at any length, and says itself where the next one belongs");
    printf(d->last[METHODS - 1] == 1 ? ":\nexact at a million tokens after training on %d.\n"
                                     : "; trained on %d\ntokens, it was not exact to the end.\n",
           2 * methods[METHODS - 1].longest + 2);
}

int lg_cmd_demo(int argc, char **argv)
{
    enum { SEED = 1, JSON };
    static const struct option known[] = {
        {"seed", required_argument, NULL, SEED}, {"json", no_argument, NULL, JSON}, {0}};
    struct demo d = {.seed = 1, .terminal = isatty(STDERR_FILENO)};
    char *end;
    opterr = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) switch (c) {
        case SEED:
            d.seed = strtoull(optarg, &end, 10);
            if (end == optarg || *end || *optarg == '-')
                return lg_cli_wrong("demo", "--seed is \"%s\"; take a whole number", optarg);
            break;
        case JSON: d.json = 1; break;
        default:
            return lg_cli_wrong("demo", "\"%s\" is not an option, or lacks its value",
                                argv[optind - 1]);
        }
    if (optind < argc)
        return lg_cli_wrong("demo", "it takes no argument, but got \"%s\"", argv[optind]);
    if (!d.json)
        printf("Parity with scratchpad: n bits, '=', the n running parities and a stop, generated\n"
               "token by token, by models that were trained on a few bits only.\n");
    int failed = 0;
    d.task = lg_task_new("parity-scratchpad", NULL, 0, &d.err);
    for (int i = 0; i < METHODS && d.task && !failed; i++) failed = run_method(&d, i);
    if (!d.task || failed) fprintf(stderr, "lengthen demo: %s\n", d.err.text);
    if (d.task && !failed && !d.json) print_meaning(&d);
    int code = d.task && !failed ? LG_EXIT_DONE : LG_EXIT_FAILED;
    lg_task_free(d.task);
    return code;
}
