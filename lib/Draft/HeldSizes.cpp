//===- HeldSizes.cpp - Sizes that lie in an array of one element ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   cudaMemcpy(count, &n, sizeof(int), ...); k<<<...>>>(x, count) -> n
///
//===----------------------------------------------------------------------===//

#include "Dtypes.h"
#include "EntryUse.h"

using namespace stark;
using namespace stark::draft;

void draft::holdWhat(Machine &M, LeafUse &L, const Object &Of,
                     const Bindings *Instead) {
  M.copyHeld(*L.Array, Of);
  Formula Size = sizeIn(L);
  if (!Size)
    return;
  int64_t Number = int64_t(Of.Held.Least);
  if (Instead)
    Number = evaluate(Size, *Instead).value_or(Number);
  L.Array->Cells[0] = Value::integer(Number, Size);
}

Formula draft::sizeIn(const LeafUse &L) {
  job::DType Type = dtypeFor(*L.P);
  const Contents &Held = L.Array->Held;
  bool One = L.P->Lanes == 1 && !L.P->Untyped &&
             L.Array->Size == int64_t(job::dtypeBytes(Type));
  bool Wide = Type == job::DType::I32 || Type == job::DType::I64;
  return One && Wide && Held.Any && !Held.Unknown && hasNames(Held.Only)
             ? Held.Only
             : nullptr;
}
