/* trust.h: which runs may execute the command that their config names (task exec:COMMAND). Opening a run
 * must not let whoever made it execute anything here, so that runs which this user trained are remembered,
 * each with its command, in the user's state folder: LENGTHEN_STATE, else XDG_STATE_HOME/lengthen, else
 * ~/.local/state/lengthen. Nothing that comes with a run, neither its folder nor a store, is trusted. */
#ifndef LG_RUNS_TRUST_H
#define LG_RUNS_TRUST_H

#include "runs/run.h"

/* 0 if the task executes nothing, if this user trained the run with this very task, or if access allows it;
 * else LG_ERROR_ARGUMENT, and the sentence shows the command. */
int lg__trust_check(const struct lg__owner *owner, const char *task, lg_error *err);
/* Remembers a run; nothing is written for a task that executes nothing. */
int lg__trust_remember(const char *id, const char *task, lg_error *err);
void lg__trust_forget(const char *id);

#endif
