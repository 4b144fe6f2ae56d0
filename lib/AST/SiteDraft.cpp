//===- SiteDraft.cpp - Sites that the AST shows --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SiteDraft.h"
#include "MainFile.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Walk.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringSwitch.h"

using namespace stark;
using namespace clang;

bool stark::isLaunchingCall(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC",
             "cudaLaunchCooperativeKernel",
             "cudaLaunchCooperativeKernelMultiDevice", true)
      .Cases("cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel",
             true)
      .Default(false);
}

static bool isBarrier(llvm::StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("__syncthreads", "__syncthreads_and", "__syncthreads_or",
             "__syncthreads_count", "__syncwarp", "__barrier_sync", true)
      .Cases("sync", "arrive_and_wait", "cluster_sync", true)
      .Default(false);
}

namespace {
class Drafter : public Walker {
public:
  Drafter(const ParsedSource &Source, SiteDrafts &Into)
      : Source(Source), SM(Source.unit().getSourceManager()),
        LO(Source.unit().getLangOpts()), Into(Into) {}

  bool enters(Decl *D) override {
    // Headers hold thousands of declarations; none of them is a site.
    return D->getLocation().isInvalid() || inMainFile(D->getLocation()) ||
           inMainFile(D->getBeginLoc()) || inMainFile(D->getEndLoc());
  }

  bool onDecl(Decl *D) override {
    if (auto *F = dyn_cast<FunctionDecl>(D))
      function(F);
    else if (auto *V = dyn_cast<VarDecl>(D))
      variable(V);
    return true;
  }

  /// What kind of site a statement is, by its class. One statement may be two:
  /// each statement of a block is one whatever it is else.
  bool onStmt(Stmt *S) override {
    if (auto *Kernel = dyn_cast<CUDAKernelCallExpr>(S))
      launch(Kernel);
    else if (auto *Call = dyn_cast<CallExpr>(S))
      call(Call);
    else if (isa<ForStmt, CXXForRangeStmt>(S))
      add(SiteKind::Loop, "loop", "for", S);
    else if (isa<WhileStmt>(S))
      add(SiteKind::Loop, "loop", "while", S);
    else if (isa<DoStmt>(S))
      add(SiteKind::Loop, "loop", "do", S);
    else if (isa<IfStmt>(S))
      add(SiteKind::Branch, "branch", "if", S);
    else if (isa<SwitchStmt>(S))
      add(SiteKind::Branch, "branch", "switch", S);
    else if (auto *Declared = dyn_cast<DeclStmt>(S))
      declaration(Declared);
    else if (auto *Block = dyn_cast<CompoundStmt>(S))
      block(Block);
    else if (auto *Binary = dyn_cast<BinaryOperator>(S);
             Binary && Binary->isAssignmentOp())
      Stores.insert(Binary->getLHS()->IgnoreParenImpCasts());
    else if (auto *Subscript = dyn_cast<ArraySubscriptExpr>(S))
      access(Subscript, Subscript->getBase());
    else if (auto *Unary = dyn_cast<UnaryOperator>(S);
             Unary && Unary->getOpcode() == UO_Deref)
      access(Unary, Unary->getSubExpr());
    return true;
  }

private:
  void function(const FunctionDecl *F) {
    if (F->isImplicit() || F->isTemplateInstantiation() ||
        !inMainFile(F->getLocation()))
      return;
    bool IsKernel = F->hasAttr<CUDAGlobalAttr>();
    bool IsDevice = F->hasAttr<CUDADeviceAttr>();
    if (!F->isThisDeclarationADefinition() && !IsKernel)
      return;
    std::string Name = F->getNameAsString();
    if (const auto *Method = llvm::dyn_cast<CXXMethodDecl>(F))
      Name = Method->getParent()->getNameAsString() + "::" + Name;
    SiteDraft *D = add(IsKernel   ? SiteKind::Kernel
                       : IsDevice ? SiteKind::Device
                                  : SiteKind::Host,
                       Name, Name, wholeRange(*F));
    if (!D)
      return;
    if (IsKernel) {
      if (!F->isThisDeclarationADefinition() && !D->Against)
        D->Against = Obstacle::DeclarationOnly;
      accountAttribute(F, D->Bytes);
    }
    std::string Parameters;
    for (const ParmVarDecl *P : F->parameters())
      Parameters += (Parameters.empty() ? "" : ", ") +
                    P->getType().getAsString(LO) +
                    (P->getName().empty() ? "" : " " + P->getNameAsString());
    D->Detail = "(" + Parameters + ")";
  }

