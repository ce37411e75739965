/* options.h: the options of a command as a table. A row has the option's name, where its value goes,
 * which says of what kind it is, and what is allowed:
 *
 *     const struct lg_cli_option rows[] = {
 *         {"json", .flag = &json},
 *         {"threads", .whole = &o.threads, .least = 1, .most = 1024},
 *         {"source", .word = &o.predicted, .names = "given or predicted"},
 *         {0},
 *     };
 *     if ((code = lg_cli_options("eval", rows, &argc, &argv))) return code; */
#ifndef LG_CLI_OPTIONS_H
#define LG_CLI_OPTIONS_H

#include <float.h>
#include <stdint.h>

#define LG_CLI_ABOVE_0 DBL_MIN /* `least` of a real number that may not be 0 */

struct lg_cli_option {
    const char *name; /* NULL ends the table */
    char letter;      /* "-o" beside "--save", or 0; of an option with a value */
    /* Where the value goes: one of these. */
    int *flag;          /* there is none: 1 */
    const char **text;  /* as it is */
    const char **texts; /* [room] the option may be repeated: *count of them */
    int *whole;
    int64_t *large;
    double *real;
    int *word; /* the place of the value among the names, from 0 on */
    int *list; /* [room] whole numbers with commas between, *count of them */
    /* Anything else: 0; -1: it is not allowed; or an exit code after saying what is wrong. */
    int (*read)(void *to, const char *value);
    void *to;
    int *count, room;
    double least, most; /* of a number, both allowed; most 0: as large as fits, if it is whole */
    const char *names;  /* "own or none": words that stand for the first numbers, from `least` on */
    const char *take;   /* what is allowed, for "take ..", where the rest does not say it; of texts
                           what to do when there are too many */
};

/* Reads the options; *argv is then the *argc words that are none. Returns 0, or an exit code after
 * saying what is wrong. If lg_cli_options_watch is not NULL it is called with the rows instead, and the code is
 * LG_EXIT_USE: so the completion sees every table without running a command. */
extern void (*lg_cli_options_watch)(const struct lg_cli_option *rows);
int lg_cli_options(const char *command, const struct lg_cli_option *rows, int *argc, char ***argv);

/* The one word that is no option: "which run? Give its folder" (`what` is "run", `give` the rest),
 * "one run at a time". Without `give` it may be missing: *to is NULL. 0, or an exit code. */
int lg_cli_argument(const char *command, const char *what, const char *give, int argc, char **argv,
                    const char **to);

#endif
