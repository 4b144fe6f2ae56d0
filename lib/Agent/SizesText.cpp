//===- SizesText.cpp - The sizes of a task as an agent reads them ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "TextForms.h"
#include "stark/AST/Products.h"
#include "stark/Job/Names.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace stark;

/// Where a GPU with tensor cores begins to compute for longer than it moves
/// bytes, without them: 67 TFLOP/s and 4.2 TB/s of an H200.
static constexpr double FlopsPerByteOfProducts = 16;

/// ", odd and ragged in `rows`, `cols`, with other multiples in `d`".
static std::string addedNames(const Workload &W) {
  std::set<std::string> Ragged, Multiples;
  for (const Size &S : W.Sizes)
    for (const auto &[Name, Value] : S.Names) {
      auto Unit = W.MultipleOf.find(Name);
      bool IsMultiple = Unit != W.MultipleOf.end() && Unit->second != 1;
      (IsMultiple ? Multiples : Ragged).insert("`" + Name + "`");
    }
  std::string Text;
  if (!Ragged.empty())
    Text += ", odd and ragged in " + llvm::join(Ragged, ", ");
  if (!Multiples.empty())
    Text += ", with other multiples in " + llvm::join(Multiples, ", ");
  return Text;
}

/// The values that pointers hold beside those that are said of them.
static std::string describeOtherValues(const Task &T) {
  if (!isHardened(T) || isTensorEntry(T.Entry))
    return "";
  std::set<job::Regime> All;
  for (const Argument &A : T.Load.Arguments)
    for (const job::RegimeFill &F : makeRegimes(A, T.Load, /*IsTensor=*/false))
      All.insert(F.Of);
  if (All.empty())
    return "";
  std::vector<std::string> Names;
  for (job::Regime R : All)
    Names.push_back(nameOf(R));
  return "- compared only: the smallest of these, and some others, with inputs "
         "of other values (" +
         llvm::join(Names, ", ") + ")\n";
}

std::string stark::describeSizes(const Task &T, const Figures &Known) {
  const Workload &W = T.Load;
  std::string Text;
  bool Times = false;
  for (const Size &S : W.Sizes) {
    if (S.CheckOnly || S.Added)
      continue;
    std::string More = Known.describeSize(W, S);
    Times |= llvm::StringRef(More).contains(" about ");
    Text += "- timed and compared: " + S.label() +
            (More.empty() ? "" : " (" + More + ")") + "\n";
  }
  for (const Size &S : W.Sizes)
    if (S.CheckOnly && !S.Added)
      Text += "- compared only: " + S.label() + "\n";
  if (W.AddSizes)
    Text += "- compared only: further sizes that the judge adds, small ones "
            "among them" +
            addedNames(W) + "\n";
  Text += describeOtherValues(T);
  if (!W.MultipleOf.empty()) {
    std::string Rules;
    for (const auto &[Name, Unit] : W.MultipleOf)
      Rules +=
          (Rules.empty() ? "`" : ", `") + Name + "` of " + std::to_string(Unit);
    Text += "\nIn all of them these are multiples: " + Rules +
            ". No other sizes have to work.\n";
  }
  return Times ? Text + Known.describeMemoryTimes() : Text;
}

bool stark::mayMultiply(const Task &T, const Figures &Known) {
  if (isTensorEntry(T.Entry))
    return true;
  if (std::optional<double> Most = Known.mostFlopsPerByte(T.Load))
    return *Most >= FlopsPerByteOfProducts;
  return T.Parsed && addsUpProducts(*T.Parsed);
}
