/* digits.c: what the arithmetic tasks share: numbers as arrays of digits. */
#include "digits.h"

#include <inttypes.h>
#include <limits.h>

#include "base/error.h"

int lg__digits_words(struct lg_task *t, int base, const char *signs, lg_error *err)
{
    if (lg__word_digits(t, base, err)) return LG_ERROR_MEMORY;
    for (; *signs; signs++) {
        char word[2] = {*signs, 0};
        if (lg__word(t, word, 0, err) < 0) return LG_ERROR_MEMORY;
    }
    return 0;
}

void lg__digits_draw(int32_t *digit, int n, int base, lg_rng *r)
{
    for (int i = 0; i < n - 1; i++) digit[i] = (int32_t)lg_rng_below(r, (uint32_t)base);
    int least = n > 1; /* of the top digit */
    digit[n - 1] = least + (int32_t)lg_rng_below(r, (uint32_t)(base - least));
}

int lg__digits_count(const int32_t *digit, int n)
{
    while (n > 1 && !digit[n - 1]) n--;
    return n;
}

int lg__digits_room(const struct lg_task *t, lg_example *x, int64_t tokens, lg_error *err)
{
    if (tokens <= INT_MAX) return lg__example_room(x, (int)tokens, err);
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "task %s: length %d with %d %s takes %" PRId64
                    " tokens, but an example has at most %d; make one of the two smaller",
                    t->row->info.name, x->length, x->sparsity, t->row->info.sparsity, tokens,
                    INT_MAX);
}
