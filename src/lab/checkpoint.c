/* checkpoint.c: saves by write, sync, rename; loads after checking every byte. */
#include "lab/checkpoint.h"

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
#include "base/memory.h"
#include "engine/model.h"
#include "lab/safetensors.h"

#define FORMAT "1"
static const char MODEL[] = "model.safetensors", STATE[] = "state.safetensors", SUM[] = "sum";

enum {
    NAME = 48,               /* room for step-N.old */
    FOLDER = PATH_MAX - 128, /* longest folder: the names below it always fit */
    SUM_TEXT = 256,          /* more than a sum file ever has */
    DAMAGED = 1,             /* inside: the checkpoint is not whole, another may be */
    DIED = 2,                /* inside: a test's kill -9 */
    MOMENT_NAME = sizeof(((struct lg__tensor *)0)->name) + 3
};

typedef char path_text[PATH_MAX];

/* Everything below folder; its length was checked, so that nothing is ever cut. */
static const char *join(path_text out, const char *folder, const char *name)
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

static int no_memory(const char *path, lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "%s: no memory for the checkpoint; end other programs",
                    path);
}

static int check_folder(const char *folder, lg_error *err)
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

/* FNV-1a 64: each step is a bijection of the sum so far, so one changed byte always shows. */
static const uint64_t SUM_START = 0xcbf29ce484222325;

static uint64_t add_sum(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++) sum = (sum ^ p[i]) * 0x100000001b3;
    return sum;
}

struct digest {
    uint64_t size, sum;
};

static void digest_line(char *out, size_t room, const char *file, const struct digest *d)
{
    snprintf(out, room, "%s %" PRIu64 " %016" PRIx64 "\n", file, d->size, d->sum);
}

/* The text of `sum`: it follows from the step and the two files alone, so that checking is
 * comparing, and a changed byte of `sum` itself shows as well. */
static void sum_text(char out[SUM_TEXT], int64_t step, const struct digest *model,
                     const struct digest *state)
{
    char a[SUM_TEXT / 3], b[SUM_TEXT / 3];
    digest_line(a, sizeof a, MODEL, model);
    digest_line(b, sizeof b, STATE, state);
    snprintf(out, SUM_TEXT, "lengthen checkpoint " FORMAT "\nstep %" PRId64 "\n%s%s", step, a, b);
}

/* ---- What a folder holds ------------------------------------------------------------------ */

struct entry {
    int64_t step;
    int old; /* step-N.old */
    char name[NAME];
};

struct listing {
    struct lg__block block;
    struct entry *e; /* newest first; step-N before step-N.old */
    int count;
};

static void step_name(char out[NAME], int64_t step, int old)
{
    snprintf(out, NAME, "step-%09" PRId64 "%s", step, old ? ".old" : "");
}

/* 1 if it is the name of a checkpoint, written as step_name writes it. */
static int parse_name(const char *name, struct entry *e)
{
    char again[NAME];
    if (strncmp(name, "step-", 5) != 0) return 0;
    errno = 0;
    e->step = strtoll(name + 5, NULL, 10);
    e->old = strstr(name, ".old") != NULL;
    if (errno || e->step < 0) return 0;
    step_name(again, e->step, e->old);
    memcpy(e->name, again, NAME);
    return strcmp(again, name) == 0;
}

static int newest_first(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    if (a->step != b->step) return a->step > b->step ? -1 : 1;
    return a->old - b->old;
}

