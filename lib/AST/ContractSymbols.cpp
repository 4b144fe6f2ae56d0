//===- ContractSymbols.cpp - Signatures and exported symbols -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractFindings.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace stark;
using namespace clang;
using llvm::StringRef;

namespace {

enum class Side { Host, Kernel, Device };

struct Symbol {
  std::string Name, Type;
  Side Where = Side::Host;
  bool ExternC = false, External = false, Template = false, Inline = false;
  bool Defined = false, InHeader = false, Variable = false;
  std::vector<std::string> Defaults; ///< of the parameters that have one
  unsigned Line = 0;
};

class SymbolReader {
public:
  explicit SymbolReader(const ParsedSource &Source)
      : Unit(Source.unit()), SM(Unit.getSourceManager()),
        Policy(Unit.getASTContext().getPrintingPolicy()) {
    Policy.SuppressTagKeyword = true;
  }

  std::vector<Symbol> run() {
    for (auto I = Unit.top_level_begin(), E = Unit.top_level_end(); I != E; ++I)
      declaration(*I);
    return std::move(Symbols);
  }

private:
  void declaration(Decl *D) {
    if (!D || D->isImplicit() || !D->getLocation().isValid() ||
        !SM.isInMainFile(SM.getExpansionLoc(D->getLocation())))
      return;
    if (isa<NamespaceDecl>(D) || isa<LinkageSpecDecl>(D) ||
        isa<ExportDecl>(D)) {
      for (Decl *Inner : cast<DeclContext>(D)->decls())
        declaration(Inner);
      return;
    }
    if (auto *Template = dyn_cast<FunctionTemplateDecl>(D)) {
      function(Template->getTemplatedDecl(), true);
      for (FunctionDecl *F : Template->specializations())
        if (F->getTemplateSpecializationKind() ==
            TSK_ExplicitInstantiationDefinition)
          function(F, false);
    } else if (auto *F = dyn_cast<FunctionDecl>(D)) {
      function(F, false);
    } else if (auto *V = dyn_cast<VarDecl>(D)) {
      variable(V);
    }
  }

  void function(FunctionDecl *F, bool Template) {
    Symbol S;
    llvm::raw_string_ostream Out(S.Name);
    F->getNameForDiagnostic(Out, Policy, /*Qualified=*/true);
    S.Type = F->getType().getCanonicalType().getAsString(Policy);
    S.Where = F->hasAttr<CUDAGlobalAttr>() ? Side::Kernel
              : F->hasAttr<CUDADeviceAttr>() && !F->hasAttr<CUDAHostAttr>()
                  ? Side::Device
                  : Side::Host;
    S.ExternC = F->isExternC();
    S.External = F->isExternallyVisible();
    S.Template = Template || F->isTemplated();
    S.Inline = F->isInlined();
    S.Defined = F->isThisDeclarationADefinition() ||
                F->getTemplateSpecializationKind() ==
                    TSK_ExplicitInstantiationDefinition;
    for (const FunctionDecl *Other : F->redecls())
      S.InHeader |= !SM.isInMainFile(SM.getExpansionLoc(Other->getLocation()));
    for (const ParmVarDecl *P : F->parameters())
      if (P->hasDefaultArg() && !P->hasUninstantiatedDefaultArg() &&
          !P->hasUnparsedDefaultArg())
        S.Defaults.push_back(defaultText(P));
    S.Line = SM.getExpansionLineNumber(F->getLocation());
    Symbols.push_back(std::move(S));
  }

  /// The default's own tokens, so that a change of white space is none.
  std::string defaultText(const ParmVarDecl *P) const {
    CharSourceRange R = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(P->getDefaultArgRange()), SM,
        Unit.getLangOpts());
    std::string Text = std::to_string(P->getFunctionScopeIndex()) + "=";
    Spellings Names;
    SourceTokens T(Lexer::getSourceText(R, SM, Unit.getLangOpts()), Names);
    for (size_t I = 0; I < T.All.size(); ++I)
      Text += (I ? " " : "") + T.text(I).str();
    return Text;
  }

