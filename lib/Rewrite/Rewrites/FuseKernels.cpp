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
///     first<<<blocks, 256>>>(x, y);
///     second<<<blocks, 256>>>(y, z);
/// ->
///     first_second<<<blocks, 256>>>(x, y, z);
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

#include "Analysis/LaunchPair.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OddDefault("a parameter of '%0' has a default or no name");
static constexpr ReasonKind
    OddParameter("'%0' of '%1' is not a plain parameter");
static constexpr ReasonKind ArgumentHas("an argument of '%0' has %1");
static constexpr ReasonKind
    VariableArguments("'%0' has a variable number of arguments");
static constexpr ReasonKind NoCopy("the body of '%0' cannot be copied");
static constexpr ReasonKind
    LaunchNotEditable("a launch of them cannot be edited");
static constexpr ReasonKind
    HostNotEditable("the function that launches them cannot be edited");
static constexpr ReasonKind
    ScopesDiffer("they stand in different namespaces or classes");
static constexpr ReasonKind
    DefinedAfter("'%0' is defined after the function that launches it");
static constexpr ReasonKind OfKernel("'%0': %1");

static constexpr CodeTemplate Part(R"cuda(

static __device__ __forceinline__ void $name($parameters) $body)cuda");

static constexpr CodeTemplate Fused(R"cuda(

static __global__ void $name($parameters) {
$calls}
)cuda");

namespace {
/// A parameter of the new kernel: one for what both are given alike, so that
/// the compiler sees that the second reads what the first wrote.
struct FusedParameter {
  const Expr *Argument;
  std::string Name;
  QualType Type;
};
} // namespace

/// The launch that \p S is, when it is nothing else.
static const Launch *launchOf(const Facts &F, const Stmt *S) {
  const auto *E = llvm::dyn_cast_or_null<Expr>(S);
  if (const auto *Clean = llvm::dyn_cast_or_null<ExprWithCleanups>(E))
    E = Clean->getSubExpr();
  for (const std::unique_ptr<Launch> &L : F.launches())
    if (E && L->Call == E)
      return L.get();
  return nullptr;
}

/// Launches that stand side by side.
static std::vector<std::pair<const Launch *, const Launch *>>
neighbours(const Facts &F) {
  std::set<const FunctionDecl *> Seen;
  std::vector<std::pair<const Launch *, const Launch *>> Found;
  for (const std::unique_ptr<Launch> &L : F.launches()) {
    if (!Seen.insert(L->Host).second)
      continue;
    forEach(L->Host->getBody(), [&](const Stmt *N) {
      const auto *Block = llvm::dyn_cast<CompoundStmt>(N);
      const Launch *Before = nullptr;
      for (size_t I = 0; Block && I < Block->size(); ++I) {
        const Launch *Here = launchOf(F, Block->body_begin()[I]);
        if (Before && Here)
          Found.emplace_back(Before, Here);
        Before = Here;
      }
    });
  }
  return Found;
}

/// The kernel's text can become a function of its own.
static WhyNot whyNotSeparate(const Facts &F, const LaunchSide &S) {
  for (const ParmVarDecl *P : S.K->F->parameters()) {
    QualType T = P->getType();
    if (P->hasDefaultArg() || P->getName().empty())
      return Reason(OddDefault, S.K->name());
    bool Plain =
        T->isArithmeticType() || T->isEnumeralType() || T->isRecordType() ||
        (T->isPointerType() && (T->getPointeeType()->isArithmeticType() ||
                                T->getPointeeType()->isRecordType()));
    if (!Plain || F.text(S.argumentOf(P)).empty())
      return Reason(OddParameter, nameOf(P), S.K->name());
    if (std::optional<Reason> Met = impurityOf(S.argumentOf(P), F.context()))
      return Reason(ArgumentHas, S.K->name(), *Met);
  }
  if (S.L->Call->getNumArgs() != S.K->F->getNumParams())
    return Reason(VariableArguments, S.K->name());
  // The part gets a copy of the text: a static variable would be doubled.
  bool Static =
      llvm::any_of(variablesDeclaredIn(S.K->body()),
                   [](const VarDecl *V) { return !V->hasLocalStorage(); });
  if (Static || F.text(S.K->body()).empty())
    return Reason(NoCopy, S.K->name());
  return std::nullopt;
}