/* A folder that is not there holds nothing. Free l->block also after an error. */
static int list_checkpoints(const char *folder, struct listing *l, lg_error *err)
{
    *l = (struct listing){0};
    DIR *d = opendir(folder);
    if (!d && errno == ENOENT) return 0;
    if (!d) return system_error(folder, "read", "check its name and rights", err);
    struct dirent *f;
    struct entry e = {0};
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

static int is_damaged(const char *file, const char *what, lg_error *err)
{
    lg__fail(err, LG_ERROR_SYSTEM, "%s %s", file, what);
    return DAMAGED;
}

/* A whole file. What is missing or unreadable on the disk is damage; what this process may not
 * or cannot do now (rights, memory) is an error, for another try could succeed. */
static int read_file(const char *path, struct lg__block *b, size_t *size, lg_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC), e = 0;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EIO))
        return is_damaged(path, errno == EIO ? "cannot be read" : "is missing", err);
    if (fd < 0) return system_error(path, "opened", "check its rights", err);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) e = is_damaged(path, "is no file", err);
    *size = 0;
    if (!e && lg__block_grow(b, (size_t)st.st_size + 1, 0, path, err)) e = LG_ERROR_MEMORY;
    while (!e && *size < (size_t)st.st_size) {
        ssize_t n = read(fd, (char *)b->data + *size, (size_t)st.st_size - *size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) e = is_damaged(path, "cannot be read", err);
        if (n <= 0) break; /* grew shorter meanwhile: the checksum will tell */
        *size += (size_t)n;
    }
    close(fd);
    return e;
}

/* The bytes of one checkpoint. */
struct content {
    struct lg__block model, state, sum;
    size_t model_size, state_size;
};

static void content_free(struct content *c)
{
    lg__block_free(&c->model);
    lg__block_free(&c->state);
    lg__block_free(&c->sum);
}

/* Which of the three files is not as it was written, given the two lines that would be right. */
static int check_sum(const struct content *c, size_t size, const char *folder, int64_t step,
                     lg_error *err)
{
    static const char other[] = "is damaged: its size or checksum is not the one in sum";
    char right[SUM_TEXT], line[SUM_TEXT / 3], *text = c->sum.data;
    struct digest m = {c->model_size, add_sum(SUM_START, c->model.data, c->model_size)};
    struct digest s = {c->state_size, add_sum(SUM_START, c->state.data, c->state_size)};
    path_text path;
    sum_text(right, step, &m, &s);
    if (size == strlen(right) && memcmp(text, right, size) == 0) return 0;
    text[size] = 0;
    digest_line(line, sizeof line, MODEL, &m);
    if (!strstr(text, line)) return is_damaged(join(path, folder, MODEL), other, err);
    digest_line(line, sizeof line, STATE, &s);
    if (!strstr(text, line)) return is_damaged(join(path, folder, STATE), other, err);
    return is_damaged(join(path, folder, SUM), "is damaged: it is not as it was written", err);
}

/* Reads step e of the folder and checks its sums: 0, DAMAGED, or an error. */
static int read_content(const char *folder, const struct entry *e, struct content *c, lg_error *err)
{
    path_text base, path;
    size_t size;
    int code;
    join(base, folder, e->name);
    if ((code = read_file(join(path, base, SUM), &c->sum, &size, err)) ||
        (code = read_file(join(path, base, MODEL), &c->model, &c->model_size, err)) ||
        (code = read_file(join(path, base, STATE), &c->state, &c->state_size, err)))
        return code;
    return check_sum(c, size, base, e->step, err);
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
    path_text path;
    int fd, pieces;
    struct digest d;
};

