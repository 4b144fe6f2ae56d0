//===- Halves.cpp - A candidate for two compilers ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   items -> what each half keeps -> edits of the text -> two texts
///
//===----------------------------------------------------------------------===//

#include "stark/AST/Halves.h"
#include "HalvesLaunches.h"
#include "HalvesStubs.h"
#include "HalvesText.h"
#include "MainFile.h"
#include "stark/AST/Walk.h"
#include "stark/Support/TimeTrace.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// What cuda_runtime.h has for nvcc only, and hosts of kernels use.
static constexpr StringRef HostPrefix = R"(#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#ifndef __cluster_dims__
#define __cluster_dims__(...)
#endif
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, unsigned long = 0,
                                                struct CUstream_st * = 0);
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T *Kernel, cudaFuncAttribute A,
                                               int Value) {
  return ::cudaFuncSetAttribute((const void *)Kernel, A, Value);
}
template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *A,
                                                T *Kernel) {
  return ::cudaFuncGetAttributes(A, (const void *)Kernel);
}
template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T *Kernel, cudaFuncCache C) {
  return ::cudaFuncSetCacheConfig((const void *)Kernel, C);
}
)";

/// min and max as crt/math_functions.hpp has them for the host.
static constexpr StringRef MinMax = R"(#define STARK_MIN_MAX(R, A, B) \
  static inline R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; } \
  static inline R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define STARK_MIN_MAX_MIXED(S, U) \
  STARK_MIN_MAX(S, S, S) STARK_MIN_MAX(U, U, U) \
  STARK_MIN_MAX(U, S, U) STARK_MIN_MAX(U, U, S)
STARK_MIN_MAX_MIXED(int, unsigned)
STARK_MIN_MAX_MIXED(long, unsigned long)
STARK_MIN_MAX_MIXED(long long, unsigned long long)
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
static inline double min(double a, double b) { return __builtin_fmin(a, b); }
static inline double max(double a, double b) { return __builtin_fmax(a, b); }
static inline double min(float a, double b) { return __builtin_fmin(a, b); }
static inline double max(float a, double b) { return __builtin_fmax(a, b); }
static inline double min(double a, float b) { return __builtin_fmin(a, b); }
static inline double max(double a, float b) { return __builtin_fmax(a, b); }
)";

namespace {
/// The bodies of methods that only the device has.
class DeviceMethods : public Walker {
public:
  explicit DeviceMethods(ASTContext &Context) : Context(Context) {}
  bool onDecl(Decl *D) override {
    auto *F = dyn_cast<CXXMethodDecl>(D);
    if (!F || F->getParent()->isLambda() || sideOf(F) != Side::Device ||
        !F->doesThisDeclarationHaveABody() || !F->getBody())
      return true;
    if (auto *Made = dyn_cast<CXXConstructorDecl>(F);
        Made && Made->getNumCtorInitializers())
      return true;
    if (std::optional<Range> Body =
            fileBytes(F->getBody()->getSourceRange(),
                      Context.getSourceManager(), Context.getLangOpts()))
      Bodies.push_back(*Body);
    return true;
  }
  std::vector<Range> Bodies;

private:
  ASTContext &Context;
};

class Divider {
public:
  Divider(const ParsedSource &Source, llvm::ArrayRef<std::string> TorchFolders,
          KernelsOfHost Kernels, std::string &WhyNot)
      : Kernels(Kernels), Source(Source), SM(Source.unit().getSourceManager()),
        From(Source, TorchFolders), Tokens(Source.text(), Names),
        WithTorch(!TorchFolders.empty()), WhyNot(WhyNot) {}

  std::optional<Halves> run();

private:
  bool refuse(const std::string &Why) {
    if (WhyNot.empty())
      WhyNot = Why;
    return false;
  }
  bool check();
  bool isTheSameToBoth(const std::string &File) const;
  bool checkItems();
  bool device(std::string &Text);
  bool host(std::string &Text);

