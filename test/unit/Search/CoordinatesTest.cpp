//===- CoordinatesTest.cpp - Which numbers are tried next -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "stark/Search/TuneLimits.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace stark;
using Values = std::vector<uint32_t>;

static Tunable tunable(const char *Name, uint32_t Value, Values Offered = {}) {
  Tunable T;
  T.Name = Name;
  T.Value = Value;
  T.Offered = std::move(Offered);
  return T;
}

// Twice and half come first; nothing is outside the bounds or the same.
TEST(Coordinates, ValuesAround) {
  EXPECT_EQ(valuesAround(tunable("n", 64), 64),
            (Values{128, 32, 256, 16, 96, 48}));
  EXPECT_EQ(valuesAround(tunable("n", 1), 1), (Values{2, 4}));
  EXPECT_EQ(valuesAround(tunable("n", 6), 6), (Values{8, 4, 12, 3, 7, 5}));
  EXPECT_EQ(valuesAround(tunable("n", 65536), 65536),
            (Values{32768, 16384, 49152}));
  // Of what is offered, the nearest first.
  EXPECT_EQ(valuesAround(tunable("n", 4, {1, 2, 4, 32}), 4),
            (Values{2, 1, 32}));
}

// From any seed the best of two numbers that do not depend on each other is
// found, and no point is asked for twice.
TEST(Coordinates, FindsTheBest) {
  for (uint64_t Seed = 1; Seed <= 8; ++Seed) {
    auto Score = [](const Values &P) {
      return 10 + std::abs(std::log2(P[0] / 256.0)) +
             std::abs(std::log2(P[1] / 2.0));
    };
    Coordinates C({tunable("a", 32), tunable("b", 16)}, Score({32, 16}), Seed);
    std::set<Values> Asked;
    while (std::optional<Values> Next = C.next()) {
      EXPECT_TRUE(Asked.insert(*Next).second);
      C.found(Score(*Next));
    }
    EXPECT_EQ(C.best(), (Values{256, 2}));
    EXPECT_EQ(describePoint(C.tunables(), {32, 16}, C.best()),
              "a = 256, b = 2");
    EXPECT_LT(Asked.size(), 40u);
  }
}

// What is faster by less than the noise, or not correct, is not gone on from.
TEST(Coordinates, SmallGains) {
  Coordinates C({tunable("a", 32)}, 100, 1);
  C.next();
  C.found(99.5);
  C.next();
  C.found(INFINITY);
  EXPECT_EQ(C.best(), Values{32});
}

TEST(TuneLimits, Words) {
  TuneLimits L = llvm::cantFail(parseTuneLimits({"candidates=20"}));
  EXPECT_EQ(L.Candidates, 20u);
  EXPECT_EQ(L.Seconds, 0u);
  EXPECT_EQ(llvm::cantFail(parseTuneLimits({"minutes=0.5"})).Seconds, 30u);
  EXPECT_FALSE(llvm::cantFail(parseTuneLimits({})).any());
  for (std::vector<std::string> Texts : {std::vector<std::string>{"minutes"},
                                         {"candidates=1.5"},
                                         {"candidates=-1"},
                                         {"usd=1"},
                                         {"candidates=2", "candidates=3"},
                                         {"minutes=nan"},
                                         {""}}) {
    llvm::Expected<TuneLimits> Bad = parseTuneLimits(Texts);
    EXPECT_FALSE(bool(Bad)) << Texts.back();
    EXPECT_EQ(llvm::toString(Bad.takeError()),
              "tune: got '" + Texts.back() +
                  "', wanted candidates=N or minutes=M, each once and at most "
                  "100000");
  }
}
