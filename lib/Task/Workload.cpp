//===- Workload.cpp - What the entry is called with ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Workload.h"
#include "WorkloadText.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

std::string Size::label() const {
  std::string Text;
  for (const auto &[Name, Value] : Names)
    Text += (Text.empty() ? "" : " ") + Name + "=" + std::to_string(Value);
  return Text.empty() ? "the only size" : Text;
}

static constexpr job::DType AllTypes[] = {
    job::DType::F32, job::DType::F64, job::DType::F16, job::DType::BF16,
    job::DType::I32, job::DType::I64, job::DType::U8};

/// A few units in the last place of the type over sums of the usual length;
/// docs/workload.md says how each is used.
static double defaultTolerance(job::DType T) {
  switch (T) {
  case job::DType::F32:
    return 1e-4;
  case job::DType::F64:
    return 1e-9;
  case job::DType::F16:
    return 2e-3;
  case job::DType::BF16:
    return 1.6e-2;
  case job::DType::I32:
  case job::DType::I64:
  case job::DType::U8:
    return 0;
  }
  return 0;
}

static const char WantedTypes[] = "one of f32, f64, f16, bf16, i32, i64, u8";

namespace {
/// Reads one workload file; the first problem ends it.
class Loader {
public:
  Loader(const json &Root, llvm::StringRef File) : Root(Root), File(File) {
    W.File = File.str();
  }

  llvm::Expected<Workload> load() {
    FieldReader<json> Fields(Root, File.str(), "");
    Fields.optional("entry", W.Entry);
    if (const json *Rule = Fields.raw("launch"))
      launch(*Rule);
    if (Fields.good() && Problem.empty() && W.Entry.empty() && !W.Launch)
      Fields.fail("entry", "nothing", "the function to call, or a launch rule");
    if (W.Launch) {
      if (!W.Entry.empty() && W.Entry != W.Launch->Kernel)
        Fields.fail("entry", "'" + W.Entry + "'",
                    "no entry beside a launch rule for '" + W.Launch->Kernel +
                        "'");
      W.Entry = W.Launch->Kernel;
    }
    if (const json *List = Fields.raw("sizes"))
      sizes(*List);
    else
      Fields.fail("sizes", "nothing", "an array with at least one size");
    if (const json *Map = Fields.raw("arguments"))
      arguments(*Map);
    else
      Fields.fail("arguments", "nothing", "an object with the arguments");
    for (job::DType T : AllTypes)
      W.Tolerance[T] = defaultTolerance(T);
    if (const json *Map = Fields.raw("tolerance"))
      tolerances(*Map);
    Fields.optional("reference", W.Reference);
    Fields.optional("margin", W.Margin);
    if (!(W.Margin >= 1 && W.Margin < 1000))
      Fields.fail("margin", std::to_string(W.Margin),
                  "a speed-up of 1 or more");
    Fields.optional("bytes", W.Bytes);
    Fields.optional("flops", W.Flops);
    Fields.optional("added_sizes", W.AddSizes);
    if (const json *Map = Fields.raw("multiple_of"))
      multiples(*Map);
    if (std::string Text = Fields.problem(); !Text.empty())
      note(Text);
    if (Problem.empty())
      Problem = problemOfExpressions(W);
    if (!Problem.empty())
      return usageError(Problem);
    return std::move(W);
  }

private:
  void note(const std::string &Text) {
    if (Problem.empty())
      Problem = Text;
  }
  void note(llvm::StringRef Field, const llvm::Twine &Got,
            const llvm::Twine &Wanted) {
    note((File + ": field '" + Field + "': got " + Got + ", wanted " + Wanted)
             .str());
  }
  void close(FieldReader<json> &Fields) {
    if (std::string Text = Fields.problem(); !Text.empty())
      note(Text);
  }

