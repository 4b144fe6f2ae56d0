//===- AnalysisTests.cpp - What is known of kernels and expressions -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/ElementKernel.h"
#include "Analysis/FactsFinder.h"
#include "Analysis/Linear.h"
#include "Analysis/MatrixProduct.h"
#include "Analysis/Purity.h"
#include "ParsedKernels.h"

using namespace stark;
using namespace clang;

TEST(Facts, LaunchesSayTheBlockSize) {
  ParsedKernels P(R"(
__global__ void same(float *x) { x[0] = 1; }
__global__ void differs(float *x) { x[0] = 1; }
__global__ void plane(float *x) { x[0] = 1; }
__global__ void never(float *x) { x[0] = 1; }
void host(float *x, int n) {
  const int threads = 64 * 2;
  same<<<n, threads>>>(x);
  same<<<2 * n, dim3(128)>>>(x);
  differs<<<n, 128>>>(x);
  differs<<<n, dim3(64, 2)>>>(x);
  plane<<<n, dim3(64, 2)>>>(x);
})");
  OrReason<uint64_t> Same = P.facts().blockSize(P.kernel("same"));
  ASSERT_TRUE(bool(Same)) << Same.why().str();
  EXPECT_EQ(*Same, 128u);
  EXPECT_EQ(P.facts().blockSize(P.kernel("differs")).why().str(),
            "its launches have blocks of different sizes");
  EXPECT_EQ(P.facts().blockSize(P.kernel("plane")).why().str(),
            "its blocks have more than one dimension");
  OrReason<std::array<uint64_t, 3>> Plane = P.facts().block(P.kernel("plane"));
  ASSERT_TRUE(bool(Plane)) << Plane.why().str();
  EXPECT_EQ(*Plane, (std::array<uint64_t, 3>{64, 2, 1}));
  EXPECT_EQ(P.facts().blockSize(P.kernel("never")).why().str(),
            "no launch of it is in this file, so its block size is not known");
}

// A macro whose name holds the word "error" is no error.
TEST(Facts, OnlyErrorsOfClangCloseAKernel) {
  ParsedKernels P(R"(
#define report_error(x) do { x = -1; } while (0)
__global__ void fine(float *x) { report_error(x[0]); }
__global__ void broken(float *x) { x[0] = undeclared; }
)");
  EXPECT_FALSE(P.kernel("fine").Problem.has_value());
  ASSERT_TRUE(P.kernel("broken").Problem.has_value());
  EXPECT_TRUE(P.kernel("broken").Problem->is(why::KernelHasError));
}

// A template has a face for each of its instances, and none without one.
TEST(Facts, TemplatesAreLookedAtAsTheirInstances) {
  ParsedKernels P(R"(
template <int N> __global__ void made(float *x) { x[N] = 1; }
template <int N> __global__ void nowhere(float *x) { x[N] = 1; }
void host(float *x) {
  made<1><<<1, 32>>>(x);
  made<2><<<1, 32>>>(x);
})");
  EXPECT_EQ(P.facts().instances(), 2u);
  EXPECT_TRUE(P.kernel("made").IsTemplate);
  EXPECT_FALSE(P.kernel("made").Problem.has_value());
  EXPECT_EQ(P.kernel("made").Launches.size(), 2u);
  Facts Other(P.input(), 1);
  EXPECT_NE(Other.kernels().front().F, P.kernel("made").F);
  ASSERT_TRUE(P.kernel("nowhere").Problem.has_value());
  EXPECT_TRUE(P.kernel("nowhere").Problem->is(why::KernelIsTemplate));
}

// To ask what a kernel may use is to launch nothing.
TEST(Facts, QuestionsAboutAKernelLaunchNothing) {
  ParsedKernels P(R"(
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int);
__global__ void asked(float *x) { x[0] = 1; }
void host(float *x) {
  int blocks;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)asked,
                                                128);
  asked<<<blocks, 128>>>(x);
})");
  EXPECT_FALSE(P.only().LaunchedElsewhere.has_value());
}

TEST(Facts, OtherNamesOfAKernelMayLaunchIt) {
  ParsedKernels P(R"(
__global__ void taken(float *x) { x[0] = 1; }
__global__ void plain(float *x) { x[0] = 1; }
void host(float *x) {
  void (*other)(float *) = taken;
  plain<<<1, 32>>>(x);
  taken<<<1, 32>>>(x);
})");
  EXPECT_TRUE(P.kernel("taken").LaunchedElsewhere.has_value());
  EXPECT_FALSE(P.kernel("plain").LaunchedElsewhere.has_value());
}

TEST(Syntax, TreesAreComparedNotTexts) {
  ParsedKernels P(R"(
__global__ void k(float *x, int n) {
  int a = n*2 + threadIdx.x;
  int b = (n * 2) + threadIdx.x;
  int c = n * 2 + threadIdx.y;
  int shadow = 0;
  { int n = 3; shadow = n; int d = n * 2 + threadIdx.x; x[d] = 1; }
})");
  const Kernel &K = P.only();
  auto Same = [&](const char *A, const char *B) {
    return isSameTree(P.initOf(K, A), P.initOf(K, B), P.facts().context());
  };
  EXPECT_FALSE(Same("a", "c"));
  EXPECT_FALSE(Same("a", "d")) << "another n";
  EXPECT_TRUE(Same("a", "a"));
  auto Terms = [&](const char *Name) { return termsOf(P.initOf(K, Name)); };
  EXPECT_TRUE(isSameTree(Terms("a")[0], Terms("b")[0], P.facts().context()));
}

