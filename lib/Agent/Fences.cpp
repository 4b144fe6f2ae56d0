//===- Fences.cpp - Code blocks in a model's Markdown ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fences.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace stark;

namespace {
struct Fence {
  char Mark = 0;
  size_t Length = 0, Indent = 0;
  llvm::StringRef Info;
};
} // namespace

/// Blanks and quotes that models put before a fence.
static llvm::StringRef skipIndent(llvm::StringRef Line) {
  return Line.ltrim(" \t");
}

static std::optional<Fence> parseFence(llvm::StringRef Line) {
  llvm::StringRef Rest = skipIndent(Line);
  Fence F;
  F.Indent = Line.size() - Rest.size();
  if (Rest.empty() || (Rest[0] != '`' && Rest[0] != '~'))
    return std::nullopt;
  F.Mark = Rest[0];
  F.Length = std::min(Rest.find_first_not_of(F.Mark), Rest.size());
  F.Info = Rest.drop_front(F.Length).trim();
  // "```code```" on one line is no fence.
  if (F.Length < 3 || (F.Mark == '`' && F.Info.contains('`')))
    return std::nullopt;
  return F;
}

static bool isProseLanguage(llvm::StringRef Language) {
  return Language == "markdown" || Language == "md";
}

bool CodeBlock::isCode() const {
  return llvm::StringSwitch<bool>(Language)
      .Cases("", "cuda", "cu", "cuh", "cpp", "c++", true)
      .Cases("cc", "cxx", "c", "h", "hpp", "anchor", true)
      .Cases("declarations", "file", "cuda-cpp", "cuda_cpp", "code", true)
      .Default(false);
}

bool CodeBlock::isJson() const {
  return Language == "json" || Language == "jsonc" || Language == "json5";
}

/// "cuda anchor 1", "cuda:anchor-1", "{.cuda anchor=1}": language and label.
static void parseInfo(llvm::StringRef Info, CodeBlock &B) {
  std::string Lower = Info.lower();
  llvm::StringRef Rest = llvm::StringRef(Lower).trim("{} \t");
  Rest.consume_front(".");
  size_t End = Rest.find_first_of(" \t:,;{=(");
  B.Language = Rest.take_front(End).str();
  B.Label =
      Rest.size() > End ? Rest.drop_front(End).trim(" \t:,;{=()}").str() : "";
  // "```anchor 1", "```declarations": the label without a language.
  for (llvm::StringRef Name : {"anchor", "declarations", "file"})
    if (llvm::StringRef(B.Language).starts_with(Name)) {
      B.Label = Rest.str();
      B.Language.clear();
    }
}

static llvm::StringRef dropIndent(llvm::StringRef Line, size_t Indent) {
  while (Indent-- && !Line.empty() && (Line[0] == ' ' || Line[0] == '\t'))
    Line = Line.drop_front();
  return Line;
}

/// Code that holds "&lt;" and no '<' at all went through an HTML writer.
static void unescapeHtml(std::string &Body) {
  if (Body.find("&lt;") == std::string::npos ||
      Body.find('<') != std::string::npos)
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

std::vector<CodeBlock> stark::findCodeBlocks(llvm::StringRef Text) {
  std::vector<CodeBlock> Blocks;
  std::optional<CodeBlock> Open;
  Fence By;
  llvm::StringRef Above;
  auto Close = [&](size_t End, bool Closed) {
    Open->End = End;
    Open->Closed = Closed;
    unescapeHtml(Open->Body);
    // What an unwrapped Markdown fence leaves at its end.
    if (!llvm::StringRef(Open->Body).trim().empty())
      Blocks.push_back(std::move(*Open));
    Open.reset();
    Above = "";
  };
  for (size_t At = 0; At < Text.size();) {
    size_t End = std::min(Text.find('\n', At), Text.size());
    llvm::StringRef Line = Text.slice(At, End);
    size_t Next = std::min(End + 1, Text.size());
    std::optional<Fence> F = parseFence(Line);
    if (Open && F && F->Mark == By.Mark && F->Length >= By.Length &&
        F->Info.empty()) {
      Close(Next, true);
    } else if (Open && !(F && F->Mark == By.Mark && F->Length == By.Length)) {
      Open->Body += dropIndent(Line, By.Indent);
      Open->Body += '\n';
    } else if (F) {
      // No line of CUDA reads "```cuda": the closing fence was forgotten.
      if (Open)
        Close(At, false);
      CodeBlock B;
      parseInfo(F->Info, B);
      // A fence around prose is looked through.
      if (!isProseLanguage(B.Language)) {
        B.Begin = At;
        B.Above = Above.lower();
        By = *F;
        Open = std::move(B);
      }
    } else if (!Line.trim().empty()) {
      Above = Line.trim().take_front(200);
    }
    At = Next;
  }
  if (Open)
    Close(Text.size(), false);
  return Blocks;
}

std::string stark::normalizeReply(llvm::StringRef Text) {
  Text.consume_front("\xEF\xBB\xBF");
  // Some servers leave the model's thinking in the text, and some templates
  // leave out the opening tag. Only its last end matters.
  for (llvm::StringRef Tag : {"</think>", "</thinking>"})
    if (size_t At = Text.rfind(Tag); At != llvm::StringRef::npos)
      Text = Text.drop_front(At + Tag.size());
  std::string Valid = repairUtf8(Text);
  std::string Out;
  Out.reserve(Valid.size());
  for (size_t I = 0; I < Valid.size(); ++I) {
    char C = Valid[I];
    if (C == '\r' && I + 1 < Valid.size() && Valid[I + 1] == '\n')
      continue;
    if (C != '\0')
      Out += C == '\r' ? '\n' : C;
  }
  return Out;
}
