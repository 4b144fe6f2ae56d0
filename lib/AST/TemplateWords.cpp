//===- TemplateWords.cpp - `template` where nvcc does without it ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TemplateWords.h"
#include "stark/Support/File.h"
#include "clang/Basic/DiagnosticParse.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace stark;
using llvm::StringRef;

static bool isNameChar(char C) { return llvm::isAlnum(C) || C == '_'; }

static StringRef nameAt(StringRef Text) { return Text.take_while(isNameChar); }

/// Whether a name at byte \p At of \p Text is a member's, followed by what may
/// be arguments of a template.
static bool mayLackIt(StringRef Text, size_t At) {
  StringRef Name = nameAt(Text.substr(At));
  StringRef Before = Text.take_front(At).rtrim(),
            After = Text.substr(At + Name.size()).ltrim();
  return !Name.empty() && !llvm::isDigit(Name.front()) && Name != "template" &&
         After.starts_with("<") && !After.starts_with("<<") &&
         (Before.ends_with("::") || Before.ends_with("->") ||
          Before.ends_with("."));
}

/// The bytes of `<...>` at the beginning of \p Text, or none.
static size_t argumentsAt(StringRef Text) {
  size_t Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] == '<' || Text[I] == '(')
      ++Depth;
    else if (Text[I] == ')' || (Text[I] == '>' && Text[I - 1] != '-')) {
      if (--Depth == 0)
        return I + 1;
    } else if (Text[I] == ';' || Text[I] == '{')
      break;
  }
  return 0;
}

/// The name that lacks the word in the qualified one that begins at \p At or
/// that is the last of one: `a<b>::c<d>`.
static std::optional<size_t> placeIn(StringRef Text, size_t At) {
  while (At < Text.size()) {
    if (mayLackIt(Text, At))
      return At;
    size_t Next = At + nameAt(Text.substr(At)).size();
    Next += Text.substr(Next).size() - Text.substr(Next).ltrim().size();
    if (Text.substr(Next).starts_with("<"))
      Next += argumentsAt(Text.substr(Next));
    Next += Text.substr(Next).size() - Text.substr(Next).ltrim().size();
    StringRef Rest = Text.substr(Next);
    if (!Rest.consume_front("::") && !Rest.consume_front("->") &&
        !Rest.consume_front("."))
      return std::nullopt;
    At = Text.size() - Rest.ltrim().size();
  }
  return std::nullopt;
}

void stark::noteLackedWord(const clang::Diagnostic &Info, LackedWords &Lacked) {
  if (Info.getID() != clang::diag::err_ovl_unresolvable &&
      Info.getID() != clang::diag::err_template_kw_missing &&
      Info.getID() != clang::diag::err_missing_dependent_template_keyword)
    return;
  if (!Info.hasSourceManager() || Info.getLocation().isInvalid() ||
      Info.getLocation().isMacroID())
    return;
  const clang::SourceManager &SM = Info.getSourceManager();
  auto [Id, At] = SM.getDecomposedLoc(Info.getLocation());
  clang::OptionalFileEntryRef File = SM.getFileEntryRefForID(Id);
  if (!File || Id == SM.getMainFileID())
    return;
  if (std::optional<size_t> Place = placeIn(SM.getBufferData(Id), At))
    Lacked[absolutePath(File->getName())].insert(*Place);
}

std::string stark::withTemplateWords(StringRef Text,
                                     const std::set<size_t> &Places) {
  std::string Out;
  size_t Done = 0;
  for (size_t Place : Places) {
    Out += Text.slice(Done, Place);
    Out += "template ";
    Done = Place;
  }
  return Out + Text.substr(Done).str();
}
