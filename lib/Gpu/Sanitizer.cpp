//===- Sanitizer.cpp - compute-sanitizer, over a child -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sanitizer.h"
#include "SanitizerLog.h"
#include "stark/Posix/File.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <unistd.h>

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

/// Where the logs are; removed in the end.
class LogFolder {
public:
  LogFolder() {
    const char *Under = getenv("TMPDIR");
    std::string Name = std::string(Under && *Under ? Under : "/tmp") +
                       "/stark-sanitizer-XXXXXX";
    if (mkdtemp(Name.data()))
      Path = Name;
  }
  ~LogFolder() {
    std::error_code Ignored;
    if (!Path.empty())
      std::filesystem::remove_all(Path, Ignored);
  }
  std::string Path; ///< empty: there is none, with errno
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

/// What it did not do, in words; empty: it did.
std::string failureOf(const Answer &A, const ChildProcess &Child) {
  if (A.What == Answer::TimedOut)
    return "no answer within " + std::to_string(CallLimitMs / 1000) + " s";
  if (A.What == Answer::Closed)
    return Child.describeDeath();
  return A.R.What == Status::Ok ? "" : A.R.Text;
}

/// Sends \p R to all that have not failed, then takes their answers.
void askAll(std::vector<Party> &Parties, const Request &R) {
  for (Party &P : Parties) {
    if (!P.Report.Failed.empty())
      continue;
    Request Own = R;
    if (R.What == Command::Fault)
      Own.Case = uint32_t(P.Report.Tool->Shown);
    P.Child->send(Own);
    if (isCall(R.What)) {
      Request Then;
      Then.What = Command::Finish;
      P.Child->send(Then);
    }
  }
  for (Party &P : Parties)
    if (P.Report.Failed.empty())
      P.Report.Failed = failureOf(P.Child->receive(CallLimitMs), *P.Child);
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

std::string gpu::findSanitizer(const std::string &Asked) {
  if (!Asked.empty())
    return Asked == "none" ? "" : Asked;
  const char *Path = getenv("PATH");
  std::stringstream Folders(std::string(Path ? Path : "") +
                            ":/usr/local/cuda/bin");
  for (std::string Folder; std::getline(Folders, Folder, ':');)
    if (std::string File = Folder + "/compute-sanitizer";
        !Folder.empty() && access(File.c_str(), X_OK) == 0)
      return File;
  return "";
}

std::vector<SanitizerReport>
gpu::sanitize(const std::string &Program, const ChildSpec &Spec,
              const std::vector<const SanitizerTool *> &Tools,
              const std::vector<Request> &Calls, Clock &Time) {
  LogFolder Logs;
  std::string Error =
      Logs.Path.empty()
          ? std::string("cannot make a folder for logs: ") + strerror(errno)
          : "";
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
  Request Load;
  Load.What = Command::Load;
  if (!Spec.Library.empty())
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
  Found->second = sanitize(Program, Spec, All, {R}, Time);
  for (SanitizerReport &Report : Found->second)
    if (Report.Findings.empty() && Report.Failed.empty())
      Report.Failed = "it did not find a fault that it was shown";
  return Found->second;
}
