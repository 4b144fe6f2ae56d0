//===- Sanitizer.cpp - compute-sanitizer, over a child -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sanitizer.h"
#include "CudaTool.h"
#include "SanitizerLog.h"
#include "stark/Posix/File.h"
#include <map>

using namespace stark;
using namespace stark::gpu;

namespace {
/// A tool takes some tens of times as long as the call does without it.
constexpr uint64_t CallLimitMs = 120000, EndLimitMs = 30000;

constexpr SanitizerTool AllTools[] = {{"memcheck", Fault::OutOfBounds},
                                      {"racecheck", Fault::Race},
                                      {"initcheck", Fault::Uninitialized},
                                      {"synccheck", Fault::Barrier}};

/// One tool and its child.
struct Party {
  SanitizerReport Report;
  std::unique_ptr<ChildProcess> Child;
  std::string Log; ///< path
};

std::vector<std::string> commandFor(const std::string &Program,
                                    const char *Tool, const std::string &Log) {
  return {Program,
          "--tool",
          Tool,
          "--log-file",
          Log,
          "--print-limit",
          "50",
          "--target-processes",
          "application-only",
          "--show-backtrace",
          "no"};
}

void receiveAll(std::vector<Party> &Parties) {
  for (Party &P : Parties)
    if (P.Report.Failed.empty())
      P.Report.Failed =
          failureOf(P.Child->receive(CallLimitMs), *P.Child, CallLimitMs);
}

/// Sends \p R to all that have not failed, then takes their answers.
void askAll(std::vector<Party> &Parties, const Request &R) {
  for (Party &P : Parties) {
    if (!P.Report.Failed.empty())
      continue;
    Request Own = R;
    if (R.What == Command::Fault)
      Own.Case = uint32_t(P.Report.Tool->Shown);
    sendWhole(*P.Child, Own);
  }
  receiveAll(Parties);
}

/// Has all take \p Work.
void giveAll(std::vector<Party> &Parties, const Errand &Work) {
  for (Party &P : Parties)
    if (P.Report.Failed.empty())
      P.Child->send(Work, 0, P.Report.Failed);
  receiveAll(Parties);
}

void conclude(Party &P) {
  if (!P.Child->finish(EndLimitMs) && P.Report.Failed.empty())
    P.Report.Failed =
        "it did not end within " + std::to_string(EndLimitMs / 1000) + " s";
  std::string Error;
  std::optional<std::string> Log = posix::readFile(P.Log, Error);
  if (!Log) {
    if (P.Report.Failed.empty())
      P.Report.Failed = "it wrote no log";
    return;
  }
  P.Report.Findings = findingsIn(*Log);
  // A kernel that it stopped fails, which is what it was stopped for.
  if (!P.Report.Findings.empty())
    P.Report.Failed.clear();
  else if (P.Report.Failed.empty())
    P.Report.Failed = complaintIn(*Log);
}
} // namespace

std::vector<SanitizerReport>
gpu::sanitize(const std::string &Program, const ChildSpec &Spec,
              const Errand &Work,
              const std::vector<const SanitizerTool *> &Tools,
              const std::vector<Request> &Calls, Clock &Time) {
  ToolFolder Logs("stark-sanitizer");
  std::string Error = Logs.Error;
  std::vector<Party> Parties(Tools.size());
  for (size_t I = 0; I < Tools.size(); ++I) {
    Party &P = Parties[I];
    P.Report.Tool = Tools[I];
    P.Report.Failed = Error;
    P.Log = Logs.Path + "/" + Tools[I]->Name;
    ChildSpec Own = Spec;
    Own.Under = commandFor(Program, Tools[I]->Name, P.Log);
    if (Error.empty())
      P.Child = ChildProcess::start(Own, Time, P.Report.Failed);
  }
  askAll(Parties, Request());
  giveAll(Parties, Work);
  Request Load;
  Load.What = Command::Load;
  if (Work.Library[0])
    askAll(Parties, Load);
  for (const Request &R : Calls)
    askAll(Parties, R);
  std::vector<SanitizerReport> Reports;
  for (Party &P : Parties) {
    if (P.Child)
      conclude(P);
    Reports.push_back(std::move(P.Report));
  }
  return Reports;
}

const std::vector<SanitizerReport> &
gpu::proveSanitizers(const std::string &Program, int Device, Clock &Time) {
  static std::map<std::pair<std::string, int>, std::vector<SanitizerReport>>
      Known;
  auto [Found, IsNew] = Known.try_emplace({Program, Device});
  if (!IsNew)
    return Found->second;
  ChildSpec Spec;
  Spec.Device = Device;
  Request R;
  R.What = Command::Fault;
  std::vector<const SanitizerTool *> All;
  for (const SanitizerTool &Tool : AllTools)
    All.push_back(&Tool);
  Found->second = sanitize(Program, Spec, Errand(), All, {R}, Time);
  for (SanitizerReport &Report : Found->second)
    if (Report.Findings.empty() && Report.Failed.empty())
      Report.Failed = "it did not find a fault that it was shown";
  return Found->second;
}
