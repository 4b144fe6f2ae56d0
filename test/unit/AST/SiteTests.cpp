//===- SiteTests.cpp - What cannot be edited, and which errors are new ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"
#include "clang/Basic/DiagnosticSema.h"
#include <gtest/gtest.h>

using namespace stark;

static std::unique_ptr<ParsedSource> parse(const std::string &Text) {
  ParseOptions Options;
  Options.Toolkit = "none";
  auto Source = parseSource("/sites.cu", Text, Options);
  EXPECT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  return std::move(*Source);
}

static const Obstacle &against(const Sites &All, const std::string &Id) {
  static const Obstacle Nothing;
  const Site *S = All.find(Id);
  EXPECT_TRUE(S) << Id;
  return S ? S->Against : Nothing;
}

// Why a site cannot be edited is told by kind, whatever its macros are called.
TEST(Site, ObstaclesByKind) {
  auto Source = parse("#define report_error(x) while (x) {}\n"
                      "#define MAKE(name) __global__ void name() {}\n"
                      "__global__ void declared(int n);\n"
                      "__global__ void k(int n) { report_error(n) }\n"
                      "MAKE(made)\n"
                      "#if 0\n__global__ void gone() {}\n#endif\n"
                      "void f(int n) { for (int i = 0; i < m; ++i) n = 1; }\n"
                      "void g(int n) { for (int i = 0; i < n; ++i) n = 1; }\n");
  Sites All = findSites(*Source);
  EXPECT_EQ(against(All, "k:loop1").Kind, Obstacle::MacroExpansion);
  EXPECT_EQ(against(All, "k:loop1").Text, "report_error");
  EXPECT_FALSE(against(All, "k:loop1").isError());
  EXPECT_EQ(against(All, "made").Kind, Obstacle::MacroExpansion);
  EXPECT_EQ(against(All, "declared").Kind, Obstacle::DeclarationOnly);
  EXPECT_EQ(against(All, "gone").Kind, Obstacle::Skipped);
  EXPECT_EQ(against(All, "f:loop1").Kind, Obstacle::Error);
  EXPECT_EQ(against(All, "f:loop1").Line, 9u);
  EXPECT_TRUE(against(All, "f:loop1").isError());
  EXPECT_FALSE(against(All, "g:loop1")) << against(All, "g:loop1").str();
  EXPECT_TRUE(All.find("g:loop1")->editable());
}

// A statement that is a barrier is one site of each kind, however many
// instances its template has.
TEST(Site, BarriersOfInstancesAreOne) {
  auto Source = parse("template <int N> __global__ void k(int *x) {\n"
                      "  x[threadIdx.x] = N;\n"
                      "  __syncthreads();\n"
                      "}\n"
                      "void f(int *x) { k<1><<<1, 1>>>(x); k<2><<<1, 1>>>(x); "
                      "k<3><<<1, 1>>>(x); }\n");
  Sites All = findSites(*Source);
  EXPECT_TRUE(All.find("k:barrier1"));
  EXPECT_FALSE(All.find("k:barrier2"));
  EXPECT_TRUE(All.find("k:stmt2"));
  EXPECT_FALSE(All.find("k:stmt3"));
}

// An error is new when its id, or what it names, was not there so often.
TEST(SourceError, NewOnes) {
  auto Before = parse("int a = gone;\n");
  ASSERT_EQ(Before->errors().size(), 1u);
  EXPECT_EQ(Before->errors()[0].Id,
            unsigned(clang::diag::err_undeclared_var_use));
  EXPECT_TRUE(newErrors(*Before, *parse("\n\nint a = gone;\n")).empty());
  EXPECT_TRUE(newErrors(*Before, *parse("int a = 1;\n")).empty());
  EXPECT_EQ(newErrors(*Before, *parse("int a = lost;\n")).size(), 1u);
  auto Twice = parse("int a = gone;\nint b = gone;\n");
  ASSERT_EQ(newErrors(*Before, *Twice).size(), 1u);
  EXPECT_EQ(newErrors(*Before, *Twice)[0].Line, 2u);
}
