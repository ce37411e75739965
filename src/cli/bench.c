/* bench.c: `lengthen bench`, this machine's peak, each kernel, the generators, text, the whole step,
 * the probe. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"

const char lg_cmd_bench_help[] =
    "Usage: lengthen bench [OPTIONS]\n"
    "\n"
    "Measures this machine's matrix-multiply peak (the best of the libraries that are\n"
    "installed, and our own), each kernel, the making of examples of each task, the encoding of\n"
    "text, whole training steps as tokens a second and as a share of that peak, counting useful\n"
    "FLOPs only, and the same of the probe's leaving out of every token of a text.\n"
    "\n"
    "  --only PART              peak, kernel, task, text, step or probe (the default is all six)\n"
    "  --shape TEXT             only the step, and of its shapes those with TEXT in their\n"
    "                           name (w256-l4)\n"
    "  --against torch          the same step in PyTorch, in turn in the same run: without\n"
    "                           any setting (torch), with this CPU's kernels on all cores\n"
    "                           (cpu), and the fastest of all ways we know (tuned)\n"
    "  --python FILE            the Python that has torch (/usr/bin/python3)\n"
    "  --tokenizer FILE         what encodes the text (byte-level BPE learned from it)\n"
    "  --text FILE              the text to encode, a file or folder (words made up)\n"
    "  --threads N              all cores by default\n"
    "  --seconds S              for each measurement (1)\n"
    "  --json                   one object a line\n"
    "\n"
    "Example:\n"
    "  lengthen bench --only step --against torch\n";

struct output {
    int json;
    const char *part; /* of the last row printed */
};

static void print_json(const lg_bench_row *r)
{
    int step = strcmp(r->bench, "step") == 0, probe = strcmp(r->bench, "probe") == 0;
    if (strcmp(r->bench, "task") == 0) {
        printf("{\"bench\":\"task\",\"name\":\"%s\",\"tokens_per_s\":%.0f}\n", r->name,
               r->tokens_per_s);
        return;
    }
    if (strcmp(r->bench, "text") == 0) {
        printf("{\"bench\":\"text\",\"name\":");
        lg_cli_json(stdout, r->name);
        printf(",\"mbytes_per_s\":%.1f,\"tokens_per_s\":%.0f}\n", 1e3 * r->gbytes, r->tokens_per_s);
        return;
    }
    printf("{\"bench\":\"%s\",\"%s\":\"%s\",\"threads\":%d,\"gflops\":%.2f", r->bench,
           step || probe ? "shape" : "name", r->name, r->threads, r->gflops);
    if (strcmp(r->bench, "kernel") == 0) printf(",\"gbytes_per_s\":%.2f", r->gbytes);
    if (step) printf(",\"tokens_per_s\":%.0f,\"step_ms\":%.3f", r->tokens_per_s, r->step_ms);
    if (probe) printf(",\"predictions_per_s\":%.2f", r->predictions_per_s);
    if (step || probe)
        printf(",\"peak_gflops\":%.1f,\"peak_share\":%.4f,\"peak_drift\":%.4f", r->peak,
               r->peak_share, r->peak_drift);
    if (r->torch > 0)
        printf(",\"torch_tokens_per_s\":%.0f,\"torch_cpu_tokens_per_s\":%.0f,"
               "\"torch_tuned_tokens_per_s\":%.0f,\"ratio_torch\":%.3f,"
               "\"ratio_torch_cpu\":%.3f,\"ratio_torch_tuned\":%.3f",
               r->torch, r->torch_cpu, r->torch_tuned, r->ratio_torch, r->ratio_torch_cpu,
               r->ratio_torch_tuned);
    printf(",\"isa\":\"%s\"}\n", lg_isa());
}