  void variable(VarDecl *V) {
    if (V->isThisDeclarationADefinition() == VarDecl::DeclarationOnly)
      return;
    Symbol S;
    S.Variable = true;
    S.Name = V->getQualifiedNameAsString();
    S.Type = V->getType().getCanonicalType().getAsString(Policy);
    auto Written = [](const Attr *A) { return A && !A->isImplicit(); };
    bool Device = Written(V->getAttr<CUDADeviceAttr>()) ||
                  Written(V->getAttr<CUDAConstantAttr>()) ||
                  Written(V->getAttr<CUDASharedAttr>());
    S.External = V->isExternallyVisible() && !Device;
    S.Inline = V->isInline();
    S.Template = V->isTemplated();
    S.ExternC = V->isExternC();
    S.Defined = true;
    S.Line = SM.getExpansionLineNumber(V->getLocation());
    Symbols.push_back(std::move(S));
  }

  ASTUnit &Unit;
  const SourceManager &SM;
  PrintingPolicy Policy;
  std::vector<Symbol> Symbols;
};

class SymbolComparison {
public:
  SymbolComparison(const ContractText &Source, const ContractText &Candidate,
                   StringRef Entry, bool Unsure)
      : Old(SymbolReader(Source.Source).run()),
        New(SymbolReader(Candidate.Source).run()), Candidate(Candidate),
        Entry(Entry), Unsure(Unsure) {}

  std::vector<Violation> run() {
    entry();
    for (const Symbol &S : Old)
      if (S.Defined && !isEntry(S))
        kept(S);
    for (const Symbol &S : New)
      if (exported(S) && !find(Old, S, true) && !isEntry(S))
        added(S);
    return std::move(Violations);
  }

private:
  /// A symbol that the linker shows to other files.
  static bool exported(const Symbol &S) {
    return S.Defined && S.External && !S.Template && !S.Inline &&
           (S.Variable || S.Where == Side::Host);
  }

  /// One of \p In with S's name and, when \p Exact, its type.
  static const Symbol *find(const std::vector<Symbol> &In, const Symbol &S,
                            bool Exact) {
    const Symbol *Found = nullptr;
    for (const Symbol &Other : In)
      if (Other.Name == S.Name && Other.Variable == S.Variable &&
          (!Exact || Other.Type == S.Type))
        if (!Found || (Other.Defined && !Found->Defined))
          Found = &Other;
    return Found;
  }

  void complain(unsigned Line, std::string Message) {
    Violations.push_back({Line, false, std::move(Message)});
  }

  bool isEntry(const Symbol &S) const {
    StringRef Name = StringRef(Entry).split('<').first;
    Name.consume_front("::");
    return !Entry.empty() && !S.Variable &&
           StringRef(S.Name).split('<').first == Name;
  }

  bool spelled(StringRef Qualified) const {
    StringRef Name = Qualified.split('<').first;
    Name = Name.substr(
        Name.rfind(':') == StringRef::npos ? 0 : Name.rfind(':') + 1);
    for (const Piece &P : Candidate.Pieces)
      if (P.Name == Name)
        return true;
    return false;
  }

