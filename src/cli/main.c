/* main.c: the program `lengthen`: finds the command in the table and runs it.
 * Exit codes: 0 done, 1 failed, 2 wrong use, 3 a check answered "no", 128 + n stopped by signal n. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lengthen.h"
#include "lengthen_lab.h"

#define COMMAND(group, name, line)                                                                 \
    {                                                                                              \
        LG_CLI_##group, #name, line, lg_cmd_##name##_help, lg_cmd_##name                           \
    }
static const struct lg_cli_command commands[] = {
    COMMAND(LOOK, demo, "train on short sequences, then answer long ones"),
    COMMAND(LOOK, try, "will a task or your data extrapolate; with which positions"),
    COMMAND(LOOK, couple, "position IDs for your data, found from examples alone"),
    COMMAND(RUN, train, "train the model of a config; keeps the run in a folder"),
    COMMAND(RUN, eval, "what a run can do, length by length"),
    COMMAND(RUN, generate, "what a run's model writes, token by token and ID by ID"),
    COMMAND(RUN, sweep, "many runs over a config: trained, evaluated, in one table"),
    COMMAND(RUN, reproduce, "an experiment to its rows, figures and checks"),
    COMMAND(RUN, import, "a run from published weights: Hugging Face, llama2.c"),
    COMMAND(RUN, export, "a run's model as a folder that other tools read"),
    COMMAND(RUN, runs, "list, show, compare and delete the runs in the store"),
    COMMAND(RUN, report, "runs and results as one HTML file, with figures"),
    COMMAND(RUN, serve, "the runs of the store in a browser, as they train"),
    COMMAND(LOOK, tasks, "the tasks: formats, settings, examples"),
    COMMAND(LOOK, sample, "print examples of a task with their position IDs"),
    COMMAND(LOOK, positions, "the position IDs and encodings, with their formulas"),
    COMMAND(LOOK, config, "the keys of a config: ranges, defaults, meanings"),
    COMMAND(LOOK, tokenizer, "text to tokens and back; learn them from your own text"),
    COMMAND(MEASURE, certify, "prove a run right at every length, or show where it fails"),
    COMMAND(MEASURE, probe, "how many earlier tokens a run's predictions need"),
    COMMAND(MEASURE, theory, "fit the idealised class of the theory to planted ensembles"),
    COMMAND(MEASURE, bench, "measure this machine, each kernel and the whole step"),
    COMMAND(MEASURE, doctor, "this machine and installation; what would be faster"),
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* One screen: 24 lines of 80 columns, also when there are 23 commands. */
static void print_help(FILE *out)
{
    static const char *const groups[LG_CLI_GROUPS] = {"look", "run", "measure"};
    fputs("Usage: lengthen COMMAND [OPTIONS]; COMMAND --help: options; first: lengthen demo\n",
          out);
    for (int g = 0; g < LG_CLI_GROUPS; g++) {
        int shown = 0;
        for (int i = 0; i < COMMANDS; i++)
            if ((int)commands[i].group == g)
                fprintf(out, "%-8s %-10s %s\n", shown++ ? "" : groups[g], commands[i].name,
                        commands[i].line);
    }
}

int lg_cli_wrong(const char *command, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    fprintf(stderr, "lengthen %s: %s\nSee lengthen %s --help.\n", command,
            text ? lg_plain(text) : "no memory", command);
    free(text);
    return LG_EXIT_USE;
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *nearest = lg_cli_nearest(name, names, COMMANDS);
    fprintf(stderr, "lengthen: there is no command \"%s\"", name);
    if (nearest)
        fprintf(stderr, "; did you mean \"%s\"?\n", nearest);
    else
        fputs(".\n", stderr);
    fputs("See lengthen --help for the commands.\n", stderr);
    return LG_EXIT_USE;
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* LENGTHEN_ISA names kernels that this CPU does not run, or none at all. */
static int wrong_isa(void)
{
    const char *wanted = getenv("LENGTHEN_ISA");
    if (!wanted || !*wanted || strcmp(wanted, lg_isa()) == 0) return 0;
    fprintf(stderr,
            "lengthen: LENGTHEN_ISA is \"%s\", which this program or this CPU does not have; "
            "take " LG_ISAS ", or unset it (then it is %s)\n",
            wanted, lg_isa());
    return 1;
}

/* Commands that print pages of text. */
static int is_long(const char *command)
{
    return strcmp(command, "tasks") == 0 || strcmp(command, "positions") == 0 ||
           strcmp(command, "config") == 0;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return LG_EXIT_USE;
    }
    if (wrong_isa()) return LG_EXIT_USE;
    if (is_help(argv[1]) || (strcmp(argv[1], "help") == 0 && (argc == 2 || is_help(argv[2])))) {
        print_help(stdout);
        return LG_EXIT_DONE;
    }
    if (strcmp(argv[1], "help") == 0 && strcmp(argv[2], "--man") == 0) {
        lg_cli_man(commands, COMMANDS);
        return LG_EXIT_DONE;
    }
    if (strcmp(argv[1], "help") == 0 && strcmp(argv[2], "--completion") == 0)
        return lg_cli_completion(commands, COMMANDS, argc > 3 ? argv[3] : NULL);
    if (strcmp(argv[1], "--version") == 0) {
        printf("lengthen %s\ncommit %s, %s\n", lg_version(), lg_commit(), lg_compiler());
        return LG_EXIT_DONE;
    }
    int asks = strcmp(argv[1], "help") == 0; /* lengthen help COMMAND */
    const char *name = asks ? argv[2] : argv[1];
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(name, commands[i].name) != 0) continue;
        for (int a = 2; a < argc && strcmp(argv[a], "--") != 0; a++) asks |= is_help(argv[a]);
        if (!asks) {
            if (is_long(name)) lg_cli_pager_start();
            return commands[i].run(argc - 1, argv + 1);
        }
        lg_cli_pager_start();
        fputs(commands[i].help, stdout);
        return LG_EXIT_DONE;
    }
    if (name[0] == '-') {
        fprintf(stderr,
                "lengthen: there is no option \"%s\" before the command.\n"
                "See lengthen --help.\n",
                name);
        return LG_EXIT_USE;
    }
    return unknown_command(name);
}

int main(int argc, char **argv)
{
    lg_text_task_add();
    int code = run(argc, argv);
    if (lg_cli_pager_end()) return code;
    /* A full disk or a closed pipe shows here; nobody should take half a table for whole. */
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (errno)
            fprintf(stderr, "lengthen: the output could not be written (%s); %s\n", strerror(errno),
                    lg_write_remedy(errno));
        else
            fputs("lengthen: some of the output could not be written; check its disk\n", stderr);
        return code == LG_EXIT_DONE ? LG_EXIT_FAILED : code;
    }
    return code;
}
