//===- GridStride.cpp - Several elements a thread -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of one element a thread,
///
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) ...              (or: if (i >= n) return; ...)
///
/// and one launch of it: the kernel gets a loop over the grid, and the launch a
/// quarter of the blocks.
///
/// Faster, because indices and constants are computed once for four elements,
/// fewer blocks come and go, and vector-access can follow.
///
/// Kept: each element is computed once, by the same statements. The loop counts
/// in 64 bits, so it cannot run over. Refused where the kernel has barriers,
/// shared memory, or any other use of the thread's number, and where the grid
/// is not one number.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "ElementKernel.h"
#include "stark/Support/Error.h"

using namespace stark;
using namespace clang;

namespace {
class GridStride : public Rewrite {
public:
  llvm::StringRef name() const override { return "grid-stride"; }
  llvm::StringRef summary() const override {
    return "let a thread compute several elements";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

static llvm::Expected<std::vector<Edit>> write(const Facts &F, const Kernel &K,
                                               const Launch &L,
                                               const ElementKernel &S) {
  std::optional<Range> Declared = F.statementRange(S.Declared);
  std::optional<Range> Guard = F.range(S.Guard);
  std::optional<Range> Last = F.statementRange(S.Rest.back());
  std::optional<Range> First = F.range(S.Rest.front());
  std::optional<Range> Grid = F.range(L.Grid);
  std::string Start = F.text(S.I->getInit()), Bound = F.text(S.Bound);
  if (!Declared || !Guard || !Last || !First || !Grid || Start.empty() ||
      Bound.empty())
    return failed("part of it stands in a macro");
  std::string At = F.freshName("at"), Stride = F.freshName("stride");
  std::string Type = S.I->getType().getUnqualifiedType().getAsString(
      F.context().getPrintingPolicy());
  std::string In = F.indentAt(Declared->Begin);
  std::string T =
      "const long long " + Stride + " = (long long)gridDim.x * blockDim.x;\n";
  T += In + "for (long long " + At + " = " + Start + "; " + At + " < " + Bound +
       "; " + At + " += " + Stride + ") {\n";
  T += In + "  const " + Type + " " + S.I->getNameAsString() + " = " + At +
       ";\n";
  T += In + "  " + F.text(Range{First->Begin, Last->End}) + "\n";
  T += In + "}";
  std::string G = F.text(*Grid);
  return std::vector<Edit>{{{Declared->Begin, Last->End}, T},
                           {*Grid, "((" + G + ") + 3) / 4"}};
}

void GridStride::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    ElementKernel S;
    std::string Why = readElementKernel(F, K, S);
    if (Why == "-")
      continue;
    if (Why.empty())
      Why = K.LaunchedElsewhere;
    if (Why.empty() && K.Launches.size() != 1)
      Why = K.Launches.empty() ? "no launch of it is in this file"
                               : "it is launched at several places";
    const Launch *L = K.Launches.empty() ? nullptr : K.Launches.front();
    const Site *Host = nullptr;
    if (L && L->At)
      for (const Site &Each : F.In.All->All)
        if (Each.Kind == SiteKind::Host && Each.Bytes.contains(L->At->Bytes))
          Host = &Each;
    if (Why.empty() && (!Host || !Host->editable() || !L->At->editable()))
      Why = "its launch cannot be edited";
    if (Why.empty() &&
        (!strip(F.dimensions(L->Grid, *L)[0] ? F.dimensions(L->Grid, *L)[0]
                                             : L->Grid)
              ->getType()
              ->isIntegerType() ||
         F.text(L->Grid) != F.text(F.dimensions(L->Grid, *L)[0])))
      Why = "the grid is not one number";
    if (Why.empty()) {
      llvm::Expected<std::vector<Edit>> Try = write(F, K, *L, S);
      if (!Try)
        Why = llvm::toString(Try.takeError());
    }
    if (!Why.empty()) {
      Out.refuse(K.name(), K.At->Line, Why);
      continue;
    }
    Match M;
    M.Site = K.name();
    M.Line = K.At->Line;
    M.Sites = {K.name(), Host->Id};
    M.Promise = 50;
    M.Title = "Let a thread compute several elements";
    M.Advice = "'" + K.name() +
               "' computes one element a thread. Give it a loop over the grid "
               "and launch a quarter of the blocks: what is common to all "
               "elements is computed once for four.";
    Out.offer(std::move(M), [&F, &K, L, S] { return write(F, K, *L, S); });
  }
}

std::unique_ptr<const Rewrite> stark::makeGridStride() {
  return std::make_unique<GridStride>();
}
