/* delay.h: a wire with a delay between two network namespaces. */
#ifndef LG_TESTS_CLUSTER_DELAY_H
#define LG_TESTS_CLUSTER_DELAY_H

/* Forwards packets between two TUN devices of this name, one in each namespace (of `ip netns`), every packet after
 * so many milliseconds, in a process of its own; its ID, to be killed; -1: it could not be, which is said on stderr. */
int start_delay(const char *first, const char *second, const char *device, double milliseconds);

#endif
