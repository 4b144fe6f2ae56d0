//===- Tunables.cpp - Numbers of a source that may be others --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Tunables.h"
#include "Edits.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Walk.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace stark;
using namespace clang;

/// Values that a line offers at most.
static constexpr size_t MostOffered = 16;

static llvm::StringRef lineAround(llvm::StringRef Text, size_t At) {
  size_t Begin = Text.rfind('\n', At);
  Begin = Begin == llvm::StringRef::npos ? 0 : Begin + 1;
  return Text.slice(Begin, Text.find('\n', At));
}

/// What a comment of \p Line says behind "tune:".
static std::vector<uint32_t> offeredBy(llvm::StringRef Line) {
  size_t Comment = std::min(Line.find("//"), Line.find("/*"));
  size_t Word = Line.find("tune:", Comment);
  if (Comment == llvm::StringRef::npos || Word == llvm::StringRef::npos)
    return {};
  llvm::StringRef Rest = Line.substr(Word + 5);
  std::set<uint32_t> Values;
  while (Values.size() < MostOffered) {
    Rest = Rest.ltrim(", \t");
    uint32_t Value = 0;
    if (Rest.consumeInteger(10, Value) || Value < 1 || Value > MostTuned)
      break;
    Values.insert(Value);
  }
  return {Values.begin(), Values.end()};
}

/// Whether \p Line defines a macro as the number at \p Column alone.
static bool definesNumber(llvm::StringRef Line, size_t Column) {
  llvm::StringRef Before = Line.take_front(Column).trim();
  if (!Before.consume_front("#"))
    return false;
  Before = Before.ltrim();
  if (!Before.consume_front("define"))
    return false;
  Before = Before.trim(" \t(");
  auto InName = [](char C) { return llvm::isAlnum(C) || C == '_'; };
  if (Before.empty() || !llvm::all_of(Before, InName))
    return false;
  llvm::StringRef After = Line.substr(Column).ltrim("0123456789uUlL) \t\r");
  return After.empty() || After.starts_with("//") || After.starts_with("/*");
}

static const FunctionDecl *patternOf(const FunctionDecl *F) {
  if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
    F = Pattern;
  return F->getCanonicalDecl();
}

namespace {
/// Which function names which.
class NamedFunctions : public Walker {
public:
  explicit NamedFunctions(const ParsedSource &Source) { walk(Source); }

  /// Unset when \p Entry is not among them.
  std::optional<std::set<const FunctionDecl *>> from(llvm::StringRef Entry) {
    std::vector<const FunctionDecl *> Next;
    for (const auto &[F, Named] : Names)
      if (F->getDeclName().isIdentifier() && F->getName() == Entry)
        Next.push_back(F);
    if (Next.empty())
      return std::nullopt;
    std::set<const FunctionDecl *> Reached;
    while (!Next.empty()) {
      const FunctionDecl *F = Next.back();
      Next.pop_back();
      if (Reached.insert(F).second)
        Next.insert(Next.end(), Names[F].begin(), Names[F].end());
    }
    return Reached;
  }

  void beginFunction(FunctionDecl *F) override {
    Within.push_back(patternOf(F));
    if (F->doesThisDeclarationHaveABody())
      Names[Within.back()];
  }
  void endFunction() override { Within.pop_back(); }
  bool onStmt(Stmt *S) override {
    if (auto *Ref = dyn_cast<DeclRefExpr>(S))
      note(Ref->getDecl());
    else if (auto *Member = dyn_cast<MemberExpr>(S))
      note(Member->getMemberDecl());
    else if (auto *Several = dyn_cast<OverloadExpr>(S))
      for (const NamedDecl *D : Several->decls())
        note(D);
    return true;
  }

private:
  void note(const NamedDecl *D) {
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      D = Template->getTemplatedDecl();
    if (const auto *F = dyn_cast<FunctionDecl>(D); F && !Within.empty())
      Names[Within.back()].insert(patternOf(F));
  }
  std::map<const FunctionDecl *, std::set<const FunctionDecl *>> Names;
  std::vector<const FunctionDecl *> Within;
};

class TunableFinder : public Walker {
public:
  TunableFinder(const ParsedSource &Source, llvm::StringRef Entry)
      : Text(Source.text()), Context(Source.unit().getASTContext()),
        SM(Context.getSourceManager()),
        Reached(NamedFunctions(Source).from(Entry)) {
    walk(Source);
  }

