//===- LaunchBounds.cpp - What a kernel says of its launches --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchBounds.h"
#include "stark/AST/BlockLimits.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include <algorithm>

using namespace stark::sim;

namespace {
constexpr const char *KernelName = "stark-kernel",
                     *ThreadsName = "stark-bound-threads",
                     *BlocksName = "stark-bound-blocks",
                     *RegistersName = "stark-bound-registers",
                     *ClusterNames[] = {"stark-cluster-x", "stark-cluster-y",
                                        "stark-cluster-z"};
/// The step in which a thread is given some.
constexpr unsigned RegisterStep = 8;
/// ptxas 13.0 for sm_90 takes no limit below this one.
constexpr unsigned LeastLimit = 24;

class BoundsFinder : public clang::RecursiveASTVisitor<BoundsFinder> {
public:
  explicit BoundsFinder(clang::ASTContext &Context)
      : Context(Context), Names(Context) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitFunctionDecl(clang::FunctionDecl *F) {
    if (!F->hasAttr<clang::CUDAGlobalAttr>() ||
        !F->doesThisDeclarationHaveABody() || F->isDependentContext())
      return true;
    LaunchBounds B;
    if (const auto *Said = F->getAttr<clang::CUDALaunchBoundsAttr>()) {
      B.Threads = number(Said->getMaxThreads());
      B.Blocks = B.Threads ? number(Said->getMinBlocks()) : 0;
    }
    Found.push_back({Names.getName(F), B});
    return true;
  }
  std::vector<BoundKernel> Found;

private:
  unsigned number(const clang::Expr *E) const {
    clang::Expr::EvalResult Value;
    if (!E || E->isValueDependent() || !E->EvaluateAsInt(Value, Context) ||
        !Value.Val.getInt().isStrictlyPositive())
      return 0;
    return unsigned(Value.Val.getInt().getLimitedValue(~0u));
  }
  clang::ASTContext &Context;
  clang::ASTNameGenerator Names;
};

unsigned read(const llvm::Function &F, const char *Name) {
  unsigned Value = 0;
  F.getFnAttribute(Name).getValueAsString().getAsInteger(10, Value);
  return Value;
}
} // namespace

std::vector<BoundKernel> stark::sim::findKernels(clang::ASTContext &C) {
  // No kernel is among what was precompiled, which would all be read for it.
  BoundsFinder Finder(C);
  for (clang::Decl *D : C.getTranslationUnitDecl()->noload_decls())
    if (!D->isFromASTFile())
      Finder.TraverseDecl(D);
  return std::move(Finder.Found);
}

static void write(llvm::Function &F, const char *Name, unsigned Value) {
  if (Value)
    F.addFnAttr(Name, std::to_string(Value));
}

void stark::sim::noteKernels(llvm::Module &Code,
                             const std::vector<BoundKernel> &Kernels,
                             unsigned MostRegisters) {
  for (const BoundKernel &K : Kernels)
    if (llvm::Function *F = Code.getFunction(K.Symbol)) {
      F->addFnAttr(KernelName);
      write(*F, ThreadsName, K.Bounds.Threads);
      write(*F, BlocksName, K.Bounds.Blocks);
      // What a kernel says of itself is what counts.
      write(*F, RegistersName, K.Bounds.Threads ? 0 : MostRegisters);
    }
}

bool stark::sim::isKernel(const llvm::Function &F) {
  return F.hasFnAttribute(KernelName);
}

LaunchBounds stark::sim::launchBoundsOf(const llvm::Function &F) {
  return {read(F, ThreadsName), read(F, BlocksName), read(F, RegistersName)};
}

unsigned stark::sim::registerLimitOf(const std::vector<std::string> &Flags) {
  unsigned Limit = 0;
  for (size_t I = 0; I < Flags.size(); ++I) {
    auto [Name, Value] = llvm::StringRef(Flags[I]).split('=');
    if (Name != "-maxrregcount" && Name != "--maxrregcount")
      continue;
    if (Value.empty() && I + 1 < Flags.size())
      Value = Flags[++I];
    unsigned Said = 0;
    Limit = Value.getAsInteger(10, Said) ? Limit : Said;
  }
  return Limit;
}

/// The operand of an annotation, without casts.
template <class T>
static const T *annotated(const llvm::ConstantStruct &Note, unsigned Operand) {
  return Operand < Note.getNumOperands()
             ? llvm::dyn_cast<T>(Note.getOperand(Operand)->stripPointerCasts())
             : nullptr;
}

static bool isNamed(const llvm::GlobalVariable *Text, llvm::StringRef Name) {
  auto *Bytes =
      Text && Text->hasInitializer()
          ? llvm::dyn_cast<llvm::ConstantDataArray>(Text->getInitializer())
          : nullptr;
  return Bytes && Bytes->isCString() && Bytes->getAsCString() == Name;
}

/// Number \p I of what an annotation was given, or \p Otherwise.
static unsigned given(const llvm::ConstantStruct &Note, unsigned I,
                      unsigned Otherwise) {
  auto *Held = annotated<llvm::GlobalVariable>(Note, 4);
  const llvm::Constant *All =
      Held && Held->hasInitializer() ? Held->getInitializer() : nullptr;
  auto *Number = llvm::dyn_cast_or_null<llvm::ConstantInt>(
      All ? All->getAggregateElement(I) : nullptr);
  return Number ? unsigned(Number->getZExtValue()) : Otherwise;
}

void stark::sim::noteAnnotations(llvm::Module &Code) {
  const llvm::GlobalVariable *Notes =
      Code.getGlobalVariable("llvm.global.annotations");
  auto *List =
      Notes ? llvm::dyn_cast<llvm::ConstantArray>(Notes->getInitializer())
            : nullptr;
  if (!List)
    return;
  for (const llvm::Use &Item : List->operands()) {
    auto *Note = llvm::dyn_cast<llvm::ConstantStruct>(Item);
    auto *Kernel = Note ? annotated<llvm::Function>(*Note, 0) : nullptr;
    if (!Kernel || Kernel->isDeclaration())
      continue;
    llvm::Function &F = *Code.getFunction(Kernel->getName());
    auto *Name = annotated<llvm::GlobalVariable>(*Note, 1);
    if (isNamed(Name, "stark_maxnreg"))
      write(F, RegistersName, given(*Note, 0, 0));
    else if (isNamed(Name, "stark_cluster"))
      for (unsigned Axis = 0; Axis < 3; ++Axis)
        F.addFnAttr(ClusterNames[Axis], std::to_string(given(*Note, Axis, 1)));
  }
}

std::array<unsigned, 3> stark::sim::clusterDimsOf(const llvm::Function &F) {
  return {read(F, ClusterNames[0]), read(F, ClusterNames[1]),
          read(F, ClusterNames[2])};
}

unsigned stark::sim::withinBounds(unsigned Registers, const LaunchBounds &B) {
  if (B.Registers)
    Registers = std::min(Registers, std::max(B.Registers, LeastLimit));
  if (!B.Threads)
    return Registers;
  // A warp is whole, whatever is used of it.
  uint64_t Threads = (uint64_t(B.Threads) + 31) / 32 * 32;
  uint64_t Most = MostRegistersOfBlock / (Threads * std::max(B.Blocks, 1u)) /
                  RegisterStep * RegisterStep;
  // What no SM can hold nvcc does not try.
  return Most ? unsigned(std::min<uint64_t>(Registers, Most)) : Registers;
}
