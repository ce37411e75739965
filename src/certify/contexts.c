/* contexts.c: enumerates the contexts of a task's column machine by writing real inputs: for every
 * reachable state and every string of columns that one position can see, the shortest input that has
 * them. Every position of these texts gives its context; a set keeps each once. */
#include "certify/contexts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "certify/unfold.h"
#include "positions/ids.h"
#include "positions/positions.h"
#include "runs/texts.h"
#include "base/hash.h"
#include "base/memory.h"

enum { TELL = 4096 }; /* inputs from one word of the progress to the next */
static const char finding[] = "finding contexts", checking[] = "checking contexts";

static int no_memory(lg_error *err)
{
    return lg__fail(err, LG_ERROR_MEMORY,
                    "no memory for the contexts; take a narrower window, fewer layers or a smaller "
                    "alphabet");
}

static int too_wide(lg_error *err)
{
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "a prediction sees over 512 tokens; take a narrower window, or fewer layers");
}

/* ---- What can be certified ---------------------------------------------------------------- */

static int check_positions(const struct lg__run *r, lg_error *err)
{
    const lg_model_config *m = &r->model_config;
    const lg_plan *p = &r->plan;
    int e = lg__window_check(r, err);
    if (e) return e;
    if (!p->ids.labels || (p->flags & LG__IDS_GAPS))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "the IDs are %s, and only coupled ones put a column's tokens together; "
                        "train with positions.ids coupled",
                        p->ids.name);
    for (int l = 0; l < m->levels; l++) {
        lg_id_head_info head = lg_id_head_info_at(p->head[l]);
        if (!head.name || head.steps) continue;
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "the IDs are predicted by the head %s, which looks beyond the window, and "
            "whose scores no finite check bounds; train with positions.source delta or, "
            "where an ID is found by a key, match",
            head.name);
    }
    return 0;
}

/* Labels rise or fall by one per column, in the order of generation. */
static int find_field(struct lg__contexts *c, lg_error *err)
{
    int32_t input[3] = {0, 0, 0};
    int e = c->columns.write(c->task, input, 3, &c->x, err), step = 0;
    if (e) return e;
    for (int t = c->x.answer + 1; t < c->x.n && !step; t++)
        step = c->x.labels[0][t] - c->x.labels[0][t - 1];
    int depth = c->model.layers * c->model.loops;
    int lo = depth * c->model.window_lo[0], hi = depth * c->model.window_hi[0];
    c->back = step > 0 ? -lo : hi;
    c->ahead = step > 0 ? hi : -lo;
    return 0;
}

/* ---- Shortest ways ----------------------------------------------------------------------------- */

static int32_t *append(const int32_t *way, int n, int32_t input)
{
    int32_t *longer = lg__alloc(((size_t)n + 1) * sizeof *longer);
    if (longer && n) memcpy(longer, way, (size_t)n * sizeof *longer);
    if (longer) longer[n] = input;
    return longer;
}

/* Breadth first from the start: the first way to a state is the shortest. */
static int find_ways_to(struct lg__contexts *c, lg_error *err)
{
    int states = c->columns.states, first = 0, last = 0;
    int *queue = lg__alloc((size_t)states * sizeof *queue);
    if (!queue || !(c->to[c->columns.start] = append(NULL, 0, 0))) {
        free(queue);
        return no_memory(err);
    }
    queue[last++] = c->columns.start;
    while (first < last) {
        int from = queue[first++], n = c->to_count[from];
        for (int i = 0; i < c->columns.inputs; i++) {
            int to = c->columns.next(c->task, from, i);
            if (to < 0 || c->to[to]) continue;
            if (!(c->to[to] = append(c->to[from], n, i))) {
                free(queue);
                return no_memory(err);
            }
            c->to_count[to] = n + 1;
            queue[last++] = to;
        }
    }
    free(queue);
    return 0;
}

/* From every state to an end: nothing where a text may end, else one column more than the best
 * next state needs. */
static int find_ways_on(struct lg__contexts *c, lg_error *err)
{
    for (int s = 0; s < c->columns.states; s++)
        if (c->to[s] && c->columns.ends(c->task, s) && !(c->on[s] = append(NULL, 0, 0)))
            return no_memory(err);
    for (int n = 0, found = 1; found; n++) {
        found = 0;
        for (int s = 0; s < c->columns.states; s++)
            for (int i = 0; i < c->columns.inputs && c->to[s] && !c->on[s]; i++) {
                int to = c->columns.next(c->task, s, i);
                if (to < 0 || !c->on[to] || c->on_count[to] != n) continue;
                int32_t *way = lg__alloc(((size_t)n + 1) * sizeof *way);
                if (!way) return no_memory(err);
                way[0] = i;
                memcpy(way + 1, c->on[to], (size_t)n * sizeof *way);
                c->on[s] = way;
                c->on_count[s] = n + 1;
                found = 1;
            }
        for (int s = 0; s < c->columns.states && !found; s++)
            found = c->on[s] && c->on_count[s] > n;
    }
    return 0;
}

