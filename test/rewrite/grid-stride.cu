// A loop over the grid may reach no element that the grid did not: where there
// may be fewer threads than elements, the others stay as they are.
// RUN: %stark-tool rewrites %s | FileCheck %s
// RUN: %stark-tool rewrites %s --apply grid-stride@by_block | FileCheck %s --check-prefix=DIM3
// DIM3: {{^[^/]*}}by_block<<<(blocks_of.x + 3) / 4, block>>>(x, y, n);
// RUN: %stark-tool rewrites %s --check | FileCheck %s --check-prefix=MADE
// MADE: {{^[1-9][0-9]*}} rewrites, 0 of them bad
template <class T> T ceil_div(T a, T b) { return (a + b - 1) / b; }
#define CDIV(a, b) (((a) + (b) - 1) / (b))
#define N 100000

// CHECK-DAG: {{^}}grid-stride@quotient: line
__global__ void quotient(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@product: line
__global__ void product(const float *x, float *y, int b, int t) {
  int n = b * t;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@in_macro: line
__global__ void in_macro(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@less_one: line
__global__ void less_one(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@numbers: line
__global__ void numbers(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@constant: line
__global__ void constant(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@by_block: line
__global__ void by_block(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}

// CHECK-DAG: {{^}}grid-stride@halves: line
__global__ void halves(const float *x, float *y, int b, int t) {
  int half = t / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int all = b * half;
  if (i >= all)
    return;
  y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@ceiling: line
__global__ void ceiling(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@ceiling_as_int: line
__global__ void ceiling_as_int(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: {{^}}grid-stride@ceiling_of_widths: line
__global__ void ceiling_of_widths(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}

// A float holds no more than 24 bits of a number.
// CHECK-DAG: not grid-stride@ceiling_float: {{.*}} its launch is not seen to have a thread for each element
__global__ void ceiling_float(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: not grid-stride@ceiling_wider: {{.*}} its launch is not seen to have a thread for each element
__global__ void ceiling_wider(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: not grid-stride@rounded_down: {{.*}} its launch is not seen to have a thread for each element
__global__ void rounded_down(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// A loop has no element that begins after its bound.
// CHECK-DAG: not grid-stride@later: {{.*}} its bound is made of more than parameters and constants
__global__ void later(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int half = n / 2;
  if (i < half * 2)
    y[i] = 2 * x[i];
}

// CHECK-DAG: not grid-stride@short_of: {{.*}} its launch is not seen to have a thread for each element
__global__ void short_of(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: not grid-stride@given: {{.*}} its launch is not seen to have a thread for each element
__global__ void given(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: not grid-stride@another: {{.*}} its launch is not seen to have a thread for each element
__global__ void another(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: not grid-stride@too_few: {{.*}} its launch is not seen to have a thread for each element
__global__ void too_few(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    y[i] = 2 * x[i];
}
// CHECK-DAG: not grid-stride@changed: {{.*}} its launch is not seen to have a thread for each element
__global__ void changed(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
// CHECK-DAG: not grid-stride@wider: {{.*}} its launch is not seen to have a thread for each element
__global__ void wider(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}

// CHECK-DAG: not grid-stride@plane: {{.*}} the grid is not one number
__global__ void plane(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}

void launch(const float *x, float *y, int n, int b, int t, int width,
            int blocks) {
  quotient<<<ceil_div(n, width), width>>>(x, y, n);
  const int all = b * t;
  const int grid = ceil_div(all, width);
  product<<<grid, width>>>(x, y, b, t);
  in_macro<<<CDIV(n, width), width>>>(x, y, n);
  less_one<<<(n - 1) / 128 + 1, 128>>>(x, y, n);
  numbers<<<391, 256>>>(x, y);
  int given_number = N;
  constant<<<(given_number + 255) / 256, 256>>>(x, y, given_number);
  dim3 block(64);
  dim3 blocks_of((n + block.x - 1) / block.x);
  by_block<<<blocks_of, block>>>(x, y, n);
  short_of<<<n / width, width>>>(x, y, n);
  given<<<blocks, width>>>(x, y, n);
  another<<<ceil_div(b, width), width>>>(x, y, n);
  too_few<<<390, 256>>>(x, y);
  plane<<<dim3(n / 256, 2), 256>>>(x, y, n);
  wider<<<ceil_div(n, 2 * width), width>>>(x, y, n);
  int half = t / 2, all_halves = b * half;
  halves<<<(all_halves + 127) / 128, 128>>>(x, y, b, t);
  ceiling<<<ceil(n / 256.0), 256>>>(x, y, n);
  int blocks_as_int = (int)ceil((double)n / 256);
  ceiling_as_int<<<blocks_as_int, 256>>>(x, y, n);
  ceiling_of_widths<<<dim3(ceil(static_cast<double>(n) / width)), dim3(width)>>>(x, y, n);
  ceiling_float<<<ceil((float)n / 256), 256>>>(x, y, n);
  ceiling_wider<<<ceil(n / 512.0), 256>>>(x, y, n);
  rounded_down<<<ceil(n / 256), 256>>>(x, y, n);
  later<<<(n + 255) / 256, 256>>>(x, y, n);
}
void change(const float *x, float *y, int n, int width) {
  int grid = ceil_div(n, width);
  n *= 2;
  changed<<<grid, width>>>(x, y, n);
}
