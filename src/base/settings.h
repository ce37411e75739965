/* settings.h: values by name, checked against their rows. */
#ifndef LG_BASE_SETTINGS_H
#define LG_BASE_SETTINGS_H

#include "lengthen.h"

/* Of a row with range "2..16": i is the number. Of "a|b|c": i is the place of the word, from 0.
 * text is the value as it was written; it lives as long as the settings or the rows do. */
struct lg__value {
    int64_t i;
    const char *text;
};

/* value[k], of which there are `room`, is that of rows[k] (a NULL name ends them), from
 * settings[count] as "key=value" or from its fallback. An unknown key, a wrong value, a key said
 * twice and more rows than there is room for are refused; `who` says whose settings they are ("task
 * addition"). */
int lg__settings_read(struct lg__value *value, int room, const lg_setting *rows,
                      const char *const *settings, int count, const char *who, lg_error *err);
int lg__settings_count(const lg_setting *rows);

/* "a, b or c", as much of it as fits into text; returns text. */
const char *lg__either(char *text, size_t size, const char *const *words, int n);

#endif