/* ---- Opening ------------------------------------------------------------------------------- */

int lg__contexts_open(struct lg__contexts *c, const struct lg__run *r, lg_error *err)
{
    *c = (struct lg__contexts){.task = r->task, .plan = &r->plan, .model = r->model_config};
    lg_example_init(&c->x);
    lg_batch_init(&c->text);
    /* Of texts no positions would help. */
    int e = lg__text_tokenizer(r->task) ? 0 : check_positions(r, err);
    if (!e) e = lg__task_columns(r->task, &c->columns, err);
    if (!e) e = find_field(c, err);
    if (e) return e;
    size_t states = (size_t)c->columns.states;
    c->to = lg__alloc(states * sizeof *c->to);
    c->on = lg__alloc(states * sizeof *c->on);
    c->to_count = lg__alloc(states * sizeof *c->to_count);
    c->on_count = lg__alloc(states * sizeof *c->on_count);
    if (!c->to || !c->on || !c->to_count || !c->on_count) return no_memory(err);
    if ((e = find_ways_to(c, err)) || (e = find_ways_on(c, err))) return e;
    double reachable = 0, strings = 0, power = 1;
    for (size_t s = 0; s < states; s++) reachable += c->to[s] != NULL;
    for (int k = 0; k <= c->back + c->ahead; k++) strings += power *= c->columns.inputs;
    c->expected = reachable * strings;
    return 0;
}

void lg__contexts_clear(struct lg__contexts *c)
{
    for (int s = 0; s < c->columns.states; s++) {
        if (c->to) free(c->to[s]);
        if (c->on) free(c->on[s]);
    }
    free(c->to);
    free(c->on);
    free(c->to_count);
    free(c->on_count);
    lg__block_free(&c->inputs);
    lg__block_free(&c->list);
    lg__block_free(&c->keys);
    lg__block_free(&c->slots);
    lg__block_free(&c->string);
    lg_example_clear(&c->x);
    lg_batch_clear(&c->text);
    *c = (struct lg__contexts){0};
}

/* ---- Inputs ------------------------------------------------------------------------------------ */

/* The columns of an input into c->string; their number, 0 if no text goes on like this, negative:
 * err. */
static int spell(struct lg__contexts *c, const struct lg__input *in, lg_error *err)
{
    int n = c->to_count[in->state], state = in->state;
    int64_t which = in->which;
    size_t most = (size_t)n + (size_t)in->free + (size_t)c->columns.states + 1;
    int e = lg__block_grow(&c->string, most * sizeof(int32_t), 0, "an input", err);
    if (e) return e;
    int32_t *string = c->string.data;
    memcpy(string, c->to[in->state], (size_t)n * sizeof *string);
    for (int i = 0; i < in->free; i++, which /= c->columns.inputs) {
        string[n++] = (int32_t)(which % c->columns.inputs);
        state = c->columns.next(c->task, state, string[n - 1]);
        if (state < 0) return 0;
    }
    if (!c->on[state]) return 0;
    memcpy(string + n, c->on[state], (size_t)c->on_count[state] * sizeof *string);
    return n + c->on_count[state];
}

/* Writes the input and makes the batch of its text, as it is evaluated. */
static int write_text(struct lg__contexts *c, int n, lg_error *err)
{
    lg_batch_reset(&c->text);
    int e = c->columns.write(c->task, c->string.data, n, &c->x, err);
    return e ? e : lg_plan_add(c->plan, &c->x, NULL, &c->text, err);
}

static int add_input(struct lg__contexts *c, const struct lg__input *in, lg_error *err)
{
    size_t size = ((size_t)c->input_count + 1) * sizeof *in;
    int e = size > c->inputs.size
                ? lg__block_grow(&c->inputs, 2 * size, c->input_count > 0, "inputs", err)
                : 0;
    if (!e) ((struct lg__input *)c->inputs.data)[c->input_count++] = *in;
    return e;
}

/* ---- The set ------------------------------------------------------------------------------------ */

static struct lg__context *at(const struct lg__contexts *c, int i)
{
    return (struct lg__context *)c->list.data + i;
}

