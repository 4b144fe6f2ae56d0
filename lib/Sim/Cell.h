//===- Cell.h - What is known of each word of device memory --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   An allocation has a cell for each of its words: who touched it, and what
/// of it holds a value.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_CELL_H
#define STARK_LIB_SIM_CELL_H

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace stark::sim {

/// Who touched a 32-bit word last, and when. Epochs count barriers of all
/// blocks of all launches.
struct Cell {
  uint32_t Writer = 0, WriteEpoch = 0, WriteProbe = 0;
  uint32_t Reader[2] = {0, 0}, ReadEpoch[2] = {0, 0}, ReadProbe[2] = {0, 0};
  uint16_t WriteWarpEpoch = 0, ReadWarpEpoch[2] = {0, 0};
  uint8_t WriteMask = 0, ReadMask[2] = {0, 0};
  uint8_t Written = 0;          ///< bytes that hold a value, and InFlight
  uint8_t Read = 0, Stored = 0; ///< bytes: what they held first, ever; ever
};
static_assert(std::has_unique_object_representations_v<Cell>);
/// Of Cell::Written: an asynchronous copy writes here, and nobody has waited
/// for it.
constexpr uint8_t InFlight = 0x10;

/// A cell for each word of an array. Those that nobody touches take no memory.
class CellArray {
public:
  explicit CellArray(size_t Count);
  size_t size() const { return Count; }
  Cell *data() { return First.get(); }
  Cell &operator[](size_t I) { return First.get()[I]; }
  Cell *begin() { return First.get(); }
  Cell *end() { return First.get() + Count; }

private:
  struct Free {
    void operator()(void *P) const { std::free(P); }
  };
  size_t Count;
  std::unique_ptr<Cell, Free> First;
};

/// What a partner (Team.h) did to 64 words, a bit for each.
struct Marks {
  uint64_t Read = 0, Wrote = 0;
  uint64_t Updated = 0; ///< by atomics whose result nobody used
  uint64_t all() const { return Read | Wrote | Updated; }
};
constexpr uint64_t MarkedWords = 64;

struct Allocation {
  char *Begin = nullptr, *End = nullptr;
  std::string Name; ///< of the entry's argument, empty otherwise
  unsigned ElementBytes = 1;
  bool Freed = false, Constant = false, Banked = false;
  bool OfHost = false;    ///< the host may touch it, too
  bool OfCaller = false;  ///< whole pages that the caller owns
  bool OfProgram = false; ///< it was asked for, and has to be given back
  bool Given = false;     ///< it held values before anything was launched
  int Argument = -1;      ///< of the entry, by number of its buffers
  /// Bytes of every word that hold a value, beside Cell::Written.
  uint8_t Held = 0;
  bool Used = false; ///< some word may hold a value
  /// Null when it is too large to be watched.
  std::unique_ptr<CellArray> Cells;
  /// Of what a partner may touch: for each 64 words.
  std::vector<Marks> Marked;
  /// Nobody writes to it and all of it may be read.
  bool isSettled() const { return Constant && !Banked && Held == 0xf; }
};

} // namespace stark::sim

#endif
