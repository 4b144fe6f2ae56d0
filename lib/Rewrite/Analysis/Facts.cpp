//===- Facts.cpp - Kernels, launches and arguments ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include "FactsFinder.h"
#include "stark/AST/CalledName.h"
#include "stark/Task/Expression.h"
#include "clang/AST/Attr.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

Facts::Facts(const RewriteInput &In, unsigned Instance)
    : SourceText(*In.Source), In(In), Instance(Instance) {
  FactsFinder(*this).run();
}

const FunctionDecl *stark::patternOf(const FunctionDecl *D) {
  if (const FunctionDecl *Pattern = D->getTemplateInstantiationPattern())
    D = Pattern;
  return D->getCanonicalDecl();
}

bool stark::isEntry(const Facts &F, const FunctionDecl *D) {
  return F.In.Given &&
         F.In.Given->Entry.IsKernel == D->hasAttr<CUDAGlobalAttr>() &&
         llvm::StringRef(F.In.Given->Entry.Name).split('<').first ==
             calledName(D);
}

std::vector<const Kernel *> Facts::openKernels() const {
  std::vector<const Kernel *> Open;
  for (const Kernel &K : AllKernels)
    if (!K.Problem)
      Open.push_back(&K);
  return Open;
}

const HostFunction *Facts::hostOf(const FunctionDecl *F) const {
  auto Found = Hosts.find(F);
  return Found == Hosts.end() ? nullptr : &Found->second;
}

const Site *Facts::siteAt(SiteKind Kind, Range Bytes) const {
  for (const Site &S : In.All->All)
    if (S.Kind == Kind && S.Bytes.Begin == Bytes.Begin)
      return &S;
  return nullptr;
}

const Site *Facts::siteAt(SiteKind Kind, const Stmt *S) const {
  std::optional<Range> R = range(S);
  return R ? siteAt(Kind, *R) : nullptr;
}

size_t Facts::beforeKernel(const Kernel &K) const {
  // Templates have no place in an extern "C" block.
  size_t At = K.Bytes.Begin;
  for (const DeclContext *C = K.F->getLexicalDeclContext(); C;
       C = C->getLexicalParent())
    if (const auto *Linkage = llvm::dyn_cast<LinkageSpecDecl>(C))
      if (std::optional<Range> R = range(Linkage->getSourceRange()))
        At = std::min(At, R->Begin);
  // Comments that belong to the kernel stay with it.
  while (At > 0) {
    size_t Line = text().rfind('\n', At - 1);
    if (Line == llvm::StringRef::npos || Line == 0 ||
        !text().slice(Line + 1, At).trim().empty())
      break;
    size_t Above = text().rfind('\n', Line);
    Above = Above == llvm::StringRef::npos ? 0 : Above + 1;
    if (!text().slice(Above, Line).ltrim().starts_with("//") || Above == 0)
      break;
    At = Above;
  }
  return At;
}

/// A word of \p Declaration that \p Code, a source, has as a macro.
static std::optional<std::string> macroAmong(llvm::StringRef Code,
                                             llvm::StringRef Declaration) {
  for (llvm::StringRef Left = Code; !Left.empty();) {
    auto [Line, Rest] = Left.split('\n');
    Left = Rest;
    Line = Line.trim();
    if (!Line.consume_front("#"))
      continue;
    Line = Line.ltrim();
    if (!Line.consume_front("define"))
      continue;
    llvm::StringRef Name = Line.ltrim().take_while(
        [](char C) { return llvm::isAlnum(C) || C == '_'; });
    bool Has = false;
    if (!Name.empty())
      forEachWord(Declaration, Name, [&](size_t) { Has = true; });
    if (Has)
      return Name.str();
  }
  return std::nullopt;
}

