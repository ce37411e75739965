/* certify_own.c: what `lengthen certify` prints of own data. What is proved and what is sampled are never in
 * one sentence. */
#include "cli/certify_own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show.h"

/* Prints JSON, which is freed, with the folder. */
static int print_json(char *text, const char *folder)
{
    if (!text) {
        fprintf(stderr, "lengthen certify: no memory to print; end other programs\n");
        return LG_EXIT_FAILED;
    }
    printf("%.*s", (int)strlen(text) - 1, text); /* all but its } */
    lg_cli_json_folder(folder);
    puts("}");
    free(text);
    return 0;
}

static void warn(const char *warning)
{
    if (*warning) fprintf(stderr, "lengthen certify: %s\n", warning);
}

/* A folder that cannot be written takes nothing from what was found. */
static void warn_unsaved(int code, const lg_error *err)
{
    if (code) fprintf(stderr, "lengthen certify: the certificate is not kept: %s\n", err->text);
}

/* ---- The list --------------------------------------------------------------------------------------- */

static const char *things(const lg_list *c, int64_t n)
{
    return c->lines ? n == 1 ? "line" : "lines" : n == 1 ? "example" : "examples";
}

static void print_pairs(const lg_list *c)
{
    for (int i = 0; i < c->pairs; i++) {
        const lg_list_pair *p = &c->pair[i];
        printf("\n  %s %lld and %lld (after its token %d)\n"
               "  context  %s\n  answers  %s; %s\n",
               things(c, 2), (long long)p->line[0], (long long)p->line[1], p->place,
               lg_cli_plain(p->context), lg_cli_plain(p->answer[0]), lg_cli_plain(p->answer[1]));
    }
    printf("\nThe window is too small, or the data are wrong.\n");
}

static void print_wrong(const lg_list *c)
{
    const lg_list_pair *p = &c->first_wrong;
    printf("\n  %s %lld, after token %d\n  context  %s\n  right    %s\n  said     %s\n\n",
           things(c, 1), (long long)p->line[0], p->place, lg_cli_plain(p->context),
           lg_cli_plain(p->answer[0]), lg_cli_plain(p->answer[1]));
}

static void print_left(const lg_list *c)
{
    printf(
        "How often it leaves the list: %lld of the %lld %s (%.3g%%) ha%s a context that no other "
        "one has.\n",
        (long long)c->alone, (long long)c->examples, things(c, c->examples),
        100 * (double)c->alone / (double)c->examples, c->alone == 1 ? "s" : "ve");
    if (c->fresh)
        printf("Of %lld fresh ones %lld (%.3g%%) leave it, and %lld have another answer in a "
               "context of it.\n",
               (long long)c->fresh, (long long)c->left, 100 * (double)c->left / (double)c->fresh,
               (long long)c->disagree);
}

static void print_list(const lg_list *c)
{
    printf("%s: %lld %s, %lld predictions, %lld contexts.\n", lg_cli_plain(c->data),
           (long long)c->examples, things(c, c->examples), (long long)c->positions,
           (long long)c->contexts);
    if (c->contradictions) {
        printf("Not certified: %lld of the contexts have two answers, in %lld %s.\n",
               (long long)c->contradictions, (long long)c->contradicting,
               things(c, c->contradicting));
        print_pairs(c);
    }
    if (c->wrong) {
        printf("Not certified: the model is wrong in %lld of the contexts.\n", (long long)c->wrong);
        print_wrong(c);
    }
    if (c->certified)
        printf(
            "Certified for this list: the model is right in all of them, by a margin of at least "
            "%.3g, so\n"
            "that greedy decoding is right on every input whose contexts are all in the list, if "
            "the answers\n"
            "of the data are right and each context has one answer. Step %lld, %s, build %s.\n",
            c->min_margin, (long long)c->step, c->isa, lg_commit());
    print_left(c);
}

