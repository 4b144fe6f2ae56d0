//===- Blocks.cpp - Columns and tiles of an output ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   squares of errors and of what is wanted -> sums by column and by tile
/// An element is measured against its row. A column that is small beside the
/// others could be left out, and no element would tell.
///
//===----------------------------------------------------------------------===//

#include "Values.h"
#include "stark/Judge/Compare.h"
#include <cmath>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

namespace {
struct Squares {
  double Error = 0, Wanted = 0;
  uint64_t Count = 0;

  void add(double Difference, double Value) {
    Error += Difference * Difference;
    Wanted += Value * Value;
    ++Count;
  }
  void add(const Squares &Other) {
    Error += Other.Error;
    Wanted += Other.Wanted;
    Count += Other.Count;
  }
  double error() const { return Count ? std::sqrt(Error / double(Count)) : 0; }
  double wanted() const {
    return Count ? std::sqrt(Wanted / double(Count)) : 0;
  }
};

struct Grid : BlockShape {
  uint64_t bands() const { return (Rows + TileEdge - 1) / TileEdge; }
  uint64_t across() const { return (Columns + TileEdge - 1) / TileEdge; }
};

std::string between(const char *Name, uint64_t First, uint64_t End) {
  return std::string(Name) + " " + std::to_string(First) + " to " +
         std::to_string(End - 1);
}

/// Of the tiles of a band of rows, and of its columns.
template <class T>
void addBand(const T *Got, const T *Wanted, const Grid &G, uint64_t Band,
             std::vector<Squares> &Tiles, std::vector<Squares> &Columns) {
  uint64_t End = std::min(G.Rows, (Band + 1) * TileEdge);
  for (uint64_t R = Band * TileEdge; R < End; ++R)
    for (uint64_t C = 0; C < G.Columns; ++C) {
      double W = valueOf(Wanted[R * G.Columns + C]),
             D = valueOf(Got[R * G.Columns + C]) - W;
      if (!std::isfinite(W) || !std::isfinite(D))
        continue;
      Tiles[Band * G.across() + C / TileEdge].add(D, W);
      Columns[C].add(D, W);
    }
}

template <class T>
std::optional<BadBlock> blocksAs(const void *GotBytes, const void *WantedBytes,
                                 const Grid &G, double Tolerance) {
  auto *Got = static_cast<const T *>(GotBytes);
  auto *Wanted = static_cast<const T *>(WantedBytes);
  std::vector<Squares> Tiles(G.bands() * G.across()), Columns(G.Columns);
  // Columns are added up by whole bands, in order: the same on every machine.
  uint64_t Parts = std::min<uint64_t>(G.bands(), 16);
  std::vector<std::vector<Squares>> OfPart(Parts);
  forParts(Parts, [&](uint64_t P) {
    OfPart[P].resize(G.Columns);
    for (uint64_t B = P * G.bands() / Parts; B < (P + 1) * G.bands() / Parts;
         ++B)
      addBand(Got, Wanted, G, B, Tiles, OfPart[P]);
  });
  Squares Whole;
  for (const std::vector<Squares> &Part : OfPart)
    for (uint64_t C = 0; C < G.Columns; ++C)
      Columns[C].add(Part[C]);
  for (const Squares &C : Columns)
    Whole.add(C);
  auto Allowed = [&](const Squares &S) {
    return Tolerance *
           (BlockOwnShare * S.wanted() + BlockWholeShare * Whole.wanted());
  };
  auto IsBad = [&](const Squares &S) {
    return S.Count >= FewestInBlock && S.error() > Allowed(S);
  };
  auto Bad = std::find_if(Columns.begin(), Columns.end(), IsBad);
  if (Bad != Columns.end()) {
    uint64_t C = uint64_t(Bad - Columns.begin());
    return BadBlock{G.IsCut ? "elements " + std::to_string(C) + ", " +
                                  std::to_string(C + G.Columns) + " and so on"
                            : "column " + std::to_string(C),
                    Bad->error(), Allowed(*Bad)};
  }
  Bad = std::find_if(Tiles.begin(), Tiles.end(), IsBad);
  if (Bad == Tiles.end())
    return std::nullopt;
  uint64_t I = uint64_t(Bad - Tiles.begin()), Row = I / G.across() * TileEdge,
           Column = I % G.across() * TileEdge;
  if (G.IsCut)
    return BadBlock{between("elements", Row * G.Columns,
                            std::min(G.Rows, Row + TileEdge) * G.Columns),
                    Bad->error(), Allowed(*Bad)};
  return BadBlock{
      between("rows", Row, std::min(G.Rows, Row + TileEdge)) + ", " +
          between("columns", Column, std::min(G.Columns, Column + TileEdge)),
      Bad->error(), Allowed(*Bad)};
}
} // namespace

std::optional<BadBlock> judge::compareBlocks(DType Type, const void *Got,
                                             const void *Wanted,
                                             const std::vector<int64_t> &Shape,
                                             double Tolerance) {
  if (isWhole(Type) || isComplex(Type) || Shape.empty())
    return std::nullopt;
  Grid G{blockShape(Shape)};
  if (G.Rows < 2 || G.Columns < 2)
    return std::nullopt;
  switch (Type) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    return blocksAs<Cpp>(Got, Wanted, G, Tolerance);
#include "stark/Job/DTypes.def"
  }
  return std::nullopt;
}
