#pragma once
// What nvcc has and Clang's CUDA headers lack. Declared, never linked: the
// sources that use these are compiled by nvcc.

// It also includes these before any source.
#include <math.h>
#include <time.h>
#include <tuple>
#include <utility>

#define STARK_CACHE_HINTED(type)                                               \
  __device__ type __ldcs(const type *);                                        \
  __device__ type __ldcg(const type *);                                        \
  __device__ type __ldca(const type *);                                        \
  __device__ type __ldlu(const type *);                                        \
  __device__ type __ldcv(const type *);                                        \
  __device__ void __stwb(type *, type);                                        \
  __device__ void __stcg(type *, type);                                        \
  __device__ void __stcs(type *, type);                                        \
  __device__ void __stwt(type *, type);
STARK_CACHE_HINTED(char)
STARK_CACHE_HINTED(signed char)
STARK_CACHE_HINTED(unsigned char)
STARK_CACHE_HINTED(short)
STARK_CACHE_HINTED(unsigned short)
STARK_CACHE_HINTED(int)
STARK_CACHE_HINTED(unsigned)
STARK_CACHE_HINTED(long)
STARK_CACHE_HINTED(unsigned long)
STARK_CACHE_HINTED(long long)
STARK_CACHE_HINTED(unsigned long long)
STARK_CACHE_HINTED(float)
STARK_CACHE_HINTED(double)
STARK_CACHE_HINTED(char2)
STARK_CACHE_HINTED(char4)
STARK_CACHE_HINTED(uchar2)
STARK_CACHE_HINTED(uchar4)
STARK_CACHE_HINTED(short2)
STARK_CACHE_HINTED(short4)
STARK_CACHE_HINTED(ushort2)
STARK_CACHE_HINTED(ushort4)
STARK_CACHE_HINTED(int2)
STARK_CACHE_HINTED(int4)
STARK_CACHE_HINTED(uint2)
STARK_CACHE_HINTED(uint4)
STARK_CACHE_HINTED(longlong2)
STARK_CACHE_HINTED(ulonglong2)
STARK_CACHE_HINTED(float2)
STARK_CACHE_HINTED(float4)
STARK_CACHE_HINTED(double2)
#undef STARK_CACHE_HINTED

// nvcc's min and max take mixed types. Whoever has a template of two types of
// their own means that: a pack is the worse match.
#define STARK_MIXED(name)                                                      \
  template <class A, class B, class... None>                                   \
  __host__ __device__ typename StarkMixed<                                     \
      __is_arithmetic(A) && __is_arithmetic(B) && !__is_same(A, B) &&          \
          sizeof...(None) == 0,                                                \
      A, B>::Type                                                              \
  name(A, B, None...);
template <bool, class A, class B> struct StarkMixed {};
template <class A, class B> struct StarkMixed<true, A, B> {
  using Type = decltype(true ? A() : B());
};
STARK_MIXED(min)
STARK_MIXED(max)
#undef STARK_MIXED

// Clang's headers have these for the device only.
#define STARK_SAME(type)                                                       \
  __host__ type min(type, type);                                               \
  __host__ type max(type, type);
STARK_SAME(int)
STARK_SAME(unsigned)
STARK_SAME(long)
STARK_SAME(unsigned long)
STARK_SAME(long long)
STARK_SAME(unsigned long long)
STARK_SAME(float)
STARK_SAME(double)
#undef STARK_SAME

#define STARK_SURFACE(name, ...)                                               \
  template <class T>                                                           \
  __device__ T name##read(cudaSurfaceObject_t, __VA_ARGS__,                    \
                          cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);     \
  template <class T>                                                           \
  __device__ void name##read(T *, cudaSurfaceObject_t, __VA_ARGS__,            \
                             cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);  \
  template <class T>                                                           \
  __device__ void name##write(T, cudaSurfaceObject_t, __VA_ARGS__,             \
                              cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
STARK_SURFACE(surf1D, int)
STARK_SURFACE(surf2D, int, int)
STARK_SURFACE(surf3D, int, int, int)
STARK_SURFACE(surf1DLayered, int, int)
STARK_SURFACE(surf2DLayered, int, int, int)
STARK_SURFACE(surfCubemap, int, int, int)
STARK_SURFACE(surfCubemapLayered, int, int, int)
#undef STARK_SURFACE

__device__ float __tanhf(float);

// What nvcc knows of itself: atomics with an order and a scope.
enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};
template <class T> struct StarkValue {
  using Type = T;
};
#define STARK_ATOMIC(name)                                                     \
  template <class T>                                                           \
  __device__ T __nv_atomic_fetch_##name(T *, typename StarkValue<T>::Type,     \
                                        int, int = 0);                         \
  template <class T>                                                           \
  __device__ void __nv_atomic_##name(T *, typename StarkValue<T>::Type, int,   \
                                     int = 0);
STARK_ATOMIC(add)
STARK_ATOMIC(sub)
STARK_ATOMIC(and)
STARK_ATOMIC(or)
STARK_ATOMIC(xor)
STARK_ATOMIC(min)
STARK_ATOMIC(max)
#undef STARK_ATOMIC
template <class T> __device__ T __nv_atomic_load_n(const T *, int, int = 0);
template <class T> __device__ void __nv_atomic_load(const T *, T *, int, int = 0);
template <class T>
__device__ void __nv_atomic_store_n(T *, typename StarkValue<T>::Type, int,
                                    int = 0);
template <class T> __device__ void __nv_atomic_store(T *, T *, int, int = 0);
template <class T>
__device__ T __nv_atomic_exchange_n(T *, typename StarkValue<T>::Type, int,
                                    int = 0);
template <class T>
__device__ void __nv_atomic_exchange(T *, T *, T *, int, int = 0);
template <class T>
__device__ bool __nv_atomic_compare_exchange_n(T *, T *,
                                               typename StarkValue<T>::Type,
                                               bool, int, int, int = 0);
template <class T>
__device__ bool __nv_atomic_compare_exchange(T *, T *, T *, bool, int, int,
                                             int = 0);
__device__ void __nv_atomic_thread_fence(int, int = 0);
