/* theory_bridge.c: `lengthen theory bridge`: the errors of a transformer, from an experiment's rows,
 * beside those of the idealised class on the same ensembles: a table and one figure over k. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/theory.h"

enum { MOST_CLASSES = 16 };

static void show(const lg_theory_bridge *b, int json)
{
    struct lg_cli_table t = {.columns = 6, .left = 1};
    static const char *const heading[] = {"error", "k", "mean", "low", "high", "wrong"};
    for (int i = 0; i < 6; i++) lg_cli_table_add(&t, "%s", heading[i]);
    for (int i = 0; i < b->count; i++) {
        const lg_theory_point *p = &b->points[i];
        if (json) {
            printf("{\"model\":");
            lg_cli_json(stdout, p->name);
            printf(",\"k\":%d,\"length\":%d", p->k, b->length);
            lg_cli_json_number("error", p->error);
            lg_cli_json_number("low", p->low);
            lg_cli_json_number("high", p->high);
            if (p->samples)
                printf(",\"wrong\":%lld,\"samples\":%lld", (long long)p->wrong,
                       (long long)p->samples);
            puts("}");
            continue;
        }
        lg_cli_table_add(&t, "%s", p->name);
        lg_cli_table_add(&t, "%d", p->k);
        lg_cli_table_add(&t, "%.2e", p->error);
        lg_cli_theory_add(&t, p->low);
        lg_cli_theory_add(&t, p->high);
        if (p->samples)
            lg_cli_table_add(&t, "%lld of %lld", (long long)p->wrong, (long long)p->samples);
        else
            lg_cli_table_add(&t, "-");
    }
    if (!json) lg_cli_table_print(&t, 0, 1, lg_cli_look_stdout().width);
    lg_cli_table_clear(&t);
    for (int i = 0; i < b->unlearned_count && !json; i++) {
        const lg_theory_unlearned *f = &b->unlearned[i];
        printf("%sNot learned: %s, k = %d, seed %d: %.1f%% exact at %d.\n", i ? "" : "\n", f->name,
               f->k, f->seed, 100 * f->exact, f->length);
    }
}

int lg_cli_theory_bridge(int argc, char **argv)
{
    const char *classes[MOST_CLASSES], *plot = NULL, *title = NULL;
    lg_theory_bridge_options o = {.classes = classes};
    lg_theory_bridge b;
    lg_error err = {0};
    int json = 0;
    const struct lg_cli_option rows[] = {
        {"class", .texts = classes, .count = &o.class_count, .room = MOST_CLASSES,
         .take = "take fewer"},
        {"length", .whole = &o.length, .least = 1, .most = 1 << 30},
        {"plot", .text = &plot},
        {"where", .text = &o.where},
        {"title", .text = &title},
        {"json", .flag = &json},
        {0},
    };
    int code = lg_cli_options("theory bridge", rows, &argc, &argv);
    if (code) return code;
    if (argc != 2)
        return lg_cli_wrong("theory", "bridge takes one file, measurements.csv of an experiment");
    o.rows = argv[1];
    if (!o.length) return lg_cli_wrong("theory", "--length is missing; as in 300");
    int e = lg_theory_bridge_read(&o, &b, &err);
    if (!e) {
        show(&b, json);
        if (plot && lg_theory_bridge_draw(&b, title, plot, &err)) e = LG_ERROR_SYSTEM;
    }
    lg_theory_bridge_clear(&b);
    if (e == LG_ERROR_ARGUMENT) return lg_cli_wrong("theory", "%s", err.text);
    return e ? lg_cli_error("theory", e, &err) : LG_EXIT_DONE;
}