static void print_head(const lg_bench_row *r)
{
    if (strcmp(r->bench, "peak") == 0)
        printf("\nsgemm 2048x2048x2048        threads     GFLOPS\n");
    else if (strcmp(r->bench, "kernel") == 0)
        printf("\nkernel (%s, one core)%*s   GFLOPS       GB/s\n", lg_isa(),
               12 - (int)strlen(lg_isa()), "");
    else if (strcmp(r->bench, "task") == 0)
        printf("\nmaking examples (one core)  million tokens/s\n");
    else if (strcmp(r->bench, "text") == 0)
        printf("\nencoding text (one core)    million tokens/s       MB/s\n");
    else if (strcmp(r->bench, "probe") == 0)
        printf("\nprobe: leaving out         predictions/s  GFLOPS  of peak\n");
    else
        printf("\ntraining step              tokens/s      ms  GFLOPS  of peak%s\n",
               r->torch > 0 ? "   torch     cpu   tuned  ours/torch    /cpu  /tuned" : "");
}

static void print_row(void *context, const lg_bench_row *r)
{
    struct output *out = context;
    if (out->json) {
        print_json(r);
        fflush(stdout);
        return;
    }
    if (!out->part || strcmp(out->part, r->bench) != 0) print_head(r);
    out->part = r->bench;
    if (strcmp(r->bench, "peak") == 0)
        printf("%-27s %7d %10.1f\n", r->name, r->threads, r->gflops);
    else if (strcmp(r->bench, "kernel") == 0)
        printf("%-27s %15.1f %10.1f\n", r->name, r->gflops, r->gbytes);
    else if (strcmp(r->bench, "task") == 0)
        printf("%-27s %16.1f\n", r->name, 1e-6 * r->tokens_per_s);
    else if (strcmp(r->bench, "text") == 0)
        printf("%-27s %16.1f %10.1f\n", r->name, 1e-6 * r->tokens_per_s, 1e3 * r->gbytes);
    else if (strcmp(r->bench, "probe") == 0)
        printf("%-25s %14.1f %7.1f %7.1f%%%s\n", r->name, r->predictions_per_s, r->gflops,
               100 * r->peak_share, r->peak_drift > 0.1 ? "  (noisy)" : "");
    else {
        printf("%-25s %9.0f %7.1f %7.1f %7.1f%%", r->name, r->tokens_per_s, r->step_ms, r->gflops,
               100 * r->peak_share);
        if (r->torch > 0)
            printf(" %7.0f %7.0f %7.0f %10.2fx %6.2fx %6.2fx", r->torch, r->torch_cpu,
                   r->torch_tuned, r->ratio_torch, r->ratio_torch_cpu, r->ratio_torch_tuned);
        if (r->peak_drift > 0.1) printf("  (noisy: the peak moved by %.0f%%)", 100 * r->peak_drift);
        printf("\n");
    }
    fflush(stdout);
}

/* bench/torch_step.py beside the program's build folder, or under the current one. */
static const char *find_script(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 64);
    if (n > 0) {
        path[n] = 0;
        for (int up = 0; up < 2; up++) {
            char *slash = strrchr(path, '/');
            if (slash) *slash = 0;
        }
        strcat(path, "/bench/torch_step.py");
        if (access(path, R_OK) == 0) return path;
    }
    snprintf(path, size, "bench/torch_step.py");
    return access(path, R_OK) == 0 ? path : NULL;
}

static int number(const char *text, double least, double most, double *to)
{
    char *end;
    *to = strtod(text, &end);
    return end != text && !*end && *to >= least && *to <= most;
}

