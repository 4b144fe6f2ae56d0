//===- ContractInputsTests.cpp - Inputs stay as they are -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Contract.h"
#include <gtest/gtest.h>

using namespace stark;

/// Enough of CUDA for the sources below, and no header.
static const char *const Cuda = R"(# 1 "cuda.h" 1 3
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
typedef unsigned long size_t;
struct dim3 { unsigned x, y, z; __attribute__((host)) __attribute__((device)) dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
typedef struct CUstream_st *cudaStream_t;
struct float4 { float x, y, z, w; };
__device__ float atomicAdd(float *, float);
extern "C" __device__ size_t __cvta_generic_to_global(const void *);
struct cudaLaunchConfig_t { dim3 gridDim, blockDim; };
extern "C" {
int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
int cudaMalloc(void **, size_t);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
void *memcpy(void *, const void *, size_t);
}
namespace std { template <class T, class U> T bit_cast(const U &); }
# 1 "source.cu" 2
)";

/// Both take x to read, y to write.
static const char *const Kernels = R"(
struct Both { float *in, *out; int n; };
struct Read { const float *in; float *out; };
union Any { const float *in; float *out; unsigned long long bits; };
__global__ void k(const float *x, float *y, int n) { y[n] = x[n]; }
__global__ void copy(float *from, float *to, int n) { to[n] = from[n]; }
__global__ void put(float *x, float *y, int n) { x[n] = 1; y[n] = x[n]; }
__global__ void both(Both b) { b.out[b.n] = b.in[b.n]; }
__global__ void swapped(Both b) { b.in[b.n] = b.out[b.n]; }
__global__ void read(Read r) { r.out[0] = r.in[0]; }
static __device__ float *at(float *p, int n) { return p + n; }
static float *loose(const float *p) { return (float *)p; }
static Both made(const float *x, float *y) { Both b{loose(x), y, 1}; return b; }
static void step(float *from, float *to, int n, cudaStream_t s) { copy<<<1, 1, 0, s>>>(from, to, n); }
)";

static std::unique_ptr<ParsedSource> parse(const std::string &Body,
                                           bool IsConst) {
  ParseOptions Options;
  Options.Toolkit = "/nonexistent";
  Options.Flags = {"-nocudainc", "-nostdinc"};
  auto Parsed = parseSource(
      "/source.cu",
      std::string(Cuda) + Kernels + "void launch(" + (IsConst ? "const " : "") +
          "float *x, float *y, float *t, int n, cudaStream_t s) { " + Body +
          " }\n",
      Options);
  if (!Parsed) {
    ADD_FAILURE() << llvm::toString(Parsed.takeError());
    return nullptr;
  }
  for (const SourceError &E : (*Parsed)->errors())
    ADD_FAILURE() << Body << "\n" << E.Line << ": " << E.Message;
  return std::move(*Parsed);
}

/// What is said of stores to inputs; x is one.
static std::string check(const std::string &Body, bool IsConst,
                         const std::string &Source = "") {
  std::string All;
  for (const Violation &V :
       checkContract(*parse(Source, IsConst), *parse(Body, IsConst), "launch",
                     EntryUsed::Called, {{0, "x"}}))
    if (V.Kind == ViolationKind::WritesConst ||
        V.Kind == ViolationKind::WritesInput)
      All += V.message() + "\n";
  return All;
}

// An entry that takes its inputs without const only reads them all the same.
TEST(ContractInputs, TakenWithoutConst) {
  for (const char *Writes :
       {"put<<<1, 1, 0, s>>>(x, y, n);", "copy<<<1, 1, 0, s>>>(y, x, n);",
        "float *p = x + n; copy<<<1, 1, 0, s>>>(y, p, n);", "step(y, x, n, s);",
        "Both b{y, x, n}; both<<<1, 1, 0, s>>>(b);",
        "both<<<1, 1, 0, s>>>(Both{y, x, n});",
        "Both b; b.in = x; b.out = y; swapped<<<1, 1, 0, s>>>(b);",
        "Both a{x, y, n}, b = a; swapped<<<1, 1, 0, s>>>(b);",
        "void *a[] = {&x, &y, &n}; cudaLaunchKernel((void *)put, 1, 1, a, 0, "
        "s);",
        "size_t p = (size_t)x + 16; copy<<<1, 1, 0, s>>>(y, (float *)p, n);",
        "auto f = [=] __attribute__((device)) { *at(x, n) = 1; };"})
    EXPECT_NE(check(Writes, false).find("writes to 'x', which is an input"),
              std::string::npos)
        << Writes;
  for (const char *Reads :
       {"copy<<<1, 1, 0, s>>>(x, y, n);", "step(x, t, n, s); step(t, y, n, s);",
        "Both b{x, y, n}; both<<<1, 1, 0, s>>>(b);",
        "Both b{y, x, n}; swapped<<<1, 1, 0, s>>>(b);",
        "void *a[] = {&x, &y, &n}; cudaLaunchKernel((void *)copy, 1, 1, a, 0, "
        "s);",
        "float *from = x, *to = t; for (int i = 0; i < n; ++i) { step(from, "
        "to, n, s); from = to; to = from == t ? y : t; }",
        "x = t; copy<<<1, 1, 0, s>>>(y, x, n);",
        "size_t odd = (size_t)x % 16; copy<<<1, 1, 0, s>>>(x, (float "
        "*)((size_t)y - odd), n);"})
    EXPECT_EQ(check(Reads, false), "") << Reads;
  // The source's own ways stay.
  EXPECT_EQ(check("put<<<1, 1, 0, s>>>(x, y, n);", false,
                  "put<<<1, 1, 0, s>>>(x, t, n);"),
            "");
}

