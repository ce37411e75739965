/* source.c: files, folders and globs to documents, streamed: plain text, one JSON object per line, and
 * either of them packed with gzip. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"
#include "base/json.h"
#include "text/text.h"

/* ---- Which files ----------------------------------------------------------------------------- */

enum { DEPTH = 32 }; /* of folders in folders */

static int ends(const char *name, size_t n, const char *ending)
{
    size_t m = strlen(ending);
    return n > m && strncmp(name + n - m, ending, m) == 0;
}

/* 1: JSON lines, 0: plain text by its name, -1: something else by its name. */
static int kind_of(const char *path)
{
    static const char *const plain[] = {".txt", ".text", ".md"};
    size_t n = strlen(path);
    if (ends(path, n, ".gz")) n -= 3;
    if (ends(path, n, ".json") || ends(path, n, ".jsonl") || ends(path, n, ".ndjson")) return 1;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (ends(path, n, plain[i])) return 0;
    return -1;
}

static int add_file(struct lg__sources *s, const char *path, const struct stat *st, lg_error *err)
{
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 16;
        void *file = realloc(s->file, (size_t)room * sizeof *s->file);
        if (!file)
            return lg__fail(err, LG_ERROR_MEMORY, "no memory for the names of %d files", room);
        s->file = file;
        s->room = room;
    }
    char *name = strdup(path);
    if (!name) return lg__fail(err, LG_ERROR_MEMORY, "no memory for the name of a file");
    s->file[s->count++] = (struct lg__source){.path = name,
                                              .size = st->st_size,
                                              .changed = (int64_t)st->st_mtim.tv_sec * 1000000000 +
                                                         st->st_mtim.tv_nsec,
                                              .json = kind_of(path) == 1};
    s->size += st->st_size;
    return 0;
}

static int add_path(struct lg__sources *s, const char *path, int depth, lg_error *err);

/* Its texts by name; hidden files and other endings are left out. */
static int add_folder(struct lg__sources *s, const char *folder, int depth, lg_error *err)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, alphasort), e = 0;
    if (n < 0)
        return lg__fail(err, LG_ERROR_SYSTEM,
                        "the folder %s cannot be read (%s): check your rights", folder,
                        strerror(errno));
    for (int i = 0; i < n; i++) {
        struct stat st;
        char *path = NULL;
        if (!e && entry[i]->d_name[0] != '.') {
            if (asprintf(&path, "%s/%s", folder, entry[i]->d_name) < 0) {
                path = NULL;
                e = lg__fail(err, LG_ERROR_MEMORY, "no memory for the name of a file");
            } else if (stat(path, &st) == 0 && (S_ISDIR(st.st_mode) || kind_of(path) >= 0)) {
                e = add_path(s, path, depth + 1, err);
            }
        }
        free(path);
        free(entry[i]);
    }
    free(entry);
    return e;
}

static int add_path(struct lg__sources *s, const char *path, int depth, lg_error *err)
{
    struct stat st;
    if (depth > DEPTH)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s lies more than %d folders deep: name a folder of it", path, DEPTH);
    if (stat(path, &st) != 0)
        return lg__fail(err, LG_ERROR_ARGUMENT, "%s cannot be read (%s): check the name", path,
                        strerror(errno));
    if (S_ISDIR(st.st_mode)) return add_folder(s, path, depth, err);
    if (!S_ISREG(st.st_mode))
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is neither a file nor a folder: write its text to a file first", path);
    return add_file(s, path, &st, err);
}

static int add_glob(struct lg__sources *s, const char *pattern, lg_error *err)
{
    glob_t found = {0};
    int e = 0, code = glob(pattern, 0, NULL, &found);
    if (code)
        e = lg__fail(err, LG_ERROR_ARGUMENT, "no file fits \"%s\": check the pattern", pattern);
    for (size_t i = 0; i < found.gl_pathc && !e; i++) e = add_path(s, found.gl_pathv[i], 0, err);
    globfree(&found);
    return e;
}

int lg__sources_find(struct lg__sources *s, const char *const *paths, int count, lg_error *err)
{
    struct stat st;
    int e = 0;
    *s = (struct lg__sources){0};
    for (int i = 0; i < count && !e; i++) {
        int before = s->count, there = stat(paths[i], &st) == 0;
        e = !there && strpbrk(paths[i], "*?[") ? add_glob(s, paths[i], err)
                                               : add_path(s, paths[i], 0, err);
        if (!e && s->count == before)
            e = lg__fail(
                err, LG_ERROR_ARGUMENT,
                "%s has no texts in it (.txt, .md, .jsonl, .json, or these with .gz): name "
                "the files",
                paths[i]);
    }
    if (e) lg__sources_free(s);
    return e;
}

void lg__sources_free(struct lg__sources *s)
{
    for (int i = 0; i < s->count; i++) free(s->file[i].path);
    free(s->file);
    *s = (struct lg__sources){0};
}

/* ---- Bytes of a file --------------------------------------------------------------------------- */

