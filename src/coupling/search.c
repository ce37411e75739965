/* search.c: the smallest sets of addresses of which the answer's tokens are a function (find.h, 3).
 *
 * A set is scored by a table: rows with the same values at the set's addresses are one cell, and each row is
 * predicted by the most frequent token among the others of its cell. Rows alone in their cell say nothing.
 * The score is the share of right rows among those of the longer half of the lines that are not alone. Sums
 * show nothing in one address, so pairs are tried all, and triples too where there are few enough. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "coupling/find.h"

enum {
    ADDRESSES = 320,
    ROWS = 16000,
    FEW_ROWS = 3000,  /* for triples */
    SOME_ROWS = 5000, /* for pairs and the beam */
    MOST_VALUES = 64, /* of an address that is combined with others */
    TRIPLES = 72,     /* addresses of which all triples are tried */
    BEAM = 16,
    STANDS = 3, /* rows that outvote one */
    WIDTHS = 8  /* of groups */
};
static const double BETTER = 0.01; /* a larger set must be better by this */
static const double CLOSE = 0.004; /* sets as good as each other */
static const double PERFECT = 0.995;
static const double NONE_LOST = 0.0005;

/* The rows of one phase: the answer's tokens there, and what each address says. */
struct rows {
    int count, longer;
    int32_t *line; /* [count] */
    unsigned char *is_long;
    int32_t *y;     /* [count] as numbers 0..values-1 */
    int32_t *token; /* [count] */
    int32_t *where; /* [count] its place in the line */
    int values;
    int columns;
    struct lg__address address[ADDRESSES];
    int32_t *column[ADDRESSES]; /* [count] as numbers */
    int column_values[ADDRESSES];
    int copies[ADDRESSES]; /* rows of long lines where the token is the one at the address */
    /* scratch of the table */
    int32_t *id;
    uint64_t *key;
    int32_t *slot, *cell, *most, *second, *best, *total;
    int slots;
};

struct set {
    int n, at[LG__SET];
    double score, seen, cost;
};

/* ---- Rows --------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Renumbers values to 0..n-1 in their order; how many, or -1 without memory. */
static int renumber(int32_t *value, int n, int32_t *scratch)
{
    int distinct = 0;
    memcpy(scratch, value, (size_t)n * sizeof *value);
    qsort(scratch, (size_t)n, sizeof *scratch, by_number);
    for (int i = 0; i < n; i++)
        if (!i || scratch[i] != scratch[i - 1]) scratch[distinct++] = scratch[i];
    for (int i = 0; i < n; i++) {
        const int32_t *at =
            bsearch(&value[i], scratch, (size_t)distinct, sizeof *scratch, by_number);
        value[i] = (int32_t)(at - scratch);
    }
    return distinct;
}

static void rows_free(struct rows *r)
{
    free(r->line);
    free(r->is_long);
    free(r->y);
    free(r->token);
    free(r->where);
    for (int c = 0; c < r->columns; c++) free(r->column[c]);
    free(r->id);
    free(r->key);
    free(r->slot);
    free(r->cell);
    *r = (struct rows){0};
}

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY, "no memory to look for a coupling; give fewer lines");
}

static int rows_open(struct rows *r, int room)
{
    size_t n = (size_t)room;
    r->slots = 1;
    while (r->slots < 2 * room) r->slots *= 2;
    r->line = lg__alloc(n * sizeof *r->line);
    r->is_long = lg__alloc(n);
    r->y = lg__alloc(n * sizeof *r->y);
    r->token = lg__alloc(n * sizeof *r->token);
    r->where = lg__alloc(n * sizeof *r->where);
    r->id = lg__alloc(n * sizeof *r->id);
    r->key = lg__alloc((size_t)r->slots * sizeof *r->key);
    r->slot = lg__alloc((size_t)r->slots * sizeof *r->slot);
    return r->line && r->is_long && r->y && r->token && r->where && r->id && r->key && r->slot ? 0
                                                                                               : -1;
}

