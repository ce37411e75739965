/* probe_files.h: what the files of a probe's folder share: rows and figures (probe_files.c), and the page
 * (probe_page.c). */
#ifndef LG_REPORT_PROBE_FILES_H
#define LG_REPORT_PROBE_FILES_H

#include <stdio.h>

#include "lengthen_report.h"

enum { LG__PROBE_SOURCES = 8 }; /* of a prediction, that are shown */

/* A prediction, for the figures and the page. */
struct lg__probed {
    int position, k, depends;
    double loss, loss_0; /* of the run */
    double shown;        /* of the run that it is compared with, if there is one */
    int sources, source[LG__PROBE_SOURCES];
    float influence[LG__PROBE_SOURCES];
};

struct lg_probe_files {
    char *folder, *title;
    char *against; /* the other run's name, or NULL */
    int lock;      /* a descriptor of the folder, or -1 */
    FILE *csv;
    struct lg__probed *rows;
    int count, room, first; /* first: how many are of the first passage, which the page shows */
    int passages;
    const char *const *words; /* of the passages, the library's until the probe returns */
    int64_t document;         /* of the page, and its tokens as HTML: */
    int tokens;
    char **piece;
    int lost; /* 1: there was no memory */
    char begun[4096];
};

/* Groups of k*: 0, up to few, up to many, more. */
enum { LG__PROBE_NONE, LG__PROBE_FEW, LG__PROBE_SOME, LG__PROBE_MANY, LG__PROBE_GROUPS };
/* A k* above most_k is only known to be above. */
static inline int lg__probe_group(const struct lg__probed *r, const lg_probe_summary *s)
{
    return !r->depends      ? LG__PROBE_NONE
           : r->k > s->many ? LG__PROBE_MANY
           : r->k > s->few  ? LG__PROBE_SOME
                            : LG__PROBE_FEW;
}

/* The tokens of a passage as HTML, each to be freed; NULL: no memory. */
char **lg__probe_pieces(const lg_probe_passage *p);
int lg__probe_page(const lg_probe_files *f, const lg_probe_summary *s, const char *path,
                   lg_error *err);

#endif
