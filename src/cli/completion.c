/* completion.c: completion for bash and zsh, from the tables that read the options: every command is called once with
 * lg_cli_options_watch set, which is given its table and ends the command there. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "lengthen_lab.h"

enum { MOST_OPTIONS = 64 };

/* The options of the command that was called last. */
static struct {
    struct lg_cli_option at[MOST_OPTIONS];
    int count;
} seen;

static void keep(const struct lg_cli_option *rows)
{
    for (; rows->name && seen.count < MOST_OPTIONS; rows++) {
        int there = 0;
        for (int i = 0; i < seen.count; i++) there |= strcmp(seen.at[i].name, rows->name) == 0;
        if (!there) seen.at[seen.count++] = *rows;
    }
}

static void look_at(const struct lg_cli_command *c)
{
    char name[32], bridge[] = "bridge", *argv[] = {name, NULL, NULL};
    snprintf(name, sizeof name, "%s", c->name);
    seen.count = 0;
    lg_cli_options_watch = keep;
    c->run(1, argv);
    if (strcmp(c->name, "theory") == 0) {
        argv[1] = bridge;
        c->run(2, argv);
    }
    lg_cli_options_watch = NULL;
}

/* "given or predicted" as words, of an option whose values are these names. */
static void put_names(const char *names)
{
    for (const char *at = names; *at;) {
        size_t n = strcspn(at, ", ");
        if (n && !(n == 2 && strncmp(at, "or", 2) == 0)) printf(" %.*s", (int)n, at);
        at += n + strspn(at + n, ", ");
    }
}

static void put_tasks(void)
{
    for (int i = 0; i < lg_task_count(); i++) printf(" %s", lg_task_info_at(i)->name);
}

/* The cases COMMAND:OPTION whose values are known, each a line that ends with ;; */
static void put_values(const struct lg_cli_command *c, const char *words)
{
    for (int i = 0; i < seen.count; i++) {
        if (!seen.at[i].names) continue;
        printf("    %s:--%s) %s", c->name, seen.at[i].name, words);
        put_names(seen.at[i].names);
        printf("%s ;;\n", words[strlen(words) - 1] == '"' ? "\"" : "");
    }
}

static void put_options(void)
{
    for (int i = 0; i < seen.count; i++) printf(" --%s", seen.at[i].name);
    printf(" --help");
}

static void put_keys(const char *end)
{
    for (int i = 0; i < lg_config_key_count(); i++) printf(" %s%s", lg_config_key_at(i).key, end);
}

static void put_bash(const struct lg_cli_command *commands, int count)
{
    printf("# Made by `lengthen help --completion bash`; do not edit by hand.\n"
           "_lengthen() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} words=\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        words=\"");
    for (int i = 0; i < count; i++) printf("%s ", commands[i].name);
    printf("help --help --version\"\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case $command:${COMP_WORDS[COMP_CWORD - 1]} in\n");
    for (int i = 0; i < count; i++) {
        look_at(&commands[i]);
        put_values(&commands[i], "words=\"");
    }
    printf("    *:--set)\n        words=\"");
    put_keys("=");
    printf("\"\n        compopt -o nospace 2>/dev/null ;;\n"
           "    esac\n"
           "    [[ $words || $word != -* ]] || case $command in\n");
    for (int i = 0; i < count; i++) {
        look_at(&commands[i]);
        printf("    %s) words=\"", commands[i].name);
        put_options();
        printf("\" ;;\n");
    }
    printf("    esac\n"
           "    if [[ ! $words && $word != */* ]] && ((COMP_CWORD == 2)); then\n"
           "        case $command in\n"
           "        tasks | sample | try) words=\"");
    put_tasks();
    printf("\" ;;\n"
           "        config) words=\"");
    put_keys("");
    printf("\" ;;\n"
           "        help) words=\"");
    for (int i = 0; i < count; i++) printf(" %s", commands[i].name);
    printf("\" ;;\n"
           "        esac\n"
           "    fi\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "}\n"
           "complete -o bashdefault -o default -F _lengthen lengthen\n");
}

/* In single quotes of zsh, before a colon. */
static void put_quoted(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (*text == ':')
            fputs("\\:", stdout);
        else
            putchar(*text);
}

static void put_zsh(const struct lg_cli_command *commands, int count)
{
    printf("#compdef lengthen\n"
           "# Made by `lengthen help --completion zsh`; do not edit by hand.\n"
           "local -a commands\n"
           "commands=(\n");
    for (int i = 0; i < count; i++) {
        printf("    '%s:", commands[i].name);
        put_quoted(commands[i].line);
        printf("'\n");
    }
    printf(")\n"
           "if ((CURRENT == 2)); then\n"
           "    _describe command commands\n"
           "    return\n"
           "fi\n"
           "case ${words[2]}:${words[CURRENT-1]} in\n");
    for (int i = 0; i < count; i++) {
        look_at(&commands[i]);
        put_values(&commands[i], "compadd -- ");
    }
    printf("    *:--set) compadd -S '' --");
    put_keys("=");
    printf(" ;;\n"
           "    *) case ${words[2]}:$PREFIX in\n");
    for (int i = 0; i < count; i++) {
        look_at(&commands[i]);
        printf("    %s:-*) compadd --", commands[i].name);
        put_options();
        printf(" ;;\n");
    }
    printf("    tasks:* | sample:* | try:*) compadd --");
    put_tasks();
    printf("; _files ;;\n"
           "    config:*) compadd --");
    put_keys("");
    printf(" ;;\n"
           "    help:*) _describe command commands ;;\n"
           "    *) _files ;;\n"
           "    esac ;;\n"
           "esac\n");
}

int lg_cli_completion(const struct lg_cli_command *commands, int count, const char *shell)
{
    if (shell && strcmp(shell, "bash") == 0)
        put_bash(commands, count);
    else if (shell && strcmp(shell, "zsh") == 0)
        put_zsh(commands, count);
    else
        return lg_cli_wrong("help", "--completion is for which shell? Say bash or zsh");
    return LG_EXIT_DONE;
}
