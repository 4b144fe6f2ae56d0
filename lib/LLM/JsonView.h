//===- JsonView.h - JSON that nobody vouches for -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What a server sent, read by paths ("usage/output_tokens"; a number is a
/// step into an array). A step that is absent or of another type ends in a view
/// of nothing, never in an exception.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_JSONVIEW_H
#define STARK_LIB_LLM_JSONVIEW_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stark {

class JsonView {
public:
  JsonView() = default;

  /// Whether there is a value, and not null.
  explicit operator bool() const;
  bool isObject() const;
  bool isStructured() const; ///< an object or an array
  bool isText() const;
  bool isTrue() const;

  JsonView at(llvm::StringRef Path) const;
  /// Empty for what is no string.
  std::string text(llvm::StringRef Path = "") const;
  /// Nothing for what is no count.
  std::optional<uint64_t> count(llvm::StringRef Path = "") const;
  /// Nothing for what is no number.
  std::optional<double> number(llvm::StringRef Path = "") const;
  /// A string as it is, a number or a truth value as JSON; else empty.
  std::string word(llvm::StringRef Path = "") const;
  /// Of an array; else none.
  std::vector<JsonView> elements() const;
  /// As JSON; what is not UTF-8 is replaced.
  std::string print() const;

private:
  friend class JsonDocument;
  explicit JsonView(const void *Node) : Node(Node) {}
  const void *Node = nullptr;
};

/// Owns what its views show.
class JsonDocument {
public:
  /// The root is a view of nothing when \p Text is no JSON.
  explicit JsonDocument(llvm::StringRef Text);
  ~JsonDocument();
  JsonView root() const;

private:
  struct Tree;
  std::unique_ptr<Tree> Parsed;
};

/// What is not UTF-8 is replaced: nothing that a compiler or a model wrote may
/// make a request impossible.
template <class Json> std::string dumpJson(const Json &Value) {
  return Value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace stark

#endif
