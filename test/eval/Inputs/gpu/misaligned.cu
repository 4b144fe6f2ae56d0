// EXPECT: crashed cudaErrorMisalignedAddress
#include "entry.h"
static __global__ void wide(float *y) { *(float4 *)(y + 1) = make_float4(0, 0, 0, 0); }
void launch(const float *x, float *y, long n, cudaStream_t stream) {
  wide<<<1, 1, 0, stream>>>(y);
}
