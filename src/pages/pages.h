/* pages.h: what the files of this room share: JSON for the pages, pieces of it, and the requests of the server. */
#ifndef LG_PAGES_PAGES_H
#define LG_PAGES_PAGES_H

#include <stdint.h>

#include "lengthen_pages.h"
#include "runs/store_rows.h"

/* ---- put.c: JSON into a buffer; the comma before a member or an entry is put by itself ---- */

void lg__put_open(lg_buffer *b, const char *key, char bracket); /* key NULL: in a list */
void lg__put_close(lg_buffer *b, char bracket);
void lg__put_key(lg_buffer *b, const char *key); /* whatever comes next is its value */
void lg__put_text(lg_buffer *b, const char *key, const char *value);
void lg__put_int(lg_buffer *b, const char *key, int64_t value);
void lg__put_real(lg_buffer *b, const char *key, double value); /* not finite: null */
/* A list whose entries were put one by one. */
void lg__put_list(lg_buffer *b, const char *key, const lg_buffer *entries);
/* A member whose value is JSON already; NULL or "": null. */
void lg__put_json(lg_buffer *b, const char *key, const char *json);

/* ---- page.c ---- */

/* The whole document: data is JSON, script what is done with it ("LG.report(data)"). */
void lg__page_html(lg_buffer *to, const char *title, const char *data, const char *script);

/* ---- page_store.c: the store for pages, in as few rows as they need ---- */

/* Which runs are listed; "" and NULL: all. */
struct lg__page_filter {
    const char *task, *positions, *state;
    const char *seed; /* digits */
};
/* [{..}, ..], the newest first, with the last loss of each. changed: only those whose rows changed at or after this
 * date, and all that train; 0: all. */
int lg__page_list(lg_store *s, const struct lg__page_filter *f, double changed, lg_buffer *b,
                  lg_error *err);
/* {"step": [..], "loss": [..], "loss_low": .., ..}: at most `points` of them, each the mean of neighbouring steps. */
int lg__page_curves(lg_store *s, int64_t number, int points, lg_buffer *b, lg_error *err);
enum { LG__PAGE_POINTS = 400 };
int lg__page_count(lg_store *s, int64_t *runs, lg_error *err);
/* Changes whenever another connection has written. */
int lg__page_version(lg_store *s, int64_t *version, lg_error *err);
/* For tests: gets every statement of this file before it is closed. */
extern void (*lg__page_statement)(lg__rows *q);

/* ---- page_run.c ---- */

/* A run as an object, with its config, curves, cells and certificate; left open, for more members. folder: room for
 * PATH_MAX letters, or NULL. */
int lg__page_run(lg_store *s, const char *run, lg_buffer *b, char *folder, lg_error *err);

/* ---- page_method.c ---- */

/* Objects of what lg_run_generate gives, added to a list. */
int lg__page_generate(lg_buffer *b, const lg_generate_options *o, lg_error *warning, lg_error *err);
/* The passage of a text run and where its predictions come from, as an object. */
int lg__page_passage(lg_buffer *b, const char *folder, const lg_run_access *access, lg_error *err);

/* ---- request.c ---- */

enum lg__request_kind {
    LG__REQUEST_PAGE,
    LG__REQUEST_RUNS,
    LG__REQUEST_RUN,
    LG__REQUEST_CURVES,
    LG__REQUEST_GENERATE,
    LG__REQUEST_PASSAGE,
    LG__REQUEST_EVENTS
};
enum { LG__REQUEST_RUNS_MOST = 32, LG__REQUEST_TEXT = 2048 };
struct lg__request {
    enum lg__request_kind kind;
    int64_t runs[LG__REQUEST_RUNS_MOST];
    int count;
    int points;            /* of curves */
    int length, predicted; /* of a generation; 0: as in training; -1: as the run has it */
    char task[128], positions[256], state[16], seed[24];
    char prompt[LG__REQUEST_TEXT], prompt_ids[LG__REQUEST_TEXT];
};
/* Reads a request line's method and target ("/api/run?run=3") and the header Host. Returns 0, or the HTTP status that
 * refuses it: 400, 403 (a Host that is not this server's: another page's name that was made to point here), 404, 405.
 * hosts: further names that are allowed beside localhost and its addresses; NULL ends them. */
int lg__request_read(struct lg__request *r, const char *method, const char *target,
                     const char *header, const char *const *hosts);

#endif
