/* ranks.c: gradients, losses and weights between ranks. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

enum { PIECE = 1 << 17 }; /* floats of one message: while one is added the next is on its way */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* The part of a segment that a rank has after `bits` rounds. */
static void part_of(const struct lg__segment *s, int rank, int bits, size_t *lo, size_t *hi)
{
    *lo = s->from;
    *hi = s->to;
    for (int b = 0; b < bits; b++) {
        size_t middle = *lo + (*hi - *lo) / 2;
        if (rank >> b & 1)
            *lo = middle;
        else
            *hi = middle;
    }
}

static int bits_of(const struct lg__ranks *r)
{
    int bits = 0;
    while (1 << bits < lg_comm_size(r->comm)) bits++;
    return bits;
}

static void make_parts(struct lg__ranks *r)
{
    for (int i = 0; i < r->segments; i++)
        part_of(&r->segment[i], lg_comm_rank(r->comm), bits_of(r), &r->segment[i].lo,
                &r->segment[i].hi);
}

/* The most chunks that any rank has. */
static size_t most_chunks(const struct lg__ranks *r)
{
    size_t most = 0;
    for (int i = 0; i < lg_comm_size(r->comm); i++) {
        size_t sum = 0, lo, hi;
        for (int j = 0; j < r->segments; j++) {
            part_of(&r->segment[j], i, bits_of(r), &lo, &hi);
            sum += hi - lo;
        }
        if (sum > most) most = sum;
    }
    return most;
}

/* A rank's record: what is of fixed size, the losses of its groups, the squares of its chunks. */
struct head {
    uint64_t batch;
    int asks;
};
struct of_group {
    struct lg__losses losses;
    int used;
};

int lg__ranks_open(struct lg__ranks *r, lg_comm *c, int groups, size_t size, lg_error *err)
{
    int ranks = lg_comm_size(c);
    *r = (struct lg__ranks){.comm = ranks > 1 ? c : NULL,
                            .groups = groups,
                            .all_groups = groups,
                            .size = size,
                            .chunks = (size + LG__CHUNK - 1) / LG__CHUNK,
                            .segments = 1};
    r->segment[0] = (struct lg__segment){.to = r->chunks, .hi = r->chunks};
    if (!r->comm) return 0;
    if (ranks & (ranks - 1) || ranks > groups) {
        int fit = 1;
        while (2 * fit <= ranks && 2 * fit <= groups) fit *= 2;
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "groups",
                            "%d ranks cannot share %d groups: ranks must be a power of two, and at "
                            "most {groups}; start %d, or raise {groups}, which gives other bits",
                            ranks, groups, fit);
    }
    r->groups = groups / ranks;
    r->first = lg_comm_rank(c) * r->groups;
    make_parts(r);
    r->record = sizeof(struct head) + (size_t)r->groups * sizeof(struct of_group) +
                most_chunks(r) * sizeof(double);
    r->in = lg__alloc(2 * PIECE * sizeof *r->in);
    if (!r->in) return lg__fail(err, LG_ERROR_MEMORY, "no memory for messages between ranks");
    return lg__block_grow(&r->records, (size_t)ranks * r->record, 0, "records of ranks", err);
}

void lg__ranks_close(struct lg__ranks *r)
{
    free(r->in);
    lg__block_free(&r->records);
}

int lg__ranks_has(const struct lg__ranks *r, size_t chunk)
{
    for (int i = 0; i < r->segments; i++)
        if (chunk >= r->segment[i].lo && chunk < r->segment[i].hi) return 1;
    return 0;
}

/* The first float of a chunk. */
static size_t start_of(const struct lg__ranks *r, size_t chunk)
{
    return smaller(chunk * LG__CHUNK, r->size);
}

/* Sends out[0..n) and adds, or writes, what comes to in[0..m). */
struct swap {
    int with;
    const float *out;
    float *in;
    size_t n, m;
    const struct lg__kernels *add; /* NULL: what comes is written */
};

static int begin_piece(struct lg__ranks *r, const struct swap *s, size_t p, int requests[2],
                       lg_error *err)
{
    size_t at = p * PIECE;
    int e = 0;
    requests[0] = requests[1] = -1;
    if (at < s->m)
        e = lg__comm_receive_begin(r->comm, s->add ? r->in + (p % 2) * PIECE : s->in + at,
                                   smaller(PIECE, s->m - at) * sizeof(float), s->with,
                                   LG__TAG_GRADIENT, &requests[0], err);
    if (!e && at < s->n)
        e = lg__comm_send_begin(r->comm, s->out + at, smaller(PIECE, s->n - at) * sizeof(float),
                                s->with, LG__TAG_GRADIENT, &requests[1], err);
    return e;
}

static int end_piece(struct lg__ranks *r, const struct swap *s, size_t p, const int requests[2],
                     lg_error *err)
{
    size_t at = p * PIECE;
    int e = 0;
    if (requests[0] >= 0) e = lg__comm_wait(r->comm, requests[0], s->with, err);
    if (!e && requests[0] >= 0 && s->add)
        s->add->add(s->in + at, r->in + (p % 2) * PIECE, smaller(PIECE, s->m - at));
    if (!e && requests[1] >= 0) e = lg__comm_wait(r->comm, requests[1], s->with, err);
    return e;
}

