//===- Workload.cpp - What the entry is called with ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Workload.h"
#include "WorkloadArgument.h"
#include "WorkloadText.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
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
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  job::DType::Enumerator,
#include "stark/Job/DTypes.def"
};

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
  case job::DType::C64:
  case job::DType::C128:
    return defaultTolerance(job::partOf(T));
  default:
    return 0; // whole numbers
  }
}

static bool isName(llvm::StringRef Text) {
  return !Text.empty() && !llvm::isDigit(Text[0]) &&
         llvm::all_of(Text,
                      [](char C) { return llvm::isAlnum(C) || C == '_'; });
}

namespace stark {
template <class IO> static void fields(IO &F, LaunchRule &Rule) {
  F.required("kernel", Rule.Kernel);
  F.required("grid", Rule.Grid);
  F.required("block", Rule.Block);
  F.optional("shared_bytes", Rule.SharedBytes);
  F.check(!Rule.Kernel.empty(), "kernel", "the name of a kernel");
}

template <class IO> static void fields(IO &F, Size &S) {
  F.optional("check_only", S.CheckOnly);
  F.others(S.Names);
  for (const auto &[Name, Value] : S.Names) {
    F.check(Value >= 0, Name, "an integer of 0 or more");
    if (!isName(Name))
      F.fail(Name, "this name", "a name of letters, digits and '_'");
  }
}

template <class IO> static void entry(IO &F, Workload &W) {
  F.optional("entry", W.Entry);
  F.optional("launch", W.Launch);
  if (!W.Launch)
    return F.check(!W.Entry.empty(), "entry",
                   "the function to call, or a launch rule");
  F.check(W.Entry.empty() || W.Entry == W.Launch->Kernel, "entry",
          "no entry beside a launch rule for '" + W.Launch->Kernel + "'");
  W.Entry = W.Launch->Kernel;
}

template <class IO> static void sizes(IO &F, std::vector<Size> &Sizes) {
  const auto *Given = F.raw("sizes");
  F.check(Given && Given->is_array() && !Given->empty(), "sizes",
          "an array with at least one size");
  F.optional("sizes", Sizes);
  if (!F.good())
    return;
  for (size_t I = 1; I < Sizes.size(); ++I)
    for (const auto &[Name, Value] : Sizes[0].Names)
      if (!Sizes[I].Names.count(Name) ||
          Sizes[I].Names.size() != Sizes[0].Names.size())
        F.fail("sizes[" + std::to_string(I) + "]",
               "the names of '" + Sizes[I].label() + "'",
               "those of sizes[0], '" + Sizes[0].label() + "'");
  if (llvm::all_of(Sizes, [](const Size &S) { return S.CheckOnly; }))
    F.fail("sizes", "only check_only sizes", "at least one that is timed");
}

/// An argument, a list of tensors, or null for a tensor that is not given.
template <class IO>
static void argument(IO &F, const std::string &Name, const json &Value,
                     std::vector<Argument> &All) {
  if (Value.is_null() || (Value.is_array() && Value.empty())) {
    F.raw(Name);
    All.emplace_back().Absent = true;
    All.back().IsBuffer = true;
    All.back().Name = Name;
  } else if (Value.is_array()) {
    std::vector<Argument> Items;
    F.list(Name, Items,
           [](auto &Item, Argument &A, size_t) { fields(Item, A); });
    for (size_t I = 0; I < Items.size(); ++I) {
      Items[I].Name = Name + "[" + std::to_string(I) + "]";
      All.push_back(std::move(Items[I]));
    }
  } else {
    Argument A;
    F.required(Name, A);
    A.Name = Name;
    All.push_back(std::move(A));
  }
}

template <class IO> static void arguments(IO &F, std::vector<Argument> &All) {
  const json *Given = F.raw("arguments");
  F.check(Given != nullptr, "arguments", "an object with the arguments");
  F.object(
      "arguments",
      [&](auto &Inner) {
        for (const auto &Item : Given->items())
          argument(Inner, Item.key(), Item.value(), All);
      },
      /*Written=*/false);
}

/// Variables of the device, as arguments named "symbols.NAME".
template <class IO> static void symbols(IO &F, std::vector<Argument> &All) {
  const json *Given = F.raw("symbols");
  if (!Given)
    return;
  F.object(
      "symbols",
      [&](auto &Inner) {
        for (const auto &Item : Given->items()) {
          Argument A;
          Inner.required(Item.key(), A);
          Inner.check(A.IsBuffer, Item.key().c_str(), "a buffer, not a value");
          A.Name = SymbolPrefix + Item.key();
          All.push_back(std::move(A));
        }
      },
      /*Written=*/false);
}

template <class IO> static void fields(IO &F, ReturnedTensor &R) {
  std::string Type;
  F.required("dtype", Type);
  if (auto Known = valueNamed<job::DType>(Type))
    R.Type = *Known;
  else
    F.fail("dtype", "'" + Type + "'", WantedTypes);
  readShape(F, R.Shape);
}

template <class IO> static void fields(IO &F, ImportedFrom &R) {
  F.required("file", R.File);
  F.required("module", R.Module);
  F.required("mode", R.Mode);
  F.required("torch", R.Torch);
  F.required("tensors", R.Tensors);
}

template <class IO> static void tensors(IO &F, Workload &W) {
  F.optional("imported", W.Imported);
  F.ignored("notes");
  F.optional("weights", W.Weights);
  F.optional("returns", W.Returns);
  std::string Calls = "anything";
  F.optional("calls", Calls);
  F.check(Calls == "anything" || Calls == "kernels", "calls",
          "anything or kernels");
  W.Calls = Calls == "kernels" ? CallRule::Kernels : CallRule::Anything;
  for (Argument &A : W.Arguments) {
    if (A.FromWeights && W.Weights.empty())
      F.fail("weights", "nothing",
             "the file of weights, which '" + A.Name + "' is taken from");
    if (A.FromWeights)
      A.Fill.Kind = job::InitKind::File, A.Fill.File = W.Weights;
  }
}

template <class IO>
static void tolerances(IO &F, std::map<job::DType, double> &Tolerance) {
  for (job::DType T : AllTypes)
    Tolerance[T] = defaultTolerance(T);
  std::map<std::string, double> Given;
  F.optional("tolerance", Given);
  for (const auto &[Name, Value] : Given) {
    std::optional<job::DType> Type = valueNamed<job::DType>(Name);
    std::string Field = "tolerance." + Name, Got = json(Value).dump();
    if (!Type)
      return F.fail(Field, "this name", WantedTypes);
    if (!(Value >= 0 && Value < 1))
      F.fail(Field, Got, "a relative tolerance from 0 to below 1");
    if (Value != 0 && defaultTolerance(*Type) == 0)
      F.fail(Field, Got, "0: integers are compared exactly");
    Tolerance[*Type] = Value;
  }
}

template <class IO> static void multiples(IO &F, Workload &W) {
  F.optional("multiple_of", W.MultipleOf);
  for (const auto &[Name, Value] : W.MultipleOf) {
    std::string Field = "multiple_of." + Name;
    if (Value < 1)
      F.fail(Field, std::to_string(Value), "an integer of 1 or more");
    if (!W.Sizes.empty() && !W.Sizes[0].Names.count(Name))
      F.fail(Field, "this name",
             "a name of the sizes, '" + W.Sizes[0].label() + "'");
  }
}

/// What a winner has to be right for beside the sizes.
template <class IO> static void values(IO &F, Workload &W) {
  F.optional("harden", W.Harden);
  std::vector<double> Magnitude;
  F.optional("magnitude", Magnitude);
  if (!Magnitude.empty()) {
    bool Good = Magnitude.size() == 2 && Magnitude[0] > 0 &&
                Magnitude[0] <= Magnitude[1];
    F.check(Good, "magnitude", "[least, greatest], both above 0");
    if (Good)
      W.Magnitude = {Magnitude[0], Magnitude[1]};
  }
  std::string Precision = "any";
  F.optional("precision", Precision);
  F.check(Precision == "any" || Precision == "as-source", "precision",
          "any or as-source");
  W.SourcePrecision = Precision == "as-source";
  F.optional("degenerate", W.MayBeDegenerate);
  F.optional("agree_with_source", W.AgreeWithSource);
  F.optional("misaligned", W.Misaligned);
}

/// Only read: what stands in a file by default is filled in.
template <class IO> static void fields(IO &F, Workload &W) {
  entry(F, W);
  sizes(F, W.Sizes);
  arguments(F, W.Arguments);
  symbols(F, W.Arguments);
  tolerances(F, W.Tolerance);
  F.optional("reference", W.Reference);
  F.optional("margin", W.Margin);
  if (!(W.Margin >= 1 && W.Margin < 1000))
    F.fail("margin", std::to_string(W.Margin), "a speed-up of 1 or more");
  F.optional("bytes", W.Bytes);
  F.optional("flops", W.Flops);
  F.optional("added_sizes", W.AddSizes);
  multiples(F, W);
  std::string Range = "exact";
  F.optional("envelope", Range);
  F.check(Range == "exact" || Range == "between", "envelope",
          "exact or between");
  W.Range = Range == "between" ? Envelope::Between : Envelope::Exact;
  values(F, W);
  tensors(F, W);
}
} // namespace stark

llvm::Expected<Workload> stark::parseWorkload(llvm::StringRef Text,
                                              llvm::StringRef File) {
  if (std::string Why = problemOfJson(Text); !Why.empty())
    return usageError(File + ": " + Why);
  json Root = json::parse(Text.begin(), Text.end(), nullptr, false,
                          /*ignore_comments=*/true);
  if (Root.is_discarded())
    return usageError(File + ": got text that is not JSON, wanted a workload "
                             "(see docs/workload.md)");
  Workload W;
  W.File = File.str();
  std::string Problem = readFields(Root, W.File, "", W);
  if (Problem.empty())
    Problem = problemOfExpressions(W);
  if (!Problem.empty())
    return usageError(Problem);
  return W;
}
