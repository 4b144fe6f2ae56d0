#pragma once
// What nvcc has and Clang's CUDA headers lack. Declared, never linked: the
// sources that use these are compiled by nvcc.

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

// nvcc's min and max take mixed types.
#define STARK_MIXED(where, name)                                               \
  where unsigned name(int, unsigned);                                          \
  where unsigned name(unsigned, int);                                          \
  where long name(int, long);                                                  \
  where long name(long, int);                                                  \
  where long long name(int, long long);                                        \
  where long long name(long long, int);                                        \
  where unsigned long name(unsigned, unsigned long);                           \
  where unsigned long name(unsigned long, unsigned);                           \
  where unsigned long name(int, unsigned long);                                \
  where unsigned long name(unsigned long, int);                                \
  where unsigned long long name(int, unsigned long long);                      \
  where unsigned long long name(unsigned long long, int);                      \
  where double name(float, double);                                            \
  where double name(double, float);
STARK_MIXED(__device__, min)
STARK_MIXED(__device__, max)
STARK_MIXED(__host__, min)
STARK_MIXED(__host__, max)
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

template <class T>
__device__ T surf1Dread(cudaSurfaceObject_t, int,
                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf1Dread(T *, cudaSurfaceObject_t, int,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf1Dwrite(T, cudaSurfaceObject_t, int,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ T surf2Dread(cudaSurfaceObject_t, int, int,
                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf2Dread(T *, cudaSurfaceObject_t, int, int,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf2Dwrite(T, cudaSurfaceObject_t, int, int,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ T surf3Dread(cudaSurfaceObject_t, int, int, int,
                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf3Dread(T *, cudaSurfaceObject_t, int, int, int,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf3Dwrite(T, cudaSurfaceObject_t, int, int, int,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);

template <class T> __device__ bool isfinite(T);
