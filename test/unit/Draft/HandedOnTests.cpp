//===- HandedOnTests.cpp - Sizes that come a long way, in drafts ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drafted.h"

using namespace stark;
using nlohmann::json;

static const char Sums[] = R"(
template <int Block> __global__ void sums(const float *x, float *out, int n) {
  __shared__ float s[Block];
  int t = threadIdx.x, i = blockIdx.x * Block + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int k = Block / 2; k > 0; k >>= 1) {
    if (t < k)
      s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}
)";

// A block that is a template's argument counts the elements of an array, where
// nothing but the launch does.
TEST(DraftOfHandedOn, CountsBlocksOfAHostTemplate) {
  json W = drafted(Sums + std::string(R"(
template <int Block = 512> void launch(const float *x, float *out, int n) {
  sums<Block><<<(n + Block - 1) / Block, Block>>>(x, out, n);
}
void run(const float *x, float *out, int n) { launch(x, out, n); }
)"),
                   "launch<512>");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\""));
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"ceildiv(n, 512)\""));
}

static const char Choice[] = R"(
void all(int size, int kind, int blocks, const float *x, float *out) {
  switch (kind) {
  case 512: sums<512><<<blocks, 512>>>(x, out, size); break;
  case 128: sums<128><<<blocks, 128>>>(x, out, size); break;
  }
}
)";

// What a switch chooses by is no size: at another one nothing would be
// launched.
TEST(DraftOfHandedOn, KeepsWhatASwitchChoosesBy) {
  json W = drafted(Sums + std::string(Choice) + R"(
int main() {
  int size = 1 << 22, most = 128, blocks = (size + most - 1) / most;
  float *x, *out;
  cudaMalloc(&x, size * sizeof(float));
  cudaMalloc(&out, blocks * sizeof(float));
  all(size, most, blocks, x, out);
})",
                   "all");
  EXPECT_EQ(W["arguments"]["kind"]["value"], 128);
  EXPECT_EQ(W["sizes"][0], json({{"size", 1 << 22}}));
  EXPECT_EQ(W["arguments"]["out"]["shape"], list("\"ceildiv(size, 128)\""));
}

// Where nobody gives it a value, it is the first that the switch knows.
TEST(DraftOfHandedOn, TakesAChoiceThatTheSwitchKnows) {
  json W = drafted(Sums + std::string(Choice), "all");
  EXPECT_EQ(W["arguments"]["kind"]["value"], 512);
}

// The fields of a struct of settings are sizes as variables are.
TEST(DraftOfHandedOn, NamesTheFieldsOfSettings) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i];
}
struct Settings {
  int count = 1 << 20;
  int side = 128;
};
int main() {
  Settings s;
  float *x, *y;
  cudaMalloc(&x, s.count * sizeof(float));
  cudaMalloc(&y, s.count * sizeof(float));
  k<<<(s.count + s.side - 1) / s.side, s.side>>>(x, y, s.count);
})");
  EXPECT_EQ(W["launch"]["block"], "128");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)");
  EXPECT_EQ(W["sizes"][0], json({{"n", 1 << 20}}));
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\""));
}

// "dim" is how long a row is, where nothing says how many sides there are.
TEST(DraftOfHandedOn, TakesADimensionForASize) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int dim) {
  for (int i = threadIdx.x; i < dim; i += blockDim.x)
    y[blockIdx.x * dim + i] = 2 * x[blockIdx.x * dim + i];
}
void run(const float *x, float *y, int batch, int dim) {
  k<<<batch, 256>>>(x, y, dim);
})");
  EXPECT_EQ(W["entry"], "run");
  EXPECT_EQ(W["arguments"]["dim"]["value"], "dim");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"batch\", \"dim\""));
}

// Whole tiles that a host function counts bound the sizes of it as well.
TEST(DraftOfHandedOn, CountsWholeTilesOfAnEntry) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y;
  y[i * n + j] = x[j * n + i];
}
void run(const float *x, float *y, int n) {
  k<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(x, y, n);
})");
  EXPECT_EQ(W["entry"], "run");
  EXPECT_EQ(W["multiple_of"], json({{"n", 32}}));
}

