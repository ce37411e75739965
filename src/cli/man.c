/* man.c: the manual page docs/lengthen.1, from the help texts of the commands. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "lengthen.h"

static const char head[] =
    ".\\\" Made by `lengthen help --man > docs/lengthen.1`; do not edit by hand.\n"
    ".TH LENGTHEN 1 \"\" \"lengthen %s\" \"User Commands\"\n"
    ".SH NAME\n"
    "lengthen \\- train small transformers on short sequences and test them on long ones\n"
    ".SH SYNOPSIS\n"
    ".B lengthen\n"
    ".I COMMAND\n"
    ".RI [ OPTIONS ]\n"
    ".br\n"
    ".B lengthen help\n"
    ".I COMMAND\n"
    ".br\n"
    ".B lengthen \\-\\-version\n"
    ".SH DESCRIPTION\n"
    "A laboratory for length generalization that runs on the CPU: tasks whose examples can be "
    "made\n"
    "at any length, position IDs and encodings, training, and tests at lengths that were never\n"
    "seen. Results are tables by default and one JSON object per line with\n"
    ".BR \\-\\-json ;\n"
    "progress and errors go to the standard error.\n"
    ".PP\n"
    "To see it work:\n"
    ".B lengthen demo\n"
    ".SH COMMANDS\n";

static const char tail[] =
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B LENGTHEN_STORE\n"
    "The file of the store, where a command has no\n"
    ".BR \\-\\-store .\n"
    ".TP\n"
    ".B LENGTHEN_ISA\n"
    "The kernels to use: " LG_ISAS ". By default the best that this CPU runs.\n"
    ".TP\n"
    ".B LENGTHEN_CACHE\n"
    "Where tokens of texts and other things that can be made again are kept; by default lengthen "
    "in\n"
    ".BR XDG_CACHE_HOME ,\n"
    "or ~/.cache/lengthen.\n"
    ".TP\n"
    ".B LENGTHEN_TEXT\n"
    "The texts of the experiments on language, by default text in that folder;\n"
    "experiments/language/get-text makes them.\n"
    ".TP\n"
    ".B NO_COLOR\n"
    "If it is not empty, there are no colours.\n"
    ".TP\n"
    ".B PAGER\n"
    "What long texts go through on a terminal; by default less, if it is there. Empty: nothing.\n"
    ".TP\n"
    ".B COLUMNS\n"
    "How wide a line may be; by default as wide as the terminal.\n"
    ".SH EXIT STATUS\n"
    ".TP\n"
    ".B 0\n"
    "Done.\n"
    ".TP\n"
    ".B 1\n"
    "Failed: what was asked for could not be done, as for want of room or memory, or\n"
    "its time was over.\n"
    ".TP\n"
    ".B 2\n"
    "Wrong use: an option, a value, or a name that there is not, of most files too. Nothing was\n"
    "changed.\n"
    ".TP\n"
    ".B 3\n"
    "A check answered \\(lqno\\(rq.\n"
    ".TP\n"
    ".B 130, 143, 129\n"
    "Stopped by Ctrl-C (SIGINT), SIGTERM or SIGHUP; what can be kept is saved.\n"
    ".SH FILES\n"
    ".TP\n"
    ".I lengthen.db\n"
    "The store, unless\n"
    ".B LENGTHEN_STORE\n"
    "or\n"
    ".B \\-\\-store\n"
    "names another: every run, the metrics of its steps and the cells of its evaluations. An\n"
    "SQLite file.\n"
    ".TP\n"
    ".I runs/NAME/config.yaml\n"
    "The config of a run, everything resolved.\n"
    ".TP\n"
    ".I runs/NAME/checkpoint/\n"
    "Its newest weights and the state of its training.\n";

/* Text as it is: nothing in it is a request, and quotes and dashes stay what they are. */
static void put_literal(const char *text)
{
    static const struct {
        char letter;
        const char *roff;
    } special[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                   {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    int start = 1;
    for (; *text; text++) {
        const char *roff = NULL;
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            if (*text == special[i].letter) roff = special[i].roff;
        if (start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (roff)
            fputs(roff, stdout);
        else
            putchar(*text);
        start = *text == '\n';
    }
}

void lg_cli_man(const struct lg_cli_command *commands, int count)
{
    printf(head, lg_version());
    for (int i = 0; i < count; i++) {
        printf(".SS %s\n.nf\n", commands[i].name);
        put_literal(commands[i].help);
        fputs(".fi\n", stdout);
    }
    fputs(tail, stdout);
}
