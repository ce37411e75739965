/* certificate.c: the certificate of a run, kept in its folder. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "certify/contexts.h"
#include "certify/pairs.h"

enum { QUICK = 50000 }; /* inputs that take no time worth mentioning */

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for certificates; end other programs");
}

static int matching_possible(const struct lg__run *r, lg_error *err)
{
    struct lg__matching *p = lg__alloc(sizeof *p);
    if (!p) return no_memory(err);
    int e = lg__matching_open(p, r, err);
    if (!e) e = lg__matching_check(p, 0, err);
    lg__matching_clear(p);
    free(p);
    return e;
}

int lg__certificate_possible(const struct lg__run *r, lg_error *err)
{
    struct lg__contexts set;
    if (lg__matching_wanted(r)) return matching_possible(r, err);
    int e = lg__contexts_open(&set, r, err);
    if (!e) e = lg__contexts_check(&set, 0, err);
    if (!e && set.expected <= QUICK) e = lg__contexts_fill(&set, err);
    lg__contexts_clear(&set);
    return e;
}

void lg__certificate_warn(const struct lg__run *r, char *remark, size_t size)
{
    struct lg__contexts set;
    lg_error err = {0};
    size_t n = strlen(remark);
    if (lg__matching_wanted(r)) return;
    int e = lg__contexts_open(&set, r, &err);
    if (!e && set.expected <= QUICK && lg__contexts_fill(&set, &err) == LG_ERROR_ARGUMENT)
        snprintf(remark + n, size - n, "%sno training can make it exact: %s", n ? "; " : "",
                 err.text);
    lg__contexts_clear(&set);
}

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

int lg__certificate_read(const char *folder, json_t **certificate, lg_error *err)
{
    char path[4096];
    json_error_t j;
    int e = lg__file_path(path, sizeof path, folder, LG__RUN_CERTIFICATE, err);
    if (e) return e;
    if ((*certificate = json_load_file(path, JSON_REJECT_DUPLICATES, &j))) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s:%d: %s; delete it and reproduce once more", path,
                    j.line, j.text);
}

int lg__certificate_is_there(const char *folder, int64_t step, int confirm)
{
    json_t *c = NULL;
    lg_error ignored;
    char id[LG__RUN_ID];
    if (lg__certificate_read(folder, &c, &ignored)) return 0;
    lg__run_id(folder, id);
    const char *of = json_string_value(json_object_get(c, "run"));
    int same = of && strcmp(of, id) == 0 && number(c, "step") == (double)step;
    const json_t *tried = json_object_get(c, "confirmed");
    if (same && tried) same = number(tried, "random") == confirm;
    json_decref(c);
    return same;
}

static void take_seconds(void *context, const lg_store_run *r) { *(double *)context = r->seconds; }

static int find_seconds(const char *folder, const char *file, double *seconds, lg_error *err)
{
    char id[LG__RUN_ID];
    lg_store *store = lg_store_open(file, 0, err);
    if (!store) return err->code;
    lg__run_id(folder, id);
    int e = lg_store_find(store, id, take_seconds, seconds, err);
    lg_store_close(store);
    return e;
}

int lg__certificate_make(const char *folder, const char *store, int threads, int confirm,
                         lg_error *err)
{
    lg_certify_options o = {.folder = folder, .threads = threads, .confirm = confirm};
    lg_certificate *c = lg__alloc(sizeof *c);
    double seconds = 0;
    char path[4096], id[LG__RUN_ID], *text = NULL, *whole = NULL;
    int e = c ? lg_certify(&o, c, err) : no_memory(err);
    if (!e && c->warning[0]) e = lg__fail(err, LG_ERROR_SYSTEM, "%s", c->warning);
    if (!e) e = find_seconds(folder, store, &seconds, err);
    if (!e) e = lg__file_path(path, sizeof path, folder, LG__RUN_CERTIFICATE, err);
    if (!e && !(text = lg_certificate_json(c))) e = no_memory(err);
    lg__run_id(folder, id);
    if (!e &&
        !(whole = lg__alloc_print("{\"run\":\"%s\",\"seconds\":%.3f,%s\n", id, seconds, text + 1)))
        e = no_memory(err);
    if (!e) e = lg__file_write(path, whole, err);
    free(text);
    free(whole);
    free(c);
    return e;
}

/* Its JSON, which is freed, with the run that it is of. */
static int save(char *text, const char *folder, const char *name, lg_error *err)
{
    lg_error own;
    char path[4096], id[LG__RUN_ID], *whole = NULL;
    if (!err) err = &own;
    lg__run_id(folder, id);
    int e = lg__file_path(path, sizeof path, folder, name, err);
    if (!e && (!text || !(whole = lg__alloc_print("{\"run\":\"%s\",%s\n", id, text + 1))))
        e = no_memory(err);
    if (!e) e = lg__file_write(path, whole, err);
    free(text);
    free(whole);
    return e;
}

int lg_list_save(const lg_list *c, const char *folder, lg_error *err)
{
    return save(lg_list_json(c), folder, LG__RUN_LIST, err);
}

int lg_sampled_save(const lg_sampled *c, const char *folder, lg_error *err)
{
    return save(lg_sampled_json(c), folder, LG__RUN_SAMPLED, err);
}