  void launch(const json &Value) {
    FieldReader<json> Fields(Value, File.str(), "launch");
    LaunchRule Rule;
    Fields.required("kernel", Rule.Kernel);
    Fields.required("grid", Rule.Grid);
    Fields.required("block", Rule.Block);
    Fields.optional("shared_bytes", Rule.SharedBytes);
    if (Fields.good() && Rule.Kernel.empty())
      Fields.fail("kernel", "\"\"", "the name of a kernel");
    close(Fields);
    W.Launch = Rule;
  }

  void sizes(const json &List) {
    if (!List.is_array() || List.empty())
      return note("sizes", describeJson(List),
                  "an array with at least one size");
    for (size_t I = 0; I < List.size(); ++I) {
      std::string Path = "sizes[" + std::to_string(I) + "]";
      FieldReader<json> Fields(List[I], File.str(), Path);
      Size S;
      if (List[I].is_object())
        for (const auto &Item : List[I].items()) {
          if (Item.key() == "check_only") {
            Fields.optional("check_only", S.CheckOnly);
            continue;
          }
          int64_t Value = 0;
          Fields.required(Item.key(), Value);
          if (Fields.good() && Value < 0)
            Fields.fail(Item.key(), std::to_string(Value),
                        "an integer of 0 or more");
          if (!isName(Item.key()))
            Fields.fail(Item.key(), "this name",
                        "a name of letters, digits and '_'");
          S.Names[Item.key()] = Value;
        }
      close(Fields);
      W.Sizes.push_back(std::move(S));
    }
    for (size_t I = 1; I < W.Sizes.size() && Problem.empty(); ++I)
      for (const auto &[Name, Value] : W.Sizes[0].Names)
        if (!W.Sizes[I].Names.count(Name) ||
            W.Sizes[I].Names.size() != W.Sizes[0].Names.size())
          return note("sizes[" + std::to_string(I) + "]",
                      "the names of '" + W.Sizes[I].label() + "'",
                      "those of sizes[0], '" + W.Sizes[0].label() + "'");
    bool Timed = false;
    for (const Size &S : W.Sizes)
      Timed |= !S.CheckOnly;
    if (!Timed)
      note("sizes", "only check_only sizes", "at least one that is timed");
  }

  static bool isName(llvm::StringRef Text) {
    return !Text.empty() && !llvm::isDigit(Text[0]) &&
           llvm::all_of(Text,
                        [](char C) { return llvm::isAlnum(C) || C == '_'; });
  }

  void arguments(const json &Map) {
    if (!Map.is_object())
      return note("arguments", describeJson(Map), "an object");
    for (const auto &Item : Map.items())
      argument(Item.key(), Item.value());
  }

  void argument(const std::string &Name, const json &Value) {
    std::string Path = "arguments." + Name;
    FieldReader<json> Fields(Value, File.str(), Path);
    Argument A;
    A.Name = Name;
    A.IsBuffer = !Fields.has("value");
    if (!A.IsBuffer) {
      scalar(Fields, A);
      close(Fields);
      W.Arguments.push_back(std::move(A));
      return;
    }
    std::string Type, Role = "input";
    Fields.required("dtype", Type);
    Fields.optional("role", Role);
    if (auto Known = job::parseDType(Type))
      A.Type = *Known;
    else
      Fields.fail("dtype", "'" + Type + "'", WantedTypes);
    if (auto Known = job::parseRole(Role))
      A.Use = *Known;
    else
      Fields.fail("role", "'" + Role + "'",
                  "one of input, output, inout, scratch");
    shape(Fields, A);
    bool Whole = A.Type == job::DType::I32 || A.Type == job::DType::I64 ||
                 A.Type == job::DType::U8;
    if (Whole)
      A.Fill = {job::InitKind::Uniform, 0, 100, ""};
    else
      A.Fill = {job::InitKind::Normal, 0, 1, ""};
    if (const json *Init = Fields.raw("init")) {
      if (A.Use == job::Role::Output || A.Use == job::Role::Scratch)
        Fields.fail("init", describeJson(*Init),
                    std::string("none: with role ") + roleName(A.Use) +
                        " it is poisoned before each call");
      fill(*Init, Path + ".init", A);
      if (Fields.good() && Problem.empty())
        checkFill(Fields, Whole, A, describeJson(*Init));
    }
    close(Fields);
    W.Arguments.push_back(std::move(A));
  }

