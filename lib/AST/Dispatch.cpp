//===- Dispatch.cpp - A winner beside its source  ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Dispatch.h"
#include "Brackets.h"
#include "DispatchGroups.h"
#include "MainFile.h"
#include "SkippedText.h"
#include "stark/AST/DispatchNames.h"
#include "stark/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

namespace {
class Cutter {
public:
  Cutter(const ParsedSource &Source, const ParsedSource &Base,
         const ParsedSource &Winner, StringRef Entry, EntryUsed As,
         StringRef Suffix)
      : Entry(Entry.ltrim(':')), Suffix(Suffix), As(As), User(Source, Names),
        Old(Base, Names), New(Winner, Names) {}

  llvm::Expected<DispatchCut> run();
  llvm::Error checkEntry();

private:
  void refuse(const llvm::Twine &Why) {
    if (WhyNot.empty())
      WhyNot = Why.str();
  }
  bool isEntry(const Item &I, const UnitList &List) const;
  const Item *entryOf(const UnitList &List);
  void cutSource(const Item &I);
  void signature(const Item &I, const Unit &U);
  void chooseKept();
  void cutWinner();
  void keep(const Unit &U);
  void guardKernel(const Item &I);
  void betweenUnits();
  void include(size_t First, size_t End, unsigned Depth);
  void checkConditionals(const UnitList &List, const Unit &U);
  void drop(Range Bytes) { Cut.Winner.push_back({Bytes, "\n"}); }

  StringRef Entry, Suffix;
  EntryUsed As;
  Spellings Names;
  UnitList User; ///< the file that is edited
  UnitList Old;  ///< what the winner is a form of
  UnitList New;
  std::set<const Unit *> Kept;
  std::set<std::string> OldLines; ///< what the source includes and uses
  DispatchCut Cut;
  std::string WhyNot;
};
} // namespace

static void sortEdits(std::vector<DispatchEdit> &Edits) {
  llvm::stable_sort(Edits, [](const DispatchEdit &A, const DispatchEdit &B) {
    return A.Place.Begin < B.Place.Begin;
  });
}

/// Where `static` makes a declaration of \p I one that no other file sees;
/// nothing when it is one, or cannot be.
static std::optional<size_t> placeOfStatic(const Item &I,
                                           const SourceManager &SM) {
  SourceLocation At;
  if (const FunctionDecl *F = I.function()) {
    if (F->getStorageClass() != SC_Static && !F->isCXXClassMember() &&
        !F->getPrimaryTemplate() && F->isExternallyVisible())
      At = F->getInnerLocStart();
  } else if (auto *V = dyn_cast<VarDecl>(I.D)) {
    if (!V->hasExternalStorage() && !V->isStaticDataMember() &&
        V->getStorageClass() != SC_Static && V->isExternallyVisible())
      At = V->getInnerLocStart();
  }
  if (At.isInvalid())
    return std::nullopt;
  return SM.getFileOffset(SM.getExpansionLoc(At));
}

/// Of a host function and a kernel of one name the one that is meant.
bool Cutter::isEntry(const Item &I, const UnitList &List) const {
  StringRef Name = Entry.split('<').first;
  auto Rank = [&](const Item &Each) {
    const FunctionDecl *F = Each.function();
    if (!F || !F->doesThisDeclarationHaveABody() ||
        F->getQualifiedNameAsString() != Name)
      return 0;
    return (Each.Side == Item::Kernel) == (As == EntryUsed::Launched) ? 2 : 1;
  };
  return Rank(I) && llvm::none_of(List.Items, [&](const Item &Other) {
           return Rank(Other) > Rank(I);
         });
}

const Item *Cutter::entryOf(const UnitList &List) {
  std::string Quoted = "entry '" + Entry.str() + "'";
  for (const Item &I : List.Items) {
    if (!isEntry(I, List))
      continue;
    const FunctionDecl *F = I.function();
    if (isa<FunctionTemplateDecl>(I.D) || F->getPrimaryTemplate())
      refuse(Quoted + " is a template, whose instances other files may make");
    else if (I.Side == Item::Kernel)
      refuse(Quoted + " is a kernel, which its callers launch: there is no "
                      "host function to choose in");
    else if (isa<CXXMethodDecl>(F))
      refuse(Quoted + " is a method");
    else if (!I.Body || F->getLocation().isMacroID())
      refuse("a macro writes " + Quoted);
    else if (F->getQualifier())
      refuse(Quoted + " is defined outside of its namespace");
    else if (F->isConstexpr())
      refuse(Quoted + " is constexpr");
    return &I;
  }
  refuse(Quoted + " is not defined in the source's own file");
  return nullptr;
}

