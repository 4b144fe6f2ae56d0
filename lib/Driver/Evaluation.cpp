//===- Evaluation.cpp - Candidates that somebody wrote --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/Evaluation.h"
#include "FindArch.h"
#include "stark/AST/SourceFile.h"
#include "stark/Driver/SearchRequest.h"
#include "stark/Search/CheckCandidate.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "stark/Task/ExtractedTask.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <thread>

using namespace stark;

unsigned Evaluation::correct() const {
  return unsigned(llvm::count_if(Candidates, [](const JudgedCandidate &C) {
    return C.Found && C.Found->correct();
  }));
}

namespace {
class Evaluating {
public:
  Evaluating(const EvaluationRequest &Request, const Task &Of,
             EvaluationObserver &Observer)
      : Request(Request), Of(Of), Observer(Observer) {}

  llvm::Error readPlan();
  llvm::Error readCandidates();
  llvm::Expected<Evaluation> run(const EvaluatorOptions &Options);

private:
  /// Judges what has no verdict yet; a queue may keep it.
  llvm::Error pass(Evaluator &Judge);
  void beginAll(Evaluator &Judge);
  Candidate candidate(size_t I) const;
  llvm::Expected<std::optional<Verdict>> check(llvm::StringRef Text) const;

  const EvaluationRequest &Request;
  const Task &Of;
  EvaluationObserver &Observer;
  std::optional<std::vector<Anchor>> Anchors; ///< of the plan
  std::vector<std::string> Texts;
  /// Of each text that was checked, the verdict where it keeps a rule not.
  std::vector<std::optional<std::optional<Verdict>>> Checked;
  Evaluation Out;
};
} // namespace

llvm::Error Evaluating::readPlan() {
  if (Request.Plan.empty())
    return llvm::Error::success();
  llvm::Expected<std::string> Marked = readText(Request.Plan);
  if (!Marked)
    return Marked.takeError();
  llvm::Expected<std::vector<Anchor>> Found =
      groundMarks(*Of.Parsed, findSites(*Of.Parsed), *Marked);
  if (!Found)
    return withContext(Found.takeError(), Request.Plan);
  Anchors = std::move(*Found);
  return llvm::Error::success();
}

llvm::Error Evaluating::readCandidates() {
  std::vector<std::string> Files = Request.Candidates;
  if (Files.empty())
    Files.push_back(Request.Source);
  Texts = Request.Texts;
  for (const std::string &File : Files) {
    if (Request.Texts.empty()) {
      llvm::Expected<std::string> Text = readSource(File);
      if (!Text)
        return Text.takeError();
      Texts.push_back(std::move(*Text));
    }
    Out.Candidates.emplace_back();
    Out.Candidates.back().File = File;
  }
  return llvm::Error::success();
}

llvm::Expected<std::optional<Verdict>>
Evaluating::check(llvm::StringRef Text) const {
  if (Text == Of.SourceText || Request.Held)
    return std::nullopt;
  CheckRequest R{Of, std::nullopt,
                 Request.MadeOf ? llvm::StringRef(*Request.MadeOf) : Text};
  if (Anchors)
    R.To = Told{Of.SourceText, *Anchors, Request.Strictness};
  return checkCandidate(R);
}

Candidate Evaluating::candidate(size_t I) const {
  Candidate C;
  C.Node = Texts[I] == Of.SourceText ? 0 : unsigned(I) + 1;
  C.Why = Request.Candidates.empty() ? Purpose::Confirm : Request.Why;
  C.Text = Texts[I];
  C.Seed = Request.Seed;
  C.Profiled = Request.Profiled;
  return C;
}

/// Checks all and builds those that may be, as many at once as there are
/// processors. What fails is met again, and told, in its turn.
void Evaluating::beginAll(Evaluator &Judge) {
  std::atomic<size_t> Next = 0;
  auto Work = [&] {
    for (size_t I; (I = Next++) < Texts.size();) {
      if (Request.Cancelled && *Request.Cancelled)
        return;
      TraceSubject Subject(Out.Candidates[I].File);
      Clock::Time Start = Request.Time->now();
      Candidate C = candidate(I);
      Judge.prepare(C);
      llvm::Expected<std::optional<Verdict>> Found = check(Texts[I]);
      if (!Found) {
        llvm::consumeError(Found.takeError());
        continue;
      }
      if (!*Found)
        Judge.begin(C);
      Checked[I] = std::move(*Found);
      Out.Candidates[I].WallMs += Request.Time->millisecondsSince(Start);
    }
  };
  size_t Most = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> Threads;
  for (size_t I = 0; I < std::min(Most, Texts.size()); ++I)
    Threads.emplace_back(traced(Work));
  for (std::thread &T : Threads)
    T.join();
}

