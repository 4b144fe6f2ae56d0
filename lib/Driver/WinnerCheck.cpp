//===- WinnerCheck.cpp - Cached winners, judged again ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/WinnerCheck.h"
#include "FindArch.h"
#include "stark/Driver/Evaluation.h"
#include "stark/Sim/Gpu.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace stark;

unsigned WinnerCheck::count(CheckResult R) const {
  return unsigned(llvm::count_if(
      Winners, [&](const CheckedWinner &W) { return W.Result == R; }));
}

static std::string factor(double Value) {
  char Text[40];
  snprintf(Text, sizeof(Text), "%.3f", Value);
  return Text;
}

/// What the judge said, as a line has room for it.
static std::string firstLine(llvm::StringRef Text) {
  return Text.ltrim().take_until([](char C) { return C == '\n'; }).str();
}

std::pair<CheckResult, std::string>
stark::judgeWinner(const WinnerFacts &Recorded, const Verdict &V,
                   double Slack) {
  if (!V.correct()) {
    std::string Said = firstLine(V.Run.empty() ? V.Compiler : V.Run);
    return {CheckResult::Wrong, "got " + verdictName(V.Kind).str() +
                                    (Said.empty() ? "" : " (" + Said + ")") +
                                    ", wanted correct"};
  }
  std::string Got = "got " + factor(V.speedup()) + " times as fast (" +
                    (V.Modelled ? "modelled"
                                : "95 % from " + factor(V.speedupLow()) +
                                      " to " + factor(V.speedupHigh())) +
                    "), wanted ";
  if (V.speedupHigh() < 1)
    return {CheckResult::Slower, Got + "as fast as the source"};
  // On another GPU, or another kind of time, it never was so fast.
  double Least = Recorded.Speedup * (1 - Slack);
  if (V.Modelled == Recorded.Modelled && V.Device == Recorded.Device &&
      V.speedupHigh() < Least)
    return {CheckResult::Slower, Got + factor(Least) + " at least, of the " +
                                     factor(Recorded.Speedup) + " recorded"};
  return {CheckResult::Passed, ""};
}

/// Whether code for \p Arch ("sm_90a") runs on a GPU that is \p Here.
static bool runsOn(llvm::StringRef Arch, llvm::StringRef Here) {
  auto Plain = [](llvm::StringRef Name) { return Name.rtrim("af"); };
  return Plain(Arch) == Plain(Here);
}

namespace {
class Checking {
public:
  Checking(const WinnerCheckRequest &Request, CheckObserver &Observer)
      : Request(Request), Observer(Observer) {}
  llvm::Expected<WinnerCheck> run();

private:
  llvm::Error findHere(const TargetFile &T);
  llvm::Error check(const TargetFile &T, const TargetSource &S);
  llvm::Error check(const BuildStep &Step, const Lookup &L,
                    llvm::StringRef Built, CheckedWinner &W);
  /// \p Others: EvaluationRequest's.
  llvm::Expected<std::optional<Verdict>> judge(const BuildStep &Step,
                                               const Lookup &L,
                                               std::string Text, bool Others,
                                               uint64_t Seed);
  llvm::Expected<bool> isSourceCalled(const BuildStep &Step, const Lookup &L,
                                      llvm::StringRef Built);

  const WinnerCheckRequest &Request;
  CheckObserver &Observer;
  std::optional<EvaluatorSpec> Spec; ///< of the target that is checked
  std::string Arch;                  ///< of its GPU
  WinnerCheck Out;
  std::set<std::string> Seen; ///< entry and flags that were checked
};

struct Notes : EvaluationObserver {
  explicit Notes(CheckObserver &To) : To(To) {}
  void onNote(llvm::StringRef Note) override { To.onNote(Note); }
  CheckObserver &To;
};
} // namespace

llvm::Error Checking::findHere(const TargetFile &T) {
  EvaluatorSpec Of;
  if (Request.Evaluator) {
    Of = *Request.Evaluator;
  } else if (!T.Evaluator.empty()) {
    llvm::Expected<EvaluatorSpec> Given = parseEvaluatorSpec(T.Evaluator);
    if (!Given)
      return Given.takeError();
    Of = std::move(*Given);
  }
  if (Spec == Of)
    return llvm::Error::success();
  Spec = Of;
  std::string Text = printEvaluatorSpec(Of);
  if (Of.Of == EvaluatorSpec::Kind::Replay)
    return usageError("evaluator: got '" + Text +
                      "', wanted cuda, sim[:GPU], spool:DIR or "
                      "slurm[:PARTITION]");
  if (Of.Of == EvaluatorSpec::Kind::Sim) {
    llvm::Expected<sim::GpuDescription> D = sim::describeGpu(Of.Where);
    if (!D)
      return D.takeError();
    Arch = D->Arch;
    return llvm::Error::success();
  }
  llvm::Expected<std::string> Here = findArch(Of, "", "");
  if (!Here)
    return Here.takeError();
  Arch = *Here;
  if (Arch.empty())
    return failed("evaluator " + Text +
                  ": no worker has said which GPU it has; start `stark-worker "
                  "--spool` there");
  return llvm::Error::success();
}

