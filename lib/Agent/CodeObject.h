//===- CodeObject.h - Code in the fields of a JSON object -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   {"file": "..."} -> blocks, as if each field had been fenced and labelled
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AGENT_CODEOBJECT_H
#define STARK_LIB_AGENT_CODEOBJECT_H

#include "Fences.h"

namespace stark {

struct CodeObject {
  std::vector<CodeBlock> Blocks; ///< labelled by the names of their fields
  std::string Explanation;
};

/// Of the first object that has code: the whole answer, or one of its JSON \p
/// Blocks. Nothing when there is none.
CodeObject findCodeObject(llvm::StringRef Answer,
                          const std::vector<CodeBlock> &Blocks);

} // namespace stark

#endif
