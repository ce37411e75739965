/* positions.c: `lengthen positions`: the four choices that make a position scheme, each with its
 * names and formulas; also as JSON, and as the page docs/POSITIONS.md. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "lengthen.h"

const char lg_cmd_positions_help[] =
    "Usage: lengthen positions [NAME] [--json | --markdown]\n"
    "\n"
    "A position scheme is four choices: which ID a token gets (ids), how an ID enters the\n"
    "network (encoding), which keys a query sees (span), and who supplies the IDs of generated\n"
    "tokens (source). Without NAME: all of them, one per line. With NAME: what it is, exactly.\n"
    "\n"
    "  --json         one object per line\n"
    "  --markdown     everything as one page, docs/POSITIONS.md\n"
    "\n"
    "Examples:\n"
    "  lengthen positions\n"
    "  lengthen positions coupled\n"
    "  lengthen sample addition --ids coupled     the IDs of an example\n";

/* ---- The four choices ------------------------------------------------------------------- */

struct entry {
    const char *name, *line, *text;
};

static struct entry ids_at(int i)
{
    lg_ids_info info = lg_ids_info_at(i);
    return (struct entry){info.name, info.line, info.text};
}

static struct entry encoding_at(int i)
{
    lg_encoding_info info = lg_encoding_info_at(i);
    return (struct entry){info.name, info.line, info.text};
}

static const struct entry spans[] = {
    {"full", "every earlier token",
     "A token sees itself and every earlier token.\n"
     "The number of keys grows with the length, and with it the share of attention that goes to\n"
     "keys that do not matter.\n"},
    {"window", "the earlier tokens whose ID lies near its own",
     "A query with ID q sees itself and the earlier tokens whose ID k has\n"
     "\n"
     "  lo <= k - q <= hi        (window_lo and window_hi of the level, lo <= 0 <= hi)\n"
     "\n"
     "at every level where both have an ID, and there is such a level.\n"
     "The window goes by IDs, not by places: with coupled IDs a token sees what belongs to it\n"
     "however far back in the text that is, and the number of keys stays the same at any "
     "length.\n"
     "Set sink with it: one more score per head that takes weight and gives nothing. Without it\n"
     "a query that finds no key where it looks averages the others, and where positions enter\n"
     "the scores alone the end of an input may look like its middle.\n"},
};
static int span_count(void) { return sizeof spans / sizeof *spans; }
static struct entry span_at(int i) { return spans[i]; }

/* Source: the rule, then the heads. */
static int source_count(void) { return 1 + lg_id_head_count(); }
static struct entry source_at(int i)
{
    lg_id_head_info head = lg_id_head_info_at(i - 1);
    if (i > 0) return (struct entry){head.name, head.line, head.text};
    return (struct entry){
        "given", "the task's rule: no prediction",
        "Generated tokens get the IDs that the scheme gives them in training: the task's labels\n"
        "for coupled IDs, the next ones for the others. Nothing has to be learned, but with "
        "coupled\n"
        "IDs the rule knows the shape of the answer, and where a label depends on the data (the\n"
        "next important pair, the entry that was asked for) it gives part of the answer away:\n"
        "there, let a head predict the IDs.\n"};
}

