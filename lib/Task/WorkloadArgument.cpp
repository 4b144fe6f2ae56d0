//===- WorkloadArgument.cpp - One argument of a workload -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkloadArgument.h"
#include "stark/Job/Names.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static job::Init defaultFill(job::DType T) {
  job::Init Fill;
  if (!job::isWhole(T))
    return Fill;
  Fill.Kind = job::InitKind::Uniform;
  Fill.High = T == job::DType::Bool ? 2 : 100;
  return Fill;
}

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

template <class Json>
void stark::readShape(FieldReader<Json> &F, std::vector<std::string> &Into) {
  const json *Shape = F.raw("shape");
  if (!Shape || !Shape->is_array())
    return F.fail("shape", Shape ? describeJson(*Shape) : "nothing",
                  "an array of expressions");
  for (size_t I = 0; I < Shape->size(); ++I) {
    const json &Part = (*Shape)[I];
    if (Part.is_string())
      Into.push_back(Part.get<std::string>());
    else if (Part.is_number_unsigned())
      Into.push_back(Part.dump());
    else
      F.fail("shape[" + std::to_string(I) + "]", describeJson(Part),
             "expressions or integers of 0 or more");
  }
}

namespace {
/// Reads "init", which has many forms.
class InitReader {
public:
  InitReader(FieldReader<json> &Fields, const json &Value, Argument &A)
      : Fields(Fields), Value(Value), A(A) {}
  void read();

private:
  void fail(const std::string &Wanted) {
    Fields.fail("init", describeJson(Value), Wanted);
  }
  void failForm() {
    fail("normal, uniform, arange, zeros, ones, permutation, mixed, "
         "{\"normal\": [mean, sigma]}, {\"uniform\": [low, high]}, "
         "{\"integers\": [low, high]}, {\"arange\": step}, "
         "{\"constant\": value} or "
         "{\"npy\": \"FILE.npy\"}");
  }
  bool number(const std::string &Name, double &Into);
  bool pair(const std::string &Name);
  void npy();
  void observed();
  void parametric(job::InitKind Kind);
  void checkRange();

  FieldReader<json> &Fields;
  const json &Value;
  Argument &A;
};
} // namespace

bool InitReader::number(const std::string &Name, double &Into) {
  if (!Value.contains(Name))
    return true;
  if (!Value.at(Name).is_number())
    return false;
  Into = Value.at(Name).get<double>();
  return true;
}

/// A number, or an expression that is computed for each size.
static bool numberOrText(const json &Value, double &Number, std::string &Text) {
  if (Value.is_string())
    Text = Value.get<std::string>();
  else if (Value.is_number())
    Number = Value.get<double>();
  return Value.is_string() || Value.is_number();
}

/// [low, high] or [mean, sigma].
bool InitReader::pair(const std::string &Name) {
  const json &Pair = Value.at(Name);
  if (!Pair.is_array() || Pair.size() != 2)
    return false;
  if (A.Fill.Kind == job::InitKind::Integers)
    return numberOrText(Pair[0], A.Fill.Low, A.Low) &&
           numberOrText(Pair[1], A.Fill.High, A.High);
  if (!Pair[0].is_number() || !Pair[1].is_number())
    return false;
  A.Fill.Low = Pair[0].get<double>();
  A.Fill.High = Pair[1].get<double>();
  return true;
}

void InitReader::npy() {
  const json &Name = Value.at("npy");
  if (!Name.is_string() || Value.size() != 1)
    return failForm();
  A.Fill.Kind = job::InitKind::File;
  A.Fill.File = Name.get<std::string>();
  if (A.Fill.File.empty() || A.Fill.File.find('\0') != std::string::npos)
    Fields.fail("init", describeJson(Name), "the name of a .npy file");
}

