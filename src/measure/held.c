/* held.c: which documents a run of texts is measured on. */
#include "measure/held.h"

#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "runs/texts.h"

enum { STREAM_DOCUMENTS = 201 };

int lg__held_open(struct lg__held *h, const struct lg__run *r, const char *folder,
                  const char *texts, const char *field, lg_error *err)
{
    char file[PATH_MAX];
    h->corpus = lg__text_corpus(r->task);
    h->side = LG_CORPUS_TEST;
    if (!texts) {
        if (h->corpus) return 0;
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s has no texts to be evaluated on%s%.300s; set task.text in "
                        "%s/config.yaml to where they are, or name others (--text), of which every "
                        "document is taken",
                        folder, *r->texts ? ": " : "", r->texts, folder);
    }
    if (!field) field = lg__text_field(r->task);
    lg_tokenizer *t = lg__text_tokenizer(r->task);
    lg_corpus_options c = {.field = field, .cache = file};
    int e = lg__text_cache(file, sizeof file, t, texts, field, err);
    const char **paths = e ? NULL : lg__text_paths(texts, &c.path_count);
    if (e) return e;
    if (!paths) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the names of texts");
    c.paths = paths;
    h->corpus = h->own = lg_corpus_open(&c, t, err);
    h->side = LG_CORPUS_ALL;
    free(paths);
    return h->own ? 0 : err->code;
}

int lg__held_choose(struct lg__held *h, int length, int64_t most, lg_error *err)
{
    int64_t all = lg_corpus_documents(h->corpus, h->side);
    int e = lg__block_grow(&h->all, ((size_t)all + 1) * sizeof(int64_t), 0, "documents", err);
    int64_t *d = h->all.data;
    lg_rng rng;
    if (e) return e;
    h->there = 0;
    for (int64_t i = 0; i < all; i++) {
        int64_t document = lg_corpus_document(h->corpus, h->side, i);
        if (lg_corpus_length(h->corpus, document) > length) d[h->there++] = document;
    }
    h->count = (int)(h->there < most ? h->there : most);
    lg_rng_init(&rng, 0, STREAM_DOCUMENTS, 0); /* the same for runs of all seeds */
    for (int64_t i = 0; i < h->count; i++) {
        int64_t left = h->there - i < INT32_MAX ? h->there - i : INT32_MAX;
        int64_t j = i + (int64_t)lg_rng_below(&rng, (uint32_t)left), was = d[i];
        d[i] = d[j];
        d[j] = was;
    }
    return 0;
}

void lg__held_close(struct lg__held *h)
{
    lg_corpus_free(h->own);
    lg__block_free(&h->all);
    *h = (struct lg__held){0};
}
