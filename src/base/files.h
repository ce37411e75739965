/* files.h: files that are there whole or not at all. */
#ifndef LG_BASE_FILES_H
#define LG_BASE_FILES_H

#include <stdio.h>

#include "lengthen.h"

/* A file that is being written under another name beside its own. Starts as {0}. */
struct lg__part {
    FILE *file;
    char *name, *path; /* while it is written; when it is done */
};

int lg__part_open(struct lg__part *p, const char *path, lg_error *err);
/* Synced and renamed: it replaces what was there. After an error nothing is left of it. */
int lg__part_keep(struct lg__part *p, lg_error *err);
/* Nothing is left of it; what was there stays. Does nothing after a keep. */
void lg__part_drop(struct lg__part *p);

#endif
