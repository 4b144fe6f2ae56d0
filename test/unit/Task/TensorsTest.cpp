//===- TensorsTest.cpp - Workloads of tensors ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Job/Names.h"
#include "stark/Task/Task.h"
#include "llvm/Support/Error.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace stark;

namespace {
Parameter parameter(std::string Name, ParameterKind Kind, std::string Type) {
  Parameter P;
  P.Name = std::move(Name);
  P.Kind = Kind;
  P.Type = std::move(Type);
  return P;
}

/// at::Tensor f(const at::Tensor &x, at::TensorList xs,
///              std::optional<at::Tensor> mask)
Signature entry() {
  Signature S;
  S.Name = "f";
  S.ReturnType = "at::Tensor";
  S.ReturnsTensors = true;
  S.Parameters = {parameter("x", ParameterKind::Tensor, "const at::Tensor &"),
                  parameter("xs", ParameterKind::TensorList, "at::TensorList"),
                  parameter("mask", ParameterKind::OptionalTensor,
                            "std::optional<at::Tensor>")};
  return S;
}

const std::string T = R"({"tensor": "input", "dtype": "f32", "shape": [2]})";
const std::string Returns = R"("returns": [{"dtype": "f32", "shape": [2]}])";

std::string workload(const std::string &Arguments,
                     const std::string &More = Returns) {
  return R"({"entry": "f", "sizes": [{}], "arguments": {)" + Arguments + "}" +
         (More.empty() ? "" : ", " + More) + "}";
}

Workload parsed(const std::string &Text) {
  llvm::Expected<Workload> W = parseWorkload(Text, "w.json");
  EXPECT_TRUE(bool(W)) << (W ? "" : llvm::toString(W.takeError()));
  return W ? std::move(*W) : Workload();
}

/// What parsing, or else checking against \p Entry, has against it.
std::string problem(const std::string &Text, Signature Entry = entry()) {
  llvm::Expected<Workload> W = parseWorkload(Text, "w.json");
  if (!W)
    return llvm::toString(W.takeError());
  resolveTensors(Entry, *W);
  return llvm::toString(checkWorkload(*W, Entry));
}

/// The argument x, of \p Type with \p Init.
std::string withInit(const std::string &Type, const std::string &Init,
                     const std::string &More = "") {
  return workload(R"("x": {"tensor": "input", "dtype": ")" + Type +
                  R"(", "shape": [2, 8], "init": )" + Init + More + "}");
}
job::Init fillOf(const std::string &Type, const std::string &Init) {
  return parsed(withInit(Type, Init)).Arguments.front().Fill;
}
std::string badInit(const std::string &Type, const std::string &Init) {
  llvm::Expected<Workload> W = parseWorkload(withInit(Type, Init), "w.json");
  return W ? "" : llvm::toString(W.takeError());
}
} // namespace

TEST(TensorWorkload, ListsAndOptionalOnes) {
  std::string Text = workload("\"x\": " + T + ", \"xs\": [" + T + ", " + T +
                              "], \"mask\": null");
  EXPECT_EQ(problem(Text), "");
  Workload W = parsed(Text);
  ASSERT_EQ(W.Arguments.size(), 4u);
  EXPECT_TRUE(W.Arguments[0].Absent);
  EXPECT_EQ(W.Arguments[2].Name, "xs[0]");
  EXPECT_EQ(W.Arguments[3].Name, "xs[1]");
  Signature S = entry();
  resolveTensors(S, W);
  EXPECT_EQ(S.Parameters[1].Fields.size(), 2u);
  EXPECT_EQ(S.Parameters[1].Fields[1].Name, "xs[1]");
  EXPECT_TRUE(S.Parameters[2].Fields.empty());

  Text = workload("\"x\": " + T + ", \"xs\": [], \"mask\": " + T);
  EXPECT_EQ(problem(Text), "");
  S = entry();
  resolveTensors(S, parsed(Text));
  EXPECT_TRUE(S.Parameters[1].Fields.empty());
  EXPECT_EQ(S.Parameters[2].Fields.front().Name, "mask");
}

