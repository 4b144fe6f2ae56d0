//===- MapTwice.cpp - A piece of memory at two addresses ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The driver's own interface: the runtime maps no memory.
///
//===----------------------------------------------------------------------===//

#include "ReadOnly.h"
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <type_traits>

using namespace stark;
using namespace stark::gpu;

namespace {
/// Of the driver that the runtime has loaded.
struct DriverMemory {
  decltype(&cuMemGetAllocationGranularity) Granularity;
  decltype(&cuMemCreate) Create;
  decltype(&cuMemAddressReserve) Reserve;
  decltype(&cuMemMap) Map;
  decltype(&cuMemSetAccess) SetAccess;

  bool find() {
    void *Driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto Look = [&](auto &Into, const char *Name) {
      Into = Driver ? reinterpret_cast<std::decay_t<decltype(Into)>>(
                          dlsym(Driver, Name))
                    : nullptr;
      return Into != nullptr;
    };
    return Look(Granularity, "cuMemGetAllocationGranularity") &&
           Look(Create, "cuMemCreate") &&
           Look(Reserve, "cuMemAddressReserve") && Look(Map, "cuMemMap") &&
           Look(SetAccess, "cuMemSetAccess");
  }

  /// Null where it does not work.
  char *mapAt(CUmemGenericAllocationHandle Memory, uint64_t Bytes, int Device,
              CUmemAccess_flags Access) const {
    CUdeviceptr At = 0;
    CUmemAccessDesc Who = {};
    Who.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    Who.location.id = Device;
    Who.flags = Access;
    bool Mapped = Reserve(&At, Bytes, 0, 0, 0) == CUDA_SUCCESS &&
                  Map(At, Bytes, 0, Memory, 0) == CUDA_SUCCESS &&
                  SetAccess(At, Bytes, &Who, 1) == CUDA_SUCCESS;
    return Mapped ? reinterpret_cast<char *>(At) : nullptr;
  }
};
} // namespace

TwoAddresses gpu::mapTwice(uint64_t Bytes) {
  DriverMemory Driver = {};
  int Device = 0;
  if (!Driver.find() || cudaGetDevice(&Device) != cudaSuccess)
    return {};
  CUmemAllocationProp What = {};
  What.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  What.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  What.location.id = Device;
  size_t Page = 0;
  if (Driver.Granularity(&Page, &What, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) !=
          CUDA_SUCCESS ||
      !Page)
    return {};
  Bytes = (Bytes + Page - 1) / Page * Page;
  CUmemGenericAllocationHandle Memory;
  if (Driver.Create(&Memory, Bytes, &What, 0) != CUDA_SUCCESS)
    return {};
  TwoAddresses Both;
  Both.Writable =
      Driver.mapAt(Memory, Bytes, Device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  Both.ReadOnly =
      Driver.mapAt(Memory, Bytes, Device, CU_MEM_ACCESS_FLAGS_PROT_READ);
  Both.Bytes = Bytes;
  return Both.Writable && Both.ReadOnly ? Both : TwoAddresses();
}
