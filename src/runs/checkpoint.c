/* checkpoint.c: saves by write, sync, rename; reads the bytes back and checks every one. */
#include "runs/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/checkpoint_files.h"
#include "base/hash.h"

static const char BEFORE[] = "; the checkpoints before are whole";
static const char MODEL[] = LG__CHECKPOINT_MODEL, STATE[] = LG__CHECKPOINT_STATE;
static const char NOTE[] = "note", SUM[] = "sum";

enum {
    FOLDER = PATH_MAX - 128, /* longest folder: the names below it always fit */
    SUM_LINE = 80,           /* more than a line of it, and than all of a sum file */
    SUM_TEXT = 4 * SUM_LINE,
    DIED = 2 /* inside: a test's kill -9 */
};

const char *lg__checkpoint_join(lg__path_text out, const char *folder, const char *name)
{
    size_t n = strlen(folder), more = strlen(name) + 1;
    if (n + 1 + more > PATH_MAX) return strcpy(out, ""); /* a path that no call accepts */
    memcpy(out, folder, n);
    out[n] = '/';
    memcpy(out + n + 1, name, more);
    return out;
}

static int system_error(const char *path, const char *cannot, const char *remedy, lg_error *err)
{
    return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be %s: %s; %s", path, cannot, strerror(errno),
                    remedy);
}

/* The same of what could not be written, with the remedy for errno. */
static int write_error(const char *path, const char *cannot, const char *rest, lg_error *err)
{
    return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be %s: %s; %s%s", path, cannot,
                    strerror(errno), lg_write_remedy(errno), rest);
}

int lg__checkpoint_no_memory(const char *path, lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "%s: no memory for the checkpoint; end other programs",
                    path);
}

int lg__checkpoint_check_folder(const char *folder, lg_error *err)
{
    if (!folder || !*folder)
        return lg__fail(err, LG_ERROR_ARGUMENT, "the checkpoint folder has no name; give one");
    if (strlen(folder) > FOLDER)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the checkpoint folder's name has %zu bytes, the most is %d; give a "
                        "shorter one",
                        strlen(folder), FOLDER);
    return 0;
}

/* ---- Checksums ---------------------------------------------------------------------------- */

struct digest {
    uint64_t size, sum;
};

static void digest_line(char *out, size_t room, const char *file, const struct digest *d)
{
    snprintf(out, room, "%s %" PRIu64 " %016" PRIx64 "\n", file, d->size, d->sum);
}

/* What is in `sum`. */
struct digests {
    struct digest model, note, state;
};

/* The text of `sum`: it follows from the step and the three files alone, so that checking is
 * comparing, and a changed byte of `sum` itself shows as well. */
static void sum_text(char out[SUM_TEXT], int64_t step, const struct digests *d)
{
    char a[SUM_LINE], b[SUM_LINE], c[SUM_LINE];
    digest_line(a, sizeof a, MODEL, &d->model);
    digest_line(b, sizeof b, NOTE, &d->note);
    digest_line(c, sizeof c, STATE, &d->state);
    snprintf(out, SUM_TEXT,
             "lengthen checkpoint " LG__CHECKPOINT_FORMAT "\nstep %" PRId64 "\n%s%s%s", step, a, b,
             c);
}

/* ---- What a folder holds ------------------------------------------------------------------ */

static void step_name(char out[LG__CHECKPOINT_NAME], int64_t step, int old)
{
    snprintf(out, LG__CHECKPOINT_NAME, "step-%09" PRId64 "%s", step, old ? ".old" : "");
}

/* 1 if it is the name of a checkpoint, written as step_name writes it. */
static int parse_name(const char *name, struct lg__entry *e)
{
    char again[LG__CHECKPOINT_NAME];
    if (strncmp(name, "step-", 5) != 0) return 0;
    errno = 0;
    e->step = strtoll(name + 5, NULL, 10);
    e->old = strstr(name, ".old") != NULL;
    if (errno || e->step < 0) return 0;
    step_name(again, e->step, e->old);
    memcpy(e->name, again, LG__CHECKPOINT_NAME);
    return strcmp(again, name) == 0;
}