/// What only looking at the values told.
void InitReader::observed() {
  const json &Seen = Value.at("observed");
  double Least = 0, Greatest = 0, Mean = 0, Sigma = 0;
  for (auto &[Name, Into] : {std::pair<const char *, double *>{"least", &Least},
                             {"greatest", &Greatest},
                             {"mean", &Mean},
                             {"sigma", &Sigma}}) {
    if (!Seen.is_object() || !Seen.contains(Name) ||
        !(Seen.at(Name).is_number() || Seen.at(Name).is_null()))
      return fail("least, greatest, mean and sigma");
    *Into = Seen.at(Name).is_null() ? 0 : Seen.at(Name).get<double>();
  }
  if (job::isWhole(A.Type)) {
    A.Fill.Kind = job::InitKind::Uniform;
    A.Fill.Low = Least;
    A.Fill.High = Greatest + 1;
    return;
  }
  A.Fill.Low = Mean;
  A.Fill.High = Sigma;
  A.Fill.Clamped = true;
  A.Fill.Least = Least;
  A.Fill.Greatest = Greatest;
}

void InitReader::parametric(job::InitKind Kind) {
  std::string Name = nameOf(Kind);
  A.Fill.Kind = Kind;
  if (!Value.is_object())
    return Kind == job::InitKind::Constant || Kind == job::InitKind::Integers
               ? failForm()
               : void();
  if (Kind == job::InitKind::Constant) {
    if (Value.size() != 1 || !number(Name, A.Fill.Low))
      failForm();
    return;
  }
  if (Kind == job::InitKind::Arange) {
    if (Value.size() != 1 ||
        !numberOrText(Value.at(Name), A.Fill.Times, A.Times))
      failForm();
    return;
  }
  bool HasPair =
      Kind == job::InitKind::Normal || Kind == job::InitKind::Mixed ||
      Kind == job::InitKind::Uniform || Kind == job::InitKind::Integers;
  size_t Extra = 0;
  if (Kind == job::InitKind::Integers)
    Extra = Value.count("times") + Value.count("plus");
  if (!HasPair || Value.size() != 1 + Extra || !pair(Name) ||
      !number("times", A.Fill.Times) || !number("plus", A.Fill.Plus))
    return failForm();
  bool IsRange =
      Kind == job::InitKind::Uniform || Kind == job::InitKind::Integers;
  if (IsRange && A.Low.empty() && A.High.empty() && !(A.Fill.Low < A.Fill.High))
    return fail("a low end below the high one");
  if (!IsRange && A.Fill.High < 0)
    Fields.fail("init", "a sigma below 0", "one of 0 or more");
}

/// Initial values that the dtype does not hold.
void InitReader::checkRange() {
  bool IsRange = A.Fill.Kind == job::InitKind::Uniform ||
                 A.Fill.Kind == job::InitKind::Integers;
  bool IsConstant = A.Fill.Kind == job::InitKind::Constant;
  if ((!IsRange && !IsConstant) || !job::isWhole(A.Type) || !A.Low.empty() ||
      !A.High.empty())
    return;
  unsigned Bits = 8 * job::dtypeBytes(A.Type);
  bool Signed = A.Type != job::DType::U8 && A.Type != job::DType::Bool;
  double Least = Signed ? -std::ldexp(1.0, int(Bits) - 1) : 0;
  double Most = A.Type == job::DType::Bool ? 2
                : Signed                   ? std::ldexp(1.0, int(Bits) - 1)
                                           : std::ldexp(1.0, int(Bits));
  double From = A.Fill.Low * A.Fill.Times + A.Fill.Plus,
         To =
             IsConstant ? From : (A.Fill.High - 1) * A.Fill.Times + A.Fill.Plus;
  if (std::min(From, To) < Least || std::max(From, To) > Most - 1)
    fail(std::string("values that fit ") + nameOf(A.Type));
}

void InitReader::read() {
  A.Fill = {};
  if (Value.is_object() && Value.contains("npy"))
    return npy();
  if (Value.is_object() && Value.size() == 1 && Value.contains("observed"))
    return observed();
  std::string Kind = Value.is_string() ? Value.get<std::string>() : "";
  if (Kind == "unknown") {
    A.Fill = defaultFill(A.Type);
    return;
  }
  // The first name that is one; "times" and "plus" are none.
  if (Value.is_object())
    for (const auto &Item : Value.items())
      if (valueNamed<job::InitKind>(Item.key()))
        Kind = Item.key();
  std::optional<job::InitKind> Known = valueNamed<job::InitKind>(Kind);
  if (!Known || *Known == job::InitKind::File)
    return failForm();
  parametric(*Known);
  if (Fields.good())
    checkRange();
}

