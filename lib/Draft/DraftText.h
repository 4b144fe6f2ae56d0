//===- DraftText.h - A workload from what an entry does ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_DRAFT_DRAFTTEXT_H
#define STARK_LIB_DRAFT_DRAFTTEXT_H

#include "EntryUse.h"
#include "stark/Draft/Draft.h"

namespace stark::draft {

std::unique_ptr<Draft> makeDraftText(std::unique_ptr<EntryUse> Use,
                                     const ParsedSource &Source);

/// Scalars of an array that a kernel was seen to reach, as a formula over \p
/// Names whose values it was seen with; null: not known. \p Lanes of them make
/// one element.
Formula extentSeen(const LeafUse &L, const EntryUse &Use);

/// What the entry reaches of an array of \p Scalars elements, where it follows
/// from sizes and is all or less than half of it: the program writes the
/// number out once more, or has one buffer for its largest size.
Formula reachedOf(const LeafUse &L, const Formula &Scalars,
                  const EntryUse &Use);

/// What each array of \p Of lacks at \p Numbers: bytes that threads reach
/// behind its end.
std::vector<int64_t> lackOf(const EntryUse &Of, llvm::ArrayRef<Formula> Extents,
                            const Bindings &Numbers);

/// Two sizes of one number may have been mixed up where the program allocates:
/// with others for all of them threads reach further. Then an array is as long
/// as they reach. Marks arrays of which they reach no more than half.
void reachFurther(EntryUse &Use, std::vector<Formula> &Extents);

/// Of what lies in rows whose beginnings another array holds, and is as long as
/// a constant of the program: it grows with the number of rows.
void growTables(const EntryUse &Use, std::vector<Formula> &Extents);

/// Sizes of which a grid of ceildiv(n, 128) blocks takes whole tiles, and how
/// long these are: with a part of one threads reach behind an array's end.
/// \p Known: what sizes are known to be multiples of.
std::map<std::string, int64_t>
tilesOf(const EntryUse &Use, llvm::ArrayRef<Formula> Extents,
        const std::map<std::string, int64_t> &Known);

/// Bytes of dynamic shared memory that a kernel was seen to reach; null: none.
Formula sharedSeen(const EntryUse &Use);

} // namespace stark::draft

#endif
