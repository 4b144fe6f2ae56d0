//===- CodeReach.cpp - What of a source an entry reaches, without Clang ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   source := ( directive | declaration | wrapper "{" | "}" )*
//   wrapper := [ "inline" ] "namespace" ... | "extern" STRING
//
// A declaration ends with ";", or as a function does, with "}".
//
//===----------------------------------------------------------------------===//

#include "stark/Support/CodeReach.h"
#include "stark/Support/CodeTokens.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using llvm::StringRef;

namespace {
/// A part of the source. One with a name may be left out.
struct Part {
  TokenRange Place;
  std::string Name;
  enum { Plain, Opening, Closing } Kind = Plain; ///< of a wrapper
  bool IsKept = false;
};

class PartFinder {
public:
  explicit PartFinder(StringRef Text) : Text(Text), Tokens(codeTokens(Text)) {}

  /// Unset where the parts cannot be told.
  std::optional<std::vector<Part>> run() {
    while (Good && At < Tokens.size()) {
      Part P;
      P.Place.First = At;
      size_t Outside = Wrappers;
      if (Tokens[At].InDirective)
        directive();
      else if (is(At, "}"))
        closeWrapper();
      else
        P.Name = declaration();
      P.Kind = Wrappers > Outside   ? Part::Opening
               : Wrappers < Outside ? Part::Closing
                                    : Part::Plain;
      P.Place.Last = At;
      Parts.push_back(std::move(P));
    }
    if (!Good || Wrappers || !Conditions.empty())
      return std::nullopt;
    return std::move(Parts);
  }

  const std::vector<CodeToken> &tokens() const { return Tokens; }

  /// The token that is the name of the function of which \p P is a prototype:
  /// its parameters, without defaults, are all that stands behind.
  std::optional<size_t> prototypeName(const Part &P) const {
    auto [First, Last] = P.Place;
    size_t Open = First;
    for (size_t I = First; I < Last; ++I) {
      if (Tokens[I].InDirective || is(I, "{") || is(I, "="))
        return std::nullopt;
      if (Open == First && is(I, "("))
        Open = I;
    }
    bool IsOne = P.Kind == Part::Plain && is(Last - 1, ";") &&
                 Open > First + 1 && isWord(Open - 1) && !isTypeAt(First);
    return IsOne ? std::optional(Open - 1) : std::nullopt;
  }

private:
  StringRef word(size_t I) const {
    return I < Tokens.size() ? Text.slice(Tokens[I].Begin, Tokens[I].End) : "";
  }
  bool is(size_t I, StringRef What) const { return word(I) == What; }
  bool isWord(size_t I) const {
    return I < Tokens.size() && Tokens[I].Kind == CodeToken::Word;
  }

  /// Each branch of a condition leaves as many brackets open as it found.
  void directive() {
    StringRef Which = word(At + 1);
    if (Which.starts_with("if"))
      Conditions.push_back(Depth);
    else if (Which.starts_with("el") || Which == "endif")
      Good &= !Conditions.empty() && Conditions.back() == Depth;
    if (Which == "endif" && Good)
      Conditions.pop_back();
    for (; Tokens[At].Kind != CodeToken::EndOfDirective; ++At)
      Good &= !(is(At, "#") && is(At + 1, "#"));
    ++At;
  }

  void closeWrapper() {
    Good &= Wrappers > 0;
    --Wrappers;
    --Depth;
    ++At;
  }

  /// Steps over one token, or a directive.
  void step() {
    if (Tokens[At].InDirective)
      return directive();
    if (Tokens[At].Kind == CodeToken::Punctuator) {
      StringRef P = word(At);
      Depth += P == "(" || P == "[" || P == "{";
      Depth -= P == ")" || P == "]" || P == "}";
    }
    ++At;
  }

  /// Steps over a declaration; the name of a function that is defined and may
  /// be left out.
  std::string declaration() {
    size_t First = At, Outside = Depth;
    std::optional<std::string> Function;
    if (is(At, "{"))
      Good = false; // of what is not understood
    while (Good && At < Tokens.size()) {
      bool Opens = Depth == Outside && is(At, "{");
      if (Opens && isWrapper(First)) {
        ++Wrappers;
        step();
        return "";
      }
      if (Opens && !Function && !hasAssignment(First) && !isType(First) &&
          has(First, "("))
        Function = nameOf(First);
      bool Ends = Depth == Outside && is(At, ";");
      bool Closes = Depth == Outside + 1 && is(At, "}");
      step();
      if (Ends)
        return "";
      if (Closes && Function)
        return *Function;
    }
    Good = false;
    return "";
  }

