//===- Records.cpp - Structs of several types in a dry run ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   points[i].cell -> what cells hold, apart from all else in points
///
//===----------------------------------------------------------------------===//

#include "EntryUse.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

/// The first type of a number in \p R goes to \p First; whether there is
/// another one.
static bool hasAnother(const RecordDecl *R, QualType &First) {
  R = R ? R->getDefinition() : nullptr;
  return R && llvm::any_of(R->fields(), [&](const FieldDecl *F) {
           QualType Of(F->getType()->getBaseElementTypeUnsafe(), 0);
           if (const RecordDecl *Inner = Of->getAsRecordDecl())
             return hasAnother(Inner, First);
           Of = Of.getCanonicalType();
           if (First.isNull())
             First = Of;
           return First != Of;
         });
}

bool Machine::isOfSeveralTypes(QualType Type) {
  const RecordDecl *R = Type.isNull() ? nullptr : Type->getAsRecordDecl();
  if (!R || !hasLayout(R))
    return false;
  auto [At, New] = OfSeveralTypes.try_emplace(R, false);
  if (New) {
    QualType First;
    bool Several = hasAnother(R, First);
    OfSeveralTypes[R] = Several;
    return Several;
  }
  return At->second;
}

Object &Machine::fieldOf(Object &O, int64_t At) {
  if (auto Known = O.Fields.find(At); Known != O.Fields.end())
    return *Known->second;
  Object *Made = create(O.Name, O.Where, -1, nullptr, QualType());
  O.Fields[At] = Made;
  return *Made;
}

void Machine::copyHeld(Object &To, const Object &From) {
  To.Held.add(From.Held);
  if (&To != &From)
    for (const auto &[At, Field] : From.Fields)
      fieldOf(To, At).Held.add(Field->Held);
}

/// A value of an array that the host filled: a field's, where \p P is one.
Value Machine::loadedFrom(Object &O, const Place &P) {
  Object &Of = P.Record ? fieldOf(O, P.InRecord) : O;
  Of.Used.Read = true;
  Value V;
  V.Loaded.push_back(&Of);
  V.Element = true;
  if (Of.Held.Any && !Of.Held.Unknown) {
    V.Low = int64_t(Of.Held.Least);
    V.High = int64_t(Of.Held.Most);
    V.Limit = Of.Held.Limit;
  }
  return V;
}

/// The host sets a whole struct at \p To.
void Machine::holdFields(const Place &To, const Place &From) {
  int64_t Bytes = sizeOf(To.Type);
  if (As || !To || !From || !From.Exact || Bytes < 1 || To.Record ||
      !isOfSeveralTypes(To.Type))
    return;
  int64_t Index = To.Exact ? To.Offset / Bytes : -1;
  std::vector<std::pair<int64_t, Value>> Set;
  for (auto At = From.To->Cells.lower_bound(From.Offset);
       At != From.To->Cells.end() && At->first < From.Offset + Bytes; ++At)
    Set.push_back({At->first - From.Offset, At->second});
  for (const auto &[At, V] : Set)
    fieldOf(*To.To, At).Held.add(V, Index);
}

std::vector<Object *> draft::objectsOf(const LeafUse &L) {
  std::vector<Object *> All;
  if (!L.Array)
    return All;
  All.push_back(L.Array);
  for (const auto &[At, Field] : L.Array->Fields)
    All.push_back(Field);
  return All;
}

void draft::addFieldUse(EntryUse &Use) {
  for (LeafUse &L : Use.Leaves) {
    if (!L.Array)
      continue;
    draft::Use &All = L.Array->Used;
    for (const auto &[At, Field] : L.Array->Fields) {
      const draft::Use &Own = Field->Used;
      for (Object *O : Own.Indexes)
        if (!llvm::is_contained(All.Indexes, O))
          All.Indexes.push_back(O);
      All.Strides.insert(Own.Strides.begin(), Own.Strides.end());
      All.Scaled |= Own.Scaled;
      All.Chooses |= Own.Chooses;
      All.BoundsLoop |= Own.BoundsLoop;
    }
  }
}