// A variable that another file defines no workload can set.
TEST(DraftOfHandedOn, SaysThatAVariableIsElsewhere) {
  json W = drafted(R"(
extern __device__ int count;
__global__ void k(float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    x[i] *= 2;
}
void run(float *x, int n) { k<<<(n + 255) / 256, 256>>>(x); })");
  EXPECT_EQ(W, "entry 'run' uses the variable 'count' of the device, which "
               "another file defines, so that no workload can set it; wanted "
               "its definition in '/draft.cu'");
}

// A pointer in what a parameter points to is named.
TEST(DraftOfHandedOn, SaysWhichFieldIsAPointer) {
  json W = drafted(R"(
struct Graph { int count; int *edges; };
__global__ void k(Graph *g, int *out) { out[threadIdx.x] = g->edges[threadIdx.x]; }
)",
                   "k");
  EXPECT_EQ(W, "entry 'k': parameter 'g' of type 'Graph *' cannot be given: it "
               "points to structs with a pointer, 'edges', which a function of "
               "your own has to fill (workload.md: A call of your own)");
}

// Of zeros a generator of random numbers would make the same number for ever,
// and it goes on from its state.
TEST(DraftOfHandedOn, DrawsStatesOfRandomNumbers) {
  json W = drafted(R"(
struct curandStateXORWOW { unsigned d, v[5]; int flag, more; float extra; double last; };
__device__ float curand_uniform(curandStateXORWOW *s);
__global__ void k(curandStateXORWOW *states, float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = curand_uniform(&states[i]);
}
int main() {
  int n = 4096;
  curandStateXORWOW *states;
  float *x;
  cudaMalloc(&states, n * sizeof(curandStateXORWOW));
  cudaMalloc(&x, n * sizeof(float));
  k<<<n / 256, 256>>>(states, x, n);
})");
  EXPECT_EQ(W["arguments"]["states"]["role"], "inout");
  EXPECT_EQ(W["arguments"]["states"]["shape"], list("\"n\", 48"));
  EXPECT_EQ(W["arguments"]["states"]["init"], json({{"uniform", {0, 256}}}));
}

// What a layer is made with follows into its arrays, those of constants
// included.
TEST(DraftOfHandedOn, NamesWhatAnObjectIsMadeWith) {
  json W = drafted(R"(
__global__ void k(const float *x, const float *w, float *y, int in, int out, int batch) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < batch && c < out) {
    float s = 0;
    for (int i = 0; i < in; ++i)
      s += x[r * in + i] * w[i * out + c];
    y[r * out + c] = s;
  }
}
class Layer {
  int in, out;
  float *w, *y;
public:
  Layer(int i, int o) : in(i), out(o) {
    cudaMalloc(&w, i * o * sizeof(float));
    cudaMalloc(&y, o * 64 * sizeof(float));
  }
  void forward(const float *x, int batch) {
    k<<<dim3((out + 15) / 16, (batch + 15) / 16), dim3(16, 16)>>>(x, w, y, in, out, batch);
  }
};
int main() {
  Layer l(784, 128);
  float *x;
  cudaMalloc(&x, 64 * 784 * 4);
  l.forward(x, 64);
})");
  EXPECT_EQ(W["sizes"][0], json({{"i", 784}, {"o", 128}, {"batch", 64}}));
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"i\", \"batch\""));
  EXPECT_EQ(W["arguments"]["w"]["shape"], list("\"i\", \"o\""));
  EXPECT_EQ(W["arguments"]["y"]["shape"], list("\"o\", \"batch\""));
}

// A length that the kernel is written with does not follow from the grid.
TEST(DraftOfHandedOn, KeepsALengthOfTheKernel) {
  json W = drafted(R"(
const int N = 1024, Side = 256;
__global__ void k(const float *x, float *y) {
  float t = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < N; i += blockDim.x * gridDim.x)
    t += x[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = t;
}
const int blocks = 32 < (N + Side - 1) / Side ? 32 : (N + Side - 1) / Side;
int main() {
  float *x, *y;
  cudaMalloc(&x, N * sizeof(float));
  cudaMalloc(&y, N * sizeof(float));
  k<<<blocks, Side>>>(x, y);
})");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("1024"));
}

