//===- ReplyText.cpp - What happened to a reply on its way ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplyText.h"
#include "stark/AST/CodeText.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <optional>

using namespace stark;

/// Whether \p Word stands in \p Text without '&' before it, as a name does.
static bool namesWord(llvm::StringRef Text, llvm::StringRef Word) {
  for (size_t At = Text.find(Word); At != llvm::StringRef::npos;
       At = Text.find(Word, At + 1)) {
    auto IsWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
    char Before = At ? Text[At - 1] : ' ';
    char After = At + Word.size() < Text.size() ? Text[At + Word.size()] : ' ';
    if (!IsWord(Before) && Before != '&' && !IsWord(After))
      return true;
  }
  return false;
}

/// Whether \p Entity stands in \p Text outside of strings.
static bool standsInCode(llvm::StringRef Text, llvm::StringRef Entity) {
  for (size_t At = Text.find(Entity); At != llvm::StringRef::npos;
       At = Text.find(Entity, At + 1)) {
    size_t Line = Text.rfind('\n', At) + 1;
    if (Text.slice(Line, At).count('"') % 2 == 0)
      return true;
  }
  return false;
}

/// Code that holds "&lt;" went through an HTML writer, unless it has an lt
/// whose address that could be.
static void unescapeHtml(std::string &Body) {
  llvm::StringRef Text = Body;
  bool Escaped = false, Mixed = Text.contains('<');
  for (llvm::StringRef Name : {"lt", "gt", "amp", "quot"}) {
    std::string Entity = ("&" + Name + ";").str();
    bool Has = Mixed ? standsInCode(Text, Entity) : Text.contains(Entity);
    if (Has && namesWord(Text, Name))
      return;
    Escaped |= Has && Name != "amp";
  }
  if (!Escaped)
    return;
  static constexpr std::pair<const char *, char> Entities[] = {{"&lt;", '<'},
                                                               {"&gt;", '>'},
                                                               {"&quot;", '"'},
                                                               {"&#39;", '\''},
                                                               {"&amp;", '&'}};
  std::string Out;
  for (llvm::StringRef Rest = Body; !Rest.empty();) {
    bool Found = false;
    for (const auto &[Name, Char] : Entities)
      if (Rest.consume_front(Name)) {
        Out += Char;
        Found = true;
        break;
      }
    if (!Found) {
      Out += Rest[0];
      Rest = Rest.drop_front();
    }
  }
  Body = std::move(Out);
}

/// Behind the number \p Wanted and what parts it from the code, as editors
/// print it; unset when \p Line does not begin so.
static std::optional<llvm::StringRef> skipNumber(llvm::StringRef Line,
                                                 unsigned Wanted) {
  Line = Line.ltrim(" ");
  unsigned Number = 0;
  if (Line.consumeInteger(10, Number) || Number != Wanted)
    return std::nullopt;
  if (Line.empty() || Line.consume_front("\t"))
    return Line;
  llvm::StringRef Rest = Line.ltrim(" ");
  if (Rest.consume_front("|") || Rest.consume_front(":") ||
      Rest.consume_front("\xE2\x94\x82")) { // a drawn bar
    Rest.consume_front(" ");
    return Rest;
  }
  if (!Line.consume_front(" "))
    return std::nullopt;
  return Line;
}

/// Takes the numbers of lines away when every line has its own.
static void dropLineNumbers(std::string &Body) {
  llvm::StringRef Rest = llvm::StringRef(Body).rtrim();
  unsigned First = 0, Count = 0;
  if (Rest.ltrim(" ").consumeInteger(10, First))
    return;
  std::string Out;
  while (!Rest.empty()) {
    auto [Line, After] = Rest.split('\n');
    std::optional<llvm::StringRef> Code = skipNumber(Line, First + Count++);
    if (!Code)
      return;
    Out += (*Code + "\n").str();
    Rest = After;
  }
  if (Count > 2)
    Body = std::move(Out);
}

bool stark::saysNothing(llvm::StringRef Text) {
  return llvm::StringRef(withoutInvisible(Text, "")).trim().empty();
}

std::string stark::codeAsMeant(std::string Body) {
  unescapeHtml(Body);
  dropLineNumbers(Body);
  return Body;
}

bool stark::looksLikeDiff(llvm::StringRef Text) {
  bool Old = false, Search = false;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (Line.starts_with("@@ ") || Line.rtrim() == "@@" ||
        Line.starts_with("*** Begin Patch") ||
        (Old && Line.starts_with("+++ ")))
      return true;
    Old = Line.starts_with("--- ");
    Search |= Line.starts_with("<<<<<<<");
    if (Search && Line.starts_with(">>>>>>>"))
      return true;
  }
  return false;
}

/// Some servers leave the model's thinking in the text, before the answer or
/// behind it, and some templates leave out the opening tag.
static std::string withoutThinking(llvm::StringRef Text) {
  std::string Out;
  while (true) {
    size_t At = llvm::StringRef::npos;
    llvm::StringRef Found;
    bool Opens = false;
    for (llvm::StringRef Name : {"think", "thinking", "reasoning", "thought"})
      for (bool Closing : {false, true}) {
        std::string Tag = ((Closing ? "</" : "<") + Name + ">").str();
        if (size_t Place = Text.find(Tag); Place < At) {
          At = Place;
          Found = Name;
          Opens = !Closing;
        }
      }
    if (At == llvm::StringRef::npos)
      return Out + Text.str();
    size_t End = Text.find(("</" + Found + ">").str(), At);
    if (End == llvm::StringRef::npos) {
      // It was never ended: what is in it may be the answer.
      Out += Text.take_front(At);
      Text = Text.drop_front(At + Found.size() + 2);
      continue;
    }
    if (Opens)
      Out += Text.take_front(At);
    else
      Out.clear();
    Text = Text.drop_front(End + Found.size() + 3);
  }
}

std::string stark::normalizeReply(llvm::StringRef Text) {
  Text.consume_front("\xEF\xBB\xBF");
  std::string Valid = repairUtf8(withoutThinking(Text));
  std::string Out;
  Out.reserve(Valid.size());
  for (size_t I = 0; I < Valid.size(); ++I) {
    char C = Valid[I];
    // What colours text on a terminal.
    if (C == '\x1b' && I + 1 < Valid.size() && Valid[I + 1] == '[') {
      size_t End = Valid.find_first_not_of("0123456789;", I + 2);
      I = std::min(End, Valid.size() - 1);
      continue;
    }
    if (C == '\r' && I + 1 < Valid.size() && Valid[I + 1] == '\n')
      continue;
    if (C != '\0')
      Out += C == '\r' ? '\n' : C;
  }
  return Out;
}
