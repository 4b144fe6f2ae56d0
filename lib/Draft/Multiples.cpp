//===- Multiples.cpp - What sizes have to be multiples of -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a float4 at 4 * (row * columns) -> columns is a multiple of 4
/// Found by trying: a size is made larger by 1, 2, 4, ..., until what the
/// threads read or write as a whole lies where it may.
///
//===----------------------------------------------------------------------===//

#include "SizeChoice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace stark::draft;

/// \p Offset for thread 1 of block 1, along each axis.
static std::optional<int64_t> placeOf(const Formula &Offset,
                                      const Bindings &Names) {
  Formula Of = substitute(Offset, [](const std::string &Name) -> Formula {
    llvm::StringRef Each = Name;
    return Each.starts_with("threadIdx.") || Each.starts_with("blockIdx.")
               ? constant(1)
               : nullptr;
  });
  return evaluate(Of, Names);
}

std::map<std::string, int64_t> draft::multiplesOf(const EntryUse &Use) {
  std::map<std::string, int64_t> Found;
  Bindings Names = Use.Names;
  for (const char *Axis : {"x", "y", "z"}) {
    Names[std::string("blockDim.") + Axis] = 1 << 10;
    Names[std::string("gridDim.") + Axis] = 1 << 10;
  }
  for (const auto &[Offset, Bytes] : Use.Run->Aligned) {
    std::set<std::string> In;
    collectNames(Offset, In);
    std::optional<int64_t> At = placeOf(Offset, Names);
    if (!At || *At % Bytes)
      continue;
    for (const std::string &Name : In) {
      if (!Use.Names.count(Name))
        continue;
      int64_t Least = 1;
      for (; Least < Bytes; Least *= 2) {
        Bindings Larger = Names;
        Larger[Name] += Least;
        std::optional<int64_t> Moved = placeOf(Offset, Larger);
        if (Moved && *Moved % Bytes == 0)
          break;
      }
      int64_t &Known = Found[Name];
      Known = std::max(Known, Least);
    }
  }
  // What a grid or a loop counts in whole tiles.
  auto Tiles = [&](const std::string &Name, int64_t Tile) {
    if (Use.Names.count(Name))
      Found[Name] = std::max(Found[Name], Tile);
  };
  for (const auto &[Name, Tile] : Use.Run->WholeTiles)
    Tiles(Name, Tile);
  std::set<std::string> Given;
  for (const LeafUse &L : Use.Leaves)
    collectNames(L.Given.isInteger() ? L.Given.How : nullptr, Given);
  auto IsFixed = [&](const Formula &Tile) {
    std::set<std::string> In;
    collectNames(Tile, In);
    return llvm::none_of(
        In, [&](const std::string &Name) { return Given.count(Name); });
  };
  std::vector<Formula> Grids(Use.Grid, Use.Grid + 3);
  if (!Use.Entry.IsKernel)
    for (const Launch &L : Use.Run->Launches)
      for (const Value &G : L.Grid)
        Grids.push_back(G.isInteger() ? G.How : nullptr);
  for (Formula G : Grids) {
    // n / 4 / 128
    int64_t Tile = 1;
    for (; G && G->Kind == Op::Div && IsFixed(G->Right); G = G->Left)
      Tile *= evaluate(G->Right, Use.Names).value_or(1);
    if (isName(G))
      Tiles(G->Name, Tile);
  }
  std::erase_if(Found, [](const auto &Each) { return Each.second < 2; });
  return Found;
}