// As many edges as the program likes: they are no constant of ours beside the
// rows.
TEST(DraftOfHandedOn, KeepsAsManyEdgesAsThereAre) {
  json W = drafted(R"(
__global__ void k(const int *rows, const int *edges, int *out, int count) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < count)
    for (int e = rows[v]; e < rows[v + 1]; ++e)
      out[edges[e]] = 1;
}
struct Graph { int count, links; };
void run(Graph g) {
  int *rows, *edges, *out;
  cudaMalloc(&rows, (g.count + 1) * sizeof(int));
  cudaMalloc(&edges, g.links * sizeof(int));
  cudaMalloc(&out, g.count * sizeof(int));
  k<<<(g.count + 255) / 256, 256>>>(rows, edges, out, g.count);
})",
                   "k");
  EXPECT_EQ(W["arguments"]["edges"]["shape"], list("\"links\""));
  EXPECT_EQ(W["arguments"]["rows"]["init"],
            json({{"arange", "links / count"}}));
}

// A grid and a block that an entry is given are what its kernel asks for.
TEST(DraftOfHandedOn, SettlesAGridAndABlockOfAnEntry) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < width && j < height)
    y[j * width + i] = 2 * x[j * width + i];
}
void run(dim3 grid, dim3 block, const float *x, float *y, int width, int height) {
  k<<<grid, block>>>(x, y, width, height);
})");
  EXPECT_EQ(W["entry"], "run");
  EXPECT_EQ(W["arguments"]["block.x"]["value"], 16);
  EXPECT_EQ(W["arguments"]["block.y"]["value"], 16);
  EXPECT_EQ(W["arguments"]["block.z"]["value"], 1);
  EXPECT_EQ(W["arguments"]["grid.x"]["value"], "ceildiv(width, 16)");
  EXPECT_EQ(W["arguments"]["grid.y"]["value"], "ceildiv(height, 16)");
  EXPECT_EQ(W["arguments"]["grid.z"]["value"], 1);
  EXPECT_EQ(W["sizes"][0], json({{"width", 1024}, {"height", 1024}}));
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"width\", \"height\""));
}

// Where nothing guards the last threads, ragged sizes would have them reach
// beyond the arrays.
TEST(DraftOfHandedOn, KeepsToSizesThatThreadsStayInside) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
int main() {
  int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, y, n);
})");
  EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 256)");
  EXPECT_EQ(W["multiple_of"], json({{"n", 256}}));
  EXPECT_EQ(W["sizes"][1]["n"].get<int>() % 256, 0);
}

// An exercise whose kernel has no body yet reaches nothing.
TEST(DraftOfHandedOn, TakesAKernelWithoutABody) {
  json W = drafted(R"(
__global__ void k(const float *x, float *y, int count) {}
int main() {
  int count = 4096;
  float *x, *y;
  cudaMalloc(&x, count * sizeof(float));
  cudaMalloc(&y, sizeof(float));
  k<<<(count + 255) / 256, 256>>>(x, y, count);
})");
  EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"count\""));
}

// A setting without which nothing happens is on; others are off.
TEST(DraftOfHandedOn, TurnsOnWhatEverythingWaitsFor) {
  json W = drafted(R"(
struct Tone { bool enable; bool invert; float gain; };
__global__ void tone(float *x, int n, float gain, bool invert) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = invert ? -x[i] * gain : x[i] * gain;
}
void run(float *x, int n, const Tone &t) {
  if (!t.enable)
    return;
  tone<<<(n + 255) / 256, 256>>>(x, n, t.gain, t.invert);
})");
  EXPECT_EQ(W["entry"], "run");
  EXPECT_EQ(W["arguments"]["t.enable"]["value"], 1);
  EXPECT_EQ(W["arguments"]["t.invert"]["value"], 0);
}

