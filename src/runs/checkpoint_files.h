/* checkpoint_files.h: what saving and loading share: the names and the bytes of checkpoints. */
#ifndef LG_RUNS_CHECKPOINT_FILES_H
#define LG_RUNS_CHECKPOINT_FILES_H

#include <limits.h>

#include "base/memory.h"
#include "engine/model.h"
#include "formats/safetensors.h"

#define LG__CHECKPOINT_FORMAT "2"
#define LG__CHECKPOINT_MODEL "model.safetensors"
#define LG__CHECKPOINT_STATE "state.safetensors"

enum {
    LG__CHECKPOINT_NAME = 48,   /* room for step-N.old */
    LG__CHECKPOINT_DAMAGED = 1, /* inside: the checkpoint is not whole, another may be */
    LG__MOMENT_NAME = sizeof(((struct lg__tensor *)0)->name) + 3
};

typedef char lg__path_text[PATH_MAX];

struct lg__entry {
    int64_t step;
    int old; /* step-N.old */
    char name[LG__CHECKPOINT_NAME];
};

struct lg__listing {
    struct lg__block block;
    struct lg__entry *e; /* newest first; step-N before step-N.old */
    int count;
};

/* The bytes of one checkpoint. */
struct lg__content {
    struct lg__block model, note, state, sum;
    size_t model_size, note_size, state_size;
};

int lg__checkpoint_check_folder(const char *folder, lg_error *err);
/* Everything below folder; its length was checked, so that nothing is ever cut. */
const char *lg__checkpoint_join(lg__path_text out, const char *folder, const char *name);
/* A folder that is not there holds nothing. Free l->block also after an error. */
int lg__checkpoint_list(const char *folder, struct lg__listing *l, lg_error *err);
/* Reads step e of the folder and checks its sums: 0, LG__CHECKPOINT_DAMAGED, or an error. weights 1: the
 * parameters and the note alone, whatever became of the optimizer's file. */
int lg__content_read(const char *folder, const struct lg__entry *e, int weights,
                     struct lg__content *c, lg_error *err);
void lg__content_free(struct lg__content *c);

/* "FILE WHAT" as the error; returns LG__CHECKPOINT_DAMAGED. */
int lg__checkpoint_is_damaged(const char *file, const char *what, lg_error *err);
int lg__checkpoint_no_memory(const char *path, lg_error *err);
void lg__checkpoint_set_shape(struct lg__stored *s, const lg_param *p);
/* "m1.NAME" or "m2.NAME". */
const char *lg__moment_name(char out[LG__MOMENT_NAME], const char *name, int second);

#endif
