/* eval.c: `lengthen eval`: what a run can do, length by length. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lengthen_lab.h"

const char lg_cmd_eval_help[] =
    "Usage: lengthen eval RUN [OPTIONS]\n"
    "\n"
    "Generates the answers of fresh examples, token by token, for each length (and sparsity)\n"
    "and counts those that are exact: every answer token right, the stop token in its place.\n"
    "Where a run predicts IDs, there is a row with the IDs of the task's rule (given) and one\n"
    "with the model's own (predicted). The interval is Wilson's, 95%. Beside it the same\n"
    "teacher-forced: each token predicted from the right ones before it.\n"
    "\n"
    "  --lengths A,B,..      lengths (those of the config)\n"
    "  --sparsities A,B,..   sparsities (those of the config)\n"
    "  --samples N           examples a cell (as in the config)\n"
    "  --ids given|predicted only these\n"
    "  --json                one object a cell\n"
    "\n"
    "Example:\n"
    "  lengthen eval runs/parity --lengths 20,100,1000 --samples 100\n";

enum { MOST = 256 };

struct table {
    int json, rows;
};

static double share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void print_json(const lg_run_cell *c)
{
    printf("{\"length\":%d,\"sparsity\":%d,\"ids\":\"%s\",\"tokens\":%.0f,\"samples\":%d,"
           "\"exact\":%.6f,\"low\":%.6f,\"high\":%.6f,\"token_accuracy\":%.6f,"
           "\"id_accuracy\":%.6f,\"taught_exact\":%.6f,\"taught_token_accuracy\":%.6f,"
           "\"seconds\":%.3f}\n",
           c->length, c->sparsity, c->predicted ? "predicted" : "given", c->tokens,
           c->score.samples, share(c->score.exact, c->score.samples), c->low, c->high,
           share(c->score.right, c->score.tokens), share(c->score.ids_right, c->score.ids),
           share(c->taught.exact, c->taught.samples), share(c->taught.right, c->taught.tokens),
           c->seconds);
}

static void print_cell(void *context, const lg_run_cell *c)
{
    struct table *t = context;
    if (t->json)
        print_json(c);
    else if (!t->rows)
        printf("                                      generated                             "
               "teacher-forced\n"
               "  length  sparsity   tokens  IDs         exact    95%% interval      tokens    "
               "exact   tokens  samples  seconds\n");
    if (!t->json)
        printf(
            "%8d  %8d  %7.0f  %-9s  %6.1f%%  %5.1f%% .. %5.1f%%  %6.2f%%  %6.1f%%  %6.2f%%  %7d  "
            "%7.1f\n",
            c->length, c->sparsity, c->tokens, c->predicted ? "predicted" : "given",
            100 * share(c->score.exact, c->score.samples), 100 * c->low, 100 * c->high,
            100 * share(c->score.right, c->score.tokens),
            100 * share(c->taught.exact, c->taught.samples),
            100 * share(c->taught.right, c->taught.tokens), c->score.samples, c->seconds);
    t->rows++;
    fflush(stdout);
}

/* "20,50,100" into to; their number, or -1. */
static int read_list(const char *text, int *to)
{
    int n = 0;
    while (n < MOST) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < 1 || value > 1 << 30) return -1;
        to[n++] = (int)value;
        if (!*end) return n;
        if (*end != ',') return -1;
        text = end + 1;
    }
    return -1;
}

static int wrong_list(const char *option, const char *text)
{
    return lg_cli_wrong("eval", "%s is \"%s\"; take up to %d numbers of 1 or more, as in 20,50,100",
                        option, text, MOST);
}

int lg_cmd_eval(int argc, char **argv)
{
    enum { LENGTHS = 1, SPARSITIES, SAMPLES, IDS, JSON };
    static const struct option known[] = {{"lengths", required_argument, NULL, LENGTHS},
                                          {"sparsities", required_argument, NULL, SPARSITIES},
                                          {"samples", required_argument, NULL, SAMPLES},
                                          {"ids", required_argument, NULL, IDS},
                                          {"json", no_argument, NULL, JSON},
                                          {0}};
    int lengths[MOST], sparsities[MOST], one[MOST];
    lg_eval_options o = {.predicted = -1};
    struct table t = {0};
    opterr = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) switch (c) {
        case LENGTHS:
            o.lengths = lengths;
            if ((o.length_count = read_list(optarg, lengths)) < 0)
                return wrong_list("--lengths", optarg);
            break;
        case SPARSITIES:
            o.sparsities = sparsities;
            if ((o.sparsity_count = read_list(optarg, sparsities)) < 0)
                return wrong_list("--sparsities", optarg);
            break;
        case SAMPLES:
            if (read_list(optarg, one) != 1)
                return lg_cli_wrong("eval", "--samples is \"%s\"; take a number of 1 or more",
                                    optarg);
            o.samples = one[0];
            break;
        case IDS:
            if (strcmp(optarg, "given") != 0 && strcmp(optarg, "predicted") != 0)
                return lg_cli_wrong("eval", "--ids is \"%s\"; take given or predicted", optarg);
            o.predicted = strcmp(optarg, "predicted") == 0;
            break;
        case JSON: t.json = 1; break;
        default:
            return lg_cli_wrong("eval", "\"%s\" is not an option, or lacks its value",
                                argv[optind - 1]);
        }
    if (optind == argc) return lg_cli_wrong("eval", "which run? Give its folder");
    if (optind + 1 < argc)
        return lg_cli_wrong("eval", "one run at a time; \"%s\" is too much", argv[optind + 1]);
    o.folder = argv[optind];
    lg_error err = {0}, warning = {0};
    o.table = print_cell;
    o.context = &t;
    int code = lg_run_eval(&o, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen eval: %s\n", warning.text);
    if (!code) return LG_EXIT_DONE;
    fprintf(stderr, "lengthen eval: %s\n", err.text);
    return code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
}