/// What an import says of a tensor.
static void tensor(FieldReader<json> &F, Argument &A) {
  std::string Kind;
  F.required("tensor", Kind);
  if (auto Known = valueNamed<TensorKind>(Kind))
    A.Tensor = *Known;
  else
    F.fail("tensor", "'" + Kind + "'",
           "one of input, parameter, buffer, constant");
  F.optional("path", A.Path);
  F.optional("offset", A.Offset);
}

static void dtype(FieldReader<json> &F, Argument &A) {
  std::string Type;
  F.required("dtype", Type);
  if (auto Known = valueNamed<job::DType>(Type))
    A.Type = *Known;
  else
    F.fail("dtype", "'" + Type + "'", WantedTypes);
}

static void init(FieldReader<json> &F, Argument &A) {
  A.Fill = defaultFill(A.Type);
  const json *Init = F.raw("init");
  bool Poisoned = A.Use == job::Role::Output || A.Use == job::Role::Scratch;
  if (Init && Poisoned)
    F.fail("init", describeJson(*Init),
           std::string("none: with role ") + nameOf(A.Use) +
               " it is poisoned before each call");
  if (Init)
    InitReader(F, *Init, A).read();
}

/// Of a buffer of structs: what each of their numbers holds. The shape of one
/// is what is known without the struct: all but the bytes.
static void recordFields(FieldReader<json> &F, Argument &A) {
  const json *Given = F.raw("fields");
  if (!Given)
    return;
  F.check(A.Type == job::DType::U8, "dtype",
          "u8 where there are \"fields\": structs are given by their bytes");
  F.check(!F.has("init"), "init", "none beside \"fields\", which have theirs");
  F.check(Given->is_object() && !Given->empty(), "fields",
          "an object with each field of the struct");
  F.nested("fields", *Given, [&](FieldReader<json> &Inner) {
    for (const auto &Item : Given->items()) {
      Inner.raw(Item.key());
      Inner.nested(Item.key(), Item.value(), [&](FieldReader<json> &Each) {
        Argument Of;
        Of.Name = Item.key();
        Of.IsBuffer = true;
        Of.Use = A.Use;
        Of.Shape = A.Shape;
        if (!Of.Shape.empty())
          Of.Shape.pop_back();
        dtype(Each, Of);
        init(Each, Of);
        Each.check(Of.Fill.Kind != job::InitKind::File, "init",
                   "no file: a .npy has whole structs");
        A.Fields.push_back(std::move(Of));
      });
    }
  });
}

template <class Json> void stark::fields(FieldReader<Json> &F, Argument &A) {
  A.IsBuffer = !F.has("value");
  if (!A.IsBuffer)
    return scalar(F, A);
  std::string Role = "input";
  dtype(F, A);
  F.optional("role", Role);
  if (auto Known = valueNamed<job::Role>(Role))
    A.Use = *Known;
  else
    F.fail("role", "'" + Role + "'", "one of input, output, inout, scratch");
  if (F.has("tensor"))
    tensor(F, A);
  readShape(F, A.Shape);
  if (const json *Before = F.raw("before")) {
    if (Before->is_string() || Before->is_number_unsigned())
      A.Before =
          Before->is_string() ? Before->get<std::string>() : Before->dump();
    else
      F.fail("before", describeJson(*Before),
             "an expression or an integer of 0 or more");
  }
  init(F, A);
  recordFields(F, A);
  const json *Init = F.raw("init");
  // What cannot be drawn again is taken as it is.
  bool Drawn = Init && Init->is_string() ? *Init != "unknown"
                                         : Init && !Init->contains("observed");
  A.FromWeights = A.Offset && (!Drawn || A.Tensor == TensorKind::Constant);
  F.optional("triangle", A.Fill.Keep);
}

template void stark::readShape(FieldReader<json> &F,
                               std::vector<std::string> &Into);
template void stark::fields(FieldReader<json> &F, Argument &A);