static int newest_first(const void *x, const void *y)
{
    const struct lg__entry *a = x, *b = y;
    if (a->step != b->step) return a->step > b->step ? -1 : 1;
    return a->old - b->old;
}

int lg__checkpoint_list(const char *folder, struct lg__listing *l, lg_error *err)
{
    *l = (struct lg__listing){0};
    DIR *d = opendir(folder);
    if (!d && errno == ENOENT) return 0;
    if (!d) return system_error(folder, "read", "check its name and rights", err);
    struct dirent *f;
    struct lg__entry e = {0};
    int code = 0;
    while (!code && (errno = 0, f = readdir(d))) {
        if (!parse_name(f->d_name, &e)) continue;
        size_t need = (size_t)(l->count + 1) * sizeof e;
        if (need > l->block.size)
            code = lg__block_grow(&l->block, 2 * need, 1, "the list of checkpoints", err);
        if (code) break;
        l->e = l->block.data;
        l->e[l->count++] = e;
    }
    if (!code && errno) code = system_error(folder, "read", "check its disk", err);
    closedir(d);
    if (l->count) qsort(l->e, (size_t)l->count, sizeof e, newest_first);
    return code;
}

/* ---- Reading ------------------------------------------------------------------------------ */

int lg__checkpoint_is_damaged(const char *file, const char *what, lg_error *err)
{
    lg__fail(err, LG_ERROR_SYSTEM, "%s %s", file, what);
    return LG__CHECKPOINT_DAMAGED;
}

/* A whole file. What is missing or unreadable on the disk is damage; what this process may not
 * or cannot do now (rights, memory) is an error, for another try could succeed. */
static int read_file(const char *path, struct lg__block *b, size_t *size, lg_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC), e = 0;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EIO))
        return lg__checkpoint_is_damaged(path, errno == EIO ? "cannot be read" : "is missing", err);
    if (fd < 0) return system_error(path, "opened", "check its rights", err);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        e = lg__checkpoint_is_damaged(path, "is no file", err);
    *size = 0;
    if (!e && lg__block_grow(b, (size_t)st.st_size + 1, 0, path, err)) e = LG_ERROR_MEMORY;
    while (!e && *size < (size_t)st.st_size) {
        ssize_t n = read(fd, (char *)b->data + *size, (size_t)st.st_size - *size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) e = lg__checkpoint_is_damaged(path, "cannot be read", err);
        if (n <= 0) break; /* grew shorter meanwhile: the checksum will tell */
        *size += (size_t)n;
    }
    close(fd);
    return e;
}

void lg__content_free(struct lg__content *c)
{
    lg__block_free(&c->model);
    lg__block_free(&c->note);
    lg__block_free(&c->state);
    lg__block_free(&c->sum);
}

static struct digest digest_of(const struct lg__block *b, size_t size)
{
    return (struct digest){size, lg__fnv(LG__FNV_START, b->data, size)};
}

/* Whether a file is as it was written: its line is in `sum`. */
static int check_line(const char *text, const char *folder, const char *file,
                      const struct digest *d, lg_error *err)
{
    char line[SUM_LINE];
    lg__path_text path;
    digest_line(line, sizeof line, file, d);
    if (strstr(text, line)) return 0;
    return lg__checkpoint_is_damaged(lg__checkpoint_join(path, folder, file),
                                     "is damaged: its size or checksum is not the one in sum", err);
}

