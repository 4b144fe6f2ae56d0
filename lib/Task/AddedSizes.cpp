//===- AddedSizes.cpp - Sizes that nobody thought of ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A candidate that is right for the sizes of the workload alone is wrong.
/// But a size must also be one that the entry takes: what always holds between
/// the sizes of the file (n == rows * cols) holds between the added ones. What
/// the source itself cannot do, the judge leaves out.
///
//===----------------------------------------------------------------------===//

#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>

using namespace stark;

static bool holds(const std::vector<Size> &Sizes,
                  llvm::function_ref<bool(const Bindings &)> Relation) {
  return llvm::all_of(Sizes, [&](const Size &S) { return Relation(S.Names); });
}

/// What makes \p Name of the names before it and after it, by the file's
/// sizes: another name of the same value, or two whose product it is.
static std::vector<std::string> factorsOf(const std::vector<Size> &Sizes,
                                          const std::string &Name) {
  const Bindings &All = Sizes.front().Names;
  for (const auto &[Other, V] : All)
    if (Other < Name && holds(
                            Sizes,
                            [&, &O = Other](const Bindings &B) {
                              return B.at(O) == B.at(Name);
                            }))
      return {Other};
  for (auto L = All.begin(); L != All.end(); ++L)
    for (auto R = L; R != All.end(); ++R) {
      if (L->first == Name || R->first == Name)
        continue;
      bool Product = holds(Sizes, [&](const Bindings &B) {
        int64_t Value = 0;
        // A product with 1 says nothing.
        return B.at(L->first) > 1 && B.at(R->first) > 1 &&
               !__builtin_mul_overflow(B.at(L->first), B.at(R->first),
                                       &Value) &&
               Value == B.at(Name);
      });
      if (Product)
        return {L->first, R->first};
    }
  return {};
}

std::vector<Size> stark::addedSizes(const Workload &W) {
  std::vector<Size> Added;
  // An array from a file has one shape.
  if (!W.AddSizes || W.Sizes.empty() || W.Sizes.front().Names.empty() ||
      W.Sizes.front().Names.size() > 16 ||
      llvm::any_of(W.Arguments, [](const Argument &A) {
        return A.IsBuffer && A.Fill.Kind == job::InitKind::File;
      }))
    return Added;
  Bindings Least, Most;
  for (const Size &S : W.Sizes)
    for (const auto &[Name, Value] : S.Names) {
      Least.try_emplace(Name, Value);
      Least[Name] = std::min(Least[Name], Value);
      Most[Name] = std::max(Most[Name], Value);
    }
  // A lone element (or the least that the entry takes), and odd numbers of them
  // about half as large as the smallest of the file.
  Size One, Odd;
  for (const auto &[Name, Value] : Least) {
    auto Found = W.MultipleOf.find(Name);
    int64_t Step = Found == W.MultipleOf.end() ? 1 : Found->second;
    int64_t Units = std::max<int64_t>(Value / Step, 1);
    One.Names[Name] = std::min(Step, Most[Name]);
    Odd.Names[Name] =
        std::min((Units > 8 ? (Units / 2) | 1 : Units) * Step, Most[Name]);
  }
  for (Size *S : {&One, &Odd}) {
    for (auto &[Name, Value] : S->Names) {
      std::vector<std::string> Factors = factorsOf(W.Sizes, Name);
      if (Factors.empty())
        continue;
      Value = 1;
      for (const std::string &F : Factors)
        Value *= S->Names[F]; // at most the file's own product
    }
    S->CheckOnly = S->Added = true;
    auto Same = [&](const Size &Other) { return Other.Names == S->Names; };
    if (llvm::none_of(W.Sizes, Same) && llvm::none_of(Added, Same))
      Added.push_back(*S);
  }
  return Added;
}
