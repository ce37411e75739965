/* retrieval.c: the value of a key among many entries. */
#include <string.h>

#include "tasks.h"

enum { COLON, ASK, GO, STOP, WORDS };
enum { KEYS, VALUES, KEY_TOKENS, VALUE_TOKENS, SCRATCHPAD, GAP };

static const lg_setting settings[] = {
    {"keys", "2..100000", "200", "how many key words there are"},
    {"values", "2..100000", "200", "how many value words there are"},
    {"key_tokens", "1..4", "1", "words in a key"},
    {"value_tokens", "1..16", "1", "words in a value"},
    {"scratchpad", "yes|no", "yes", "whether a '>' stands before the answer"},
    {"gap", "0..1000", "0", "roles that are left out between a key's and its value's"},
    {0},
};

static int open_retrieval(struct lg_task *t, lg_error *err)
{
    static const char *const words[] = {":", "?", ">", "$"};
    int keys = (int)t->value[KEYS].i, scratchpad = t->value[SCRATCHPAD].i == 0;
    for (int i = 0; i < WORDS; i++)
        if (lg__word(t, words[i], 0, err) < 0) return LG_ERROR_MEMORY;
    if (lg__word_numbered(t, "k", keys, err) ||
        lg__word_numbered(t, "v", (int)t->value[VALUES].i, err))
        return LG_ERROR_MEMORY;
    int64_t most = lg__distinct_count(keys, (int)t->value[KEY_TOKENS].i);
    if (most < t->shape.length_most) t->shape.length_most = (int)most;
    t->shape.stop = STOP;
    t->shape.levels = 2;
    t->shape.needed = 1;
    t->shape.level[0] = "entry";
    t->shape.level[1] = "role";
    t->shape.role = 2;
    t->shape.reach[0] = 0; /* from the query to its entry it is any distance */
    t->shape.reach[1] = (scratchpad ? 1 : 2) + (int)t->value[GAP].i;
    t->shape.match = LG_MATCH_ANY;
    t->shape.key_tokens = 1;
    t->shape.key_token[0] = COLON;
    t->shape.key_back = (int)t->value[KEY_TOKENS].i;
    return 0;
}

/* An entry at label i: a key of words from 0, and the value's words, from 0 too. */
static void put_entry(const struct lg_task *t, lg_example *x, int i, const int32_t *key,
                      const int32_t *value)
{
    int keys = (int)t->value[KEYS].i, kn = (int)t->value[KEY_TOKENS].i;
    int vn = (int)t->value[VALUE_TOKENS].i, role = kn + 1 + (int)t->value[GAP].i;
    int32_t code = lg__key_code(key, kn, 0, keys);
    for (int j = 1; j <= kn; j++) lg__put(x, WORDS + key[j - 1], i, j, LG_ABSENT);
    lg__put(x, COLON, i, kn + 1, LG_ABSENT);
    x->codes[x->n - 1] = code;
    for (int j = 1; j <= vn; j++) lg__put(x, WORDS + keys + value[j - 1], i, role + j, LG_ABSENT);
}

/* The query for entry `asked`, from 1, and its answer. */
static void put_query(const struct lg_task *t, lg_example *x, int asked)
{
    int kn = (int)t->value[KEY_TOKENS].i, vn = (int)t->value[VALUE_TOKENS].i;
    int role = kn + 1 + (int)t->value[GAP].i;
    int from = (asked - 1) * (kn + 1 + vn) - 1; /* the token in front of the entry */
    lg__put(x, ASK, 0, 0, LG_ABSENT);
    for (int j = 1; j <= kn; j++) lg__put(x, x->tokens[from + j], 0, j, LG_ABSENT);
    x->codes[x->n - 1] = x->codes[from + kn + 1];
    if (t->value[SCRATCHPAD].i == 0) lg__put_answer(x, GO, asked, role, LG_ABSENT);
    for (int j = 1; j <= vn; j++)
        lg__put_answer(x, x->tokens[from + kn + 1 + j], asked, role + j, LG_ABSENT);
    lg__put_answer(x, STOP, asked, role + vn + 1, LG_ABSENT);
}

static int make_retrieval(const struct lg_task *t, lg_rng *r, int length, int sparsity,
                          lg_example *x, lg_error *err)
{
    (void)sparsity;
    int keys = (int)t->value[KEYS].i, values = (int)t->value[VALUES].i;
    int kn = (int)t->value[KEY_TOKENS].i, vn = (int)t->value[VALUE_TOKENS].i;
    int entry = kn + 1 + vn; /* tokens */
    int e = lg__example_room(x, (length + 1) * entry + 2, err);
    if (e) return e;
    /* The keys at once where they will stand; level 3 is free until a token is put. */
    lg__distinct(x->tokens, entry, length, kn, keys, x->labels[2], r);
    for (int i = 1; i <= length; i++) {
        int32_t key[4], value[16];
        memcpy(key, x->tokens + x->n, (size_t)kn * sizeof *key);
        for (int j = 0; j < vn; j++) value[j] = (int32_t)lg_rng_below(r, (uint32_t)values);
        put_entry(t, x, i, key, value);
    }
    put_query(t, x, 1 + (int)lg_rng_below(r, (uint32_t)length));
    return 0;
}

int lg__retrieval_write(const struct lg_task *t, const int64_t *key, const int64_t *value, int n,
                        lg_example *x, lg_error *err)
{
    int kn = (int)t->value[KEY_TOKENS].i, vn = (int)t->value[VALUE_TOKENS].i;
    int e = lg__example_room(x, (n + 1) * (kn + 1 + vn) + 2, err);
    if (e) return e;
    lg__example_begin(x, n, 0);
    for (int i = 0; i < n; i++) {
        int32_t words[4], values[16];
        lg__key_words(key[i], words, kn, (int)t->value[KEYS].i);
        lg__key_words(value[i], values, vn, (int)t->value[VALUES].i);
        put_entry(t, x, i + 1, words, values);
    }
    put_query(t, x, 1);
    return 0;
}

const struct lg__task_row lg__task_retrieval = {
    .info =
        {.name = "retrieval",
         .family = "paper",
         .line = "the value of a key among many entries",
         .text =
             "  key1 : value1 .. keyN : valueN ? key > value $      scratchpad=yes\n"
             "  key1 : value1 .. keyN : valueN ? key value $        scratchpad=no\n"
             "\n"
             "N entries. A key is key_tokens = K words of k0, k1, .. (`keys` of them), a value\n"
             "value_tokens = V words of v0, v1, .. (`values` of them). All keys are different\n"
             "(as sequences of words), so N is at most keys^K; values are uniform. The query\n"
             "is the key of a uniformly chosen entry e; the answer is its value, behind a '>'\n"
             "that is generated too (scratchpad=no: without it).\n"
             "Coupling, two levels, the first needed. 1, entry: all of entry i has label i,\n"
             "'?' and the key behind it 0; '>', the value and '$' e. 2, role: the words of a\n"
             "key have 1..K, also in the query; ':' K+1, the words of a value K+2..K+V+1, also\n"
             "in the answer; '?' 0, '>' K+1, '$' K+V+2. With gap=G the roles of values, '>' and\n"
             "'$' are G larger, so that a window can end before the key.\n"
             "Match: ':' ends a key, which is found by the last word of the query.\n",
         .unit = "entries",
         .settings = settings},
    .open = open_retrieval,
    .make = make_retrieval,
    .keyed = 1,
};
