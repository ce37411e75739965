/* lines.h: examples as lines of JSON, for jsonl and exec: reading a line, making an example of
 * it, and finding out what is true of many. */
#ifndef LG_TASKS_LINES_H
#define LG_TASKS_LINES_H

#include "tasks/words.h"

/* Lines from a file or a pipe. Starts as {.fd = ..}; the owner closes fd and frees buffer. */
struct lg__lines {
    int fd;
    int64_t line; /* number of the latest, from 1; empty ones count too */
    int cut;      /* the latest one was ended by the end of the file */
    int ended;
    char *buffer;
    size_t start, end, room;
};
/* The next line that is not empty, ended by a 0, valid until the next call: 1; at the end 0; or
 * an error. `name` names the source in it. */
int lg__lines_next(struct lg__lines *l, const char *name, char **text, size_t *size, lg_error *err);

/* Most tokens of a line; largest length and sparsity. */
enum { LG__LINE_MOST = 1 << 30 };
/* Most bytes of a line: a million tokens with their IDs at three levels have half of that. */
enum { LG__LINE_BYTES = 64 << 20 };
/* The same of values, as lg__json_values counts: these have five a token. */
enum { LG__LINE_VALUES = 8000000 };

/* Makes examples of lines. Starts as {.t = .., .name = .., .between = .., .levels = -1}. */
struct lg__line_parser {
    struct lg_task *t;
    const char *name, *between; /* a message starts with name, between, line number, ": " */
    int64_t line;
    struct lg__texts words;
    const char *fixed;  /* where all words had to be; NULL: new ones enter the vocabulary */
    const char *remedy; /* for a word that was not there */
    int levels;         /* of the lines so far; -1: there was none */
    int index;          /* a header said that the program takes LENGTHEN_INDEX */
};
/* Fixes the vocabulary to that of the task that p->t is to be like, if any, else to that of the file
 * at `path`, one word per line; "": it stays open. */
int lg__line_vocabulary(struct lg__line_parser *p, const char *path, lg_error *err);
extern const char lg__line_remedy[]; /* of words that a file has not */
/* 1: an example; 0: a header, {"lengthen": {..}}, which may only come first; or an error. */
int lg__line_parse(struct lg__line_parser *p, const char *text, size_t size, int first,
                   lg_example *x, lg_error *err);
/* Reads an ordinary line without JSON's library: 1, but what x says of IDs and loss is still to be
 * checked; 0: it is not ordinary. */
int lg__line_quick(const struct lg__line_parser *p, const char *text, size_t size, lg_example *x,
                   int *levels);

/* What is true of all examples so far. Starts as {0}. */
struct lg__survey {
    int64_t examples;
    int needed, reach[LG_LEVELS];
    int length_least, length_most, sparsity_least, sparsity_most;
    int32_t stop; /* LG_NONE: the last tokens differ, or come before the end too */
};
void lg__survey_add(struct lg__survey *s, const lg_example *x, int levels);
void lg__survey_shape(const struct lg__survey *s, int levels, struct lg_task *t);

#endif
