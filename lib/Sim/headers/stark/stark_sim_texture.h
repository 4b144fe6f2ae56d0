//===- stark_sim_texture.h - Textures and arrays, which are not simulated ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The names exist, so that a source that mentions them compiles; whoever
/// calls one gets the verdict `unsupported` with its name.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_TEXTURE_H
#define STARK_SIM_TEXTURE_H

typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode {
  cudaFilterModePoint = 0,
  cudaFilterModeLinear = 1
};
enum cudaTextureReadMode {
  cudaReadModeElementType = 0,
  cudaReadModeNormalizedFloat = 1
};
enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
enum cudaSurfaceBoundaryMode {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2
};
#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayCubemap 4
#define cudaArrayTextureGather 8

struct cudaChannelFormatDesc {
  int x, y, z, w;
  enum cudaChannelFormatKind f;
};
struct cudaResourceDesc {
  enum cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  enum cudaTextureAddressMode addressMode[3];
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  enum cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
};
struct cudaResourceViewDesc;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent;
  enum cudaMemcpyKind kind;
};

#define STARK_SIM_FETCH(NAME)                                                  \
  template <class T, class... Places>                                          \
  STARK_SIM_DEVICE T NAME(cudaTextureObject_t, Places...) {                    \
    __stark_sim_unsupported("texture fetch " #NAME);                           \
    return T();                                                                \
  }                                                                            \
  template <class T, class... Places>                                          \
  STARK_SIM_DEVICE void NAME(T *, cudaTextureObject_t, Places...) {            \
    __stark_sim_unsupported("texture fetch " #NAME);                           \
  }
STARK_SIM_FETCH(tex1Dfetch)
STARK_SIM_FETCH(tex1D)
STARK_SIM_FETCH(tex2D)
STARK_SIM_FETCH(tex3D)
STARK_SIM_FETCH(tex1DLod)
STARK_SIM_FETCH(tex2DLod)
STARK_SIM_FETCH(tex3DLod)
STARK_SIM_FETCH(tex1DLayered)
STARK_SIM_FETCH(tex2DLayered)
STARK_SIM_FETCH(tex2Dgather)
STARK_SIM_FETCH(texCubemap)
STARK_SIM_FETCH(surf1Dread)
STARK_SIM_FETCH(surf2Dread)
STARK_SIM_FETCH(surf3Dread)
#undef STARK_SIM_FETCH
#define STARK_SIM_WRITE(NAME)                                                  \
  template <class T, class... Places>                                          \
  STARK_SIM_DEVICE void NAME(T, cudaSurfaceObject_t, Places...) {              \
    __stark_sim_unsupported("surface write " #NAME);                           \
  }
STARK_SIM_WRITE(surf1Dwrite)
STARK_SIM_WRITE(surf2Dwrite)
STARK_SIM_WRITE(surf3Dwrite)
#undef STARK_SIM_WRITE

STARK_SIM_HOST cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return cudaChannelFormatDesc{x, y, z, w, f};
}
template <class T>
STARK_SIM_HOST cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaChannelFormatDesc{8 * (int)sizeof(T), 0, 0, 0,
                               cudaChannelFormatKindNone};
}
STARK_SIM_HOST cudaExtent make_cudaExtent(size_t width, size_t height,
                                          size_t depth) {
  return cudaExtent{width, height, depth};
}
STARK_SIM_HOST cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  return cudaPos{x, y, z};
}
STARK_SIM_HOST cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch,
                                                  size_t width, size_t height) {
  return cudaPitchedPtr{pointer, pitch, width, height};
}

// What takes any arguments; C linkage is not needed where nothing is defined
// elsewhere.
#define STARK_SIM_NO_HOST(NAME)                                                \
  template <class... Arguments>                                                \
  STARK_SIM_HOST cudaError_t NAME(Arguments &&...) {                           \
    __stark_sim_host_unsupported(#NAME);                                       \
    return cudaErrorNotSupported;                                              \
  }
STARK_SIM_NO_HOST(cudaMallocArray)
STARK_SIM_NO_HOST(cudaMalloc3DArray)
STARK_SIM_NO_HOST(cudaMalloc3D)
STARK_SIM_NO_HOST(cudaMallocMipmappedArray)
STARK_SIM_NO_HOST(cudaFreeArray)
STARK_SIM_NO_HOST(cudaFreeMipmappedArray)
STARK_SIM_NO_HOST(cudaMemcpyToArray)
STARK_SIM_NO_HOST(cudaMemcpy2DToArray)
STARK_SIM_NO_HOST(cudaMemcpy2DToArrayAsync)
STARK_SIM_NO_HOST(cudaMemcpy2DFromArray)
STARK_SIM_NO_HOST(cudaMemcpy3D)
STARK_SIM_NO_HOST(cudaMemcpy3DAsync)
STARK_SIM_NO_HOST(cudaMemset3D)
STARK_SIM_NO_HOST(cudaCreateTextureObject)
STARK_SIM_NO_HOST(cudaDestroyTextureObject)
STARK_SIM_NO_HOST(cudaCreateSurfaceObject)
STARK_SIM_NO_HOST(cudaDestroySurfaceObject)
STARK_SIM_NO_HOST(cudaGetTextureObjectResourceDesc)
STARK_SIM_NO_HOST(cudaStreamBeginCapture)
STARK_SIM_NO_HOST(cudaStreamEndCapture)
STARK_SIM_NO_HOST(cudaGraphCreate)
STARK_SIM_NO_HOST(cudaGraphAddKernelNode)
STARK_SIM_NO_HOST(cudaGraphAddMemcpyNode)
STARK_SIM_NO_HOST(cudaGraphInstantiate)
STARK_SIM_NO_HOST(cudaGraphLaunch)
STARK_SIM_NO_HOST(cudaGraphDestroy)
STARK_SIM_NO_HOST(cudaGraphExecDestroy)
STARK_SIM_NO_HOST(cudaIpcGetMemHandle)
STARK_SIM_NO_HOST(cudaIpcOpenMemHandle)
#undef STARK_SIM_NO_HOST

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};
STARK_SIM_HOST cudaError_t
cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

#endif
