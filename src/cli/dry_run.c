/* dry_run.c: `lengthen train --dry-run`: some steps in a folder that is removed, and what the whole run would cost. */
#include "cli/dry_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/cli.h"

enum { STEPS = 200 };
#define SECONDS 5.0

struct dry {
    double start, now; /* of the first step, which allocates what the others use; of the last */
    int64_t first, steps;
    int tried;
};

static int watch(void *context, const lg_run_step *s)
{
    struct dry *d = context;
    d->now = lg_cli_now();
    if (d->start == 0) {
        d->start = d->now;
        d->first = s->step;
    }
    d->tried = (int)(s->step - d->first);
    d->steps = s->steps;
    return !lg_cli_interrupted && d->tried < STEPS && d->now - d->start < SECONDS;
}

static double folder_bytes(const char *folder)
{
    char command[100], line[64] = "";
    snprintf(command, sizeof command, "du -sb '%s' 2>/dev/null", folder);
    FILE *f = popen(command, "r");
    if (f && !fgets(line, sizeof line, f)) line[0] = '\0';
    if (f) pclose(f);
    return strtod(line, NULL);
}

int lg_cli_dry_run(lg_run_options o, int json)
{
    char folder[] = "/tmp/lengthen-dry-XXXXXX", time[24], memory[24], disk[24];
    struct dry d = {0};
    struct rusage use;
    lg_error err = {0};
    int done;
    if (!mkdtemp(folder))
        return lg_cli_wrong("train", "no folder can be made in /tmp: %s", strerror(errno));
    o.folder = folder;
    o.store = NULL;
    o.resume = LG_RUN_EITHER;
    o.watch = watch;
    o.each = NULL;
    o.context = &d;
    lg_cli_catch_interrupts(1);
    int code = lg_run_train(&o, &done, &err);
    lg_cli_catch_interrupts(0);
    double bytes = code ? 0 : 2 * folder_bytes(folder);
    lg_folder_remove(folder);
    if (code) return lg_cli_error("train", code, &err);
    if (lg_cli_interrupted) return lg_cli_stopped();
    getrusage(RUSAGE_SELF, &use);
    double seconds = d.tried ? (d.now - d.start) / d.tried * (double)d.steps : 0;
    double most = 1024.0 * (double)use.ru_maxrss;
    if (json) {
        printf("{\"steps\":%lld,\"seconds\":%.1f,\"memory\":%.0f,\"disk\":%.0f}\n",
               (long long)d.steps, seconds, most, bytes);
        return LG_EXIT_DONE;
    }
    printf(
        "Dry run: %lld steps would take about %s (%d were tried), at most %s of memory, and %s of "
        "disk\nfor two checkpoints. Longer examples of a curriculum, and evaluations on the "
        "way, come on top.\n",
        (long long)d.steps, lg_cli_duration(seconds, time), d.tried, lg_cli_bytes(most, memory),
        lg_cli_bytes(bytes, disk));
    return LG_EXIT_DONE;
}