/// What stands before and behind the entry's name.
void Cutter::signature(const Item &I, const Unit &U) {
  const FunctionDecl *F = I.function();
  const SourceManager &SM = User.Source.unit().getSourceManager();
  const SourceTokens &T = User.Tokens;
  size_t First = T.firstAt(U.Bytes.Begin), Body = T.firstAt(I.Body->Begin),
         Name = T.firstAt(SM.getFileOffset(F->getLocation()));
  if (T.is(First, "extern") && T.All[First + 1].Kind == SourceToken::Literal) {
    Cut.Linkage = "extern \"C\" ";
    First += 2;
  }
  std::map<size_t, std::string> Before; // a token: the name it lacks
  std::set<size_t> Default;
  for (const ParmVarDecl *P : F->parameters()) {
    std::string Own = P->getName().str();
    if (Own.empty()) {
      Own = "arg" + std::to_string(P->getFunctionScopeIndex());
      Before[T.firstAt(
          SM.getFileOffset(SM.getExpansionLoc(P->getLocation())))] = Own;
    }
    Cut.Arguments += (Cut.Arguments.empty() ? "" : ", ") + Own;
    if (!P->hasDefaultArg())
      continue;
    std::optional<Range> R = fileBytes(P->getDefaultArgRange(), SM,
                                       User.Source.unit().getLangOpts());
    if (!R)
      return refuse("a macro writes the default of '" + Own + "'");
    size_t At = T.firstAt(R->Begin);
    for (size_t K = At - 1; T.All[K].Bytes.Begin < R->End; ++K)
      Default.insert(K);
  }
  for (size_t K = First; K < Body; ++K) {
    if (T.All[K].InDirective)
      return refuse("the signature of entry '" + Entry + "' has directives");
    if (K == Name)
      continue;
    std::string Word = T.text(K).str() + " ";
    if (auto Found = Before.find(K); Found != Before.end())
      Word = Found->second + " " + Word;
    if (K < Name) {
      Cut.Head += Word;
      continue;
    }
    Cut.Tail += Word;
    if (!Default.count(K))
      Cut.WinnerTail += Word;
  }
}

void Cutter::cutSource(const Item &I) {
  const Unit &U = *User.at(I.Bytes.Begin);
  checkConditionals(User, U);
  signature(I, U);
  Cut.Name = I.function()->getNameAsString();
  Cut.ChoiceAt = U.Bytes.End;
  const SourceTokens &T = User.Tokens;
  if (std::optional<size_t> At =
          placeOfStatic(I, User.Source.unit().getSourceManager()))
    Cut.Source.push_back({{*At, *At}, "\nstatic "});
  for (size_t K = T.firstAt(U.Bytes.Begin);
       K < T.All.size() && T.All[K].Bytes.Begin < U.Bytes.End; ++K)
    if (K == T.firstAt(U.Bytes.Begin) && !Cut.Linkage.empty()) {
      Cut.Source.push_back(
          {{T.All[K].Bytes.Begin, T.All[K + 1].Bytes.End}, "\n"});
      ++K;
    } else if (T.is(K, Cut.Name)) {
      Cut.Source.push_back({T.All[K].Bytes, " " + sourcesName(Cut.Name)});
    }
  sortEdits(Cut.Source);
}

/// Which declarations of the winner are kept.
void Cutter::chooseKept() {
  GroupList Before(Old), After(New);
  std::set_union(Before.Macros.begin(), Before.Macros.end(),
                 After.Macros.begin(), After.Macros.end(),
                 std::back_inserter(Cut.Macros));
  std::vector<bool> Shared = After.sharedWith(Before);
  size_t First = After.ByName.at(Cut.Name);
  if (Shared[First])
    return refuse("the winner changes nothing that entry '" + Entry +
                  "' reaches");
  std::set<size_t> Reached = After.reach(First, Shared);
  std::set<std::string> InSignature;
  for (StringRef Text : {StringRef(Cut.Head), StringRef(Cut.Tail)})
    for (StringRef Rest = Text; !Rest.empty();) {
      auto [Word, Behind] = Rest.split(' ');
      InSignature.insert(Word.str());
      Rest = Behind;
    }
  for (size_t I = 0; I < After.All.size(); ++I) {
    const Group &G = After.All[I];
    if (Shared[I])
      Cut.Shared.insert(Cut.Shared.end(), G.Names.begin(), G.Names.end());
    if (Shared[I] || G.Units.empty())
      continue;
    bool OnlyUsing = true;
    for (const Unit *U : G.Units) {
      if (!U->Fixed.empty())
        return refuse("the winner changes " + U->Fixed);
      if (Reached.count(I))
        Kept.insert(U);
      for (const Item *Part : U->Items) {
        OnlyUsing &= isa<UsingDecl>(Part->D);
        bool Variable = isa<VarDecl>(Part->D) && Part->Side != Item::Shared;
        if (Reached.count(I) && Variable && Before.ByName.count(Part->Name))
          return refuse("variable '" + Part->Name +
                        "' would exist twice, since the winner changes it or "
                        "its type");
      }
    }
    if (!Reached.count(I) || OnlyUsing)
      continue;
    for (const std::string &Name : G.Names) {
      if (llvm::is_contained(Cut.Macros, Name))
        return refuse("'" + Name + "' is both a macro and a declaration");
      if (Name != Cut.Name && InSignature.count(Name))
        return refuse("the winner changes '" + Name +
                      "', a type of the entry's parameters");
      Cut.Renamed.push_back(Name);
    }
  }
}

