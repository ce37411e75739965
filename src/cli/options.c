/* options.c: reads the options of a command into the places that its table names. */
#include "cli/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST_ROWS = 32, NO_LETTER = 256, FAR = 1 << 30 };

/* The place of a word of n letters in "own, other or none", or -1; *count: how many there are. */
static int place_of(const char *names, const char *word, size_t n, int *count)
{
    int place = -1;
    *count = 0;
    for (const char *at = names ? names : ""; *at; ++*count) {
        size_t length = strcspn(at, ", ");
        if (length == n && strncmp(at, word, n) == 0) place = *count;
        at += length + strspn(at + length, ", ");
        if (strncmp(at, "or ", 3) == 0) at += 3;
    }
    return place;
}

static int64_t greatest(const struct lg_cli_option *o)
{
    return o->most > 0 ? (int64_t)o->most : o->large ? INT64_MAX : INT_MAX - 1;
}

/* 1: the n letters are a number that is allowed, or the name of one. */
static int read_whole(const struct lg_cli_option *o, const char *text, size_t n, int64_t *to)
{
    char *end;
    int names, place = place_of(o->names, text, n, &names);
    int64_t least = (int64_t)o->least;
    *to = least + place;
    if (place >= 0 || o->word) return place >= 0;
    errno = 0;
    *to = strtoll(text, &end, 10);
    return n > 0 && end == text + n && !errno && *to >= least + names && *to <= greatest(o);
}

static int read_real(const struct lg_cli_option *o, const char *text)
{
    char *end;
    *o->real = strtod(text, &end);
    return end != text && !*end && *o->real >= o->least && *o->real <= o->most ? 0 : -1;
}

static int read_list(const struct lg_cli_option *o, const char *text)
{
    for (*o->count = 0; *o->count < o->room;) {
        size_t n = strcspn(text, ",");
        int64_t number;
        if (!read_whole(o, text, n, &number)) return -1;
        o->list[(*o->count)++] = (int)number;
        if (!text[n]) return 0;
        text += n + 1;
    }
    return -1;
}

/* As `read` of a row. */
static int read_value(const char *command, const struct lg_cli_option *o, const char *text)
{
    int64_t number;
    if (o->read) return o->read(o->to, text);
    if (o->list) return read_list(o, text);
    if (o->real) return read_real(o, text);
    if (o->text) *o->text = text;
    if (o->flag) *o->flag = 1;
    if (o->texts && *o->count == o->room)
        return lg_cli_wrong(command, "over %d --%s; %s", o->room, o->name, o->take);
    if (o->texts) o->texts[(*o->count)++] = text;
    if (o->text || o->flag || o->texts) return 0;
    if (!read_whole(o, text, strlen(text), &number)) return -1;
    if (o->large)
        *o->large = number;
    else
        *(o->word ? o->word : o->whole) = (int)number;
    return 0;
}

/* A limit that is far off is said only of a number that is over it. */
static int wrong_value(const char *command, const struct lg_cli_option *o, const char *text)
{
    char range[100];
    if (o->real && o->least == LG_CLI_ABOVE_0)
        snprintf(range, sizeof range, "a number above 0 and up to %g", o->most);
    else if (o->real)
        snprintf(range, sizeof range, "a number from %g to %g", o->least, o->most);
    else if (o->list)
        snprintf(range, sizeof range, "up to %d numbers of %.0f or more, as in 20,50,100", o->room,
                 o->least);
    else if (greatest(o) < FAR || strtod(text, NULL) >= (double)greatest(o))
        snprintf(range, sizeof range, "a whole number from %.0f to %lld", o->least,
                 (long long)greatest(o));
    else
        snprintf(range, sizeof range, "a whole number of %.0f or more", o->least);
    return lg_cli_wrong(command, "--%s is \"%s\"; take %s", o->name, text,
                        o->take    ? o->take
                        : o->names ? o->names
                                   : range);
}

void (*lg_cli_options_watch)(const struct lg_cli_option *rows);

int lg_cli_options(const char *command, const struct lg_cli_option *rows, int *argc, char ***argv)
{
    if (lg_cli_options_watch) {
        lg_cli_options_watch(rows);
        return LG_EXIT_USE;
    }
    struct option known[MOST_ROWS + 1] = {{0}};
    char letters[2 * MOST_ROWS + 1] = "", *letter = letters;
    for (int i = 0; rows[i].name; i++) {
        assert(i < MOST_ROWS);
        known[i] = (struct option){rows[i].name, rows[i].flag ? no_argument : required_argument,
                                   NULL, rows[i].letter ? rows[i].letter : NO_LETTER + i};
        if (rows[i].letter) *letter++ = rows[i].letter, *letter++ = ':';
    }
    opterr = 0;
    optind = 1;
    for (int c; (c = getopt_long(*argc, *argv, letters, known, NULL)) != -1;) {
        int row = 0;
        if (c == '?')
            return lg_cli_wrong(command, "\"%s\" is not an option, or lacks its value",
                                (*argv)[optind - 1]);
        while (known[row].val != c) row++;
        int code = read_value(command, &rows[row], optarg);
        if (code) return code < 0 ? wrong_value(command, &rows[row], optarg) : code;
    }
    *argc -= optind;
    *argv += optind;
    return 0;
}

int lg_cli_argument(const char *command, const char *what, const char *give, int argc, char **argv,
                    const char **to)
{
    *to = argc ? argv[0] : NULL;
    if (!argc && give) return lg_cli_wrong(command, "which %s? %s", what, give);
    if (argc < 2) return 0;
    return lg_cli_wrong(command, "one %s at a time; \"%s\" is too much", what, argv[1]);
}
