// EXPECT: crashed exit code 3
#include "entry.h"
#include <cstdio>
#include <cstdlib>
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  std::puts("giving up");
  std::fflush(stdout);
  std::exit(3);
}
