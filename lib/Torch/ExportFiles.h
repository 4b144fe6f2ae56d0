//===- ExportFiles.h - What an export is made of --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   subject, templates --> the files of an export
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TORCH_EXPORTFILES_H
#define STARK_LIB_TORCH_EXPORTFILES_H

#include "ExportText.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace stark::torch {

/// All that was read, and checked.
struct ExportSubject {
  ExportEntry Entry;
  std::string Source, Module;                      ///< texts
  std::string Constants;                           ///< bytes
  std::map<std::string, uint64_t> ConstantOffsets; ///< by argument
  std::vector<std::string> Flags;                  ///< of the compiler
  std::string Inputs, Init, Provenance;
};

struct ExportFile {
  std::string Path; ///< below the folder
  std::string Text;
};

/// \p Read gives the text of a template.
llvm::Expected<std::vector<ExportFile>> makeFiles(
    const ExportSubject &Of, std::vector<std::string> &Notes,
    llvm::function_ref<llvm::Expected<std::string>(llvm::StringRef)> Read);

} // namespace stark::torch

#endif
