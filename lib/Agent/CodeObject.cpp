//===- CodeObject.cpp - Code in the fields of a JSON object ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeObject.h"
#include "LenientJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

namespace {
class FieldReader {
public:
  void field(std::string Name, const json &Value) {
    std::replace(Name.begin(), Name.end(), '_', ' ');
    std::string Label = llvm::StringRef(Name).lower();
    if (Label == "anchors" || Label == "edits")
      return anchors(Value);
    std::optional<std::string> Text = asText(Value);
    if (!Text)
      return;
    if (Label == "explanation" || Label == "summary" || Label == "notes") {
      Found.Explanation = *Text;
      return;
    }
    bool Code =
        llvm::StringSwitch<bool>(Label)
            .Cases("code", "source", "candidate", "cuda", "kernel", true)
            .Default(false);
    bool Named = llvm::StringRef(Label).starts_with("anchor") ||
                 llvm::StringRef(Label).starts_with("decl") ||
                 llvm::StringRef(Label).contains("file");
    if (Code || Named)
      add(Named ? Label : "", std::move(*Text));
  }

  CodeObject Found;

private:
  /// ["...", "..."], {"1": "..."} or [{"anchor": 1, "text": "..."}]
  void anchors(const json &Value) {
    if (Value.is_object()) {
      for (const auto &[Key, Each] : Value.items())
        field(llvm::StringRef(Key).starts_with("anchor") ? Key
                                                         : "anchor " + Key,
              Each);
      return;
    }
    if (!Value.is_array())
      return;
    for (size_t I = 0; I < Value.size(); ++I)
      anchor(Value[I], unsigned(I) + 1);
  }

  void anchor(const json &Value, unsigned Number) {
    if (Value.is_object()) {
      for (const char *Key : {"anchor", "number", "id"})
        if (Value.contains(Key) && Value[Key].is_number_unsigned())
          Number = Value[Key].get<unsigned>();
      for (const char *Key : {"text", "code", "new_text"})
        if (Value.contains(Key))
          return field("anchor " + std::to_string(Number), Value[Key]);
      return;
    }
    field("anchor " + std::to_string(Number), Value);
  }

  /// Some put a fence into the string, too.
  void add(std::string Label, std::string Text) {
    std::vector<CodeBlock> Inner = findCodeBlocks(Text);
    CodeBlock B;
    B.Label = std::move(Label);
    B.Body = Inner.size() == 1 && Inner.front().isCode() ? Inner.front().Body
                                                         : std::move(Text);
    B.Closed = true;
    if (!llvm::StringRef(B.Body).ends_with("\n"))
      B.Body += '\n';
    Found.Blocks.push_back(std::move(B));
  }
};
} // namespace

/// Nothing unless \p Text begins with an object that can be read.
static CodeObject readObject(llvm::StringRef Text) {
  size_t Used = 0;
  llvm::Expected<std::string> Strict = strictJson(Text, Used);
  if (!Strict) {
    llvm::consumeError(Strict.takeError());
    return {};
  }
  json Object = json::parse(*Strict, nullptr, false);
  FieldReader Reader;
  if (Object.is_object())
    for (const auto &[Key, Value] : Object.items())
      Reader.field(Key, Value);
  return std::move(Reader.Found);
}

CodeObject stark::findCodeObject(llvm::StringRef Answer,
                                 const std::vector<CodeBlock> &Blocks) {
  // Fences in a string of the object are no blocks of the answer.
  if (Answer.trim().starts_with("{")) {
    CodeObject Found = readObject(Answer.trim());
    if (!Found.Blocks.empty())
      return Found;
  }
  for (const CodeBlock &B : Blocks)
    if (B.isJson() && llvm::StringRef(B.Body).trim().starts_with("{")) {
      CodeObject Found = readObject(llvm::StringRef(B.Body).trim());
      if (!Found.Blocks.empty())
        return Found;
    }
  return {};
}