TEST(TensorWorkload, WhatDoesNotFitTheEntry) {
  std::string Rest = ", \"xs\": [], \"mask\": null";
  EXPECT_EQ(problem(workload("\"x\": " + T + ", \"mask\": null")),
            "w.json: field 'arguments': got no 'xs', but f takes "
            "'at::TensorList xs'");
  EXPECT_EQ(problem(workload("\"x\": " + T + ", \"xs\": []")),
            "w.json: field 'arguments': got no 'mask', but f takes "
            "'std::optional<at::Tensor> mask'");
  EXPECT_EQ(problem(workload("\"x\": null" + Rest)),
            "w.json: field 'arguments.x': got no tensor, but f takes 'const "
            "at::Tensor &'");
  EXPECT_EQ(problem(workload("\"x\": [" + T + "]" + Rest)),
            "w.json: field 'arguments.x[0]': workload names 'x[0]', but f has "
            "x");
  EXPECT_EQ(problem(workload("\"x\": {\"value\": 1}" + Rest)),
            "w.json: field 'arguments.x': got a value, but f takes 'const "
            "at::Tensor &'");
  EXPECT_EQ(problem(workload("\"x\": " + T + ", \"y\": null" + Rest)),
            "w.json: field 'arguments.y': workload names 'y', but f has x; "
            "did you mean 'x'?");
}

TEST(TensorWorkload, WhatIsReturned) {
  std::string Arguments = "\"x\": " + T + ", \"xs\": [], \"mask\": null";
  EXPECT_EQ(problem(workload(Arguments, "")),
            "w.json: field 'returns': got nothing, but f returns 'at::Tensor'");
  Signature Nothing = entry();
  Nothing.ReturnsTensors = false;
  Nothing.ReturnType = "void";
  EXPECT_EQ(problem(workload(Arguments), Nothing),
            "w.json: field 'returns': got 1 tensors, but f returns 'void'");
  // Something has to be compared.
  EXPECT_EQ(problem(workload(Arguments, ""), Nothing).substr(0, 51),
            "w.json: field 'arguments': got no argument with rol");
  EXPECT_EQ(problem(workload(Arguments,
                             R"("returns": [{"dtype": "f8", "shape": []}])")),
            "w.json: field 'returns[0].dtype': got 'f8', wanted one of f32, "
            "f64, f16, bf16, i8, i16, i32, i64, u8, bool, c64, c128");
  EXPECT_EQ(problem(workload(
                Arguments, R"("returns": [{"dtype": "f32", "shape": ["n"]}])")),
            "w.json: field 'returns[0].shape[0]' for sizes[0]: expression 'n', "
            "column 1: unknown name 'n'; known are none");
}

// A stream or a pointer would have to be given beside them.
TEST(TensorWorkload, PointersBesideTensors) {
  for (auto [Kind, Type] : {std::pair(ParameterKind::Pointer, "float *"),
                            std::pair(ParameterKind::Stream, "cudaStream_t")}) {
    Signature S = entry();
    S.Parameters.push_back(parameter("p", Kind, Type));
    EXPECT_EQ(llvm::toString(checkCallable(S)),
              std::string("entry 'f': parameter 'p' of type '") + Type +
                  "' cannot be given beside tensors");
  }
  Signature S = entry();
  S.Parameters.push_back(parameter("eps", ParameterKind::Scalar, "double"));
  EXPECT_FALSE(bool(checkCallable(S)));
}

