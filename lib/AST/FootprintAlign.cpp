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

  /// Runs cost more than what is in them: of Outside, LostRun for each run of
  /// symbols that have no partner and LostEach for each of them; AddedRun for
  /// each run of symbols added outside a slot, however long, and beyond that,
  /// as little as decides between equals, AddedEach. So a stretch that changed
  /// is not pieced together from what a slot's text has in common with it, and
  /// where that text repeats what stands beside the slot, it is the slot's that
  /// is free. What is all there, with one run added, is always found.
  /// Three lost symbols are dearer than a run that is added, or a stretch
  /// beside a slot would be given up to it.
  static constexpr uint64_t AddedEach = 1, AddedRun = uint64_t(64) << 24,
                            LostEach = uint64_t(30) << 24,
                            LostRun = uint64_t(128) << 24,
                            Never = uint64_t(1) << 62;

  enum Step : uint8_t {
    Pair,
    Lose,
    Add,
    AddFree,
    StepMask = 3,
    AddsOn = 4,  ///< a run of added symbols goes on to the left
    LosesOn = 8, ///< a run of lost ones goes on upwards
  };

  void leastCost(const Part &P) {
    size_t N = P.OE - P.OB, M = P.CE - P.CB, Width = M + 1;
    std::vector<uint8_t> Steps((N + 1) * Width);
    // The cost down to each place, and of a run of lost symbols that ends
    // there.
    std::vector<uint64_t> Above(Width), Row(Width), Losing(Width, Never);
    for (size_t I = 0; I <= N; ++I) {
      bool Slot = Free[P.OB + I];
      uint8_t *Out = &Steps[I * Width];
      uint64_t Adding = Never; // the cost so far inside a run of added symbols
      for (size_t J = 0; J <= M; ++J) {
        uint8_t What = AddFree, Runs = 0;
        uint64_t Best = I == 0 && J == 0 ? 0 : Never;
        if (J > 0 && Slot) {
          Best = Row[J - 1];
        } else if (J > 0) {
          if (Adding < Row[J - 1] + AddedRun)
            Runs |= AddsOn;
          Best = Adding = std::min(Adding, Row[J - 1] + AddedRun) + AddedEach;
          What = Add;
        }
        if (I > 0) {
          if (Losing[J] < Above[J] + LostRun)
            Runs |= LosesOn;
          Losing[J] = std::min(Losing[J], Above[J] + LostRun) + LostEach;
          if (Losing[J] < Best) {
            Best = Losing[J];
            What = Lose;
          }
        }
        if (I > 0 && J > 0 && O[P.OB + I - 1] == C[P.CB + J - 1] &&
            Above[J - 1] <= Best) {
          Best = Above[J - 1];
          What = Pair;
        }
        Row[J] = Best;
        Out[J] = What | Runs;
      }
      std::swap(Row, Above);
    }
    goBack(P, Steps, Width);
  }

  /// Takes the partners of the way that leastCost() found.
  void goBack(const Part &P, const std::vector<uint8_t> &Steps, size_t Width) {
    bool Adds = false, Loses = false; // in such a run
    for (size_t I = P.OE - P.OB, J = P.CE - P.CB; I > 0 || J > 0;) {
      uint8_t Found = Steps[I * Width + J];
      switch (Adds ? Add : Loses ? Lose : Step(Found & StepMask)) {
      case Pair:
        Match[P.CB + --J] = int(P.OB + --I);
        break;
      case Lose:
        Loses = Found & LosesOn;
        --I;
        break;
      case Add:
        Adds = Found & AddsOn;
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
