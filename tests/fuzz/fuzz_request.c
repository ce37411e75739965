// fuzz_request.c: what a browser, or anybody else, may send to `lengthen serve`: `make fuzz`.
// uses: src/pages/request.c
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pages/pages.h"

/* The input is the method, the target and the Host, a newline between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = {"lab.example", NULL};
    static struct lg__request r;
    char *text = malloc(size + 1), *target, *host;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    target = strchr(text, '\n');
    if (target) *target++ = 0;
    host = target ? strchr(target, '\n') : NULL;
    if (host) *host++ = 0;
    int status =
        lg__request_read(&r, text, target ? target : "/", host ? host : "localhost", hosts);
    assert(status == 0 || status == 400 || status == 403 || status == 404 || status == 405);
    assert(r.count >= 0 && r.count <= LG__REQUEST_RUNS_MOST);
    for (int i = 0; i < r.count; i++) assert(r.runs[i] > 0);
    assert(r.points >= 2 && r.points <= 2000 && r.length >= 0 && r.length <= 10000);
    assert(memchr(r.prompt, 0, sizeof r.prompt) && memchr(r.prompt_ids, 0, sizeof r.prompt_ids) &&
           memchr(r.task, 0, sizeof r.task) && memchr(r.positions, 0, sizeof r.positions) &&
           memchr(r.state, 0, sizeof r.state) && memchr(r.seed, 0, sizeof r.seed));
    free(text);
    return 0;
}
