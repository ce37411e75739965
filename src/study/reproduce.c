/* reproduce.c: an experiment from its file to its rows, figures and checks. Whatever instant it is
 * stopped at, the rows of every finished run are in its file, and the same call makes the rest. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/run.h"
#include "runs/store.h"
#include "study/study.h"
#include "base/files.h"

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for an experiment; end other programs");
}

/* ---- The rows of a run ---------------------------------------------------------------------- */

struct taking {
    struct lg__study *s;
    int run, e;
    int64_t number, step;
    lg_error *err;
};

static void take_run(void *context, const lg_store_run *r)
{
    struct taking *t = context;
    char note[400];
    t->number = r->number;
    t->step = r->step;
    t->e = lg__journal_put(t->s, t->run, r, t->err);
    if (!strchr(r->kernels, '+') || !t->s->o->note) return;
    snprintf(note, sizeof note,
             "the run %.150s was resumed with other kernels (%s): it is marked so in run.json",
             t->s->plan.runs[t->run].name, r->kernels);
    t->s->o->note(t->s->o->context, note);
}

/* From the store into run.json, then into the file of the rows: a run whose rows are there is never
 * looked at again. */
static int take(struct lg__study *s, int run, lg_error *err)
{
    struct taking t = {.s = s, .run = run, .err = err};
    char id[LG__RUN_ID];
    lg_store *store = lg_store_open(s->o->store, 0, err);
    int e = store ? 0 : err->code;
    lg__run_id(s->plan.runs[run].folder, id);
    if (!e) e = lg_store_find(store, id, take_run, &t, err);
    if (!e) e = t.e;
    lg__rows_drop(&s->rows, run);
    if (!e) e = lg__rows_read(&s->rows, &s->plan, run, store, t.number, t.step, err);
    lg_store_close(store);
    lg__rows_sort(&s->rows);
    if (!e && !lg__rows_whole(&s->rows, &s->plan, run))
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "the store %s lacks some cells of the run %.100s; reproduce once more",
                     s->o->store, s->plan.runs[run].name);
    if (!e) e = lg__journal_write(s, err);
    if (!e) e = lg__results_write(s, err);
    if (!e) lg__study_count(s);
    return e;
}

/* ---- The runs ------------------------------------------------------------------------------ */

struct making {
    struct lg__study *s;
    int e;
    lg_error *err;
};

static int find_run(const struct lg__study *s, const char *name)
{
    int i = 0;
    while (i < s->plan.count && strcmp(s->plan.runs[i].name, name) != 0) i++;
    return i;
}

static int is_wanted(void *context, const char *name)
{
    const struct lg__study *s = context;
    int i = find_run(s, name);
    return i < s->plan.count && !s->done[i] && (!s->o->only || strcmp(s->o->only, name) == 0);
}

static int watch(void *context, const lg_sweep_run *r)
{
    struct making *m = context;
    const lg_reproduce_options *o = m->s->o;
    int run = find_run(m->s, r->name);
    if (!m->e && !m->s->done[run] && *r->texts)
        m->e = lg__journal_check_texts(m->s, run, r->texts, m->err);
    if (strcmp(r->state, "done") == 0 && !m->e && !m->s->done[run]) m->e = take(m->s, run, m->err);
    int more = o->watch ? o->watch(o->context, r) : 1;
    return more && !m->e;
}

static int make_runs(struct lg__study *s, lg_reproduce_result *r, lg_error *err)
{
    struct making m = {.s = s, .err = err};
    lg_error own = {0};
    int wanted = 0;
    for (int i = 0; i < s->plan.count; i++) wanted += is_wanted(s, s->plan.runs[i].name);
    if (!wanted) return 0;
    s->sweep.wanted = is_wanted;
    s->sweep.wanted_context = s;
    int e = lg__folder_make(s->folder, err);
    if (e) return e;
    e = lg_sweep(&s->sweep, watch, &m, &r->failed, &r->left, &own);
    if (e) *err = own;
    rmdir(s->folder); /* if nothing was begun */
    return m.e ? m.e : e;
}

/* ---- One experiment ------------------------------------------------------------------------ */

/* One process at a time has the rows. A process of a run that was killed just now may still hold
 * the lock for a moment. */
static int lock_place(const struct lg__study *s, int *lock, lg_error *err)
{
    int e = lg__folder_make(s->place, err), taken = -1;
    if (e) return e;
    *lock = open(s->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 100 && *lock >= 0 && taken; i++) {
        if (i) nanosleep(&(struct timespec){0, 20000000}, NULL);
        taken = flock(*lock, LOCK_EX | LOCK_NB);
    }
    if (*lock >= 0 && !taken) return 0;
    if (errno == EWOULDBLOCK)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "another process reproduces %s in %s; wait for it, or take other folders "
                        "(--results, --out)",
                        s->o->name, s->place);
    return lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be locked: %s; take another folder", s->place,
                    strerror(errno));
}

/* Rows that another file made. */
static void tell_others(const struct lg__study *s)
{
    int n = 0, first = 0;
    char note[500];
    for (int i = s->plan.count - 1; i >= 0; i--)
        if (s->done[i] && !lg__journal_same(s, i)) {
            n++;
            first = i;
        }
    if (!n || !s->o->note) return;
    snprintf(
        note, sizeof note,
        "the rows of %d of %d runs were made with other settings, or another table, than %.100s "
        "has now (%.100s is one); take them out of %.100s, and the runs' folders away, to make "
        "them anew",
        n, s->plan.count, s->file, s->plan.runs[first].name, s->results);
    s->o->note(s->o->context, note);
}

