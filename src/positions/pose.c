/* pose.c: PoSE: a short text in chunks, which are shifted so that it shows the distances of a long
 * one. */
#include "base/error.h"
#include "positions/ids.h"

static int check(const lg_plan *p, lg_error *err)
{
    const lg_scheme *s = &p->scheme;
    if (s->chunks < 2)
        return lg__fail_key(err, LG_ERROR_ARGUMENT, "chunks",
                            "{chunks} is %d; PoSE needs 2 or more (with one chunk take ids %s)",
                            s->chunks, p->over ? p->row->name : lg__ids_plain.name);
    if (s->target < 1)
        return lg__fail_key(
            err, LG_ERROR_ARGUMENT, "target",
            "{target} is %d; PoSE needs the length in IDs to be ready for: set it to the "
            "longest test length in tokens",
            s->target);
    return 0;
}

/* map[v] = base + v + the shift of v's chunk, for v in 0..n-1; the last shift is at most `most`. */
static void shift_chunks(int32_t *map, int n, int32_t base, const lg_scheme *s, int most, lg_rng *r)
{
    int cuts = (s->chunks < n ? s->chunks : n) - 1;
    int shift = s->random_start ? (int)lg_rng_below(r, (uint32_t)most + 1) : 0;
    /* Two chunks: the first is never longer than half, unless it may be. */
    int first = cuts == 1 && !s->cut_anywhere ? 1 + (int)lg_rng_below(r, (uint32_t)(n - n / 2)) : 0;
    for (int v = 0; v < n; v++) {
        /* More: each place still to come is as likely to be one of the cuts still to make. */
        int cut = first ? v == first : v && cuts && (int)lg_rng_below(r, (uint32_t)(n - v)) < cuts;
        if (cut) {
            shift += (int)lg_rng_below(r, (uint32_t)(most - shift) + 1);
            cuts--;
        }
        map[v] = base + v + shift;
    }
}

static int ids(const lg_plan *p, const lg_example *x, lg_rng *r, int32_t *const out[LG_LEVELS],
               lg_error *err)
{
    int target = p->scheme.target;
    if (!r) return lg__ids_plain.ids(p, x, r, out, err);
    if (x->n > target) return lg__ids_too_long(p, x->n, "target", target, x->n, err);
    shift_chunks(out[0], x->n, 0, &p->scheme, target - x->n, r);
    return 0;
}

static int over_fits(const lg_plan *p, int level, const struct lg__range *g, lg_error *err)
{
    int64_t least = (int64_t)g->most + 2;
    if (g->most <= p->scheme.target - 2) return 0;
    return lg__ids_no_room(p, level, "target", p->scheme.target, least, least, err);
}

static int over_map(const lg_plan *p, const struct lg__range *g, int32_t *map, lg_rng *r,
                    lg_error *err)
{
    (void)err;
    shift_chunks(map, g->most - g->least + 1, g->least + 1, &p->scheme,
                 p->scheme.target - 2 - g->most, r);
    return 0;
}

static const char text[] =
    "Training: the n tokens are cut into `chunks` pieces; a token of piece i gets ID t + u_i.\n"
    "The shifts begin with u_0 = 0 and do not fall; the largest is target - n, so that IDs are\n"
    "strictly increasing, contiguous inside a piece and below target: a short text shows the\n"
    "distances of a long one.\n"
    "  2 chunks: the first has a length uniform in 1 .. floor((n+1)/2); u_1 is uniform in\n"
    "    0 .. target - n (as the code that was published with PoSE does).\n"
    "  more: the cuts are a uniformly random set of places; u_i is uniform in\n"
    "    u_(i-1) .. target - n (as its paper writes). Fewer tokens than chunks: one token each.\n"
    "  cut_anywhere: 2 chunks as more of them, the first of any length.\n"
    "  random_start: u_0 is uniform in 0 .. target - n, too.\n"
    "Evaluation: plain.\n"
    "One level. Needs: chunks (2 or more) and target, at least the tokens of the longest\n"
    "training example. Refused with span window, since a gap cuts the text apart.";
static const char over_text[] =
    "Training: level 1's labels least .. largest are cut into `chunks` ranges as the tokens are\n"
    "in pose; ID = 1 + label + u_i with u_i up to target - 2 - (largest label), so that no ID\n"
    "reaches target. The other levels are as in coupled. Evaluation: as coupled, start 1.\n"
    "Needs: a task with labels, chunks, target. Refused with span window (a gap cuts the\n"
    "columns apart) and with predicted IDs.";

const struct lg__ids_row lg__ids_pose = {
    .name = "pose",
    .line = "PoSE: the text in chunks, the later ones shifted up at random in training",
    .text = text,
    .flags = LG__IDS_TARGET | LG__IDS_GAPS,
    .over_name = "coupled+pose",
    .over_line = "coupled, with level 1's labels cut into chunks and shifted as PoSE does",
    .over_text = over_text,
    .over_levels = 1,
    .check = check,
    .ids = ids,
    .over_fits = over_fits,
    .over_map = over_map,
};
