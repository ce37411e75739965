/* sum_symmetric.c: sums over subsets when A is a product over the members of S, and g a product of
 * signs: both are elementary symmetric polynomials. With polynomials in z cut off above z^k,
 *
 *     sum over the k-subsets of prod a_i  =  the coefficient of z^k in prod (1 + a_i z),
 *
 * and the same with a_i sign_i above. Nothing is ever divided out. */
#include "base/error.h"
#include "theory/scaled.h"
#include "theory/sum.h"

/* A place's weight, times 2^e, and the sign of its word. */
struct member {
    double m, sign;
    int64_t e;
};

static struct member member_at(const struct lg__sum *s, int at)
{
    struct member x = {.sign = s->sign[s->token[at]]};
    lg__split(s->score[at], &x.m, &x.e);
    return x;
}

/* to += from * x: one coefficient. */
static inline void add_times(struct lg__pair *to, const struct lg__pair *from, struct member x)
{
    lg__pair_add(to, from->den * x.m, from->num * x.m * x.sign, from->e + x.e);
}

/* p *= 1 + x z, up to z^degree. */
static void multiply(struct lg__pair *p, int degree, struct member x)
{
    if (x.m == 0) return;
    for (int j = degree; j > 0; j--) add_times(&p[j], &p[j - 1], x);
}

static void set_one(struct lg__pair *p, int degree)
{
    memset(p, 0, (size_t)(degree + 1) * sizeof *p);
    p[0] = (struct lg__pair){1, 1, 0};
}

/* to += the coefficient of z^degree in p q. */
static void add_product(struct lg__pair *to, const struct lg__pair *p, const struct lg__pair *q,
                        int degree)
{
    for (int j = 0; j <= degree; j++)
        lg__pair_add(to, p[j].den * q[degree - j].den, p[j].num * q[degree - j].num,
                     p[j].e + q[degree - j].e);
}

/* What a place adds to the gradients: `with` is the sum over the subsets that contain it, its own
 * weight and sign left out; both of *total are the whole sums. */
static void add_gradient(const struct lg__sum *s, const struct lg__sum_gradient *d, int at,
                         struct member x, const struct lg__pair *with, const struct lg__pair *total)
{
    if (with->den == 0 || x.m == 0) return;
    double f = d->out[0] * x.m / total->den * lg__pow2(with->e + x.e - total->e);
    double h = total->num / total->den;
    if (d->score) d->score[at] += f * (with->num * x.sign - h * with->den);
    if (d->sign) d->sign[s->token[at]] += f * with->num;
}

static void finish(const struct lg__pair *total, double *h, double *log_sum)
{
    h[0] = total->den > 0 ? total->num / total->den : 0;
    if (log_sum) *log_sum = lg__scaled_log(total->den, total->e);
}

/* ---- Anywhere ------------------------------------------------------------------------------- */

/* Forward keeps the product before each place; backward meets it with the product behind. */
static int anywhere(const struct lg__sum *s, struct lg__sum_work *w, double *h, double *log_sum,
                    const struct lg__sum_gradient *d, lg_error *err)
{
    int k = s->k, e;
    size_t row = (size_t)k + 1, rows = d ? (size_t)s->n + 2 : 2;
    if ((e = lg__block_grow(&w->block[0], rows * row * sizeof(struct lg__pair), 0,
                            "the polynomials of a text", err)))
        return e;
    struct lg__pair *before = w->block[0].data, *behind = before + (rows - 1) * row;
    set_one(before, k);
    for (int i = 0; i < s->n; i++) {
        struct lg__pair *p = before + (d ? (size_t)i * row : 0);
        if (d) memcpy(p + row, p, row * sizeof *p);
        multiply(p + (d ? row : 0), k, member_at(s, i));
    }
    struct lg__pair total = before[(d ? (size_t)s->n * row : 0) + (size_t)k];
    finish(&total, h, log_sum);
    if (!d || total.den == 0) return 0;
    set_one(behind, k);
    for (int i = s->n - 1; i >= 0; i--) {
        struct member x = member_at(s, i);
        struct lg__pair with = {0};
        add_product(&with, before + (size_t)i * row, behind, k - 1);
        add_gradient(s, d, i, x, &with, &total);
        multiply(behind, k, x);
    }
    return 0;
}

/* ---- Within a span -------------------------------------------------------------------------- */

/* The window behind a first member i is the span - 1 places after it. In blocks of as many places
 * it is the end of one block and the beginning of the next: the two stacks of a queue, laid out
 * where the places are. Two blocks are at hand at a time. */
struct window {
    const struct lg__sum *s;
    int size, degree, row; /* places of a block; k - 1; k */
    struct lg__pair *end;  /* [size + 1][row]: product of the places from here to the block's end */
    struct lg__pair *begin;   /* [size + 1][row]: of so many first places of the next block */
    struct lg__pair *end_d;   /* what the sum is multiplied with: its derivative by `end` */
    struct lg__pair *begin_d; /* and by `begin` */
};

