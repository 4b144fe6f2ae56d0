//===- JobFolder.cpp - A candidate as a job ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The evaluators that run something (cuda, spool, sim) go through here, so
/// that a job folder is the only way anything reaches a GPU.
///
//===----------------------------------------------------------------------===//

#include "JobFolder.h"
#include "stark/AST/Torch.h"
#include "stark/Job/Formats.h"
#include "stark/Json/Fields.h"
#include "stark/Sim/SimRunner.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/Random.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace stark;

namespace {
/// What a model's window has room for.
constexpr size_t RunLimit = 2000;
constexpr unsigned Comparisons = 3;
/// Pairs of processes that a winner has to be faster in; by how much these
/// differ says how sure the figure is, so each takes fewer samples.
constexpr uint64_t ConfirmRounds = 8, ConfirmMinSamples = 20,
                   ConfirmMaxSamples = 40, ConfirmMaxMs = 500;
/// Of the sizes and values that the tool adds, those that an attempt is
/// compared with; a winner is with all.
constexpr uint64_t DrawnCases = 12;

std::string number(double Value, int Digits) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.*f", Digits, Value);
  return Text;
}

/// "; moving its 1073.7 MB at the device's copy rate of 4250 GB/s takes 252.6
/// us, 88 % of the time" when the workload says how much is moved.
std::string againstMemory(const Task &T, const job::Timing &Time,
                          const job::Result &R) {
  if (T.Load.Bytes.empty() || R.CopyGBs <= 0)
    return "";
  for (const Size &S : T.Load.Sizes) {
    if (S.label() != Time.Label)
      continue;
    llvm::Expected<double> Bytes = evaluateReal(T.Load.Bytes, S.Names);
    if (!Bytes) {
      llvm::consumeError(Bytes.takeError());
      return "";
    }
    double FloorUs = *Bytes / R.CopyGBs * 1e-3;
    return "; moving its " + number(*Bytes * 1e-6, 1) +
           " MB at the device's copy rate of " + number(R.CopyGBs, 0) +
           " GB/s takes " + number(FloorUs, 1) + " us, " +
           number(100 * FloorUs / Time.MedianUs, 0) + " % of the median";
  }
  return "";
}

std::string describeTimes(const Task &T, const job::Result &R) {
  std::string Out;
  if (R.Modelled) {
    for (const job::Timing &Time : R.Timings)
      Out += Time.Label + ": modelled " + number(Time.MedianUs, 2) +
             " us, the source " + number(Time.SourceMedianUs, 2) +
             " us: " + number(Time.Speedup, 3) + " times as fast\n";
    return Out + R.Diagnostics;
  }
  for (const job::Timing &Time : R.Timings)
    Out += Time.Label + ": median " + number(Time.MedianUs, 2) +
           " us (quartile distance " + number(Time.IqrUs, 2) + ", least " +
           number(Time.MinUs, 2) + ", " + std::to_string(Time.Samples) +
           " samples" +
           (Time.Throttled ? " beside " + std::to_string(Time.Throttled) +
                                 " that are not counted, taken while heat or "
                                 "power held the device back"
                           : "") +
           "), the source " + number(Time.SourceMedianUs, 2) +
           " us: " + number(Time.Speedup, 3) +
           " times as fast (95 %: " + number(Time.SpeedupLow, 3) + " to " +
           number(Time.SpeedupHigh, 3) + ")" + againstMemory(T, Time, R) + "\n";
  return Out + R.Diagnostics;
}

/// What the workload keeps from being looked at is part of what was proved.
std::vector<std::string> provedFor(const Task &T, const job::Result &R) {
  std::vector<std::string> Lines = R.Proved;
  if (Lines.empty())
    return Lines;
  char Text[96];
  if (T.Load.Magnitude) {
    std::snprintf(Text, sizeof(Text),
                  "root mean squares of inputs from %g to %g alone",
                  T.Load.Magnitude->first, T.Load.Magnitude->second);
    Lines.push_back(Text);
  }
  if (!isHardened(T) && !isTensorEntry(T.Entry))
    Lines.push_back("no other values: the workload says \"harden\": false");
  return Lines;
}

VerdictKind kindOf(job::Outcome O) {
  switch (O) {
  case job::Outcome::Correct:
    return VerdictKind::Correct;
  case job::Outcome::Wrong:
    return VerdictKind::Wrong;
  case job::Outcome::Unstable:
    return VerdictKind::Unstable;
  case job::Outcome::Crashed:
    return VerdictKind::Crashed;
  case job::Outcome::TimedOut:
    return VerdictKind::TimedOut;
  case job::Outcome::Forbidden:
    return VerdictKind::Forbidden;
  case job::Outcome::NotCompiled:
    return VerdictKind::NotCompiled;
  case job::Outcome::Unsupported:
  case job::Outcome::Infrastructure:
    break;
  }
  return VerdictKind::Unsupported;
}

