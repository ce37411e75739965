/* relation.c: the inputs that show every context of retrieval, variable assignment and the sparse walk. */
#include "certify/relation.h"

#include <string.h>

#include "base/error.h"

static int setting(const lg_task *t, const char *name)
{
    const lg_setting *s = t->row->info.settings;
    for (int i = 0; s[i].name; i++)
        if (strcmp(s[i].name, name) == 0) return (int)t->value[i].i;
    return 0;
}

static int no_scratchpad(lg_error *err)
{
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "with scratchpad=no the answer is predicted before its entry is found; take "
                    "scratchpad=yes");
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Retrieval: one entry; an extra one comes behind it, with another value. ------------------------- */

static int write_retrieval(const struct lg_task *t, const struct lg__relation *r, int64_t i,
                           int64_t extra, int shift, lg_example *x, lg_error *err)
{
    int64_t value = ((r->apart ? i : i / r->keys) + shift) % r->values;
    int64_t keys[] = {i % r->keys, extra}, values[] = {value, (value + 1) % r->values};
    return lg__retrieval_write(t, keys, values, 1 + (extra >= 0), x, err);
}

static int open_retrieval(struct lg__relation *r, const lg_task *t, lg_error *err)
{
    if (setting(t, "scratchpad")) return no_scratchpad(err);
    r->words = setting(t, "key_tokens");
    r->base = setting(t, "keys");
    r->keys = lg__distinct_count(r->base, r->words);
    r->values = lg__distinct_count(setting(t, "values"), setting(t, "value_tokens"));
    r->write = write_retrieval;
    r->inputs = r->apart ? larger(r->keys, r->values) : r->keys * r->values;
    return 0;
}

/* ---- Assignment ------------------------------------------------------------------------------------------ */

/* First one statement x := c, which asks for x; then x := y, y := c, which ask for x and on the way for y:
 * for each x or, where what is generated sees both sides, for each x, y and c. An extra statement has another
 * constant and comes last; if it is that of x, x comes behind y. */
static int write_assignment(const struct lg_task *t, const struct lg__relation *r, int64_t i,
                            int64_t extra, int shift, lg_example *x, lg_error *err)
{
    int64_t single = r->apart ? larger(r->keys, r->values) : r->keys * r->values;
    int64_t name[3] = {i % r->keys}, c = r->apart ? i : i / r->keys;
    int32_t right[3], order[3] = {0, 1, 2};
    int two = i >= single, n = 1 + two;
    if (two) {
        int64_t others = r->keys - 1;
        c = i -= single;
        name[0] = r->apart ? i : i / others;
        name[1] = r->apart ? (i + 1) % r->keys : i % others + (i % others >= name[0]);
    }
    c += shift;
    right[0] = two ? 1 : -1 - (int32_t)(c % r->values);
    right[1] = -1 - (int32_t)(c % r->values);
    if (extra >= 0 && extra != name[0] && (!two || extra != name[1])) {
        name[n] = extra;
        right[n++] = -1 - (int32_t)((c + 1) % r->values);
    }
    if (two && extra == name[0]) {
        order[0] = 1;
        order[1] = 0;
    }
    return lg__assignment_write(t, name, right, order, n, x, err);
}

static int open_assignment(struct lg__relation *r, const lg_task *t, lg_error *err)
{
    if (setting(t, "scratchpad")) return no_scratchpad(err);
    r->words = setting(t, "name_tokens");
    r->base = setting(t, "names");
    r->keys = lg__distinct_count(r->base, r->words);
    r->values = setting(t, "constants");
    r->write = write_assignment;
    r->inputs = r->apart ? larger(r->keys, r->values) + r->keys
                         : r->keys * r->values + r->keys * (r->keys - 1);
    return 0;
}

/* ---- The walk ---------------------------------------------------------------------------------------------- */

enum { MOST_BACK = 8 };

/* All inputs of 1 .. back + 3 pairs: a position sees `back` groups behind its own, whose running parities
 * follow from one group more, and one pair more may be passed by. */
static int write_walk(const struct lg_task *t, const struct lg__relation *r, int64_t i,
                      int64_t extra, int shift, lg_example *x, lg_error *err)
{
    unsigned char pair[MOST_BACK + 3];
    int n = 1, important = 0;
    (void)t, (void)r, (void)extra, (void)shift;
    for (int64_t strings = 4; i >= strings; strings *= 4, n++) i -= strings;
    for (int j = 0; j < n; j++, i /= 4) important += (pair[j] = (unsigned char)(i % 4)) >= 2;
    x->n = 0;
    return important ? lg__walk_write(pair, n, x, err) : 0;
}

static int open_walk(struct lg__relation *r, const lg_task *t, lg_error *err)
{
    if (setting(t, "walk"))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "with walk=dense no key is asked for; take source delta, or walk=sparse");
    if (r->back > MOST_BACK)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "a position sees %d groups behind its own, over the most of %d; take a "
                        "narrower window of level 2, or fewer layers",
                        r->back, MOST_BACK);
    r->all = 1;
    r->write = write_walk;
    r->inputs = 0;
    for (int64_t n = 1, strings = 4; n <= r->back + 3; n++, strings *= 4) r->inputs += strings;
    return 0;
}

int lg__relation_open(struct lg__relation *r, const lg_task *t, lg_error *err)
{
    static const struct {
        const char *task;
        int (*open)(struct lg__relation *r, const lg_task *t, lg_error *err);
    } rows[] = {{"retrieval", open_retrieval},
                {"variable-assignment", open_assignment},
                {"sparse-parity-scratchpad", open_walk}};
    const char *name = t->row->info.name;
    if (t->labeller)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "the labels of task %s come from a coupling's rule, so that its entries are "
            "not known; leave positions.coupling out",
            name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].task, name) == 0) return rows[i].open(r, t, err);
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "task %s does not say which key a query asks for; take retrieval, "
                    "variable-assignment or sparse-parity-scratchpad",
                    name);
}
