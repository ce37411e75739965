/* certify.c: `lengthen certify`: proves that a run is right at every length, or shows the shortest
 * input on which it fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"

const char lg_cmd_certify_help[] =
    "Usage: lengthen certify RUN [OPTIONS]\n"
    "\n"
    "Proves that greedy decoding is right on every input of every length, or prints the\n"
    "shortest input on which it fails. For runs with a window span over coupled IDs, on tasks\n"
    "that a finite machine writes column by column: parity-scratchpad, addition, subtraction,\n"
    "copy, reverse, multiplication by a fixed digit, and machine with any table. Each\n"
    "prediction of such a model depends on the few columns that its layers see; all that these\n"
    "can hold on valid inputs is enumerated and run. See docs/CERTIFICATE.md.\n"
    "\n"
    "  --max-contexts N   refuse if there may be more (5e7)\n"
    "  --confirm N        when certified, also answer N random inputs of N columns, up to 400 of\n"
    "                     equal columns (all carries, none), and one of 500 N; 1 to 2000\n"
    "  --fallback         if the newest weights are damaged, use older ones\n"
    "  --threads N        threads (all cores)\n"
    "  --json             one object\n"
    "\n"
    "Exit code 0: certified, 3: not, a context is wrong; an input that fails is shown. A wrong ID\n"
    "may do no harm to any input that was tried: then this is said. 3 also if an input of\n"
    "--confirm is answered wrongly. 2: nothing was tried, for the reason that is printed.\n"
    "\n"
    "Example:\n"
    "  lengthen certify runs/parity --confirm 1000\n";

struct request {
    lg_certify_options o;
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

static void print_text(const lg_certificate *c)
{
    printf(
        "A position sees its own column, %d behind and %d ahead of it (%d layer%s): %lld contexts\n"
        "on valid inputs.\n",
        c->back, c->ahead, c->layers, c->layers == 1 ? "" : "s", (long long)c->contexts);
    if (c->certified) {
        printf(
            "Certified: all are right, by a margin of at least %.3g, so that greedy decoding is\n"
            "right on every input of every length. Step %lld, %s, build %s.\n",
            c->min_margin, (long long)c->step, c->isa, lg_commit());
        print_confirmed(&c->confirmed);
        return;
    }
    printf("Not certified: %lld are wrong.\n\n  input    %s\n  right    %s\n  written  %s\n\n",
           (long long)c->wrong, c->input, c->right, c->answer);
    if (c->first)
        printf("%s: %d column%s, wrong at token %d of the answer.\n",
               c->shortest ? "The shortest input that fails" : "An input that fails", c->columns,
               c->columns == 1 ? "" : "s", c->first);
    else
        printf(
            "An ID is predicted wrongly there, though this answer came out right, and so did all\n"
            "others that were tried.\n");
}

static int read_options(struct request *q, int argc, char **argv)
{
    lg_certify_options *o = &q->o;
    const struct lg_cli_option rows[] = {
        {"max-contexts", .real = &o->most, .least = 1, .most = 1e9,
         .take = "a number from 1 to 1e9"},
        {"confirm", .whole = &o->confirm, .least = 1, .most = 2000},
        {"fallback", .flag = &o->access.fallback},
        {"threads", .whole = &o->threads, .least = 1, .most = 1024},
        {"json", .flag = &q->json},
        {0},
    };
    int code = lg_cli_options("certify", rows, &argc, &argv);
    return code ? code
                : lg_cli_argument("certify", "run", "Give its folder", argc, argv, &o->folder);
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
