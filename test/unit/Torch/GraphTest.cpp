//===- GraphTest.cpp - What the exporter wrote is anybody's ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphFixture.h"
#include "gtest/gtest.h"

using namespace stark;
using namespace stark::torch;

TEST(Graph, IsReadAsItWasWritten) {
  llvm::Expected<Graph> G = parseGraph(smallGraph().dump(), "graph.json");
  ASSERT_TRUE(bool(G)) << llvm::toString(G.takeError());
  EXPECT_EQ(G->Inputs.size(), 2u);
  EXPECT_EQ(G->Inputs[0].Kind, InputKind::Parameter);
  EXPECT_EQ(G->Inputs[1].Drawn.Is, Distribution::Uniform);
  ASSERT_EQ(G->Nodes.size(), 2u);
  EXPECT_EQ(G->Nodes[0].Op, "add");
  // Uses count inputs first, then nodes.
  EXPECT_EQ(G->Nodes[1].Arguments[0].Value.Tensor.Value, 2u);
  EXPECT_EQ(G->Outputs[0].Tensor.Value, 3u);
}

// A node uses only what stands before it, so there is no cycle.
TEST(Graph, UsesOnlyWhatStandsBefore) {
  json J = smallGraph();
  J["nodes"][0]["arguments"][0]["value"] = use("relu");
  EXPECT_EQ(problemOf(J),
            "graph.json: field 'nodes[0].arguments[0].value.value': got "
            "'relu', wanted an input or a node above it");
  J = smallGraph();
  J["nodes"][1]["arguments"][0]["value"] = use("relu");
  EXPECT_NE(problemOf(J), "");
  J = smallGraph();
  J["outputs"][0]["value"] = "nowhere";
  EXPECT_EQ(problemOf(J), "graph.json: field 'outputs[0].value': got "
                          "'nowhere', wanted an input or a node above it");
}

// What ends up in a source is an identifier, or one of a list of words.
TEST(Graph, NoWordCanBreakOutOfTheSource) {
  struct {
    const char *Pointer;
    json Value;
  } Hostile[] = {
      {"/nodes/0/name", "a;system(\"rm\")"},
      {"/nodes/0/name", "x"},
      {"/nodes/0/name", ""},
      {"/nodes/0/op", "add(x); evil"},
      {"/nodes/0/op", "_ops::add"},
      {"/nodes/0/call", "macro"},
      {"/nodes/0/path", "a\n#include </etc/passwd>"},
      {"/nodes/0/path", "ends in \\"},
      {"/nodes/0/module", "*/\n"},
      {"/nodes/0/arguments/2/type", "Scalar, evil"},
      {"/nodes/0/arguments/2/name", "al pha"},
      {"/nodes/0/arguments/2/value", {{"dtype", "at::kFloat); evil("}}},
      {"/nodes/0/arguments/2/value", {{"format", "evil"}}},
      {"/nodes/0/arguments/2/value", {{"real", "1); evil("}}},
      {"/nodes/0/arguments/2/value", {{"unheard", 1}}},
      {"/nodes/0/arguments/2/value", {{"text", "a"}, {"more", 1}}},
      {"/nodes/0/arguments/2/value", 1.5},
      {"/nodes/0/arguments/2/value", 18446744073709551615u},
      {"/inputs/0/path", "w\n*/ evil"},
      {"/inputs/0/shape", {-1}},
      {"/inputs/0/shape", {1048576, 1048576, 1048576, 1048576}},
      {"/inputs/0/dtype", "f33"},
      {"/inputs/0/values/kind", "made up"},
      {"/file", "task.py\n#error"},
      {"/notes", {"fine", "\nint main"}},
      {"/format", 2},
      {"/outputs", json::array()},
      {"/nodes/0/results/types", json::array()},
      {"/unheard", 1},
  };
  for (const auto &H : Hostile) {
    json J = smallGraph();
    J[json::json_pointer(H.Pointer)] = H.Value;
    EXPECT_NE(problemOf(J), "") << H.Pointer << " = " << H.Value;
  }
}

// Items exist, and only of what returns several tensors.
TEST(Graph, ItemsAreThoseOfTuples) {
  json J = smallGraph();
  std::vector<json> Types = {json{{"dtype", "f32"}, {"shape", {2}}},
                             json{{"dtype", "i64"}, {"shape", {2}}}};
  J["nodes"][0] = call("max", "max", {argument("self", "Tensor", use("x"))}, "",
                       Types, "tuple");
  json Item = {{"value", "max"}, {"item", 1}};
  J["nodes"][1]["arguments"][0]["value"] = Item;
  EXPECT_EQ(problemOf(J), "");
  Item["item"] = 2;
  J["nodes"][1]["arguments"][0]["value"] = Item;
  EXPECT_NE(problemOf(J), "");
  J["nodes"][1]["arguments"][0]["value"] = use("max");
  EXPECT_NE(problemOf(J), "");
  Item = {{"value", "x"}, {"item", 0}};
  J["nodes"][1]["arguments"][0]["value"] = Item;
  EXPECT_NE(problemOf(J), "");
}

// In place, or as a method, there is something to call it on.
TEST(Graph, MethodsHaveATensorFirst) {
  json J = smallGraph();
  J["nodes"][1]["call"] = "method";
  EXPECT_EQ(problemOf(J), "");
  J["nodes"][1]["arguments"][0]["value"] = 1;
  EXPECT_NE(problemOf(J), "");
  J["nodes"][1]["call"] = "function";
  EXPECT_EQ(problemOf(J), "");
  J["nodes"][1]["in_place"] = true;
  EXPECT_NE(problemOf(J), "");
}

// Depth and damage are errors, never a crash.
TEST(Graph, DeepAndTornTextIsAnError) {
  std::string Deep = "{\"nodes\":" + std::string(200000, '[');
  for (const std::string &Text :
       {Deep, std::string("{"), std::string(), std::string("[]"),
        std::string("null"), smallGraph().dump().substr(0, 500)}) {
    llvm::Expected<Graph> G = parseGraph(Text, "graph.json");
    EXPECT_FALSE(bool(G)) << Text.substr(0, 40);
    llvm::consumeError(G.takeError());
  }
  json J = smallGraph();
  json Nested = 1;
  for (int I = 0; I < 6; ++I)
    Nested = json::array({Nested});
  J["nodes"][0]["arguments"][2]["value"] = Nested;
  EXPECT_NE(problemOf(J), "");
}
