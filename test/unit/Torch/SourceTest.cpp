//===- SourceTest.cpp - Graphs as C++ -------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Torch/Source.h"
#include "GraphFixture.h"
#include "gtest/gtest.h"

using namespace stark;
using namespace stark::torch;

static std::string sourceOf(const json &J, llvm::StringRef Entry = "net") {
  llvm::Expected<Graph> G = parseGraph(J.dump(), "graph.json");
  if (!G)
    return llvm::toString(G.takeError());
  return writeSource(*G, chooseNames(*G, Entry));
}

static std::string workloadOf(const json &J, llvm::StringRef Weights,
                              bool AgreeWithSource = false) {
  Graph G = llvm::cantFail(parseGraph(J.dump(), "graph.json"));
  return writeWorkload(G, chooseNames(G, "net"), Weights, AgreeWithSource);
}

/// The line of the source that has \p Word in it.
static std::string lineWith(const std::string &Source, llvm::StringRef Word) {
  for (llvm::StringRef Rest = Source; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    if (Line.contains(Word))
      return Line.trim().str();
    Rest = After;
  }
  return "no line has " + Word.str() + ":\n" + Source;
}

/// The call that \p Arguments make of \p Op, alone after the first node.
static std::string callWith(const std::string &Op,
                            const std::vector<json> &Arguments,
                            bool Method = false) {
  json J = smallGraph();
  J["nodes"][1] = call("relu", Op, Arguments);
  J["nodes"][1]["call"] = Method ? "method" : "function";
  std::string Line = lineWith(sourceOf(J), Op + "(");
  llvm::StringRef Call = Line;
  return Call.split(" = ").second.split(';').first.str();
}

// The module's arguments come first, then its weights, all named as its author
// named them; a value that a module returns has the module's name.
TEST(Source, ReadsLikeTheModule) {
  std::string Source = sourceOf(smallGraph());
  EXPECT_NE(Source.find("at::Tensor net(\n"
                        "    const at::Tensor &x /* [2, 3] */,\n"
                        "    const at::Tensor &fc_weight /* [3] */) {\n"
                        "  at::Tensor fc = at::add(x, fc_weight); // [2, 3]\n"
                        "  at::Tensor relu = at::relu(fc); // [2, 3]\n"
                        "  return relu;\n"
                        "}\n"),
            std::string::npos)
      << Source;
}

// No two names are the same, and none is a word of the language.
TEST(Source, NamesAreGivenOnce) {
  json J = smallGraph();
  J["inputs"][0]["path"] = "x";
  J["nodes"][0]["path"] = "class";
  J["nodes"][1]["path"] = "0.net";
  std::string Source = sourceOf(J);
  EXPECT_EQ(lineWith(Source, "at::add("),
            "at::Tensor class_2 = at::add(x, x_2); // [2, 3]");
  EXPECT_EQ(lineWith(Source, "at::relu("),
            "at::Tensor module_0_net = at::relu(class_2); // [2, 3]");
}

// Values are written as the parameter's type takes them.
TEST(Source, LiteralsHaveTheirTypes) {
  json X = argument("self", "Tensor", use("x"));
  EXPECT_EQ(callWith("f", {X, argument("p", "float", 2)}), "at::f(x, 2.0)");
  EXPECT_EQ(callWith("f", {X, argument("p", "Scalar", {{"real", "0.1"}})}),
            "at::f(x, 0.1)");
  EXPECT_EQ(callWith("f", {X, argument("p", "Scalar", {{"real", "1e-05"}})}),
            "at::f(x, 1e-05)");
  EXPECT_EQ(callWith("f", {X, argument("p", "Scalar", {{"real", "-inf"}})}),
            "at::f(x, -std::numeric_limits<double>::infinity())");
  EXPECT_EQ(callWith("f", {X, argument("p", "int?", INT64_MAX)}),
            "at::f(x, INT64_MAX)");
  EXPECT_EQ(callWith("f", {X, argument("p", "Tensor?", nullptr),
                           argument("q", "int?", nullptr),
                           argument("r", "bool", true)}),
            "at::f(x, {}, std::nullopt, true)");
  EXPECT_EQ(callWith("f", {X, argument("p", "str", {{"text", "a\"b\\\n1"}})}),
            "at::f(x, \"a\\\"b\\\\\\0121\")");
  EXPECT_EQ(
      callWith("f", {X, argument("p", "other", {{"dtype", "bf16"}}),
                     argument("q", "other?", {{"format", "channels_last"}})}),
      "at::f(x, at::kBFloat16, at::MemoryFormat::ChannelsLast)");
}

