//===- RewritesTests.cpp - Each rewrite finds its places and makes them ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Reduction.h"
#include "Catalogue.h"
#include "ParsedKernels.h"
#include "stark/Rewrite/RewriteReport.h"
#include "llvm/ADT/StringSet.h"

using namespace stark;

static const char *const Text = R"(
__global__ void rows(const float *x, float *y, int m, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += x[row * n + col] * i;
  y[row * n + col] = sum;
}
__global__ void sums(const float *x, float *y, int n) {
  __shared__ float s[256];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {
    if (threadIdx.x < h)
      s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i] / s[0];
}
void host(const float *x, float *y, int m, int n) {
  rows<<<dim3(m / 16, n / 16), dim3(16, 16)>>>(x, y, m, n);
  sums<<<m, 256>>>(x, y, n);
}
)";

TEST(Catalogue, NamesAreUnique) {
  llvm::StringSet<> Names;
  for (const std::unique_ptr<const Rewrite> &R : rewriteCatalogue())
    EXPECT_TRUE(Names.insert(R->name()).second) << R->name().str();
  EXPECT_GE(Names.size(), 15u);
}

static std::string applied(const RewriteSet &Set, llvm::StringRef Key) {
  llvm::Expected<std::string> Made = Set.apply(Key);
  return Made ? *Made : "error: " + llvm::toString(Made.takeError());
}

// A match is data: it outlives the input that the set was made from, and the
// set it came from.
TEST(RewriteSet, MatchesOutliveWhatTheyWereMadeFrom) {
  ParsedKernels P(Text);
  std::vector<Match> Matches;
  std::unique_ptr<RewriteSet> Set;
  {
    RewriteInput Short = P.input();
    Set = std::make_unique<RewriteSet>(Short);
    Short = RewriteInput();
    Matches = RewriteSet(P.input()).matches();
  }
  ASSERT_FALSE(Matches.empty());
  for (const Match &M : Matches) {
    llvm::Expected<std::string> Made = Set->apply(M.key());
    ASSERT_TRUE(bool(Made))
        << M.key() << ": " << llvm::toString(Made.takeError());
    EXPECT_NE(*Made, P.facts().text()) << M.key();
  }
}

TEST(RewriteSet, OneMatchTakesAllPlacesOfAFunction) {
  ParsedKernels P(Text);
  RewriteSet Set(P.input());
  std::string All = applied(Set, "vector-access@sums");
  std::string One = applied(Set, "vector-access@sums:loop1");
  auto Count = [](llvm::StringRef In, llvm::StringRef What) {
    return In.count(What);
  };
  EXPECT_EQ(Count(One, "lane < 4"), 1u);
  EXPECT_EQ(Count(All, "lane < 4"), 2u);
  EXPECT_EQ(Count(All, "struct alignas(16) wide_vec"), 1u);
}

// What a list shows of a match is enough to ask for it; why not is said, too.
TEST(RewriteSet, ShowsMatchesAndRefusals) {
  ParsedKernels P(Text);
  RewriteSet Set(P.input());
  std::string Shown;
  llvm::raw_string_ostream OS(Shown);
  printRewrites(Set, OS);
  for (const Match &M : Set.matches())
    EXPECT_NE(Shown.find(M.key() + ": line " + std::to_string(M.Line) + ": "),
              std::string::npos)
        << M.key();
  EXPECT_NE(Shown.find("not restrict@sums: line "), std::string::npos) << Shown;
  std::string Json = rewritesJson(Set, "k.cu");
  EXPECT_EQ(Json.find("{\"file\":\"k.cu\",\"refused\":[{"), 0u) << Json;
  EXPECT_NE(Json.find("\"key\":\"vector-access@sums\""), std::string::npos)
      << Json;

  ParsedKernels Empty("int f();");
  Shown.clear();
  printRewrites(RewriteSet(Empty.input()), OS);
  EXPECT_EQ(Shown, "no rewrite applies\n");
}

// Each change parses by itself, against the source that it was found in.
TEST(RewriteSet, ChecksItsMatches) {
  ParsedKernels P(Text);
  RewriteSet Set(P.input());
  ParseOptions Options;
  Options.Toolkit = "/nonexistent";
  for (const BadMatch &Bad : checkMatches(Set, *P.input().Source, Options))
    ADD_FAILURE() << Bad.Key << ": " << Bad.Why;
  // Seen against another text, the one that a change gives is nothing new.
  std::string Changed = applied(Set, "vector-access@sums");
  ParsedKernels Other(Changed);
  bool Said = false;
  for (const BadMatch &Bad : checkMatches(Set, *Other.input().Source, Options))
    Said |= Bad.Key == "vector-access@sums" && Bad.Why == "changes nothing";
  EXPECT_TRUE(Said);
}

TEST(RewriteSet, ErrorsNameWhatIsMeant) {
  ParsedKernels P(Text);
  RewriteSet Set(P.input());
  EXPECT_EQ(applied(Set, "index-swap@row"),
            "error: no rewrite 'index-swap@row' applies; did you mean "
            "'index-swap@rows'?");
  EXPECT_EQ(applied(Set, "restrict@sums"),
            "error: 'restrict@sums' does not apply: only a workload could say "
            "that 'x' and 'y' do not overlap");
}

TEST(IndexSwap, ChangesBothIndices) {
  ParsedKernels P(Text);
  std::string Made = applied(RewriteSet(P.input()), "index-swap@rows");
  EXPECT_NE(Made.find("blockDim.x + threadIdx.y;"), std::string::npos);
  EXPECT_NE(Made.find("blockDim.y + threadIdx.x;"), std::string::npos);
}

// What is written is known again, whatever its layout.
TEST(BlockReduce, ItsOwnFormIsAReduction) {
  ParsedKernels P(Text);
  std::string Made = applied(RewriteSet(P.input()), "block-reduce@sums:loop2");
  ASSERT_NE(Made.find("block_reduce_sum_float(s, sum);"), std::string::npos);
  std::string Wide;
  for (char C : Made)
    Wide += C == '\n' ? std::string("\n  ") : std::string(1, C);
  ParsedKernels Again(Wide);
  Reductions Found = findReductions(Again.facts(), Again.kernel("sums"));
  ASSERT_EQ(Found.All.size(), 1u);
  EXPECT_FALSE(Found.All.front().Tree);
  EXPECT_EQ(Found.All.front().Operation, "+");
}
