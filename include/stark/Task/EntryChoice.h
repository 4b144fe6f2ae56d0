//===- EntryChoice.h - For which function a workload is drafted -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_TASK_ENTRYCHOICE_H
#define STARK_TASK_ENTRYCHOICE_H

#include "stark/AST/Signature.h"

namespace stark {

/// The function that a workload is drafted for.
struct EntryChoice {
  Signature Entry;
  std::vector<std::string> Others; ///< that could be meant as well
};
/// \p Name, else the first candidate that can be called at all, else the first
/// one. Errors: those of findEntry(); usage when \p Source has none.
llvm::Expected<EntryChoice> chooseEntry(const ParsedSource &Source,
                                        llvm::StringRef Name);

} // namespace stark

#endif
