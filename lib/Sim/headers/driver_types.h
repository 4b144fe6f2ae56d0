//===- driver_types.h - Errors, properties and handles of the runtime's
// interface ===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Names and values as in the documentation of CUDA 12. One table each gives
/// the errors with their texts, and the device attributes with the field of
/// cudaDeviceProp that each one fills.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_DRIVER_TYPES_H
#define STARK_SIM_DRIVER_TYPES_H

#include <limits.h>
#include <stddef.h>

// X(name, value, text)
#define STARK_SIM_ERRORS(X)                                                    \
  X(cudaSuccess, 0, "no error")                                                \
  X(cudaErrorInvalidValue, 1, "invalid argument")                              \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                             \
  X(cudaErrorInitializationError, 3, "initialization error")                   \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                       \
  X(cudaErrorProfilerDisabled, 5,                                              \
    "profiler disabled while using external profiling tool")                   \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")        \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                  \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                       \
  X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                   \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")               \
  X(cudaErrorInvalidTexture, 18, "invalid texture reference")                  \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")  \
  X(cudaErrorInsufficientDriver, 35,                                           \
    "CUDA driver version is insufficient for CUDA runtime version")            \
  X(cudaErrorMissingConfiguration, 52,                                         \
    "__global__ function call is not configured")                              \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")             \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")              \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                     \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")        \
  X(cudaErrorDeviceUninitialized, 201, "invalid device context")               \
  X(cudaErrorNoKernelImageForDevice, 209,                                      \
    "no kernel image is available for execution on the device")                \
  X(cudaErrorInvalidSource, 300, "device kernel image is invalid")             \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")            \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                    \
  X(cudaErrorNotReady, 600, "device not ready")                                \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")  \
  X(cudaErrorLaunchOutOfResources, 701,                                        \
    "too many resources requested for launch")                                 \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")    \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")  \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")    \
  X(cudaErrorAssert, 710, "device-side assert triggered")                      \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                 \
    "part or all of the requested memory range is already mapped")             \
  X(cudaErrorHostMemoryNotRegistered, 713,                                     \
    "pointer does not correspond to a registered memory region")               \
  X(cudaErrorHardwareStackError, 714, "hardware stack error")                  \
  X(cudaErrorIllegalInstruction, 715,                                          \
    "an illegal instruction was encountered")                                  \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                     \
  X(cudaErrorInvalidAddressSpace, 717,                                         \
    "operation not supported on global/shared address space")                  \
  X(cudaErrorInvalidPc, 718, "invalid program counter")                        \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                 \
  X(cudaErrorCooperativeLaunchTooLarge, 720,                                   \
    "too many blocks in cooperative launch")                                   \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                     \
  X(cudaErrorNotSupported, 801, "operation not supported")                     \
  X(cudaErrorStreamCaptureUnsupported, 900,                                    \
    "operation not permitted when stream is capturing")                        \
  X(cudaErrorUnknown, 999, "unknown error")

