// Whether a loop over neighbours meets an edge is tested once before it, where
// what it tests follows from its bounds.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/interior.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --apply interior-loop@blur:loop1 -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --apply interior-loop@clamped:loop1 -o %t.2.cu && FileCheck %s --check-prefix=CLAMP < %t.2.cu
// RUN: %stark-tool rewrites %t.2.cu --apply interior-loop@skipping:loop1 -o %t.3.cu && FileCheck %s --check-prefix=SKIP < %t.3.cu
// RUN: %stark-tool rewrites %t.3.cu --apply interior-loop@chosen:loop1 -o %t.cu && FileCheck %s --check-prefix=CHOSEN < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/interior.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: h=512 r=3 w=512: modelled {{.*}}: {{(1[.](0[3-9]|[1-9])|[2-9]).*}} times as fast

// LIST-DAG: {{^}}interior-loop@blur:loop1: line [[#@LINE+18]]: Test once whether all neighbours are there
// CHECK: {{^[^/]*}}if (__all_sync(__activemask(), 0 <= (y + (-r)) && (y + r) < h &&
// CHECK-NEXT: 0 <= (x + (-r)) && (x + r) < w)) {
// CHECK-NEXT: {{^[^/]*}}for (int i = -r; i <= r; ++i)
// CHECK-NEXT: {{^[^/]*}}for (int j = -r; j <= r; ++j) {
// CHECK-NEXT: {{^[^/]*}}int at = x + j;
// CHECK-NEXT: {
// CHECK-NEXT: {{^[^/]*}}sum += in[(y + i) * w + at];
// CHECK: {{^[^/]*}}} else { // at an edge
// CHECK-NEXT: {{^[^/]*}}for (int i = -r; i <= r; ++i)
// CHECK: {{^[^/]*}}if (y + i >= 0 && h > y + i && at >= 0 && at < w)
__global__ void blur(const float *in, float *out, int w, int h, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float sum = 0;
  int count = 0;
  for (int i = -r; i <= r; ++i)
    for (int j = -r; j <= r; ++j) {
      int at = x + j;
      if (y + i >= 0 && h > y + i && at >= 0 && at < w) {
        sum += in[(y + i) * w + at];
        ++count;
      }
    }
  out[y * w + x] = sum / count;
}

__device__ int clampi(int v, int lo, int hi) {
  return v < lo ? lo : (v > hi ? hi : v);
}

// LIST-DAG: {{^}}interior-loop@clamped:loop1: line
// CLAMP: {{^[^/]*}}if (__all_sync(__activemask(), 0 <= (y + (-r)) && (y + r) <= (h - 1) &&
// CLAMP: {{^[^/]*}}int yy = (y + i);
// CLAMP: {{^[^/]*}}sum += in[yy * w + (x + j)];
// CLAMP: } else { // at an edge
__global__ void clamped(const float *in, float *out, int w, int h, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float sum = 0;
  for (int i = -r; i <= r; ++i) {
    int yy = clampi(y + i, 0, h - 1);
    for (int j = -r; j <= r; ++j)
      sum += in[yy * w + min(max(x + j, 0), w - 1)];
  }
  out[y * w + x] = sum;
}

// From a first one on, two at a time, and backwards.
// LIST-DAG: {{^}}interior-loop@skipping:loop1: line
// SKIP: {{^[^/]*}}if (__all_sync(__activemask(), 0 <= (x - (((2 * r) - 1) * 2)) && x < w)) {
// SKIP: } else { // at an edge
__global__ void skipping(const float *in, float *out, int w, int h, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  float sum = 0;
  for (int i = 0; i < 2 * r; i += 2) {
    int at = x - 2 * i;
    if (at < 0 || x >= w)
      continue;
    sum += in[y * w + at];
  }
  if (x < w)
    out[y * w + x] += sum;
}

// LIST-DAG: {{^}}interior-loop@chosen:loop1: line
// CHOSEN: {{^[^/]*}}if (__all_sync(__activemask(), 0 <= (x + 0) && (x + (r - 1)) < w)) {
// CHOSEN: {{^[^/]*}}sum += ((double)(in[y * w + x + i]));
// CHOSEN: } else { // at an edge
__global__ void chosen(const float *in, float *out, int w, int h, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  if (x >= w)
    return;
  float sum = 0;
  for (int i = 0; i < r; ++i)
    sum += x + i < 0 || x + i >= w ? 0.0 : in[y * w + x + i];
  out[y * w + x] -= sum;
}

// Below zero there is nothing for a number without a sign.
// LIST-NOT: {{^}}interior-loop@no_sign
__global__ void no_sign(const float *in, float *out, unsigned w, unsigned r) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < 2 * r; ++i)
    if (x - r + i < w)
      sum += in[x - r + i];
  out[x] = sum;
}

// LIST-DAG: not interior-loop@waits:loop1: {{.*}} it waits for other threads
__global__ void waits(const float *in, float *out, int w, int r) {
  __shared__ float part[256];
  int x = threadIdx.x;
  part[x] = 0;
  for (int i = 0; i < r; ++i) {
    __syncthreads();
    if (x + i < w)
      part[x] += in[x + i];
  }
  out[x] = part[x];
}

// How far the inner loop goes follows from the outer one: only that it stays
// inside is not known, and nothing else is tested.
// LIST-NOT: {{^}}interior-loop@triangle
__global__ void triangle(const float *in, float *out, int w, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < r; ++i)
    for (int j = 0; j < i * i; ++j)
      if (x + j < w)
        sum += in[x + j];
  out[x] = sum;
}

// Where it looks moves with the loop in another way, or with what is read.
// LIST-NOT: {{^}}interior-loop@moves
__global__ void moves(const float *in, const int *to, float *out, int w,
                      int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < r; ++i) {
    if (to[i] < w)
      sum += in[to[i]];
    if (x + i * r < w)
      sum += in[x + i * r];
    x += 1;
    if (x + i < w)
      sum += in[x + i];
  }
  out[x] = sum;
}

// What is done at an edge is more than nothing.
// LIST-NOT: {{^}}interior-loop@otherwise
__global__ void otherwise(const float *in, float *out, int w, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < r; ++i)
    if (x + i < w)
      sum += in[x + i];
    else
      sum -= in[w - 1];
  out[x] = sum;
}

void launch(const float *in, float *out, float *mean, int w, int h, int r) {
  dim3 grid((w + 31) / 32, (h + 7) / 8), block(32, 8);
  blur<<<grid, block>>>(in, mean, w, h, r);
  clamped<<<grid, block>>>(in, out, w, h, r);
  skipping<<<dim3((w + 255) / 256, h), 256>>>(in, out, w, h, r);
  chosen<<<dim3((w + 255) / 256, h), 256>>>(in, out, w, h, r);
}
