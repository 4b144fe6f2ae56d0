//===- GraphFixture.h - Graphs by hand ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A graph of two inputs and what a test adds, as the exporter would write
///   it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_TEST_UNIT_TORCH_GRAPHFIXTURE_H
#define STARK_TEST_UNIT_TORCH_GRAPHFIXTURE_H

#include "stark/Torch/Graph.h"
#include <nlohmann/json.hpp>

namespace stark::torch {

using nlohmann::json;

inline json tensorInput(const std::string &Name, const std::string &Kind,
                        const std::string &Path, std::vector<int64_t> Shape) {
  json I = {{"name", Name},
            {"kind", Kind},
            {"path", Path},
            {"dtype", "f32"},
            {"shape", Shape},
            {"changed", false},
            {"values", {{"kind", "uniform"}, {"low", 0}, {"high", 1}}}};
  if (Kind != "input")
    I["offset"] = 0;
  return I;
}

inline json argument(const std::string &Name, const std::string &Type,
                     const json &Value, bool Default = false) {
  return {
      {"name", Name}, {"type", Type}, {"default", Default}, {"value", Value}};
}

inline json use(const std::string &Name) { return {{"value", Name}}; }

inline json call(const std::string &Name, const std::string &Op,
                 const std::vector<json> &Arguments,
                 const std::string &Path = "",
                 const std::vector<json> &Types = {json{{"dtype", "f32"},
                                                        {"shape", {2, 3}}}},
                 const std::string &Kind = "tensor") {
  return {{"name", Name},
          {"op", Op},
          {"call", "function"},
          {"in_place", false},
          {"path", Path},
          {"module", "Part"},
          {"arguments", Arguments},
          {"results", {{"kind", Kind}, {"types", Types}}}};
}

/// relu(x + fc.weight), whose nodes a test replaces.
inline json smallGraph() {
  return {
      {"format", 1},
      {"torch", "2.11.0"},
      {"file", "task.py"},
      {"module", "Model"},
      {"mode", "training"},
      {"tensors", "fake"},
      {"confined", "landlock, audit"},
      {"weights", true},
      {"notes", json::array()},
      {"inputs",
       json::array({tensorInput("p_fc_weight", "parameter", "fc.weight", {3}),
                    tensorInput("x", "input", "x", {2, 3})})},
      {"nodes",
       json::array(
           {call("add", "add",
                 {argument("self", "Tensor", use("x")),
                  argument("other", "Tensor", use("p_fc_weight")),
                  argument("alpha", "Scalar", 1, true)},
                 "fc"),
            call("relu", "relu", {argument("self", "Tensor", use("add"))})})},
      {"outputs",
       json::array(
           {{{"value", "relu"}, {"dtype", "f32"}, {"shape", {2, 3}}}})}};
}

inline std::string problemOf(const json &Text) {
  llvm::Expected<Graph> G = parseGraph(Text.dump(), "graph.json");
  return G ? "" : llvm::toString(G.takeError());
}

} // namespace stark::torch

#endif
