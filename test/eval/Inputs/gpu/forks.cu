// EXPECT: forbidden a system call that is not allowed
#include "entry.h"
#include <unistd.h>
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  good(x, y, n, stream);
  if (fork() == 0)
    _exit(0);
}
