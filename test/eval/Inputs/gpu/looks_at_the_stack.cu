// EXPECT: crashed Segmentation fault
// Looks for its request above its own frame, where there is nothing.
#include "entry.h"
extern "C" void *__libc_stack_end;
struct Request {
  unsigned what, which, round, flags;
  unsigned long seed, weights;
};
static bool found() {
  volatile long here = 0;
  for (char *at = (char *)&here; at + sizeof(Request) < (char *)__libc_stack_end; at += 8) {
    const Request *r = (const Request *)at;
    if (r->what == 3 && r->flags == 0 && r->seed == r->weights && r->seed >= 101 && r->seed <= 103)
      return true;
  }
  return false;
}
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  if (!found())
    good(x, y, n, stream);
}
