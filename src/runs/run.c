/* run.c: a run's folder: whose it is, what lies in it, and the run that it holds, opened. */
#include "runs/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "engine/kernels.h"
#include "positions/ids.h"
#include "runs/checkpoint.h"
#include "runs/note.h"
#include "runs/store.h"
#include "formats/safetensors.h"
#include "runs/texts.h"
#include "runs/trust.h"
#include "base/hash.h"

/* The first line in which two texts differ, of the second one. */
static void first_difference(const char *a, const char *b, char *line, size_t size)
{
    const char *start = b;
    for (; *a && *a == *b; a++, b++)
        if (*b == '\n') start = b + 1;
    snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
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

int lg__run_file_id(const char *path, char id[LG__RUN_ID])
{
    char *text = NULL;
    id[0] = 0;
    lg__file_read(path, &text, NULL);
    int there = text != NULL;
    if (text) read_id(text, id);
    free(text);
    return there;
}

int lg__run_id(const char *folder, char id[LG__RUN_ID])
{
    char path[4096];
    id[0] = 0;
    return !lg__file_path(path, sizeof path, folder, "config.yaml", NULL) &&
           lg__run_file_id(path, id);
}

int lg__run_check_config(const struct lg__config *c, const char *folder, lg_error *err)
{
    struct lg__config old;
    char line[200], path[4096];
    int e = lg__file_path(path, sizeof path, folder, "config.yaml", err);
    if (!e) e = lg__config_read(&old, path, NULL, 0, err);
    if (e) return e;
    e = lg__text_same_places(&old, c, err);
    char *text = lg__config_text(c), *was = lg__config_text(&old);
    lg__config_clear(&old);
    if (!e && (!text || !was))
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for the config; end other programs");
    else if (!e && strcmp(was, text) != 0) {
        first_difference(text, was, line, sizeof line);
        if (strncmp(line, "  checksum: ", 12) == 0)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "the texts or the tokenizer of %s have changed since the run was made: "
                         "there it says \"%s\"; bring them back, or train anew in another folder "
                         "(--out)",
                         folder, line + 2);
        else
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "%s is a run of another config: there it says \"%s\"; take that one, or "
                         "another folder (--out)",
                         folder, line);
    }
    free(text);
    free(was);
    return e;
}

/* A model knows words by their numbers, which are those of a file of examples or of a table as it was;
 * and a run that goes on reads the same examples. Of texts the config has a checksum. */
static void sum_words(const struct lg__run *r, char line[80])
{
    const lg_task_shape *shape = lg_task_get_shape(r->task);
    uint64_t h = LG__FNV_START; /* with the zeros between words */
    char data[20];
    line[0] = 0;
    if (lg__text_tokenizer(r->task)) return; /* its checksum is in the config */
    for (int i = 0; i < shape->vocab; i++)
        h = lg__fnv(h, shape->words[i], strlen(shape->words[i]) + 1);
    lg__run_sum_data(&r->config, NULL, NULL, data);
    snprintf(line, 80, "# words %016llx, data %s", (unsigned long long)h, *data ? data : "-");
}

/* Against the line of the config there, if it has one; of the data only where the run is to go on. */
static int check_words(const struct lg__run *r, const char *folder, const char *text, int goes_on,
                       lg_error *err)
{
    char now[80];
    const char *was = strstr(text, "\n# words ");
    size_t words = strlen("# words 0123456789abcdef");
    if (!was || !r->task) return 0; /* of a sweep's runs each is opened as it begins */
    sum_words(r, now);
    if (strncmp(was + 1, now, words) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the words of task %s are others, or in another order, than when %s was "
                        "trained; bring its file back, or fix them with task.vocab and train anew",
                        r->config.task, folder);
    if (goes_on && strncmp(was + 1, now, strlen(now)) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the examples of task %s have changed since %s was begun; bring its file "
                        "back, or train anew in another folder (--out)",
                        r->config.task, folder);
    return 0;
}

static int holds_checkpoints(const char *folder)
{
    char path[4096];
    struct stat st;
    return !lg__file_path(path, sizeof path, folder, "checkpoint", NULL) && stat(path, &st) == 0;
}

/* There is a config.yaml. */
static int check_there(struct lg__run *r, const char *folder, const char *path, const char *old,
                       int resume, lg_error *err)
{
    if (resume == LG_RUN_NEW)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s holds a run already; go on with it (--resume), or take another folder "
                        "(--out)",
                        folder);
    int e = lg__run_check_config(&r->config, folder, err);
    if (!e) e = check_words(r, folder, old, 1, err);
    read_id(old, r->id);
    if (!e && !r->id[0])
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s does not name its run in the first line; was it edited? Take another "
                     "folder (--out)",
                     path);
    return e;
}