static WhyNot whyNot(const Facts &F, const LaunchPair &Pair) {
  for (const LaunchSide &S : Pair)
    if (!S.L->At || !S.L->At->editable())
      return Reason(LaunchNotEditable);
  const Site *Host = Pair[0].L->HostAt;
  if (!Host || !Host->editable())
    return Reason(HostNotEditable);
  if (WhyNot Why = whyNotOneLaunch(F, Pair))
    return Why;
  for (const LaunchSide &S : Pair)
    if (WhyNot Why = whyNotSeparate(F, S))
      return Why;
  if (Pair[0].K->F->getLexicalDeclContext() !=
      Pair[1].K->F->getLexicalDeclContext())
    return Reason(ScopesDiffer);
  for (const LaunchSide &S : Pair)
    if (S.K->Bytes.End > Host->Bytes.Begin)
      return Reason(DefinedAfter, S.K->name());
  return whyThreadsMeet(F, Pair);
}

/// Unset when one of the kernels is of another kind.
static std::optional<OrReason<LaunchPair>>
pairOf(const Facts &F, const Launch *First, const Launch *Second) {
  LaunchPair Pair;
  WhyNot Why;
  for (unsigned I = 0; I < 2; ++I) {
    LaunchSide &S = Pair[I];
    S.L = I ? Second : First;
    for (const Kernel &K : F.kernels())
      if (llvm::is_contained(K.Launches, S.L))
        S.K = &K;
    if (!S.K || S.K->Problem || S.K->IsTemplate)
      return std::nullopt;
    std::optional<OrReason<ElementKernel>> Shape = readElementKernel(F, *S.K);
    if (!Shape)
      return std::nullopt;
    if (*Shape)
      S.Shape = **Shape;
    else if (!Why)
      Why = Reason(OfKernel, S.K->name(), Shape->why());
  }
  if (!Why)
    Why = whyNot(F, Pair);
  if (Why)
    return *Why;
  return Pair;
}

static void find(const Facts &F, const Visitor<LaunchPair> &Out) {
  for (auto [First, Second] : neighbours(F)) {
    std::optional<OrReason<LaunchPair>> Pair =
        First->At ? pairOf(F, First, Second) : std::nullopt;
    if (Pair && *Pair)
      Out.fits(**Pair);
    else if (Pair)
      Out.refuse(*First->At, Pair->why());
  }
}

static Match describe(const Facts &, const LaunchPair &P) {
  const Launch &First = *P[0].L;
  const std::string &A = P[0].K->name(), &B = P[1].K->name();
  std::vector<std::string> Sites{First.HostAt->Id, A};
  if (B != A)
    Sites.push_back(B);
  Match M = matchAt(
      *First.At, std::move(Sites), 75, "Launch two kernels as one",
      "'" + A + "' and '" + B +
          "' are launched one after the other over the same elements, and "
          "each thread of the second uses nothing of the first but its own "
          "element. Make one kernel of both: what the first wrote need not be "
          "loaded again, and a launch is saved.");
  M.Alone = true;
  return M;
}

/// "const float *x".
static std::string declaration(const Facts &F, QualType T, std::string Name) {
  T.getAsStringInternal(Name, F.context().getPrintingPolicy());
  return Name;
}

template <typename Range, typename Text>
static std::string commaList(const Range &All, Text TextOf) {
  std::string List;
  for (const auto &Each : All)
    List += (List.empty() ? "" : ", ") + TextOf(Each);
  return List;
}

