//===- LenientTest.cpp - A source some of whose headers are not there -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lenient.h"
#include <gtest/gtest.h>

using namespace stark::sim;

/// \p Source with what holds each of \p Words taken out.
static std::string without(const std::string &Source,
                           std::initializer_list<const char *> Words) {
  std::vector<unsigned> Errors;
  for (const char *Word : Words)
    Errors.push_back(unsigned(Source.find(Word)));
  return withoutErrors(Source, Errors, ", which needs gone.h").Text;
}

TEST(Lenient, AFunctionLosesItsBodyAndKeepsItsLines) {
  EXPECT_EQ(without("#include <gone.h>\n"
                    "__global__ void k(float *x) { x[0] = 1; }\n"
                    "int main(int argc) {\n"
                    "  if (argc) { bad(); }\n"
                    "}\n"
                    "int after;\n",
                    {"bad"}),
            "#include <gone.h>\n"
            "__global__ void k(float *x) { x[0] = 1; }\n"
            "int main(int argc) { __stark_sim_no_body(\"main(), which needs "
            "gone.h\"); __builtin_unreachable(); \n\n}\n"
            "int after;\n");
}

TEST(Lenient, OtherDeclarationsGoWhole) {
  EXPECT_EQ(without("int a;\nbad\nb;\nint c;\n", {"bad"}),
            "int a;\n\n\nint c;\n");
  EXPECT_EQ(without("void f(bad x) {\n  g();\n}\nint c;\n", {"bad"}),
            "\n\n\nint c;\n");
  EXPECT_EQ(without("struct S {\n  bad x;\n};\nint c = 1;\n", {"bad"}),
            "\n\n\nint c = 1;\n");
  EXPECT_EQ(without("int t[] = {bad};\nint c;\n", {"bad"}), "\nint c;\n");
}

TEST(Lenient, WhatLiesInANamespaceIsLookedAtAlone) {
  EXPECT_EQ(without("namespace n {\nint a;\nbad b;\n}\n"
                    "extern \"C\" {\nvoid f() { worse(); }\n}\nint c;\n",
                    {"bad", "worse"}),
            "namespace n {\nint a;\n\n}\n"
            "extern \"C\" {\nvoid f() { __stark_sim_no_body(\"f(), which needs "
            "gone.h\"); __builtin_unreachable(); }\n}\nint c;\n");
}

TEST(Lenient, AnErrorOutsideOfDeclarationsIsNotMended) {
  EXPECT_EQ(without("int a;\n#if bad\n#endif\n", {"bad"}), "");
}

TEST(Lenient, AFunctionOfAClassIsLookedAtAlone) {
  const std::string Stub =
      "{ __stark_sim_no_body(\"f(), which needs gone.h\"); "
      "__builtin_unreachable(); }";
  EXPECT_EQ(without("class C : B {\npublic:\n  void f() { bad(); }\n"
                    "  int a;\nprivate:\n  int g() { return 1; }\n};\n",
                    {"bad"}),
            "class C : B {\npublic:\n  void f() " + Stub +
                "\n  int a;\nprivate:\n  int g() { return 1; }\n};\n");
  // One that cannot be declared goes, with no place in the class's layout.
  EXPECT_EQ(without("struct S {\n  int a;\n  void f(bad x) {}\n"
                    "  void g(worse x);\n};\n",
                    {"bad", "worse"}),
            "struct S {\n  int a;\n  \n  \n};\n");
  // A variable has one: the class goes, and its functions with it.
  EXPECT_EQ(
      without("struct S {\n  void f() { bad(); }\n  worse x;\n} s;\nint c;\n",
              {"bad", "worse"}),
      "\n\n\n\nint c;\n");
  EXPECT_EQ(
      without("struct S {\n  struct { bad x; } in;\n};\nint c;\n", {"bad"}),
      "\n\n\nint c;\n");
  EXPECT_EQ(
      without("struct S {\n  struct T { bad x; };\n  int a;\n};\n", {"bad"}),
      "struct S {\n  \n  int a;\n};\n");
}

TEST(Lenient, BracesOfAConstructorAreNoBody) {
  EXPECT_EQ(
      without(
          "struct S {\n  S(int x) : a{x}, b(x) { bad(); }\n  int a, b;\n};\n",
          {"bad"}),
      "struct S {\n  S(int x) : a{x}, b(x) { __stark_sim_no_body(\"S(), "
      "which needs gone.h\"); __builtin_unreachable(); }\n  int a, b;\n};\n");
}

TEST(Lenient, ATemplateOfAFunctionIsNoClass) {
  EXPECT_EQ(
      without("template <class T> void f(T x) { bad(); }\nint c;\n", {"bad"}),
      "template <class T> void f(T x) { __stark_sim_no_body(\"f(), which "
      "needs gone.h\"); __builtin_unreachable(); }\nint c;\n");
}
