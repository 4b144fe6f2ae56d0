//===- WorkloadArgument.cpp - One argument of a workload -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkloadArgument.h"
#include "stark/Job/Names.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static void scalar(FieldReader<json> &Fields, Argument &A) {
  const json &Value = *Fields.raw("value");
  if (Value.is_string())
    A.Value = Value.get<std::string>();
  else if (Value.is_boolean())
    A.Value = Value.get<bool>() ? "1" : "0";
  else if (Value.is_number())
    A.Value = Value.dump();
  else
    Fields.fail("value", describeJson(Value), "a number or an expression");
}

static void shape(FieldReader<json> &Fields, Argument &A) {
  const json *Shape = Fields.raw("shape");
  if (!Shape || !Shape->is_array() || Shape->empty())
    return Fields.fail("shape", Shape ? describeJson(*Shape) : "nothing",
                       "an array of expressions");
  for (size_t I = 0; I < Shape->size(); ++I) {
    const json &Part = (*Shape)[I];
    if (Part.is_string())
      A.Shape.push_back(Part.get<std::string>());
    else if (Part.is_number_unsigned())
      A.Shape.push_back(Part.dump());
    else
      Fields.fail("shape[" + std::to_string(I) + "]", describeJson(Part),
                  "expressions or integers of 0 or more");
  }
}

static void fill(FieldReader<json> &Fields, const json &Value, Argument &A) {
  static const char Wanted[] =
      "normal, uniform, arange, zeros, ones, permutation, "
      "{\"normal\": [mean, sigma]}, {\"uniform\": [low, high]} or "
      "{\"npy\": \"FILE.npy\"}";
  std::string Kind = Value.is_string() ? Value.get<std::string>() : "";
  if (Value.is_object() && Value.size() == 1)
    Kind = Value.items().begin().key();
  A.Fill = {job::InitKind::Normal, 0, 1, ""};
  if (Kind == "npy" && Value.is_object()) {
    const json &Name = Value.at("npy");
    if (!Name.is_string())
      return Fields.fail("init", describeJson(Value), Wanted);
    A.Fill.Kind = job::InitKind::File;
    A.Fill.File = Name.get<std::string>();
    if (A.Fill.File.empty() || A.Fill.File.find('\0') != std::string::npos)
      Fields.fail("init", describeJson(Name), "the name of a .npy file");
    return;
  }
  std::optional<job::InitKind> Known = valueNamed<job::InitKind>(Kind);
  if (!Known || *Known == job::InitKind::File)
    return Fields.fail("init", describeJson(Value), Wanted);
  A.Fill.Kind = *Known;
  if (!Value.is_object())
    return;
  const json &Pair = Value.at(Kind);
  bool Parametric =
      *Known == job::InitKind::Normal || *Known == job::InitKind::Uniform;
  if (!Parametric || !Pair.is_array() || Pair.size() != 2 ||
      !Pair[0].is_number() || !Pair[1].is_number())
    return Fields.fail("init", describeJson(Value), Wanted);
  A.Fill.Low = Pair[0].get<double>();
  A.Fill.High = Pair[1].get<double>();
  if (*Known == job::InitKind::Uniform && !(A.Fill.Low < A.Fill.High))
    Fields.fail("init", describeJson(Value), "a low end below the high one");
}

/// Initial values that the dtype does not hold.
static void checkFill(FieldReader<json> &Fields, bool Whole, const Argument &A,
                      const std::string &Given) {
  const job::Init &Fill = A.Fill;
  if (Fill.Kind == job::InitKind::Normal && Fill.High < 0)
    Fields.fail("init", "a sigma below 0", "one of 0 or more");
  if (Fill.Kind != job::InitKind::Uniform || !Whole)
    return;
  double Least = A.Type == job::DType::U8    ? 0
                 : A.Type == job::DType::I32 ? -2147483648.0
                                             : -9.2e18;
  double Most = A.Type == job::DType::U8    ? 256
                : A.Type == job::DType::I32 ? 2147483648.0
                                            : 9.2e18;
  if (Fill.Low < Least || Fill.High > Most)
    Fields.fail("init", Given,
                std::string("values that fit ") + nameOf(A.Type));
}

template <class Json> void stark::fields(FieldReader<Json> &F, Argument &A) {
  A.IsBuffer = !F.has("value");
  if (!A.IsBuffer)
    return scalar(F, A);
  std::string Type, Role = "input";
  F.required("dtype", Type);
  F.optional("role", Role);
  if (auto Known = valueNamed<job::DType>(Type))
    A.Type = *Known;
  else
    F.fail("dtype", "'" + Type + "'", WantedTypes);
  if (auto Known = valueNamed<job::Role>(Role))
    A.Use = *Known;
  else
    F.fail("role", "'" + Role + "'", "one of input, output, inout, scratch");
  shape(F, A);
  bool Whole = A.Type == job::DType::I32 || A.Type == job::DType::I64 ||
               A.Type == job::DType::U8;
  if (Whole)
    A.Fill = {job::InitKind::Uniform, 0, 100, ""};
  else
    A.Fill = {job::InitKind::Normal, 0, 1, ""};
  const json *Init = F.raw("init");
  if (!Init)
    return;
  if (A.Use == job::Role::Output || A.Use == job::Role::Scratch)
    F.fail("init", describeJson(*Init),
           std::string("none: with role ") + nameOf(A.Use) +
               " it is poisoned before each call");
  fill(F, *Init, A);
  if (F.good())
    checkFill(F, Whole, A, describeJson(*Init));
}

template void stark::fields(FieldReader<json> &F, Argument &A);
