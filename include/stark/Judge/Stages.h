//===- Stages.h - Where the time of a job goes ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   judge and runner, a scope a stage -> job::Result::Stages
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JUDGE_STAGES_H
#define STARK_JUDGE_STAGES_H

#include "stark/Job/Job.h"
#include "stark/Posix/Clock.h"
#include <utility>

namespace stark::judge {

/// Keeps the first job::MaxStages stages that end; those of one thread.
class Stages {
public:
  /// They begin now, by \p Time. Both outlive this.
  Stages(Clock &Time, std::vector<job::Stage> &Into)
      : Time(Time), Began(Time.now()), Into(Into) {}

  /// A stage from here to the end of the scope; of no list when \p Of is null.
  class Scope {
  public:
    Scope(Stages *Of, const char *Name, std::string Label = "")
        : Of(Of), Made{Name, std::move(Label), Of ? Of->now() : 0, 0} {}
    Scope(const Scope &) = delete;
    ~Scope() {
      if (!Of || Of->Into.size() >= job::MaxStages)
        return;
      Made.EndUs = Of->now();
      Of->Into.push_back(std::move(Made));
    }

  private:
    Stages *Of;
    job::Stage Made;
  };

private:
  uint64_t now() { return uint64_t(Time.microsecondsSince(Began)); }

  Clock &Time;
  const Clock::Time Began;
  std::vector<job::Stage> &Into;
};

} // namespace stark::judge

#endif