/* The middle of the lines' answer lengths. */
static int median_length(const struct lg__examples *lines)
{
    int count[512] = {0}, sum = 0, at = 0;
    for (int i = 0; i < lines->count; i++) {
        int n = lines->x[i].answer;
        count[n < 511 ? n : 511]++;
    }
    while (at < 511 && 2 * (sum += count[at]) < lines->count) at++;
    return at;
}

static int phase_of(const struct lg__structure *s, const lg_example *x, int t)
{
    return s->answer.cut == LG__CUT_WIDTH ? (t - x->answer) % s->answer.width : 0;
}

/* A column that says nothing new is left out. */
static int is_useless(const struct rows *r, const int32_t *column, int values)
{
    if (values < 2) return 1;
    for (int c = 0; c < r->columns; c++)
        if (r->column_values[c] == values &&
            memcmp(r->column[c], column, (size_t)r->count * sizeof *column) == 0)
            return 1;
    return 0;
}

static int add_column(struct rows *r, const struct lg__address *a, const struct lg__structure *s,
                      const struct lg__view *views, int32_t *scratch)
{
    int32_t *column = lg__alloc((size_t)r->count * sizeof *column);
    int copies = 0;
    if (!column) return -1;
    for (int i = 0; i < r->count; i++) {
        column[i] = lg__address_read(a, s, &views[r->line[i]], r->where[i]);
        /* what marks an end is learned by itself: it counts as copied */
        copies += r->is_long[i] && (column[i] == r->token[i] || column[i] < 0);
    }
    int ends = 0;
    for (int i = 0; i < r->count; i++) ends += r->is_long[i] && column[i] < 0;
    int values = renumber(column, r->count, scratch);
    if (is_useless(r, column, values)) {
        free(column);
        return 0;
    }
    r->address[r->columns] = *a;
    r->column[r->columns] = column;
    r->column_values[r->columns] = values;
    r->copies[r->columns++] = 2 * ends < r->longer ? copies : 0;
    return 0;
}

static int rows_make(struct rows *r, const struct lg__examples *lines,
                     const struct lg__structure *s, const struct lg__view *views, int phase,
                     lg_error *err)
{
    struct lg__address *list = lg__alloc(ADDRESSES * sizeof *list);
    int32_t *scratch = lg__alloc(ROWS * sizeof *scratch);
    int total = 0, every = 1, seen = 0, middle = median_length(lines), e = 0;
    *r = (struct rows){0};
    if (!list || !scratch || rows_open(r, ROWS)) e = no_memory(err);
    for (int i = 0; i < lines->count && !e; i++)
        for (int t = lines->x[i].answer; t < lines->x[i].n && views[i].x; t++)
            total += phase_of(s, &lines->x[i], t) == phase;
    while (total / every > ROWS) every++;
    for (int i = 0; i < lines->count && !e; i++) {
        const lg_example *x = &lines->x[i];
        if (!views[i].x || seen++ % every) continue;
        for (int t = x->answer; t < x->n && r->count < ROWS; t++) {
            if (phase_of(s, x, t) != phase) continue;
            r->line[r->count] = i;
            r->is_long[r->count] = x->answer > middle;
            r->longer += x->answer > middle;
            r->y[r->count] = r->token[r->count] = x->tokens[t];
            r->where[r->count++] = t;
        }
    }
    if (!e && r->count) {
        r->values = renumber(r->y, r->count, scratch);
        int n = lg__addresses_list(list, ADDRESSES, lines, s, phase);
        for (int c = 0; c < n && !e; c++)
            if (add_column(r, &list[c], s, views, scratch)) e = no_memory(err);
        size_t cells = (size_t)r->count * (size_t)(r->values <= MOST_VALUES ? r->values : 1);
        r->cell = lg__alloc((cells + 4 * (size_t)r->count) * sizeof *r->cell);
        if (!r->cell) e = no_memory(err);
        r->most = r->cell + cells;
        r->second = r->most + r->count;
        r->best = r->second + r->count;
        r->total = r->best + r->count;
    }
    free(list);
    free(scratch);
    return e;
}

/* ---- The table --------------------------------------------------------------------------------------- */

