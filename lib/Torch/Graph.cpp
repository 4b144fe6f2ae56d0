//===- Graph.cpp - Reads what the exporter wrote --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> JSON -> fields -> uses resolved to what stands before them
///
//===----------------------------------------------------------------------===//

#include "stark/Torch/Graph.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Torch/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <cstdlib>
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::torch;
using nlohmann::json;
using Reader = FieldReader<json>;

/// As deep as a list of pairs in an argument.
static constexpr unsigned DeepestList = 4;
static constexpr size_t DeepestNesting = 24;
static constexpr uint64_t MostElements = uint64_t(1) << 48;

uint64_t TensorType::elements() const {
  uint64_t Count = 1;
  for (int64_t Extent : Shape)
    Count *= uint64_t(Extent);
  return Count;
}

/// One line of plain text, which may stand in a comment.
static bool isLine(llvm::StringRef Text) {
  return Text.size() <= 1000 && llvm::all_of(Text, [](char C) {
           return (unsigned char)C >= 0x20 && C != 0x7f;
         });
}

/// Text in a comment that a backslash at its end would carry on.
static bool isCommentText(llvm::StringRef Text) {
  return isLine(Text) && !Text.ends_with("\\");
}

namespace {
/// What has been read so far, by its name.
struct Known {
  struct Entry {
    unsigned Value;
    Returns Kind;
    size_t Count;
  };
  llvm::StringMap<Entry> Values;

  void add(llvm::StringRef Name, Returns Kind, size_t Count) {
    unsigned Value = Values.size();
    Values.try_emplace(Name, Entry{Value, Kind, Count});
  }
};
} // namespace

static void readType(Reader &F, TensorType &T) {
  F.required("dtype", T.Type);
  F.required("shape", T.Shape);
  uint64_t Count = 1;
  for (int64_t Extent : T.Shape) {
    if (Extent < 0 || (Extent && Count > MostElements / uint64_t(Extent)))
      return F.check(false, "shape", "extents of 0 or more");
    Count *= Extent ? uint64_t(Extent) : 1;
  }
  F.check(T.Shape.size() <= 64, "shape", "at most 64 dimensions");
}

/// {"value": NAME, "item": N} to what stands before it.
static void readUse(Reader &F, const Known &Before, Use &U) {
  std::string Name;
  uint64_t Item = 0;
  F.required("value", Name);
  F.optional("item", Item);
  auto Found = Before.Values.find(Name);
  if (Found == Before.Values.end())
    return F.check(false, "value", "an input or a node above it");
  const Known::Entry &Of = Found->second;
  bool OfMany = Of.Kind == Returns::Tuple || Of.Kind == Returns::List;
  U.Value = Of.Value;
  if (F.has("item"))
    U.Item = unsigned(Item);
  F.check(F.has("item")
              ? OfMany && Item < Of.Count
              : Of.Kind == Returns::Tensor || Of.Kind == Returns::List,
          F.has("item") ? "item" : "value",
          OfMany ? "one of the " + std::to_string(Of.Count) + " tensors of '" +
                       Name + "'"
                 : "a tensor");
}

static double toReal(Reader &F, const std::string &Text) {
  char *End = nullptr;
  double Value = std::strtod(Text.c_str(), &End);
  F.check(!Text.empty() && Text.size() < 40 && !*End, "real", "a number");
  return Value;
}

static void readConstant(Reader &F, const Known &Before, Constant &C) {
  using K = Constant::Kind;
  if (F.has("value")) {
    C.Is = K::Tensor;
    return readUse(F, Before, C.Tensor);
  }
  static constexpr std::pair<const char *, K> Words[] = {
      {"real", K::Real},     {"text", K::Text},     {"format", K::Format},
      {"layout", K::Layout}, {"device", K::Device}, {"dtype", K::Element}};
  for (auto [Word, Is] : Words) {
    if (!F.has(Word))
      continue;
    C.Is = Is;
    if (Is == K::Element)
      return F.required(Word, C.Type);
    F.required(Word, C.Text);
    if (Is == K::Real)
      C.Real = toReal(F, C.Text);
    if (Is == K::Format)
      F.check(C.Text == "contiguous" || C.Text == "preserve" ||
                  C.Text == "channels_last" || C.Text == "channels_last_3d",
              Word, "a format of memory");
    return F.check(C.Text.size() <= 1000, Word, "at most 1000 bytes");
  }
  F.fail("", "nothing known", "an argument's value");
}