  void launch(const CUDAKernelCallExpr *C) {
    // What a macro wrote has a name all the same.
    std::string Name = textOf(C->getCallee());
    if (SourceLocation At; Name.empty())
      Name = calleeName(C, At);
    SiteDraft *D = add(SiteKind::Launch, "launch", Name, C->getSourceRange());
    const CallExpr *Config = C->getConfig();
    if (Config)
      account(Config->getBeginLoc());
    if (!D || !Config)
      return;
    static const char *const Parts[] = {"grid ", "block ", "shared ",
                                        "stream "};
    for (unsigned I = 0; I < Config->getNumArgs() && I < 4; ++I)
      if (std::string Text = textOf(Config->getArg(I));
          !Text.empty() && !llvm::isa<CXXDefaultArgExpr>(Config->getArg(I)))
        D->Detail += (I ? ", " : "") + (Parts[I] + Text);
  }

  void call(const CallExpr *C) {
    SourceLocation At;
    std::string Name = calleeName(C, At);
    if (isLaunchingCall(Name)) {
      account(At);
      add(SiteKind::Launch, "launch", Name, C->getSourceRange());
    } else if (isBarrier(Name)) {
      add(SiteKind::Barrier, "barrier", Name, C->getSourceRange());
    }
  }

  void declaration(const DeclStmt *S) {
    const auto *V = S->isSingleDecl()
                        ? llvm::dyn_cast<VarDecl>(S->getSingleDecl())
                        : nullptr;
    if (SiteDraft *D = add(SiteKind::Declaration, "decl",
                           V ? V->getNameAsString() : "", S->getSourceRange()))
      D->Detail = V && V->hasAttr<CUDASharedAttr>() ? "shared" : "";
  }

  void variable(const VarDecl *V) {
    // Those of functions are DeclStmts.
    if (V->isLocalVarDeclOrParm() || V->isImplicit() ||
        !inMainFile(V->getLocation()))
      return;
    if (SiteDraft *D = add(SiteKind::Declaration, "decl", V->getNameAsString(),
                           V->getSourceRange()))
      D->Detail = isWritten<CUDAConstantAttr>(V) ? "constant"
                  : isWritten<CUDADeviceAttr>(V) ? "device"
                                                 : "";
  }

  void block(const CompoundStmt *S) {
    for (const Stmt *Child : S->body())
      if (llvm::isa<Expr, ReturnStmt, BreakStmt, ContinueStmt, GCCAsmStmt>(
              Child))
        add(SiteKind::Statement, "stmt", "", Child->getSourceRange());
  }

  bool inMainFile(SourceLocation L) const { return isInMainFile(SM, L); }

  void add(SiteKind Kind, llvm::StringRef Stem, const char *Detail,
           const Stmt *S) {
    if (SiteDraft *D = add(Kind, Stem, "", S->getSourceRange()))
      D->Detail = Detail;
  }

  void access(const Expr *E, const Expr *Base) {
    const Expr *Root = Base->IgnoreParenImpCasts();
    while (const auto *Inner = llvm::dyn_cast<ArraySubscriptExpr>(Root))
      Root = Inner->getBase()->IgnoreParenImpCasts();
    std::string Memory = "global";
    if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(Root)) {
      const auto *V = llvm::dyn_cast<VarDecl>(Ref->getDecl());
      if (V && V->hasAttr<CUDASharedAttr>())
        Memory = "shared";
      else if (V && V->hasAttr<CUDAConstantAttr>())
        Memory = "constant";
      else if (V && V->getType()->isArrayType() && !V->hasGlobalStorage())
        return; // a local array lives in registers or local memory
    }
    bool Store = Stores.count(E);
    if (SiteDraft *D = add(SiteKind::Access, Store ? "store" : "load",
                           textOf(Root), E->getSourceRange()))
      D->Detail = Memory;
  }