  void entry() {
    if (Entry.empty())
      return;
    bool Any = false;
    for (const Symbol &S : Old) {
      if (!isEntry(S) || !S.Defined)
        continue;
      Any = true;
      const Symbol *Now = find(New, S, true);
      const Symbol *Named = Now ? Now : find(New, S, false);
      std::string What = "entry '" + S.Name + "' ";
      if (!Named || !Named->Defined) {
        if (!Unsure || !spelled(S.Name))
          complain(0, What + "is missing; it must stay as the source has it");
        continue;
      }
      if (!Now) {
        complain(Named->Line,
                 What + "was '" + S.Type + "', is now '" + Named->Type + "'");
        continue;
      }
      if (Now->Where != S.Where)
        complain(Now->Line, What + "must stay " + sideName(S.Where) +
                                ", is now " + sideName(Now->Where));
      if (Now->ExternC != S.ExternC)
        complain(Now->Line, What + (S.ExternC ? "was extern \"C\", is not now"
                                              : "is now extern \"C\""));
      if (Now->External != S.External)
        complain(Now->Line,
                 What + (S.External ? "was visible to other files, is now "
                                      "internal"
                                    : "was internal, is now visible to "
                                      "other files"));
      if (Now->Template != S.Template)
        complain(Now->Line, What + (S.Template ? "was a template, is not now"
                                               : "is now a template"));
      if (Now->Inline && !S.Inline)
        complain(Now->Line, What + "is now inline");
      std::vector<std::string> Defaults = defaults(New, S);
      if (Defaults != defaults(Old, S))
        complain(Now->Line, What + "has other default arguments than before");
    }
    if (!Any)
      complain(0, "the source defines no function '" + Entry + "'");
  }

  /// Of all declarations of \p S together.
  static std::vector<std::string> defaults(const std::vector<Symbol> &In,
                                           const Symbol &S) {
    std::set<std::string> All;
    for (const Symbol &Other : In)
      if (Other.Name == S.Name && Other.Type == S.Type)
        All.insert(Other.Defaults.begin(), Other.Defaults.end());
    return {All.begin(), All.end()};
  }

  static std::string sideName(Side S) {
    return S == Side::Kernel   ? "a kernel"
           : S == Side::Device ? "a device function"
                               : "a host function";
  }

  /// Other files may use \p S of the source: the candidate must have it too.
  void kept(const Symbol &S) {
    bool Kernel = S.Where == Side::Kernel && S.External && !S.Template;
    bool Device = S.Where == Side::Device && S.External && S.InHeader;
    if (!exported(S) && !Kernel && !Device)
      return;
    const Symbol *Now = find(New, S, true);
    const Symbol *Named = Now ? Now : find(New, S, false);
    std::string What = (S.Variable                ? "variable '"
                        : S.Where == Side::Kernel ? "kernel '"
                                                  : "function '") +
                       S.Name + "' ";
    if (!Named || !Named->Defined) {
      // A kernel that became a template keeps its name.
      for (const Symbol &Other : New)
        if (Kernel && !S.ExternC && !S.InHeader && Other.Name == S.Name)
          return;
      if (!Unsure || !spelled(S.Name))
        complain(0, What + "is missing; other files may use it");
      return;
    }
    // Kernels are launched from their own file: only what a header or a C name
    // offers to others pins their parameters.
    if (Kernel && !S.ExternC && !S.InHeader)
      return;
    if (!Now)
      complain(Named->Line, What + "was '" + S.Type + "', is now '" +
                                Named->Type + "'; other files may use it");
    else if (Now->ExternC != S.ExternC)
      complain(Now->Line, What + (S.ExternC ? "was extern \"C\", is not now"
                                            : "is now extern \"C\""));
    else if (!Now->External)
      complain(Now->Line, What + "was visible to other files, is now internal");
    else if (Now->Template || Now->Inline)
      complain(Now->Line, What + "is now inline or a template; other files may "
                                 "not find it");
  }

  void added(const Symbol &S) {
    if (find(Old, S, false) && !S.Variable) {
      const Symbol *Before = find(Old, S, false);
      if (exported(*Before) && !find(New, *Before, true))
        return; // said already: its type changed
    }
    complain(S.Line, std::string("adds exported ") +
                         (S.Variable ? "variable '" : "function '") + S.Name +
                         "'; make it static or put it into an anonymous "
                         "namespace");
  }

  std::vector<Symbol> Old, New;
  const ContractText &Candidate;
  std::string Entry;
  bool Unsure;
  std::vector<Violation> Violations;
};
} // namespace

std::vector<Violation> stark::symbolViolations(const ContractText &Source,
                                               const ContractText &Candidate,
                                               StringRef Entry, bool Unsure) {
  return SymbolComparison(Source, Candidate, Entry, Unsure).run();
}