// A launch that takes addresses of arguments asks nobody for their types.
TEST(ContractInputs, ArraysOfArguments) {
  for (const char *Writes :
       {"void *a[] = {&x, &y, &n}; cudaLaunchKernel((void *)put, 1, 1, a, 0, "
        "s);",
        "void *a[] = {(void *)&x, (void *)&y, (void *)&n}; "
        "cudaLaunchCooperativeKernel((const void *)&put, 1, 1, a, 0, s);",
        "void *a[3]; a[0] = (void *)&x; a[1] = &y; a[2] = &n; const void *f = "
        "(const void *)put; cudaLaunchKernel(f, 1, 1, &a[0], 0, s);",
        "cudaLaunchConfig_t c; void *a[] = {&y, &x, &n}; "
        "cudaLaunchKernelExC(&c, (void *)copy, a);"})
    EXPECT_NE(check(Writes, true), "") << Writes;
  for (const char *Reads :
       {"void *a[] = {&x, &y, &n}; cudaLaunchKernel((void *)k, 1, 1, a, 0, s);",
        "void *a[] = {&x, &y, &n}; cudaLaunchKernel((void *)copy, 1, 1, a, 0, "
        "s);",
        "Read r{x, y}; void *a[] = {&r}; cudaLaunchKernel((void *)read, 1, 1, "
        "a, 0, s);"})
    EXPECT_EQ(check(Reads, true), "") << Reads;
}

// Pointers in structs are those of the one struct and field: what views what
// is read and what is written may have one type.
TEST(ContractInputs, StructsOfPointers) {
  for (const char *Writes :
       {"Both b{(float *)x, y, n}; swapped<<<1, 1, 0, s>>>(b);",
        "Both b; b.out = (float *)x; both<<<1, 1, 0, s>>>(b);",
        "swapped<<<1, 1, 0, s>>>(Both{(float *)x, y, n});",
        "swapped<<<1, 1, 0, s>>>(made(x, y));",
        "Read r{x, y}; float *p = (float *)r.in; p[n] = 1;",
        "Both b{(float *)x, y, n}; const Both &c = b; *c.in = 1;",
        "Both b{(float *)x, y, n}; Both *c = &b; c->in[n] = 1;"})
    EXPECT_NE(check(Writes, true), "") << Writes;
  for (const char *Reads :
       {"Both b{(float *)x, y, n}; both<<<1, 1, 0, s>>>(b);",
        "both<<<1, 1, 0, s>>>(made(x, y));",
        "Both in{(float *)x, t, n}, out{t, y, n}; both<<<1, 1, 0, s>>>(in); "
        "both<<<1, 1, 0, s>>>(out);",
        "Both in{(float *)x, t, n}, out{y, t, n}; *out.in = in.in[n];",
        "Both b{(float *)x, y, n}; b.n = 2; b.in = y; Both *c = &b; c->n = 3;"})
    EXPECT_EQ(check(Reads, true), "") << Reads;
}

