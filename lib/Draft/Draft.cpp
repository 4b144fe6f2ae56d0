//===- Draft.cpp - A first workload for a source -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The program's main() is followed once. What it launches and calls are the
/// entries, with the arguments that they get there; what nobody calls comes
/// after them.
///
//===----------------------------------------------------------------------===//

#include "stark/Draft/Draft.h"
#include "DraftText.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Walk.h"
#include "stark/Support/Error.h"
#include "stark/Task/Workload.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

Draft::~Draft() = default;
Drafter::~Drafter() = default;

namespace {
/// The functions that the file defines, what it makes of its templates
/// included, and the names that its device code is written with.
class Functions : public Walker {
public:
  Functions(const ParsedSource &Source)
      : Context(Source.unit().getASTContext()),
        SM(Source.unit().getSourceManager()) {
    walk(Source);
  }
  bool onDecl(Decl *D) override {
    auto *F = llvm::dyn_cast<FunctionDecl>(D);
    if (!F || llvm::isa<CXXMethodDecl>(F) || !F->getDeclName().isIdentifier() ||
        !SM.isInMainFile(SM.getExpansionLoc(F->getLocation())) ||
        !F->isThisDeclarationADefinition())
      return true;
    if (F->isMain()) {
      Main = F;
    } else if (FunctionTemplateDecl *T = F->getDescribedFunctionTemplate()) {
      for (FunctionDecl *Made : T->specializations())
        if (Made->hasBody() && !Made->isDependentContext())
          All.push_back(Made);
    } else if (!F->isDependentContext()) {
      All.push_back(F);
    }
    return true;
  }
  bool onStmt(Stmt *S) override {
    if (!InDevice)
      return true;
    if (const auto *L = llvm::dyn_cast<IntegerLiteral>(S)) {
      SourceLocation Loc = L->getLocation();
      if (Loc.isMacroID())
        Fixed.insert(
            Lexer::getImmediateMacroName(Loc, SM, Context.getLangOpts()).str());
    }
    if (const auto *Ref = llvm::dyn_cast<DeclRefExpr>(S))
      if (const auto *V = llvm::dyn_cast<VarDecl>(Ref->getDecl());
          V && V->hasGlobalStorage())
        Fixed.insert(V->getNameAsString());
    return true;
  }
  void beginFunction(FunctionDecl *F) override {
    Outer.push_back(InDevice);
    InDevice |= F->hasAttr<CUDAGlobalAttr>() || F->hasAttr<CUDADeviceAttr>();
  }
  void endFunction() override { InDevice = Outer.pop_back_val(); }

  std::vector<FunctionDecl *> All;
  FunctionDecl *Main = nullptr;
  std::set<std::string> Fixed;

private:
  ASTContext &Context;
  const SourceManager &SM;
  bool InDevice = false;
  llvm::SmallVector<bool, 8> Outer;
};

struct Candidate {
  std::string Name;
  const FunctionDecl *F = nullptr;
  const HostCall *Call = nullptr;
  const Launch *Launched = nullptr;
  size_t Times = 0;
};

class SourceDrafter : public Drafter {
public:
  explicit SourceDrafter(const ParsedSource &Source)
      : Source(Source), Context(Source.unit().getASTContext()), Found(Source) {
    runMain();
    runOthers();
    collect();
  }
  std::vector<std::string> entries() const override;
  llvm::Expected<std::unique_ptr<Draft>> draft(llvm::StringRef Entry) override;

private:
  void runMain();
  void runOthers();
  void collect();
  std::unique_ptr<EntryUse> use(const Candidate &C, Signature S) const;
  int rank(const Candidate &C) const;

  const ParsedSource &Source;
  ASTContext &Context;
  Functions Found;
  std::unique_ptr<Machine> Host;
  std::vector<Candidate> Candidates;
};
} // namespace

/// As a workload names \p F: "ns::launch", "k<float, 256>".
static std::string nameOf(const FunctionDecl *F, const ASTContext &Context) {
  std::string Name = F->getNameAsString();
  for (const DeclContext *C = F->getDeclContext(); C; C = C->getParent())
    if (const auto *N = llvm::dyn_cast<NamespaceDecl>(C))
      if (!N->isAnonymousNamespace() && !N->isInlineNamespace())
        Name = N->getNameAsString() + "::" + Name;
  const TemplateArgumentList *List = F->getTemplateSpecializationArgs();
  if (!List)
    return Name;
  std::vector<std::string> Arguments;
  auto Print = [&](const TemplateArgument &A) {
    llvm::raw_string_ostream OS(Arguments.emplace_back());
    A.print(Context.getPrintingPolicy(), OS, /*IncludeType=*/false);
  };
  for (const TemplateArgument &A : List->asArray())
    if (A.getKind() == TemplateArgument::Pack)
      llvm::for_each(A.pack_elements(), Print);
    else
      Print(A);
  return Name + "<" + llvm::join(Arguments, ", ") + ">";
}

