//===- Lenient.cpp - A source some of whose headers are not there ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lenient.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <optional>
#include <vector>

using namespace llvm;
using namespace stark::sim;
using clang::tok::TokenKind;

namespace {
/// Of a file or a namespace. Body is 0 where there is none.
struct Declaration {
  size_t Begin = 0, Body = 0, End = 0;
  std::string Name; ///< of a function
};

/// Goes over the tokens; what lies between the braces of a namespace, of
/// extern "C" or of a class are declarations, too. A class comes after its
/// members.
class Outline {
public:
  explicit Outline(StringRef Source);
  std::vector<Declaration> Found;

private:
  void take(const clang::Token &T, size_t At, StringRef Text);
  void word(StringRef Text);
  void open(size_t At);
  void close(size_t At);
  void begin() {
    Now = {};
    Begun = Called = Assigned = Named = Transparent = Initialising = Closed =
        false;
    Angles = 0;
    Before.clear();
  }
  Declaration Now;
  bool Begun = false, Called = false, Assigned = false;
  bool Named = false;        ///< a class, an enumeration
  bool Enumerates = false;   ///< that, an enumeration
  bool Initialising = false; ///< after the colon of a constructor
  bool Closed = false;       ///< after the braces of a class
  bool Transparent = false;  ///< a namespace
  std::string Before;        ///< the last word before the first parenthesis
  std::string Word;
  unsigned Depth = 0, Parentheses = 0;
  unsigned Angles = 0; ///< of a template's parameters
  TokenKind Last = clang::tok::unknown;
  /// What the declarations stand in: where a class begins, or nothing for a
  /// namespace.
  std::vector<std::optional<size_t>> Scopes;
};
} // namespace

void Outline::open(size_t At) {
  bool IsClass = Named && !Enumerates && !Called && !Assigned;
  if (Depth == 0 && (Transparent || IsClass)) {
    Scopes.push_back(Transparent ? std::nullopt : std::optional(Now.Begin));
    return begin();
  }
  // a_{1} of a constructor is no body.
  if (Depth == 0 && Initialising &&
      (Last == clang::tok::raw_identifier || Last == clang::tok::greater)) {
    ++Depth;
    return;
  }
  if (Depth++ == 0 && Called && !Assigned && !Named) {
    Now.Body = At;
    Now.Name = Before;
  }
}

void Outline::close(size_t At) {
  if (Depth == 0) {
    begin();
    if (Scopes.empty())
      return;
    // What a class's name is given to follows, up to a semicolon.
    if (std::optional<size_t> Class = Scopes.back()) {
      Now.Begin = *Class;
      Begun = Closed = true;
    }
    Scopes.pop_back();
    return;
  }
  if (--Depth == 0 && Now.Body) {
    Now.End = At + 1;
    Found.push_back(Now);
    begin();
  }
}

void Outline::take(const clang::Token &T, size_t At, StringRef Text) {
  if (!Begun && T.getKind() != clang::tok::semi &&
      T.getKind() != clang::tok::r_brace) {
    Begun = true;
    Now.Begin = At;
  }
  switch (T.getKind()) {
  case clang::tok::l_brace:
    return open(At);
  case clang::tok::r_brace:
    return close(At);
  case clang::tok::l_paren:
    if (!Depth && !Called)
      Before = Word;
    Called |= !Depth && !Closed;
    ++Parentheses;
    return;
  case clang::tok::r_paren:
    Parentheses -= Parentheses != 0;
    return;
  case clang::tok::equal:
    Assigned |= !Depth && !Parentheses && Before != "operator";
    return;
  case clang::tok::semi:
    if (!Depth && Begun) {
      Now.End = At + 1;
      // Without one of its variables a class would have another layout.
      bool Type = Closed && Last == clang::tok::r_brace;
      bool Variable = !Called && !Type,
           InClass = !Scopes.empty() && Scopes.back();
      if (!Variable || !InClass)
        Found.push_back(Now);
      begin();
    }
    return;
  case clang::tok::string_literal:
    Transparent |= !Depth && Word == "extern";
    return;
  case clang::tok::less:
    Angles += Angles || (!Depth && Word == "template");
    return;
  case clang::tok::greater:
  case clang::tok::greatergreater:
    Angles -= std::min(Angles, T.is(clang::tok::greater) ? 1u : 2u);
    return;
  case clang::tok::colon:
    if (!Depth && !Called &&
        (Word == "public" || Word == "private" || Word == "protected"))
      return begin();
    Initialising |= !Depth && Called && !Parentheses;
    return;
  case clang::tok::raw_identifier:
    return word(Text);
  default:
    return;
  }
}

