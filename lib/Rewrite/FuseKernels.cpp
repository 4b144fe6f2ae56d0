//===- FuseKernels.cpp - Two kernels in one launch ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to two kernels of one element a thread (ElementKernel.h) that are
/// launched one right after the other, with the same grid, block and stream:
/// a new kernel has both bodies, and is launched in their place.
///
/// Faster, because what the first wrote is still in a register when the second
/// needs it, and one launch is saved.
///
/// Kept: thread i does for element i what thread i of the first kernel and then
/// thread i of the second did. Nothing waits for the other threads of the first
/// kernel any more, so all that both touch, with a write, must be element i
/// itself. Refused where one reads a neighbour, where two pointers are not
/// known to lie apart, where the second loads through the read-only path what
/// the first wrote, and where anything stands between the launches. Pointers
/// lie apart when the workload says so, or when one was just allocated by the
/// function that launches.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "ElementKernel.h"
#include "stark/Support/Error.h"
#include "clang/AST/Attr.h"

using namespace stark;
using namespace clang;

namespace {
class FuseKernels : public Rewrite {
public:
  llvm::StringRef name() const override { return "fuse-kernels"; }
  llvm::StringRef summary() const override {
    return "make one kernel of two that follow each other";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};

/// A launch with what is known of its kernel.
struct Side {
  const Launch *L = nullptr;
  const Kernel *K = nullptr;
  ElementKernel Shape;
};

/// Two launches that stand side by side.
class Pair {
public:
  Pair(const Facts &F, Side First, Side Second)
      : F(F), Sides{std::move(First), std::move(Second)} {}
  std::string whyNot() const;
  llvm::Expected<std::vector<Edit>> write() const;
  const Site *host() const;

private:
  const Launch &first() const { return *Sides[0].L; }
  std::string launchesDiffer() const;
  std::string whyNotSeparate(const Side &S) const;
  std::string memory() const;
  std::string nearness(const Access &A, const Access &B) const;
  const VarDecl *given(const Side &S, const Access &A) const;
  std::string whyNotApart(const VarDecl *P, const VarDecl *Q) const;
  bool isFresh(const VarDecl *V) const;
  std::string partText(const Side &S, llvm::StringRef Name) const;

