/* yaml.h: a YAML file as a tree that is only read. Scalars stay text: the reader of a value
 * says what it must be. All calls that can fail write FILE:LINE, the value and the remedy. */
#ifndef LG_BASE_YAML_H
#define LG_BASE_YAML_H

#include "lengthen.h"

enum lg__yaml_kind { LG__YAML_SCALAR, LG__YAML_LIST, LG__YAML_MAP };

/* for (n = map->first; n; n = n->next) walks a list or a map in the order of the file. */
struct lg__yaml {
    enum lg__yaml_kind kind;
    const char *file;
    int line;         /* from 1; of a map's entry: that of its key */
    const char *key;  /* in a map; else NULL */
    const char *text; /* of a scalar; "" when nothing is written */
    int count;        /* entries of a list or map */
    struct lg__yaml *first, *next;
};

/* The root, or NULL. Refused: more than one document, references to anchors, a key said twice. */
struct lg__yaml *lg__yaml_read(const char *path, lg_error *err);
struct lg__yaml *lg__yaml_parse(const char *name, const char *text, lg_error *err);
void lg__yaml_free(struct lg__yaml *root); /* NULL is accepted */

/* "FILE:LINE: " and the sentence; returns LG_ERROR_ARGUMENT. */
int lg__yaml_fail(const struct lg__yaml *n, lg_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Of a map: the value of a key, or NULL. Searches from the first key on. */
const struct lg__yaml *lg__yaml_get(const struct lg__yaml *map, const char *key);
/* Refuses what is no map, and keys that are not among known[] (NULL ends). */
int lg__yaml_keys(const struct lg__yaml *map, const char *const *known, lg_error *err);
/* lg__yaml_get, but a key that is missing or not of this kind is refused. */
int lg__yaml_need(const struct lg__yaml *map, const char *key, enum lg__yaml_kind kind,
                  const struct lg__yaml **value, lg_error *err);
int lg__yaml_is(const struct lg__yaml *n, enum lg__yaml_kind kind, lg_error *err);

/* Scalars. */
int lg__yaml_int(const struct lg__yaml *n, int64_t least, int64_t most, int64_t *value,
                 lg_error *err);
int lg__yaml_real(const struct lg__yaml *n, double least, double most, double *value,
                  lg_error *err);
/* The place of the text among words[] (NULL ends), from 0. */
int lg__yaml_choice(const struct lg__yaml *n, const char *const *words, int *value, lg_error *err);

#endif
