/* layout.c: pieces of the published formats' tensors (layouts.def), and a model from them. */
#include "formats/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/model.h"
#include "positions/positions.h"

/* Sizes are letters: V vocabulary, P positions, C width, 3 three widths, K key width, F
 * feed-forward width, 1 a vector. */
struct row {
    const char *name;  /* without its ".weight" or ".bias" */
    const char *param; /* ours, the same */
    char rows, cols;   /* of the file's tensor, before it is transposed */
    char bias;         /* a: with the attention's, f: with the feed-forward's, n: that of a norm */
    char at;           /* where it starts in ours: 0, or rows as above */
    enum lg__order order;
};

#include "formats/layouts.def"

static const struct row *const tables[] = {
    [LG__FORMAT_NEOX] = neox,
    [LG__FORMAT_LLAMA] = llama,
    [LG__FORMAT_GPT2] = gpt2,
    [LG__FORMAT_LLAMA2C] = llama2c,
};

static int size_of(const struct lg__layout *l, char letter)
{
    int C = l->c.width;
    switch (letter) {
    case 'V': return l->c.vocab;
    case 'P': return l->c.max_id + 1;
    case 'C': return C;
    case '2': return 2 * C;
    case '3': return 3 * C;
    case 'K': return C / l->c.heads * l->kv_heads;
    case 'F': return l->c.ff;
    case '1': return 1;
    default: return 0;
    }
}

static int has_bias(const struct lg__layout *l, const struct row *row)
{
    if (row->bias == 'a') return l->attention_biases;
    if (row->bias == 'f') return l->ff_biases;
    return row->bias == 'n' && l->c.norm == LG_NORM_LAYER;
}

static int is_there(const struct lg__layout *l, const struct row *row)
{
    if (strcmp(row->param, "head") == 0) return !l->c.tied;
    return row->bias != 'n' || l->c.norm != LG_NORM_PLAIN;
}

/* "a.%d.b" of a layer, with its ending. */
static void write_name(char out[LG__PIECE_NAME], const char *pattern, int layer, const char *ending)
{
    const char *place = strstr(pattern, "%d");
    if (place)
        snprintf(out, LG__PIECE_NAME, "%.*s%d%s%s", (int)(place - pattern), pattern, layer,
                 place + 2, ending);
    else
        snprintf(out, LG__PIECE_NAME, "%s%s", pattern, ending);
}

static void make_piece(struct lg__piece *p, const struct lg__layout *l, const struct row *row,
                       int layer, int bias)
{
    static const char prefix[] = "transformer.";
    const char *name = row->name, *ending = bias ? ".bias" : ".weight";
    if (l->bare && strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    write_name(p->name, name, layer, ending);
    write_name(p->param, row->param, layer, ending);
    p->row = size_of(l, row->at);
    p->rows = size_of(l, row->rows == 'K' ? 'C' : row->rows);
    p->stored_rows = size_of(l, row->rows);
    p->cols = bias ? 1 : size_of(l, row->cols);
    p->vector = bias || row->cols == '1';
    p->width = l->c.width / l->c.heads;
    p->heads = l->c.heads;
    p->order = p->vector && row->order == LG__TRANSPOSED ? LG__AS_IS : row->order;
}

struct lg__piece *lg__layout_pieces(const struct lg__layout *l, int *count)
{
    const struct row *table = tables[l->format];
    size_t most = 0;
    for (const struct row *row = table; row->name; row++)
        most += strstr(row->name, "%d") ? 2 * (size_t)l->c.layers : 2;
    struct lg__piece *all = lg__alloc(most * sizeof *all);
    *count = 0;
    for (const struct row *row = table; all && row->name; row++) {
        int layers = strstr(row->name, "%d") ? l->c.layers : 1;
        for (int n = 0; n < layers && is_there(l, row); n++)
            for (int bias = 0; bias <= has_bias(l, row); bias++)
                make_piece(&all[(*count)++], l, row, n, bias);
    }
    return all;
}

int lg__piece_row(const struct lg__piece *p, int r)
{
    int D = p->width, shared = p->rows / p->stored_rows;
    int head = r / D / shared, i = r % D;
    if (p->order == LG__FUSED) {
        int part = r / (D * p->heads);
        return ((r / D % p->heads) * 3 + part) * D + i;
    }
    if (p->order == LG__PAIRS)
        i = i < D / 2 ? 2 * i : 2 * (i - D / 2) + 1;
    else if (shared == 1)
        return r;
    return head * D + i;
}

int lg__piece_shape(const struct lg__piece *p, int64_t shape[LG__STORED_DIMS])
{
    int transposed = p->order == LG__TRANSPOSED;
    memset(shape, 0, LG__STORED_DIMS * sizeof *shape);
    shape[0] = transposed ? p->cols : p->stored_rows;
    if (!p->vector) shape[1] = transposed ? p->stored_rows : p->cols;
    return p->vector ? 1 : 2;
}

static int fill(const struct lg__piece *p, const struct lg__stored *t, float *to, const char *file,
                lg_error *err)
{
    size_t cols = (size_t)p->cols, rows = (size_t)p->rows;
    to += (size_t)p->row * cols;
    for (int r = 0; r < p->rows; r++, to += cols) {
        if (p->order == LG__TRANSPOSED)
            lg__stored_read(t, (size_t)r, rows, to, cols);
        else
            lg__stored_read(t, (size_t)lg__piece_row(p, r) * cols, 1, to, cols);
        for (size_t i = 0; i < cols; i++)
            if (!isfinite(to[i]))
                return lg__fail(err, LG_ERROR_NUMERIC,
                                "%s: tensor %s holds %g, which is no number; take another copy of "
                                "these weights",
                                file, p->name, (double)to[i]);
    }
    return 0;
}

lg_model *lg__layout_load(const struct lg__layout *l, const struct lg__piece *pieces,
                          const struct lg__stored *const *stored, int count, const char *file,
                          lg_error *err)
{
    lg_error why = {0};
    lg_model *m = lg__model_new_zero(&l->c, lg__encodings, &why);
    if (!m) lg__fail(err, why.code, "%s: %s", file, why.text);
    int e = 0;
    for (int i = 0; m && i < count && !e; i++) {
        lg_param p = lg_model_param(m, lg_model_param_find(m, pieces[i].param));
        e = fill(&pieces[i], stored[i], p.data, file, err);
    }
    if (m && !e) lg_model_touch(m);
    if (m && e) {
        lg_model_free(m);
        m = NULL;
    }
    return m;
}