// A size that the host copies to a variable of the device is that size.
TEST(DraftOfHandedOn, SetsAVariableToASize) {
  json W = drafted(R"(
#define ROWS 360
#define COLS 180
__constant__ int rows, cols;
__global__ void k(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < cols)
    y[i * cols + j] = x[i * cols + j];
}
int main() {
  int r = ROWS, c = COLS;
  cudaMemcpyToSymbol(rows, &r, sizeof(int));
  cudaMemcpyToSymbol(cols, &c, sizeof(int));
  float *x, *y;
  cudaMalloc(&x, ROWS * COLS * sizeof(float));
  cudaMalloc(&y, ROWS * COLS * sizeof(float));
  k<<<dim3((ROWS + 15) / 16, (COLS + 15) / 16), dim3(16, 16)>>>(x, y);
})");
  EXPECT_EQ(W["symbols"]["rows"]["init"],
            json({{"integers", {"ROWS", "ROWS + 1"}}}));
  EXPECT_EQ(W["symbols"]["cols"]["init"],
            json({{"integers", {"COLS", "COLS + 1"}}}));
}

// A size that the program raises 2 to is not what it reads.
TEST(DraftOfHandedOn, ReadsExponentsOfSizes) {
  for (const char *Size :
       {"pow(2, atoi(argv[1]))", "1 << atoi(argv[1])", "1 << bits"}) {
    json W = drafted(R"(
extern "C" double pow(double, double);
extern "C" int atoi(const char *);
__global__ void k(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}
int main(int argc, char **argv) {
  int bits = atoi(argv[1]);
  int n = )" + std::string(Size) +
                     R"(;
  float *x;
  cudaMalloc(&x, n * sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, n);
})");
    EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 256)") << Size;
    EXPECT_EQ(W["arguments"]["x"]["shape"], list("\"n\"")) << Size;
  }
}

// 2 to a power of the program is a size, unless the entry is told the power.
TEST(DraftOfHandedOn, TakesPowersForSizes) {
  for (bool Told : {false, true}) {
    json W = drafted(std::string(R"(
__global__ void k(float *x, int n, int bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= bits;
}
int main() {
  int each[] = {16, 20};
  for (int i = 0; i < 2; ++i) {
    int bits = each[i];
    int n = 1 << bits;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    k<<<(n + 255) / 256, 256>>>(x, n, )") +
                     (Told ? "bits" : "3") + R"();
  }
})");
    EXPECT_EQ(W["sizes"][0], Told ? json::object() : json({{"n", 1 << 16}}));
  }
}

// A launch by a configuration, with its arguments one by one or in a table, is
// one as any other.
TEST(DraftOfHandedOn, TakesLaunchesByAConfiguration) {
  constexpr const char *Declared = R"(
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
};
template <class... A, class... B>
int cudaLaunchKernelEx(const cudaLaunchConfig_t *, void (*)(A...), B &&...);
int cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
__global__ void scale(float *a, int n) {
  extern __shared__ float held[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  held[threadIdx.x] = 2;
  if (i < n)
    a[i] *= held[threadIdx.x];
}
int main() {
  int n = 20000, threads = 128, blocks = (n + threads - 1) / threads;
  float *a;
  cudaMalloc(&a, n * sizeof(float));
  void *table[] = {&a, &n};
  cudaLaunchConfig_t c{};
)";
  for (const char *How :
       {"c.gridDim = dim3(blocks); c.blockDim = dim3(threads);"
        "c.dynamicSmemBytes = 512; cudaLaunchKernelEx(&c, scale, a, n);",
        "c.gridDim.x = blocks; c.blockDim.x = threads;"
        "c.dynamicSmemBytes = 512;"
        "cudaLaunchKernelExC(&c, (const void *)scale, table);",
        "c.gridDim = blocks; c.blockDim = threads; c.dynamicSmemBytes = 512;"
        "const cudaLaunchConfig_t *by = &c; cudaLaunchKernelEx(by, scale, a, "
        "n);",
        "cudaLaunchConfig_t d = {dim3(blocks), dim3(threads), 512};"
        "cudaLaunchKernelEx(&d, scale, a, n);"}) {
    json W = drafted(std::string(Declared) + How + "}");
    EXPECT_EQ(W["launch"]["grid"], "ceildiv(n, 128)") << How;
    EXPECT_EQ(W["launch"]["block"], "128") << How;
    EXPECT_EQ(W["sizes"][0]["n"], 20000) << How;
    EXPECT_EQ(W["launch"]["shared_bytes"], "512") << How;
  }
}
