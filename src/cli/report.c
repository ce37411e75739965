/* report.c: `lengthen report`: runs and results as one HTML file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "lengthen_lab.h"

const char lg_cmd_report_help[] =
    "Usage: lengthen report [RUN.. | EXPERIMENT..] [OPTIONS]\n"
    "\n"
    "Writes one HTML file that needs no network: what was asked and the answer first, then the\n"
    "curves of training, answers by length, given against predicted IDs, losses by position, k*,\n"
    "certificates, what the runs write token by token and ID by ID, and the configs with what\n"
    "differs. Figures show values under the pointer (or by arrow keys), hide and show lines, and\n"
    "are saved as SVG, PNG and CSV.\n"
    "\n"
    "RUN is a folder, or what `lengthen runs show` takes; several are compared. EXPERIMENT is a\n"
    "folder of the results. Without a name: all results.\n"
    "\n"
    "  -o, --out FILE     the file (report.html)\n"
    "  --title TEXT       its title\n"
    "  --generate N       examples that each run answers, drawn step by step (1)\n"
    "  --prompt TEXT      and a prompt of yours\n"
    "  --no-passage       of runs of texts: leave out the passage with its sources\n"
    "  --store FILE       the store (LENGTHEN_STORE, else lengthen.db)\n"
    "  --experiments DIR  the folder of the experiments' files (experiments)\n"
    "  --results DIR      the folder of the results (results)\n"
    "  --allow-exec       execute the command of a run's task exec:COMMAND though you have not\n"
    "                     trained the run here: only if you trust whoever made it\n"
    "  --fallback         if the newest weights are damaged, use older ones\n"
    "\n"
    "Examples:\n"
    "  lengthen report runs/parity -o parity.html\n"
    "  lengthen report 3 4 --prompt \"1 0 1 =\"\n"
    "  lengthen report ppc-parity certificate\n";

struct request {
    const char *file, *title, *store;
    int no_passage;
    lg_page_run_options run;
    lg_reproduce_options results;
    char command[4096];
};

static int is_result(const struct request *q, const char *name)
{
    char path[4096];
    struct stat st;
    if (*lg_run_form(name)) return 0; /* a run's folder */
    snprintf(path, sizeof path, "%s/%s", q->results.results, name);
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int fill(struct request *q, lg_page *p, int count, char **names, lg_error *err)
{
    lg_store *store = NULL;
    int e = count ? 0 : lg_page_add_results(p, &q->results, err);
    for (int i = 0; i < count && !e; i++) {
        if (is_result(q, names[i])) {
            q->results.name = names[i];
            e = lg_page_add_result(p, &q->results, err);
            continue;
        }
        if (!store && !(store = lg_store_open(lg_cli_store(q->store), 0, err))) e = err->code;
        if (!e) e = lg_page_add_run(p, store, names[i], &q->run, err);
    }
    lg_store_close(store);
    return e;
}

int lg_cmd_report(int argc, char **argv)
{
    struct request q = {.file = "report.html",
                        .run = {.generations = 1, .passage = 1},
                        .results = {.experiments = "experiments",
                                    .results = "results",
                                    .folder = "runs/reproduce/desk"}};
    const struct lg_cli_option rows[] = {
        {"out", .letter = 'o', .text = &q.file},
        {"title", .text = &q.title},
        {"generate", .whole = &q.run.generations, .least = 0, .most = 100},
        {"prompt", .text = &q.run.prompt},
        {"no-passage", .flag = &q.no_passage},
        {"store", .text = &q.store},
        {"experiments", .text = &q.results.experiments},
        {"results", .text = &q.results.results},
        {"allow-exec", .flag = &q.run.access.allow_exec},
        {"fallback", .flag = &q.run.access.fallback},
        {0},
    };
    lg_error err = {0};
    lg_cli_command_line(argc, argv, q.command, sizeof q.command);
    int code = lg_cli_options("report", rows, &argc, &argv);
    if (code) return code;
    q.run.passage = !q.no_passage;
    q.results.store = lg_cli_store(q.store);
    lg_page *p = lg_page_new(q.title     ? q.title
                             : argc == 1 ? argv[0]
                             : argc > 1  ? "Report"
                                         : "All results",
                             q.command, &err);
    code = p ? fill(&q, p, argc, argv, &err) : err.code;
    if (!code) code = lg_page_write(p, q.file, &err);
    lg_page_free(p);
    if (code) return lg_cli_error("report", code, &err);
    printf("%s\n", q.file);
    return LG_EXIT_DONE;
}
