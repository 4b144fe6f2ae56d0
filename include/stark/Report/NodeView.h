//===- NodeView.h - A run's tree, its nodes and what they changed ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run --> tree, a line a node
///       --> one node: instruction, anchors, verdict, replies
///       --> what a node changed
/// As text that a terminal may be sent (Support/Utf8.h), but for the diff.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REPORT_NODEVIEW_H
#define STARK_REPORT_NODEVIEW_H

#include "stark/Search/Record.h"

namespace stark {

/// The node that \p Name names: a number, "source", "best" or "winner". A usage
/// error says what there is.
llvm::Expected<unsigned> findNode(const RecordedRun &Run, llvm::StringRef Name);

/// Each line has a node under its parent. \p Explain: below it, why its parent
/// was selected and what the agents were shown.
void printTree(const RecordedRun &Run, bool Explain, llvm::raw_ostream &OS);

/// All that a run tells of one node.
void printNode(const RecordedRun &Run, unsigned Number, llvm::raw_ostream &OS);

/// What makes \p New of \p Old, as `patch` reads it behind the names of two
/// files; also where a last line does not end.
std::string hunksOf(llvm::StringRef Old, llvm::StringRef New);

/// What makes \p Number of \p From, for `patch` and for people; empty when they
/// are the same. A usage error when there was no candidate.
llvm::Expected<std::string> nodeDiff(const RecordedRun &Run, unsigned From,
                                     unsigned Number);

} // namespace stark

#endif
