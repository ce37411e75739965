/* sample.c: `lengthen sample`, examples of a task with their IDs: for the eye, or as JSON lines
 * that jsonl: reads. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "lengthen.h"

const char lg_cmd_sample_help[] =
    "Usage: lengthen sample TASK [OPTIONS]\n"
    "\n"
    "Prints examples of a task, one column a token. TASK is a name of `lengthen tasks`,\n"
    "jsonl:FILE or exec:COMMAND. The rows of an example:\n"
    "\n"
    "  token    the text: the prompt, then the answer\n"
    "  column   the token's position ID, one row a level, with the level's name; - is none\n"
    "  target   what the model has to predict at this token\n"
    "  loss     ^ under the tokens that are predicted\n"
    "\n"
    "  --length N|LO..HI        in the task's units (a short one)\n"
    "  --sparsity K|LO..HI      (the task's own range)\n"
    "  --set KEY=VALUE          a setting of the task; may be repeated\n"
    "  --count M                examples (3)\n"
    "  --seed S                 other examples (0); the same seed gives the same ones\n"
    "  --ids SCHEME             a name of `lengthen positions` (coupled; plain for a task\n"
    "                           without labels)\n"
    "  --levels L               coupled: only the first L levels\n"
    "  --train                  IDs as drawn in training (as in evaluation: from 1)\n"
    "  --max-id N               --train: the largest ID that is drawn\n"
    "  --target N, --chunks N   pose: the length in IDs to be ready for, and in how many pieces\n"
    "  --cut-anywhere           pose: the first of two pieces may be longer than half\n"
    "  --random-start           pose: the first piece is shifted, too\n"
    "  --source HEAD[,HEAD..]   absolute, delta or pointer: adds a row with the ID that this\n"
    "                           head has to predict; one for all levels, or one each\n"
    "                           (given: none)\n"
    "  --reach N                delta: changes of -N..N (what the task needs)\n"
    "  --json                   one object a line, with the keys tokens, ids, loss, length and\n"
    "                           sparsity: what jsonl:FILE reads. Coupled ids without --train are\n"
    "                           labels, to which jsonl:FILE adds the start (1)\n"
    "\n"
    "Wide examples are folded at the terminal's width, or at $COLUMNS.\n"
    "\n"
    "Examples:\n"
    "  lengthen sample addition\n"
    "  lengthen sample addition --length 3 --set carry=hard --set orientation=down\n"
    "  lengthen sample copy --length 1..8 --ids coupled --train --max-id 40\n"
    "  lengthen sample sparse-parity --length 20 --count 100000 --json > train.jsonl\n";

struct options {
    const char *task, *sources;
    const char **settings; /* [argc] */
    int setting_count, json;
    int length[2], sparsity[2]; /* from, to; 0 if not given */
    int64_t count;
};

/* ---- Reading the options ---------------------------------------------------------------- */

/* "5" or "1..20". */
static int read_range(void *to, const char *text)
{
    int *range = to;
    char *end;
    long low = strtol(text, &end, 10), high = low;
    if (end != text && strncmp(end, "..", 2) == 0) high = strtol(text = end + 2, &end, 10);
    if (end == text || *end || low < 1 || low > high || high >= INT_MAX) return -1;
    range[0] = (int)low;
    range[1] = (int)high;
    return 0;
}

/* All 64 bits of it are used. */
static int read_seed(void *to, const char *text)
{
    char *end;
    errno = 0;
    *(uint64_t *)to = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno ? 0 : -1;
}

/* As in a config, or without its map's name. */
static int read_setting(void *to, const char *text)
{
    struct options *o = to;
    o->settings[o->setting_count++] = text + (strncmp(text, "task.", 5) == 0 ? 5 : 0);
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, struct lg_cli_sampler *s)
{
    const char *range = "a number of 1 or more, or a range as in 1..20";
    lg_scheme *scheme = &s->scheme;
    const struct lg_cli_option rows[] = {
        {"length", .read = read_range, .to = o->length, .take = range},
        {"sparsity", .read = read_range, .to = o->sparsity, .take = range},
        {"set", .read = read_setting, .to = o},
        {"count", .large = &o->count, .least = 1},
        {"seed", .read = read_seed, .to = &s->draw.seed, .take = "a whole number"},
        {"ids", .text = &scheme->ids},
        {"levels", .whole = &scheme->levels, .least = 1},
        {"train", .flag = &s->train},
        {"max-id", .whole = &scheme->max_id, .least = 1},
        {"target", .whole = &scheme->target, .least = 1},
        {"chunks", .whole = &scheme->chunks, .least = 2},
        {"cut-anywhere", .flag = &scheme->cut_anywhere},
        {"random-start", .flag = &scheme->random_start},
        {"source", .text = &o->sources},
        {"reach", .whole = &scheme->reach, .least = 1},
        {"json", .flag = &o->json},
        {0},
    };
    int code = lg_cli_options("sample", rows, &argc, &argv);
    s->draw.length_lo = o->length[0];
    s->draw.length_hi = o->length[1];
    s->draw.sparsity_lo = o->sparsity[0];
    s->draw.sparsity_hi = o->sparsity[1];
    if (code) return code;
    return lg_cli_argument("sample", "task", "`lengthen tasks` lists them", argc, argv, &o->task);
}

