/* gnuplot.c: runs gnuplot. The script comes to it as its input and the picture goes out as its output, so that no
 * file's name is ever read by gnuplot or by a shell. */
#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

extern char **environ;

#define REMEDY "install gnuplot (Debian: gnuplot-nox), or leave --plot out"

/* Of the caption: pixels and letters of a line. */
enum { SMALL = 15, SMALL_LETTERS = 150 };
enum { PATH = 4096, LINE = 200 };

/* ---- Parts of scripts ------------------------------------------------------------------------ */

/* Bytes of the UTF-8 character that s begins with; 0: it begins with none that XML allows. */
static int character(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    int n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    if (u[0] > 0xf4) return 0;
    for (int i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80) return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xf0 && u[1] < 0x90) || /* longer than needed */
        (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf4 && u[1] > 0x8f) || /* no such character */
        (u[0] == 0xef && u[1] == 0xbf && u[2] > 0xbd))
        return 0;
    return n;
}

int lg__plot_length(const char *text)
{
    int n = 0;
    for (; text && *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* A text of one line, of at most so many characters. In single quotes gnuplot takes everything as
 * it is (in double ones `x` would be run by a shell); the quote itself comes from a variable, for
 * gnuplot counts quotes before it reads them. */
void lg__plot_quote(FILE *s, const char *text, int most)
{
    fputc('\'', s);
    for (int left = most; text && *text; left--) {
        int n = character(text);
        if (!left) {
            fputs("…", s);
            break;
        }
        if (!n)
            fputc('?', s);
        else if (*text == '\'')
            fputs("'.quote.'", s);
        else if ((unsigned char)*text < 0x20 || *text == 0x7f)
            fputc(' ', s);
        else
            fprintf(s, "%.*s", n, text);
        text += n ? n : 1;
    }
    fputc('\'', s);
}

void lg__plot_number(char *text, size_t size, double x)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    double whole = round(x), a = fabs(whole);
    const char *minus = x < 0 ? "−" : "";
    if (fabs(x - whole) > 1e-9 * fmax(1, a) || a >= 1e99) {
        snprintf(text, size, "%.4g", x);
    } else if (a < 1e7) {
        int i = (int)a;
        if (i >= 1000000)
            snprintf(text, size, "%s%d,%03d,%03d", minus, i / 1000000, i / 1000 % 1000, i % 1000);
        else if (i >= 1000)
            snprintf(text, size, "%s%d,%03d", minus, i / 1000, i % 1000);
        else
            snprintf(text, size, "%s%d", i ? minus : "", i);
    } else {
        int k = (int)floor(log10(a) + 1e-9);
        char factor[32];
        snprintf(factor, sizeof factor, "%.3g×", a / pow(10, k));
        snprintf(text, size, "%s%s10%s%s", minus, strcmp(factor, "1×") == 0 ? "" : factor,
                 k > 9 ? raised[k / 10] : "", raised[k % 10]);
    }
}

/* Bytes of the first line of a text, which is broken at a blank. */
static int caption_line(const char *text)
{
    int letters = 0, blank = 0, at = 0;
    for (; text[at]; at++) {
        if (((unsigned char)text[at] & 0xc0) != 0x80 && letters++ == SMALL_LETTERS)
            return blank ? blank : at;
        if (text[at] == ' ') blank = at;
    }
    return at;
}

int lg__plot_caption(FILE *s, const char *text, int high)
{
    if (!text) text = "";
    int lines = 0, line = 0;
    for (const char *at = text; *at; at += strspn(at, " "), lines++) at += caption_line(at);
    int foot = lines ? SMALL * lines + SMALL / 2 : 0;
    if (!s || !lines) return foot;
    fprintf(s, "set origin 0,%.6f\nset size 1,%.6f\n", (double)foot / high,
            (double)(high - foot) / high);
    for (; *text; text += strspn(text, " "), line++) {
        char part[4 * SMALL_LETTERS + 1];
        int n = caption_line(text);
        snprintf(part, sizeof part, "%.*s", n, text);
        text += n;
        fprintf(s, "set label %d ", 10 + line);
        lg__plot_quote(s, part, SMALL_LETTERS);
        fprintf(s, " at screen 0.02,%.6f font ',9' textcolor rgb '#555555'\n",
                (foot - SMALL * (line + 0.75)) / high);
    }
    return foot;
}

void lg__plot_terminal(FILE *s, enum lg__picture kind, int width, int height)
{
    fputs("set encoding utf8\nquote = \"\\047\"\n", s);
    if (kind == LG__SVG)
        fprintf(s,
                "set terminal svg noenhanced size %d,%d background '#ffffff' "
                "font 'sans-serif,12'\n",
                width, height);
    else if (kind == LG__PDF)
        fprintf(s,
                "set terminal pdfcairo noenhanced size %.3fin,%.3fin background '#ffffff' "
                "font 'sans,12'\n",
                width / 96.0, height / 96.0);
    else
        fprintf(s,
                "if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
                "  set terminal pngcairo noenhanced size %d,%d background '#ffffff' "
                "font 'sans,12' fontscale 2 linewidth 2 pointscale 2\n"
                "} else {\n"
                "  set terminal png noenhanced truecolor size %d,%d background '#ffffff' "
                "font 'sans,24' linewidth 2\n"
                "}\n",
                2 * width, 2 * height, 2 * width, 2 * height);
}

/* ---- gnuplot ------------------------------------------------------------------------------- */

/* gnuplot -d: without the user's own settings, nor GNUTERM. The script as a file, not as lines of a
 * terminal: then the first error ends it. */
static int spawn(int script, int picture, int complaints, pid_t *pid)
{
    char *const words[] = {"gnuplot", "-d", "/dev/stdin", NULL};
    posix_spawn_file_actions_t files;
    int e, n = 0, kept = 0;
    while (environ && environ[n]) n++;
    char **environment = lg__alloc((size_t)(n + 1) * sizeof *environment);
    if (!environment) return ENOMEM;
    for (int i = 0; i < n; i++)
        if (strncmp(environ[i], "GNUTERM=", 8) != 0) environment[kept++] = environ[i];
    if (!(e = posix_spawn_file_actions_init(&files))) {
        e = posix_spawn_file_actions_adddup2(&files, script, 0);
        if (!e) e = posix_spawn_file_actions_adddup2(&files, picture, 1);
        if (!e) e = posix_spawn_file_actions_adddup2(&files, complaints, 2);
        if (!e) e = posix_spawnp(pid, words[0], &files, NULL, words, environment);
        posix_spawn_file_actions_destroy(&files);
    }
    free(environment);
    return e;
}

/* What gnuplot complains of: the first line that is neither a warning nor its echo of the script,
 * which has a line with ^ after it. */
static void first_complaint(FILE *f, char line[LINE])
{
    char *next = NULL;
    size_t room = 0;
    rewind(f);
    line[0] = '\0';
    while (getline(&next, &room, f) > 0) {
        char *from = next + strspn(next, " \t");
        from[strcspn(from, "\n")] = '\0';
        if (!*from || strcasestr(from, "warning")) continue;
        if (line[0] && *from != '^') break;
        snprintf(line, LINE, "%s", *from == '^' ? "" : from);
    }
    free(next);
}

/* The picture ends as such a picture does: a full disk leaves half of one. */
static int is_whole(int picture, int kind)
{
    char tail[33] = "";
    off_t size = lseek(picture, 0, SEEK_END);
    if (size < 1) return 0;
    static const char *const ends[] = {
        [LG__SVG] = "</svg>", [LG__PNG] = "IEND", [LG__PDF] = "%%EOF"};
    ssize_t n = pread(picture, tail, 32, size > 32 ? size - 32 : 0);
    return n > 0 && memmem(tail, (size_t)n, ends[kind], strlen(ends[kind]));
}

static int run(FILE *script, int picture, FILE *complaints, const char *file, int kind,
               lg_error *err)
{
    pid_t pid = 0;
    int status = 0, e = spawn(fileno(script), picture, fileno(complaints), &pid);
    char line[LINE];
    if (!e)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    if (e == ENOENT || (!e && WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return lg__fail(err, LG_ERROR_SYSTEM, "%.150s: there is no gnuplot to draw it; " REMEDY,
                        file);
    if (e)
        return lg__fail(err, LG_ERROR_SYSTEM, "%.150s: gnuplot could not be started: %s; " REMEDY,
                        file, strerror(e));
    if (status == 0 && is_whole(picture, kind)) return 0;
    first_complaint(complaints, line);
    return lg__fail(err, LG_ERROR_SYSTEM,
                    "%.150s: gnuplot could not draw it (\"%.150s\"); see that its version is 5 or "
                    "later and the disk not full, " REMEDY,
                    file, line[0] ? line : "no message");
}

static int draw(lg__script *write, const void *context, int picture, const char *file, int kind,
                lg_error *err)
{
    FILE *script = tmpfile(), *complaints = tmpfile();
    int e = 0;
    if (script) write(script, (enum lg__picture)kind, context);
    if (!script || !complaints || fflush(script) || lseek(fileno(script), 0, SEEK_SET))
        e = lg__fail(err, LG_ERROR_SYSTEM,
                     "%.150s: the script for gnuplot could not be written to " P_tmpdir ": %s; %s",
                     file, strerror(errno), lg_write_remedy(errno));
    if (!e) e = run(script, picture, complaints, file, kind, err);
    if (script) fclose(script);
    if (complaints) fclose(complaints);
    return e;
}

/* ---- The file ------------------------------------------------------------------------------ */

static int find_kind(const char *file, int *kind, lg_error *err)
{
    size_t n = file ? strlen(file) : 0;
    const char *end = n > 4 ? file + n - 4 : "";
    *kind = strcasecmp(end, ".png") == 0   ? LG__PNG
            : strcasecmp(end, ".pdf") == 0 ? LG__PDF
                                           : LG__SVG;
    if (*kind != LG__SVG || strcasecmp(end, ".svg") == 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "\"%.150s\" is no name for a figure; let it end in .svg, .png or .pdf",
                    file ? file : "");
}

/* A new file in the folder of the other, with the rights that any new file gets. */
static int open_beside(const char *file, char temporary[PATH], int *fd, lg_error *err)
{
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0;
    struct stat st;
    if (stat(file, &st) == 0 && S_ISDIR(st.st_mode))
        return lg__fail(err, LG_ERROR_ARGUMENT, "%.150s is a folder; give the figure another name",
                        file);
    if (folder > PATH - 100) folder = 0, errno = ENAMETOOLONG;
    *fd = -1;
    for (int i = 0; i < 100 && *fd < 0; i++) {
        snprintf(temporary, PATH, "%.*s.lengthen-figure-%ld-%d", folder, file, (long)getpid(), i);
        *fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd < 0 && errno != EEXIST) break;
    }
    if (*fd >= 0) return 0;
    return lg__fail(err, LG_ERROR_ARGUMENT,
                    "%.150s: its folder cannot be written to: %s; make the folder, or give another",
                    file, strerror(errno));
}

int lg__gnuplot(const char *file, int keep, lg__script *script, const void *context, lg_error *err)
{
    char temporary[PATH];
    int kind = LG__SVG, fd = -1, e = find_kind(file, &kind, err);
    if (!e) e = open_beside(file, temporary, &fd, err);
    if (!e) e = draw(script, context, fd, file, kind, err);
    if (fd >= 0) {
        close(fd);
        if (!e && keep && rename(temporary, file))
            e = lg__fail(err, LG_ERROR_SYSTEM, "%.150s could not be put in its place: %s; check it",
                         file, strerror(errno));
        if (e || !keep) unlink(temporary);
    }
    return e;
}