TEST(TensorWorkload, InitialValues) {
  EXPECT_EQ(fillOf("f32", "\"mixed\"").Kind, job::InitKind::Mixed);
  job::Init I = fillOf("f32", "{\"constant\": 2.5}");
  EXPECT_EQ(I.Kind, job::InitKind::Constant);
  EXPECT_EQ(I.Low, 2.5);
  I = fillOf("f32", R"({"integers": [-3, 4], "times": 0.5, "plus": 1})");
  EXPECT_EQ(I.Kind, job::InitKind::Integers);
  EXPECT_EQ(I.Low, -3);
  EXPECT_EQ(I.High, 4);
  EXPECT_EQ(I.Times, 0.5);
  EXPECT_EQ(I.Plus, 1);
  I = fillOf(
      "f32",
      R"({"observed": {"least": -1, "greatest": 2, "mean": 0.5, "sigma": null}})");
  EXPECT_EQ(I.Kind, job::InitKind::Normal);
  EXPECT_EQ(I.Low, 0.5);
  EXPECT_EQ(I.High, 0);
  EXPECT_TRUE(I.Clamped);
  EXPECT_EQ(I.Least, -1);
  EXPECT_EQ(I.Greatest, 2);
  I = fillOf(
      "i64",
      R"({"observed": {"least": 3, "greatest": 9, "mean": 5, "sigma": 1}})");
  EXPECT_EQ(I.Kind, job::InitKind::Uniform);
  EXPECT_EQ(I.High, 10);
  I = fillOf("f32", "\"unknown\"");
  EXPECT_EQ(I.Kind, job::InitKind::Normal);
  EXPECT_EQ(fillOf("i8", "\"unknown\"").High, 100);
  EXPECT_EQ(fillOf("bool", "\"unknown\"").High, 2);
  EXPECT_EQ(parsed(withInit("f32", "\"ones\"", ", \"triangle\": \"upper\""))
                .Arguments.front()
                .Fill.Keep,
            job::Triangle::Upper);
}

TEST(TensorWorkload, InitialValuesThatAreNone) {
  for (const char *Init :
       {"\"constant\"", "\"integers\"", "{\"constant\": \"x\"}",
        "{\"constant\": 1, \"plus\": 2}", "{\"integers\": [1]}",
        "{\"integers\": [0, 2], \"times\": \"x\"}",
        "{\"integers\": [0, 2], \"plus\": 1, \"minus\": 1}",
        "{\"normal\": [0, 1], \"plus\": 1}", "{\"zeros\": []}", "\"npy\"",
        "{\"times\": 2}", "3"})
    EXPECT_NE(badInit("f32", Init).find("wanted normal, uniform, "),
              std::string::npos)
        << Init << ": " << badInit("f32", Init);
  EXPECT_EQ(badInit("f32", "{\"observed\": {\"least\": 1}}"),
            "w.json: field 'arguments.x.init': got "
            "{\"observed\":{\"least\":1}}, wanted least, "
            "greatest, mean and sigma");
  EXPECT_EQ(badInit("f32", "{\"integers\": [2, 2]}"),
            "w.json: field 'arguments.x.init': got "
            "{\"integers\":[2,2]}, wanted a low end "
            "below the high one");
  EXPECT_EQ(badInit("f32", "{\"mixed\": [0, -1]}"),
            "w.json: field 'arguments.x.init': got a sigma below 0, wanted one "
            "of 0 or more");
}

