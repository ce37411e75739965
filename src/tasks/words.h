/* words.h: vocabularies of any size, for tasks whose words the user chooses. */
#ifndef LG_TASKS_WORDS_H
#define LG_TASKS_WORDS_H

#include "tasks.h"

/* Finds the place of a text in an array of texts that grows at its end. Starts as {0}. */
struct lg__texts {
    int32_t *slot; /* place + 1; 0: free */
    int room, count;
};

/* The place of this text, or -1. */
int32_t lg__texts_find(const struct lg__texts *x, const char *const *texts, const char *text);
/* Enters texts[x->count], which must not be there yet. */
int lg__texts_add(struct lg__texts *x, const char *const *texts, lg_error *err);
void lg__texts_free(struct lg__texts *x);

/* What keeps a text from being a word, which is written between spaces; NULL: nothing. */
const char *lg__word_fault(const char *text);
/* lg__word for a task whose whole vocabulary is in x. */
int32_t lg__word_indexed(struct lg_task *t, struct lg__texts *x, const char *word, int digit,
                         lg_error *err);
static inline int32_t lg__word_find(const struct lg_task *t, const struct lg__texts *x,
                                    const char *word)
{
    return lg__texts_find(x, (const char *const *)t->words, word);
}

#endif
