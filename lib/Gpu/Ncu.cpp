//===- Ncu.cpp - Nsight Compute's ncu, over a child
//------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ncu.h"
#include "CudaTool.h"
#include "stark/Posix/File.h"

using namespace stark;
using namespace stark::gpu;

namespace {
/// Each kernel is run some twenty times, its memory restored in between.
constexpr uint64_t CallLimitMs = 120000, EndLimitMs = 60000,
                   ImportLimitMs = 60000;
constexpr size_t PageLimit = size_t(32) << 20, LogLimit = size_t(1) << 20;
/// Of the kernel that it is shown: gpu::poison().
constexpr std::string_view KnownKernel = "poison";

/// Those of PerfWorks that every GPU since Volta has.
constexpr const char *Metrics[] = {
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "dram__bytes.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__maximum_warps_per_active_cycle_pct",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_warps",
    "launch__registers_per_thread",
    "launch__waves_per_multiprocessor",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "smsp__inst_executed_op_local_ld.sum",
    "smsp__inst_executed_op_local_st.sum"};

std::string metricList() {
  std::string List;
  for (const char *Name : Metrics)
    List += (List.empty() ? "" : ",") + std::string(Name);
  for (const char *Reason : NcuStalls)
    List += "," + stallMetric(Reason);
  return List;
}

/// A known kernel comes first, and before each of \p Calls.
std::vector<std::string> commandFor(const std::string &Program, size_t Calls,
                                    const std::string &Texts,
                                    const std::string &Report,
                                    const std::string &Log) {
  return {Program,
          "--log-file",
          Log,
          "--export",
          Report,
          "--force-overwrite",
          "--target-processes",
          "application-only",
          "--profile-from-start",
          "off",
          "--launch-count",
          std::to_string(1 + Calls * (1 + MostProfiled)),
          "--clock-control",
          "none",
          "--import-source",
          "yes",
          "--source-folders",
          Texts,
          "--section", // samples of each line, by reason
          "SourceCounters",
          "--metrics",
          metricList()};
}

/// One page of \p Report; empty, with \p Error, when there is none.
std::string pageOf(const std::string &Program, const std::string &Report,
                   const std::vector<std::string> &Asked,
                   const std::string &Folder, Clock &Time, std::string &Error) {
  posix::ProcessSpec Spec;
  Spec.Program = Program;
  Spec.Arguments = {"--import", Report, "--csv", "--print-units", "base"};
  Spec.Arguments.insert(Spec.Arguments.end(), Asked.begin(), Asked.end());
  Spec.Environment = posix::environmentWithin(Folder);
  Spec.Environment->push_back("LC_ALL=C");
  Spec.TimeoutMs = ImportLimitMs;
  Spec.OutputLimit = PageLimit;
  posix::ProcessResult Got;
  if (posix::runProcess(Spec, Time, Got, Error) != posix::Ran::ToAnEnd)
    return "";
  if (!Got.ok()) {
    Error = errorIn(Got.Out + Got.Err);
    if (Error.empty())
      Error = Got.TimedOut ? "it did not read its report in time"
                           : "it could not read its report";
    return "";
  }
  return std::move(Got.Out);
}

/// How far the child came.
struct Course {
  std::string Failed; ///< empty: to its end
  bool Met = false;   ///< it has the device, and ncu was shown a kernel
};

Course follow(ChildProcess &Child, const Errand &Work,
              const std::vector<NcuCall> &Calls) {
  Course C;
  Request Hello, Load;
  Hello.Flags = Profiles;
  Load.What = Command::Load;
  std::vector<Request> All = {Load};
  for (const NcuCall &Call : Calls)
    All.insert(All.end(), {Call.Prepare, Call.Run});
  auto Answers = [&] {
    C.Failed = failureOf(Child.receive(CallLimitMs), Child, CallLimitMs);
    return C.Failed.empty();
  };
  Child.send(Hello);
  if (!Answers() || !Child.send(Work, Profiles, C.Failed) || !Answers())
    return C;
  C.Met = true;
  for (const Request &R : All) {
    sendWhole(Child, R);
    if (!Answers())
      return C;
  }
  if (!Child.finish(EndLimitMs))
    C.Failed =
        "it did not end within " + std::to_string(EndLimitMs / 1000) + " s";
  return C;
}
} // namespace

/// \p Launches begins with the known kernel.
static std::vector<std::vector<NcuLaunch>>
callsIn(std::vector<NcuLaunch> Launches) {
  std::vector<std::vector<NcuLaunch>> Calls;
  const NcuLaunch Known = Launches.front();
  Launches.erase(Launches.begin());
  for (NcuLaunch &L : Launches)
    if (L.Kernel == Known.Kernel && L.Grid == Known.Grid &&
        L.Block == Known.Block)
      Calls.emplace_back();
    else if (!Calls.empty())
      Calls.back().push_back(std::move(L));
  return Calls;
}

NcuPages gpu::runUnderNcu(const std::string &Program, const ChildSpec &Spec,
                          const Errand &Work, const std::vector<NcuCall> &Calls,
                          Clock &Time) {
  NcuPages Pages;
  ToolFolder Made("stark-ncu");
  auto Fail = [&](const std::string &Why, bool AtAll) {
    Pages.Failed = Why;
    Pages.AtAll = AtAll;
    return Pages;
  };
  if (Made.Path.empty())
    return Fail(Made.Error, true);
  std::string Report = Made.Path + "/report.ncu-rep", Log = Made.Path + "/log",
              Error;
  ChildSpec Own = Spec;
  Own.Under = commandFor(Program, Calls.size(), Work.Folder, Report, Log);
  // The child may write to the first, but not to where the report lies.
  std::string Scratch = Made.Path + "/scratch";
  if (!posix::createFolders(Scratch, Error))
    return Fail(Error, true);
  Own.Environment = {"TMPDIR=" + Scratch, "HOME=" + Made.Path};
  std::unique_ptr<ChildProcess> Child = ChildProcess::start(Own, Time, Error);
  if (!Child)
    return Fail(Error, true);
  Course C = follow(*Child, Work, Calls);
  std::string Ignored;
  std::string Complaint =
      errorIn(posix::readRegularFile(Log, LogLimit, Ignored).value_or(""));
  if (isOfPermission(Complaint))
    return Fail("this user may not read the GPU's counters: " + Complaint,
                true);
  if (!C.Failed.empty())
    return Fail(Complaint.empty() ? C.Failed : Complaint, !C.Met);
  std::string Raw =
      pageOf(Program, Report, {"--page", "raw"}, Made.Path, Time, Error);
  std::vector<NcuLaunch> Launches = launchesIn(Raw);
  if (Launches.empty() ||
      Launches.front().Kernel.find(KnownKernel) == std::string::npos)
    return Fail(!Complaint.empty() ? Complaint
                : !Error.empty()   ? Error
                                   : "it did not count a kernel that it was "
                                     "shown",
                true);
  Pages.Calls = callsIn(std::move(Launches));
  if (Pages.Calls.empty() || Pages.Calls.front().empty())
    return Fail("the call launched no kernel", false);
  Pages.Source = pageOf(Program, Report,
                        {"--page", "source", "--print-source", "cuda,sass"},
                        Made.Path, Time, Error);
  return Pages;
}
