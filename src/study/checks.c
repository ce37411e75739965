/* checks.c: what must hold of an experiment's cells: one mean above or below another, or a value,
 * no rise where accuracy should fall, and how many runs are certified. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "study/study.h"

static const double ROUNDING = 1e-9; /* 0.9 - 0.6 is a little less than 0.3 */

double lg__tau_b(const double *x, const double *y, int n)
{
    double score = 0, in_x = 0, in_y = 0; /* pairs that differ in x, in y */
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            int a = (x[i] > x[j]) - (x[i] < x[j]), b = (y[i] > y[j]) - (y[i] < y[j]);
            score += a * b;
            in_x += a != 0;
            in_y += b != 0;
        }
    return in_x > 0 && in_y > 0 ? score / sqrt(in_x * in_y) : 0;
}

struct looking {
    const struct lg__study *s;
    const struct lg__joined *cells;
    int count;
    lg_buffer *numbers;
    int holds;
    double value;
};

/* ---- Means and ends -------------------------------------------------------------------------- */

struct mean {
    int cells;
    double mean;        /* of the medians */
    double least, most; /* of all seeds */
};

static struct mean mean_of(const struct looking *k, lg__where where)
{
    struct mean m = {.least = INFINITY, .most = -INFINITY};
    for (int i = 0; i < k->count; i++) {
        if (!lg__where_fits(k->s, where, &k->cells[i])) continue;
        m.cells++;
        m.mean += k->cells[i].j.median;
        m.least = fmin(m.least, k->cells[i].j.min);
        m.most = fmax(m.most, k->cells[i].j.max);
    }
    if (m.cells) m.mean /= m.cells;
    if (isnan(m.mean)) m.least = m.most = NAN; /* holds nothing */
    return m;
}

static const char *plural(int n) { return n == 1 ? "" : "s"; }

/* Also of less: then the difference is to be as far below 0. */
static void check_more(struct looking *k, const struct lg__experiment_check *c)
{
    struct mean a = mean_of(k, c->cells), b = mean_of(k, c->other);
    k->value = a.mean - b.mean;
    double more = c->kind == LG__CHECK_LESS ? -k->value : k->value;
    k->holds = more >= c->by - ROUNDING && (c->has_by || more > 0);
    if (!a.cells || !b.cells) k->holds = -1;
    if (k->holds < 0)
        lg_buffer_print(k->numbers, "no cells%s", a.cells ? " to compare with" : "");
    else
        lg_buffer_print(k->numbers, "%.3f (%d cell%s) - %.3f (%d cell%s) = %.3f", a.mean, a.cells,
                        plural(a.cells), b.mean, b.cells, plural(b.cells), k->value);
}

/* Also of most. Of every cell and seed: a mean would hide the one that fails. */
static void check_least(struct looking *k, const struct lg__experiment_check *c)
{
    struct mean a = mean_of(k, c->cells);
    int most = c->kind == LG__CHECK_MOST;
    k->value = a.cells ? (most ? a.most : a.least) : 0;
    k->holds = !a.cells ? -1 : most ? a.most <= c->by + ROUNDING : a.least >= c->by - ROUNDING;
    if (a.cells)
        lg_buffer_print(k->numbers,
                        "%.3f at %s in %d cell%s, each seed counted; mean of their medians %.3f",
                        k->value, most ? "most" : "least", a.cells, plural(a.cells), a.mean);
    else
        lg_buffer_put(k->numbers, "no cells");
}

static void check_certified(struct looking *k, const struct lg__experiment_check *c)
{
    int certified, all;
    lg__certificates_count(k->s, c->cells, &certified, &all);
    k->value = all ? (double)certified / all : 0;
    k->holds = !all ? -1 : k->value >= c->by - ROUNDING;
    if (all)
        lg_buffer_print(k->numbers, "%d of %d run%s", certified, all, plural(all));
    else
        lg_buffer_put(k->numbers, "no runs");
}

/* ---- Monotone ------------------------------------------------------------------------------ */

