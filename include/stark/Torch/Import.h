//===- Import.h - From a PyTorch module to files --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   task.py --python3 with torch, once, in a child--> graph.json, weights.bin
///           --> NAME.cpp, NAME.workload.json, NAME.weights.bin,
///           NAME.module.py
/// The child may write to one folder, and has a deadline and a limit of memory.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TORCH_IMPORT_H
#define STARK_TORCH_IMPORT_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace stark::torch {

struct ImportRequest {
  std::string File;                     ///< Python
  std::string Folder;                   ///< made where it is missing
  std::string Name;                     ///< of the entry; empty: from File
  std::string Python = "python3";       ///< a path, or a name to find on PATH
  std::string Exporter;                 ///< folder; empty: the tool's own
  std::string Module = "Model";         ///< a class, or an object, of File
  std::string Inputs = "get_inputs";    ///< function: the call's arguments
  std::string Init = "get_init_inputs"; ///< function: the class's arguments
  bool Evaluation = false;              ///< Module.eval() first
  bool KeepDropout = false;             ///< as the module has it
  bool WriteWeights = true;
  bool AgreeWithSource = false; ///< as the workload's field says
  uint64_t TimeoutSeconds = 600;
  uint64_t MemoryGiB = 0; ///< 0: no limit
};

struct Imported {
  std::string Source, Workload, Weights; ///< paths; Weights may be empty
  std::string Module;                    ///< path of a copy of the file
  std::string Entry;
  size_t Nodes = 0;
  std::string TorchVersion; ///< of the exporter's torch
  /// Of what a call is handed and what it returns, each once.
  uint64_t Bytes = 0;
  std::vector<std::string> Notes; ///< what a user should know
};

/// Old files of the same names are replaced, and stay as they are on an error.
/// What is wrong with the module is a usage error of one line.
llvm::Expected<Imported> importModule(const ImportRequest &Request);

/// Which torch \p Python has, without loading it; empty where it has none.
llvm::Expected<std::string> torchVersion(const std::string &Python);

} // namespace stark::torch

#endif
