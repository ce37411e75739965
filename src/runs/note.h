/* note.h: the note of a checkpoint: the state of a run that is not in its parameters. One "key value" per line, in
 * any order; keys that the reader does not ask for are ignored. */
#ifndef LG_RUNS_NOTE_H
#define LG_RUNS_NOTE_H

#include "lengthen.h"

void lg__note_put_int(lg_buffer *note, const char *key, int64_t value);
void lg__note_put_real(lg_buffer *note, const char *key, double value);      /* every bit is kept */
void lg__note_put_text(lg_buffer *note, const char *key, const char *value); /* one line */

/* The value of a key. A key that is missing or there twice, a value that is not one of its kind or not in
 * least..most, and a text of `size` letters or more are refused. */
int lg__note_int(const char *note, const char *key, int64_t least, int64_t most, int64_t *value,
                 lg_error *err);
int lg__note_real(const char *note, const char *key, double *value, lg_error *err);
int lg__note_text(const char *note, const char *key, char *value, size_t size, lg_error *err);
/* Whether it has the key at all. */
int lg__note_has(const char *note, const char *key);

#endif
