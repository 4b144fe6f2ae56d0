//===- LoopJam.cpp - Four rounds of a loop share what they load -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop of a thread's own each of whose rounds adds something up
/// in a loop within it, and where some of what the inner loop loads is the same
/// in each round: four rounds add up side by side.
///
///     for (int j = 0; j < m; ++j) {       int j = 0;
///       float sum = 0;                    for (; m - j > 3; j += 4) {
///       for (int i = 0; i < n; ++i)   ->    float s0 = 0, s1 = 0, ...;
///         sum += x[i] * w[j * n + i];       for (int i = 0; i < n; ++i) {
///       y[j] = sum;                           s0 += x[i] * w[j * n + i];
///     }                                       s1 += x[i] * w[(j + 1) * n + i];
///                                             ...
///                                           }
///                                           y[j] = s0; y[j + 1] = s1; ...
///                                         }
///                                         (the rounds that are left over)
///
/// Faster, because x[i] is loaded once for four products, and four sums that do
/// not wait for each other grow at once.
///
/// Kept: each sum is added in the same order by the same expressions, and what
/// a round does with its sum is done round by round. Refused where the inner
/// loop's length depends on the round, where it reads what a round changes, and
/// where a round may end the loop, return or wait.
///
//===----------------------------------------------------------------------===//

#include "Analysis/LoopJamBody.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static void find(const Facts &F, const Visitor<JammedLoop> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      std::optional<OrReason<JammedLoop>> Read = readJammedLoop(F, *K, A, S);
      if (!Read)
        continue;
      const Site *At = F.siteAt(SiteKind::Loop, S);
      if (!*Read)
        Out.refuse(*At, Read->why());
      else
        Out.fits(**Read);
    }
  }
}

static Match describe(const Facts &, const JammedLoop &P) {
  Match M = matchAt(
      *P.At, {P.At->Id}, 75, "Let four rounds share what they load",
      "Each round of the loop over '" + nameOf(P.Outer.I) + "' at line " +
          std::to_string(P.At->Line) +
          " loads again in its inner loop what the round before has loaded. "
          "Let four rounds add up side by side, so that it is loaded once for "
          "four, and do the rounds that are left over as they are. The order "
          "of each sum stays, and so does its rounding.");
  M.Alone = true;
  return M;
}

namespace {
/// The texts of four rounds.
class Writer {
public:
  Writer(const Facts &F, const JammedLoop &P);
  OrReason<Changes> write() const;

private:
  std::optional<std::string> round(const Stmt *S, unsigned Round) const;
  std::optional<std::string> before() const;
  std::optional<std::string> inner() const;
  std::optional<std::string> after() const;

  const Facts &F;
  const JammedLoop &P;
  const std::string Index;
  /// By variable and round.
  std::map<const VarDecl *, std::array<std::string, JammedRounds>> Names;
};
} // namespace

Writer::Writer(const Facts &F, const JammedLoop &P)
    : F(F), P(P), Index(nameOf(P.Outer.I)) {
  for (const VarDecl *V : P.Own)
    for (unsigned Round = 0; Round < JammedRounds; ++Round)
      Names[V][Round] =
          F.freshName(nameOf(V) + "_round" + std::to_string(Round));
}

/// \p S as round \p Round has it.
std::optional<std::string> Writer::round(const Stmt *S, unsigned Round) const {
  std::vector<Instead> Nodes;
  forEachUse(S, [&](const DeclRefExpr *Use, const VarDecl *V) {
    if (auto At = Names.find(V); At != Names.end())
      Nodes.push_back({Use, At->second[Round]});
    else if (V == P.Outer.I && Round)
      Nodes.push_back({Use, "(" + Index + " + " + std::to_string(Round) + ")"});
  });
  return F.textWith(S, Nodes);
}

static std::string asStatement(std::string Text) {
  llvm::StringRef End = llvm::StringRef(Text).rtrim();
  return Text + (End.ends_with(";") || End.ends_with("}") ? "\n" : ";\n");
}