TEST(Purity, NamesWhatChangesSomething) {
  ParsedKernels P(R"(
__device__ float change(float *p) { return *p = 1; }
__global__ void k(float *x, int n) {
  float pure = x[n] * 2 + expf(x[0]);
  float call = change(x);
  float assigned = (x[0] = 2);
  int counted = n++;
})");
  const Kernel &K = P.only();
  auto Of = [&](const char *Name) {
    auto Why = impurityOf(P.initOf(K, Name), P.facts().context());
    return Why ? Why->str() : "";
  };
  EXPECT_EQ(Of("pure"), "");
  EXPECT_EQ(Of("call"), "a call of change");
  EXPECT_EQ(Of("assigned"), "an assignment");
  EXPECT_EQ(Of("counted"), "an increment");
}

TEST(Variables, ConstantsAreFollowed) {
  ParsedKernels P(R"(
__global__ void k(float *x, int n) {
  int width = 8;
  int area = width * (width + 2) / 2;
  int moving = 4;
  ++moving;
  int other = moving * 2;
  x[area] = n + other;
})");
  const Kernel &K = P.only();
  EXPECT_EQ(P.facts().constantOf(P.initOf(K, "area"), K), 40u);
  EXPECT_EQ(P.facts().constantOf(P.initOf(K, "other"), K), std::nullopt);
}

TEST(Linear, IndicesGrowWithTheirVariables) {
  ParsedKernels P(R"(
__global__ void k(float *x, int cols) {
  for (int r = 0; r < 8; ++r) {
    int base = r * cols;
    x[base + 3] = 0;
  }
})");
  const Kernel &K = P.only();
  Accesses A(P.facts(), K);
  ASSERT_EQ(A.all().size(), 1u);
  Linear Indices(P.facts(), K);
  auto Terms = Indices.offsetOf(A.all().front());
  ASSERT_TRUE(Terms.has_value());
  const VarDecl *R = onlyVariable(P.loop()->getInit());
  Growth G = Indices.growth(*Terms, R);
  EXPECT_EQ(G.Is, Growth::Linear);
  ASSERT_EQ(G.Coefficient.size(), 1u);
  EXPECT_EQ(variableOf(G.Coefficient[0])->getName(), "cols");
}

TEST(Accesses, SayWhatIsReadAndWritten) {
  ParsedKernels P(R"(
__device__ void unknown(float *p);
__global__ void k(const float *x, float *y) {
  __shared__ float s[32];
  const float *row = x + 4;
  s[threadIdx.x] = row[1];
  y[0] += s[0];
  unknown(y);
})");
  Accesses A(P.facts(), P.only());
  std::string Seen;
  for (const Access &Each : A.all())
    Seen += (Each.Root ? nameOf(Each.Root) : "?") + (Each.Load ? "r" : "") +
            (Each.Store ? "w" : "") + (Each.Shared ? "s" : "") +
            (Each.Unclear ? "?" : "") + " ";
  EXPECT_EQ(Seen, "sws xr yrw srs ?rw? ");
}

TEST(ElementKernel, ThreadsMustBeOnTheirOwn) {
  ParsedKernels P(R"(
__global__ void alone(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = 2;
}
__global__ void uses(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { x[i] = threadIdx.x; }
}
__global__ void other(float *x, int n) {
  int i = blockIdx.x;
  if (i < n) { x[i] = 1; }
})");
  auto Alone = readElementKernel(P.facts(), P.kernel("alone"));
  ASSERT_TRUE(Alone && *Alone);
  EXPECT_TRUE((*Alone)->Returns);
  auto Uses = readElementKernel(P.facts(), P.kernel("uses"));
  ASSERT_TRUE(Uses && !*Uses);
  EXPECT_EQ(Uses->why().str(), "it uses threadIdx for more than its index");
  EXPECT_FALSE(readElementKernel(P.facts(), P.kernel("other")).has_value());
}

static const char *const Product = R"(
__global__ void k(const float *a, const float *b, float *c, int m, int n,
                  int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    ADD;
  c[row * n + col] = STORE;
})";

static std::string productWith(llvm::StringRef Add, llvm::StringRef Store) {
  ParsedKernels P("#define ADD " + Add.str() + "\n#define STORE " +
                  Store.str() + Product);
  Accesses A(P.facts(), P.only());
  auto Read = readMatrixProduct(P.facts(), P.only(), A);
  if (!Read)
    return "another kind";
  if (!*Read)
    return Read->why().str();
  const MatrixProduct &M = **Read;
  return nameOf(M.Row.V) + M.Row.Axis + " " + nameOf(M.Col.V) + M.Col.Axis +
         (M.A.Along ? " along" : " across") +
         (M.B.Along ? " along" : " across");
}

TEST(MatrixProduct, OperandsMayBeTransposed) {
  EXPECT_EQ(productWith("sum += a[row * k + i] * b[i * n + col]", "sum"),
            "rowy colx along across");
  EXPECT_EQ(productWith("sum = sum + b[col * k + i] * a[i * m + row]", "sum"),
            "rowy colx across along");
}

TEST(MatrixProduct, OtherSumsAreNone) {
  EXPECT_EQ(productWith("sum += a[row * k + i]", "sum"),
            "what is summed up is no product of two elements");
  EXPECT_EQ(productWith("sum += a[row * k + i] * b[i * n + col]",
                        "sum * row + c[row * n]"),
            "its store reads other elements");
  EXPECT_EQ(productWith("c[i] = 0", "sum"), "another kind");
}
