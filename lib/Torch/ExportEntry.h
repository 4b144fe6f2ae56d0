//===- ExportEntry.h - What an export reads of a workload ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   NAME.workload.json --> the entry with its tensors, every name checked
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_TORCH_EXPORTENTRY_H
#define STARK_LIB_TORCH_EXPORTENTRY_H

#include "stark/Torch/Graph.h"
#include <map>

namespace stark::torch {

struct EntryTensor {
  std::string Name; ///< an identifier
  InputKind Kind = InputKind::Input;
  std::string Path; ///< in the module, one line
  TensorType Type;
  bool Changed = false;
  std::optional<uint64_t> Offset; ///< in the file of weights
};

struct ExportEntry {
  std::string Name;                   ///< an entry's name
  std::string File, Module;           ///< a line of text, an identifier
  std::string Mode, Version;          ///< "training", "evaluation"; of torch
  std::string Weights;                ///< file beside the workload, or empty
  std::vector<EntryTensor> Arguments; ///< at least one
  std::vector<TensorType> Returns;    ///< at least one
  std::map<std::string, double> Tolerance; ///< by the workload's word
  std::vector<std::string> Notes;          ///< lines of text
};

/// \p File: for messages, which name file, field, what was got and what wanted.
llvm::Expected<ExportEntry> parseExportEntry(llvm::StringRef Text,
                                             llvm::StringRef File);

} // namespace stark::torch

#endif
