//===- Constants.cpp - What a candidate may compare a size with -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   tokens -> literals and names of constants -> runs of arithmetic -> numbers
/// Of the text alone, and of all of it: skipped text, macros, arguments of
/// templates and code for either side count, whoever compiles them.
///
//===----------------------------------------------------------------------===//

#include "stark/Support/CodeTokens.h"
#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <set>

using namespace stark;
using llvm::StringRef;

namespace {
/// Sizes are compared with less.
constexpr int64_t Greatest = int64_t(1) << 40;
/// Names that are made of names that are made of names.
constexpr unsigned Rounds = 4;

class ConstantReader {
public:
  explicit ConstantReader(StringRef Text)
      : Text(Text), Tokens(codeTokens(Text)) {}
  std::vector<int64_t> run();

private:
  StringRef spelling(size_t I) const {
    return I < Tokens.size() ? Text.slice(Tokens[I].Begin, Tokens[I].End)
                             : StringRef();
  }
  std::optional<int64_t> operand(size_t I) const;
  std::optional<int64_t> expression(size_t &I, unsigned Least);
  int binding(size_t I, unsigned &Length) const;
  void define(size_t At);

  StringRef Text;
  std::vector<CodeToken> Tokens;
  llvm::StringMap<int64_t> Named;
  std::set<int64_t> Found;
};

std::optional<int64_t> literal(StringRef Spelling) {
  std::string Digits;
  for (char C : Spelling)
    if (C != '\'')
      Digits += C;
  StringRef Plain = Digits;
  Plain = Plain.rtrim("uUlLzZ");
  uint64_t Value = 0;
  if (Plain.getAsInteger(0, Value) || Value > uint64_t(Greatest))
    return std::nullopt;
  return int64_t(Value);
}

std::optional<int64_t> apply(StringRef Operator, int64_t L, int64_t R) {
  int64_t V = 0;
  if (Operator == "*")
    return __builtin_mul_overflow(L, R, &V) ? std::nullopt : std::optional(V);
  if (Operator == "+")
    return __builtin_add_overflow(L, R, &V) ? std::nullopt : std::optional(V);
  if (Operator == "-")
    return __builtin_sub_overflow(L, R, &V) ? std::nullopt : std::optional(V);
  if (Operator == "/" || Operator == "%") {
    if (R <= 0)
      return std::nullopt;
    return Operator == "/" ? L / R : L % R;
  }
  if (R < 0 || R > 40 || L < 0 || L > Greatest)
    return std::nullopt;
  return Operator == "<<"
             ? (L > Greatest >> R ? std::nullopt : std::optional(L << R))
             : std::optional(L >> R);
}
} // namespace

std::optional<int64_t> ConstantReader::operand(size_t I) const {
  if (I >= Tokens.size())
    return std::nullopt;
  if (Tokens[I].Kind == CodeToken::Number)
    return literal(spelling(I));
  if (Tokens[I].Kind != CodeToken::Word)
    return std::nullopt;
  auto Known = Named.find(spelling(I));
  return Known == Named.end() ? std::nullopt : std::optional(Known->second);
}

/// How tightly the operator at \p I binds, of \p Length tokens; 0: none.
int ConstantReader::binding(size_t I, unsigned &Length) const {
  StringRef S = spelling(I);
  Length = 1;
  if (S == "*" || S == "/" || S == "%")
    return 3;
  if (S == "+" || S == "-")
    return spelling(I + 1) == S || spelling(I + 1) == "=" ? 0 : 2;
  Length = 2;
  bool Shift = (S == "<" || S == ">") && spelling(I + 1) == S &&
               I + 1 < Tokens.size() && Tokens[I + 1].Begin == Tokens[I].End &&
               spelling(I + 2) != S;
  return Shift ? 1 : 0;
}

/// From \p I on, as far as it is one; what is known on the way is found.
std::optional<int64_t> ConstantReader::expression(size_t &I, unsigned Least) {
  std::optional<int64_t> Left;
  if (spelling(I) == "(") {
    size_t Inner = I + 1;
    Left = expression(Inner, 1);
    if (!Left || spelling(Inner) != ")")
      return std::nullopt;
    I = Inner + 1;
  } else if ((Left = operand(I))) {
    ++I;
  }
  while (Left) {
    Found.insert(*Left);
    unsigned Length = 0;
    int Binds = binding(I, Length);
    if (Binds < int(Least) || Binds == 0)
      return Left;
    StringRef Operator =
        Text.slice(Tokens[I].Begin, Tokens[I + Length - 1].End);
    size_t Next = I + Length;
    std::optional<int64_t> Right = expression(Next, unsigned(Binds) + 1);
    std::optional<int64_t> Both =
        Right ? apply(Operator, *Left, *Right) : std::nullopt;
    if (!Both)
      return Left;
    Left = Both;
    I = Next;
  }
  return std::nullopt;
}

/// `NAME = expression` and `#define NAME expression`.
void ConstantReader::define(size_t At) {
  bool Macro =
      At >= 2 && spelling(At - 1) == "define" && spelling(At - 2) == "#";
  bool Initialised = spelling(At + 1) == "=" && spelling(At + 2) != "=";
  if (Tokens[At].Kind != CodeToken::Word || (!Macro && !Initialised))
    return;
  size_t I = At + (Macro ? 1 : 2);
  if (std::optional<int64_t> Value = expression(I, 1))
    Named.try_emplace(spelling(At), *Value);
}

std::vector<int64_t> ConstantReader::run() {
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    size_t Before = Named.size();
    for (size_t I = 0; I < Tokens.size(); ++I)
      define(I);
    if (Named.size() == Before)
      break;
  }
  for (size_t I = 0; I < Tokens.size(); ++I) {
    size_t At = I;
    expression(At, 1);
  }
  std::vector<int64_t> All;
  // 0 and 1 are in every text, and sizes of 1 are looked at in any case.
  llvm::copy_if(Found, std::back_inserter(All),
                [](int64_t V) { return V > 1 && V <= Greatest; });
  if (All.size() > MaxConstants)
    All.resize(MaxConstants);
  return All;
}

std::vector<int64_t> stark::integerConstants(StringRef Text) {
  return ConstantReader(Text).run();
}