  const Facts &F;
  const Side Sides[2];
};
} // namespace

static const Expr *argumentOf(const Side &S, unsigned I) {
  return S.L->Call->getArg(I);
}

/// The same text, and the same value at both places.
static bool isSame(const Facts &F, const Expr *A, const Expr *B,
                   const Launch &L) {
  if (!A || !B)
    return A == B;
  if (!isPure(A, F.context()) || !isPure(B, F.context()))
    return false;
  std::string Text = F.text(A);
  if (!Text.empty() && Text == F.text(B))
    return true;
  std::optional<uint64_t> X = F.constantOf(A, L), Y = F.constantOf(B, L);
  return X && Y && *X == *Y;
}

/// Of a grid or block: dim3 is built of its numbers, or a variable.
static bool isSameSize(const Facts &F, const Expr *A, const Expr *B,
                       const Launch &L, const Launch &M) {
  std::array<const Expr *, 3> X = F.dimensions(A, L), Y = F.dimensions(B, M);
  if (!X[0] || !Y[0])
    return isSame(F, A, B, L);
  for (unsigned I = 0; I < 3; ++I) {
    bool One = !X[I] && F.constantOf(Y[I], L) == std::optional<uint64_t>(1);
    One |= !Y[I] && F.constantOf(X[I], L) == std::optional<uint64_t>(1);
    if (!One && !isSame(F, X[I], Y[I], L))
      return false;
  }
  return true;
}

static bool isNothing(const Facts &F, const Expr *E, const Launch &L) {
  if (!E)
    return true;
  return F.constantOf(E, L) == std::optional<uint64_t>(0) ||
         E->isNullPointerConstant(const_cast<ASTContext &>(F.context()),
                                  Expr::NPC_ValueDependentIsNotNull);
}

std::string Pair::launchesDiffer() const {
  const Launch &A = *Sides[0].L, &B = *Sides[1].L;
  auto Same = [&](const Expr *X, const Expr *Y) {
    return isSame(F, X, Y, A) || (isNothing(F, X, A) && isNothing(F, Y, B));
  };
  if (!isSameSize(F, A.Grid, B.Grid, A, B))
    return "their grids differ";
  if (!isSameSize(F, A.Block, B.Block, A, B))
    return "their blocks differ";
  if (!isNothing(F, A.Shared, A) || !isNothing(F, B.Shared, B))
    return "they are launched with shared memory";
  if (!Same(A.Stream, B.Stream))
    return "their streams differ";
  std::array<const Expr *, 3> Block = F.dimensions(A.Block, A);
  std::array<const Expr *, 3> Grid = F.dimensions(A.Grid, A);
  auto IsFlat = [&](const std::array<const Expr *, 3> &D) {
    for (unsigned I = 1; I < 3; ++I)
      if (D[I] && F.constantOf(D[I], A) != std::optional<uint64_t>(1))
        return false;
    return D[0] != nullptr;
  };
  // In two dimensions several threads have the same number.
  if (!IsFlat(Block) || !IsFlat(Grid))
    return "their grid is not seen to have one dimension";
  return "";
}

std::string Pair::whyNotSeparate(const Side &S) const {
  for (const ParmVarDecl *P : S.K->F->parameters()) {
    QualType T = P->getType();
    if (P->hasDefaultArg() || P->getName().empty())
      return "a parameter of '" + S.K->name() + "' has a default or no name";
    bool Plain =
        T->isArithmeticType() || T->isEnumeralType() || T->isRecordType() ||
        (T->isPointerType() && (T->getPointeeType()->isArithmeticType() ||
                                T->getPointeeType()->isRecordType()));
    if (!Plain || F.text(argumentOf(S, P->getFunctionScopeIndex())).empty())
      return "'" + P->getNameAsString() + "' of '" + S.K->name() +
             "' is not a plain parameter";
    std::string Met;
    if (!isPure(argumentOf(S, P->getFunctionScopeIndex()), F.context(), &Met))
      return "an argument of '" + S.K->name() + "' has " + Met;
  }
  if (S.L->Call->getNumArgs() != S.K->F->getNumParams())
    return "'" + S.K->name() + "' has a variable number of arguments";
  std::string Text = F.text(S.K->body());
  // The part gets a copy of the text: a static variable would be doubled.
  bool Static = false;
  forEach(S.K->body(), [&](const Stmt *N) {
    if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
      for (const Decl *Each : D->decls())
        if (const auto *V = llvm::dyn_cast<VarDecl>(Each))
          Static |= !V->hasLocalStorage();
  });
  if (Text.empty() || Static)
    return "the body of '" + S.K->name() + "' cannot be copied";
  return "";
}

/// The host's variable that is behind the pointer of \p A, or the global array.
const VarDecl *Pair::given(const Side &S, const Access &A) const {
  const auto *P = llvm::dyn_cast_or_null<ParmVarDecl>(A.Root);
  if (!P)
    return A.Root;
  return variableOf(argumentOf(S, P->getFunctionScopeIndex()));
}

/// Memory that this very function allocated: it lies apart from all else.
bool Pair::isFresh(const VarDecl *V) const {
  const HostFunction *H = F.hostOf(first().Host);
  if (!V || !H || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V))
    return false;
  bool Allocated = false, Clean = true;
  forEach(first().Host->getBody(), [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Ref || Ref->getDecl() != V)
      return;
    const Stmt *Up = H->Parents->getParent(const_cast<DeclRefExpr *>(Ref));
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    if (Cast && Cast->getCastKind() == CK_LValueToRValue) {
      // Read, but not to make another pointer to it.
      const Stmt *Use = H->Parents->getParentIgnoreParenCasts(
          const_cast<ImplicitCastExpr *>(Cast));
      Clean &= llvm::isa_and_nonnull<CallExpr>(Use) &&
               (llvm::isa<CUDAKernelCallExpr>(Use) ||
                calleeOf(Use).starts_with("cuda"));
      return;
    }
    const Stmt *Call =
        Up ? H->Parents->getParentIgnoreParenCasts(const_cast<Stmt *>(Up))
           : nullptr;
    const auto *Address = llvm::dyn_cast_or_null<UnaryOperator>(Up);
    bool Here =
        Address && Address->getOpcode() == UO_AddrOf &&
        (calleeOf(Call) == "cudaMalloc" || calleeOf(Call) == "cudaMallocAsync");
    Allocated |= Here;
    Clean &= Here;
  });
  return Allocated && Clean;
}

