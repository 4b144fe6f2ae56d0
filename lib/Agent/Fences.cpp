//===- Fences.cpp - Code blocks in a model's Markdown ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fences.h"
#include "ReplyText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace stark;

namespace {
struct Fence {
  char Mark = 0;
  size_t Length = 0, Indent = 0;
  unsigned Quotes = 0; ///< '>' before it, as in a mail that is quoted
  llvm::StringRef Info;
};
} // namespace

/// \p Line without up to \p Most signs of quotation; \p Had is how many it had.
static llvm::StringRef skipQuotes(llvm::StringRef Line, unsigned Most,
                                  unsigned &Had) {
  for (Had = 0; Had < Most; ++Had) {
    llvm::StringRef Rest = Line.ltrim(" ");
    if (!Rest.consume_front(">"))
      break;
    Rest.consume_front(" ");
    Line = Rest;
  }
  return Line;
}

/// \p Line without blanks, and the sign of a list's item that a block begins.
static llvm::StringRef skipIndent(llvm::StringRef Line) {
  Line = Line.ltrim(" \t");
  llvm::StringRef Item = Line;
  if (!Item.consume_front("- ") && !Item.consume_front("* ")) {
    Item = Item.ltrim("0123456789");
    if (Item.size() == Line.size() ||
        !(Item.consume_front(". ") || Item.consume_front(") ")))
      return Line;
  }
  Item = Item.ltrim(" ");
  return Item.starts_with("```") || Item.starts_with("~~~") ? Item : Line;
}

static std::optional<Fence> parseFence(llvm::StringRef Line) {
  Fence F;
  Line = skipQuotes(Line, 4, F.Quotes);
  llvm::StringRef Rest = skipIndent(Line);
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
  // Some put the file's name there.
  llvm::StringRef Name = Language;
  for (llvm::StringRef End : {".cu", ".cuh", ".cpp", ".h"})
    if (Name.ends_with(End))
      return true;
  return llvm::StringSwitch<bool>(Language)
      .Cases("", "cuda", "cu", "cuh", "cpp", "c++", true)
      .Cases("cc", "cxx", "c", "h", "hpp", "anchor", true)
      .Cases("declarations", "file", "cuda-cpp", "cuda_cpp", "code", true)
      .Default(false);
}

bool CodeBlock::isJson() const {
  return Language == "json" || Language == "jsonc" || Language == "json5";
}

bool CodeBlock::isDiff() const {
  return Language == "diff" || Language == "patch" || Language == "udiff" ||
         looksLikeDiff(Body);
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

std::vector<CodeBlock> stark::findCodeBlocks(llvm::StringRef Text) {
  std::vector<CodeBlock> Blocks;
  std::optional<CodeBlock> Open;
  Fence By;
  llvm::StringRef Above;
  auto Close = [&](size_t End, bool Closed) {
    Open->End = End;
    Open->Closed = Closed;
    Open->Body = codeAsMeant(std::move(Open->Body));
    // What an unwrapped Markdown fence leaves at its end.
    if (!llvm::StringRef(Open->Body).trim().empty())
      Blocks.push_back(std::move(*Open));
    Open.reset();
    Above = "";
  };
  for (size_t At = 0; At < Text.size();) {
    size_t End = std::min(Text.find('\n', At), Text.size());
    llvm::StringRef Line = Text.slice(At, End);
    if (unsigned Had; Open)
      Line = skipQuotes(Line, By.Quotes, Had);
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
