/* message.h: jobs and answers as messages: pieces of bytes, one behind the other, each with its size before it and a 0
 * behind it. */
#ifndef LG_CLUSTER_MESSAGE_H
#define LG_CLUSTER_MESSAGE_H

#include <stdint.h>
#include <string.h>

#include "cluster/jobs.h"

/* What a message to a worker begins with, and one from it. */
enum { LG__JOB_RUN = 1, LG__JOB_STOP, LG__JOB_QUIT, LG__JOB_TOLD, LG__JOB_ENDED };

static inline void lg__put_bytes(lg_buffer *b, const void *data, size_t size)
{
    uint64_t n = data ? size : UINT64_MAX; /* NULL is not the same as empty */
    lg_buffer_add(b, &n, sizeof n);
    if (data) lg_buffer_add(b, data, size);
    if (data) lg_buffer_add(b, "", 1);
}
static inline void lg__put_text(lg_buffer *b, const char *text)
{
    lg__put_bytes(b, text, text ? strlen(text) : 0);
}
static inline void lg__put_int(lg_buffer *b, int64_t value)
{
    lg_buffer_add(b, &value, sizeof value);
}

/* Reads on from `at`; past the end everything is 0. */
struct lg__reading {
    const char *at, *end;
};
static inline int64_t lg__get_int(struct lg__reading *r)
{
    int64_t value = 0;
    if (r->end - r->at < (ptrdiff_t)sizeof value) return 0;
    memcpy(&value, r->at, sizeof value);
    r->at += sizeof value;
    return value;
}
static inline const char *lg__get_bytes(struct lg__reading *r, size_t *size)
{
    uint64_t n = (uint64_t)lg__get_int(r);
    *size = 0;
    if (n == UINT64_MAX || r->at >= r->end || n >= (uint64_t)(r->end - r->at)) return NULL;
    const char *data = r->at;
    *size = (size_t)n;
    r->at += n + 1;
    return data;
}
static inline const char *lg__get_text(struct lg__reading *r)
{
    size_t size;
    return lg__get_bytes(r, &size);
}

#endif
