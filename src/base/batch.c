/* batch.c: sequences end to end. All is checked and all memory is had before anything
 * changes, so a failed add leaves the batch as it was. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lengthen.h"

enum { TOKENS, IDS, TARGETS, ID_TARGETS, COLUMNS };

void lg_batch_init(lg_batch *b) { *b = (lg_batch){0}; }

void lg_batch_reset(lg_batch *b)
{
    b->sequences = 0;
    b->rows = 0;
}

void lg_batch_clear(lg_batch *b)
{
    if (!b) return;
    free(b->offsets);
    free(b->tokens);
    free(b->ids);
    free(b->targets);
    free(b->id_targets);
    lg_batch_init(b);
}

/* Every value of one column is at least `least`; `rule` is the remedy. NULL passes. */
static int check_column(const char *name, const int32_t *value, int n, int32_t least,
                        const char *rule, lg_error *err)
{
    for (int i = 0; value && i < n; i++) {
        if (value[i] < least)
            return lg__fail(err, LG_ERROR_ARGUMENT, "%s[%d] is %d: %s.", name, i, (int)value[i],
                            rule);
    }
    return LG_OK;
}

static int check(const lg_batch *b, int n, const int32_t *const column[COLUMNS], lg_error *err)
{
    if (n < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "A sequence of %d tokens cannot be added; give at least one token.", n);
    if (!column[TOKENS])
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "tokens is NULL; give the %d tokens of the sequence (only ids, targets "
                        "and id_targets may be NULL).",
                        n);
    if (n > INT_MAX - b->rows)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "A sequence of %d tokens does not fit: the batch has %d rows and holds "
                        "at most %d; split it into several batches.",
                        n, b->rows, INT_MAX);
    /* Each sequence has a row, so the sequences stay below INT_MAX too; offsets needs one
     * entry more than there are sequences. */
    if (b->sequences >= INT_MAX - 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "The batch has %d sequences and holds no more; use several batches.",
                        b->sequences);
    int code = check_column("tokens", column[TOKENS], n, 0, "tokens are 0 to vocab - 1", err);
    if (!code)
        code = check_column("ids", column[IDS], n, 0,
                            "position IDs are 0 or more; shift them all up", err);
    if (!code)
        code = check_column("targets", column[TARGETS], n, LG_NONE,
                            "a target is a token, or LG_NONE (-1) where there is no loss", err);
    if (!code)
        code = check_column("id_targets", column[ID_TARGETS], n, LG_NONE,
                            "an ID target is a class of the ID head, or LG_NONE (-1) where "
                            "there is no loss",
                            err);
    return code;
}

/* room, doubled until `need` fits (at most INT_MAX), so that n adds copy O(n) in all. */
static int grown(int room, int need)
{
    int least = need < 64 ? 64 : need;
    if (room > INT_MAX / 2) return INT_MAX;
    return room * 2 > least ? room * 2 : least;
}

/* A copy of used numbers of *old with room for more, or NULL. */
static int32_t *copy_with_room(const int32_t *old, int used, int room)
{
    int32_t *new = lg__alloc((size_t)room * sizeof *new);
    if (new &&used) memcpy(new, old, (size_t)used * sizeof *new);
    return new;
}

int lg_batch_add(lg_batch *b, int n, const int32_t *tokens, const int32_t *ids,
                 const int32_t *targets, const int32_t *id_targets, lg_error *err)
{
    const int32_t *const source[COLUMNS] = {tokens, ids, targets, id_targets};
    int code = check(b, n, source, err);
    if (code) return code;

    int32_t **const slot[COLUMNS] = {&b->tokens, &b->ids, &b->targets, &b->id_targets};
    int32_t *column[COLUMNS] = {b->tokens, b->ids, b->targets, b->id_targets};
    int *offsets = b->offsets;
    int more_rows = b->rows + n > b->room_rows;
    int more_sequences = b->sequences + 2 > b->room_sequences;
    int room_rows = more_rows ? grown(b->room_rows, b->rows + n) : b->room_rows;
    int room_sequences =
        more_sequences ? grown(b->room_sequences, b->sequences + 2) : b->room_sequences;

    int failed = 0;
    if (more_sequences) {
        offsets = copy_with_room(b->offsets, b->sequences ? b->sequences + 1 : 0, room_sequences);
        failed |= !offsets;
    }
    for (int c = 0; more_rows && c < COLUMNS; c++) {
        column[c] = failed ? NULL : copy_with_room(*slot[c], b->rows, room_rows);
        failed |= !column[c];
    }
    if (failed) {
        if (more_sequences) free(offsets);
        for (int c = 0; more_rows && c < COLUMNS; c++) free(column[c]);
        return lg__fail(err, LG_ERROR_MEMORY,
                        "No memory for a batch of %d rows; split it into smaller batches.",
                        b->rows + n);
    }

    for (int c = 0; c < COLUMNS; c++) {
        int32_t *out = column[c] + b->rows;
        if (source[c]) {
            memcpy(out, source[c], (size_t)n * sizeof *out);
            continue;
        }
        for (int i = 0; i < n; i++) out[i] = c == IDS ? i : LG_NONE;
    }

    /* The old arrays go last: the caller may have added a sequence of this very batch. */
    for (int c = 0; more_rows && c < COLUMNS; c++) {
        free(*slot[c]);
        *slot[c] = column[c];
    }
    if (more_sequences) {
        free(b->offsets);
        b->offsets = offsets;
    }
    b->room_rows = room_rows;
    b->room_sequences = room_sequences;
    b->offsets[0] = 0;
    b->sequences++;
    b->rows += n;
    b->offsets[b->sequences] = b->rows;
    return LG_OK;
}
