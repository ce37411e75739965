/* texts.c: a corpus as a task. An example is a window of one document or, if that is asked for, of
 * documents put end to end; training draws from the documents that train, evaluation from those that
 * are held out. */
#include "runs/texts.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/paths.h"
#include "runs/run.h"
#include "tasks/tasks.h"
#include "text/text.h"
#include "base/files.h"

enum { TEXT, TOKENIZER, CACHE, FIELD, TEST, JOIN, VOCAB, CHECKSUM };
enum { DRAWERS = 4, WORD = 400 };

/* The windows of n tokens of a side. */
struct drawer {
    lg_corpus_side side;
    int n;
    lg_windows *windows;
};

struct texts {
    lg_tokenizer *tokenizer;
    lg_corpus *corpus; /* or NULL */
    char *name;        /* of the texts, for messages */
    /* Asked for lately. The lock guards them. */
    pthread_mutex_t lock;
    int locked; /* the lock was made */
    struct drawer drawer[DRAWERS];
    int oldest;
};

/* ---- Words -------------------------------------------------------------------------------- */

/* The bytes of a token as one word: no spaces, no control characters, UTF-8 alone. */
static void show_piece(const char *piece, size_t n, char word[WORD])
{
    size_t at = 0;
    for (size_t i = 0; i < n && at < WORD - 16;) {
        int high;
        unsigned char c = (unsigned char)piece[i];
        size_t whole = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        int valid = whole <= n - i && lg__utf8_valid(piece + i, whole, &high) == whole;
        if (c == ' ')
            at += (size_t)snprintf(word + at, WORD - at, "\xE2\x90\xA3"), i++;
        else if (c < 0x20 || c == 0x7f || !valid)
            at += (size_t)snprintf(word + at, WORD - at, "\\x%02x", c), i++;
        else
            for (size_t k = 0; k < whole; k++) word[at++] = piece[i++];
    }
    word[at] = 0;
}

static int put_words(struct lg_task *t, const struct texts *s, lg_error *err)
{
    int32_t vocab = lg_tokenizer_get_info(s->tokenizer).vocab;
    int64_t rows = t->value[VOCAB].i ? t->value[VOCAB].i : vocab;
    if (rows < vocab)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "task text: vocab is %lld, but the tokenizer %s has %d tokens; set vocab to "
            "%d or more, or to 0",
            (long long)rows, t->value[TOKENIZER].text, (int)vocab, (int)vocab);
    for (int32_t i = 0; i < rows; i++) {
        char word[WORD] = "";
        size_t n = 0;
        const char *piece = i < vocab ? lg_tokenizer_piece(s->tokenizer, i, &n) : NULL;
        if (piece) show_piece(piece, n, word);
        if (!*word) snprintf(word, sizeof word, "<%d>", (int)i);
        int32_t token = lg__word(t, word, 0, err);
        if (token >= 0 && token != i) { /* another token looks the same */
            snprintf(word, sizeof word, "<%d>", (int)i);
            token = lg__word(t, word, 0, err);
        }
        if (token < 0) return LG_ERROR_MEMORY;
    }
    return 0;
}

/* ---- Opening ------------------------------------------------------------------------------- */

const char **lg__text_paths(const char *list, int *count)
{
    size_t n = strlen(list), items = 1;
    for (const char *at = list; *at; at++) items += *at == ',';
    const char **paths = malloc(items * sizeof *paths + n + 1);
    *count = 0;
    if (!paths) return NULL;
    char *rest = memcpy((char *)(paths + items), list, n + 1);
    for (char *item; (item = strsep(&rest, ","));)
        if (*item) paths[(*count)++] = item;
    return paths;
}

int lg__text_cache(char *path, size_t size, const lg_tokenizer *t, const char *list,
                   const char *field, lg_error *err)
{
    char folder[PATH_MAX], whole[PATH_MAX];
    uint64_t h = lg__hash(field, strlen(field), lg_tokenizer_get_info(t).checksum);
    int count;
    const char **paths = lg__text_paths(list, &count);
    if (!paths) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the names of texts");
    for (int i = 0; i < count; i++) {
        const char *name = realpath(paths[i], whole) ? whole : paths[i];
        h = lg__hash(name, strlen(name), h);
    }
    free(paths);
    if (!lg__cache_folder(folder, sizeof folder))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "there is no folder for the tokens of %.200s: set task.cache to a file, or "
                        "the variable LENGTHEN_CACHE to a folder",
                        list);
    int e = lg__folder_make(folder, err);
    if (e) return e;
    int n = snprintf(path, size, "%s/%016llx.tokens", folder, (unsigned long long)h);
    if (n > 0 && (size_t)n < size) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT, "the folder's name %.40s.. is too long", folder);
}

