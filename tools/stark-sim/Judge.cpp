//===- Judge.cpp - One job, from folder to result -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Judge.h"
#include "Call.h"
#include "stark/Job/Npy.h"
#include "stark/Json/Fields.h"
#include "stark/Judge/Compare.h"
#include "stark/Sim/Program.h"
#include "stark/Support/File.h"
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

using namespace stark;
using namespace stark::sim;
using namespace stark::job;
using Json = nlohmann::json;

namespace {
/// Buffers of more than this are not compared in full: a simulated element
/// costs a thousand times what a GPU's does.
constexpr uint64_t CheckBytes = uint64_t(16) << 20;

/// Accesses that a source may make in a size that is compared. Counted, not
/// timed, so that a verdict is the same on every machine.
constexpr uint64_t SourceLimit = 60000000;

/// One size and seed: the calls that are to be made of it.
struct Trial {
  unsigned Case = 0;
  uint64_t Seed = 0;
  bool Timed = false;
  bool Begun = false;
  std::string Trouble; ///< why its inputs cannot be made
  std::unique_ptr<Inputs> Mine, Theirs;
  std::unique_ptr<Call> Candidate, Source;
};

/// Code is null when the source does not compile; the texts say why.
struct Built {
  std::unique_ptr<Program> Code;
  std::string Diagnostics;
  std::optional<Unsupported> Missing;
};

class Judge {
public:
  Judge(std::string Folder, const GpuDescription &Gpu)
      : Folder(std::move(Folder)), Gpu(Gpu) {}
  Result run();
  unsigned Jobs = 1; ///< children at once
  bool CountersOnly = false;
  Speeds Took;
  std::string Outputs; ///< where the candidate's go, until they are written

private:
  bool stop(Outcome End, const std::string &Why) {
    Out.End = End;
    Out.Diagnostics = Why;
    return false;
  }
  bool read();
  llvm::Expected<Built> compile(const std::string &File) const;
  bool build();
  bool built(llvm::Expected<Built> B, std::unique_ptr<Program> &Into,
             bool IsSource);
  std::vector<Trial> plan() const;
  /// Starts what can be started of \p U; \p Free children may be added.
  void advance(Trial &U, unsigned &Free);
  bool complete(const Trial &U) const;
  bool passedOver(const Trial &U) const { return !U.Timed && LeftOut[U.Case]; }
  // What a complete trial says. False: it ends the job.
  bool judgeTrial(Trial &U);
  bool judgeCheck(Trial &U);
  bool judgeTime(Trial &U);
  bool someCompared();
  bool work();
  bool keepOutputs(unsigned I, const Inputs &In);
  std::string where(unsigned I, uint64_t Seed) const {
    return "size '" + J.Cases[I].Label + "', seed " + std::to_string(Seed);
  }
  bool candidateFailed(const Report &R, const std::string &Where);
  bool itself() const { return J.SourceDigest == J.CandidateDigest; }
  std::vector<uint64_t> seedsFor(unsigned I) const {
    std::vector<uint64_t> Seeds = J.Seeds;
    if (Inputs::bytesOf(J, I) > (1 << 20) && Seeds.size() > 1)
      Seeds.resize(1);
    return Seeds;
  }

  std::string Folder;
  const GpuDescription &Gpu;
  Job J;
  Result Out;
  CompileRequest Compile;
  std::unique_ptr<Program> Source, Candidate;
  std::string Notes, Profile;
  unsigned Compared = 0;
  std::vector<bool> LeftOut; ///< by case: it cannot be compared
};

} // namespace

bool Judge::read() {
  std::string Path = Folder + "/job.json", Error;
  llvm::Expected<std::string> Text = readFile(Path);
  if (!Text)
    return stop(Outcome::Infrastructure, llvm::toString(Text.takeError()));
  J = parseJob(*Text, Path, Error);
  Out.Id = J.Id;
  Out.CandidateDigest = J.CandidateDigest;
  Out.SourceDigest = J.SourceDigest;
  Out.Device = "simulated " + Gpu.Name;
  Out.Modelled = true;
  if (!Error.empty())
    return stop(Outcome::Infrastructure, Error);
  Path = Folder + "/compile.json";
  Text = readFile(Path);
  if (!Text)
    return stop(Outcome::Infrastructure, llvm::toString(Text.takeError()));
  Json Object = Json::parse(*Text, nullptr, false);
  if (Object.is_discarded())
    return stop(Outcome::Infrastructure, Path + ": not valid JSON");
  FieldReader<Json> R(Object, Path, "");
  R.required("path", Compile.Path);
  R.required("folder", Compile.Folder);
  R.required("flags", Compile.Flags);
  R.required("arch", Compile.Arch);
  Error = R.problem();
  return Error.empty() || stop(Outcome::Infrastructure, Error);
}

