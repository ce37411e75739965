/* csv.c: CSV as RFC 4180 has it. */
#include "base/csv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files.h"
#include "base/memory.h"

void lg__csv_put(lg_buffer *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        lg_buffer_put(to, text);
        return;
    }
    lg_buffer_put(to, "\"");
    for (; *text; text++) {
        if (*text == '"') lg_buffer_put(to, "\"");
        lg_buffer_add(to, text, 1);
    }
    lg_buffer_put(to, "\"");
}

static int wrong(const struct lg__csv *c, lg_error *err, const char *what)
{
    lg__fail(err, LG_ERROR_ARGUMENT, "%s; put it right, or move the file away", what);
    lg__error_place(err, c->file, c->line);
    return LG_ERROR_ARGUMENT;
}

int lg__csv_open(struct lg__csv *c, const char *file, int may, lg_error *err)
{
    struct stat st;
    *c = (struct lg__csv){.file = file, .next = 1};
    int e = lg__file_read(file, &c->text, err);
    if (!e && !c->text && !may)
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "%s cannot be read: there is no such file; check the name", file);
    c->at = c->text;
    if (e || !c->text) return e;
    if (stat(file, &st) == 0 && (size_t)st.st_size != strlen(c->text)) {
        for (const char *at = c->text; *at; at++) c->line += *at == '\n';
        c->line++;
        return wrong(c, err, "there is a byte 0 in it");
    }
    return 0;
}

/* One field, from c->at on; *end is what ends it: a comma, a newline, or 0. */
static int read_field(struct lg__csv *c, char **field, char *end, lg_error *err)
{
    char *from = c->at, *to = from;
    *field = to;
    if (*from == '"') {
        for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
            if (*from == '"') from++;
            if (*from == '\n') c->next++;
            *to++ = *from;
        }
        if (*from++ != '"') return wrong(c, err, "a quote is not closed");
    } else {
        while (*from && !strchr(",\r\n\"", *from)) *to++ = *from++;
    }
    if (from[0] == '\r' && from[1] == '\n') from++;
    *end = *from;
    if (*end != ',' && *end != '\n') return wrong(c, err, "a field or the line is not ended");
    *to = 0;
    c->at = from + 1;
    return 0;
}

int lg__csv_next(struct lg__csv *c, lg_error *err)
{
    char end = ',';
    if (!c->at || !*c->at) return 0;
    c->line = c->next;
    for (c->count = 0; end == ',';) {
        if (c->count == c->room) {
            int room = c->room ? 2 * c->room : 32;
            size_t used = (size_t)c->count * sizeof *c->field;
            char **more = lg__alloc_more(c->field, used, (size_t)room * sizeof *more);
            if (!more)
                return lg__fail(err, LG_ERROR_MEMORY, "no memory for %s; end other programs",
                                c->file);
            c->field = more;
            c->room = room;
        }
        int e = read_field(c, &c->field[c->count], &end, err);
        if (e) return e;
        c->count++;
    }
    c->next++;
    return 1;
}

int lg__csv_column(const struct lg__csv *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->field[i], name) == 0) return i;
    return -1;
}

void lg__csv_close(struct lg__csv *c)
{
    free(c->text);
    free(c->field);
    *c = (struct lg__csv){0};
}
