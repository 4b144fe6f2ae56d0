// EXPECT: forbidden work escapes the timed stream
// The work is on a stream that the events know nothing of.
#include "entry.h"
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  static cudaStream_t mine = nullptr;
  static cudaEvent_t before;
  if (!mine) {
    cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
  }
  cudaEventRecord(before, stream);
  cudaStreamWaitEvent(mine, before, 0);
  good(x, y, n, mine);
}
