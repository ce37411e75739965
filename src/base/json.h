/* json.h: how much a JSON text holds, counted before it is parsed. A parsed value takes up to fifty times the
 * bytes that it is written with, so that a text of a limited size is not enough. */
#ifndef LG_BASE_JSON_H
#define LG_BASE_JSON_H

#include <stddef.h>

/* At least as many values as the text has, a list or an object counting as four; one takes about 48 bytes
 * when it is parsed. What is in strings is not counted. The text need not be JSON. */
size_t lg__json_values(const char *text, size_t n);

#endif
