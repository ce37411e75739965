/* retrieval.c: the value of a key among many entries. */
#include "tasks.h"

enum { COLON, ASK, GO, STOP, WORDS };
enum { KEYS, VALUES, KEY_TOKENS, VALUE_TOKENS, SCRATCHPAD };

static const lg_setting settings[] = {
    {"keys", "2..100000", "200", "how many key words there are"},
    {"values", "2..100000", "200", "how many value words there are"},
    {"key_tokens", "1..4", "1", "words in a key"},
    {"value_tokens", "1..16", "1", "words in a value"},
    {"scratchpad", "yes|no", "yes", "whether a '>' stands before the answer"},
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
    t->shape.reach[1] = scratchpad ? 1 : 2;
    return 0;
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
        for (int j = 1; j <= kn; j++) lg__put(x, WORDS + x->tokens[x->n], i, j, LG_ABSENT);
        lg__put(x, COLON, i, kn + 1, LG_ABSENT);
        for (int j = 1; j <= vn; j++) {
            int32_t value = WORDS + keys + (int32_t)lg_rng_below(r, (uint32_t)values);
            lg__put(x, value, i, kn + 1 + j, LG_ABSENT);
        }
    }
    int asked = 1 + (int)lg_rng_below(r, (uint32_t)length);
    int from = (asked - 1) * entry - 1; /* the token in front of the entry */
    lg__put(x, ASK, 0, 0, LG_ABSENT);
    for (int j = 1; j <= kn; j++) lg__put(x, x->tokens[from + j], 0, j, LG_ABSENT);
    if (t->value[SCRATCHPAD].i == 0) lg__put_answer(x, GO, asked, kn + 1, LG_ABSENT);
    for (int j = kn + 2; j <= kn + 1 + vn; j++)
        lg__put_answer(x, x->tokens[from + j], asked, j, LG_ABSENT);
    lg__put_answer(x, STOP, asked, kn + vn + 2, LG_ABSENT);
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
             "in the answer; '?' 0, '>' K+1, '$' K+V+2.\n",
         .unit = "entries",
         .settings = settings},
    .open = open_retrieval,
    .make = make_retrieval,
};