std::string npyName(size_t Leaf) {
  return "leaf" + std::to_string(Leaf) + ".npy";
}

/// What it is compiled as, so that a profiler finds its lines; another name
/// where that could not be one in a job's folder.
std::string textName(const Task &T) {
  std::string Name = llvm::sys::path::filename(T.SourcePath).str();
  return job::isPlainName(Name) && llvm::StringRef(Name).contains(".cu")
             ? Name
             : "candidate.cu";
}

/// Results come from anywhere: what is shown of one is no more than is wanted.
std::optional<job::Profile> profileOf(const job::Result &R) {
  if (!R.Counted)
    return std::nullopt;
  job::Profile P = *R.Counted;
  P.Text = trimForWindow(P.Text, job::MaxProfileBytes);
  P.Problem = trimForWindow(P.Problem, 600);
  return P;
}

} // namespace

llvm::Error stark::copyFile(llvm::StringRef From, llvm::StringRef To) {
  llvm::Expected<std::string> Bytes = readFile(From);
  if (!Bytes)
    return Bytes.takeError();
  return writeFileAtomically(To, *Bytes);
}

llvm::StringRef stark::purposeName(Purpose P) {
  return P == Purpose::Confirm ? "confirm" : "attempt";
}

llvm::Expected<job::Job> stark::makeJob(const Task &T, const Candidate &C,
                                        const EvaluatorOptions &Options) {
  TraceScope Traced("make job");
  job::Job J;
  J.Purpose = purposeName(C.Why).str();
  J.SourceLibrary = "source.so";
  J.CandidateLibrary = "candidate.so";
  J.SourceDigest = sha256(T.SourceText);
  J.CandidateDigest = sha256(C.Text);
  J.Arch = Options.Build.Arch;
  J.TimeoutMs = Options.TimeoutMs;
  if (isTensorEntry(T.Entry)) {
    llvm::Expected<posix::Libtorch> Torch = torchFor(T.Parse);
    if (!Torch)
      return Torch.takeError();
    J.Torch = Torch->Version;
  }
  J.Leaves = makeLeaves(T);
  llvm::Expected<std::vector<job::Case>> Cases = makeCases(T, C.Text);
  if (!Cases)
    return Cases.takeError();
  J.Cases = std::move(*Cases);
  DigestBuilder Arrays;
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    if (J.Leaves[I].Kind == job::LeafKind::Buffer &&
        J.Leaves[I].Fill.Kind == job::InitKind::File) {
      llvm::Expected<std::string> Bytes =
          readArray(T, J.Leaves[I], J.Cases.front().Values[I].Shape);
      if (!Bytes)
        return Bytes.takeError();
      Arrays.add(npyName(I), *Bytes);
      J.Leaves[I].Fill.File = npyName(I);
    }
  // A confirmation never meets the inputs of an attempt.
  Random Draw(C.Seed ^ (C.Why == Purpose::Confirm ? 0xC0F14Aull << 40 : 0));
  for (unsigned I = 0; I < Comparisons; ++I)
    J.Seeds.push_back(Draw.next());
  J.TimingSeed = Draw.next();
  if (C.Why == Purpose::Confirm) {
    J.Timing.Rounds = ConfirmRounds;
    J.Timing.MinSamples = ConfirmMinSamples;
    J.Timing.MaxSamples = ConfirmMaxSamples;
    J.Timing.MaxMs = ConfirmMaxMs;
  } else {
    J.DrawnCases = DrawnCases;
  }
  J.MayBeDegenerate = T.Load.MayBeDegenerate;
  J.AgreeWithSource = T.Load.AgreeWithSource;
  DigestBuilder Id;
  Id.add("task", T.Digest)
      .add("job", printJob(J))
      .add("arrays", Arrays.finish());
  J.Id = J.Purpose + "-" + Id.finish().substr(0, 20);
  // What other attempts have come to since makes no other job of it.
  J.SanitizeAbove = C.Why == Purpose::Confirm ? 0 : C.Fastest;
  if (C.Profiled)
    J.ProfiledText = textName(T);
  return J;
}

static llvm::Error writeArray(const Task &T, const job::Job &J,
                              const job::Leaf &OfTask, size_t Leaf,
                              llvm::StringRef Folder) {
  llvm::Expected<std::string> Bytes =
      readArray(T, OfTask, J.Cases.front().Values[Leaf].Shape);
  if (!Bytes)
    return Bytes.takeError();
  return writeFileAtomically((Folder + "/" + J.Leaves[Leaf].Fill.File).str(),
                             *Bytes);
}

/// The arrays that the job names.
static llvm::Error writeArrays(const Task &T, const job::Job &J,
                               llvm::StringRef Folder) {
  std::vector<job::Leaf> Leaves = makeLeaves(T);
  for (size_t I = 0; I < J.Leaves.size(); ++I)
    if (J.Leaves[I].Kind == job::LeafKind::Buffer &&
        J.Leaves[I].Fill.Kind == job::InitKind::File)
      if (llvm::Error E = writeArray(T, J, Leaves[I], I, Folder))
        return E;
  return llvm::Error::success();
}

