/* ids_heads.c: predictive position coupling: what the ID heads are to say in training, and the ID
 * that an answer of theirs stands for. */
#include "positions/ids.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "positions/positions.h"

/* ---- The heads ------------------------------------------------------------------------------ */

static const char absolute_text[] =
    "Classes 0 .. max_id are the IDs themselves; with several levels class max_id + 1 says\n"
    "that the next token has no ID at this level.\n"
    "The random start of training (ids coupled with max_id) shows it every ID. It can name no\n"
    "ID above max_id. Needs an encoding that shows absolute IDs, learned or sinusoidal; all\n"
    "others are refused: they show differences of IDs only (fire: nearly so).";
static const char delta_text[] =
    "Class c stands for the carried ID + c - reach, where the carried ID is the latest one that\n"
    "an earlier token has at this level; with several levels class 2 reach + 1 says that the\n"
    "next token has no ID here.\n"
    "It can make only steps that training showed, at the same cost at any length: the head of\n"
    "million-token runs. Refused where a task's steps grow with the length.";
static const char pointer_text[] =
    "The score of an earlier token j, seen from token t:\n"
    "  64 (q_t . k_j / sqrt(d) + u(D / (1 + |D|))), D = ID_j - the carried ID\n"
    "  u(x) = b0 at 0, -m1 x above, b2 - m2 |x| below, all learned, m1 and m2 >= 0\n"
    "The distance is bent so that it never outweighs what the keys say, at any length.\n"
    "Keys come from the stream that enters the last layer, of every earlier token whatever the\n"
    "span; the query from the final state of token t. The loss is -log of the summed\n"
    "probability of all tokens that carry the right ID; decoding takes the best, the latest on\n"
    "a tie.\n"
    "Beside it a classifier of 7: classes 0 .. 4, the step -2 .. 2 from the ID that is pointed\n"
    "to; 5, stay: the carried ID, so that the pointer's pass over the keys is made only where\n"
    "an ID jumps; 6: the next token has no ID at this level.";

static const char match_text[] =
    "A key token j of the prompt matches token t if z > 0:\n"
    "  z(t, j) = 64 (q_t . k_j / sqrt(d) + b), b learned; there is no distance in it\n"
    "Key tokens are named by the task, one per entry; of own data all tokens of the prompt that\n"
    "have an ID are keys. Keys and queries are made as the pointer's. Of the keys that match,\n"
    "`match` next takes the nearest with an ID above the carried one, previous the nearest below,\n"
    "any the latest in the text; none: the next token has no ID. Beside it the pointer's\n"
    "classifier of 7.\n"
    "The loss is logistic over all keys of the shard, those of other examples too, where the task\n"
    "says which key is asked for; else -log of the chance that the right ID is taken,\n"
    "  p_j = sigma(z_j) prod (1 - sigma(z_i)) over the nearer keys i.\n"
    "What is found depends neither on the number of keys nor on their distance: with a window it\n"
    "can be certified. Refused if the layers but the last do not show a key token its whole key.";

const lg_id_head_info lg__head_infos[LG__HEAD_COUNT] = {
    {.name = "absolute", .line = "a classifier over all IDs up to max_id", .text = absolute_text},
    {.name = "delta",
     .line = "a classifier over the change of ID, -reach .. reach",
     .text = delta_text,
     .steps = 1},
    {.name = "pointer",
     .line = "points to an earlier token and takes a small step from its ID",
     .text = pointer_text},
    {.name = "match",
     .line = "finds the key that is asked for: each says by itself whether it matches",
     .text = match_text},
};

int lg_id_head_count(void) { return LG__HEAD_COUNT; }

lg_id_head_info lg_id_head_info_at(int i)
{
    return i < 0 || i >= LG__HEAD_COUNT ? (lg_id_head_info){0} : lg__head_infos[i];
}

/* ---- From a class to an ID -------------------------------------------------------------- */