llvm::Error Evaluating::pass(Evaluator &Judge) {
  Out.Waiting.clear();
  for (size_t I = 0; I < Texts.size(); ++I) {
    JudgedCandidate &C = Out.Candidates[I];
    if (C.Found)
      continue;
    if (Request.Cancelled && *Request.Cancelled)
      return interrupted("before " + C.File);
    TraceSubject Subject(C.File);
    Clock::Time Start = Request.Time->now();
    Candidate Next = candidate(I);
    Next.OnWait = [&](llvm::StringRef Why) { Observer.onNote(Why); };
    if (!Checked[I]) {
      Judge.prepare(Next);
      llvm::Expected<std::optional<Verdict>> Found = check(Texts[I]);
      if (!Found)
        return withContext(Found.takeError(), C.File);
      Checked[I] = std::move(*Found);
    }
    C.Found = *Checked[I];
    if (!C.Found) {
      TraceScope Traced("judge");
      llvm::Expected<Verdict> V = Judge.evaluate(Next);
      if (V)
        C.Found = std::move(*V);
      else if (llvm::Error E = V.takeError();
               errorKind(E) == ErrorKind::Suspended)
        Out.Waiting = llvm::toString(std::move(E));
      else
        return withContext(std::move(E), C.File);
    }
    C.WallMs += Request.Time->millisecondsSince(Start);
    if (C.Found)
      Observer.onVerdict(C);
  }
  return llvm::Error::success();
}

llvm::Expected<Evaluation> Evaluating::run(const EvaluatorOptions &Options) {
  // A queue is given all before any is waited for.
  for (uint64_t WaitMs : {uint64_t(0), Options.WaitMs}) {
    EvaluatorOptions Now = Options;
    Now.WaitMs = WaitMs;
    llvm::Expected<std::unique_ptr<Evaluator>> Judge =
        makeEvaluator(Request.Evaluator, Of, Now, *Request.Time);
    if (!Judge)
      return Judge.takeError();
    Out.Evaluator = (*Judge)->identity();
    if (Checked.empty()) {
      Checked.resize(Texts.size());
      if (Texts.size() > 1)
        beginAll(**Judge);
    }
    if (llvm::Error E = pass(**Judge))
      return E;
    if (Out.Waiting.empty() || !Options.WaitMs)
      break;
  }
  Out.TaskName = Of.Name;
  Out.Entry = Of.Load.Entry;
  return std::move(Out);
}

/// The task that the candidates are forms of.
static llvm::Expected<ExtractedTask> taskFor(const EvaluationRequest &Request,
                                             const ParseOptions &Parse) {
  std::string Workload = Request.Workload.empty()
                             ? defaultWorkload(Request.Source)
                             : Request.Workload;
  // A plan marks the file that it was given.
  if (!Request.Extract || !Request.Plan.empty() || Request.Candidates.empty())
    return loadWith(/*Extract=*/false, Request.Source, Workload, Parse);
  std::vector<std::string> Texts = Request.Texts;
  for (const std::string &File : Request.Candidates)
    if (Request.Texts.empty()) {
      llvm::Expected<std::string> Text = readText(File);
      if (!Text)
        return Text.takeError();
      Texts.push_back(std::move(*Text));
    }
  return loadTaskOf(Texts, Request.Source, Workload, Parse);
}

llvm::Expected<Evaluation>
stark::evaluateCandidates(const EvaluationRequest &Request,
                          EvaluationObserver &Observer) {
  if (Request.Evaluator.Of == EvaluatorSpec::Kind::Replay)
    return usageError("evaluator: got '" +
                      printEvaluatorSpec(Request.Evaluator) +
                      "', wanted cuda, sim[:GPU], spool:DIR or "
                      "slurm[:PARTITION]");
  llvm::Expected<std::string> Arch =
      findArch(Request.Evaluator, Request.Arch, /*Replayed=*/"");
  if (!Arch)
    return Arch.takeError();
  ParseOptions Parse;
  Parse.Flags = Request.Flags;
  Parse.Toolkit = Request.Toolkit;
  if (!Arch->empty())
    Parse.Arch = *Arch;
  llvm::Expected<ExtractedTask> T = taskFor(Request, Parse);
  if (!T)
    return T.takeError();
  if (!Request.Others)
    T->Of.Load.AddSizes = T->Of.Load.Misaligned = false;
  Evaluating Work(Request, T->Of, Observer);
  if (llvm::Error E = Work.readPlan())
    return E;
  if (llvm::Error E = Work.readCandidates())
    return E;
  EvaluatorOptions Options;
  Options.Build.Toolkit = Request.Toolkit;
  Options.Build.Arch = *Arch;
  Options.WaitMs = Request.Evaluator.waitMs(Request.WaitMs);
  return Work.run(Options);
}
