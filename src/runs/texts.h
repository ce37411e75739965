/* texts.h: a corpus as a task: `task: {name: text, ..}`. */
#ifndef LG_RUNS_TEXTS_H
#define LG_RUNS_TEXTS_H

#include "runs/config.h"

/* Whether it is that task; the next six take no other. Of a config that is not opened, by its name. */
int lg__is_text(const lg_task *t);
int lg__config_is_text(const struct lg__config *c);
lg_tokenizer *lg__text_tokenizer(const lg_task *t);
const lg_corpus *lg__text_corpus(const lg_task *t); /* NULL: no texts were named */
const char *lg__text_field(const lg_task *t);       /* of JSON lines */
const char *lg__text_note(const lg_task *t);        /* why their tokens were made again, or NULL */
/* Whether there is something to train on. */
int lg__text_check_training(const lg_task *t, lg_error *err);
/* The checksums of tokenizer and texts; and into a config that does not say them: a run whose texts are
 * others tomorrow is then refused. */
enum { LG__TEXT_SUM = 40 };
void lg__text_sum(const lg_task *t, char sum[LG__TEXT_SUM]);
int lg__text_record(struct lg__config *c, const char *sum, lg_error *err);

/* Of losses by position: where the bin that begins at `low` ends. */
int lg__text_bin_end(int low, int length, int context);

/* "a,b" as paths, in one block to be freed with free(); NULL: no memory. */
const char **lg__text_paths(const char *list, int *count);
/* Where the tokens of these texts are kept if nothing is said: a file of the user's cache folder,
 * which is made. */
int lg__text_cache(char *path, size_t size, const lg_tokenizer *t, const char *list,
                   const char *field, lg_error *err);

#endif
