//===- CodeReply.cpp - A candidate's code, checked ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///     code = explanation + ("cuda file" | "cuda anchor N"... ["cuda
///            declarations"])
/// Of several blocks with one label the last counts: models correct themselves.
///
//===----------------------------------------------------------------------===//

#include "CodeObject.h"
#include "ReplyText.h"
#include "TextForms.h"
#include "stark/AST/CodeText.h"
#include "stark/Agent/Reply.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <map>

using namespace stark;

namespace {
enum class Part { Unknown, File, Anchor, Declarations };
struct Labelled {
  Part What = Part::Unknown;
  unsigned Number = 0; ///< of an anchor, 0: none given
};
} // namespace

/// Looks at whole words: "anchor 1", "anchor1", "profile" is no "file".
static Labelled parseLabel(llvm::StringRef Label) {
  bool Anchor = false;
  while (!Label.empty()) {
    Label = Label.drop_until(llvm::isAlnum);
    llvm::StringRef Word = Label.take_while(llvm::isAlnum);
    Label = Label.drop_front(Word.size());
    unsigned Number = 0;
    if (Anchor)
      return {Part::Anchor, Word.getAsInteger(10, Number) ? 0 : Number};
    if (Word.consume_front("anchor")) {
      Word.consume_front("s");
      Anchor = Word.empty();
      if (!Anchor)
        return {Part::Anchor, Word.getAsInteger(10, Number) ? 0 : Number};
    }
    for (llvm::StringRef Name :
         {"declaration", "declarations", "decls", "supporting"})
      if (Word == Name)
        return {Part::Declarations};
    for (llvm::StringRef Name : {"file", "whole", "complete", "full"})
      if (Word == Name)
        return {Part::File};
  }
  return {Anchor ? Part::Anchor : Part::Unknown};
}

/// What the line above a block calls it, when it is short like a heading: a
/// sentence that happens to speak of an anchor is no label.
static Labelled labelAbove(const CodeBlock &B) {
  llvm::StringRef Above = llvm::StringRef(B.Above).trim(" #*_:`-");
  return Above.size() > 40 ? Labelled() : parseLabel(Above);
}

static std::string wantedForm(size_t AnchorCount) {
  std::string Anchors =
      AnchorCount == 0   ? ""
      : AnchorCount == 1 ? " or the new text of the anchor in a block labelled "
                           "```cuda anchor 1"
                         : " or the new text of each anchor in blocks "
                           "labelled ```cuda anchor 1 to ```cuda anchor " +
                               std::to_string(AnchorCount);
  return "wanted the whole file in one block labelled ```cuda file" + Anchors;
}

static bool holdsInclude(llvm::StringRef Body) {
  while (!Body.empty()) {
    auto [Line, Rest] = Body.split('\n');
    Line = Line.ltrim();
    if (Line.consume_front("#") && Line.ltrim().starts_with("include"))
      return true;
    Body = Rest;
  }
  return false;
}

static std::string joinNumbers(const std::vector<unsigned> &Numbers) {
  std::string Out;
  for (size_t I = 0; I < Numbers.size() && I < 20; ++I)
    Out += (I ? ", " : "") + std::to_string(Numbers[I]);
  return Numbers.size() > 20 ? Out + ", ..." : Out;
}

/// Numbers from 1, where all of them were counted from 0.
static void countFromOne(std::map<unsigned, std::string> &Texts,
                         size_t AnchorCount) {
  if (Texts.size() != AnchorCount || AnchorCount < 2 || !Texts.count(0) ||
      Texts.rbegin()->first != AnchorCount - 1)
    return;
  std::map<unsigned, std::string> Moved;
  for (auto &[Number, Text] : Texts)
    Moved[Number + 1] = std::move(Text);
  Texts = std::move(Moved);
}

static llvm::Error takeAnchors(std::map<unsigned, std::string> Texts,
                               size_t AnchorCount, CodeReply &Reply) {
  countFromOne(Texts, AnchorCount);
  std::vector<unsigned> Missing, Strange;
  for (unsigned I = 1; I <= AnchorCount; ++I)
    if (!Texts.count(I))
      Missing.push_back(I);
  for (const auto &[Number, Text] : Texts)
    if (Number < 1 || Number > AnchorCount)
      Strange.push_back(Number);
  if (!Strange.empty())
    return failed("the answer has a block for anchor " + joinNumbers(Strange) +
                  ", but there " +
                  (AnchorCount == 1
                       ? "is 1 anchor"
                       : "are " + std::to_string(AnchorCount) + " anchors") +
                  "; " + wantedForm(AnchorCount));
  if (!Missing.empty())
    return failed("the answer has no block for anchor " + joinNumbers(Missing) +
                  "; send one for every anchor, with the old text where "
                  "nothing changes, or the whole file in one block labelled "
                  "```cuda file");
  for (auto &[Number, Text] : Texts)
    Reply.AnchorTexts.push_back(std::move(Text));
  return llvm::Error::success();
}

namespace {
/// What the blocks of an answer are.
struct Choice {
  const CodeBlock *File = nullptr;
  const CodeBlock *Including = nullptr; ///< a file without a label
  const CodeBlock *Defining = nullptr;  ///< and in another language
  std::map<unsigned, std::string> Anchors;
  std::string Declarations;
  size_t CodeBlocks = 0;
  bool HasDiff = false, HasPlan = false;
};
} // namespace

/// A later block is a better version of an earlier one, unless the earlier one
/// alone defines the entry: then the later one only calls it.
static const CodeBlock *better(const CodeBlock *Before, const CodeBlock &B,
                               llvm::StringRef Entry) {
  if (Before && !Entry.empty() && definesFunction(Before->Body, Entry) &&
      !definesFunction(B.Body, Entry))
    return Before;
  return &B;
}

