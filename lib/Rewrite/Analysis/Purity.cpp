//===- Purity.cpp - Whether evaluating something changes anything ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Purity.h"
#include "Reasons.h"
#include "Syntax.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSet.h"

using namespace stark;
using namespace clang;

static bool isPureName(llvm::StringRef Name) {
  // clang-format off
  static const llvm::StringSet<> Known = {
      "fabs", "fabsf", "abs", "fmax", "fmaxf", "fmin", "fminf", "max", "min",
      "exp", "expf", "exp2", "exp2f", "exp10f", "expm1", "expm1f", "log",
      "logf", "log2", "log2f", "log10", "log10f", "log1p", "log1pf", "pow",
      "powf", "sqrt", "sqrtf", "rsqrt", "rsqrtf", "cbrt", "cbrtf", "sin",
      "sinf", "cos", "cosf", "tan", "tanf", "sinh", "sinhf", "cosh", "coshf",
      "tanh", "tanhf", "asin", "asinf", "acos", "acosf", "atan", "atanf",
      "atan2", "atan2f", "erf", "erff", "erfc", "erfcf", "floor", "floorf",
      "ceil", "ceilf", "round", "roundf", "rint", "rintf", "trunc", "truncf",
      "fma", "fmaf", "fmod", "fmodf", "copysign", "copysignf", "isnan",
      "isinf", "isfinite", "signbit", "__expf", "__logf", "__fdividef",
      "__frcp_rn", "__fsqrt_rn", "__fmaf_rn", "__sinf", "__cosf", "__powf",
      "__saturatef", "__popc", "__clz", "__ffs", "__mul24", "__ldg",
      "__half2float", "__float2half", "__float2half_rn", "__bfloat162float",
      "__float2bfloat16", "__float2bfloat16_rn", "__int2float_rn",
      "__float2int_rn", "__uint2float_rn", "__hadd", "__hsub", "__hmul",
      "__hdiv", "__hfma", "__hmax", "__hmin", "hexp", "__hneg", "__habs",
      "hlog", "hsqrt", "hrsqrt", "__hgt", "__hlt", "__hge", "__hle", "__heq",
      "__hne", "normcdff"};
  // clang-format on
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

/// What INFINITY and HUGE_VAL stand for. A builtin of the target is none:
/// the thread's number is one.
static bool isConstantNumber(const FunctionDecl *F, const ASTContext &Context) {
  unsigned Id = F->getBuiltinID();
  return Id && !Context.BuiltinInfo.isTSBuiltin(Id) &&
         F->hasAttr<ConstAttr>() && F->getReturnType()->isRealFloatingType();
}

static std::optional<Reason>
impurityOfNode(const Stmt *N, const ASTContext &Context, unsigned Depth);

/// A function of this file from numbers to a number: its result follows from
/// its arguments alone, and it changes nothing else.
static bool isFunctionOfNumbers(const FunctionDecl *F,
                                const ASTContext &Context, unsigned Depth) {
  constexpr unsigned Most = 4;
  const FunctionDecl *Text = nullptr;
  if (Depth >= Most || llvm::isa<CXXMethodDecl>(F) || !F->hasBody(Text) ||
      Text->isDependentContext() || !F->getReturnType()->isArithmeticType() ||
      llvm::any_of(Text->parameters(), [](const ParmVarDecl *P) {
        return !P->getType()->isArithmeticType();
      }))
    return false;
  return !anyOf(Text->getBody(), [&](const Stmt *N) {
    if (llvm::isa<CompoundStmt, ReturnStmt, IfStmt>(N))
      return false;
    if (const auto *D = llvm::dyn_cast<DeclStmt>(N))
      return llvm::any_of(D->decls(), [](const Decl *Each) {
        const auto *V = llvm::dyn_cast<VarDecl>(Each);
        return !V || !V->hasLocalStorage() || !V->getType()->isArithmeticType();
      });
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    bool Outside = V && !V->hasLocalStorage() && !V->isConstexpr();
    return Outside || builtinNode(N) || !llvm::isa<Expr>(N) ||
           impurityOfNode(N, Context, Depth + 1);
  });
}

static std::optional<Reason> impurityOfCall(const FunctionDecl *F,
                                            const ASTContext &Context,
                                            unsigned Depth) {
  if (!F)
    return Reason(why::CallByPointer);
  if (isConstantNumber(F, Context) || isFunctionOfNumbers(F, Context, Depth) ||
      isOfSmallFloat(F, Context) ||
      (F->getIdentifier() && isPureName(F->getName()) &&
       isFromToolkit(F, Context)))
    return std::nullopt;
  return Reason(why::CallOf, F->getNameAsString());
}

/// Of \p N itself, not of what is in it.
static std::optional<Reason>
impurityOfNode(const Stmt *N, const ASTContext &Context, unsigned Depth) {
  auto If = [](bool Is, const ReasonKind &Kind) {
    return Is ? std::optional(Reason(Kind)) : std::nullopt;
  };
  if (const auto *B = llvm::dyn_cast<BinaryOperator>(N))
    return If(B->isAssignmentOp(), why::Assignment);
  if (const auto *U = llvm::dyn_cast<UnaryOperator>(N))
    return If(U->isIncrementDecrementOp(), why::Increment);
  if (const auto *M = llvm::dyn_cast<CXXConstructExpr>(N)) {
    const CXXConstructorDecl *Made = M->getConstructor();
    return Made->isTrivial() || Made->isDefaulted()
               ? std::nullopt
               : impurityOfCall(Made, Context, Depth);
  }
  if (const auto *C = llvm::dyn_cast<CallExpr>(N))
    return impurityOfCall(C->getDirectCallee(), Context, Depth);
  if (llvm::isa<PseudoObjectExpr>(N))
    return If(!builtinNode(N), why::Property);
  if (llvm::isa<LambdaExpr>(N))
    return Reason(why::Lambda);
  if (llvm::isa<StmtExpr>(N))
    return Reason(why::StatementExpression);
  if (llvm::isa<CXXNewExpr, CXXDeleteExpr, CXXThrowExpr, AtomicExpr>(N))
    return Reason(why::ChangesMemory);
  if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
      Ref && Ref->getType().isVolatileQualified())
    return Reason(why::VolatileVariable);
  const auto *E = llvm::dyn_cast<Expr>(N);
  if (!E)
    return Reason(why::IsStatement);
  if (E->containsErrors() || E->isTypeDependent() || E->isValueDependent())
    return Reason(why::NotResolved);
  return If(E->isGLValue() && E->getType().isVolatileQualified(),
            why::VolatileAccess);
}

std::optional<Reason> stark::impurityOf(const Stmt *E,
                                        const ASTContext &Context) {
  std::optional<Reason> Met;
  forEach(E, [&](const Stmt *N) {
    if (!Met)
      Met = impurityOfNode(N, Context, 0);
  });
  return Met;
}

bool stark::isPure(const Stmt *E, const ASTContext &Context) {
  return !impurityOf(E, Context);
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
