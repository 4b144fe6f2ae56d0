//===- FactsFinder.cpp - Finds kernels and launches -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactsFinder.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

namespace {
/// The functions that the file itself defines, and how often each function is
/// named there.
class FunctionVisitor : public RecursiveASTVisitor<FunctionVisitor> {
public:
  explicit FunctionVisitor(const SourceManager &SM) : SM(SM) {}
  std::vector<const FunctionDecl *> Defined;
  std::map<const FunctionDecl *, int> Named;

  bool inMainFile(SourceLocation L) const {
    return L.isValid() && SM.isInMainFile(SM.getExpansionLoc(L));
  }

  bool TraverseDecl(Decl *D) {
    if (D && !llvm::isa<TranslationUnitDecl>(D) && D->getLocation().isValid() &&
        !inMainFile(D->getLocation()) && !inMainFile(D->getBeginLoc()) &&
        !inMainFile(D->getEndLoc()))
      return true;
    return RecursiveASTVisitor::TraverseDecl(D);
  }

  bool VisitFunctionDecl(FunctionDecl *D) {
    if (D->isThisDeclarationADefinition() && D->getBody() &&
        !D->isTemplateInstantiation() && inMainFile(D->getLocation()))
      Defined.push_back(D);
    return true;
  }

  /// Calls that ask about a kernel or set what it may use, and launch nothing.
  bool VisitCallExpr(CallExpr *C) {
    llvm::StringRef Name = calleeOf(C);
    if (Name.starts_with("cudaOccupancy") || Name.starts_with("cudaFuncSet") ||
        Name.starts_with("cudaFuncGet"))
      forEach(C, [&](const Stmt *N) {
        const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
        const auto *D =
            Ref ? llvm::dyn_cast<FunctionDecl>(Ref->getDecl()) : nullptr;
        if (D && D->hasAttr<CUDAGlobalAttr>())
          --Named[patternOf(D)];
      });
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    if (const auto *D = llvm::dyn_cast<FunctionDecl>(E->getDecl()))
      ++Named[patternOf(D)];
    return true;
  }

  bool VisitOverloadExpr(OverloadExpr *E) {
    for (const NamedDecl *N : E->decls())
      if (const FunctionDecl *D = N->getUnderlyingDecl()->getAsFunction())
        Named[patternOf(D)] += 2;
    return true;
  }

private:
  const SourceManager &SM;
};
} // namespace

bool FactsFinder::inMainFile(SourceLocation L) const {
  const SourceManager &SM = F.context().getSourceManager();
  return L.isValid() && SM.isInMainFile(SM.getExpansionLoc(L));
}

/// What Clang made of \p T; empty when the file has another text for some
/// arguments, or too many of them.
static std::vector<const FunctionDecl *>
instancesOf(const FunctionTemplateDecl *T) {
  constexpr size_t Most = 16;
  std::vector<const FunctionDecl *> Made;
  for (const FunctionDecl *D : T->specializations()) {
    if (D->getTemplateSpecializationKind() == TSK_ExplicitSpecialization)
      return {};
    const FunctionDecl *Text = nullptr;
    if (D->hasBody(Text))
      Made.push_back(Text);
  }
  return Made.size() > Most ? std::vector<const FunctionDecl *>() : Made;
}

void FactsFinder::addKernel(const FunctionDecl *D) {
  SourceRange Whole = D->getSourceRange();
  const FunctionDecl *Text = D;
  if (const FunctionTemplateDecl *T = D->getDescribedFunctionTemplate()) {
    Whole = T->getSourceRange();
    std::vector<const FunctionDecl *> All = instancesOf(T);
    F.MostInstances = std::max(F.MostInstances, unsigned(All.size()));
    if (!All.empty())
      Text = All[F.Instance % All.size()];
  }
  std::optional<Range> Bytes = F.range(Whole);
  const Site *At = Bytes ? F.siteAt(SiteKind::Kernel, *Bytes) : nullptr;
  if (!At)
    return;
  Kernel K;
  K.F = Text;
  K.At = At;
  K.Bytes = *Bytes;
  K.IsTemplate = Text != D;
  K.Parents = std::make_unique<ParentMap>(Text->getBody());
  K.Problem = problemOf(K);
  K.LaunchedElsewhere = launchedElsewhere(D);
  K.LaunchedByWorkload =
      K.LaunchedElsewhere &&
      K.LaunchedElsewhere->str() == Reason(why::ByWorkload).str();
  F.AllKernels.push_back(std::move(K));
}

/// The line that uses what tells threads apart otherwise than as what it is; 0:
/// none.
static unsigned oddThreadIndex(const Facts &F, const Kernel &K) {
  unsigned Odd = 0;
  forEach(K.body(), [&](const Stmt *N) {
    if (const auto *P = llvm::dyn_cast<PseudoObjectExpr>(N);
        P && !builtinIndex(P))
      Odd = F.lineOf(N);
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Ref || !Ref->getDecl()->getIdentifier())
      return;
    const Stmt *Up = K.parent(N);
    bool Member = llvm::isa_and_nonnull<MemberExpr>(Up) &&
                  builtinIndex(llvm::cast<Expr>(Up));
    if (llvm::is_contained(
            {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"},
            Ref->getDecl()->getName()) &&
        !Member)
      Odd = F.lineOf(N);
  });
  return Odd;
}

