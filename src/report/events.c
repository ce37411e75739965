/* events.c: event files for TensorBoard. A file is records; each has
 *     length (8 bytes, little-endian), masked CRC32C of these, data, masked CRC32C of the data,
 * and the data is a protobuf message Event: 1 wall_time (double), 2 step (int64), 3 file_version (string), 5 summary,
 * which has values (1), each with a tag (1) and a simple_value (2, float). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"
#include "lengthen_report.h"

struct lg_events {
    FILE *file;
    char *path;
    double flushed;
    lg_buffer values; /* of the event that is being made */
    uint32_t table[256];
};

/* ---- CRC32C: Castagnoli's polynomial, reflected ------------------------------------------------- */

static void fill_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0x82f63b78u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static uint32_t masked_crc(const lg_events *e, const void *data, size_t n)
{
    const unsigned char *at = data;
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < n; i++) c = e->table[(c ^ at[i]) & 255] ^ (c >> 8);
    c = ~c;
    return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

/* ---- Messages ------------------------------------------------------------------------------------- */

static void put_varint(lg_buffer *b, uint64_t v)
{
    for (; v >= 128; v >>= 7) lg_buffer_add(b, &(unsigned char){(unsigned char)(v | 128)}, 1);
    lg_buffer_add(b, &(unsigned char){(unsigned char)v}, 1);
}

/* Bytes with their length; field: number << 3 | 2. */
static void put_bytes(lg_buffer *b, int field, const void *data, size_t n)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, n);
    lg_buffer_add(b, data, n);
}

/* The bytes of a number, the lowest first, whatever the machine has. */
static void put_little(lg_buffer *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        lg_buffer_add(b, &(unsigned char){(unsigned char)(v >> 8 * i)}, 1);
}

static void put_value(lg_events *e, const char *tag, double value)
{
    lg_buffer v = {0};
    float f = (float)value;
    uint32_t bits;
    if (!isfinite(value)) return;
    memcpy(&bits, &f, sizeof bits);
    put_bytes(&v, 1, tag, strlen(tag));
    put_varint(&v, 2 << 3 | 5);
    put_little(&v, bits, 4);
    if (v.data) put_bytes(&e->values, 1, v.data, v.size);
    e->values.lost |= v.lost;
    lg_buffer_clear(&v);
}

/* ---- Records -------------------------------------------------------------------------------------- */

static int write_record(lg_events *e, const lg_buffer *data, lg_error *err)
{
    lg_buffer r = {0};
    put_little(&r, data->size, 8);
    if (r.data) put_little(&r, masked_crc(e, r.data, 8), 4);
    lg_buffer_add(&r, data->data, data->size);
    put_little(&r, masked_crc(e, data->data, data->size), 4);
    int failed = r.lost || data->lost || fwrite(r.data, 1, r.size, e->file) != r.size,
        error = errno;
    /* Whoever looks sees it within a second. */
    if (!failed && lg__now() - e->flushed > 1) {
        e->flushed = lg__now();
        failed = fflush(e->file) != 0;
        error = errno;
    }
    int lost = r.lost || data->lost;
    lg_buffer_clear(&r);
    if (lost) return lg__fail(err, LG_ERROR_MEMORY, "no memory for an event; end other programs");
    return failed ? lg__fail_write(err, e->path, error) : 0;
}

static void begin(lg_buffer *b, int64_t step)
{
    double now = lg__date();
    uint64_t bits;
    memcpy(&bits, &now, sizeof bits);
    put_varint(b, 1 << 3 | 1);
    put_little(b, bits, 8);
    if (!step) return;
    put_varint(b, 2 << 3 | 0);
    put_varint(b, (uint64_t)step);
}

/* The values so far as one event. */
static int write_values(lg_events *e, int64_t step, lg_error *err)
{
    lg_buffer b = {0};
    if (!e->values.size && !e->values.lost) return 0;
    begin(&b, step);
    put_bytes(&b, 5, e->values.data, e->values.size);
    b.lost |= e->values.lost;
    lg_buffer_clear(&e->values);
    int code = write_record(e, &b, err);
    lg_buffer_clear(&b);
    return code;
}

lg_events *lg_events_open(const char *folder, lg_error *err)
{
    static const char version[] = "brain.Event:2";
    char host[100] = "";
    lg_buffer b = {0};
    lg_events *e = lg__alloc(sizeof *e);
    int code =
        e ? lg__folder_out(folder, err)
          : lg__fail(err, LG_ERROR_MEMORY, "no memory for an event file; end other programs");
    gethostname(host, sizeof host - 1);
    if (!code) fill_table(e->table);
    if (!code && !(e->path = lg__alloc_print("%s/events.out.tfevents.%010lld.%s.%d", folder,
                                             (long long)lg__date(), host, (int)getpid())))
        code = lg__fail(err, LG_ERROR_MEMORY, "no memory for an event file; end other programs");
    if (!code && !(e->file = fopen(e->path, "wb"))) code = lg__fail_write(err, e->path, errno);
    begin(&b, 0);
    put_bytes(&b, 3, version, sizeof version - 1);
    if (!code) code = write_record(e, &b, err);
    lg_buffer_clear(&b);
    if (!code) return e;
    lg_events_close(e, NULL);
    return NULL;
}

int lg_events_step(lg_events *e, const lg_run_step *s, lg_error *err)
{
    put_value(e, "train/loss", s->loss);
    put_value(e, "train/accuracy", s->accuracy);
    if (s->id_loss > 0) {
        put_value(e, "train/id_loss", s->id_loss);
        put_value(e, "train/id_accuracy", s->id_accuracy);
    }
    put_value(e, "train/lr", s->lr);
    put_value(e, "train/tokens", (double)s->tokens);
    put_value(e, "train/length", s->length);
    if (s->sparsity) put_value(e, "train/sparsity", s->sparsity);
    return write_values(e, s->step, err);
}

int lg_events_cell(lg_events *e, const lg_cell *c, lg_error *err)
{
    char place[200], tag[300];
    int n = snprintf(place, sizeof place, "length_%d", c->length);
    if (c->sparsity) n += snprintf(place + n, sizeof place - (size_t)n, "_k_%d", c->sparsity);
    if (c->last)
        n += snprintf(place + n, sizeof place - (size_t)n, "_positions_%d_%d", c->first, c->last);
    if (c->predicted) snprintf(place + n, sizeof place - (size_t)n, "_predicted");
    for (int i = 0; i < c->values; i++) {
        snprintf(tag, sizeof tag, "eval/%s/%s", c->value[i].kind->name, place);
        put_value(e, tag, c->value[i].value);
    }
    return write_values(e, c->step, err);
}

int lg_events_close(lg_events *e, lg_error *err)
{
    int code = 0;
    if (!e) return 0;
    if (e->file && fclose(e->file) != 0) code = lg__fail_write(err, e->path, errno);
    lg_buffer_clear(&e->values);
    free(e->path);
    free(e);
    return code;
}
