/* files.c: writes to another name, syncs, renames. */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static int refuse(struct lg__part *p, lg_error *err)
{
    int why = errno;
    lg__fail(err, LG_ERROR_SYSTEM,
             "%s could not be written (%s); check its folder, your rights and the disk", p->path,
             strerror(why));
    lg__part_drop(p);
    return LG_ERROR_SYSTEM;
}

int lg__part_open(struct lg__part *p, const char *path, lg_error *err)
{
    *p = (struct lg__part){.path = strdup(path)};
    if (!p->path || asprintf(&p->name, "%s.part-%ld", path, (long)getpid()) < 0) {
        p->name = NULL;
        lg__part_drop(p);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the name of %s", path);
    }
    p->file = fopen(p->name, "wb");
    return p->file ? 0 : refuse(p, err);
}

/* A renamed file stays renamed after a power cut once its folder is synced. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    int fd = open(!slash ? "." : slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slash) *slash = '/';
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

int lg__part_keep(struct lg__part *p, lg_error *err)
{
    int ok = !ferror(p->file) && fflush(p->file) == 0 && fsync(fileno(p->file)) == 0;
    if (fclose(p->file) != 0) ok = 0;
    p->file = NULL;
    if (!ok || rename(p->name, p->path) != 0) return refuse(p, err);
    sync_folder(p->path); /* the file is there, whether or not that can be done */
    free(p->name);
    p->name = NULL;
    lg__part_drop(p);
    return 0;
}

void lg__part_drop(struct lg__part *p)
{
    if (p->file) fclose(p->file);
    if (p->name) unlink(p->name);
    free(p->name);
    free(p->path);
    *p = (struct lg__part){0};
}
