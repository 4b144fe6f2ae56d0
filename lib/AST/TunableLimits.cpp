//===- TunableLimits.cpp - What no GPU has --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/BlockLimits.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Tunables.h"
#include "stark/AST/Walk.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace stark;
using namespace clang;

/// A warp's threads, and what a thread's registers are given in.
static constexpr uint64_t Warp = 32, RegisterUnit = 8;

namespace {
class LimitReader : public Walker {
public:
  LimitReader(const ParsedSource &Source,
              const std::map<std::string, unsigned> &Registers)
      : Context(Source.unit().getASTContext()), Registers(Registers) {
    walk(Source);
  }
  std::string Beyond; ///< the first thing

  void beginFunction(FunctionDecl *F) override { Within.push_back({F, 0}); }
  void endFunction() override { Within.pop_back(); }
  bool onDecl(Decl *D) override;
  bool onStmt(Stmt *S) override;

private:
  std::optional<uint64_t> threads(const Expr *Block) const;
  uint64_t registers(const CUDAKernelCallExpr *Call, uint64_t Threads) const;

  const ASTContext &Context;
  const std::map<std::string, unsigned> &Registers;
  std::vector<std::pair<const FunctionDecl *, uint64_t>> Within;
};
} // namespace

bool LimitReader::onDecl(Decl *D) {
  const auto *V = dyn_cast<VarDecl>(D);
  if (!V || Within.empty() || !V->hasAttr<CUDASharedAttr>() ||
      V->hasExternalStorage() || V->getType()->isDependentType() ||
      V->getType()->isIncompleteType() || V->isInvalidDecl())
    return true;
  auto &[F, Bytes] = Within.back();
  Bytes += uint64_t(Context.getTypeSizeInChars(V->getType()).getQuantity());
  if (Bytes > MostStaticSharedOfBlock)
    Beyond = (F->getNameAsString() + " has " + llvm::Twine(Bytes) +
              " bytes of static shared memory, at most " +
              llvm::Twine(MostStaticSharedOfBlock) + " there are")
                 .str();
  return Beyond.empty();
}

/// Of a number, or of a dim3 that is made of numbers.
std::optional<uint64_t> LimitReader::threads(const Expr *Block) const {
  if (!Block || Block->isValueDependent())
    return std::nullopt;
  Expr::EvalResult Known;
  Block = Block->IgnoreImplicit();
  if (Block->getType()->isIntegerType())
    return Block->EvaluateAsInt(Known, Context)
               ? std::optional(Known.Val.getInt().getLimitedValue())
               : std::nullopt;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Block)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V ? threads(V->getInit()) : std::nullopt;
  }
  const auto *Made = dyn_cast<CXXConstructExpr>(Block);
  if (!Made)
    return std::nullopt;
  uint64_t Product = 1;
  for (const Expr *Argument : Made->arguments()) {
    if (isa<CXXDefaultArgExpr>(Argument))
      continue;
    std::optional<uint64_t> Side = threads(Argument);
    if (!Side)
      return std::nullopt;
    Product *= std::min<uint64_t>(*Side, MostTuned);
  }
  return Product;
}

/// Of a block of so many threads; 0: not known.
uint64_t LimitReader::registers(const CUDAKernelCallExpr *Call,
                                uint64_t Threads) const {
  const FunctionDecl *Kernel = Call->getDirectCallee();
  if (!Kernel || !Kernel->getDeclName().isIdentifier())
    return 0;
  const FunctionDecl *Pattern = Kernel->getTemplateInstantiationPattern();
  auto Known = Registers.find(Kernel->getName().str());
  if (Known == Registers.end() || Kernel->hasAttr<CUDALaunchBoundsAttr>() ||
      (Pattern && Pattern->hasAttr<CUDALaunchBoundsAttr>()))
    return 0;
  return llvm::alignTo(Threads, Warp) *
         llvm::alignTo(Known->second, RegisterUnit);
}

bool LimitReader::onStmt(Stmt *S) {
  const auto *Call = dyn_cast<CUDAKernelCallExpr>(S);
  if (!Call || !Call->getConfig() || Call->getConfig()->getNumArgs() < 2)
    return true;
  std::optional<uint64_t> Threads = threads(Call->getConfig()->getArg(1));
  if (Threads && *Threads > MostThreadsOfBlock)
    Beyond = (llvm::Twine(*Threads) + " threads a block, at most " +
              llvm::Twine(MostThreadsOfBlock) + " there are")
                 .str();
  else if (uint64_t Needed = Threads ? registers(Call, *Threads) : 0;
           Needed > MostRegistersOfBlock)
    Beyond = (llvm::Twine(*Threads) + " threads a block have " +
              llvm::Twine(Needed) + " registers, at most " +
              llvm::Twine(MostRegistersOfBlock) + " there are")
                 .str();
  return Beyond.empty();
}

std::string
stark::beyondEveryGpu(const ParsedSource &Source,
                      const std::map<std::string, unsigned> &Registers) {
  return LimitReader(Source, Registers).Beyond;
}