/* Gives each of the first n rows (every `every`-th of all) the number of its cell; how many cells. */
static int number_cells(struct rows *r, const struct set *s, int every)
{
    int cells = 0;
    uint32_t mask = (uint32_t)r->slots - 1;
    memset(r->slot, 0, (size_t)r->slots * sizeof *r->slot);
    for (int i = 0; i < r->count; i += every) {
        uint64_t key = 0;
        for (int k = 0; k < s->n; k++)
            key =
                key * (uint64_t)(r->column_values[s->at[k]] + 1) + (uint64_t)r->column[s->at[k]][i];
        uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
        while (r->slot[at] && r->key[at] != key) at = (at + 1) & mask;
        if (!r->slot[at]) {
            r->slot[at] = ++cells;
            r->key[at] = key;
        }
        r->id[i] = r->slot[at] - 1;
    }
    return cells;
}

/* Each row predicted by the others of its cell. */
static void score(struct rows *r, struct set *s, int every)
{
    int K = r->values, cells = number_cells(r, s, every), rows = 0, seen = 0, right = 0;
    s->score = s->seen = 0;
    if (K > MOST_VALUES) return;
    memset(r->cell, 0, (size_t)cells * (size_t)K * sizeof *r->cell);
    memset(r->total, 0, (size_t)cells * sizeof *r->total);
    for (int i = 0; i < r->count; i += every) {
        r->cell[r->id[i] * K + r->y[i]]++;
        r->total[r->id[i]]++;
    }
    for (int c = 0; c < cells; c++) {
        int32_t most = 0, second = 0, best = 0, *n = r->cell + (size_t)c * (size_t)K;
        for (int k = 0; k < K; k++)
            if (n[k] > most) {
                second = most;
                most = n[k];
                best = k;
            } else if (n[k] > second)
                second = n[k];
        r->most[c] = most;
        r->second[c] = second;
        r->best[c] = best;
    }
    for (int i = 0; i < r->count; i += every) {
        int c = r->id[i];
        if (!r->is_long[i]) continue;
        rows++;
        if (r->total[c] < 2) continue;
        seen++;
        right += r->y[i] == r->best[c] && r->most[c] - 1 > r->second[c];
    }
    s->seen = rows ? (double)seen / rows : 0;
    int least = LG__FIND_SEEN / every > 20 ? LG__FIND_SEEN / every : 20;
    if (least > rows / 2) least = rows / 2;
    if (seen < least || s->seen < 0.04) return;
    s->score = (double)right / seen;
}

/* ---- Sets -------------------------------------------------------------------------------------------- */

static double cost_of(const struct rows *r, const struct set *s)
{
    double cost = 0;
    for (int k = 0; k < s->n; k++) cost += lg__address_cost(&r->address[s->at[k]]);
    return cost;
}

static int is_better(const struct set *a, const struct set *b)
{
    if (a->score > b->score + CLOSE) return 1;
    return a->score > b->score - CLOSE && a->cost < b->cost;
}

/* The best sets of a size so far. */
struct beam {
    struct set set[BEAM];
    int n;
};

static int same_set(const struct set *a, const struct set *b)
{
    for (int i = 0; i < a->n; i++) {
        int k = 0;
        while (k < b->n && b->at[k] != a->at[i]) k++;
        if (k == b->n) return 0;
    }
    return 1;
}

static void offer(struct beam *b, const struct set *s)
{
    int at = b->n;
    for (int i = 0; i < b->n; i++)
        if (same_set(&b->set[i], s)) return;
    while (at > 0 && (s->score > b->set[at - 1].score ||
                      (s->score == b->set[at - 1].score && s->cost < b->set[at - 1].cost)))
        at--;
    if (at == BEAM) return;
    if (b->n < BEAM) b->n++;
    memmove(&b->set[at + 1], &b->set[at], (size_t)(b->n - 1 - at) * sizeof *b->set);
    b->set[at] = *s;
}

static int step_for(const struct rows *r, int rows)
{
    int every = (r->count + rows - 1) / rows;
    return every > 1 ? every : 1;
}

static int combines(const struct rows *r, int c) { return r->column_values[c] <= MOST_VALUES; }

