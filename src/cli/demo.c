/* demo.c: `lengthen demo`, the main job: train on short sequences, answer long ones.
 * Parity with scratchpad: n bits, a separator, then the n running parities, generated
 * token by token. Bit i and running parity i share position ID i (position coupling). */
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
    "Trains a small transformer on parity with scratchpad at 1 to 20 bits (at most 41\n"
    "tokens), then generates the answers at growing lengths, up to a million tokens. Bit i\n"
    "and running parity i share a position ID. Two models differ in one thing: which keys a\n"
    "token may see.\n"
    "\n"
    "  full span     every earlier token\n"
    "  window span   only tokens whose ID is its own or the next one\n"
    "\n"
    "A sample counts as exact when every generated token is right.\n"
    "\n"
    "  --seed N      another initialisation and other data (1)\n"
    "  --json        one object a cell\n"
    "\n"
    "Example:\n"
    "  lengthen demo\n";

enum {
    SEPARATOR = 2,
    VOCAB = 3,
    BATCH = 64,
    SHORT = 20,
    STEPS = 600,
    STREAM_TRAIN = 1,
    STREAM_TEST = 2
};

static const struct method {
    const char *name;
    lg_span span;
    int longest; /* bits that it is tested on at most */
} methods[] = {
    {"coupled IDs, full span", LG_SPAN_FULL, 1000},
    {"coupled IDs, window span", LG_SPAN_WINDOW, 500000},
};

static const struct {
    int bits, samples;
} cells[] = {{20, 64},   {50, 64},   {100, 64},   {200, 64},  {500, 64},
             {1000, 64}, {10000, 4}, {100000, 1}, {500000, 1}};

/* What a method reached: exact match at the longest training length and at its longest. */
struct outcome {
    double learned, last;
    int bits;
};