  std::map<size_t, Tunable> All; ///< by offset

  bool enters(Decl *D) override {
    const auto *F = dyn_cast<FunctionDecl>(D);
    return !F || !Reached || isa<CXXMethodDecl>(F) ||
           Reached->count(patternOf(F));
  }
  bool onDecl(Decl *D) override;
  bool onStmt(Stmt *S) override;
  bool onType(TypeLoc L) override;

private:
  /// The names that \p E is made of.
  void use(const Stmt *E);
  void useArguments(llvm::ArrayRef<TemplateArgumentLoc> Arguments,
                    llvm::StringRef Launched = "");
  void useVariable(const VarDecl *V);
  /// \p Initializer is what \p Name stands for.
  void useInitializer(llvm::StringRef Name, const Expr *Initializer);
  void useLaunch(const CUDAKernelCallExpr *Call);
  void take(std::string Name, const IntegerLiteral *L);
  bool isOffered(const Stmt *S) const;

  const llvm::StringRef Text;
  const ASTContext &Context;
  const SourceManager &SM;
  const std::optional<std::set<const FunctionDecl *>> Reached;
  std::set<const Decl *> Seen;
};
} // namespace

/// The literal that \p E is, whatever it is converted to.
static const IntegerLiteral *literalOf(const Expr *E) {
  return E ? dyn_cast<IntegerLiteral>(E->IgnoreParenImpCasts()) : nullptr;
}

void TunableFinder::take(std::string Name, const IntegerLiteral *L) {
  SourceLocation At = L->getBeginLoc();
  // What is given to a macro, such as __launch_bounds__, is written before it.
  while (SM.isMacroArgExpansion(At))
    At = SM.getImmediateSpellingLoc(At);
  SourceLocation Spelled = SM.getSpellingLoc(At);
  if (!SM.isInMainFile(Spelled))
    return;
  size_t Begin = SM.getFileOffset(Spelled);
  llvm::StringRef Digits = Text.substr(Begin).take_while(llvm::isDigit);
  uint32_t Value = 0;
  if (Digits.getAsInteger(10, Value) || Digits.starts_with("0") ||
      L->getValue() != Value || Value > MostTuned)
    return;
  llvm::StringRef Line = lineAround(Text, Begin);
  if (At.isMacroID()) {
    if (!definesNumber(Line, Begin - size_t(Line.data() - Text.data())))
      return;
    Name = Lexer::getImmediateMacroName(At, SM, Context.getLangOpts()).str();
  }
  if (Name.empty())
    return;
  All.try_emplace(Begin,
                  Tunable{std::move(Name), Value,
                          Range{Begin, Begin + Digits.size()},
                          SM.getSpellingLineNumber(Spelled), offeredBy(Line)});
}

bool TunableFinder::isOffered(const Stmt *S) const {
  SourceLocation At = SM.getSpellingLoc(S->getBeginLoc());
  return SM.isInMainFile(At) &&
         !offeredBy(lineAround(Text, SM.getFileOffset(At))).empty();
}

void TunableFinder::useInitializer(llvm::StringRef Name,
                                   const Expr *Initializer) {
  if (const IntegerLiteral *L = literalOf(Initializer))
    take(Name.str(), L);
  else
    use(Initializer);
}

void TunableFinder::useVariable(const VarDecl *V) {
  if (isa<ParmVarDecl>(V) || !Seen.insert(V->getCanonicalDecl()).second)
    return;
  const Expr *Initializer = V->getAnyInitializer();
  if (!Initializer)
    return;
  if (V->getType()->isIntegerType() && !V->getType()->isBooleanType())
    useInitializer(V->getName(), Initializer);
  else
    use(Initializer);
}