std::string Pair::whyNotApart(const VarDecl *P, const VarDecl *Q) const {
  auto Name = [](const VarDecl *V) {
    return V ? "'" + V->getNameAsString() + "'" : std::string("something");
  };
  std::string Names = Name(P) + " and " + Name(Q);
  if (!P || !Q)
    return Names + " may overlap";
  // No kernel writes to constant memory.
  if (P->hasAttr<CUDAConstantAttr>() || Q->hasAttr<CUDAConstantAttr>() ||
      (P->getType()->isArrayType() && Q->getType()->isArrayType()))
    return "";
  if ((isFresh(P) && P != Q) || (isFresh(Q) && P != Q))
    return "";
  if (!F.In.T)
    return "only a workload could say that " + Names + " do not overlap";
  const HostFunction *H = F.hostOf(first().Host);
  bool Known = H && !F.In.T->Load.Launch &&
               first().Host->getQualifiedNameAsString() == F.In.T->Entry.Name;
  for (const VarDecl *V : {P, Q}) {
    bool Buffer = false;
    for (const Argument &A : F.In.T->Load.Arguments)
      Buffer |= A.IsBuffer && A.Name == V->getName();
    Known &= Buffer && llvm::isa<ParmVarDecl>(V) &&
             isNeverWritten(V, first().Host->getBody(), *H->Parents);
  }
  return Known ? ""
               : Names + " may overlap: they are not both buffers of the "
                         "workload";
}

/// Both touch memory of one buffer, and one writes: it must be the thread's own
/// element.
std::string Pair::nearness(const Access &A, const Access &B) const {
  const Access *Both[2] = {&A, &B};
  for (unsigned I = 0; I < 2; ++I) {
    const Access &Each = *Both[I];
    std::string Where = "line " + std::to_string(F.lineOf(Each.E));
    if (Each.Base != Each.Root ||
        !llvm::isa_and_nonnull<ParmVarDecl>(Each.Root))
      return "what " + Where +
             " touches is not seen to be the thread's own "
             "element";
    const VarDecl *At = Each.Index ? variableOf(Each.Index) : nullptr;
    if (At != Sides[I].Shape.I)
      return Where + " touches other elements than the thread's own of what "
                     "both kernels use";
    if (Each.Whole != Each.E)
      return Where + " loads through the read-only path what the other kernel "
                     "writes";
  }
  if (!F.context().hasSameUnqualifiedType(A.E->getType(), B.E->getType()))
    return "they see the elements of one buffer as different types";
  return "";
}

std::string Pair::memory() const {
  Accesses A(F, *Sides[0].K), B(F, *Sides[1].K);
  std::string MayOverlap;
  for (const Access &X : A.all())
    for (const Access &Y : B.all()) {
      if (!X.Store && !Y.Store)
        continue;
      if (X.Unclear || Y.Unclear || !X.Root || !Y.Root)
        return "what line " +
               std::to_string(F.lineOf(X.Unclear || !X.Root ? X.E : Y.E)) +
               " reads or writes is not known";
      const VarDecl *P = given(Sides[0], X), *Q = given(Sides[1], Y);
      // A pointer that the host changes in between it could only by an
      // argument, and those are pure.
      if (P && P == Q) {
        if (std::string Why = nearness(X, Y); !Why.empty())
          return Why;
        continue;
      }
      if (MayOverlap.empty())
        MayOverlap = whyNotApart(P, Q);
    }
  return MayOverlap;
}

const Site *Pair::host() const {
  if (first().At)
    for (const Site &Each : F.In.All->All)
      if (Each.Kind == SiteKind::Host && Each.Bytes.contains(first().At->Bytes))
        return &Each;
  return nullptr;
}