/// Its conditionals end in it.
void Cutter::checkConditionals(const UnitList &List, const Unit &U) {
  int Depth = 0;
  const SourceTokens &T = List.Tokens;
  for (size_t I = T.firstAt(U.Bytes.Begin);
       I + 1 < T.All.size() && T.All[I].Bytes.Begin < U.Bytes.End; ++I) {
    if (!T.All[I].InDirective || !T.All[I].StartsLine || !T.is(I, "#"))
      continue;
    StringRef Word = T.text(I + 1);
    if (Word.starts_with("if"))
      ++Depth;
    else if (Word == "endif")
      --Depth;
    if (Depth < 0 || (Depth == 0 && Word.starts_with("el")))
      break;
  }
  if (Depth)
    refuse("line " + std::to_string(T.line(U.Bytes.Begin)) +
           ": a conditional ends outside of the declaration that it begins in");
}

void Cutter::guardKernel(const Item &I) {
  const FunctionDecl *F = I.function();
  if (!F->doesThisDeclarationHaveABody())
    return;
  if (!I.Body)
    return refuse("a macro writes the kernel '" + I.Name + "'");
  size_t Open = I.Body->Begin + 1, Close = I.Body->End - 1;
  Cut.Winner.push_back({{Open, Open}, "\n#if " + provedMacro(Suffix) + "\n"});
  Cut.Winner.push_back({{Close, Close}, "\n#endif\n"});
}

void Cutter::keep(const Unit &U) {
  const SourceTokens &T = New.Tokens;
  size_t First = T.firstAt(U.Bytes.Begin);
  bool Device = llvm::all_of(U.Items, [](const Item *I) {
    return I->Side == Item::Device && I->function();
  });
  if (Device)
    Cut.Winner.push_back({{U.Bytes.Begin, U.Bytes.Begin},
                          "\n#if " + provedMacro(Suffix) + "\n"});
  if (T.is(First, "extern") && T.All[First + 1].Kind == SourceToken::Literal)
    Cut.Winner.push_back({{U.Bytes.Begin, T.All[First + 1].Bytes.End}, "\n"});
  std::set<size_t> Statics;
  for (const Item *I : U.Items) {
    if (I->Side == Item::Kernel)
      guardKernel(*I);
    std::optional<size_t> At =
        placeOfStatic(*I, New.Source.unit().getSourceManager());
    if (At && Statics.insert(*At).second)
      Cut.Winner.push_back({{*At, *At}, "\nstatic "});
  }
  if (Device)
    Cut.Winner.push_back({{U.Bytes.End, U.Bytes.End}, "\n#endif\n"});
}

/// A directive that includes something, its tokens [First, End).
void Cutter::include(size_t First, size_t End, unsigned Depth) {
  const SourceTokens &T = New.Tokens;
  Range Bytes{T.All[First].Bytes.Begin, T.All[End - 1].Bytes.End};
  drop(Bytes);
  if (OldLines.count(New.print(Bytes)))
    return;
  if (Depth)
    return refuse("line " + std::to_string(T.line(Bytes.Begin)) +
                  ": the winner includes a header under a condition");
  Cut.Includes.push_back(
      T.source().slice(Bytes.Begin, Bytes.End).rtrim().str());
}

static bool isInclude(const SourceTokens &T, size_t I) {
  return T.All[I].InDirective && T.All[I].StartsLine && T.is(I, "#") &&
         (T.is(I + 1, "include") || T.is(I + 1, "include_next"));
}

/// The end of the directive that begins with token \p I.
static size_t directiveEnd(const SourceTokens &T, size_t I) {
  while (T.All[I].Kind != SourceToken::EndOfDirective)
    ++I;
  return I + 1;
}

