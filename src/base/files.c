/* files.c: writes to another name, syncs, renames; and the small things that are done with files. */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

const char *lg_write_remedy(int error)
{
    switch (error) {
    case ENOSPC: return "make room on its disk";
    case EDQUOT: return "make room within your quota of its disk";
    case EIO: return "the disk reports an I/O error: check it (dmesg)";
    case EFBIG: return "raise the limit on the size of files (ulimit -f)";
    case EROFS: return "its disk is mounted read-only: take another folder";
    case EACCES:
    case EPERM: return "check its folder's rights, or take another folder";
    case ENOENT:
    case ENOTDIR: return "check that its folder exists";
    default: return "check the file, or take another folder";
    }
}

int lg__fail_write(lg_error *err, const char *path, int error)
{
    return lg__fail(err, LG_ERROR_SYSTEM, "%s could not be written (%s); %s", path, strerror(error),
                    lg_write_remedy(error));
}

static int refuse(struct lg__part *p, int error, lg_error *err)
{
    lg__fail_write(err, p->path, error);
    lg__part_drop(p);
    return LG_ERROR_SYSTEM;
}

int lg__part_open(struct lg__part *p, const char *path, lg_error *err)
{
    *p = (struct lg__part){.path = lg__alloc_text(path)};
    p->name = lg__alloc_print("%s.part-%ld", path, (long)getpid());
    if (!p->path || !p->name) {
        lg__part_drop(p);
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the name of %s", path);
    }
    p->file = fopen(p->name, "wb");
    return p->file ? 0 : refuse(p, errno, err);
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

/* Why writing failed some time ago: errno may be another call's by now, so it is tried once more. */
static int find_reason(FILE *f)
{
    enum { UNKNOWN = -1 };
    errno = 0;
    return (fputc(0, f) == EOF || fflush(f) != 0) && errno ? errno : UNKNOWN;
}

int lg__part_keep(struct lg__part *p, lg_error *err)
{
    int error = ferror(p->file) ? find_reason(p->file) : 0;
    if (!error && (fflush(p->file) != 0 || fsync(fileno(p->file)) != 0)) error = errno;
    if (fclose(p->file) != 0 && !error) error = errno;
    p->file = NULL;
    if (!error && rename(p->name, p->path) != 0) error = errno;
    if (error) return refuse(p, error, err);
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

/* ---- Whole files --------------------------------------------------------------------------- */

int lg__file_path(char *path, size_t size, const char *folder, const char *name, lg_error *err)
{
    int n = snprintf(path, size, "%s/%s", folder, name);
    if (n > 0 && (size_t)n < size) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "the folder's name %.40s.. is too long", folder);
}

int lg__file_write(const char *path, const char *text, lg_error *err)
{
    struct lg__part part = {0};
    int e = lg__part_open(&part, path, err);
    if (e) return e;
    fputs(text, part.file); /* keep sees whether that went well */
    return lg__part_keep(&part, err);
}

int lg__file_read(const char *path, char **text, lg_error *err)
{
    *text = NULL;
    FILE *f = fopen(path, "r");
    if (!f && (errno == ENOENT || errno == ENOTDIR)) return 0;
    size_t used = 0, room = 1 << 16;
    struct lg__block all = {0};
    int e = 0;
    while (f && !(e = lg__block_grow(&all, room, 1, path, err))) {
        used += fread((char *)all.data + used, 1, room - used - 1, f);
        if (used < room - 1) break;
        room *= 2;
    }
    int bad = !e && (!f || ferror(f)), reason = errno;
    if (f) fclose(f);
    if (bad) e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s", path, strerror(reason));
    if (e) {
        lg__block_free(&all);
        return e;
    }
    *text = all.data;
    (*text)[used] = 0;
    return 0;
}

int lg__file_copy(const char *from, const char *folder, const char *name, lg_error *err)
{
    char to[4200], bytes[1 << 14];
    struct lg__part part = {0};
    FILE *f = fopen(from, "rb");
    if (!f)
        return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s; check its name and rights",
                        from, strerror(errno));
    int e = lg__file_path(to, sizeof to, folder, name, err);
    if (!e) e = lg__part_open(&part, to, err);
    for (size_t n; !e && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        fwrite(bytes, 1, n, part.file);
    if (!e && ferror(f)) {
        lg__part_drop(&part);
        e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read: %s; check its disk", from,
                     strerror(errno));
    }
    if (!e) e = lg__part_keep(&part, err);
    fclose(f);
    return e;
}

int lg__folder_make(const char *folder, lg_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1;; at++) {
        char was = *at;
        if (was && was != '/') continue;
        *at = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return lg__fail(err, LG_ERROR_SYSTEM, "the folder %s could not be made: %s", path,
                            strerror(errno));
        if (!was) return 0;
        *at = was;
    }
}

int lg__folder_out(const char *folder, lg_error *err)
{
    struct stat st;
    if (lg__folder_make(folder, err)) return LG_ERROR_ARGUMENT;
    if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "--out is %s, which is no folder; take another name",
                    folder);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void lg_folder_remove(const char *folder) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

int lg__folder_lock(const char *folder, int shared, int *lock)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) return errno;
    if (flock(*lock, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return 0;
    int reason = errno;
    close(*lock);
    *lock = -1;
    return reason;
}
