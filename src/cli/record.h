/* record.h: rows for machines: the same calls make an object of JSON or a line of CSV.
 *
 *     static void put(struct lg_cli_record *r, const void *row)
 *     {
 *         lg_cli_put_int(r, "length", ((const lg_cell *)row)->length);
 *     }
 *     struct lg_cli_record r = {.form = LG_CLI_CSV};
 *     lg_cli_record_print(&r, put, &cell); */
#ifndef LG_CLI_RECORD_H
#define LG_CLI_RECORD_H

#include <stdint.h>

enum lg_cli_form { LG_CLI_TABLE, LG_CLI_JSON, LG_CLI_CSV };

/* Starts from {.form = ..}; the first row of CSV has the heading before it. */
struct lg_cli_record {
    enum lg_cli_form form;
    const char *folder;        /* of the run, the last member of every object; NULL: none */
    int rows, fields, heading; /* its own */
};
typedef void lg_cli_record_put(struct lg_cli_record *r, const void *row);
void lg_cli_record_print(struct lg_cli_record *r, lg_cli_record_put *put, const void *row);

void lg_cli_put_int(struct lg_cli_record *r, const char *key, int64_t value);
void lg_cli_put_bool(struct lg_cli_record *r, const char *key, int value);
/* NaN is null, or an empty field. */
void lg_cli_put_real(struct lg_cli_record *r, const char *key, const char *format, double value);
/* In CSV a text has quotes, and a word that can do without them has none. NULL is null. */
void lg_cli_put_text(struct lg_cli_record *r, const char *key, const char *value);
void lg_cli_put_word(struct lg_cli_record *r, const char *key, const char *value);
/* Whatever is printed next. */
void lg_cli_put_key(struct lg_cli_record *r, const char *key);
/* Objects and lists in JSON: "{" .. "}", "[" .. "]"; inside a list key is NULL. */
void lg_cli_put_open(struct lg_cli_record *r, const char *key, char bracket);
void lg_cli_put_close(struct lg_cli_record *r, char bracket);

#endif
