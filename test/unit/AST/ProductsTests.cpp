//===- ProductsTests.cpp - Which sources add up products ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "stark/AST/Products.h"
#include <gtest/gtest.h>

using namespace stark;

/// Whether a kernel with \p Body does.
static bool addsUp(const std::string &Body,
                   const std::string &Template = "typedef float T;\n") {
  ParseOptions Options;
  Options.Toolkit = "none";
  auto Source =
      parseSource("/products.cu",
                  "#include <cuda_runtime.h>\n"
                  "__device__ float fmaf(float, float, float);\n"
                  "__device__ float lgammaf(float);\n" +
                      Template +
                      "__global__ void k(const T *a, const T *b, T *c, int n) "
                      "{\n T sum = 0, x = a[0], y = b[0];\n" +
                      Body + "\n c[threadIdx.x] = sum;\n}\n",
                  Options);
  EXPECT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  EXPECT_TRUE((*Source)->errors().empty())
      << (*Source)->errors().front().Message;
  return addsUpProducts(**Source);
}

TEST(Products, AreFound) {
  const std::string Loop = "for (int i = 0; i < n; ++i) ";
  EXPECT_TRUE(addsUp(Loop + "sum += a[i] * b[i * n];"));
  EXPECT_TRUE(addsUp(Loop + "sum = sum + x * y;"));
  EXPECT_TRUE(addsUp(Loop + "sum = fmaf(a[i], y, sum);"));
  EXPECT_TRUE(addsUp(Loop + "sum += (double)a[i] * (double)b[i] + x;"));
  EXPECT_TRUE(addsUp("while (n--) { sum -= x * b[n]; }"));
  EXPECT_TRUE(addsUp(Loop + "sum += a[i] * b[i];", "template <class T>\n"));
  EXPECT_TRUE(addsUp("asm volatile(\"mma.sync.whatever;\");"));
}

TEST(Products, OthersAreNone) {
  const std::string Loop = "for (int i = 0; i < n; ++i) ";
  EXPECT_FALSE(addsUp("sum += x * y;")); // once
  EXPECT_FALSE(addsUp(Loop + "sum += a[i] * a[i];"));
  EXPECT_FALSE(addsUp(Loop + "sum += a[i] * 0.5f;"));
  EXPECT_FALSE(addsUp(Loop + "sum += a[i * n + n];"));
  EXPECT_FALSE(addsUp(Loop + "n += i * threadIdx.x;"));
  EXPECT_FALSE(addsUp(Loop + "c[i] = x * b[i];"));
  EXPECT_FALSE(addsUp(Loop + "sum = lgammaf(a[i]);"));
  const std::string Template = "template <class T>\n";
  EXPECT_FALSE(addsUp(Loop + "sum += a[i] * a[i];", Template));
  // Whole numbers, though an operand's type is not known.
  EXPECT_FALSE(addsUp(Loop + "n += i * T::Rows;", Template));
}
