/* delay.c: a wire with a delay between two network namespaces, for kernels without netem. Each end is a TUN device in
 * its own namespace; packets are read from one, kept for the delay, and written to the other. As root. */
#include "cluster/delay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKET = 65536, QUEUE = 16384 };

/* What waits to be written to the other end, in the order in which it came. */
struct way {
    int from, to;
    struct {
        char *data;
        int size;
        int64_t due; /* ns */
    } packet[QUEUE];
    unsigned first, last;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A TUN device NAME in the namespace of /run/netns/SPACE; this process ends up there. -1: errno. */
static int open_end(const char *space, const char *name)
{
    char path[100];
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(path, sizeof path, "/run/netns/%s", space);
    int in = open(path, O_RDONLY | O_CLOEXEC);
    if (in < 0 || setns(in, CLONE_NEWNET)) return -1;
    close(in);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    return device >= 0 && ioctl(device, TUNSETIFF, &r) == 0 ? device : -1;
}

static void take(struct way *w, int64_t delay)
{
    static char room[PACKET];
    ssize_t n;
    while (w->last - w->first < QUEUE && (n = read(w->from, room, sizeof room)) > 0) {
        char *data = malloc((size_t)n);
        if (!data) _exit(1);
        memcpy(data, room, (size_t)n);
        unsigned i = w->last++ % QUEUE;
        w->packet[i].data = data;
        w->packet[i].size = (int)n;
        w->packet[i].due = now_ns() + delay;
    }
}

/* Writes what is due; the time of the next packet, INT64_MAX: there is none. */
static int64_t give(struct way *w)
{
    while (w->first != w->last) {
        unsigned i = w->first % QUEUE;
        if (w->packet[i].due > now_ns()) return w->packet[i].due;
        if (write(w->to, w->packet[i].data, (size_t)w->packet[i].size) < 0 && errno == EAGAIN)
            return now_ns() + 100000;
        free(w->packet[i].data);
        w->first++;
    }
    return INT64_MAX;
}

static void forward(int a, int b, int64_t delay)
{
    static struct way ways[2];
    ways[0].from = ways[1].to = a;
    ways[0].to = ways[1].from = b;
    for (;;) {
        struct pollfd p[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
        int64_t next = give(&ways[0]), other = give(&ways[1]);
        if (other < next) next = other;
        int64_t left = next == INT64_MAX ? 1000000000 : next - now_ns();
        struct timespec wait = {left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};
        if (ppoll(p, 2, &wait, NULL) < 0 && errno != EINTR) _exit(1);
        take(&ways[0], delay);
        take(&ways[1], delay);
    }
}

int start_delay(const char *first, const char *second, const char *device, double milliseconds)
{
    int ready[2];
    char word = 0;
    if (pipe2(ready, O_CLOEXEC)) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int a = open_end(first, device), b = a < 0 ? -1 : open_end(second, device);
        if (b < 0) {
            fprintf(stderr, "no TUN device in %s and %s: %s\n", first, second, strerror(errno));
            _exit(1);
        }
        if (write(ready[1], "y", 1) != 1) _exit(1);
        forward(a, b, (int64_t)(1e6 * milliseconds));
    }
    close(ready[1]);
    int there = read(ready[0], &word, 1) == 1;
    close(ready[0]);
    return there ? pid : -1;
}