/* A share as it is written: a number from 0 to 1. */
static int read_share(const char *text, double *share, lg_error *err)
{
    char *end;
    *share = strtod(text, &end);
    if (end != text && !*end && *share >= 0 && *share <= 1) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "task text: test is \"%.40s\"; it must be a number from 0 to 1, the share of "
                    "documents that are held out",
                    text);
}

static int64_t longest_document(const lg_corpus *c)
{
    int64_t most = 0;
    for (int64_t i = 0; i < lg_corpus_documents(c, LG_CORPUS_ALL); i++)
        if (lg_corpus_length(c, i) > most) most = lg_corpus_length(c, i);
    return most;
}

static int open_corpus(struct lg_task *t, struct texts *s, lg_error *err)
{
    char file[PATH_MAX], *cache = NULL;
    const char *field = t->value[FIELD].text, **paths = NULL;
    lg_corpus_options o = {.field = field};
    int e = read_share(t->value[TEST].text, &o.test_share, err);
    if (!e) e = lg__paths_expand(t->value[CACHE].text, &cache, err);
    if (!e && !*cache) e = lg__text_cache(file, sizeof file, s->tokenizer, s->name, field, err);
    if (!e && !(paths = lg__text_paths(s->name, &o.path_count)))
        e = lg__fail(err, LG_ERROR_MEMORY, "no memory for the names of texts");
    if (!e) {
        o.cache = *cache ? cache : file;
        o.paths = paths;
        s->corpus = lg_corpus_open(&o, s->tokenizer, err);
        if (!s->corpus) e = err ? err->code : LG_ERROR_ARGUMENT;
    }
    free(paths);
    free(cache);
    if (e) return e;
    int64_t most = t->value[JOIN].i ? lg_corpus_tokens(s->corpus, LG_CORPUS_ALL) - 1
                                    : longest_document(s->corpus) - 1;
    t->shape.length_most = most > 1 << 20 ? 1 << 20 : (int)most;
    return 0;
}

/* What the run was made with must be what there is now. */
static int check_sums(const struct lg_task *t, const struct texts *s, lg_error *err)
{
    unsigned long long tokenizer, corpus, own = lg_tokenizer_get_info(s->tokenizer).checksum;
    const char *said = t->value[CHECKSUM].text;
    if (!*said) return 0;
    int n = sscanf(said, "%16llx-%16llx", &tokenizer, &corpus);
    if (n < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task text: checksum is \"%.40s\", which is none; leave it out", said);
    if (tokenizer != own)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the tokenizer %s is another one than the run was made with (checksum "
                        "%016llx, now %016llx); bring it back, or train anew",
                        t->value[TOKENIZER].text, tokenizer, own);
    if (n == 2 && s->corpus && corpus != lg_corpus_checksum(s->corpus))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the texts %.200s have changed since the run was made (checksum %016llx, "
                        "now %016llx); bring them back, or train anew",
                        s->name, corpus, (unsigned long long)lg_corpus_checksum(s->corpus));
    return 0;
}

static int open_tokenizer(const struct lg_task *t, struct texts *s, lg_error *err)
{
    char *path;
    int e = lg__paths_check(t->value[TOKENIZER].text, err);
    if (e || (e = lg__paths_expand(t->value[TOKENIZER].text, &path, err))) return e;
    s->tokenizer = lg_tokenizer_open(path, err);
    free(path);
    return s->tokenizer ? 0 : err ? err->code : LG_ERROR_ARGUMENT;
}

