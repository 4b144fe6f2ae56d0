//===- Policy.cpp - Which node is refined next ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PolicyParts.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace stark;

static const std::pair<PolicyKind, const char *> Names[] = {
#define STARK_POLICY(Kind, Name, File) {PolicyKind::Kind, Name},
#include "stark/Search/Policies.def"
};

llvm::StringRef stark::policyName(PolicyKind K) {
  for (const auto &[Kind, Name] : Names)
    if (Kind == K)
      return Name;
  return "";
}

llvm::Expected<PolicyKind> stark::parsePolicyKind(llvm::StringRef Wanted) {
  std::string All;
  for (const auto &[Kind, Name] : Names) {
    if (Wanted == Name)
      return Kind;
    All += (All.empty() ? "" : ", ") + std::string(Name);
  }
  return failed("got '" + Wanted + "', wanted one of " + All);
}

const std::vector<PolicyKind> &stark::allPolicyKinds() {
  static const std::vector<PolicyKind> All = [] {
    std::vector<PolicyKind> Kinds;
    for (const auto &[Kind, Name] : Names)
      Kinds.push_back(Kind);
    return Kinds;
  }();
  return All;
}

bool stark::usable(const Tree &T, unsigned Number) {
  const Node &N = T.node(Number);
  return N.Found.Kind != VerdictKind::NoCandidate || !N.Given.Anchors.empty();
}

std::vector<unsigned> stark::usableNodes(const Tree &T) {
  std::vector<unsigned> Numbers;
  for (unsigned I = 0; I < T.size(); ++I)
    if (usable(T, I))
      Numbers.push_back(I);
  return Numbers;
}

unsigned stark::inFlight(const PendingChildren &Pending, unsigned Number) {
  auto Found = Pending.find(Number);
  return Found == Pending.end() ? 0 : Found->second;
}

unsigned stark::inFlight(const PendingChildren &Pending) {
  unsigned Sum = 0;
  for (const auto &[Number, Count] : Pending)
    Sum += Count;
  return Sum;
}

unsigned stark::bestOf(const Tree &T, const PendingChildren &Pending,
                       const std::vector<unsigned> &Numbers) {
  return *std::min_element(
      Numbers.begin(), Numbers.end(), [&](unsigned A, unsigned B) {
        unsigned InA = inFlight(Pending, A), InB = inFlight(Pending, B);
        if (InA != InB)
          return InA < InB;
        const Node &X = T.node(A), &Y = T.node(B);
        if (X.hasBug() != Y.hasBug())
          return Y.hasBug();
        if (X.hasBug())
          return X.Children.size() < Y.Children.size();
        return X.scoreUs() < Y.scoreUs();
      });
}

bool stark::eligible(const Tree &T, unsigned Number,
                     const PolicyOptions &Options, std::string *Why,
                     unsigned InFlight) {
  const Node &N = T.node(Number);
  auto Not = [&](const std::string &Reason) {
    if (Why)
      *Why = Reason;
    return false;
  };
  auto Flying = [&] {
    return InFlight ? " and " + std::to_string(InFlight) + " in flight" : "";
  };
  if (!usable(T, Number))
    return Not("no plan came of the attempt");
  size_t Count = N.Children.size() + InFlight;
  if (Number == 0 && Count >= Options.RootThrottle)
    return Not("the root has " + std::to_string(N.Children.size()) +
               " children" + Flying() + ", its limit");
  bool AllFail = !N.Children.empty() &&
                 std::all_of(N.Children.begin(), N.Children.end(),
                             [&](unsigned C) { return T.node(C).hasBug(); });
  if (AllFail && Count > Options.DeadBranch)
    return Not("all of its " + std::to_string(N.Children.size()) +
               " children fail" + (InFlight ? "," + Flying() : std::string()));
  return true;
}

std::unique_ptr<Policy> stark::makePolicy(const PolicyOptions &Options) {
  switch (Options.Kind) {
#define STARK_POLICY(Kind, Name, File)                                         \
  case PolicyKind::Kind:                                                       \
    return make##Kind(Options);
#include "stark/Search/Policies.def"
  }
  return nullptr;
}
