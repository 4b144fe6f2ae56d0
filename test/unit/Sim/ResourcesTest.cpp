//===- ResourcesTest.cpp - What ptxas gives a kernel ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Sim/Resources.h"
#include <gtest/gtest.h>

using namespace stark::sim;

static ResourceTable table(std::vector<std::string> Symbols) {
  ResourceTable T;
  for (std::string &S : Symbols) {
    T.Kernels.emplace_back();
    T.Kernels.back().Symbol = std::move(S);
    T.Kernels.back().Registers = unsigned(T.Kernels.size());
  }
  return T;
}

static unsigned found(const ResourceTable &T, const char *Symbol) {
  const KernelResources *R = findResources(T, Symbol);
  return R ? R->Registers : 0;
}

// Instances of a template and overloads are told apart; what nvcc 13.0 calls
// otherwise than Clang, because it has internal linkage, is found as well.
TEST(Resources, KernelsAreFoundByTheirNames) {
  ResourceTable T = table({"_Z1kIfEvPT_", "_Z1kIdEvPT_", "_Z1kPf", "_Z1sPf",
                           "_ZN34_GLOBAL__N__ee7f18dc_4_a_cu__Z1fPf1uEPf"});
  EXPECT_EQ(found(T, "_Z1kIfEvPT_"), 1u);
  EXPECT_EQ(found(T, "_Z1kIdEvPT_"), 2u);
  EXPECT_EQ(found(T, "_Z1kPf"), 3u);
  EXPECT_EQ(found(T, "_ZL1sPf"), 4u);
  EXPECT_EQ(found(T, "_ZN12_GLOBAL__N_11uEPf"), 5u);
  EXPECT_EQ(found(T, "_Z1kIiEvPT_"), 0u);
  // Which of two is meant nobody knows.
  EXPECT_EQ(
      found(table({"_ZN14_GLOBAL__N__a_1uEPf", "_ZN14_GLOBAL__N__b_1uEPf"}),
            "_ZN12_GLOBAL__N_11uEPf"),
      0u);
}

TEST(Resources, ReadBackAsTheyArePrinted) {
  ResourceTable T;
  T.Kernels = {{"_Z1kPf", 40, 1024, 16, 8, 12}, {"_Z1sPf", 255, 0, 0, 0, 0}};
  std::optional<ResourceTable> Read = parseResources(printResources(T));
  ASSERT_TRUE(Read);
  EXPECT_EQ(Read->Kernels, T.Kernels);
  EXPECT_FALSE(parseResources("{}"));
  EXPECT_FALSE(parseResources(""));
}
