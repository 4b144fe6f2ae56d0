//===- Records.cpp - Buffers of structs, field by field -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Records.h"
#include <algorithm>
#include <cstring>

using namespace stark;
using namespace stark::job;

Leaf job::columnOf(const Leaf &L, size_t I) {
  const Field &Of = L.Fields[I];
  Leaf Column;
  Column.Name = L.Name + "." + Of.Name;
  Column.Type = Of.Type;
  Column.Use = L.Use;
  Column.Fill = Of.Fill;
  Column.Otherwise = Of.Otherwise;
  Column.Tolerance = Of.Tolerance;
  return Column;
}

LeafValue job::columnOf(const Leaf &L, const LeafValue &V, size_t I) {
  LeafValue Column;
  Column.Shape = V.Shape;
  Column.Shape.pop_back();
  if (L.Fields[I].Count > 1 || Column.Shape.empty())
    Column.Shape.push_back(int64_t(L.Fields[I].Count));
  if (!V.FieldFills.empty())
    Column.Fill = V.FieldFills[I];
  return Column;
}

unsigned job::shiftOf(const Leaf &L) {
  unsigned Widest = std::max(4u, dtypeBytes(L.Type));
  for (const Field &Of : L.Fields)
    Widest = std::max(Widest, dtypeBytes(Of.Type));
  return Widest;
}

uint64_t job::recordBytes(const LeafValue &V) {
  return uint64_t(V.Shape.back());
}

uint64_t job::recordCount(const LeafValue &V) {
  return V.elements() / recordBytes(V);
}

static uint64_t bytesOf(const Field &Of) {
  return Of.Count * dtypeBytes(Of.Type);
}

std::vector<char> job::gatherColumn(const Leaf &L, const LeafValue &V, size_t I,
                                    const void *Data) {
  uint64_t Bytes = bytesOf(L.Fields[I]), Stride = recordBytes(V);
  std::vector<char> Column(recordCount(V) * Bytes);
  const char *From = static_cast<const char *>(Data) + L.Fields[I].Offset;
  for (uint64_t At = 0; At < Column.size(); At += Bytes, From += Stride)
    std::memcpy(Column.data() + At, From, Bytes);
  return Column;
}

void job::scatterColumn(const Leaf &L, const LeafValue &V, size_t I,
                        const std::vector<char> &Column, void *Data) {
  uint64_t Bytes = bytesOf(L.Fields[I]), Stride = recordBytes(V);
  char *To = static_cast<char *>(Data) + L.Fields[I].Offset;
  for (uint64_t At = 0; At < Column.size(); At += Bytes, To += Stride)
    std::memcpy(To, Column.data() + At, Bytes);
}
