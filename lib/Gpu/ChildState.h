//===- ChildState.h - What a child knows and does -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a request -> what the child does with its device, job and library -> reply
///
//===----------------------------------------------------------------------===//

#ifndef STARK_GPU_CHILDSTATE_H
#define STARK_GPU_CHILDSTATE_H

#include "Buffers.h"
#include "Cupti.h"
#include "EntryLibrary.h"
#include "Measure.h"
#include "SealedPages.h"
#include "stark/Gpu/Child.h"
#include <optional>

namespace stark::gpu {

class Child {
public:
  /// \p Pages: where this object lies, and the requests, and \p Hidden.
  Child(const ChildOptions &Options, const SealedPages &Pages,
        std::pmr::monotonic_buffer_resource &Hidden)
      : Options(Options), Pages(Pages), Hidden(Hidden) {}
  void answer(const Request &R, Reply &Out);

private:
  void hello(const Request &R, Reply &Out);
  void take(const Request &R, Reply &Out);
  std::string readJob();
  void lockDown(const Request &R);
  void rest();
  void load(Reply &Out);
  void prepare(const Request &R, Reply &Out);
  void run(const Request &R, Reply &Out);
  void runBare(const Request &R, Reply &Out);
  std::string standStill(cudaStream_t Stream);
  std::string startClock(const Request &R, cudaStream_t Stream);
  bool getReady(const Request &R, bool Watched, cudaStream_t Stream,
                Reply &Out);
  void sample(const Request &R, Reply &Out);
  void warm(const Request &R, Reply &Out);
  bool callTraced(cudaStream_t Stream, Reply &Out);
  void tellSpan(Reply &Out);
  void describeWork(const Request &R, Reply &Out) const;
  uint64_t addressSpace() const;
  void exportOutputs(const Request &R, Reply &Out);
  bool call(EntryLibrary::Entry Function, cudaStream_t Stream, Reply &Out);
  bool finish();
  bool prepareTensors(cudaStream_t Stream, Reply &Out);
  bool collect(cudaStream_t Stream, Reply &Out);
  bool hadProblem(Status What, const std::string &Name, Reply &Out);
  cudaStream_t freshStream();
  void endStream(cudaStream_t Stream);

  ChildOptions Options;
  const SealedPages &Pages;
  std::pmr::monotonic_buffer_resource &Hidden;
  Request Then; ///< that of Finish
  bool Finished = false, Warming = false;
  bool SourceSeen = false; ///< which streams it works on
  int OwnSize = -1; ///< /proc/self/statm, which cannot be opened any more
  DeviceFacts Facts;
  ErrandRecord Work;
  job::Job J;
  bool TakesStream = false;
  char *Shared = nullptr; ///< of Work.SharedBytes
  bool Pinned = false;    ///< Shared, or that was tried
  EntryLibrary Code;
  std::optional<Buffers> Arguments;
  std::optional<Stopwatch> Watch;
  TwoAddresses Guard;           ///< for inputs that a candidate could write to
  std::vector<DeviceWork> Done; ///< for the last timed call, where CUPTI is
};

void say(Reply &Out, Status What, const std::string &Text);
/// What went wrong is the harness's.
void harness(Reply &Out, const std::string &Text);
/// The same where \p Problem is not empty.
void note(const std::string &Problem, Reply &Out);

} // namespace stark::gpu

#endif
