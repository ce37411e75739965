/* import.c: a model from published weights: which reader, and files as memory. */
#include "formats/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

int lg__map_file(struct lg__mapped *f, const char *path, const char *remedy, lg_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC), e = 0;
    *f = (struct lg__mapped){0};
    if (fd < 0 || fstat(fd, &st))
        e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s; %s", path, strerror(errno),
                     remedy);
    else if (!S_ISREG(st.st_mode))
        e = lg__fail(err, LG_ERROR_ARGUMENT, "%s is no file; %s", path, remedy);
    else if (st.st_size) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s; %s", path, strerror(errno),
                         remedy);
        else
            *f = (struct lg__mapped){data, (size_t)st.st_size};
    }
    if (fd >= 0) close(fd);
    return e;
}

void lg__unmap_file(struct lg__mapped *f)
{
    if (f->data) munmap(f->data, f->size);
    *f = (struct lg__mapped){0};
}

void lg__import_beside(char path[LG__IMPORT_PATH], const char *folder, const char *name)
{
    struct stat st;
    if (lg__file_path(path, LG__IMPORT_PATH, folder, name, NULL) || stat(path, &st) ||
        !S_ISREG(st.st_mode))
        path[0] = 0;
}

lg_model *lg_import(const char *path, lg_import_info *info, lg_error *err)
{
    struct stat st;
    lg_import_info own;
    if (!info) info = &own;
    *info = (lg_import_info){0};
    if (stat(path, &st)) {
        lg__fail(err, LG_ERROR_SYSTEM,
                 "%s cannot be read: %s; give a folder of Hugging Face or a llama2.c .bin file",
                 path, strerror(errno));
        return NULL;
    }
    lg_model *m =
        S_ISDIR(st.st_mode) ? lg__import_hf(path, info, err) : lg__import_llama2c(path, info, err);
    if (!m) *info = (lg_import_info){0};
    return m;
}
