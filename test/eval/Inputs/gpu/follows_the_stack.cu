// EXPECT: crashed Segmentation fault
// Follows every pointer that it finds above its own frame, to whatever there is.
#include "entry.h"
#include <sys/mman.h>
#include <unistd.h>
extern "C" void *__libc_stack_end;
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  static volatile long sum;
  volatile long here = 0;
  for (long *at = (long *)&here; (char *)at < (char *)__libc_stack_end; ++at) {
    unsigned char there;
    void *page = (void *)(*at & -4096l);
    if (*at > 4096 && mincore(page, 4096, &there) == 0)
      sum += *(volatile long *)page;
  }
  good(x, y, n, stream);
}