/// \p Name of \p F has the value \p J. Null, truth, whole numbers and lists
/// have forms of their own.
static void readValue(Reader &F, const std::string &Name, const json &J,
                      const Known &Before, Constant &C, unsigned Depth = 0) {
  using K = Constant::Kind;
  if (J.is_object())
    return F.nested(Name, J,
                    [&](Reader &Inner) { readConstant(Inner, Before, C); });
  if (J.is_boolean()) {
    C.Is = K::Bool;
    C.Integer = J.get<bool>();
  } else if (J.is_number()) {
    C.Is = K::Integer;
    if (!J.is_number_integer() ||
        (J.is_number_unsigned() && J.get<uint64_t>() > uint64_t(INT64_MAX)))
      return F.fail(Name, describeJson(J), "an integer of 64 bits");
    C.Integer = J.get<int64_t>();
  } else if (J.is_array()) {
    C.Is = K::List;
    if (Depth == DeepestList)
      return F.fail(Name, describeJson(J), "no list within so many");
    for (size_t I = 0; I < J.size() && F.good(); ++I)
      readValue(F, Name + "[" + std::to_string(I) + "]", J[I], Before,
                C.Items.emplace_back(), Depth + 1);
  } else if (!J.is_null()) {
    F.fail(Name, describeJson(J), "an argument's value");
  }
}

static void readValues(Reader &F, Values &V) {
  F.required("kind", V.Is);
  switch (V.Is) {
  case Distribution::Uniform:
  case Distribution::Integers:
    F.required("low", V.A);
    F.required("high", V.B);
    F.sparse("times", V.Times, 1.0);
    F.sparse("plus", V.Plus, 0.0);
    break;
  case Distribution::Normal:
    F.required("mean", V.A);
    F.required("sigma", V.B);
    break;
  case Distribution::Constant:
    F.required("value", V.A);
    break;
  case Distribution::Observed:
    F.required("least", V.A);
    F.required("greatest", V.B);
    F.required("mean", V.Mean);
    F.required("sigma", V.Sigma);
    break;
  default:
    break;
  }
  F.optional("keep", V.Keep);
  F.check(V.Keep.empty() || V.Keep == "lower" || V.Keep == "upper", "keep",
          "lower or upper");
}

/// A name that nothing before it has.
static void readName(Reader &F, const Known &Before, std::string &Name) {
  F.required("name", Name);
  F.check(isIdentifier(Name), "name", "an identifier");
  F.check(!Before.Values.count(Name), "name", "a name that is not taken");
}

static void readInput(Reader &F, Known &Before, Input &I, bool HasWeights) {
  readName(F, Before, I.Name);
  F.required("kind", I.Kind);
  F.required("path", I.Path);
  F.check(isCommentText(I.Path), "path", "one line of text");
  readType(F, I.Type);
  F.required("changed", I.Changed);
  F.object("values", [&](Reader &Inner) { readValues(Inner, I.Drawn); });
  if (HasWeights && I.Kind != InputKind::Input)
    F.required("offset", I.Offset);
  if (F.good())
    Before.add(I.Name, Returns::Tensor, 1);
}

static bool isSchemaType(llvm::StringRef Type) {
  while (Type.consume_back("?") || Type.consume_back("[]"))
    ;
  return llvm::is_contained(
      {"Tensor", "Scalar", "int", "float", "bool", "str", "other"}, Type);
}

static void readArgument(Reader &F, const Known &Before, Argument &A) {
  F.required("name", A.Name);
  F.check(isIdentifier(A.Name), "name", "an identifier");
  F.required("type", A.Type);
  F.check(isSchemaType(A.Type), "type", "a type of ATen's schemas");
  F.required("default", A.IsDefault);
  const json *Value = F.raw("value");
  if (!Value)
    return F.fail("value", "nothing", "the argument's value");
  readValue(F, "value", *Value, Before, A.Value);
}

