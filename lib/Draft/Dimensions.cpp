//===- Dimensions.cpp - A grid and a block that are arguments -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"

using namespace stark;
using namespace stark::draft;

void draft::settleDimensions(const EntryUse &Use,
                             std::map<std::string, Formula> &Settled) {
  auto FieldOf = [&](const Value &V) -> const LeafUse * {
    for (const LeafUse &Each : Use.Leaves)
      if (V.isInteger() && isName(V.How) && Each.MadeUp && !Each.Array &&
          llvm::StringRef(Each.P->Name).contains('.') &&
          sizeName(Each.P->Name) == V.How->Name)
        return &Each;
    return nullptr;
  };
  if (Use.Entry.IsKernel || Use.Run->Launches.empty())
    return;
  const Launch &L = Use.Run->Launches.front();
  if (!L.Kernel)
    return;
  int64_t Sides[3];
  blockSides(*Use.Run, L.Kernel, Sides);
  for (int I = 0; I < 3; ++I) {
    if (FieldOf(L.Block[I]))
      Settled[L.Block[I].How->Name] = constant(Sides[I]);
    if (FieldOf(L.Grid[I]) && (Use.Limits[I] || !Use.Run->BlockUsed[I]))
      Settled[L.Grid[I].How->Name] =
          Use.Limits[I] ? combine(Op::CeilDiv, Use.Limits[I],
                                  FieldOf(L.Block[I]) ? constant(Sides[I])
                                                      : L.Block[I].How)
                        : constant(1);
  }
}
