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
#include "DryRun.h"
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

SmallSize stark::likelyForm(const Draft &D) {
  for (SmallSize Form :
       {SmallSize::Ragged, SmallSize::Aligned, SmallSize::Powers})
    if (D.differs(Form) && D.fits(Form))
      return Form;
  return SmallSize::None;
}

Drafter::~Drafter() = default;

namespace {
/// The functions that the file defines, what it makes of its templates
/// included, and the names that its device code is written with.
class Functions : public Walker {
public:
  /// \p Fixed: names that device code of other files is written with.
  Functions(const ParsedSource &Source, std::set<std::string> Fixed)
      : Fixed(std::move(Fixed)), Context(Source.unit().getASTContext()),
        SM(Source.unit().getSourceManager()) {
    walk(Source);
  }
  bool onDecl(Decl *D) override {
    auto *F = llvm::dyn_cast<FunctionDecl>(D);
    if (!F || !SM.isInMainFile(SM.getExpansionLoc(F->getLocation())) ||
        !F->isThisDeclarationADefinition())
      return true;
    if (auto *M = llvm::dyn_cast<CXXMethodDecl>(F)) {
      if (!M->isDependentContext())
        Methods.push_back(M);
    } else if (!F->getDeclName().isIdentifier()) {
      return true;
    } else if (F->isMain()) {
      Main = F;
    } else if (FunctionTemplateDecl *T = F->getDescribedFunctionTemplate()) {
      bool Any = false;
      for (FunctionDecl *Made : T->specializations())
        if (Made->hasBody() && !Made->isDependentContext()) {
          All.push_back(Made);
          Any = true;
        }
      if (!Any && F->hasAttr<CUDAGlobalAttr>())
        Unmade.push_back(F->getNameAsString());
    } else if (!F->isDependentContext()) {
      All.push_back(F);
    }
    return true;
  }
  bool onStmt(Stmt *S) override {
    if (!InDevice)
      return true;
    fix(S);
    return true;
  }
  void beginFunction(FunctionDecl *F) override {
    Outer.push_back(InDevice);
    InDevice |= F->hasAttr<CUDAGlobalAttr>() || F->hasAttr<CUDADeviceAttr>();
  }
  void endFunction() override { InDevice = Outer.pop_back_val(); }

  std::vector<FunctionDecl *> All;
  std::vector<CXXMethodDecl *> Methods;
  std::vector<std::string> Unmade; ///< kernels that are templates of nothing
  FunctionDecl *Main = nullptr;
  std::set<std::string> Fixed;

private:
  /// The macro or the global variable that \p S is of, and what that one is
  /// made of in turn.
  void fix(const Stmt *S) {
    if (const auto *L = llvm::dyn_cast<IntegerLiteral>(S)) {
      SourceLocation Loc = L->getLocation();
      if (Loc.isMacroID())
        Fixed.insert(
            Lexer::getImmediateMacroName(Loc, SM, Context.getLangOpts()).str());
    }
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(S);
    const auto *V = Ref ? llvm::dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (V && V->hasGlobalStorage() && Fixed.insert(V->getNameAsString()).second)
      if (const Expr *Init = V->getAnyInitializer())
        fixBelow(Init);
  }
  void fixBelow(const Stmt *S) {
    fix(S);
    for (const Stmt *Child : S->children())
      if (Child)
        fixBelow(Child);
  }

  ASTContext &Context;
  const SourceManager &SM;
  bool InDevice = false;
  llvm::SmallVector<bool, 8> Outer;
};

struct Candidate {
  EntryUsed used() const {
    return F && F->hasAttr<CUDAGlobalAttr>() ? EntryUsed::Launched
                                             : EntryUsed::Called;
  }
  std::string Name;
  const FunctionDecl *F = nullptr;
  const HostCall *Call = nullptr;
  const Launch *Launched = nullptr;
  const Machine *Host = nullptr; ///< saw the call or the launch
  size_t Times = 0;
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

namespace {
/// A file of the program, and its dry run.
struct Followed {
  explicit Followed(const ParsedSource &Source,
                    const std::set<std::string> &Fixed = {})
      : Context(Source.unit().getASTContext()), Found(Source, Fixed),
        Host(dryRun(Context, {Found.Main, Found.All, Found.Methods},
                    Found.Fixed)) {}
  ASTContext &Context;
  Functions Found;
  std::unique_ptr<Machine> Host;
};

class SourceDrafter : public Drafter {
public:
  SourceDrafter(const ParsedSource &Source,
                llvm::ArrayRef<std::unique_ptr<ParsedSource>> Callers)
      : Source(Source), Own(Source) {
    for (const auto &Caller : Callers)
      Others.push_back(std::make_unique<Followed>(*Caller, Own.Found.Fixed));
    collect();
  }
  std::vector<std::string> entries() const override;
  llvm::Expected<std::unique_ptr<Draft>> draft(llvm::StringRef Entry) override;
  llvm::ArrayRef<std::string> unmade() const { return Own.Found.Unmade; }

private:
  void lookFor(Candidate &C, const Followed &In) const;
  void collect();
  std::unique_ptr<EntryUse> use(const Candidate &C, Signature S,
                                bool Twice) const;
  int rank(const Candidate &C) const;