  std::string finish(std::vector<Edit> Edits, const std::vector<Range> &Gone,
                     const std::string &Prefix) const;
  std::set<std::string> broughtHeaders(const Item &I, bool ForHost) const;
  Edit without(const IncludeLine &I) const {
    return {I.Bytes,
            lineBreaks(Source.text().slice(I.Bytes.Begin, I.Bytes.End))};
  }
  const std::set<const Decl *> &usesInHost(const Item &I) const {
    return I.Side == Item::Kernel ? I.InSignature : I.Uses;
  }
  bool bodiesAway(std::vector<Edit> &Edits) const;
  bool namesMinMax() const;

  KernelsOfHost Kernels;
  const ParsedSource &Source;
  const SourceManager &SM;
  Headers From;
  Spellings Names;
  SourceTokens Tokens;
  const bool WithTorch; ///< any header of the project may include it
  std::string &WhyNot;
  std::vector<Item> Items;
  std::vector<bool> InHost;
  bool HasKernels = false;
};
} // namespace

std::optional<Halves> Divider::run() {
  if (!check())
    return std::nullopt;
  std::optional<std::vector<Item>> Found = findItems(Source, From, WhyNot);
  if (!Found)
    return std::nullopt;
  Items = std::move(*Found);
  InHost = keptByHost(Tokens, Items, From);
  if (!checkItems())
    return std::nullopt;
  for (const Item &I : Items)
    HasKernels |= I.Side == Item::Kernel;
  Halves Result;
  if ((HasKernels && !device(Result.Device)) || !host(Result.Host))
    return std::nullopt;
  return Result;
}

bool Divider::check() {
  for (const SourceError &E : Source.errors())
    return refuse("Clang does not understand it: " + E.Message);
  for (const std::string &File : Source.includedFiles())
    if (!From.isTorch(File) && (WithTorch || !isTheSameToBoth(File)))
      return refuse("it includes '" + llvm::sys::path::filename(File).str() +
                    "'");
  return true;
}

/// A header of the project may go to both halves where it has nothing of the
/// device's, and does not ask which compiler reads it.
bool Divider::isTheSameToBoth(const std::string &File) const {
  static constexpr StringRef Differs[] = {
      "__CUDA",       "__NVCC__",   "__global__",       "__device__",
      "__constant__", "__shared__", "__managed__",      "<<<",
      "__clang",      "__GNU",      "__launch_bounds__"};
  auto Text = Source.unit().getFileManager().getBufferForFile(File);
  return Text && llvm::none_of(Differs, [&](StringRef Word) {
           return (*Text)->getBuffer().contains(Word);
         });
}

bool Divider::checkItems() {
  for (const IncludeLine &I : From.Lines) {
    if (!I.Found)
      return refuse("'" + I.Name + "' is not found");
    if (!itemsAt(Items, I.Bytes.Begin).empty())
      return refuse("'" + I.Name + "' is included inside a declaration");
  }
  for (size_t I = 0; I + 1 < Tokens.All.size(); ++I)
    // The AST does not say where one stands.
    if (Tokens.is(I, "template") && !Tokens.is(I + 1, "<") &&
        !Tokens.All[I].InDirective &&
        itemsAt(Items, Tokens.All[I].Bytes.Begin).empty())
      return refuse("line " +
                    std::to_string(Tokens.line(Tokens.All[I].Bytes.Begin)) +
                    " instantiates a template explicitly");
  if (std::string Why = differingConditional(Tokens, Items, Source);
      !Why.empty())
    return refuse(Why);
  for (size_t I = 0; I < Items.size(); ++I) {
    const Item &A = Items[I];
    for (size_t J = I + 1; J < Items.size(); ++J) {
      const Item &B = Items[J];
      if (A.Bytes.overlaps(B.Bytes) &&
          (A.HostOnly != B.HostOnly || InHost[I] != InHost[J] ||
           (A.Side == Item::Kernel) != (B.Side == Item::Kernel)))
        return refuse("'" + A.Name + "' and '" + B.Name +
                      "' are declared by one text");
    }
    const FunctionDecl *F = A.function();
    if (A.Side == Item::Kernel && InHost[I] && !A.Body &&
        F->doesThisDeclarationHaveABody())
      return refuse("a macro writes the kernel '" + A.Name + "'");
  }
  return true;
}