int32_t lg__id_of_class(const lg_scheme *s, int head, int32_t class, int32_t carried,
                        int32_t pointed)
{
    int64_t from = carried == LG_ABSENT ? 0 : carried, id = from;
    if (head == LG__HEAD_ABSOLUTE) {
        id = class > s->max_id ? LG_ABSENT : class;
    } else if (head == LG__HEAD_DELTA) {
        id = class > 2 * s->reach ? LG_ABSENT : from + class - s->reach;
    } else if (head >= LG__HEAD_POINTER && class == LG__POINT_ABSENT) {
        id = LG_ABSENT;
    } else if (head >= LG__HEAD_POINTER && class != LG__POINT_STAY) {
        if (head == LG__HEAD_MATCH && pointed == LG_ABSENT) return LG_ABSENT;
        id = (pointed == LG_ABSENT ? from : pointed) + class - LG__POINT_STEP;
    }
    if (id == LG_ABSENT) return LG_ABSENT;
    if (id < 0) return 0; /* a wrong step near the start: IDs stay IDs */
    return id > INT32_MAX ? INT32_MAX : (int32_t)id;
}

int32_t lg_plan_next_id(const lg_plan *p, const lg_model_config *c, lg_decoder *d, int sequence,
                        int level, int32_t carried)
{
    int head = p->head[level];
    const float *logits = lg_decoder_id_logits(d, sequence, level);
    if (!logits || head == LG__HEAD_GIVEN) return LG_ABSENT;
    int32_t class = lg_argmax(logits, c->id_classes[level]), pointed = LG_ABSENT;
    if (head >= LG__HEAD_POINTER && class < LG__POINT_STAY)
        pointed = lg_decoder_point(d, sequence, level);
    int32_t id = lg__id_of_class(&p->scheme, head, class, carried, pointed);
    if (id <= c->max_id) return id;
    /* A wrong ID past an encoding's rows would end the whole decoding: it becomes the last one. */
    return lg__encoding_has(c->encoding, LG__ENCODING_ROWS) ? c->max_id : id;
}

/* ---- The IDs met so far ------------------------------------------------------------------ */

/* A set of IDs: open addressing, at most half full; LG_ABSENT is an empty slot. */
struct seen {
    int32_t few[1024], *slot;
    int bits;
};

static int seen_open(struct seen *h, int n, lg_error *err)
{
    h->bits = 4;
    while (h->bits < 32 && (int64_t)1 << h->bits < 2 * (int64_t)n) h->bits++;
    size_t slots = (size_t)1 << h->bits;
    h->slot = slots <= 1024 ? h->few : lg__alloc(slots * sizeof *h->slot);
    if (!h->slot)
        return lg__fail(err, LG_ERROR_MEMORY,
                        "no memory for the pointer's targets of %d tokens; use shorter examples, "
                        "or end other programs",
                        n);
    for (size_t i = 0; i < slots; i++) h->slot[i] = LG_ABSENT;
    return 0;
}

static void seen_close(struct seen *h)
{
    if (h->slot != h->few) free(h->slot);
}

/* Where the ID is, or the empty slot where it belongs. */
static int32_t *seen_place(struct seen *h, int32_t id)
{
    uint32_t mask = (uint32_t)(((uint64_t)1 << h->bits) - 1);
    uint32_t i = ((uint32_t)id * 0x9e3779b9u) >> (32 - h->bits);
    while (h->slot[i] != LG_ABSENT && h->slot[i] != id) i = (i + 1) & mask;
    return &h->slot[i];
}

/* ---- From an ID to a class ---------------------------------------------------------------- */

/* One level of one example. */
struct level {
    const lg_plan *plan;
    int level;
    int head;
    int absent; /* the class of no ID; LG_NONE: the head has none */
};

/* Where an example does not fit its head; text has 160 bytes. */
static const char *where(const struct level *v, int t, char *text)
{
    const char *name = v->plan->shape->level[v->level];
    snprintf(text, 160, "source %s, level %d%s%.40s%s, from token %d to token %d (counted from 0)",
             lg__head_infos[v->head].name, v->level + 1, name ? " (" : "", name ? name : "",
             name ? ")" : "", t, t + 1);
    return text;
}

