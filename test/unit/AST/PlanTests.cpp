//===- PlanTests.cpp - Marks in awkward places ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Anchor.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"
#include <gtest/gtest.h>

using namespace stark;

static const char *const Text = R"(#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define DISPATCH(type, ...) [&] { if (type) { return __VA_ARGS__(); } else { return __VA_ARGS__(); } }()
#define CHECK(call) if (call) return
__device__ void sync();
__device__ int f(int a, int b = 3);
enum Mode { Fast, Slow };
struct Load {
  int width;
  template <class T> __device__ void operator()(T *x, int i) const {
    x[i] += T(width);
    x[i + 1] = 0;
  }
};
__global__ void k(int *x, int n, int mode) {
  __shared__ int tile[32];
  int a = 1, b = 2;
  auto add = [&](int i) {
    x[i] += a;
    x[i] -= b;
  };
  auto nested = [=](int i) { return [=](int j) { int s = i + j; return s; }(3); };
  for (int i = 0; i < n; ++i) add(i);
  do {
    --n;
  } while (n > 8);
  while (n > 0) { n -= 2; }
  switch (mode) {
  case Fast:
    x[0] = 1;
    break;
  default: {
    x[0] = 2;
  }
  }
  if (int c = f(a)) x[1] = c; else if (n) x[2] = c; else { x[3] = c; }
  f(f(a, 1), nested(2));
again:
  if (n++ < 0) goto again;
  { int inner = 0; x[4] = inner; }
  for (int j : {1, 2}) { x[j] = j; }
  DISPATCH(mode, [&] {
    int v = x[0];
    for (int i = 0; i < v; ++i)
      x[i] = v;
  });
  CHECK(f(1));
  x[5] = n ? a : b;
  sync();
  return;
}
namespace { namespace deep {
template <class T, int N = 4> struct Box { T v[N]; };
__device__ int g(Box<int> b) try { return b.v[0]; } catch (...) { return 1; }
using Int = int;
static const int Table[] = {1, 2, 3};
} }
)";

namespace {
struct Row {
  const char *Marked; ///< [[ and ]] stand for the marks
  const char *Wanted; ///< the anchor's text, or what the error says
};

struct Plans : testing::TestWithParam<Row> {
  static const ParsedSource &source() {
    static const std::unique_ptr<ParsedSource> Parsed = [] {
      ParseOptions Options;
      Options.Toolkit = "/nonexistent";
      Options.Flags = {"-nocudainc", "-fexceptions"};
      return llvm::cantFail(parseSource("/plans.cu", Text, Options));
    }();
    return *Parsed;
  }
};
} // namespace

static std::string replaced(std::string In, llvm::StringRef What,
                            llvm::StringRef With) {
  for (size_t At = 0; (At = In.find(What, At)) != std::string::npos;
       At += With.size())
    In.replace(At, What.size(), With);
  return In;
}

// What a careful engineer would expect of marks in an awkward place.
TEST_P(Plans, AreGroundedAsExpected) {
  std::string Marked = GetParam().Marked;
  std::string Part = replaced(replaced(Marked, "[[", ""), "]]", "");
  size_t At = llvm::StringRef(Text).find(Part);
  ASSERT_NE(At, llvm::StringRef::npos) << Part;
  std::string Plan = Text;
  Plan.replace(At, Part.size(),
               replaced(replaced(Marked, "[[", "/* <<<IMPROVE BEGIN>>> */"),
                        "]]", "/* <<<IMPROVE END>>> */"));
  auto Found = groundMarks(source(), findSites(source()), Plan);
  if (!Found) {
    std::string Why = llvm::toString(Found.takeError());
    EXPECT_NE(Why.find(GetParam().Wanted), std::string::npos) << Why;
    return;
  }
  std::string Got;
  for (const Anchor &A : *Found)
    Got += (Got.empty() ? "" : " | ") +
           llvm::StringRef(Text).substr(A.Bytes.Begin, A.Bytes.size()).str();
  EXPECT_EQ(Got, GetParam().Wanted);
}