std::string Divider::finish(std::vector<Edit> Edits,
                            const std::vector<Range> &Gone,
                            const std::string &Prefix) const {
  std::vector<Range> Merged;
  for (const Range &R : Gone)
    if (!Merged.empty() && R.Begin < Merged.back().End)
      Merged.back().End = std::max(Merged.back().End, R.End);
    else
      Merged.push_back(R);
  for (const Range &R : Merged)
    for (Edit &E : blank(Tokens, R))
      Edits.push_back(std::move(E));
  std::string Text = applyEdits(Source.text(), std::move(Edits));
  if (Prefix.empty())
    return Text;
  std::string Line = "#line 1 \"";
  for (char C : Source.path()) {
    if (C == '"' || C == '\\')
      Line += '\\';
    Line += C;
  }
  return Prefix + Line + "\"\n" + Text;
}

static std::string includesOf(const std::set<std::string> &Headers) {
  std::string Text;
  for (const std::string &Header : Headers)
    Text += "#include " + Header + "\n";
  return Text;
}

/// What torch's headers include for \p I and its half does not get without
/// them.
std::set<std::string> Divider::broughtHeaders(const Item &I,
                                              bool ForHost) const {
  std::set<std::string> Found;
  auto Add = [&](SourceLocation L) {
    std::string Header = From.broughtByTorch(L);
    if (Header.empty())
      return;
    // g++ reads torch's headers; what they include for nvcc only is CUDA's.
    bool Cuda = llvm::any_of(From.includers(L), [&](const std::string &Path) {
      return From.isToolkit(Path);
    });
    if (!ForHost || Cuda)
      Found.insert(Header);
  };
  for (const Decl *D : ForHost ? usesInHost(I) : I.Uses)
    if (!isa<NamespaceDecl>(D))
      Add(D->getLocation());
  if (!ForHost || I.Side != Item::Kernel)
    for (SourceLocation L : I.Macros)
      Add(L);
  return Found;
}

bool Divider::device(std::string &Text) {
  std::vector<Range> Gone;
  std::vector<Edit> Edits = externalNames(Tokens, Items, Source);
  for (const IncludeLine &I : From.Lines)
    if (From.isTorch(I.Path))
      Edits.push_back(without(I));
  std::set<std::string> Brought, Small;
  for (const Item &I : Items) {
    if (I.HostOnly) {
      Gone.push_back(I.Bytes);
      continue;
    }
    Brought.merge(broughtHeaders(I, /*ForHost=*/false));
    for (const Decl *D : I.Uses)
      Small.insert(From.smallTorchHeader(D->getLocation()));
    // The host's half has it too: in the device's object it is to be weak.
    const FunctionDecl *F = I.function();
    if (I.Side == Item::Shared && isa<FunctionDecl>(I.D) && I.Body &&
        !F->isInlined() && F->getStorageClass() != SC_Static) {
      size_t At = SM.getFileOffset(SM.getExpansionLoc(F->getInnerLocStart()));
      Edits.push_back({{At, At}, "inline "});
    }
  }
  std::optional<std::string> Instances =
      kernelInstances(Source, Items, From, Small, WhyNot);
  if (!Instances)
    return false;
  Small.erase("");
  Brought.insert(Small.begin(), Small.end());
  std::string Prefix = includesOf(Brought);
  if (!Small.empty())
    Prefix += "namespace at { using namespace c10; }\n";
  // A prefix that says nothing still says what the lines are called.
  Text = finish(std::move(Edits), Gone, Prefix + "\n");
  if (!Instances->empty())
    Text += "\n#line 1 \"stark-kernels\"\n" + *Instances;
  return true;
}