/* A part that is read from one end, at one stride: no labels serve more. */
static int is_even(const struct rows *r, const struct set *s)
{
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < i; k++) {
            const struct lg__address *a = &r->address[s->at[i]], *b = &r->address[s->at[k]];
            int on_line =
                a->kind == LG__AT_LINE || a->kind == LG__AT_CELL || a->kind == LG__AT_RECORD;
            if (on_line && a->kind == b->kind && a->part == b->part &&
                (a->from_end != b->from_end || a->times != b->times))
                return 0;
        }
    return 1;
}

static void try_set(struct rows *r, struct beam *b, struct set s, int every)
{
    if (!is_even(r, &s)) return;
    s.cost = cost_of(r, &s);
    score(r, &s, every);
    offer(b, &s);
}

static void all_pairs(struct rows *r, struct beam *b)
{
    int every = step_for(r, SOME_ROWS);
    for (int i = 0; i < r->columns; i++)
        for (int j = i + 1; j < r->columns && combines(r, i); j++)
            if (combines(r, j)) try_set(r, b, (struct set){.n = 2, .at = {i, j}}, every);
}

static void all_triples(struct rows *r, struct beam *b)
{
    int every = step_for(r, FEW_ROWS);
    for (int i = 0; i < r->columns; i++)
        for (int j = i + 1; j < r->columns && combines(r, i); j++)
            for (int k = j + 1; k < r->columns && combines(r, j); k++)
                if (combines(r, k)) try_set(r, b, (struct set){.n = 3, .at = {i, j, k}}, every);
}

static void extend(struct rows *r, const struct beam *from, struct beam *to)
{
    int every = step_for(r, SOME_ROWS);
    for (int i = 0; i < from->n; i++)
        for (int c = 0; c < r->columns; c++) {
            struct set s = from->set[i];
            int there = !combines(r, c);
            for (int k = 0; k < s.n; k++) there |= s.at[k] == c || !combines(r, s.at[k]);
            if (there) continue;
            s.at[s.n++] = c;
            try_set(r, to, s, every);
        }
}

/* The best of a beam on all rows; on a tie the one that is described in fewest words. */
static struct set best_of(struct rows *r, struct beam *b)
{
    struct set best = {.score = -1};
    for (int i = 0; i < b->n; i++) {
        score(r, &b->set[i], 1);
        if (best.score < 0 || is_better(&b->set[i], &best)) best = b->set[i];
    }
    return best;
}

/* The address whose token is copied, or -1. */
static int find_copy(const struct rows *r, double *accuracy)
{
    int best = -1;
    for (int c = 0; c < r->columns; c++)
        if (r->copies[c] >= LG__FIND_ACCURACY * r->longer &&
            (best < 0 || r->copies[c] > r->copies[best] * (1 + CLOSE) ||
             (r->copies[c] > r->copies[best] * (1 - CLOSE) &&
              lg__address_cost(&r->address[c]) < lg__address_cost(&r->address[best]))))
            best = c;
    if (best >= 0) *accuracy = (double)r->copies[best] / r->longer;
    return best;
}

static void keep_set(struct lg__slot *slot, const struct rows *r, const struct set *s)
{
    slot->count = s->n;
    slot->accuracy = s->score;
    slot->seen = s->seen;
    for (int k = 0; k < s->n; k++) slot->address[k] = r->address[s->at[k]];
}

/* Without addresses that it does as well without: a beam that starts from pairs may come by one that a sum does
 * not need. */
static void prune(struct rows *r, struct set *s)
{
    for (int k = 0; k < s->n && s->n > 1;) {
        struct set less = *s;
        less.n--;
        memmove(&less.at[k], &less.at[k + 1], (size_t)(less.n - k) * sizeof *less.at);
        score(r, &less, 1);
        if (less.score >= s->score - NONE_LOST) {
            *s = less;
            k = 0;
        } else
            k++;
    }
}

