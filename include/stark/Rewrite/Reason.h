//===- Reason.h - Why a rewrite does not apply ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   kind + what it is said of -> the sentence that a person reads
/// A kind is a constant, as an enumerator would be in an enum that each rewrite
/// could add to: callers ask is(), never the text.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_REWRITE_REASON_H
#define STARK_REWRITE_REASON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <variant>
#include <vector>

namespace stark {

/// Its address tells it from the others. In the text %0 to %9 stand for what a
/// reason of the kind is said of; lower case, no full stop.
struct ReasonKind {
  llvm::StringLiteral Text;
  explicit constexpr ReasonKind(llvm::StringLiteral Text) : Text(Text) {}
  ReasonKind(const ReasonKind &) = delete;
};

class Reason {
public:
  /// A name, a number (of a line, of threads) or another reason's sentence.
  using Argument = std::variant<std::string, uint64_t>;

  template <typename... T>
  explicit Reason(const ReasonKind &Kind, const T &...Said)
      : Kind(&Kind), Said{argument(Said)...} {}

  bool is(const ReasonKind &Other) const { return Kind == &Other; }
  llvm::ArrayRef<Argument> arguments() const { return Said; }
  /// The sentence.
  std::string str() const;
  bool operator==(const Reason &) const = default;

private:
  static Argument argument(llvm::StringRef Name) { return Name.str(); }
  static Argument argument(uint64_t Number) { return Number; }
  static Argument argument(const Reason &Inner) { return Inner.str(); }

  const ReasonKind *Kind;
  std::vector<Argument> Said;
};

/// A \p T, or why there is none.
template <typename T> class [[nodiscard]] OrReason {
public:
  OrReason(T Value) : Held(std::move(Value)) {}
  OrReason(Reason Why) : Held(std::move(Why)) {}
  explicit operator bool() const { return std::holds_alternative<T>(Held); }
  T &operator*() { return std::get<T>(Held); }
  const T &operator*() const { return std::get<T>(Held); }
  T *operator->() { return &std::get<T>(Held); }
  const T *operator->() const { return &std::get<T>(Held); }
  const Reason &why() const { return std::get<Reason>(Held); }

private:
  std::variant<T, Reason> Held;
};

} // namespace stark

#endif