/* A context as bytes: for each token its number and, at each level, its ID less that of the
 * position. Returns their number; key has room for the whole text. */
static size_t make_key(const struct lg__contexts *c, int row, int32_t *key)
{
    const lg_batch *b = &c->text;
    int depth = c->model.layers * c->model.loops;
    int32_t lo = depth * c->model.window_lo[0], hi = depth * c->model.window_hi[0];
    size_t n = 0;
    for (int t = 0; t <= row; t++) {
        int32_t apart = b->ids[0][t] - b->ids[0][row];
        if (apart < lo || apart > hi) continue;
        key[n++] = b->tokens[t];
        key[n++] = apart;
        for (int l = 1; l < b->levels; l++)
            key[n++] = b->ids[l][t] == LG_ABSENT     ? LG_ABSENT
                       : b->ids[l][row] == LG_ABSENT ? b->ids[l][t]
                                                     : b->ids[l][t] - b->ids[l][row];
    }
    return n * sizeof *key;
}

static uint64_t hash(const void *data, size_t size)
{
    uint64_t h = lg__fnv(LG__FNV_START, data, size);
    return h ^ h >> 29;
}

/* The slot of a key: that of the context which has it, or an empty one. */
static int32_t *find_slot(struct lg__contexts *c, const void *key, size_t size)
{
    int32_t *slots = c->slots.data;
    uint64_t mask = ((uint64_t)1 << c->slot_bits) - 1;
    for (uint64_t h = hash(key, size) & mask;; h = (h + 1) & mask) {
        if (!slots[h]) return &slots[h];
        const struct lg__context *x = at(c, slots[h] - 1);
        if (x->size == size && memcmp((char *)c->keys.data + x->at, key, size) == 0)
            return &slots[h];
    }
}

/* At most half of the slots are taken. */
static int grow_slots(struct lg__contexts *c, lg_error *err)
{
    if (c->slots.data && 2 * (int64_t)c->count < (int64_t)1 << c->slot_bits) return 0;
    c->slot_bits = c->slots.data ? c->slot_bits + 1 : 16;
    size_t size = sizeof(int32_t) << c->slot_bits;
    int e = lg__block_grow(&c->slots, size, 0, "contexts", err);
    if (e) return e;
    memset(c->slots.data, 0, size);
    for (int i = 0; i < c->count; i++)
        *find_slot(c, (char *)c->keys.data + at(c, i)->at, at(c, i)->size) = i + 1;
    return 0;
}

static int keep(struct lg__contexts *c, const struct lg__context *x, const void *key, int32_t *slot,
                lg_error *err)
{
    size_t list = ((size_t)c->count + 1) * sizeof *x, keys = c->key_bytes + x->size;
    int e = 0;
    if (keys > UINT32_MAX) return no_memory(err);
    if (list > c->list.size) e = lg__block_grow(&c->list, 2 * list, c->count > 0, "contexts", err);
    if (!e && keys > c->keys.size)
        e = lg__block_grow(&c->keys, 2 * keys, c->count > 0, "contexts", err);
    if (e) return e;
    memcpy((char *)c->keys.data + c->key_bytes, key, x->size);
    *at(c, c->count) = *x;
    at(c, c->count)->at = (uint32_t)c->key_bytes;
    c->key_bytes = keys;
    *slot = ++c->count;
    return 0;
}

static void describe(const struct lg__contexts *c, char *text, size_t size)
{
    size_t n = lg_example_text(c->task, &c->x, text, size);
    if (n >= size) snprintf(text + size - 4, 4, "..");
}

/* The same context with another answer: the window does not show what decides it. */
static int refuse_pair(struct lg__contexts *c, int first, int row, lg_error *err)
{
    char other[150], text[150];
    int place = 0;
    describe(c, text, sizeof text);
    int e = lg__contexts_text(c, first, &place, err);
    if (e) return e;
    describe(c, other, sizeof other);
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "what the window shows does not decide the answer: \"%s\" after token %d and "
                    "\"%s\" after token %d look the same; take a wider window, more layers or, of "
                    "a machine, emit=state",
                    other, place + 1, text, row + 1);
}

