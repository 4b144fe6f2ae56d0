//===- Reached.cpp - What an entry uses of an array -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftText.h"
#include "Dtypes.h"
#include "SizeChoice.h"
#include "stark/Job/Job.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

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

static int64_t scalarBytes(const LeafUse &L) {
  return job::dtypeBytes(dtypeFor(*L.P));
}

std::vector<int64_t> draft::lackOf(const EntryUse &Of,
                                   llvm::ArrayRef<Formula> Extents,
                                   const Bindings &Numbers) {
  std::vector<int64_t> Lack(Of.Leaves.size());
  for (size_t I = 0; I < Lack.size() && I < Extents.size(); ++I) {
    const LeafUse &L = Of.Leaves[I];
    if (!L.Array)
      continue;
    if (auto Scalars = evaluate(Extents[I], Numbers))
      Lack[I] = std::max<int64_t>(std::max<int64_t>(L.Array->Used.Most, 0) -
                                      *Scalars * scalarBytes(L),
                                  0);
  }
  return Lack;
}

void draft::reachFurther(EntryUse &Use, std::vector<Formula> &Extents) {
  auto MarkPart = [&](LeafUse &L, const Formula &Scalars) {
    auto All = L.Array && L.Bytes ? evaluate(Scalars, Use.Names) : std::nullopt;
    int64_t Reached = All ? L.Array->Used.Most / scalarBytes(L) : 0;
    // Of a few elements, or of much less, other threads may reach the rest.
    L.PartLeft =
        All && *All >= 4 * Few && Reached > *All / 4 && Reached <= *All / 2;
  };
  for (size_t I = 0; I < Use.Leaves.size(); ++I)
    MarkPart(Use.Leaves[I], Extents[I]);
  Bindings Others = unlikeSizes(Use);
  if (Others.empty() || !Use.Repeat || !Use.Recorded)
    return;
  std::unique_ptr<EntryUse> There = Use.Repeat(Others);
  std::vector<int64_t> Here = lackOf(Use, Extents, Use.Names),
                       Then = lackOf(*There, Extents, Others);
  std::unique_ptr<EntryUse> Was = std::exchange(Use.Again, std::move(There));
  for (size_t I = 0; I < Here.size() && I < Then.size(); ++I) {
    const LeafUse &L = Use.Leaves[I];
    if (Here[I] || !Then[I] || L.Array->Used.Inexact)
      continue;
    Formula Reached = extentSeen(L, Use);
    auto Now = evaluate(Reached, Use.Names),
         Wanted = evaluate(Extents[I], Use.Names);
    if (Now && Wanted && *Now == *Wanted)
      Extents[I] = Reached;
  }
  Use.Again = std::move(Was);
}

void draft::growTables(const EntryUse &Use, std::vector<Formula> &Extents) {
  std::set<std::string> Sizes;
  for (const LeafUse &L : Use.Leaves)
    if (!L.Array && L.Given.isInteger())
      collectNames(L.Given.How, Sizes);
  for (const Formula &G : Use.Grid)
    collectNames(G, Sizes);
  // Nowhere that is known, and of a length that no size changes.
  auto IsTable = [&](size_t I) {
    const LeafUse &L = Use.Leaves[I];
    std::set<std::string> Names;
    collectNames(Extents[I], Names);
    return L.Array && L.Bytes && Extents[I] && L.Array->Used.Inexact &&
           L.Array->Used.Most == INT64_MIN &&
           llvm::none_of(Names, [&](const std::string &Name) {
             return Sizes.count(Name) || Use.ReadNames.count(Name) ||
                    Use.MadeUpNames.count(Name);
           });
  };
  for (size_t I = 0; I < Extents.size(); ++I) {
    const LeafUse &Begins = Use.Leaves[I];
    Formula Rows = Begins.Array && Begins.Array->Used.BoundsLoop && Extents[I]
                       ? combine(Op::Sub, Extents[I], constant(1))
                       : nullptr;
    std::set<std::string> Names;
    collectNames(Rows, Names);
    auto Count = evaluate(Rows, Use.Names);
    if (!Count || *Count < 1 || Names.empty() ||
        llvm::any_of(
            Names, [&](const std::string &N) { return !Sizes.count(N); }))
      continue;
    for (size_t J = 0; J < Extents.size(); ++J) {
      auto Length = IsTable(J) ? evaluate(Extents[J], Use.Names) : std::nullopt;
      if (!Length || *Length < *Count ||
          !llvm::is_contained(Begins.Array->Used.Indexes, Use.Leaves[J].Array))
        continue;
      Formula Grown =
          combine(Op::Mul, constant((*Length + *Count - 1) / *Count), Rows);
      std::string Was = print(Extents[J]);
      for (size_t K = 0; K < Extents.size(); ++K)
        if (IsTable(K) && print(Extents[K]) == Was)
          Extents[K] = Grown;
    }
  }
}

std::map<std::string, int64_t>
draft::tilesOf(const EntryUse &Use, llvm::ArrayRef<Formula> Extents,
               const std::map<std::string, int64_t> &Known) {
  std::map<std::string, int64_t> Found;
  if (!Use.Repeat)
    return Found;
  std::vector<int64_t> Here = lackOf(Use, Extents, Use.Names);
  for (const Formula &G : Use.Grid) {
    if (!G || G->Kind != Op::CeilDiv || !isName(G->Left))
      continue;
    const std::string &Name = G->Left->Name;
    int64_t Tile = evaluate(G->Right, Use.Names).value_or(0);
    auto Of = Known.find(Name);
    int64_t Least = Of == Known.end() ? 1 : Of->second;
    auto Was = Use.Names.find(Name);
    if (Was == Use.Names.end() || Tile < 2 || Least % Tile == 0 ||
        Found.count(Name))
      continue;
    auto LacksAt = [&](int64_t Number) {
      Bindings Numbers = Use.Names;
      Numbers[Name] = Number;
      std::unique_ptr<EntryUse> There = Use.Repeat(Numbers);
      std::vector<int64_t> Then = lackOf(*There, Extents, Numbers);
      for (size_t I = 0; I < Here.size() && I < Then.size(); ++I)
        if (!Here[I] && Then[I] > 0 && !There->Leaves[I].Array->Used.Inexact)
          return true;
      return false;
    };
    // A part of the last tile, so that as many blocks are left.
    int64_t Whole = std::max(Was->second / Tile, int64_t(1)) * Tile;
    if (LacksAt(Whole - Tile + Least % Tile) && !LacksAt(Whole))
      Found[Name] = std::lcm(Tile, Least);
  }
  return Found;
}
