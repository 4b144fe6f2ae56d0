// RACE, HALF: faults that a build's flags turn on.
__device__ float partner(const float *sums, int from) { return sums[from]; }

__global__ void foldKernel(const float *x, float *y, int n) {
  __shared__ float sums[256];
  int i = threadIdx.x;
  sums[i] = i < n ? x[i] : 0.0f;
#ifdef HALF
  if (i < 64)
    __syncthreads();
  else
    __syncthreads();
#elif !defined(RACE)
  __syncthreads();
#endif
  y[i] = sums[i] + partner(sums, i / 2);
}