/* Whether two cells differ in nothing but what the accuracy should fall with. */
static int same_series(const struct looking *k, const struct lg__joined *a,
                       const struct lg__joined *b, int by_length)
{
    const struct lg__sweep_item *runs = k->s->plan.runs;
    const lg_cell *p = a->j.at, *q = b->j.at;
    return runs[a->run].group == runs[b->run].group && a->j.kind == b->j.kind &&
           p->predicted == q->predicted &&
           (by_length ? p->sparsity == q->sparsity : p->length == q->length);
}

static int at(const struct lg__joined *c, int by_length)
{
    return by_length ? c->j.at->length : c->j.at->sparsity;
}

/* Two cells in which the later one is better, beyond both 95% intervals. */
static int find_rise(const struct lg__joined *const *in, int n, int by_length, int *i, int *j)
{
    for (*i = 0; *i < n; ++*i)
        for (*j = 0; *j < n; ++*j)
            if (at(in[*i], by_length) < at(in[*j], by_length) && in[*i]->j.high < in[*j]->j.low)
                return 1;
    return 0;
}

static void name_series(const struct looking *k, const struct lg__joined *c, int by_length)
{
    const struct lg__sweep_item *run = &k->s->plan.runs[c->run];
    lg_buffer_print(k->numbers, "%s%s", run->variant, *run->variant ? ", " : "");
    if (by_length && c->j.at->sparsity)
        lg_buffer_print(k->numbers, "sparsity %d, ", c->j.at->sparsity);
    else if (!by_length)
        lg_buffer_print(k->numbers, "length %d, ", c->j.at->length);
    lg_buffer_print(k->numbers, "IDs %s: ", c->j.at->predicted ? "predicted" : "given");
}

/* The cells in[n] of one series; those at chance are named and left out. */
static void check_series(struct looking *k, const struct lg__experiment_check *c,
                         const struct lg__joined **in, int n, double *room)
{
    const char *what = c->by_length ? "length" : "sparsity";
    int kept = 0, left = 0, i, j;
    if (k->numbers->size) lg_buffer_put(k->numbers, "; ");
    name_series(k, in[0], c->by_length);
    double *x = room, *y = room + n;
    for (i = 0; i < n; i++) {
        if (c->has_chance && in[i]->j.low <= c->chance && c->chance <= in[i]->j.high) {
            lg_buffer_print(k->numbers, "%s%d", left++ ? ", " : "at chance ",
                            at(in[i], c->by_length));
            continue;
        }
        x[kept] = at(in[i], c->by_length);
        y[kept] = in[i]->j.pooled;
        in[kept++] = in[i];
    }
    if (left) lg_buffer_put(k->numbers, "; ");
    if (kept < 2) {
        lg_buffer_put(k->numbers, "fewer than two cells to compare");
        return;
    }
    k->value = lg__tau_b(x, y, kept);
    lg_buffer_print(k->numbers, "tau-b %.3f over %d cells", k->value, kept);
    if (k->holds < 0) k->holds = 1;
    if (!find_rise(in, kept, c->by_length, &i, &j)) return;
    k->holds = 0;
    lg_buffer_print(k->numbers, ", but %s %d has %.3f [%.3f, %.3f] and %d has %.3f [%.3f, %.3f]",
                    what, at(in[i], c->by_length), y[i], in[i]->j.low, in[i]->j.high,
                    at(in[j], c->by_length), y[j], in[j]->j.low, in[j]->j.high);
}

static int check_monotone(struct looking *k, const struct lg__experiment_check *c, lg_error *err)
{
    size_t room = (size_t)k->count;
    const struct lg__joined **in = lg__alloc((room + 1) * sizeof *in);
    double *numbers = lg__alloc(2 * (room + 1) * sizeof *numbers);
    char *taken = lg__alloc(room + 1);
    k->holds = -1;
    int e = in && numbers && taken
                ? 0
                : lg__fail(err, LG_ERROR_MEMORY, "no memory for a check; end other programs");
    for (int i = 0; i < k->count && !e; i++) {
        int n = 0;
        if (taken[i] || !lg__where_fits(k->s, c->cells, &k->cells[i])) continue;
        for (int j = i; j < k->count; j++)
            if (!taken[j] && lg__where_fits(k->s, c->cells, &k->cells[j]) &&
                same_series(k, &k->cells[i], &k->cells[j], c->by_length)) {
                taken[j] = 1;
                in[n++] = &k->cells[j];
            }
        check_series(k, c, in, n, numbers);
    }
    if (!e && !k->numbers->size) lg_buffer_put(k->numbers, "no cells");
    free(in);
    free(numbers);
    free(taken);
    return e;
}

