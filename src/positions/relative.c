/* relative.c: a learned bias for each ID difference, per layer and head: b_l(h, clip(D, lo, hi)),
 * D = key ID - query ID. Row h of the matrix has the levels' tables one after another, each from
 * window_lo to window_hi. */
#include "positions/positions.h"

static int table_size(const lg_model_config *c, int level)
{
    return c->window_hi[level] - c->window_lo[level] + 1;
}

static void shape(const lg_model_config *c, int *rows, int *cols)
{
    *rows = c->heads;
    *cols = 0;
    for (int l = 0; l < c->levels; l++) *cols += table_size(c, l);
}

/* Where the table of this head and level starts. */
static size_t table_start(const lg_model_config *c, int head, int level)
{
    int rows, cols;
    shape(c, &rows, &cols);
    size_t at = (size_t)head * (size_t)cols;
    for (int l = 0; l < level; l++) at += (size_t)table_size(c, l);
    return at;
}

/* Both ends are clipped here, whatever the span: an index outside the table cannot be made. */
static size_t entry(const lg_model_config *c, int level, int64_t d)
{
    if (d < c->window_lo[level]) d = c->window_lo[level];
    if (d > c->window_hi[level]) d = c->window_hi[level];
    return (size_t)(d - c->window_lo[level]);
}

LG__TABLE_BIAS(table_start, entry)

const struct lg__encoding lg__encoding_relative = {
    .name = "relative",
    .line = "a learned bias for each ID difference inside the window, per layer and head",
    .text = "score += b(h, clip(D, window_lo, window_hi)),   D = key ID - query ID\n"
            "b is a table of each layer and head, zeros at first. With span full, differences\n"
            "past the ends take the value of the end; with span window there are none.\n"
            "Levels: one table each, with its own window; their values are added. A level that\n"
            "either token lacks adds nothing.\n"
            "Needs: window_lo and window_hi of each level.",
    .flags = LG__ENCODING_RELATIVE | LG__ENCODING_CLIPS,
    .shape = shape,
    .bias = bias,
    .bias_backward = bias_backward,
};