/* All files; `sum` has `size` bytes, the lines before the optimizer's were checked. */
static int check_sum(const struct lg__content *c, size_t size, const char *folder, int64_t step,
                     struct digests *d, lg_error *err)
{
    char right[SUM_TEXT];
    lg__path_text path;
    d->state = digest_of(&c->state, c->state_size);
    int e = check_line(c->sum.data, folder, STATE, &d->state, err);
    if (e) return e;
    sum_text(right, step, d);
    if (size == strlen(right) && memcmp(c->sum.data, right, size) == 0) return 0;
    return lg__checkpoint_is_damaged(lg__checkpoint_join(path, folder, SUM),
                                     "is damaged: it is not as it was written", err);
}

int lg__content_read(const char *folder, const struct lg__entry *e, int weights,
                     struct lg__content *c, lg_error *err)
{
    lg__path_text base, path;
    struct digests d;
    size_t size;
    int code;
    lg__checkpoint_join(base, folder, e->name);
    if ((code = read_file(lg__checkpoint_join(path, base, SUM), &c->sum, &size, err)) ||
        (code =
             read_file(lg__checkpoint_join(path, base, MODEL), &c->model, &c->model_size, err)) ||
        (code = read_file(lg__checkpoint_join(path, base, NOTE), &c->note, &c->note_size, err)))
        return code;
    ((char *)c->sum.data)[size] = ((char *)c->note.data)[c->note_size] = 0;
    d.model = digest_of(&c->model, c->model_size);
    d.note = digest_of(&c->note, c->note_size);
    if ((code = check_line(c->sum.data, base, MODEL, &d.model, err)) ||
        (code = check_line(c->sum.data, base, NOTE, &d.note, err)) || weights)
        return code;
    code = read_file(lg__checkpoint_join(path, base, STATE), &c->state, &c->state_size, err);
    return code ? code : check_sum(c, size, base, e->step, &d, err);
}

/* ---- Writing ------------------------------------------------------------------------------ */

static atomic_int stop_at = -1, stop_kills;

void lg__checkpoint_stop_at(int n, int kill)
{
    atomic_store(&stop_kills, kill);
    atomic_store(&stop_at, n < 0 ? -1 : n);
}

/* A point at which a test may let the save die. */
static int dies(void)
{
    int n = atomic_load(&stop_at);
    if (n < 0) return 0;
    atomic_store(&stop_at, n - 1);
    if (n == 0 && atomic_load(&stop_kills)) raise(SIGKILL);
    return n == 0 ? DIED : 0;
}

/* A file that is being written. */
struct output {
    lg__path_text path;
    int fd, pieces;
    struct digest d;
};