// A list of one, or one that begins with 0, could be something else in braces.
TEST(Source, ListsAreNotAmbiguous) {
  json X = argument("self", "Tensor", use("x"));
  EXPECT_EQ(callWith("f", {X, argument("p", "int[]", {1, 2})}),
            "at::f(x, {1, 2})");
  EXPECT_EQ(callWith("f", {X, argument("p", "int[]", {0, 0})}),
            "at::f(x, at::IntArrayRef({0, 0}))");
  EXPECT_EQ(callWith("f", {X, argument("p", "int[]?", {1})}),
            "at::f(x, at::IntArrayRef({1}))");
  EXPECT_EQ(callWith("f", {X, argument("p", "float[]?",
                                       json::array({2, {{"real", "0.5"}}}))}),
            "at::f(x, at::ArrayRef<double>({2.0, 0.5}))");
  EXPECT_EQ(callWith("cat", {argument("t", "Tensor[]",
                                      json::array({use("x"), use("add")})),
                             argument("dim", "int", 1)}),
            "at::cat({x, fc}, 1)");
  EXPECT_EQ(
      callWith("cat", {argument("t", "Tensor[]", json::array({use("x")}))}),
      "at::cat(at::TensorList({x}))");
  EXPECT_EQ(
      callWith("index", {X, argument("i", "Tensor?[]",
                                     json::array({nullptr, use("add")}))}),
      "at::index(x, c10::List<std::optional<at::Tensor>>({std::nullopt, "
      "fc}))");
}

// What an operator takes anyway is left out, but not before what it needs.
TEST(Source, LeavesOutDefaults) {
  json X = argument("self", "Tensor", use("x"));
  EXPECT_EQ(callWith("sum", {X, argument("dim", "int[]?", nullptr, true),
                             argument("keep", "bool", true),
                             argument("dtype", "other?", nullptr, true)}),
            "at::sum(x, std::nullopt, true)");
  EXPECT_EQ(callWith("view", {X, argument("size", "int[]", {3, 2})}, true),
            "x.view({3, 2})");
}

// What is made anew is made where the inputs are, whatever the module was
// exported on.
TEST(Source, FactoriesFollowTheInputs) {
  std::vector<json> Options = {
      argument("dtype", "other?", nullptr, true),
      argument("layout", "other?", nullptr, true),
      argument("device", "other?", {{"device", "cpu"}}),
      argument("pin_memory", "bool?", false)};
  std::vector<json> Arguments = {argument("size", "int[]", {2, 2})};
  Arguments.insert(Arguments.end(), Options.begin(), Options.end());
  EXPECT_EQ(callWith("zeros", Arguments),
            "at::zeros({2, 2}, x.options().dtype(at::kFloat))");
  Arguments[0] = argument("self", "Tensor", use("add"));
  EXPECT_EQ(callWith("zeros_like", Arguments),
            "at::zeros_like(fc, at::TensorOptions().device(x.device()))");
  Arguments[3] = argument("device", "other?", nullptr, true);
  Arguments[4] = argument("pin_memory", "bool?", nullptr, true);
  EXPECT_EQ(callWith("zeros_like", Arguments), "at::zeros_like(fc)");
}