llvm::Expected<Built> Judge::compile(const std::string &File) const {
  llvm::Expected<std::string> Text = readFile(Folder + "/" + File);
  if (!Text)
    return Text.takeError();
  CompileRequest Request = Compile;
  Request.Text = std::move(*Text);
  Built B;
  llvm::Expected<std::unique_ptr<Program>> P =
      Program::build(Request, B.Diagnostics, B.Missing);
  if (!P)
    return P.takeError();
  B.Code = std::move(*P);
  return B;
}

bool Judge::built(llvm::Expected<Built> B, std::unique_ptr<Program> &Into,
                  bool IsSource) {
  if (!B)
    return stop(Outcome::Infrastructure, llvm::toString(B.takeError()));
  Into = std::move(B->Code);
  if (Into)
    return true;
  IsSource &= !CountersOnly;
  if (B->Missing)
    return stop(IsSource ? Outcome::Infrastructure : Outcome::Unsupported,
                "the simulator cannot run " + B->Missing->text());
  if (IsSource)
    return stop(Outcome::Infrastructure,
                "the source itself does not compile for the simulator: " +
                    B->Diagnostics);
  Out.Compiler = B->Diagnostics;
  return stop(Outcome::NotCompiled, "");
}

/// Both are compiled at once. No thread is left when the first child starts.
bool Judge::build() {
  std::optional<llvm::Expected<Built>> Other;
  std::thread Second;
  auto CompileOther = [&] { Other.emplace(compile(J.CandidateLibrary)); };
  if (!itself() && Jobs > 1)
    Second = std::thread(CompileOther);
  bool Good = built(compile(J.SourceLibrary), Source, true);
  if (Second.joinable())
    Second.join();
  else if (Good && !itself())
    CompileOther();
  if (!Good && Other && !*Other)
    llvm::consumeError(Other->takeError());
  return Good && (itself() || built(std::move(*Other), Candidate, false));
}

/// Ends the job when the candidate did not come through.
bool Judge::candidateFailed(const Report &R, const std::string &Where) {
  std::string Text = std::string(R.Text) + "\n(" + Where + ")";
  switch (R.What) {
  case Report::Done:
    return false;
  case Report::Unsupported:
    return !stop(Outcome::Unsupported, "the simulator cannot run " + Text);
  case Report::TooLong:
    return !stop(Outcome::TimedOut,
                 "the candidate makes more than ten times the memory accesses "
                 "of the source, or never ends (" +
                     Where + ")");
  case Report::Died:
    return !stop(Outcome::Crashed, Text);
  case Report::Found:
    break;
  }
  return !stop(effectOf(R.Kind) == Effect::Stops ? Outcome::Crashed
                                                 : Outcome::Wrong,
               Text);
}

/// Small sizes first; what is timed comes last.
std::vector<Trial> Judge::plan() const {
  std::vector<unsigned> Order(J.Cases.size());
  std::iota(Order.begin(), Order.end(), 0u);
  std::stable_sort(Order.begin(), Order.end(), [&](unsigned A, unsigned B) {
    return Inputs::bytesOf(J, A) < Inputs::bytesOf(J, B);
  });
  std::vector<Trial> Trials;
  auto Add = [&](unsigned Case, uint64_t Seed, bool Timed) {
    Trials.emplace_back();
    Trials.back().Case = Case;
    Trials.back().Seed = Seed;
    Trials.back().Timed = Timed;
  };
  for (unsigned I : Order)
    if (!CountersOnly && Inputs::bytesOf(J, I) <= CheckBytes)
      for (uint64_t Seed : seedsFor(I))
        Add(I, Seed, false);
  for (unsigned I = 0; I < J.Cases.size(); ++I)
    if (J.Cases[I].Timed)
      Add(I, J.TimingSeed, true);
  return Trials;
}

