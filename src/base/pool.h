/* pool.h: worker threads of our own (pthreads), so that TSan sees them.
 * lg__pool_run hands out the numbers 0..n-1, each once, to the workers and the calling
 * thread, and returns when all are done. Who gets which number is not fixed: results must
 * not depend on it. */
#ifndef LG_BASE_POOL_H
#define LG_BASE_POOL_H

#include "lengthen.h"

struct lg__pool;

/* threads includes the caller; 0: all cores. With 1 there are no workers. */
struct lg__pool *lg__pool_new(int threads, lg_error *err);
void lg__pool_free(struct lg__pool *p);
int lg__pool_threads(const struct lg__pool *p);

/* work(context, i, thread): thread is 0..threads-1, one at a time each. */
void lg__pool_run(struct lg__pool *p, int n, void (*work)(void *context, int i, int thread),
                  void *context);

#endif
