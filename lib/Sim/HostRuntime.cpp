//===- HostRuntime.cpp - What simulated host code may call ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The functions behind lib/Sim/headers/cuda/cuda_runtime_api.h. Each returns
///   a
/// cudaError_t unless it says otherwise there.
///
//===----------------------------------------------------------------------===//

#include "HostRuntime.h"
#include "Machine.h"
#include "Symbols.h"
#include "headers/stark/stark_sim_tables.h"
#include <cstring>

using namespace stark::sim;

namespace {
Machine &machine() { return *theMachine(); }

struct Configuration {
  Dim3 Grid, Block;
  size_t Shared = 0;
};
Configuration Next;

#define STARK_ENUMERATOR(NAME, VALUE, REST) NAME = VALUE,
enum DeviceError { STARK_SIM_ERRORS(STARK_ENUMERATOR) };
enum DeviceAttribute { STARK_SIM_ATTRIBUTES(STARK_ENUMERATOR) };
#undef STARK_ENUMERATOR

unsigned pushConfiguration(Dim3 Grid, Dim3 Block, size_t Shared, void *) {
  Next = {Grid, Block, Shared};
  return 0;
}
void launchLine(unsigned Line) { machine().LaunchLine = Line; }
void launch(const char *Name, void *Closure, uint64_t Bytes) {
  Machine &M = machine();
  auto Found = M.KernelOfName->find(Name);
  if (Found == M.KernelOfName->end()) {
    M.LastError = cudaErrorInvalidDeviceFunction;
    return;
  }
  M.launch(Found->second, Closure, Next.Grid, Next.Block, Next.Shared, false);
}
int launchFromArray(const void *Stub, Dim3 Grid, Dim3 Block, void **Arguments,
                    size_t Shared, bool Cooperative) {
  Machine &M = machine();
  auto Found = M.KernelOfStub.find(Stub);
  if (Found == M.KernelOfStub.end())
    return M.LastError = cudaErrorInvalidDeviceFunction;
  const Kernel &K = M.Kernels[Found->second];
  if (!K.PlainParameters) {
    M.unsupported(UnsupportedKind::Function,
                  "cudaLaunchKernel() of a kernel with a struct parameter");
    return cudaErrorInvalidDeviceFunction;
  }
  std::vector<char> Closure(K.ClosureBytes + 64);
  char *Begin = Closure.data() +
                (64 - reinterpret_cast<uintptr_t>(Closure.data()) % 64) % 64;
  for (size_t I = 0; I < K.ParameterOffsets.size(); ++I)
    std::memcpy(Begin + K.ParameterOffsets[I], Arguments[I],
                K.ParameterBytes[I]);
  return M.launch(Found->second, Begin, Grid, Block, Shared, Cooperative);
}
int launchKernel(const void *Stub, Dim3 Grid, Dim3 Block, void **Arguments,
                 size_t Shared, void *) {
  return launchFromArray(Stub, Grid, Block, Arguments, Shared, false);
}
int launchCooperative(const void *Stub, Dim3 Grid, Dim3 Block, void **Arguments,
                      size_t Shared, void *) {
  return launchFromArray(Stub, Grid, Block, Arguments, Shared, true);
}
int hostMalloc(void **P, size_t N) {
  *P = machine().allocate(N);
  return *P || !N ? 0 : (machine().LastError = cudaErrorMemoryAllocation);
}
int hostFree(void *P) { return machine().release(P); }
int hostCopy(void *To, const void *From, size_t N, int) {
  if (!N)
    return 0;
  if (int Error = beginCopy(machine(), To, From, N))
    return Error;
  std::memmove(To, From, N);
  return 0;
}
int hostSet(void *P, int Value, size_t N) {
  if (!N)
    return 0;
  if (int Error = beginSet(machine(), P, N))
    return Error;
  std::memset(P, Value, N);
  return 0;
}
int hostSync() { return 0; }
int lastError(int Clear) {
  int E = machine().LastError;
  if (Clear)
    machine().LastError = 0;
  return E;
}
/// Major and minor: "sm_90" is 9 and 0.
std::pair<int, int> computeCapability(const GpuDescription &G) {
  int Arch = 0;
  for (char C : G.Arch)
    if (C >= '0' && C <= '9')
      Arch = Arch * 10 + (C - '0');
  return {Arch / 10, Arch % 10};
}
} // namespace

int stark::sim::beginCopy(Machine &M, void *To, const void *From, uint64_t N) {
  for (const void *P : {(const void *)To, From})
    if (Allocation *A = M.find(P);
        A && (A->Freed || static_cast<const char *>(P) + N > A->End)) {
      M.finding(FindingKind::OutOfBounds,
                "cudaMemcpy of " + std::to_string(N) +
                    " bytes reaches beyond the end of " +
                    (A->Name.empty() ? "an allocation" : "'" + A->Name + "'"));
      return M.LastError = cudaErrorInvalidValue;
    }
  M.markWritten(To, N);
  M.addTransfer(N);
  return 0;
}

int stark::sim::beginSet(Machine &M, void *P, uint64_t N) {
  Allocation *A = M.find(P);
  if (!A || A->Freed || static_cast<char *>(P) + N > A->End) {
    M.finding(FindingKind::OutOfBounds,
              "cudaMemset of " + std::to_string(N) + " bytes reaches beyond " +
                  (A ? (A->Name.empty() ? "an allocation" : "'" + A->Name + "'")
                     : "device memory"));
    return M.LastError = cudaErrorInvalidValue;
  }
  M.markWritten(P, N);
  M.addTransfer(N / 2);
  return 0;
}