// What is drawn, times and plus, has to fit whole numbers.
TEST(TensorWorkload, RangesThatDoNotFit) {
  auto Fits = [](const std::string &Type, const std::string &Init) {
    std::string Problem = badInit(Type, Init);
    EXPECT_TRUE(Problem.empty() || Problem.find("wanted values that fit " +
                                                Type) != std::string::npos)
        << Problem;
    return Problem.empty();
  };
  EXPECT_TRUE(Fits("i8", "{\"uniform\": [-128, 128]}"));
  EXPECT_FALSE(Fits("i8", "{\"uniform\": [-129, 128]}"));
  EXPECT_FALSE(Fits("i8", "{\"integers\": [0, 129]}"));
  EXPECT_TRUE(Fits("i16", "{\"uniform\": [-32768, 32768]}"));
  EXPECT_FALSE(Fits("i16", "{\"uniform\": [0, 32769]}"));
  EXPECT_TRUE(Fits("bool", "{\"integers\": [0, 2]}"));
  EXPECT_FALSE(Fits("bool", "{\"integers\": [0, 3]}"));
  EXPECT_FALSE(Fits("u8", "{\"uniform\": [-1, 3]}"));
  EXPECT_FALSE(Fits("u8", R"({"integers": [0, 100], "times": 3})"));
  EXPECT_TRUE(Fits("u8", R"({"integers": [-100, 100], "plus": 100})"));
  EXPECT_FALSE(Fits("u8", R"({"integers": [0, 10], "times": -1})"));
  EXPECT_TRUE(Fits("u8", "{\"constant\": 255}"));
  EXPECT_FALSE(Fits("u8", "{\"constant\": 256}"));
  EXPECT_FALSE(Fits("i32", "{\"uniform\": [0, 1e10]}"));
  EXPECT_TRUE(Fits("f32", "{\"uniform\": [0, 1e10]}"));
}

// What the exporter knows how to draw is drawn; what it only looked at is taken
// from the file of weights.
TEST(TensorWorkload, Weights) {
  auto Weight = [](const std::string &Kind, const std::string &Init) {
    return workload(
        "\"x\": {\"tensor\": \"" + Kind +
            R"(", "path": "a", "dtype": "f32", "shape": [2], "offset": 64, "init": )" +
            Init + "}",
        "\"weights\": \"w.bin\"");
  };
  const char *Seen =
      R"({"observed": {"least": 0, "greatest": 1, "mean": 0, "sigma": 1}})";
  EXPECT_FALSE(
      parsed(Weight("parameter", "\"ones\"")).Arguments[0].FromWeights);
  for (const std::string &Text :
       {Weight("parameter", Seen), Weight("buffer", "\"unknown\""),
        Weight("constant", "\"ones\"")}) {
    Argument A = parsed(Text).Arguments[0];
    EXPECT_TRUE(A.FromWeights);
    EXPECT_EQ(A.Fill.Kind, job::InitKind::File);
    EXPECT_EQ(A.Fill.File, "w.bin");
    EXPECT_EQ(*A.Offset, 64u);
  }
  std::string Text = Weight("constant", "\"ones\"");
  Text.replace(Text.find(", \"weights\""), 20, "");
  llvm::Expected<Workload> W = parseWorkload(Text, "w.json");
  ASSERT_FALSE(bool(W));
  EXPECT_EQ(llvm::toString(W.takeError()),
            "w.json: field 'weights': got nothing, wanted the file of weights, "
            "which 'x' is taken from");
  EXPECT_EQ(problem(Weight("thing", "\"ones\"")),
            "w.json: field 'arguments.x.tensor': got 'thing', wanted one of "
            "input, parameter, buffer, constant");
}

// What the workload says; where it says nothing, isHardened() looks at the
// entry.
TEST(TensorWorkload, Harden) {
  const std::string Imported =
      R"("imported": {"file": "f.py", "module": "M", "mode": "training", "torch": "2.11.0", "tensors": "fake"})";
  Task Of;
  Of.Entry.Parameters.emplace_back().Kind = ParameterKind::Tensor;
  auto Hardens = [&](const std::string &More) {
    Of.Load = parsed(workload("\"x\": " + T, More));
    return isHardened(Of);
  };
  EXPECT_TRUE(Hardens(Imported));
  EXPECT_FALSE(Hardens(Imported + ", \"harden\": false"));
  EXPECT_FALSE(Hardens(""));
  EXPECT_TRUE(Hardens("\"harden\": true"));
  Of.Entry.Parameters[0].Kind = ParameterKind::Pointer;
  EXPECT_TRUE(Hardens(""));
  EXPECT_FALSE(Hardens("\"harden\": false"));
}

