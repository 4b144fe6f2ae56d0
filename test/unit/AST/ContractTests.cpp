//===- ContractTests.cpp - What a candidate may not do --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Contract.h"
#include "stark/Support/File.h"
#include <gtest/gtest.h>

using namespace stark;

/// Enough of CUDA and C for the sources below, as a system header.
static const char *const Header = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
typedef unsigned long size_t;
struct dim3 { unsigned x, y, z; __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef unsigned long long cudaTextureObject_t;
template <class T> __device__ T tex1Dfetch(cudaTextureObject_t, int);
__device__ float atomicAdd(float *, float);
extern "C" {
int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyPeer(void *, int, const void *, int, size_t);
int cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, cudaStream_t = 0);
int cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t);
int cudaFuncSetAttribute(const void *, int, int);
int cudaStreamCreate(cudaStream_t *);
int cudaStreamSynchronize(cudaStream_t);
int cudaEventRecord(cudaEvent_t, cudaStream_t);
int cudaDeviceSetLimit(int, size_t);
int cudaGetDriverEntryPoint(const char *, void **, int);
int system(const char *);
int open(const char *, int, ...);
long time(long *);
int cudaCreateTextureObject(cudaTextureObject_t *, const void *, const void *, const void *);
int cudaDestroyTextureObject(cudaTextureObject_t);
enum { cudaSuccess };
int printf(const char *, ...);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
double sqrt(double);
double drand48();
char *cuserid(char *);
int *__errno_location();
extern int signgam;
extern struct FILE *stdin, *stderr;
int fprintf(FILE *, const char *, ...);
int ferror(FILE *);
}
#define errno (*__errno_location())
struct cudaLaunchConfig_t { dim3 gridDim, blockDim; size_t bytes; cudaStream_t stream; };
__device__ long clock64();
namespace std {
inline namespace _V2 { struct thread { template <class F> thread(F) {} void join() {} }; }
namespace chrono { struct clk { static int now(); }; }
template <class F> int async(F);
struct ostream { ostream &operator<<(const char *); int width(int); };
extern ostream cerr;
struct random_device { unsigned operator()(); };
void set_new_handler(void (*)());
template <class T> T *addressof(T &);
template <class T> T max(T, T);
}
)";

static const char *const Source = R"(#include <mini.h>
#define OWN(x) x
static const int Block = 256;
__constant__ float table[4];
__global__ void k(const float *x, float *y, int n) { y[0] = x[n]; }
extern "C" __global__ void named(float *y) { y[0] = 1; }
template <class T> __global__ void generic(T *y) { y[0] = 1; }
static int helper(int n) { return n; }
int exported(int n) { return helper(n); }
int Global = 3;
namespace ns {
void launch(const float *x, float *y, int n, cudaStream_t stream = 0) {
  k<<<1, Block, 0, stream>>>(x, y, n);
}
}
)";

namespace {
class Contract : public testing::Test {
protected:
  void SetUp() override {
    auto Made = TemporaryFolder::create("stark-contract");
    ASSERT_TRUE(bool(Made)) << llvm::toString(Made.takeError());
    Folder = std::make_unique<TemporaryFolder>(std::move(*Made));
    write("sys/mini.h", Header);
    write("sys/other.h", "int other();\n");
    write("sys/cuda/c.h", "extern \"C\" int tempnam_r();\n");
    write("user/mine.h", "int mine();\n");
    Options.Toolkit = "/nonexistent";
    Options.Flags = {"-nocudainc", "-nostdinc", "-isystem",
                     Folder->path().str() + "/sys",
                     "-I" + Folder->path().str() + "/user"};
    Old = parse(Source);
    for (const SourceError &E : Old->errors())
      ADD_FAILURE() << E.Line << ": " << E.Message;
  }
  void write(const std::string &Name, const char *Text) {
    auto E = writeFileAtomically(Folder->path().str() + "/" + Name, Text);
    ASSERT_FALSE(bool(E)) << llvm::toString(std::move(E));
  }
  std::unique_ptr<ParsedSource> parse(const std::string &Text) {
    auto Parsed =
        parseSource(Folder->path().str() + "/user/source.cu", Text, Options);
    if (Parsed)
      return std::move(*Parsed);
    ADD_FAILURE() << llvm::toString(Parsed.takeError());
    return nullptr;
  }
  std::string check(const std::string &Text,
                    const std::string &Entry = "ns::launch") {
    std::string All;
    for (const Violation &V : checkContract(*Old, *parse(Text), Entry))
      All += std::to_string(V.Line) + (V.forbidden() ? "! " : ": ") +
             V.message() + "\n";
    return All;
  }
  /// The source with \p New as further lines before the namespace.
  std::string adding(const std::string &New) {
    return check(edited("namespace ns {\n", New + "\nnamespace ns {\n"));
  }
  /// The source with \p New before the launch.
  std::string inLaunch(const std::string &New) {
    return check(edited("  k<<<", "  " + New + "\n  k<<<"));
  }
  static std::string edited(const std::string &From, const std::string &To,
                            std::string Text = Source) {
    size_t At = Text.find(From);
    EXPECT_NE(At, std::string::npos) << From;
    return At == std::string::npos ? Text : Text.replace(At, From.size(), To);
  }

