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
  void *Stream = nullptr;
};
Configuration Next;

#define STARK_ENUMERATOR(NAME, VALUE, REST) NAME = VALUE,
enum DeviceError { STARK_SIM_ERRORS(STARK_ENUMERATOR) };
enum DeviceAttribute { STARK_SIM_ATTRIBUTES(STARK_ENUMERATOR) };
#undef STARK_ENUMERATOR

unsigned pushConfiguration(Dim3 Grid, Dim3 Block, size_t Shared, void *Stream) {
  Next = {Grid, Block, Shared, Stream};
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
  M.Stream = M.Order.named(Next.Stream);
  M.launch(Found->second, Closure, {Next.Grid, Next.Block, Next.Shared});
}
int launchFromArray(const void *Stub, void **Arguments, void *Stream,
                    const LaunchShape &Shape) {
  Machine &M = machine();
  M.Stream = M.Order.named(Stream);
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
  return M.launch(Found->second, Begin, Shape);
}
int launchKernel(const void *Stub, Dim3 Grid, Dim3 Block, void **Arguments,
                 size_t Shared, void *Stream) {
  return launchFromArray(Stub, Arguments, Stream, {Grid, Block, Shared});
}
int launchCooperative(const void *Stub, Dim3 Grid, Dim3 Block, void **Arguments,
                      size_t Shared, void *Stream) {
  return launchFromArray(Stub, Arguments, Stream, {Grid, Block, Shared, true});
}
int launchInClusters(const void *Stub, Dim3 Grid, Dim3 Block, void **Arguments,
                     size_t Shared, void *Stream, int Cooperative,
                     const Dim3 *Cluster) {
  return launchFromArray(Stub, Arguments, Stream,
                         {Grid, Block, Shared, Cooperative != 0, *Cluster});
}
int hostMalloc(void **P, size_t N) {
  *P = machine().allocate(N);
  return *P || !N ? 0 : (machine().LastError = cudaErrorMemoryAllocation);
}
int hostManaged(void **P, size_t N) {
  *P = machine().allocateManaged(N);
  return *P || !N ? 0 : (machine().LastError = cudaErrorMemoryAllocation);
}
void hostMap(void *P, size_t N) { machine().mapHost(P, N); }
void hostUnmap(void *P) { machine().release(P); }
/// cudaFree() waits for the device.
int hostFree(void *P) {
  machine().Order.waitForAll();
  return machine().release(P);
}
/// Does the host take what nobody has put there, all of it?
bool takesNothing(Machine &M, const void *To, const void *From, size_t N) {
  Allocation *Source = M.find(From), *Target = M.find(To);
  if (!Source || !Source->Cells || Source->Held || Source->OfHost ||
      (Target && !Target->OfHost))
    return false;
  uint64_t Begin = uint64_t(static_cast<const char *>(From) - Source->Begin);
  for (uint64_t At = Begin / 4; At < (Begin + N + 3) / 4; ++At)
    if (At < Source->Cells->size() && (*Source->Cells)[At].Written)
      return false;
  return true;
}
/// Whether the host waits for a copy: that is one from or to memory that is
/// not pinned, or one that is not asynchronous.
bool hostWaits(Machine &M, const void *To, const void *From, bool Async) {
  bool Pinned = true, OfHost = false;
  for (const void *P : {To, From})
    if (Allocation *A = M.find(P); !A || A->OfHost) {
      OfHost = true;
      Pinned &= A != nullptr;
    }
  return Async ? OfHost && !Pinned : OfHost;
}
int hostCopyIn(void *To, const void *From, size_t N, void *Stream, int Async) {
  if (!N)
    return 0;
  Machine &M = machine();
  M.Stream = M.Order.named(Stream);
  M.InOrder = !Async;
  if (int Error = beginCopy(M, To, From, N))
    return Error;
  if (takesNothing(M, To, From, N)) {
    M.finding(FindingKind::Uninitialised,
              "the host copies " + std::to_string(N) +
                  " bytes of device memory that was never written");
    return M.LastError = cudaErrorInvalidValue;
  }
  auto OfDevice = [&M](const void *P) {
    Allocation *A = M.find(P);
    return A && !A->OfHost;
  };
  if (OfDevice(From) && !OfDevice(To))
    M.addToHost(N);
  M.protect(false);
  std::memmove(To, From, N);
  M.protect(true);
  if (hostWaits(M, To, From, Async != 0))
    M.Order.wait(M.Stream);
  return 0;
}
int hostCopy(void *To, const void *From, size_t N, int) {
  return hostCopyIn(To, From, N, nullptr, 0);
}
int hostSetIn(void *P, int Value, size_t N, void *Stream) {
  if (!N)
    return 0;
  Machine &M = machine();
  M.Stream = M.Order.named(Stream);
  if (int Error = beginSet(M, P, N))
    return Error;
  M.protect(false);
  std::memset(P, Value, N);
  M.protect(true);
  return 0;
}
int hostSet(void *P, int Value, size_t N) {
  machine().InOrder = true;
  return hostSetIn(P, Value, N, nullptr);
}
int hostSync() {
  machine().Order.waitForAll();
  return 0;
}
const void *streamCreate(unsigned Flags) {
  return machine().Order.create(Flags & 1); // cudaStreamNonBlocking
}
void streamSync(void *Stream) {
  Streams &S = machine().Order;
  S.wait(S.named(Stream));
}
void eventRecord(uint64_t Event, void *Stream) {
  Streams &S = machine().Order;
  S.record(Event, S.named(Stream));
}
void eventWait(void *Stream, uint64_t Event) {
  Streams &S = machine().Order;
  S.waitEvent(S.named(Stream), Event);
}
void eventSync(uint64_t Event) { machine().Order.hostWaitsEvent(Event); }
/// What the host's code calls the memory that it allocates next.
void nextName(const char *Name) { machine().NextName = Name; }
int lastError(int Clear) {
  int E = machine().LastError;
  if (Clear)
    machine().LastError = 0;
  return E;
}
} // namespace