OrReason<Changes> Facts::declare(const Kernel &K, llvm::StringRef Name,
                                 llvm::StringRef Declaration) const {
  if (hasCode(Declaration))
    return Changes();
  if (hasWord(Name))
    return Reason(why::NameTaken, Name);
  if (std::optional<std::string> Macro = macroAmong(code(), Declaration))
    return Reason(why::NameTaken, *Macro);
  // Before every kernel that may want it later.
  size_t At = beforeKernel(K);
  const DeclContext *Space = K.F->getEnclosingNamespaceContext();
  for (const Kernel &Other : AllKernels)
    if (Other.F->getEnclosingNamespaceContext()->Equals(Space))
      At = std::min(At, beforeKernel(Other));
  Changes Made;
  Made.write({At, At}, Declaration.str() + "\n");
  return Made;
}

std::array<const Expr *, 3> Facts::dimensions(const Expr *E,
                                              const Launch &L) const {
  std::array<const Expr *, 3> Parts{};
  const HostFunction *H = hostOf(L.Host);
  for (unsigned Depth = 0; E && H && Depth < 4; ++Depth) {
    E = strip(E);
    if (E->getType()->isIntegralOrEnumerationType()) {
      Parts[0] = E;
      return Parts;
    }
    if (const VarDecl *V = variableOf(E)) {
      if (!V->hasLocalStorage() || !V->getInit() || llvm::isa<ParmVarDecl>(V) ||
          !H->keeps(V))
        return {};
      E = V->getInit();
    } else if (const auto *C = llvm::dyn_cast<CastExpr>(E);
               C && llvm::isa<CXXFunctionalCastExpr, ImplicitCastExpr>(C)) {
      E = C->getSubExpr();
    } else if (const auto *List = llvm::dyn_cast<InitListExpr>(E);
               List && List->getNumInits() == 1) {
      E = List->getInit(0);
    } else {
      const auto *Made = llvm::dyn_cast<CXXConstructExpr>(E);
      if (!Made || Made->getNumArgs() > 3 ||
          Made->getType().getUnqualifiedType().getAsString() != "dim3")
        return {};
      for (unsigned I = 0; I < Made->getNumArgs(); ++I)
        if (!llvm::isa<CXXDefaultArgExpr>(Made->getArg(I)))
          Parts[I] = strip(Made->getArg(I));
      return Parts;
    }
  }
  return {};
}

std::optional<uint64_t> Facts::constantOf(const Expr *E,
                                          const Launch &L) const {
  const HostFunction *H = hostOf(L.Host);
  if (!H)
    return std::nullopt;
  return stark::constantOf(E, context(), L.Host->getBody(), *H->Parents);
}

std::optional<uint64_t> Facts::constantOf(const Expr *E,
                                          const Kernel &K) const {
  return stark::constantOf(E, context(), K.body(), *K.Parents);
}

/// Of the launch that the workload makes; unset when it does not stay the same.
static std::optional<std::array<uint64_t, 3>>
workloadsBlock(const Workload &W) {
  llvm::SmallVector<llvm::StringRef, 3> Parts;
  llvm::StringRef(W.Launch->Block).split(Parts, ',');
  std::optional<std::array<uint64_t, 3>> Found;
  for (const Size &S : W.Sizes) {
    std::array<uint64_t, 3> Block{1, 1, 1};
    for (size_t I = 0; I < std::min<size_t>(3, Parts.size()); ++I) {
      llvm::Expected<int64_t> N = evaluateExpression(Parts[I].trim(), S.Names);
      if (!N) {
        llvm::consumeError(N.takeError());
        return std::nullopt;
      }
      if (*N < 1)
        return std::nullopt;
      Block[I] = uint64_t(*N);
    }
    if (Found && *Found != Block)
      return std::nullopt;
    Found = Block;
  }
  return Found;
}

OrReason<std::array<uint64_t, 3>> Facts::block(const Kernel &K) const {
  std::optional<std::array<uint64_t, 3>> Block;
  if (K.LaunchedElsewhere) {
    if (!K.LaunchedByWorkload)
      return *K.LaunchedElsewhere;
    Block = workloadsBlock(In.Given->Load);
    if (!Block)
      return Reason(why::BlockNotConstant);
  } else if (K.Launches.empty()) {
    return Reason(why::BlockSizeUnknown);
  }
  for (const Launch *L : K.Launches) {
    if (!L->BlockSize && K.LaunchedByWorkload)
      continue;
    if (!L->BlockSize)
      return Reason(why::BlockNotConstant);
    if (Block && *Block != *L->BlockSize)
      return Reason(why::BlockSizesDiffer);
    Block = *L->BlockSize;
  }
  return *Block;
}

