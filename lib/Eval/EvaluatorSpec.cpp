//===- EvaluatorSpec.cpp - Who is to judge -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/EvaluatorSpec.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/SmallVector.h"

using namespace stark;

static constexpr const char *DefaultGpu = "h200";

/// Whether \p Text is a number of this range.
static bool readNumber(llvm::StringRef Text, unsigned Least, unsigned Most,
                       unsigned &Into) {
  return !Text.getAsInteger(10, Into) && Into >= Least && Into <= Most;
}

/// "", "PARTITION", "PARTITION,folder=DIR,workers=4".
static llvm::Expected<EvaluatorSpec> parseSlurm(llvm::StringRef Text) {
  EvaluatorSpec Spec{EvaluatorSpec::Kind::Slurm, "", {}};
  SlurmJobs &Jobs = Spec.Slurm;
  llvm::SmallVector<llvm::StringRef> Parts;
  Text.split(Parts, ',');
  for (const llvm::StringRef &Part : Parts) {
    auto [Key, Value] = Part.split('=');
    if (&Part == Parts.begin() && !Part.contains('=')) {
      Jobs.Partition = Part.str();
      continue;
    }
    bool Good = !Value.empty();
    if (Key == "folder")
      Spec.Where = Value.str();
    else if (Key == "gres")
      Jobs.Gres = Value.str();
    else if (Key == "worker")
      Jobs.Worker = Value.str();
    else if (Key == "workers")
      Good = readNumber(Value, 1, 1000, Jobs.Workers);
    else if (Key == "idle")
      Good = readNumber(Value, 0, 86400, Jobs.IdleSeconds);
    else
      Good = false;
    if (!Good)
      return usageError("evaluator: slurm got '" + Part +
                        "', wanted slurm[:PARTITION] and then, each after a "
                        "comma, any of folder=DIR, workers=1...1000, "
                        "gres=GRES, idle=0...86400 (seconds), worker=PATH");
  }
  return Spec;
}

std::string stark::slurmIdentity(const SlurmJobs &Asked) {
  std::string Text = "slurm";
  if (!Asked.Partition.empty())
    Text += ":" + Asked.Partition;
  if (Asked.Gres != SlurmJobs().Gres)
    Text += (Asked.Partition.empty() ? ":gres=" : ",gres=") + Asked.Gres;
  return Text;
}

static std::string printSlurm(const EvaluatorSpec &Spec) {
  const SlurmJobs &Jobs = Spec.Slurm, Plain;
  std::string Text = slurmIdentity(Jobs);
  auto Add = [&](llvm::StringRef Key, const std::string &Value) {
    Text += llvm::StringRef(Text).contains(':') ? "," : ":";
    Text += (Key + "=" + Value).str();
  };
  if (!Spec.Where.empty())
    Add("folder", Spec.Where);
  if (Jobs.Workers != Plain.Workers)
    Add("workers", std::to_string(Jobs.Workers));
  if (Jobs.IdleSeconds != Plain.IdleSeconds)
    Add("idle", std::to_string(Jobs.IdleSeconds));
  if (!Jobs.Worker.empty())
    Add("worker", Jobs.Worker);
  return Text;
}

std::string EvaluatorSpec::folder() const {
  if (Of != Kind::Slurm || !Where.empty())
    return Where;
  return "stark-slurm/" +
         (Slurm.Partition.empty() ? "default" : Slurm.Partition);
}

uint64_t EvaluatorSpec::waitMs(uint64_t AskedMs) const {
  constexpr uint64_t WeekMs = 7 * 24 * 3600 * 1000ull;
  return AskedMs || Of != Kind::Slurm ? AskedMs : WeekMs;
}

llvm::Expected<EvaluatorSpec> stark::parseEvaluatorSpec(llvm::StringRef Text) {
  using Kind = EvaluatorSpec::Kind;
  auto [Name, Where] = Text.split(':');
  if (Text == "cuda")
    return EvaluatorSpec{Kind::Cuda, ""};
  if (Name == "sim")
    return EvaluatorSpec{Kind::Sim, Where.empty() ? DefaultGpu : Where.str()};
  if (Name == "spool" && !Where.empty())
    return EvaluatorSpec{Kind::Spool, Where.str()};
  if (Name == "slurm")
    return parseSlurm(Where);
  if (Name == "replay" && !Where.empty())
    return EvaluatorSpec{Kind::Replay, Where.str()};
  return usageError("evaluator: got '" + Text +
                    "', wanted cuda, sim[:GPU], spool:DIR, "
                    "slurm[:PARTITION] or replay:RUN");
}

std::string stark::printEvaluatorSpec(const EvaluatorSpec &Spec) {
  switch (Spec.Of) {
  case EvaluatorSpec::Kind::Cuda:
    return "cuda";
  case EvaluatorSpec::Kind::Sim:
    return "sim:" + Spec.Where;
  case EvaluatorSpec::Kind::Spool:
    return "spool:" + Spec.Where;
  case EvaluatorSpec::Kind::Slurm:
    return printSlurm(Spec);
  case EvaluatorSpec::Kind::Replay:
    return "replay:" + Spec.Where;
  }
  llvm_unreachable("all kinds are above");
}
