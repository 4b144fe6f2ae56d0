//===- Graph.h - A PyTorch module as ATen's operators --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   graph.json, which the exporter wrote --> Graph --> source, workload
/// The exporter runs the user's Python, so its file is anybody's: names are
/// identifiers, a node uses only what stands before it, and every word that
/// ends up in a source is one of a list. docs/import.md describes the format.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TORCH_GRAPH_H
#define STARK_TORCH_GRAPH_H

#include "stark/Job/Names.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stark::torch {

struct TensorType {
  job::DType Type = job::DType::F32;
  std::vector<int64_t> Shape;
  uint64_t elements() const;
};

/// A tensor of the graph: an input, or what a node returns.
struct Use {
  unsigned Value = 0;           ///< inputs first, then nodes
  std::optional<unsigned> Item; ///< of a node that returns several
};

/// What an argument is.
struct Constant {
  enum class Kind {
    None,
    Bool,
    Integer,
    Real,
    Text,
    Element,
    Format, ///< of memory: "channels_last"
    Layout,
    Device,
    Tensor,
    List
  };
  Kind Is = Kind::None;
  int64_t Integer = 0; ///< of Bool and Integer
  double Real = 0;
  std::string Text; ///< of Text and Format
  job::DType Type = job::DType::F32;
  Use Tensor;
  std::vector<Constant> Items;
};

struct Argument {
  std::string Name;
  std::string Type;       ///< "Tensor", "int[]", "Scalar?": ATen's schema
  bool IsDefault = false; ///< it need not be written
  Constant Value;
};

enum class InputKind { Input, Parameter, Buffer, Constant };
inline constexpr Named<InputKind> InputKindNames[] = {
    {InputKind::Input, "input"},
    {InputKind::Parameter, "parameter"},
    {InputKind::Buffer, "buffer"},
    {InputKind::Constant, "constant"}};
constexpr std::span<const Named<InputKind>> namesOf(InputKind) {
  return InputKindNames;
}

/// How values were made, or what they look like.
enum class Distribution {
#define STARK_DISTRIBUTION(Kind, Name) Kind,
#include "stark/Torch/Distributions.def"
};
inline constexpr Named<Distribution> DistributionNames[] = {
#define STARK_DISTRIBUTION(Kind, Name) {Distribution::Kind, Name},
#include "stark/Torch/Distributions.def"
};
constexpr std::span<const Named<Distribution>> namesOf(Distribution) {
  return DistributionNames;
}

struct Values {
  Distribution Is = Distribution::Unknown;
  double A = 0, B = 0;
  double Times = 1, Plus = 0;
  double Mean = 0, Sigma = 0;
  std::string Keep; ///< "lower", "upper": the other triangle is zero
};

struct Input {
  std::string Name; ///< torch.export's
  InputKind Kind = InputKind::Input;
  std::string Path; ///< in the module: "layer1.0.conv1.weight"
  TensorType Type;
  bool Changed = false; ///< the call writes to it
  Values Drawn;
  uint64_t Offset = 0; ///< in the file of weights
};

/// How a node's results come.
enum class Returns { Nothing, Tensor, Tuple, List };
inline constexpr Named<Returns> ReturnsNames[] = {{Returns::Nothing, "nothing"},
                                                  {Returns::Tensor, "tensor"},
                                                  {Returns::Tuple, "tuple"},
                                                  {Returns::List, "list"}};
constexpr std::span<const Named<Returns>> namesOf(Returns) {
  return ReturnsNames;
}

/// One call of an operator.
struct Node {
  std::string Name;        ///< torch.export's
  std::string Op;          ///< "conv2d"
  bool IsMethod = false;   ///< x.view(...), not at::view(x, ...)
  bool IsInPlace = false;  ///< returns its first argument, changed
  std::string Path, Class; ///< of the module that calls: "layer1.0", "Block"
  std::vector<Argument> Arguments;
  Returns Kind = Returns::Tensor;
  std::vector<TensorType> Results;
};

struct Output {
  Use Tensor;
  TensorType Type;
};

struct Graph {
  std::string File, Module; ///< "1_Softmax.py", "Model"
  std::string TorchVersion;
  std::string Mode;     ///< "training", "evaluation"
  std::string Tensors;  ///< what it was exported with: "fake", "real"
  std::string Confined; ///< what kept the module to its folder
  bool HasWeights = false;
  std::vector<std::string> Notes;
  std::vector<Input> Inputs;
  std::vector<Node> Nodes;
  std::vector<Output> Outputs;
};

/// \p File: for messages, which name file, field, what was got and what wanted.
llvm::Expected<Graph> parseGraph(llvm::StringRef Text, llvm::StringRef File);

} // namespace stark::torch

#endif
