//===- SlurmQueue.cpp - What Slurm is asked for ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlurmQueue.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/StringExtras.h"
#include <unistd.h>

using namespace stark;

/// Slurm's programs try for a while to reach its controller.
static constexpr uint64_t AnswerMs = 60000, CancelMs = 20000;
/// Of what Slurm said.
static constexpr size_t MostBytes = 600;

/// In one line, without the name of the program.
static std::string saidBy(llvm::StringRef Program, llvm::StringRef Text) {
  std::string Said;
  llvm::SmallVector<llvm::StringRef> Lines;
  Text.split(Lines, '\n');
  for (llvm::StringRef Line : Lines) {
    Line = Line.trim();
    Line.consume_front(Program);
    Line.consume_front(": ");
    Line.consume_front("error: ");
    if (!Line.empty())
      Said += (Said.empty() ? "" : "; ") + Line.str();
  }
  for (char &C : Said)
    C = llvm::isPrint(C) ? C : '?';
  return Said.substr(0, MostBytes);
}

/// One word of a shell's.
static std::string quoted(llvm::StringRef Word) {
  std::string Text = "'";
  for (char C : Word)
    Text += C == '\'' ? std::string("'\\''") : std::string(1, C);
  return Text + "'";
}

/// They are listed for a while after their end.
static bool hasEnded(llvm::StringRef State) {
  for (const char *End :
       {"COMPLETING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT",
        "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"})
    if (State == End)
      return true;
  return false;
}

namespace {
class Programs : public SlurmQueue {
public:
  Programs(SlurmJobs Asked, llvm::StringRef Folder, llvm::StringRef Worker)
      : Asked(std::move(Asked)), Folder(Folder), Worker(Worker),
        Name("stark-" + std::to_string(::getuid()) + "-" +
             sha256(Folder).substr(0, 12)) {}
  llvm::Expected<std::vector<SlurmQueue::Worker>> workers() override;
  llvm::Expected<std::string> submit(unsigned Count) override;
  llvm::Error cancel() override;

private:
  llvm::Expected<std::string> ask(ProcessSpec Spec) const;

  SlurmJobs Asked;
  std::string Folder, Worker;
  std::string Name; ///< of the jobs
};
} // namespace

/// What it printed.
llvm::Expected<std::string> Programs::ask(ProcessSpec Spec) const {
  llvm::Expected<ProcessResult> R = runProcess(Spec);
  if (!R)
    return R.takeError();
  if (R->TimedOut)
    return failed("slurm: " + Spec.Program + " did not end within " +
                  llvm::Twine(Spec.TimeoutMs / 1000) + " s");
  std::string Said = R->ok() ? "" : saidBy(Spec.Program, R->Err);
  if (!R->ok())
    return failed("slurm: " + Spec.Program + " failed" +
                  (Said.empty() ? ", and said nothing" : ": " + Said));
  return std::move(R->Out);
}

llvm::Expected<std::vector<SlurmQueue::Worker>> Programs::workers() {
  ProcessSpec Spec;
  Spec.Program = "squeue";
  Spec.Arguments = {"--noheader", "--array", "--name=" + Name,
                    "--states=CONFIGURING,PENDING,RUNNING,SUSPENDED",
                    "--format=%i|%T|%r"};
  Spec.TimeoutMs = AnswerMs;
  llvm::Expected<std::string> Out = ask(std::move(Spec));
  if (!Out)
    return Out.takeError();
  std::vector<SlurmQueue::Worker> Found;
  llvm::SmallVector<llvm::StringRef> Lines, Fields;
  llvm::StringRef(*Out).split(Lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef Line : Lines) {
    Fields.clear();
    Line.trim().split(Fields, '|', 2);
    if (Fields.size() != 3)
      return failed("slurm: squeue said '" + saidBy("squeue", Line) +
                    "', wanted a job, its state and a reason");
    if (!hasEnded(Fields[1]))
      Found.push_back(
          {Fields[0].str(), Fields[1].str(), saidBy("squeue", Fields[2])});
  }
  return Found;
}

llvm::Expected<std::string> Programs::submit(unsigned Count) {
  ProcessSpec Spec;
  Spec.Program = "sbatch";
  // A path may hold what stands for something in the name of an output.
  Spec.Arguments = {"--parsable",
                    "--array=0-" + std::to_string(Count - 1),
                    "--job-name=" + Name,
                    "--gres=" + Asked.Gres,
                    "--requeue",
                    "--open-mode=append",
                    "--chdir=" + Folder,
                    "--output=slurm/%A_%a.log",
                    "--wrap=exec " + quoted(Worker) + " --spool " +
                        quoted(Folder) + " --idle " +
                        std::to_string(Asked.IdleSeconds)};
  if (!Asked.Partition.empty())
    Spec.Arguments.push_back("--partition=" + Asked.Partition);
  Spec.TimeoutMs = AnswerMs;
  llvm::Expected<std::string> Out = ask(std::move(Spec));
  if (!Out)
    return Out.takeError();
  // "12", or "12;cluster", in the last line: a site's own sbatch may say more.
  llvm::StringRef Number = llvm::StringRef(*Out).trim();
  Number = Number.substr(Number.rfind('\n') + 1).split(';').first;
  if (Number.empty() || !llvm::all_of(Number, llvm::isDigit))
    return failed("slurm: sbatch said '" + saidBy("sbatch", *Out) +
                  "', wanted the number of a job");
  return Number.str();
}

llvm::Error Programs::cancel() {
  ProcessSpec Spec;
  Spec.Program = "scancel";
  Spec.Arguments = {"--name=" + Name};
  Spec.TimeoutMs = CancelMs;
  Spec.ClearsUp = true;
  return ask(std::move(Spec)).takeError();
}

llvm::Expected<std::unique_ptr<SlurmQueue>>
stark::makeSlurmQueue(const SlurmJobs &Asked, llvm::StringRef Folder,
                      llvm::StringRef Worker) {
  std::string Missing;
  for (const char *Program : {"sbatch", "squeue", "scancel"})
    if (findProgram(Program).empty())
      Missing += (Missing.empty() ? "" : ", ") + std::string(Program);
  if (!Missing.empty())
    return failed("slurm: not on PATH: " + Missing +
                  "; run it where jobs are submitted to Slurm");
  return std::make_unique<Programs>(Asked, Folder, Worker);
}