static int put_all(struct output *o, const void *data, size_t size, lg_error *err)
{
    const char *p = data;
    while (size) {
        ssize_t n = write(o->fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return system_error(o->path, "written",
                                "make room on its disk; the checkpoints before are whole", err);
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static int put(void *to, const void *data, size_t size, lg_error *err)
{
    struct output *o = to;
    o->d.size += size;
    o->d.sum = add_sum(o->d.sum, data, size);
    /* In two halves, with a point of death between them, in the pieces 0, 1, 2, 4, 8, ... */
    int e = put_all(o, data, size / 2, err), n = o->pieces++;
    if (!e && (n & (n - 1)) == 0) e = dies();
    return e ? e : put_all(o, (const char *)data + size / 2, size - size / 2, err);
}

static int output_open(struct output *o, const char *folder, const char *name, lg_error *err)
{
    *o = (struct output){.d.sum = SUM_START};
    o->fd = open(join(o->path, folder, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd < 0) return system_error(o->path, "made", "check its folder's rights and disk", err);
    return dies();
}

/* Ends the file, with what its writing returned: synced unless that failed. */
static int output_close(struct output *o, int e, lg_error *err)
{
    if (o->fd < 0) return e;
    if (!e) e = dies();
    if (!e && fsync(o->fd))
        e = system_error(o->path, "synced", "check its disk; the checkpoints before are whole",
                         err);
    if (close(o->fd) && !e) e = system_error(o->path, "closed", "check its disk", err);
    return e;
}

/* Makes what happened to a folder's names last through a power cut. */
static int sync_folder(const char *folder, lg_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), e = 0;
    if (fd < 0) return system_error(folder, "opened", "check its rights", err);
    if (fsync(fd) && errno != EINVAL) /* EINVAL: a file system that has no such thing */
        e = system_error(folder, "synced", "check its disk", err);
    close(fd);
    return e;
}

static void set_shape(struct lg__stored *s, const lg_param *p)
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
    if (!s) return no_memory(folder, err);
    for (int i = 0; i < n; i++) {
        lg_param p = lg_model_param(m, i);
        s[i].name = p.name;
        s[i].data = p.data;
        set_shape(&s[i], &p);
    }
    int e = write_tensors(folder, MODEL, s, n, meta, metas, d, err);
    free(s);
    return e;
}

/* "m1.NAME" or "m2.NAME". */
static const char *moment_name(char out[MOMENT_NAME], const char *name, int second)
{
    snprintf(out, MOMENT_NAME, "m%d.%s", second + 1, name);
    return out;
}

static int write_state(const char *folder, const lg_model *m, lg_trainer *t,
                       const struct lg__meta *meta, int metas, struct digest *d, lg_error *err)
{
    int n = lg_model_param_count(m), e;
    struct lg__stored *s = lg__alloc(2 * (size_t)n * sizeof *s);
    char(*names)[MOMENT_NAME] = lg__alloc(2 * (size_t)n * sizeof *names);
    for (int i = 0; s && names && i < 2 * n; i++) {
        lg_param p = lg_model_param(m, i % n);
        s[i].name = moment_name(names[i], p.name, i / n);
        s[i].data = lg_trainer_moment(t, i % n, i / n);
        set_shape(&s[i], &p);
    }
    e = s && names ? write_tensors(folder, STATE, s, 2 * n, meta, metas, d, err)
                   : no_memory(folder, err);
    free(names);
    free(s);
    return e;
}

static int write_sum(const char *folder, int64_t step, const struct digest *model,
                     const struct digest *state, lg_error *err)
{
    struct output o;
    char text[SUM_TEXT];
    sum_text(text, step, model, state);
    int e = output_open(&o, folder, SUM, err);
    if (!e) e = put(&o, text, strlen(text), err);
    return output_close(&o, e, err);
}

/* All files of a checkpoint into a fresh folder, synced. */
static int write_folder(const char *folder, const lg_model *m, lg_trainer *t, const char *note,
                        lg_error *err)
{
    char step[32];
    struct digest model, state;
    int e;
    snprintf(step, sizeof step, "%" PRId64, lg_trainer_steps(t));
    const struct lg__meta meta[] = {
        {"format_version", FORMAT}, {"step", step}, {"note", note ? note : ""}};
    if (mkdir(folder, 0777)) return system_error(folder, "made", "check its rights and disk", err);
    if ((e = write_model(folder, m, meta, 2, &model, err)) ||
        (e = write_state(folder, m, t, meta, 3, &state, err)) ||
        (e = write_sum(folder, lg_trainer_steps(t), &model, &state, err)))
        return e;
    return sync_folder(folder, err);
}

/* ---- Removing ----------------------------------------------------------------------------- */

/* A folder of files, or one file. */
static int remove_folder(const char *folder, lg_error *err)
{
    path_text path;
    struct dirent *f;
    DIR *d = opendir(folder);
    int e = 0;
    if (!d && errno == ENOENT) return 0;
    if (!d && errno == ENOTDIR && unlink(folder) == 0) return 0;
    if (!d) return system_error(folder, "removed", "remove it by hand", err);
    while (!e && (f = readdir(d))) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0) continue;
        if (unlink(join(path, folder, f->d_name)) && errno != ENOENT)
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
    path_text path;
    int e = dies();
    if (e) return e;
    if (rename(join(path, folder, name), tmp))
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
    path_text path;
    struct dirent *f;
    int e = 0;
    DIR *d = opendir(folder);
    if (!d) return system_error(folder, "read", "check its rights", err);
    while (!e && (f = readdir(d)))
        if (is_leftover(f->d_name)) e = remove_folder(join(path, folder, f->d_name), err);
    closedir(d);
    return e;
}

/* What a replacement that died left: step-N.old is removed if step-N is there (it was synced
 * before it got that name), and gets its name back if not. */
static int settle_old(const char *folder, const char *tmp, lg_error *err)
{
    struct listing l;
    path_text from, to;
    char name[NAME];
    int e = list_checkpoints(folder, &l, err);
    for (int i = 0; i < l.count && !e; i++) {
        if (!l.e[i].old) continue;
        step_name(name, l.e[i].step, 0);
        if (access(join(to, folder, name), F_OK) == 0)
            e = remove_checkpoint(folder, l.e[i].name, tmp, err);
        else if (rename(join(from, folder, l.e[i].name), to))
            e = system_error(from, "renamed", "check its folder's rights", err);
    }
    lg__block_free(&l.block);
    return e;
}

/* Old ones beyond `keep`. Later steps than this one are damaged (refuse_later), never loaded,
 * and replaced when the run comes there: they do not count. */
static int remove_older(const char *folder, int64_t step, int keep, const char *tmp, lg_error *err)
{
    struct listing l;
    int e = settle_old(folder, tmp, err), kept = 0;
    if (e) return e;
    e = list_checkpoints(folder, &l, err);
    for (int i = 0; i < l.count && !e; i++) {
        if (l.e[i].step > step || kept++ < keep) continue;
        e = remove_checkpoint(folder, l.e[i].name, tmp, err);
    }
    lg__block_free(&l.block);
    return e;
}

/* ---- Saving ------------------------------------------------------------------------------- */

/* A whole checkpoint of a later step belongs to another run, and a load would prefer it. */
static int refuse_later(const char *folder, const struct listing *l, int64_t step, lg_error *err)
{
    for (int i = 0; i < l->count && l->e[i].step > step; i++) {
        struct content c = {0};
        lg_error why;
        int e = read_content(folder, &l->e[i], &c, &why);
        content_free(&c);
        if (e == DAMAGED) continue;
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
    struct listing l;
    path_text above;
    int e = 0;
    if (mkdir(folder, 0777) == 0)
        e = sync_folder(join(above, folder, ".."), err);
    else if (errno != EEXIST)
        return system_error(folder, "made", "check the folder above it", err);
    if (!e) e = remove_leftovers(folder, err);
    if (!e) e = settle_old(folder, tmp, err);
    if (e) return e;
    e = list_checkpoints(folder, &l, err);
    if (!e) e = refuse_later(folder, &l, step, err);
    lg__block_free(&l.block);
    return e;
}

/* Gives the finished folder its name. One of the same step makes way first, and comes back if
 * the new one cannot take its place: at each instant one of the two has a name that loads. */
static int install(const char *folder, int64_t step, const char *tmp, lg_error *err)
{
    char name[NAME], old_name[NAME];
    path_text final, old;
    int e = dies(), replaces;
    step_name(name, step, 0);
    step_name(old_name, step, 1);
    join(final, folder, name);
    join(old, folder, old_name);
    if (e) return e;
    replaces = access(final, F_OK) == 0;
    if (replaces && rename(final, old))
        return system_error(final, "renamed", "check its folder's rights", err);
    if (replaces && (e = dies())) return e;
    if (rename(tmp, final)) {
        e = system_error(tmp, "renamed", "check its folder's rights and disk", err);
        if (replaces) (void)rename(old, final); /* a load takes it under either name */
        return e;
    }
    if ((e = dies())) return e;
    return sync_folder(folder, err);
}

int lg__checkpoint_save(const char *folder, const lg_model *m, lg_trainer *t, const char *note,
                        int keep, lg_error *err)
{
    path_text tmp;
    int e = check_folder(folder, err);
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

/* ---- Loading ------------------------------------------------------------------------------ */

/* A checkpoint that was read. */
struct loaded {
    struct content bytes;
    struct lg__safetensors model, state;
    path_text model_path, state_path;
};

static void loaded_free(struct loaded *l)
{
    lg__safetensors_close(&l->model);
    lg__safetensors_close(&l->state);
    content_free(&l->bytes);
}

static void shape_text(char *out, size_t room, const struct lg__stored *s)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < s->dims && used < room; i++)
        used +=
            (size_t)snprintf(out + used, room - used, "%s%" PRId64, i ? " x " : "", s->shape[i]);
}

/* The file's tensor of that name has the parameter's shape. */
static int check_tensor(const struct lg__safetensors *s, const char *file, const char *name,
                        const lg_param *p, lg_error *err)
{
    static const char remedy[] = "use the settings of the model that was saved, or another folder";
    const struct lg__stored *t = lg__safetensors_find(s, name);
    struct lg__stored want = {0};
    char has[LG__STORED_DIMS * 24], wants[LG__STORED_DIMS * 24];
    set_shape(&want, p);
    if (!t)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s has no tensor %s, which the model needs; %s",
                        file, name, remedy);
    if (t->dims == want.dims && memcmp(t->shape, want.shape, sizeof want.shape) == 0) return 0;
    shape_text(has, sizeof has, t);
    shape_text(wants, sizeof wants, &want);
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s: tensor %s is %s, the model's is %s; %s", file,
                    name, has, wants, remedy);
}