/* ---- Getting ready ---------------------------------------------------------------------- */

static int known_ids(const char *name)
{
    for (int i = 0; i < lg_ids_count(); i++)
        if (strcmp(lg_ids_info_at(i).name, name) == 0) return 1;
    return 0;
}

static int unknown_ids(const char *name)
{
    const char *names[64];
    int n = 0;
    for (; n < lg_ids_count() && n < 64; n++) names[n] = lg_ids_info_at(n).name;
    const char *near = lg_cli_nearest(name, names, n);
    if (near)
        return lg_cli_wrong("sample", "there are no IDs \"%s\"; did you mean \"%s\"?", name, near);
    return lg_cli_wrong("sample", "there are no IDs \"%s\"; `lengthen positions` lists them", name);
}

/* The name of the head, as it lives in the library, or NULL. */
static const char *head_named(const char *name, size_t n)
{
    for (int i = 0; i < lg_id_head_count(); i++) {
        const char *head = lg_id_head_info_at(i).name;
        if (strlen(head) == n && strncmp(head, name, n) == 0) return head;
    }
    return n == 5 && strncmp(name, "given", n) == 0 ? "given" : NULL;
}

/* --source: one head for all levels, or one each. */
static int read_sources(const char *text, int levels, lg_scheme *scheme)
{
    int n = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        const char *head = head_named(at, length);
        if (!head)
            return lg_cli_wrong("sample",
                                "--source is \"%s\"; take given, absolute, delta or pointer, or "
                                "one of these for each level with commas between",
                                text);
        if (n < LG_LEVELS) scheme->source[n] = head;
        n++;
        at += length;
        if (!*at) break;
    }
    if (n != 1 && n != levels)
        return lg_cli_wrong("sample", "--source \"%s\" names %d heads, but the IDs have %d level%s",
                            text, n, levels, levels == 1 ? "" : "s");
    for (int l = n; l < levels; l++) scheme->source[l] = scheme->source[0];
    return 0;
}

static int own_data(const struct lg_cli_sampler *s)
{
    return strcmp(lg_task_get_shape(s->task)->info->family, "own data") == 0;
}

/* The shortest and the longest example, so that what cannot be is refused before anything is
 * printed. Own data is not asked twice. */
static int try_ends(struct lg_cli_sampler *s, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(s->task);
    lg_draw draw = s->draw;
    int code = 0;
    if (draw.length_lo == draw.length_hi || own_data(s)) return 0;
    if (draw.length_lo < shape->length_least || draw.length_hi > shape->length_most)
        return lg_task_example(s->task, &draw, &s->x, err); /* says so, with the range as given */
    for (int end = 0; end < 2 && !code; end++) {
        s->draw = draw;
        s->draw.length_lo = s->draw.length_hi = end ? draw.length_hi : draw.length_lo;
        code = lg_cli_sampler_next(s, err);
    }
    s->draw = draw;
    return code;
}

static int report(const lg_error *err, int code)
{
    fprintf(stderr, "lengthen sample: %s\n", err->text);
    return code;
}

/* What could not be trained is not shown either. The network does not matter here, so it is one
 * that takes every source. */
static int check_scheme(struct lg_cli_sampler *s, lg_error *err)
{
    lg_model_config c = lg_model_config_default(LG_ARCH_NEOX);
    c.vocab = lg_task_get_shape(s->task)->vocab;
    c.encoding = "sinusoidal";
    int code = lg_scheme_config(&s->scheme, s->task, &c, err);
    return code ? code : lg_scheme_check(&s->scheme, s->task, &c, s->draw.length_hi, NULL, err);
}

/* Everything is refused here that can be known before the first line is printed; 0, or an exit
 * code. Makes the first example. */
static int get_ready(struct options *o, struct lg_cli_sampler *s)
{
    lg_error err = {0};
    int code;
    if (s->scheme.ids && !known_ids(s->scheme.ids)) return unknown_ids(s->scheme.ids);
    s->task = lg_task_new(o->task, o->settings, o->setting_count, &err);
    if (!s->task) return report(&err, err.code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED);
    if (!s->scheme.ids) s->scheme.ids = lg_cli_own_ids(s->task);
    if (!o->length[0]) lg_cli_short_length(s->task, &s->draw.length_lo, &s->draw.length_hi);
    code = lg_cli_sampler_ready(s, &err);
    if (!code && o->sources) {
        if ((code = read_sources(o->sources, s->config.levels, &s->scheme))) return code;
        code = lg_cli_sampler_ready(s, &err);
    }
    if (!code) code = try_ends(s, &err);
    if (!code && !own_data(s)) code = check_scheme(s, &err);
    if (!code) code = lg_cli_sampler_next(s, &err);
    if (!code) return 0;
    return report(&err, code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED);
}

/* ---- JSON lines ------------------------------------------------------------------------- */

