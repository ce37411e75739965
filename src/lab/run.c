/* run.c: a run's folder: whose it is, what lies in it, and the run that it holds, opened. */
#include "lab/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/kernels.h"
#include "lab/checkpoint.h"
#include "lab/store.h"

int lg__run_path(char *path, size_t size, const char *folder, const char *name, lg_error *err)
{
    int n = snprintf(path, size, "%s/%s", folder, name);
    if (n > 0 && (size_t)n < size) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "the folder's name %.40s.. is too long", folder);
}

int lg__file_write(const char *path, const char *text, lg_error *err)
{
    char part[4200];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "w");
    int ok = f && fputs(text, f) >= 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
    if (f && fclose(f) != 0) ok = 0;
    if (ok && rename(part, path) == 0) return 0;
    return lg__fail(err, LG_ERROR_SYSTEM, "%s could not be written (%s); is the disk full?", path,
                    strerror(errno));
}

char *lg__file_read(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text) {
        used += fread(text + used, 1, room - used - 1, f);
        if (used < room - 1) break;
        char *more = realloc(text, room *= 2);
        if (!more) free(text);
        text = more;
    }
    if (text) text[used] = 0;
    fclose(f);
    return text;
}

/* The first line in which two texts differ, of the second one. */
static void first_difference(const char *a, const char *b, char *line, size_t size)
{
    const char *start = b;
    for (; *a && *a == *b; a++, b++)
        if (*b == '\n') start = b + 1;
    snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
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

/* ---- Whose it is ------------------------------------------------------------------------ */

/* The first line of config.yaml names the run, so that its rows are found wherever it lies. */
static const char first_line[] = "# lengthen run ";

static void read_id(const char *text, char id[LG__RUN_ID])
{
    const char *at = text + sizeof first_line - 1;
    id[0] = 0;
    if (strncmp(text, first_line, sizeof first_line - 1) == 0 &&
        strspn(at, "0123456789abcdef") == LG__RUN_ID - 1)
        snprintf(id, LG__RUN_ID, "%.16s", at);
}

void lg__run_id(const char *folder, char id[LG__RUN_ID])
{
    char path[4096], *text = NULL;
    id[0] = 0;
    if (!lg__run_path(path, sizeof path, folder, "config.yaml", NULL)) text = lg__file_read(path);
    if (text) read_id(text, id);
    free(text);
}

/* config.yaml without the line that names the run. */
static const char *body(const char *text)
{
    const char *line =
        strncmp(text, first_line, sizeof first_line - 1) == 0 ? strchr(text, '\n') : 0;
    return line ? line + 1 : text;
}

static int check_same(struct lg__run *r, const char *folder, const char *old, lg_error *err)
{
    char line[200];
    char *text = lg__config_text(&r->config);
    int e = 0;
    if (!text)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the config; end other programs");
    if (strcmp(body(old), text) != 0) {
        first_difference(text, body(old), line, sizeof line);
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is a run of another config: there it says \"%s\"; resume it with that "
                     "one, or take another folder (--out)",
                     folder, line);
    }
    free(text);
    read_id(old, r->id);
    if (!e && !r->id[0])
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s/config.yaml does not name its run in the first line; was it edited? Take "
                     "another folder (--out)",
                     folder);
    return e;
}

int lg__run_check_folder(struct lg__run *r, const char *folder, int resume, int *there,
                         lg_error *err)
{
    char path[4096];
    int e = lg__run_path(path, sizeof path, folder, "config.yaml", err);
    if (e) return e;
    char *old = lg__file_read(path);
    *there = old != NULL;
    if (old && resume == LG_RUN_NEW)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s holds a run already; go on with it (--resume), or take another folder "
                     "(--out)",
                     folder);
    else if (!old && resume == LG_RUN_RESUME)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s holds no run to resume (there is no %s); leave --resume out", folder,
                     path);
    else if (old)
        e = check_same(r, folder, old, err);
    free(old);
    return e;
}

static int try_lock(const char *folder, int *lock)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) return errno;
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0) return 0;
    int reason = errno;
    close(*lock);
    *lock = -1;
    return reason;
}

int lg__run_is_locked(const char *folder)
{
    int lock, reason = try_lock(folder, &lock);
    if (!reason) close(lock);
    return reason == EWOULDBLOCK;
}

/* Draws the run's ID. */
static int write_config(struct lg__run *r, const char *folder, lg_error *err)
{
    char path[4096], *text, *all = NULL;
    unsigned char drawn[(LG__RUN_ID - 1) / 2];
    int e = lg__run_path(path, sizeof path, folder, "config.yaml", err);
    if (e) return e;
    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return lg__fail(err, LG_ERROR_SYSTEM, "the system gives no random numbers: %s",
                        strerror(errno));
    for (size_t i = 0; i < sizeof drawn; i++) snprintf(r->id + 2 * i, 3, "%02x", drawn[i]);
    text = lg__config_text(&r->config);
    if (!text || asprintf(&all, "%s%s\n%s", first_line, r->id, text) < 0) {
        all = NULL;
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for the config; end other programs");
    }
    if (!e) e = lg__file_write(path, all, err);
    free(text);
    free(all);
    return e;
}

