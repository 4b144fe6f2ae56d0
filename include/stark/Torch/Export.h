//===- Export.h - From a source of tensors back into PyTorch --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source, workload, the module's file, templates --> a folder that builds
///   and stands alone: an operator, a package, a candidate for KernelBench
/// Names of the workload end up in C++ and Python: identifiers are checked, all
/// else is written as a literal. docs/export.md describes the folder.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TORCH_EXPORT_H
#define STARK_TORCH_EXPORT_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace stark::torch {

struct ExportRequest {
  std::string Source;   ///< text of the candidate
  std::string Workload; ///< file
  /// The file that was imported; empty: NAME.module.py beside the workload.
  std::string ModuleFile;
  std::string Folder;                   ///< made where it is missing
  bool Force = false;                   ///< Folder may hold files
  std::string Inputs = "get_inputs";    ///< function: the call's arguments
  std::string Init = "get_init_inputs"; ///< function: the class's arguments
  std::string Arch;                     ///< "sm_90a"; empty: not known
  std::vector<std::string> Flags;       ///< of the compiler
  std::string Entry; ///< of the run that made Source; empty: any
  /// Where it was judged: a line, then lines that begin with "* ".
  std::string Provenance;
  std::string Templates; ///< folder; empty: the tool's own
};

struct Exported {
  std::string Entry;
  std::vector<std::string> Files; ///< paths, in the order of writing
  std::vector<std::string> Notes; ///< what a user should know
};

/// What is wrong with the workload, the names or the folder is a usage error.
/// Nothing is written outside of the folder, and nothing at all on an error of
/// input.
llvm::Expected<Exported> exportModule(const ExportRequest &Request);

} // namespace stark::torch

#endif
