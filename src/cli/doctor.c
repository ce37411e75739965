/* doctor.c: `lengthen doctor`: what this machine and this installation offer, and what would make it faster. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/record.h"
#include "lengthen_lab.h"

const char lg_cmd_doctor_help[] =
    "Usage: lengthen doctor [--quick] [--json]\n"
    "\n"
    "Looks at the CPU, the kernels, threads, memory, libraries, programs and disk, measures the\n"
    "speed of a matmul and of a training step, and says what would make it faster. Exits with 3\n"
    "if something is wrong.\n"
    "\n"
    "  --quick   nothing is measured\n"
    "  --json    one object per line\n"
    "\n"
    "Example:\n"
    "  lengthen doctor\n";

struct shown {
    struct lg_cli_record record;
    char topic[32];
    int wrong, json;
};

static void put_row(struct lg_cli_record *r, const void *row)
{
    static const char *const states[] = {"fine", "slow", "wrong"};
    const lg_doctor_row *d = row;
    lg_cli_put_word(r, "topic", d->topic);
    lg_cli_put_text(r, "name", d->name);
    lg_cli_put_text(r, "value", d->value);
    lg_cli_put_word(r, "state", states[d->state]);
    lg_cli_put_text(r, "advice", d->advice);
}

static void show(void *context, const lg_doctor_row *d)
{
    struct shown *s = context;
    s->wrong |= d->state == LG_DOCTOR_WRONG;
    if (s->json) {
        lg_cli_record_print(&s->record, put_row, d);
        return;
    }
    int same = strcmp(s->topic, d->topic) == 0;
    snprintf(s->topic, sizeof s->topic, "%s", d->topic);
    printf("%-10s %-14s %s\n", same ? "" : d->topic, d->name, d->value);
    if (d->advice[0])
        printf("%26s%s %s\n", "", d->state == LG_DOCTOR_WRONG ? "!!" : "->", d->advice);
}

int lg_cmd_doctor(int argc, char **argv)
{
    int quick = 0;
    struct shown s = {.record.form = LG_CLI_JSON};
    lg_error err = {0};
    const struct lg_cli_option rows[] = {{"quick", .flag = &quick}, {"json", .flag = &s.json}, {0}};
    int code = lg_cli_options("doctor", rows, &argc, &argv);
    if (code) return code;
    if (argc) return lg_cli_wrong("doctor", "\"%s\" is too much", argv[0]);
    code = lg_doctor(quick, show, &s, &err);
    if (code) return lg_cli_error("doctor", code, &err);
    return s.wrong ? LG_EXIT_NO : LG_EXIT_DONE;
}