/* A buffer before stdout, and every word of the vocabulary with its quotes. */
struct writer {
    char data[1 << 16];
    size_t used;
    char **word;
    size_t *length;
    int words;
};

static void put(struct writer *w, const char *text, size_t n)
{
    if (n > sizeof w->data - w->used) {
        fwrite(w->data, 1, w->used, stdout);
        w->used = 0;
    }
    if (n > sizeof w->data) {
        fwrite(text, 1, n, stdout);
        return;
    }
    memcpy(w->data + w->used, text, n);
    w->used += n;
}

static void put_text(struct writer *w, const char *text) { put(w, text, strlen(text)); }

static void put_int(struct writer *w, int32_t value)
{
    char text[12], *at = text + sizeof text;
    uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--at = '-';
    put(w, at, (size_t)(text + sizeof text - at));
}

static void put_ids(struct writer *w, const int32_t *ids, int n)
{
    for (int t = 0; t < n; t++) {
        put(w, t ? "," : "[", 1);
        if (ids[t] == LG_ABSENT)
            put(w, "null", 4);
        else
            put_int(w, ids[t]);
    }
    put(w, "]", 1);
}

/* Coupled IDs as in evaluation are written as the labels they are made of: whoever reads them as a task
 * adds the start. */
static void put_example(struct writer *w, const struct lg_cli_sampler *s)
{
    const lg_example *x = &s->x;
    int as_labels = !s->train && strncmp(s->scheme.ids, "coupled", 7) == 0;
    put_text(w, "{\"tokens\":");
    for (int t = 0; t < x->n; t++) {
        put(w, t ? "," : "[", 1);
        put(w, w->word[x->tokens[t]], w->length[x->tokens[t]]);
    }
    put_text(w, "],\"ids\":");
    for (int l = 0; l < s->config.levels; l++) {
        put(w, l ? "," : "[", 1);
        put_ids(w, as_labels ? x->labels[l] : s->ids[l], x->n);
    }
    put_text(w, "],\"loss\":");
    for (int t = 0; t < x->n; t++) {
        put(w, t ? "," : "[", 1);
        put(w, x->loss[t] ? "1" : "0", 1);
    }
    put_text(w, "],\"length\":");
    put_int(w, x->length);
    put_text(w, ",\"sparsity\":");
    put_int(w, x->sparsity);
    put(w, "}\n", 2);
}

static void free_writer(struct writer *w)
{
    for (int i = 0; w && i < w->words; i++) free(w->word[i]);
    if (w) free(w->word);
    if (w) free(w->length);
    free(w);
}

static struct writer *new_writer(const lg_task *t)
{
    const lg_task_shape *shape = lg_task_get_shape(t);
    size_t vocab = (size_t)shape->vocab;
    struct writer *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->word = calloc(vocab, sizeof *w->word);
    w->length = calloc(vocab, sizeof *w->length);
    while (w->word && w->length && w->words < shape->vocab) {
        FILE *f = open_memstream(&w->word[w->words], &w->length[w->words]);
        if (!f) break;
        lg_cli_json(f, shape->words[w->words]);
        w->words++;
        if (fclose(f)) break;
    }
    if (w->words == shape->vocab) return w;
    free_writer(w);
    return NULL;
}

/* ---- The command ------------------------------------------------------------------------ */

/* Prints the example at hand, makes the next, and so on. */
static int print_all(struct options *o, struct lg_cli_sampler *s)
{
    struct lg_cli_look look = lg_cli_look_stdout();
    struct writer *w = o->json ? new_writer(s->task) : NULL;
    lg_error err = {0};
    int code = 0;
    if (o->json && !w) {
        snprintf(err.text, sizeof err.text, "no memory for the vocabulary");
        return report(&err, LG_EXIT_FAILED);
    }
    for (int64_t i = 1;; i++) {
        if (w)
            put_example(w, s);
        else
            lg_cli_show(s, look);
        if (i == o->count || ferror(stdout)) break; /* main speaks of lost output */
        if (!w) putchar('\n');
        if ((code = lg_cli_sampler_next(s, &err))) break;
    }
    if (w) fwrite(w->data, 1, w->used, stdout);
    free_writer(w);
    return code ? report(&err, LG_EXIT_FAILED) : LG_EXIT_DONE;
}

int lg_cmd_sample(int argc, char **argv)
{
    struct options o = {.count = 3};
    struct lg_cli_sampler s = {.scheme = lg_scheme_default()};
    s.scheme.ids = NULL;
    lg_example_init(&s.x);
    lg_batch_init(&s.batch);
    o.settings = calloc((size_t)argc, sizeof *o.settings);
    if (!o.settings) {
        fputs("lengthen sample: no memory\n", stderr);
        return LG_EXIT_FAILED;
    }
    int code = read_options(argc, argv, &o, &s);
    if (!code) code = get_ready(&o, &s);
    if (!code) code = print_all(&o, &s);
    lg_cli_sampler_clear(&s);
    lg_task_free(s.task);
    free(o.settings);
    return code;
}
