/* try_couple.c: own data without IDs: `lengthen try` looks for a coupling first (lengthen_couple.h), for a part of its
 * time, and says so in its advice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "study/try.h"

static const double SHARE = 0.7; /* of the time, at most */

int lg__try_couple(struct lg__try *t, double *seconds, lg_error *err)
{
    lg_try_result *r = t->r;
    lg_couple_options o = lg_couple_options_default();
    char folder[LG_TRY_PATH + 16];
    lg_error why = {0};
    if (!r->own || r->levels || r->everything) return 0;
    r->coupled = calloc(1, sizeof *r->coupled);
    if (!r->coupled) return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    if (t->o->coupled)
        snprintf(folder, sizeof folder, "%s", t->o->coupled);
    else { /* a try that goes on does this again */
        snprintf(folder, sizeof folder, "%s/coupled", r->folder);
        lg_folder_remove(folder);
    }
    o.data = r->task;
    o.folder = folder;
    o.store = t->o->coupled ? NULL : r->store;
    o.minutes = SHARE * t->o->minutes;
    o.seed = (uint64_t)t->o->seed;
    o.stop = t->o->stop;
    int e = lg_couple(&o, r->coupled, &why);
    *seconds = r->coupled->seconds;
    if (t->o->coupled && !r->coupled->claimed) lg_folder_remove(folder);
    if (!e || e == LG_ERROR_STOPPED) return 0;
    snprintf(r->coupled->why, sizeof r->coupled->why, "%.500s",
             why.text); /* data that cannot be coupled */
    return e == LG_ERROR_ARGUMENT ? 0 : lg__fail(err, e, "%s", why.text);
}

/* What was found comes first: it is what to use. */
int lg__try_couple_words(struct lg__try *t, lg_error *err)
{
    lg_try_result *r = t->r;
    const lg_couple_result *c = r->coupled;
    lg_buffer b = {0};
    if (!c) return 0;
    if (c->claimed) {
        const lg_couple_candidate *k = &c->candidate[c->best];
        size_t n = 0;
        lg_buffer_put(&b, "Use the coupling that was found, as the lines have no IDs: ");
        for (; c->reads[n]; n++)
            if (c->reads[n] != '\n')
                lg_buffer_add(&b, &c->reads[n], 1);
            else if (c->reads[n + 1])
                lg_buffer_put(&b, "; ");
        lg_buffer_print(
            &b,
            ". With position IDs made of it (window %s), predicted by the model itself, %d of the "
            "%d lines are right that nothing was chosen by. The model is in %s/best: lengthen eval "
            "%s/best --task jsonl:FILE asks it other lines, at any length. Of the schemes in the "
            "table: %s",
            k->window, c->report_exact, c->report_lines, c->folder, c->folder, r->advice);
    } else
        lg_buffer_print(
            &b,
            "%s The lines have no IDs; a coupling was looked for, but none is claimed: %s. Where "
            "you know one, give the lines \"ids\" (`lengthen tasks jsonl`).",
            r->advice, c->why);
    char *text = lg_buffer_take(&b, err);
    if (!text) return LG_ERROR_MEMORY;
    free(r->advice);
    r->advice = text;
    if (c->claimed && c->config && !(r->config = strdup(c->config)))
        return lg__fail(err, LG_ERROR_MEMORY, "no memory; end other programs");
    return 0;
}
