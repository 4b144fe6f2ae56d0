//===- Guards.cpp - How many threads a kernel asks for --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   if (i < n), for (; i < n; i += stride) -> a limit along an axis -> the
///   thread that comes to it
///
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

namespace {
/// Along which axis the index of a thread runs that a value follows from.
struct IndexAxis {
  int Axis = -1;
  bool Whole = false; ///< the blocks of all axes, counted through
  bool isOne() const { return Axis >= 0; }
};
} // namespace

/// (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x counts all
/// blocks through.
static IndexAxis axisOf(const Formula &F) {
  std::set<std::string> All;
  collectNames(F, All);
  std::vector<int> Axes;
  for (int I = 0; I < 3; ++I)
    if (All.count(std::string("blockIdx.") + char('x' + I)))
      Axes.push_back(I);
  if (Axes.size() == 1)
    return {Axes[0], false};
  return Axes.size() > 1 && Axes[0] == 0 && All.count("gridDim.x")
             ? IndexAxis{0, true}
             : IndexAxis{};
}

/// Of an index with something added to it, as i + 1: that.
static int64_t addedTo(const Value &Index, int Axis, const Thread &As) {
  constexpr int64_t Most = 64; // not a stride of the grid
  const std::string Of = std::string("threadIdx.") + char('x' + Axis);
  auto At = [&](int64_t Thread) {
    Formula F = substitute(Index.How, [&](const std::string &Name) -> Formula {
      return Name == Of                                       ? constant(Thread)
             : llvm::StringRef(Name).starts_with("blockIdx.") ? constant(0)
                                                              : nullptr;
    });
    return isConstant(F) ? std::optional(F->Number) : std::nullopt;
  };
  std::optional<int64_t> First = At(0), Second = At(1);
  bool Added = First && Second && *Second == *First + 1 && *First > 0 &&
               *First <= Most && As.BlockDim[Axis] > 1;
  return Added ? *First : 0;
}

/// blockIdx.x * blockDim.x + threadIdx.x < n says how many there are along x.
void Machine::noteGuard(BinaryOperatorKind Op, const Value &L, const Value &R) {
  if (!L.isInteger() || !R.isInteger())
    return;
  bool Less = Op == BO_LT || Op == BO_LE || Op == BO_GE || Op == BO_GT;
  if (Op == BO_LT)
    noteWholeTiles(R.How);
  IndexAxis Left = axisOf(L.How), Right = axisOf(R.How);
  if (!Less || Left.isOne() == Right.isOne())
    return;
  bool Excluded =
      Left.isOne() ? Op == BO_LT || Op == BO_GE : Op == BO_GT || Op == BO_LE;
  const Value &Limit = Left.isOne() ? R : L;
  if (Right.isOne() && Limit.Number <= 0)
    return;
  IndexAxis At = Left.isOne() ? Left : Right;
  int64_t Last = Limit.Number - Excluded;
  if (!At.Whole)
    Last -= addedTo(Left.isOne() ? L : R, At.Axis, *As);
  Guards.push_back({At.Axis, Limit.How, Last, InLoopCondition, At.Whole});
}

/// if (cells[i] == 1), if (cells[i - 1] + cells[i + 1] > 1), switch (kinds[i])
void Machine::noteCompared(const Value &V, int64_t With) {
  if (As && V.Element && V.Loaded.size() == 1)
    V.Loaded.front()->Used.Compared.insert(With);
  // cells[i - 1] + cells[i + 1] == 2: so many of them.
  if (As && V.Sum && V.Loaded.size() == 1 && With >= 1 && With <= V.Number)
    V.Loaded.front()->Used.SumCompared = true;
}

/// And the last that guards let pass: of several guards the least and the
/// greatest. In a loop of strides of the grid one thread of it comes there.
void Machine::followLast(const Launch &L, Thread T) {
  int64_t Threads[3];
  for (int I = 0; I < 3; ++I)
    Threads[I] = T.BlockDim[I] * T.GridDim[I];
  for (bool Greatest : {false, true}) {
    std::optional<int64_t> Last[3];
    for (const AxisGuard &G : Guards) {
      std::optional<int64_t> &Here = Last[G.Axis];
      if (!G.Whole && G.Last >= 0 && (G.Last < Threads[G.Axis] || G.InLoop) &&
          (!Here || (G.Last > *Here) == Greatest))
        Here = G.Last;
    }
    if (!Last[0] && !Last[1] && !Last[2])
      break;
    for (int I = 0; I < 3; ++I) {
      int64_t At = Last[I].value_or(Threads[I] - 1) % Threads[I];
      T.Block[I] = At / T.BlockDim[I];
      T.Index[I] = At % T.BlockDim[I];
    }
    runThread(L.Kernel, L.Arguments, T);
  }
  for (const AxisGuard &G : Guards)
    if (G.Whole && G.Last >= 0) {
      int64_t Block = G.Last / T.BlockDim[0];
      T.Block[0] = Block % T.GridDim[0];
      T.Block[1] = Block / T.GridDim[0] % T.GridDim[1];
      T.Block[2] = 0;
      T.Index[0] = G.Last % T.BlockDim[0];
      T.Index[1] = T.Index[2] = 0;
      runThread(L.Kernel, L.Arguments, T);
      break;
    }
}
