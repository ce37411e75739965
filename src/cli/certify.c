/* certify.c: `lengthen certify`: proves that a run is right at every length, or shows the shortest
 * input on which it fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/certify_own.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"

const char lg_cmd_certify_help[] =
    "Usage: lengthen certify RUN [OPTIONS]\n"
    "       lengthen certify RUN --data DATA [OPTIONS]\n"
    "       lengthen certify RUN --sample [--data DATA] [OPTIONS]\n"
    "\n"
    "Proves that greedy decoding is right on every input of every length, or prints the\n"
    "shortest input on which it fails. For runs with a window span over coupled IDs, on tasks\n"
    "that a finite machine writes column by column: parity-scratchpad, addition, subtraction,\n"
    "copy, reverse, multiplication by a fixed digit, and machine with any table. Each\n"
    "prediction of such a model depends on the few columns that its layers see; all that these\n"
    "can hold on valid inputs is enumerated and run. With source match also retrieval,\n"
    "variable-assignment and sparse-parity-scratchpad: every query is compared with every key.\n"
    "See docs/CERTIFICATE.md.\n"
    "\n"
    "Data without a machine (jsonl:FILE, exec:COMMAND, a found coupling), for runs with a\n"
    "window and given IDs or delta heads: --data lists the contexts of all examples, each with\n"
    "its answer. If the model gives that answer in every one of them, it is right on every\n"
    "input whose contexts are all in the list, as far as the answers of the data are right. A\n"
    "context with two answers is shown with both lines: the window is too small, or the data\n"
    "are wrong. How often an example leaves the list of the others is counted.\n"
    "\n"
    "--sample is no proof: it shows by independent draws of a task or a program that a share of\n"
    "the inputs of each length is answered rightly, with a confidence. How many are drawn is\n"
    "fixed before any is judged: 4,603 for 99.9% and 99%, 6,636 if one may fail. What that will\n"
    "cost is printed first.\n"
    "\n"
    "  --max-contexts N   refuse if there may be more (5e7; of --data 1e7)\n"
    "  --confirm N        when certified, also answer N random inputs of N columns, up to 400 of\n"
    "                     equal columns (all carries, none), and one of 500 N; 1 to 2000\n"
    "  --data DATA        jsonl:FILE, exec:COMMAND or a task with the run's words; own: the run's\n"
    "  --fresh DATA       count how many of these leave the list of --data\n"
    "  --samples N        examples of --data and --fresh that are no file (10000)\n"
    "  --sample           a share of the inputs, by independent draws\n"
    "  --lengths A,B,..   of --data (all lines, or the lengths of training) and of --sample (the\n"
    "                     longest of training), which share the 1%\n"
    "  --share P          of --sample (0.999)\n"
    "  --confidence P     of --sample, of all lengths together (0.99)\n"
    "  --failures N       that are allowed at each length (0)\n"
    "  --allow-exec       of --data and --sample: execute the command of a run's task "
    "exec:COMMAND\n"
    "                     though you have not trained the run here: only if you trust whoever\n"
    "                     made it\n"
    "  --fallback         if the newest weights are damaged, use older ones\n"
    "  --threads N        threads (all cores)\n"
    "  --json             one object; of --data and --sample it is also kept in the run's folder, "
    "as\n"
    "                     certificate-list.json and certificate-sampled.json\n"
    "\n"
    "Exit code 0: certified, 3: not, a context is wrong; an input that fails is shown. A wrong ID\n"
    "may do no harm to any input that was tried: then this is said. 3 also if an input of\n"
    "--confirm is answered wrongly, if a context has two answers, or if more draws fail than may.\n"
    "2: nothing was tried, for the reason that is printed.\n"
    "\n"
    "Examples:\n"
    "  lengthen certify runs/parity --confirm 1000\n"
    "  lengthen certify coupled/best --data jsonl:data.jsonl --fresh jsonl:coupled/report.jsonl\n"
    "  lengthen certify runs/own --sample --lengths 100,1000 --data 'exec:python3 mine.py'\n";

enum { MOST = 64, GREATEST = 1 << 30 };

struct request {
    lg_certify_options o;
    lg_list_options list;
    lg_sampled_options sampled;
    int sample, lengths[MOST], length_count;
    int json;
    double shown;
};

/* A line that is gone at the end of each phase. */
static void progress(void *context, const char *phase, int64_t done, int64_t all)
{
    struct request *q = context;
    if (!isatty(STDERR_FILENO)) return;
    if (done == all) fputs("\r\033[K", stderr);
    if (done == all || (done && lg_cli_now() - q->shown < 0.2)) return;
    q->shown = lg_cli_now();
    fprintf(stderr, "\r\033[K%s: %lld of %lld", phase, (long long)done, (long long)all);
}

static int print_json(const lg_certificate *c, const char *folder)
{
    char *text = lg_certificate_json(c);
    if (text) {
        printf("%.*s", (int)strlen(text) - 1, text); /* all but its } */
        lg_cli_json_folder(folder);
        puts("}");
    }
    free(text);
    return text ? 0 : LG_ERROR_MEMORY;
}

static void print_confirmed(const lg_confirmed *t)
{
    if (!t->longest) return;
    printf("Tried: %d random inputs and %d of equal columns, %d columns each, and one of %d: ",
           t->random, t->worst, t->columns, t->longest);
    if (t->wrong)
        printf("%d wrong. This cannot be; please report it.\n", t->wrong);
    else
        printf("all right.\n");
}

