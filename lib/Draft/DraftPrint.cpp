//===- DraftPrint.cpp - Sizes and launch as a workload has them -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeChoice.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::draft;
using nlohmann::ordered_json;

/// How many blocks a grid of \p Sides has; unset where it is not known, or no
/// GPU takes it.
static std::optional<int64_t> blocksOf(llvm::ArrayRef<Formula> Sides,
                                       const Bindings &Names) {
  static constexpr int64_t Most[] = {INT32_MAX, 65535, 65535};
  int64_t Blocks = 1;
  for (size_t I = 0; I < Sides.size(); ++I) {
    auto Side = Sides[I] ? evaluate(Sides[I], Names) : 1;
    if (!Side || *Side < 1 || *Side > Most[I])
      return std::nullopt;
    Blocks *= *Side;
  }
  return Blocks;
}

bool SizeChoice::grows(llvm::ArrayRef<Formula> Sides,
                       const Bindings &To) const {
  auto Now = blocksOf(Sides, Large), Then = blocksOf(Sides, To);
  return Now && Then && *Then > *Now;
}

ordered_json SizeChoice::printLaunch() const {
  std::string Front =
      "ceildiv(" + (Dimensions.empty() ? "1" : Dimensions.front()) + ", 256)";
  ordered_json Launch = {{"kernel", Use->Entry.Name},
                         {"grid", printTriple(Grid, Front.c_str())},
                         {"block", printTriple(Block, "256")}};
  if (Shared && !(isConstant(Shared) && Shared->Number == 0))
    Launch["shared_bytes"] = print(Shared);
  return Launch;
}

static ordered_json asJson(const Bindings &Names,
                           const std::vector<std::string> &Order) {
  ordered_json Size = ordered_json::object();
  for (const std::string &Name : Order)
    Size[Name] = Names.at(Name);
  return Size;
}

ordered_json
SizeChoice::printSizes(SmallSize Form, DraftSizes Which,
                       const std::optional<Bindings> &Larger) const {
  Bindings Small = smallSize(Form);
  ordered_json Sizes = ordered_json::array();
  bool OnlySmall = Which == DraftSizes::Small;
  if (!OnlySmall)
    Sizes.push_back(asJson(Large, Dimensions));
  if (!OnlySmall && Larger)
    Sizes.push_back(asJson(*Larger, Dimensions));
  if (OnlySmall || (Form != SmallSize::None && Small != Large)) {
    Sizes.push_back(asJson(Small, Dimensions));
    if (!OnlySmall)
      Sizes.back()["check_only"] = true;
  }
  return Sizes;
}

ordered_json SizeChoice::printMultiples(SmallSize Form) const {
  ordered_json Units = ordered_json::object();
  for (const auto &[Name, Multiple] : Multiples)
    if (Large.count(Name) && Large.at(Name) % Multiple == 0)
      Units[Name] = Multiple;
  if (Form == SmallSize::Aligned)
    for (const std::string &Name : Dimensions)
      if (Large.at(Name) % alignment() == 0)
        Units[Name] = alignment();
  return Units;
}
