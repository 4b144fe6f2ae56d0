#pragma once
// Stands in for the toolkit's headers where there is none: enough to parse
// kernels, launches and the usual calls. Never compiled to code.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

typedef unsigned long size_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;

#define STARK_VECTORS(type, name)                                              \
  struct name##1 { type x; };                                                  \
  struct name##2 { type x, y; };                                               \
  struct name##3 { type x, y, z; };                                            \
  struct name##4 { type x, y, z, w; };                                         \
  __host__ __device__ name##2 make_##name##2(type, type);                      \
  __host__ __device__ name##3 make_##name##3(type, type, type);                \
  __host__ __device__ name##4 make_##name##4(type, type, type, type);
STARK_VECTORS(char, char)
STARK_VECTORS(unsigned char, uchar)
STARK_VECTORS(short, short)
STARK_VECTORS(unsigned short, ushort)
STARK_VECTORS(int, int)
STARK_VECTORS(unsigned, uint)
STARK_VECTORS(long long, longlong)
STARK_VECTORS(float, float)
STARK_VECTORS(double, double)
#undef STARK_VECTORS

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned X = 1, unsigned Y = 1,
                                     unsigned Z = 1)
      : x(X), y(Y), z(Z) {}
};
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0,
                                                void * = 0);
extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **,
                                        size_t, cudaStream_t);
cudaError_t cudaMalloc(void **, size_t);
template <class T> cudaError_t cudaMalloc(T **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind,
                            cudaStream_t = 0);
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &, const void *, size_t, size_t = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &, const void *, size_t, size_t,
                                    cudaMemcpyKind, cudaStream_t = 0);
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *, const T &, size_t, size_t = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void *, const T &, size_t, size_t,
                                      cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
struct cudaFuncAttributes {
  int maxThreadsPerBlock;
};
cudaError_t cudaGetDevice(int *);
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *);
template <class T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, T *);
const char *cudaGetErrorString(cudaError_t);
template <class T>
cudaError_t cudaFuncSetAttribute(T *, cudaFuncAttribute, int);

__device__ void __syncthreads();
__device__ int __syncthreads_count(int);
__device__ int __syncthreads_and(int);
__device__ int __syncthreads_or(int);
__device__ void __syncwarp(unsigned = 0xffffffffu);
__device__ void __threadfence();
__device__ void __threadfence_block();
template <class T>
__device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T>
__device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T>
__device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T>
__device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
__device__ unsigned __ballot_sync(unsigned, int);
__device__ int __any_sync(unsigned, int);
__device__ int __all_sync(unsigned, int);
__device__ unsigned __activemask();
__device__ int __popc(unsigned);
template <class T> __device__ T __ldg(const T *);
template <class T> __device__ T atomicAdd(T *, T);
template <class T> __device__ T atomicMax(T *, T);
template <class T> __device__ T atomicMin(T *, T);
template <class T> __device__ T atomicExch(T *, T);
template <class T> __device__ T atomicCAS(T *, T, T);
template <class T> __host__ __device__ T min(T, T);
template <class T> __host__ __device__ T max(T, T);
#define STARK_UNARY(name)                                                      \
  __host__ __device__ double name(double);                                     \
  __host__ __device__ float name##f(float);
STARK_UNARY(exp)
STARK_UNARY(log)
STARK_UNARY(sqrt)
STARK_UNARY(rsqrt)
STARK_UNARY(sin)
STARK_UNARY(cos)
STARK_UNARY(tanh)
STARK_UNARY(fabs)
STARK_UNARY(floor)
STARK_UNARY(ceil)
#undef STARK_UNARY
__host__ __device__ float fmaxf(float, float);
__host__ __device__ float fminf(float, float);
__host__ __device__ float powf(float, float);
__device__ float __expf(float);
__device__ float __logf(float);
__device__ float __fdividef(float, float);
extern "C" int printf(const char *, ...);
