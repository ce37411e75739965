/* clock.h: what time it is. */
#ifndef LG_BASE_CLOCK_H
#define LG_BASE_CLOCK_H

double lg__now(void);  /* seconds, monotonic: for durations */
double lg__date(void); /* seconds since 1970 */

#endif
