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
#include "stark/Judge/Judge.h"
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

/// Four bytes of a buffer that both wrote, as far as the mask says.
struct CommonWord {
  uint64_t Offset = 0;
  uint32_t Bytes = 0, Got = 0, Wanted = 0;
};

/// The words of one buffer, in the order of their places.
std::span<const WrittenWord> wordsOf(const std::vector<WrittenWord> &All,
                                     uint32_t Buffer) {
  auto Less = [](const WrittenWord &W, uint32_t B) { return W.Buffer < B; };
  auto First = std::lower_bound(All.begin(), All.end(), Buffer, Less);
  auto Last = std::lower_bound(First, All.end(), Buffer + 1, Less);
  return {First, Last};
}

std::vector<CommonWord> commonWords(std::span<const WrittenWord> Got,
                                    std::span<const WrittenWord> Wanted) {
  std::vector<CommonWord> Out;
  auto G = Got.begin();
  for (const WrittenWord &W : Wanted) {
    while (G != Got.end() && G->Offset < W.Offset)
      ++G;
    if (G == Got.end())
      break;
    if (G->Offset == W.Offset && (G->Bytes & W.Bytes))
      Out.push_back({W.Offset, G->Bytes & W.Bytes, G->Value, W.Value});
  }
  return Out;
}

/// Elements of \p Words, which are whole in one word or take several.
Common commonElements(const std::vector<CommonWord> &Words,
                      unsigned ElementBytes, uint64_t Elements) {
  Common Out;
  auto Add = [&](uint64_t Index, const char *Got, const char *Wanted,
                 unsigned Bytes) {
    Out.Got.insert(Out.Got.end(), Got, Got + Bytes);
    Out.Wanted.insert(Out.Wanted.end(), Wanted, Wanted + Bytes);
    if (Out.Got.size() % ElementBytes == 0)
      Out.Index.push_back(Index);
  };
  const unsigned Each = std::min(ElementBytes, 4u),
                 WordsEach = std::max(ElementBytes / 4, 1u),
                 Mask = (1u << Each) - 1;
  for (size_t I = 0; I < Words.size(); ++I) {
    if (Words[I].Offset % std::max(ElementBytes, 4u))
      continue;
    bool Whole = I + WordsEach <= Words.size();
    for (size_t N = 0; N < WordsEach && Whole && WordsEach > 1; ++N)
      Whole = Words[I + N].Offset == Words[I].Offset + 4 * N &&
              Words[I + N].Bytes == 0xf;
    for (size_t N = 0; N < WordsEach && Whole; ++N) {
      const CommonWord &W = Words[I + N];
      for (unsigned At = 0; At < 4; At += Each)
        if (uint64_t Index = (W.Offset + At) / ElementBytes;
            (W.Bytes >> At & Mask) == Mask && Index < Elements)
          Add(Index, reinterpret_cast<const char *>(&W.Got) + At,
              reinterpret_cast<const char *>(&W.Wanted) + At, Each);
    }
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
    // Of structs of several types not each byte counts.
    if (!isOutput(Of) || !Of.Fields.empty())
      continue;
    const LeafValue &V = J.Cases[Case].Values[L];
    Common Both = commonElements(
        commonWords(wordsOf(Got, Number), wordsOf(Wanted, Number)),
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
