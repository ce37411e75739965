/* deal.c: rank 0's side: jobs go out, and what workers say comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "cluster/message.h"

static int send_buffer(lg_comm *c, int to, int tag, lg_buffer *b, lg_error *err)
{
    size_t size = b->size;
    char *data = lg_buffer_take(b, err);
    int e = data ? lg__comm_send(c, to, tag, data, size, err) : LG_ERROR_MEMORY;
    free(data);
    return e;
}

int lg__job_send(lg_comm *c, int rank, const struct lg__job *job, lg_error *err)
{
    lg_buffer b = {0};
    lg__put_int(&b, LG__JOB_RUN);
    lg__put_int(&b, job->number);
    lg__put_int(&b, job->word_count);
    for (int i = 0; i < job->word_count; i++) lg__put_text(&b, job->words[i]);
    lg__put_int(&b, job->in_count);
    for (int i = 0; i < job->in_count; i++) {
        lg__put_text(&b, job->in[i].path);
        lg__put_bytes(&b, job->in[i].data, job->in[i].size);
    }
    lg__put_int(&b, job->out_count);
    for (int i = 0; i < job->out_count; i++) lg__put_text(&b, job->out[i]);
    lg__put_int(&b, job->removed);
    return send_buffer(c, rank, LG__TAG_JOB, &b, err);
}

static int send_word(lg_comm *c, int rank, int word, lg_error *err)
{
    lg_buffer b = {0};
    lg__put_int(&b, word);
    return send_buffer(c, rank, LG__TAG_JOB, &b, err);
}

int lg__job_stop(lg_comm *c, int rank, lg_error *err)
{
    return send_word(c, rank, LG__JOB_STOP, err);
}

void lg_comm_dismiss(lg_comm *c)
{
    for (int i = 1; i < lg_comm_size(c); i++) send_word(c, i, LG__JOB_QUIT, NULL);
}

int lg__job_hear(lg_comm *c, struct lg__heard *h, double seconds, lg_error *err)
{
    size_t size;
    *h = (struct lg__heard){.rank = -1};
    int e = lg__comm_take(c, &h->rank, LG__TAG_ANSWER, &h->data, &size, seconds, err);
    if (e <= 0) return e;
    struct lg__reading r = {h->data, h->data + size};
    h->ended = lg__get_int(&r) == LG__JOB_ENDED;
    h->number = (int)lg__get_int(&r);
    h->code = (int)lg__get_int(&r);
    h->signal = (int)lg__get_int(&r);
    h->text = lg__get_text(&r);
    if (!h->text) h->text = "";
    h->out_count = (int)lg__get_int(&r);
    for (int i = 0; i < h->out_count && i < LG__JOB_FILES; i++)
        h->out[i].data = lg__get_bytes(&r, &h->out[i].size);
    return 1;
}

void lg__heard_clear(struct lg__heard *h)
{
    free(h->data);
    *h = (struct lg__heard){0};
}

int lg__job_write(const char *path, const char *data, size_t size, lg_error *err)
{
    struct lg__part p = {0};
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    int e = lg__folder_make(folder, err);
    if (!e) e = lg__part_open(&p, path, err);
    if (!e && size && fwrite(data, 1, size, p.file) != size) e = lg__fail_write(err, path, 0);
    if (!e) e = lg__part_keep(&p, err);
    lg__part_drop(&p);
    return e;
}

char *lg__job_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    long n = -1;
    if (f && fseek(f, 0, SEEK_END) == 0) n = ftell(f);
    if (n >= 0 && fseek(f, 0, SEEK_SET) == 0) data = lg__alloc((size_t)n + 1);
    if (data && fread(data, 1, (size_t)n, f) != (size_t)n) {
        free(data);
        data = NULL;
    }
    if (f) fclose(f);
    *size = data ? (size_t)n : 0;
    return data;
}

int lg_comm_check(lg_comm *c, const char *command, lg_error *err)
{
    struct lg__comm_card card = {0};
    if (lg_comm_size(c) == 1) return 0;
    lg__comm_card_fill(&card, command);
    snprintf(card.kernels, sizeof card.kernels, "%s", lg_isa());
    return lg__comm_agree(c, &card, err);
}
