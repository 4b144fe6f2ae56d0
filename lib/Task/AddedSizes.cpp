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

namespace {
/// More than this many are too dear even for a confirmation.
constexpr size_t MostDrawn = 96;

class SizeAdder {
public:
  SizeAdder(const Workload &W) : W(W) {
    for (const Size &S : W.Sizes)
      for (const auto &[Name, Value] : S.Names) {
        Least.try_emplace(Name, Value);
        Least[Name] = std::min(Least[Name], Value);
        Most[Name] = std::max(Most[Name], Value);
      }
  }

  std::vector<Size> run(llvm::ArrayRef<int64_t> Constants) {
    addTinyAndOdd();
    addTimedAlone();
    for (const Size &S : W.Sizes)
      if (!S.CheckOnly)
        addAround(S);
    for (int64_t Constant : Constants)
      addAtConstant(Constant);
    return std::move(Added);
  }

private:
  int64_t step(const std::string &Name) const {
    auto Found = W.MultipleOf.find(Name);
    return Found == W.MultipleOf.end() ? 1 : Found->second;
  }
  bool isFree(const std::string &Name) const {
    return factorsOf(W.Sizes, Name).empty();
  }
  void add(Size S, bool Drawn);
  void addTinyAndOdd();
  void addTimedAlone();
  void addAround(const Size &S);
  void addAtConstant(int64_t Constant);
  void addAlone(const Bindings &Others, const std::string &Name, int64_t Value);

  const Workload &W;
  Bindings Least, Most, Odd;
  std::vector<Size> Added;
  size_t DrawnSoFar = 0;
};
} // namespace

/// Unless it is there already.
void SizeAdder::add(Size S, bool Drawn) {
  for (auto &[Name, Value] : S.Names) {
    std::vector<std::string> Factors = factorsOf(W.Sizes, Name);
    if (Factors.empty())
      continue;
    Value = 1;
    for (const std::string &F : Factors)
      if (__builtin_mul_overflow(Value, S.Names[F], &Value))
        return;
  }
  S.CheckOnly = S.Added = true;
  S.Drawn = Drawn;
  auto Same = [&](const Size &Other) { return Other.Names == S.Names; };
  if (llvm::any_of(W.Sizes, Same) || llvm::any_of(Added, Same) ||
      (Drawn && DrawnSoFar >= MostDrawn))
    return;
  DrawnSoFar += Drawn;
  Added.push_back(std::move(S));
}

/// A lone element (or the least that the entry takes), and odd numbers of them
/// about half as large as the smallest of the file.
void SizeAdder::addTinyAndOdd() {
  Size One;
  for (const auto &[Name, Value] : Least) {
    int64_t Step = step(Name), Units = std::max<int64_t>(Value / Step, 1);
    One.Names[Name] = std::min(Step, Most[Name]);
    Odd[Name] =
        std::min((Units > 8 ? (Units / 2) | 1 : Units) * Step, Most[Name]);
  }
  add(One, false);
  Size Other;
  Other.Names = Odd;
  add(Other, false);
}

void SizeAdder::addAlone(const Bindings &Others, const std::string &Name,
                         int64_t Value) {
  Size S;
  S.Names = Others;
  S.Names[Name] = Value;
  add(std::move(S), true);
}

static bool isPrime(int64_t N) {
  for (int64_t D = 2; D <= N / D; ++D)
    if (N % D == 0)
      return false;
  return N > 1;
}

/// Each name as it is timed, the others being odd: what has a path for a number
/// of columns has it for any number of rows.
void SizeAdder::addTimedAlone() {
  for (const Size &S : W.Sizes)
    for (const auto &[Name, Value] : S.Names) {
      Size Alone;
      Alone.Names = Odd;
      Alone.Names[Name] = Value;
      if (!S.CheckOnly && isFree(Name))
        add(std::move(Alone), false);
    }
}

/// Each name alone: what is right where all are odd may be wrong where one is.
void SizeAdder::addAround(const Size &S) {
  for (const auto &[Name, Value] : S.Names) {
    int64_t Step = step(Name), Units = Value / Step;
    if (!isFree(Name) || Units < 2 || Units > int64_t(1) << 40)
      continue;
    int64_t Prime = Units - 2;
    while (Prime > 1 && !isPrime(Prime))
      --Prime;
    for (int64_t Other : {Units - 1, Units + 1, Prime})
      if (Other > 0)
        addAlone(S.Names, Name, Other * Step);
  }
}

/// At and beside what a candidate may compare with, the other names being odd.
void SizeAdder::addAtConstant(int64_t Constant) {
  for (const auto &[Name, Greatest] : Most)
    for (int64_t Value : {Constant, Constant - 1, Constant + 1})
      if (isFree(Name) && Value > 0 && Value <= Greatest &&
          Value % step(Name) == 0)
        addAlone(Odd, Name, Value);
}

std::vector<Size> stark::addedSizes(const Workload &W,
                                    llvm::ArrayRef<int64_t> Constants) {
  // An array from a file has one shape.
  if (!W.AddSizes || W.Sizes.empty() || W.Sizes.front().Names.empty() ||
      W.Sizes.front().Names.size() > 16 ||
      llvm::any_of(W.Arguments, [](const Argument &A) {
        return A.IsBuffer && A.Fill.Kind == job::InitKind::File;
      }))
    return {};
  return SizeAdder(W).run(Constants);
}
