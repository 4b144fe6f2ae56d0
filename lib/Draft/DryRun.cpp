//===- DryRun.cpp - What a program does before its entry is called ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   functions of a file -> main(), then what nothing calls -> what was
///   launched
///
//===----------------------------------------------------------------------===//

#include "DryRun.h"
#include "EntryUse.h"
#include "Tiles.h"
#include "clang/AST/Attr.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

bool draft::launches(const Stmt *S) {
  if (!S)
    return false;
  if (llvm::isa<CUDAKernelCallExpr>(S))
    return true;
  if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(S))
    if (llvm::StringRef(Ref->getNameInfo().getAsString())
            .contains("LaunchKernel"))
      return true;
  return llvm::any_of(S->children(),
                      [](const Stmt *Child) { return launches(Child); });
}

static bool isOfHost(const FunctionDecl *F) {
  return F->getBody() && !F->hasAttr<CUDAGlobalAttr>() &&
         !F->hasAttr<CUDADeviceAttr>();
}

/// Whether \p S names one of \p These that is not \p Self.
static bool namesOneOf(const Stmt *S,
                       const std::set<const FunctionDecl *> &These,
                       const FunctionDecl *Self = nullptr) {
  if (const auto *Ref = llvm::dyn_cast_or_null<DeclRefExpr>(S))
    if (const auto *F = llvm::dyn_cast<FunctionDecl>(Ref->getDecl()))
      return F->getDefinition() != Self && These.count(F->getDefinition());
  return S && llvm::any_of(S->children(), [&](const Stmt *Child) {
           return namesOneOf(Child, These, Self);
         });
}

/// Of \p All those that launch, by themselves or by one that they call, and
/// that no other such function calls.
static std::vector<const FunctionDecl *>
outermost(llvm::ArrayRef<FunctionDecl *> All) {
  std::set<const FunctionDecl *> Launching;
  for (const FunctionDecl *F : All)
    if (isOfHost(F) && draft::launches(F->getBody()))
      Launching.insert(F);
  for (size_t Before = 0; Before != Launching.size();) {
    Before = Launching.size();
    for (const FunctionDecl *F : All)
      if (isOfHost(F) && namesOneOf(F->getBody(), Launching))
        Launching.insert(F);
  }
  std::vector<const FunctionDecl *> Outer;
  for (const FunctionDecl *F : All)
    if (Launching.count(F) &&
        llvm::none_of(Launching, [&](const FunctionDecl *By) {
          return By != F && namesOneOf(By->getBody(), {F});
        }))
      Outer.push_back(F);
  return Outer;
}

static bool isGlobal(const Expr *E) {
  const auto *Ref = llvm::dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasGlobalStorage() && !V->isStaticLocal();
}

/// Whether \p S makes what others use: it allocates for the device, or sets a
/// number that is global. Clearing a pointer is none.
static bool prepares(const Stmt *S) {
  if (!S)
    return false;
  if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(S))
    if (llvm::StringRef(Ref->getNameInfo().getAsString())
            .starts_with("cudaMalloc"))
      return true;
  if (const auto *B = llvm::dyn_cast<BinaryOperator>(S))
    if (B->getOpcode() == BO_Assign && B->getType()->isIntegerType() &&
        isGlobal(B->getLHS()))
      return true;
  return llvm::any_of(S->children(),
                      [](const Stmt *Child) { return prepares(Child); });
}

namespace {
/// Runs what nothing in the file calls with arguments of ours.
class Others {
public:
  Others(const HostFunctions &Found, Machine &Host) : Found(Found), Host(Host) {
    Host.Exited = false;
    Host.MadeUp = true;
  }
  /// Functions whose text \p Does something.
  void functions(llvm::function_ref<bool(const Stmt *)> Does) {
    for (const FunctionDecl *F : Found.All)
      if (isOfHost(F) && Does(F->getBody()) && !isCalled(F))
        run(F, Value());
  }
  /// Functions that launch through others, which are given what these give.
  void outer() {
    for (const FunctionDecl *F : outermost(Found.All)) {
      if (draft::launches(F->getBody()) || isCalled(F))
        continue;
      size_t Launches = Host.Launches.size(), Calls = Host.Calls.size();
      run(F, Value());
      // What never came to a launch says nothing of what it calls.
      if (Host.Launches.size() == Launches)
        Host.Calls.resize(Calls);
    }
  }
  /// Methods that launch, as of an object of their own.
  void methods() {
    for (const CXXMethodDecl *M : Found.Methods)
      if (!M->hasAttr<CUDADeviceAttr>() && launches(M->getBody()))
        run(M, M->isInstance()
                   ? Host.makeUp(M->getFunctionObjectParameterReferenceType(),
                                 M->getParent()->getNameAsString())
                   : Value());
  }

private:
  bool isCalled(const FunctionDecl *F) const {
    return llvm::any_of(Host.Calls,
                        [&](const HostCall &C) { return C.Callee == F; });
  }
  void run(const FunctionDecl *F, const Value &This) {
    std::vector<Value> Arguments;
    Host.HasFilter = llvm::any_of(F->parameters(), [](const ParmVarDecl *P) {
      return isHandful(P->getName());
    });
    Host.HasRank = llvm::any_of(F->parameters(), [](const ParmVarDecl *P) {
      return isRank(P->getName());
    });
    for (const ParmVarDecl *P : F->parameters())
      Arguments.push_back(Host.makeUp(P->getType(), P->getNameAsString()));
    Host.run(F, Arguments, This);
    Host.Exited = false;
  }

