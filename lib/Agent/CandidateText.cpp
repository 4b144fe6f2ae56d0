//===- CandidateText.cpp - From a reply's code to a whole source ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CandidateText.h"
#include "ReplyText.h"
#include "TextForms.h"
#include "stark/AST/CodeText.h"
#include "stark/AST/Parse.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace stark;

static constexpr llvm::StringLiteral Mark("\xEF\xBB\xBF");

/// Whether most lines of \p Text end in CR LF.
static bool endsLinesWithCrLf(llvm::StringRef Text) {
  return Text.count("\r\n") * 2 > Text.count('\n');
}

/// \p Text, which has LF line ends, with those of \p Base.
static std::string withLineEnds(llvm::StringRef Text, llvm::StringRef Base) {
  if (!endsLinesWithCrLf(Base))
    return Text.str();
  std::string Out;
  for (char C : Text) {
    if (C == '\n')
      Out += '\r';
    Out += C;
  }
  return Out;
}

/// Whether \p Words, which stand alone on a line, say that code is left out:
/// "rest of the kernel unchanged", "existing code here", "omitted for brevity".
static bool standsForCode(llvm::StringRef Words) {
  std::string Lower = Words.lower();
  llvm::StringRef Text = Lower;
  if (Text.size() > 70)
    return false;
  Text.consume_front("the ");
  for (llvm::StringRef Start :
       {"existing code", "previous code", "original code", "remaining code",
        "other code", "same as before", "same as above", "same code",
        "code omitted", "omitted for", "your code", "as before", "no change",
        "(unchanged", "keep the rest", "keep existing", "implementation here"})
    if (Text.starts_with(Start))
      return true;
  if (Text.consume_front("unchanged"))
    return Text.ltrim().empty() || Text.ltrim().starts_with("code") ||
           Text.starts_with(".") || Text.starts_with(")");
  if (!Text.consume_front("rest of ") && !Text.consume_front("remaining ") &&
      !Text.consume_front("remainder of "))
    return false;
  Text.consume_front("the ");
  bool OfCode = false;
  for (llvm::StringRef Part :
       {"code", "file", "kernel", "function", "body", "program", "lines",
        "implementation", "source", "logic", "loop", "class", "struct"})
    OfCode |= Text.consume_front(Part);
  if (!OfCode)
    return false;
  for (llvm::StringRef End :
       {"unchanged", "omitted", "as before", "as above", "the same", "same as",
        "as is", "goes here", "stays here", "remains"})
    if (Text.contains(End))
      return true;
  return false;
}

/// What stands for code: "// ... rest unchanged", "/* existing code */", "...",
/// "x = ...;". Empty when \p Text has none that \p Base has not.
static std::string findElision(llvm::StringRef Text, llvm::StringRef Base) {
  std::string Dots = elidedCode(Text);
  if (!Dots.empty() && !Base.contains(Dots))
    return Dots;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    Line = Line.trim();
    llvm::StringRef Words = Line;
    if (Line == "..." && !Base.contains("..."))
      return Line.str();
    bool Bracketed = Words.starts_with("[") && Words.ends_with("]");
    if (!Bracketed && !Words.consume_front("//") && !Words.consume_front("/*"))
      continue;
    Words = Words.trim(" \t/*[]({<>})");
    bool HasDots = Words.contains("...") || Words.contains("\xE2\x80\xA6");
    bool Stands = Words.starts_with("...") ||
                  Words.starts_with("\xE2\x80\xA6") || standsForCode(Words) ||
                  (Bracketed &&
                   (Line.ends_with(AsAbove) || Line.ends_with(StandBelow) ||
                    Line.ends_with(StandAbove) || Line.ends_with(LikeShown)));
    for (llvm::StringRef Word :
         {"unchanged", "omitted", "same as before", "rest of the code",
          "rest of the file", "rest of the kernel", "rest of the function",
          "existing code", "remaining code", "previous code"})
      Stands |= HasDots && Words.contains_insensitive(Word);
    if (Stands && !Base.contains(Line))
      return Line.str();
  }
  return "";
}

static llvm::Error refuseElision(llvm::StringRef Where, llvm::StringRef Text,
                                 llvm::StringRef Base) {
  std::string Line = findElision(Text, Base);
  if (Line.empty())
    return llvm::Error::success();
  return failed("the " + Where + " leaves code out ('" + shortenUtf8(Line, 80) +
                "'); wanted its complete text");
}

