/* demo.c: `lengthen demo`, the main job in about two minutes. */
#include <stdio.h>

#include "cli/cli.h"

const char lg_cmd_demo_help[] =
    "Usage: lengthen demo\n"
    "\n"
    "Trains a small transformer on parity with a scratchpad, on at most 20 bits, and\n"
    "prints its accuracy at growing lengths.\n"
    "\n"
    "Example:\n"
    "  lengthen demo\n";

int lg_cmd_demo(int argc, char **argv)
{
    if (argc > 1) return lg_cli_wrong("demo", "it takes no argument, but got \"%s\"", argv[1]);
    puts("This build has no demo yet. It will train a small transformer on parity with a\n"
         "scratchpad, on at most 20 bits, and print its accuracy at growing lengths.");
    return LG_EXIT_FAILED;
}
