/* doctor.c: lg_doctor: CPU, kernels, memory, libraries, programs, disk and speed, one row each, with advice. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/kernels.h"
#include "lengthen_library.h"
#include "lengthen_measure.h"
#include "measure/step_cost.h"

enum { STEP_TOKENS = 256 };

struct doctor {
    lg_doctor_callback *each;
    void *context;
};

/* A row; advice may be NULL. */
__attribute__((format(printf, 6, 7))) static void tell(const struct doctor *d, const char *topic,
                                                       const char *name, lg_doctor_state state,
                                                       const char *advice, const char *format, ...)
{
    lg_doctor_row row = {.topic = topic, .state = state};
    va_list args;
    va_start(args, format);
    vsnprintf(row.value, sizeof row.value, format, args);
    va_end(args);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.advice, sizeof row.advice, "%s", advice ? advice : "");
    d->each(d->context, &row);
}

/* The first line of a small file, or "". */
static const char *first_line(const char *path, char *line, int size)
{
    FILE *f = fopen(path, "r");
    line[0] = '\0';
    if (f && !fgets(line, size, f)) line[0] = '\0';
    if (f) fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* CPUs that a container may use at once (cgroup 2); 0: as many as there are. */
static double quota(void)
{
    char line[64];
    double most, period;
    if (sscanf(first_line("/sys/fs/cgroup/cpu.max", line, sizeof line), "%lf %lf", &most,
               &period) == 2)
        return most / period;
    return 0;
}

static void look_at_cpu(const struct doctor *d)
{
    char name[200], governor[64], load[64];
    double busy = 0, most = quota();
    lg_cpu(name);
    tell(d, "cpu", "name", LG_DOCTOR_FINE, NULL, "%s", name);
    sscanf(first_line("/proc/loadavg", load, sizeof load), "%lf", &busy);
    int crowded = busy > 0.5 + lg_cores(), limited = most > 0 && most < lg_cores() - 0.01;
    tell(
        d, "cpu", "cores", limited ? LG_DOCTOR_SLOW : LG_DOCTOR_FINE,
        limited
            ? "the container may use fewer CPUs than there are cores: pass that number as --threads"
            : NULL,
        "%d, all of which are used unless --threads says otherwise", lg_cores());
    tell(d, "cpu", "load", crowded ? LG_DOCTOR_SLOW : LG_DOCTOR_FINE,
         crowded ? "other programs use the CPU: end them, or take fewer --threads" : NULL, "%.1f",
         busy);
    first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    if (governor[0])
        tell(d, "cpu", "governor",
             strcmp(governor, "powersave") == 0 ? LG_DOCTOR_SLOW : LG_DOCTOR_FINE,
             strcmp(governor, "powersave") == 0
                 ? "the clock may be held low: cpupower frequency-set -g performance"
                 : NULL,
             "%s", governor);
}

static void look_at_kernels(const struct doctor *d)
{
    const struct lg__kernels *const *all = lg__kernels_all(), *chosen = lg__kernels_get();
    char names[100] = "";
    for (int i = 0; all[i]; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 all[i]->name);
    int slower = chosen != all[0];
    tell(d, "kernels", "used", slower ? LG_DOCTOR_SLOW : LG_DOCTOR_FINE,
         slower ? "LENGTHEN_ISA chooses others than the best: unset it" : NULL, "%s, of %s",
         chosen->name, names);
    int half = strcmp(chosen->half, chosen->name) != 0;
    tell(d, "kernels", "bf16", LG_DOCTOR_FINE,
         half ? "train.precision: bf16 trains nearly twice as fast" : NULL, "%s",
         half ? chosen->half : "by rounding, which is slower than fp32");
}

static void look_at_memory(const struct doctor *d)
{
    char line[200];
    double all = 0, left = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "MemTotal: %lf", &all);
        sscanf(line, "MemAvailable: %lf", &left);
    }
    if (f) fclose(f);
    if (all > 0)
        tell(d, "memory", "available", left < 512 * 1024 ? LG_DOCTOR_SLOW : LG_DOCTOR_FINE,
             left < 512 * 1024 ? "end other programs" : NULL, "%.1f of %.1f GiB", left / (1 << 20),
             all / (1 << 20));
}

/* Their own functions say their versions; asked for by name, since the headers belong to other rooms. */
static void look_at_libraries(const struct doctor *d)
{
    static const char *const texts[][2] = {{"libyaml", "yaml_get_version_string"},
                                           {"jansson", "jansson_version_str"},
                                           {"SQLite", "sqlite3_libversion"},
                                           {"utf8proc", "utf8proc_version"},
                                           {"zlib", "zlibVersion"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, texts[i][1]);
        const char *(*version)(void) = NULL;
        memcpy(&version, &symbol, sizeof version);
        tell(d, "libraries", texts[i][0], LG_DOCTOR_FINE, NULL, "%s",
             version ? version() : "linked in");
    }
}

static int on_path(const char *program)
{
    char path[4096];
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : ""; *at;) {
        size_t n = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)n, at, program);
        if (access(path, X_OK) == 0) return 1;
        at += n + (at[n] == ':');
    }
    return 0;
}

static void look_at_programs(const struct doctor *d)
{
    int plots = on_path("gnuplot");
    tell(d, "programs", "gnuplot", LG_DOCTOR_FINE,
         plots ? NULL : "--plot needs it (Debian: gnuplot-nox)", "%s", plots ? "there" : "missing");
}

static void look_at_folder(const struct doctor *d, const char *name, const char *folder)
{
    struct statvfs s;
    if (statvfs(folder, &s)) return;
    double gib = (double)s.f_bavail * (double)s.f_frsize / (1 << 30);
    int closed = access(folder, W_OK) != 0;
    tell(d, "disk", name,
         closed || gib < 0.05 ? LG_DOCTOR_WRONG
         : gib < 1            ? LG_DOCTOR_SLOW
                              : LG_DOCTOR_FINE,
         closed    ? "it cannot be written to: go to another folder, or use --out and --store"
         : gib < 1 ? "make room: checkpoints are written before old ones are removed"
                   : NULL,
         "%.1f GiB free", gib);
}

static int measure(const struct doctor *d, lg_error *err)
{
    static const int n[2] = {STEP_TOKENS, 2 * STEP_TOKENS};
    double seconds[2], peak = lg_peak_gflops(0);
    int e = lg__step_cost(64, n, seconds, err);
    if (e) return e;
    tell(d, "speed", "matmul", LG_DOCTOR_FINE, NULL, "%.0f GFLOPS on %d threads", peak, lg_cores());
    tell(d, "speed", "training", LG_DOCTOR_FINE, NULL, "%.0f thousand tokens per second, width 64",
         1e-3 * lg_cores() * STEP_TOKENS / seconds[0]);
    return 0;
}

int lg_doctor(int quick, lg_doctor_callback *each, void *context, lg_error *err)
{
    struct doctor d = {each, context};
    tell(&d, "program", "version", LG_DOCTOR_FINE, NULL, "%s, commit %s, %s", lg_version(),
         lg_commit(), lg_compiler());
    look_at_cpu(&d);
    look_at_kernels(&d);
    look_at_memory(&d);
    look_at_libraries(&d);
    look_at_programs(&d);
    look_at_folder(&d, "here", ".");
    look_at_folder(&d, "/tmp", "/tmp");
    return quick ? 0 : measure(&d, err);
}
