//===- Policy.cpp - Which node is refined next ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Policy.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace stark;

bool stark::eligible(const Tree &T, unsigned Number,
                     const PolicyOptions &Options, std::string *Why) {
  const Node &N = T.node(Number);
  auto Not = [&](const std::string &Reason) {
    if (Why)
      *Why = Reason;
    return false;
  };
  if (N.Found.Kind == VerdictKind::NoCandidate && N.Given.Anchors.empty())
    return Not("no plan came of the attempt");
  if (Number == 0 && N.Children.size() >= Options.RootThrottle)
    return Not("the root has " + std::to_string(N.Children.size()) +
               " children, its limit");
  bool AllFail = std::all_of(N.Children.begin(), N.Children.end(),
                             [&](unsigned C) { return T.node(C).hasBug(); });
  if (AllFail && N.Children.size() > Options.DeadBranch)
    return Not("all of its " + std::to_string(N.Children.size()) +
               " children fail");
  return true;
}

namespace {
class EpsilonGreedy : public Policy {
public:
  explicit EpsilonGreedy(const PolicyOptions &Options) : Options(Options) {}

  std::optional<Selection> select(const Tree &T, Random &Draw) override {
    std::vector<unsigned> Eligible, Leaves;
    for (unsigned I = 0; I < T.size(); ++I)
      if (eligible(T, I, Options)) {
        Eligible.push_back(I);
        if (T.node(I).Children.empty())
          Leaves.push_back(I);
      }
    if (Eligible.empty())
      return std::nullopt;
    // One draw decides, whatever the tree is, so that the sequence of draws
    // is easy to follow in a journal.
    bool Explore = Draw.uniform() < Options.Epsilon;
    std::string Reason;
    llvm::raw_string_ostream OS(Reason);
    if (Explore && !Leaves.empty()) {
      unsigned Node = Leaves[size_t(Draw.below(Leaves.size()))];
      OS << "random leaf, eps " << llvm::format("%.2f", Options.Epsilon);
      return Selection{Node, OS.str()};
    }
    unsigned Node = best(T, Eligible);
    OS << "best of " << Eligible.size() << " eligible";
    if (T.node(Node).hasBug())
      OS << ", none correct";
    return Selection{Node, OS.str()};
  }

private:
  /// The lowest score; among failing nodes, which all score +infinity, the one
  /// that was tried least, so that repairs spread; then the older one.
  static unsigned best(const Tree &T, const std::vector<unsigned> &Eligible) {
    return *std::min_element(Eligible.begin(), Eligible.end(),
                             [&](unsigned A, unsigned B) {
                               const Node &X = T.node(A), &Y = T.node(B);
                               if (X.hasBug() != Y.hasBug())
                                 return Y.hasBug();
                               if (X.hasBug())
                                 return X.Children.size() < Y.Children.size();
                               return X.scoreUs() < Y.scoreUs();
                             });
  }

  PolicyOptions Options;
};
} // namespace

std::unique_ptr<Policy> stark::makeEpsilonGreedy(const PolicyOptions &Options) {
  return std::make_unique<EpsilonGreedy>(Options);
}
