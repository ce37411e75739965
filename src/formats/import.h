/* import.h: what the readers of published weights share. */
#ifndef LG_FORMATS_IMPORT_H
#define LG_FORMATS_IMPORT_H

#include "lengthen_runs.h"

enum { LG__IMPORT_PATH = 4096 };

/* A file as memory, read only. */
struct lg__mapped {
    void *data;
    size_t size;
};

/* Starts from {0}. A file that is not there or is no file is refused with `remedy`. */
int lg__map_file(struct lg__mapped *f, const char *path, const char *remedy, lg_error *err);
void lg__unmap_file(struct lg__mapped *f);

/* `name` in the folder, if it is there; else "". */
void lg__import_beside(char path[LG__IMPORT_PATH], const char *folder, const char *name);

/* One reader each: a folder with config.json, a llama2.c file. info is filled. */
lg_model *lg__import_hf(const char *folder, lg_import_info *info, lg_error *err);
lg_model *lg__import_llama2c(const char *path, lg_import_info *info, lg_error *err);

/* As lg_export, with a copy of this tokenizer.json unless it is NULL; `end` is the token that ends a text,
 * without which other tools write on (LG_NONE: none is known). */
int lg__export(const lg_model *m, int length, const char *tokenizer, int32_t end,
               const char *folder, lg_error *err);

#endif
