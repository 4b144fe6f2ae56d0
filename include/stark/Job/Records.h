//===- Records.h - Buffers of structs, field by field ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a buffer of records -> a column for each field, a buffer of its own
/// What is known of buffers of one type, how they are filled and compared, then
/// holds for each column.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JOB_RECORDS_H
#define STARK_JOB_RECORDS_H

#include "stark/Job/Job.h"

namespace stark::job {

/// Field \p I of \p L as a buffer named "points.x".
Leaf columnOf(const Leaf &L, size_t I);
/// Its shape and what it is filled with, where \p L's buffer is \p V.
LeafValue columnOf(const Leaf &L, const LeafValue &V, size_t I);

/// How far a buffer of \p L begins past where it is aligned, in a case that
/// asks for it: its widest number, or 4 bytes.
unsigned shiftOf(const Leaf &L);

/// The bytes of one record of \p V, and how many records there are.
uint64_t recordBytes(const LeafValue &V);
uint64_t recordCount(const LeafValue &V);

/// The column of field \p I, copied out of the records at \p Data.
std::vector<char> gatherColumn(const Leaf &L, const LeafValue &V, size_t I,
                               const void *Data);
/// The way back, into the records at \p Data.
void scatterColumn(const Leaf &L, const LeafValue &V, size_t I,
                   const std::vector<char> &Column, void *Data);

} // namespace stark::job

#endif