static int absolute_class(const struct level *v, int t, int32_t next, int32_t *class, lg_error *err)
{
    char text[160];
    *class = next;
    if (next <= v->plan->scheme.max_id) return 0;
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "max_id",
        "%s: the next ID is %d, above {max_id}, which is %d, and has no class; set {max_id} "
        "to %d or more, or take source delta or pointer",
        where(v, t, text), (int)next, v->plan->scheme.max_id, (int)next);
}

static int delta_class(const struct level *v, int t, int32_t next, int32_t carried, int32_t *class,
                       lg_error *err)
{
    char text[160];
    int reach = v->plan->scheme.reach;
    int64_t step = (int64_t)next - (carried == LG_ABSENT ? 0 : carried);
    if (step >= -reach && step <= reach) {
        *class = (int32_t)step + reach;
        return 0;
    }
    return lg__fail_key(
        err, LG_ERROR_ARGUMENT, "reach",
        "%s: the ID makes a step of %lld, outside of %d..%d; take source pointer, or "
        "a {reach} of %lld or more",
        where(v, t, text), (long long)step, -reach, reach, (long long)(step < 0 ? -step : step));
}

/* Whether a match head may take a key with this ID. */
static int in_order(const struct level *v, int64_t id, int32_t carried)
{
    lg_match order = v->head == LG__HEAD_MATCH ? lg__plan_match(v->plan) : LG_MATCH_ANY;
    if (order == LG_MATCH_ANY || carried == LG_ABSENT) return 1;
    return order == LG_MATCH_NEXT ? id > carried : id < carried;
}

/* The nearest step from an ID that is there to be pointed to. */
static int pointer_class(const struct level *v, int t, int32_t next, int32_t carried,
                         struct seen *h, int32_t *class, int32_t *point, lg_error *err)
{
    static const int32_t steps[] = {0, 1, -1, 2, -2};
    char text[160];
    if (next == (carried == LG_ABSENT ? 0 : carried)) {
        *class = LG__POINT_STAY;
        return 0;
    }
    for (int i = 0; i < 5; i++) {
        int64_t from = (int64_t)next - steps[i];
        if (from < 0 || from > INT32_MAX || *seen_place(h, (int32_t)from) == LG_ABSENT) continue;
        if (!in_order(v, from, carried)) continue;
        *class = steps[i] + LG__POINT_STEP;
        *point = (int32_t)from;
        return 0;
    }
    return lg__fail(
        err, LG_ERROR_ARGUMENT,
        v->head == LG__HEAD_MATCH
            ? "%s: the next ID is %d, more than 2 away from that of every key%s; take "
              "another positions.match, source pointer, or fix the labels"
            : "%s: the next ID is %d, more than 2 away from every earlier one%s, so there "
              "is nothing to point to; take source given or delta, or fix the labels",
        where(v, t, text), (int)next,
        v->head == LG__HEAD_MATCH && lg__plan_match(v->plan) != LG_MATCH_ANY
            ? " on this side of the carried one"
            : "");
}

static int class_of(const struct level *v, int t, int32_t next, int32_t carried, struct seen *h,
                    int32_t *class, int32_t *point, lg_error *err)
{
    char text[160];
    if (next == LG_ABSENT) {
        *class = v->absent;
        if (v->absent != LG_NONE) return 0;
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s: the next token has no ID, and with 1 level this head has no class for "
                        "that; give every token an ID, or take source given or pointer",
                        where(v, t, text));
    }
    if (v->head == LG__HEAD_ABSOLUTE) return absolute_class(v, t, next, class, err);
    if (v->head == LG__HEAD_DELTA) return delta_class(v, t, next, carried, class, err);
    return pointer_class(v, t, next, carried, h, class, point, err);
}

