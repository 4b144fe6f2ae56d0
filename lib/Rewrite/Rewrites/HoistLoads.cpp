//===- HoistLoads.cpp - Load once what stays the same ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a counting loop that loads the same element of global or shared
/// memory in each iteration, and also stores, or waits for other threads: the
/// element is loaded once, before the loop.
///
///     for (int i = ...; i < n; ...)         float s_once = ... ? s[row] : 0;
///       y[i] = x[i] * s[row];         ->    for (int i = ...; i < n; ...)
///                                             y[i] = x[i] * s_once;
///
/// Faster, because the compiler must take a store to change what is loaded
/// unless it knows that they lie apart, and so loads again each time.
///
/// Kept: nothing in the loop stores to the element, and where the loop waits
/// for other threads nothing in the whole kernel does. Where the loop may run
/// not at all the load is made only when it runs, for the element may not
/// exist. Refused where memory that is stored to may be the same (only the
/// workload can say it is not), where the load is made under a condition, or
/// after the loop may have ended, and where something is called.
///
//===----------------------------------------------------------------------===//

#include "Analysis/InvariantLoads.h"
#include "Catalogue.h"
#include "CodeTemplate.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OddLoad("what is loaded from '%0' stands in a macro or is of no plain type "
            "(line %1)");

namespace {
/// Loads of one element, by the same expression.
struct Hoisted {
  const Expr *Element;
  std::string Text, Name, Type;
  bool Always; ///< made also when the loop does not run
  std::vector<const Expr *> Places;
};

struct Plan {
  const Kernel *K;
  const Site *At;
  CountedLoop L;
  std::vector<Hoisted> Loads;
};
} // namespace

/// How a variable for what is loaded is declared; empty for odd types.
static std::string typeOf(const Facts &F, const Expr *Load) {
  QualType T = Load->getType().getNonReferenceType().getUnqualifiedType();
  if (!T->isArithmeticType() && !T->isEnumeralType()) {
    const CXXRecordDecl *R = T->getAsCXXRecordDecl();
    if (!R || !R->getIdentifier() || R->isUnion() ||
        !T.isTriviallyCopyableType(F.context()) || !R->hasDefaultConstructor())
      return "";
  }
  return F.writtenType(T);
}

static std::string nameFor(const Facts &F, const VarDecl *Root,
                           const std::vector<Hoisted> &Others) {
  std::string Base = nameOf(Root) + "_once", Name = F.freshName(Base);
  for (unsigned I = 2; llvm::any_of(
           Others, [&](const Hoisted &Other) { return Other.Name == Name; });
       ++I)
    Name = F.freshName(Base + std::to_string(I));
  return Name;
}

/// What there is to hoist; unset when nothing comes near.
static std::optional<OrReason<std::vector<Hoisted>>>
loadsOf(const Facts &F, const Kernel &K, const Accesses &A,
        const CountedLoop &L) {
  std::optional<InvariantLoads> Found = findInvariantLoads(F, K, A, L);
  if (!Found)
    return std::nullopt;
  WhyNot Why = Found->Lacks;
  std::vector<Hoisted> Loads;
  for (const auto &[Load, Always] : Found->All) {
    std::string Type = typeOf(F, Load->E), Text = F.text(Load->Whole);
    if (Text.empty() || Type.empty()) {
      Why = Reason(OddLoad, nameOf(Load->Root), F.lineOf(Load->E));
      continue;
    }
    auto Known = llvm::find_if(Loads, [&](const Hoisted &H) {
      return H.Type == Type && isSameTree(H.Element, Load->Whole, F.context());
    });
    if (Known == Loads.end()) {
      std::string Name = nameFor(F, Load->Root, Loads);
      Loads.push_back({Load->Whole, Text, Name, Type, Always, {}});
      Known = std::prev(Loads.end());
    }
    Known->Always |= Always;
    Known->Places.push_back(Load->Whole);
  }
  if (!Loads.empty())
    return Loads;
  if (Why)
    return *Why;
  return std::nullopt;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses A(F, *K);
    for (const ForStmt *S : loopsOf(*K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      std::optional<CountedLoop> L =
          At ? readCountedLoop(F, *K, S) : std::nullopt;
      if (!L)
        continue;
      std::optional<OrReason<std::vector<Hoisted>>> Loads =
          loadsOf(F, *K, A, *L);
      if (Loads && *Loads)
        Out.fits({K, At, *L, **Loads});
      else if (Loads)
        Out.refuse(*At, Loads->why());
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Names =
      quotedList(P.Loads, [](const Hoisted &H) { return H.Text; });
  Match M = matchAt(
      *P.At, {P.K->name()}, 45, "Load before the loop what stays the same",
      "Each iteration of the loop at line " + std::to_string(P.At->Line) +
          " loads " + Names +
          " again, because the compiler must expect a store of the loop to "
          "change it. None does: load once, before the loop.");
  M.Alone = true;
  return M;
}

/// "start < bound ? ", with the loads that are made in any case replaced; empty
/// when the loop surely runs.
static OrReason<std::string> guardOf(const Facts &F, const Plan &P) {
  if (surelyRuns(F, *P.K, P.L))
    return std::string();
  std::vector<Instead> Nodes;
  for (const Hoisted &H : P.Loads)
    for (const Expr *Place : H.Places)
      if (H.Always)
        Nodes.emplace_back(Place, H.Name);
  OrReason<std::string> Runs = whetherItRuns(F, P.L, Nodes);
  if (!Runs)
    return Runs.why();
  return *Runs + " ? ";
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  std::optional<size_t> At = lineBefore(F, *P.K, P.L.S);
  if (!At)
    return Reason(why::NoLineBefore);
  OrReason<std::string> Guard = guardOf(F, P);
  if (!Guard)
    return Guard.why();
  std::string Text;
  Changes Made;
  // Those of the condition first: the others' guards use them.
  for (bool Always : {true, false})
    for (const Hoisted &H : P.Loads) {
      if (H.Always != Always)
        continue;
      Text += "const " + H.Type + " " + H.Name + " = ";
      Text += Always || Guard->empty()
                  ? H.Text
                  : *Guard + H.Text + " : " + zeroOf(H.Type);
      Text += ";\n" + F.indentAt(*At);
      for (const Expr *Place : H.Places)
        Made.replace(*F.range(Place), H.Name);
    }
  Made.write({*At, *At}, Text);
  return Made;
}

STARK_REWRITE(HoistLoads, "hoist-loads")
