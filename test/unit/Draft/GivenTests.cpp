//===- GivenTests.cpp - What a program gives, and wants -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

static const std::string Runtime = R"(
extern "C" int scanf(const char *, ...);
extern "C" int puts(const char *);
extern "C" int atoi(const char *);
extern "C" void abort() __attribute__((noreturn));
)";

/// Of a kernel over cells that \p Fill has put into `cells`, n of them.
static json cellsOf(const std::string &Type, const std::string &Fill) {
  return drafted(Runtime + "__global__ void k(const " + Type +
                 " *in, int *out, int n) {\n"
                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "  if (i < n) out[i] = in[i] + 1;\n"
                 "}\n"
                 "int main() {\n"
                 "  int n = 5000;\n  " +
                 Type + " *cells = (" + Type + " *)malloc(n * sizeof(" + Type +
                 "));\n" + Fill + "  " + Type +
                 " *d;\n  int *out;\n"
                 "  cudaMalloc((void **)&d, n * sizeof(" +
                 Type +
                 "));\n"
                 "  cudaMalloc((void **)&out, n * sizeof(int));\n"
                 "  cudaMemcpy(d, cells, n * sizeof(" +
                 Type +
                 "), cudaMemcpyHostToDevice);\n"
                 "  k<<<(n + 255) / 256, 256>>>(d, out, n);\n"
                 "}\n")["arguments"]["in"]["init"];
}

static json steps(int Count, int Times, int Plus) {
  json Init = {{"integers", {0, Count}}, {"times", Times}};
  if (Plus)
    Init["plus"] = Plus;
  return Init;
}

// What the host chooses between is one of the two, not what lies between them.
TEST(DraftOfGiven, TakesOneOfTwo) {
  EXPECT_EQ(cellsOf("char", "for (int i = 0; i < n; i++)\n"
                            "  cells[i] = rand() % 2 ? '*' : '`';\n"),
            steps(2, 54, 42));
  EXPECT_EQ(cellsOf("int", "for (int i = 0; i < n; i++)\n"
                           "  cells[i] = 2 * (rand() % 2) - 1;\n"),
            steps(2, 2, -1));
  EXPECT_EQ(cellsOf("int", "for (int i = 0; i < n; i++)\n"
                           "  cells[i] = 1 - 2 * (rand() & 1);\n"),
            steps(2, 2, -1));
  EXPECT_EQ(cellsOf("int", "for (int i = 0; i < n; i++) {\n"
                           "  if (rand() % 3) cells[i] = 1;\n"
                           "  else cells[i] = -1;\n}\n"),
            steps(2, 2, -1));
  EXPECT_EQ(cellsOf("int", "for (int i = 0; i < n; i++)\n"
                           "  cells[i] = 5 + rand() % 10;\n"),
            (json{{"integers", {5, 15}}}));
}

// One number everywhere would hide what the entry does with it; one that is put
// here and there leaves zeros.
TEST(DraftOfGiven, TakesMoreThanOneNumber) {
  EXPECT_EQ(cellsOf("int", "for (int i = 0; i < n; i++) cells[i] = 1;\n"),
            (json{{"integers", {0, 2}}}));
  EXPECT_EQ(cellsOf("int", "for (int i = 0; i < n; i++) cells[i] = -3;\n"),
            (json{{"integers", {-3, 1}}}));
  EXPECT_EQ(cellsOf("int", "for (int i = 0; i < n / 3; i++)\n"
                           "  cells[rand() % n] = 7;\n"),
            steps(2, 7, 0));
}