void Judge::advance(Trial &U, unsigned &Free) {
  if (!Free || passedOver(U) || !U.Trouble.empty())
    return;
  bool Begins = !U.Begun;
  U.Begun = true;
  auto Fill = [&](std::unique_ptr<Inputs> &In) {
    In = std::make_unique<Inputs>(J, Folder);
    U.Trouble = In->fill(U.Case, U.Seed, U.Timed);
    if (!U.Timed)
      In->arm(0);
    return U.Trouble.empty();
  };
  auto Start = [&](Program &P, Inputs &In, const char *Entry, uint64_t Limit) {
    --Free;
    return std::make_unique<Call>(
        CallSpec{&P, Entry, &In, U.Timed ? RunMode::Profile : RunMode::Check,
                 Limit, J.TimeoutMs},
        Gpu);
  };
  if (Begins && !Fill(U.Mine))
    return;
  if (itself()) {
    if (Begins)
      U.Candidate =
          Start(*Source, *U.Mine, "stark_call", U.Timed ? ~0ull : SourceLimit);
    return;
  }
  if (U.Timed) {
    // What a child writes is its own, so both share the inputs.
    if (Begins)
      U.Candidate = Start(*Candidate, *U.Mine, "stark_call", ~0ull);
    if (Free && !U.Source)
      U.Source = Start(*Source, *U.Mine, "stark_call", ~0ull);
    return;
  }
  if (Begins && Fill(U.Theirs))
    U.Source =
        Start(*Source, *U.Theirs,
              Source->has("stark_reference") ? "stark_reference" : "stark_call",
              SourceLimit);
  // How long the candidate may take follows from the source.
  if (Free && !U.Candidate && U.Source && U.Source->ended() &&
      U.Source->report().What == Report::Done)
    U.Candidate =
        Start(*Candidate, *U.Mine, "stark_call",
              std::max<uint64_t>(U.Source->report().Accesses * 10, 10000000));
}

bool Judge::complete(const Trial &U) const {
  if (passedOver(U) || !U.Trouble.empty())
    return true;
  bool SourceEnded = U.Source && U.Source->ended();
  if (!itself() && !SourceEnded)
    return false;
  if (!itself() && !U.Timed && U.Source->report().What != Report::Done)
    return true;
  return U.Candidate && U.Candidate->ended();
}

bool Judge::judgeTrial(Trial &U) {
  if (passedOver(U))
    return true;
  if (!U.Trouble.empty())
    return stop(Outcome::Infrastructure, U.Trouble);
  for (Call *C : {U.Source.get(), U.Candidate.get()})
    if (C) {
      Speed &S = U.Timed ? Took.Profile : Took.Check;
      S.ThreadInstructions += C->report().ThreadInstructions;
      S.Seconds += C->report().LaunchSeconds;
    }
  return U.Timed ? judgeTime(U) : judgeCheck(U);
}

bool Judge::judgeCheck(Trial &U) {
  const Case &C = J.Cases[U.Case];
  std::string Where = where(U.Case, U.Seed);
  // A source that is judged for itself has nothing to be compared with.
  const Report &Wanted = (itself() ? U.Candidate : U.Source)->report();
  if (Wanted.What == Report::TooLong ||
      (Wanted.What != Report::Done && C.Added)) {
    Notes += Wanted.What == Report::TooLong
                 ? "size '" + C.Label +
                       "' was not compared: too large to simulate in full\n"
                 : "size '" + C.Label +
                       "' was left out: the source itself cannot do it\n";
    LeftOut[U.Case] = true;
    return true;
  }
  if (!itself() && Wanted.What != Report::Done)
    return stop(Outcome::Infrastructure,
                std::string(Wanted.What == Report::Unsupported
                                ? "the simulator cannot run "
                                : "the source itself fails: ") +
                    Wanted.Text + "\n(" + Where + ")");
  if (candidateFailed(U.Candidate->report(), Where) ||
      !keepOutputs(U.Case, *U.Mine))
    return false;
  for (size_t L = 0; L < J.Leaves.size() && !itself(); ++L) {
    const Leaf &Of = J.Leaves[L];
    if (Of.Kind != LeafKind::Buffer ||
        (Of.Use != Role::Output && Of.Use != Role::InOut))
      continue;
    judge::Comparison Found = judge::compare(
        Of.Type, U.Mine->data(L), U.Theirs->data(L), C.Values[L].Shape,
        Of.Tolerance, judge::poisonPattern(Of.Type, 0));
    if (!Found.ok())
      return stop(Outcome::Wrong,
                  judge::describeMismatch(Of, C.Values[L], Found,
                                          "simulated call with " + Where));
  }
  ++Compared;
  return true;
}