static int run_swap(struct lg__ranks *r, const struct swap *s, lg_error *err)
{
    size_t most = s->n > s->m ? s->n : s->m, pieces = (most + PIECE - 1) / PIECE;
    int requests[2][2], e = pieces ? begin_piece(r, s, 0, requests[0], err) : 0;
    for (size_t p = 0; p < pieces && !e; p++) {
        if (p + 1 < pieces) e = begin_piece(r, s, p + 1, requests[(p + 1) % 2], err);
        if (!e) e = end_piece(r, s, p, requests[p % 2], err);
    }
    return e;
}

int lg__ranks_swap(struct lg__ranks *r, int with, const float *out, float *in, size_t n,
                   const struct lg__kernels *add, lg_error *err)
{
    struct swap s = {.with = with, .out = out, .in = in, .n = n, .m = n, .add = add};
    return run_swap(r, &s, err);
}

int lg__ranks_sum(struct lg__ranks *r, int segment, const struct lg__kernels *k, float *grad,
                  lg_error *err)
{
    int rank = lg_comm_rank(r->comm), e = 0;
    double since = lg__now();
    for (int b = 0; r->comm && b < bits_of(r) && !e; b++) {
        size_t lo, hi, to_lo, to_hi;
        part_of(&r->segment[segment], rank, b + 1, &lo, &hi);
        part_of(&r->segment[segment], rank ^ 1 << b, b + 1, &to_lo, &to_hi);
        size_t a = start_of(r, lo), z = start_of(r, to_lo);
        struct swap s = {.with = rank ^ 1 << b,
                         .out = grad + z,
                         .in = grad + a,
                         .n = start_of(r, to_hi) - z,
                         .m = start_of(r, hi) - a,
                         .add = k};
        e = run_swap(r, &s, err);
    }
    r->seconds += lg__now() - since;
    return e;
}

int lg__ranks_join(struct lg__ranks *r, float *x, lg_error *err)
{
    int rank = lg_comm_rank(r->comm), e = 0;
    double since = lg__now();
    for (int i = 0; r->comm && i < r->segments; i++)
        for (int b = bits_of(r) - 1; b >= 0 && !e; b--) {
            size_t lo, hi, from_lo, from_hi;
            part_of(&r->segment[i], rank, b + 1, &lo, &hi);
            part_of(&r->segment[i], rank ^ 1 << b, b + 1, &from_lo, &from_hi);
            size_t a = start_of(r, lo), z = start_of(r, from_lo);
            struct swap s = {.with = rank ^ 1 << b,
                             .out = x + a,
                             .in = x + z,
                             .n = start_of(r, hi) - a,
                             .m = start_of(r, from_hi) - z};
            e = run_swap(r, &s, err);
        }
    r->seconds += lg__now() - since;
    return e;
}

static char *record_of(const struct lg__ranks *r, int rank)
{
    return (char *)r->records.data + (size_t)rank * r->record;
}

static void write_record(const struct lg__ranks *r, const struct lg__ranks_word *w)
{
    char *to = record_of(r, lg_comm_rank(r->comm));
    struct head h = {.batch = w->batch, .asks = r->asks};
    memset(to, 0, r->record);
    memcpy(to, &h, sizeof h);
    to += sizeof h;
    for (int g = r->first; g < r->first + r->groups; g++, to += sizeof(struct of_group)) {
        struct of_group group = {.losses = w->losses[g], .used = w->used[g]};
        memcpy(to, &group, sizeof group);
    }
    for (int i = 0; i < r->segments; i++) {
        const struct lg__segment *s = &r->segment[i];
        memcpy(to, w->squares + s->lo, (s->hi - s->lo) * sizeof(double));
        to += (s->hi - s->lo) * sizeof(double);
    }
}

static void read_record(struct lg__ranks *r, int rank, struct lg__ranks_word *w)
{
    const char *from = record_of(r, rank);
    struct head h;
    memcpy(&h, from, sizeof h);
    from += sizeof h;
    r->asked |= h.asks;
    for (int g = rank * r->groups; g < (rank + 1) * r->groups; g++) {
        struct of_group group;
        memcpy(&group, from, sizeof group);
        from += sizeof group;
        w->losses[g] = group.losses;
        w->used[g] = (unsigned char)group.used;
    }
    for (int i = 0; i < r->segments; i++) {
        size_t lo, hi;
        part_of(&r->segment[i], rank, bits_of(r), &lo, &hi);
        memcpy(w->squares + lo, from, (hi - lo) * sizeof(double));
        from += (hi - lo) * sizeof(double);
    }
}

int lg__ranks_tell(struct lg__ranks *r, struct lg__ranks_word *w, lg_error *err)
{
    if (!r->comm) return 0;
    double since = lg__now();
    write_record(r, w);
    int e = lg__comm_gather(r->comm, r->records.data, r->record, err);
    r->seconds += lg__now() - since;
    r->asked = 0;
    for (int i = 0; i < lg_comm_size(r->comm) && !e; i++) {
        uint64_t batch;
        memcpy(&batch, record_of(r, i) + offsetof(struct head, batch), sizeof batch);
        if (batch != w->batch) {
            lg__comm_is_common(r->comm);
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s has other examples than %s; give every rank the same data files",
                            lg__comm_name(r->comm, i),
                            lg__comm_name(r->comm, lg_comm_rank(r->comm)));
        }
        read_record(r, i, w);
    }
    return e;
}