/* Words of a large vocabulary fill no table: what an answer has of them must be copied. */
static void large_baseline(struct rows *r, struct set *s)
{
    int most = 0;
    int32_t *count = r->slot;
    if ((size_t)r->values > (size_t)r->slots) return;
    memset(count, 0, (size_t)r->values * sizeof *count);
    for (int i = 0; i < r->count; i++)
        if (++count[r->y[i]] > most) most = count[r->y[i]];
    s->score = (double)most / r->count;
    s->seen = 1;
}

static void search_slot(struct rows *r, struct lg__slot *slot)
{
    struct set none = {0}, best, kept = {0};
    struct beam beam[2] = {{.n = 0}};
    double copied = 0;
    if (r->values > MOST_VALUES)
        large_baseline(r, &none);
    else
        score(r, &none, 1);
    *slot = (struct lg__slot){.chance = none.score};
    keep_set(slot, r, &none);
    if (none.score >= PERFECT || !r->columns) return;
    int copy = find_copy(r, &copied);
    if (copy >= 0 && none.score < copied - BETTER) {
        struct set s = {.n = 1, .at = {copy}, .score = copied, .seen = 1};
        keep_set(slot, r, &s);
        slot->copies = 1;
        return;
    }
    if (r->values > MOST_VALUES) return;
    struct beam *now = &beam[0], *next = &beam[1];
    for (int c = 0; c < r->columns; c++) try_set(r, now, (struct set){.n = 1, .at = {c}}, 1);
    for (int n = 1; n <= LG__SET && now->n; n++) {
        best = best_of(r, now);
        double more = slot->count ? BETTER : 0.02;
        if (best.score > slot->accuracy + more) {
            kept = best;
            keep_set(slot, r, &kept);
        }
        if (slot->accuracy >= PERFECT || n == LG__SET) break;
        /* nothing more is gained by two sizes */
        if (n > slot->count + 1 && slot->accuracy >= LG__FIND_ACCURACY) break;
        next->n = 0;
        if (n == 1) all_pairs(r, next);
        if (n == 2 && r->columns <= TRIPLES) all_triples(r, next);
        extend(r, now, next);
        struct beam *swap = now;
        now = next;
        next = swap;
    }
    prune(r, &kept);
    if (kept.n) keep_set(slot, r, &kept);
}

/* ---- Roles -------------------------------------------------------------------------------------------- */

/* Whether two addresses get the same label, so that without roles nothing tells them apart. */
static int share_label(const struct lg__address *a, const struct lg__address *b)
{
    int line = a->kind == LG__AT_LINE || a->kind == LG__AT_RECORD || a->kind == LG__AT_CELL ||
               a->kind == LG__AT_BEFORE;
    int other = b->kind == LG__AT_LINE || b->kind == LG__AT_RECORD || b->kind == LG__AT_CELL ||
                b->kind == LG__AT_BEFORE;
    return line && other && a->d == b->d && (a->part != b->part || a->kind != b->kind);
}

/* Whether the token is still decided if addresses that share a label are known as a heap, in no order. */
static int needs_roles(struct rows *r, const struct lg__slot *slot, const struct lg__structure *s,
                       const struct lg__view *views)
{
    struct set set = {.n = slot->count};
    int32_t *heap = lg__alloc((size_t)r->count * LG__SET * sizeof *heap), *own[LG__SET];
    int32_t *scratch = lg__alloc((size_t)r->count * sizeof *scratch);
    int mixed = 0, values[LG__SET], roles = 0;
    for (int k = 0; k < slot->count && heap && scratch; k++)
        for (int i = 0; i < r->count; i++)
            heap[k * r->count + i] =
                lg__address_read(&slot->address[k], s, &views[r->line[i]], r->where[i]);
    for (int a = 0; a < slot->count && heap && scratch; a++)
        for (int b = a + 1; b < slot->count; b++) {
            if (!share_label(&slot->address[a], &slot->address[b])) continue;
            mixed = 1;
            for (int i = 0; i < r->count; i++) {
                int32_t *x = &heap[a * r->count + i], *y = &heap[b * r->count + i], low = *x;
                if (*y >= low) continue;
                *x = *y;
                *y = low;
            }
        }
    if (mixed && r->columns >= slot->count) {
        for (int k = 0; k < slot->count; k++) { /* the first columns lend their places */
            own[k] = r->column[k];
            values[k] = r->column_values[k];
            r->column[k] = heap + (size_t)k * (size_t)r->count;
            r->column_values[k] = renumber(r->column[k], r->count, scratch);
            set.at[k] = k;
        }
        score(r, &set, 1);
        roles = set.score < slot->accuracy - 0.03;
        for (int k = 0; k < slot->count; k++) {
            r->column[k] = own[k];
            r->column_values[k] = values[k];
        }
    }
    free(heap);
    free(scratch);
    return roles;
}

