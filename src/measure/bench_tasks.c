/* bench_tasks.c: how fast the tasks make examples. */
#include <string.h>

#include "measure/bench.h"
#include "base/clock.h"

enum { LENGTH = 50, MANY = 64 };

/* Most tokens a second of `seconds`, MANY examples a time. */
static int measure(lg_task *t, double seconds, double *speed, lg_error *err)
{
    const lg_task_shape *shape = lg_task_get_shape(t);
    int length = LENGTH < shape->length_least ? shape->length_least : LENGTH, code = 0;
    if (length > shape->length_most) length = shape->length_most;
    lg_draw d = {.seed = 1, .length_lo = length, .length_hi = length};
    lg_example x;
    lg_example_init(&x);
    *speed = 0;
    for (double end = lg__now() + seconds; !code && (d.index == 0 || lg__now() < end);) {
        double since = lg__now(), tokens = 0;
        for (int i = 0; i < MANY && !code; i++, d.index++) {
            code = lg_task_example(t, &d, &x, err);
            tokens += x.n;
        }
        double now = tokens / (lg__now() - since + 1e-9);
        *speed = now > *speed ? now : *speed;
    }
    lg_example_clear(&x);
    return code;
}

int lg_bench_tasks(const lg_bench_options *o, lg_bench_report *report, void *context, lg_error *err)
{
    for (int i = 0; i < lg_task_count(); i++) {
        const lg_task_info *info = lg_task_info_at(i);
        if (info->own) continue;
        lg_task *t = lg_task_new(info->name, NULL, 0, err);
        double speed = 0;
        int code = t ? measure(t, o->seconds / 5, &speed, err) : err ? err->code : LG_ERROR_MEMORY;
        lg_task_free(t);
        if (code) return code;
        report(context,
               &(lg_bench_row){
                   .bench = "task", .name = info->name, .threads = 1, .tokens_per_s = speed});
    }
    return 0;
}