static Choice chooseBlocks(const std::vector<CodeBlock> &Blocks,
                           size_t AnchorCount, llvm::StringRef Entry) {
  Choice C;
  // Once blocks carry labels of their own, the lines above them are prose.
  bool OwnLabels = llvm::any_of(Blocks, [](const CodeBlock &B) {
    return !B.isJson() && parseLabel(B.Label).What != Part::Unknown;
  });
  for (const CodeBlock &B : Blocks) {
    Labelled Own = parseLabel(B.Label);
    C.HasPlan |= B.isJson() && llvm::StringRef(B.Body).contains("\"sites\"");
    C.HasDiff |= B.isDiff();
    // A label says more than a language that is none of C++.
    if (B.isJson() || (!B.isCode() && Own.What == Part::Unknown)) {
      if (!Entry.empty() && !B.isJson() && !B.isDiff() &&
          definesFunction(B.Body, Entry))
        C.Defining = &B;
      continue;
    }
    ++C.CodeBlocks;
    Labelled L = OwnLabels ? Own : labelAbove(B);
    switch (L.What) {
    case Part::File:
      C.File = better(C.File, B, Entry);
      break;
    case Part::Anchor:
      if (L.Number == 0 && AnchorCount == 1)
        L.Number = 1;
      C.Anchors[L.Number] = B.Body;
      break;
    case Part::Declarations:
      C.Declarations = B.Body;
      break;
    case Part::Unknown:
      // Only a whole file has includes and no label.
      if (holdsInclude(B.Body))
        C.Including = better(C.Including, B, Entry);
      break;
    }
  }
  return C;
}

/// Whether all of \p Text, which has no blocks, is code that defines \p Entry.
static bool isBareFile(llvm::StringRef Text, llvm::StringRef Entry) {
  llvm::StringRef Body = Text.trim();
  bool Begins = false;
  for (llvm::StringRef Start :
       {"#include", "#pragma", "#define", "//", "/*", "__global__", "template",
        "namespace", "extern", "static", "using"})
    Begins |= Body.starts_with(Start);
  return Begins && !Entry.empty() &&
         (Body.ends_with("}") || Body.ends_with(";") ||
          Body.ends_with("#endif")) &&
         definesFunction(Body, Entry);
}

/// What an answer is that gives neither a file nor all anchors.
static llvm::Error noCode(const Choice &C, bool NoBlocks, llvm::StringRef Text,
                          size_t AnchorCount) {
  std::string Wanted = "; " + wantedForm(AnchorCount);
  if (!C.Declarations.empty())
    return failed("the answer has declarations, but no block for " +
                  (AnchorCount == 0 ? std::string("the file")
                   : AnchorCount == 1
                       ? std::string("anchor 1")
                       : "anchors 1 to " + std::to_string(AnchorCount)) +
                  Wanted);
  if (C.HasDiff || (NoBlocks && looksLikeDiff(Text)))
    return failed("the answer is a diff" + Wanted);
  if (C.CodeBlocks == 0 && C.HasPlan)
    return failed("the answer is a plan, wanted the code that carries it out" +
                  Wanted);
  for (llvm::StringRef Tag : {"<tool_call", "<function_call", "<invoke "})
    if (C.CodeBlocks == 0 && Text.contains(Tag))
      return failed("the answer calls a tool, and there are none" + Wanted);
  if (C.CodeBlocks == 0)
    return failed("the answer holds no code block" +
                  (NoBlocks ? saying(Text) : "") + Wanted);
  return failed((C.CodeBlocks == 1
                     ? llvm::Twine("the code block does not say what it is")
                     : "none of the " + llvm::Twine(C.CodeBlocks) +
                           " code blocks says what it is") +
                Wanted);
}

llvm::Expected<CodeReply> stark::parseCodeReply(llvm::StringRef Answer,
                                                size_t AnchorCount,
                                                llvm::StringRef Entry) {
  std::string Text = normalizeReply(Answer);
  if (saysNothing(Text))
    return failed("the answer is empty; " + wantedForm(AnchorCount));
  CodeReply Reply;
  std::vector<CodeBlock> Blocks = findCodeBlocks(Text);
  bool Whole = llvm::StringRef(Text).trim().starts_with("{");
  if (Whole ||
      llvm::none_of(Blocks, [](const CodeBlock &B) { return B.isCode(); })) {
    CodeObject Object = findCodeObject(Text, Blocks);
    Reply.Explanation = std::move(Object.Explanation);
    if (!Object.Blocks.empty())
      Blocks = std::move(Object.Blocks);
  }
  if (Reply.Explanation.empty())
    Reply.Explanation = Blocks.empty() ? Text
                                       : llvm::StringRef(Text)
                                             .take_front(Blocks.front().Begin)
                                             .trim()
                                             .str();
  Choice C = chooseBlocks(Blocks, AnchorCount, Entry);
  if (!C.File && C.Anchors.empty())
    C.File = C.Including ? C.Including : C.Defining;
  if (Blocks.empty() && isBareFile(Text, Entry)) {
    Reply.WholeFile = Text;
    return Reply;
  }
  if (C.File) {
    Reply.WholeFile = C.File->Body;
    return Reply;
  }
  if (!C.Anchors.empty()) {
    Reply.Declarations = std::move(C.Declarations);
    if (llvm::Error E = takeAnchors(std::move(C.Anchors), AnchorCount, Reply))
      return E;
    return Reply;
  }
  return noCode(C, Blocks.empty(), Text, AnchorCount);
}