/// The variables of each round.
std::optional<std::string> Writer::before() const {
  std::string Text;
  for (const VarDecl *V : P.Outside)
    for (const std::string &Name : Names.at(V))
      Text += F.writtenType(V->getType()) + " " + Name + ";\n";
  for (const Stmt *S : P.Before) {
    const auto *D = llvm::dyn_cast<DeclStmt>(S);
    for (unsigned Round = 0; Round < JammedRounds; ++Round) {
      if (!D) {
        std::optional<std::string> Line = round(S, Round);
        if (!Line)
          return std::nullopt;
        Text += asStatement(*Line);
        continue;
      }
      for (const Decl *Each : D->decls()) {
        const auto *V = llvm::cast<VarDecl>(Each);
        std::optional<std::string> Init =
            V->getInit() ? round(V->getInit(), Round) : std::string();
        if (!Init)
          return std::nullopt;
        Text += F.writtenType(V->getType()) + " " + Names.at(V)[Round] +
                (Init->empty() ? "" : " = " + *Init) + ";\n";
      }
    }
  }
  return Text;
}

/// The loops of the inner nest, with the body of each round.
std::optional<std::string> Writer::inner() const {
  std::string Text, End;
  for (const ForStmt *Each : P.Inner) {
    std::optional<Range> Whole = F.statementRange(Each),
                         Body = F.range(Each->getBody());
    std::optional<Range> Above = Whole ? withPragmas(F, *Whole) : std::nullopt;
    if (!Above || !Body)
      return std::nullopt;
    Text += F.text(Range{Above->Begin, Body->Begin}) + "{\n";
    End += "}\n";
  }
  const Stmt *Body = P.Inner.back()->getBody();
  for (unsigned Round = 0; Round < JammedRounds; ++Round) {
    std::optional<std::string> Mine = round(Body, Round);
    if (!Mine)
      return std::nullopt;
    Text += asStatement(*Mine);
  }
  return Text + End;
}

/// What each round does with what it has added up.
std::optional<std::string> Writer::after() const {
  std::string Text;
  for (unsigned Round = 0; Round < JammedRounds && !P.After.empty(); ++Round) {
    bool Declares = false;
    std::string Lines;
    for (const Stmt *S : P.After) {
      std::optional<std::string> Line = round(S, Round);
      if (!Line)
        return std::nullopt;
      Lines += asStatement(*Line);
      Declares |= llvm::isa<DeclStmt>(S);
    }
    Text += Declares ? "{\n" + Lines + "}\n" : Lines;
  }
  return Text;
}

OrReason<Changes> Writer::write() const {
  const CountedLoop &L = P.Outer;
  std::optional<Range> Plain = F.statementRange(L.S),
                       Whole = Plain ? withPragmas(F, *Plain) : std::nullopt,
                       Body = F.range(L.S->getBody());
  std::string Start = F.text(L.Start), Bound = F.text(L.Bound),
              Cond = F.text(L.S->getCond()), Next = F.text(L.S->getInc());
  std::optional<std::string> Before = before(), Inner = inner(),
                             After = after();
  if (!Whole || !Body || Start.empty() || Bound.empty() || Cond.empty() ||
      Next.empty() || !Before || !Inner || !After)
    return Reason(why::InMacro, "part of it");
  std::string Count = std::to_string(JammedRounds);
  std::string Text =
      "{\n// Four rounds at a time, which share what they load.\n" +
      F.writtenType(L.I->getType().getUnqualifiedType()) + " " + Index + " = " +
      Start + ";\nfor (; (long long)" + asOperand(Bound) + " - (long long)" +
      Index + " >= " + Count + "; " + Index + " += " + Count + ") {\n" +
      *Before + *Inner + *After + "}\nfor (; " + Cond + "; " + Next + ")\n" +
      asStatement(F.text(*Body)) + "}";
  Changes Made;
  Made.write(*Whole, Text);
  return Made;
}

static OrReason<Changes> write(const Facts &F, const JammedLoop &P) {
  return Writer(F, P).write();
}

STARK_REWRITE(LoopJam, "loop-jam")