int lg_cli_certify_list(const lg_list_options *o, int json)
{
    static lg_list c;
    lg_error err = {0};
    int code = lg_certify_list(o, &c, &err);
    if (code) return lg_cli_error("certify", code, &err);
    warn(c.warning);
    code = lg_list_save(&c, o->folder, &err);
    warn_unsaved(code, &err);
    if (!json)
        print_list(&c);
    else if ((code = print_json(lg_list_json(&c), o->folder)))
        return code;
    return c.certified ? LG_EXIT_DONE : LG_EXIT_NO;
}

/* A refusal, as of pointers, is an answer too. */
int lg_cli_certify_winner(void *context, const char *folder, char *text, size_t size, lg_error *err)
{
    static lg_list c;
    char fresh[4200];
    lg_error why = {0};
    (void)context, (void)err;
    const char *end = strrchr(folder, '/'); /* the winner's folder is beside the lines to report */
    snprintf(fresh, sizeof fresh, "jsonl:%.*sreport.jsonl", end ? (int)(end - folder) + 1 : 0,
             folder);
    lg_list_options o = {.folder = folder, .fresh = fresh};
    if (lg_certify_list(&o, &c, &why)) {
        snprintf(text, size, "No list certificate: %.200s", why.text);
        return 0;
    }
    lg_list_save(&c, folder, &why);
    int n = snprintf(text, size, "List of %lld contexts of its lines: ", (long long)c.contexts);
    if (c.certified)
        n += snprintf(text + n, size - (size_t)n,
                      "certified, right on every input whose contexts are all in it. ");
    else
        n += snprintf(text + n, size - (size_t)n,
                      "not certified, %lld are wrong and %lld have two answers. ",
                      (long long)c.wrong, (long long)c.contradictions);
    snprintf(text + n, size - (size_t)n,
             "%lld of the %lld lines to report leave it.\n"
             "(lengthen certify %.150s --data own --fresh %.100s)",
             (long long)c.left, (long long)c.fresh, folder, fresh);
    return 0;
}

/* ---- Sampled ------------------------------------------------------------------------------------------ */

static void print_cost(void *context, const lg_sampled_cost *c)
{
    (void)context;
    fprintf(stderr, "length %d: %d examples, about %.2g tokens and %.2g s (%s)\n", c->length,
            c->samples, c->tokens, c->seconds, c->by_context ? "by context" : "decoded one by one");
}

static void print_sampled(const lg_sampled *c)
{
    for (int i = 0; i < c->rows; i++) {
        const lg_sampled_row *r = &c->row[i];
        if (r->certified)
            printf(
                "Sampled: on inputs of length %d (%s) at least %.10g%% are answered rightly, with "
                "%.10g%%\nconfidence: %d independent draws, %d wrong, %d allowed.\n",
                r->length, c->unit, 100 * c->share, 100 * c->confidence, r->samples, r->wrong,
                c->failures);
        else
            printf("Not shown: of %d independent draws of length %d (%s) %d are wrong, %d were "
                   "allowed. With the\nsame confidence at least %.4g%% are answered rightly.\n",
                   r->samples, r->length, c->unit, r->wrong, c->failures, 100 * r->least);
    }
    if (c->rows > 1) printf("The confidence is that of all %d lengths together.\n", c->rows);
    printf(
        "IDs %s; step %lld, %s, build %s. The number of draws was fixed before any was judged.\n",
        c->predicted ? "predicted" : "given", (long long)c->step, c->isa, lg_commit());
}

int lg_cli_certify_sampled(lg_sampled_options *o, int json)
{
    static lg_sampled c;
    lg_error err = {0};
    o->cost = print_cost;
    int code = lg_certify_sampled(o, &c, &err);
    if (code) return lg_cli_error("certify", code, &err);
    warn(c.warning);
    code = lg_sampled_save(&c, o->folder, &err);
    warn_unsaved(code, &err);
    if (!json)
        print_sampled(&c);
    else if ((code = print_json(lg_sampled_json(&c), o->folder)))
        return code;
    return c.certified ? LG_EXIT_DONE : LG_EXIT_NO;
}
