//===- Check.cpp - What the search itself finds in a candidate -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "stark/AST/Torch.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

/// A parse of a CUDA source takes about 100 MB.
static constexpr size_t KeptParses = 4;

/// What a model's window can bear of one observation.
static constexpr size_t ObservationBytes = 4000;

llvm::Expected<std::shared_ptr<const ParsedNode>>
ParsedNodes::get(unsigned Number, llvm::StringRef Text) {
  for (size_t I = 0; I < Kept.size(); ++I)
    if (Kept[I].first == Number) {
      std::rotate(Kept.begin() + long(I), Kept.begin() + long(I) + 1,
                  Kept.end());
      return Kept.back().second;
    }
  auto Parsed = std::make_shared<ParsedNode>();
  if (Number == 0 && Of.Parsed) {
    Parsed->Source = Of.Parsed;
  } else {
    llvm::Expected<std::unique_ptr<ParsedSource>> Source =
        parseSource(Of.SourcePath, Text, Of.Parse, headers());
    if (!Source)
      return Source.takeError();
    Parsed->Source = std::move(*Source);
  }
  Parsed->All = findSites(*Parsed->Source);
  if (Kept.size() == KeptParses)
    Kept.erase(Kept.begin());
  Kept.emplace_back(Number, Parsed);
  return Kept.back().second;
}

const Prelude *ParsedNodes::headers() {
  if (!Headers && Candidates++)
    Headers = Of.Parsed && !includesTorch(Of.SourceText) &&
                      !Prelude::isToolkits(Of.SourceText, Of.Parse)
                  ? Prelude::make(*Of.Parsed, Of.Parse)
                  : nullptr;
  return Headers ? Headers->get() : nullptr;
}

void KnownTokens::add(const Node &N) {
  // The verdict of an ungrounded candidate says nothing about its tokens under
  // another plan.
  if (!N.Text.empty() && N.Found.Kind != VerdictKind::Ungrounded &&
      N.SameAs < 0)
    Nodes.try_emplace(tokenDigest(N.Text), N.Number);
}

int KnownTokens::find(llvm::StringRef Text) const {
  auto Found = Nodes.find(tokenDigest(Text));
  return Found == Nodes.end() ? -1 : int(Found->second);
}

Verdict stark::knownVerdict(const Node &Known) {
  Verdict V = Known.Found;
  std::string Note = Known.Number == 0
                         ? "the same tokens as the source: nothing was changed"
                         : "the same tokens as attempt " +
                               std::to_string(Known.Number) +
                               ", whose verdict this is";
  V.Run = V.Run.empty() ? Note : Note + "\n" + V.Run;
  return V;
}

Verdict stark::noCandidate(llvm::StringRef Problem) {
  Verdict V;
  V.Kind = VerdictKind::NoCandidate;
  V.Run = trimForWindow(Problem, ObservationBytes);
  return V;
}
