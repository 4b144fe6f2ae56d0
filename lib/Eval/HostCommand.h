//===- HostCommand.h - Who compiles host code -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   HostCompiler -> a program that takes g++'s arguments
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_HOSTCOMMAND_H
#define STARK_LIB_EVAL_HOSTCOMMAND_H

#include "stark/Eval/Evaluator.h"

namespace stark {

struct HostCommand {
  std::string Program;
  std::vector<std::string> First;      ///< before all other arguments
  std::vector<std::string> ForHeaders; ///< beside them, to precompile one
  std::string Version; ///< another one reads nothing of this one's
  std::string Suffix;  ///< of what is kept beside a header
};

/// g++, which links in any case.
constexpr char UsersCompiler[] = "g++";

/// What compiles host code as \p Options say. Our own reads the C++ library
/// that g++ links with.
HostCommand hostCommand(const BuildOptions &Options);

/// What has \c UsersCompiler link with gold, where it is to be had: half of the
/// time goes to the symbols of libtorch's libraries. Else nothing.
std::vector<std::string> quickLinker();

/// Whether there is a stark-tool to be our own compiler.
bool hasOwnCompiler(const BuildOptions &Options);

} // namespace stark

#endif
