//===- RowVectors.cpp - 16 bytes a load along a row -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop of each thread's own that reads one neighbour after the
/// other: it takes 16 bytes a load, and then computes as before.
///
///     for (int i = 0; i < n; ++i)
///       sum += a[row * n + i] * x[i];
/// ->
///     const int whole = is_wide_aligned(a) && ... && n % 4 == 0 ? ... : 0;
///     for (int at = 0; at < whole; at += 4) {
///       const wide_vec<float, 4> a_vec = ..., x_vec = ...;
///       for (int lane = 0; lane < 4; ++lane)
///         sum += a_vec.at[lane] * x_vec.at[lane];
///     }
///     for (int i = whole; i < n; ++i)
///       sum += a[row * n + i] * x[i];
///
/// Faster, because where each thread has a row of its own a load of the warp
/// touches as many lines as it has threads, and takes as long for 4 bytes of
/// each as for 16; and because what all threads read alike takes fewer
/// instructions.
///
/// Kept: each operation and their order. Only what the source reads is read:
/// each iteration reads the element whatever it does. Whether the addresses
/// allow it is tested for alike in all threads of a block, so that none of its
/// warps goes both ways. Refused where the loop may end early or waits, where
/// it may store to what it reads, where threads side by side read side by side,
/// and where rows begin anywhere.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Pragmas.h"
#include "Analysis/RowLoads.h"
#include "Analysis/Streams.h"
#include "Catalogue.h"
#include "CodeTemplate.h"
#include "WideVectors.h"

using namespace stark;
using namespace clang;

static constexpr CodeTemplate Loop(R"cuda({
$kept_loads  // 16 bytes a load where all rows begin at a multiple of that.
  const $bound_type @whole = $tests && $start < $bound ? $count / $width * $width : 0;
  for ($bound_type @at = 0; @at < @whole; @at += $width) {
    const $type $index = $first@at;
$loads
#pragma unroll
    for (int @lane = 0; @lane < $width; ++@lane)
      $one_lane
  }
  for ($type $index = $first@whole; $condition; $increment)
    $body
$kept_stores})cuda");
static constexpr CodeTemplate Load(R"cuda(
    const $vec $name = *reinterpret_cast<const $vec *>(&$base[$at]);)cuda");

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  RowLoads Rows;
};
} // namespace

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      std::optional<OrReason<RowLoads>> Rows = readRowLoads(F, *K, A, S);
      if (!At || !Rows)
        continue;
      if (*Rows)
        Out.fits({K, At, **Rows});
      else
        Out.refuse(*At, Rows->why());
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Names =
      quotedList(P.Rows.All, [](const RowLoad &R) { return nameOf(R.Base); });
  Match M = matchAt(
      *P.At, {P.K->name()}, 66, "Read 16 bytes at a time along the row",
      "The loop at line " + std::to_string(P.At->Line) + " reads " + Names +
          " one neighbour after the other. Read " +
          std::to_string(P.Rows.Width) +
          " at a time with 16-byte loads where the addresses allow it, and "
          "compute with them one after the other: threads with rows of their "
          "own then wait for a quarter of the requests. The order of "
          "operations stays.");
  M.Alone = true;
  return M;
}

/// What the loop keeps, by name; or why it cannot.
static OrReason<std::vector<KeptText>> keptTexts(const Facts &F,
                                                 const Plan &P) {
  std::vector<KeptText> Texts;
  for (const KeptElement &E : P.Rows.Kept) {
    OrReason<KeptText> Text = keptText(F, *P.K, P.Rows.L, E);
    if (!Text)
      return Text.why();
    Texts.push_back(*Text);
  }
  return Texts;
}

/// The uses of what the loop keeps, by the names of \p Texts.
static std::vector<Instead> keptUses(const Plan &P,
                                     llvm::ArrayRef<KeptText> Texts) {
  std::vector<Instead> Nodes;
  for (size_t I = 0; I < Texts.size(); ++I)
    for (const Expr *Use : P.Rows.Kept[I].Uses)
      Nodes.emplace_back(Use, Texts[I].Name);
  return Nodes;
}

/// The body with \p Nodes replaced; unset inside macros.
static std::optional<std::string> bodyText(const Facts &F, const Plan &P,
                                           llvm::ArrayRef<Instead> Nodes) {
  const Stmt *Body = P.Rows.L.S->getBody();
  std::optional<std::string> Text = F.textWith(Body, Nodes);
  if (Text && llvm::isa<Expr>(Body) && !llvm::StringRef(*Text).ends_with(";"))
    *Text += ";";
  return Text;
}

