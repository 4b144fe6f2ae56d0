//===- DraftPrint.cpp - How large a draft is, and its text ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftText.h"
#include "llvm/ADT/STLExtras.h"

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

/// Whether some launch has more blocks at \p To: else sizes are not what the
/// grid is made of, and its threads would leave a part alone.
bool DraftText::gridGrows(const Bindings &To) const {
  auto Grows = [&](llvm::ArrayRef<Formula> Sides) {
    auto Now = blocksOf(Sides, Large), Then = blocksOf(Sides, To);
    return Now && Then && *Then > *Now;
  };
  if (Use->Entry.IsKernel) {
    Formula Sides[] = {Grid[0], Grid[1], Grid[2]};
    if (!Sides[0] && !Dimensions.empty())
      Sides[0] = combine(Op::CeilDiv, named(Dimensions.front()), constant(256));
    return Grows(Sides);
  }
  return llvm::any_of(Use->Run->Launches, [&](const Launch &L) {
    std::vector<Formula> Sides;
    for (const Value &G : L.Grid)
      Sides.push_back(settle(G.How));
    return Grows(Sides);
  });
}

bool DraftText::enlarge(double ToBytes) {
  std::optional<Bindings> Grown = grown(ToBytes);
  if (!Grown || !gridGrows(*Grown))
    return false;
  Larger = std::move(Grown);
  return true;
}

static ordered_json asJson(const Bindings &Names,
                           const std::vector<std::string> &Order) {
  ordered_json Size = ordered_json::object();
  for (const std::string &Name : Order)
    Size[Name] = Names.at(Name);
  return Size;
}

std::string DraftText::text(SmallSize Form, DraftSizes Which) const {
  ordered_json Root;
  if (Use->Entry.IsKernel) {
    std::string Front =
        "ceildiv(" + (Dimensions.empty() ? "1" : Dimensions.front()) + ", 256)";
    Root["launch"] = {{"kernel", Use->Entry.Name},
                      {"grid", printTriple(Grid, Front.c_str())},
                      {"block", printTriple(Block, "256")}};
    if (Shared && !(isConstant(Shared) && Shared->Number == 0))
      Root["launch"]["shared_bytes"] = print(Shared);
  } else {
    Root["entry"] = Use->Entry.Name;
  }
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
  Root["sizes"] = std::move(Sizes);
  for (const auto &[Name, Multiple] : Multiples)
    if (Large.count(Name) && Large.at(Name) % Multiple == 0)
      Root["multiple_of"][Name] = Multiple;
  if (Form == SmallSize::Aligned)
    for (const std::string &Name : Dimensions)
      if (Large.at(Name) % alignment() == 0)
        Root["multiple_of"][Name] = alignment();
  bool AllHold = Form == SmallSize::Ragged || Form == SmallSize::Aligned;
  if ((Which != DraftSizes::All || !AllHold) && !Dimensions.empty())
    Root["added_sizes"] = false;
  if (KeepsValues)
    Root["harden"] = false;
  Root["arguments"] = Arguments;
  if (!Symbols.empty())
    Root["symbols"] = Symbols;
  if (Use->Entry.ReturnsTensors)
    Root["returns"] =
        ordered_json::array({{{"dtype", "f32"}, {"shape", Dimensions}}});
  if (!Bytes.empty())
    Root["bytes"] = Bytes;
  return Root.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}
