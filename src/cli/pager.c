/* pager.c: long texts on a terminal go through a pager: PAGER, else less, which shows what fits as it is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static pid_t pager;

void lg_cli_pager_start(void)
{
    const char *named = getenv("PAGER"), *command = named ? named : "less -FRX";
    const char *terminal = getenv("TERM");
    int to[2];
    if (!isatty(STDOUT_FILENO) || !*command || (terminal && strcmp(terminal, "dumb") == 0)) return;
    if (!named && system("command -v less >/dev/null 2>&1") != 0) return;
    if (pipe(to)) return;
    fflush(stdout);
    pager = fork();
    if (pager == 0) {
        dup2(to[0], STDIN_FILENO);
        close(to[0]);
        close(to[1]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    if (pager > 0) {
        dup2(to[1], STDOUT_FILENO);
        signal(SIGPIPE, SIG_IGN); /* a pager that is left early is no error */
    }
    close(to[1]);
}

int lg_cli_pager_end(void)
{
    if (pager <= 0) return 0;
    fflush(stdout);
    close(STDOUT_FILENO);
    waitpid(pager, NULL, 0);
    return 1;
}