/// The parameter of the new kernel that \p P of \p S becomes.
static const FusedParameter &parameterFor(const Facts &F, const LaunchSide &S,
                                          const ParmVarDecl *P,
                                          std::vector<FusedParameter> &All) {
  const Expr *Argument = S.argumentOf(P);
  // Not restrict: the other part may have the same pointer.
  QualType T = P->getType().getUnqualifiedType();
  for (FusedParameter &Each : All) {
    if (!isSameTree(Each.Argument, Argument, F.context()))
      continue;
    if (F.context().hasSameType(Each.Type, T))
      return Each;
    if (T->isPointerType() && Each.Type->isPointerType() &&
        F.context().hasSameUnqualifiedType(T->getPointeeType(),
                                           Each.Type->getPointeeType())) {
      if (!T->getPointeeType().isConstQualified())
        Each.Type = T;
      return Each;
    }
  }
  std::string Fresh = nameOf(P);
  for (unsigned N = 2; llvm::any_of(
           All, [&](const FusedParameter &Each) { return Each.Name == Fresh; });
       ++N)
    Fresh = nameOf(P) + std::to_string(N);
  All.push_back({Argument, Fresh, T});
  return All.back();
}

/// The second launch goes, with its line when it has one of its own.
static Range secondLaunch(const Facts &F, Range First, Range Second) {
  size_t Begin = Second.Begin;
  while (Begin > First.End && isspace((unsigned char)F.text()[Begin - 1]))
    --Begin;
  if (!F.text().slice(First.End, Begin).trim().empty())
    Begin = Second.Begin;
  return {Begin, Second.End};
}

/// The kernel's text as a device function, whose returns end only this part.
static std::string partText(const Facts &F, const Kernel &K,
                            const std::string &Name) {
  return llvm::cantFail(
      Part.fill({{"name", Name},
                 {"parameters", commaList(K.F->parameters(),
                                          [&](const ParmVarDecl *Q) {
                                            return declaration(F, Q->getType(),
                                                               nameOf(Q));
                                          })},
                 {"body", F.text(K.body())}}));
}

static OrReason<Changes> write(const Facts &F, const LaunchPair &P) {
  std::vector<FusedParameter> All;
  std::string Calls;
  Changes Made;
  std::map<const Kernel *, std::string> Parts;
  for (const LaunchSide &S : P) {
    auto [At, New] = Parts.try_emplace(S.K);
    if (New) {
      At->second = F.freshName(nameOf(S.K->F) + "_part");
      Made.write({S.K->Bytes.End, S.K->Bytes.End},
                 partText(F, *S.K, At->second));
    }
    std::vector<std::string> Given;
    for (const ParmVarDecl *Q : S.K->F->parameters())
      Given.push_back(parameterFor(F, S, Q, All).Name);
    Calls += "  " + At->second + "(" +
             commaList(Given, [](const std::string &Each) { return Each; }) +
             ");\n";
  }
  std::string Name = F.freshName(nameOf(P[0].K->F) + "_" + nameOf(P[1].K->F));
  auto Declared = [&](const FusedParameter &Each) {
    return declaration(F, Each.Type, Each.Name);
  };
  std::string Kernel =
      llvm::cantFail(Fused.fill({{"name", Name},
                                 {"parameters", commaList(All, Declared)},
                                 {"calls", Calls}}));
  size_t Last = std::max(P[0].K->Bytes.End, P[1].K->Bytes.End);
  Made.write({Last, Last}, llvm::StringRef(Kernel).rtrim());
  const Launch &First = *P[0].L;
  std::optional<Range> A = F.statementRange(First.Call),
                       B = F.statementRange(P[1].L->Call);
  std::string Grid = F.text(First.Grid), Block = F.text(First.Block), Stream;
  bool InStream = !isNothing(F, First.Stream, First);
  if (InStream)
    Stream = F.text(First.Stream);
  if (!A || !B || Grid.empty() || Block.empty() || (InStream && Stream.empty()))
    return Reason(why::InMacro, "part of a launch");
  std::string Arguments = commaList(
      All, [&](const FusedParameter &Each) { return F.text(Each.Argument); });
  Made.write(*A, Name + "<<<" + Grid + ", " + Block +
                     (InStream ? ", 0, " + Stream : "") + ">>>(" + Arguments +
                     ");");
  Made.replace(secondLaunch(F, *A, *B), "");
  return Made;
}

STARK_REWRITE(FuseKernels, "fuse-kernels")