// Where nobody calls what launches, its own numbers are the program's.
TEST(DraftOfGiven, KeepsNumbersOfWhatNobodyCalls) {
  json W = drafted(Runtime + R"(
int *now, *next;
int cells;
__global__ void step(const int *now, int *next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = now[i] + 1;
}
void prepare() {
  cells = 96 * 160;
  cudaMalloc((void **)&now, cells * sizeof(int));
  cudaMalloc((void **)&next, cells * sizeof(int));
}
void go() { step<<<(cells + 7) / 8, 8>>>(now, next); }
)");
  EXPECT_EQ(W["sizes"][0]["cells"], 96 * 160);
  W = drafted(Runtime + R"(
__global__ void blur(const float *in, float *out, int width, int channels) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < width)
    for (int c = 0; c < channels; c++)
      out[x * channels + c] = in[x * channels + c];
}
double blurred(const float *image, float *result, int width) {
  int channels = 3;
  float *in, *out;
  cudaMalloc((void **)&in, width * channels * sizeof(float));
  cudaMalloc((void **)&out, width * channels * sizeof(float));
  blur<<<(width + 63) / 64, 64>>>(in, out, width, channels);
  return 0;
}
)",
              "blur");
  EXPECT_EQ(W["sizes"][0]["channels"], 3);
  EXPECT_GT(W["sizes"][0]["width"], 1000);
}

static const std::string Product = R"(
__global__ void mul(const float *a, const float *b, float *c, int inner,
                    int lines, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int line = blockIdx.y * blockDim.y + threadIdx.y;
  if (line >= lines || column >= columns)
    return;
  float sum = 0;
  for (int i = 0; i < inner; i++)
    sum += a[line * inner + i] * b[i * columns + column];
  c[line * columns + column] = sum;
}
void multiply(int a_lines, int a_columns, int b_lines, int b_columns) {
  float *a, *b, *c;
  cudaMalloc((void **)&a, a_lines * a_columns * sizeof(float));
  cudaMalloc((void **)&b, b_lines * b_columns * sizeof(float));
  cudaMalloc((void **)&c, a_lines * b_columns * sizeof(float));
  dim3 grid((b_columns + 15) / 16, (a_lines + 15) / 16), block(16, 16);
  mul<<<grid, block>>>(a, b, c, a_columns, a_lines, b_columns);
}
)";

static void expectProduct(const std::string &Main) {
  json W = drafted(Runtime + Product + Main, "mul");
  json B = W["arguments"]["b"]["shape"];
  EXPECT_EQ(B, list("\"inner\", \"columns\"")) << Main << W.dump(2);
}

// Two sizes that are read, and that the program wants to be one, are one.
TEST(DraftOfGiven, TakesSizesThatHaveToAgreeForOne) {
  const std::string Read = "int m, k, l, n;\n"
                           "scanf(\"%d %d %d %d\", &m, &k, &l, &n);\n";
  expectProduct("int main() {" + Read +
                "if (k != l) { puts(\"no\"); return 1; }\n"
                "multiply(m, k, l, n); }");
  expectProduct("int main() {" + Read +
                "if (k == l) multiply(m, k, l, n); else puts(\"no\"); }");
  expectProduct("int main() {" + Read +
                "if (m < 1 || k != l) abort();\n"
                "multiply(m, k, l, n); }");
  expectProduct("int main(int argc, char **argv) {\n"
                "int m = atoi(argv[1]), k = atoi(argv[2]);\n"
                "int l = atoi(argv[3]), n = atoi(argv[4]);\n"
                "k == l ? (void)0 : abort();\n"
                "multiply(m, k, l, n); }");
}

// ... and two that only make it go another way are two.
TEST(DraftOfGiven, LeavesSizesThatNeedNotAgree) {
  json W = drafted(Runtime + R"(
__global__ void turn(const float *in, float *out, int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < columns)
    out[x * rows + y] = in[y * columns + x];
}
int main() {
  int rows, columns;
  scanf("%d %d", &rows, &columns);
  bool square = false;
  if (rows == columns)
    square = true;
  float *in, *out;
  cudaMalloc((void **)&in, rows * columns * sizeof(float));
  cudaMalloc((void **)&out, rows * columns * sizeof(float));
  dim3 grid((columns + 63) / 64, rows);
  turn<<<grid, 64>>>(in, out, rows, columns);
}
)");
  EXPECT_EQ(W["arguments"]["in"]["shape"], list("\"rows\", \"columns\""));
}

