/* bench.c: `lengthen bench`, this machine's peak, each kernel, the whole step. */
#include <stdio.h>

#include "cli/cli.h"

const char lg_cmd_bench_help[] =
    "Usage: lengthen bench\n"
    "\n"
    "Measures this machine's matrix-multiply peak, each kernel, and whole training steps\n"
    "as tokens a second and as a share of that peak.\n"
    "\n"
    "Example:\n"
    "  lengthen bench\n";

int lg_cmd_bench(int argc, char **argv)
{
    if (argc > 1) return lg_cli_wrong("bench", "it takes no argument, but got \"%s\"", argv[1]);
    puts("This build has no bench yet. It will print this machine's peak, each kernel's\n"
         "speed, and the speed of whole training steps.");
    return LG_EXIT_FAILED;
}
