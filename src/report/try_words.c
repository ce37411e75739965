/* try_words.c: what a try found, in sentences: how sparse the dependencies are, and what to use. */
#include "report/try_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/stats.h"

static const double NECESSARY = 0.8; /* share of the predictions */

/* "200 bits (10x)", "length 60 (5x)", "length 23-26 (5x)" where several were tested together. */
static void name_length(const lg_try_result *r, int c, char *text, size_t size)
{
    const lg_try_column *x = &r->column[c];
    char high[16] = "";
    if (x->low < x->high) snprintf(high, sizeof high, "-%d", x->high);
    if (r->own)
        snprintf(text, size, "length %d%s (%.2gx)", x->low, high, x->times);
    else
        snprintf(text, size, "%d%s %s (%.2gx)", x->low, high, r->unit, x->times);
}

static const lg_try_scheme *best_of(const lg_try_result *r)
{
    return r->best < 0 ? NULL : &r->scheme[r->best];
}

/* "give more time (--minutes 8), or shorter examples (--length 5). " */
static void write_more(lg_buffer *to, const lg_try_result *r, double minutes)
{
    lg_buffer_print(to, "give more time (--minutes %.6g)", lg__round_up(fmin(minutes, 100000)));
    if (r->shorter) lg_buffer_print(to, ", or shorter examples (--length %d)", r->shorter);
    lg_buffer_put(to, ". ");
}

/* ---- Sparsity -------------------------------------------------------------------------------- */

/* Half as many again, and not by one alone, which may be chance. */
static int grows(const lg_try_result *r)
{
    int more = r->probe[1].k_median - r->probe[0].k_median;
    return r->probed == 2 && more >= 2 && 2 * more >= r->probe[0].k_median;
}

static void write_too_few(lg_buffer *to)
{
    lg_buffer_print(to,
                    ", but these are too few to conclude from: %d are needed at each length looked "
                    "at. `lengthen probe` takes as many "
                    "as it is asked for of a run that --out keeps (--documents).",
                    LG_PROBE_ENOUGH);
}

static void write_sparsity(lg_buffer *to, const lg_try_result *r)
{
    const lg_try_scheme *best = best_of(r);
    const lg_probe_result *p = r->probed ? &r->probe[r->probed - 1] : NULL;
    const char *these = p && p->necessary < NECESSARY
                            ? "these are necessary or repeated by others, which say the same"
                            : "these are necessary";
    if (!p) {
        lg_buffer_print(to, "How sparse the dependencies are cannot be told: %s.",
                        best ? "there was no time to look" : "no model learned the task");
        return;
    }
    if (!p->dependent) {
        lg_buffer_print(
            to,
            "In the model with %s none of %d predictions depends on an earlier token beside "
            "the current one",
            best->name, p->predictions);
        if (r->conclusive)
            lg_buffer_put(to, ".");
        else
            write_too_few(to);
        return;
    }
    lg_buffer_print(
        to,
        "For a prediction %d of %d earlier tokens beside the current one suffice (median of "
        "%d; 9 in 10 need at most %d), as the model with %s sees it",
        p->k_median, p->tokens_median, p->dependent, p->k_90, best->name);
    if (!r->conclusive)
        write_too_few(to);
    else if (p->necessary + p->stands < NECESSARY)
        lg_buffer_print(to,
                        "; but in %.0f%% of them others can stand in for these: many tokens decide "
                        "together, so the dependencies are not sparse.",
                        100 * (1 - p->necessary));
    else if (r->probed < 2)
        lg_buffer_print(to, ", and %s.", these);
    else if (grows(r))
        lg_buffer_print(to,
                        "; the number grows with the length: at half of it %d of %d suffice. Such "
                        "dependencies are not sparse.",
                        r->probe[0].k_median, r->probe[0].tokens_median);
    else
        lg_buffer_print(to,
                        ", and %s; the number does not grow with the length (%d of %d at "
                        "half of it): the dependencies are sparse.",
                        these, r->probe[0].k_median, r->probe[0].tokens_median);
}

/* ---- Advice ---------------------------------------------------------------------------------- */

/* The scheme that knows its lines by heart and answers most others, or NULL. */
static const lg_try_scheme *best_by_heart(const lg_try_result *r)
{
    const lg_try_scheme *best = NULL;
    for (int i = 0; i < r->schemes * r->seeds; i++) {
        const lg_try_scheme *s = &r->scheme[i];
        if (s->verdict == LG_TRY_BY_HEART && (!best || s->cell[0].share >= best->cell[0].share))
            best = s;
    }
    return best;
}