// Several results are bound at once; in-place calls are statements.
TEST(Source, ResultsComeInManyWays) {
  json J = smallGraph();
  std::vector<json> Types = {json{{"dtype", "f32"}, {"shape", {2}}},
                             json{{"dtype", "i64"}, {"shape", {2}}}};
  json X = argument("self", "Tensor", use("x"));
  J["nodes"][0] = call("max", "max", {X}, "", Types, "tuple");
  J["nodes"][1] =
      call("relu_", "relu_",
           {argument("self", "Tensor", {{"value", "max"}, {"item", 0}})});
  J["nodes"][1]["in_place"] = true;
  J["nodes"][1]["call"] = "method";
  J["nodes"].push_back(call("split", "split", {X}, "", Types, "list"));
  J["outputs"] = json::array(
      {{{"value", "relu_"}, {"dtype", "f32"}, {"shape", {2}}},
       {{"value", "split"}, {"item", 1}, {"dtype", "i64"}, {"shape", {2}}}});
  std::string Source = sourceOf(J);
  EXPECT_EQ(lineWith(Source, "at::max("),
            "auto [max, max_1] = at::max(x); // [2], i64 [2]");
  EXPECT_EQ(lineWith(Source, "relu_("), "max.relu_();");
  EXPECT_EQ(lineWith(Source, "split("),
            "std::vector<at::Tensor> split = at::split(x); // [2], i64 [2]");
  EXPECT_EQ(lineWith(Source, "return"), "return {max, split[1]};");
  // fc.weight is used no more.
  EXPECT_EQ(Source.find("fc_weight"), std::string::npos) << Source;
}

/// [cat(x[t], h), tanh] for \p Rounds rounds, then a stack of all of them.
static json unrolled(int Rounds) {
  json J = smallGraph();
  J["nodes"] = json::array();
  std::string Hidden = "p_fc_weight";
  std::vector<json> All;
  for (int T = 0; T < Rounds; ++T) {
    std::string N = std::to_string(T);
    J["nodes"].push_back(
        call("select" + N, "select",
             {argument("self", "Tensor", use("x")), argument("dim", "int", 0),
              argument("index", "int", Rounds - 1 - T)}));
    J["nodes"].push_back(
        call("cat" + N, "cat",
             {argument("tensors", "Tensor[]",
                       json::array({use("select" + N), use(Hidden)}))}));
    Hidden = "tanh" + N;
    J["nodes"].push_back(
        call(Hidden, "tanh", {argument("self", "Tensor", use("cat" + N))}));
    All.push_back(use(Hidden));
  }
  J["nodes"].push_back(
      call("stack", "stack", {argument("tensors", "Tensor[]", All)}));
  J["outputs"] =
      json::array({{{"value", "stack"}, {"dtype", "f32"}, {"shape", {2, 3}}},
                   {{"value", Hidden}, {"dtype", "f32"}, {"shape", {2, 3}}}});
  return J;
}

// What was unrolled is a loop again: what moves with the round is computed,
// what one round hands to the next is a variable, what is gathered a vector.
TEST(Loops, RoundsThatRepeatAreALoop) {
  std::string Source = sourceOf(unrolled(5));
  EXPECT_NE(Source.find(
                R"(  at::Tensor last_tanh = fc_weight;
  std::vector<at::Tensor> all_tanh;
  for (int64_t step = 0; step < 5; ++step) {
    at::Tensor select = at::select(x, 0, 4 - step); // [2, 3]
    at::Tensor cat = at::cat({select, last_tanh}); // [2, 3]
    at::Tensor tanh = at::tanh(cat); // [2, 3]
    all_tanh.push_back(tanh);
    last_tanh = tanh;
  }
  at::Tensor stack = at::stack(all_tanh); // [2, 3]
  return {stack, last_tanh};
)"),
            std::string::npos)
      << Source;
}

// A few rounds read as well one by one.
TEST(Loops, FewRoundsStay) {
  EXPECT_EQ(sourceOf(unrolled(3)).find("for ("), std::string::npos);
}

// A loop ends where a round is not like the others.
TEST(Loops, EndsWhereARoundDiffers) {
  json J = unrolled(6);
  J["nodes"][16]["arguments"][0]["value"][1] = use("tanh0");
  std::string Source = sourceOf(J);
  // Its list holds rounds of the loop and others: no vector has those.
  EXPECT_EQ(Source.find("for ("), std::string::npos) << Source;
  J["nodes"].erase(18);
  J["outputs"].erase(0);
  // The sixth round uses the first's value, so that one stands before the loop.
  Source = sourceOf(J);
  EXPECT_NE(Source.find("step < 4;"), std::string::npos) << Source;
  EXPECT_NE(Source.find("at::cat({select_6, tanh})"), std::string::npos)
      << Source;
  J["nodes"][16]["arguments"][0]["value"][1] = use("x");
  Source = sourceOf(J);
  EXPECT_NE(Source.find("step < 5;"), std::string::npos) << Source;
  EXPECT_NE(Source.find("at::cat({select_6, x})"), std::string::npos) << Source;
}