  std::unique_ptr<TemporaryFolder> Folder;
  ParseOptions Options;
  std::unique_ptr<ParsedSource> Old;
};

// The C library's are told by their names and folders, not by words in these.
TEST_F(Contract, NotCudasByALetter) {
  EXPECT_NE(inLaunch("char name[64]; cuserid(name);")
                .find("calls 'cuserid', which is forbidden"),
            std::string::npos);
  EXPECT_NE(check(edited("#include <mini.h>\n",
                         "#include <mini.h>\n#include <cuda/c.h>\n",
                         edited("  k<<<", "  tempnam_r();\n  k<<<")))
                .find("calls 'tempnam_r', which is forbidden"),
            std::string::npos);
  EXPECT_EQ(inLaunch("cudaFuncSetAttribute((const void *)k, 8, 1);"), "");
}

// What a launch may have is said by name, and nothing else is made into it.
TEST_F(Contract, AttributesOfLaunchesAreNoBytes) {
  std::string Types =
      "enum cudaLaunchAttributeID { A, B };\nstruct cudaLaunchAttribute_st { "
      "cudaLaunchAttributeID id; char val[64]; };\ntypedef "
      "cudaLaunchAttribute_st cudaLaunchAttribute;\n";
  for (const char *Bytes :
       {"int one = 1; memcpy(&a[0].id, &one, 4);", "memset(a, 1, 4);",
        "long raw[9] = {1}; auto *p = (cudaLaunchAttribute *)raw; (void)p;",
        "*(int *)&a[0].id = 1;", "memcpy(a, &n, 4);"})
    EXPECT_NE(adding(Types +
                     "static void f(int n) { cudaLaunchAttribute a[2] = "
                     "{}; " +
                     Bytes + " }")
                  .find("makes a launch attribute from a number"),
              std::string::npos)
        << Bytes;
  EXPECT_EQ(adding(Types + "static void f() { cudaLaunchAttribute a[2]; "
                           "memset(a, 0, sizeof(a)); memset(&a[1], 0, 4); "
                           "a[0].id = B; }"),
            "");
}

// Streams of the C++ library have settings and counters, which live: only what
// is the function's own is asked for them.
TEST_F(Contract, OutputIsPrintedTo) {
  std::string Types =
      "namespace std { struct ios_base { int width(int); long &iword(int); }; "
      "struct basic_ostream : ios_base { void put(char); }; struct text : "
      "basic_ostream {}; basic_ostream &end(basic_ostream &); extern "
      "basic_ostream cout2; }\n";
  write("sys/out.h", Types.c_str());
  auto Using = [&](const std::string &Code) {
    return check(edited("#include <mini.h>\n",
                        "#include <mini.h>\n#include <out.h>\n",
                        edited("  k<<<", "  " + Code + "\n  k<<<")));
  };
  for (const char *Asks : {"++end(*(std::text *)0).iword(0);",
                           "std::basic_ostream &s = *(std::text *)0; "
                           "s.width(3);",
                           "auto *s = (std::text *)0; s->width(3);"})
    EXPECT_NE(Using(Asks).find("calls 'std::ios_base::"), std::string::npos)
        << Asks;
  EXPECT_EQ(Using("std::text s; s.width(3); s.iword(0) = 1; s.put('a'); "
                  "std::basic_ostream &r = s; r.put('b');"),
            "");
}

// An input may be read through a cast that drops const, and not written,
// wherever the pointer goes.
TEST_F(Contract, InputsStayAsTheyAre) {
  for (const char *Reads :
       {"float4 v = *(float4 *)(x + n); y[0] = v.x;",
        "float *p = (float *)x; y[0] = p[n];",
        "float4 v = ((float4 *)x)[n]; v.x = 1; y[0] = v.x;",
        "float *p = (float *)x; p = y; p = p + 1; y[0] = *p;",
        "float *p = y; p[0] = ((float *)x)[0];"})
    EXPECT_EQ(adding("struct float4 { float x, y, z, w; };\n__global__ void a("
                     "const float *x, float *y, int n) { " +
                     std::string(Reads) + " }"),
              "")
        << Reads;
  for (const char *Writes :
       {"((float *)x)[n] = 1;", "*const_cast<float *>(x) += 1;",
        "float *p = (float *)x; p[n] = 1;",
        "float *p; p = const_cast<float *>(x + 1); ++*p;",
        "float *p = n ? (float *)x : y; *(p + n) = 1;",
        "float &r = const_cast<float &>(x[n]); r = 1;",
        "const_cast<float &>(x[n]) = 1;", "atomicAdd((float *)x, 1.0f);",
        "put((float *)x, n);", "puts<float>((float *)x, n);",
        "float *p = (float *)x; float *q = p + 1; put(q, n);",
        "((struct float4 *)x)->y = 1;",
        "asm volatile(\"st.global.f32 [%0], %1;\" :: \"l\"((float *)x), "
        "\"f\"(1.0f));"}) {
    std::string Got =
        adding("struct float4 { float x, y, z, w; };\n"
               "__device__ void put(float *to, int n) { to[n] = 1; }\n"
               "template <class T> __device__ void puts(T *to, int n) { *to = "
               "n; }\n__global__ void a(const float *x, float *y, int n) { " +
               std::string(Writes) + " }");
    EXPECT_NE(Got.find("writes to what is const behind a cast"),
              std::string::npos)
        << Writes << "\n"
        << Got;
  }
  EXPECT_NE(inLaunch("cudaMemcpyAsync((void *)x, y, 4, 3, stream);")
                .find("writes to what is const behind a cast"),
            std::string::npos);
  EXPECT_NE(adding("template <class T> __global__ void a(const T *x, T *y) { "
                   "T *p = (T *)x; p[1] = y[1]; }")
                .find("writes to what is const behind a cast"),
            std::string::npos);
  EXPECT_EQ(adding("template <class T, class V> __global__ void a(const T *x, "
                   "T *y) { V v = *(V *)x; v.x = 1; v.x += y[1]; }"),
            "");
  // A kernel of the file that writes through what the entry casts.
  EXPECT_NE(check(edited("k<<<1, Block, 0, stream>>>(x, y, n);",
                         "put<<<1, 1, 0, stream>>>((float *)x);",
                         edited("namespace ns {\n",
                                "__global__ void put(float *p) { p[0] = 1; }\n"
                                "namespace ns {\n")))
                .find("writes to what is const behind a cast"),
            std::string::npos);
}

// A texture object is given back on each way on which it was made.
TEST_F(Contract, HandlesAreGivenBack) {
  std::string Make = "cudaTextureObject_t t = 0; cudaCreateTextureObject(&t, "
                     "x, x, 0); ";
  for (const char *Good :
       {"cudaDestroyTextureObject(t);", "if (t) cudaDestroyTextureObject(t);",
        "if (t != 0) { cudaDestroyTextureObject(t); }",
        "for (int i = 0; i < 1; ++i) cudaDestroyTextureObject(t);"})
    EXPECT_EQ(inLaunch(Make + Good), "") << Good;
  EXPECT_EQ(inLaunch("if (n > 3) { " + Make + "cudaDestroyTextureObject(t); }"),
            "");
  EXPECT_EQ(inLaunch("cudaTextureObject_t t = 0; if (n > 3) "
                     "cudaCreateTextureObject(&t, x, x, 0); if (n > 3) "
                     "cudaDestroyTextureObject(t);"),
            "");
  EXPECT_EQ(inLaunch("cudaTextureObject_t t; if (cudaCreateTextureObject(&t, "
                     "x, x, 0) == cudaSuccess) { cudaDestroyTextureObject(t); "
                     "}"),
            "");
  EXPECT_EQ(adding("struct Held { cudaTextureObject_t t = 0; Held(const void "
                   "*p) { cudaCreateTextureObject(&t, p, p, 0); } ~Held() { if "
                   "(t) cudaDestroyTextureObject(t); } };"),
            "");
  for (const char *Bad : {"if (n < 0) cudaDestroyTextureObject(t);",
                          "n < 0 ? cudaDestroyTextureObject(t) : 0;",
                          "n < 0 && cudaDestroyTextureObject(t);",
                          "switch (n) { case 3: cudaDestroyTextureObject(t); }",
                          "if (n > 3) { } else cudaDestroyTextureObject(t);"}) {
    std::string Got = inLaunch(Make + Bad);
    EXPECT_NE(Got.find("calls 'cudaCreateTextureObject with "
                       "cudaDestroyTextureObject on some ways only', which is "
                       "forbidden"),
              std::string::npos)
        << Bad << "\n"
        << Got;
  }
}

// Its number says how many there are: it is handed on, and nothing else.
TEST_F(Contract, HandlesAreNoNumbers) {
  std::string Make = "cudaTextureObject_t t = 0; cudaCreateTextureObject(&t, "
                     "x, x, 0); cudaDestroyTextureObject(t); ";
  std::string Kernel =
      "__global__ void r(cudaTextureObject_t t, float *y) { y[0] = "
      "tex1Dfetch<float>(t, 0); }\nstruct Held { cudaTextureObject_t t; int n; "
      "};\nstatic void pass(const Held &h, float *y) { r<<<1, 1>>>(h.t, y); }";
  EXPECT_EQ(adding(Kernel), "");
  for (const char *Good :
       {"cudaTextureObject_t u = t; u = t; u = 0;",
        "cudaTextureObject_t all[2] = {}; all[1] = t; all[0] = all[1];",
        "void *args[] = {&t, &n};",
        "cudaTextureObject_t a[1] = {t}, b[1]; memcpy(b, a, 8);",
        "struct M { int a, b; } m[2] = {[1] = {.b = 3}}; n = m[1].b;",
        "struct P { int n; } p = {3}, all[2] = {{1}, {2}}; n = p.n;",
        "cudaTextureObject_t u = n ? t : 0;",
        "auto u = t; cudaTextureObject_t v = u;", "printf(\"%llu\", t);",
        "bool made = t; if (!t) printf(\"none\");"})
    EXPECT_EQ(inLaunch(Make + Good), "") << Good;
  for (const char *Bad :
       {"if (t > 20) return;", "if (t == 7) return;", "n += t % 2;",
        "unsigned long long u = t; if (u > 20) return;", "int u; u = t;",
        "n = (int)t;", "cudaTextureObject_t u = n;",
        "cudaTextureObject_t u; u = t + 1;", "switch (t) { case 7: return; }",
        "unsigned long long u; memcpy(&u, &t, 8);",
        "auto *u = (unsigned long long *)&t;", "y = y + t;", "y += Table[t];",
        "struct Kept { unsigned long long u; } k = {t};", "helper(t);", "++t;",
        "exact(t);", "cudaDestroyTextureObject(n);"}) {
    std::string Got =
        check(edited("namespace ns {\n",
                     "static const int Table[9] = {};\ntemplate <class T> "
                     "static bool exact(T v) { return v > 20; }\n"
                     "namespace ns {\n",
                     edited("  k<<<", "  " + Make + Bad + "\n  k<<<")));
    EXPECT_NE(Got.find("takes the handle of a texture or surface object for a "
                       "number"),
              std::string::npos)
        << Bad << "\n"
        << Got;
  }
}
} // namespace