  bool has(size_t First, StringRef What) const {
    for (size_t I = First; I < At; ++I)
      if (is(I, What))
        return true;
    return false;
  }

  bool isWrapper(size_t First) const {
    size_t I = First + is(First, "inline");
    return is(I, "namespace") || (is(First, "extern") && At == First + 2 &&
                                  Tokens[First + 1].Kind == CodeToken::Literal);
  }

  /// `=` outside of brackets: a variable.
  bool hasAssignment(size_t First) const {
    size_t Inner = 0;
    for (size_t I = behindTemplate(First); I < At; ++I) {
      Inner += is(I, "(");
      Inner -= is(I, ")");
      if (!Inner && is(I, "="))
        return true;
    }
    return false;
  }

  bool isTypeAt(size_t I) const {
    return llvm::is_contained(
        {"struct", "class", "union", "enum", "typedef", "using", "concept"},
        word(I));
  }
  bool isType(size_t First) const { return isTypeAt(behindTemplate(First)); }

  /// Behind `template <...>`, else \p First. \p IsSpecial: `template <>`.
  size_t behindTemplate(size_t First, bool *IsSpecial = nullptr) const {
    if (!is(First, "template") || !is(First + 1, "<"))
      return First;
    if (IsSpecial)
      *IsSpecial = is(First + 2, ">");
    size_t Angles = 0, Inner = 0;
    for (size_t I = First + 1; I < At; ++I) {
      Inner += is(I, "(");
      Inner -= is(I, ")");
      Angles += !Inner && is(I, "<");
      Angles -= !Inner && is(I, ">");
      if (!Angles)
        return I + 1;
    }
    return First;
  }

  /// Of the function whose head is [First, At), or empty where it is none that
  /// may be left out.
  std::string nameOf(size_t First) const {
    bool IsSpecial = false;
    size_t I = behindTemplate(First, &IsSpecial);
    if (IsSpecial || is(I, "template"))
      return "";
    std::string Name;
    for (; I < At; ++I) {
      if (Tokens[I].InDirective || !Name.empty())
        return ""; // more than the parameters: initialisers, a second list
      if (!is(I, "(")) {
        if (!isPlain(I))
          return "";
        continue;
      }
      size_t Close = closing(I);
      if (isWord(I - 1) && word(I - 1).starts_with("__"))
        ; // __launch_bounds__ and its like
      else if (isWord(I - 1) && I > First + 1 && !is(I - 2, ":") &&
               !isImplicit(word(I - 1)))
        Name = word(I - 1).str();
      else
        return "";
      I = Close;
      while (!Name.empty() && is(I + 1, "noexcept"))
        ++I;
    }
    return Name;
  }

  /// What stands before the name of a plain function.
  bool isPlain(size_t I) const {
    if (Tokens[I].Kind == CodeToken::Word)
      return !llvm::is_contained({"operator", "__attribute__", "alignas", "asm",
                                  "requires", "decltype", "co_await"},
                                 word(I));
    return Tokens[I].Kind != CodeToken::Punctuator ||
           llvm::is_contained({"*", "&", "<", ">", ":", ","}, word(I));
  }

  /// Functions that a program calls without naming them.
  static bool isImplicit(StringRef Name) {
    return llvm::is_contained({"begin", "end", "get", "swap", "__attribute__"},
                              Name);
  }

  size_t closing(size_t I) const {
    size_t Inner = 0;
    for (; I < At; ++I) {
      Inner += is(I, "(");
      Inner -= is(I, ")");
      if (!Inner)
        break;
    }
    return I;
  }

  StringRef Text;
  std::vector<CodeToken> Tokens;
  std::vector<Part> Parts;
  std::vector<size_t> Conditions; ///< brackets open at each #if
  size_t At = 0, Depth = 0, Wrappers = 0;
  bool Good = true;
};
} // namespace