// What copies from arrays of the host is no launcher, though it is given the
// device's as well.
TEST(DraftOfGiven, TakesNoArraysOfTheHost) {
  json W = drafted(Runtime + R"(
__global__ void twice(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
void run(const int *given, int *result, int *in, int *out, int n) {
  cudaMemcpy(in, given, n * sizeof(int), cudaMemcpyHostToDevice);
  twice<<<(n + 255) / 256, 256>>>(in, out, n);
  cudaMemcpy(result, out, n * sizeof(int), cudaMemcpyDeviceToHost);
}
)");
  EXPECT_EQ(W["launch"]["kernel"], "twice");
}

// for (i = ...; i + 1 < n; ...) ends at n - 2, and reads one more.
TEST(DraftOfGiven, ComesToTheLastOfNeighbours) {
  for (const char *Loop :
       {"for (int i = t; i + 1 < n; i += gridDim.x * blockDim.x)",
        "for (int i = t; i < n - 1; i += gridDim.x * blockDim.x)",
        "int i = t; if (i + 1 < n)", "int i = t; if (n > i + 1)"}) {
    json W = drafted(Runtime +
                     "__global__ void k(const int *x, int *d, int n) "
                     "{\n"
                     "  int t = blockIdx.x * blockDim.x + "
                     "threadIdx.x;\n  " +
                     Loop +
                     "\n    d[i] = x[i + 1] - x[i];\n}\n"
                     "int length();\nconst int *sorted();\nint *into();\n"
                     "void go() {\n  int n = length();\n"
                     "  k<<<256, 256>>>(sorted(), into(), n);\n}\n");
    EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\"")) << Loop << W.dump(2);
  }
}

// What only becomes less has to be large before.
TEST(DraftOfGiven, BeginsMinimaWithLargeNumbers) {
  json W = drafted(R"(
__global__ void least(const int *in, int *best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMin(best, in[i]);
})");
  EXPECT_EQ(W["arguments"]["best"]["init"], (json{{"constant", 2147483647}}));
  W = drafted(Runtime + R"(
__global__ void least(const int *in, unsigned long long *best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(best, (unsigned long long)in[i]);
}
int main() {
  int n = 4000, *in;
  unsigned long long key = (unsigned long long)0xFFFFFFFFu << 32, *best;
  cudaMalloc((void **)&in, n * sizeof(int));
  cudaMalloc((void **)&best, sizeof(key));
  cudaMemcpy(best, &key, sizeof(key), cudaMemcpyHostToDevice);
  least<<<(n + 255) / 256, 256>>>(in, best, n);
})");
  EXPECT_EQ(W["arguments"]["best"]["init"],
            (json{{"integers", {-4294967296, -4294967295}}}));
}

// Sides of an image that are read into its struct are two sizes.
TEST(DraftOfGiven, ReadsSizesIntoStructs) {
  const std::string Gray = R"(
struct Image { int w, h; unsigned char *data; };
__global__ void gray(const unsigned char *rgb, unsigned char *out, int w,
                     int h) {
  int x = threadIdx.x + blockIdx.x * blockDim.x;
  int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x < w && y < h)
    out[y * w + x] = rgb[3 * (y * w + x) + 1];
}
void run(Image *img) {
  unsigned char *in, *out;
  cudaMalloc((void **)&in, 3 * img->w * img->h);
  cudaMalloc((void **)&out, img->w * img->h);
  dim3 block(16, 16), grid((img->w + 15) / 16, (img->h + 15) / 16);
  gray<<<grid, block>>>(in, out, img->w, img->h);
}
)";
  for (const char *Main :
       {"int main() { Image *p = (Image *)malloc(sizeof(Image));\n"
        "scanf(\"%d %d\", &p->w, &p->h); run(p); }",
        "int main() { Image p; scanf(\"%d\", &p.w); scanf(\"%d\", &p.h);\n"
        "run(&p); }"}) {
    json W = drafted(Runtime + Gray + Main, "gray");
    EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"w\", \"h\"")) << W;
    EXPECT_NE(W["sizes"][0]["w"], W["sizes"][0]["h"]) << W;
  }
}

