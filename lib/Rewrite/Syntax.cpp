//===- Syntax.cpp - Small questions about expressions ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSet.h"

using namespace stark;
using namespace clang;

/// Casts that leave what is named and its value as they are. One to a narrow
/// integer, between integers and floats, or of a pointer does not.
static bool keepsValue(const CastExpr *C) {
  switch (C->getCastKind()) {
  case CK_NoOp:
  case CK_LValueToRValue:
  case CK_ArrayToPointerDecay:
  case CK_FunctionToPointerDecay:
    return true;
  case CK_IntegralCast:
    if (const auto *T = C->getType()->getAs<BuiltinType>())
      switch (T->getKind()) {
      case BuiltinType::Int:
      case BuiltinType::UInt:
      case BuiltinType::Long:
      case BuiltinType::ULong:
      case BuiltinType::LongLong:
      case BuiltinType::ULongLong:
        return true;
      default:
        return false;
      }
    return false;
  default:
    return false;
  }
}

const Expr *stark::strip(const Expr *E) {
  while (E) {
    const Expr *Inner = E->IgnoreParens();
    if (const auto *C = llvm::dyn_cast<CastExpr>(Inner); C && keepsValue(C))
      Inner = C->getSubExpr();
    else if (const auto *T = llvm::dyn_cast<MaterializeTemporaryExpr>(Inner))
      Inner = T->getSubExpr();
    else if (const auto *C = llvm::dyn_cast<ExprWithCleanups>(Inner))
      Inner = C->getSubExpr();
    else if (const auto *B = llvm::dyn_cast<CXXBindTemporaryExpr>(Inner))
      Inner = B->getSubExpr();
    else if (const auto *Made = llvm::dyn_cast<CXXConstructExpr>(Inner);
             Made && Made->getNumArgs() == 1 &&
             Made->getConstructor()->isCopyOrMoveConstructor())
      Inner = Made->getArg(0);
    if (Inner == E)
      return E;
    E = Inner;
  }
  return E;
}

const Stmt *stark::onlyStatement(const Stmt *S) {
  while (const auto *C = llvm::dyn_cast_or_null<CompoundStmt>(S)) {
    if (C->size() != 1)
      break;
    S = C->body_front();
  }
  return S;
}

std::string stark::whyNotPlain(const Stmt *S, bool InInner) {
  if (llvm::isa<ReturnStmt, LambdaExpr, AsmStmt, SwitchStmt>(S))
    return "its body does more than compute and store";
  if (llvm::isa<BreakStmt>(S) && !InInner)
    return "it can end early";
  if (const auto *D = llvm::dyn_cast<DeclStmt>(S))
    for (const Decl *Each : D->decls()) {
      const auto *V = llvm::dyn_cast<VarDecl>(Each);
      if (!V || !V->hasLocalStorage() || V->getType()->isReferenceType())
        return "it declares something other than plain variables";
    }
  return "";
}

void stark::forEach(const Stmt *S,
                    llvm::function_ref<void(const Stmt *)> Visit) {
  if (!S)
    return;
  Visit(S);
  if (llvm::isa<PseudoObjectExpr>(S))
    return;
  for (const Stmt *Child : S->children())
    forEach(Child, Visit);
}

std::optional<BuiltinIndex> stark::builtinIndex(const Expr *E) {
  if (!E)
    return std::nullopt;
  E = strip(E);
  const Expr *Base = nullptr;
  llvm::StringRef Axis;
  if (const auto *P = llvm::dyn_cast<PseudoObjectExpr>(E))
    E = P->getSyntacticForm();
  if (const auto *R = llvm::dyn_cast<MSPropertyRefExpr>(E)) {
    Base = R->getBaseExpr();
    Axis = R->getPropertyDecl()->getName();
  } else if (const auto *M = llvm::dyn_cast<MemberExpr>(E)) {
    Base = M->getBase();
    if (const IdentifierInfo *I = M->getMemberDecl()->getIdentifier())
      Axis = I->getName();
  }
  if (const auto *Opaque = llvm::dyn_cast_or_null<OpaqueValueExpr>(Base))
    Base = Opaque->getSourceExpr();
  const auto *Ref =
      Base ? llvm::dyn_cast<DeclRefExpr>(Base->IgnoreParenCasts()) : nullptr;
  if (!Ref || Axis.size() != 1 || !Ref->getDecl()->getIdentifier())
    return std::nullopt;
  llvm::StringRef Name = Ref->getDecl()->getName();
  if (Name != "threadIdx" && Name != "blockIdx" && Name != "blockDim" &&
      Name != "gridDim")
    return std::nullopt;
  // A variable of that name in the file is something else.
  const auto *V = llvm::dyn_cast<VarDecl>(Ref->getDecl());
  if (!V || !V->hasGlobalStorage() ||
      V->getASTContext().getSourceManager().isInMainFile(V->getLocation()))
    return std::nullopt;
  return BuiltinIndex{Name, Axis[0]};
}

