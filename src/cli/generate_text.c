/* generate_text.c: a run of texts goes on with a prompt: the text as it comes, or one JSON object. */
#include "cli/generate_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"

enum { MOST = 256 };

struct show {
    const lg_generate_options *o;
    int json, texts, lost; /* texts so far; lost: no memory for one */
    char *text;            /* json: the text so far */
    size_t used, room;
};

/* Keeps the bytes, and a 0 behind them. */
static void keep(struct show *s, const char *bytes, size_t n)
{
    if (s->used + n + 1 > s->room) {
        size_t room = 2 * (s->used + n) + 256;
        char *more = realloc(s->text, room);
        s->lost |= !more;
        if (!more) return;
        s->text = more;
        s->room = room;
    }
    memcpy(s->text + s->used, bytes, n);
    s->used += n;
    s->text[s->used] = 0;
}

static void told(void *context, const char *bytes, size_t n)
{
    struct show *s = context;
    if (s->json) {
        keep(s, bytes, n);
        return;
    }
    fwrite(bytes, 1, n, stdout);
    fflush(stdout);
}

static void print_json(const struct show *s, const lg_text_generated *g)
{
    fputs("{\"prompt\":", stdout);
    lg_cli_json(stdout, s->o->prompt ? s->o->prompt : "");
    fputs(",\"text\":", stdout);
    lg_cli_json_text(stdout, s->text, s->used);
    printf(",\"prompt_tokens\":%d,\"tokens\":%d,\"ended\":%s,\"step\":%lld,\"token\":[", g->prompt,
           g->tokens, g->ended ? "true" : "false", (long long)g->step);
    for (int i = 0; i < g->prompt + g->tokens - g->ended; i++)
        printf("%s%d", i ? "," : "", g->token[i]);
    puts("]}");
}

/* Of several texts each but the last is followed by the line that parts documents. */
static void done(void *context, const lg_text_generated *g)
{
    struct show *s = context;
    s->texts++;
    if (s->json) {
        if (!s->lost) print_json(s, g);
        s->used = 0;
        return;
    }
    puts(s->texts < s->o->count ? "\n<|endoftext|>" : "");
    fflush(stdout);
}

int lg_cli_generate_text(const lg_generate_options *o, int json)
{
    const char *none = o->length           ? "--length"
                       : o->sparsity       ? "--sparsity"
                       : o->prompt_ids     ? "--prompt-ids"
                       : o->predicted >= 0 ? "--ids"
                                           : NULL;
    struct show s = {.o = o, .json = json};
    lg_error err = {0}, warning = {0};
    lg_text_generated g;
    if (none)
        return lg_cli_wrong("generate", "%s is a run of texts, for which there is no %s", o->folder,
                            none);
    lg_text_generate_options t = {.folder = o->folder,
                                  .prompt = o->prompt,
                                  .count = o->count,
                                  .max_tokens = o->max_tokens ? o->max_tokens : MOST,
                                  .temperature = o->temperature,
                                  .seed = o->seed,
                                  .access = o->access,
                                  .callback = told,
                                  .done = done,
                                  .context = &s};
    int e = lg_run_generate_text(&t, &g, &warning, &err);
    if (warning.text[0]) fprintf(stderr, "lengthen generate: %s\n", warning.text);
    free(s.text);
    if (!e && s.lost)
        e = LG_ERROR_MEMORY, snprintf(err.text, sizeof err.text, "no memory for a text");
    if (!e) return LG_EXIT_DONE;
    return lg_cli_error("generate", e, &err);
}
