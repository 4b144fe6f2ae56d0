//===- EventLog.cpp - A search as it goes on, for programs ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/EventLog.h"
#include "stark/Report/Progress.h"
#include "stark/Report/SearchProgress.h"
#include "stark/Support/Error.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

static constexpr unsigned Version = 1;

namespace {
class FileLog : public EventLog {
public:
  FileLog(std::unique_ptr<llvm::raw_fd_ostream> OS, Clock &Time,
          std::function<void(llvm::StringRef)> Note)
      : OS(std::move(OS)), Time(Time), Began(Time.now()),
        Note(std::move(Note)) {}
  ~FileLog() override { OS->clear_error(); }

  void onBegin(const RunIdentity &Run) override;
  void onSelect(unsigned Attempt, const Selection &S, const Tree &T,
                const std::vector<ShownTo> &Shown, bool Recorded) override;
  void onStep(unsigned Attempt, const SearchStep &Step) override;
  void onReply(unsigned Attempt, llvm::StringRef Request, const ChatReply &R,
               bool Recorded) override;
  void onNode(unsigned Attempt, const Node &N, const Tree &T,
              bool Recorded) override;
  void onNote(llvm::StringRef Text) override {
    write("note", {{"text", Text.str()}});
  }
  void onEnd(const SearchOutcome &Outcome) override;
  void stopped(llvm::StringRef Why, int ExitCode) override {
    write("stopped", {{"why", Why.str()}, {"exit_code", ExitCode}});
  }

private:
  void write(const char *Event, json Fields);

  std::unique_ptr<llvm::raw_fd_ostream> OS;
  Clock &Time;
  const Clock::Time Began;
  std::function<void(llvm::StringRef)> Note;
  bool Full = false; ///< it takes no more
  double BestUs = std::numeric_limits<double>::infinity();
};
} // namespace

void FileLog::write(const char *Event, json Fields) {
  if (Full)
    return;
  Fields["event"] = Event;
  Fields["t_ms"] = Time.millisecondsSince(Began);
  *OS << Fields.dump(-1, ' ', /*ensure_ascii=*/true,
                     json::error_handler_t::replace)
      << "\n";
  OS->flush();
  if (!OS->has_error())
    return;
  Full = true;
  Note("events are no longer written: " + OS->error().message());
  OS->clear_error();
}

void FileLog::onBegin(const RunIdentity &Run) {
  write("begin", {{"version", Version},
                  {"task", Run.TaskName},
                  {"entry", Run.Entry},
                  {"provider", Run.Provider},
                  {"evaluator", Run.Evaluator},
                  {"arch", Run.Arch},
                  {"attempts", Run.Options.Attempts},
                  {"jobs", Run.Options.Jobs},
                  {"seed", Run.Options.Seed}});
}

void FileLog::onSelect(unsigned Attempt, const Selection &S, const Tree &,
                       const std::vector<ShownTo> &, bool Recorded) {
  write("select", {{"attempt", Attempt},
                   {"node", S.Node},
                   {"reason", S.Reason},
                   {"recorded", Recorded}});
}

void FileLog::onStep(unsigned Attempt, const SearchStep &Step) {
  json J = {{"does", nameOf(Step.Does)}};
  if (Step.Does != SearchStep::Kind::Confirm)
    J["attempt"] = Attempt;
  if (Step.Does == SearchStep::Kind::Ask)
    J["request"] = Step.Request;
  else if (Step.Does != SearchStep::Kind::Queue)
    J["node"] = Step.Node;
  write("step", std::move(J));
}

void FileLog::onReply(unsigned Attempt, llvm::StringRef Request,
                      const ChatReply &R, bool Recorded) {
  json J = {{"attempt", Attempt},
            {"request", Request.str()},
            {"role", roleOf(Request).str()},
            {"model", R.Model},
            {"wall_ms", R.WallMs},
            {"recorded", Recorded}};
  const Usage &U = R.Tokens;
  if (U.Input)
    J["input_tokens"] =
        *U.Input + U.CacheRead.value_or(0) + U.CacheWrite.value_or(0);
  if (U.Output)
    J["output_tokens"] = *U.Output;
  if (R.CostMicroUsd)
    J["cost_micro_usd"] = *R.CostMicroUsd;
  write("reply", std::move(J));
}

void FileLog::onNode(unsigned Attempt, const Node &N, const Tree &,
                     bool Recorded) {
  json J = {{"attempt", Attempt},     {"node", N.Number},
            {"parent", N.Parent},     {"verdict", nameOf(N.Found.Kind)},
            {"title", N.Given.Title}, {"recorded", Recorded}};
  if (N.SameAs >= 0)
    J["same_as"] = N.SameAs;
  if (std::string Why = whyNot(N.Found); !Why.empty())
    J["why"] = Why;
  if (N.Found.correct() && !N.Found.Timings.empty()) {
    J["score_us"] = N.scoreUs();
    J["speedup"] = N.Found.speedup();
    J["speedup_low"] = N.Found.speedupLow();
    J["speedup_high"] = N.Found.speedupHigh();
    J["modelled"] = N.Found.Modelled;
    if (std::optional<double> Share = floorShare(N.Found))
      J["floor_share"] = *Share;
  }
  bool Best = N.Number && !N.hasBug() && N.SameAs < 0 && N.scoreUs() < BestUs;
  if (Best)
    BestUs = N.scoreUs();
  J["best"] = Best;
  write("node", std::move(J));
}

void FileLog::onEnd(const SearchOutcome &Outcome) {
  write("end",
        {{"winner", Outcome.Winner < 0 ? json(nullptr) : json(Outcome.Winner)},
         {"why", Outcome.Ended.Why},
         {"ended_by", nameOf(Outcome.Ended.By)}});
}

llvm::Expected<std::unique_ptr<EventLog>>
EventLog::create(llvm::StringRef File, Clock &Time,
                 std::function<void(llvm::StringRef)> Note) {
  std::error_code Problem;
  auto OS = std::make_unique<llvm::raw_fd_ostream>(File, Problem);
  if (Problem) {
    OS->clear_error();
    return failed(File + ": cannot be written: " + Problem.message());
  }
  return std::make_unique<FileLog>(std::move(OS), Time, std::move(Note));
}
