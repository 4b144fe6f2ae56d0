//===- Symbols.cpp - What simulated code may call -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The functions behind lib/Sim/headers/stark/stark_sim_builtins.h, for
/// device and host code.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace stark::sim;

extern "C" {
extern uint32_t *__stark_sim_lane;
extern uint32_t *__stark_sim_counts;
extern char *__stark_sim_shared;
extern uint32_t __stark_sim_site;
}

namespace {
Machine &machine() { return *theMachine(); }

void load(uint32_t Site, char *P, uint32_t N) {
  machine().access(Site, P, N, SiteKind::Load, 0, false);
}
void store(uint32_t Site, char *P, uint32_t N, uint64_t Value) {
  machine().access(Site, P, N, SiteKind::Store, Value, N <= 8);
}
void atomicAccess(uint32_t Site, char *P, uint32_t N) {
  machine().access(Site, P, N, SiteKind::Atomic, 0, false);
}
void range(uint32_t Site, char *P, uint64_t N) { machine().range(Site, P, N); }
void local(uint32_t Site, char *Base, uint64_t Size, char *P, uint32_t N) {
  machine().local(Site, Base, Size, P, N);
}
void barrier(int Id, int Count) { machine().barrier(-1, 0, Id, Count); }
int barrierReduce(int Op, int Predicate) {
  return machine().barrier(Op, Predicate, 0, 0);
}
void syncwarp(uint32_t Mask) {
  machine().warp(WarpOp::Sync, Mask, 0, 0, 0, 32, nullptr);
}
uint64_t shuffle(uint32_t Mask, uint64_t Value, int Mode, int Argument,
                 int Width) {
  return machine().warp(WarpOp::Shuffle, Mask, Value, Mode, Argument, Width,
                        nullptr);
}
uint32_t vote(uint32_t Mask, int Op, int Predicate) {
  return uint32_t(machine().warp(WarpOp::Vote, Mask, 0, Op, 0, 32, &Predicate));
}
uint32_t match(uint32_t Mask, uint64_t Value, int Op, int *Predicate) {
  int All = 0;
  auto Out =
      uint32_t(machine().warp(WarpOp::Match, Mask, Value, Op, 0, 32, &All));
  if (Predicate)
    *Predicate = All;
  return Out;
}
uint32_t reduce(uint32_t Mask, uint32_t Value, int Op) {
  return uint32_t(
      machine().warp(WarpOp::Reduce, Mask, Value, Op, 0, 32, nullptr));
}
uint32_t activemask() { return machine().activeMask(); }
void fence(int) {}
long long clockNow() {
  static long long Now = 0;
  return Now += 20;
}
void sleepFor(unsigned) {}
void gridSync() { machine().gridSync(); }
void assertFailed(const char *Message, const char *File, unsigned Line,
                  const char *Function) {
  machine().finding(FindingKind::Assert, std::string("assertion failed: ") +
                                             Message + ", " +
                                             machine().here(__stark_sim_site));
}
void trap() {
  machine().finding(FindingKind::Trap,
                    "__trap() by " + machine().here(__stark_sim_site));
}
void unsupported(const char *What) {
  machine().unsupported(UnsupportedKind::Function, What);
}
void unsupportedPtx(const char *What) {
  machine().unsupported(UnsupportedKind::Ptx, What);
}
/// Of the host's code, which is at no place of a kernel.
void hostUnsupported(const char *What) {
  machine().OnUnsupported({UnsupportedKind::Function, What});
}
void *deviceMalloc(size_t N) { return machine().allocate(N); }
void deviceFree(void *P) { machine().release(P); }

// The half types, by the bits that lie in the lowest part of the register.
float truncToHalf(float V) {
  uint32_t X;
  std::memcpy(&X, &V, 4);
  uint32_t Sign = X >> 16 & 0x8000, Magnitude = X & 0x7fffffff, Out;
  if (Magnitude > 0x7f800000)
    Out = 0x7e00;
  else if (Magnitude >= 0x477ff000)
    Out = 0x7c00;
  else if (Magnitude < 0x33000001)
    Out = 0;
  else if (Magnitude < 0x38800000) {
    // Below the smallest normal half: round the value itself.
    float Scaled;
    std::memcpy(&Scaled, &Magnitude, 4);
    Out = uint32_t(std::nearbyint(Scaled * 16777216.0f));
  } else {
    uint32_t Rounded = Magnitude + 0xfff + (Magnitude >> 13 & 1);
    Out = (Rounded - 0x38000000) >> 13;
  }
  Out |= Sign;
  float Carrier;
  std::memcpy(&Carrier, &Out, 4);
  return Carrier;
}
float truncToBf16(float V) {
  uint32_t X;
  std::memcpy(&X, &V, 4);
  uint32_t Out = (X & 0x7fffffff) > 0x7f800000
                     ? (X >> 16) | 0x40
                     : (X + 0x7fff + (X >> 16 & 1)) >> 16;
  float Carrier;
  std::memcpy(&Carrier, &Out, 4);
  return Carrier;
}
float truncDoubleToBf16(double V) {
  // Round to odd first, so that the second rounding is right.
  float F = float(V);
  if (double(F) != V && V == V && !std::isinf(F)) {
    uint32_t X;
    std::memcpy(&X, &F, 4);
    if (std::fabs(double(F)) > std::fabs(V))
      --X;
    X |= 1;
    std::memcpy(&F, &X, 4);
  }
  return truncToBf16(F);
}
float truncDoubleToHalf(double V) {
  float F = float(V);
  if (double(F) != V && V == V && !std::isinf(F)) {
    uint32_t X;
    std::memcpy(&X, &F, 4);
    if (std::fabs(double(F)) > std::fabs(V))
      --X;
    X |= 1;
    std::memcpy(&F, &X, 4);
  }
  return truncToHalf(F);
}
float extendHalf(float Carrier) {
  uint32_t Bits;
  std::memcpy(&Bits, &Carrier, 4);
  uint32_t H = Bits & 0xffff, Sign = (H & 0x8000) << 16, Magnitude = H & 0x7fff,
           Out;
  if (Magnitude >= 0x7c00)
    Out = 0x7f800000 | (Magnitude & 0x3ff) << 13;
  else if (Magnitude >= 0x400)
    Out = (Magnitude << 13) + 0x38000000;
  else {
    float Small = float(Magnitude) * 0x1.0p-24f;
    std::memcpy(&Out, &Small, 4);
  }
  Out |= Sign;
  float V;
  std::memcpy(&V, &Out, 4);
  return V;
}

// Host side.
struct Configuration {
  Dim3 Grid, Block;
  size_t Shared = 0;
};
Configuration Next;

unsigned pushConfiguration(Dim3 Grid, Dim3 Block, size_t Shared, void *) {
  Next = {Grid, Block, Shared};
  return 0;
}
void launchLine(unsigned Line) { machine().LaunchLine = Line; }
void launch(const char *Name, void *Closure, uint64_t Bytes) {
  Machine &M = machine();
  auto Found = M.KernelOfName->find(Name);
  if (Found == M.KernelOfName->end()) {
    M.LastError = 98; // cudaErrorInvalidDeviceFunction
    return;
  }
  M.launch(Found->second, Closure, Next.Grid, Next.Block, Next.Shared, false);
}
int launchFromArray(const void *Stub, Dim3 Grid, Dim3 Block, void **Arguments,
                    size_t Shared, bool Cooperative) {
  Machine &M = machine();
  auto Found = M.KernelOfStub.find(Stub);
  if (Found == M.KernelOfStub.end())
    return M.LastError = 98;
  const Kernel &K = M.Kernels[Found->second];
  if (!K.PlainParameters) {
    M.unsupported(UnsupportedKind::Function,
                  "cudaLaunchKernel() of a kernel with a struct parameter");
    return 98;
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
  return *P || !N ? 0 : (machine().LastError = 2);
}
int hostFree(void *P) { return machine().release(P); }
int hostCopy(void *To, const void *From, size_t N, int) {
  if (!N)
    return 0;
  for (const void *P : {(const void *)To, From})
    if (Allocation *A = machine().find(P);
        A && (A->Freed || static_cast<const char *>(P) + N > A->End)) {
      machine().finding(
          FindingKind::OutOfBounds,
          "cudaMemcpy of " + std::to_string(N) +
              " bytes reaches beyond the end of " +
              (A->Name.empty() ? "an allocation" : "'" + A->Name + "'"));
      return machine().LastError = 1;
    }
  std::memmove(To, From, N);
  machine().markWritten(To, N);
  machine().addTransfer(N);
  return 0;
}
int hostSet(void *P, int Value, size_t N) {
  if (!N)
    return 0;
  Allocation *A = machine().find(P);
  if (!A || A->Freed || static_cast<char *>(P) + N > A->End) {
    machine().finding(
        FindingKind::OutOfBounds,
        "cudaMemset of " + std::to_string(N) + " bytes reaches beyond " +
            (A ? (A->Name.empty() ? "an allocation" : "'" + A->Name + "'")
               : "device memory"));
    return machine().LastError = 1;
  }
  std::memset(P, Value, N);
  machine().markWritten(P, N);
  machine().addTransfer(N / 2);
  return 0;
}
int hostSync() { return 0; }
int lastError(int Clear) {
  int E = machine().LastError;
  if (Clear)
    machine().LastError = 0;
  return E;
}
/// cudaDeviceAttr, the ones that programs ask for.
int attribute(int Which) {
  const GpuDescription &G = machine().gpu();
  unsigned Arch = 0;
  for (char C : G.Arch)
    if (C >= '0' && C <= '9')
      Arch = Arch * 10 + unsigned(C - '0');
  switch (Which) {
  case 1:
    return int(G.MaxThreadsPerBlock);
  case 2:
  case 3:
    return 1024;
  case 4:
    return 64;
  case 5:
    return 2147483647;
  case 6:
  case 7:
    return 65535;
  case 8:
    return 49152;
  case 9:
    return 65536;
  case 10:
    return 32;
  case 12:
    return int(G.RegistersPerSm);
  case 13:
    return int(G.ClockGHz * 1e6);
  case 16:
    return int(G.Sms);
  case 38:
    return int(G.L2Bytes);
  case 39:
    return int(G.MaxThreadsPerSm);
  case 75:
    return int(Arch / 10);
  case 76:
    return int(Arch % 10);
  case 81:
    return int(G.SharedPerSm);
  case 82:
    return int(G.RegistersPerSm);
  case 95:
    return 1;
  case 97:
    return int(G.SharedPerBlock);
  case 106:
    return int(G.MaxBlocksPerSm);
  case 111:
    return int(G.SharedReserved);
  default:
    return 0;
  }
}
int functionAttribute(const void *Stub, int Which, int Value) {
  Machine &M = machine();
  auto Found = M.KernelOfStub.find(Stub);
  if (Found == M.KernelOfStub.end())
    return M.LastError = 98;
  if (Which == 8) { // cudaFuncAttributeMaxDynamicSharedMemorySize
    Kernel &K = M.Kernels[Found->second];
    if (Value < 0 || uint64_t(Value) + K.StaticShared > M.gpu().SharedPerBlock)
      return M.LastError = 1;
    K.MaxDynamic = uint64_t(Value);
  }
  return 0;
}
int occupancy(int *Blocks, const void *Stub, int Threads, size_t Shared) {
  Machine &M = machine();
  auto Found = M.KernelOfStub.find(Stub);
  if (Found == M.KernelOfStub.end() || Threads < 1)
    return M.LastError = Threads < 1 ? 1 : 98;
  *Blocks =
      int(M.blocksPerSm(M.Kernels[Found->second], uint64_t(Threads), Shared));
  return 0;
}
int symbolAddress(const void *Shadow, void **Address) {
  Machine &M = machine();
  auto Found = M.VariableOfShadow.find(Shadow);
  if (Found == M.VariableOfShadow.end())
    return M.LastError = 13; // cudaErrorInvalidSymbol
  *Address = M.VariableAddress[Found->second];
  return 0;
}
} // namespace

#define STARK_SYMBOL(name, what) {name, reinterpret_cast<void *>(&what)}

static std::vector<std::pair<std::string, void *>> sharedSymbols() {
  return {STARK_SYMBOL("__truncsfhf2", truncToHalf),
          STARK_SYMBOL("__truncdfhf2", truncDoubleToHalf),
          STARK_SYMBOL("__extendhfsf2", extendHalf),
          STARK_SYMBOL("__truncsfbf2", truncToBf16),
          STARK_SYMBOL("__truncdfbf2", truncDoubleToBf16)};
}

std::vector<std::pair<std::string, void *>> stark::sim::deviceSymbols() {
  auto List = sharedSymbols();
  List.insert(List.end(),
              {STARK_SYMBOL("__stark_sim_lane", __stark_sim_lane),
               STARK_SYMBOL("__stark_sim_counts", __stark_sim_counts),
               STARK_SYMBOL("__stark_sim_shared", __stark_sim_shared),
               STARK_SYMBOL("__stark_sim_site", __stark_sim_site),
               STARK_SYMBOL("__stark_sim_load", load),
               STARK_SYMBOL("__stark_sim_store", store),
               STARK_SYMBOL("__stark_sim_atomic", atomicAccess),
               STARK_SYMBOL("__stark_sim_range", range),
               STARK_SYMBOL("__stark_sim_local", local),
               STARK_SYMBOL("__stark_sim_barrier", barrier),
               STARK_SYMBOL("__stark_sim_barrier_reduce", barrierReduce),
               STARK_SYMBOL("__stark_sim_syncwarp", syncwarp),
               STARK_SYMBOL("__stark_sim_shuffle", shuffle),
               STARK_SYMBOL("__stark_sim_vote", vote),
               STARK_SYMBOL("__stark_sim_match", match),
               STARK_SYMBOL("__stark_sim_reduce", reduce),
               STARK_SYMBOL("__stark_sim_activemask", activemask),
               STARK_SYMBOL("__stark_sim_fence", fence),
               STARK_SYMBOL("__stark_sim_clock", clockNow),
               STARK_SYMBOL("__stark_sim_nanosleep", sleepFor),
               STARK_SYMBOL("__stark_sim_grid_sync", gridSync),
               STARK_SYMBOL("__stark_sim_assert", assertFailed),
               STARK_SYMBOL("__stark_sim_trap", trap),
               STARK_SYMBOL("__stark_sim_unsupported", unsupported),
               STARK_SYMBOL("__stark_sim_unsupported_ptx", unsupportedPtx),
               STARK_SYMBOL("__stark_sim_malloc", deviceMalloc),
               STARK_SYMBOL("__stark_sim_free", deviceFree)});
  return List;
}

std::vector<std::pair<std::string, void *>> stark::sim::hostSymbols() {
  auto List = sharedSymbols();
  List.insert(
      List.end(),
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
  return List;
}
