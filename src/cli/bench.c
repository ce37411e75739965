/* bench.c: `lengthen bench`, this machine's peak, each kernel, the generators, text, the whole step,
 * generation, the probe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"

const char lg_cmd_bench_help[] =
    "Usage: lengthen bench [OPTIONS]\n"
    "\n"
    "Measures this machine's matrix-multiply peak (the best of the libraries that are\n"
    "installed, and our own), each kernel, the making of examples of each task, the encoding of\n"
    "text, whole training steps as tokens a second and as a share of that peak, counting useful\n"
    "FLOPs only, and the same of generation and of the probe's leaving out of every token of a\n"
    "text.\n"
    "\n"
    "  --only PART              peak, kernel, task, text, step, generate or probe (the default\n"
    "                           is all of them)\n"
    "  --shape TEXT             only the step, and of its shapes those with TEXT in their\n"
    "                           name (w256-l4)\n"
    "  --precision P            fp32 or bf16, of the step (fp32)\n"
    "  --against torch          the same step, or generation, in PyTorch, in turn in the same\n"
    "                           run: without any setting (torch), with this CPU's kernels on\n"
    "                           all cores (cpu), the fastest of all ways we know (tuned), and\n"
    "                           the fastest with its bf16 autocast (bf16)\n"
    "  --python FILE            the Python that has torch (/usr/bin/python3)\n"
    "  --rounds N               in turn with PyTorch (3)\n"
    "  --tokenizer FILE         what encodes the text (byte-level BPE learned from it)\n"
    "  --text PATHS             the texts to encode, a file or folder (words made up)\n"
    "  --threads N              all cores by default\n"
    "  --seconds S              for each measurement (1)\n"
    "  --json                   one object per line\n"
    "\n"
    "  --scale                  instead: how training scales over the ranks of MPI. Measures the\n"
    "                           parts of a step and predicts 1 to 1,024 ranks; under mpirun also\n"
    "                           the messages, and the step itself on as many ranks as there are\n"
    "  --latency MS             of the network to predict for (measured; alone 0.03)\n"
    "  --bandwidth MBYTES       per second, in each direction (measured; alone 1100)\n"
    "\n"
    "Examples:\n"
    "  mpirun -n 4 lengthen bench --scale --threads 1 --shape w256\n"
    "  lengthen bench --only step --against torch\n";

struct request {
    lg_bench_options o;
    int only, peer; /* their places among the names, or -1 */
    int precision;
    int json;
    const char *part; /* of the last row printed */
    int scale;
    double latency, bandwidth; /* ms, MB/s */
};

static void print_json(const lg_bench_row *r)
{
    int step = strcmp(r->bench, "step") == 0 || strcmp(r->bench, "generate") == 0;
    int probe = strcmp(r->bench, "probe") == 0;
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
               "\"torch_tuned_tokens_per_s\":%.0f,\"torch_bf16_tokens_per_s\":%.0f,"
               "\"ratio_torch\":%.3f,\"ratio_torch_cpu\":%.3f,\"ratio_torch_tuned\":%.3f,"
               "\"ratio_torch_bf16\":%.3f",
               r->torch, r->torch_cpu, r->torch_tuned, r->torch_bf16, r->ratio_torch,
               r->ratio_torch_cpu, r->ratio_torch_tuned, r->ratio_torch_bf16);
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
        printf("\n%-25s  tokens/s      ms  GFLOPS  of peak%s\n",
               strcmp(r->bench, "step") == 0 ? "training step" : "generating with the cache",
               r->torch > 0 ? "   torch     cpu   tuned    bf16  ours/torch    /cpu  /tuned   /bf16"
                            : "");
}

static void print_row(void *context, const lg_bench_row *r)
{
    struct request *q = context;
    if (q->json) {
        print_json(r);
        fflush(stdout);
        return;
    }
    if (!q->part || strcmp(q->part, r->bench) != 0) print_head(r);
    q->part = r->bench;
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
            printf(" %7.0f %7.0f %7.0f %7.0f %10.2fx %6.2fx %6.2fx %6.2fx", r->torch, r->torch_cpu,
                   r->torch_tuned, r->torch_bf16, r->ratio_torch, r->ratio_torch_cpu,
                   r->ratio_torch_tuned, r->ratio_torch_bf16);
        if (r->peak_drift > 0.1) printf("  (noisy: the peak moved by %.0f%%)", 100 * r->peak_drift);
        printf("\n");
    }
    fflush(stdout);
}

/* ---- Scaling ----------------------------------------------------------------------------- */

static void print_scale(void *context, const lg_scale_row *r)
{
    struct request *q = context;
    if (q->json) {
        printf(
            "{\"bench\":\"scale\",\"shape\":\"%s\",\"ranks\":%d,\"threads\":%d,\"parameters\":%lld,"
            "\"latency_ms\":%.4f,\"mbytes_per_s\":%.1f,\"compute_ms\":%.3f,\"combine_ms\":%.3f,"
            "\"predicted_tokens_per_s\":%.0f,\"efficiency\":%.3f,"
            "\"predicted_tokens_per_s_batch_per_rank\":%.0f,\"measured_tokens_per_s\":",
            r->shape, r->ranks, r->threads, (long long)r->parameters, 1e3 * r->latency,
            1e-6 * r->bandwidth, 1e3 * r->compute_s, 1e3 * r->combine_s, r->predicted,
            r->efficiency, r->weak);
        printf(r->measured > 0 ? "%.0f}\n" : "null}\n", r->measured);
        fflush(stdout);
        return;
    }
    if (r->ranks == 1)
        printf("\n%s, %.1fM parameters, threads per rank: %d\n"
               "ranks  compute ms  combine ms  predicted tokens/s  efficiency  measured  "
               "predicted/measured  tokens/s, a batch per rank\n",
               r->shape, 1e-6 * (double)r->parameters, r->threads);
    printf("%5d %11.2f %11.2f %19.0f %10.0f%%", r->ranks, 1e3 * r->compute_s, 1e3 * r->combine_s,
           r->predicted, 100 * r->efficiency);
    if (r->measured > 0)
        printf(" %9.0f %19.2f", r->measured, r->predicted / r->measured);
    else
        printf(" %9s %19s", "", "");
    printf(" %27.0f\n", r->weak);
    fflush(stdout);
}

