//===- PolicyGreedy.cpp - Always the best, and any at random --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PolicyParts.h"

using namespace stark;

namespace {
/// The source is a node like another: until something beats it, it is taken.
class Greedy : public Policy {
public:
  std::optional<Selection> select(const Tree &T, const PendingChildren &Pending,
                                  Random &) override {
    std::vector<unsigned> Usable = usableNodes(T);
    return Selection{bestOf(T, Pending, Usable),
                     "best of " + std::to_string(Usable.size())};
  }
};

class RandomNode : public Policy {
public:
  std::optional<Selection> select(const Tree &T, const PendingChildren &,
                                  Random &Draw) override {
    std::vector<unsigned> Usable = usableNodes(T);
    return Selection{Usable[size_t(Draw.below(Usable.size()))],
                     "random of " + std::to_string(Usable.size())};
  }
};
} // namespace

std::unique_ptr<Policy> stark::makeGreedy(const PolicyOptions &) {
  return std::make_unique<Greedy>();
}

std::unique_ptr<Policy> stark::makeRandom(const PolicyOptions &) {
  return std::make_unique<RandomNode>();
}
