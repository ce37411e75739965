/* store_find.c: which run of the store is meant, and how it is deleted. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lab/run.h"
#include "lab/store.h"

struct place {
    char folder[PATH_MAX], id[LG__RUN_ID];
    int64_t number;
};

static void keep_place(void *context, const lg_store_run *r)
{
    struct place *p = context;
    p->number = r->number;
    snprintf(p->folder, sizeof p->folder, "%s", r->folder);
    snprintf(p->id, sizeof p->id, "%s", r->id);
}

/* Whether a folder holds the run of this ID. */
static int holds(const char *folder, const char *id)
{
    char there[LG__RUN_ID];
    lg__run_id(folder, there);
    return strcmp(there, id) == 0;
}

/* The run that a folder holds, wherever it was made: 1; 0: the store has none; negative: err. A
 * copy, beside the folder that the store knows, is refused: what is done to one is not to the
 * other. A folder whose name is another run's number may be either. */
static int find_in_folder(lg_store *s, const char *run, const char *folder, lg_error *err)
{
    char id[LG__RUN_ID];
    struct place held = {0}, numbered = {0};
    lg__run_id(folder, id);
    int n = *id ? lg__store_find_by(s, "id = ?1", id, keep_place, &held, err) : 0;
    if (n > 0)
        n = lg__store_find_by(s, "CAST(number AS TEXT) = ?1", run, keep_place, &numbered, err);
    if (n < 0 || !held.number) return n;
    if (strcmp(held.folder, folder) != 0 && holds(held.folder, id))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a copy of run %lld, which the store %s has in %.200s; name the run "
                        "by its number",
                        run, (long long)held.number, lg__store_file(s), held.folder);
    if (numbered.number && numbered.number != held.number)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "\"%s\" is the number of one run and the folder of another (run %lld); "
                        "write ./%s for the folder, or that number",
                        run, (long long)held.number, run);
    return 1;
}

int lg_store_find(lg_store *s, const char *run, lg_store_each *each, void *context, lg_error *err)
{
    static const char *const ways[] = {"CAST(number AS TEXT) = ?1", "folder = ?1",
                                       "substr(folder, -length(?1) - 1) = '/' || ?1",
                                       "length(?1) >= 4 AND substr(id, 1, length(?1)) = ?1"};
    char whole[PATH_MAX], id[LG__RUN_ID];
    int path = realpath(run, whole) != NULL;
    int n = path ? find_in_folder(s, run, whole, err) : 0;
    if (n > 0) {
        lg__run_id(whole, id);
        n = lg__store_find_by(s, "id = ?1", id, each, context, err);
    }
    if (n) return n < 0 ? n : 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        n = lg__store_find_by(s, ways[i], i == 1 && path ? whole : run, each, context, err);
        if (n == 1 || n < 0) return n < 0 ? n : 0;
        if (n > 1)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "\"%s\" may be one of %d runs in the store %s; give a number or a "
                            "folder of `lengthen runs`",
                            run, n, lg__store_file(s));
    }
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "\"%s\" is no run in the store %s; `lengthen runs` lists them", run,
                    lg__store_file(s));
}

int lg_store_delete(lg_store *s, int64_t number, lg_error *err)
{
    struct place d = {0};
    char name[32];
    int lock = -1;
    snprintf(name, sizeof name, "%lld", (long long)number);
    int e = lg__store_find_by(s, "CAST(number AS TEXT) = ?1", name, keep_place, &d, err);
    if (e < 0) return e;
    if (!d.number)
        return lg__fail(err, LG_ERROR_ARGUMENT, "there is no run %s in the store %s", name,
                        lg__store_file(s));
    if (lg__run_try_lock(d.folder, 0, &lock) == EWOULDBLOCK)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "run %s is being trained in %s; stop that process first", name, d.folder);
    e = holds(d.folder, d.id) ? lg__run_remove_folder(d.folder, err) : 0;
    if (!e) e = lg__store_delete_rows(s, number, err);
    if (lock >= 0) close(lock);
    return e;
}