static bool launches(const Stmt *S) {
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

/// Functions that nothing in the file calls are given sizes of ours, so that
/// what they launch is known as far as it follows from them.
void SourceDrafter::runOthers() {
  Host->Exited = false;
  Host->MadeUp = true;
  int Invented = 0;
  for (const FunctionDecl *F : Found.All) {
    if (F->hasAttr<CUDAGlobalAttr>() || F->hasAttr<CUDADeviceAttr>() ||
        !launches(F->getBody()) ||
        llvm::any_of(Host->Calls,
                     [&](const HostCall &C) { return C.Callee == F; }))
      continue;
    std::vector<Value> Arguments;
    for (const ParmVarDecl *P : F->parameters()) {
      std::string Name = P->getNameAsString();
      Value V;
      if (P->getType()->isIntegerType() && !Name.empty() && !isSetting(Name)) {
        int64_t Number = inventedSize(Invented++);
        auto [At, New] = Host->Names.try_emplace(Name, Number);
        V = Value::integer(At->second, named(Name));
      } else if (P->getType()->isPointerType()) {
        V = Value::address(
            Host->create(Name, Space::Device, -1, nullptr, QualType()));
      }
      Arguments.push_back(std::move(V));
    }
    Host->run(F, Arguments);
    Host->Exited = false;
  }
}

void SourceDrafter::runMain() {
  if (!Found.Main) {
    Host = std::make_unique<Machine>(Context, Found.Fixed);
    return;
  }
  // A program that wants arguments is given as many as it takes.
  for (int Count : {1, 2, 3, 4, 5, 6, 8}) {
    Host = std::make_unique<Machine>(Context, Found.Fixed);
    Host->run(Found.Main, {Value::integer(Count), Value()});
    if (!Host->Launches.empty() || Found.Main->getNumParams() == 0)
      return;
  }
}

void SourceDrafter::collect() {
  for (const FunctionDecl *F : Found.All) {
    Candidate C;
    C.F = F;
    bool Kernel = F->hasAttr<CUDAGlobalAttr>();
    if (!Kernel && !launches(F->getBody()))
      continue;
    C.Name = nameOf(F, Context);
    for (const Launch &L : Host->Launches)
      if (L.Kernel == F) {
        C.Launched = C.Launched ? C.Launched : &L;
        C.Times += !L.MadeUp;
      }
    for (const HostCall &H : Host->Calls)
      if (H.Callee == F) {
        C.Call = C.Call ? C.Call : &H;
        ++C.Times;
      }
    if (llvm::none_of(Candidates, [&](const Candidate &Other) {
          return Other.Name == C.Name;
        }))
      Candidates.push_back(std::move(C));
  }
  std::vector<std::pair<int, size_t>> Order;
  for (size_t I = 0; I < Candidates.size(); ++I)
    Order.push_back({rank(Candidates[I]), I});
  llvm::stable_sort(
      Order, [](const auto &L, const auto &R) { return L.first < R.first; });
  std::vector<Candidate> Sorted;
  for (const auto &[Rank, I] : Order)
    Sorted.push_back(Candidates[I]);
  Candidates = std::move(Sorted);
}

/// The lower, the better.
int SourceDrafter::rank(const Candidate &C) const {
  constexpr int Uncallable = 1000000;
  llvm::Expected<Signature> S = findEntry(Source, C.Name);
  if (!S) {
    llvm::consumeError(S.takeError());
    return 2 * Uncallable;
  }
  if (llvm::errorToBool(checkCallable(*S)))
    return Uncallable;
  bool Pointers = false;
  if (isTensorEntry(*S))
    return 0;
  std::unique_ptr<EntryUse> Use = use(C, *S);
  for (const LeafUse &L : Use->Leaves)
    Pointers |= L.Array && !L.P->Const;
  if (!Pointers)
    return Uncallable / 2;
  int Rank = -int(std::min<size_t>(C.Times, 1000));
  if (llvm::StringRef(C.Name).contains_insensitive("warm"))
    Rank += 500;
  if (S->IsKernel) {
    bool Writes = llvm::any_of(Use->Leaves, [](const LeafUse &L) {
      return L.Array && L.Array->Used.Written;
    });
    return 20000 + Rank + (Writes ? 0 : 5000) +
           (!C.Launched          ? 10000
            : C.Launched->MadeUp ? 3000
                                 : 0);
  }
  // Without a body that can be followed, as declared.
  bool Clean = isLauncher(*Use) ||
               (!Use->Followed && !Use->Run->Allocates && !Use->Run->Prints &&
                llvm::none_of(Use->Leaves, [](const LeafUse &L) {
                  return L.Array && L.Array->Used.OnHost;
                }));
  return Clean ? 10000 + Rank : 100000 + Rank;
}

std::unique_ptr<EntryUse> SourceDrafter::use(const Candidate &C,
                                             Signature S) const {
  return useOf(Context, Found.Fixed, std::move(S), C.F, C.Call, C.Launched,
               Host.get());
}

std::vector<std::string> SourceDrafter::entries() const {
  std::vector<std::string> Names;
  for (const Candidate &C : Candidates)
    Names.push_back(C.Name);
  return Names;
}

llvm::Expected<std::unique_ptr<Draft>>
SourceDrafter::draft(llvm::StringRef Entry) {
  Candidate C;
  C.Name = Entry.str();
  for (const Candidate &Each : Candidates)
    if (Each.Name == Entry)
      C = Each;
  // "k" stands for the first of what is made of a template k.
  if (!C.F && !Entry.contains('<'))
    for (const Candidate &Each : Candidates)
      if (!C.F && llvm::StringRef(Each.Name).starts_with((Entry + "<").str()))
        C = Each;
  llvm::Expected<Signature> S = findEntry(Source, C.Name);
  if (!S)
    return S.takeError();
  if (llvm::Error E = checkCallable(*S))
    return E;
  return makeDraftText(use(C, std::move(*S)), Source);
}

llvm::Expected<std::unique_ptr<Drafter>>
stark::makeDrafter(const ParsedSource &Source) {
  auto Made = std::make_unique<SourceDrafter>(Source);
  if (Made->entries().empty() && entryCandidates(Source).empty())
    return usageError("'" + Source.path() +
                      "' has no function that launches a kernel, and no "
                      "kernel");
  return Made;
}