/* Those with too few steps, and what they need. */
static void write_few(lg_buffer *to, const lg_try_options *o, const lg_try_result *r)
{
    int few = 0, compared = 0;
    double times = 4; /* so much more time at least */
    for (int i = 0; i < r->schemes; i++) {
        lg_try_scheme s;
        lg_try_summary(r, i, &s);
        compared += !s.refused[0] && s.verdict != LG_TRY_FEW;
        if (s.verdict != LG_TRY_FEW) continue;
        lg_buffer_print(to, "%s%s", few++ ? ", " : "", s.name);
        if (s.steps) times = fmax(times, 1.5 * LG_TRY_STEPS / (double)s.steps);
    }
    if (!few) return;
    lg_buffer_print(to, " made fewer than %d steps, too few to say anything%s", LG_TRY_STEPS,
                    compared ? " of these positions" : "");
    if (r->interrupted) {
        lg_buffer_put(to, ". ");
        return;
    }
    lg_buffer_put(to, ": ");
    write_more(to, r, times * o->minutes);
}

/* Nothing learned: why, and what to do. */
static void write_failure(lg_buffer *to, const lg_try_options *o, const lg_try_result *r)
{
    const lg_try_scheme *top = NULL;
    int refused = 0, few = 0, runs = r->schemes * r->seeds;
    for (int i = 0; i < runs; i++) {
        const lg_try_scheme *s = &r->scheme[i];
        few += s->verdict == LG_TRY_FEW;
        if (s->verdict == LG_TRY_FEW) continue;
        if (s->tested && (!top || s->cell[0].share > top->cell[0].share)) top = s;
        refused += s->refused[0] != 0;
    }
    if (!top && few) return; /* their own sentence says it */
    if (!top) {
        lg_buffer_put(to, refused == runs ? "Every scheme was left out, for the reasons above. "
                                          : "Nothing was tested: give it more time (--minutes). ");
    } else if (!best_by_heart(r)) {
        lg_buffer_print(
            to,
            "Nothing learned the task at its training length in %.3g minutes (the best, %s, "
            "has %.3g%% exact): ",
            o->minutes, top->name, 100 * top->cell[0].share);
        write_more(to, r, 4 * o->minutes);
    }
    if (top && r->own && r->everything)
        lg_buffer_put(
            to, "Every token but the first counts as answer; mark with \"loss\" those that can be "
                "known. ");
}

/* What plain RoPE does at the column, beside the best. */
static void write_contrast(lg_buffer *to, const lg_try_result *r, const lg_try_scheme *best,
                           int column)
{
    lg_try_scheme plain;
    int i = 0;
    while (i < r->schemes && strcmp(r->scheme[i].name, "plain RoPE") != 0) i++;
    if (i == r->schemes || strcmp(best->name, "plain RoPE") == 0) return;
    lg_try_summary(r, i, &plain);
    if (plain.refused[0] || !plain.tested || plain.verdict == LG_TRY_FEW) return;
    if (plain.verdict != LG_TRY_LEARNED)
        lg_buffer_print(to, "; %s did not learn the task in the time", plain.name);
    else if (plain.tested > column && plain.cell[column].share < best->cell[column].share)
        lg_buffer_print(to, ", where %s has %.3g%%", plain.name, 100 * plain.cell[column].share);
}

/* One that has not quite learned, but goes further at the column already. */
static void write_hope(lg_buffer *to, const lg_try_options *o, const lg_try_result *r,
                       const lg_try_scheme *best, int column)
{
    lg_try_scheme top = *best, s;
    for (int i = 0; i < r->schemes; i++) {
        lg_try_summary(r, i, &s);
        if (s.verdict == LG_TRY_NOT_LEARNED && s.tested > column &&
            s.cell[column].share > top.cell[column].share)
            top = s;
    }
    if (strcmp(top.name, best->name) != 0)
        lg_buffer_print(
            to,
            "%s, not quite learned in the time (%.3g%%), has %.3g%% there: give it more "
            "(--minutes %.3g). ",
            top.name, 100 * top.cell[0].share, 100 * top.cell[column].share,
            fmin(4 * o->minutes, 100000));
}