struct reader {
    const struct lg__source *file;
    const char *field;
    gzFile gz;
    int64_t before;         /* bytes of the files before this one */
    struct lg__block bytes; /* read and not yet handed on */
    size_t from, n;         /* those of them that are left: from .. n-1 */
    int end;                /* of the file */
    lg__piece_callback *callback;
    void *context;
};

static int refuse_packed(const struct reader *r, lg_error *err)
{
    static const struct {
        const char *magic, *name;
    } packed[] = {
        {"PK\3\4", "zip"}, {"\xFD\x37zXZ", "xz"}, {"\x28\xB5\x2F\xFD", "zstd"}, {"BZh", "bzip2"}};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        size_t m = strlen(packed[i].magic);
        if (r->n >= m && memcmp(r->bytes.data, packed[i].magic, m) == 0)
            return lg__fail(
                err, LG_ERROR_ARGUMENT,
                "%s is packed with %s, which is not read: unpack it, or pack it with gzip",
                r->file->path, packed[i].name);
    }
    return 0;
}

/* What is no text: zeros, or many control characters, among the bytes that were read first. */
static int refuse_binary(const struct reader *r, lg_error *err)
{
    const unsigned char *text = r->bytes.data;
    size_t control = 0, i = 0;
    if (r->n > 1 && (text[0] ^ text[1]) == 1 && (text[0] & text[1]) == 0xFE)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is in UTF-16, which is not read: write it in UTF-8 (iconv -f UTF-16 -t "
                        "UTF-8)",
                        r->file->path);
    for (; i < r->n && text[i]; i++)
        control +=
            (text[i] < ' ' && (text[i] < 7 || text[i] > 13) && text[i] != 27) || text[i] == 127;
    if (i < r->n)
        return lg__fail(err, LG_ERROR_ARGUMENT,
                        "%s is a binary file, not text (byte %zu is 0): name files of plain text",
                        r->file->path, i + 1);
    if (10 * control <= r->n) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%s is a binary file, not text (%zu of its first %zu bytes are control "
                    "characters): name files of plain text",
                    r->file->path, control, r->n);
}

/* Reads until `want` bytes are left to hand on, or the file ends. */
static int fill(struct reader *r, size_t want, lg_error *err)
{
    char *data = r->bytes.data;
    if (r->from) memmove(data, data + r->from, r->n - r->from);
    r->n -= r->from;
    r->from = 0;
    int e = lg__reserve(&r->bytes, want + 1, "text", err);
    while (!e && !r->end && r->n < want) {
        size_t ask = want - r->n < LG__PIECE ? want - r->n : LG__PIECE;
        int got = gzread(r->gz, (char *)r->bytes.data + r->n, (unsigned)ask), code = 0;
        const char *why = gzerror(r->gz, &code);
        if (got < 0 || code == Z_BUF_ERROR)
            return lg__fail(err, LG_ERROR_SYSTEM,
                            code == Z_BUF_ERROR
                                ? "%s ends in the middle of its gzip data (%s): fetch it again"
                                : "%s cannot be read (%s): fetch it again",
                            r->file->path, code == Z_ERRNO ? strerror(errno) : why);
        r->n += (size_t)got;
        r->end = (size_t)got < ask;
    }
    return e;
}

static int hand_on(struct reader *r, const char *text, size_t n, int first, int last, lg_error *err)
{
    struct lg__piece p = {.text = text,
                          .n = n,
                          .first = first,
                          .last = last,
                          .file = r->file->path,
                          .done = r->before + (int64_t)gzoffset(r->gz)};
    return r->callback(r->context, &p, err);
}

/* ---- Plain text --------------------------------------------------------------------------------- */

static const char mark[] = "<|endoftext|>";
enum { MARK = sizeof mark - 1, MARK_LINE = MARK + 3 }; /* with the line's ends */

static int graphic(char c) { return c > ' ' && c < 0x7f; }
static int blank(char c) { return c == ' ' || (c >= 9 && c <= 13); }

/* Where n bytes can be cut without cutting a word: before a blank. */
static size_t find_cut(const char *text, size_t n)
{
    for (int strict = 1; strict >= 0; strict--)
        for (size_t i = n - 1; i > n / 2; i--)
            if (blank(text[i]) && (strict ? graphic(text[i - 1]) : !blank(text[i - 1]))) return i;
    for (size_t i = n - 1; i + 4 > n; i--)
        if (((unsigned char)text[i] & 0xC0) != 0x80) return i; /* between two letters */
    return n;
}

/* The first line of n bytes that is the mark alone; n: none. *after: where the next line begins. */
static size_t find_mark(const char *text, size_t n, int line_start, int end, size_t *after)
{
    for (size_t at = 0; at < n; at++) {
        const char *found = memmem(text + at, n - at, mark, MARK);
        if (!found) break;
        at = (size_t)(found - text);
        size_t i = at + MARK;
        i += i < n && text[i] == '\r';
        if ((at ? text[at - 1] == '\n' : line_start) && (i < n ? text[i] == '\n' : end)) {
            *after = i < n ? i + 1 : n;
            return at;
        }
    }
    return n;
}