/* Every parameter and every moment is there. */
static int check_tensors(const struct loaded *l, const lg_model *m, lg_error *err)
{
    char name[MOMENT_NAME];
    int e = 0;
    for (int i = 0; i < lg_model_param_count(m) && !e; i++) {
        lg_param p = lg_model_param(m, i);
        e = check_tensor(&l->model, l->model_path, p.name, &p, err);
        for (int second = 0; second < 2 && !e; second++)
            e = check_tensor(&l->state, l->state_path, moment_name(name, p.name, second), &p, err);
    }
    return e;
}

/* No tensor is there that the model does not have; they were all found, so a count tells. */
static int check_no_more(const struct loaded *l, const lg_model *m, lg_error *err)
{
    int n = lg_model_param_count(m);
    for (int i = 0; l->model.count != n && i < l->model.count; i++)
        if (lg_model_param_find(m, l->model.tensors[i].name) < 0)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s has a tensor %s, which the model does not have; use the settings "
                            "of the model that was saved, or another folder",
                            l->model_path, l->model.tensors[i].name);
    if (l->model.count != n || l->state.count != 2 * n)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has %d tensors, the model needs %d; use the settings of the model that "
                        "was saved, or another folder",
                        l->state_path, l->state.count, 2 * n);
    return 0;
}