void Outline::word(StringRef Text) {
  if (Text == "__attribute__" || Text == "__launch_bounds__" ||
      Text == "__align__")
    return;
  Transparent |= !Depth && !Called && Text == "namespace";
  bool Enumeration = Text == "enum";
  if (!Depth && !Parentheses && !Called && !Angles &&
      (Enumeration || Text == "class" || Text == "struct" || Text == "union")) {
    Enumerates = Named ? Enumerates : Enumeration;
    Named = true;
  }
  if (Word == "extern")
    Transparent = false;
  Word = Text.str();
}

Outline::Outline(StringRef Source) {
  clang::LangOptions Options;
  Options.CPlusPlus = Options.CPlusPlus17 = true;
  std::string Whole = Source.str();
  clang::Lexer Lexer(clang::SourceLocation(), Options, Whole.c_str(),
                     Whole.c_str(), Whole.c_str() + Whole.size());
  clang::Token T;
  bool Directive = false;
  for (bool AtEnd = false; !AtEnd;) {
    AtEnd = Lexer.LexFromRawLexer(T);
    if (T.is(clang::tok::eof))
      break;
    size_t End = size_t(Lexer.getBufferLocation() - Whole.c_str()),
           At = End - T.getLength();
    if (T.isAtStartOfLine())
      Directive = T.is(clang::tok::hash);
    if (Directive)
      continue;
    take(T, At, StringRef(Whole).slice(At, End));
    Last = T.getKind();
  }
}

/// Line breaks and nothing else.
static std::string emptied(StringRef Text) {
  return std::string(size_t(Text.count('\n')), '\n');
}

/// In a string literal.
static std::string quoted(StringRef Text) {
  std::string Out;
  raw_string_ostream OS(Out);
  OS.write_escaped(Text);
  return Out;
}

LessSource stark::sim::withoutErrors(StringRef Source,
                                     ArrayRef<unsigned> Errors, StringRef Why) {
  std::vector<Declaration> All = Outline(Source).Found;
  std::vector<const Declaration *> Hit;
  for (unsigned Error : Errors) {
    auto Found = std::find_if(All.begin(), All.end(), [&](const auto &D) {
      return D.Begin <= Error && Error < D.End;
    });
    if (Found == All.end())
      return {};
    if (!is_contained(Hit, &*Found))
      Hit.push_back(&*Found);
  }
  // What stands in another one goes with it.
  erase_if(Hit, [&](const Declaration *D) {
    return any_of(Hit, [&](const Declaration *Of) {
      return Of->Begin <= D->Begin && D->End < Of->End;
    });
  });
  std::sort(Hit.begin(), Hit.end(),
            [](const auto *L, const auto *R) { return L->Begin < R->Begin; });
  LessSource Less;
  std::string &Out = Less.Text;
  size_t At = 0;
  for (const Declaration *D : Hit) {
    bool InBody = D->Body && none_of(Errors, [&](unsigned E) {
                    return D->Begin <= E && E < D->Body;
                  });
    size_t From = InBody ? D->Body : D->Begin;
    Out += Source.slice(At, From);
    if (InBody)
      Out += "{ __stark_sim_no_body(\"" + quoted(D->Name + "()" + Why.str()) +
             "\"); __builtin_unreachable(); ";
    if (!D->Name.empty())
      Less.Functions.push_back(D->Name);
    Out += emptied(Source.slice(From, D->End));
    if (InBody)
      Out += "}";
    At = D->End;
  }
  Out += Source.drop_front(At);
  return Less;
}