static int finish(const struct lg__study *s, lg_reproduce_result *r, lg_error *err)
{
    struct lg__joins cells;
    int e = lg__rows_join(&s->rows, &s->plan, s->done, &cells, err);
    if (!e) e = lg__study_draw(s, &cells, err);
    if (!e && s->x.certify) e = lg__certificates_write(s, err);
    if (!e) e = lg__study_check(s, &cells, r, err);
    lg__joins_clear(&cells);
    return e;
}

static int count_done(const struct lg__study *s)
{
    int n = 0;
    for (int i = 0; i < s->plan.count; i++) n += s->done[i];
    return n;
}

int lg_reproduce(const lg_reproduce_options *o, lg_reproduce_result *r, lg_error *err)
{
    struct lg__study s = {0};
    lg_error own;
    int lock = -1;
    if (!err) err = &own;
    *r = (lg_reproduce_result){0};
    int e = lg__study_open(&s, o, 1, err);
    if (!e) e = lock_place(&s, &lock, err);
    if (!e) e = lg__study_read(&s, err);
    if (!e) tell_others(&s);
    if (!e) e = make_runs(&s, r, err);
    if (!e) e = finish(&s, r, err);
    if (!e) {
        r->runs = s.plan.count;
        r->done = count_done(&s);
    }
    if (lock >= 0) {
        rmdir(s.place); /* if nothing is in it */
        close(lock);
    }
    lg__study_close(&s);
    return e;
}

int lg_experiment_show(const lg_reproduce_options *o, lg_error *err)
{
    struct lg__study s = {0};
    struct lg__joins cells = {0};
    lg_reproduce_result r = {0};
    int e = lg__study_open(&s, o, 0, err);
    if (!e) e = lg__study_read(&s, err);
    if (!e) e = lg__rows_join(&s.rows, &s.plan, s.done, &cells, err);
    if (!e && o->drawn) e = lg__study_draw(&s, &cells, err);
    if (!e) e = lg__study_check(&s, &cells, &r, err);
    lg__joins_clear(&cells);
    lg__study_close(&s);
    return e;
}

/* ---- All of them --------------------------------------------------------------------------- */

static int tell_state(const lg_reproduce_options *o, lg_experiment_callback *each, void *context,
                      lg_error *err)
{
    struct lg__study s = {0};
    int e = lg__study_open(&s, o, 0, err);
    if (!e) e = lg__study_read(&s, err);
    if (!e) {
        lg_experiment x = {.name = o->name,
                           .file = s.file,
                           .question = s.x.question,
                           .expected = s.x.expected,
                           .words = s.x.words,
                           .folder = s.place,
                           .budget = s.x.budget,
                           .runs = s.plan.count,
                           .done = count_done(&s)};
        for (int i = 0; i < s.plan.count; i++)
            if (s.done[i]) x.hours += fmax(0, lg__journal_hours(&s, i));
        x.minutes_left = x.done == x.runs            ? 0
                         : x.done > 0 && x.hours > 0 ? 60 * x.hours / x.done * (x.runs - x.done)
                                                     : x.budget;
        each(context, &x);
    }
    lg__study_close(&s);
    return e;
}

/* Whether a file of a folder is an experiment: 1, 0, or negative: err. */
static int is_experiment(const char *path, lg_error *err)
{
    size_t n = strlen(path);
    if (n < 6 || strcmp(path + n - 5, ".yaml") != 0) return 0;
    struct lg__yaml *root = lg__yaml_read(path, err);
    int yes = root ? root->kind == LG__YAML_MAP && lg__yaml_get(root, "experiment") : err->code;
    lg__yaml_free(root);
    return yes;
}

static int tell_folder(const lg_reproduce_options *o, const char *below,
                       lg_experiment_callback *each, void *context, lg_error *err);

/* A file or folder of the folder BELOW of the experiments; "": of their own. */
static int tell_one(const lg_reproduce_options *o, const char *below, const char *file,
                    lg_experiment_callback *each, void *context, lg_error *err)
{
    char *name = NULL, *path = NULL;
    struct stat st;
    int e = asprintf(&name, "%s%s%s", below, *below ? "/" : "", file) < 0 ||
                    asprintf(&path, "%s/%s", o->experiments, name) < 0
                ? no_memory(err)
                : 0;
    if (!e && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (o->nested) e = tell_folder(o, name, each, context, err);
    } else if (!e && (e = is_experiment(path, err)) > 0) {
        lg_reproduce_options one = *o;
        name[strlen(name) - 5] = 0;
        one.name = name;
        e = tell_state(&one, each, context, err);
    }
    free(name);
    free(path);
    return e;
}

static int tell_folder(const lg_reproduce_options *o, const char *below,
                       lg_experiment_callback *each, void *context, lg_error *err)
{
    struct dirent **files;
    char *folder;
    if (asprintf(&folder, "%s%s%s", o->experiments, *below ? "/" : "", below) < 0)
        return no_memory(err);
    int e = 0, n = scandir(folder, &files, NULL, alphasort);
    if (n < 0)
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "the folder %s cannot be read: %s; name that of the experiments "
                     "(--experiments)",
                     folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!e && files[i]->d_name[0] != '.')
            e = tell_one(o, below, files[i]->d_name, each, context, err);
        free(files[i]);
    }
    if (n >= 0) free(files);
    free(folder);
    return e;
}

int lg_experiments(const lg_reproduce_options *o, lg_experiment_callback *each, void *context,
                   lg_error *err)
{
    lg_error own;
    if (!err) err = &own;
    return o->name ? tell_state(o, each, context, err) : tell_folder(o, "", each, context, err);
}
