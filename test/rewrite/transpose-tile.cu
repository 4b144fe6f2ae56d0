// Where threads side by side load along a row and store down a column, or the
// other way round, a tile of shared memory lies between.
// RUN: %stark-tool rewrites %s --workload %S/Inputs/transpose.workload.json | FileCheck %s --check-prefix=LIST
// RUN: %stark-tool rewrites %s --workload %S/Inputs/transpose.workload.json --apply transpose-tile@there -o %t.1.cu && FileCheck %s < %t.1.cu
// RUN: %stark-tool rewrites %t.1.cu --workload %S/Inputs/transpose.workload.json --apply transpose-tile@here -o %t.cu && FileCheck %s --check-prefix=HERE < %t.cu
// RUN: %stark-tool simulate %s --workload %S/Inputs/transpose.workload.json --candidate %t.cu | FileCheck %s --check-prefix=SIM
// RUN: %if cuda-toolkit %{ nvcc -arch=sm_90 -ptx %t.cu -o %t.ptx %}
// SIM: correct (simulated NVIDIA H200)
// SIM: h=512 w=1024: modelled {{.*}}: {{(1[.][1-9]|[2-9]).*}} times as fast

// A guard that ends the thread becomes a condition: all reach the barrier.
// LIST-DAG: {{^}}transpose-tile@there: line [[#@LINE+17]]: Transpose in a shared tile
// CHECK: {{^[^/]*}}__shared__ float tile[32][32 + 1];
// CHECK-NEXT: {{^ *}}{
// CHECK-NEXT: {{^[^/]*}}int x = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK-NEXT: {{^[^/]*}}int y = blockIdx.y * blockDim.y + threadIdx.y;
// CHECK-NEXT: {{^[^/]*}}float b = bias[x % w];
// CHECK-NEXT: {{^[^/]*}}if (!(x >= w || y >= h))
// CHECK-NEXT: {{^[^/]*}}tile[threadIdx.y][threadIdx.x] = in[y * w + x] * 2 + b;
// CHECK-NEXT: {{^ *}}}
// CHECK-NEXT: {{^ *}}__syncthreads();
// CHECK-NEXT: {{^ *}}{
// CHECK-NEXT: {{^[^/]*}}int x = blockIdx.x * blockDim.x + threadIdx.y;
// CHECK-NEXT: {{^[^/]*}}int y = blockIdx.y * blockDim.y + threadIdx.x;
// CHECK-NEXT: {{^[^/]*}}int to = x * h + y;
// CHECK-NEXT: {{^[^/]*}}if (!(x >= w || y >= h))
// CHECK-NEXT: {{^[^/]*}}out[to] = tile[threadIdx.x][threadIdx.y];
// CHECK-NEXT: {{^ *}}}
__global__ void there(const float *in, const float *bias, float *out, int w,
                      int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float b = bias[x % w];
  if (x >= w || y >= h)
    return;
  int to = x * h + y;
  out[to] = in[y * w + x] * 2 + b;
}

// The loads are down a column.
// LIST-DAG: {{^}}transpose-tile@here: line
// HERE: {{^[^/]*}}int row = blockIdx.y * 16 + threadIdx.x;
// HERE-NEXT: {{^[^/]*}}int col = blockIdx.x * 16 + threadIdx.y;
// HERE-NEXT: {{^[^/]*}}if ((row < h) && (col < w))
// HERE-NEXT: {{^[^/]*}}tile2[threadIdx.x][threadIdx.y] = in[col * h + row];
// HERE: {{^[^/]*}}__syncthreads();
// HERE: {{^[^/]*}}int row = blockIdx.y * 16 + threadIdx.y;
// HERE-NEXT: {{^[^/]*}}int col = blockIdx.x * 16 + threadIdx.x;
// HERE-NEXT: {{^[^/]*}}if ((row < h) && (col < w))
// HERE-NEXT: {{^[^/]*}}out[row * w + col] = tile2[threadIdx.y][threadIdx.x];
__global__ void here(const float *in, float *out, int w, int h) {
  int row = blockIdx.y * 16 + threadIdx.y;
  int col = blockIdx.x * 16 + threadIdx.x;
  if (row < h)
    if (col < w)
      out[row * w + col] = in[col * h + row];
}

// Both sides lie along rows, or both down columns: a tile would not help.
// LIST-NOT: transpose-tile@copy
__global__ void copy(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[y * w + x] = in[y * w + x];
}

// LIST-NOT: transpose-tile@columns
__global__ void columns(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[x * h + y] = in[x * h + y];
}

// LIST-DAG: not transpose-tile@oblong: {{.*}} its blocks are no squares of 8 to 32 threads a side
__global__ void oblong(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[x * h + y] = in[y * w + x];
}

// LIST-DAG: not transpose-tile@unknown: {{.*}} the block size of a launch is no constant
__global__ void unknown(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[x * h + y] = in[y * w + x];
}

#define COLUMN (blockIdx.x * blockDim.x + threadIdx.x)
// LIST-DAG: not transpose-tile@named: {{.*}} it names threadIdx in a macro
__global__ void named(const float *in, float *out, int w, int h) {
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (COLUMN < w && y < h)
    out[COLUMN * h + y] = in[y * w + COLUMN];
}

// What a thread does more would be done by another one, or twice.
// LIST-NOT: transpose-tile@more
__global__ void more(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[x * h + y] = in[y * w + x];
  out[y * w + x] += 1;
}

// LIST-NOT: transpose-tile@adds
__global__ void adds(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[x * h + y] += in[y * w + x];
}

// LIST-NOT: transpose-tile@counts
__global__ void counts(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int n = x++;
  if (x < w && y < h)
    out[x * h + y] = in[y * w + n];
}

// LIST-NOT: transpose-tile@watched
__global__ void watched(const volatile float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    out[x * h + y] = in[y * w + x];
}

void launch(const float *in, const float *bias, float *out, float *back, int w,
            int h) {
  there<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 32)>>>(in, bias, out, w,
                                                             h);
  here<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(out, back, w, h);
}
void others(const float *in, float *out, int w, int h, int side) {
  dim3 grid(w / 32, h / 32), block(32, 32);
  copy<<<grid, block>>>(in, out, w, h);
  columns<<<grid, block>>>(in, out, w, h);
  oblong<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(in, out, w, h);
  unknown<<<grid, dim3(side, side)>>>(in, out, w, h);
  named<<<grid, block>>>(in, out, w, h);
  more<<<grid, block>>>(in, out, w, h);
  adds<<<grid, block>>>(in, out, w, h);
  counts<<<grid, block>>>(in, out, w, h);
  watched<<<grid, block>>>(in, out, w, h);
}
