/* machine.c: what build this is and how many cores this process may use. */
#include <errno.h>
#include <lg_commit.h> /* made by CMake */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lengthen.h"

const char *lg_version(void) { return LG_VERSION; }
const char *lg_commit(void) { return LG_COMMIT; }

const char *lg_compiler(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

int lg_cores(void)
{
    /* The mask's size is the kernel's, not ours: on EINVAL it was too small. */
    for (int cpus = CPU_SETSIZE; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        int failed = sched_getaffinity(0, size, set);
        int error = errno;
        int count = failed ? 0 : CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (!failed) return count > 0 ? count : 1;
        if (error != EINVAL) break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < 1 << 20 ? (int)online : 1;
}

void lg_cpu(char name[200])
{
    struct utsname u;
    FILE *f = fopen("/proc/cpuinfo", "r");
    name[0] = 0;
    for (char line[400]; f && !name[0] && fgets(line, sizeof line, f);)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':'))
            snprintf(name, 200, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"),
                     strchr(line, ':') + 2);
    if (f) fclose(f);
    if (!name[0]) snprintf(name, 200, "%s", uname(&u) == 0 ? u.machine : "unknown");
}