/* ---- All slots ----------------------------------------------------------------------------------------- */

struct work {
    const struct lg__examples *lines;
    struct lg__view *views;
    const struct lg__find_watch *watch;
    double done, all;
};

static int stopped(const struct work *w)
{
    return w->watch && ((w->watch->stop && *w->watch->stop) ||
                        (w->watch->until > 0 && lg__now() > w->watch->until));
}

static void progress(struct work *w, double more)
{
    w->done += more;
    if (w->watch && w->watch->progress) w->watch->progress(w->watch->context, w->done / w->all);
}

/* How many lines have the form; their views are made. */
static int view_lines(struct work *w, const struct lg__structure *s)
{
    int good = 0;
    for (int i = 0; i < w->lines->count; i++) {
        if (!lg__view_make(&w->views[i], s, &w->lines->x[i])) w->views[i].x = NULL;
        good += w->views[i].x != NULL;
    }
    return good;
}

/* A row that is alone against STANDS or more, or one of few against many. */
static int is_odd(const struct rows *r, int i)
{
    int c = r->id[i], others = r->total[c] - r->most[c];
    return r->y[i] != r->best[c] && r->most[c] >= STANDS && r->most[c] >= 20 * others - 19;
}

/* Lines that the table contradicts. */
static void count_disagreeing(struct rows *r, const struct lg__slot *slot, unsigned char *bad)
{
    struct set s = {.n = slot->count};
    int odd = 0, mixed = 0;
    for (int k = 0; k < slot->count; k++)
        for (int c = 0; c < r->columns; c++)
            if (memcmp(&slot->address[k], &r->address[c], sizeof slot->address[k]) == 0)
                s.at[k] = c;
    score(r, &s, 1);
    if (r->values > MOST_VALUES) return;
    for (int i = 0; i < r->count; i++)
        if (r->y[i] != r->best[r->id[i]] && r->total[r->id[i]] > STANDS)
            *(is_odd(r, i) ? &odd : &mixed) += 1;
    /* cells in which several rows stand against several hang on something that the set lacks */
    if (4 * mixed > odd) return;
    for (int i = 0; i < r->count; i++)
        if (is_odd(r, i)) bad[r->line[i]] = 1;
}

/* A copied token that is another than the one at the address. */
static void count_miscopied(const struct work *w, const struct lg__structure *s,
                            const struct lg__slot *slot, int phase, unsigned char *bad)
{
    for (int i = 0; i < w->lines->count; i++) {
        const lg_example *x = &w->lines->x[i];
        for (int t = x->answer; t < x->n && w->views[i].x; t++) {
            if (phase_of(s, x, t) != phase) continue;
            int32_t read = lg__address_read(&slot->address[0], s, &w->views[i], t);
            if (read >= 0 && read != x->tokens[t]) bad[i] = 1;
        }
    }
}

