//===- DeviceRuntime.cpp - What simulated device code may call ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The functions behind lib/Sim/headers/stark/stark_sim_builtins.h.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Symbols.h"
#include "TensorOps.h"

using namespace stark::sim;

extern "C" {
extern uint32_t *__stark_sim_lane;
extern uint32_t *__stark_sim_counts;
extern char *__stark_sim_shared;
extern uint32_t __stark_sim_probe;
}

namespace {
Machine &machine() { return *theMachine(); }

void load(uint32_t Probe, char *P, uint32_t N) {
  machine().access(Probe, P, N, ProbeKind::Load, 0, false);
}
void store(uint32_t Probe, char *P, uint32_t N, uint64_t Value) {
  machine().access(Probe, P, N, ProbeKind::Store, Value, N <= 8);
}
void atomicAccess(uint32_t Probe, char *P, uint32_t N) {
  machine().access(Probe, P, N, ProbeKind::Atomic, 0, false);
}
void update(uint32_t Probe, char *P, uint32_t N, uint64_t Operand) {
  machine().update(Probe, P, N, Operand);
}
void storeWide(uint32_t Probe, char *P, uint32_t N, const void *Value) {
  machine().touch(Probe, P, N, ProbeKind::Store, Value);
}
void range(uint32_t Probe, char *P, uint64_t N, const char *Source,
           uint64_t Mask) {
  machine().range(Probe, P, N, Source, Mask);
}
void local(uint32_t Probe, char *Base, uint64_t Size, char *P, uint32_t N) {
  machine().local(Probe, Base, Size, P, N);
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
void matrix(int Code, const uint32_t *In, uint32_t *Out) {
  MatrixLane L{In, Out};
  machine().warp(WarpOp::Matrix, ~0u, reinterpret_cast<uint64_t>(&L), 1, Code,
                 32, nullptr);
}
void fragments(int Shape, const double *A, const double *B, const double *C,
               double *D) {
  FragmentLane L{A, B, C, D};
  machine().warp(WarpOp::Matrix, ~0u, reinterpret_cast<uint64_t>(&L), 0, Shape,
                 32, nullptr);
}
void copyBegun(char *To, uint64_t N) { machine().copyBegun(To, N); }
void copiesCommitted() { machine().copiesCommitted(); }
void copiesAwaited(uint32_t Left) { machine().copiesAwaited(Left); }
void copiesArrive(char *Barrier, int Counts) {
  machine().copiesArrive(Barrier, Counts != 0);
}
void bulkBegun(char *To, uint64_t N, char *Barrier) {
  machine().bulkBegun(To, N, Barrier);
}
void barrierInit(char *Barrier, uint32_t Count) {
  machine().barrierInit(Barrier, Count);
}
uint64_t barrierArrive(char *Barrier, uint32_t Count, uint64_t Bytes,
                       int Drops) {
  return machine().barrierArrive(Barrier, Count, Bytes, Drops != 0);
}
int barrierTest(char *Barrier, uint32_t Parity, int Blocks) {
  return machine().barrierTest(Barrier, Parity, Blocks != 0);
}
void namedArrive(int Id, int Count) { machine().namedArrive(Id, Count); }
uint32_t activemask() { return machine().activeMask(); }
void fence(int) { machine().fence(); }
long long clockNow() {
  machine().notAPartners();
  static long long Now = 0;
  return Now += 20;
}
void sleepFor(unsigned) {}
void gridSync() { machine().gridSync(); }
void clusterArrive() { machine().clusterArrive(); }
void clusterWait() { machine().clusterWait(); }
char *mapShared(char *P, uint32_t Rank) { return machine().mapShared(P, Rank); }
uint32_t rankOf(const char *P) { return machine().rankOf(P); }
void assertFailed(const char *Message, const char *File, unsigned Line,
                  const char *Function) {
  machine().finding(FindingKind::Assert, std::string("assertion failed: ") +
                                             Message + ", " +
                                             machine().here(__stark_sim_probe));
}
void trap() {
  machine().finding(FindingKind::Trap,
                    "__trap() by " + machine().here(__stark_sim_probe));
}
void unsupported(const char *What) {
  machine().unsupported(UnsupportedKind::Function, What);
}
void unsupportedPtx(const char *What) {
  machine().unsupported(UnsupportedKind::Ptx, What);
}
void *deviceMalloc(size_t N) {
  machine().notAPartners();
  return machine().allocate(N);
}
void deviceFree(void *P) {
  machine().notAPartners();
  machine().release(P);
}
} // namespace

SymbolList stark::sim::deviceSymbols() {
  return withFloat16Symbols(
      {STARK_SYMBOL("__stark_sim_lane", __stark_sim_lane),
       STARK_SYMBOL("__stark_sim_counts", __stark_sim_counts),
       STARK_SYMBOL("__stark_sim_shared", __stark_sim_shared),
       STARK_SYMBOL("__stark_sim_probe", __stark_sim_probe),
       STARK_SYMBOL("__stark_sim_load", load),
       STARK_SYMBOL("__stark_sim_store", store),
       STARK_SYMBOL("__stark_sim_store_wide", storeWide),
       STARK_SYMBOL("__stark_sim_atomic", atomicAccess),
       STARK_SYMBOL("__stark_sim_update", update),
       STARK_SYMBOL("__stark_sim_range", range),
       STARK_SYMBOL("__stark_sim_local", local),
       STARK_SYMBOL("__stark_sim_barrier", barrier),
       STARK_SYMBOL("__stark_sim_barrier_reduce", barrierReduce),
       STARK_SYMBOL("__stark_sim_syncwarp", syncwarp),
       STARK_SYMBOL("__stark_sim_gather", syncwarp),
       STARK_SYMBOL("__stark_sim_shuffle", shuffle),
       STARK_SYMBOL("__stark_sim_vote", vote),
       STARK_SYMBOL("__stark_sim_match", match),
       STARK_SYMBOL("__stark_sim_reduce", reduce),
       STARK_SYMBOL("__stark_sim_matrix", matrix),
       STARK_SYMBOL("__stark_sim_fragments", fragments),
       STARK_SYMBOL("__stark_sim_async_begun", copyBegun),
       STARK_SYMBOL("__stark_sim_async_commit", copiesCommitted),
       STARK_SYMBOL("__stark_sim_async_wait", copiesAwaited),
       STARK_SYMBOL("__stark_sim_async_arrive", copiesArrive),
       STARK_SYMBOL("__stark_sim_async_bulk", bulkBegun),
       STARK_SYMBOL("__stark_sim_mbarrier_init", barrierInit),
       STARK_SYMBOL("__stark_sim_mbarrier_arrive", barrierArrive),
       STARK_SYMBOL("__stark_sim_mbarrier_test", barrierTest),
       STARK_SYMBOL("__stark_sim_barrier_arrive", namedArrive),
       STARK_SYMBOL("__stark_sim_activemask", activemask),
       STARK_SYMBOL("__stark_sim_fence", fence),
       STARK_SYMBOL("__stark_sim_clock", clockNow),
       STARK_SYMBOL("__stark_sim_nanosleep", sleepFor),
       STARK_SYMBOL("__stark_sim_grid_sync", gridSync),
       STARK_SYMBOL("__stark_sim_cluster_arrive", clusterArrive),
       STARK_SYMBOL("__stark_sim_cluster_wait", clusterWait),
       STARK_SYMBOL("__stark_sim_map_shared", mapShared),
       STARK_SYMBOL("__stark_sim_shared_rank", rankOf),
       STARK_SYMBOL("__stark_sim_assert", assertFailed),
       STARK_SYMBOL("__stark_sim_trap", trap),
       STARK_SYMBOL("__stark_sim_unsupported", unsupported),
       STARK_SYMBOL("__stark_sim_unsupported_ptx", unsupportedPtx),
       STARK_SYMBOL("__stark_sim_malloc", deviceMalloc),
       STARK_SYMBOL("__stark_sim_free", deviceFree)});
}
