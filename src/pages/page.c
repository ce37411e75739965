/* page.c: a report as one HTML file: the style and the scripts of the kit, and what they show as JSON. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "pages/page.h"

#include <lg_page_files.h> /* made by CMake */

/* Nothing is loaded from anywhere: what the file has, and of the live page its own server. */
static const char policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'";

/* JSON inside of a script: "</script>" and "<!--" must not occur. */
static void put_safely(lg_buffer *to, const char *json)
{
    for (const char *at = json; *at;) {
        size_t n = strcspn(at, "<");
        lg_buffer_add(to, at, n);
        at += n;
        if (*at) lg_buffer_put(to, "\\u003c"), at++;
    }
}

static void put_title(lg_buffer *to, const char *title)
{
    for (; *title; title++)
        if (strchr("<>&\"", *title))
            lg_buffer_print(to, "&#%d;", *title);
        else
            lg_buffer_add(to, title, 1);
}

void lg__page_html(lg_buffer *to, const char *title, const char *data, const char *script)
{
    static const unsigned char *const scripts[] = {page_kit_js, page_method_js, page_report_js,
                                                   page_live_js};
    lg_buffer_put(to, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    lg_buffer_print(to, "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy);
    lg_buffer_put(to, "<link rel=\"icon\" href=\"data:,\">\n<title>");
    put_title(to, title);
    lg_buffer_put(to, "</title>\n<style>\n");
    lg_buffer_put(to, (const char *)page_kit_css);
    lg_buffer_put(to, "</style></head><body>\n<a class=\"skip\" href=\"#page\">To the content</a>\n"
                      "<main class=\"wrap\" id=\"page\"><noscript>This page draws its figures with "
                      "the script in it; allow scripts to see them.</noscript></main>\n"
                      "<script type=\"application/json\" id=\"data\">");
    put_safely(to, data);
    lg_buffer_put(to, "</script>\n<script>\n");
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        lg_buffer_put(to, (const char *)scripts[i]);
    lg_buffer_print(to,
                    "const data = "
                    "JSON.parse(document.getElementById('data').textContent);\n%s;\n</script>\n</"
                    "body></html>\n",
                    script);
}

lg_page *lg_page_new(const char *title, const char *command, lg_error *err)
{
    lg_page *p = lg__alloc(sizeof *p);
    if (p) p->title = lg__alloc_text(title);
    if (p) p->command = lg__alloc_text(command);
    if (p && p->title && p->command) return p;
    lg_page_free(p);
    lg__fail(err, LG_ERROR_MEMORY, "no memory for a page; end other programs");
    return NULL;
}

void lg_page_note(lg_page *p, const char *sentence) { lg__put_text(&p->notes, NULL, sentence); }

int lg_page_write(lg_page *p, const char *file, lg_error *err)
{
    lg_buffer data = {0}, page = {0};
    char made[64] = "";
    time_t now = time(NULL);
    struct tm t;
    if (gmtime_r(&now, &t)) strftime(made, sizeof made, "%Y-%m-%d %H:%M UTC", &t);
    lg__put_open(&data, NULL, '{');
    lg__put_text(&data, "title", p->title);
    lg__put_text(&data, "command", p->command);
    lg__put_text(&data, "made", made);
    lg__put_text(&data, "version", lg_version());
    lg__put_text(&data, "commit", lg_commit());
    lg__put_list(&data, "notes", &p->notes);
    lg__put_list(&data, "runs", &p->runs);
    lg__put_list(&data, "results", &p->results);
    lg__put_list(&data, "methods", &p->methods);
    lg__put_close(&data, '}');
    page.lost = data.lost;
    if (data.data) lg__page_html(&page, p->title, data.data, "LG.report(data)");
    lg_buffer_clear(&data);
    int e = lg_buffer_save(&page, file, err);
    lg_buffer_clear(&page);
    return e;
}

void lg_page_free(lg_page *p)
{
    if (!p) return;
    free(p->title);
    free(p->command);
    lg_buffer_clear(&p->runs);
    lg_buffer_clear(&p->results);
    lg_buffer_clear(&p->methods);
    lg_buffer_clear(&p->notes);
    free(p);
}