static int put_all(struct output *o, const void *data, size_t size, lg_error *err)
{
    const char *p = data;
    while (size) {
        ssize_t n = write(o->fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return write_error(o->path, "written", BEFORE, err);
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static int put(void *to, const void *data, size_t size, lg_error *err)
{
    struct output *o = to;
    o->d.size += size;
    o->d.sum = lg__fnv(o->d.sum, data, size);
    /* In two halves, with a point of death between them, in the pieces 0, 1, 2, 4, 8, ... */
    int e = put_all(o, data, size / 2, err), n = o->pieces++;
    if (!e && (n & (n - 1)) == 0) e = dies();
    return e ? e : put_all(o, (const char *)data + size / 2, size - size / 2, err);
}

static int output_open(struct output *o, const char *folder, const char *name, lg_error *err)
{
    *o = (struct output){.d.sum = LG__FNV_START};
    o->fd = open(lg__checkpoint_join(o->path, folder, name),
                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd < 0) return write_error(o->path, "made", "", err);
    return dies();
}

/* Ends the file, with what its writing returned: synced unless that failed. */
static int output_close(struct output *o, int e, lg_error *err)
{
    if (o->fd < 0) return e;
    if (!e) e = dies();
    if (!e && fsync(o->fd)) e = write_error(o->path, "synced", BEFORE, err);
    if (close(o->fd) && !e) e = write_error(o->path, "closed", BEFORE, err);
    return e;
}

/* Makes what happened to a folder's names last through a power cut. */
static int sync_folder(const char *folder, lg_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), e = 0;
    if (fd < 0) return system_error(folder, "opened", "check its rights", err);
    if (fsync(fd) && errno != EINVAL) /* EINVAL: a file system that has no such thing */
        e = write_error(folder, "synced", "", err);
    close(fd);
    return e;
}

void lg__checkpoint_set_shape(struct lg__stored *s, const lg_param *p)
{
    s->dims = p->rows == 1 ? 1 : 2;
    s->shape[0] = p->rows == 1 ? p->cols : p->rows;
    s->shape[1] = p->rows == 1 ? 0 : p->cols;
    s->size = (size_t)p->rows * (size_t)p->cols * sizeof(float);
}

static int write_tensors(const char *folder, const char *name, const struct lg__stored *tensors,
                         int count, const struct lg__meta *meta, int metas, struct digest *d,
                         lg_error *err)
{
    struct output o;
    int e = output_open(&o, folder, name, err);
    if (!e) e = lg__safetensors_write(tensors, count, meta, metas, o.path, put, &o, err);
    e = output_close(&o, e, err);
    *d = o.d;
    return e;
}

static int write_model(const char *folder, const lg_model *m, const struct lg__meta *meta,
                       int metas, struct digest *d, lg_error *err)
{
    int n = lg_model_param_count(m);
    struct lg__stored *s = lg__alloc((size_t)n * sizeof *s);
    if (!s) return lg__checkpoint_no_memory(folder, err);
    for (int i = 0; i < n; i++) {
        lg_param p = lg_model_param(m, i);
        s[i].name = p.name;
        s[i].data = p.data;
        lg__checkpoint_set_shape(&s[i], &p);
    }
    int e = write_tensors(folder, MODEL, s, n, meta, metas, d, err);
    free(s);
    return e;
}

const char *lg__moment_name(char out[LG__MOMENT_NAME], const char *name, int second)
{
    snprintf(out, LG__MOMENT_NAME, "m%d.%s", second + 1, name);
    return out;
}

static int write_state(const char *folder, const lg_model *m, lg_trainer *t,
                       const struct lg__meta *meta, int metas, struct digest *d, lg_error *err)
{
    int n = lg_model_param_count(m), e;
    struct lg__stored *s = lg__alloc(2 * (size_t)n * sizeof *s);
    char(*names)[LG__MOMENT_NAME] = lg__alloc(2 * (size_t)n * sizeof *names);
    for (int i = 0; s && names && i < 2 * n; i++) {
        lg_param p = lg_model_param(m, i % n);
        s[i].name = lg__moment_name(names[i], p.name, i / n);
        s[i].data = lg_trainer_moment(t, i % n, i / n);
        lg__checkpoint_set_shape(&s[i], &p);
    }
    e = s && names ? write_tensors(folder, STATE, s, 2 * n, meta, metas, d, err)
                   : lg__checkpoint_no_memory(folder, err);
    free(names);
    free(s);
    return e;
}

static int write_text(const char *folder, const char *name, const char *text, struct digest *d,
                      lg_error *err)
{
    struct output o;
    int e = output_open(&o, folder, name, err);
    if (!e) e = put(&o, text, strlen(text), err);
    e = output_close(&o, e, err);
    *d = o.d;
    return e;
}

/* All files of a checkpoint into a fresh folder, synced. */
static int write_folder(const char *folder, const lg_model *m, lg_trainer *t, const char *note,
                        lg_error *err)
{
    char step[32], text[SUM_TEXT];
    struct digests d;
    struct digest own;
    int e;
    snprintf(step, sizeof step, "%" PRId64, lg_trainer_steps(t));
    const struct lg__meta meta[] = {{"format_version", LG__CHECKPOINT_FORMAT}, {"step", step}};
    if (mkdir(folder, 0777)) return write_error(folder, "made", "", err);
    if ((e = write_model(folder, m, meta, 2, &d.model, err)) ||
        (e = write_text(folder, NOTE, note ? note : "", &d.note, err)) ||
        (e = write_state(folder, m, t, meta, 2, &d.state, err)))
        return e;
    sum_text(text, lg_trainer_steps(t), &d);
    e = write_text(folder, SUM, text, &own, err);
    return e ? e : sync_folder(folder, err);
}

/* ---- Removing ----------------------------------------------------------------------------- */

/* A folder of files, or one file. */
static int remove_folder(const char *folder, lg_error *err)
{
    lg__path_text path;
    struct dirent *f;
    DIR *d = opendir(folder);
    int e = 0;
    if (!d && errno == ENOENT) return 0;
    if (!d && errno == ENOTDIR && unlink(folder) == 0) return 0;
    if (!d) return system_error(folder, "removed", "remove it by hand", err);
    while (!e && (f = readdir(d))) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0) continue;
        if (unlink(lg__checkpoint_join(path, folder, f->d_name)) && errno != ENOENT)
            e = system_error(folder, "emptied", "remove it by hand", err);
        if (!e) e = dies();
    }
    closedir(d);
    if (!e && rmdir(folder) && errno != ENOENT)
        e = system_error(folder, "removed", "remove it by hand", err);
    return e;
}