static const struct choice {
    const char *name, *line, *setting;
    int (*count)(void);
    struct entry (*at)(int i);
} choices[] = {
    {"ids", "which ID a token gets", "lg_scheme.ids", lg_ids_count, ids_at},
    {"encoding", "how an ID enters the network", "lg_model_config.encoding", lg_encoding_count,
     encoding_at},
    {"span", "which keys a query sees", "lg_model_config.span", span_count, span_at},
    {"source", "who supplies the IDs of generated tokens", "lg_scheme.source", source_count,
     source_at},
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* ---- Printing --------------------------------------------------------------------------- */

static void print_list(void)
{
    int width = 0;
    for (int c = 0; c < CHOICES; c++)
        for (int i = 0; i < choices[c].count(); i++) {
            int n = (int)strlen(choices[c].at(i).name);
            width = n > width ? n : width;
        }
    for (int c = 0; c < CHOICES; c++) {
        printf("%s%s: %s\n", c ? "\n" : "", choices[c].name, choices[c].line);
        for (int i = 0; i < choices[c].count(); i++) {
            struct entry info = choices[c].at(i);
            printf("  %-*s  %s\n", width, info.name, info.line);
        }
    }
    printf("\n`lengthen positions NAME` has the formula; `lengthen sample TASK --ids NAME` shows\n"
           "the IDs of examples.\n");
}

/* Everything that has this name, in whichever choice; how many there were. */
static int print_named(const char *name, int json)
{
    int found = 0;
    for (int c = 0; c < CHOICES; c++)
        for (int i = 0; i < choices[c].count(); i++) {
            struct entry info = choices[c].at(i);
            if (name && strcmp(info.name, name) != 0) continue;
            if (json) {
                printf("{\"choice\":\"%s\",\"name\":", choices[c].name);
                lg_cli_json(stdout, info.name);
                lg_cli_json_word("line", info.line);
                lg_cli_json_word("text", info.text);
                printf("}\n");
            } else {
                printf("%s%s (%s): %s\n\n", found ? "\n" : "", info.name, choices[c].name,
                       info.line);
                lg_cli_text(info.text);
            }
            found++;
        }
    return found;
}

static void print_markdown(void)
{
    printf("<!-- Made by `lengthen positions --markdown > docs/POSITIONS.md`; do not edit by hand. "
           "-->\n"
           "# Positions\n"
           "\n"
           "A position scheme is four choices. `lengthen positions NAME` prints the same, and\n"
           "`lengthen sample TASK --ids NAME` shows the IDs of examples.\n"
           "\n"
           "| choice | question | names |\n"
           "|---|---|---|\n");
    for (int c = 0; c < CHOICES; c++) {
        printf("| %s | %s |", choices[c].name, choices[c].line);
        for (int i = 0; i < choices[c].count(); i++)
            printf("%s `%s`", i ? "," : "", choices[c].at(i).name);
        printf(" |\n");
    }
    for (int c = 0; c < CHOICES; c++) {
        printf("\n## %s: %s\n\nIn C: `%s`.\n", choices[c].name, choices[c].line,
               choices[c].setting);
        for (int i = 0; i < choices[c].count(); i++) {
            struct entry info = choices[c].at(i);
            printf("\n### %s\n\n```text\n%s\n\n", info.name, info.line);
            lg_cli_text(info.text);
            printf("```\n");
        }
    }
}

static int unknown(const char *name)
{
    const char *names[128];
    int n = 0;
    for (int c = 0; c < CHOICES; c++)
        for (int i = 0; i < choices[c].count() && n < 128; i++) names[n++] = choices[c].at(i).name;
    const char *near = lg_cli_nearest(name, names, n);
    if (near)
        return lg_cli_wrong("positions", "there is no \"%s\"; did you mean \"%s\"?", name, near);
    return lg_cli_wrong("positions", "there is no \"%s\"; `lengthen positions` lists all", name);
}

static int exists(const char *name)
{
    for (int c = 0; c < CHOICES; c++)
        for (int i = 0; i < choices[c].count(); i++)
            if (strcmp(choices[c].at(i).name, name) == 0) return 1;
    return 0;
}

int lg_cmd_positions(int argc, char **argv)
{
    const char *name;
    int json = 0, markdown = 0;
    const struct lg_cli_option rows[] = {
        {"json", .flag = &json}, {"markdown", .flag = &markdown}, {0}};
    int code = lg_cli_options("positions", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("positions", "name", NULL, argc, argv, &name);
    if (code) return code;
    if (json && markdown) return lg_cli_wrong("positions", "take --json or --markdown, not both");
    if (markdown && name)
        return lg_cli_wrong("positions", "--markdown is the page of everything; leave \"%s\" out",
                            name);
    if (name && !exists(name)) return unknown(name);
    if (markdown)
        print_markdown();
    else if (name || json)
        print_named(name, json);
    else
        print_list();
    return LG_EXIT_DONE;
}