static int scale(struct request *q)
{
    lg_error err = {0};
    lg_comm *c = NULL;
    lg_scale_options o = {.shape = q->o.shape,
                          .threads = q->o.threads,
                          .seconds = q->o.seconds,
                          .latency = 1e-3 * q->latency,
                          .bandwidth = 1e6 * q->bandwidth};
    int code = lg_comm_open(&c, &err);
    if (!code) code = lg_comm_check(c, "bench", &err);
    if (!code) code = lg_bench_scale(&o, c, print_scale, q, &err);
    if (code) return lg_cli_ranks_error("bench", c, code, &err);
    lg_comm_close(c, 0);
    return LG_EXIT_DONE;
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

static const struct {
    const char *name;
    int (*run)(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err);
} parts[] = {{"peak", lg_bench_peak},  {"kernel", lg_bench_kernels},
             {"task", lg_bench_tasks}, {"text", lg_bench_text},
             {"step", lg_bench_step},  {"generate", lg_bench_generate},
             {"probe", lg_bench_probe}};
enum { ALL = -1, TEXT = 3, STEP = 4, GENERATE = 5, PARTS = sizeof parts / sizeof *parts };

/* What is of one part alone goes with no other; and then only that part is run. */
static int choose_part(struct request *q)
{
    const lg_bench_options *o = &q->o;
    const char *other = q->only == ALL || q->only == STEP ? NULL : parts[q->only].name;
    if (q->peer >= 0 && other && q->only != GENERATE)
        return lg_cli_wrong("bench",
                            "--against torch is for steps and generation, but --only is %s", other);
    if (o->shape && other)
        return lg_cli_wrong("bench", "--shape \"%s\" is for steps, but --only is %s", o->shape,
                            other);
    if (o->precision != LG_PRECISION_FP32 && other)
        return lg_cli_wrong("bench", "--precision is for steps, but --only is %s", other);
    if ((o->tokenizer || o->text) && (o->shape || (q->only != ALL && q->only != TEXT)))
        return lg_cli_wrong("bench", "--tokenizer and --text are for --only text");
    if (o->tokenizer || o->text) q->only = TEXT;
    if (o->shape) q->only = STEP; /* a shape that is not there is then refused before any work */
    return 0;
}

static int read_options(struct request *q, int argc, char **argv)
{
    lg_bench_options *o = &q->o;
    const struct lg_cli_option rows[] = {
        {"only", .word = &q->only, .names = "peak, kernel, task, text, step, generate or probe"},
        {"shape", .text = &o->shape},
        {"precision", .word = &q->precision, .names = "fp32 or bf16"},
        {"against", .word = &q->peer, .names = "torch", .take = "torch, the only peer"},
        {"python", .text = &o->torch_python},
        {"rounds", .whole = &o->rounds, .least = 1, .most = 1000},
        {"tokenizer", .text = &o->tokenizer},
        {"text", .text = &o->text},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"seconds", .real = &o->seconds, .least = 0.01, .most = 3600},
        {"scale", .flag = &q->scale},
        {"latency", .real = &q->latency, .least = LG_CLI_ABOVE_0, .most = 1e6},
        {"bandwidth", .real = &q->bandwidth, .least = LG_CLI_ABOVE_0, .most = 1e9},
        {"json", .flag = &q->json},
        {0},
    };
    int code = lg_cli_options("bench", rows, &argc, &argv);
    if (code) return code;
    o->precision = q->precision > 0 ? LG_PRECISION_BF16 : LG_PRECISION_FP32;
    if (argc) return lg_cli_wrong("bench", "it takes no argument, but got \"%s\"", argv[0]);
    if ((q->latency > 0 || q->bandwidth > 0) && !q->scale)
        return lg_cli_wrong("bench", "--latency and --bandwidth go with --scale");
    if (q->scale && (q->only != ALL || q->peer >= 0 || o->tokenizer || o->text))
        return lg_cli_wrong("bench", "--scale goes with --shape, --threads, --seconds, --latency, "
                                     "--bandwidth and --json alone");
    return q->scale ? 0 : choose_part(q);
}

int lg_cmd_bench(int argc, char **argv)
{
    struct request q = {.o = lg_bench_options_default(), .only = ALL, .peer = -1};
    char script[4096];
    lg_error err;
    int code = read_options(&q, argc, argv);
    if (code) return code;
    if (q.scale) return scale(&q);
    if (q.peer >= 0) {
        if (!(q.o.torch_script = find_script(script, sizeof script)))
            return lg_cli_wrong("bench", "bench/torch_step.py was not found; run it from the "
                                         "source folder");
        if (lg_bench_torch_check(&q.o, &err)) return lg_cli_error("bench", LG_ERROR_SYSTEM, &err);
    }
    for (int i = 0; i < PARTS && !code; i++)
        if (q.only == ALL || q.only == i) code = parts[i].run(&q.o, print_row, &q, &err);
    if (!code) return LG_EXIT_DONE;
    return lg_cli_error("bench", code, &err);
}
