/* serve.c: `lengthen serve`: the runs of the store in a browser, live. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "lengthen_lab.h"

const char lg_cmd_serve_help[] =
    "Usage: lengthen serve [OPTIONS]\n"
    "\n"
    "Shows the runs of the store in a browser as they train: curves move without reloading.\n"
    "Filter by task, positions, seed and state; select several to compare them; a run's page has\n"
    "what `lengthen report` shows, and draws what the run writes to a prompt of yours. Starts\n"
    "nothing and changes nothing: the store is only read. Ctrl-C ends it.\n"
    "\n"
    "  --port N        the port (8765; 0: any that is free)\n"
    "  --address ADDR  listen on this address (127.0.0.1: this machine alone). Whoever reaches\n"
    "                  another one sees all runs; there is no password\n"
    "  --host NAME     a further name by which browsers may call it; requests with any other\n"
    "                  Host than localhost, the address and this one are refused\n"
    "  --store FILE    the store (LENGTHEN_STORE, else lengthen.db)\n"
    "\n"
    "It needs a build with libmicrohttpd; without it the command says what to install.\n"
    "\n"
    "Examples:\n"
    "  lengthen serve\n"
    "  lengthen serve --port 9000 --store lab.db\n";

static void ready(void *context, const char *url)
{
    (void)context;
    printf("%s\n", url);
    fflush(stdout);
    fputs("Open it in a browser; Ctrl-C ends it.\n", stderr);
}

int lg_cmd_serve(int argc, char **argv)
{
    lg_serve_options o = {.port = 8765, .ready = ready, .stop = &lg_cli_interrupted};
    const char *store = NULL;
    const struct lg_cli_option rows[] = {
        {"port", .whole = &o.port, .least = 0, .most = 65535},
        {"address", .text = &o.address},
        {"host", .text = &o.host},
        {"store", .text = &store},
        {0},
    };
    lg_error err = {0};
    int code = lg_cli_options("serve", rows, &argc, &argv);
    if (code) return code;
    if (argc) return lg_cli_wrong("serve", "it takes no \"%s\"", argv[0]);
    o.store = lg_cli_store(store);
    lg_cli_catch_interrupts(1);
    code = lg_serve(&o, &err);
    lg_cli_catch_interrupts(0);
    return code ? lg_cli_error("serve", code, &err) : LG_EXIT_DONE;
}