struct demo {
    uint64_t seed;
    int json, terminal;
    struct outcome outcome[sizeof methods / sizeof *methods];
    lg_error err;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* n bits, the separator, and behind it room for the parities; IDs beside them. */
static void draw_prompt(int32_t *token, int32_t *id, int n, uint64_t seed, uint32_t stream,
                        uint64_t index)
{
    lg_rng r;
    lg_rng_init(&r, seed, stream, index);
    for (int i = 0; i < n; i++) {
        token[i] = (int32_t)lg_rng_below(&r, 2);
        id[i] = i + 1;
    }
    token[n] = SEPARATOR;
    id[n] = 0;
}

static int train_step(struct demo *d, lg_trainer *t, lg_batch *b, int step, lg_train_result *r)
{
    int32_t token[2 * SHORT + 1], id[2 * SHORT + 1], target[2 * SHORT + 1];
    lg_batch_reset(b);
    for (int s = 0; s < BATCH; s++) {
        int n = 1 + (step + s) % SHORT, parity = 0;
        draw_prompt(token, id, n, d->seed, STREAM_TRAIN, (uint64_t)step * BATCH + (uint64_t)s);
        for (int i = 0; i < 2 * n + 1; i++) target[i] = LG_NONE;
        for (int i = 0; i < n; i++) {
            parity ^= token[i];
            token[n + 1 + i] = target[n + i] = parity;
            id[n + 1 + i] = i + 1;
        }
        if (lg_batch_add(b, 2 * n + 1, token, id, target, NULL, &d->err)) return -1;
    }
    return lg_trainer_step(t, b, r, &d->err);
}

static void progress(const struct demo *d, const char *what, int done, int all, double since,
                     const char *more)
{
    if (d->json || !d->terminal) return;
    double left = done ? (now() - since) * (all - done) / done : 0;
    fprintf(stderr, "\r\033[K%s: %d of %d, %.0f s left%s", what, done, all, left, more);
    if (done == all) fputs("\r\033[K", stderr);
}

static int train(struct demo *d, lg_model *m, const struct method *way)
{
    lg_train_options o = lg_train_options_default();
    o.steps = STEPS;
    o.warmup = 50;
    lg_trainer *t = lg_trainer_new(m, &o, &d->err);
    lg_batch b;
    lg_batch_init(&b);
    lg_train_result r;
    double since = now();
    int code = t ? 0 : -1;
    for (int step = 0; step < STEPS && !code; step++) {
        char more[64];
        code = train_step(d, t, &b, step, &r);
        if (code || (step + 1) % 10) continue;
        snprintf(more, sizeof more, ", loss %.4f", r.loss);
        progress(d, way->name, step + 1, STEPS, since, more);
    }
    lg_batch_clear(&b);
    lg_trainer_free(t);
    return code;
}

struct score {
    int exact, samples;
    int64_t right, tokens;
    double seconds;
};

/* Generates the running parities of `samples` fresh prompts of n bits. */
static int test(struct demo *d, const lg_model *m, int n, int samples, struct score *score)
{
    size_t length = (size_t)n + 1;
    int32_t *token = malloc(length * (size_t)samples * sizeof *token);
    int32_t *id = malloc(length * sizeof *id), next[BATCH], next_id[BATCH], parity[BATCH] = {0};
    int code = 0, wrong[BATCH] = {0};
    double since = now();
    lg_batch prompt;
    lg_batch_init(&prompt);
    lg_decoder *decoder = lg_decoder_new(m, samples, &d->err);
    if (!decoder || !token || !id) {
        if (decoder) snprintf(d->err.text, sizeof d->err.text, "no memory for %d bits", n);
        code = -1;
    }
    for (size_t s = 0; s < (size_t)samples && !code; s++) {
        draw_prompt(token + s * length, id, n, d->seed, STREAM_TEST, (uint64_t)n * BATCH + s);
        code = lg_batch_add(&prompt, n + 1, token + s * length, id, NULL, NULL, &d->err);
    }
    if (!code) code = lg_decoder_start(decoder, &prompt, &d->err);
    for (int i = 0; i < n && !code; i++) {
        for (int s = 0; s < samples; s++) {
            parity[s] ^= token[(size_t)s * length + (size_t)i];
            next[s] = lg_argmax(lg_decoder_logits(decoder, s), VOCAB);
            next_id[s] = i + 1;
            wrong[s] |= next[s] != parity[s];
            score->right += next[s] == parity[s];
        }
        if ((i + 1) % 2000 == 0 || i + 1 == n) progress(d, "generating", i + 1, n, since, "");
        code = lg_decoder_step(decoder, next, next_id, &d->err);
    }
    score->samples = samples;
    score->tokens = (int64_t)n * samples;
    score->seconds = now() - since;
    for (int s = 0; s < samples; s++) score->exact += !wrong[s];
    lg_decoder_free(decoder);
    lg_batch_clear(&prompt);
    free(token);
    free(id);
    return code;
}

static void print_cell(const struct demo *d, const struct method *way, int n, const struct score *s)
{
    double exact = (double)s->exact / s->samples, right = (double)s->right / (double)s->tokens;
    if (d->json)
        printf("{\"method\":\"%s\",\"bits\":%d,\"tokens\":%d,\"exact\":%.6f,"
               "\"token_accuracy\":%.6f,\"samples\":%d,\"seconds\":%.3f,\"seed\":%llu}\n",
               way->name, n, 2 * n + 1, exact, right, s->samples, s->seconds,
               (unsigned long long)d->seed);
    else
        printf("  %7d  %9d  %6.1f%%  %7.2f%%  %7d  %7.1f%s\n", n, 2 * n + 1, 100 * exact,
               100 * right, s->samples, s->seconds, n == SHORT ? "   <- longest in training" : "");
    fflush(stdout);
}

static int run_method(struct demo *d, const struct method *way, struct outcome *out)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = VOCAB;
    c.width = 64;
    c.heads = 2;
    c.seed = d->seed;
    c.span = way->span;
    c.encoding = "rope";
    c.window_lo[0] = 0;
    c.window_hi[0] = 1;
    double since = now();
    lg_model *m = lg_model_new(&c, &d->err);
    int code = m ? train(d, m, way) : -1;
    if (!code && !d->json)
        printf("\n%s: trained %d steps on 1 to %d bits in %.0f s\n"
               "     bits     tokens    exact    tokens  samples  seconds\n"
               "                                  right\n",
               way->name, STEPS, SHORT, now() - since);
    for (size_t i = 0; i < sizeof cells / sizeof *cells && !code; i++) {
        struct score s = {0};
        if (cells[i].bits > way->longest) break;
        code = test(d, m, cells[i].bits, cells[i].samples, &s);
        if (code) break;
        print_cell(d, way, cells[i].bits, &s);
        out->last = (double)s.exact / s.samples;
        out->bits = cells[i].bits;
        if (cells[i].bits == SHORT) out->learned = out->last;
    }
    lg_model_free(m);
    return code;
}

static void print_meaning(const struct demo *d)
{
    printf("\n");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct outcome *o = &d->outcome[i];
        if (o->learned < 0.99)
            printf("%s: not learned at %d bits (%.1f%% exact), so its longer cells say nothing.\n",
                   methods[i].name, SHORT, 100 * o->learned);
        else
            printf("%s: %.1f%% exact at %d bits, %.1f%% at %d.\n", methods[i].name,
                   100 * o->learned, SHORT, 100 * o->last, o->bits);
    }
    printf("With a full span the attention spreads over ever more keys; with a window a step\n"
           "sees the same few tokens at any length, so what was learned short can hold long.\n");
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
        printf("Parity with scratchpad: n bits, a separator, then the n running parities,\n"
               "generated token by token. Trained on at most %d bits (%d tokens).\n",
               SHORT, 2 * SHORT + 1);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (run_method(&d, &methods[i], &d.outcome[i])) {
            fprintf(stderr, "lengthen demo: %s\n", d.err.text);
            return LG_EXIT_FAILED;
        }
    if (!d.json) print_meaning(&d);
    return LG_EXIT_DONE;
}
