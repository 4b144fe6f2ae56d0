//===- ExportTables.cpp - An entry as the tables of an export -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tensors -> rows of C++, rows of Python, the operator's schema, how the
///   package reaches each weight in the module
///
//===----------------------------------------------------------------------===//

#include "ExportText.h"
#include "stark/Torch/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace stark;
using namespace stark::torch;

/// Words that are no names in a schema or in Python.
static constexpr llvm::StringLiteral Words[] = {
    "and",      "as",     "assert", "async",    "await",  "break",  "class",
    "continue", "def",    "del",    "elif",     "else",   "except", "finally",
    "for",      "from",   "global", "if",       "import", "in",     "inf",
    "is",       "lambda", "nan",    "nonlocal", "not",    "or",     "pass",
    "raise",    "return", "try",    "while",    "with",   "yield",  "False",
    "None",     "True",   "Tensor"};

static std::string extents(const TensorType &T) {
  std::string Out;
  for (int64_t Extent : T.Shape)
    Out += (Out.empty() ? "" : ", ") + std::to_string(Extent);
  return Out;
}

/// {"x", at::kFloat, {4, 8}, false},
static std::string row(llvm::StringRef Name, const TensorType &T,
                       bool Changed) {
  return llvm::formatv("      {{\"{0}\", {1}, {{{2}}, {3}},\n", Name,
                       job::atenName(T.Type), extents(T),
                       Changed ? "true" : "false")
      .str();
}

/// torch's own limit; of more, weights are lists.
static constexpr size_t MostArguments = 64;

namespace {
/// The operator's arguments, in the order of its schema.
struct Schema {
  std::vector<std::string> Arguments; ///< "Tensor x", "Tensor(a0!)[] changed"
  std::vector<unsigned> Handed;       ///< the entry's arguments, by number
  /// Of weights, by number among them; empty unless they are lists.
  std::vector<std::vector<unsigned>> Lists;

  explicit Schema(const ExportEntry &E);
  std::string name(std::string Wanted);
  void add(const EntryTensor &T, unsigned Number);

private:
  llvm::StringSet<> Given;
  unsigned Written = 0; ///< arguments that are
};
} // namespace

std::string Schema::name(std::string Wanted) {
  while (llvm::is_contained(Words, Wanted) || !Given.insert(Wanted).second)
    Wanted += "_";
  return Wanted;
}

void Schema::add(const EntryTensor &T, unsigned Number) {
  std::string Type =
      T.Changed ? "Tensor(a" + std::to_string(Written++) + "!) " : "Tensor ";
  Arguments.push_back(Type + name(T.Name));
  Handed.push_back(Number);
}

Schema::Schema(const ExportEntry &E) {
  bool HasLists = E.Arguments.size() > MostArguments;
  unsigned Inputs = 0;
  for (unsigned I = 0; I < E.Arguments.size(); ++I) {
    bool IsInput = E.Arguments[I].Kind == InputKind::Input;
    Inputs += IsInput;
    if (IsInput || !HasLists)
      add(E.Arguments[I], I);
  }
  for (bool Changed : {false, true}) {
    std::vector<unsigned> Numbers;
    for (unsigned I = Inputs; HasLists && I < E.Arguments.size(); ++I)
      if (E.Arguments[I].Changed == Changed) {
        Numbers.push_back(I - Inputs);
        Handed.push_back(I);
      }
    if (Numbers.empty())
      continue;
    Arguments.push_back(Changed ? "Tensor(a" + std::to_string(Written++) +
                                      "!)[] " + name("changed")
                                : "Tensor[] " + name("weights"));
    Lists.push_back(std::move(Numbers));
  }
}

template <class T>
static std::string numbers(const std::vector<T> &All, const char *Between) {
  std::string Out;
  for (const T &Number : All)
    Out += (Out.empty() ? "" : Between) + std::to_string(Number);
  return Out;
}

/// The schema as pieces of a literal of C++, and what goes with it.
static void addSchema(const ExportEntry &E, TextValues &V) {
  Schema S(E);
  // Not Tensor[]: torch.compile has no such operators that write to arguments.
  std::vector<std::string> Returned(E.Returns.size(), "Tensor");
  std::string Result = llvm::join(Returned, ", ");
  V["SCHEMA"] = "      \"(" + llvm::join(S.Arguments, "\"\n      \", ") +
                "\"\n      \") -> " +
                (Returned.size() == 1 ? Result : "(" + Result + ")") + "\"";
  V["SCHEMA_SIZE"] = std::to_string(S.Arguments.size());
  std::vector<unsigned> Places(S.Handed.size());
  for (unsigned Place = 0; Place < S.Handed.size(); ++Place)
    Places[S.Handed[Place]] = Place;
  V["PLACES"] = numbers(Places, ", ");
  std::string Lists;
  for (const std::vector<unsigned> &List : S.Lists)
    Lists += (Lists.empty() ? "[" : ", [") + numbers(List, ", ") + "]";
  V["LISTS"] = S.Lists.empty() ? "None" : "[" + Lists + "]";
}