/* Whether token t is a key of match heads. */
static int is_key(const lg_task_shape *s, const lg_example *x, int t)
{
    for (int i = 0; i < s->key_tokens && t < x->answer; i++)
        if (s->key_token[i] == x->tokens[t]) return 1;
    return t < x->answer && !s->key_tokens;
}

/* classes[t], points[t] for the rows t = 0..n-2 of an example: only where the next token is
 * generated; the others are left as they are. */
static int fill_classes(const struct level *v, const lg_example *x, const int32_t *ids,
                        struct seen *h, int32_t *classes, int32_t *points, lg_error *err)
{
    int32_t carried = LG_ABSENT;
    for (int t = 0; t + 1 < x->n; t++) {
        if (ids[t] != LG_ABSENT) {
            carried = ids[t];
            if (h && (v->head != LG__HEAD_MATCH || is_key(v->plan->shape, x, t)))
                *seen_place(h, carried) = carried;
        }
        if (t + 1 < x->answer) continue;
        int e = class_of(v, t, ids[t + 1], carried, h, &classes[t], &points[t], err);
        if (e) return e;
    }
    return 0;
}

static int fill_head(const lg_plan *p, int l, const lg_example *x, const int32_t *ids,
                     int32_t *classes, int32_t *points, lg_error *err)
{
    struct level v = {.plan = p, .level = l, .head = p->head[l]};
    int several = p->levels > 1;
    v.absent = v.head >= LG__HEAD_POINTER ? LG__POINT_ABSENT
               : several                  ? lg__plan_classes(p, l) - 1
                                          : LG_NONE;
    if (v.head < LG__HEAD_POINTER) return fill_classes(&v, x, ids, NULL, classes, points, err);
    struct seen h;
    int e = seen_open(&h, x->n, err);
    if (e) return e;
    e = fill_classes(&v, x, ids, &h, classes, points, err);
    seen_close(&h);
    return e;
}

/* ---- Examples into batches ------------------------------------------------------------------ */

/* Fills the rows of the example that was added last, one row for each of its tokens. */
static int fill_rows(const lg_plan *p, const lg_example *x, lg_rng *r, lg_batch *b, lg_error *err)
{
    int at = b->rows - x->n, e;
    int32_t *ids[LG_LEVELS] = {0};
    for (int l = 0; l < p->levels; l++) ids[l] = b->ids[l] + at;
    if ((e = lg_plan_ids(p, x, r, ids, err))) return e;
    for (int t = 0; t + 1 < x->n; t++)
        b->targets[at + t] = x->loss[t + 1] ? x->tokens[t + 1] : LG_NONE;
    for (int t = 0; t < x->n && p->shape->match; t++) b->codes[at + t] = x->codes[t];
    for (int l = 0; l < p->levels; l++) {
        if (p->head[l] == LG__HEAD_GIVEN) continue;
        e = fill_head(p, l, x, ids[l], b->id_targets[l] + at, b->point_targets[l] + at, err);
        if (e) return e;
    }
    return 0;
}

/* The rows are filled where they lie, so that no copy is made. The last token is added
 * with the others, because its ID is what the row before it predicts, and then taken off. */
int lg_plan_add(const lg_plan *p, const lg_example *x, lg_rng *r, lg_batch *b, lg_error *err)
{
    int e;
    if (x->n < 2)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "an example of %d token%s has nothing to predict; give 2 or more", x->n,
                        x->n == 1 ? "" : "s");
    lg_sequence q = {.n = x->n, .levels = p->levels, .tokens = x->tokens};
    for (int l = 0; l < p->levels; l++) q.ids[l] = x->tokens; /* to be overwritten */
    if ((e = lg_batch_add_levels(b, &q, err))) return e;
    e = fill_rows(p, x, r, b, err);
    if (e) {
        b->sequences--;
        b->rows -= x->n;
        return e;
    }
    b->offsets[b->sequences] = --b->rows;
    return 0;
}