namespace {
std::optional<job::Init> hardened(const Argument &A) {
  std::vector<job::RegimeFill> All = makeRegimes(A, {}, /*IsTensor=*/true);
  if (All.empty())
    return std::nullopt;
  EXPECT_EQ(All.size(), 1u);
  EXPECT_EQ(All[0].Of, job::Regime::Hardened);
  return All[0].Fill;
}

/// \p Path names a tensor of \p Kind; what a hardened case fills it with.
std::string hardenedAs(TensorKind Kind, const std::string &Path,
                       std::vector<std::string> Shape,
                       job::InitKind Fill = job::InitKind::Ones,
                       job::DType Type = job::DType::F32) {
  Argument A;
  A.Name = "a";
  A.IsBuffer = true;
  A.Tensor = Kind;
  A.Path = Path;
  A.Shape = std::move(Shape);
  A.Type = Type;
  A.Fill.Kind = Fill;
  std::optional<job::Init> Hard = hardened(A);
  if (!Hard)
    return "as shipped";
  char Text[80];
  std::snprintf(Text, sizeof(Text), "%s %g %g", nameOf(Hard->Kind), Hard->Low,
                Hard->High);
  return Text;
}
} // namespace

TEST(Hardened, Weights) {
  using enum TensorKind;
  // He's deviation over what is summed up: all extents but the first.
  EXPECT_EQ(hardenedAs(Parameter, "fc.weight", {"8", "50"}), "normal 0 0.2");
  EXPECT_EQ(hardenedAs(Parameter, "conv.weight", {"8", "2", "5", "5"}),
            "normal 0 0.2");
  EXPECT_EQ(hardenedAs(Parameter, "fc.bias", {"8"}), "normal 0 0.3");
  EXPECT_EQ(hardenedAs(Parameter, "norm.weight", {"8"}), "uniform 0.5 1.5");
  EXPECT_EQ(hardenedAs(Parameter, "scale", {}), "uniform 0.5 1.5");
  EXPECT_EQ(hardenedAs(Buffer, "bn.running_var", {"8"}), "uniform 0.5 1.5");
  EXPECT_EQ(hardenedAs(Buffer, "bn.running_mean", {"8"}), "normal 0 0.3");
  EXPECT_EQ(hardenedAs(Buffer, "mask", {"8"}), "as shipped");
}

TEST(Hardened, Inputs) {
  using enum TensorKind;
  EXPECT_EQ(hardenedAs(Input, "", {"8"}, job::InitKind::Uniform), "mixed 0 1");
  EXPECT_EQ(hardenedAs(None, "", {"8"}, job::InitKind::Normal), "mixed 0 1");
  EXPECT_EQ(hardenedAs(Constant, "", {"8"}), "as shipped");
}

// What counts, orders or selects is as it is for a reason.
TEST(Hardened, WhatStaysAsItIs) {
  using enum TensorKind;
  for (job::InitKind Kind :
       {job::InitKind::Arange, job::InitKind::Permutation,
        job::InitKind::Integers, job::InitKind::Mixed, job::InitKind::File})
    EXPECT_EQ(hardenedAs(Input, "", {"8"}, Kind), "as shipped") << nameOf(Kind);
  for (job::DType Type : {job::DType::I64, job::DType::Bool, job::DType::U8})
    EXPECT_EQ(hardenedAs(Input, "", {"8"}, job::InitKind::Ones, Type),
              "as shipped");
  Argument A;
  A.IsBuffer = true;
  A.Use = job::Role::Output;
  EXPECT_FALSE(hardened(A));
  A.Use = job::Role::InOut;
  A.Fill.Keep = job::Triangle::Lower;
  ASSERT_TRUE(hardened(A));
  EXPECT_EQ(hardened(A)->Keep, job::Triangle::Lower);
  A.FromWeights = true;
  EXPECT_FALSE(hardened(A));
}
