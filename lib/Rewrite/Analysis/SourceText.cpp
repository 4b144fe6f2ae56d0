//===- SourceText.cpp - Where nodes stand in a source ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceText.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

/// \p Text with comments blanked.
static std::string withoutComments(const ParsedSource &Source) {
  std::string Code = Source.text().str();
  const SourceManager &SM = Source.unit().getSourceManager();
  Lexer Raw(SM.getLocForStartOfFile(SM.getMainFileID()),
            Source.unit().getLangOpts(), Code.data(), Code.data(),
            Code.data() + Code.size());
  Raw.SetCommentRetentionState(true);
  std::vector<std::pair<size_t, size_t>> Comments;
  for (Token T; !Raw.LexFromRawLexer(T);)
    if (T.is(tok::comment))
      Comments.emplace_back(SM.getFileOffset(T.getLocation()), T.getLength());
  for (auto [Begin, Length] : Comments)
    for (size_t I = Begin; I < Begin + Length && I < Code.size(); ++I)
      if (Code[I] != '\n')
        Code[I] = ' ';
  return Code;
}

SourceText::SourceText(const ParsedSource &Source)
    : Source(Source), Code(withoutComments(Source)) {}

const ASTContext &SourceText::context() const {
  return Source.unit().getASTContext();
}

std::optional<Range> SourceText::range(SourceRange R) const {
  const SourceManager &SM = context().getSourceManager();
  if (R.isInvalid())
    return std::nullopt;
  CharSourceRange Chars = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(R), SM, context().getLangOpts());
  if (Chars.isInvalid() || !SM.isInMainFile(Chars.getBegin()) ||
      !SM.isInMainFile(Chars.getEnd()))
    return std::nullopt;
  Range Bytes{SM.getFileOffset(Chars.getBegin()),
              SM.getFileOffset(Chars.getEnd())};
  if (Bytes.Begin >= Bytes.End)
    return std::nullopt;
  return Bytes;
}

std::optional<Range> SourceText::range(const Stmt *S) const {
  return S ? range(S->getSourceRange()) : std::nullopt;
}

std::optional<Range> SourceText::statementRange(const Stmt *S) const {
  std::optional<Range> R = range(S);
  if (!R || text()[R->End - 1] == '}' || text()[R->End - 1] == ';')
    return R;
  size_t At = R->End;
  while (At < text().size() && llvm::isSpace(text()[At]))
    ++At;
  if (At >= text().size() || text()[At] != ';')
    return std::nullopt;
  R->End = At + 1;
  return R;
}

std::string SourceText::text(Range R) const {
  return text().slice(R.Begin, R.End).str();
}

std::string SourceText::text(const Stmt *S) const {
  std::optional<Range> R = range(S);
  return R ? text(*R) : std::string();
}

std::optional<std::string>
SourceText::textWith(const Stmt *Whole, llvm::ArrayRef<Instead> Nodes) const {
  std::optional<Range> Bytes =
      llvm::isa<Expr>(Whole) ? range(Whole) : statementRange(Whole);
  std::vector<Substitute> Parts;
  for (const auto &[Node, Text] : Nodes) {
    std::optional<Range> R = range(Node);
    if (!Bytes || !R || !Bytes->contains(*R))
      return std::nullopt;
    Parts.push_back({*R, Text});
  }
  return Bytes ? substituted(text(), *Bytes, Parts) : std::nullopt;
}

std::string SourceText::typeName(QualType T) const {
  return T.getUnqualifiedType()
      .getCanonicalType()
      .getUnqualifiedType()
      .getAsString(context().getPrintingPolicy());
}

std::string SourceText::writtenType(QualType T) const {
  return T.getUnqualifiedType().getAsString(context().getPrintingPolicy());
}

unsigned SourceText::lineOf(const Stmt *S) const {
  return context().getSourceManager().getExpansionLineNumber(S->getBeginLoc());
}

/// The beginning of the line of \p Offset.
static size_t lineStart(llvm::StringRef Text, size_t Offset) {
  size_t Before = Text.rfind('\n', Offset);
  return Before == llvm::StringRef::npos ? 0 : std::min(Before + 1, Offset);
}

std::string SourceText::indentAt(size_t Offset) const {
  llvm::StringRef Line = text().slice(lineStart(text(), Offset), Offset);
  return Line.take_while([](char C) { return C == ' ' || C == '\t'; }).str();
}

std::optional<size_t> SourceText::lineBegin(size_t Offset) const {
  size_t Begin = Offset ? lineStart(text(), Offset - 1) : 0;
  if (Offset && text()[Offset - 1] == '\n')
    Begin = Offset;
  if (!text().slice(Begin, Offset).trim().empty())
    return std::nullopt;
  return Begin;
}

bool SourceText::hasDirective(Range R) const {
  llvm::StringRef Left = text().slice(R.Begin, R.End);
  while (!Left.empty()) {
    auto [Line, Rest] = Left.split('\n');
    Left = Rest;
    Line = Line.trim();
    if (Line.consume_front("#")) {
      Line = Line.ltrim();
      if (!Line.consume_front("pragma") || !Line.ltrim().starts_with("unroll"))
        return true;
    }
  }
  return false;
}

std::optional<size_t> SourceText::nameOffset(const NamedDecl *D,
                                             Range Within) const {
  const SourceManager &SM = context().getSourceManager();
  size_t At = SM.getFileOffset(D->getLocation());
  if (!SM.isInMainFile(D->getLocation()) ||
      !Within.contains(Range{At, At + D->getName().size()}))
    return std::nullopt;
  return At;
}

void stark::forEachWord(llvm::StringRef Text, llvm::StringRef Word,
                        llvm::function_ref<void(size_t End)> Found) {
  auto InWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
  for (size_t At = Text.find(Word); At != llvm::StringRef::npos;
       At = Text.find(Word, At + 1)) {
    size_t End = At + Word.size();
    if ((At == 0 || !InWord(Text[At - 1])) &&
        (End >= Text.size() || !InWord(Text[End])))
      Found(End);
  }
}

bool SourceText::hasWord(llvm::StringRef Word) const {
  bool Has = false;
  forEachWord(code(), Word, [&](size_t) { Has = true; });
  return Has;
}

std::string SourceText::freshName(llvm::StringRef Name) const {
  std::string Fresh = Name.str();
  for (unsigned N = 2; hasWord(Fresh); ++N)
    Fresh = (Name + llvm::Twine(N)).str();
  return Fresh;
}

/// What is the same whatever the layout.
static std::string withoutBlanks(llvm::StringRef Text) {
  std::string Words = Text.str();
  llvm::erase_if(Words, [](char C) { return llvm::isSpace(C); });
  return Words;
}

bool SourceText::hasCode(llvm::StringRef Wanted) const {
  std::string Code;
  for (llvm::StringRef Left = Wanted; !Left.empty();) {
    auto [Line, Rest] = Left.split('\n');
    Left = Rest;
    if (!Line.ltrim().starts_with("//"))
      Code += Line;
  }
  return llvm::StringRef(withoutBlanks(code())).contains(withoutBlanks(Code));
}