// X(name, value, field)
#define STARK_SIM_ATTRIBUTES(X)                                                \
  X(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                      \
  X(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0])                              \
  X(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1])                              \
  X(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2])                              \
  X(cudaDevAttrMaxGridDimX, 5, maxGridSize[0])                                 \
  X(cudaDevAttrMaxGridDimY, 6, maxGridSize[1])                                 \
  X(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2])                                 \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                  \
  X(cudaDevAttrTotalConstantMemory, 9, totalConstMem)                          \
  X(cudaDevAttrWarpSize, 10, warpSize)                                         \
  X(cudaDevAttrMaxPitch, 11, memPitch)                                         \
  X(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock)                         \
  X(cudaDevAttrClockRate, 13, clockRate)                                       \
  X(cudaDevAttrTextureAlignment, 14, textureAlignment)                         \
  X(cudaDevAttrGpuOverlap, 15, deviceOverlap)                                  \
  X(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                   \
  X(cudaDevAttrKernelExecTimeout, 17, kernelExecTimeoutEnabled)                \
  X(cudaDevAttrIntegrated, 18, integrated)                                     \
  X(cudaDevAttrCanMapHostMemory, 19, canMapHostMemory)                         \
  X(cudaDevAttrComputeMode, 20, computeMode)                                   \
  X(cudaDevAttrConcurrentKernels, 31, concurrentKernels)                       \
  X(cudaDevAttrEccEnabled, 32, ECCEnabled)                                     \
  X(cudaDevAttrPciBusId, 33, pciBusID)                                         \
  X(cudaDevAttrPciDeviceId, 34, pciDeviceID)                                   \
  X(cudaDevAttrTccDriver, 35, tccDriver)                                       \
  X(cudaDevAttrMemoryClockRate, 36, memoryClockRate)                           \
  X(cudaDevAttrGlobalMemoryBusWidth, 37, memoryBusWidth)                       \
  X(cudaDevAttrL2CacheSize, 38, l2CacheSize)                                   \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)   \
  X(cudaDevAttrAsyncEngineCount, 40, asyncEngineCount)                         \
  X(cudaDevAttrUnifiedAddressing, 41, unifiedAddressing)                       \
  X(cudaDevAttrComputeCapabilityMajor, 75, major)                              \
  X(cudaDevAttrComputeCapabilityMinor, 76, minor)                              \
  X(cudaDevAttrStreamPrioritiesSupported, 78, streamPrioritiesSupported)       \
  X(cudaDevAttrGlobalL1CacheSupported, 79, globalL1CacheSupported)             \
  X(cudaDevAttrLocalL1CacheSupported, 80, localL1CacheSupported)               \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81,                           \
    sharedMemPerMultiprocessor)                                                \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)       \
  X(cudaDevAttrManagedMemory, 83, managedMemory)                               \
  X(cudaDevAttrIsMultiGpuBoard, 84, isMultiGpuBoard)                           \
  X(cudaDevAttrMultiGpuBoardGroupID, 85, multiGpuBoardGroupID)                 \
  X(cudaDevAttrHostNativeAtomicSupported, 86, hostNativeAtomicSupported)       \
  X(cudaDevAttrSingleToDoublePrecisionPerfRatio, 87,                           \
    singleToDoublePrecisionPerfRatio)                                          \
  X(cudaDevAttrPageableMemoryAccess, 88, pageableMemoryAccess)                 \
  X(cudaDevAttrConcurrentManagedAccess, 89, concurrentManagedAccess)           \
  X(cudaDevAttrComputePreemptionSupported, 90, computePreemptionSupported)     \
  X(cudaDevAttrCanUseHostPointerForRegisteredMem, 91,                          \
    canUseHostPointerForRegisteredMem)                                         \
  X(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch)                       \
  X(cudaDevAttrCooperativeMultiDeviceLaunch, 96, cooperativeMultiDeviceLaunch) \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)       \
  X(cudaDevAttrHostRegisterSupported, 99, hostRegisterSupported)               \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)    \
  X(cudaDevAttrMaxPersistingL2CacheSize, 108, persistingL2CacheMaxSize)        \
  X(cudaDevAttrMaxAccessPolicyWindowSize, 109, accessPolicyMaxWindowSize)      \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111, reservedSharedMemPerBlock)   \
  X(cudaDevAttrSparseCudaArraySupported, 112, sparseCudaArraySupported)        \
  X(cudaDevAttrMemoryPoolsSupported, 115, memoryPoolsSupported)

#define STARK_SIM_ENUMERATOR(NAME, VALUE, REST) NAME = VALUE,
enum cudaError { STARK_SIM_ERRORS(STARK_SIM_ENUMERATOR) };
enum cudaDeviceAttr { STARK_SIM_ATTRIBUTES(STARK_SIM_ENUMERATOR) };
#undef STARK_SIM_ENUMERATOR
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef void (*cudaHostFn_t)(void *);
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaEventInterprocess 4
#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4
#define cudaDeviceScheduleAuto 0
#define cudaDeviceScheduleSpin 1
#define cudaDeviceScheduleYield 2
#define cudaDeviceScheduleBlockingSync 4
#define cudaDeviceMapHost 8
#define cudaOccupancyDefault 0
#define cudaOccupancyDisableCachingOverride 1
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15
};

enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};

enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};

enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0
};

enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitPersistingL2CacheSize = 6
};

enum cudaComputeMode {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};

enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};

struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void *devicePointer;
  void *hostPointer;
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};

struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};

typedef struct CUuuid_st {
  char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture2D[2];
  int maxTexture3D[3];
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID, pciDeviceID, pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int memoryPoolsSupported;
  int clusterLaunch;
};

enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
  void *base_ptr;
  size_t num_bytes;
  float hitRatio;
  enum cudaAccessProperty hitProp;
  enum cudaAccessProperty missProp;
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8
};

union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
  struct cudaAccessPolicyWindow accessPolicyWindow;
};
#define cudaStreamAttrID cudaLaunchAttributeID
#define cudaStreamAttrValue cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow                                  \
  cudaLaunchAttributeAccessPolicyWindow

typedef struct cudaLaunchAttribute_st {
  enum cudaLaunchAttributeID id;
  union cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
  struct dim3 gridDim;
  struct dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;

#endif