bool stark::isBuiltin(const Expr *E, llvm::StringRef Name, char Axis) {
  std::optional<BuiltinIndex> B = builtinIndex(E);
  return B && B->Name == Name && B->Axis == Axis;
}

static bool dependsOnThread(const Expr *E, char Axis, unsigned Depth) {
  bool Found = false;
  forEach(E, [&](const Stmt *N) {
    const auto *Each = llvm::dyn_cast<Expr>(N);
    if (!Each || Found)
      return;
    if (llvm::isa<PseudoObjectExpr, MemberExpr>(Each) &&
        isBuiltin(Each, "threadIdx", Axis))
      Found = true;
    const VarDecl *V =
        llvm::isa<DeclRefExpr>(Each) ? variableOf(Each) : nullptr;
    if (V && V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) &&
        V->getInit() && Depth < 6)
      Found |= dependsOnThread(V->getInit(), Axis, Depth + 1);
  });
  return Found;
}

bool stark::dependsOnThread(const Expr *E, char Axis) {
  return ::dependsOnThread(E, Axis, 0);
}

const VarDecl *stark::variableOf(const Expr *E) {
  const auto *Ref = E ? llvm::dyn_cast<DeclRefExpr>(strip(E)) : nullptr;
  return Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

bool stark::mentions(const Stmt *S, const ValueDecl *V) {
  bool Found = false;
  forEach(S, [&](const Stmt *N) {
    if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N))
      Found |= Ref->getDecl() == V;
  });
  return Found;
}

llvm::StringRef stark::calleeOf(const Stmt *S) {
  const auto *C = llvm::dyn_cast_or_null<CallExpr>(S);
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  return F && F->getIdentifier() ? F->getName() : "";
}

bool stark::isNeverWritten(const VarDecl *V, const Stmt *Body,
                           const ParentMap &Parents) {
  if (V->getType().isVolatileQualified())
    return false;
  if (V->getType().isConstQualified())
    return true;
  bool Clean = true;
  forEach(Body, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (llvm::isa<LambdaExpr>(N) && mentions(N, V))
      Clean = false;
    if (!Ref || Ref->getDecl() != V)
      return;
    const Stmt *At = Ref, *Up = Parents.getParent(At);
    // A member of a struct is read or written with it.
    while (Up &&
           (llvm::isa<ParenExpr, MemberExpr>(Up) ||
            (llvm::isa<ImplicitCastExpr>(Up) &&
             llvm::cast<ImplicitCastExpr>(Up)->getCastKind() == CK_NoOp))) {
      At = Up;
      Up = Parents.getParent(At);
    }
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    const auto *Copy = llvm::dyn_cast_or_null<CXXConstructExpr>(Up);
    bool Read = (Cast && Cast->getCastKind() == CK_LValueToRValue) ||
                (Copy && Copy->getConstructor()->isCopyConstructor()) ||
                (V->getType()->isArrayType() && Cast &&
                 Cast->getCastKind() == CK_ArrayToPointerDecay);
    Clean &= Read;
  });
  return Clean;
}

bool stark::isUnchangedIn(const VarDecl *V, const Stmt *Part, const Stmt *Body,
                          const ParentMap &Parents) {
  if (isNeverWritten(V, Body, Parents))
    return true;
  if (V->getType().isVolatileQualified() || V->getType()->isReferenceType() ||
      !V->getType()->isScalarType() || !isNeverWritten(V, Part, Parents))
    return false;
  bool Plain = true;
  forEach(Body, [&](const Stmt *N) {
    if (llvm::isa<LambdaExpr>(N) && mentions(N, V))
      Plain = false;
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Ref || Ref->getDecl() != V)
      return;
    const Stmt *At = Ref, *Up = Parents.getParent(At);
    while (llvm::isa_and_nonnull<ParenExpr>(Up)) {
      At = Up;
      Up = Parents.getParent(At);
    }
    const auto *Cast = llvm::dyn_cast_or_null<ImplicitCastExpr>(Up);
    const auto *B = llvm::dyn_cast_or_null<BinaryOperator>(Up);
    const auto *U = llvm::dyn_cast_or_null<UnaryOperator>(Up);
    // "(v = 1)" as a value could be bound to a reference.
    bool Statement =
        Up && Parents.getParent(const_cast<Stmt *>(Up)) &&
        !llvm::isa<Expr>(Parents.getParent(const_cast<Stmt *>(Up)));
    Plain &= (Cast && Cast->getCastKind() == CK_LValueToRValue) ||
             (B && B->isAssignmentOp() && B->getLHS() == At && Statement) ||
             (U && U->isIncrementDecrementOp() && Statement);
  });
  return Plain;
}

