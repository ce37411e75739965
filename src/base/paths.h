/* paths.h: paths of the user in which ~ and variables stand, and the folder of what can be made
 * again. */
#ifndef LG_BASE_PATHS_H
#define LG_BASE_PATHS_H

#include <stddef.h>

#include "lengthen.h"

/* "a,b" with the home folder for a ~ and the variable's value for a $NAME that a path begins with, up
 * to its end or a slash. LENGTHEN_TEXT, where it is not set, is the folder text of the cache folder,
 * which experiments/language/get-text fills. To be freed with free(). */
int lg__paths_expand(const char *list, char **expanded, lg_error *err);
/* Refuses a list with LENGTHEN_TEXT where that folder was never made. */
int lg__paths_check(const char *list, lg_error *err);

/* LENGTHEN_CACHE, or lengthen in XDG_CACHE_HOME or ~/.cache; 0: there is none, or no room for it. */
int lg__cache_folder(char *folder, size_t size);

/* The same of LENGTHEN_STATE, XDG_STATE_HOME or ~/.local/state, which must be a whole path: a relative one
 * could lie in somebody else's run. */
int lg__state_folder(char *folder, size_t size);

#endif
