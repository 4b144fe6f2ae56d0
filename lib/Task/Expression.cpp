//===- Expression.cpp - Integer expressions over size names --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Expression.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <limits>
#include <set>

using namespace stark;

namespace {
/// The arithmetic of one value type; nullptr for what it lacks.
template <class T> struct Arithmetic;

template <> struct Arithmetic<int64_t> {
  static const char *apply(llvm::StringRef Op, int64_t L, int64_t R,
                           int64_t &Out) {
    bool Overflow = false;
    if (Op == "+")
      Overflow = __builtin_add_overflow(L, R, &Out);
    else if (Op == "-")
      Overflow = __builtin_sub_overflow(L, R, &Out);
    else if (Op == "*")
      Overflow = __builtin_mul_overflow(L, R, &Out);
    else if (Op == "/" || Op == "%") {
      if (R == 0)
        return "division by zero";
      if (L == std::numeric_limits<int64_t>::min() && R == -1)
        return "the value does not fit 64 bits";
      Out = Op == "/" ? L / R : L % R;
    } else {
      // Shifts: what C leaves undefined is an error.
      if (R < 0 || R > 62 || L < 0)
        return "a shift needs a left side of 0 or more and a right side of 0 "
               "to 62";
      if (Op == ">>")
        Out = L >> R;
      else
        Overflow = __builtin_mul_overflow(L, int64_t(1) << R, &Out);
    }
    return Overflow ? "the value does not fit 64 bits" : nullptr;
  }
  static bool literal(llvm::StringRef Text, int64_t &Out) {
    return !Text.getAsInteger(0, Out);
  }
};

template <> struct Arithmetic<double> {
  static const char *apply(llvm::StringRef Op, double L, double R,
                           double &Out) {
    if (Op == "+")
      Out = L + R;
    else if (Op == "-")
      Out = L - R;
    else if (Op == "*")
      Out = L * R;
    else if (Op == "/") {
      if (R == 0)
        return "division by zero";
      Out = L / R;
    } else
      return "this operator needs integers";
    return nullptr;
  }
  static bool literal(llvm::StringRef Text, double &Out) {
    return !Text.getAsDouble(Out);
  }
};

/// Recursive descent; Names == nullptr: only the names are collected.
template <class T> class Parser {
public:
  Parser(llvm::StringRef Text, const Bindings *Names)
      : Text(Text), Names(Names) {}

  llvm::Expected<T> parse() {
    T Value = shift();
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

  /// One level of left-associative operators.
  template <class Next>
  T level(std::initializer_list<const char *> Operators, Next Operand) {
    T Left = (this->*Operand)();
    while (Problem.empty()) {
      const char *Op = nullptr;
      for (const char *Candidate : Operators)
        if (!Op && take(Candidate))
          Op = Candidate;
      if (!Op)
        break;
      T Right = (this->*Operand)();
      apply(Op, Left, Right);
    }
    return Left;
  }
  T shift() { return level({"<<", ">>"}, &Parser::sum); }
  T sum() { return level({"+", "-"}, &Parser::product); }
  T product() { return level({"*", "/", "%"}, &Parser::unary); }

  void apply(llvm::StringRef Op, T &Left, T Right) {
    if (!Names || !Problem.empty())
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
    } else {
      Value = primary();
    }
    --Depth;
    return Value;
  }

  T primary() {
    if (take("(")) {
      T Value = shift();
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
    std::string Known;
    for (const auto &[K, V] : *Names)
      Known += (Known.empty() ? "" : ", ") + K;
    At = Start;
    fail("unknown name '" + Name.str() + "'; known are " +
         (Known.empty() ? "none" : Known));
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
    T Left = shift();
    if (!take(","))
      fail("'" + Name.str() + "' takes two arguments");
    T Right = shift();
    if (!take(")"))
      fail("')' is missing");
    if (Name == "min")
      return std::min(Left, Right);
    if (Name == "max")
      return std::max(Left, Right);
    if (Name == "ceildiv") {
      T Value = Left;
      apply("+", Value, Right);
      apply("-", Value, T(1));
      apply("/", Value, Right);
      return Value;
    }
    fail("unknown function '" + Name.str() + "'; known are min, max, ceildiv");
    return T{};
  }

  llvm::StringRef Text;
  const Bindings *Names;
  size_t At = 0, ProblemAt = 0;
  unsigned Depth = 0;
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

llvm::Expected<std::vector<std::string>>
stark::expressionNames(llvm::StringRef Text) {
  // Numbers are read as reals: those of an integer expression are real, too.
  Parser<double> P(Text, nullptr);
  if (llvm::Expected<double> Value = P.parse(); !Value)
    return Value.takeError();
  return std::vector<std::string>(P.Seen.begin(), P.Seen.end());
}
