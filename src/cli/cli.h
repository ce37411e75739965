/* cli.h: what the files of the command line share. One file a command: it defines
 * lg_cmd_NAME and lg_cmd_NAME_help, and has a row in the table of main.c. */
#ifndef LG_CLI_CLI_H
#define LG_CLI_CLI_H

#include <signal.h>
#include <stdint.h>

#include "lengthen.h"

enum {
    LG_EXIT_DONE = 0,
    LG_EXIT_FAILED = 1,
    LG_EXIT_USE = 2, /* wrong use */
    LG_EXIT_NO = 3,  /* a check answered "no" */
    LG_EXIT_SIGNAL =
        128 /* stopped by a signal, and its number: 130 after Ctrl-C, as shells have it */
};

/* argv[0] is the command's name, so getopt_long works on it as it is. Returns an exit code.
 * `--help` never arrives here: main prints the help text itself. */
int lg_cmd_bench(int argc, char **argv);
int lg_cmd_doctor(int argc, char **argv);
int lg_cmd_certify(int argc, char **argv);
int lg_cmd_config(int argc, char **argv);
int lg_cmd_couple(int argc, char **argv);
int lg_cmd_demo(int argc, char **argv);
int lg_cmd_eval(int argc, char **argv);
int lg_cmd_export(int argc, char **argv);
int lg_cmd_generate(int argc, char **argv);
int lg_cmd_import(int argc, char **argv);
int lg_cmd_positions(int argc, char **argv);
int lg_cmd_probe(int argc, char **argv);
int lg_cmd_report(int argc, char **argv);
int lg_cmd_reproduce(int argc, char **argv);
int lg_cmd_runs(int argc, char **argv);
int lg_cmd_sample(int argc, char **argv);
int lg_cmd_serve(int argc, char **argv);
int lg_cmd_sweep(int argc, char **argv);
int lg_cmd_tasks(int argc, char **argv);
int lg_cmd_tokenizer(int argc, char **argv);
int lg_cmd_theory(int argc, char **argv);
int lg_cmd_train(int argc, char **argv);
int lg_cmd_try(int argc, char **argv);

/* Usage line, what the command does, its options, an example; ends with a newline. */
extern const char lg_cmd_bench_help[];
extern const char lg_cmd_doctor_help[];
extern const char lg_cmd_certify_help[];
extern const char lg_cmd_config_help[];
extern const char lg_cmd_couple_help[];
extern const char lg_cmd_demo_help[];
extern const char lg_cmd_eval_help[];
extern const char lg_cmd_export_help[];
extern const char lg_cmd_generate_help[];
extern const char lg_cmd_import_help[];
extern const char lg_cmd_positions_help[];
extern const char lg_cmd_probe_help[];
extern const char lg_cmd_report_help[];
extern const char lg_cmd_reproduce_help[];
extern const char lg_cmd_runs_help[];
extern const char lg_cmd_sample_help[];
extern const char lg_cmd_serve_help[];
extern const char lg_cmd_sweep_help[];
extern const char lg_cmd_tasks_help[];
extern const char lg_cmd_tokenizer_help[];
extern const char lg_cmd_theory_help[];
extern const char lg_cmd_train_help[];
extern const char lg_cmd_try_help[];

/* A row of the table in main.c. */
struct lg_cli_command {
    enum { LG_CLI_LOOK, LG_CLI_RUN, LG_CLI_MEASURE, LG_CLI_GROUPS } group;
    const char *name;
    const char *line; /* one line in the list of commands, at most 60 columns */
    const char *help;
    int (*run)(int argc, char **argv);
};
/* Prints the manual page docs/lengthen.1: everybody's help text, and what is common to all. */
void lg_cli_man(const struct lg_cli_command *commands, int count);
/* Between them what is printed goes through a pager, if it goes to a terminal; the second returns 1 if there was one, and nothing
 * can be printed any more. */