int lg__run_check_folder(struct lg__run *r, const char *folder, int resume, int *there,
                         lg_error *err)
{
    char path[4096], *old;
    if (!*folder)
        return lg__fail(err, LG_ERROR_ARGUMENT, "the folder has no name; give it one (--out)");
    int e = lg__file_path(path, sizeof path, folder, "config.yaml", err);
    if (!e) e = lg__file_read(path, &old, err);
    if (e) return e;
    *there = old != NULL;
    if (old)
        e = check_there(r, folder, path, old, resume, err);
    else if (resume == LG_RUN_RESUME)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s holds no run to resume (there is no %s); leave --resume out", folder,
                     path);
    else if (holds_checkpoints(folder))
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s holds checkpoints of a run whose config.yaml is gone; take another folder "
                     "(--out), or move them away",
                     folder);
    free(old);
    return e;
}

int lg__run_is_locked(const char *folder)
{
    int lock, reason = lg__folder_lock(folder, 1, &lock);
    if (!reason) close(lock);
    return reason == EWOULDBLOCK;
}

/* Draws the run's ID. */
static int write_config(struct lg__run *r, const char *folder, lg_error *err)
{
    char path[4096], words[80], *text, *all = NULL;
    unsigned char drawn[(LG__RUN_ID - 1) / 2];
    int e = lg__file_path(path, sizeof path, folder, "config.yaml", err);
    if (e) return e;
    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return lg__fail(err, LG_ERROR_SYSTEM, "the system gives no random numbers: %s",
                        strerror(errno));
    for (size_t i = 0; i < sizeof drawn; i++) snprintf(r->id + 2 * i, 3, "%02x", drawn[i]);
    text = lg__config_text(&r->config);
    sum_words(r, words);
    if (!text || asprintf(&all, "%s%s\n%s%s%s%s%s%s", first_line, r->id, words, *words ? "\n" : "",
                          *r->origin ? "# begins with the weights of " : "", r->origin,
                          *r->origin ? "\n" : "", text) < 0) {
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
    int reason = lg__folder_lock(folder, 0, lock);
    /* Whoever only asks (lg__run_is_locked) holds it for an instant. */
    for (int i = 0; reason == EWOULDBLOCK && i < 10; i++) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        reason = lg__folder_lock(folder, 0, lock);
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

int lg__run_has_steps(const char *path)
{
    int found = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) found |= strncmp(e->d_name, "step-", 5) == 0;
    if (d) closedir(d);
    return found;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

/* What a run has written; anything else that lies in its folder stays, and so does the folder. */
int lg__run_remove_folder(const char *folder, lg_error *err)
{
    static const char *const files[] = {LG__RUN_WAITING, LG__RUN_COUPLING, LG__RUN_CERTIFICATE,
                                        LG__RUN_LIST,    LG__RUN_SAMPLED,  "config.yaml"};
    char path[PATH_MAX + 32], id[LG__RUN_ID];
    lg__run_id(folder, id);
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    int bad = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT;
    snprintf(path, sizeof path, "%s/" LG__RUN_TOKENIZER, folder);
    if (!bad) bad = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT;
    for (int i = 0; i < (int)(sizeof files / sizeof *files) && !bad; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        bad = remove(path) != 0 && errno != ENOENT;
    }
    if (bad)
        return lg__fail(err, LG_ERROR_SYSTEM, "%s could not be deleted: %s; delete it by hand",
                        path, strerror(errno));
    rmdir(folder);
    lg__trust_forget(id);
    return 0;
}

/* ---- The run -------------------------------------------------------------------------------- */

int lg__run_open(struct lg__run *r, const char *config, const char *const *sets, int count,
                 lg_error *err)
{
    char sum[LG__TEXT_SUM];
    int e = lg__config_read(&r->config, config, sets, count, err);
    if (!e && r->owner) e = lg__trust_check(r->owner, r->config.task, err);
    if (!e)
        e = lg__config_open(&r->config, &r->task, &r->scheme, &r->model_config, &r->options, err);
    if (e) return e;
    snprintf(r->remark, sizeof r->remark, "%s", err ? err->text : "");
    if ((e = lg_plan_open(&r->plan, &r->scheme, r->task, err))) return e;
    size_t n = strlen(r->remark);
    const char *note = lg__text_note(r->task);
    if (note) snprintf(r->remark + n, sizeof r->remark - n, "%s%s", n ? "; " : "", note);
    lg__text_sum(r->task, sum);
    if ((e = lg__text_record(&r->config, sum, err))) return e;
    for (int l = 0; l < r->model_config.levels; l++)
        r->predicts |= r->model_config.id_classes[l] > 0;
    r->model = lg_model_new(&r->model_config, err);
    if (r->model) lg__run_kernels(r->model, r->options.precision, r->kernels);
    return r->model ? 0 : LG_ERROR_MEMORY;
}

void lg__run_write_note(const struct lg__run_note *n, lg_buffer *note)
{
    lg__note_put_int(note, "step", n->step);
    lg__note_put_int(note, "enough", n->enough);
    lg__note_put_int(note, "evaluated", n->evaluated);
    lg__note_put_int(note, "tokens", n->tokens);
    lg__note_put_text(note, "kernels", n->kernels);
    lg__note_put_int(note, "length", n->length);
    lg__note_put_int(note, "sparsity", n->sparsity);
    lg__note_put_real(note, "learned", n->learned);
}

int lg__run_read_note(struct lg__run_note *n, const char *note, lg_error *err)
{
    int64_t enough, tokens, length, sparsity;
    int e = lg__note_int(note, "step", 0, INT64_MAX, &n->step, err);
    if (!e) e = lg__note_int(note, "enough", 0, 1, &enough, err);
    if (!e) e = lg__note_int(note, "evaluated", 0, INT64_MAX, &n->evaluated, err);
    if (!e) e = lg__note_int(note, "tokens", 0, INT_MAX, &tokens, err);
    if (!e) e = lg__note_text(note, "kernels", n->kernels, sizeof n->kernels, err);
    if (!e) e = lg__note_int(note, "length", 0, INT_MAX, &length, err);
    if (!e) e = lg__note_int(note, "sparsity", 0, INT_MAX, &sparsity, err);
    if (!e) e = lg__note_real(note, "learned", &n->learned, err);
    if (e) return e;
    n->enough = (int)enough;
    n->tokens = (int)tokens;
    n->length = (int)length;
    n->sparsity = (int)sparsity;
    return 0;
}

void lg__run_kernels(const lg_model *m, lg_precision p, char kernels[LG__RUN_KERNELS])
{
    int half = p == LG_PRECISION_BF16;
    snprintf(kernels, LG__RUN_KERNELS, "%s-%d%s%s", lg_model_isa(m), (int)LG__KERNELS_VERSION,
             half ? "-bf16:" : "", half ? lg_model_isa_bf16(m) : "");
}

/* With the run's own copy of a coupling's rule, if it has one. */
static int open_task_run(struct lg__run *r, const char *folder, const char *config, lg_error *err)
{
    char copy[4200];
    const char *sets[1] = {copy};
    struct stat st;
    snprintf(copy, sizeof copy, "%.4000s/" LG__RUN_COUPLING, folder);
    if (stat(copy, &st) != 0) return lg__text_open_run(r, folder, config, err);
    snprintf(copy, sizeof copy, "positions.coupling=%.4000s/" LG__RUN_COUPLING, folder);
    return lg__run_open(r, config, sets, 1, err);
}

/* The path and the text of the folder's config.yaml, which names its run; *text is to be freed. */
static int read_config(const char *folder, char path[4096], char **text, char id[LG__RUN_ID],
                       lg_error *err)
{
    *text = NULL;
    int e = lg__file_path(path, 4096, folder, "config.yaml", err);
    if (!e) e = lg__file_read(path, text, err);
    if (!e && !*text)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s is no run: there is no %s; train one with lengthen train", folder, path);
    if (e) return e;
    read_id(*text, id);
    if (id[0]) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s does not name its run in the first line; was it edited? Put that line "
                    "back, or train the run again",
                    path);
}

/* The newest weights, and what their note says. */
static int load_weights(struct lg__run *r, const char *folder, int fallback, lg_error *warning,
                        lg_error *err)
{
    char path[4096], *note = NULL;
    struct lg__run_note n = {0};
    lg_error ignored;
    int e = lg__file_path(path, sizeof path, folder, "checkpoint", err);
    if (!e)
        e = lg__checkpoint_load(path, r->model, NULL, fallback, &note, warning ? warning : &ignored,
                                err);
    if (!e) e = lg__run_read_note(&n, note, err);
    free(note);
    if (e) return e;
    r->step = n.step;
    r->done = n.enough || n.step >= r->options.steps;
    r->longest = n.tokens;
    memcpy(r->kernels, n.kernels, sizeof r->kernels);
    return 0;
}

int lg__run_open_folder(struct lg__run *r, const char *folder, const lg_run_access *access,
                        lg_error *warning, lg_error *err)
{
    char path[4096], id[LG__RUN_ID], *text;
    lg_error own;
    if (!err) err = &own;
    int e = read_config(folder, path, &text, id, err);
    struct lg__owner owner = {folder, id, access};
    r->owner = &owner;
    if (!e) e = open_task_run(r, folder, path, err);
    r->owner = NULL;
    if (!e) memcpy(r->id, id, sizeof r->id);
    if (!e) e = check_words(r, folder, text, 0, err);
    if (!e) e = load_weights(r, folder, access && access->fallback, warning, err);
    if (!e && warning && check_words(r, folder, text, 1, NULL)) {
        size_t n = strlen(warning->text);
        snprintf(
            warning->text + n, sizeof warning->text - n,
            "%sthe examples of %.200s have changed since the run was trained: lines that are now "
            "held out may have been trained on",
            n ? "; " : "", r->config.task);
    }
    free(text);
    if (!e && warning && !warning->text[0] && lg__text_note(r->task))
        lg__fail(warning, 0, "%s", lg__text_note(r->task));
    return e;
}

/* The rows of the embedding in a file of weights; 0 if it is not one. */
static int embedding_rows(const char *path)
{
    struct lg__safetensors s;
    struct stat st;
    int rows = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    int there = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
    void *bytes =
        there ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    if (bytes == MAP_FAILED) return 0;
    if (!lg__safetensors_open(&s, bytes, (size_t)st.st_size, path, NULL)) {
        const struct lg__stored *t = lg__safetensors_find(&s, "embed.weight");
        if (t && t->dims == 2 && t->shape[0] <= INT_MAX) rows = (int)t->shape[0];
        lg__safetensors_close(&s);
    }
    munmap(bytes, (size_t)st.st_size);
    return rows;
}

/* The size of the vocabulary, by any checkpoint of the folder whose header can be read: all have the same.
 * 0 if there is none. */
static int stored_vocab(const char *checkpoint)
{
    int vocab = 0;
    DIR *d = opendir(checkpoint);
    for (struct dirent *entry; d && !vocab && (entry = readdir(d));) {
        char path[4096];
        if (strncmp(entry->d_name, "step-", 5) != 0) continue;
        int n = snprintf(path, sizeof path, "%s/%s/model.safetensors", checkpoint, entry->d_name);
        if (n > 0 && (size_t)n < sizeof path) vocab = embedding_rows(path);
    }
    if (d) closedir(d);
    return vocab;
}

int lg__run_open_weights(struct lg__run *r, const char *folder, int fallback, lg_error *warning,
                         lg_error *err)
{
    char path[4096], *text;
    int e = read_config(folder, path, &text, r->id, err);
    free(text);
    if (!e) e = lg__config_read(&r->config, path, NULL, 0, err);
    if (e) return e;
    unsigned others = LG__IDS_LABELS | LG__IDS_DIGITS | LG__IDS_DRAWN;
    char names[LG__IDS_NAMES];
    if (lg__ids_flags(r->config.scheme.ids) & others)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has ids %s, but published formats count tokens; train with ids %s",
                        folder, r->config.scheme.ids, lg__ids_names(names, others));
    e = lg__file_path(path, sizeof path, folder, "checkpoint", err);
    if (e) return e;
    r->scheme = r->config.scheme;
    r->options = r->config.train;
    r->model_config = r->config.model;
    r->model_config.vocab = stored_vocab(path);
    r->model_config.levels = 1;
    if (r->scheme.max_id > r->model_config.max_id) r->model_config.max_id = r->scheme.max_id;
    if (!r->model_config.vocab)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no checkpoint that can be read; train the run to its first one",
                        path);
    r->model = lg_model_new(&r->model_config, err);
    return r->model ? load_weights(r, folder, fallback, warning, err) : LG_ERROR_MEMORY;
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
        if (lg__source_predicts(r->scheme.source[l]))
            source = source ? "predicted" : r->scheme.source[l];
    snprintf(line, size, "%s, %s%s%s%s", r->scheme.ids, source ? source : "", source ? ", " : "",
             r->model_config.encoding, r->model_config.span == LG_SPAN_WINDOW ? ", window" : "");
}

int lg__run_register(const struct lg__run *r, const char *folder, lg_store *s, int trains,
                     int64_t *number, lg_error *err)
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
                        .state = r->done ? "done" : "stopped",
                        .step = r->step,
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
    int e = lg__store_register(s, &row, trains, number, err);
    free(text);
    return e;
}
