//===- JsonView.cpp - JSON that nobody vouches for -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonView.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static const json *get(const void *Node) {
  return static_cast<const json *>(Node);
}

JsonView::operator bool() const { return Node && !get(Node)->is_null(); }
bool JsonView::isObject() const { return Node && get(Node)->is_object(); }
bool JsonView::isStructured() const {
  return Node && get(Node)->is_structured();
}
bool JsonView::isText() const { return Node && get(Node)->is_string(); }
bool JsonView::isTrue() const { return Node && *get(Node) == true; }

JsonView JsonView::at(llvm::StringRef Path) const {
  const json *At = get(Node);
  while (At && !Path.empty()) {
    auto [Step, Rest] = Path.split('/');
    Path = Rest;
    size_t Index = 0;
    if (At->is_array()) {
      bool Inside = !Step.getAsInteger(10, Index) && Index < At->size();
      At = Inside ? &(*At)[Index] : nullptr;
    } else if (At->is_object()) {
      auto Found = At->find(Step.str());
      At = Found == At->end() ? nullptr : &*Found;
    } else {
      At = nullptr;
    }
  }
  return JsonView(At);
}

std::string JsonView::text(llvm::StringRef Path) const {
  JsonView V = at(Path);
  return V.isText() ? get(V.Node)->get<std::string>() : std::string();
}

std::optional<uint64_t> JsonView::count(llvm::StringRef Path) const {
  JsonView V = at(Path);
  if (!V.Node || !get(V.Node)->is_number_unsigned())
    return std::nullopt;
  return get(V.Node)->get<uint64_t>();
}

std::optional<double> JsonView::number(llvm::StringRef Path) const {
  JsonView V = at(Path);
  if (!V.Node || !get(V.Node)->is_number())
    return std::nullopt;
  return get(V.Node)->get<double>();
}

std::string JsonView::word(llvm::StringRef Path) const {
  JsonView V = at(Path);
  if (!V || V.isStructured())
    return "";
  return V.isText() ? V.text() : V.print();
}

std::vector<JsonView> JsonView::elements() const {
  std::vector<JsonView> Result;
  if (Node && get(Node)->is_array())
    for (const json &E : *get(Node))
      Result.push_back(JsonView(&E));
  return Result;
}

std::string JsonView::print() const {
  return Node ? dumpJson(*get(Node)) : std::string();
}

struct JsonDocument::Tree {
  json Root;
};

JsonDocument::JsonDocument(llvm::StringRef Text)
    : Parsed(std::make_unique<Tree>()) {
  Parsed->Root = json::parse(Text.begin(), Text.end(), nullptr, false);
}

JsonDocument::~JsonDocument() = default;

JsonView JsonDocument::root() const {
  return JsonView(Parsed->Root.is_discarded() ? nullptr : &Parsed->Root);
}
