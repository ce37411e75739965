/* generate_text.c: a run of texts goes on with a prompt: the text as it comes, or one JSON object. */
#include "cli/generate_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"

enum { MOST = 256 };

static void told(void *context, const char *bytes, size_t n)
{
    FILE *f = context;
    fwrite(bytes, 1, n, f);
    fflush(f);
}

static void print_json(const lg_generate_options *o, const lg_text_generated *g, const char *text)
{
    fputs("{\"prompt\":", stdout);
    lg_cli_json(stdout, o->prompt ? o->prompt : "");
    fputs(",\"text\":", stdout);
    lg_cli_json(stdout, text);
    printf(",\"prompt_tokens\":%d,\"tokens\":%d,\"ended\":%s,\"step\":%lld}\n", g->prompt,
           g->tokens, g->ended ? "true" : "false", (long long)g->step);
}

int lg_cli_generate_text(const lg_generate_options *o, int json)
{
    const char *none = o->length           ? "--length"
                       : o->sparsity       ? "--sparsity"
                       : o->count          ? "--count"
                       : o->prompt_ids     ? "--prompt-ids"
                       : o->predicted >= 0 ? "--ids"
                                           : NULL;
    char *text = NULL;
    size_t size = 0;
    lg_error err = {0}, warning = {0};
    lg_text_generated g;
    if (none)
        return lg_cli_wrong("generate", "%s is a run of texts, for which there is no %s", o->folder,
                            none);
    FILE *to = json ? open_memstream(&text, &size) : stdout;
    if (!to) return LG_EXIT_FAILED;
    lg_text_generate_options t = {.folder = o->folder,
                                  .prompt = o->prompt,
                                  .most = o->most ? o->most : MOST,
                                  .temperature = o->temperature,
                                  .seed = o->seed,
                                  .told = told,
                                  .of = to};
    int e = lg_run_generate_text(&t, &g, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen generate: %s\n", warning.text);
    if (json) fclose(to);
    if (!e && json) print_json(o, &g, text);
    if (!e && !json) putchar('\n');
    free(text);
    if (!e) return LG_EXIT_DONE;
    fprintf(stderr, "lengthen generate: %s\n", err.text);
    return e == LG_ERROR_ARGUMENT ? LG_EXIT_USE : LG_EXIT_FAILED;
}