static int lock_folder(const char *folder, int *lock, lg_error *err)
{
    int reason = try_lock(folder, lock);
    /* Whoever only asks (lg__run_is_locked) holds it for an instant. */
    for (int i = 0; reason == EWOULDBLOCK && i < 10; i++) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        reason = try_lock(folder, lock);
    }
    if (!reason) return 0;
    if (reason == EWOULDBLOCK)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "another process is training the run in %s; wait for it, or take another "
                        "folder (--out)",
                        folder);
    return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be locked: %s; take another folder (--out)",
                    folder, strerror(reason));
}

int lg__run_claim_folder(struct lg__run *r, const char *folder, int resume, int *there, int *lock,
                         lg_error *err)
{
    int e = lg__folder_make(folder, err);
    if (!e) e = lock_folder(folder, lock, err);
    /* Once more: another process may have made the run while nobody had the lock. */
    if (!e) e = lg__run_check_folder(r, folder, resume, there, err);
    if (!e && !*there) e = write_config(r, folder, err);
    return e;
}

/* ---- The run -------------------------------------------------------------------------------- */

int lg__run_open(struct lg__run *r, const char *config, const char *const *sets, int count,
                 lg_error *err)
{
    int e = lg__config_read(&r->config, config, sets, count, err);
    if (!e)
        e = lg__config_open(&r->config, &r->task, &r->scheme, &r->model_config, &r->options, err);
    if (e) return e;
    snprintf(r->remark, sizeof r->remark, "%s", err ? err->text : "");
    lg__run_kernels(r->kernels);
    for (int l = 0; l < r->model_config.levels; l++)
        r->predicts |= r->model_config.id_classes[l] > 0;
    r->model = lg_model_new(&r->model_config, err);
    return r->model ? 0 : LG_ERROR_MEMORY;
}

int lg__run_note_step(const char *note, int64_t *step, lg_error *err)
{
    long long n;
    if (sscanf(note, "step %lld", &n) != 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the checkpoint's note \"%.60s\" is not one of a run; was it saved by "
                        "another program?",
                        note);
    *step = n;
    return 0;
}

void lg__run_kernels(char kernels[LG__RUN_KERNELS])
{
    snprintf(kernels, LG__RUN_KERNELS, "%s-%d", lg_isa(), (int)LG__KERNELS_VERSION);
}

void lg__run_note_kernels(const char *note, char kernels[LG__RUN_KERNELS])
{
    const char *at = strstr(note, " kernels ");
    if (!at || sscanf(at, " kernels %127s", kernels) != 1) kernels[0] = 0;
}

int lg__run_open_folder(struct lg__run *r, const char *folder, int64_t *step, lg_error *warning,
                        lg_error *err)
{
    char path[4096], *note = NULL;
    struct stat st;
    lg_error ignored;
    int e = lg__run_path(path, sizeof path, folder, "config.yaml", err);
    if (!e && stat(path, &st) != 0)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is no run: there is no %s; train one with lengthen train", folder, path);
    if (!e) e = lg__run_open(r, path, NULL, 0, err);
    lg__run_id(folder, r->id);
    if (!e && !r->id[0])
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s does not name its run in the first line; was it "
                     "edited?",
                     path);
    if (!e) e = lg__run_path(path, sizeof path, folder, "checkpoint", err);
    if (!e) e = lg__checkpoint_load(path, r->model, NULL, &note, warning ? warning : &ignored, err);
    if (!e) e = lg__run_note_step(note, step, err);
    if (!e) lg__run_note_kernels(note, r->kernels);
    free(note);
    return e;
}

void lg__run_close(struct lg__run *r)
{
    lg_model_free(r->model);
    lg_task_free(r->task);
    lg__config_clear(&r->config);
}

/* "coupled, delta, relative, window". */
static void describe_positions(const struct lg__run *r, char *line, size_t size)
{
    const char *source = NULL;
    for (int l = 0; l < r->model_config.levels; l++)
        if (r->scheme.source[l] && strcmp(r->scheme.source[l], "given") != 0)
            source = source ? "predicted" : r->scheme.source[l];
    snprintf(line, size, "%s, %s%s%s%s", r->scheme.ids, source ? source : "", source ? ", " : "",
             r->model_config.encoding, r->model_config.span == LG_SPAN_WINDOW ? ", window" : "");
}

int lg__run_register(const struct lg__run *r, const char *folder, lg_store *s, int64_t *number,
                     lg_error *err)
{
    char positions[200], whole[PATH_MAX];
    *number = 0;
    if (!s) return 0;
    char *text = lg__config_text(&r->config);
    if (!text)
        return lg__fail(err, LG_ERROR_MEMORY, "no memory for the config; end other programs");
    describe_positions(r, positions, sizeof positions);
    lg_store_run row = {.id = r->id,
                        .folder = realpath(folder, whole) ? whole : folder,
                        .state = "stopped",
                        .task = r->config.task,
                        .positions = positions,
                        .unit = lg_task_get_shape(r->task)->info->unit,
                        .config = text,
                        .kernels = r->kernels,
                        .seed = r->config.seed,
                        .steps = r->options.steps,
                        .parameters = lg_model_param_total(r->model),
                        .least = r->config.length[0],
                        .length = r->config.length[1],
                        .sparsity = r->config.sparsity[1]};
    int e = lg__store_register(s, &row, number, err);
    free(text);
    return e;
}