  const ParsedSource &Source;
  Followed Own;
  std::vector<std::unique_ptr<Followed>> Others;
  std::vector<Candidate> Candidates;
};
} // namespace

/// The first launch or call of \p C that \p In has; one that the program makes
/// rather than one with values of ours.
void SourceDrafter::lookFor(Candidate &C, const Followed &In) const {
  auto Is = [&](const FunctionDecl *F) {
    return F == C.F ||
           (&In != &Own && F->getNumParams() == C.F->getNumParams() &&
            F->hasAttr<CUDAGlobalAttr>() == C.F->hasAttr<CUDAGlobalAttr>() &&
            nameOf(F, In.Context) == C.Name);
  };
  for (const Launch &L : In.Host->Launches)
    if (Is(L.Kernel)) {
      if (!C.Launched || (C.Launched->MadeUp && !L.MadeUp)) {
        C.Launched = &L;
        C.Host = In.Host.get();
      }
      C.Times += !L.MadeUp;
    }
  // With arguments of which nothing is known it may not be called at all.
  auto Known = [](const HostCall &H) {
    return H.Arguments.empty() || llvm::any_of(H.Arguments, [](const Value &V) {
             return V.Kind != Value::Unknown;
           });
  };
  for (const HostCall &H : In.Host->Calls)
    if (Is(H.Callee) && Known(H)) {
      if (!C.Call) {
        C.Call = &H;
        C.Host = In.Host.get();
      }
      ++C.Times;
    }
}

void SourceDrafter::collect() {
  for (const FunctionDecl *F : Own.Found.All) {
    Candidate C;
    C.F = F;
    bool Kernel = F->hasAttr<CUDAGlobalAttr>();
    if (!Kernel && !launches(F->getBody()))
      continue;
    C.Name = nameOf(F, Own.Context);
    lookFor(C, Own);
    for (const auto &Other : Others)
      lookFor(C, *Other);
    if (llvm::none_of(Candidates, [&](const Candidate &Other) {
          return Other.Name == C.Name && Other.used() == C.used();
        }))
      Candidates.push_back(std::move(C));
  }
  std::vector<std::pair<int, size_t>> Order;
  for (size_t I = 0; I < Candidates.size(); ++I)
    Order.push_back({rank(Candidates[I]), I});
  llvm::stable_sort(
      Order, [](const auto &L, const auto &R) { return L.first < R.first; });
  std::vector<Candidate> Sorted;
  // Of a host function and a kernel of one name the better one is drafted.
  for (const auto &[Rank, I] : Order)
    if (llvm::none_of(Sorted, [&](const Candidate &Better) {
          return Better.Name == Candidates[I].Name;
        }))
      Sorted.push_back(Candidates[I]);
  Candidates = std::move(Sorted);
}

/// Whether the program gives it what the host allocates for itself.
static bool takesHostArrays(const Candidate &C) {
  return C.Call && llvm::any_of(C.Call->Arguments, [](const Value &V) {
           return V.isAddress() && V.To->Where == Space::Host &&
                  V.To->Type.isNull();
         });
}

/// Whether it only launches: takes pointers of the device, and neither
/// allocates nor prints nor times.
static bool isLauncher(const EntryUse &Use) {
  if (Use.Entry.IsKernel || !Use.Run || Use.Run->Launches.empty() ||
      Use.Run->Allocates || Use.Run->Prints || Use.Run->Exited)
    return false;
  bool Any = false;
  for (const LeafUse &L : Use.Leaves)
    if (L.Array) {
      if (L.Array->Used.OnHost)
        return false;
      Any |= L.Array->Used.Written;
    }
  return Any;
}

/// The lower, the better.
int SourceDrafter::rank(const Candidate &C) const {
  constexpr int Uncallable = 1000000;
  llvm::Expected<Signature> S = findEntry(Source, C.Name, C.used());
  if (!S) {
    llvm::consumeError(S.takeError());
    return 2 * Uncallable;
  }
  if (llvm::errorToBool(checkCallable(*S)))
    return Uncallable;
  bool Pointers = false, Reads = false;
  if (isTensorEntry(*S))
    return 0;
  std::unique_ptr<EntryUse> Use = use(C, *S, /*Twice=*/false);
  for (const LeafUse &L : Use->Leaves)
    if (L.Array) {
      Pointers |= !L.P->Const;
      Reads |= L.Array->Used.Read;
    }
  for (const SymbolUse &Symbol : Use->Symbols)
    if (Symbol.Used.Written) {
      Pointers = true;
      Reads |= Symbol.Used.Read;
    }
  if (!Pointers)
    return Uncallable / 2;
  int Rank = -int(std::min<size_t>(C.Times, 1000));
  if (llvm::StringRef(C.Name).contains_insensitive("warm"))
    Rank += 500;
  // What only fills an array prepares another entry.
  if (!Reads)
    Rank += 200;
  if (S->IsKernel) {
    bool Writes = llvm::any_of(Use->Leaves, [](const LeafUse &L) {
      return L.Array && L.Array->Used.Written;
    });
    Writes |= llvm::any_of(Use->Symbols, [](const SymbolUse &Symbol) {
      return Symbol.Used.Written && Symbol.Got;
    });
    return 20000 + Rank + (Writes ? 0 : 5000) +
           (!C.Launched          ? 10000
            : C.Launched->MadeUp ? 3000
                                 : 0);
  }
  if (takesHostArrays(C))
    return 100000 + Rank;
  // Without a body that can be followed, as declared.
  bool Clean = isLauncher(*Use) ||
               (!Use->Followed && !Use->Run->Allocates && !Use->Run->Prints &&
                llvm::none_of(Use->Leaves, [](const LeafUse &L) {
                  return L.Array && L.Array->Used.OnHost;
                }));
  return Clean ? 10000 + Rank : 100000 + Rank;
}

std::unique_ptr<EntryUse> SourceDrafter::use(const Candidate &C, Signature S,
                                             bool Twice) const {
  return useOf(Own.Context, Own.Found.Fixed, std::move(S), C.F, C.Call,
               C.Launched, C.Host ? C.Host : Own.Host.get(), Twice);
}

std::vector<std::string> SourceDrafter::entries() const {
  std::vector<std::string> Names;
  for (const Candidate &C : Candidates)
    Names.push_back(C.Name);
  return Names;
}

static bool isDefined(const VarDecl &V) {
  return V.hasDefinition() != VarDecl::DeclarationOnly;
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
  llvm::Expected<Signature> S = findEntry(Source, C.Name, C.used());
  if (!S)
    return S.takeError();
  if (llvm::Error E = checkCallable(*S))
    return E;
  std::unique_ptr<EntryUse> Use = use(C, std::move(*S), /*Twice=*/true);
  for (const SymbolUse &Symbol : Use->Symbols)
    if (!isDefined(*Symbol.V))
      return usageError(
          "entry '" + C.Name + "' uses the variable '" +
          Symbol.V->getQualifiedNameAsString() +
          "' of the device, which another file defines, so that no workload "
          "can set it; wanted its definition in '" +
          Source.path() + "'");
  return makeDraftText(std::move(Use), Source);
}

llvm::Expected<std::unique_ptr<Drafter>>
stark::makeDrafter(const ParsedSource &Source,
                   llvm::ArrayRef<std::unique_ptr<ParsedSource>> Callers) {
  auto Made = std::make_unique<SourceDrafter>(Source, Callers);
  if (Made->entries().empty() && !Made->unmade().empty())
    return usageError("'" + Source.path() +
                      "' has no kernel but templates "
                      "that nothing in it instantiates: " +
                      llvm::join(Made->unmade(), ", ") +
                      "; wanted a launch of one, or 'template __global__ void "
                      "NAME<...>(...);'");
  if (Made->entries().empty() && entryCandidates(Source).empty())
    return usageError("'" + Source.path() +
                      "' has no function that launches a kernel, and no "
                      "kernel");
  return Made;
}
