/* eval_text.c: `lengthen eval` of a run of texts: its loss by position. */
#include "cli/eval_text.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/losses.h"

int lg_cli_eval_text(struct lg_cli_text_eval *q)
{
    struct lg_cli_losses t = {.form = q->form, .folder = q->o.folder};
    lg_error err = {0}, warning = {0};
    const char *file = q->plot && strcmp(q->plot, "-") != 0 ? q->plot : NULL;
    int code = file ? lg_figure_check(file, &err) : 0;
    q->o.callback = lg_cli_losses_add;
    q->o.callback_context = &t;
    if (!code) code = lg_run_eval_text(&q->o, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen eval: %s\n", warning.text);
    if (code) {
        code = lg_cli_error("eval", code, &err);
    } else if (t.lost) {
        fputs("lengthen eval: no memory for the rows\n", stderr);
        code = LG_EXIT_FAILED;
    } else {
        int documents = t.count ? t.rows[t.count - 1].documents : 0;
        char name[256];
        lg_cli_last_part(q->o.folder, name);
        snprintf(t.title, sizeof t.title, "%.200s, %d documents", name, documents);
        if (q->title) snprintf(t.title, sizeof t.title, "%s", q->title);
        lg_cli_losses_print(&t);
        code = lg_cli_losses_plot(&t, "eval", file, q->plot && !file);
    }
    lg_cli_losses_clear(&t);
    return code;
}