/// self.fc1.weight, getattr(self.blocks, "0").weight
static std::string reach(llvm::StringRef Path) {
  std::string Out = "self";
  for (llvm::StringRef Name : llvm::split(Path, '.'))
    Out = isIdentifier(Name) && !llvm::is_contained(Words, Name) &&
                  !Name.starts_with("__")
              ? Out + "." + Name.str()
              : "getattr(" + Out + ", " + pythonText(Name) + ")";
  return Out;
}

/// The weights as the package's class reaches them; constants by number.
static std::string weightPaths(const ExportEntry &E) {
  std::string Out;
  unsigned Constants = 0;
  for (const EntryTensor &T : E.Arguments) {
    if (T.Kind == InputKind::Input)
      continue;
    Out += Out.empty() ? "" : ", ";
    Out += T.Kind == InputKind::Constant
               ? "self.stark_constant_" + std::to_string(Constants++)
               : reach(T.Path);
  }
  return Out;
}

/// What rounding leaves of an element, as docs/workload.md has it.
static std::string tolerances(const ExportEntry &E) {
  std::map<std::string, double> Of = {
      {"f32", 1e-4}, {"f64", 1e-9}, {"f16", 2e-3}, {"bf16", 1.6e-2}};
  for (const auto &[Name, Value] : E.Tolerance)
    Of[Name] = Value;
  Of.try_emplace("c64", Of["f32"]);
  Of.try_emplace("c128", Of["f64"]);
  std::string Out;
  for (const auto &[Name, Value] : Of)
    if (std::optional<job::DType> Found = valueNamed<job::DType>(Name))
      Out += (Out.empty() ? "" : ", ") +
             llvm::formatv("{0}: {1:e}", pythonType(*Found), Value).str();
  return Out;
}

static std::string pythonRow(const EntryTensor &T) {
  return "    (" + pythonText(T.Kind == InputKind::Input ? T.Name : T.Path) +
         ", " + pythonType(T.Type.Type) + ", " + pythonShape(T.Type) + "),\n";
}

static std::string markdownRow(llvm::StringRef What, llvm::StringRef Name,
                               const TensorType &T, llvm::StringRef Note) {
  return ("| " + What + " | " + markdownText(Name) + " | " + nameOf(T.Type) +
          " | [" + extents(T) + "] | " + Note + " |\n")
      .str();
}

static void addTables(const ExportEntry &E, TextValues &V) {
  std::vector<std::string> Parameters, Handed, Changed;
  for (const EntryTensor &T : E.Arguments) {
    bool IsInput = T.Kind == InputKind::Input;
    Handed.push_back("T[" + std::to_string(Parameters.size()) + "]");
    Parameters.push_back("const at::Tensor &");
    Changed.push_back(T.Changed ? "True" : "False");
    V["ARGUMENTS"] += row(T.Name, T.Type, T.Changed);
    V[IsInput ? "INPUTS" : "WEIGHTS"] += pythonRow(T);
    V["TABLE"] += markdownRow(nameOf(T.Kind), IsInput ? T.Name : T.Path, T.Type,
                              T.Changed ? "changed" : "");
  }
  for (size_t I = 0; I < E.Returns.size(); ++I) {
    V["RESULTS"] += row("result " + std::to_string(I), E.Returns[I], false);
    V["TABLE"] += markdownRow("result", std::to_string(I), E.Returns[I], "");
  }
  V["PARAMETERS"] = llvm::join(Parameters, ", ");
  V["CHANGED"] = "[" + llvm::join(Changed, ", ") + "]";
  std::string Call = E.Name + "(" + llvm::join(Handed, ", ") + ")";
  V["CALL"] = E.Returns.size() == 1 ? "{" + Call + "}" : Call;
}

TextValues torch::describeEntry(const ExportEntry &E) {
  TextValues V;
  for (const char *Key : {"ARGUMENTS", "INPUTS", "WEIGHTS", "TABLE", "RESULTS"})
    V[Key];
  addTables(E, V);
  bool Single = E.Returns.size() == 1;
  V["ENTRY"] = E.Name;
  V["PACKAGE"] = E.Name;
  std::replace(V["PACKAGE"].begin(), V["PACKAGE"].end(), '_', '-');
  V["MODULE"] = E.Module;
  V["MODULE_TEXT"] = pythonText(E.Module);
  V["MODE"] = E.Mode;
  V["TRAINING"] = E.Mode == "training" ? "True" : "False";
  V["RESULT_TYPE"] = Single ? "at::Tensor" : "std::vector<at::Tensor>";
  addSchema(E, V);
  V["WEIGHT_PATHS"] = weightPaths(E);
  V["MADE"] = Single ? "[made]" : "made";
  V["RESULT"] = Single ? "results[0]" : "tuple(results)";
  V["TOLERANCE"] = tolerances(E);
  V["TITLE_MD"] = markdownText(E.Module) + " of " + markdownText(E.File);
  // In a docstring.
  V["TITLE_PY"] = E.Module;
  return V;
}