/* ---- Every check --------------------------------------------------------------------------- */

static void put_yaml(lg_buffer *to, const struct lg__yaml *n)
{
    if (n->kind == LG__YAML_SCALAR) {
        const char *quote = n->text[strcspn(n->text, ",:{}[]")] ? "\"" : "";
        lg_buffer_print(to, "%s%s%s", quote, n->text, quote);
        return;
    }
    lg_buffer_put(to, n->kind == LG__YAML_MAP ? "{" : "[");
    for (const struct lg__yaml *v = n->first; v; v = v->next) {
        if (v->key) lg_buffer_print(to, "%s: ", v->key);
        put_yaml(to, v);
        if (v->next) lg_buffer_put(to, ", ");
    }
    lg_buffer_put(to, n->kind == LG__YAML_MAP ? "}" : "]");
}

static void put_check(lg_buffer *to, const struct lg__experiment_check *c)
{
    static const char *const words[] = {"more ",    "less ",        "at least ",
                                        "at most ", "monotone in ", "certified "};
    int value = c->kind == LG__CHECK_LEAST || c->kind == LG__CHECK_MOST;
    lg_buffer_put(to, words[c->kind]);
    if (c->kind == LG__CHECK_MONOTONE) lg_buffer_put(to, c->by_length ? "length" : "sparsity");
    if (c->kind == LG__CHECK_MONOTONE && c->cells) lg_buffer_put(to, " where ");
    if (value || c->kind == LG__CHECK_CERTIFIED)
        lg_buffer_print(to, "%g %s ", c->by, value ? "in" : "of");
    if (c->cells) put_yaml(to, c->cells);
    if (c->other) {
        lg_buffer_put(to, " than ");
        put_yaml(to, c->other);
        if (c->has_by) lg_buffer_print(to, " by %g", c->by);
    }
    if (c->has_chance) lg_buffer_print(to, ", chance %g", c->chance);
}

static int one_check(struct looking *k, int index, lg_reproduce_result *r, lg_error *err)
{
    const struct lg__experiment_check *c = &k->s->x.checks[index];
    lg_buffer b[2] = {{0}};
    int e = 0;
    k->numbers = &b[1];
    k->value = 0;
    put_check(&b[0], c);
    if (c->kind == LG__CHECK_MORE || c->kind == LG__CHECK_LESS)
        check_more(k, c);
    else if (c->kind == LG__CHECK_LEAST || c->kind == LG__CHECK_MOST)
        check_least(k, c);
    else if (c->kind == LG__CHECK_CERTIFIED)
        check_certified(k, c);
    else
        e = check_monotone(k, c, err);
    char *text = lg_buffer_take(&b[0], NULL), *numbers = lg_buffer_take(&b[1], NULL);
    if (!text || !numbers) e = LG_ERROR_MEMORY;
    if (!e) {
        lg_check told = {index, k->s->x.check_count, text, numbers, k->holds, k->value};
        r->held += k->holds == 1;
        r->broken += k->holds == 0;
        r->empty += k->holds < 0;
        if (k->s->o->check) k->s->o->check(k->s->o->context, &told);
    } else {
        lg__fail(err, LG_ERROR_MEMORY, "no memory for a check; end other programs");
    }
    free(text);
    free(numbers);
    return e;
}

int lg__study_check(const struct lg__study *s, const struct lg__joins *cells,
                    lg_reproduce_result *r, lg_error *err)
{
    struct looking k = {.s = s, .cells = cells->at, .count = cells->count};
    int e = 0;
    for (int i = 0; i < s->x.check_count && !e; i++) e = one_check(&k, i, r, err);
    return e;
}
