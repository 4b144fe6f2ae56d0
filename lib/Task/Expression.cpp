//===- Expression.cpp - Integer expressions over size names --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Expression.h"
#include "Arithmetic.h"
#include "stark/Support/Error.h"
#include "stark/Support/Nearest.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <set>

using namespace stark;

namespace {
/// Recursive descent over C's grammar; Names == nullptr: only the names are
/// collected. What C would not evaluate is read, but has no value.
template <class T> class Parser {
public:
  Parser(llvm::StringRef Text, const Bindings *Names)
      : Text(Text), Names(Names) {}

  llvm::Expected<T> parse() {
    T Value = conditional();
    skip();
    if (Problem.empty() && At != Text.size())
      fail("unexpected '" + Text.substr(At, 1).str() + "'");
    if (!Problem.empty())
      return usageError("expression '" + Text + "', column " +
                        llvm::Twine(ProblemAt + 1) + ": " + Problem);
    return Value;
  }

  std::set<std::string> Seen;

private:
  static constexpr unsigned DepthLimit = 200;

  void fail(std::string Why) {
    if (!Problem.empty())
      return;
    Problem = std::move(Why);
    ProblemAt = At;
  }
  void skip() {
    while (At < Text.size() && llvm::isSpace(Text[At]))
      ++At;
  }
  bool take(llvm::StringRef Token) {
    skip();
    if (!Text.substr(At).starts_with(Token))
      return false;
    At += Token.size();
    return true;
  }
  /// An operator that is no beginning of a longer one.
  bool takeOperator(llvm::StringRef Op) {
    static const char *const Longer[] = {
        "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    skip();
    for (llvm::StringRef L : Longer)
      if (L.size() > Op.size() && L.starts_with(Op) &&
          Text.substr(At).starts_with(L))
        return false;
    return take(Op);
  }

  T conditional() {
    if (++Depth > DepthLimit) {
      fail("nested deeper than " + std::to_string(DepthLimit));
      return T{};
    }
    T Value = either();
    if (Problem.empty() && takeOperator("?")) {
      bool First = Value != T{};
      T Left = unless(!First, &Parser::conditional);
      if (!take(":"))
        fail("':' is missing");
      T Right = unless(First, &Parser::conditional);
      Value = First ? Left : Right;
    }
    --Depth;
    return Value;
  }
  T unless(bool Unused, T (Parser::*Operand)()) {
    Skipping += Unused;
    T Value = Problem.empty() ? (this->*Operand)() : T{};
    Skipping -= Unused;
    return Value;
  }
  T either() {
    T Left = both();
    while (Problem.empty() && takeOperator("||")) {
      bool Known = Left != T{};
      Left = T((unless(Known, &Parser::both) != T{}) || Known);
    }
    return Left;
  }
  T both() {
    T Left = level(0);
    while (Problem.empty() && takeOperator("&&")) {
      bool Known = Left == T{};
      Left = T((unless(Known, &Parser::operand) != T{}) && !Known);
    }
    return Left;
  }
  T operand() { return level(0); }

  /// Left-associative binary operators, loosest first.
  T level(unsigned Tightness) {
    static const std::vector<const char *> Levels[] = {{"|"},
                                                       {"^"},
                                                       {"&"},
                                                       {"==", "!="},
                                                       {"<=", ">=", "<", ">"},
                                                       {"<<", ">>"},
                                                       {"+", "-"},
                                                       {"*", "/", "%"}};
    if (Tightness == std::size(Levels))
      return unary();
    T Left = level(Tightness + 1);
    while (Problem.empty()) {
      const char *Op = nullptr;
      for (const char *Candidate : Levels[Tightness])
        if (!Op && takeOperator(Candidate))
          Op = Candidate;
      if (!Op)
        break;
      T Right = level(Tightness + 1);
      apply(Op, Left, Right);
    }
    return Left;
  }

  void apply(llvm::StringRef Op, T &Left, T Right) {
    if (!Names || Skipping || !Problem.empty())
      return;
    T Out{};
    if (const char *Why = Arithmetic<T>::apply(Op, Left, Right, Out))
      fail(Why);
    Left = Out;
  }

  T unary() {
    if (++Depth > DepthLimit) {
      fail("nested deeper than " + std::to_string(DepthLimit));
      return T{};
    }
    T Value{};
    if (take("-")) {
      Value = T{};
      T Operand = unary();
      apply("-", Value, Operand);
    } else if (take("+")) {
      Value = unary();
    } else if (take("!")) {
      Value = T(unary() == T{});
    } else if (take("~")) {
      // ~x is -x - 1; real numbers have none.
      Value = T(-1);
      apply("^", Value, unary());
    } else {
      Value = primary();
    }
    --Depth;
    return Value;
  }

  T primary() {
    if (take("(")) {
      T Value = conditional();
      if (!take(")"))
        fail("')' is missing");
      return Value;
    }
    size_t Start = At;
    if (At < Text.size() && (llvm::isDigit(Text[At]) || Text[At] == '.'))
      return number(Start);
    while (At < Text.size() && (llvm::isAlnum(Text[At]) || Text[At] == '_'))
      ++At;
    llvm::StringRef Name = Text.slice(Start, At);
    if (Name.empty()) {
      fail(At < Text.size() ? "wanted a number or a name, got '" +
                                  Text.substr(At, 1).str() + "'"
                            : "wanted a number or a name, got the end");
      return T{};
    }
    if (take("("))
      return call(Name);
    Seen.insert(Name.str());
    if (!Names)
      return T{};
    auto Found = Names->find(Name.str());
    if (Found != Names->end())
      return T(Found->second);
    std::string List;
    std::vector<std::string> Known;
    for (const auto &[K, V] : *Names) {
      List += (List.empty() ? "" : ", ") + K;
      Known.push_back(K);
    }
    At = Start;
    fail("unknown name '" + Name.str() + "'" + didYouMean(Name, Known) +
         "; known are " + (List.empty() ? "none" : List));
    return T{};
  }

  T number(size_t Start) {
    while (At < Text.size() &&
           (llvm::isAlnum(Text[At]) || Text[At] == '.' ||
            ((Text[At] == '-' || Text[At] == '+') && At > Start &&
             (Text[At - 1] == 'e' || Text[At - 1] == 'E') &&
             !Text.slice(Start, At).starts_with("0x"))))
      ++At;
    T Value{};
    if (!Arithmetic<T>::literal(Text.slice(Start, At), Value)) {
      std::string Literal = Text.slice(Start, At).str();
      At = Start;
      fail("'" + Literal + "' is no number of this kind");
    }
    return Value;
  }

  T call(llvm::StringRef Name) {
    if (Name != "min" && Name != "max" && Name != "ceildiv") {
      fail("unknown function '" + Name.str() +
           "'; known are min, max, ceildiv");
      return T{};
    }
    T Left = conditional();
    if (!take(","))
      fail("'" + Name.str() + "' takes two arguments");
    T Right = Problem.empty() ? conditional() : T{};
    if (!take(")"))
      fail("')' is missing, '" + Name.str() + "' takes two arguments");
    apply(Name, Left, Right);
    return Left;
  }

  llvm::StringRef Text;
  const Bindings *Names;
  size_t At = 0, ProblemAt = 0;
  unsigned Depth = 0, Skipping = 0;
  std::string Problem;
};
} // namespace

llvm::Expected<int64_t> stark::evaluateExpression(llvm::StringRef Text,
                                                  const Bindings &Names) {
  return Parser<int64_t>(Text, &Names).parse();
}

llvm::Expected<double> stark::evaluateReal(llvm::StringRef Text,
                                           const Bindings &Names) {
  return Parser<double>(Text, &Names).parse();
}

std::optional<double> stark::knownReal(llvm::StringRef Text,
                                       const Bindings &Names) {
  if (Text.empty())
    return std::nullopt;
  llvm::Expected<double> Value = evaluateReal(Text, Names);
  if (!Value) {
    llvm::consumeError(Value.takeError());
    return std::nullopt;
  }
  return std::isfinite(*Value) ? std::optional(*Value) : std::nullopt;
}

llvm::Expected<std::vector<std::string>>
stark::expressionNames(llvm::StringRef Text) {
  // Numbers are read as reals: those of an integer expression are real, too.
  Parser<double> P(Text, nullptr);
  if (llvm::Expected<double> Value = P.parse(); !Value)
    return Value.takeError();
  return std::vector<std::string>(P.Seen.begin(), P.Seen.end());
}
