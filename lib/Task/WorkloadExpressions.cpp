//===- WorkloadExpressions.cpp - Whether all expressions have values ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkloadText.h"
#include "stark/Task/Workload.h"
#include <cstdint>

using namespace stark;

llvm::SmallVector<llvm::StringRef> stark::splitTriple(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef> Parts;
  int Depth = 0;
  size_t Start = 0;
  for (size_t I = 0; I <= Text.size(); ++I) {
    if (I == Text.size() || (Text[I] == ',' && Depth == 0)) {
      Parts.push_back(Text.slice(Start, I).trim());
      Start = I + 1;
    } else if (Text[I] == '(') {
      ++Depth;
    } else if (Text[I] == ')') {
      --Depth;
    }
  }
  return Parts;
}

namespace {
/// The expressions of one size; the first problem is kept.
struct Checker {
  const Workload &W;
  const Bindings &Names;
  std::string Where; ///< "sizes[1]"
  std::string Problem;

  void fail(const std::string &Field, const std::string &Rest) {
    if (Problem.empty())
      Problem = W.File + ": field '" + Field + "'" + Rest;
  }
  void fail(const std::string &Field, llvm::Error E) {
    fail(Field, " for " + Where + ": " + llvm::toString(std::move(E)));
  }

  void whole(const std::string &Field, llvm::StringRef Text, int64_t Least) {
    llvm::Expected<int64_t> Value = evaluateExpression(Text, Names);
    if (!Value)
      fail(Field, Value.takeError());
    else if (*Value < Least)
      fail(Field, ": got " + std::to_string(*Value) + " for " + Where +
                      ", wanted " + std::to_string(Least) + " or more");
  }

  void init(const std::string &Field, const Argument &A) {
    for (const std::string *Text : {&A.Low, &A.High, &A.Times})
      if (!Text->empty())
        whole(Field + ".init", *Text, INT64_MIN);
  }

  void real(const std::string &Field, llvm::StringRef Text) {
    if (Text.empty())
      return;
    if (llvm::Expected<double> Value = evaluateReal(Text, Names); !Value)
      fail(Field, Value.takeError());
  }

  /// Whether a value is whole or real is for the parameter to say: here only
  /// its grammar and its names are checked.
  void grammar(const std::string &Field, llvm::StringRef Text) {
    llvm::Expected<std::vector<std::string>> Used = expressionNames(Text);
    if (!Used)
      return fail(Field, ": " + llvm::toString(Used.takeError()));
    for (const std::string &Name : *Used)
      if (!Names.count(Name))
        whole(Field, Name, INT64_MIN); // says which names there are
  }

  void triple(const std::string &Field, const std::string &Text) {
    llvm::SmallVector<llvm::StringRef> Parts = splitTriple(Text);
    if (Parts.size() > 3)
      fail(Field, ": got '" + Text + "', wanted at most three expressions");
    for (llvm::StringRef Part : Parts)
      whole(Field, Part, 1);
  }
};
} // namespace

std::string stark::problemOfExpressions(const Workload &W) {
  for (size_t I = 0; I < W.Sizes.size(); ++I) {
    Checker C{W, W.Sizes[I].Names, "sizes[" + std::to_string(I) + "]", ""};
    for (const Argument &A : W.Arguments) {
      for (size_t D = 0; D < A.Shape.size(); ++D)
        C.whole("arguments." + A.Name + ".shape[" + std::to_string(D) + "]",
                A.Shape[D], 0);
      std::string Field = "arguments." + A.Name;
      if (!A.Before.empty())
        C.whole(Field + ".before", A.Before, 0);
      C.init(Field, A);
      for (const Argument &Of : A.Fields)
        C.init(Field + ".fields." + Of.Name, Of);
      if (!A.IsBuffer)
        C.grammar("arguments." + A.Name + ".value", A.Value);
    }
    for (size_t R = 0; R < W.Returns.size(); ++R)
      for (size_t D = 0; D < W.Returns[R].Shape.size(); ++D)
        C.whole("returns[" + std::to_string(R) + "].shape[" +
                    std::to_string(D) + "]",
                W.Returns[R].Shape[D], 0);
    if (W.Launch) {
      C.triple("launch.grid", W.Launch->Grid);
      C.triple("launch.block", W.Launch->Block);
      C.whole("launch.shared_bytes", W.Launch->SharedBytes, 0);
    }
    C.real("bytes", W.Bytes);
    C.real("flops", W.Flops);
    if (!C.Problem.empty())
      return C.Problem;
  }
  return "";
}
