//===- HalvesLaunches.cpp - Launches that g++ compiles -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalvesLaunches.h"
#include "Brackets.h"
#include "HalvesText.h"
#include "SkippedText.h"
#include "stark/AST/Walk.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include <map>

using namespace stark;
using namespace clang;

namespace {
/// Where a launch is spelled; several expansions of a macro spell one.
struct Launch {
  std::optional<size_t> Callee; ///< unless it is spelled in another place
  std::optional<size_t> End;    ///< of the configuration: its `>>>`
  bool Same = true;             ///< wherever it is expanded
};

class LaunchReader : public Walker {
public:
  explicit LaunchReader(const ParsedSource &Source)
      : SM(Source.unit().getSourceManager()) {
    walk(Source);
  }

  bool onStmt(Stmt *S) override {
    auto *Call = dyn_cast<CUDAKernelCallExpr>(S);
    if (!Call || !Call->getConfig())
      return true;
    std::optional<size_t> Begin = spelled(Call->getConfig()->getBeginLoc());
    if (!Begin)
      return true;
    Launch New{spelled(Call->getCallee()->getBeginLoc()),
               spelled(Call->getConfig()->getRParenLoc())};
    auto [At, First] = All.emplace(*Begin, New);
    if (!First)
      At->second.Same &=
          At->second.Callee == New.Callee && At->second.End == New.End;
    return true;
  }

  std::map<size_t, Launch> All; ///< by the offset of `<<<`

private:
  std::optional<size_t> spelled(SourceLocation L) const {
    SourceLocation At = SM.getSpellingLoc(L);
    if (At.isInvalid() || !SM.isInMainFile(At))
      return std::nullopt;
    return SM.getFileOffset(At);
  }
  const SourceManager &SM;
};

class LaunchEditor {
public:
  LaunchEditor(const ParsedSource &Source, const SourceTokens &T)
      : Launches(Source), T(T) {}

  /// Of the launch whose `<<<` is the token \p Open. False: not understood.
  bool edit(size_t Open);
  std::vector<Edit> Edits;

private:
  /// The callee's first token, or \p Open when it is not in one place.
  size_t calleeOf(size_t Open, const Launch &L) const;
  LaunchReader Launches;
  const SourceTokens &T;
};
} // namespace

size_t LaunchEditor::calleeOf(size_t Open, const Launch &L) const {
  if (L.Same && L.Callee && *L.Callee < T.All[Open].Bytes.Begin) {
    size_t First = T.firstAt(*L.Callee);
    bool Together = First < Open;
    for (size_t I = First; I < Open; ++I)
      Together &= T.All[I].InDirective == T.All[Open].InDirective &&
                  T.All[I].Kind != SourceToken::EndOfDirective &&
                  !T.is(I, ";") && !T.is(I, "{") && !T.is(I, "}");
    if (Together)
      return First;
  }
  // The callee is a macro's parameter, then.
  bool Alone = Open >= 2 && T.All[Open].InDirective &&
               T.All[Open - 1].Kind == SourceToken::Word;
  for (const char *Joined : {"::", ".", "->", "##", "template"})
    Alone &= !T.is(Open - 2, Joined);
  return Alone ? Open - 1 : Open;
}

bool LaunchEditor::edit(size_t Open) {
  auto It = Launches.All.find(T.All[Open].Bytes.Begin);
  if (It == Launches.All.end() || !It->second.End)
    return false;
  size_t Close = T.firstAt(*It->second.End);
  size_t Callee = calleeOf(Open, It->second);
  if (Callee == Open || Close <= Open || !T.is(Close, ">>>") ||
      !T.is(Close + 1, "("))
    return false;
  size_t End = behindBracket(T, Close + 1, T.All.size());
  if (End >= T.All.size() + 1 || !T.is(End - 1, ")"))
    return false;
  for (size_t I = Callee; I < End; ++I)
    if (T.All[I].InDirective != T.All[Open].InDirective ||
        T.All[I].Kind == SourceToken::EndOfDirective)
      return false;
  std::string Configuration;
  for (size_t I = Open + 1; I < Close; ++I)
    Configuration += (I > Open + 1 ? " " : "") + T.text(I).str();
  size_t First = T.All[Callee].Bytes.Begin, Last = T.All[End - 1].Bytes.End;
  Range Old{T.All[Open].Bytes.Begin, T.All[Close].Bytes.End};
  Edits.push_back(
      {{First, First},
       "(__cudaPushCallConfiguration(" + Configuration + ") ? (void)0 : "});
  Edits.push_back({Old, lineBreaks(T.source().slice(Old.Begin, Old.End))});
  Edits.push_back({{Last, Last}, ")"});
  return true;
}

std::optional<std::vector<Edit>>
stark::launchEdits(const ParsedSource &Source, const SourceTokens &Tokens,
                   const std::vector<Range> &Blanked, std::string &WhyNot) {
  std::vector<Range> Skipped = skippedText(Source);
  LaunchEditor Editor(Source, Tokens);
  for (size_t I = 0; I < Tokens.All.size(); ++I) {
    size_t At = Tokens.All[I].Bytes.Begin;
    bool Gone = isSkipped(Skipped, At);
    for (const Range &R : Blanked)
      Gone |= R.Begin <= At && At < R.End && !Tokens.All[I].InDirective;
    if (Gone || !Tokens.is(I, "<<<"))
      continue;
    if (!Editor.edit(I)) {
      WhyNot = "the launch in line " + std::to_string(Tokens.line(At)) +
               " is not written in one piece";
      return std::nullopt;
    }
  }
  return std::move(Editor.Edits);
}
