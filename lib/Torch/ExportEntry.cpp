//===- ExportEntry.cpp - Reads the workload that is exported --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> JSON -> the fields that an export needs; the rest is the judge's
///
//===----------------------------------------------------------------------===//

#include "ExportEntry.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Torch/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::torch;
using nlohmann::ordered_json;
using Reader = FieldReader<ordered_json>;

/// An operator of torch has 64 arguments, two of which may be lists of weights.
static constexpr int64_t MostInputs = 60;
static constexpr int64_t MostElements = int64_t(1) << 48;

static bool isLine(llvm::StringRef Text) {
  return Text.size() <= 1000 && llvm::all_of(Text, [](char C) {
           return (unsigned char)C >= 0x20 && C != 0x7f;
         });
}

static bool isPath(llvm::StringRef Path) {
  return isLine(Path) && !Path.empty() && !Path.starts_with(".") &&
         !Path.ends_with(".") && !Path.contains("..");
}

static void readType(Reader &F, TensorType &T) {
  F.required("dtype", T.Type);
  F.required("shape", T.Shape);
  F.check(T.Shape.size() <= 64, "shape", "at most 64 dimensions");
  int64_t Count = 1;
  for (int64_t Extent : T.Shape) {
    bool Good = Extent >= 0 && (!Extent || Count <= MostElements / Extent);
    F.check(Good, "shape", "extents of 0 or more");
    Count *= Good && Extent ? Extent : 1;
  }
}

static void readTensor(Reader &F, EntryTensor &T) {
  F.allowUnknown();
  F.required("tensor", T.Kind);
  readType(F, T.Type);
  std::string Role = "input";
  F.optional("role", Role);
  F.check(Role == "input" || Role == "inout", "role", "input or inout");
  T.Changed = Role == "inout";
  if (T.Kind != InputKind::Input) {
    F.required("path", T.Path);
    F.check(isPath(T.Path), "path", "a path in the module");
  }
  F.optional("offset", T.Offset);
}

/// The problem with what one object holds, where \p List reads it.
template <class Function>
static std::string readObject(const ordered_json &J, llvm::StringRef File,
                              const std::string &Path, Function List) {
  Reader F(J, File.str(), Path);
  if (F.good())
    List(F);
  return F.problem();
}

static std::string readArguments(Reader &F, llvm::StringRef File,
                                 ExportEntry &E) {
  const ordered_json *Found = F.raw("arguments");
  if (!Found || !Found->is_object() || Found->empty())
    return (F.fail("arguments", Found ? describeJson(*Found) : "nothing",
                   "an object with at least one tensor"),
            F.problem());
  llvm::StringSet<> Given;
  bool Weights = false;
  for (const auto &Item : Found->items()) {
    EntryTensor T;
    T.Name = Item.key();
    std::string Path = "arguments." + T.Name;
    if (!isIdentifier(T.Name) || !Given.insert(T.Name).second)
      F.fail(Path, "'" + T.Name + "'", "an identifier, each once");
    if (std::string Problem = readObject(Item.value(), File, Path,
                                         [&](Reader &R) { readTensor(R, T); });
        !Problem.empty())
      return Problem;
    if (Weights && T.Kind == InputKind::Input)
      F.fail(Path, "an input", "the inputs before the weights");
    Weights |= T.Kind != InputKind::Input;
    E.Arguments.push_back(std::move(T));
  }
  if (llvm::count_if(E.Arguments, [](const EntryTensor &T) {
        return T.Kind == InputKind::Input;
      }) > MostInputs)
    F.fail("arguments", "more", "at most 60 inputs");
  return F.problem();
}

static void readImported(Reader &F, ExportEntry &E) {
  F.allowUnknown();
  F.required("file", E.File);
  F.check(isLine(E.File), "file", "a line of text");
  F.required("module", E.Module);
  F.check(isIdentifier(E.Module), "module", "an identifier");
  F.required("mode", E.Mode);
  F.check(E.Mode == "training" || E.Mode == "evaluation", "mode",
          "training or evaluation");
  F.required("torch", E.Version);
  F.check(isLine(E.Version), "torch", "a line of text");
}

static void readEntry(Reader &F, ExportEntry &E) {
  F.allowUnknown();
  F.required("entry", E.Name);
  F.check(isEntryName(E.Name), "entry", "the name of a function of tensors");
  F.object("imported", [&](Reader &R) { readImported(R, E); });
  F.optional("weights", E.Weights);
  F.check(isLine(E.Weights) && !llvm::StringRef(E.Weights).contains('/') &&
              E.Weights != "..",
          "weights", "a file beside the workload");
  F.optional("tolerance", E.Tolerance);
  F.optional("notes", E.Notes);
  F.check(llvm::all_of(E.Notes, isLine), "notes", "lines of text");
  F.list("returns", E.Returns,
         [](Reader &R, TensorType &T, size_t) { readType(R, T); });
  F.check(!E.Returns.empty(), "returns", "at least one tensor");
}

llvm::Expected<ExportEntry> torch::parseExportEntry(llvm::StringRef Text,
                                                    llvm::StringRef File) {
  ordered_json J = ordered_json::parse(Text.begin(), Text.end(), nullptr, false,
                                       /*ignore_comments=*/true);
  if (J.is_discarded())
    return usageError(File + ": got a file that is no JSON, wanted a workload");
  ExportEntry E;
  std::string Problem =
      readObject(J, File, "", [&](Reader &F) { readEntry(F, E); });
  if (Problem.empty()) {
    Reader F(J, File.str(), "");
    F.allowUnknown();
    Problem = readArguments(F, File, E);
  }
  // Values are quoted as they are, and errors are one line.
  for (char &C : Problem)
    C = (unsigned char)C < 0x20 || C == 0x7f ? ' ' : C;
  if (!Problem.empty())
    return usageError(Problem);
  return E;
}
