/* planted.c: a few tokens that matter among many that do not: the planted ensembles of theory,
 * written as a table: where the tokens stand, which they are, what lies between, and the label. */
#include "base/error.h"
#include "base/memory.h"
#include "tasks/ensemble.h"

static int open_planted(struct lg_task *t, lg_error *err)
{
    struct lg__ensemble *p = t->own = lg__alloc(sizeof *p);
    if (!p) return lg__fail(err, LG_ERROR_MEMORY, "no memory for a table; end other programs");
    struct lg__ensemble_change change = {.k = (int)t->value[1].i};
    int e = lg__ensemble_read(p, t, t->value[0].text, change, err);
    t->shape.length_least = p->least;
    t->shape.sparsity_least = t->shape.sparsity_most = p->k;
    t->default_sparsity_lo = t->default_sparsity_hi = p->k;
    t->shape.levels = t->shape.needed = 1;
    t->shape.level[0] = "member";
    if (p->where == LG__COLUMNS) t->shape.level[0] = "column";
    return e;
}

static void close_planted(struct lg_task *t)
{
    if (t->own) lg__ensemble_clear(t->own);
}

static int make_planted(const struct lg_task *t, lg_rng *r, int length, int sparsity, lg_example *x,
                        lg_error *err)
{
    const struct lg__ensemble *p = t->own;
    int e = lg__example_room(x, length + 1, err), place[LG__MOST_K], columns;
    (void)sparsity;
    if (e) return e;
    columns = p->where == LG__COLUMNS;
    lg__ensemble_places(p, r, length, place);
    for (int i = 0; i < length; i++)
        lg__put(x, 0, columns ? lg__ensemble_column(p, length, i) : 0, LG_ABSENT, LG_ABSENT);
    int tuple = lg__ensemble_fill(p, r, length, place, x->tokens);
    for (int j = 0; j < p->k && !columns; j++) x->labels[0][place[j]] = j + 1;
    lg__put_answer(x, p->label[tuple], columns ? 0 : p->k + 1, LG_ABSENT, LG_ABSENT);
    return 0;
}

static const lg_setting planted_settings[] = {
    {"table", "TEXT", "pair", "a ready table, pair or lookup, or a YAML file's path"},
    {"k", "0..64", "0", "in place of the table's k, where the label is a rule; 0: its own"},
    {0},
};

const struct lg__task_row lg__task_planted = {
    .info =
        {.name = "planted",
         .family = "paper",
         .line = "a label that depends on k planted tokens among many others; tables of your own",
         .text =
             "  x1 .. xl y\n"
             "\n"
             "l tokens, of which k are planted: their places, their words and the words of the\n"
             "background are random, each as the table says. y is the label of the planted words\n"
             "in order of place, predicted at xl; there is no stop token.\n"
             "Coupling, one level: the background has label 0, the j-th planted token j, y k+1;\n"
             "where positions is columns, the tokens of column c have c, what is left and y 0.\n"
             "\n"
             "A table is a YAML file:\n"
             "\n"
             "  name: my-ensemble       # optional\n"
             "  k: 2                    # planted tokens, 1 to 64\n"
             "  positions: uniform      # a uniformly random k-subset of the places (the default)\n"
             "  planted: {A: 1, B: 1}   # weights; each planted word is drawn by them, on its own\n"
             "  background: {a: 1, b: 1, c: 2}    # weights; each other token is drawn by them\n"
             "  label: {A A: same, A B: other, B A: other, B B: same}\n"
             "\n"
             "positions may also be\n"
             "  {span: 8}      the first planted token stands uniformly at 1..l-7, the others on "
             "a\n"
             "                 uniformly random subset of the 7 places behind it; where l < 8:\n"
             "                 uniform. span is at least k.\n"
             "  {patterns: [{offsets: [0, 3], weight: 2}, {offsets: [0, 1]}]}\n"
             "                 a pattern is drawn by its weight (1 if it has none) and put where "
             "it\n"
             "                 fits, uniformly. offsets are k rising numbers from 0 on. Lengths\n"
             "                 start where every pattern fits.\n"
             "  columns        the text is k rows of l/k columns, one row behind the other; the\n"
             "                 planted tokens are one of the columns, uniformly. So their "
             "distance\n"
             "                 grows with l. What is left behind the rows is background.\n"
             "  together       the planted tokens stand side by side: a span of k\n"
             "planted may also be\n"
             "  {first: {P: 1}, rest: {a: 1}}    the first planted word has weights of its own: "
             "it\n"
             "                               can mark where S is while the rest are background "
             "words.\n"
             "  {joint: {A A: 3, A B: 1}}    weights of whole tuples; others do not occur.\n"
             "label names a word for each tuple of planted words; each that planted can give must\n"
             "be there (at most 1,000,000). Or it is a rule on the numbers 0, 1, .. that the "
             "words\n"
             "of planted (or of first, and of rest) have in the order of the file:\n"
             "  label: parity      `even` or `odd`, as their sum is\n"
             "  label: majority    the word that stands there most often; of equals, the first\n"
             "  label: count       y0, y1, ..: their sum\n"
             "  label: lookup      y0, y1, ..: each tuple's own, read as a number, first digit "
             "first\n"
             "With `probabilities: yes` the weights of planted, of background and of patterns "
             "must\n"
             "each sum to 1. Weights are numbers from 1e-9 to 1e9. A word has no\n"
             "spaces and may be in planted, background and label at the same time. The vocabulary\n"
             "is the words of background, of planted and of label, in the order of the file.\n"
             "\n"
             "Ready tables. pair: k 2, uniform, planted A to D, background a to h, label `same`\n"
             "for two equal words and else `other`. lookup: k 3, uniform, planted P0 and P1,\n"
             "background a to h; the three words read as bits, the first the highest, are a\n"
             "number i of 0..7, and the label is yi. All weights are 1.\n",
         .unit = "tokens",
         .sparsity = "planted tokens",
         .settings = planted_settings},
    .open = open_planted,
    .close = close_planted,
    .make = make_planted,
};