/* A file is a document, or several with a line <|endoftext|> between them. */
static int read_plain(struct reader *r, lg_error *err)
{
    int first = 1, line_start = 1, e = fill(r, LG__PIECE, err);
    if (!e) e = refuse_packed(r, err);
    if (!e) e = refuse_binary(r, err);
    while (!e && (r->from < r->n || !r->end || !first)) {
        const char *text = (const char *)r->bytes.data + r->from;
        size_t n = r->n - r->from, after = n, at = find_mark(text, n, line_start, r->end, &after);
        if (at == n && !r->end && n < LG__PIECE) {
            e = fill(r, LG__PIECE, err);
            continue;
        }
        int last = at < n || r->end;
        if (!last) at = after = find_cut(text, n - MARK_LINE);
        if (at || !first) e = hand_on(r, text, at, first, last, err);
        first = line_start = last;
        r->from += after;
    }
    return e;
}

/* ---- JSON lines ------------------------------------------------------------------------------------ */

/* Bytes of the next line, its end with it, all of it read; 0: there is none. A packed file may
 * hold a thousand times its own size. */
static int next_line(struct reader *r, int64_t number, size_t *n, lg_error *err)
{
    size_t seen = 0;
    *n = 0;
    for (;;) {
        const char *text = (const char *)r->bytes.data + r->from;
        size_t left = r->n - r->from;
        const char *end = left > seen ? memchr(text + seen, '\n', left - seen) : NULL;
        if (end || r->end) {
            *n = end ? (size_t)(end - text) + 1 : left;
            return 0;
        }
        if (left >= LG__LINE_BYTES)
            return lg__fail(err, LG_ERROR_ARGUMENT,
                            "%s: line %lld has more than %d MiB, the most of a line of JSON: split "
                            "the document, or put it into a .txt file, which is read in pieces",
                            r->file->path, (long long)number, LG__LINE_BYTES >> 20);
        seen = left;
        int e = fill(r, left + LG__PIECE, err);
        if (e) return e;
    }
}

static int read_line(struct reader *r, const char *line, size_t n, int64_t number, lg_error *err)
{
    json_error_t at;
    if (lg__json_values(line, n) > LG__LINE_VALUES)
        return lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%s: line %lld has over %d values, the most of a line: each line must be one "
            "document, such as {\"%s\": \"..\"}",
            r->file->path, (long long)number, LG__LINE_VALUES, r->field);
    json_t *o = json_loadb(line, n, JSON_ALLOW_NUL, &at);
    const json_t *text = json_object_get(o, r->field);
    int e;
    if (!json_is_object(o))
        e = lg__fail(err, LG_ERROR_ARGUMENT,
                     "%s: line %lld is not a JSON object%s%.100s: each line must be one, such as "
                     "{\"%s\": \"..\"}",
                     r->file->path, (long long)number, o ? "" : ", ", o ? "" : at.text, r->field);
    else if (!json_is_string(text))
        e = lg__fail(
            err, LG_ERROR_ARGUMENT,
            "%s: line %lld has no string \"%s\": name the key that holds the text (--field; "
            "task.field in a config)",
            r->file->path, (long long)number, r->field);
    else
        e = hand_on(r, json_string_value(text), json_string_length(text), 1, 1, err);
    json_decref(o);
    return e;
}

static int empty_line(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!blank(line[i])) return 0;
    return 1;
}

static int read_json(struct reader *r, lg_error *err)
{
    int e = fill(r, LG__PIECE, err);
    if (!e) e = refuse_packed(r, err);
    if (!e && r->n >= 3 && memcmp(r->bytes.data, "\xEF\xBB\xBF", 3) == 0) r->from = 3;
    for (int64_t number = 1; !e; number++) {
        size_t n;
        e = next_line(r, number, &n, err);
        if (e || !n) break;
        const char *line = (const char *)r->bytes.data + r->from;
        if (!empty_line(line, n)) e = read_line(r, line, n, number, err);
        r->from += n;
    }
    return e;
}

int lg__documents(const struct lg__sources *s, const char *field, lg__piece_callback *callback,
                  void *context, lg_error *err)
{
    struct reader r = {.field = field ? field : "text", .callback = callback, .context = context};
    int e = 0;
    for (int i = 0; i < s->count && !e; i++) {
        r.file = &s->file[i];
        r.from = r.n = 0;
        r.end = 0;
        r.gz = gzopen(r.file->path, "rb");
        if (!r.gz) {
            e = lg__fail(err, LG_ERROR_SYSTEM, "%s cannot be read (%s): check your rights",
                         r.file->path, strerror(errno ? errno : ENOMEM));
            break;
        }
        gzbuffer(r.gz, 1 << 17);
        e = r.file->json ? read_json(&r, err) : read_plain(&r, err);
        gzclose(r.gz);
        r.before += r.file->size;
    }
    lg__block_free(&r.bytes);
    return e;
}