/// Keeps what is named by what is kept, until there is no more.
static void keepNamed(std::vector<Part> &Parts, StringRef Text,
                      const std::vector<CodeToken> &Tokens) {
  llvm::StringSet<> Named;
  auto Keep = [&](Part &P) {
    P.IsKept = true;
    for (size_t I = P.Place.First; I < P.Place.Last; ++I)
      if (Tokens[I].Kind == CodeToken::Word)
        Named.insert(Text.slice(Tokens[I].Begin, Tokens[I].End));
  };
  for (Part &P : Parts)
    if (P.IsKept || P.Name.empty())
      Keep(P);
  for (bool More = true; More;) {
    More = false;
    for (Part &P : Parts)
      if (!P.IsKept && Named.contains(P.Name)) {
        Keep(P);
        More = true;
      }
  }
}

/// Leaves out namespaces of which nothing is kept.
static void dropEmpty(std::vector<Part> &Parts) {
  std::vector<Part *> Open; // wrappers
  std::vector<bool> HasKept = {false};
  for (Part &P : Parts) {
    if (P.Kind == Part::Opening) {
      Open.push_back(&P);
      HasKept.push_back(false);
    } else if (P.Kind == Part::Closing) {
      bool Kept = HasKept.back();
      Open.back()->IsKept = P.IsKept = Kept;
      Open.pop_back();
      HasKept.pop_back();
      HasKept.back() = HasKept.back() || Kept;
    } else if (P.IsKept) {
      HasKept.back() = true;
    }
  }
}

std::optional<CodeReach> stark::reachOf(StringRef Text, StringRef Entry) {
  PartFinder Finder(Text);
  std::optional<std::vector<Part>> Parts = Finder.run();
  if (!Parts)
    return std::nullopt;
  bool Defined = false;
  StringRef Own = Entry.substr(Entry.rfind(':') + 1);
  for (Part &P : *Parts)
    if (P.Name == Own)
      Defined = P.IsKept = true;
  if (!Defined)
    return std::nullopt;
  const std::vector<CodeToken> &Tokens = Finder.tokens();
  keepNamed(*Parts, Text, Tokens);
  dropEmpty(*Parts);
  CodeReach Reach;
  for (const Part &P : *Parts) {
    auto [First, Last] = P.Place;
    if (!P.IsKept && !P.Name.empty())
      Reach.LeftOut.push_back(P.Name);
    if (!P.IsKept)
      continue;
    Reach.Text +=
        Text.slice(Tokens[First].Begin, Tokens[Last - 1].End).str() + "\n";
    if (!Reach.Kept.empty() && Reach.Kept.back().Last == First)
      Reach.Kept.back().Last = Last;
    else
      Reach.Kept.push_back(P.Place);
  }
  return Reach;
}

llvm::StringSet<> stark::wordsOf(StringRef Text) {
  llvm::StringSet<> Words;
  for (const CodeToken &T : codeTokens(Text))
    if (T.Kind == CodeToken::Word)
      Words.insert(Text.slice(T.Begin, T.End));
  return Words;
}

llvm::StringSet<> stark::wordsUsedIn(StringRef Text) {
  PartFinder Finder(Text);
  std::optional<std::vector<Part>> Parts = Finder.run();
  if (!Parts)
    return wordsOf(Text);
  const std::vector<CodeToken> &Tokens = Finder.tokens();
  llvm::StringSet<> Words;
  for (const Part &P : *Parts) {
    std::optional<size_t> Name = Finder.prototypeName(P);
    for (size_t I = P.Place.First; I < P.Place.Last; ++I)
      if (I != Name && Tokens[I].Kind == CodeToken::Word)
        Words.insert(Text.slice(Tokens[I].Begin, Tokens[I].End));
  }
  return Words;
}

std::optional<size_t> stark::tokenLike(const std::vector<TokenRange> &From,
                                       const std::vector<TokenRange> &To,
                                       size_t Token) {
  size_t Number = 0;
  auto Has = [&](const TokenRange &R) {
    return Token >= R.First && Token < R.Last;
  };
  auto Found = llvm::find_if(From, Has);
  if (Found == From.end())
    return std::nullopt;
  for (auto I = From.begin(); I != Found; ++I)
    Number += I->size();
  Number += Token - Found->First;
  for (const TokenRange &R : To) {
    if (Number < R.size())
      return R.First + Number;
    Number -= R.size();
  }
  return std::nullopt;
}
