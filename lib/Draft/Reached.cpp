//===- Reached.cpp - What an entry uses of an array -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftText.h"
#include "SizeChoice.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;

/// Many a formula comes to no more than this.
static constexpr int64_t Few = 16;

/// Whether the entry is told \p F as it stands, and not as one of its sizes.
static bool isArgument(const Formula &F, const EntryUse &Use) {
  return F && !isName(F) && hasNames(F) &&
         llvm::any_of(Use.Leaves, [&](const LeafUse &L) {
           return !L.Array && L.Given.isInteger() && L.Given.How &&
                  print(L.Given.How) == print(F);
         });
}

/// Whether \p Part is at most half of \p Whole.
static bool halves(const Formula &Part, const Formula &Whole,
                   const EntryUse &Use) {
  std::optional<int64_t> Number = evaluate(Part, Use.Names),
                         All = evaluate(Whole, Use.Names);
  return Number && All && *Number <= *All / 2;
}

/// Whether \p Scalars has a number in it, as in 64 * n, for a size that
/// \p Reached has in its place.
static bool writesOut(const Formula &Scalars, const Formula &Reached,
                      const EntryUse &Use) {
  if (!Reached) // by no thread
    return false;
  std::vector<Formula> Parts = factors(Scalars), Seen = factors(Reached);
  if (Parts.empty() || !isConstant(Parts.front()) ||
      Parts.front()->Number <= Few || Seen.size() != Parts.size() ||
      evaluate(Scalars, Use.Names) != evaluate(Reached, Use.Names))
    return false;
  auto Has = [](llvm::ArrayRef<Formula> In, const Formula &F) {
    return llvm::any_of(
        In, [&](const Formula &Other) { return print(Other) == print(F); });
  };
  llvm::ArrayRef<Formula> Names = llvm::ArrayRef(Parts).drop_front();
  return llvm::all_of(Seen, isName) &&
         llvm::all_of(Names, [&](const Formula &N) { return Has(Seen, N); });
}

Formula draft::reachedOf(const LeafUse &L, const Formula &Scalars,
                         const EntryUse &Use) {
  const draft::Use &U = L.Array->Used;
  std::set<std::string> Own, Given, Names, Wanted;
  collectNames(Scalars, Own);
  for (const LeafUse &Other : Use.Leaves)
    if (!Other.Array && Other.Given.isInteger())
      collectNames(Other.Given.How, Given);
  for (const Formula &G : Use.Grid)
    collectNames(G, Given);
  if (!Scalars || U.Inexact)
    return nullptr;
  Formula Reached = extentSeen(L, Use);
  if (llvm::any_of(Own,
                   [&](const std::string &Name) { return Given.count(Name); }))
    return (isArgument(Reached, Use) && halves(Reached, Scalars, Use)) ||
                   writesOut(Scalars, Reached, Use)
               ? Reached
               : nullptr;
  // Nobody says how long it is.
  if (llvm::all_of(Own,
                   [&](const std::string &Name) {
                     return Use.MadeUpNames.count(Name);
                   }) &&
      !Own.empty())
    return Reached;
  std::optional<int64_t> Number = evaluate(Reached, Use.Names),
                         All = evaluate(Scalars, Use.Names);
  // What the kernel's own text says how long it is, whatever the grid.
  if (llvm::any_of(Use.Run->Guards, [&](const AxisGuard &G) {
        return G.InLoop && isConstant(G.Limit) && All &&
               G.Limit->Number == *All;
      }))
    return nullptr;
  if (!Number || !All || *All <= 4 * Few ||
      (*Number != *All && *Number > *All / 2))
    return nullptr;
  collectNames(Reached, Names);
  for (const AxisGuard &G : Use.Run->Guards)
    collectNames(G.Limit, Wanted);
  for (const Formula &G : Use.Grid)
    collectNames(G, Wanted);
  Wanted.insert(Use.Run->LoopLimits.begin(), Use.Run->LoopLimits.end());
  return !Names.empty() && llvm::all_of(Names,
                                        [&](const std::string &Name) {
                                          return Wanted.count(Name);
                                        })
             ? Reached
             : nullptr;
}