std::string Pair::whyNot() const {
  for (const Side &S : Sides)
    if (!S.L->At || !S.L->At->editable())
      return "a launch of them cannot be edited";
  const Site *Host = host();
  if (!Host || !Host->editable())
    return "the function that launches them cannot be edited";
  if (std::string Why = launchesDiffer(); !Why.empty())
    return Why;
  for (const Side &S : Sides)
    if (std::string Why = whyNotSeparate(S); !Why.empty())
      return Why;
  if (Sides[0].K->F->getLexicalDeclContext() !=
      Sides[1].K->F->getLexicalDeclContext())
    return "they stand in different namespaces or classes";
  for (const Side &S : Sides)
    if (S.K->Bytes.End > Host->Bytes.Begin)
      return "'" + S.K->name() +
             "' is defined after the function that "
             "launches it";
  return memory();
}

/// The kernel's text as a device function, whose returns end only this part.
std::string Pair::partText(const Side &S, llvm::StringRef Name) const {
  std::string Parameters;
  for (const ParmVarDecl *P : S.K->F->parameters()) {
    std::string Each = P->getNameAsString();
    P->getType().getAsStringInternal(Each, F.context().getPrintingPolicy());
    Parameters += (Parameters.empty() ? "" : ", ") + Each;
  }
  return "\n\nstatic __device__ __forceinline__ void " + Name.str() + "(" +
         Parameters + ") " + F.text(S.K->body());
}

llvm::Expected<std::vector<Edit>> Pair::write() const {
  // Parameters of the new kernel: one for what both are given alike, so that
  // the compiler sees that the second reads what the first wrote.
  struct Given {
    std::string Argument, Name;
    QualType Type;
  };
  std::vector<Given> All;
  std::string Calls;
  std::vector<Edit> Edits;
  std::vector<std::string> PartNames;
  for (const Side &S : Sides) {
    bool Again = &S != &Sides[0] && S.K == Sides[0].K;
    std::string Name = Again ? PartNames.front()
                             : F.freshName(S.K->F->getNameAsString() + "_part");
    PartNames.push_back(Name);
    if (!Again)
      Edits.push_back({{S.K->Bytes.End, S.K->Bytes.End}, partText(S, Name)});
    std::string Arguments;
    for (const ParmVarDecl *P : S.K->F->parameters()) {
      std::string Text = F.text(argumentOf(S, P->getFunctionScopeIndex()));
      // Not restrict: the other part may have the same pointer.
      QualType T = P->getType().getUnqualifiedType();
      Given *Known = nullptr;
      for (Given &G : All) {
        if (G.Argument != Text)
          continue;
        if (F.context().hasSameType(G.Type, T))
          Known = &G;
        else if (T->isPointerType() && G.Type->isPointerType() &&
                 F.context().hasSameUnqualifiedType(T->getPointeeType(),
                                                    G.Type->getPointeeType())) {
          Known = &G;
          if (!T->getPointeeType().isConstQualified())
            G.Type = T;
        }
      }
      if (!Known) {
        std::string Fresh = P->getNameAsString();
        for (unsigned N = 2;
             llvm::any_of(All, [&](const Given &G) { return G.Name == Fresh; });
             ++N)
          Fresh = P->getNameAsString() + std::to_string(N);
        All.push_back({Text, Fresh, T});
        Known = &All.back();
      }
      Arguments += (Arguments.empty() ? "" : ", ") + Known->Name;
    }
    Calls += "  " + Name + "(" + Arguments + ");\n";
  }
  std::string Fused = F.freshName(Sides[0].K->F->getNameAsString() + "_" +
                                  Sides[1].K->F->getNameAsString());
  std::string Parameters, Arguments;
  for (const Given &G : All) {
    std::string Each = G.Name;
    G.Type.getAsStringInternal(Each, F.context().getPrintingPolicy());
    Parameters += (Parameters.empty() ? "" : ", ") + Each;
    Arguments += (Arguments.empty() ? "" : ", ") + G.Argument;
  }
  size_t Last = std::max(Sides[0].K->Bytes.End, Sides[1].K->Bytes.End);
  std::string Kernel = "\n\nstatic __global__ void " + Fused + "(" +
                       Parameters + ") {\n" + Calls + "}";
  Edits.push_back({{Last, Last}, Kernel});
  std::optional<Range> A = F.statementRange(first().Call),
                       B = F.statementRange(Sides[1].L->Call);
  std::string Grid = F.text(first().Grid), Block = F.text(first().Block);
  std::string Stream = first().Stream && !isNothing(F, first().Stream, first())
                           ? F.text(first().Stream)
                           : "-";
  if (!A || !B || Grid.empty() || Block.empty() || Stream.empty())
    return failed("part of a launch stands in a macro");
  std::string Made = Fused + "<<<" + Grid + ", " + Block;
  if (Stream != "-")
    Made += ", 0, " + Stream;
  Edits.push_back({*A, Made + ">>>(" + Arguments + ");"});
  // With its line, when it has one of its own.
  size_t Begin = B->Begin, End = B->End;
  while (Begin > A->End && isspace((unsigned char)F.text()[Begin - 1]))
    --Begin;
  if (!F.code().slice(A->End, Begin).trim().empty() ||
      !F.text().slice(A->End, Begin).trim().empty())
    Begin = B->Begin;
  Edits.push_back({{Begin, End}, ""});
  return Edits;
}