static int add_context(struct lg__contexts *c, int row, const int32_t *key, size_t size,
                       lg_error *err)
{
    const lg_batch *b = &c->text;
    struct lg__context x = {.size = (uint16_t)size, .answer = b->targets[row], .row = row};
    int last = x.answer == lg_task_get_shape(c->task)->stop; /* whose ID nobody reads */
    x.input = c->input_count - 1;
    for (int l = 0; l < LG_LEVELS; l++)
        x.class[l] = l < b->levels && !last ? b->id_targets[l][row] : LG_NONE;
    if (size > UINT16_MAX) return too_wide(err);
    int e = grow_slots(c, err);
    if (e) return e;
    int32_t *slot = find_slot(c, key, size);
    if (!*slot) return keep(c, &x, key, slot, err);
    const struct lg__context *known = at(c, *slot - 1);
    if (known->answer == x.answer && memcmp(known->class, x.class, sizeof x.class) == 0) return 0;
    return refuse_pair(c, *slot - 1, row, err);
}

/* Every position of the text that predicts. */
static int add_text(struct lg__contexts *c, lg_error *err)
{
    int e = 0;
    int32_t *key = lg__alloc((size_t)c->text.rows * (1 + LG_LEVELS) * sizeof *key);
    if (!key) return no_memory(err);
    for (int row = 0; row < c->text.rows && !e; row++)
        if (c->text.targets[row] >= 0) e = add_context(c, row, key, make_key(c, row, key), err);
    free(key);
    return e;
}

static void tell(const struct lg__contexts *c, const char *phase, int64_t done, int64_t all)
{
    if (c->progress) c->progress(c->context, phase, done, all);
}

/* Inputs of n columns in all, with so many free ones behind the shortest way to a state. */
static int fill_from(struct lg__contexts *c, int state, int columns, int n, lg_error *err)
{
    int64_t strings = 1;
    int e = 0;
    for (int i = 0; i < columns; i++) strings *= c->columns.inputs;
    for (int64_t which = 0; which < strings && !e; which++) {
        struct lg__input in = {.state = state, .free = columns, .which = which};
        int all = spell(c, &in, err);
        if (all < 0) return all;
        if (all != n) continue;
        e = add_input(c, &in, err);
        if (!e) e = write_text(c, n, err);
        if (!e) e = add_text(c, err);
        if (c->input_count % TELL == 0) tell(c, finding, c->input_count, (int64_t)c->expected);
    }
    return e;
}

/* In the order of their lengths, the way on to an end included, so that a context is first met in
 * one of the shortest. */
int lg__contexts_fill(struct lg__contexts *c, lg_error *err)
{
    int field = c->back + 1 + c->ahead, to = 0, on = 0, e = 0;
    for (int s = 0; s < c->columns.states; s++) {
        if (c->to_count[s] > to) to = c->to_count[s];
        if (c->on_count[s] > on) on = c->on_count[s];
    }
    for (int n = 1; n <= to + field + on && !e; n++)
        for (int s = 0; s < c->columns.states && !e; s++)
            for (int columns = 1; c->to[s] && columns <= field && !e; columns++) {
                int rest = n - c->to_count[s] - columns;
                if (rest >= 0 && rest <= on) e = fill_from(c, s, columns, n, err);
            }
    if (!e) tell(c, finding, (int64_t)c->expected, (int64_t)c->expected);
    return e;
}

/* ---- Using them --------------------------------------------------------------------------------- */

int lg__contexts_add(const struct lg__contexts *c, int i, lg_batch *b, lg_error *err)
{
    enum { MOST = 512 };
    const struct lg__context *x = at(c, i);
    const int32_t *key = (const int32_t *)(const void *)((const char *)c->keys.data + x->at);
    int levels = c->model.levels, width = 1 + levels, n = (int)(x->size / sizeof *key) / width;
    int32_t token[MOST], target[MOST], id[LG_LEVELS][MOST], class[LG_LEVELS][MOST];
    lg_sequence s = {.n = n, .levels = levels, .tokens = token, .targets = target};
    if (n > MOST) return too_wide(err);
    /* IDs are not below 0: all are moved up by as much as one can be below. */
    for (int l = 0; l < levels; l++) {
        int32_t least = 0;
        for (int t = 0; t < n; t++) {
            int32_t apart = key[t * width + 1 + l];
            if (apart != LG_ABSENT && apart < least) least = apart;
        }
        for (int t = 0; t < n; t++) {
            int32_t apart = key[t * width + 1 + l];
            id[l][t] = apart == LG_ABSENT ? LG_ABSENT : apart - least;
            class[l][t] = t == n - 1 ? x->class[l] : LG_NONE;
        }
        s.ids[l] = id[l];
        s.id_targets[l] = class[l];
    }
    for (int t = 0; t < n; t++) {
        token[t] = key[t * width];
        target[t] = t == n - 1 ? x->answer : LG_NONE;
    }
    return lg_batch_add_levels(b, &s, err);
}

