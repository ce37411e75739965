/* record.c: rows as JSON or CSV. */
#include "cli/record.h"

#include <math.h>
#include <stdio.h>

#include "cli/show.h"

/* What comes before a value; 0: the value is not printed, as this is the heading. */
static int begin(struct lg_cli_record *r, const char *key)
{
    if (r->fields++) putchar(',');
    if (r->heading) fputs(key, stdout);
    if (r->form == LG_CLI_JSON && key) {
        lg_cli_json(stdout, key);
        putchar(':');
    }
    return !r->heading;
}

void lg_cli_put_int(struct lg_cli_record *r, const char *key, int64_t value)
{
    if (begin(r, key)) printf("%lld", (long long)value);
}

void lg_cli_put_bool(struct lg_cli_record *r, const char *key, int value)
{
    if (begin(r, key)) fputs(value ? "true" : "false", stdout);
}

void lg_cli_put_real(struct lg_cli_record *r, const char *key, const char *format, double value)
{
    if (!begin(r, key)) return;
    if (isfinite(value))
        printf(format, value);
    else if (r->form == LG_CLI_JSON)
        fputs("null", stdout);
}

void lg_cli_put_text(struct lg_cli_record *r, const char *key, const char *value)
{
    if (!begin(r, key)) return;
    if (r->form == LG_CLI_JSON)
        lg_cli_json(stdout, value);
    else if (value)
        lg_cli_csv(value);
}

void lg_cli_put_word(struct lg_cli_record *r, const char *key, const char *value)
{
    if (r->form == LG_CLI_JSON)
        lg_cli_put_text(r, key, value);
    else if (begin(r, key) && value)
        fputs(value, stdout);
}

void lg_cli_put_key(struct lg_cli_record *r, const char *key) { begin(r, key); }

void lg_cli_put_open(struct lg_cli_record *r, const char *key, char bracket)
{
    begin(r, key);
    putchar(bracket);
    r->fields = 0;
}

void lg_cli_put_close(struct lg_cli_record *r, char bracket)
{
    putchar(bracket);
    r->fields = 1;
}

void lg_cli_record_print(struct lg_cli_record *r, lg_cli_record_put *put, const void *row)
{
    for (r->heading = r->form == LG_CLI_CSV && !r->rows; r->heading >= 0; r->heading--) {
        r->fields = 0;
        if (r->form == LG_CLI_JSON) putchar('{');
        put(r, row);
        if (r->form == LG_CLI_JSON && r->folder) lg_cli_put_text(r, "folder", r->folder);
        puts(r->form == LG_CLI_JSON ? "}" : "");
    }
    r->heading = 0;
    r->rows++;
}