void TunableFinder::use(const Stmt *E) {
  if (!E)
    return;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
      useVariable(V);
    else if (const auto *C = dyn_cast<EnumConstantDecl>(Ref->getDecl());
             C && C->getInitExpr())
      useInitializer(C->getName(),
                     dyn_cast<ConstantExpr>(C->getInitExpr())
                         ? cast<ConstantExpr>(C->getInitExpr())->getSubExpr()
                         : C->getInitExpr());
  } else if (const auto *L = dyn_cast<IntegerLiteral>(E)) {
    if (L->getBeginLoc().isMacroID())
      take("", L);
  }
  for (const Stmt *Child : E->children())
    use(Child);
}

void TunableFinder::useArguments(llvm::ArrayRef<TemplateArgumentLoc> Arguments,
                                 llvm::StringRef Launched) {
  for (size_t I = 0; I < Arguments.size(); ++I) {
    if (Arguments[I].getArgument().getKind() != TemplateArgument::Expression)
      continue;
    const Expr *E = Arguments[I].getSourceExpression();
    if (const auto *C = dyn_cast<ConstantExpr>(E))
      E = C->getSubExpr();
    const IntegerLiteral *L = literalOf(E);
    if (L && !Launched.empty())
      take((Launched + "<" + llvm::Twine(I + 1) + ">").str(), L);
    else
      use(E);
  }
}

void TunableFinder::useLaunch(const CUDAKernelCallExpr *Call) {
  // Grid, block and shared memory; the stream is none of them.
  if (const CallExpr *Config = Call->getConfig())
    for (unsigned I = 0; I < std::min(Config->getNumArgs(), 3u); ++I)
      use(Config->getArg(I));
  const Expr *Callee = Call->getCallee()->IgnoreParenImpCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Callee))
    useArguments(Ref->template_arguments(), Ref->getNameInfo().getAsString());
}

bool TunableFinder::onStmt(Stmt *S) {
  if (const auto *Call = dyn_cast<CUDAKernelCallExpr>(S)) {
    useLaunch(Call);
  } else if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    useArguments(Ref->template_arguments());
  } else if (const auto *Several = dyn_cast<OverloadExpr>(S)) {
    useArguments(Several->template_arguments());
  } else if (const auto *Attributed = dyn_cast<AttributedStmt>(S)) {
    for (const Attr *A : Attributed->getAttrs())
      if (const auto *Hint = dyn_cast<LoopHintAttr>(A);
          Hint && Hint->getValue())
        useInitializer("unroll:" + std::to_string(SM.getSpellingLineNumber(
                                       Hint->getLocation())),
                       Hint->getValue());
  } else if (const auto *L = dyn_cast<IntegerLiteral>(S)) {
    if (L->getBeginLoc().isMacroID() && isOffered(L))
      take("", L);
  }
  return true;
}

bool TunableFinder::onDecl(Decl *D) {
  if (const auto *Bounds = D->getAttr<CUDALaunchBoundsAttr>())
    use(Bounds->getMaxThreads());
  if (const auto *V = dyn_cast<VarDecl>(D))
    if (const IntegerLiteral *L = literalOf(V->getInit()); L && isOffered(L))
      useVariable(V);
  return true;
}

bool TunableFinder::onType(TypeLoc L) {
  if (auto Array = L.getAs<ArrayTypeLoc>())
    use(Array.getSizeExpr());
  else if (auto Named = L.getAs<TemplateSpecializationTypeLoc>())
    for (unsigned I = 0; I < Named.getNumArgs(); ++I)
      useArguments(Named.getArgLoc(I));
  return true;
}

std::vector<Tunable> stark::findTunables(const ParsedSource &Source,
                                         llvm::StringRef Entry) {
  std::vector<Tunable> Found;
  for (auto &[At, T] : TunableFinder(Source, Entry).All)
    Found.push_back(std::move(T));
  return Found;
}

std::string stark::withValues(llvm::StringRef Text, llvm::ArrayRef<Tunable> All,
                              llvm::ArrayRef<uint32_t> Values) {
  assert(All.size() == Values.size() && "a value for each");
  std::vector<Edit> Edits;
  for (size_t I = 0; I < All.size(); ++I)
    Edits.push_back({All[I].Digits, std::to_string(Values[I])});
  return applyEdits(Text, std::move(Edits));
}
