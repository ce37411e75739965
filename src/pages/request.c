/* request.c: what a browser asks for: the method, the target and the Host of a request, as one struct or a refusal. All
 * of it comes from outside; tests/fuzz/ has a harness. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pages/pages.h"

/* ---- Host -------------------------------------------------------------------------------------- */

/* NAME or NAME:PORT. The port is not compared: one that is forwarded has another. */
static int is_host(const char *header, const char *name)
{
    size_t n = strlen(name);
    if (!n || strncasecmp(header, name, n) != 0) return 0;
    if (!header[n]) return 1;
    if (header[n] != ':' || !header[n + 1]) return 0;
    return strspn(header + n + 1, "0123456789") == strlen(header + n + 1) &&
           strlen(header + n + 1) <= 5;
}

static int allowed(const char *header, const char *const *hosts)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "[::1]"};
    if (!header) return 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (is_host(header, own[i])) return 1;
    for (; hosts && *hosts; hosts++)
        if (is_host(header, *hosts)) return 1;
    return 0;
}

/* ---- The query ------------------------------------------------------------------------------- */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* %41 and + decoded; 1: done, 0: no room, a broken escape or a byte 0. */
static int decode(const char *from, size_t n, char *to, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        int c = (unsigned char)from[i];
        if (c == '+') c = ' ';
        if (c == '%') {
            if (n - i < 3 || hex(from[i + 1]) < 0 || hex(from[i + 2]) < 0) return 0;
            c = 16 * hex(from[i + 1]) + hex(from[i + 2]);
            i += 2;
        }
        if (!c || used + 1 >= room) return 0;
        to[used++] = (char)c;
    }
    to[used] = 0;
    return 1;
}

/* A whole number from least to most; 1: it is one. */
static int number(const char *text, long long least, long long most, long long *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 18) return 0;
    *value = strtoll(text, &end, 10);
    return !*end && *value >= least && *value <= most;
}

static int take_runs(struct lg__request *r, char *text)
{
    long long value;
    for (char *at = text, *next; at; at = next) {
        if ((next = strchr(at, ','))) *next++ = 0;
        if (r->count == LG__REQUEST_RUNS_MOST || !number(at, 1, INT64_MAX, &value)) return 0;
        r->runs[r->count++] = value;
    }
    return 1;
}

static int take_text(char *to, size_t room, const char *text)
{
    size_t n = strlen(text);
    if (n >= room) return 0;
    memcpy(to, text, n + 1);
    return 1;
}

static int take(struct lg__request *r, const char *key, char *value)
{
    const struct {
        const char *key;
        char *to;
        size_t room;
    } texts[] = {{"task", r->task, sizeof r->task},
                 {"positions", r->positions, sizeof r->positions},
                 {"state", r->state, sizeof r->state},
                 {"seed", r->seed, sizeof r->seed},
                 {"prompt", r->prompt, sizeof r->prompt},
                 {"prompt_ids", r->prompt_ids, sizeof r->prompt_ids}};
    long long n;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(key, texts[i].key) == 0) return take_text(texts[i].to, texts[i].room, value);
    if (strcmp(key, "run") == 0 || strcmp(key, "runs") == 0) return take_runs(r, value);
    if (strcmp(key, "points") == 0 && number(value, 2, 2000, &n)) return r->points = (int)n, 1;
    if (strcmp(key, "length") == 0 && number(value, 1, 10000, &n)) return r->length = (int)n, 1;
    if (strcmp(key, "source") == 0 && strcmp(value, "given") == 0) return r->predicted = 0, 1;
    if (strcmp(key, "source") == 0 && strcmp(value, "predicted") == 0) return r->predicted = 1, 1;
    return 0;
}

static int read_query(struct lg__request *r, const char *query)
{
    while (*query) {
        char key[32], value[LG__REQUEST_TEXT];
        size_t n = strcspn(query, "&"), equals = strcspn(query, "=&");
        if (equals == n || !decode(query, equals, key, sizeof key) ||
            !decode(query + equals + 1, n - equals - 1, value, sizeof value) ||
            !take(r, key, value))
            return 0;
        query += n + (query[n] == '&');
    }
    return 1;
}

/* ---- The request ------------------------------------------------------------------------------- */

static const struct {
    const char *path;
    enum lg__request_kind kind;
    int least, most; /* runs that it names */
} paths[] = {
    {"/", LG__REQUEST_PAGE, 0, 0},
    {"/api/runs", LG__REQUEST_RUNS, 0, 0},
    {"/api/run", LG__REQUEST_RUN, 1, 1},
    {"/api/curves", LG__REQUEST_CURVES, 1, LG__REQUEST_RUNS_MOST},
    {"/api/generate", LG__REQUEST_GENERATE, 1, 1},
    {"/api/passage", LG__REQUEST_PASSAGE, 1, 1},
    {"/api/events", LG__REQUEST_EVENTS, 0, 0},
};

int lg__request_read(struct lg__request *r, const char *method, const char *target,
                     const char *header, const char *const *hosts)
{
    *r = (struct lg__request){.points = LG__PAGE_POINTS, .predicted = -1};
    if (!allowed(header, hosts)) return 403;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) return 405;
    size_t n = strcspn(target, "?");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strlen(paths[i].path) != n || strncmp(target, paths[i].path, n) != 0) continue;
        r->kind = paths[i].kind;
        if (target[n] && !read_query(r, target + n + 1)) return 400;
        return r->count < paths[i].least || r->count > paths[i].most ? 400 : 0;
    }
    return 404;
}