TEST_F(Contract, TheSourceKeepsItself) {
  EXPECT_EQ(check(Source), "");
  EXPECT_EQ(check(Source, ""), "");
  EXPECT_EQ(check(Source, "ns::other"),
            "0: the source defines no function 'ns::other'\n");
}

// A workload names it as a call from the end of the file would.
TEST_F(Contract, AnAnonymousNamespaceIsNoPartOfTheEntrysName) {
  std::string Text = edited("namespace ns {\n", "namespace {\n");
  Old = parse(Text);
  EXPECT_EQ(check(Text, "launch"), "");
  EXPECT_EQ(check(edited("void launch(", "void start(", Text), "launch"),
            "0: entry '(anonymous namespace)::launch' is missing, which the "
            "source has in line 12; it must stay as the source has it\n");
}

TEST_F(Contract, WhatIsAllowed) {
  for (std::string New :
       {"static __device__ float sum(float v) { return v; }",
        "__global__ void second(float *y) { y[0] = 2; }",
        "template <int N> __global__ void third(float *y) { y[0] = N; }",
        "inline int h2() { return 2; }", "constexpr int Tile = 4;",
        "static const float Pi[2] = {3.f, 1.f};",
        "__constant__ float weights[2] = {1, 2};",
        "#define UNROLL 4\n#undef UNROLL",
        "__device__ int clock() { return 1; }\n"
        "__device__ int use_clock() { return clock(); }",
        "namespace { int hidden() { return 1; } }", "#include <other.h>",
        "__device__ int a() {\n#if __CUDA_ARCH__ >= 9000\n  return 1;\n#else\n"
        "  return 2;\n#endif\n}",
        "#if __CUDA_ARCH__ >= 9000\n__device__ int b() { return 1; }\n#else\n"
        "__device__ int b() { return 2; }\n#endif",
        "__device__ void p() { asm volatile(\"bar.sync 0;\"); }",
        "struct S { int open(int); };\n"
        "static int use(S s) { int time = s.open(1); return time; }",
        "#pragma unroll 4",
        "__global__ void sh() { __shared__ float t[32]; "
        "extern __shared__ float d[]; t[0] = d[0]; }",
        "static int lambda() { auto f = [](int v) { return v; }; return f(1); "
        "}"})
    EXPECT_EQ(adding(New), "") << New;
  for (std::string New :
       {"cudaFuncSetAttribute((const void *)k, 1, 2);",
        "void *p; cudaMalloc(&p, 4); cudaFree(p);",
        "cudaStreamSynchronize(stream);", "static constexpr int Tiles = 3;",
        "static const int Two = 2;",
        "void *f; cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", &f, 0);"})
    EXPECT_EQ(inLaunch(New), "") << New;
}

// A launch names a function that is forbidden to others, be it dependent or the
// first of its file.
TEST_F(Contract, NewLaunchesAreAllowed) {
  const char *Dependent = "template <class T> static void more(T *y) {\n"
                          "  generic<T><<<1, 1>>>(y);\n}";
  EXPECT_EQ(adding(Dependent), "");
  Old = parse(edited("  k<<<1, Block, 0, stream>>>(x, y, n);\n", ""));
  EXPECT_EQ(check(Source), "");
  EXPECT_EQ(adding(Dependent), "");
  EXPECT_NE(inLaunch("__cudaPushCallConfiguration(1, 1);"), "");
}

TEST_F(Contract, ForbiddenCallsInEveryDisguise) {
  for (std::string New :
       {"cudaStream_t s; cudaStreamCreate(&s);",
        "auto f = &cudaStreamCreate; (void)f;",
        "auto f = [] { cudaStream_t s; return cudaStreamCreate(&s); }; f();",
        "using ::cudaStreamCreate;",
        "cudaEvent_t e; cudaEventRecord(e, stream);",
        "cudaDeviceSetLimit(1, 2);",
        "system(\"true\");",
        "::system(\"true\");",
        "auto f = system; (void)f;",
        "open(\"/tmp/x\", 0);",
        "time(0);",
        "std::thread([] {});",
        "namespace c = std::chrono; c::clk::now();",
        "using namespace std; thread([] {});",
        "std::async([] {});",
        "stream = (cudaStream_t)0x2;",
        "stream = cudaStream_t(1);",
        "((void (*)())0x1234)();",
        "asm(\"nop\");",
        "asm volatile(\"mov %%rax, %%rbx\" ::: \"rax\");",
        "static int calls = 0; ++calls;",
        "static int once = helper(n);",
        "static thread_local int t;",
        "extern int elsewhere;",
        "printf(\"/proc/self/mem\");",
        "void *f; cudaGetDriverEntryPoint(\"cuStreamCreate\", &f, 0);",
        "const char *c = \"cuTensorMapEncode\"; void *f; "
        "cudaGetDriverEntryPoint(c, &f, 0);",
        "extern \"C\" int dup(int);",
        "cuda\\\nStreamCreate(&stream);"}) {
    std::string Got = inLaunch(New);
    if (New.rfind("extern \"C\"", 0) == 0)
      continue; // no linkage specification inside a function
    EXPECT_NE(Got.find("! "), std::string::npos) << New << "\n" << Got;
  }
}

// What is built stands in another file and another namespace.
TEST_F(Contract, CodeDoesNotAskWhereItStands) {
  for (std::string New :
       {"if (__LINE__ > 100) n = 0;", "n += sizeof(__FILE__);",
        "n = __COUNTER__;", "n = __builtin_LINE();", "n += __TIME__[0] == '1';",
        "n += sizeof(__PRETTY_FUNCTION__);", "n += __func__[0] == 'l';",
        "n = __INCLUDE_LEVEL__;", "n = __LI\\\nNE__;"})
    EXPECT_NE(inLaunch(New).find("where it stands"), std::string::npos) << New;
  EXPECT_NE(adding("#define HERE __LINE__").find("where it stands"),
            std::string::npos);
}

// Clang and nvcc, the judge's build and the user's, have other values for
// these.
TEST_F(Contract, CodeDoesNotAskWhoCompilesIt) {
  for (std::string New :
       {"if (__GNUC__ > 4) n = 0;", "n += __VERSION__[0] == '1';",
        "n = __OPTIMIZE__;", "n = sizeof(__cplusplus);", "n += linux;"})
    EXPECT_NE(inLaunch(New).find("tells compilers apart"), std::string::npos)
        << New;
  for (std::string Name : {"__PIC__", "__CUDA_ARCH_LIST__", "__NVCC__",
                           "__CUDACC_VER_MAJOR__", "__AVX2__", "__pie__"})
    EXPECT_NE(adding("#define WORD(x) #x\n#define TEXT(x) WORD(x)\nstatic char "
                     "f() { return TEXT(" +
                     Name + ")[0]; }")
                  .find("tells compilers apart"),
              std::string::npos)
        << Name;
  for (std::string New :
       {"n += __INT_MAX__ - __FLT_DIG__;", "int __host_n = n; n = __host_n;"})
    EXPECT_EQ(inLaunch(New), "") << New;
  EXPECT_EQ(adding("#define ALL(...) f(__VA_ARGS__)\n#define OWN_ONE 3"), "");
}

// The C library keeps much, and so does a variable of a header.
TEST_F(Contract, NothingIsKeptInLibraries) {
  for (std::string New :
       {"if (++signgam > 100) n = 0;", "if (drand48() < 0.1) n = 0;",
        "if (++errno > 100) n = 0;", "auto f = drand48; n = f();",
        "stdin = stderr;", "n += ferror(stderr);", "n += std::cerr.width(3);",
        "std::ostream &o = std::cerr; o.width(3);",
        "n += std::random_device()();", "std::set_new_handler(nullptr);",
        "void *p; cudaMalloc(&p, 4);"})
    EXPECT_NE(inLaunch(New).find("! "), std::string::npos) << New;
  EXPECT_NE(adding("__host__ __device__ inline int f() { return ++signgam; }"),
            "");
  for (std::string New :
       {"fprintf(stderr, \"%d\", n);", "std::cerr << \"n\" << \"m\";",
        "n = int(sqrt(n)); memset(&n, 0, 4);"})
    EXPECT_EQ(inLaunch(New), "") << New;
  Old = parse(edited("  k<<<", "  n += drand48() + ++signgam;\n  k<<<"));
  EXPECT_EQ(inLaunch("n += drand48() + ++signgam;"), "");
}

// A kernel is told by nothing which call it is of.
TEST_F(Contract, KernelsDoNotReadClocksAndCounters) {
  for (std::string Register : {"clock64", "clock_hi", "gridid", "pm0", "pm3_64",
                               "envreg2", "current_graph_exec"})
    EXPECT_NE(adding("__device__ int f() { int n; asm volatile(\"mov.u32 %0, "
                     "%%" +
                     Register + ";\" : \"=r\"(n)); return n; }"),
              "")
        << Register;
  for (std::string Register :
       {"smid", "lanemask_lt", "cluster_ctarank", "tid.x", "pmask", "clk"})
    EXPECT_EQ(adding("__device__ int f() { int n; asm volatile(\"mov.u32 %0, "
                     "%%" +
                     Register + ";\" : \"=r\"(n)); return n; }"),
              "")
        << Register;
  EXPECT_NE(adding("__device__ long f() { return clock64(); }"), "");
  EXPECT_NE(
      adding("static constexpr char Text[] = \"mov\";\n"
             "__device__ void f() { asm volatile(\"%0\" :: \"C\"(Text)); }"),
      "");
}

// A function of both sides is host code, too, and so is its assembly.
TEST_F(Contract, AssemblyOfBothSidesIsTheHosts) {
  auto Guarded = [&](const std::string &If) {
    return adding("__host__ __device__ inline void f() {\n" + If +
                  "\n  asm volatile(\"bar.sync 0;\");\n#endif\n}");
  };
  EXPECT_NE(adding("__host__ __device__ inline void f() {\n  asm "
                   "volatile(\"rdrand %%eax\");\n}"),
            "");
  for (std::string If :
       {"#if !defined(__CUDA_ARCH__) || 1", "#if 900 >= __CUDA_ARCH__",
        "#if __CUDA_ARCH__ >= 0", "#ifndef OTHER"})
    EXPECT_NE(Guarded(If), "") << If;
  for (std::string If : {"#ifdef __CUDA_ARCH__", "#if defined(__CUDA_ARCH__)",
                         "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800",
                         "#if __CUDA_ARCH__ >= 800"})
    EXPECT_EQ(Guarded(If), "") << If;
}

// Of bytes no stream is made, whatever they are the bytes of.
TEST_F(Contract, StreamsComeFromNoBytes) {
  const char *Box = "struct Box { cudaStream_t s; };\n"
                    "static long two() { return 2; }";
  Old = parse(edited("namespace ns {", std::string(Box) + "\nnamespace ns {"));
  std::string With =
      edited("namespace ns {", std::string(Box) + "\nnamespace ns {");
  auto In = [&](const std::string &New) {
    return check(edited("  k<<<", "  " + New + "\n  k<<<", With));
  };
  for (std::string New :
       {"reinterpret_cast<long &>(stream) = 2;",
        "Box b{stream}; long n2 = 2; memcpy(&b, &n2, 8); stream = b.s;",
        "cudaStream_t b[1] = {stream}; memcpy(b, &n, 4); stream = b[0];",
        "memcpy(std::addressof(stream), &n, 4);",
        "long l = 2; stream = __builtin_bit_cast(Box, l).s;",
        "long l = 2; stream = __builtin_bit_cast(cudaStream_t, l);",
        "stream = reinterpret_cast<cudaStream_t (*)()>(two)();",
        "long l = 2; long *p = &l; stream = **(cudaStream_t **)&p;",
        "long l = 2; stream = ((Box *)&l)->s;",
        "union { long l; Box b; } u; u.l = 2; stream = u.b.s;",
        "cudaLaunchConfig_t c; ((long *)&c)[4] = 2;",
        "cudaLaunchConfig_t c; memset(&c, 1, sizeof c);"})
    EXPECT_NE(In(New), "") << New;
  for (std::string New :
       {"cudaLaunchConfig_t c; memset(&c, 0, sizeof c); c.stream = stream;",
        "Box b{stream}; Box *p = &b; stream = p->s;",
        "float v = 1; memcpy(&n, &v, 4);"})
    EXPECT_EQ(In(New), "") << New;
}

// What is given no stream may be called by what is given one.
TEST_F(Contract, WorkOfHelpersIsOfTheStream) {
  auto Calling = [&](const std::string &Helper, const std::string &Call) {
    return check(edited("  k<<<", "  " + Call + "\n  k<<<",
                        edited("namespace ns {", Helper + "\nnamespace ns {")));
  };
  for (std::string Body :
       {"k<<<1, 1>>>(y, y, 1);", "cudaMemcpy(y, y, 4, 3);",
        "cudaMemcpyPeer(y, 0, y, 0, 4);", "cudaMemcpyPeerAsync(y, 0, y, 0, 4);",
        "[=] { k<<<1, 1>>>(y, y, 1); }();"}) {
    std::string Helper = "static void aside(float *y) { " + Body + " }";
    EXPECT_NE(Calling(Helper, "aside(y);"), "") << Body;
    EXPECT_NE(Calling(Helper + "\nstatic void more(float *y) { aside(y); }",
                      "auto f = more; f(y);"),
              "")
        << Body;
  }
  EXPECT_NE(inLaunch("auto f = cudaMemcpy; f(y, y, 4, 3);"), "");
  EXPECT_EQ(Calling("static void aside(float *y, cudaStream_t s) { "
                    "k<<<1, 1, 0, s>>>(y, y, 1); }",
                    "aside(y, stream);"),
            "");
}

// Callers in other files have the names and the structs that they were built
// with.
TEST_F(Contract, CallersFindWhatTheyWereBuiltWith) {
  std::string Structs = "struct In { float a; int b; };\n"
                        "struct Sizes { In in; long rows; };\n"
                        "void sized(Sizes s, float *y) { y[0] = s.in.a; }\n";
  auto As = [&](const std::string &From, const std::string &To) {
    return check(Structs.empty() ? "" : edited(From, To, Structs) + Source,
                 "sized");
  };
  Old = parse(Structs + Source);
  EXPECT_EQ(As("float a", "float a"), "");
  for (std::pair<const char *, const char *> Edit :
       {std::pair("float a; int b;", "int b; float a;"),
        {"In in; long rows;", "long rows; In in;"},
        {"struct In", "struct alignas(16) In"},
        {"struct In {", "#pragma pack(1)\nstruct In { char c;"},
        {"void sized", "__attribute__((abi_tag(\"two\"))) void sized"}})
    EXPECT_NE(As(Edit.first, Edit.second), "") << Edit.second;
  EXPECT_NE(check(Structs + edited("void launch", "inline namespace two { }\n"
                                                  "__attribute__((abi_tag("
                                                  "\"two\"))) void launch")),
            "");
}

// Of the streams that CUDA names by small numbers each can be had by a cast.
TEST_F(Contract, StreamsAndAttributesComeFromNoNumber) {
  for (std::string New :
       {"stream = (cudaStream_t)2;", "stream = (cudaStream_t)((char *)0 + 2);",
        "long two = 2; stream = *(cudaStream_t *)&two;"})
    EXPECT_NE(inLaunch(New), "") << New;
  EXPECT_NE(adding("enum cudaLaunchAttributeID { A, B };\n"
                   "static cudaLaunchAttributeID f(int n) { return "
                   "(cudaLaunchAttributeID)n; }"),
            "");
}

TEST_F(Contract, PtxDeclaresNothingThatStays) {
  auto InKernel = [&](const std::string &Ptx) {
    return adding("static __device__ void f() { asm volatile(\"" + Ptx +
                  "\"); }");
  };
  for (std::string Ptx :
       {"{ .global .u32 kept; }", ".extern .func f;",
        "mov.b32 a, b;\\n .const .u32 c;", "ret; } .func g() { ret;", "{",
        "{ .visible .entry k() {} }", "mov.u64 %0, %%global\" \"timer;"})
    EXPECT_NE(InKernel(Ptx), "") << Ptx;
  for (std::string Ptx :
       {"{ .reg .pred p; @p bra L; L: ld.global.f32 a, [b]; }",
        ".pragma \\\"nounroll\\\";", "ld.global.v2.f32 {a, b}, [c];"})
    EXPECT_EQ(InKernel(Ptx), "") << Ptx;
}

// An attribute makes it host code, too, whatever it is spelt like.
TEST_F(Contract, HostIsHostHoweverItIsSpelt) {
  for (std::string Host : {"__host__", "__attribute__((host))"})
    EXPECT_NE(adding("__device__ " + Host +
                     " inline int f(int n) {\n#ifdef __CUDA_ARCH__\n  return "
                     "n;\n#else\n  return n - 1;\n#endif\n}"),
              "")
        << Host;
}

// A source's own report is as it was; a candidate that says more in it is not.
TEST_F(Contract, WhatTheSourceAsksOfItsPlaceStays) {
  std::string Report = "#define REPORT(e) report(e, __FILE__, __LINE__)\n";
  Old = parse(Report + Source);
  EXPECT_EQ(check(Report + Source), "");
  EXPECT_EQ(check(Report + "static int more(int i) { return i; }\n" + Source),
            "");
  std::string Other =
      "#define REPORT(e) if (__LINE__ > 9) report(e, __FILE__)\n";
  EXPECT_NE(check(Other + Source), "");
}

TEST_F(Contract, ForbiddenDeclarations) {
  for (std::string New :
       {"#define START cudaStreamCreate",
        "#define GLUE(a, b) a##b\nstatic int g() { cudaStream_t s; return "
        "GLUE(cudaStream, Create)(&s); }",
        "#define GLUE(a, b) a %:%: b",
        "static int d(int (*f)(cudaStream_t *) = cudaStreamCreate);",
        "template <class T> int t() { T s; return cudaStreamCreate(&s); }",
        "struct X { int v = system(\"x\"); };",
        "int counter;",
        "static int counter;",
        "static float *cache = nullptr;",
        "static int started = helper(1);",
        "const int started = helper(1);",
        "__device__ float state[4];",
        "static __device__ int n;",
        "__constant__ float filled[4];",
        "inline int shared_counter = 0;",
        "struct C { static int n; }; int C::n = 0;",
        "struct C { C(); ~C(); }; static C c;",
        "struct M { mutable int n; }; static const M m{1};",
        "template <class T> int counted = 0;",
        "__device__ int dev() { static int n; return ++n; }",
        "__attribute__((constructor)) static void init() {}",
        "[[gnu::constructor]] static void init() {}",
        "__attribute__((__weak__)) int weak_one() { return 1; }",
        "__attribute__((section(\"x\"))) static const int in = 1;",
        "extern \"C\" int other_name() asm(\"cudaStreamCreate\");",
        "extern \"C\" int dup(int);",
        "int undefined_here(int);",
        "extern \"C\" int cudaMallocManaged2(void **) __attribute__((alias("
        "\"x\")));",
        "extern \"C\" int cudaEventRecordX() { return 0; }",
        "asm(\".globl evil\");",
        "namespace std { int mine(); }",
        "extern \"C\" void stark_call(void **) {}",
        "static void stark_time() {}",
        "#include \"mine.h\"",
        "#include <mine.h>",
        "#include \"missing.h\"",
        "#include \"/etc/passwd\"",
        "#include \"../x.h\"",
        "#include <../sys/other.h>",
        "#define H <other.h>\n#include H",
        "#include <thread>",
        "#include <dlfcn.h>",
        "#include_next <other.h>",
        "#line 7 \"x\"",
        "# 7 \"x\"",
        "#embed \"x\"",
        "#pragma push_macro(\"OWN\")",
        "#pragma omp parallel",
        "#pragma redefine_extname a b",
        "#pragma GCC optimize(\"O0\")",
        "_Pragma(\"push_macro(\\\"x\\\")\")",
        "#define cudaMalloc(a, b) 0",
        "#define float double",
        "#define printf(...) 0",
        "#define __global__",
        "#define helper(n) 3",
        "#undef __CUDA_ARCH__",
        "#undef cudaMalloc",
        "#ifndef __clang__\nint x;\n#endif",
        "#ifdef __NVCC__\n#endif",
        "#if defined(__GNUC__)\n#endif",
        "#if __has_include(<x>)\n#endif",
        "#define W __clang__\n#if W\n#endif",
        "#ifndef __CUDA_ARCH__\nstatic int calls;\n#endif",
        "#ifndef __CUDA_ARCH__\nstatic int f() { return system(\"\"); "
        "}\n#endif",
        "__host__ __device__ inline void hd() {\n#ifndef __CUDA_ARCH__\n"
        "  static int n; ++n;\n#endif\n}",
        "#ifdef __CUDA_ARCH__\n#else\n#define LATER int hidden\n"
        "LATER;\n#endif"}) {
    std::string Got = adding(New);
    EXPECT_NE(Got.find("! "), std::string::npos) << New << "\n" << Got;
  }
}

TEST_F(Contract, WhatTheSourceDoesIsNotNew) {
  std::string Own =
      edited("namespace ns {\n",
             "static int calls;\n#ifdef __clang__\n#endif\n#define cuda3 1\n"
             "static int s() { cudaStream_t s; ++calls; return "
             "cudaStreamCreate(&s); }\n"
             "#ifndef __CUDA_ARCH__\nstatic int host;\n#endif\n"
             "#include \"mine.h\"\nnamespace ns {\n");
  Old = parse(Own);
  EXPECT_EQ(check(Own), "");
  EXPECT_EQ(check(edited("y[0] = x[n]", "y[0] = 2 * x[n]", Own)), "");
  EXPECT_NE(check(edited("static int host;", "static int host, more;", Own)),
            "");
  EXPECT_NE(check(edited("static int calls;", "static int calls, b;", Own)),
            "");
}

TEST_F(Contract, TheEntryStays) {
  EXPECT_EQ(check(edited("int n, cudaStream_t stream = 0) {",
                         "long n, cudaStream_t stream = 0) {")),
            "12: entry 'ns::launch' was 'void (const float *, float *, int, "
            "CUstream_st *)', is now 'void (const float *, float *, long, "
            "CUstream_st *)'\n");
  EXPECT_EQ(check(edited("void launch(", "static void launch(")),
            "12: entry 'ns::launch' was visible to other files, is now "
            "internal\n");
  EXPECT_EQ(check(edited("stream = 0)", "stream)")),
            "12: entry 'ns::launch' has other default arguments than before\n");
  EXPECT_EQ(check(edited("void launch(", "extern \"C\" void launch(")),
            "12: entry 'ns::launch' is now extern \"C\"\n");
  EXPECT_EQ(check(edited("void launch(", "inline void launch(")),
            "12: entry 'ns::launch' is now inline\n");
  EXPECT_EQ(check(edited("void launch(", "void start(")),
            "0: entry 'ns::launch' is missing, which the source has in line "
            "12; it must stay as the source has it\n12: adds exported function "
            "'ns::start'; make it static or put "
            "it into an anonymous namespace\n");
  EXPECT_EQ(check(edited("void launch(", "template <int N> void launch(")),
            "12: entry 'ns::launch' is now a template\n");
}

// A call by name must mean the entry: no overload, template or namesake that a
// using-declaration could bring.
TEST_F(Contract, TheEntryIsTheOnlyOneOfItsName) {
  const char *Said = "entry 'ns::launch' has another function of its name "
                     "beside it, which a call might prefer\n";
  auto Beside = [&](const std::string &New) {
    return check(edited("namespace ns {\n", "namespace ns {\n" + New + "\n"));
  };
  EXPECT_EQ(Beside("static void launch(const double *, float *, int) {}"),
            std::string("12: ") + Said);
  EXPECT_EQ(Beside("template <class T> void launch(T, float *, int, "
                   "cudaStream_t) {}"),
            std::string("12: ") + Said);
  EXPECT_EQ(adding("namespace { void launch(int) {} }"),
            std::string("11: ") + Said);
  // A declaration of itself, a method and other names are none.
  EXPECT_EQ(Beside("void launch(const float *x, float *y, int n, cudaStream_t "
                   "stream);\nstruct S { static void launch(int) {} };\n"
                   "static void launcher() {}"),
            "");
}

TEST_F(Contract, ExportedSymbolsStay) {
  EXPECT_EQ(check(edited("int exported(int n) { return helper(n); }\n", "")),
            "0: function 'exported' is missing, which the source has in line "
            "9; other files may use it\n");
  EXPECT_EQ(check(edited("int exported(int n)", "int exported(long n)")),
            "9: function 'exported' was 'int (int)', is now 'int (long)'; "
            "other files may use it\n");
  EXPECT_EQ(check(edited("int exported(", "static int exported(")),
            "9: function 'exported' was visible to other files, is now "
            "internal\n");
  EXPECT_EQ(adding("int more() { return 1; }"),
            "11: adds exported function 'more'; make it static or put it into "
            "an anonymous namespace\n");
  EXPECT_EQ(check(edited("int Global = 3;\n", "")),
            "0: variable 'Global' is missing, which the source has in line "
            "10; other files may use it\n");
}

// Types do not tell that callers pass the one for the other now; new names for
// the same are none of the callers' business.
TEST_F(Contract, ParametersStayInTheirPlaces) {
  std::string Own =
      "extern \"C\" int scale(int rows, int cols, int n) { return "
      "rows * n + cols; }\n"
      "namespace ns { void launch(float *x, float *y, int n) {} }\n";
  Old = parse(Own);
  EXPECT_EQ(
      check(edited("int rows, int cols", "int cols, int rows", Own)),
      "1: function 'scale' had the parameters (rows, cols, n), has (cols, "
      "rows, n) now; callers pass them by position\n");
  EXPECT_EQ(check(edited("float *x, float *y", "float *y, float *x", Own)),
            "2: entry 'ns::launch' had the parameters (x, y, n), has (y, x, n) "
            "now; callers pass them by position\n");
  EXPECT_EQ(check(edited("int rows, int cols", "int r, int c",
                         edited("rows * n + cols", "r * n + c", Own))),
            "");
  EXPECT_EQ(check(edited("int rows, int cols, int n", "int rows, int, int n",
                         edited("+ cols", "", Own))),
            "");
}

// What Clang makes of a template for this file alone is no export: another
// block size is another instantiation.
TEST_F(Contract, InstancesThatAreUsedMayChange) {
  std::string Own =
      "template <int N> __global__ void k(float *y) { y[threadIdx.x] = N; }\n"
      "template <int N> void go(float *y) { k<N><<<1, N>>>(y); }\n"
      "namespace ns { void launch(float *y) { go<128>(y); } }\n";
  Old = parse(Own);
  EXPECT_EQ(check(edited("go<128>", "go<256>", Own)), "");
  EXPECT_EQ(check(edited("go<128>(y)", "k<64><<<1, 64>>>(y)", Own)), "");
  std::string Offered = Own + "template void go<32>(float *);\n";
  Old = parse(Offered);
  EXPECT_EQ(check(Own), "0: function 'go<32>' is missing, which the source has "
                        "in line 2; other files may use it\n");
}

// Kernels stay by name; those that others can name keep their parameters.
TEST_F(Contract, KernelsStay) {
  EXPECT_EQ(check(edited("k<<<", "k2<<<", edited("void k(", "void k2("))),
            "0: kernel 'k' is missing, which the source has in line 5; "
            "other files may use it\n");
  EXPECT_EQ(check(edited(
                "k<<<1, Block, 0, stream>>>(x, y, n)",
                "k<<<1, Block, 0, stream>>>(x, y, n, 1)",
                edited("float *y, int n) { y", "float *y, int n, int m) { y"))),
            "");
  EXPECT_EQ(check(edited("k<<<", "k<4><<<",
                         edited("__global__ void k(",
                                "template <int N> __global__ void k("))),
            "");
  EXPECT_EQ(check(edited("named(float *y)", "named(float *y, int n)")),
            "6: kernel 'named' was 'void (float *)', is now 'void (float *, "
            "int)'; other files may use it\n");
}

// Code that Clang cannot parse is read by its tokens.
TEST_F(Contract, BrokenTextIsStillRead) {
  std::string Got = adding("static int bad() { undeclared(); static int n; "
                           "system(\"x\"); return n; }");
  EXPECT_NE(Got.find("calls 'system'"), std::string::npos) << Got;
  Got = adding("int broken( { static int n; cudaStreamCreate(0); }");
  EXPECT_NE(Got.find("cudaStreamCreate"), std::string::npos) << Got;
  for (std::string Odd : {std::string(), std::string("}"), std::string("#"),
                          std::string("\0#if", 4), std::string("((((((((")})
    EXPECT_NE(check(Odd), "") << Odd;
}

// In templates, lambdas and macros a launch names what nobody else may name.
TEST_F(Contract, LaunchesThatDependOnParametersAreAllowed) {
  EXPECT_EQ(adding("template <int N> __global__ void step(float *y) {}\n"
                   "template <int N> static void more(float *y) {\n"
                   "  step<N><<<N, N>>>(y);\n"
                   "  [=] { step<2 * N><<<1, N>>>(y); }();\n"
                   "  auto f = step<N>;\n"
                   "  f<<<N, 1>>>(y);\n}"),
            "");
}

// Of a kernel and a host function of one name the one that the workload uses is
// the entry: the other one's parameters may change.
TEST_F(Contract, TellsKernelsFromTheirNamesakes) {
  const std::string Both = R"(#include <mini.h>
__global__ void scale(float *x, int n) { x[n] *= 2; }
static void scale(float *x, int n, cudaStream_t stream) {
  scale<<<1, 1, 0, stream>>>(x, n);
}
)";
  Old = parse(Both);
  auto Check = [&](const std::string &Text, EntryUsed As) {
    std::string All;
    for (const Violation &V : checkContract(*Old, *parse(Text), "scale", As))
      All += V.message() + "\n";
    return All;
  };
  std::string Kernel = edited("*x, int n) {", "*x, int n, int m) {",
                              edited("(x, n);", "(x, n, 1);", Both));
  std::string Host = edited("*x, int n, cudaStream_t stream) {",
                            "*x, cudaStream_t stream, int n) {", Both);
  EXPECT_EQ(Check(Both, EntryUsed::Called), "");
  EXPECT_EQ(Check(Both, EntryUsed::Launched), "");
  EXPECT_EQ(Check(Kernel, EntryUsed::Called), "");
  EXPECT_EQ(Check(Kernel, EntryUsed::Launched),
            "entry 'scale' was 'void (float *, int)', is now 'void (float *, "
            "int, int)'\n");
  EXPECT_EQ(Check(Host, EntryUsed::Launched), "");
  EXPECT_NE(Check(Host, EntryUsed::Called), "");
}
