//===- Workers.cpp - A worker for each GPU of a machine ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Gpu/Workers.h"
#include "stark/Posix/Clock.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Posix/Process.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <unistd.h>

using namespace stark;
using namespace stark::gpu;

namespace {
constexpr std::chrono::milliseconds LookEvery(50);
/// In a row, and how long after each; a job is lost with each.
constexpr unsigned MostRestarts = 5;
constexpr uint64_t RestartAfterMs = 500;
/// One that has worked for so long has not died at once.
constexpr uint64_t WorkedMs = 60000;

std::vector<std::string> split(const std::string &List) {
  std::vector<std::string> Parts;
  std::stringstream In(List);
  for (std::string Part; std::getline(In, Part, ',');)
    if (!Part.empty())
      Parts.push_back(Part);
  return Parts;
}

std::optional<unsigned> wholeNumber(const std::string &Text) {
  if (Text.empty() || Text.size() > 4 ||
      Text.find_first_not_of("0123456789") != Text.npos)
    return std::nullopt;
  return unsigned(std::strtoul(Text.c_str(), nullptr, 10));
}

/// One GPU's.
struct Worker {
  std::string Gpu;
  std::optional<posix::ChildGroup> Group;
  Clock::Time Begun, Again; ///< when it is started again
  unsigned Restarts = 0;    ///< in a row
  bool Done = false, Failed = false;
};

class Workers {
public:
  Workers(const WorkersOptions &Options, Clock &Time)
      : Options(Options), Time(Time) {
    for (const std::string &Gpu : Options.Gpus)
      All.push_back({Gpu, std::nullopt, Time.now(), Time.now()});
  }
  bool run(std::string &Error);

private:
  void start(Worker &W);
  void look(Worker &W);

  const WorkersOptions &Options;
  Clock &Time;
  std::vector<Worker> All;
};
} // namespace

std::vector<std::string> gpu::chooseGpus(const std::string &Asked,
                                         const std::string &Visible,
                                         unsigned Count, std::string &Error) {
  std::vector<std::string> Known = split(Visible);
  for (unsigned I = 0; Visible.empty() && I < Count; ++I)
    Known.push_back(std::to_string(I));
  std::string Have = std::to_string(Known.size()) + " GPUs are visible";
  if (Asked == "all" && !Known.empty())
    return Known;
  if (std::optional<unsigned> First = wholeNumber(Asked)) {
    if (*First >= 1 && *First <= Known.size())
      return {Known.begin(), Known.begin() + *First};
    Error = "--gpus got " + Asked + ", but " + Have;
    return {};
  }
  std::vector<std::string> Chosen;
  for (const std::string &Place : split(Asked)) {
    std::optional<unsigned> At = wholeNumber(Place);
    if (!At || *At >= Known.size()) {
      Error = "--gpus got '" + Place + "', but " + Have +
              "; wanted all, a number of GPUs, or places from 0, as 0,2";
      return {};
    }
    if (std::count(Chosen.begin(), Chosen.end(), Known[*At])) {
      Error = "--gpus got " + Place + " twice";
      return {};
    }
    Chosen.push_back(Known[*At]);
  }
  if (Chosen.empty())
    Error = "--gpus got '" + Asked + "', but " + Have;
  return Chosen;
}

void Workers::start(Worker &W) {
  // Everything that allocates is done before the fork.
  std::vector<std::string> Words = {Options.Program};
  Words.insert(Words.end(), Options.Arguments.begin(), Options.Arguments.end());
  std::vector<std::string> Environment = {"CUDA_VISIBLE_DEVICES=" + W.Gpu};
  for (char **E = environ; *E; ++E)
    if (std::strncmp(*E, "CUDA_VISIBLE_DEVICES=", 21) != 0)
      Environment.push_back(*E);
  auto PointersTo = [](std::vector<std::string> &Texts) {
    std::vector<char *> Pointers;
    for (std::string &T : Texts)
      Pointers.push_back(T.data());
    Pointers.push_back(nullptr);
    return Pointers;
  };
  std::vector<char *> Argv = PointersTo(Words), Envp = PointersTo(Environment);
  W.Begun = Time.now();
  W.Group = posix::ChildGroup::start(posix::ChildGroup::Ties::WithParent, [&] {
    execve(Argv[0], Argv.data(), Envp.data());
  });
  if (!W.Group)
    W.Done = W.Failed = true;
}

void Workers::look(Worker &W) {
  if (!W.Group) {
    if (Time.now() >= W.Again)
      start(W);
    return;
  }
  if (!W.Group->ended())
    return;
  posix::ExitStatus How = W.Group->status();
  W.Group.reset();
  if (!How.Signal) {
    W.Done = true;
    W.Failed = How.ExitCode != 0;
    return;
  }
  std::string Died = "the worker of GPU " + W.Gpu + " was ended by a signal (" +
                     strsignal(How.Signal) + ")";
  if (Time.millisecondsSince(W.Begun) >= WorkedMs)
    W.Restarts = 0;
  if (W.Restarts++ == MostRestarts) {
    Options.Warn(Died + " " + std::to_string(MostRestarts + 1) +
                 " times in a row; it is not started again");
    W.Done = W.Failed = true;
    return;
  }
  Options.Warn(Died + "; it is started again");
  W.Again = Time.now() + std::chrono::milliseconds(RestartAfterMs);
}

bool Workers::run(std::string &Error) {
  while (!interruptFlag()) {
    for (Worker &W : All)
      if (!W.Done)
        look(W);
    if (std::all_of(All.begin(), All.end(),
                    [](const Worker &W) { return W.Done; }))
      break;
    Time.sleep(LookEvery);
  }
  for (Worker &W : All) {
    if (W.Group)
      W.Group->kill();
    if (W.Failed)
      Error += (Error.empty() ? "the worker of GPU " : ", of GPU ") + W.Gpu;
  }
  if (!Error.empty())
    Error += " failed";
  return Error.empty();
}

bool gpu::runWorkers(const WorkersOptions &Options, Clock &Time,
                     std::string &Error) {
  return Workers(Options, Time).run(Error);
}
