/* config.c: `lengthen config`: the keys of a run config, from the table that reads them. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "lengthen_lab.h"

const char lg_cmd_config_help[] =
    "Usage: lengthen config [KEY] [--json | --markdown]\n"
    "\n"
    "Every key of a run config (YAML) with its default, its range and its meaning, and the\n"
    "settings of the tasks. With KEY: this one (train.lr), or a map of them (train,\n"
    "positions.rope, task). `train`, `sweep` and others take the same keys with --set.\n"
    "\n"
    "  --json         one object per line: key, range, default, doc; of a task's setting its task\n"
    "  --markdown     everything as one page, docs/CONFIG.md\n"
    "\n"
    "Examples:\n"
    "  lengthen config\n"
    "  lengthen config train\n"
    "  lengthen config model.attention\n";

int lg_cmd_config(int argc, char **argv)
{
    const char *key;
    char *text = NULL;
    int json = 0, markdown = 0;
    lg_error err = {0};
    const struct lg_cli_option rows[] = {
        {"json", .flag = &json}, {"markdown", .flag = &markdown}, {0}};
    int code = lg_cli_options("config", rows, &argc, &argv);
    if (!code) code = lg_cli_argument("config", "key", NULL, argc, argv, &key);
    if (code) return code;
    if (json && markdown) return lg_cli_wrong("config", "take --json or --markdown, not both");
    if (markdown && key)
        return lg_cli_wrong("config", "--markdown is the page of everything; leave \"%s\" out",
                            key);
    if (key || json)
        code = lg_config_describe(key, json, &text, &err);
    else if (!(text = markdown ? lg_config_page() : lg_config_help()))
        code = LG_ERROR_MEMORY;
    if (code == LG_ERROR_ARGUMENT) return lg_cli_wrong("config", "%s", err.text);
    if (code) {
        fputs("lengthen config: no memory; end other programs\n", stderr);
        return LG_EXIT_FAILED;
    }
    fputs(text, stdout);
    free(text);
    return LG_EXIT_DONE;
}
