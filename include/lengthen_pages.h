/* lengthen_pages.h: results, runs and examples as pages for a browser: one file that needs no network, or served live
 * from the store.
 *
 *     lg_page *p = lg_page_new("parity", "lengthen report parity -o a.html", &err);
 *     if (p && !lg_page_add_run(p, store, "runs/parity", NULL, &err)) lg_page_write(p, "a.html", &err);
 *     lg_page_free(p); */
#ifndef LENGTHEN_PAGES_H
#define LENGTHEN_PAGES_H

#include "lengthen_study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A report -------------------------------------------------------------------------------- */

typedef struct lg_page lg_page;
/* command: what makes the page again. Both are copied. NULL: err. */
lg_page *lg_page_new(const char *title, const char *command, lg_error *err);
/* A sentence under the title: what is missing, and why. */
void lg_page_note(lg_page *p, const char *sentence);

typedef struct lg_page_run_options {
    int generations;    /* examples that the run answers, drawn token by token; 0: none */
    const char *prompt; /* answered, too; NULL: none */
    int passage;        /* 1: of a run of texts, a passage with the sources of its predictions */
    lg_run_access access;
} lg_page_run_options;
/* Everything that the store and the folder of a run have of it. `run` as in lg_store_find. What cannot be made (its
 * weights are gone) is a note. o NULL: no generation, no passage. */
int lg_page_add_run(lg_page *p, lg_store *s, const char *run, const lg_page_run_options *o,
                    lg_error *err);
/* A folder of results: what was asked, its checks, figures, certificates, and its page. o: name, experiments and
 * results are used. Trains nothing. */
int lg_page_add_result(lg_page *p, const lg_reproduce_options *o, lg_error *err);
/* All folders of o->results that have a README.md, by name. */
int lg_page_add_results(lg_page *p, const lg_reproduce_options *o, lg_error *err);
/* The example that the sampler has made, drawn with its IDs. window: lo and hi of key - query that a query sees;
 * NULL: all. */
int lg_page_add_example(lg_page *p, const lg_sampler *s, const int *window, lg_error *err);
/* What lg_run_generate gives, drawn; its callbacks are replaced. Of a run of texts: a passage with its sources. */
int lg_page_add_answers(lg_page *p, const lg_generate_options *o, lg_error *warning, lg_error *err);
/* Writes the file whole or not at all. */
int lg_page_write(lg_page *p, const char *file, lg_error *err);
void lg_page_free(lg_page *p); /* NULL is accepted */

/* ---- Served live ----------------------------------------------------------------------------- */

/* Once it can be asked. */
typedef void lg_serve_ready(void *context, const char *url);

typedef struct lg_serve_options {
    const char *store;
    const char *address;   /* to listen on; NULL: 127.0.0.1, this machine alone */
    const char *host;      /* a further name by which browsers may call it; NULL: none */
    int port;              /* 0: any that is free */
    lg_serve_ready *ready; /* or NULL */
    void *context;
    const volatile int *stop; /* not 0: ends */
} lg_serve_options;
/* Serves the runs of a store until *stop. The store is only read; nothing is started or changed. Without libmicrohttpd
 * in the build it fails and says what to install. */
int lg_serve(const lg_serve_options *o, lg_error *err);

#ifdef __cplusplus
}
#endif
#endif