OrReason<uint64_t> Facts::blockSize(const Kernel &K) const {
  OrReason<std::array<uint64_t, 3>> Block = block(K);
  if (!Block)
    return Block.why();
  if ((*Block)[1] != 1 || (*Block)[2] != 1)
    return Reason(why::BlockNotFlat);
  return (*Block)[0];
}

/// The workload's buffer, or else number, that every launch gives \p P; null
/// when unknown.
const Argument *Facts::argumentOf(const Kernel &K, const ParmVarDecl *P,
                                  bool Buffer) const {
  if (!In.Given)
    return nullptr;
  const Workload &W = In.Given->Load;
  auto Named = [&](llvm::StringRef Name) -> const Argument * {
    for (const Argument &A : W.Arguments)
      if (A.Name == Name && A.IsBuffer == Buffer)
        return &A;
    return nullptr;
  };
  if (W.Launch)
    return isEntry(*this, K.F) ? Named(P->getName()) : nullptr;
  const Argument *Found = nullptr;
  for (const Launch *L : K.Launches) {
    if (!isEntry(*this, L->Host) ||
        P->getFunctionScopeIndex() >= L->Call->getNumArgs())
      return nullptr;
    const auto *Passed = llvm::dyn_cast_or_null<ParmVarDecl>(
        variableOf(L->Call->getArg(P->getFunctionScopeIndex())));
    const HostFunction *H = hostOf(L->Host);
    if (!Passed || !H || !H->keeps(Passed))
      return nullptr;
    const Argument *A = Named(Passed->getName());
    if (!A || (Found && Found != A))
      return nullptr;
    Found = A;
  }
  return Found;
}

const Argument *Facts::bufferOf(const Kernel &K, const ParmVarDecl *P) const {
  return argumentOf(K, P, /*Buffer=*/true);
}

std::optional<uint64_t> Facts::leastOf(const Expr *E, const Kernel &K) const {
  if (std::optional<uint64_t> C = constantOf(E, K))
    return C;
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(variableOf(E));
  const Argument *A =
      P && K.keeps(P) ? argumentOf(K, P, /*Buffer=*/false) : nullptr;
  if (!A || (K.LaunchedElsewhere && !In.Given->Load.Launch))
    return std::nullopt;
  std::optional<uint64_t> Least;
  for (const Size &S : In.Given->Load.Sizes) {
    if (S.CheckOnly)
      continue;
    llvm::Expected<int64_t> N = evaluateExpression(A->Value, S.Names);
    if (!N) {
      llvm::consumeError(N.takeError());
      return std::nullopt;
    }
    Least = std::min(Least.value_or(UINT64_MAX),
                     uint64_t(std::max<int64_t>(0, *N)));
  }
  return Least;
}

WhyNot Facts::whyNotApart(const Kernel &K, const ParmVarDecl *P,
                          const ParmVarDecl *Q) const {
  if (!In.Given)
    return Reason(why::OnlyWorkload, nameOf(P), nameOf(Q));
  if (K.LaunchedElsewhere && !In.Given->Load.Launch)
    return K.LaunchedElsewhere;
  const Argument *A = bufferOf(K, P), *B = bufferOf(K, Q);
  if (!A || !B)
    return Reason(why::NotAllBuffers, nameOf(P), nameOf(Q), K.name());
  if (A == B)
    return Reason(why::SameBuffer, nameOf(P), nameOf(Q));
  return std::nullopt;
}

std::vector<const ForStmt *> stark::loopsOf(const Kernel &K) {
  std::vector<const ForStmt *> Loops;
  forEach(K.body(), [&](const Stmt *N) {
    if (const auto *Loop = llvm::dyn_cast<ForStmt>(N))
      Loops.push_back(Loop);
  });
  return Loops;
}
