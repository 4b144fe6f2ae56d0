//===- FootprintAlign.cpp - Which tokens outside the anchors differ -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FootprintAlign.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include <algorithm>

using namespace stark;

namespace {

/// A part of the problem: Outside[OB, OE) against Candidate[CB, CE).
struct Part {
  size_t OB, OE, CB, CE;
  bool empty() const { return OB == OE || CB == CE; }
  size_t cells() const { return (OE - OB + 1) * (CE - CB + 1); }
};

class Aligner {
public:
  Aligner(llvm::ArrayRef<uint32_t> O, const std::vector<bool> &Free,
          llvm::ArrayRef<uint32_t> C, llvm::ArrayRef<int> Depth)
      : O(O), C(C), Depth(Depth), Free(Free), Rest{0, O.size(), 0, C.size()},
        Match(C.size(), -1) {}

  /// False when something outside the free slots differs.
  bool runExact() {
    trim(Rest);
    return exactAround(Rest);
  }
  void run() {
    if (!runExact())
      solve(Rest, 8);
  }
  std::vector<int> take() { return std::move(Match); }

private:
  /// Matches equal ends, as far as no free slot is passed: there the same
  /// symbol may belong to the anchor.
  void trim(Part &P) {
    while (!P.empty() && !Free[P.OB] && O[P.OB] == C[P.CB])
      Match[P.CB++] = int(P.OB++);
    while (!P.empty() && !Free[P.OE] && O[P.OE - 1] == C[P.CE - 1])
      Match[--P.CE] = int(--P.OE);
  }

  /// The case of a candidate that kept to its anchors: each stretch between
  /// free slots is found whole, in order; the first and last at the ends.
  bool exactAround(const Part &P) {
    std::vector<Part> Found;
    size_t At = P.CB;
    for (size_t I = P.OB; I < P.OE;) {
      size_t End = I + 1;
      while (End < P.OE && !Free[End])
        ++End;
      llvm::ArrayRef<uint32_t> Stretch = O.slice(I, End - I);
      size_t Place;
      if (End == P.OE && !Free[P.OE]) {
        if (P.CE - At < Stretch.size())
          return false;
        Place = P.CE - Stretch.size();
        if (C.slice(Place, Stretch.size()) != Stretch)
          return false;
      } else {
        Place = find(Stretch, At, P.CE, Free[I]);
        if (Place == P.CE)
          return false;
      }
      if (Place != At && !Free[I])
        return false;
      Found.push_back({I, End, Place, Place + Stretch.size()});
      At = Place + Stretch.size();
      I = End;
    }
    if (At != P.CE && !Free[P.OE])
      return false;
    for (const Part &F : Found)
      for (size_t I = 0; I < F.OE - F.OB; ++I)
        Match[F.CB + I] = int(F.OB + I);
    return true;
  }

  /// Where \p Stretch stands in C[At, End): the first place up to which the
  /// brackets are balanced, else the first one, else End.
  size_t find(llvm::ArrayRef<uint32_t> Stretch, size_t At, size_t End,
              bool MaySkip) const {
    size_t First = End;
    for (size_t From = At; From < End;) {
      size_t Place = std::search(C.begin() + From, C.begin() + End,
                                 Stretch.begin(), Stretch.end()) -
                     C.begin();
      if (Place == End || Depth.empty() || !MaySkip)
        return Place == End ? First : Place;
      if (First == End)
        First = Place;
      if (*std::min_element(Depth.begin() + From, Depth.begin() + Place + 1) <
          Depth[At])
        return First;
      if (Depth[Place] == Depth[At])
        return Place;
      From = Place + 1;
    }
    return First;
  }

  void solve(Part P, size_t Window) {
    trim(P);
    if (P.empty())
      return;
    if (P.cells() <= CellsOfOne && P.cells() <= CellsLeft) {
      CellsLeft -= P.cells();
      leastCost(P);
      return;
    }
    if (Window < 2)
      return; // Too much differs to tell what moved where: all of it changed.
    // Windows that occur once on either side split the problem.
    std::vector<std::pair<size_t, size_t>> Pairs = commonWindows(P, Window);
    if (Pairs.empty())
      return solve(P, Window / 2);
    Part Gap{P.OB, 0, P.CB, 0};
    for (auto [OI, CI] : Pairs) {
      if (OI < Gap.OB || CI < Gap.CB)
        continue; // overlaps the window before
      Gap.OE = OI;
      Gap.CE = CI;
      solve(Gap, Window);
      for (size_t I = 0; I < Window; ++I)
        Match[CI + I] = int(OI + I);
      Gap.OB = OI + Window;
      Gap.CB = CI + Window;
    }
    Gap.OE = P.OE;
    Gap.CE = P.CE;
    solve(Gap, Window);
  }

  std::vector<std::pair<size_t, size_t>> commonWindows(const Part &P,
                                                       size_t Window) {
    struct Seen {
      size_t O = 0, C = 0;
      unsigned Os = 0, Cs = 0;
    };
    llvm::DenseMap<uint64_t, Seen> Windows;
    auto Hash = [&](llvm::ArrayRef<uint32_t> S) {
      // DenseMap keeps the two highest keys for itself.
      return uint64_t(llvm::hash_combine_range(S.begin(), S.end())) >> 2;
    };
    size_t LastSlot = P.OB;
    for (size_t I = P.OB + 1; I < P.OE; ++I) {
      if (Free[I])
        LastSlot = I;
      if (I + 1 >= LastSlot + Window && I + 1 >= P.OB + Window) {
        Seen &S = Windows[Hash(O.slice(I + 1 - Window, Window))];
        S.O = I + 1 - Window;
        ++S.Os;
      }
    }
    for (size_t I = P.CB; I + Window <= P.CE; ++I) {
      auto It = Windows.find(Hash(C.slice(I, Window)));
      if (It == Windows.end())
        continue;
      It->second.C = I;
      ++It->second.Cs;
    }
    std::vector<std::pair<size_t, size_t>> Pairs;
    for (auto &[Key, S] : Windows)
      if (S.Os == 1 && S.Cs == 1 &&
          O.slice(S.O, Window) == C.slice(S.C, Window))
        Pairs.push_back({S.O, S.C});
    std::sort(Pairs.begin(), Pairs.end());
    return longestAscending(Pairs);
  }

