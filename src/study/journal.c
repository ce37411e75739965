/* journal.c: run.json: what made the rows of an experiment, run by run. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "runs/run.h"
#include "runs/store.h"
#include "study/study.h"
#include "base/files.h"
#include "certify/contexts.h"

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory for run.json; end other programs");
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* What is said of a run, or NULL. */
static json_t *entry_of(const struct lg__study *s, int run)
{
    size_t i;
    json_t *entry, *runs = json_object_get(s->journal, "runs");
    json_array_foreach(runs, i, entry) if (strcmp(text_of(entry, "name"), s->plan.runs[run].name) ==
                                           0) return entry;
    return NULL;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static const char *what_is_wrong(const struct lg__study *s, const json_t *journal)
{
    size_t i;
    const json_t *entry, *runs = json_object_get(journal, "runs");
    if (!json_is_array(runs)) return "has no list of runs";
    if (strcmp(text_of(journal, "experiment"), s->o->name) != 0) return "is of another experiment";
    json_array_foreach(runs, i,
                       entry) if (!*text_of(entry, "name") ||
                                  !json_is_number(json_object_get(
                                      entry, "hours"))) return "has a run without name or hours";
    return NULL;
}

int lg__journal_read(struct lg__study *s, lg_error *err)
{
    json_error_t j;
    lg__journal_free(s);
    if (access(s->journal_file, F_OK) != 0) return 0;
    s->journal = json_load_file(s->journal_file, JSON_REJECT_DUPLICATES, &j);
    if (!s->journal) {
        lg__fail(err, LG_ERROR_ARGUMENT, "%s; put it right, or move it away together with %s",
                 j.text, s->results);
        lg__error_place(err, s->journal_file, j.line);
        return LG_ERROR_ARGUMENT;
    }
    const char *wrong = what_is_wrong(s, s->journal);
    if (!wrong) return 0;
    lg__journal_free(s);
    return lg__fail(err, LG_ERROR_ARGUMENT, "%s %s; put it right, or move it away together with %s",
                    s->journal_file, wrong, s->results);
}

void lg__journal_free(struct lg__study *s)
{
    json_decref(s->journal);
    s->journal = NULL;
}

double lg__journal_hours(const struct lg__study *s, int run)
{
    const json_t *entry = entry_of(s, run);
    return entry ? json_number_value(json_object_get(entry, "hours")) : -1;
}

const json_t *lg__journal_certificate(const struct lg__study *s, int run)
{
    return json_object_get(entry_of(s, run), "certificate");
}

/* json has no unsigned 64 bits: hex digits. */
static void digits_of(uint64_t sum, char digits[17])
{
    snprintf(digits, 17, "%016llx", (unsigned long long)sum);
}

int lg__journal_same(const struct lg__study *s, int run)
{
    char digits[17];
    const json_t *entry = entry_of(s, run);
    const char *settings = entry ? text_of(entry, "settings") : "";
    const char *data = entry ? text_of(entry, "data") : "";
    digits_of(s->runs[run].settings, digits);
    return (!*settings || strcmp(settings, digits) == 0) &&
           (!*data || strcmp(data, lg__variant_of(&s->plan, run)->data) == 0);
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* "avx2+c" of "avx2-1+avx2-2+c-1". */
static void isa_of(const char *kernels, char isa[LG__RUN_KERNELS])
{
    size_t n = 0, last = 0, length = 0; /* the one before */
    while (*kernels) {
        size_t word = strcspn(kernels, "-+");
        int same = n && word == length && strncmp(isa + last, kernels, word) == 0;
        if (!same && word) {
            if (n) isa[n++] = '+';
            memcpy(isa + n, kernels, word);
            last = n;
            length = word;
            n += word;
        }
        kernels += strcspn(kernels, "+");
        kernels += *kernels == '+';
    }
    isa[n] = 0;
    if (!n) snprintf(isa, LG__RUN_KERNELS, "unknown");
}

static int is_desk(const struct lg__study *s)
{
    return !s->o->scale || strcmp(s->o->scale, "desk") == 0;
}

/* The command that makes the run again, elsewhere; to be freed. The name is in single quotes, and
 * one in it is taken out of them. */
static char *command_of(const struct lg__study *s, int run)
{
    lg_buffer b = {0};
    lg_buffer_print(&b, "lengthen reproduce %s", s->o->name);
    if (!is_desk(s)) lg_buffer_print(&b, " --scale %s", s->o->scale);
    lg_buffer_put(&b, " --only '");
    for (const char *c = s->plan.runs[run].name; *c; c++)
        if (*c == '\'')
            lg_buffer_put(&b, "'\\''");
        else
            lg_buffer_add(&b, c, 1);
    lg_buffer_put(&b, "' --results again --out again");
    return lg_buffer_take(&b, NULL);
}

/* The checksums of tokenizer and texts, where the run's config has them. */
static int put_texts(json_t *entry, const char *config, lg_error *err)
{
    lg_config_values v = {0};
    int e = lg_config_values_read(&v, config, err);
    const char *sum = e ? NULL : lg_config_values_get(&v, "task.checksum");
    if (sum && json_object_set_new(entry, "checksum", json_string(sum))) e = no_memory(err);
    lg_config_values_clear(&v);
    return e;
}

static json_t *make_entry(const struct lg__study *s, int run, const lg_store_run *r, lg_error *err)
{
    char cpu[200], isa[LG__RUN_KERNELS], date[40] = "", settings[17];
    char *command = command_of(s, run);
    if (!command) {
        no_memory(err);
        return NULL;
    }
    time_t when = (time_t)r->updated;
    struct tm tm;
    lg_cpu(cpu);
    isa_of(r->kernels, isa);
    digits_of(s->runs[run].settings, settings);
    if (gmtime_r(&when, &tm)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_t *entry =
        json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:I, s:I, s:s, s:s}", "name",
                  s->plan.runs[run].name, "seed", (json_int_t)r->seed, "command", command, "commit",
                  r->commit, "compiler", r->compiler, "cpu", cpu, "isa", isa, "kernels",
                  *r->kernels ? r->kernels : "unknown", "date", date, "hours",
                  round(r->seconds / 3600 * 1e5) / 1e5, "steps", (json_int_t)r->step, "parameters",
                  (json_int_t)r->parameters, "id", r->id, "settings", settings);
    free(command);
    if (!entry) no_memory(err);
    const char *data = lg__variant_of(&s->plan, run)->data;
    if (*data) json_object_set_new(entry, "data", json_string(data));
    if (entry && put_texts(entry, r->config, err)) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* The runs in the order of the plan, this one in its place; others that were there stay behind. */
static json_t *joined(const struct lg__study *s, int run, json_t *entry)
{
    json_t *all = json_array(), *one;
    size_t j;
    for (int i = 0; i < s->plan.count; i++)
        if ((one = i == run ? entry : entry_of(s, i))) json_array_append(all, one);
    json_array_foreach(json_object_get(s->journal, "runs"), j, one)
    {
        int known = 0;
        for (int i = 0; i < s->plan.count && !known; i++)
            known = strcmp(text_of(one, "name"), s->plan.runs[i].name) == 0;
        if (!known) json_array_append(all, one);
    }
    return all;
}

/* What a run's sets say of its task, one behind the other; to be freed. */
static char *task_of(const struct lg__study *s, int run)
{
    int n = lg__sweep_sets(&s->plan, run, NULL);
    const char **sets = lg__alloc((size_t)n * sizeof *sets);
    lg_buffer b = {0};
    if (!sets) return NULL;
    n = lg__sweep_sets(&s->plan, run, sets);
    for (int i = 0; i < n; i++)
        if (strncmp(sets[i], "task.", 5) == 0) lg_buffer_print(&b, "%s\n", sets[i]);
    free(sets);
    return lg_buffer_take(&b, NULL);
}

int lg__journal_check_texts(const struct lg__study *s, int run, const char *sum, lg_error *err)
{
    char *task = task_of(s, run);
    int e = task ? 0 : no_memory(err);
    for (int i = 0; i < s->plan.count && !e; i++) {
        const json_t *other = i == run ? NULL : entry_of(s, i);
        const char *its = other ? text_of(other, "checksum") : "";
        if (!*its || strcmp(its, sum) == 0) continue;
        char *as = task_of(s, i);
        if (!as)
            e = no_memory(err);
        else if (strcmp(as, task) == 0)
            e = lg__fail(err, LG_ERROR_ARGUMENT,
                         "%s: the run %.100s is of other texts or another tokenizer (%s) than "
                         "the rows of %.100s (%s); get the same texts, or take the rows away and "
                         "make all again",
                         s->o->name, s->plan.runs[run].name, sum, s->plan.runs[i].name, its);
        free(as);
    }
    free(task);
    return e;
}

int lg__journal_put(struct lg__study *s, int run, const lg_store_run *r, lg_error *err)
{
    double hours = 0;
    size_t i;
    json_t *entry = make_entry(s, run, r, err), *one, *certificate;
    if (!entry) return err->code;
    const char *texts =
        text_of(entry, "checksum"); /* they may have changed since the sweep began */
    int fault = *texts ? lg__journal_check_texts(s, run, texts, err) : 0;
    if (fault) {
        json_decref(entry);
        return fault;
    }
    if (s->x.certify) {
        int e = lg__certificate_read(s->plan.runs[run].folder, &certificate, err);
        if (!e && json_object_set_new(entry, "certificate", certificate)) e = no_memory(err);
        if (e) {
            json_decref(entry);
            return e;
        }
    }
    json_t *runs = joined(s, run, entry);
    json_decref(entry);
    json_array_foreach(runs, i, one) hours += json_number_value(json_object_get(one, "hours"));
    json_t *journal = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:f}", "experiment", s->o->name,
                                "scale", is_desk(s) ? "desk" : s->o->scale, "question",
                                s->x.question, "expected", s->x.expected, "words", s->x.words,
                                "runs", runs, "hours", round(hours * 1e5) / 1e5);
    if (!journal) return no_memory(err);
    json_decref(s->journal);
    s->journal = journal;
    return 0;
}

int lg__journal_write(const struct lg__study *s, lg_error *err)
{
    char *text =
        json_dumps(s->journal, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(7));
    char *line = NULL;
    if (!text || asprintf(&line, "%s\n", text) < 0) {
        free(text);
        return no_memory(err);
    }
    int e = lg__file_write(s->journal_file, line, err);
    free(text);
    free(line);
    return e;
}