// A table of structs is the device's variable, whoever sets it.
TEST(DraftOfGiven, FillsTablesOfStructs) {
  json W = drafted(Runtime + R"(
__constant__ uchar4 palette[16];
__global__ void paint(uchar4 *out, const int *kind, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = palette[kind[i] % 16];
}
struct Painter {
  explicit Painter(int n) : n(n) {
    uchar4 colors[16];
    for (int i = 0; i < 16; i++)
      colors[i].x = rand() % 256;
    cudaMemcpyToSymbol(palette, colors, sizeof(colors));
    cudaMalloc((void **)&out, n * sizeof(uchar4));
    cudaMalloc((void **)&kind, n * sizeof(int));
  }
  void paintAll() { paint<<<(n + 63) / 64, 64>>>(out, kind, n); }
  int n, *kind;
  uchar4 *out;
};
int main() {
  Painter p(5000);
  p.paintAll();
})");
  EXPECT_EQ(W["symbols"]["palette"]["dtype"], "u8");
  EXPECT_EQ(W["symbols"]["palette"]["shape"], list("64"));
}

// After threads that may have left, what is written may not be.
TEST(DraftOfGiven, KeepsWhatIsLeftAlone) {
  const std::string Search = Runtime + R"(
__global__ void search(const char *text, const char *part, int n, int m,
                       int *found, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - m)
    return;
  for (int j = 0; j < m; j++)
    if (text[i + j] != part[j])
      return;
  found[i] = 1;
}
int main() {
  int n = 5000, m = 3, *found, *count;
  char *text, *part;
  cudaMalloc((void **)&text, n);
  cudaMalloc((void **)&part, m);
  cudaMalloc((void **)&found, n * sizeof(int));
  cudaMalloc((void **)&count, sizeof(int));
  search<<<(n + 255) / 256, 256>>>(text, part, n, m, found, count);
}
)";
  EXPECT_EQ(drafted(Search)["arguments"]["found"]["role"], "inout");
  EXPECT_EQ(drafted(R"(
__global__ void pick(const int *mask, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (!mask[i]) {
    out[i] = 0;
    return;
  }
  out[i] = 1;
})")["arguments"]["out"]["role"],
            "output");
  EXPECT_EQ(drafted(R"(
__global__ void pick(const int *mask, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = 0;
  if (!mask[i])
    return;
  out[i] = 1;
})")["arguments"]["out"]["role"],
            "output");
}

// Sizes of ours that a block's memory is made of fit into it.
TEST(DraftOfGiven, FitsIntoSharedMemory) {
  json W = drafted(R"(
__global__ void nearest(const double *points, const double *centers, int *to,
                        int n, int k, int d) {
  extern __shared__ double own[];
  for (int i = threadIdx.x; i < k * d; i += blockDim.x)
    own[i] = centers[i];
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n)
    to[p] = own[k * d - 1] > points[p * d + d - 1];
}
void run(const double *points, const double *centers, int *to, int n, int k,
         int d) {
  nearest<<<(n + 255) / 256, 256, 2 * k * d * sizeof(double)>>>(points, centers,
                                                                to, n, k, d);
})",
                   "nearest");
  int K = W["sizes"][0]["k"], D = W["sizes"][0]["d"];
  EXPECT_LE(16 * K * D, 227 * 1024) << W;
  EXPECT_GE(16 * K * D, 64 * 1024) << W;
  EXPECT_GE(W["sizes"][0]["n"], 1024) << W;
}