int lg__contexts_columns(struct lg__contexts *c, int i, lg_error *err)
{
    return spell(c, (struct lg__input *)c->inputs.data + at(c, i)->input, err);
}

uint64_t lg__contexts_sum(const struct lg__contexts *c) { return hash(c->keys.data, c->key_bytes); }

int lg__contexts_text(struct lg__contexts *c, int i, int *row, lg_error *err)
{
    const struct lg__context *x = at(c, i);
    int n = spell(c, (struct lg__input *)c->inputs.data + x->input, err);
    *row = x->row;
    return n < 0 ? n : write_text(c, n, err);
}

int lg__contexts_write(struct lg__contexts *c, int n, int64_t which, lg_error *err)
{
    struct lg__input in = {.state = c->columns.start, .free = n, .which = which};
    int all = spell(c, &in, err);
    if (all < 0) return all;
    if (all != n) return 0; /* it may not end here */
    int e = write_text(c, n, err);
    return e ? e : 1;
}

int lg__contexts_meet(struct lg__contexts *c, const unsigned char *flag, lg_error *err)
{
    int met = 0;
    int32_t *key = lg__alloc((size_t)c->text.rows * (1 + LG_LEVELS) * sizeof *key);
    if (!key) return no_memory(err);
    for (int row = 0; row < c->text.rows && !met; row++) {
        if (c->text.targets[row] < 0) continue;
        int32_t slot = *find_slot(c, key, make_key(c, row, key));
        met = slot && flag[slot - 1];
    }
    free(key);
    return met;
}

/* ---- What a model makes of them ---------------------------------------------------------------- */

enum { ROWS = 1 << 15 }; /* of a batch */

/* The lead of the right one over the best other; negative if that is ahead, 0 on a tie, NaN if one of
 * them is. */
static double margin(const float *logits, int n, int right)
{
    double best = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (isnan(logits[i])) return NAN;
        if (i != right && logits[i] > best) best = logits[i];
    }
    return (double)logits[right] - best;
}

static void judge(const struct lg__contexts *c, const lg_batch *b, const lg_eval_result *r, int i,
                  int context, struct lg__verdict *v)
{
    const lg_model_config *m = &c->model;
    int row = r->row[i];
    double least = margin(r->logits + (size_t)i * (size_t)m->vocab, m->vocab, b->targets[row]);
    for (int l = 0; l < m->levels; l++) {
        int class = b->id_targets[l][row], n = m->id_classes[l];
        if (class < 0 || !r->id_logits[l]) continue;
        double lead = margin(r->id_logits[l] + (size_t)i * (size_t)n, n, class);
        if (isnan(lead) || lead < least) least = lead;
        if (isnan(least)) break;
    }
    if (least > 0) {
        v->margin = fmin(v->margin, least);
        return;
    }
    if (v->listed < v->most) v->list[v->listed++] = context;
    v->wrong++;
}

int lg__contexts_judge(const struct lg__contexts *c, lg_evaluator *evaluator, lg_batch *b,
                       struct lg__verdict *v, lg_error *err)
{
    lg_eval_result r;
    int e = 0;
    v->wrong = v->listed = 0;
    v->margin = INFINITY;
    for (int done = 0; done < c->count && !e;) {
        int first = done;
        lg_batch_reset(b);
        for (; done < c->count && b->rows < ROWS && !e; done++)
            e = lg__contexts_add(c, done, b, err);
        if (!e) e = lg_evaluator_run(evaluator, b, &r, err);
        for (int i = 0; !e && i < r.rows; i++) judge(c, b, &r, i, first + i, v);
        if (!e) tell(c, checking, done, c->count);
    }
    return e;
}

int lg__contexts_check(const struct lg__contexts *c, double most, lg_error *err)
{
    if (most <= 0) most = 5e7;
    if (c->expected <= most) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "a position sees %d columns of %d inputs each, which makes %.3g inputs to try, "
                    "over the most of %.3g; take a narrower window or fewer layers, or allow more "
                    "(certify --max-contexts)",
                    c->back + 1 + c->ahead, c->columns.inputs, c->expected, most);
}

int lg__contexts_make(struct lg__contexts *c, const struct lg__run *r, double most,
                      lg_certify_progress *progress, void *context, lg_error *err)
{
    int e = lg__contexts_open(c, r, err);
    c->progress = progress;
    c->context = context;
    if (!e) e = lg__contexts_check(c, most, err);
    return e ? e : lg__contexts_fill(c, err);
}