WhyNot FactsFinder::problemOf(const Kernel &K) const {
  if (!K.At->editable())
    return Reason(why::KernelNotEditable, K.At->Against.str());
  if (K.F->isDependentContext() || K.F->getDescribedFunctionTemplate())
    return Reason(why::KernelIsTemplate);
  for (const Site &S : F.In.All->All)
    if (K.Bytes.contains(S.Bytes) && S.Against.isError())
      return Reason(why::KernelHasError, S.Against.str());
  bool Broken = false, Jumps = false;
  forEach(K.body(), [&](const Stmt *N) {
    if (const auto *E = llvm::dyn_cast<Expr>(N))
      Broken |= E->containsErrors();
    Jumps |= llvm::isa<GotoStmt, IndirectGotoStmt, LabelStmt, GCCAsmStmt,
                       MSAsmStmt, CXXTryStmt>(N);
  });
  if (unsigned Line = oddThreadIndex(F, K))
    return Reason(why::OddThreadIndex, Line);
  if (Broken)
    return Reason(why::KernelNotResolved);
  if (Jumps)
    return Reason(why::KernelJumps);
  if (F.hasDirective(K.Bytes))
    return Reason(why::KernelHasDirectives);
  return std::nullopt;
}

WhyNot FactsFinder::launchedElsewhere(const FunctionDecl *D) const {
  if (D->isExternC())
    return Reason(why::ExternC);
  for (const FunctionDecl *R : D->redecls())
    if (!inMainFile(R->getLocation()))
      return Reason(why::InHeader);
  if (F.In.Given && F.In.Given->Load.Launch && isEntry(F, D))
    return Reason(why::ByWorkload);
  return std::nullopt;
}

void FactsFinder::addLaunch(const CUDAKernelCallExpr *Call,
                            const FunctionDecl *Host) {
  auto L = std::make_unique<Launch>();
  L->Call = Call;
  L->Host = Host;
  if (const CallExpr *Config = Call->getConfig()) {
    auto Part = [&](unsigned I) -> const Expr * {
      return I < Config->getNumArgs() &&
                     !llvm::isa<CXXDefaultArgExpr>(Config->getArg(I))
                 ? Config->getArg(I)
                 : nullptr;
    };
    L->Grid = Part(0);
    L->Block = Part(1);
    L->Shared = Part(2);
    L->Stream = Part(3);
  }
  L->At = F.siteAt(SiteKind::Launch, Call);
  if (L->At)
    for (const Site &S : F.In.All->All)
      if (S.Kind == SiteKind::Host && S.Bytes.contains(L->At->Bytes))
        L->HostAt = &S;
  F.AllLaunches.push_back(std::move(L));
}

void FactsFinder::addHost(const FunctionDecl *D) {
  size_t Before = F.AllLaunches.size();
  forEach(D->getBody(), [&](const Stmt *N) {
    if (const auto *C = llvm::dyn_cast<CUDAKernelCallExpr>(N))
      addLaunch(C, D);
  });
  if (F.AllLaunches.size() > Before)
    F.Hosts.emplace(D,
                    HostFunction{D, std::make_unique<ParentMap>(D->getBody())});
}

void FactsFinder::measure(Launch &L) const {
  std::array<const Expr *, 3> Parts = F.dimensions(L.Block, L);
  if (!Parts[0])
    return;
  std::array<uint64_t, 3> Size{1, 1, 1};
  for (unsigned I = 0; I < 3; ++I) {
    if (!Parts[I])
      continue;
    std::optional<uint64_t> Value = F.constantOf(Parts[I], L);
    if (!Value)
      return;
    Size[I] = *Value;
  }
  L.BlockSize = Size;
}

/// How often \p Name is launched in the words of \p Text.
static unsigned launchesInText(llvm::StringRef Text, llvm::StringRef Name) {
  unsigned Count = 0;
  forEachWord(Text, Name, [&](size_t End) {
    llvm::StringRef Left = Text.substr(End).ltrim();
    // The arguments of a template stand in between.
    unsigned Open = 0;
    while (!Left.empty() && !Left.starts_with("<<<") &&
           (Open || Left.front() == '<')) {
      Open += Left.front() == '<';
      Open -= Left.front() == '>';
      Left = Left.drop_front();
      if (!Open)
        Left = Left.ltrim();
      if (Left.starts_with(";"))
        break;
    }
    Count += Left.starts_with("<<<");
  });
  return Count;
}

void FactsFinder::run() {
  FunctionVisitor Visitor(F.context().getSourceManager());
  Visitor.TraverseDecl(
      const_cast<TranslationUnitDecl *>(F.context().getTranslationUnitDecl()));
  for (const FunctionDecl *D : Visitor.Defined) {
    if (D->hasAttr<CUDAGlobalAttr>())
      addKernel(D);
    else if (!D->isDependentContext())
      addHost(D);
  }
  for (const std::unique_ptr<Launch> &L : F.AllLaunches) {
    measure(*L);
    const FunctionDecl *Callee = L->Call->getDirectCallee();
    for (Kernel &K : F.AllKernels)
      if (Callee && patternOf(Callee) == patternOf(K.F))
        K.Launches.push_back(L.get());
  }
  // Anything but a plain launch that names the kernel: its address is taken, it
  // is launched by a function, or in text that was skipped or not understood.
  for (Kernel &K : F.AllKernels) {
    if (K.LaunchedElsewhere)
      continue;
    if (Visitor.Named[patternOf(K.F)] > int(K.Launches.size()))
      K.LaunchedElsewhere = Reason(why::NamedOtherwise);
    else if (launchesInText(F.code(), nameOf(K.F)) > K.Launches.size())
      K.LaunchedElsewhere = Reason(why::LaunchNotParsed);
  }
}
