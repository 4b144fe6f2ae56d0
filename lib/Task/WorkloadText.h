//===- WorkloadText.h - Whether a workload's text is sound JSON -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What parseWorkload() asks before and after it has made a value of the
/// text. problemOfJson() looks at a workload's text before a tree is made of
/// it: where it is no JSON, names that are given twice (of which a parser keeps
/// one, silently), and nesting that is meant to hurt.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TASK_WORKLOADTEXT_H
#define STARK_TASK_WORKLOADTEXT_H

#include "stark/Task/Workload.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace stark {

/// What is wrong, with line and column; empty when all is well. Comments are
/// allowed.
std::string problemOfJson(llvm::StringRef Text);

/// Evaluates every expression for every size: what has no value, names an
/// unknown size or is below what its field allows; empty when all is well.
std::string problemOfExpressions(const Workload &W);

} // namespace stark

#endif