int lg_cmd_bench(int argc, char **argv)
{
    enum { ONLY = 1, SHAPE, AGAINST, PYTHON, TOKENIZER, TEXT, THREADS, SECONDS, JSON };
    static const struct option known[] = {
        {"only", required_argument, NULL, ONLY},
        {"shape", required_argument, NULL, SHAPE},
        {"against", required_argument, NULL, AGAINST},
        {"python", required_argument, NULL, PYTHON},
        {"tokenizer", required_argument, NULL, TOKENIZER},
        {"text", required_argument, NULL, TEXT},
        {"threads", required_argument, NULL, THREADS},
        {"seconds", required_argument, NULL, SECONDS},
        {"json", no_argument, NULL, JSON},
        {NULL, 0, NULL, 0},
    };
    struct output out = {0};
    lg_bench_options o = lg_bench_options_default();
    const char *only = NULL;
    char script[4096];
    double value;
    lg_error err;
    opterr = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) switch (c) {
        case ONLY:
            only = optarg;
            if (strcmp(only, "peak") && strcmp(only, "kernel") && strcmp(only, "task") &&
                strcmp(only, "text") && strcmp(only, "step") && strcmp(only, "probe"))
                return lg_cli_wrong(
                    "bench", "--only is \"%s\"; take peak, kernel, task, text, step or probe",
                    only);
            break;
        case SHAPE: o.shape = optarg; break;
        case AGAINST:
            if (strcmp(optarg, "torch"))
                return lg_cli_wrong("bench", "--against is \"%s\"; the only peer is torch", optarg);
            o.torch_script = script;
            break;
        case PYTHON: o.torch_python = optarg; break;
        case TOKENIZER: o.tokenizer = optarg; break;
        case TEXT: o.text = optarg; break;
        case THREADS:
            if (!number(optarg, 1, 1024, &value))
                return lg_cli_wrong("bench", "--threads is \"%s\"; take 1 to 1024", optarg);
            o.threads = (int)value;
            break;
        case SECONDS:
            if (!number(optarg, 0.01, 3600, &value))
                return lg_cli_wrong("bench", "--seconds is \"%s\"; take 0.01 to 3600", optarg);
            o.seconds = value;
            break;
        case JSON: out.json = 1; break;
        default:
            return lg_cli_wrong("bench", "\"%s\" is not an option, or lacks its value",
                                argv[optind - 1]);
        }
    if (optind < argc)
        return lg_cli_wrong("bench", "it takes no argument, but got \"%s\"", argv[optind]);
    if (o.torch_script && only && strcmp(only, "step"))
        return lg_cli_wrong("bench", "--against torch is for steps, but --only is %s", only);
    if (o.shape && only && strcmp(only, "step"))
        return lg_cli_wrong("bench", "--shape \"%s\" is for steps, but --only is %s", o.shape,
                            only);
    if ((o.tokenizer || o.text) && (o.shape || (only && strcmp(only, "text"))))
        return lg_cli_wrong("bench", "--tokenizer and --text are for --only text");
    if (o.tokenizer || o.text) only = "text";
    if (o.shape) only = "step"; /* a shape that is not there is then refused before any work */
    if (o.torch_script) {
        if (!find_script(script, sizeof script))
            return lg_cli_wrong("bench", "bench/torch_step.py was not found; run it from the "
                                         "source folder");
        if (lg_bench_torch_check(&o, &err)) {
            fprintf(stderr, "lengthen bench: %s\n", err.text);
            return LG_EXIT_FAILED;
        }
    }
    int code = 0;
    if (!code && (!only || !strcmp(only, "peak"))) code = lg_bench_peak(&o, print_row, &out, &err);
    if (!code && (!only || !strcmp(only, "kernel")))
        code = lg_bench_kernels(&o, print_row, &out, &err);
    if (!code && (!only || !strcmp(only, "task"))) code = lg_bench_tasks(&o, print_row, &out, &err);
    if (!code && (!only || !strcmp(only, "text"))) code = lg_bench_text(&o, print_row, &out, &err);
    if (!code && (!only || !strcmp(only, "step"))) code = lg_bench_step(&o, print_row, &out, &err);
    if (!code && (!only || !strcmp(only, "probe")))
        code = lg_bench_probe(&o, print_row, &out, &err);
    if (!code) return LG_EXIT_DONE;
    fprintf(stderr, "lengthen bench: %s\n", err.text);
    return code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
}