/* Words that training hardly shows are no matter of positions. */
static void write_rare(lg_buffer *to, const lg_try_result *r)
{
    const lg_try_cell *c = &r->unusual;
    if (!r->rare) return;
    lg_buffer_print(to, "%d of the %d test lines have words that training hardly shows: %s. ",
                    r->rare, r->held + r->longer, r->rare_words);
    if (r->rare_tested)
        lg_buffer_put(to, "What fails on them may be the words and not the positions");
    else if (c->samples)
        lg_buffer_print(to, "The table is of the others; of these %s answers %.3g%% of %d",
                        r->scheme[r->best].name, 100 * c->share, c->samples);
    else
        lg_buffer_put(to, "The table is of the others");
    lg_buffer_put(to, ". Add training lines that have them. ");
}

/* Which run, and what proves it. */
static void write_certificate(lg_buffer *to, const lg_try_options *o, const lg_try_result *r,
                              const lg_try_scheme *best)
{
    if (!r->certifiable) return;
    lg_buffer_print(
        to, "%s can be certified, which says whether it is right at every length: ", best->name);
    if (o->folder)
        lg_buffer_print(to, "lengthen certify %s. ", r->best_folder);
    else
        lg_buffer_put(to, "train the config below, then lengthen certify RUN. ");
}

static void write_success(lg_buffer *to, const lg_try_options *o, const lg_try_result *r,
                          const lg_try_scheme *best, int learned)
{
    int last = best->tested - 1;
    char length[96];
    double far = best->cell[last].share;
    name_length(r, last, length, sizeof length);
    if (last == 0) {
        lg_buffer_print(to, "%s learned the task; longer examples were not tested yet. ",
                        best->name);
        return;
    }
    if (r->carries)
        lg_buffer_print(to, "Use %s%s: %.3g%% exact at %s", best->name,
                        best->ids == LG_TRY_PREDICTED ? ", the IDs predicted by the model itself"
                        : best->ids == LG_TRY_GIVEN   ? ", the IDs given by your rule"
                                                      : "",
                        100 * far, length);
    else
        lg_buffer_print(
            to,
            "None of the positions that learned the task carries it so far: the best, %s, has "
            "%.3g%% exact at %s",
            best->name, 100 * far, length);
    if (r->seeds > 1)
        lg_buffer_print(to, " (median of %d seeds, of which %d learned; %.3g to %.3g%%)", r->seeds,
                        learned, 100 * best->cell[last].low, 100 * best->cell[last].high);
    write_contrast(to, r, best, last);
    lg_buffer_put(to, ". ");
    write_hope(to, o, r, best, last);
    if (far < 0.9 && r->further)
        lg_buffer_print(to, "To go further, train on longer examples (--length %d). ", r->further);
    write_certificate(to, o, r, best);
}

static void write_advice(lg_buffer *to, const lg_try_options *o, const lg_try_result *r)
{
    lg_try_scheme best;
    int learned = r->best < 0 ? 0 : lg_try_summary(r, r->best % r->schemes, &best);
    if (r->interrupted) lg_buffer_put(to, "Stopped before the end; so far: ");
    if (r->best >= 0)
        write_success(to, o, r, &best, learned);
    else
        write_failure(to, o, r);
    write_few(to, o, r);
    const lg_try_scheme *heart = best_by_heart(r);
    if (heart)
        lg_buffer_print(
            to,
            "%s knows the %d lines that it was trained on by heart, but answers only %.3g%% of "
            "the %d held-out ones: add more lines. ",
            heart->name, r->trained, 100 * heart->cell[0].share, heart->cell[0].samples);
    write_rare(to, r);
    if (r->own && !r->levels && !r->coupled)
        lg_buffer_put(
            to,
            "Your data has no ids; position coupling, which often goes furthest, needs them: see "
            "`lengthen tasks jsonl`. ");
    if (r->best >= 0 && r->seeds == 1)
        lg_buffer_put(to, "The test lengths were used to choose this, with one seed: more should "
                          "confirm it (--seeds 3).");
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Without the blank between sentences at the end. */
static char *take(lg_buffer *b, lg_error *err)
{
    size_t size = b->size;
    char *text = lg_buffer_take(b, err);
    while (text && size && text[size - 1] == ' ') text[--size] = 0;
    return text;
}

int lg__try_words(const lg_try_options *o, lg_try_result *r, lg_error *err)
{
    lg_buffer advice = {0}, sparsity = {0};
    write_advice(&advice, o, r);
    write_sparsity(&sparsity, r);
    r->advice = take(&advice, err);
    r->sparsity = take(&sparsity, err);
    return r->advice && r->sparsity ? 0 : LG_ERROR_MEMORY;
}