static int check_metadata(const struct loaded *l, const struct entry *entry, lg_error *err)
{
    const char *format = lg__safetensors_meta(&l->state, "format_version");
    const char *step = lg__safetensors_meta(&l->state, "step");
    char right[32];
    if (!format || strcmp(format, FORMAT) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has format_version %s, this program reads " FORMAT
                        "; use the program that wrote it",
                        l->state_path, format ? format : "none");
    snprintf(right, sizeof right, "%" PRId64, entry->step);
    if (!step || strcmp(step, right) != 0 || !lg__safetensors_meta(&l->state, "note"))
        return is_damaged(l->state_path, "has no note or another step than its folder", err);
    return 0;
}

/* Reads and checks one checkpoint: 0, DAMAGED, or an error. */
static int read_checkpoint(const char *folder, const struct entry *entry, const lg_model *m,
                           struct loaded *l, lg_error *err)
{
    path_text base;
    int e = read_content(folder, entry, &l->bytes, err);
    if (e) return e;
    join(base, folder, entry->name);
    join(l->model_path, base, MODEL);
    join(l->state_path, base, STATE);
    e = lg__safetensors_open(&l->model, l->bytes.model.data, l->bytes.model_size, l->model_path,
                             err);
    if (!e)
        e = lg__safetensors_open(&l->state, l->bytes.state.data, l->bytes.state_size, l->state_path,
                                 err);
    if (e) return e == LG_ERROR_SYSTEM ? DAMAGED : e;
    if ((e = check_metadata(l, entry, err)) || (e = check_tensors(l, m, err))) return e;
    return check_no_more(l, m, err);
}

