//===- HalvesStubs.cpp - Kernels as host code launches them ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalvesStubs.h"
#include "stark/AST/Halves.h"
#include "clang/AST/DeclTemplate.h"

using namespace stark;
using namespace clang;

std::string stark::stubPrefix() {
  // Clang alone puts what a template makes into a section of that name.
  return std::string(
             R"(extern "C" void stark_launch(const void *, const void *const *,
                             const unsigned long *, unsigned);
template <class... A>
static inline void stark_launch_with(void (*Kernel)(A...),
                                     const void *const *Values) {
  const unsigned long Sizes[] = {sizeof(A)..., 0};
  stark_launch((const void *)Kernel, Values, Sizes, sizeof...(A));
}
#ifdef __clang__
#undef __global__
#define __global__ __attribute__((section(")") +
         StubSection + R"(")))
#endif
)";
}

/// "k", or "k<T, N>" inside a template.
static std::string nameInside(const FunctionDecl &F) {
  std::string Name = F.getNameAsString();
  const FunctionTemplateDecl *Of = F.getDescribedFunctionTemplate();
  if (!Of)
    return Name;
  std::string Arguments;
  for (const NamedDecl *P : *Of->getTemplateParameters()) {
    if (P->getName().empty())
      return "";
    Arguments += (Arguments.empty() ? "" : ", ") + P->getNameAsString() +
                 (P->isParameterPack() ? "..." : "");
  }
  return Name + "<" + Arguments + ">";
}

/// Another kernel of that name: which one is meant would need its type, which
/// compilers spell in several ways.
static bool isOverloaded(const FunctionDecl &F) {
  std::set<const Decl *> Found;
  for (const NamedDecl *D : F.getDeclContext()->lookup(F.getDeclName()))
    Found.insert(D->getCanonicalDecl());
  return Found.size() > 1;
}

std::optional<std::string> stark::stubBody(const Item &Kernel,
                                           std::string &WhyNot) {
  const FunctionDecl &F = *Kernel.function();
  if (isOverloaded(F)) {
    WhyNot = "there are two kernels '" + Kernel.Name + "'";
    return std::nullopt;
  }
  std::string Name = nameInside(F), Values;
  bool Named = !Name.empty();
  for (const ParmVarDecl *P : F.parameters()) {
    Named &= !P->getName().empty() && !P->isParameterPack();
    Values += "(const void *)&" + P->getNameAsString() + ", ";
  }
  if (!Named) {
    WhyNot = "the kernel '" + Kernel.Name +
             "' has a parameter without a name, or a list of parameters";
    return std::nullopt;
  }
  return "{ const void *stark_values[] = {" + Values +
         "(const void *)0}; stark_launch_with(&" + Name + ", stark_values); }";
}