llvm::Error stark::writeJob(const Task &T, const job::Job &J,
                            const Candidate &C, llvm::StringRef Folder) {
  TraceScope Traced("write job");
  if (llvm::Error E = createFolders(Folder))
    return E;
  if (llvm::Error E = writeArrays(T, J, Folder))
    return E;
  if (!J.ProfiledText.empty())
    if (llvm::Error E =
            writeFileAtomically((Folder + "/" + J.ProfiledText).str(), C.Text))
      return E;
  return writeFileAtomically((Folder + "/job.json").str(), printJob(J));
}

llvm::Expected<job::Job> stark::makeSimJob(const Task &T, const Candidate &C,
                                           const EvaluatorOptions &Options) {
  llvm::Expected<job::Job> J = makeJob(T, C, Options);
  if (!J)
    return J;
  J->SourceLibrary = "source.cu";
  J->CandidateLibrary = "candidate.cu";
  if (J->Arch.empty())
    J->Arch = T.Parse.Arch;
  return J;
}

llvm::Error stark::writeSimFolder(const Task &T, const job::Job &J,
                                  llvm::StringRef Source,
                                  llvm::StringRef Candidate,
                                  llvm::StringRef Folder,
                                  std::optional<sim::HostLibraries> Host,
                                  std::optional<sim::ResourceFiles> Resources) {
  TraceScope Traced("write job");
  sim::CompileFile Compile;
  Compile.Request.Path = T.SourcePath;
  Compile.Request.Folder = T.Parse.Folder;
  Compile.Request.Flags = T.Parse.Flags;
  Compile.Request.Arch = J.Arch;
  Compile.Host = std::move(Host);
  Compile.Resources = std::move(Resources);
  // Kernels of half precision have the two small headers of its types.
  if (Compile.Host &&
      (Source + Candidate).str().find("#include <c10/") != std::string::npos) {
    llvm::Expected<posix::Libtorch> Torch = torchFor(T.Parse);
    if (!Torch)
      return Torch.takeError();
    for (const std::string &Include : Torch->Includes)
      Compile.Request.Flags.insert(Compile.Request.Flags.end(),
                                   {"-isystem", Include});
  }
  if (llvm::Error E = writeArrays(T, J, Folder))
    return E;
  std::pair<std::string, std::string> Files[] = {
      {J.SourceLibrary, Source.str()},
      {J.CandidateLibrary, Candidate.str()},
      {"compile.json", dumpJson(writeFields<nlohmann::json>(Compile))},
      {"job.json", printJob(J)}};
  for (const auto &[Name, Text] : Files)
    if (llvm::Error E = writeFileAtomically((Folder + "/" + Name).str(), Text))
      return E;
  return llvm::Error::success();
}

llvm::Expected<Verdict> stark::verdictOf(const Task &T, const job::Job &J,
                                         const job::Result &R) {
  if (R.Id != J.Id || R.CandidateDigest != J.CandidateDigest ||
      R.SourceDigest != J.SourceDigest)
    if (R.End != job::Outcome::Infrastructure)
      return failed("the result is of job '" + R.Id + "', wanted '" + J.Id +
                    "'");
  if (R.End == job::Outcome::Infrastructure)
    return failed("job " + J.Id + " could not be judged: " + R.Diagnostics);
  Verdict V;
  V.Kind = kindOf(R.End);
  V.Compiler = trimForWindow(R.Compiler, CompilerLimit);
  V.Device = R.Device;
  V.Driver = R.Driver;
  V.Modelled = R.Modelled;
  V.CopyGBs = R.CopyGBs;
  V.EventPairUs = R.EventPairUs;
  V.RightAsShipped = R.RightAsShipped;
  V.Timings = R.Timings;
  V.Precision = R.Precision;
  if (V.correct()) {
    V.Proved = provedFor(T, R);
    V.Counted = profileOf(R);
  }
  V.Run = trimForWindow(V.correct() ? describeTimes(T, R) : R.Diagnostics,
                        RunLimit);
  if (!V.correct())
    V.Timings.clear();
  if (V.RightAsShipped)
    V.Run +=
        isTensorEntry(T.Entry)
            ? "\nWith the values that the arguments have as shipped it is "
              "right: only the hardened ones tell."
            : "\nWith the values that the workload says it is right. Where "
              "the entry never has others, \"magnitude\": [least, "
              "greatest] in the workload says so.";
  return V;
}

Verdict stark::verdictOf(const BuildResult &Built) {
  assert(!Built.Ok && "what was built has yet to be run");
  Verdict V;
  V.Kind = Built.Kind;
  (V.Kind == VerdictKind::Unsupported ? V.Run : V.Compiler) = Built.Diagnostics;
  return V;
}