// Assembly has no const: what it stores through is told by its operands.
TEST(ContractInputs, StoresOfAssembly) {
  auto InKernel = [](const std::string &Asm) {
    return check("auto f = [=] __attribute__((device)) { float v = 0; unsigned "
                 "s = 0; " +
                     Asm + "; (void)v; (void)s; };",
                 true);
  };
  for (const char *Writes :
       {"asm volatile(\"st.global.f32 [%0], %1;\" :: \"l\"(x), \"f\"(v))",
        "asm(\"{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.v2.f32 "
        "[%0 + 8], {%1, %1}; }\" :: \"l\"(x), \"f\"(v), \"r\"(s))",
        "asm(\"red.global.add.f32 [%[at]], %[v];\" :: [v] \"f\"(v), [at] "
        "\"l\"(x))",
        "asm(\"discard.global.L2 [%0], 128;\" :: \"l\"(x))",
        "asm(\"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;\" "
        ":: \"l\"(x), \"r\"(s))",
        "asm(\"{ .reg .u64 a; add.u64 a, %0, 8; st.f32 [a], %1; }\" :: "
        "\"l\"((size_t)x), \"f\"(v))",
        "size_t g; asm(\"cvta.to.global.u64 %0, %1;\" : \"=l\"(g) : "
        "\"l\"(x)); asm(\"st.global.f32 [%0], %1;\" :: \"l\"(g), "
        "\"f\"(v))",
        "asm(\"st.global.f32 [%0], %1;\" :: "
        "\"l\"(__cvta_generic_to_global(x)), \"f\"(v))",
        "asm(\"st.global.f32 [%0], %1;\" :: \"l\"((const void *)x), "
        "\"f\"(v))"})
    EXPECT_NE(InKernel(Writes), "") << Writes;
  for (const char *Reads :
       {"asm(\"ld.global.nc.f32 %0, [%1];\" : \"=f\"(v) : \"l\"(x))",
        "asm(\"ld.global.f32 %0, [%2]; st.global.f32 [%1], %0;\" : "
        "\"=f\"(v) : \"l\"(y), \"l\"(x))",
        "asm(\"{ .reg .f32 t; ld.global.f32 t, [%1]; st.shared.f32 [%0], t; "
        "}\" :: \"r\"(s), \"l\"(x))",
        "asm(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(s), "
        "\"l\"(x))",
        "asm(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
        "bytes [%0], [%1], 16, [%2];\" :: \"r\"(s), \"l\"(x), \"r\"(s))",
        "asm(\"prefetch.global.L2 [%0];\" :: \"l\"(x))",
        "asm(\"cp.async.bulk.prefetch.L2.global [%0], 128;\" :: \"l\"(x))",
        "asm(\"cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];\" "
        ":: \"l\"(x), \"r\"(s))",
        "size_t g; asm(\"cvta.to.global.u64 %0, %1;\" : \"=l\"(g) : "
        "\"l\"(x)); asm(\"ld.global.f32 %0, [%1];\" : \"=f\"(v) : "
        "\"l\"(g))",
        "asm(\"st.global.f32 [%0], %1;\" :: \"l\"((unsigned long "
        "long)__cvta_generic_to_global(y + n)), \"f\"(v))",
        "asm(\"st.global.f32 [%0], %1;\" :: \"l\"((const void *)y), "
        "\"f\"(v))"})
    EXPECT_EQ(InKernel(Reads), "") << Reads;
}

// Bytes of a pointer to const are one without it only to be read through.
TEST(ContractInputs, PointersFromBytes) {
  for (const char *Writes :
       {"float *p = *(float **)&x; p[n] = 1;",
        "float *p; memcpy(&p, &x, sizeof(p)); p[n] = 1;",
        "Any a; a.in = x; a.out[n] = 1;", "Any a{x}; *a.out = 1;",
        "Any a = {x}; float *p = (float *)a.bits; *p = 1;",
        "unsigned long long b = (unsigned long long)x + 16; *(float *)b = 1;",
        "long b = (long)x; b += 16; ((float *)(b & ~15L))[n] = 1;",
        "float *p = std::bit_cast<float *>(x); p[0] = 1;",
        "float *p = __builtin_bit_cast(float *, x); p[0] = 1;",
        "*loose(x) = 1;", "float *p = loose(x + n); ++p[1];",
        "const_cast<float *&>(x)[n] = 1;"})
    EXPECT_NE(check(Writes, true), "") << Writes;
  for (const char *Reads :
       {"float v = (*(float **)&x)[n]; y[0] = v;",
        "float *p; memcpy(&p, &x, sizeof(p)); y[0] = p[n];",
        "Any a; a.out = y; a.out[n] = 1;",
        "size_t b = (size_t)x; if (b % 16 == 0) y[b & 15] = 1;",
        "size_t b = (size_t)x; float *p = (float *)((b + 15) & ~15ul); y[0] = "
        "p[0];",
        "long apart = x - y; y[apart > 0 ? 0 : 1] = 1;",
        "float v; memcpy(&v, &n, sizeof(v)); y[0] = v;",
        "unsigned long long a = n, b = a * 3 + 1; a = b ^ a; y[a % 7] = 1;",
        "float *p; cudaMalloc((void **)&p, 4); p[0] = loose(x)[0];",
        // What was const on the way alone.
        "float *p = (float *)(const void *)y; p[n] = 1;",
        "const float *p = y; y[0] = p[1];"})
    EXPECT_EQ(check(Reads, true), "") << Reads;
}