/// An error when \p Text, which takes the place of \p Old, cannot be code: it
/// leaves something out, was cut off, or was typeset. \p Base is all that Old
/// stands in.
static llvm::Error refuse(llvm::StringRef Where, llvm::StringRef Text,
                          llvm::StringRef Old, llvm::StringRef Base) {
  if (looksLikeDiff(Text) && !looksLikeDiff(Base))
    return failed("the " + Where + " is a diff; wanted its complete text");
  if (llvm::Error E = refuseElision(Where, Text, Base))
    return E;
  std::string Strange = strangeCharacter(Text, Base);
  if (!Strange.empty())
    return failed("the " + Where +
                  " is not as a compiler reads it: " + Strange);
  std::string Odd = oddBracket(Text, Old);
  if (!Odd.empty())
    return failed("the " + Where + " is not whole: " + Odd +
                  "; wanted its complete text");
  return llvm::Error::success();
}

static std::string wholeFile(llvm::StringRef Reply, llvm::StringRef Base) {
  // The fence's own line end is not the file's.
  std::string Text = stripMarks(Reply);
  llvm::StringRef Body = llvm::StringRef(Text).ltrim('\n').rtrim();
  std::string Out = Body.str();
  if (Base.empty() || Base.ends_with("\n"))
    Out += '\n';
  Out = withLineEnds(Out, Base);
  if (Base.starts_with(Mark) && !llvm::StringRef(Out).starts_with(Mark))
    Out = Mark.str() + Out;
  return Out;
}

/// An anchor begins at its first token, so the first line's indentation is
/// already there.
static std::string anchorText(llvm::StringRef Reply, llvm::StringRef Base) {
  return withLineEnds(llvm::StringRef(stripMarks(Reply)).trim(), Base);
}

llvm::StringRef stark::plainName(llvm::StringRef Entry) {
  llvm::StringRef Name = Entry.split('<').first;
  size_t At = Name.rfind("::");
  return At == llvm::StringRef::npos ? Name : Name.drop_front(At + 2);
}

/// The whole file of \p Reply; the text of its one anchor, when that defines
/// the entry and the anchor does not.
static const std::string &fileOf(const CodeReply &Reply, llvm::StringRef Base,
                                 const std::vector<Anchor> &Anchors,
                                 llvm::StringRef Entry) {
  if (Reply.WholeFile.empty() && Reply.AnchorTexts.size() == 1 &&
      Anchors.size() == 1 && Reply.Declarations.empty() &&
      definesFunction(Reply.AnchorTexts.front(), Entry) &&
      !definesFunction(
          Base.slice(Anchors.front().Bytes.Begin, Anchors.front().Bytes.End),
          Entry))
    return Reply.AnchorTexts.front();
  return Reply.WholeFile;
}

llvm::Expected<std::string>
stark::makeCandidate(const ParsedSource &Base,
                     const std::vector<Anchor> &Anchors, const CodeReply &Reply,
                     llvm::StringRef Entry) {
  llvm::StringRef Old = Base.text();
  const std::string &Whole = fileOf(Reply, Old, Anchors, plainName(Entry));
  if (!Whole.empty()) {
    std::string File = withoutInvisible(Whole, Old);
    if (llvm::Error E = refuse("file", File, Old, Old))
      return E;
    llvm::StringRef Name = plainName(Entry);
    bool Defined = definesFunction(Old, Name)
                       ? definesFunction(File, Name)
                       : llvm::StringRef(File).contains(Name);
    if (!Defined)
      return failed("the file does not define the entry '" + Entry +
                    "'; wanted the complete text of the file");
    return wholeFile(File, Old);
  }
  std::vector<std::string> Texts;
  for (size_t I = 0; I < Reply.AnchorTexts.size() && I < Anchors.size(); ++I) {
    std::string Text = withoutInvisible(Reply.AnchorTexts[I], Old);
    const Range &Bytes = Anchors[I].Bytes;
    if (llvm::Error E = refuse("text of anchor " + std::to_string(I + 1), Text,
                               Old.slice(Bytes.Begin, Bytes.End), Old))
      return E;
    Texts.push_back(anchorText(Text, Old));
  }
  if (Reply.AnchorTexts.size() != Anchors.size())
    return failed("the answer has " + llvm::Twine(Reply.AnchorTexts.size()) +
                  " anchor texts, wanted " + llvm::Twine(Anchors.size()));
  std::string Declarations = withoutInvisible(Reply.Declarations, Old);
  if (llvm::Error E = refuse("declarations", Declarations, "", Old))
    return E;
  return spliceAnchors(
      Base, Anchors, Texts,
      withLineEnds(llvm::StringRef(stripMarks(Declarations)).trim(), Old));
}
