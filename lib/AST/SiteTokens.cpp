//===- SiteTokens.cpp - Sites that only the tokens show ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Brackets.h"
#include "SiteDraft.h"
#include "SkippedText.h"
#include "SourceTokens.h"
#include "stark/AST/Parse.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

namespace {
class TokenDrafter {
public:
  TokenDrafter(const ParsedSource &Source, SiteDrafts &Into)
      : Source(Source), Tokens(Source.text(), Names),
        Skipped(skippedText(Source)), Into(Into) {}

  void run() {
    for (size_t I = 0; I < Tokens.All.size(); ++I) {
      const SourceToken &T = Tokens.All[I];
      if (startsDefinition(I))
        Macro = Tokens.text(I + 2).str();
      if (T.Kind == SourceToken::EndOfDirective)
        Macro.clear();
      // What a macro's definition holds is listed beside what its uses make.
      if (Macro.empty() && Into.Accounted.count(T.Bytes.Begin))
        continue;
      if (Tokens.is(I, "__global__"))
        kernel(I);
      else if (Tokens.is(I, "<<<"))
        launch(I);
      else if (T.Kind == SourceToken::Word && isLaunchingCall(Tokens.text(I)) &&
               Tokens.is(I + 1, "("))
        call(I);
    }
  }

private:
  bool startsDefinition(size_t I) const {
    return Tokens.All[I].StartsLine && Tokens.is(I, "#") &&
           Tokens.is(I + 1, "define") && I + 2 < Tokens.All.size();
  }

  /// Behind the bracket that closes the one at \p Open, or where a directive
  /// ends before that: its branches may open a bracket each.
  size_t behind(size_t Open) const {
    size_t End = Open;
    while (End < Tokens.All.size() &&
           Tokens.All[End].Kind != SourceToken::EndOfDirective)
      ++End;
    return behindBracket(Tokens, Open, End);
  }

  /// The name before the parameters: the first "word (" that is no attribute.
  void kernel(size_t Start) {
    size_t I = Start + 1, Name = 0;
    for (; I < Tokens.All.size() && I < Start + 200; ++I) {
      llvm::StringRef T = Tokens.text(I);
      if (T == ";" || T == "{" ||
          Tokens.All[I].Kind == SourceToken::EndOfDirective)
        break;
      if (isAttributeWord(T) && Tokens.is(I + 1, "(")) {
        I = behind(I + 1) - 1;
        continue;
      }
      if (T == "(") {
        Name = beforeArguments(I);
        break;
      }
    }
    if (!Name)
      return;
    size_t End = behind(I);
    // Past what may stand between parameters and body.
    while (End < Tokens.All.size() && End < I + 400 && !Tokens.is(End, "{") &&
           !Tokens.is(End, ";") &&
           Tokens.All[End].Kind != SourceToken::EndOfDirective)
      ++End;
    if (Tokens.is(End, "{"))
      End = behind(End);
    std::string Text = Tokens.text(Name).str();
    // A pasted name stands for many.
    if (Name >= 2 && Tokens.is(Name - 1, "##"))
      Text = Tokens.text(Name - 2).str() + "##" + Text;
    add(SiteKind::Kernel, Text, Text, Start, End);
  }

  /// From the "(" of a parameter list to the name, over "<...>".
  size_t beforeArguments(size_t Open) const {
    size_t I = nameBeforeAngles(Tokens, Open - 1);
    return Tokens.All[I].Kind == SourceToken::Word ? I : 0;
  }

  void launch(size_t At) {
    size_t Name = At ? beforeArguments(At) : 0;
    size_t Close = At;
    while (Close < Tokens.All.size() && !Tokens.is(Close, ">>>") &&
           !Tokens.is(Close, ";"))
      ++Close;
    size_t End = Tokens.is(Close + 1, "(") ? behind(Close + 1) : Close + 1;
    std::string Text = Name ? Tokens.text(Name).str() : "";
    add(SiteKind::Launch, "launch", Text, Name ? Name : At,
        std::min(End, Tokens.All.size()));
  }

  void call(size_t At) {
    add(SiteKind::Launch, "launch", Tokens.text(At), At, behind(At + 1));
  }

  void add(SiteKind Kind, llvm::StringRef Stem, llvm::StringRef Name,
           size_t First, size_t End) {
    SiteDraft D;
    D.Kind = Kind;
    D.Stem = Stem;
    D.Name = Name;
    size_t Last = std::max(First, End ? End - 1 : First);
    Last = std::min(Last, Tokens.All.size() - 1);
    D.Bytes = {Tokens.All[First].Bytes.Begin, Tokens.All[Last].Bytes.End};
    D.Line = Tokens.line(D.Bytes.Begin);
    D.EndLine = Tokens.line(D.Bytes.End ? D.Bytes.End - 1 : 0);
    bool Instance = Kind == SiteKind::Kernel && First > 0 &&
                    Tokens.is(First - 1, "template");
    D.Against = Instance ? Obstacle(Obstacle::Instantiation) : against(D);
    Into.All.push_back(std::move(D));
  }

  /// What Clang knows nothing of cannot be edited, whatever the reason.
  Obstacle against(const SiteDraft &D) const {
    if (!Macro.empty())
      return {Obstacle::MacroDefinition, Macro};
    if (isSkipped(Skipped, D.Bytes.Begin))
      return Obstacle::Skipped;
    for (const SourceError &E : Source.errors())
      if (E.Line >= D.Line && E.Line <= D.EndLine)
        return {Obstacle::Unread, E.Message, E.Line};
    if (!Source.errors().empty())
      return {Obstacle::Unread, Source.errors().front().Message};
    return Obstacle::Unread;
  }

  const ParsedSource &Source;
  Spellings Names;
  SourceTokens Tokens;
  std::vector<Range> Skipped;
  SiteDrafts &Into;
  std::string Macro; ///< whose definition is being read
};
} // namespace

void stark::draftFromTokens(const ParsedSource &Source, SiteDrafts &Into) {
  TokenDrafter(Source, Into).run();
}
