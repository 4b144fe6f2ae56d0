//===- LenientJson.cpp - JSON as models write it --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LenientJson.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <nlohmann/json.hpp>

using namespace stark;

static constexpr unsigned MaxDepth = 32;

/// The quotation mark that ends what begins at \p At: one of JSON, of Python,
/// or of who set it in type; empty when none begins there.
static llvm::StringRef closingQuote(llvm::StringRef Text, size_t At) {
  llvm::StringRef Rest = Text.substr(At);
  if (Rest.starts_with("\""))
    return "\"";
  if (Rest.starts_with("'"))
    return "'";
  return Rest.starts_with("\xE2\x80\x9C") ? "\xE2\x80\x9D" : "";
}

/// Copies the string that begins at \p At and ends with \p Quote, and returns
/// where it ends; npos when it does not.
static size_t copyString(llvm::StringRef Text, size_t At, llvm::StringRef Quote,
                         std::string &Out) {
  Out += '"';
  for (size_t I = At + Quote.size(); I < Text.size(); ++I) {
    unsigned char C = (unsigned char)Text[I];
    if (Text.substr(I).starts_with(Quote)) {
      Out += '"';
      return I + Quote.size();
    }
    if (C == '"') {
      Out += "\\\"";
      continue;
    }
    if (C == '\\') {
      char Next = I + 1 < Text.size() ? Text[I + 1] : 0;
      if (llvm::StringRef("\"\\/bfnrt").contains(Next) && Next) {
        Out += '\\';
        Out += Next;
        ++I;
      } else if (Next == '\'') {
        Out += Next;
        ++I;
      } else if (Next == 'u' && I + 5 < Text.size() &&
                 llvm::all_of(Text.substr(I + 2, 4), llvm::isHexDigit)) {
        Out += Text.substr(I, 6);
        I += 5;
      } else if (Next == '\n') {
        Out += "\\n"; // a line continued as in C
        ++I;
      } else {
        Out += "\\\\"; // a lone backslash, as in Windows paths and macros
      }
      continue;
    }
    if (C == '\n')
      Out += "\\n";
    else if (C == '\t')
      Out += "\\t";
    else if (C < 0x20)
      Out += ' ';
    else
      Out += char(C);
  }
  return llvm::StringRef::npos;
}

/// Past the comment that begins at \p At, or \p At when none does.
static size_t skipComment(llvm::StringRef Text, size_t At) {
  llvm::StringRef Rest = Text.substr(At);
  if (Rest.starts_with("//"))
    return std::min(Text.find('\n', At), Text.size());
  if (Rest.starts_with("/*")) {
    size_t End = Text.find("*/", At + 2);
    return End == llvm::StringRef::npos ? Text.size() : End + 2;
  }
  return At;
}

/// A name without quotes, or a value as Python writes it.
static std::string quotedWord(llvm::StringRef Word) {
  if (Word == "true" || Word == "false" || Word == "null")
    return Word.str();
  if (Word == "None" || Word == "undefined")
    return "null";
  if (Word == "True" || Word == "False")
    return Word.lower();
  return ("\"" + Word + "\"").str();
}

llvm::Expected<std::string> stark::strictJson(llvm::StringRef Text,
                                              size_t &Used) {
  std::string Out, Closers;
  for (size_t I = 0; I < Text.size();) {
    if (size_t After = skipComment(Text, I); After != I) {
      I = After;
      continue;
    }
    char C = Text[I];
    if (llvm::isAlpha(C) || C == '_') {
      llvm::StringRef Word = Text.substr(I).take_while(
          [](char W) { return llvm::isAlnum(W) || W == '_'; });
      // The e of a number belongs to it.
      bool InNumber = !Out.empty() && llvm::isDigit(Out.back());
      Out += InNumber ? Word.str() : quotedWord(Word);
      I += Word.size();
      continue;
    }
    if (llvm::StringRef Quote = closingQuote(Text, I); !Quote.empty()) {
      I = copyString(Text, I, Quote, Out);
      if (I == llvm::StringRef::npos)
        return failed("a string in the JSON object is not closed");
      continue;
    }
    ++I;
    if (C == '{' || C == '[') {
      Closers += C == '{' ? '}' : ']';
      if (Closers.size() > MaxDepth)
        return failed("the JSON object is nested more than " +
                      llvm::Twine(MaxDepth) + " deep");
    }
    if (C == '}' || C == ']') {
      if (Closers.empty() || Closers.back() != C)
        return failed(llvm::Twine("the JSON object has a '") + llvm::Twine(C) +
                      "' that closes nothing");
      Closers.pop_back();
      // A trailing comma.
      size_t Last = Out.find_last_not_of(" \t\n\r");
      if (Last != std::string::npos && Out[Last] == ',')
        Out.erase(Last);
    }
    Out += C;
    if (Closers.empty()) {
      Used = I;
      return Out;
    }
  }
  return failed("the JSON object is not closed");
}

std::optional<std::string> stark::asText(const nlohmann::json &Value) {
  if (Value.is_string())
    return Value.get<std::string>();
  if (!Value.is_array())
    return std::nullopt;
  std::string Text;
  for (const nlohmann::json &Line : Value) {
    if (!Line.is_string())
      return std::nullopt;
    Text += (Text.empty() ? "" : "\n") + Line.get<std::string>();
  }
  return Text;
}