bool stark::readsMemory(const Expr *E) {
  bool Found = false;
  forEach(E, [&](const Stmt *N) {
    Found |= llvm::isa<ArraySubscriptExpr>(N);
    if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
      Found |= U->getOpcode() == UO_Deref;
    if (const auto *M = llvm::dyn_cast<MemberExpr>(N))
      Found |= M->isArrow();
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    Found |= V && !V->hasLocalStorage() && !V->isConstexpr() &&
             !V->getType().isConstQualified() && !V->getType()->isRecordType();
  });
  return Found;
}

static bool isPureName(llvm::StringRef Name) {
  static const llvm::StringSet<> Known = {"fabs",
                                          "fabsf",
                                          "abs",
                                          "fmax",
                                          "fmaxf",
                                          "fmin",
                                          "fminf",
                                          "max",
                                          "min",
                                          "exp",
                                          "expf",
                                          "exp2",
                                          "exp2f",
                                          "exp10f",
                                          "expm1",
                                          "expm1f",
                                          "log",
                                          "logf",
                                          "log2",
                                          "log2f",
                                          "log10",
                                          "log10f",
                                          "log1p",
                                          "log1pf",
                                          "pow",
                                          "powf",
                                          "sqrt",
                                          "sqrtf",
                                          "rsqrt",
                                          "rsqrtf",
                                          "cbrt",
                                          "cbrtf",
                                          "sin",
                                          "sinf",
                                          "cos",
                                          "cosf",
                                          "tan",
                                          "tanf",
                                          "sinh",
                                          "sinhf",
                                          "cosh",
                                          "coshf",
                                          "tanh",
                                          "tanhf",
                                          "asin",
                                          "asinf",
                                          "acos",
                                          "acosf",
                                          "atan",
                                          "atanf",
                                          "atan2",
                                          "atan2f",
                                          "erf",
                                          "erff",
                                          "erfc",
                                          "erfcf",
                                          "floor",
                                          "floorf",
                                          "ceil",
                                          "ceilf",
                                          "round",
                                          "roundf",
                                          "rint",
                                          "rintf",
                                          "trunc",
                                          "truncf",
                                          "fma",
                                          "fmaf",
                                          "fmod",
                                          "fmodf",
                                          "copysign",
                                          "copysignf",
                                          "isnan",
                                          "isinf",
                                          "isfinite",
                                          "signbit",
                                          "__expf",
                                          "__logf",
                                          "__fdividef",
                                          "__frcp_rn",
                                          "__fsqrt_rn",
                                          "__fmaf_rn",
                                          "__sinf",
                                          "__cosf",
                                          "__powf",
                                          "__saturatef",
                                          "__popc",
                                          "__clz",
                                          "__ffs",
                                          "__mul24",
                                          "__ldg",
                                          "__half2float",
                                          "__float2half",
                                          "__float2half_rn",
                                          "__bfloat162float",
                                          "__float2bfloat16",
                                          "__float2bfloat16_rn",
                                          "__int2float_rn",
                                          "__float2int_rn",
                                          "__uint2float_rn",
                                          "__hadd",
                                          "__hsub",
                                          "__hmul",
                                          "__hdiv",
                                          "__hfma",
                                          "__hmax",
                                          "__hmin",
                                          "hexp",
                                          "__hneg",
                                          "__habs",
                                          "hlog",
                                          "hsqrt",
                                          "hrsqrt",
                                          "__hgt",
                                          "__hlt",
                                          "__hge",
                                          "__hle",
                                          "__heq",
                                          "__hne",
                                          "normcdff"};
  return Known.contains(Name);
}

/// Declared outside the file, in a header of the toolkit or of Clang.
static bool isFromToolkit(const Decl *D, const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  if (D->getLocation().isInvalid())
    return true;
  return SM.isInSystemHeader(SM.getExpansionLoc(D->getLocation())) ||
         SM.getFilename(SM.getExpansionLoc(D->getLocation()))
             .starts_with("/stark-headers");
}

/// Conversions and arithmetic of half and bfloat16.
static bool isOfSmallFloat(const FunctionDecl *F, const ASTContext &Context) {
  llvm::StringRef File = Context.getSourceManager().getFilename(
      Context.getSourceManager().getExpansionLoc(F->getLocation()));
  if (!File.contains("cuda_fp16") && !File.contains("cuda_bf16"))
    return false;
  if (llvm::isa<CXXConversionDecl, CXXConstructorDecl>(F))
    return true;
  switch (F->getOverloadedOperator()) {
  case OO_Plus:
  case OO_Minus:
  case OO_Star:
  case OO_Slash:
  case OO_EqualEqual:
  case OO_ExclaimEqual:
  case OO_Less:
  case OO_LessEqual:
  case OO_Greater:
  case OO_GreaterEqual:
    return true;
  default:
    return false;
  }
}