  static std::vector<std::pair<size_t, size_t>>
  longestAscending(const std::vector<std::pair<size_t, size_t>> &Pairs) {
    std::vector<size_t> Tails;
    std::vector<int> Before(Pairs.size(), -1);
    for (size_t I = 0; I < Pairs.size(); ++I) {
      auto It = std::lower_bound(Tails.begin(), Tails.end(), I,
                                 [&](size_t A, size_t B) {
                                   return Pairs[A].second < Pairs[B].second;
                                 });
      if (It != Tails.begin())
        Before[I] = int(*(It - 1));
      if (It == Tails.end())
        Tails.push_back(I);
      else
        *It = I;
    }
    std::vector<std::pair<size_t, size_t>> Result;
    for (int I = Tails.empty() ? -1 : int(Tails.back()); I >= 0; I = Before[I])
      Result.push_back(Pairs[I]);
    std::reverse(Result.begin(), Result.end());
    return Result;
  }

  /// Costs: LostCost for each symbol of Outside that has no partner, OpenCost
  /// for each run of symbols added outside a slot, and beyond these, as little
  /// as decides between equals, AddCost for each symbol in it: where a slot's
  /// text repeats what stands beside the slot, it is the slot's that is free. A
  /// lost symbol closes at most one run, so what is all there is always found.
  void leastCost(const Part &P) {
    enum Step : uint8_t { Pair, Lose, Add, AddFree, StepMask = 3, Extends = 4 };
    constexpr uint64_t AddCost = 1, OpenCost = uint64_t(64) << 24,
                       LostCost = uint64_t(65) << 24, Never = uint64_t(1) << 62;
    size_t N = P.OE - P.OB, M = P.CE - P.CB, Width = M + 1;
    std::vector<uint8_t> Steps((N + 1) * Width);
    std::vector<uint64_t> Above(Width), Row(Width);
    for (size_t I = 0; I <= N; ++I) {
      bool Slot = Free[P.OB + I];
      uint8_t *Out = &Steps[I * Width];
      uint64_t Adding = Never; // the cost so far inside a run of added symbols
      Row[0] = I == 0 ? 0 : Above[0] + LostCost;
      Out[0] = Lose;
      for (size_t J = 1; J <= M; ++J) {
        uint8_t Step = AddFree;
        uint64_t Best = Row[J - 1];
        if (!Slot) {
          Step = Add;
          if (Adding < Row[J - 1] + OpenCost)
            Step |= Extends;
          Adding = std::min(Adding, Row[J - 1] + OpenCost) + AddCost;
          Best = Adding;
        }
        uint8_t Run = Step & Extends;
        if (I > 0 && Above[J] + LostCost < Best) {
          Best = Above[J] + LostCost;
          Step = Lose | Run;
        }
        if (I > 0 && O[P.OB + I - 1] == C[P.CB + J - 1] &&
            Above[J - 1] <= Best) {
          Best = Above[J - 1];
          Step = Pair | Run;
        }
        Row[J] = Best;
        Out[J] = Step;
      }
      std::swap(Row, Above);
    }
    bool InRun = false; // on the way back: the run goes on to the left
    for (size_t I = N, J = M; I > 0 || J > 0;) {
      uint8_t Step = Steps[I * Width + J];
      uint8_t What = J == 0  ? uint8_t(Lose)
                     : InRun ? uint8_t(Add)
                             : Step & StepMask;
      switch (What) {
      case Pair:
        Match[P.CB + --J] = int(P.OB + --I);
        break;
      case Lose:
        --I;
        break;
      case Add:
        InRun = Step & Extends;
        --J;
        break;
      default:
        --J;
        break;
      }
    }
  }

  llvm::ArrayRef<uint32_t> O, C;
  llvm::ArrayRef<int> Depth;
  const std::vector<bool> &Free;
  Part Rest;
  std::vector<int> Match;
  // About 5 ns a cell: the bounds keep the worst case below 100 ms.
  static constexpr size_t CellsOfOne = 4u << 20;
  size_t CellsLeft = 12u << 20;
};

} // namespace

std::vector<int> stark::alignAround(llvm::ArrayRef<uint32_t> Outside,
                                    const std::vector<bool> &FreeSlots,
                                    llvm::ArrayRef<uint32_t> Candidate,
                                    llvm::ArrayRef<int> Depth) {
  Aligner A(Outside, FreeSlots, Candidate, Depth);
  A.run();
  return A.take();
}

std::optional<std::vector<int>> stark::alignExactlyAround(
    llvm::ArrayRef<uint32_t> Outside, const std::vector<bool> &FreeSlots,
    llvm::ArrayRef<uint32_t> Candidate, llvm::ArrayRef<int> Depth) {
  Aligner A(Outside, FreeSlots, Candidate, Depth);
  if (!A.runExact())
    return std::nullopt;
  return A.take();
}