static void copy_tensor(float *to, const struct lg__safetensors *s, const char *name)
{
    const struct lg__stored *t = lg__safetensors_find(s, name);
    memcpy(to, t->data, t->size);
}

/* From here on nothing can fail. */
static void apply(const struct loaded *l, int64_t step, lg_model *m, lg_trainer *t)
{
    char name[MOMENT_NAME];
    for (int i = 0; i < lg_model_param_count(m); i++) {
        lg_param p = lg_model_param(m, i);
        copy_tensor(p.data, &l->model, p.name);
        for (int second = 0; t && second < 2; second++)
            copy_tensor(lg_trainer_moment(t, i, second), &l->state,
                        moment_name(name, p.name, second));
    }
    if (t) lg_trainer_set_steps(t, step);
    lg_model_touch(m);
}

/* Finds the newest whole one: its place in the list, or an error. */
static int read_newest(const char *folder, const struct listing *list, const lg_model *m,
                       struct loaded *l, lg_error *warning, lg_error *err)
{
    lg_error first = {0}, why = {0};
    for (int i = 0; i < list->count; i++) {
        int e = read_checkpoint(folder, &list->e[i], m, l, &why);
        if (!e && i && warning)
            lg__fail(warning, LG_ERROR_SYSTEM, "%s; step %" PRId64 " is used instead%s", first.text,
                     list->e[i].step, i > 1 ? " (others between are damaged too)" : "");
        if (!e) return i;
        loaded_free(l);
        if (e < 0) {
            if (err) *err = why;
            return e;
        }
        if (!i) first = why;
    }
    if (!list->count)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s holds no checkpoint; give the folder of a run that has saved one, or "
                        "start from the beginning",
                        folder);
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%s holds no whole checkpoint (of %d): %s; bring back a copy, or start from "
                    "the beginning in an empty folder",
                    folder, list->count, first.text);
}

int lg__checkpoint_load(const char *folder, lg_model *m, lg_trainer *t, char **note,
                        lg_error *warning, lg_error *err)
{
    struct listing list;
    int e = check_folder(folder, err);
    if (warning) *warning = (lg_error){0};
    if (note) *note = NULL;
    if (e) return e;
    if (!m) return lg__fail(err, LG_ERROR_ARGUMENT, "there is no model to load into; give one");
    struct loaded *l = lg__alloc(sizeof *l);
    if (!l) return no_memory(folder, err);
    e = list_checkpoints(folder, &list, err);
    if (!e) e = read_newest(folder, &list, m, l, warning, err);
    if (e >= 0) {
        int64_t step = list.e[e].step;
        const char *text = lg__safetensors_meta(&l->state, "note");
        e = 0;
        if (note && !(*note = lg__alloc(strlen(text) + 1))) e = no_memory(folder, err);
        if (!e && note) strcpy(*note, text);
        if (!e) apply(l, step, m, t);
    }
    loaded_free(l);
    free(l);
    lg__block_free(&list.block);
    return e;
}