static std::string impurity(const Stmt *N, const ASTContext &Context) {
  auto Calls = [&](const FunctionDecl *F) -> std::string {
    if (!F)
      return "a call through a pointer";
    if (isOfSmallFloat(F, Context) ||
        (F->getIdentifier() && isPureName(F->getName()) &&
         isFromToolkit(F, Context)))
      return "";
    return "a call of " + F->getNameAsString();
  };
  if (const auto *B = llvm::dyn_cast<BinaryOperator>(N))
    return B->isAssignmentOp() ? "an assignment" : "";
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
    return U->isIncrementDecrementOp() ? "an increment" : "";
  if (const auto *M = llvm::dyn_cast<CXXConstructExpr>(N)) {
    const CXXConstructorDecl *Made = M->getConstructor();
    return Made->isTrivial() || Made->isDefaulted() ? "" : Calls(Made);
  }
  if (const auto *C = llvm::dyn_cast<CallExpr>(N))
    return Calls(C->getDirectCallee());
  if (llvm::isa<PseudoObjectExpr>(N))
    return builtinIndex(llvm::cast<Expr>(N)) ? "" : "a property";
  if (llvm::isa<LambdaExpr>(N))
    return "a lambda";
  if (llvm::isa<StmtExpr>(N))
    return "a statement expression";
  if (llvm::isa<CXXNewExpr, CXXDeleteExpr, CXXThrowExpr, AtomicExpr>(N))
    return "something that changes memory";
  if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
      Ref && Ref->getType().isVolatileQualified())
    return "a volatile variable";
  if (const auto *E = llvm::dyn_cast<Expr>(N)) {
    if (E->containsErrors() || E->isTypeDependent() || E->isValueDependent())
      return "something that Clang cannot resolve";
    if (E->isGLValue() && E->getType().isVolatileQualified())
      return "a volatile access";
    return "";
  }
  return "a statement";
}

bool stark::isPure(const Stmt *E, const ASTContext &Context, std::string *Why) {
  std::string Met;
  forEach(E, [&](const Stmt *N) {
    if (Met.empty())
      Met = impurity(N, Context);
  });
  if (Why && !Met.empty())
    *Why = Met;
  return Met.empty();
}

std::optional<uint64_t> stark::constantOf(const Expr *E,
                                          const ASTContext &Context,
                                          const Stmt *Body,
                                          const ParentMap &Parents) {
  if (!E || E->isValueDependent() || E->containsErrors())
    return std::nullopt;
  E = strip(E);
  if (!E->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  Expr::EvalResult R;
  if (E->EvaluateAsInt(R, Context) && R.Val.isInt() && !R.HasSideEffects &&
      R.Val.getInt().isNonNegative())
    return R.Val.getInt().getZExtValue();
  if (const VarDecl *V = variableOf(E)) {
    if (V->hasLocalStorage() && !llvm::isa<ParmVarDecl>(V) && V->getInit() &&
        isNeverWritten(V, Body, Parents))
      return constantOf(V->getInit(), Context, Body, Parents);
    return std::nullopt;
  }
  const auto *B = llvm::dyn_cast<BinaryOperator>(E);
  if (!B)
    return std::nullopt;
  std::optional<uint64_t> L = constantOf(B->getLHS(), Context, Body, Parents),
                          R2 = constantOf(B->getRHS(), Context, Body, Parents);
  if (!L || !R2 || *L > UINT32_MAX || *R2 > UINT32_MAX)
    return std::nullopt;
  switch (B->getOpcode()) {
  case BO_Add:
    return *L + *R2;
  case BO_Mul:
    return *L * *R2;
  case BO_Sub:
    return *L >= *R2 ? std::optional(*L - *R2) : std::nullopt;
  case BO_Div:
    return *R2 ? std::optional(*L / *R2) : std::nullopt;
  default:
    return std::nullopt;
  }
}

static void collect(const Expr *E, BinaryOperatorKind Kind,
                    std::vector<const Expr *> &Into) {
  const Expr *Inner = strip(E);
  const auto *B = llvm::dyn_cast<BinaryOperator>(Inner);
  if (!B || B->getOpcode() != Kind) {
    Into.push_back(Inner);
    return;
  }
  collect(B->getLHS(), Kind, Into);
  collect(B->getRHS(), Kind, Into);
}

std::vector<const Expr *> stark::termsOf(const Expr *E) {
  std::vector<const Expr *> Terms;
  collect(E, BO_Add, Terms);
  return Terms;
}

std::vector<const Expr *> stark::factorsOf(const Expr *E) {
  std::vector<const Expr *> Factors;
  collect(E, BO_Mul, Factors);
  return Factors;
}
