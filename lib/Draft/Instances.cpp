//===- Instances.cpp - Templates that a file does not instantiate ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   kernels that are templates of nothing -> arguments of another file's
///   instance, else guessed ones that Clang takes -> the source with them
///
//===----------------------------------------------------------------------===//

#include "EntryUse.h"
#include "stark/AST/BlockLimits.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Walk.h"
#include "stark/Draft/Draft.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace clang;

namespace {
/// The kernels of the file.
class Kernels : public Walker {
public:
  explicit Kernels(const ParsedSource &Source)
      : SM(Source.unit().getSourceManager()) {
    walk(Source);
  }
  bool onDecl(Decl *D) override {
    auto *F = llvm::dyn_cast<FunctionDecl>(D);
    if (!F || !F->hasAttr<CUDAGlobalAttr>() ||
        !SM.isInMainFile(SM.getExpansionLoc(F->getLocation())) ||
        !F->isThisDeclarationADefinition())
      return true;
    FunctionTemplateDecl *T = F->getDescribedFunctionTemplate();
    bool Made = !T || llvm::any_of(T->specializations(), [](const auto *Each) {
      return Each->hasBody() && !Each->isDependentContext();
    });
    if (Made)
      Any = true;
    else
      Unmade.push_back(T);
    return true;
  }
  std::vector<FunctionTemplateDecl *> Unmade;
  bool Any = false;

private:
  const SourceManager &SM;
};
} // namespace

/// "ns::k", as it is named at the end of the file.
static std::string nameOf(const NamedDecl *D) {
  std::string Name = D->getNameAsString();
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (const auto *N = llvm::dyn_cast<NamespaceDecl>(C))
      if (!N->isAnonymousNamespace() && !N->isInlineNamespace())
        Name = N->getNameAsString() + "::" + Name;
  return Name;
}

/// The arguments of what \p Caller makes of the template \p Name.
static std::vector<std::string> instancesIn(const ParsedSource &Caller,
                                            llvm::StringRef Name) {
  ASTContext &Context = Caller.unit().getASTContext();
  llvm::SmallVector<llvm::StringRef, 4> Parts;
  Name.split(Parts, "::");
  const DeclContext *In = Context.getTranslationUnitDecl();
  for (llvm::StringRef Part : llvm::ArrayRef(Parts).drop_back()) {
    const DeclContext *Inner = nullptr;
    for (const NamedDecl *D : In->lookup(&Context.Idents.get(Part)))
      if (const auto *N = llvm::dyn_cast<NamespaceDecl>(D))
        Inner = N->getPrimaryContext();
    if (!Inner)
      return {};
    In = Inner;
  }
  std::vector<std::string> Out;
  for (const NamedDecl *D : In->lookup(&Context.Idents.get(Parts.back())))
    if (const auto *T = llvm::dyn_cast<FunctionTemplateDecl>(D))
      for (const FunctionDecl *Made : T->specializations()) {
        if (Made->isDependentContext())
          continue;
        std::vector<std::string> Arguments;
        auto Print = [&](const TemplateArgument &A) {
          llvm::raw_string_ostream OS(Arguments.emplace_back());
          A.print(Context.getPrintingPolicy(), OS, /*IncludeType=*/false);
        };
        for (const TemplateArgument &A :
             Made->getTemplateSpecializationArgs()->asArray())
          if (A.getKind() == TemplateArgument::Pack)
            llvm::for_each(A.pack_elements(), Print);
          else
            Print(A);
        Out.push_back(llvm::join(Arguments, ", "));
      }
  return Out;
}

/// A number of \p Name's kind.
static int64_t numberFor(llvm::StringRef Name, unsigned Attempt) {
  using Numbers = int64_t[4];
  static constexpr Numbers OfThread = {4, 8, 1, 2}, Block = {256, 128, 64, 32},
                           Axes = {2, 3, 1, 2}, Other = {16, 32, 64, 128},
                           Window = {3, 5, 1, 7}, Warp = {32, 32, 4, 1};
  auto Has = [&](std::initializer_list<llvm::StringRef> Words) {
    return llvm::any_of(
        Words, [&](llvm::StringRef W) { return Name.contains_insensitive(W); });
  };
  const Numbers *Of = &Other;
  bool Tile = Name.ends_with_insensitive("_m") ||
              Name.ends_with_insensitive("_n") ||
              Name.ends_with_insensitive("_k");
  if (Has({"thread_size", "per_thread", "perthread", "unroll", "vec", "pack",
           "items", "stages"}) ||
      Name == "TM" || Name == "TN" || Name == "VPT")
    Of = &OfThread;
  else if (Has({"warp"}))
    Of = &Warp;
  else if (!Tile && Has({"thread", "block_size", "blocksize", "block_dim",
                         "blockdim", "tpb", "cta"}))
    Of = &Block;
  else if (Name.equals_insensitive("dim") || Has({"dims", "ndim", "rank"}))
    Of = &Axes;
  else if (Has({"radius", "window", "kernel", "filter", "stride"}))
    Of = &Window;
  return (*Of)[Attempt];
}