/// The body for one element of the vectors, with \p Nodes replaced as well;
/// unset inside macros.
static std::optional<std::string> oneLane(const Facts &F, const Plan &P,
                                          llvm::ArrayRef<std::string> Vectors,
                                          const std::string &Lane,
                                          std::vector<Instead> Nodes) {
  std::set<const Stmt *> Taken;
  for (const Instead &Each : Nodes)
    Taken.merge(nodesOf(Each.first));
  for (size_t I = 0; I < Vectors.size(); ++I)
    for (const Access &Each : P.Rows.All[I].Members) {
      Nodes.emplace_back(Each.Whole, Vectors[I] + ".at[" + Lane + "]");
      Taken.merge(nodesOf(Each.Whole));
    }
  const Stmt *Body = P.Rows.L.S->getBody();
  forEachUse(Body, [&](const DeclRefExpr *Ref, const VarDecl *V) {
    if (V == P.Rows.L.I && !Taken.count(Ref))
      Nodes.emplace_back(Ref, "(" + nameOf(V) + " + " + Lane + ")");
  });
  return bodyText(F, P, Nodes);
}

static OrReason<Changes> declared(const Facts &F, const Plan &P) {
  Changes Made;
  for (auto [Name, Text] : {std::pair("wide_vec", WideVec),
                            std::pair("is_wide_aligned", WideAligned)}) {
    OrReason<Changes> Some = F.declare(*P.K, Name, Text.ltrim());
    if (!Some)
      return Some;
    Made.add(*Some);
  }
  return Made;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const CountedLoop &L = P.Rows.L;
  std::optional<Range> Plain = F.statementRange(L.S),
                       Whole = Plain ? withPragmas(F, *Plain) : std::nullopt,
                       Body = F.statementRange(L.S->getBody());
  std::string Start = F.text(L.Start), Bound = F.text(L.Bound);
  if (!Whole || !Body || Start.empty() || Bound.empty())
    return Reason(why::InMacro, "the loop");
  auto Names = Loop.names([&](llvm::StringRef N) { return F.freshName(N); });
  std::string Loads, Width = std::to_string(P.Rows.Width);
  std::vector<std::string> Vectors;
  for (const RowLoad &R : P.Rows.All) {
    std::string Name = F.freshName(nameOf(R.Base) + "_vec");
    if (llvm::is_contained(Vectors, Name))
      Name += std::to_string(Vectors.size() + 1);
    Vectors.push_back(Name);
    Loads += llvm::cantFail(Load.fill(
        {{"vec", "wide_vec<" + R.Type + ", " + Width + ">"},
         {"name", Name},
         {"base", nameOf(R.Base)},
         {"at", *withIndex(F, *P.K, P.Rows.index(), R.Index, nameOf(L.I))}}));
  }
  OrReason<std::vector<KeptText>> Kept = keptTexts(F, P);
  if (!Kept)
    return Kept.why();
  std::vector<Instead> Uses = keptUses(P, *Kept);
  std::optional<std::string> Lane = oneLane(F, P, Vectors, Names.lookup("lane"),
                                            Uses),
                             Rest = bodyText(F, P, Uses);
  if (!Lane || !Rest)
    return Reason(why::InMacro, "the index");
  std::string Tests;
  for (const std::string &Each : P.Rows.Tests)
    Tests += (Tests.empty() ? "" : " && ") + Each;
  if (L.Compare == BO_LE)
    Bound += " + 1";
  bool Zero = F.constantOf(L.Start, *P.K) == 0u;
  OrReason<Changes> Made = declared(F, P);
  if (!Made)
    return Made;
  std::string KeptLoads, KeptStores;
  for (const KeptText &Each : *Kept) {
    KeptLoads += Each.Load.empty() ? "" : "  " + Each.Load + "\n";
    KeptStores += "  " + Each.Store + "\n";
    Made->add(Each.Before);
  }
  Made->write(*Whole, llvm::cantFail(Loop.fill(
                          {{"bound_type", F.typeName(L.Bound->getType())},
                           {"tests", Tests},
                           {"start", asOperand(Start)},
                           {"bound", asOperand(Bound)},
                           {"count", Zero ? asOperand(Bound)
                                          : "(" + asOperand(Bound) + " - " +
                                                asOperand(Start) + ")"},
                           {"width", Width},
                           {"type", F.writtenType(L.I->getType())},
                           {"kept_loads", KeptLoads},
                           {"kept_stores", KeptStores},
                           {"index", nameOf(L.I)},
                           {"first", Zero ? "" : asOperand(Start) + " + "},
                           {"loads", llvm::StringRef(Loads).ltrim('\n').str()},
                           {"one_lane", *Lane},
                           {"condition", F.text(L.S->getCond())},
                           {"increment", F.text(L.S->getInc())},
                           {"body", *Rest}},
                          Names)));
  return Made;
}

STARK_REWRITE(RowVectors, "row-vectors")