/// The text of \p List that no unit writes and the preprocessor skips.
static std::string skippedBetween(const UnitList &List) {
  std::string Text;
  std::vector<Range> Skipped = skippedText(List.Source);
  for (size_t I = 0; I < List.Tokens.All.size(); ++I) {
    const SourceToken &T = List.Tokens.All[I];
    if (!T.InDirective && isSkipped(Skipped, T.Bytes.Begin) &&
        !List.at(T.Bytes.Begin))
      Text += List.Tokens.text(I).str() + "\n";
  }
  return Text;
}

/// What stands between the declarations: directives, braces of namespaces, what
/// is skipped.
void Cutter::betweenUnits() {
  if (skippedBetween(Old) != skippedBetween(New))
    refuse("the winner changes text that is compiled for the host or another "
           "architecture alone");
  std::vector<Range> Skipped = skippedText(New.Source);
  const SourceTokens &T = New.Tokens;
  unsigned Depth = 0;
  for (size_t I = 0; I < T.All.size(); ++I) {
    if (const Unit *U = New.at(T.All[I].Bytes.Begin)) {
      if (isInclude(T, I) && Kept.count(U))
        return refuse("line " + std::to_string(T.line(T.All[I].Bytes.Begin)) +
                      ": a header is included inside a declaration");
      continue;
    }
    if (T.All[I].InDirective) {
      size_t End = directiveEnd(T, I);
      StringRef Word = T.text(I + 1);
      if (Word.starts_with("if"))
        ++Depth;
      else if (Word == "endif" && Depth)
        --Depth;
      else if (isInclude(T, I))
        include(I, End, Depth);
      else if (Word == "pragma" && T.is(I + 2, "once"))
        drop({T.All[I].Bytes.Begin, T.All[End - 1].Bytes.End});
      I = End - 1;
    } else if (isSkipped(Skipped, T.All[I].Bytes.Begin)) {
      drop(T.All[I].Bytes);
    } else if (T.is(I, "template")) {
      // An explicit instantiation: the source has its own.
      size_t End = I;
      while (End + 1 < T.All.size() && !T.is(End, ";"))
        ++End;
      drop({T.All[I].Bytes.Begin, T.All[End].Bytes.End});
      I = End;
    }
  }
}

void Cutter::cutWinner() {
  for (size_t I = 0; I < Old.Tokens.All.size(); ++I)
    if (isInclude(Old.Tokens, I))
      OldLines.insert(Old.print(
          {Old.Tokens.All[I].Bytes.Begin,
           Old.Tokens.All[directiveEnd(Old.Tokens, I) - 1].Bytes.End}));
  for (const Unit &U : Old.Units)
    if (U.Names.empty())
      OldLines.insert(Old.print(U.Bytes));
  for (const Unit &U : New.Units) {
    checkConditionals(New, U);
    bool Directive = isa<UsingDirectiveDecl>(U.Items.front()->D) &&
                     !OldLines.count(New.print(U.Bytes));
    if (Kept.count(&U) || Directive)
      keep(U);
    else
      drop(U.Bytes);
  }
  betweenUnits();
  sortEdits(Cut.Winner);
}

llvm::Error Cutter::checkEntry() {
  if (!User.WhyNot.empty())
    refuse(User.WhyNot);
  const Item *Found = WhyNot.empty() ? entryOf(User) : nullptr;
  if (WhyNot.empty())
    cutSource(*Found);
  return WhyNot.empty() ? llvm::Error::success() : failed(WhyNot);
}

llvm::Expected<DispatchCut> Cutter::run() {
  for (const UnitList *List : {&User, &Old, &New})
    if (!List->WhyNot.empty())
      refuse(List->WhyNot);
  const Item *Before = WhyNot.empty() ? entryOf(User) : nullptr;
  if (WhyNot.empty() && entryOf(New) && WhyNot.empty()) {
    cutSource(*Before);
    chooseKept();
    cutWinner();
  }
  if (!WhyNot.empty())
    return failed(WhyNot);
  return std::move(Cut);
}

llvm::Expected<DispatchCut> stark::cutWinner(const ParsedSource &Source,
                                             const ParsedSource &Winner,
                                             StringRef Entry, StringRef Suffix,
                                             const ParsedSource *Extracted,
                                             EntryUsed As) {
  const ParsedSource &Base = Extracted ? *Extracted : Source;
  return Cutter(Source, Base, Winner, Entry, As, Suffix).run();
}

llvm::Error stark::checkDispatchable(const ParsedSource &Source,
                                     StringRef Entry, EntryUsed As) {
  return Cutter(Source, Source, Source, Entry, As, "").checkEntry();
}
