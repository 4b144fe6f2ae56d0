//===- Workload.cpp - What an imported entry is called with ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   inputs -> arguments with dtype, shape, role and distribution; outputs ->
/// what is returned. docs/workload.md, "Tensors", describes the format.
///
//===----------------------------------------------------------------------===//

#include "stark/Json/Fields.h"
#include "stark/Torch/Source.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::torch;
using nlohmann::ordered_json;

static ordered_json number(double Value) {
  if (std::isfinite(Value) && std::floor(Value) == Value &&
      std::fabs(Value) < 1e15)
    return int64_t(Value);
  return std::isfinite(Value) ? ordered_json(Value) : ordered_json(nullptr);
}

static ordered_json pair(double A, double B) {
  return ordered_json::array({number(A), number(B)});
}

static ordered_json initOf(const Input &I) {
  const Values &V = I.Drawn;
  switch (V.Is) {
  case Distribution::Uniform:
    return {{"uniform", pair(V.A, V.B)}};
  case Distribution::Normal:
    return {{"normal", pair(V.A, V.B)}};
  case Distribution::Constant:
    if (V.A == 0 || V.A == 1)
      return V.A == 0 ? "zeros" : "ones";
    return {{"constant", number(V.A)}};
  case Distribution::Integers: {
    // Of integers, uniform says the same.
    if (job::isWhole(I.Type.Type) && V.Times == 1 && V.Plus == 0)
      return {{"uniform", pair(V.A, V.B)}};
    ordered_json Made = {{"integers", pair(V.A, V.B)}};
    if (V.Times != 1)
      Made["times"] = number(V.Times);
    if (V.Plus != 0)
      Made["plus"] = number(V.Plus);
    return Made;
  }
  case Distribution::Arange:
    return "arange";
  case Distribution::Permutation:
    return "permutation";
  case Distribution::Observed:
    return {{"observed",
             {{"least", number(V.A)},
              {"greatest", number(V.B)},
              {"mean", number(V.Mean)},
              {"sigma", number(V.Sigma)}}}};
  case Distribution::Unknown:
    break;
  }
  return "unknown";
}

static ordered_json argument(const Input &I, bool HasWeights) {
  ordered_json A;
  A["tensor"] = nameOf(I.Kind);
  if (I.Kind != InputKind::Input)
    A["path"] = I.Path;
  A["dtype"] = nameOf(I.Type.Type);
  A["shape"] = I.Type.Shape;
  if (I.Changed)
    A["role"] = "inout";
  A["init"] = initOf(I);
  if (!I.Drawn.Keep.empty())
    A["triangle"] = I.Drawn.Keep;
  if (HasWeights && I.Kind != InputKind::Input)
    A["offset"] = I.Offset;
  return A;
}

/// "name": value, with the items of objects and arrays a line each.
static std::string field(llvm::StringRef Name, const ordered_json &Value,
                         bool ItemALine) {
  std::string Text = "  " + dumpJson(ordered_json(Name.str())) + ": ";
  if (!ItemALine || Value.empty())
    return Text + dumpJson(Value);
  Text += Value.is_object() ? "{" : "[";
  const char *Before = "\n    ";
  for (const auto &Item : Value.items()) {
    Text += Before;
    if (Value.is_object())
      Text += dumpJson(ordered_json(Item.key())) + ": ";
    Text += dumpJson(Item.value());
    Before = ",\n    ";
  }
  return Text + (Value.is_object() ? "\n  }" : "\n  ]");
}

std::string torch::writeWorkload(const Graph &G, const Names &N,
                                 llvm::StringRef WeightsFile,
                                 bool AgreeWithSource) {
  std::vector<std::string> Fields;
  auto Add = [&](llvm::StringRef Name, const ordered_json &Value,
                 bool ItemALine = false) {
    Fields.push_back(field(Name, Value, ItemALine));
  };
  Add("entry", N.Entry);
  Add("imported", {{"file", G.File},
                   {"module", G.Module},
                   {"mode", G.Mode},
                   {"torch", G.TorchVersion},
                   {"tensors", G.Tensors}});
  if (!G.Notes.empty())
    Add("notes", G.Notes, true);
  // The graph holds for these shapes alone: no size has a name.
  Add("sizes", ordered_json::array({ordered_json::object()}));
  Add("added_sizes", false);
  if (AgreeWithSource)
    Add("agree_with_source", true);
  if (!WeightsFile.empty())
    Add("weights", WeightsFile.str());
  ordered_json Arguments = ordered_json::object();
  for (unsigned I : parametersOf(G))
    Arguments[N.Inputs[I]] = argument(G.Inputs[I], !WeightsFile.empty());
  Add("arguments", Arguments, true);
  ordered_json Returned = ordered_json::array();
  for (const Output &O : G.Outputs)
    Returned.push_back(
        {{"dtype", nameOf(O.Type.Type)}, {"shape", O.Type.Shape}});
  Add("returns", Returned, true);
  return "{\n" + llvm::join(Fields, ",\n") + "\n}\n";
}