static int open_text(struct lg_task *t, lg_error *err)
{
    struct texts *s = t->own = lg__alloc(sizeof *s);
    const char *named = t->value[TEXT].text;
    if (!s) return lg__fail(err, LG_ERROR_MEMORY, "no memory for texts; end other programs");
    if (*named && *t->argument)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task text: the texts are said twice, \"%.80s\" and text \"%.80s\"; keep "
                        "one",
                        t->argument, named);
    if (!*named) named = t->argument;
    if (lg__paths_check(named, err) || lg__paths_expand(named, &s->name, err))
        return err ? err->code : LG_ERROR_ARGUMENT;
    if (pthread_mutex_init(&s->lock, NULL))
        return lg__fail(err, LG_ERROR_SYSTEM, "no lock could be made; end other programs");
    s->locked = 1;
    int e = open_tokenizer(t, s, err);
    if (!e) e = put_words(t, s, err);
    if (e) return e;
    t->shape.length_most = 0;
    t->shape.stop = lg_tokenizer_get_info(s->tokenizer).end;
    if (*s->name) e = open_corpus(t, s, err);
    return e ? e : check_sums(t, s, err);
}

static void close_text(struct lg_task *t)
{
    struct texts *s = t->own;
    if (!s) return;
    for (int i = 0; i < DRAWERS; i++) lg_windows_free(s->drawer[i].windows);
    lg_corpus_free(s->corpus);
    lg_tokenizer_free(s->tokenizer);
    free(s->name);
    if (s->locked) pthread_mutex_destroy(&s->lock);
}

/* ---- Drawing -------------------------------------------------------------------------------- */

/* Where the corpus has no documents of a side, the split is to blame. */
static int check_side(const struct lg_task *t, const struct texts *s, lg_corpus_side side,
                      lg_error *err)
{
    if (lg_corpus_documents(s->corpus, side)) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%.200s: of %lld document%s none is %s with task.test %s; %s, or name more "
                    "texts (a line <|endoftext|> parts documents)",
                    s->name, (long long)lg_corpus_documents(s->corpus, LG_CORPUS_ALL),
                    lg_corpus_documents(s->corpus, LG_CORPUS_ALL) == 1 ? "" : "s",
                    side == LG_CORPUS_TEST ? "held out" : "left to train on", t->value[TEST].text,
                    side == LG_CORPUS_TEST ? "hold out more" : "hold out less");
}

static const lg_windows *find_windows(struct lg_task *t, lg_corpus_side side, int n, lg_error *err)
{
    struct texts *s = t->own;
    for (int i = 0; i < DRAWERS; i++)
        if (s->drawer[i].windows && s->drawer[i].side == side && s->drawer[i].n == n)
            return s->drawer[i].windows;
    if (check_side(t, s, side, err)) return NULL;
    lg_windows *made =
        (t->value[JOIN].i ? lg_windows_joined : lg_windows_new)(s->corpus, side, n, err);
    if (!made) return NULL;
    struct drawer *place = &s->drawer[s->oldest];
    s->oldest = (s->oldest + 1) % DRAWERS;
    lg_windows_free(place->windows);
    *place = (struct drawer){side, n, made};
    return made;
}

/* Whoever looks at examples sees those of training; of texts that are all held out, these. */
static lg_corpus_side side_of(const struct texts *s, lg_side side)
{
    if (side == LG_SIDE_TEST) return LG_CORPUS_TEST;
    int none = !lg_corpus_documents(s->corpus, LG_CORPUS_TRAIN);
    return side == LG_SIDE_ANY && none ? LG_CORPUS_TEST : LG_CORPUS_TRAIN;
}

/* The first length + 1 tokens of a window that has room for the longest, so that every length is
 * drawn from the same documents. */
static int fetch_text(struct lg_task *t, const lg_draw *d, lg_example *x, lg_error *err)
{
    struct texts *s = t->own;
    lg_rng r;
    int e;
    if (!s->corpus)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the task text has no texts; set task.text to files, folders or globs");
    if (d->length_lo < 1 || d->length_lo > d->length_hi || d->length_hi > 1 << 20)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "task text: a length of %d..%d tokens; take 1..1048576", d->length_lo,
                        d->length_hi);
    lg_corpus_side side = side_of(s, d->side);
    int lo = d->length_lo, hi = d->length_hi;
    /* A model may have been made for longer texts than these, which are there to be looked at. */
    if (side == LG_CORPUS_TEST && d->side == LG_SIDE_ANY && hi > t->shape.length_most)
        hi = t->shape.length_most;
    if (lo > hi) lo = hi;
    if ((e = lg__example_room(x, hi + 1, err))) return e;
    pthread_mutex_lock(&s->lock);
    const lg_windows *w = find_windows(t, side, hi + 1, err);
    e = w ? lg_windows_draw(w, d->seed, d->stream, d->index, x->tokens, NULL, err)
          : LG_ERROR_ARGUMENT;
    pthread_mutex_unlock(&s->lock);
    if (e) return e;
    lg_rng_init(&r, d->seed, d->stream + 0x54455854u, d->index);
    int length = lo + (int)lg_rng_below(&r, (uint32_t)(hi - lo + 1));
    return lg__example_fill(x, x->tokens, length + 1, err);
}