  const HostFunctions &Found;
  Machine &Host;
};
} // namespace

/// \p Blocks: numbers for what blocks are made of.
static std::unique_ptr<Machine> runOnce(ASTContext &Context,
                                        const HostFunctions &Found,
                                        const std::set<std::string> &Fixed,
                                        const BlockNumbers &Blocks) {
  auto Make = [&] {
    auto Made = std::make_unique<Machine>(Context, Fixed);
    Made->Blocks = Blocks;
    return Made;
  };
  std::unique_ptr<Machine> Host = Make();
  // A program that wants arguments is given as many as it takes. What it calls
  // may launch in another file.
  for (int Count : {1, 2, 3, 4, 5, 6, 8}) {
    if (!Found.Main)
      break;
    std::unique_ptr<Machine> Tried = Make();
    Tried->run(Found.Main, {Value::integer(Count), Value()});
    bool More =
        Count == 1 || Tried->Launches.size() > Host->Launches.size() ||
        (Host->Launches.empty() && Tried->Calls.size() > Host->Calls.size());
    if (More)
      Host = std::move(Tried);
    if (!Host->Launches.empty() || Found.Main->getNumParams() == 0)
      break;
  }
  Host->MainEnded = Host->Exited;
  Host->CallsOfMain = Host->Calls.size();
  Others Rest(Found, *Host);
  if (!Found.Main)
    Rest.functions([](const Stmt *S) { return prepares(S) && !launches(S); });
  Rest.outer();
  Rest.functions(launches);
  Rest.methods();
  return Host;
}

/// Of what the program reads and compares with numbers, as a mode that it is
/// told, those with which it launches: else it may have ended, or have gone a
/// way without a launch. None where it launches anyway.
static BlockNumbers choicesOfInput(ASTContext &Context,
                                   const HostFunctions &Found,
                                   const std::set<std::string> &Fixed,
                                   const Machine &Host) {
  constexpr unsigned MostTries = 16, MostNames = 3;
  auto Score = [](const Machine &M) {
    size_t Launched =
        llvm::count_if(M.Launches, [](const Launch &L) { return !L.MadeUp; });
    return std::tuple(Launched > 0, !M.MainEnded,
                      M.CallsOfMain + M.Asked.size());
  };
  BlockNumbers Chosen;
  auto Best = Score(Host);
  auto Asked = Host.Asked;
  unsigned Tries = 0;
  while (Found.Main && !std::get<0>(Best) && Chosen.size() < MostNames) {
    auto Was = Best;
    BlockNumbers With = Chosen;
    std::map<std::string, std::set<int64_t>> Next;
    for (const auto &[Name, Numbers] : Asked)
      for (int64_t Number : Numbers) {
        if (std::get<0>(Best) || Chosen.count(Name) || ++Tries > MostTries)
          continue;
        BlockNumbers Tried = Chosen;
        Tried[Name] = BlockNumber{Number, true};
        std::unique_ptr<Machine> M = runOnce(Context, Found, Fixed, Tried);
        if (Score(*M) <= Best)
          continue;
        Best = Score(*M);
        With = std::move(Tried);
        Next = M->Asked;
      }
    if (Best == Was)
      break;
    Chosen = std::move(With);
    Asked = std::move(Next);
  }
  return std::get<0>(Best) ? Chosen : BlockNumbers();
}

std::unique_ptr<Machine> draft::dryRun(ASTContext &Context,
                                       const HostFunctions &Found,
                                       const std::set<std::string> &Fixed) {
  std::unique_ptr<Machine> Host = runOnce(Context, Found, Fixed, {});
  BlockNumbers Chosen = choicesOfInput(Context, Found, Fixed, *Host);
  if (!Chosen.empty())
    Host = runOnce(Context, Found, Fixed, Chosen);
  BlockNumbers Blocks = blockNumbers(Context, Fixed, *Host);
  Blocks.insert(Chosen.begin(), Chosen.end());
  // What is called as a block's threads are, and is in none.
  for (const std::set<std::string> *Names :
       {&Host->MadeUpNames, &Host->ReadNames})
    for (const std::string &Name : *Names)
      if (isBlockSize(Name))
        Blocks.try_emplace(Name, BlockNumber{256, true});
  for (const auto &[Name, Number] : Host->Choices)
    if (Host->MadeUpNames.count(Name) || Host->ReadNames.count(Name))
      Blocks[Name] = BlockNumber{Number, true};
  return Blocks.empty() ? std::move(Host)
                        : runOnce(Context, Found, Fixed, Blocks);
}
