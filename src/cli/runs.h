/* runs.h: what the files of `lengthen runs` share. */
#ifndef LG_CLI_RUNS_H
#define LG_CLI_RUNS_H

#include "cli/cells.h"
#include "lengthen_lab.h"

/* What was asked for. */
struct lg_cli_asked {
    const char *task, *state, *file, *plot;
    const char *const *names; /* [name_count] the runs */
    int name_count;
    int json, csv, steps, yes, last; /* last 0: not given */
    struct lg_cli_measures measures;
    lg_store *store;
    lg_error err;
};

/* A run that outlives the store's callback. */
struct lg_cli_run {
    lg_store_run r;
    char *text; /* all of its words */
};

/* The subcommands; an exit code, or -1 with asked->err. */
int lg_cli_runs_show(struct lg_cli_asked *a);
int lg_cli_runs_compare(struct lg_cli_asked *a);
int lg_cli_runs_watch(struct lg_cli_asked *a);

/* Looks up the names asked for, each once; NULL: err. To be freed with free_all. */
struct lg_cli_run *lg_cli_runs_find(struct lg_cli_asked *a, int *count);
void lg_cli_runs_free(struct lg_cli_run *runs, int count);
/* The last part of its folder. */
const char *lg_cli_run_name(const lg_store_run *r);
/* What is known of it, as members of a JSON object. */
void lg_cli_run_put(struct lg_cli_record *to, const lg_store_run *r);

/* Adds the cells of its evaluations at a step, as lg_store_cells has it. */
int lg_cli_cells_read(struct lg_cli_asked *a, int64_t number, int64_t step,
                      struct lg_cli_cells *cells);

/* "3 min ago". */
const char *lg_cli_ago(double then, char *text, int size);
int lg_cli_no_memory(lg_error *err);

/* Its config as keys and values. Of one that is damaged there are none, which is said on stderr. */
int lg_cli_run_config(const lg_store_run *r, lg_config_values *v, lg_error *err);
/* A value for people: a number with a fraction has at most six digits, an empty text is "". */
const char *lg_cli_short_value(const char *value, char text[32]);

#endif