static void print_seen(const lg_certificate *c)
{
    if (c->pairs)
        printf("%lld predictions show all contexts of valid inputs (%d layer%s), and %lld pairs of "
               "a query\n"
               "and a key.\n",
               (long long)c->contexts, c->layers, c->layers == 1 ? "" : "s", (long long)c->pairs);
    else
        printf("A position sees its own column, %d behind and %d ahead of it (%d layer%s): %lld "
               "contexts\n"
               "on valid inputs.\n",
               c->back, c->ahead, c->layers, c->layers == 1 ? "" : "s", (long long)c->contexts);
}

static void print_text(const lg_certificate *c)
{
    print_seen(c);
    if (c->certified) {
        printf(
            "Certified: all are right, by a margin of at least %.3g, so that greedy decoding is\n"
            "right on every input of every length. Step %lld, %s, build %s.\n",
            c->min_margin, (long long)c->step, c->isa, lg_commit());
        print_confirmed(&c->confirmed);
        return;
    }
    printf("Not certified: %lld are wrong", (long long)c->wrong);
    if (c->pairs)
        printf(", %lld keys are missed, %lld match that should not", (long long)c->missed,
               (long long)c->false_matches);
    printf(".\n\n  input    %s\n  right    %s\n  written  %s\n\n", c->input, c->right, c->answer);
    if (c->first)
        printf("%s: %d %s, wrong at token %d of the answer.\n",
               c->shortest ? "The shortest input that fails" : "An input that fails", c->columns,
               c->pairs          ? c->columns == 1 ? "entry" : "entries"
               : c->columns == 1 ? "column"
                                 : "columns",
               c->first);
    else
        printf(
            "An ID is predicted wrongly there, though this answer came out right, and so did all\n"
            "others that were tried.\n");
}

/* Options of one kind are refused with another. */
static int check_options(const struct request *q)
{
    int own = q->list.data != NULL;
    if (q->o.confirm && (own || q->sample))
        return lg_cli_wrong("certify",
                            "--confirm is of the proof for all lengths; leave it out, or "
                            "--data and --sample");
    if (!q->sample && (q->sampled.share > 0 || q->sampled.confidence > 0 || q->sampled.failures))
        return lg_cli_wrong("certify",
                            "--share, --confidence and --failures are of --sample; add that");
    if ((q->list.fresh || q->list.samples) && (!own || q->sample))
        return lg_cli_wrong("certify", "--fresh and --samples are of the list of --data; %s",
                            q->sample ? "leave them out" : "add that");
    if (q->length_count && !own && !q->sample)
        return lg_cli_wrong("certify",
                            "the proof is for all lengths; take --lengths with --data or "
                            "--sample");
    return 0;
}

static int read_options(struct request *q, int argc, char **argv)
{
    lg_certify_options *o = &q->o;
    const struct lg_cli_option rows[] = {
        {"max-contexts", .real = &o->most, .least = 1, .most = 1e9,
         .take = "a number from 1 to 1e9"},
        {"confirm", .whole = &o->confirm, .least = 1, .most = 2000},
        {"data", .text = &q->list.data},
        {"fresh", .text = &q->list.fresh},
        {"samples", .whole = &q->list.samples, .least = 1, .most = GREATEST},
        {"sample", .flag = &q->sample},
        {"lengths", .list = q->lengths, .count = &q->length_count, .room = MOST, .least = 1,
         .most = GREATEST},
        {"share", .real = &q->sampled.share, .least = 1e-9, .most = 1 - 1e-9,
         .take = "a number above 0 and below 1"},
        {"confidence", .real = &q->sampled.confidence, .least = 1e-9, .most = 1 - 1e-9,
         .take = "a number above 0 and below 1"},
        {"failures", .whole = &q->sampled.failures, .least = 0, .most = 1000},
        {"allow-exec", .flag = &o->access.allow_exec},
        {"fallback", .flag = &o->access.fallback},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"json", .flag = &q->json},
        {0},
    };
    int code = lg_cli_options("certify", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("certify", "run", "Give its folder", argc, argv, &o->folder);
    return code ? code : check_options(q);
}

/* What `o` has, for the other kinds; their progress is reported like its own. */
static void share_options(struct request *q)
{
    const lg_certify_options *o = &q->o;
    const int *lengths = q->length_count ? q->lengths : NULL;
    lg_list_options *l = &q->list;
    lg_sampled_options *s = &q->sampled;
    if (l->data && strcmp(l->data, "own") == 0) l->data = NULL;
    l->folder = s->folder = o->folder;
    l->access = s->access = o->access;
    l->threads = s->threads = o->threads;
    l->lengths = s->lengths = lengths;
    l->length_count = s->length_count = q->length_count;
    l->most = o->most;
    l->progress = o->progress;
    l->context = o->context;
    s->data = l->data;
}

int lg_cmd_certify(int argc, char **argv)
{
    static lg_certificate c;
    struct request q = {0};
    lg_error err = {0};
    int code = read_options(&q, argc, argv);
    if (code) return code;
    q.o.progress = progress;
    q.o.context = &q;
    int own = q.list.data != NULL;
    share_options(&q);
    if (q.sample) return lg_cli_certify_sampled(&q.sampled, q.json);
    if (own) return lg_cli_certify_list(&q.list, q.json);
    code = lg_certify(&q.o, &c, &err);
    if (code) return lg_cli_error("certify", code, &err);
    if (c.warning[0]) fprintf(stderr, "lengthen certify: %s\n", c.warning);
    if (!q.json) {
        print_text(&c);
    } else if (print_json(&c, q.o.folder)) {
        fprintf(stderr, "lengthen certify: no memory to print; end other programs\n");
        return LG_EXIT_FAILED;
    }
    return c.certified && !c.confirmed.wrong ? LG_EXIT_DONE : LG_EXIT_NO;
}