static void readNode(Reader &F, Known &Before, Node &N) {
  readName(F, Before, N.Name);
  F.required("op", N.Op);
  F.check(isIdentifier(N.Op), "op", "an operator's name");
  std::string Call;
  F.required("call", Call);
  F.check(Call == "function" || Call == "method", "call", "function or method");
  N.IsMethod = Call == "method";
  F.required("in_place", N.IsInPlace);
  F.required("path", N.Path);
  F.check(isCommentText(N.Path), "path", "one line of text");
  F.required("module", N.Class);
  F.check(isCommentText(N.Class), "module", "one line of text");
  F.list("arguments", N.Arguments, [&](Reader &A, Argument &Into, size_t) {
    readArgument(A, Before, Into);
  });
  F.object("results", [&](Reader &R) {
    R.required("kind", N.Kind);
    R.list("types", N.Results,
           [](Reader &T, TensorType &Into, size_t) { readType(T, Into); });
    R.check(N.Kind != Returns::Tensor || N.Results.size() == 1, "types",
            "one type");
    R.check(N.Kind != Returns::Tuple || N.Results.size() > 1, "types",
            "several types");
  });
  bool TakesTensor =
      !N.Arguments.empty() && N.Arguments[0].Value.Is == Constant::Kind::Tensor;
  F.check(TakesTensor || (!N.IsMethod && !N.IsInPlace), "arguments",
          "a tensor first");
  F.check(!N.IsInPlace || N.Kind == Returns::Tensor, "in_place",
          "one result, a tensor");
  if (F.good())
    Before.add(N.Name, N.Kind, N.Results.size());
}

namespace stark::torch {
static void readGraph(Reader &F, Graph &G) {
  Known Before;
  F.format("format", 1);
  F.required("torch", G.TorchVersion);
  F.required("file", G.File);
  F.required("module", G.Module);
  F.required("mode", G.Mode);
  F.required("tensors", G.Tensors);
  F.required("confined", G.Confined);
  for (auto [Name, Text] : {std::pair{"torch", &G.TorchVersion},
                            {"file", &G.File},
                            {"module", &G.Module},
                            {"mode", &G.Mode},
                            {"tensors", &G.Tensors},
                            {"confined", &G.Confined}})
    F.check(isCommentText(*Text), Name, "one line of text");
  F.required("weights", G.HasWeights);
  F.required("notes", G.Notes);
  F.check(llvm::all_of(G.Notes, isCommentText), "notes", "lines of text");
  F.list("inputs", G.Inputs, [&](Reader &R, Input &I, size_t) {
    readInput(R, Before, I, G.HasWeights);
  });
  F.list("nodes", G.Nodes,
         [&](Reader &R, Node &N, size_t) { readNode(R, Before, N); });
  F.list("outputs", G.Outputs, [&](Reader &R, Output &O, size_t) {
    readUse(R, Before, O.Tensor);
    readType(R, O.Type);
  });
  F.check(!F.good() || !G.Outputs.empty(), "outputs", "a tensor at least");
}
} // namespace stark::torch

/// Far from what a parser or a destructor could not stand.
static bool isTooDeep(llvm::StringRef Text) {
  size_t Depth = 0;
  bool InText = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InText) {
      I += C == '\\';
      InText = C != '"';
    } else if (C == '"') {
      InText = true;
    } else if (C == '[' || C == '{') {
      if (++Depth > DeepestNesting)
        return true;
    } else if ((C == ']' || C == '}') && Depth) {
      --Depth;
    }
  }
  return false;
}

llvm::Expected<Graph> torch::parseGraph(llvm::StringRef Text,
                                        llvm::StringRef File) {
  json Root;
  if (!isTooDeep(Text))
    Root = json::parse(Text.begin(), Text.end(), nullptr,
                       /*allow_exceptions=*/false);
  else
    Root = json(json::value_t::discarded);
  if (Root.is_discarded())
    return failed(File + ": got text that is not JSON, wanted a graph");
  Graph G;
  Reader F(Root, File.str(), "");
  if (F.good())
    readGraph(F, G);
  if (std::string Problem = F.problem(); !Problem.empty())
    return failed(Problem);
  return G;
}
