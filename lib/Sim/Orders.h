//===- Orders.h - What a call and its partners tell each other ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Orders: LaunchOrders, the closure, and of each allocation
///   AllocationOrders,
/// its bytes, and which of them hold a value, four bits a word. What a partner
/// tells: PartReport, how often each basic block was entered, a suspicion,
/// TouchedWords, then of each CellsTold, its cells and what was written, then
/// updates.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_ORDERS_H
#define STARK_LIB_SIM_ORDERS_H

#include "Machine.h"

namespace stark::sim {

struct LaunchOrders {
  unsigned Kernel, Undefined;
  LaunchShape Shape;
  uint32_t Epoch; ///< what partners do comes after it
  uint64_t AccessesLeft, ClosureBytes, Allocations;
  char *ArenaBegin, *ArenaEnd;
  bool Suspicious; ///< a suspicion is known
};

struct AllocationOrders {
  char *Begin, *End;
  unsigned ElementBytes;
  bool Constant, Banked, OfCaller;
  uint8_t Held;
  bool Bytes; ///< they follow: some may be read
  bool Cells; ///< what holds a value follows
};

struct PartReport {
  uint32_t Epochs; ///< that went by
  uint32_t SuspicionBytes;
  uint64_t Accesses, Touched, Updates;
  double Seconds; ///< of its processor
};

struct TouchedWords {
  uint32_t Allocation, Group; ///< of MarkedWords words
  Marks Of;
};

/// A cell need not be told where it follows from the one before it: another
/// word of the same thread, or of the next.
struct CellsTold {
  uint64_t Same = 0, Next = 0;
};
inline Cell nextThreads(Cell C, uint32_t Since) {
  for (unsigned R = 0; R < 2; ++R)
    C.Reader[R] += C.ReadEpoch[R] > Since;
  C.Writer += C.WriteEpoch > Since;
  return C;
}

struct UpdateDone {
  uint32_t Probe;
  char *Address;
  uint64_t Operand;
};

/// What makes a machine a partner's.
struct Machine::Part {
  Team &Of;
  unsigned Number;
  std::vector<Allocation *> Known; ///< as they are told
  std::vector<UpdateDone> Updates;
  uint64_t Operand = 0; ///< of the update that is made now
  uint32_t Begun = 0;   ///< epoch
  std::vector<char> Closure = {};
};

/// Writes to a place of limited size.
class OrderWriter {
public:
  OrderWriter(char *Begin, uint64_t Bytes) : Next(Begin), Left(Bytes) {}
  /// False: there is no room.
  bool put(const void *From, uint64_t Bytes);
  bool align(uint64_t To);

private:
  char *Next;
  uint64_t Left;
};

} // namespace stark::sim

#endif
