/* runs_probes.c: what `lengthen runs show` has of the probes of a run. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/probe.h"
#include "cli/runs.h"
#include "cli/show.h"

/* The bins of a probe come one after the other, from the first on. */
struct shown {
    int json, count;
    lg_store_probe probe; /* that the bins are of; its words are copies: */
    char against[64], method[16], data[400];
    lg_probe_bin bins[LG_PROBE_BINS];
};

static void print_probe(struct shown *s)
{
    const lg_store_probe *p = &s->probe;
    if (!s->count) return;
    printf("\nHow many earlier tokens predictions need, at step %lld: %s, length %d, %d "
           "%s%s%s%s%s\n\n",
           (long long)p->step, lg_cli_plain(s->method), p->length, p->documents,
           p->documents == 1 ? "text" : "texts", *s->data ? " of " : "", lg_cli_plain(s->data),
           *s->against ? ", excess of the run " : "", lg_cli_plain(s->against));
    lg_cli_probe_table(s->bins, s->count, p->most_k, p->context > 0);
    s->count = 0;
}

static void json_text(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    lg_cli_json(stdout, text);
}

static void print_object(const lg_store_probe *p)
{
    printf("{\"probe\":true,\"step\":%lld", (long long)p->step);
    json_text("method", p->method);
    json_text("texts", p->data);
    json_text("against", p->against);
    printf(",\"against_step\":%lld,\"length\":%d,\"context\":%d,\"documents\":%d,\"max_k\":%d,"
           "\"epsilon\":%g,\"min_rise\":%g,",
           (long long)p->against_step, p->length, p->context, p->documents, p->most_k, p->epsilon,
           p->least);
    lg_cli_probe_json(&p->bin);
    puts("}");
}

static void take(void *context, const lg_store_probe *p)
{
    struct shown *s = context;
    if (s->json) {
        if (!lg_cli_probe_is_past(&p->bin, p->most_k)) print_object(p);
        return;
    }
    if (!p->bin.low || s->count == LG_PROBE_BINS) print_probe(s);
    s->probe = *p;
    snprintf(s->against, sizeof s->against, "%s", p->against);
    snprintf(s->method, sizeof s->method, "%s", p->method);
    snprintf(s->data, sizeof s->data, "%s", p->data);
    s->bins[s->count++] = p->bin;
}

int lg_cli_probes_show(struct lg_cli_asked *a, const lg_store_run *r)
{
    struct shown s = {.json = a->json};
    int e = lg_store_probes(a->store, r->number, take, &s, &a->err);
    if (!e) print_probe(&s);
    return e;
}
