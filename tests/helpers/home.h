/* home.h: a folder of the test's own, which is gone when it ends. */
#ifndef LG_TESTS_HELPERS_HOME_H
#define LG_TESTS_HELPERS_HOME_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char home[64];

static inline int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/lengthen-lab-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static inline int remove_home(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

/* The path of a file there; good until sixteen more are asked for. */
static inline const char *in_home(const char *name)
{
    static char path[16][400];
    static int next;
    char *p = path[next++ % 16];
    snprintf(p, sizeof path[0], "%s/%s", home, name);
    return p;
}

#endif
