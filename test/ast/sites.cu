// Every kernel and launch of a source is listed, whoever made it: what cannot be
// edited says why, and what only looks like a launch is none.
// RUN: %stark-tool sites --cuda-path=%t.none %s | FileCheck %s
// RUN: %stark-tool sites --cuda-path=%t.none --json %s | FileCheck %s --check-prefix=JSON

#include <cuda_runtime.h>
#define CUDA_CHECK(x) do { if ((x) != cudaSuccess) return; } while (0)
#define RUN(x) do { x; } while (0)
#define MAKE(name, op)                                                         \
  __global__ void name##_kernel(float *p) { p[threadIdx.x] op 2.0f; }
MAKE(scale, *=)
MAKE(shift, +=)
#define LAUNCH(kernel) kernel<<<1, 64>>>(p)

template <class T> __global__ void copy(const T *x, T *y) {
  extern __shared__ float tile[];
  asm volatile("membar.gl;");
  for (int i = 0; i < 4; ++i)
    y[i] = x[i];
  __syncthreads();
}
template <> __global__ void copy<int>(const int *x, int *y) { y[0] = x[0]; }
__global__ void copy(const double *x) {
#if __CUDA_ARCH__ >= 900
  if (x) return;
#else
  while (x) {}
#endif
}
#if 0
__global__ void never(float *p) { p[0] = 1; }
void host_never() { never<<<1, 1>>>(nullptr); }
#endif
// copy<<<1, 1>>>(a, b)
const char *Text = "copy<<<1, 1>>>(a, b)";
void run(float *p, cudaStream_t s) {
  copy<float><<<dim3(4), 256, 16, s>>>(p, p);
  RUN((scale_kernel<<<1, 32>>>(p)));
  RUN(shift_kernel<<<1, 32>>>(p));
  void *args[] = {&p};
  CUDA_CHECK(cudaLaunchKernel((const void *)scale_kernel, dim3(1), dim3(1), args, 0, s));
  elsewhere<<<1, 2>>>(p);
}
#include "no_such_header.h"
template <class T> void dependent(T *p) { copy<T><<<1, sizeof(T)>>>(p, p); }
__global__ void parent(float *p) { scale_kernel<<<1, 1>>>(p); }
void twice(float *p) { LAUNCH(scale_kernel); LAUNCH(shift_kernel); }

// CHECK:      name##_kernel: kernel, line [[#]]; cannot be edited: in the definition of macro MAKE
// CHECK:      scale_kernel: kernel, line [[#]], (float * p); cannot be edited: inside the expansion of macro MAKE
// CHECK:      shift_kernel: kernel, {{.*}}; cannot be edited: inside the expansion of macro MAKE

// A launch that a macro writes is listed where it is written and at each use.
// CHECK:      file:launch1: launch of kernel, {{.*}}; cannot be edited: in the definition of macro LAUNCH

// A template, its specialisation and an overload have an id each.
// CHECK:      {{^}}copy: kernel, line [[#]]-[[#]], (const T * x, T * y){{$}}
// CHECK-NEXT:   copy:decl1: declaration of tile, line [[#]], shared
// CHECK-NEXT:   copy:stmt1: statement
// CHECK-NEXT:   copy:loop1: loop, line [[#]]-[[#]], for
// CHECK:          copy:store1: access of y, line [[#]], global
// CHECK:          copy:barrier1: barrier of __syncthreads
// CHECK:      {{^}}copy#2: kernel, line [[#]], (const int * x, int * y){{$}}
// CHECK:      {{^}}copy#3: kernel, line [[#]]-[[#]], (const double * x){{$}}
// The branch of the device is taken, the other one is not there.
// CHECK-NEXT:   copy#3:branch1: branch, line [[#]], if
// CHECK-NOT:    copy#3:loop

// CHECK:      {{^}}never: kernel, {{.*}}; cannot be edited: in text that the preprocessor skips
// CHECK-NEXT: file:launch2: launch of never, {{.*}}; cannot be edited: in text that the preprocessor skips
// CHECK:      {{^}}run: host, line [[#]]-[[#]], (float * p, cudaStream_t s)
// CHECK:        run:launch1: launch of copy<float>, line [[#]], grid dim3(4), block 256, shared 16, stream s{{$}}
// A macro's argument is text of the file; what the macro makes around it is not.
// CHECK:        run:loop1: loop, {{.*}}; cannot be edited: inside the expansion of macro RUN
// CHECK:          run:launch2: launch of scale_kernel, line [[#]], grid 1, block 32{{$}}
// CHECK:        run:launch3: launch of shift_kernel, {{.*}}; cannot be edited: Clang could not read it: line [[#]]: too many arguments
// CHECK:          run:launch4: launch of cudaLaunchKernel, line [[#]]{{$}}
// CHECK:        run:launch5: launch of elsewhere, {{.*}}; cannot be edited: Clang could not read it: line [[#]]: use of undeclared identifier 'elsewhere'
// CHECK-NOT:    launch6
// A header that is not found ends nothing.
// CHECK:      {{^}}dependent: host
// CHECK:          dependent:launch1: launch of copy<T>, line [[#]], grid 1, block sizeof(T)
// CHECK:      {{^}}parent: kernel
// CHECK:        parent:launch1: launch of scale_kernel

// CHECK:      {{^}}twice: host
// CHECK:      twice:launch1: launch of scale_kernel, {{.*}}; cannot be edited: inside the expansion of macro LAUNCH
// CHECK:      twice:launch2: launch of shift_kernel, {{.*}}; cannot be edited: inside the expansion of macro LAUNCH

// JSON:      "version": 1,
// JSON:      "id": "run:launch1",
// JSON-NEXT: "kind": "launch",
// JSON-NEXT: "name": "copy<float>",
// JSON-NEXT: "begin": [[#]],
// JSON-NEXT: "end": [[#]],
// JSON:      "parent": "run:stmt1",
// JSON-NEXT: "editable": true,
// JSON:      "errors": [
// JSON:      "message": "'no_such_header.h' file not found"