/* ---- For the lab ------------------------------------------------------------------------------ */

/* What is the task's own, or NULL of another task. */
static struct texts *text_of(const lg_task *t) { return t->row->open == open_text ? t->own : NULL; }

static int is_text(const char *name) { return lg_task_info_find(name)->own == LG_OWN_TEXTS; }

lg_tokenizer *lg__text_tokenizer(const lg_task *t)
{
    return text_of(t) ? text_of(t)->tokenizer : NULL;
}

const lg_corpus *lg__text_corpus(const lg_task *t)
{
    return text_of(t) ? text_of(t)->corpus : NULL;
}

const char *lg__text_field(const lg_task *t) { return text_of(t) ? t->value[FIELD].text : NULL; }

const char *lg__text_note(const lg_task *t)
{
    const lg_corpus *c = lg__text_corpus(t);
    return c ? lg_corpus_note(c) : NULL;
}

int lg__text_check_training(const lg_task *t, lg_error *err)
{
    const struct texts *s = text_of(t);
    if (!s) return 0;
    if (s->corpus) return check_side(t, s, LG_CORPUS_TRAIN, err);
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "task.text is missing, and nothing says which texts to train on; name files, "
                    "folders or globs");
}

int lg__text_check_config(const struct lg__config *c, const lg_task *t, lg_error *err)
{
    int grows = c->curriculum == LG__CURRICULUM_SPARSITY || c->curriculum == LG__CURRICULUM_BOTH;
    const struct {
        const char *key, *why, *remedy;
        int set;
    } row[] = {
        {"train.stop_at", "a text has no exact answers", "set it to 0", c->stop_at > 0},
        {"train.certify.every", "no finite machine writes a text", "set it to 0", c->certify_every},
        {"train.sparsity", "a text has no sparsity", "set it to auto", c->sparsity[1]},
        {"eval.sparsities", "a text has no sparsity", "set it to auto", c->eval_sparsities.count},
        {"train.curriculum", "a text has no sparsity", "set it to length or none", grows}};
    for (size_t i = 0; i < sizeof row / sizeof *row && text_of(t); i++)
        if (row[i].set)
            return lg__fail_key(err, LG_ERROR_ARGUMENT, row[i].key,
                                "%s is set, but the task is text, and %s; %s", row[i].key,
                                row[i].why, row[i].remedy);
    return 0;
}

/* Their checksums are. If the texts were not read, so that there is none, their names have to do. */
int lg__text_same_places(struct lg__config *old, const struct lg__config *c, lg_error *err)
{
    static const char *const read[] = {"cache=", "tokenizer=", "text=", NULL};
    static const char *const unread[] = {"cache=", "checksum=", NULL};
    if (!is_text(old->task) || !is_text(c->task)) return 0;
    const char *const *places = read;
    for (int i = 0; i < c->setting_count; i++)
        if (strcmp(c->settings[i], "checksum=") == 0) places = unread;
    for (int i = 0; i < old->setting_count; i++)
        for (int k = 0; places[k]; k++) {
            if (strncmp(old->settings[i], places[k], strlen(places[k])) != 0) continue;
            char *text = strdup(c->settings[i]);
            if (!text) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the config");
            free(old->settings[i]);
            old->settings[i] = text;
        }
    return 0;
}

int lg__text_longest(const struct lg__config *c, int shown)
{
    return is_text(c->task) ? c->length[1] : shown;
}

void lg__text_sum(const lg_task *t, char sum[LG__TEXT_SUM])
{
    const struct texts *s = text_of(t);
    sum[0] = 0;
    if (!s) return;
    unsigned long long own = lg_tokenizer_get_info(s->tokenizer).checksum;
    int n = snprintf(sum, LG__TEXT_SUM, "%016llx", own);
    if (s->corpus)
        snprintf(sum + n, LG__TEXT_SUM - (size_t)n, "-%016llx",
                 (unsigned long long)lg_corpus_checksum(s->corpus));
}

