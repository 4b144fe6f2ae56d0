//===- Source.h - A graph as C++ and as a workload ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Graph --> names --> one line a node --> NAME.cpp
///        `--> inputs with their distributions --> NAME.workload.json
/// Names come from the module, so that its author recognises it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TORCH_SOURCE_H
#define STARK_TORCH_SOURCE_H

#include "stark/Torch/Graph.h"

namespace stark::torch {

/// What inputs and nodes are called in the source. No two are the same, and
/// none is a word of C++.
struct Names {
  std::string Entry;
  std::vector<std::string> Inputs;
  /// Of each of the results: a list has one name. None for what is in place.
  std::vector<std::vector<std::string>> Nodes;
};

/// \p Entry must be an identifier.
Names chooseNames(const Graph &G, llvm::StringRef Entry);

/// The entry's parameters, as indices of inputs: the module's own arguments,
/// then the weights that it uses.
std::vector<unsigned> parametersOf(const Graph &G);

/// A translation unit with the entry
///     at::Tensor NAME(const at::Tensor &x, const at::Tensor &conv_weight, ...)
/// Modules that return several tensors return a std::vector of them.
std::string writeSource(const Graph &G, const Names &N);

/// \p WeightsFile: the name of the file of weights, empty when there is none.
/// \p AgreeWithSource: the workload's field of that name.
std::string writeWorkload(const Graph &G, const Names &N,
                          llvm::StringRef WeightsFile,
                          bool AgreeWithSource = false);

/// "1_Square_matrix.py" -> "Square_matrix": an identifier for what is in it.
std::string entryNameFor(llvm::StringRef File);

/// A name that C++, Python and a schema take as one.
bool isIdentifier(llvm::StringRef Name);

/// Whether \p Name can name an entry.
bool isEntryName(llvm::StringRef Name);

} // namespace stark::torch

#endif