  void scalar(FieldReader<json> &Fields, Argument &A) {
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

  void shape(FieldReader<json> &Fields, Argument &A) {
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

  void fill(const json &Value, const std::string &Path, Argument &A) {
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
        return note(Path, describeJson(Value), Wanted);
      A.Fill.Kind = job::InitKind::File;
      A.Fill.File = Name.get<std::string>();
      if (A.Fill.File.empty() || A.Fill.File.find('\0') != std::string::npos)
        note(Path, describeJson(Name), "the name of a .npy file");
      return;
    }
    std::optional<job::InitKind> Known = job::parseInit(Kind);
    if (!Known || *Known == job::InitKind::File)
      return note(Path, describeJson(Value), Wanted);
    A.Fill.Kind = *Known;
    if (!Value.is_object())
      return;
    const json &Pair = Value.at(Kind);
    bool Parametric =
        *Known == job::InitKind::Normal || *Known == job::InitKind::Uniform;
    if (!Parametric || !Pair.is_array() || Pair.size() != 2 ||
        !Pair[0].is_number() || !Pair[1].is_number())
      return note(Path, describeJson(Value), Wanted);
    A.Fill.Low = Pair[0].get<double>();
    A.Fill.High = Pair[1].get<double>();
    if (*Known == job::InitKind::Uniform && !(A.Fill.Low < A.Fill.High))
      note(Path, describeJson(Value), "a low end below the high one");
  }

  /// Initial values that the dtype does not hold.
  void checkFill(FieldReader<json> &Fields, bool Whole, const Argument &A,
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
                  std::string("values that fit ") + job::dtypeName(A.Type));
  }

  void tolerances(const json &Map) {
    FieldReader<json> Fields(Map, File.str(), "tolerance");
    if (Map.is_object())
      for (const auto &Item : Map.items()) {
        std::optional<job::DType> Type = job::parseDType(Item.key());
        if (!Type) {
          Fields.fail(Item.key(), "this name", WantedTypes);
          break;
        }
        double Value = 0;
        Fields.required(Item.key(), Value);
        if (!(Value >= 0 && Value < 1))
          Fields.fail(Item.key(), describeJson(Item.value()),
                      "a relative tolerance from 0 to below 1");
        if (Value != 0 && defaultTolerance(*Type) == 0)
          Fields.fail(Item.key(), describeJson(Item.value()),
                      "0: integers are compared exactly");
        W.Tolerance[*Type] = Value;
      }
    close(Fields);
  }

  void multiples(const json &Map) {
    FieldReader<json> Fields(Map, File.str(), "multiple_of");
    if (Map.is_object())
      for (const auto &Item : Map.items()) {
        int64_t Value = 1;
        Fields.required(Item.key(), Value);
        if (Value < 1)
          Fields.fail(Item.key(), std::to_string(Value),
                      "an integer of 1 or more");
        if (!W.Sizes.empty() && !W.Sizes[0].Names.count(Item.key()))
          Fields.fail(Item.key(), "this name",
                      "a name of the sizes, '" + W.Sizes[0].label() + "'");
        W.MultipleOf[Item.key()] = Value;
      }
    close(Fields);
  }

  const json &Root;
  llvm::StringRef File;
  Workload W;
  std::string Problem;
};
} // namespace

llvm::Expected<Workload> stark::parseWorkload(llvm::StringRef Text,
                                              llvm::StringRef File) {
  if (std::string Why = problemOfJson(Text); !Why.empty())
    return usageError(File + ": " + Why);
  json Root = json::parse(Text.begin(), Text.end(), nullptr, false,
                          /*ignore_comments=*/true);
  if (Root.is_discarded())
    return usageError(File + ": got text that is not JSON, wanted a workload "
                             "(see docs/workload.md)");
  return Loader(Root, File).load();
}