int lg__text_record(struct lg__config *c, const char *sum, lg_error *err)
{
    static const char key[] = "checksum=";
    for (int i = 0; i < c->setting_count && *sum; i++) {
        if (strcmp(c->settings[i], key) != 0) continue;
        char *text = lg__alloc(sizeof key + LG__TEXT_SUM);
        if (!text) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the config");
        snprintf(text, sizeof key + LG__TEXT_SUM, "%s%s", key, sum);
        free(c->settings[i]);
        c->settings[i] = text;
    }
    return 0;
}

static const lg_setting text_settings[] = {
    {"text", "[PATH, ..]", "",
     "files, folders and globs, or one of them; or name: text:PATH; ~ and $NAME are expanded"},
    {"tokenizer", "TEXT", "bytes", "its file or folder (docs/TEXT.md), or bytes"},
    {"cache", "TEXT", "",
     "the file of the tokens; else one in LENGTHEN_CACHE or ~/.cache/lengthen"},
    {"field", "TEXT", "text", "of JSON lines: the key of the text"},
    {"test", "0.0..1.0", "0.1", "share held out: of documents, by their text; of one, its end"},
    {"join", "no|yes", "no", "examples cross documents, put end to end; no: each is of one"},
    {"vocab", "0..16777216", "0", "rows of the embedding; 0: as many as the tokenizer has"},
    {"checksum", "TEXT", "", "of tokenizer and texts; a run has it, and refuses others"},
    {0},
};

static const struct lg__task_row text_row = {
    .info =
        {.name = "text",
         .own = LG_OWN_TEXTS,
         .family = "own data",
         .line = "the next token of natural language, from files of text",
         .text =
             "Texts become documents of tokens (docs/TEXT.md). An example of length n is n + 1\n"
             "tokens of one document, each but the first to be predicted; it begins anywhere in\n"
             "the document, and never crosses its end. Of all places where the longest example\n"
             "of the draw fits, each is as likely as every other; documents that are shorter\n"
             "than that are not drawn. With join: yes the documents of a side are put end to end,\n"
             "each with its end of text, and an example may cross them: short ones are drawn too,\n"
             "and attention reaches from one into the next.\n"
             "\n"
             "  task: {name: text, text: [corpus/, more.jsonl.gz], tokenizer: tokenizer.json}\n"
             "\n"
             "Training draws from the documents that are not held out, and nothing else does.\n"
             "`lengthen eval` gives the loss by position on those that are. Tokens have no\n"
             "labels: IDs are plain, random-start, randomized or pose.\n",
         .unit = "tokens",
         .settings = text_settings},
    .argument = LG__ARGUMENT_MAY,
    .form = "losses",
    .open = open_text,
    .close = close_text,
    .fetch = fetch_text,
};

void lg_text_task_add(void) { lg__task_row_add(&text_row); }

int lg__text_open_run(struct lg__run *r, const char *folder, const char *config, lg_error *err)
{
    char copy[4200], why[sizeof r->texts];
    const char *sets[3] = {copy, "task.name=text", "task.text="};
    struct stat st;
    snprintf(copy, sizeof copy, "%.4000s/" LG__RUN_TOKENIZER, folder);
    int own = stat(copy, &st) == 0;
    snprintf(copy, sizeof copy, "task.tokenizer=%.4000s/" LG__RUN_TOKENIZER, folder);
    int e = lg__run_open(r, config, sets, own, err);
    if (!e || strcmp(lg_run_form(folder), text_row.form) != 0) return e;
    snprintf(why, sizeof why, "%s", err->text);
    lg__run_close(r);
    *r = (struct lg__run){.owner = r->owner};
    e = lg__run_open(r, config, sets + !own, 2 + own, err);
    snprintf(r->texts, sizeof r->texts, "%s", why);
    return e;
}

int lg__text_refuse(const lg_task_info *info, const char *remedy, lg_error *err)
{
    int texts = info && info->own == LG_OWN_TEXTS;
    return texts ? lg__fail(err, LG_ERROR_ARGUMENT, "a text has no right answers; %s", remedy) : 0;
}
