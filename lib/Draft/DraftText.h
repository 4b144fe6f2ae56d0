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

/// Bytes of dynamic shared memory that a kernel was seen to reach; null: none.
Formula sharedSeen(const EntryUse &Use);

} // namespace stark::draft

#endif