static void fill_blocks(const struct window *v, int from)
{
    int n = v->s->n, row = v->row;
    set_one(v->end + v->size * row, v->degree);
    for (int r = v->size - 1; r >= 0; r--) {
        memcpy(v->end + r * row, v->end + (r + 1) * row, (size_t)row * sizeof *v->end);
        if (from + r < n) multiply(v->end + r * row, v->degree, member_at(v->s, from + r));
    }
    set_one(v->begin, v->degree);
    for (int r = 0; r < v->size; r++) {
        int at = from + v->size + r;
        memcpy(v->begin + (r + 1) * row, v->begin + r * row, (size_t)row * sizeof *v->begin);
        if (at < n) multiply(v->begin + (r + 1) * row, v->degree, member_at(v->s, at));
    }
}

/* to_j += from_(degree - j) * x for all j: the derivative of the z^degree of a product. */
static void add_reversed(struct lg__pair *to, const struct lg__pair *from, int degree,
                         struct member x)
{
    for (int j = 0; j <= degree; j++) add_times(&to[j], &from[degree - j], x);
}

/* to is the derivative by p (1 + x z), by p it is: to_j += from_j + from_(j+1) x. */
static void pass_back(struct lg__pair *to, const struct lg__pair *from, int degree, struct member x)
{
    for (int j = 0; j <= degree; j++) {
        lg__pair_add(&to[j], from[j].den, from[j].num, from[j].e);
        if (j < degree && x.m != 0) add_times(&to[j], &from[j + 1], x);
    }
}

/* The sum of derivative_(j+1) * product_j: of what multiplies a place's own weight. */
static struct lg__pair meet(const struct lg__pair *derivative, const struct lg__pair *product,
                            int degree)
{
    struct lg__pair with = {0};
    for (int j = 0; j < degree; j++)
        lg__pair_add(&with, derivative[j + 1].den * product[j].den,
                     derivative[j + 1].num * product[j].num, derivative[j + 1].e + product[j].e);
    return with;
}

/* The gradients of the places of both blocks, from the windows that begin in the first. */
static void block_gradients(const struct window *v, int from, const struct lg__pair *total,
                            const struct lg__sum_gradient *d)
{
    int row = v->row, degree = v->degree, n = v->s->n;
    size_t bytes = (size_t)((v->size + 1) * row) * sizeof *v->end_d;
    memset(v->end_d, 0, bytes);
    memset(v->begin_d, 0, bytes);
    for (int r = 0; r < v->size; r++) {
        int i = from + r - 1; /* the first member, before its window */
        if (i < 0 || i >= n) continue;
        struct member x = member_at(v->s, i);
        struct lg__pair with = {0};
        add_product(&with, v->end + r * row, v->begin + r * row, degree);
        add_gradient(v->s, d, i, x, &with, total);
        if (x.m == 0) continue;
        add_reversed(v->end_d + r * row, v->begin + r * row, degree, x);
        add_reversed(v->begin_d + r * row, v->end + r * row, degree, x);
    }
    for (int r = 0; r < v->size && from + r < n; r++) {
        struct member x = member_at(v->s, from + r);
        struct lg__pair with = meet(v->end_d + r * row, v->end + (r + 1) * row, degree);
        add_gradient(v->s, d, from + r, x, &with, total);
        pass_back(v->end_d + (r + 1) * row, v->end_d + r * row, degree, x);
    }
    for (int r = v->size - 1; r >= 0; r--) {
        int at = from + v->size + r;
        struct member x = at < n ? member_at(v->s, at) : (struct member){0};
        struct lg__pair with = meet(v->begin_d + (r + 1) * row, v->begin + r * row, degree);
        if (at < n) add_gradient(v->s, d, at, x, &with, total);
        pass_back(v->begin_d + r * row, v->begin_d + (r + 1) * row, degree, x);
    }
}

static int within(const struct lg__sum *s, struct lg__sum_work *w, double *h, double *log_sum,
                  const struct lg__sum_gradient *d, lg_error *err)
{
    struct window v = {
        .s = s, .size = s->span > 1 ? s->span - 1 : 1, .degree = s->k - 1, .row = s->k};
    struct lg__pair total = {0};
    if (v.size > s->n) v.size = s->n;
    size_t part = (size_t)(v.size + 1) * (size_t)v.row;
    int e = lg__block_grow(&w->block[0], 4 * part * sizeof(struct lg__pair), 0,
                           "the polynomials of a window", err);
    if (e) return e;
    v.end = w->block[0].data;
    v.begin = v.end + part;
    v.end_d = v.begin + part;
    v.begin_d = v.end_d + part;
    for (int from = 0; from <= s->n; from += v.size) {
        fill_blocks(&v, from);
        for (int r = 0; r < v.size; r++) {
            int i = from + r - 1;
            struct lg__pair window = {0};
            if (i < 0 || i >= s->n) continue;
            add_product(&window, v.end + r * v.row, v.begin + r * v.row, v.degree);
            struct member x = member_at(s, i);
            if (x.m != 0) add_times(&total, &window, x);
        }
    }
    finish(&total, h, log_sum);
    for (int from = 0; from <= s->n && d && total.den > 0; from += v.size) {
        fill_blocks(&v, from);
        block_gradients(&v, from, &total, d);
    }
    return 0;
}

int lg__sum_symmetric(const struct lg__sum *s, struct lg__sum_work *w, double *h, double *log_sum,
                      const struct lg__sum_gradient *gradient, lg_error *err)
{
    return (s->span ? within : anywhere)(s, w, h, log_sum, gradient, err);
}