/// An argument for \p P; none where nothing can be guessed.
static std::optional<std::string> argumentFor(const NamedDecl *P,
                                              unsigned Attempt) {
  std::string Name = P->getNameAsString();
  if (P->isParameterPack())
    return std::nullopt;
  if (llvm::isa<TemplateTypeParmDecl>(P)) {
    bool Whole = llvm::StringRef(Name).contains_insensitive("int") ||
                 llvm::StringRef(Name).contains_insensitive("index") ||
                 llvm::StringRef(Name).contains_insensitive("idx");
    static constexpr const char *Real[] = {"float", "float", "int", "double"};
    return Whole ? "int" : Real[Attempt];
  }
  const auto *N = llvm::dyn_cast<NonTypeTemplateParmDecl>(P);
  if (!N || N->getType()->isDependentType())
    return std::nullopt;
  QualType Type = N->getType();
  if (Type->isBooleanType())
    return Attempt % 2 ? "true" : "false";
  if (const auto *E = Type->getAs<EnumType>()) {
    auto First = E->getDecl()->enumerator_begin();
    return First == E->getDecl()->enumerator_end()
               ? std::nullopt
               : std::optional(First->getQualifiedNameAsString());
  }
  if (Type->isIntegerType())
    return std::to_string(numberFor(Name, Attempt));
  return std::nullopt;
}

/// Bytes of static shared memory.
static uint64_t sharedIn(const Stmt *S, ASTContext &Context) {
  uint64_t Sum = 0;
  if (const auto *D = llvm::dyn_cast_or_null<DeclStmt>(S))
    for (const Decl *Each : D->decls())
      if (const auto *V = llvm::dyn_cast<VarDecl>(Each);
          V && V->hasAttr<CUDASharedAttr>() &&
          V->getType()->isConstantSizeType() &&
          !V->getType()->isDependentType())
        Sum += Context.getTypeSizeInChars(V->getType()).getQuantity();
  if (S)
    for (const Stmt *Child : S->children())
      Sum += sharedIn(Child, Context);
  return Sum;
}

/// Whether each instance of the file's kernels may be launched.
static bool fits(const ParsedSource &Source) {
  class Instances : public Walker {
  public:
    bool onDecl(Decl *D) override {
      if (auto *T = llvm::dyn_cast<FunctionTemplateDecl>(D))
        for (const FunctionDecl *F : T->specializations())
          if (F->hasAttr<CUDAGlobalAttr>() && F->hasBody())
            Fit &= sharedIn(F->getBody(), F->getASTContext()) <=
                   MostStaticSharedOfBlock;
      return Fit;
    }
    bool Fit = true;
  } All;
  All.walk(Source);
  return All.Fit;
}

static bool hasDefault(const NamedDecl *P) {
  if (const auto *T = llvm::dyn_cast<TemplateTypeParmDecl>(P))
    return T->hasDefaultArgument();
  const auto *N = llvm::dyn_cast<NonTypeTemplateParmDecl>(P);
  return N && N->hasDefaultArgument();
}

static std::optional<std::string>
guessedArguments(const FunctionTemplateDecl *T, unsigned Attempt) {
  std::vector<std::string> Arguments;
  for (const NamedDecl *P : *T->getTemplateParameters()) {
    if (hasDefault(P))
      break;
    std::optional<std::string> A = argumentFor(P, Attempt);
    if (!A)
      return std::nullopt;
    Arguments.push_back(*A);
  }
  return llvm::join(Arguments, ", ");
}

/// \p Source with an instance of each of \p Named ("k<float, 4>"); null where
/// Clang does not take one.
static std::unique_ptr<ParsedSource>
withInstances(const ParsedSource &Source, llvm::ArrayRef<std::string> Named,
              const ParseOptions &Options) {
  std::string Text =
      Source.text().str() + "\ninline void stark_instances() {\n";
  for (const std::string &Each : Named)
    Text += "  (void)&::" + Each + ";\n";
  auto Made = parseSource(Source.path(), Text + "}\n", Options);
  if (!Made) {
    llvm::consumeError(Made.takeError());
    return nullptr;
  }
  return newErrors(Source, **Made).empty() && fits(**Made) ? std::move(*Made)
                                                           : nullptr;
}

std::unique_ptr<ParsedSource>
stark::makeInstances(const ParsedSource &Source,
                     llvm::ArrayRef<std::unique_ptr<ParsedSource>> Callers,
                     const ParseOptions &Options,
                     std::vector<std::string> &Notes) {
  constexpr unsigned MostAttempts = 4, MostInstances = 4, MostTemplates = 8;
  Kernels Found(Source);
  if (Found.Any || Found.Unmade.empty())
    return nullptr;
  std::vector<std::string> Named;
  for (const FunctionTemplateDecl *T : Found.Unmade)
    for (const auto &Caller : Callers)
      for (const std::string &Arguments : instancesIn(*Caller, nameOf(T)))
        if (std::string Each = nameOf(T) + "<" + Arguments + ">";
            Named.size() < MostInstances && !llvm::is_contained(Named, Each)) {
          Named.push_back(Each);
          Notes.push_back("nothing in the file instantiates template '" +
                          nameOf(T) + "'; " + Each + " is " +
                          llvm::sys::path::filename(Caller->path()).str() +
                          "'s");
        }
  if (!Named.empty())
    if (auto Made = withInstances(Source, Named, Options))
      return Made;
  Notes.clear();
  // Each by itself: of one that Clang does not take the others know nothing.
  Named.clear();
  std::unique_ptr<ParsedSource> Best;
  for (const FunctionTemplateDecl *T :
       llvm::ArrayRef(Found.Unmade).take_front(MostTemplates))
    for (unsigned Attempt = 0; Attempt < MostAttempts; ++Attempt) {
      std::optional<std::string> Arguments = guessedArguments(T, Attempt);
      if (!Arguments)
        break;
      std::vector<std::string> Tried = Named;
      Tried.push_back(nameOf(T) + "<" + *Arguments + ">");
      auto Made = withInstances(Source, Tried, Options);
      if (!Made)
        continue;
      Best = std::move(Made);
      Named = std::move(Tried);
      Notes.push_back("nothing instantiates template '" + nameOf(T) + "'; " +
                      Named.back() +
                      " is guessed; put in the arguments that are used");
      break;
    }
  return Best;
}
