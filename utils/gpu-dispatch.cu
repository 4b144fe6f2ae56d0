//===- gpu-dispatch.cu - What a dispatching source does on a GPU ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of utils/gpu-dispatch, which says what it prints. Its argument is
// 1 when the code in it was proved for this GPU, 0 when not.
//
//===----------------------------------------------------------------------===//

#include STARK_GENERATED
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define RUNS JOIN(stark_runs_, STARK_SUFFIX)
#define WINNER JOIN(launch_softmax_stark_, STARK_SUFFIX)

static void check(cudaError_t E, const char *What) {
  if (E == cudaSuccess)
    return;
  std::printf("%s: %s\n", What, cudaGetErrorString(E));
  std::exit(1);
}

/// The kernels that a call launches, by the number of nodes and the first
/// kernel's function in the graph that it is captured into.
static std::vector<void *> kernelsOf(void (*Launch)(const float *, float *, int, int, cudaStream_t), const float *X,
                                     float *Y, int Rows, int Columns) {
  cudaStream_t Stream;
  cudaGraph_t Graph;
  check(cudaStreamCreate(&Stream), "stream");
  check(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal), "capture");
  Launch(X, Y, Rows, Columns, Stream);
  check(cudaStreamEndCapture(Stream, &Graph), "end of capture");
  size_t Count = 0;
  check(cudaGraphGetNodes(Graph, nullptr, &Count), "nodes");
  std::vector<cudaGraphNode_t> Nodes(Count);
  check(cudaGraphGetNodes(Graph, Nodes.data(), &Count), "nodes");
  std::vector<void *> Kernels;
  for (cudaGraphNode_t N : Nodes) {
    cudaGraphNodeType Type;
    check(cudaGraphNodeGetType(N, &Type), "type");
    cudaKernelNodeParams Parameters;
    if (Type != cudaGraphNodeTypeKernel)
      continue;
    check(cudaGraphKernelNodeGetParams(N, &Parameters), "parameters");
    Kernels.push_back(Parameters.func);
  }
  cudaGraphDestroy(Graph);
  cudaStreamDestroy(Stream);
  return Kernels;
}

template <class F> static double nanosecondsOf(F Call) {
  constexpr int Calls = 1000000;
  double Least = 1e30;
  for (int Round = 0; Round < 5; ++Round) {
    auto Start = std::chrono::steady_clock::now();
    for (int I = 0; I < Calls; ++I)
      Call();
    std::chrono::duration<double, std::nano> Took = std::chrono::steady_clock::now() - Start;
    Least = std::min(Least, Took.count() / Calls);
  }
  return Least;
}

int main(int Argc, char **Argv) {
  bool Wanted = Argc > 1 && std::atoi(Argv[1]);
  const size_t Most = size_t(4096) * 32768;
  float *X, *Y, *Z;
  check(cudaMalloc(&X, (Most + 64) * 4), "x");
  check(cudaMalloc(&Y, (Most + 64) * 4), "y");
  check(cudaMalloc(&Z, (Most + 64) * 4), "z");
  std::vector<float> Host(Most + 64);
  unsigned State = 1;
  for (float &V : Host)
    V = float((State = State * 1664525u + 1013904223u) >> 8) / (1 << 22) - 2;
  check(cudaMemcpy(X, Host.data(), Host.size() * 4, cudaMemcpyHostToDevice), "copy");
  bool Good = RUNS() == Wanted;
  std::printf("the winner's code runs here: %s, wanted %s\n", RUNS() ? "yes" : "no", Wanted ? "yes" : "no");

  // Proved sizes, others, and proved ones with a pointer that is less aligned.
  struct { int Rows, Columns; size_t Shift; bool Proved; } Sizes[] = {
      {4096, 32768, 0, true}, {16384, 1024, 0, true}, {77, 1000, 0, true}, {3, 32771, 0, true},
      {4096, 32767, 0, false}, {16384, 1023, 0, false}, {1, 1, 0, false}, {16384, 1024, 4, false}};
  for (auto &S : Sizes) {
    size_t Count = size_t(S.Rows) * S.Columns;
    const float *From = X + S.Shift;
    check(cudaMemset(Y, 0xff, Count * 4), "poison");
    launch_softmax_stark_source(From, Z, S.Rows, S.Columns, nullptr);
    launch_softmax(From, Y, S.Rows, S.Columns, nullptr);
    check(cudaDeviceSynchronize(), "run");
    std::vector<float> Got(Count), Right(Count);
    check(cudaMemcpy(Got.data(), Y, Count * 4, cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(Right.data(), Z, Count * 4, cudaMemcpyDeviceToHost), "copy");
    double Worst = 0;
    bool Finite = true;
    for (size_t I = 0; I < Count; ++I) {
      Finite &= std::isfinite(Got[I]);
      Worst = std::max(Worst, std::fabs(double(Got[I]) - Right[I]) / (std::fabs(double(Right[I])) + 1.0 / S.Columns));
    }
    bool Equal = Finite && Worst < 1e-4;
    auto Taken = kernelsOf(launch_softmax, From, Y, S.Rows, S.Columns);
    bool Should = Wanted && S.Proved;
    bool Right2 = Taken == kernelsOf(Should ? WINNER : launch_softmax_stark_source, From, Y, S.Rows, S.Columns);
    std::printf("%5d x %5d%s: %s taken, wanted %s; results %s (worst difference %.1e)\n", S.Rows, S.Columns,
                S.Shift ? " shifted" : "", Right2 == Should ? "winner" : "source", Should ? "winner" : "source",
                Equal ? "equal" : "DIFFER", Worst);
    Good &= Equal && Right2;
  }

  // Every device, and from several threads at once.
  int Devices = 0;
  check(cudaGetDeviceCount(&Devices), "devices");
  std::vector<std::thread> Threads;
  std::vector<int> Said(8 * Devices, -1);
  for (size_t T = 0; T < Said.size(); ++T)
    Threads.emplace_back([&, T] { cudaSetDevice(int(T) % Devices); Said[T] = RUNS(); });
  for (std::thread &T : Threads)
    T.join();
  for (int S : Said)
    Good &= S == int(Wanted);
  std::printf("%d devices, %zu threads agree: %s\n", Devices, Said.size(), Good ? "yes" : "see above");

  // What choosing costs: the condition alone, with nothing launched.
  volatile bool Sink = false;
  double Runs = nanosecondsOf([&] { Sink = RUNS(); });
  std::printf("asking whether the winner's code runs: %.1f ns a call (least of 5 rounds of 1e6)\n", Runs);
  auto Launched = [&](auto Launch) {
    double Least = 1e30;
    for (int Round = 0; Round < 9; ++Round) {
      constexpr int Calls = 20000;
      check(cudaDeviceSynchronize(), "wait");
      double Total = 0;
      for (int I = 0; I < Calls; I += 500) {
        auto Start = std::chrono::steady_clock::now();
        for (int J = 0; J < 500; ++J)
          Launch(X, Y, 77, 1000, nullptr);
        Total += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - Start).count();
        check(cudaDeviceSynchronize(), "wait");
      }
      Least = std::min(Least, Total / Calls);
    }
    return Least;
  };
  double Direct = Launched(Wanted ? WINNER : launch_softmax_stark_source), Chosen = Launched(launch_softmax);
  std::printf("a call: %.0f ns without choosing, %.0f ns with it: %.0f ns (least of 9 rounds of 20000)\n", Direct, Chosen,
              Chosen - Direct);
  Good &= Chosen - Direct < 1000;
  std::printf("%s\n", Good ? "ok" : "FAILED");
  return Good ? 0 : 1;
}