// A round that moves unevenly is none of the loop's.
TEST(Loops, NumbersMoveEvenly) {
  json J = unrolled(8);
  J["nodes"].erase(24);
  J["outputs"].erase(0);
  J["nodes"][15]["arguments"][2]["value"] = 100;
  std::string Source = sourceOf(J);
  EXPECT_NE(Source.find("step < 5;"), std::string::npos) << Source;
  EXPECT_NE(Source.find("at::select(x, 0, 100)"), std::string::npos) << Source;
}

// A value of a round in the middle cannot be had after a loop.
TEST(Loops, MiddleRoundsStayWhereTheyAreUsed) {
  json J = unrolled(5);
  J["outputs"][1]["value"] = "tanh2";
  EXPECT_EQ(sourceOf(J).find("for ("), std::string::npos);
}

// Layers of the same kind with weights of their own are no rounds.
TEST(Loops, LayersAreNoRounds) {
  json J = unrolled(5);
  for (int T = 0; T < 5; ++T)
    J["inputs"].push_back(tensorInput("w" + std::to_string(T), "parameter",
                                      "w" + std::to_string(T), {3}));
  for (int T = 0; T < 5; ++T)
    J["nodes"][3 * T]["arguments"][0]["value"] = use("w" + std::to_string(T));
  EXPECT_EQ(sourceOf(J).find("for ("), std::string::npos);
}

// What moves is written even where the first round has the operator's default.
TEST(Loops, DefaultsThatMoveAreWritten) {
  json J = unrolled(5);
  for (int T = 0; T < 5; ++T) {
    J["nodes"][3 * T]["arguments"][2]["value"] = 2 * T;
    J["nodes"][3 * T]["arguments"][2]["default"] = T == 0;
  }
  EXPECT_NE(sourceOf(J).find("at::select(x, 0, 2 * step)"), std::string::npos)
      << sourceOf(J);
}

// The workload says all that is needed to make each argument.
TEST(Source, WorkloadHasArgumentsAndResults) {
  json J = smallGraph();
  J["inputs"][0]["changed"] = true;
  J["inputs"][0]["offset"] = 128;
  J["inputs"][1]["values"] = {{"kind", "integers"}, {"low", 0},
                              {"high", 2},          {"times", 2},
                              {"plus", -1},         {"keep", "upper"}};
  EXPECT_EQ(workloadOf(J, "net.weights.bin"),
            R"({
  "entry": "net",
  "imported": {"file":"task.py","module":"Model","mode":"training","torch":"2.11.0","tensors":"fake"},
  "sizes": [{}],
  "added_sizes": false,
  "weights": "net.weights.bin",
  "arguments": {
    "x": {"tensor":"input","dtype":"f32","shape":[2,3],"init":{"integers":[0,2],"times":2,"plus":-1},"triangle":"upper"},
    "fc_weight": {"tensor":"parameter","path":"fc.weight","dtype":"f32","shape":[3],"role":"inout","init":{"uniform":[0,1]},"offset":128}
  },
  "returns": [
    {"dtype":"f32","shape":[2,3]}
  ]
}
)");
}

TEST(Source, WorkloadMayWantTheModulesOwnOutputs) {
  EXPECT_NE(workloadOf(smallGraph(), "", true).find(R"(
  "agree_with_source": true,
)"),
            std::string::npos);
  EXPECT_EQ(workloadOf(smallGraph(), "").find("agree"), std::string::npos);
}

TEST(Source, EntriesAreNamedAfterTheFile) {
  EXPECT_EQ(entryNameFor("1_Square_matrix_multiplication_.py"),
            "Square_matrix_multiplication");
  EXPECT_EQ(entryNameFor("12.py"), "module");
  EXPECT_EQ(entryNameFor("class.py"), "class_2");
  EXPECT_TRUE(isEntryName("net"));
  for (const char *Bad : {"", "1a", "a b", "a-b", "class", "_a", "a__b"})
    EXPECT_FALSE(isEntryName(Bad)) << Bad;
}