llvm::Expected<std::optional<Verdict>>
Checking::judge(const BuildStep &Step, const Lookup &L, std::string Text,
                bool Others, uint64_t Seed) {
  EvaluationRequest R;
  R.Source = Step.In.SourcePath;
  R.Workload = Step.In.WorkloadPath;
  R.Candidates = {L.From + "/kernel.cu"};
  R.Texts = {std::move(Text)};
  R.Held = L.Moved; // beside a source with other kernels it would break it
  R.MadeOf = L.Entry.WinnerText;
  R.Evaluator = *Spec;
  R.Why = Purpose::Confirm;
  R.Others = Others;
  R.Flags = Step.In.Flags;
  R.Arch = L.Entry.Arch;
  R.Toolkit = Request.Toolkit;
  R.Seed = Seed;
  R.WaitMs = Request.WaitMs;
  R.Cancelled = Request.Cancelled;
  R.Time = Request.Time;
  Notes Told(Observer);
  llvm::Expected<Evaluation> E = evaluateCandidates(R, Told);
  if (!E)
    return E.takeError();
  if (!E->Waiting.empty())
    Out.Waiting = E->Waiting;
  return std::move(E->Candidates.front().Found);
}

/// What is compiled for \p Text, where a call that the source would take ends
/// the process.
static std::string trapped(llvm::StringRef Text) {
  std::string Bom = Text.consume_front("\xEF\xBB\xBF") ? "\xEF\xBB\xBF" : "";
  return Bom + "#define " + TrapMacro.str() + "\n" + Text.str();
}

/// Whether \p Built, which does not run to its end when the source may not be
/// called, does so when it may.
llvm::Expected<bool> Checking::isSourceCalled(const BuildStep &Step,
                                              const Lookup &L,
                                              llvm::StringRef Built) {
  llvm::Expected<std::optional<Verdict>> V =
      judge(Step, L, Built.str(), /*Others=*/false, Request.Seed);
  if (!V)
    return V.takeError();
  return *V && (*V)->correct();
}

llvm::Error Checking::check(const BuildStep &Step, const Lookup &L,
                            llvm::StringRef Built, CheckedWinner &W) {
  if (!runsOn(W.Arch, Arch)) {
    W.Why = "it is for " + W.Arch + ", the GPU here is " + Arch;
    return llvm::Error::success();
  }
  // What chooses asks for launch bounds, which the simulator does not know.
  bool Whole = Spec->Of != EvaluatorSpec::Kind::Sim;
  // Once more before one is called slow: two judgements of one program differ.
  for (uint64_t Seed : {Request.Seed, Request.Seed + 1}) {
    llvm::Expected<std::optional<Verdict>> V =
        Whole // elsewhere the source is called, as it should be
            ? judge(Step, L, trapped(Built), /*Others=*/false, Seed)
            : judge(Step, L, L.Entry.WinnerText, /*Others=*/true, Seed);
    if (!V)
      return V.takeError();
    if (!*V) {
      W.Result = CheckResult::NotChecked;
      W.Why = Out.Waiting;
      return llvm::Error::success();
    }
    W.Found = std::move(*V);
    std::tie(W.Result, W.Why) =
        judgeWinner(W.Recorded, *W.Found, Request.Slack);
    if (W.Result != CheckResult::Slower)
      break;
  }
  if (!Whole || W.Found->Kind != VerdictKind::Crashed)
    return llvm::Error::success();
  llvm::Expected<bool> Source = isSourceCalled(Step, L, Built);
  if (!Source)
    return Source.takeError();
  if (*Source)
    W.Why = "got the source at a size of the workload, wanted the winner";
  return llvm::Error::success();
}

/// The text that the build compiles for \p S, with the winners of all
/// workloads.
static llvm::Expected<std::string> builtFor(const TargetFile &T,
                                            const TargetSource &S) {
  llvm::Expected<BuildStep> Whole = wholeStepOf(T, S);
  if (!Whole)
    return Whole.takeError();
  llvm::Expected<Lookup> Found = findForBuild(*Whole);
  if (!Found)
    return Found.takeError();
  return generatedText(*Whole, *Found);
}

llvm::Error Checking::check(const TargetFile &T, const TargetSource &S) {
  llvm::Expected<BuildStep> Step = stepOf(T, S);
  if (!Step)
    return Step.takeError();
  llvm::Expected<Lookup> Found = findForBuild(*Step);
  if (!Found)
    return Found.takeError();
  std::string Name = subjectOf(T, S);
  if (Found->Why) {
    Out.Without.push_back(Name + " of " + T.Target +
                          ": no winner: " + Found->Why->str());
    Observer.onNote(Out.Without.back());
    return llvm::Error::success();
  }
  llvm::Expected<std::string> Built = builtFor(T, S);
  if (!Built)
    return Built.takeError();
  std::vector<const Lookup *> All = {&*Found};
  for (const Lookup &L : Found->More)
    All.push_back(&L);
  for (const Lookup *L : All) {
    CheckedWinner W;
    W.Target = T.Target;
    W.Source = S.Source;
    W.Entry = llvm::sys::path::filename(L->From).str();
    W.Arch = L->Entry.Arch;
    W.Evaluator = printEvaluatorSpec(*Spec);
    W.GpuArch = Arch;
    W.Recorded = L->Entry.Facts;
    std::string Judged = S.Source + "\n" + L->From + "\n" + *Built;
    for (const std::string &Flag : Step->In.Flags)
      Judged += "\n" + Flag;
    if (!Seen.insert(Judged).second)
      continue;
    if (llvm::Error E = check(*Step, *L, *Built, W))
      return withContext(std::move(E), Name + " of " + T.Target);
    Observer.onWinner(W);
    Out.Winners.push_back(std::move(W));
  }
  return llvm::Error::success();
}

llvm::Expected<WinnerCheck> Checking::run() {
  for (const TargetFile &T : Request.Targets) {
    if (llvm::Error E = findHere(T))
      return E;
    for (const TargetSource &S : T.Sources)
      if (llvm::Error E = check(T, S))
        return E;
  }
  return std::move(Out);
}

llvm::Expected<WinnerCheck>
stark::checkWinners(const WinnerCheckRequest &Request,
                    CheckObserver &Observer) {
  return Checking(Request, Observer).run();
}
