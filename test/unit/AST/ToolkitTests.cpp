//===- ToolkitTests.cpp ---------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Toolkit.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace stark;

// "none" is no folder: nothing is looked for behind it, whatever is installed.
TEST(Toolkit, NoneEndsTheSearch) {
  const char *Set = std::getenv("CUDA_PATH");
  std::string Before = Set ? Set : "";
  setenv("CUDA_PATH", "none", 1);
  EXPECT_FALSE(findToolkit());
  EXPECT_EQ(toolkitPlaces(), std::vector<std::string>{"none"});
  setenv("CUDA_PATH", "/nowhere", 1);
  EXPECT_GT(toolkitPlaces().size(), 1u);
  EXPECT_FALSE(findToolkit("none"));
  Set ? setenv("CUDA_PATH", Before.c_str(), 1) : unsetenv("CUDA_PATH");
}