void lg_cli_pager_start(void);
int lg_cli_pager_end(void);
/* Prints the completion for a shell, bash or zsh; 0, or an exit code. */
int lg_cli_completion(const struct lg_cli_command *commands, int count, const char *shell);

/* Says on stderr what is wrong with the use of a command and where its help is; returns
 * LG_EXIT_USE: `return lg_cli_wrong("bench", "unknown shape \"%s\"", shape);` */
int lg_cli_wrong(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says on stderr why a call of the library failed; returns the exit code for what it returned: wrong
 * use for LG_ERROR_ARGUMENT, else a failure. */
int lg_cli_error(const char *command, int code, const lg_error *err);

/* A command whose work rank 0 deals out: joins the job, if there is one. A worker serves here until it is dismissed:
 * then *serves is 1, and there is nothing more to do. 0, or an exit code after saying what is wrong. */
int lg_cli_ranks_begin(const char *command, lg_comm **c, int *serves);
/* Leaves it; rank 0 dismisses the workers. */
void lg_cli_ranks_end(lg_comm *c);
/* The same of a rank, which then leaves the job: what is an error of all is said by rank 0 alone, and any other ends the
 * whole job. */
int lg_cli_ranks_error(const char *command, lg_comm *c, int code, const lg_error *err);

/* All of a file, or of stdin ("-"), and a 0 behind it; to be freed. NULL: it could not be read, which is said. */
char *lg_cli_read_all(const char *command, const char *file, size_t *n);
/* "lengthen" and these words, in quotes where a shell needs them. */
void lg_cli_command_line(int argc, char **argv, char *line, size_t size);
/* Seconds, from some moment on. */
double lg_cli_now(void);
/* "45 s", "3.2 min", "1.5 h"; "950 B", "4.2 MB". */
const char *lg_cli_duration(double seconds, char text[24]);
const char *lg_cli_bytes(double bytes, char text[24]);
/* The array with room for one more than count elements; NULL: no memory, and it is as it was. */
void *lg_cli_grow(void *array, int count, int *room, size_t size);
/* part / whole, 0 of nothing. */
double lg_cli_share(int64_t part, int64_t whole);
/* While on, Ctrl-C (and a plain kill, and a terminal that closes, unless nohup started the program)
 * sets the flag to its number; the second one ends the process. */
void lg_cli_catch_interrupts(int on);
extern volatile sig_atomic_t lg_cli_interrupted;
/* The exit code of a command that stopped before its end: that of the signal, or LG_EXIT_FAILED if
 * there was none (its time was over). */
int lg_cli_stopped(void);
/* What a run is called in titles: the last part of its folder. */
void lg_cli_last_part(const char *folder, char name[256]);

/* Text of a store or of somebody's folder as one line for a terminal, without control characters: the
 * same if it has none, else a copy that is good until eight more are made. */
const char *lg_cli_plain(const char *text);

/* A copy of the text that stays, the same one for the same text; "?" without memory. */
const char *lg_cli_intern(const char *text);

/* The KEY=VALUE of a `--set task.KEY=VALUE`, where a command takes no other keys. 0, or an exit code
 * after saying what is wrong. */
int lg_cli_task_setting(const char *command, const char *text, const char **to);
/* Where `couple` and `try` leave what they find of a file where nothing is said: runs/couple/NAME, of the file's name
 * without what is behind its last point; NAME-2, .. where a run is there. */
void lg_cli_couple_folder(const char *data, char *folder, size_t size);

/* The file of the store: --store, else LENGTHEN_STORE, else ./lengthen.db. */
const char *lg_cli_store(const char *option);
/* The same of a command that keeps many runs in one folder: LENGTHEN_STORE, else lengthen.db there. */
void lg_cli_store_in(const char *folder, char *file, size_t size);

/* The one of n names that is near enough to `word` to be meant by a slip, or NULL. */
const char *lg_cli_nearest(const char *word, const char *const *names, int n);

#endif
