/* files.h: files that are there whole or not at all, and their folders. */
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

/* A file of text: written whole or not at all, and on the disk when it returns; read, *text is to be freed
 * and stays NULL where there is no such file. */
int lg__file_write(const char *path, const char *text, lg_error *err);
int lg__file_read(const char *path, char **text, lg_error *err);
/* A copy of a file as FOLDER/NAME. */
int lg__file_copy(const char *from, const char *folder, const char *name, lg_error *err);
/* FOLDER/NAME. */
int lg__file_path(char *path, size_t size, const char *folder, const char *name, lg_error *err);
/* The folder and those it lies in. */
int lg__folder_make(const char *folder, lg_error *err);
/* The same for a folder that the user names with --out: what is wrong is an LG_ERROR_ARGUMENT. */
int lg__folder_out(const char *folder, lg_error *err);
/* Locks a folder, beside those who only ask (shared) or alone; 0, or the reason as in errno. *lock is
 * closed with close(), or by the end of the process. */
int lg__folder_lock(const char *folder, int shared, int *lock);

/* "PATH could not be written (REASON); REMEDY", for errno; returns LG_ERROR_SYSTEM. */
int lg__fail_write(lg_error *err, const char *path, int error);

#endif
