//===- Settings.cpp - Settings that nobody gives --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   truth values and modes -> 0, but for those without which nothing happens
///
//===----------------------------------------------------------------------===//

#include "Dtypes.h"
#include "EntryUse.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;

bool draft::isWhole(const Parameter &P) {
  return P.Kind == ParameterKind::Scalar && P.Element != ScalarType::F16 &&
         P.Element != ScalarType::BF16 && P.Element != ScalarType::F32 &&
         P.Element != ScalarType::F64 && P.Element != ScalarType::Other &&
         P.Element != ScalarType::Bool;
}

static bool writes(const EntryUse &Use) {
  return llvm::any_of(Use.Leaves,
                      [](const LeafUse &L) {
                        return L.Array && L.Array->Used.Written;
                      }) ||
         llvm::any_of(Use.Symbols,
                      [](const SymbolUse &S) { return S.Used.Written; });
}

/// Whether \p L is one that the draft would set to 0: a truth value or a
/// setting that nobody gives.
static bool isOff(const LeafUse &L) {
  if (!L.MadeUp || L.P->Kind != ParameterKind::Scalar)
    return false;
  return L.P->Element == ScalarType::Bool
             ? L.Given.Kind == Value::Unknown
             : isWhole(*L.P) && L.Given.isInteger() && !hasNames(L.Given.How) &&
                   L.Given.Number == 0;
}

std::optional<double> draft::endOfRange(const EntryUse &Use, const LeafUse &L) {
  static constexpr std::pair<const char *, const char *> Ends[] = {
      {"min", "max"}, {"lower", "upper"}, {"low", "high"}, {"lo", "hi"}};
  auto Has = [&](const std::string &Name) {
    return llvm::any_of(Use.Leaves, [&](const LeafUse &Other) {
      return Other.P->Kind == ParameterKind::Scalar &&
             Other.P->Element == L.P->Element &&
             llvm::StringRef(Other.P->Name).lower() == Name;
    });
  };
  bool Binned = llvm::any_of(Use.Leaves, [](const LeafUse &Other) {
    return Other.Array && !job::isWhole(dtypeFor(*Other.P)) &&
           (Other.Array->Used.Chooses || !Other.Array->Used.Indexes.empty());
  });
  std::string Name = llvm::StringRef(L.P->Name).lower();
  for (auto [Low, High] : Ends)
    for (bool Upper : {false, true}) {
      llvm::StringRef Own = Upper ? High : Low;
      size_t At = Name.find(Own);
      if (At == std::string::npos)
        continue;
      std::string Other = Name;
      Other.replace(At, Own.size(), Upper ? Low : High);
      if (Has(Other))
        return (Binned ? 8.0 : 1.0) * (Upper ? 1 : -1);
    }
  return std::nullopt;
}

Bindings draft::turnedOn(
    const EntryUse &Use,
    llvm::function_ref<std::unique_ptr<EntryUse>(const Bindings &)> Without) {
  constexpr size_t Most = 6; // each is a run
  Bindings Off, On;
  for (const LeafUse &L : Use.Leaves)
    if (isOff(L) && Off.size() < Most)
      Off[L.P->Name] = 0;
  if (Off.empty() || !Use.Followed || writes(*Without(Off)))
    return On;
  for (const auto &[Name, Zero] : Off) {
    Bindings But = Off;
    But[Name] = 1;
    if (Off.size() == 1 || writes(*Without(But)))
      return {{Name, 1}};
  }
  for (const auto &[Name, Zero] : Off)
    if (!writes(*Without({{Name, 0}})))
      On[Name] = 1;
  return On;
}
