/* common.c: the small things that several commands need. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "lengthen_lab.h"

const char *lg_cli_store(const char *option)
{
    const char *named = getenv("LENGTHEN_STORE");
    return option ? option : named && *named ? named : "lengthen.db";
}

void lg_cli_store_in(const char *folder, char *file, size_t size)
{
    const char *named = getenv("LENGTHEN_STORE");
    if (named && *named)
        snprintf(file, size, "%s", named);
    else
        snprintf(file, size, "%s/lengthen.db", folder);
}

int lg_cli_task_setting(const char *command, const char *text, const char **to)
{
    *to = text + 5;
    if (strncmp(text, "task.", 5) == 0 && strchr(text, '=')) return 0;
    return lg_cli_wrong(command,
                        "--set %s: here only the task's settings can be set, as in --set "
                        "task.KEY=VALUE; for anything else write a config (lengthen train)",
                        text);
}

const char *lg_cli_plain(const char *text)
{
    static char *copies[8];
    static int next;
    int bad = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c && !bad; c++)
        bad = *c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
    if (!bad) return text;
    char **copy = &copies[next++ % 8];
    free(*copy);
    if (!(*copy = strdup(text))) return "?";
    for (char *c = lg_plain(*copy); *c; c++)
        if (*c == '\n' || *c == '\t') *c = '?';
    return *copy;
}

const char *lg_cli_intern(const char *text)
{
    static char **kept;
    static int count, room;
    for (int i = 0; i < count; i++)
        if (strcmp(kept[i], text) == 0) return kept[i];
    char **more = lg_cli_grow(kept, count, &room, sizeof *more);
    if (more) kept = more;
    char *copy = more ? strdup(text) : NULL;
    return copy ? kept[count++] = copy : "?";
}

const char *lg_cli_nearest(const char *word, const char *const *names, int n)
{
    int at = lg_nearest(word, names, n);
    return at < 0 ? NULL : names[at];
}

int lg_cli_error(const char *command, int code, const lg_error *err)
{
    fprintf(stderr, "lengthen %s: %s\n", command, err->text);
    if (code == LG_ERROR_STOPPED) return lg_cli_stopped();
    return code == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
}

int lg_cli_ranks_error(const char *command, lg_comm *c, int code, const lg_error *err)
{
    int rank = lg_comm_rank(c), common = lg_comm_is_common(c), exit_code = LG_EXIT_FAILED;
    char name[64];
    snprintf(name, sizeof name, rank ? "%s, rank %d" : "%s", command, rank);
    if (!rank || !common)
        exit_code = lg_cli_error(name, code, err);
    else if (code == LG_ERROR_ARGUMENT)
        exit_code = LG_EXIT_USE;
    lg_comm_close(c, common ? 0 : exit_code);
    return exit_code;
}

int lg_cli_ranks_begin(const char *command, lg_comm **c, int *serves)
{
    lg_error err = {0};
    int code = lg_comm_open(c, &err);
    if (!code) code = lg_comm_check(*c, command, &err);
    *serves = lg_comm_rank(*c) > 0;
    if (!code && *serves) {
        lg_cli_catch_interrupts(1);
        code = lg_comm_serve(*c, &lg_cli_interrupted, &err);
        lg_cli_catch_interrupts(0);
    }
    if (!code) return 0;
    code = lg_cli_ranks_error(command, *c, code, &err);
    *c = NULL;
    return code;
}

void lg_cli_ranks_end(lg_comm *c)
{
    if (c && lg_comm_rank(c) == 0) lg_comm_dismiss(c);
    lg_comm_close(c, 0);
}

char *lg_cli_read_all(const char *command, const char *file, size_t *n)
{
    FILE *f = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");
    char *text = NULL;
    size_t room = 0, got = 1;
    *n = 0;
    while (f && got) {
        if (*n + 1 >= room) {
            char *larger = realloc(text, room = 2 * room + 65536);
            if (!larger) break;
            text = larger;
        }
        got = fread(text + *n, 1, room - *n - 1, f);
        *n += got;
    }
    if (!f || got || ferror(f)) {
        fprintf(stderr, "lengthen %s: %s could not be read (%s)\n", command,
                strcmp(file, "-") == 0 ? "the standard input" : file, strerror(errno));
        free(text);
        text = NULL;
    } else {
        text[*n] = '\0';
    }
    if (f && f != stdin) fclose(f);
    return text;
}

double lg_cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *lg_cli_duration(double seconds, char text[24])
{
    if (seconds < 100)
        snprintf(text, 24, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(text, 24, "%.*f min", seconds < 600, seconds / 60);
    else
        snprintf(text, 24, "%.*f h", seconds < 36000, seconds / 3600);
    return text;
}

const char *lg_cli_bytes(double bytes, char text[24])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int u = 0;
    for (; bytes >= 1000 && u < 4; u++) bytes /= 1000;
    snprintf(text, 24, "%.*f %s", u && bytes < 10, bytes, units[u]);
    return text;
}

void *lg_cli_grow(void *array, int count, int *room, size_t size)
{
    if (count < *room) return array;
    int larger = *room ? 2 * *room : 64;
    void *more = realloc(array, (size_t)larger * size);
    if (more) *room = larger;
    return more;
}

double lg_cli_share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

volatile sig_atomic_t lg_cli_interrupted;

int lg_cli_stopped(void)
{
    return lg_cli_interrupted ? LG_EXIT_SIGNAL + lg_cli_interrupted : LG_EXIT_FAILED;
}

/* A second one stops at once, unless it comes with the first: timeout(1) and others signal the process
 * and its group. */
static void interrupt(int signal_number)
{
    static double since;
    const double together = 0.5; /* seconds */
    double now = lg_cli_now();
    if (!lg_cli_interrupted) since = now;
    if (now - since > together) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    if (!lg_cli_interrupted) lg_cli_interrupted = signal_number;
}

void lg_cli_catch_interrupts(int on)
{
    struct sigaction hangup;
    signal(SIGINT, on ? interrupt : SIG_DFL);
    signal(SIGTERM, on ? interrupt : SIG_DFL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* else: nohup */
        signal(SIGHUP, on ? interrupt : SIG_DFL);
}

void lg_cli_last_part(const char *folder, char name[256])
{
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/') end--;
    size_t start = end;
    while (start && folder[start - 1] != '/') start--;
    snprintf(name, 256, "%.*s", (int)(end - start), folder + start);
    lg_plain(name);
}

void lg_cli_command_line(int argc, char **argv, char *line, size_t size)
{
    size_t used = (size_t)snprintf(line, size, "lengthen");
    for (int i = 0; i < argc && used < size; i++) {
        int plain = argv[i][0] && !argv[i][strcspn(argv[i], " \t\n\"'$`\\|&;<>()*?[]{}#~!")];
        used += (size_t)snprintf(line + used, size - used, plain ? " %s" : " '%s'", argv[i]);
    }
}
