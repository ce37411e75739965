/* batch.c: sequences end to end. All is checked and all memory is had before anything
 * changes, so a failed add leaves the batch as it was. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lengthen.h"

enum { TOKENS, TARGETS, CODES, IDS, ID_TARGETS = IDS + LG_LEVELS, POINTS = ID_TARGETS + LG_LEVELS };
enum { COLUMNS = POINTS + LG_LEVELS };

/* What a column is called, the least that may stand in it, and the rule. */
static const struct column {
    const char *name;
    int32_t least;
    const char *rule;
} kinds[] = {
    {"tokens", 0, "tokens are 0 to vocab - 1"},
    {"targets", LG_NONE, "a target is a token, or LG_NONE (-1) where there is no loss"},
    {"codes", LG_NONE, "a key's number is 0 or more, or LG_NONE (-1) where there is none"},
    {"ids", 0, "position IDs are 0 or more; shift them all up"},
    {"id_targets", LG_NONE,
     "an ID target is a class of the ID head, or LG_NONE (-1) where there is no loss"},
    {"point_targets", LG_NONE,
     "a pointer's target is an ID, or LG_NONE (-1) where there is no loss"},
};

static int kind_of(int c) { return c < IDS ? c : IDS + (c - IDS) / LG_LEVELS; }
static int level_of(int c) { return c < IDS ? 0 : (c - IDS) % LG_LEVELS; }

static int32_t **slot(lg_batch *b, int c)
{
    if (c == TOKENS) return &b->tokens;
    if (c == TARGETS) return &b->targets;
    if (c == CODES) return &b->codes;
    if (c < ID_TARGETS) return &b->ids[c - IDS];
    if (c < POINTS) return &b->id_targets[c - ID_TARGETS];
    return &b->point_targets[c - POINTS];
}

static const int32_t *source(const lg_sequence *s, int c)
{
    if (c == TOKENS) return s->tokens;
    if (c == TARGETS) return s->targets;
    if (c == CODES) return s->codes;
    if (c < ID_TARGETS) return s->ids[c - IDS];
    if (c < POINTS) return s->id_targets[c - ID_TARGETS];
    return s->point_targets[c - POINTS];
}

void lg_batch_init(lg_batch *b) { *b = (lg_batch){.levels = 1}; }

void lg_batch_reset(lg_batch *b)
{
    b->sequences = 0;
    b->rows = 0;
    b->levels = 1;
}

void lg_batch_clear(lg_batch *b)
{
    if (!b) return;
    free(b->offsets);
    for (int c = 0; c < COLUMNS; c++) free(*slot(b, c));
    lg_batch_init(b);
}

static int check_column(const lg_sequence *s, int c, lg_error *err)
{
    const struct column *k = &kinds[kind_of(c)];
    const int32_t *value = source(s, c);
    for (int i = 0; value && i < s->n; i++) {
        if (value[i] >= k->least || (k == &kinds[IDS] && value[i] == LG_ABSENT)) continue;
        if (s->levels > 1 && c >= IDS)
            return lg__fail(err, LG_ERROR_ARGUMENT, "%s[%d] of level %d is %d: %s.", k->name, i,
                            level_of(c) + 1, (int)value[i], k->rule);
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s[%d] is %d: %s.", k->name, i, (int)value[i],
                        k->rule);
    }
    return LG_OK;
}

static int check(const lg_batch *b, const lg_sequence *s, lg_error *err)
{
    int n = s->n, code = 0;
    if (n < 1)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "A sequence of %d tokens cannot be added; give at least one token.", n);
    if (!s->tokens)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "tokens is NULL; give the %d tokens of the sequence (only ids, targets "
                        "and id_targets may be NULL).",
                        n);
    if (s->levels < 1 || s->levels > LG_LEVELS)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "A sequence with %d levels of IDs cannot be added; it may have 1 to %d.",
                        s->levels, LG_LEVELS);
    if (b->sequences && s->levels != b->levels)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "A sequence with %d levels of IDs does not fit a batch of %d; use another "
                        "batch.",
                        s->levels, b->levels);
    for (int l = 0; s->levels > 1 && l < s->levels; l++)
        if (!s->ids[l])
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "The IDs of level %d are NULL; with several levels give all of them.",
                            l + 1);
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
    for (int c = 0; c < COLUMNS && !code; c++)
        if (level_of(c) < s->levels) code = check_column(s, c, err);
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

int lg_batch_add_levels(lg_batch *b, const lg_sequence *s, lg_error *err)
{
    int code = check(b, s, err), n = s->n;
    if (code) return code;

    int32_t *column[COLUMNS];
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
    for (int c = 0; c < COLUMNS; c++) {
        column[c] = *slot(b, c);
        if (level_of(c) >= s->levels || (column[c] && !more_rows)) continue;
        column[c] = failed ? NULL : copy_with_room(column[c], column[c] ? b->rows : 0, room_rows);
        failed |= !column[c];
    }
    if (failed) {
        if (more_sequences) free(offsets);
        for (int c = 0; c < COLUMNS; c++)
            if (column[c] != *slot(b, c)) free(column[c]);
        return lg__fail(err, LG_ERROR_MEMORY,
                        "No memory for a batch of %d rows; split it into smaller batches.",
                        b->rows + n);
    }

    for (int c = 0; c < COLUMNS; c++) {
        if (level_of(c) >= s->levels) continue;
        int32_t *out = column[c] + b->rows;
        const int32_t *from = source(s, c);
        if (from) {
            memcpy(out, from, (size_t)n * sizeof *out);
            continue;
        }
        for (int i = 0; i < n; i++) out[i] = c == IDS ? i : LG_NONE;
    }

    /* The old arrays go last: the caller may have added a sequence of this very batch. */
    for (int c = 0; c < COLUMNS; c++) {
        int32_t **at = slot(b, c);
        if (*at == column[c] && !(more_rows && level_of(c) >= s->levels)) continue;
        /* Columns of levels that are not in use would be too short for the new room. */
        if (*at == column[c]) column[c] = NULL;
        free(*at);
        *at = column[c];
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
    b->levels = s->levels;
    b->offsets[b->sequences] = b->rows;
    return LG_OK;
}

int lg_batch_add(lg_batch *b, int n, const int32_t *tokens, const int32_t *ids,
                 const int32_t *targets, const int32_t *id_targets, lg_error *err)
{
    lg_sequence s = {.n = n, .levels = 1, .tokens = tokens, .targets = targets};
    s.ids[0] = ids;
    s.id_targets[0] = id_targets;
    return lg_batch_add_levels(b, &s, err);
}