static const Row Rows[] = {
    // Lambdas
    {"[[x[i] += a]];", "x[i] += a;"},
    {"[[x[i] += a;\n    x[i] -= b;]]", "x[i] += a;\n    x[i] -= b;"},
    {"[&]([[int i]]) {\n    x[i] += a;",
     "auto add = [&](int i) {\n    x[i] += a;\n    x[i] -= b;\n  };"},
    {"auto add = [&](int i) [[{]]\n    x[i] += a;",
     "{\n    x[i] += a;\n    x[i] -= b;\n  }"},
    {"int s = [[i + j]];", "int s = i + j;"},
    {"[[return [=](int j)]] {",
     "return [=](int j) { int s = i + j; return s; }(3);"},
    {"[[int v = x[0]]];", "int v = x[0];"},
    {"[[x[i] = v;]]", "x[i] = v;"},
    {"[[for (int i = 0; i < v; ++i)]]",
     "for (int i = 0; i < v; ++i)\n      x[i] = v;"},
    // Heads and bodies
    {"for (int i = 0; i < n; ++i) [[add(i)]];", "add(i);"},
    {"for (int i = 0; i < n; [[++i]]) add(i);",
     "for (int i = 0; i < n; ++i) add(i);"},
    {"} while ([[n > 8]]);", "do {\n    --n;\n  } while (n > 8);"},
    {"[[--n]];", "--n;"},
    {"while (n > 0) {[[ n -= 2; ]]}", "n -= 2;"},
    {"while (n > 0) [[{ n -= 2; }]]", "{ n -= 2; }"},
    {"[[default: {]]\n    x[0] = 2;", "default: {\n    x[0] = 2;\n  }"},
    {"[[x[0] = 2]];", "x[0] = 2;"},
    {"if (int c = f(a)) [[x[1] = c;]]", "x[1] = c;"},
    {"else if ([[n]]) x[2] = c;", "if (n) x[2] = c; else { x[3] = c; }"},
    {"else { [[x[3] = c;]] }", "x[3] = c;"},
    {"if ([[int c = f(a)]])",
     "if (int c = f(a)) x[1] = c; else if (n) x[2] = c; else { x[3] = c; }"},
    {"for (int j : [[{1, 2}]])", "for (int j : {1, 2}) { x[j] = j; }"},
    // Parts of expressions and declarations
    {"f([[f(a, 1)]], nested(2));", "f(f(a, 1), nested(2));"},
    {"int a = 1, [[b = 2]];", "int a = 1, b = 2;"},
    {"x[5] = n ? [[a]] : b;", "x[5] = n ? a : b;"},
    {"CHECK([[f(1)]]);", "CHECK(f(1));"},
    {"{ int inner = 0; [[x[4] = inner;]] }", "x[4] = inner;"},
    {"[[sync();\n  return;]]", "sync();\n  return;"},
    {"sync();\n  [[return]];", "return;"},
    // Several at once, and across levels
    {"[[--n;]]\n  } while (n > 8);\n  while (n > 0) { [[n -= 2;]] }",
     "--n; | n -= 2;"},
    {"x[i] [[-= b;\n  };\n  auto]] nested",
     "auto add = [&](int i) {\n    x[i] += a;\n    x[i] -= b;\n  };\n  auto "
     "nested = [=](int i) { return [=](int j) { int s = i + j; return s; }(3); "
     "};"},
    // Members, and what lies in namespaces
    {"[[x[i + 1] = 0]];", "x[i + 1] = 0;"},
    {"return [[b.v[0]; } catch]] (...)",
     "__device__ int g(Box<int> b) try { return b.v[0]; } catch (...) { return "
     "1; }"},
    {"static const int Table[] = {1, [[2]], 3};",
     "static const int Table[] = {1, 2, 3};"},
    {"[[using Int = int;]]", "using Int = int;"},
    {"class T, [[int N = 4]]>",
     "template <class T, int N = 4> struct Box { T v[N]; };"},
    // Refusals
    {"[[namespace { namespace deep {]]", "beginning or end of a namespace"},
    {"do {[[]]\n    --n;", "have no code between them"},
};

INSTANTIATE_TEST_SUITE_P(Awkward, Plans, testing::ValuesIn(Rows));