  std::string calleeName(const CallExpr *C, SourceLocation &At) const {
    const Expr *Callee = C->getCallee()->IgnoreParenImpCasts();
    if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(Callee)) {
      At = Ref->getLocation();
      return Ref->getNameInfo().getAsString();
    }
    if (const auto *Lookup = llvm::dyn_cast<UnresolvedLookupExpr>(Callee)) {
      At = Lookup->getNameLoc();
      return Lookup->getNameInfo().getAsString();
    }
    if (const auto *Member = llvm::dyn_cast<MemberExpr>(Callee)) {
      At = Member->getMemberLoc();
      return Member->getMemberNameInfo().getAsString();
    }
    return "";
  }

  void account(SourceLocation L) {
    L = SM.getSpellingLoc(L);
    if (L.isValid() && SM.isInMainFile(L))
      Into.Accounted.insert(SM.getFileOffset(L));
  }

  /// The attribute may stand in a macro of the file.
  void accountAttribute(const FunctionDecl *F, Range Whole) {
    account(F->getAttr<CUDAGlobalAttr>()->getLocation());
    llvm::StringRef Text = Source.text().slice(Whole.Begin, Whole.End);
    for (size_t At = Text.find("__global__"); At != llvm::StringRef::npos;
         At = Text.find("__global__", At + 1))
      if (At < Text.find('{'))
        Into.Accounted.insert(Whole.Begin + At);
  }

  std::string textOf(const Stmt *S) const {
    if (!S)
      return "";
    CharSourceRange Chars = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(S->getSourceRange()), SM, LO);
    if (Chars.isInvalid())
      return "";
    std::string Text;
    for (char C : Lexer::getSourceText(Chars, SM, LO)) {
      bool Blank = C == ' ' || C == '\n' || C == '\r' || C == '\t';
      if (!Blank)
        Text += C;
      else if (!Text.empty() && Text.back() != ' ')
        Text += ' ';
    }
    return Text;
  }

  /// Whether one use of a macro makes all of \p Where out of the macro's own
  /// text. What stands wholly in an argument is the file's text.
  bool isMadeByMacro(SourceRange Where) const {
    SourceLocation Begin = Where.getBegin(), End = Where.getEnd();
    if (!isOneExpansion(Where, SM))
      return false;
    while (SM.isMacroArgExpansion(Begin))
      Begin = SM.getImmediateSpellingLoc(Begin);
    while (SM.isMacroArgExpansion(End))
      End = SM.getImmediateSpellingLoc(End);
    return Begin.isMacroID() || End.isMacroID();
  }

  /// The macro that the file uses at \p L.
  llvm::StringRef outermostMacro(SourceLocation L) const {
    SourceLocation Use = SM.getExpansionLoc(L);
    return Lexer::getSourceText(CharSourceRange::getTokenRange(Use, Use), SM,
                                LO);
  }

  /// Null when \p Where is not of the main file.
  SiteDraft *add(SiteKind Kind, llvm::StringRef Stem, llvm::StringRef Name,
                 SourceRange Where) {
    if (Where.isInvalid() || !inMainFile(Where.getBegin()))
      return nullptr;
    SiteDraft D;
    D.Kind = Kind;
    D.Stem = Stem;
    D.Name = Name;
    CharSourceRange Chars =
        Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Where), SM, LO);
    if (Chars.isInvalid() || !SM.isInMainFile(Chars.getBegin())) {
      // The whole of the macro's use stands for it.
      SourceLocation At =
          Where.getBegin().isMacroID() ? Where.getBegin() : Where.getEnd();
      CharSourceRange Use = SM.getExpansionRange(At);
      Chars = Lexer::makeFileCharRange(Use, SM, LO);
      if (Chars.isInvalid())
        return nullptr;
      llvm::StringRef Macro =
          At.isMacroID() ? Lexer::getImmediateMacroName(At, SM, LO) : "";
      D.Against = {Obstacle::MacroExpansion, Macro.str()};
    }
    // "MAKE(scale)" can be replaced, but not the kernel that it makes. As a
    // statement the use is what it seems.
    if (!D.Against && Kind != SiteKind::Statement && isMadeByMacro(Where))
      D.Against = {Obstacle::MacroExpansion,
                   outermostMacro(Where.getBegin()).str()};
    D.Bytes = {SM.getFileOffset(Chars.getBegin()),
               SM.getFileOffset(Chars.getEnd())};
    if (D.Bytes.Begin >= D.Bytes.End)
      return nullptr;
    D.Line = SM.getSpellingLineNumber(Chars.getBegin());
    D.EndLine = SM.getSpellingLineNumber(Chars.getEnd());
    Into.All.push_back(std::move(D));
    return &Into.All.back();
  }

  const ParsedSource &Source;
  const SourceManager &SM;
  const LangOptions &LO;
  SiteDrafts &Into;
  std::set<const Expr *> Stores;
};
} // namespace

void stark::draftFromAst(const ParsedSource &Source, SiteDrafts &Into) {
  Drafter(Source, Into).walk(Source);
}
