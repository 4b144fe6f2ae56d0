//===- NoContract.cpp - Until the AST library checks the contract --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Contract.h"

std::vector<stark::Violation>
stark::checkContract(const ParsedSource &, const ParsedSource &,
                     llvm::StringRef) {
  return {};
}