int stark::sim::allowShared(Machine &M, unsigned Kernel, int Bytes) {
  sim::Kernel &K = M.Kernels[Kernel];
  if (Bytes < 0 || uint64_t(Bytes) + K.StaticShared > M.gpu().SharedPerBlock)
    return M.LastError = cudaErrorInvalidValue;
  K.MaxDynamic = uint64_t(Bytes);
  return 0;
}

int stark::sim::deviceAttribute(const GpuDescription &G, int Which) {
  switch (Which) {
  case cudaDevAttrMaxThreadsPerBlock:
    return int(G.MaxThreadsPerBlock);
  case cudaDevAttrMaxBlockDimX:
  case cudaDevAttrMaxBlockDimY:
    return 1024;
  case cudaDevAttrMaxBlockDimZ:
    return 64;
  case cudaDevAttrMaxGridDimX:
    return 2147483647;
  case cudaDevAttrMaxGridDimY:
  case cudaDevAttrMaxGridDimZ:
    return 65535;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    return 49152;
  case cudaDevAttrTotalConstantMemory:
    return 65536;
  case cudaDevAttrWarpSize:
    return 32;
  case cudaDevAttrMaxRegistersPerBlock:
  case cudaDevAttrMaxRegistersPerMultiprocessor:
    return int(G.RegistersPerSm);
  case cudaDevAttrClockRate:
    return int(G.ClockGHz * 1e6);
  case cudaDevAttrMultiProcessorCount:
    return int(G.Sms);
  case cudaDevAttrL2CacheSize:
    return int(G.L2Bytes);
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    return int(G.MaxThreadsPerSm);
  case cudaDevAttrComputeCapabilityMajor:
    return computeCapability(G).first;
  case cudaDevAttrComputeCapabilityMinor:
    return computeCapability(G).second;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    return int(G.SharedPerSm);
  case cudaDevAttrCooperativeLaunch:
    return 1;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    return int(G.SharedPerBlock);
  case cudaDevAttrMaxBlocksPerMultiprocessor:
    return int(G.MaxBlocksPerSm);
  case cudaDevAttrReservedSharedMemoryPerBlock:
    return int(G.SharedReserved);
  default:
    return 0;
  }
}

namespace {
int attribute(int Which) { return deviceAttribute(machine().gpu(), Which); }
int functionAttribute(const void *Stub, int Which, int Value) {
  Machine &M = machine();
  auto Found = M.KernelOfStub.find(Stub);
  if (Found == M.KernelOfStub.end())
    return M.LastError = cudaErrorInvalidDeviceFunction;
  if (Which == 8) // cudaFuncAttributeMaxDynamicSharedMemorySize
    return allowShared(M, Found->second, Value);
  return 0;
}
int occupancy(int *Blocks, const void *Stub, int Threads, size_t Shared) {
  Machine &M = machine();
  auto Found = M.KernelOfStub.find(Stub);
  if (Found == M.KernelOfStub.end() || Threads < 1)
    return M.LastError = Threads < 1 ? cudaErrorInvalidValue
                                     : cudaErrorInvalidDeviceFunction;
  *Blocks =
      int(M.blocksPerSm(M.Kernels[Found->second], uint64_t(Threads), Shared));
  return 0;
}
int symbolAddress(const void *Shadow, void **Address) {
  Machine &M = machine();
  auto Found = M.VariableOfShadow.find(Shadow);
  if (Found == M.VariableOfShadow.end())
    return M.LastError = cudaErrorInvalidSymbol;
  *Address = M.VariableAddress[Found->second];
  return 0;
}
/// Of the host's code, which is at no place of a kernel.
void hostUnsupported(const char *What) {
  machine().OnUnsupported({UnsupportedKind::Function, What});
}
} // namespace

SymbolList stark::sim::hostSymbols() {
  return withFloat16Symbols(
      {STARK_SYMBOL("__cudaPushCallConfiguration", pushConfiguration),
       STARK_SYMBOL("__stark_sim_launch", launch),
       STARK_SYMBOL("__stark_sim_launch_line", launchLine),
       STARK_SYMBOL("cudaLaunchKernel", launchKernel),
       STARK_SYMBOL("cudaLaunchCooperativeKernel", launchCooperative),
       STARK_SYMBOL("__stark_sim_host_unsupported", hostUnsupported),
       STARK_SYMBOL("__stark_sim_host_malloc", hostMalloc),
       STARK_SYMBOL("__stark_sim_host_free", hostFree),
       STARK_SYMBOL("__stark_sim_host_copy", hostCopy),
       STARK_SYMBOL("__stark_sim_host_set", hostSet),
       STARK_SYMBOL("__stark_sim_host_sync", hostSync),
       STARK_SYMBOL("__stark_sim_host_last_error", lastError),
       STARK_SYMBOL("__stark_sim_host_attribute", attribute),
       STARK_SYMBOL("__stark_sim_host_func_attribute", functionAttribute),
       STARK_SYMBOL("__stark_sim_host_occupancy", occupancy),
       STARK_SYMBOL("__stark_sim_host_symbol", symbolAddress)});
}
