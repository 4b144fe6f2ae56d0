//===- SearchFixture.h - A model and a judge of a few lines each ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_TEST_UNIT_SEARCH_SEARCHFIXTURE_H
#define STARK_TEST_UNIT_SEARCH_SEARCHFIXTURE_H

#include "Trees.h"
#include "stark/Agent/RulesTeam.h"
#include "stark/Search/Search.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "gtest/gtest.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace stark {

inline const char Source[] = R"(
__global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}
void launch(const float *x, float *y, int n, cudaStream_t s) {
  scale<<<(n + 255) / 256, 256, 0, s>>>(x, y, n);
}
)";
/// The same with numbers that may be others.
inline const char TunableSource[] = R"(
constexpr int kBlock = 64;
__global__ void scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}
void launch(const float *x, float *y, int n, cudaStream_t s) {
  scale<<<(n + kBlock - 1) / kBlock, kBlock, 0, s>>>(x, y, n);
}
)";
inline const char WorkloadText[] = R"({"entry": "launch", "sizes": [{"n": 64}],
  "arguments": {"x": {"dtype": "f32", "shape": ["n"]},
                "y": {"dtype": "f32", "shape": ["n"], "role": "output"},
                "n": {"value": "n"}}})";

inline const char Plan[] = R"(## Advice

Do it faster.

```json
{"title": "faster", "sites": ["scale"]}
```
)";

/// A code reply whose kernel computes \p Value.
inline std::string kernel(const std::string &Value) {
  return "```cuda anchor 1\n"
         "__global__ void scale(const float *x, float *y, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n)\n    y[i] = " +
         Value + ";\n}\n```\n";
}

/// Counts how many calls are under way at a time.
struct Gauge {
  std::atomic<int> Now = 0, Most = 0;
  std::atomic<unsigned> DelayMs = 0;
  /// The first calls wait until so many are under way, or for a minute.
  int Together = 0;
  std::mutex Lock;
  std::condition_variable Met;
  struct Call {
    Gauge &G;
    explicit Call(Gauge &G) : G(G) {
      int N = ++G.Now;
      for (int M = G.Most; N > M && !G.Most.compare_exchange_weak(M, N);)
        ;
      std::unique_lock<std::mutex> Held(G.Lock);
      G.Met.notify_all();
      G.Met.wait_for(Held, std::chrono::minutes(1),
                     [&] { return G.Most >= G.Together; });
      Held.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(G.DelayMs));
    }
    ~Call() { --G.Now; }
  };
};

struct FakeModel : ChatClient {
  std::mutex Lock;
  Gauge Calls;
  /// By request id; "code" and "debug" stand for every request of the role.
  std::map<std::string, std::string> Answers;
  std::vector<std::string> Asked;
  int SuspendAfter = 1000;

  llvm::Expected<ChatReply> complete(const ChatRequest &R,
                                     const CallControl &) override {
    Gauge::Call Counted(Calls);
    std::lock_guard<std::mutex> Held(Lock);
    if (SuspendAfter-- == 0)
      return suspended("no answer yet");
    Asked.push_back(R.Id);
    ChatReply Reply;
    auto Found = Answers.find(R.Id);
    if (Found == Answers.end())
      Found = Answers.find(R.Role);
    Reply.Text = Found != Answers.end() ? Found->second
                 : R.Role == "plan"
                     ? Plan
                     : kernel("x[i] * 2.0f + 0.0f * " + R.Id.substr(0, 4));
    return Reply;
  }
  std::string identity() const override { return "fake"; }
};

struct FakeJudge : Evaluator {
  std::map<unsigned, Verdict> Of, Confirmed; ///< by node; else 50 us
  std::vector<unsigned> Judged;
  std::set<uint64_t> Seeds;
  int SuspendAfter = 1000;
  Gauge Calls;

  llvm::Expected<Verdict> evaluate(const Candidate &C) override {
    Gauge::Call Counted(Calls);
    if (SuspendAfter-- == 0)
      return suspended("no result yet");
    Judged.push_back(C.Node);
    Seeds.insert(C.Seed);
    auto &Known = C.Why == Purpose::Confirm ? Confirmed : Of;
    if (auto Found = Known.find(C.Node); Found != Known.end())
      return Found->second;
    return correctIn(C.Node == 0 ? 100 : 50);
  }
  void begin(const Candidate &C) override {
    std::lock_guard<std::mutex> Held(Lock);
    Begun[C.Text] = C.Seed;
  }
  std::string identity() const override { return "fake"; }
  std::mutex Lock;
  std::map<std::string, uint64_t> Begun; ///< seeds, by text
};

/// Those of this repository.
PromptSet ownPrompts();

struct SearchTest : testing::Test {
  TemporaryFolder Folder = llvm::cantFail(TemporaryFolder::create("search"));
  std::string Run = Folder.path().str() + "/run";
  Task T;
  PromptSet Prompts = ownPrompts();
  FakeModel Model;
  FakeJudge Judge;
  SearchOptions Options;
  SearchSetup Setup = setupWith(Model);
  SearchObserver Observer;

  SearchTest() {
    take(Source);
    Options.Policy.Epsilon = 0;
    Options.Attempts = 2;
  }
  /// Searches from \p Text.
  void take(llvm::StringRef Text) {
    std::string File = Folder.path().str() + "/scale.cu";
    llvm::cantFail(writeFileAtomically(File, Text));
    llvm::cantFail(writeFileAtomically(File + ".json", WorkloadText));
    ParseOptions Parse;
    Parse.Toolkit = "none";
    T = llvm::cantFail(loadTask(File, File + ".json", Parse));
  }
  SearchSetup setupWith(ChatClient &Chat) {
    return {T, Prompts, Chat, Judge,
            teamFor(Chat.identity(), Prompts, Temperatures(), /*Seed=*/1)};
  }
  llvm::Expected<SearchOutcome> search() {
    return runSearch(Setup, Options, Run, Observer);
  }
  SearchOutcome outcome() { return llvm::cantFail(search()); }
  std::string problem() {
    auto Result = search();
    return Result ? "" : llvm::toString(Result.takeError());
  }
  std::string journal() {
    return llvm::cantFail(readFile(Run + "/journal.jsonl"));
  }
};
} // namespace stark

#endif
