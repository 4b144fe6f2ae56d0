//===- CodeReachTest.cpp --------------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/CodeReach.h"
#include "stark/Support/CodeTokens.h"
#include "gtest/gtest.h"

using namespace stark;
using Names = std::vector<std::string>;

namespace {
constexpr const char *Entry = "void launch(float *x) { kernel<<<1, 2>>>(x); }\n"
                              "__global__ void kernel(float *x) {}\n";

/// What is left out of \p More and an entry; "?" where nobody can tell.
Names leftOut(const std::string &More) {
  std::optional<CodeReach> R = reachOf(More + Entry, "launch");
  return R ? R->LeftOut : Names{"?"};
}
} // namespace

TEST(CodeReachTest, WhatNothingNames) {
  EXPECT_EQ(leftOut(""), Names());
  EXPECT_EQ(leftOut("__global__ void other(int *y) { if (y) { *y = 1; } }"),
            Names{"other"});
  EXPECT_EQ(leftOut("template <class T, int N = (2 > 1)>\n"
                    "__global__ void __launch_bounds__(256, 2)\n"
                    "other(T *y) {}"),
            Names{"other"});
  EXPECT_EQ(leftOut("namespace a { namespace { static inline const int *f(int) "
                    "noexcept { return 0; } } }"),
            Names{"f"});
  EXPECT_EQ(leftOut("extern \"C\" { void g(int) {} }\nint main() { g(1); }"),
            (Names{"g", "main"}));
}

// By what is kept, a macro or an overload among it.
TEST(CodeReachTest, WhatIsNamed) {
  EXPECT_EQ(leftOut("int f() { return 1; }\nint g() { return f(); }\n"
                    "int all = g();\n"),
            Names());
  EXPECT_EQ(leftOut("#define CALL f(2)\nint f(int) { return 1; }"), Names());
  EXPECT_EQ(leftOut("int f() { return 1; }\nint f();"), Names());
  EXPECT_EQ(leftOut("void kernel(int) {}"), Names());
  EXPECT_EQ(leftOut("int f(int) { return 1; }\n"
                    "template int f<int>(int);"),
            Names());
}

// What a program uses without naming it, and what is no plain function.
TEST(CodeReachTest, WhatStays) {
  for (const char *Text :
       {"struct S { S() {} void f() {} };",
        "S operator+(S a, S b) { return a; }", "S::S() {}", "S::~S() {}",
        "void S::f() {}", "template <> void f<int>(int) {}",
        "int begin(S &s) { return 0; }", "auto f = [](int x) { return x; };",
        "int table[] = {1, 2};", "REGISTER(x) void f() {}",
        "__attribute__((constructor)) void f() {}",
        "auto f() -> int { return 1; }", "struct S f() { return {}; }",
        "int f(int);", "int x{3};", "using f = int;", "enum E { A };",
        "void\n#if 1\nf() {}\n#endif\n"})
    EXPECT_EQ(leftOut(std::string(Text) + "\n;\n"), Names()) << Text;
}

TEST(CodeReachTest, WhereWordsDoNotTell) {
  for (const char *Text :
       {"#define NAME(a) a##_kernel\n",
        "#if A\nvoid f(int) {\n#else\n"
        "void f() {\n#endif\n}\n",
        "void f() {", "}", "S::S() : a{1} {}\n{ }", "#if A\n"})
    EXPECT_EQ(leftOut(Text), Names{"?"}) << Text;
  EXPECT_FALSE(reachOf("void launch(int);", "launch"));
  EXPECT_FALSE(reachOf("", "launch"));
  EXPECT_TRUE(reachOf(Entry, "ns::launch"));
}

// A condition in a body, and one round a function.
// A prototype of a function says nothing of what it does; all else may.
TEST(CodeReachTest, WordsUsedInAHeader) {
  auto Uses = [](const std::string &Header) {
    return wordsUsedIn("#pragma once\n" + Header + "\n").contains("f");
  };
  for (const char *Text :
       {"int f(int n);", "extern \"C\" { void f(float *x, int n); }",
        "namespace a { __global__ void f(int); }",
        "#ifndef H\n#define H\nextern \"C\" const float *f();\n#endif"})
    EXPECT_FALSE(Uses(Text)) << Text;
  for (const char *Text :
       {"inline int g() { return f(1); }", "#define CALL f(2)",
        "int g(int n = f(1));", "static int all = f(1);",
        "int f(int n);\ninline int g() { return f(1); }",
        "struct f { int n; };", "int g(decltype(f(1)));",
        "typedef int (f)(int);", "#if X\nint f(int) {\n#endif\nint f(int);"})
    EXPECT_TRUE(Uses(Text)) << Text;
}

TEST(CodeReachTest, Conditions) {
  EXPECT_EQ(leftOut("#ifdef A\nvoid f() {\n#if B\n  g(\n#endif\n}\n#endif\n"),
            Names{"?"});
  EXPECT_EQ(leftOut("#ifdef A\nvoid f() {\n#if B\n  g();\n#else\n  h();\n"
                    "#endif\n}\n#endif\n"),
            Names{"f"});
}

TEST(CodeReachTest, TokensMove) {
  std::string Old = std::string("void f() {}\n") + Entry,
              New = "void g(int a) { a = 1; }\n" + Old + "void h() {}\n";
  std::optional<CodeReach> From = reachOf(Old, "launch"),
                           To = reachOf(New, "launch");
  ASSERT_TRUE(From && To);
  EXPECT_EQ(codeDigest(From->Text), codeDigest(To->Text));
  std::vector<CodeToken> OldTokens = codeTokens(Old),
                         NewTokens = codeTokens(New);
  unsigned Moved = 0;
  for (size_t I = 0; I < OldTokens.size(); ++I) {
    std::optional<size_t> Like = tokenLike(From->Kept, To->Kept, I);
    if (!Like)
      continue;
    ++Moved;
    const CodeToken &A = OldTokens[I], &B = NewTokens[*Like];
    EXPECT_EQ(Old.substr(A.Begin, A.End - A.Begin),
              New.substr(B.Begin, B.End - B.Begin));
  }
  EXPECT_EQ(Moved, codeTokens(From->Text).size());
  EXPECT_EQ(Moved + 6, OldTokens.size());
}
