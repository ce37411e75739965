/* texts.h: a corpus as a task: `task: {name: text, ..}`. */
#ifndef LG_RUNS_TEXTS_H
#define LG_RUNS_TEXTS_H

#include "runs/config.h"

/* Of another task these are NULL. */
lg_tokenizer *lg__text_tokenizer(const lg_task *t);
const lg_corpus *lg__text_corpus(const lg_task *t); /* NULL also: no texts were named */
const char *lg__text_field(const lg_task *t);       /* of JSON lines */
const char *lg__text_note(const lg_task *t);        /* as lg_corpus_note */
/* Whether there is something to train on: of every other task there is. */
int lg__text_check_training(const lg_task *t, lg_error *err);
/* What a config of the task text cannot ask for; any other may. */
int lg__text_check_config(const struct lg__config *c, const lg_task *t, lg_error *err);
/* The checksums of tokenizer and texts ("": of another task); and into a config that does not say them: a run
 * whose texts are others tomorrow is then refused. */
enum { LG__TEXT_SUM = 40 };
void lg__text_sum(const lg_task *t, char sum[LG__TEXT_SUM]);
int lg__text_record(struct lg__config *c, const char *sum, lg_error *err);
/* Where tokenizer, texts and tokens lie is no part of a run: what `old` says of that becomes what c says. */
int lg__text_same_places(struct lg__config *old, const struct lg__config *c, lg_error *err);
/* Tokens of the longest example that a model of this config reads; `shown` is what training has shown. Of
 * texts the unit of length is the token, and an example has one more, which is only predicted. */
int lg__text_longest(const struct lg__config *c, int shown);

/* "a,b" as paths, in one block to be freed with free(); NULL: no memory. */
const char **lg__text_paths(const char *list, int *count);
/* Where the tokens of these texts are kept if nothing is said: a file of the user's cache folder,
 * which is made. */
int lg__text_cache(char *path, size_t size, const lg_tokenizer *t, const char *list,
                   const char *field, lg_error *err);

/* Opens a run, of texts with its copy of the tokenizer. Texts that are gone or changed are left out, since not all
 * uses of a run need them; r->texts says why. */
struct lg__run;
int lg__text_open_run(struct lg__run *r, const char *folder, const char *config, lg_error *err);
/* Fails for a task of texts, whose tokens have no right answer; remedy: what to do instead. */
int lg__text_refuse(const lg_task_info *info, const char *remedy, lg_error *err);

#endif