/* Removes a checkpoint under a temporary name: half of one must never look like one. */
static int remove_checkpoint(const char *folder, const char *name, const char *tmp, lg_error *err)
{
    lg__path_text path;
    int e = dies();
    if (e) return e;
    if (rename(lg__checkpoint_join(path, folder, name), tmp))
        return system_error(path, "removed", "remove it by hand", err);
    return remove_folder(tmp, err);
}

/* 1 if `name` is what a save of a process that is no more left behind. Our own number counts:
 * one process saves to one folder one at a time, so it is left from an earlier process. */
static int is_leftover(const char *name)
{
    static const char start[] = ".tmp-";
    char *end;
    if (strncmp(name, start, sizeof start - 1) != 0) return 0;
    errno = 0;
    long pid = strtol(name + sizeof start - 1, &end, 10);
    if (errno || *end || pid <= 0 || pid > INT_MAX) return 0;
    return pid == (long)getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

static int remove_leftovers(const char *folder, lg_error *err)
{
    lg__path_text path;
    struct dirent *f;
    int e = 0;
    DIR *d = opendir(folder);
    if (!d) return system_error(folder, "read", "check its rights", err);
    while (!e && (f = readdir(d)))
        if (is_leftover(f->d_name))
            e = remove_folder(lg__checkpoint_join(path, folder, f->d_name), err);
    closedir(d);
    return e;
}

/* What a replacement that died left: step-N.old is removed if step-N is there (it was synced
 * before it got that name), and gets its name back if not. */
static int settle_old(const char *folder, const char *tmp, lg_error *err)
{
    struct lg__listing l;
    lg__path_text from, to;
    char name[LG__CHECKPOINT_NAME];
    int e = lg__checkpoint_list(folder, &l, err);
    for (int i = 0; i < l.count && !e; i++) {
        if (!l.e[i].old) continue;
        step_name(name, l.e[i].step, 0);
        if (access(lg__checkpoint_join(to, folder, name), F_OK) == 0)
            e = remove_checkpoint(folder, l.e[i].name, tmp, err);
        else if (rename(lg__checkpoint_join(from, folder, l.e[i].name), to))
            e = system_error(from, "renamed", "check its folder's rights", err);
    }
    lg__block_free(&l.block);
    return e;
}

/* Old ones beyond `keep`, and later steps than this one: they are damaged (refuse_later), and what is
 * whole of them is no longer of this run, which went on from before them. */
static int remove_older(const char *folder, int64_t step, int keep, const char *tmp, lg_error *err)
{
    struct lg__listing l;
    int e = settle_old(folder, tmp, err), kept = 0;
    if (e) return e;
    e = lg__checkpoint_list(folder, &l, err);
    for (int i = 0; i < l.count && !e; i++) {
        if (l.e[i].step <= step && kept++ < keep) continue;
        e = remove_checkpoint(folder, l.e[i].name, tmp, err);
    }
    lg__block_free(&l.block);
    return e;
}

/* ---- Saving ------------------------------------------------------------------------------- */

/* A whole checkpoint of a later step belongs to another run, and a load would prefer it. */
static int refuse_later(const char *folder, const struct lg__listing *l, int64_t step,
                        lg_error *err)
{
    for (int i = 0; i < l->count && l->e[i].step > step; i++) {
        struct lg__content c = {0};
        lg_error why;
        int e = lg__content_read(folder, &l->e[i], 0, &c, &why);
        lg__content_free(&c);
        if (e == LG__CHECKPOINT_DAMAGED) continue;
        if (e && err) *err = why;
        if (e) return e;
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s holds %s, a later step than this one (%" PRId64
                        "): resume from it, remove it, or save to another folder",
                        folder, l->e[i].name, step);
    }
    return 0;
}

/* Makes the folder, clears what dead saves left there, and checks that this step belongs. */
static int prepare(const char *folder, int64_t step, const char *tmp, lg_error *err)
{
    struct lg__listing l;
    lg__path_text above;
    int e = 0;
    if (mkdir(folder, 0777) == 0)
        e = sync_folder(lg__checkpoint_join(above, folder, ".."), err);
    else if (errno != EEXIST)
        return system_error(folder, "made", "check the folder above it", err);
    if (!e) e = remove_leftovers(folder, err);
    if (!e) e = settle_old(folder, tmp, err);
    if (e) return e;
    e = lg__checkpoint_list(folder, &l, err);
    if (!e) e = refuse_later(folder, &l, step, err);
    lg__block_free(&l.block);
    return e;
}

/* Gives the finished folder its name. One of the same step makes way first, and comes back if
 * the new one cannot take its place: at each instant one of the two has a name that loads. */
static int install(const char *folder, int64_t step, const char *tmp, lg_error *err)
{
    char name[LG__CHECKPOINT_NAME], old_name[LG__CHECKPOINT_NAME];
    lg__path_text final, old;
    int e = dies(), replaces;
    step_name(name, step, 0);
    step_name(old_name, step, 1);
    lg__checkpoint_join(final, folder, name);
    lg__checkpoint_join(old, folder, old_name);
    if (e) return e;
    replaces = access(final, F_OK) == 0;
    if (replaces && rename(final, old))
        return system_error(final, "renamed", "check its folder's rights", err);
    if (replaces && (e = dies())) return e;
    if (rename(tmp, final)) {
        e = write_error(tmp, "renamed", "", err);
        if (replaces) (void)rename(old, final); /* a load takes it under either name */
        return e;
    }
    if ((e = dies())) return e;
    return sync_folder(folder, err);
}

int lg__checkpoint_save(const char *folder, const lg_model *m, lg_trainer *t, const char *note,
                        int keep, lg_error *err)
{
    lg__path_text tmp;
    int e = lg__checkpoint_check_folder(folder, err);
    if (e) return e;
    if (!m || !t || keep < 1 || lg_trainer_steps(t) < 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a checkpoint needs a model, a trainer, steps >= 0 and keep >= 1 (it is "
                        "%d); give them",
                        keep);
    snprintf(tmp, sizeof tmp, "%s/.tmp-%ld", folder, (long)getpid());
    int64_t step = lg_trainer_steps(t);
    e = prepare(folder, step, tmp, err);
    if (!e) e = write_folder(tmp, m, t, note, err);
    if (!e) e = install(folder, step, tmp, err);
    if (e < 0) (void)remove_folder(tmp, NULL); /* the first error is the one to tell */
    if (!e) e = remove_older(folder, step, keep, tmp, err);
    if (e == DIED) return lg__fail(err, LG_ERROR_SYSTEM, "the save was stopped by a test");
    return e;
}