/// The launch that \p S is, when it is nothing else.
static const Launch *launchOf(const Facts &F, const Stmt *S) {
  const auto *E = llvm::dyn_cast_or_null<Expr>(S);
  if (!E)
    return nullptr;
  if (const auto *Clean = llvm::dyn_cast<ExprWithCleanups>(E))
    E = Clean->getSubExpr();
  for (const std::unique_ptr<Launch> &L : F.launches())
    if (L->Call == E)
      return L.get();
  return nullptr;
}

void FuseKernels::prepare(const Facts &F, Findings &Out) const {
  std::set<const FunctionDecl *> Hosts;
  for (const std::unique_ptr<Launch> &L : F.launches())
    Hosts.insert(L->Host);
  std::vector<std::pair<const Launch *, const Launch *>> Follow;
  for (const std::unique_ptr<Launch> &L : F.launches()) {
    if (!Hosts.erase(L->Host))
      continue;
    forEach(L->Host->getBody(), [&](const Stmt *N) {
      const auto *Block = llvm::dyn_cast<CompoundStmt>(N);
      const Launch *Before = nullptr;
      if (Block)
        for (const Stmt *S : Block->body()) {
          const Launch *Here = launchOf(F, S);
          if (Before && Here)
            Follow.emplace_back(Before, Here);
          Before = Here;
        }
    });
  }
  for (auto [First, Second] : Follow) {
    Side Sides[2];
    bool Known = true;
    std::string Why;
    for (unsigned I = 0; I < 2; ++I) {
      Sides[I].L = I ? Second : First;
      for (const Kernel &K : F.kernels())
        if (llvm::is_contained(K.Launches, Sides[I].L))
          Sides[I].K = &K;
      Known &= Sides[I].K && Sides[I].K->Problem.empty();
      if (!Known)
        break;
      std::string Lacks = readElementKernel(F, *Sides[I].K, Sides[I].Shape);
      Known &= Lacks != "-";
      if (Why.empty() && !Lacks.empty())
        Why = "'" + Sides[I].K->name() + "': " + Lacks;
    }
    if (!Known || !First->At)
      continue;
    Pair P(F, Sides[0], Sides[1]);
    if (Why.empty())
      Why = P.whyNot();
    if (Why.empty())
      if (llvm::Expected<std::vector<Edit>> Try = P.write(); !Try)
        Why = llvm::toString(Try.takeError());
    if (!Why.empty()) {
      Out.refuse(First->At->Id, First->At->Line, Why);
      continue;
    }
    const std::string A = Sides[0].K->name(), B = Sides[1].K->name();
    Match M;
    M.Site = First->At->Id;
    M.Line = First->At->Line;
    M.Sites = {P.host()->Id, A};
    if (B != A)
      M.Sites.push_back(B);
    M.Alone = true;
    M.Promise = 75;
    M.Title = "Launch two kernels as one";
    M.Advice = "'" + A + "' and '" + B +
               "' are launched one after the other over the same elements, and "
               "each thread of the second uses nothing of the first but its "
               "own element. Make one kernel of both: what the first wrote "
               "need not be loaded again, and a launch is saved.";
    Out.offer(std::move(M), [P] { return P.write(); });
  }
}

std::unique_ptr<const Rewrite> stark::makeFuseKernels() {
  return std::make_unique<FuseKernels>();
}