/// What is an input stays as it is, whoever writes.
static int refuseInput(Machine &M, void *To, const char *What) {
  Allocation *A = M.find(To);
  if (!A || !A->Constant || A->Banked)
    return 0;
  M.finding(FindingKind::InputChanged,
            std::string(What) + " to " +
                (A->Name.empty() ? "an allocation" : "'" + A->Name + "'") +
                ": it is an input, which must be left as it is");
  return M.LastError = cudaErrorInvalidValue;
}

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
  if (int Error = refuseInput(M, To, "cudaMemcpy"))
    return Error;
  M.beginOperation("a copy");
  M.operate(const_cast<char *>(static_cast<const char *>(From)), N,
            ProbeKind::Load);
  M.operate(static_cast<char *>(To), N, ProbeKind::Store);
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
  if (int Error = refuseInput(M, P, "cudaMemset"))
    return Error;
  M.beginOperation("cudaMemset()");
  M.operate(static_cast<char *>(P), N, ProbeKind::Store);
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
    return G.computeCapability().first;
  case cudaDevAttrComputeCapabilityMinor:
    return G.computeCapability().second;
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
  Kernel &K = M.Kernels[Found->second];
  switch (Which) {
  case 8: // cudaFuncAttributeMaxDynamicSharedMemorySize
    return allowShared(M, Found->second, Value);
  case 9: // cudaFuncAttributePreferredSharedMemoryCarveout
    K.Carveout = Value;
    return 0;
  case 14: // cudaFuncAttributeNonPortableClusterSizeAllowed
    K.LargeClusters = Value != 0;
    return 0;
  // What the headers ask for, see stark_sim_host_launch.h.
  case 100:
    return int(K.StaticShared);
  case 101:
    return int(K.Registers);
  case 103:
    return int(K.BoundThreads ? K.BoundThreads : M.gpu().MaxThreadsPerBlock);
  case 104:
    return int(K.MaxDynamic);
  case 107:
    return K.Carveout;
  case 106:
    return int(!M.gpu().hasClusters() ? 1 : K.LargeClusters ? 16 : 8);
  default:
    return 0;
  }
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
       STARK_SYMBOL("__stark_sim_host_launch_in_clusters", launchInClusters),
       STARK_SYMBOL("__stark_sim_host_unsupported", hostUnsupported),
       STARK_SYMBOL("__stark_sim_host_malloc", hostMalloc),
       STARK_SYMBOL("__stark_sim_host_managed", hostManaged),
       STARK_SYMBOL("__stark_sim_host_map", hostMap),
       STARK_SYMBOL("__stark_sim_host_unmap", hostUnmap),
       STARK_SYMBOL("__stark_sim_host_name", nextName),
       STARK_SYMBOL("__stark_sim_host_free", hostFree),
       STARK_SYMBOL("__stark_sim_host_copy", hostCopy),
       STARK_SYMBOL("__stark_sim_host_copy_in", hostCopyIn),
       STARK_SYMBOL("__stark_sim_host_set", hostSet),
       STARK_SYMBOL("__stark_sim_host_set_in", hostSetIn),
       STARK_SYMBOL("__stark_sim_host_stream_create", streamCreate),
       STARK_SYMBOL("__stark_sim_host_stream_sync", streamSync),
       STARK_SYMBOL("__stark_sim_host_event_record", eventRecord),
       STARK_SYMBOL("__stark_sim_host_event_wait", eventWait),
       STARK_SYMBOL("__stark_sim_host_event_sync", eventSync),
       STARK_SYMBOL("__stark_sim_host_sync", hostSync),
       STARK_SYMBOL("__stark_sim_host_last_error", lastError),
       STARK_SYMBOL("__stark_sim_host_attribute", attribute),
       STARK_SYMBOL("__stark_sim_host_func_attribute", functionAttribute),
       STARK_SYMBOL("__stark_sim_host_occupancy", occupancy),
       STARK_SYMBOL("__stark_sim_host_symbol", symbolAddress)});
}