bool Judge::keepOutputs(unsigned I, const Inputs &In) {
  for (size_t L = 0; L < J.Leaves.size() && !Outputs.empty(); ++L) {
    const Leaf &Of = J.Leaves[L];
    if (Of.Kind != LeafKind::Buffer ||
        (Of.Use != Role::Output && Of.Use != Role::InOut))
      continue;
    std::string Path = Outputs + "." + std::to_string(L) + ".npy";
    if (llvm::Error E = writeFileAtomically(
            Path, printNpy(Of.Type, J.Cases[I].Values[L].Shape, In.data(L))))
      return stop(Outcome::Infrastructure, llvm::toString(std::move(E)));
  }
  Outputs.clear();
  return true;
}

bool Judge::judgeTime(Trial &U) {
  unsigned I = U.Case;
  std::string Where = where(I, U.Seed);
  const Report &After = U.Candidate->report();
  if (candidateFailed(After, Where))
    return false;
  const Report &Before = itself() ? After : U.Source->report();
  if (Before.What != Report::Done)
    return stop(Outcome::Infrastructure,
                std::string("the source itself cannot be modelled: ") +
                    Before.Text + "\n(" + Where + ")");
  Timing T;
  T.Label = J.Cases[I].Label;
  T.Samples = 1;
  T.MedianUs = T.MinUs = After.TimeUs;
  T.SourceMedianUs = T.SourceMinUs = Before.TimeUs;
  T.Speedup = T.SpeedupLow = T.SpeedupHigh = Before.TimeUs / After.TimeUs;
  Out.Timings.push_back(T);
  Profile += T.Label + ": " + After.Text;
  return true;
}

bool Judge::someCompared() {
  return Compared || CountersOnly ||
         stop(Outcome::Infrastructure,
              "no size is small enough to be compared on the simulator; add "
              "one with \"check_only\": true to the workload");
}

/// Children run ahead, verdicts are given in the order of the plan: the result
/// is the same however many run at once.
bool Judge::work() {
  std::vector<Trial> Trials = plan();
  LeftOut.assign(J.Cases.size(), false);
  useconds_t Pause = 200;
  for (size_t Next = 0; Next < Trials.size();) {
    size_t Last = std::min<size_t>(Trials.size(), Next + Jobs + 1);
    unsigned Running = 0;
    for (size_t I = Next; I < Last; ++I)
      for (Call *C : {Trials[I].Source.get(), Trials[I].Candidate.get()})
        Running += C && !C->ended();
    unsigned Free = Jobs > Running ? Jobs - Running : 0, Before = Free;
    // The inputs of sizes that are timed are large: two at once are enough.
    for (size_t I = Next; I < Last; ++I)
      if (!Trials[I].Timed || I <= Next + 1)
        advance(Trials[I], Free);
    if (complete(Trials[Next])) {
      if (Trials[Next].Timed && !someCompared())
        return false;
      if (!judgeTrial(Trials[Next]))
        return false;
      Trials[Next++] = Trial();
      Pause = 200;
    } else if (Free == Before) {
      usleep(Pause);
      Pause = std::min<useconds_t>(Pause * 2, 10000);
    }
  }
  return someCompared();
}

Result Judge::run() {
  auto Start = std::chrono::steady_clock::now();
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (read() && build() && work()) {
    Out.End = Outcome::Correct;
    Out.Diagnostics = Profile + Notes;
  }
  Out.WallMs = uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::steady_clock::now() - Start)
                            .count());
  if (Out.End != Outcome::Correct)
    Out.Timings.clear();
  return Out;
}

Result sim::judge(const std::string &Folder, const GpuDescription &Gpu,
                  unsigned Jobs, const std::string &Outputs, bool CountersOnly,
                  Speeds &Took) {
  Judge J(Folder, Gpu);
  J.Outputs = Outputs;
  J.CountersOnly = CountersOnly;
  J.Jobs = std::max(1u, Jobs);
  Result R = J.run();
  Took = J.Took;
  return R;
}
