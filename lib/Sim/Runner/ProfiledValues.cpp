//===- ProfiledValues.cpp - What the profiled blocks of two texts wrote ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   words of the source and of the candidate -> elements that both are known
/// to write -> compare()
/// A size that is too large to be run whole is looked at, too.
///
//===----------------------------------------------------------------------===//

#include "ProfiledValues.h"
#include "stark/Judge/Compare.h"
#include "stark/Judge/Runner.h"
#include <algorithm>
#include <cstring>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using namespace stark::judge;

namespace {
/// Of fewer elements the root mean square says little of the output's.
constexpr uint64_t FewestElements = 32;

/// Elements of one output that both wrote whole, by their flat index.
struct Common {
  std::vector<uint64_t> Index;
  std::vector<char> Got, Wanted;
};

/// The words of one buffer, in the order of their places.
class Words {
public:
  Words(const std::vector<WrittenWord> &All, uint32_t Buffer) {
    auto Less = [](const WrittenWord &W, uint32_t B) { return W.Buffer < B; };
    auto First = std::lower_bound(All.begin(), All.end(), Buffer, Less);
    auto Last = std::lower_bound(First, All.end(), Buffer + 1, Less);
    Of = {First, Last};
  }
  /// Puts the bytes from \p Begin on to \p To; false: not all are known.
  bool bytes(uint64_t Begin, unsigned Count, char *To) const {
    for (unsigned I = 0; I < Count; ++I) {
      uint64_t At = Begin + I;
      auto W = std::lower_bound(
          Of.begin(), Of.end(), At / 4 * 4,
          [](const WrittenWord &W, uint64_t O) { return W.Offset < O; });
      if (W == Of.end() || W->Offset != At / 4 * 4 || !(W->Bytes >> At % 4 & 1))
        return false;
      std::memcpy(To + I, reinterpret_cast<const char *>(&W->Value) + At % 4,
                  1);
    }
    return true;
  }
  std::span<const WrittenWord> all() const { return Of; }

private:
  std::span<const WrittenWord> Of;
};

Common commonOf(const Words &Got, const Words &Wanted, unsigned ElementBytes,
                uint64_t Elements) {
  Common Out;
  char G[16], W[16];
  uint64_t Next = 0; // elements before it have been looked at
  for (const WrittenWord &Word : Wanted.all()) {
    uint64_t First = std::max(Next, Word.Offset / ElementBytes),
             Last = (Word.Offset + 3) / ElementBytes;
    for (uint64_t I = First; I <= Last && I < Elements; ++I)
      if (Wanted.bytes(I * ElementBytes, ElementBytes, W) &&
          Got.bytes(I * ElementBytes, ElementBytes, G)) {
        Out.Index.push_back(I);
        Out.Got.insert(Out.Got.end(), G, G + ElementBytes);
        Out.Wanted.insert(Out.Wanted.end(), W, W + ElementBytes);
      }
    Next = std::max(Next, Last + 1);
  }
  return Out;
}
} // namespace

MaybeStop sim::compareProfiled(const Job &J, unsigned Case,
                               const std::vector<WrittenWord> &Got,
                               const std::vector<WrittenWord> &Wanted,
                               const std::string &Where, uint64_t &Compared) {
  uint32_t Buffer = 0;
  for (size_t L = 0; L < J.Leaves.size(); ++L) {
    const Leaf &Of = J.Leaves[L];
    if (Of.Kind != LeafKind::Buffer)
      continue;
    uint32_t Number = Buffer++;
    if (Of.Use != Role::Output && Of.Use != Role::InOut)
      continue;
    const LeafValue &V = J.Cases[Case].Values[L];
    Common Both = commonOf(Words(Got, Number), Words(Wanted, Number),
                           dtypeBytes(Of.Type), V.elements());
    uint64_t Count = Both.Index.size();
    double Rms = rootMeanSquare(Of.Type, Both.Wanted.data(), Count);
    if (Count < FewestElements || (!isWhole(Of.Type) && !(Rms > 0)))
      continue;
    Compared += Count;
    Comparison C =
        compare(Of.Type, Both.Got.data(), Both.Wanted.data(), {int64_t(Count)},
                Of.Tolerance, unwrittenPattern(Of.Type, 0), {0, Rms});
    if (C.ok())
      continue;
    C.FirstBad = Both.Index[C.FirstBad];
    return Stop{Outcome::Wrong,
                "compared where profiled blocks of source and candidate both "
                "write: " +
                    describeMismatch(Of, V, C, Where)};
  }
  return std::nullopt;
}