static int find_with(struct work *w, const struct lg__structure *s, struct lg__finding *f,
                     lg_error *err)
{
    int slots = s->answer.cut == LG__CUT_WIDTH ? s->answer.width : 1, e = 0;
    unsigned char *bad = lg__alloc((size_t)w->lines->count);
    if (!bad) return no_memory(err);
    *f = (struct lg__finding){.structure = *s, .slots = slots, .accuracy = 1};
    for (int p = 0; p < slots && !e && !stopped(w); p++) {
        struct rows r;
        e = rows_make(&r, w->lines, s, w->views, p, err);
        if (!e && r.count) {
            search_slot(&r, &f->slot[p]);
            f->roles |= slots > 1 || needs_roles(&r, &f->slot[p], s, w->views);
            if (f->slot[p].copies)
                count_miscopied(w, s, &f->slot[p], p, bad);
            else
                count_disagreeing(&r, &f->slot[p], bad);
        } else if (!e)
            f->slot[p].accuracy = 1;
        rows_free(&r);
        progress(w, 1);
        if (f->slot[p].accuracy < f->accuracy) f->accuracy = f->slot[p].accuracy;
        for (int k = 0; k < f->slot[p].count; k++)
            f->cost += lg__address_cost(&f->slot[p].address[k]);
        if (f->accuracy < LG__FIND_ACCURACY) {
            progress(w, slots - 1 - p);
            break;
        }
    }
    for (int i = 0; i < w->lines->count; i++) {
        bad[i] |= !w->views[i].x;
        f->disagree += bad[i];
    }
    f->wrong = bad;
    return e;
}

/* Ways to cut the answer, plainest first. */
static int cut_answer(struct lg__structure *s, const struct lg__structure *from, int way,
                      int32_t word, const lg_task_shape *shape)
{
    *s = *from;
    s->answer = (struct lg__cutting){.cut = LG__CUT_WHOLE, .width = 1};
    if (way == 0) return 1;
    if (way == 1) {
        if (word == LG_NONE) return 0;
        s->answer.cut = LG__CUT_WORD;
        lg__rule_word_set(&s->answer.word, shape, word);
        return 1;
    }
    s->answer.cut = LG__CUT_WIDTH;
    s->answer.width = way;
    return way <= WIDTHS;
}

int lg__find(const struct lg__examples *lines, struct lg__finding *found, int most,
             struct lg__finding *best, const struct lg__find_watch *watch, lg_error *err)
{
    struct lg__structure s[LG__STRUCTURES], cut;
    struct work w = {.lines = lines, .watch = watch};
    int n = 0, structures = lg__structures_find(lines, s, err), e = 0;
    if (structures < 0) return structures;
    int32_t word = lg__answer_word(lines);
    w.views = lg__alloc((size_t)lines->count * sizeof *w.views);
    struct lg__finding *f = lg__alloc(sizeof *f);
    if (!w.views || !f) e = no_memory(err);
    w.all = structures * (1 + (word != LG_NONE) + WIDTHS * (WIDTHS + 1) / 2.0 - 1);
    best->accuracy = -1;
    for (int way = 0; way <= WIDTHS && !e && n < most && !stopped(&w); way++)
        for (int i = 0; i < structures && !e && n < most && !stopped(&w); i++) {
            if (!cut_answer(&cut, &s[i], way, word, lines->shape)) continue;
            if (view_lines(&w, &cut) < LG__FIND_FORM * lines->count) continue;
            e = find_with(&w, &cut, f, err);
            if (e) break;
            if (f->accuracy > best->accuracy) {
                *best = *f;
                best->wrong = NULL;
            }
            if (!stopped(&w) && f->accuracy >= LG__FIND_ACCURACY)
                found[n++] = *f;
            else
                free(f->wrong);
        }
    free(w.views);
    free(f);
    return e ? e : n;
}

void lg__finding_words(const struct lg__finding *f, const lg_task_shape *shape, lg_buffer *to)
{
    const struct lg__structure *s = &f->structure;
    for (int p = 0; p < f->slots; p++) {
        const struct lg__slot *slot = &f->slot[p];
        if (s->answer.cut == LG__CUT_WIDTH)
            lg_buffer_print(to, "answer[%dq+%d] ", s->answer.width, p);
        else
            lg_buffer_put(to, s->answer.cut == LG__CUT_WORD ? "answer[g][i] " : "answer[i] ");
        lg_buffer_put(to, slot->copies ? "is " : slot->count ? "reads " : "is always the same");
        for (int k = 0; k < slot->count; k++) {
            if (k) lg_buffer_put(to, ", ");
            lg__address_words(&slot->address[k], s, shape, to);
        }
        lg_buffer_put(to, "\n");
    }
}
