/* words.c: a hash table with open addressing over texts that lie elsewhere. */
#include "tasks/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* FNV-1a, with its high bits folded in, since the table is a power of two. */
static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
    return h ^ h >> 15;
}

/* The slot of this text, or the free one where it would be. */
static int32_t *find_slot(const struct lg__texts *x, const char *const *texts, const char *text)
{
    uint32_t mask = (uint32_t)x->room - 1, at = hash(text) & mask;
    while (x->slot[at] && strcmp(texts[x->slot[at] - 1], text) != 0) at = (at + 1) & mask;
    return &x->slot[at];
}

int32_t lg__texts_find(const struct lg__texts *x, const char *const *texts, const char *text)
{
    return x->room ? *find_slot(x, texts, text) - 1 : -1;
}

int lg__texts_add(struct lg__texts *x, const char *const *texts, lg_error *err)
{
    if (2 * x->count >= x->room) {
        struct lg__texts wider = {.room = x->room ? 2 * x->room : 256};
        if (x->count < 1 << 29) wider.slot = lg__alloc((size_t)wider.room * sizeof *wider.slot);
        if (!wider.slot)
            return lg__fail(err, LG_ERROR_MEMORY, "no memory for %d words; end other programs",
                            x->count);
        for (; wider.count < x->count; wider.count++)
            *find_slot(&wider, texts, texts[wider.count]) = wider.count + 1;
        lg__texts_free(x);
        *x = wider;
    }
    *find_slot(x, texts, texts[x->count]) = x->count + 1;
    x->count++;
    return 0;
}

void lg__texts_free(struct lg__texts *x)
{
    free(x->slot);
    *x = (struct lg__texts){0};
}

const char *lg__word_fault(const char *text)
{
    if (!*text) return "empty";
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 127)
            return "made of more than one word: a word has no spaces or control characters";
    return NULL;
}

int32_t lg__word_indexed(struct lg_task *t, struct lg__texts *x, const char *word, int digit,
                         lg_error *err)
{
    int32_t token = lg__word_find(t, x, word);
    if (token >= 0) return token;
    token = lg__word(t, word, digit, err);
    if (token >= 0 && lg__texts_add(x, (const char *const *)t->words, err)) return -1;
    return token;
}