/// Kernels and methods of the device are declarations to the host; kernels may
/// be stubs.
bool Divider::bodiesAway(std::vector<Edit> &Edits) const {
  std::vector<Range> Bodies;
  DeviceMethods Methods(Source.unit().getASTContext());
  for (size_t I = 0; I < Items.size(); ++I) {
    if (!InHost[I])
      continue;
    if (Items[I].Side == Item::Kernel && Items[I].Body &&
        Kernels == KernelsOfHost::Stubs) {
      std::optional<std::string> Stub = stubBody(Items[I], WhyNot);
      if (!Stub)
        return false;
      const Range &R = *Items[I].Body;
      Edits.push_back({{R.Begin, R.Begin}, *Stub});
      for (Edit &E : blank(Tokens, R))
        Edits.push_back(std::move(E));
    } else if (Items[I].Side == Item::Kernel && Items[I].Body)
      Bodies.push_back(*Items[I].Body);
    else if (Items[I].Side == Item::Shared)
      Methods.walk(Items[I].D);
  }
  Bodies.insert(Bodies.end(), Methods.Bodies.begin(), Methods.Bodies.end());
  for (const Range &R : Bodies) {
    Edits.push_back({{R.Begin, R.Begin}, ";"});
    for (Edit &E : blank(Tokens, R))
      Edits.push_back(std::move(E));
  }
  return true;
}

bool Divider::namesMinMax() const {
  for (const Item &I : Items)
    for (const Decl *D : I.HostOnly ? I.Uses : std::set<const Decl *>()) {
      auto *Named = dyn_cast<NamedDecl>(D);
      if (Named && Named->getDeclName().isIdentifier() &&
          (Named->getName() == "min" || Named->getName() == "max") &&
          D->getDeclContext()->getRedeclContext()->isTranslationUnit() &&
          !isInMainFile(SM, D->getLocation()) &&
          !From.isTorch(D->getLocation()))
        return true;
    }
  return false;
}

bool Divider::host(std::string &Text) {
  std::vector<Range> Gone, NoLaunches;
  std::set<std::string> Needed, Brought;
  std::vector<Edit> Edits;
  for (size_t I = 0; I < Items.size(); ++I) {
    if (!InHost[I]) {
      Gone.push_back(Items[I].Bytes);
      continue;
    }
    if (Items[I].Side == Item::Kernel && Items[I].Body)
      NoLaunches.push_back(*Items[I].Body);
    for (const Decl *D : usesInHost(Items[I]))
      for (std::string &Path : From.includers(D->getLocation()))
        Needed.insert(std::move(Path));
    if (Items[I].Side != Item::Kernel)
      for (SourceLocation L : Items[I].Macros)
        for (std::string &Path : From.includers(L))
          Needed.insert(std::move(Path));
    Brought.merge(broughtHeaders(Items[I], /*ForHost=*/true));
  }
  for (const IncludeLine &I : From.Lines) {
    bool ForNvcc =
        From.isToolkit(I.Path) || StringRef(I.Path).ends_with(".cuh");
    if (ForNvcc && !Needed.count(I.Path))
      Edits.push_back(without(I));
  }
  if (HasKernels)
    for (Edit &E : externalNames(Tokens, Items, Source))
      Edits.push_back(std::move(E));
  if (!bodiesAway(Edits))
    return false;
  NoLaunches.insert(NoLaunches.end(), Gone.begin(), Gone.end());
  std::optional<std::vector<Edit>> Launches =
      launchEdits(Source, Tokens, NoLaunches, WhyNot);
  if (!Launches)
    return false;
  Edits.insert(Edits.end(), Launches->begin(), Launches->end());
  std::string Prefix = includesOf(Brought);
  if (HasKernels)
    Prefix += HostPrefix;
  if (HasKernels && Kernels == KernelsOfHost::Stubs)
    Prefix += stubPrefix();
  if (namesMinMax())
    Prefix += MinMax;
  Text = finish(std::move(Edits), Gone, Prefix);
  return true;
}

std::optional<Halves> stark::takeApart(const ParsedSource &Source,
                                       llvm::ArrayRef<std::string> TorchFolders,
                                       std::string &WhyNot,
                                       KernelsOfHost Kernels) {
  TraceScope Traced("take apart");
  WhyNot.clear();
  return Divider(Source, TorchFolders, Kernels, WhyNot).run();
}

std::vector<std::string> stark::deviceFlags(const Toolkit &Cuda) {
  // Older ones know no such flag, and keep such functions external.
  if (Cuda.Major > 12 || (Cuda.Major == 12 && Cuda.Minor >= 8))
    return {"-static-global-template-stub=false"};
  return {};
}
