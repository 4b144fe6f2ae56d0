//===- DraftProof.cpp - Whether a draft runs ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/DraftProof.h"
#include "BusySize.h"
#include "Reach.h"
#include "stark/Eval/WorkloadProof.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include <chrono>
#include <sys/resource.h>

using namespace stark;

static llvm::Expected<Verdict> judged(const std::string &Workload,
                                      llvm::StringRef SourcePath,
                                      const ParseOptions &Parse,
                                      const EvaluatorOptions &Options) {
  llvm::Expected<Task> T = loadTask(SourcePath, Workload, Parse);
  if (!T)
    return T.takeError();
  llvm::Expected<std::unique_ptr<Evaluator>> Judge =
      makeSimEvaluator(*T, "h200", Options);
  if (!Judge)
    return Judge.takeError();
  Candidate C;
  C.Seed = 1;
  C.Text = T->SourceText;
  return (*Judge)->evaluate(C);
}

static std::optional<ModelledUs> timesOf(const std::string &Workload,
                                         const std::string &Path,
                                         llvm::StringRef SourcePath,
                                         const ParseOptions &Parse,
                                         const EvaluatorOptions &Options) {
  if (llvm::errorToBool(writeFileAtomically(Path, Workload)))
    return std::nullopt;
  llvm::Expected<Verdict> V = judged(Path, SourcePath, Parse, Options);
  if (!V) {
    llvm::consumeError(V.takeError());
    return std::nullopt;
  }
  if (!V->correct() || V->Timings.empty())
    return std::nullopt;
  return ModelledUs{V->Timings.front().SourceMedianUs,
                    V->Timings.back().SourceMedianUs};
}

/// The first line of what was found, and where.
static std::string findingOf(const Verdict &V) {
  for (const std::string *Text : {&V.Run, &V.Compiler}) {
    llvm::StringRef Line = llvm::StringRef(*Text).trim().split('\n').first;
    if (!Line.empty())
      return (verdictName(V.Kind) + ": " + Line).str();
  }
  return verdictName(V.Kind).str();
}

/// All of it, for who reads the source beside it.
static std::string wholeFinding(const Verdict &V, llvm::StringRef SourcePath) {
  std::string Text = verdictName(V.Kind).str();
  for (const std::string *Part : {&V.Compiler, &V.Run})
    if (llvm::StringRef Said = llvm::StringRef(*Part).trim(); !Said.empty())
      Text += ("\n" + Said).str();
  return withoutFolderOf(std::move(Text), SourcePath);
}

/// Processor time of the children that have ended.
static std::chrono::microseconds childrensTime() {
  rusage Usage = {};
  getrusage(RUSAGE_CHILDREN, &Usage);
  return std::chrono::seconds(Usage.ru_utime.tv_sec + Usage.ru_stime.tv_sec) +
         std::chrono::microseconds(Usage.ru_utime.tv_usec +
                                   Usage.ru_stime.tv_usec);
}

namespace {
/// A proof is for somebody who waits. On a machine that others use as well it
/// comes to the same, so that what a model is asked about it is the same, too.
class Patience {
public:
  bool isLost() const {
    return childrensTime() - Taken > std::chrono::minutes(1) ||
           std::chrono::steady_clock::now() - Began > std::chrono::minutes(10);
  }

private:
  std::chrono::microseconds Taken = childrensTime();
  std::chrono::steady_clock::time_point Began =
      std::chrono::steady_clock::now();
};
} // namespace

/// What \p In has as well.
static void keepOf(std::set<std::string> &Names,
                   const std::set<std::string> &In) {
  std::erase_if(Names, [&](const std::string &N) { return !In.count(N); });
}

/// After form \p Proved was: what of the arguments a call reaches in full,
/// whatever they hold, and at another small size where there is one that runs.
static llvm::Error
countBytes(Draft &D, SmallSize Proved, const std::string &Path,
           llvm::StringRef SourcePath, const ParseOptions &Parse,
           const EvaluatorOptions &Options, const Patience &Wait) {
  std::optional<WholeArguments> Seen;
  auto Run = [&](SmallSize Form, bool SameValues) -> llvm::Expected<bool> {
    if (llvm::Error E =
            writeFileAtomically(Path, D.text(Form, DraftSizes::Small)))
      return E;
    llvm::Expected<Task> T = loadTask(SourcePath, Path, Parse);
    if (!T) {
      llvm::consumeError(T.takeError());
      return false;
    }
    llvm::Expected<std::optional<WholeArguments>> Whole =
        reachOfSource(*T, SameValues, Options);
    if (!Whole)
      return Whole.takeError();
    if (!*Whole)
      return false;
    if (!Seen)
      Seen = **Whole;
    keepOf(Seen->Read, (*Whole)->Read);
    keepOf(Seen->Written, (*Whole)->Written);
    return true;
  };
  for (bool SameValues : {false, true}) {
    if (Wait.isLost())
      return llvm::Error::success();
    llvm::Expected<bool> Ran = Run(Proved, SameValues);
    if (!Ran || !*Ran)
      return Ran.takeError();
  }
  for (SmallSize Other :
       {SmallSize::Ragged, SmallSize::Aligned, SmallSize::Powers}) {
    if (Other == Proved || !D.differs(Other))
      continue;
    if (Wait.isLost())
      return llvm::Error::success();
    llvm::Expected<bool> Ran = Run(Other, /*SameValues=*/false);
    if (!Ran)
      return Ran.takeError();
    if (*Ran)
      break;
  }
  D.countBytes(*Seen);
  return llvm::Error::success();
}

llvm::Expected<DraftProof> stark::proveDraft(Draft &D,
                                             llvm::StringRef SourcePath,
                                             const ParseOptions &Parse,
                                             const EvaluatorOptions &Options) {
  DraftProof Proof;
  llvm::Expected<TemporaryFolder> Folder =
      TemporaryFolder::create("stark-draft");
  if (!Folder)
    return Folder.takeError();
  std::string Path = (Folder->path() + "/workload.json").str();
  // Of those that a task can be made of, the first.
  std::optional<SmallSize> Loads;
  auto Unproved = [&] {
    return Loads && D.fits(*Loads) ? *Loads : likelyForm(D);
  };
  Patience Wait;
  for (bool Filled : {false, true}) {
    if (Filled && !D.fillOutputs())
      break;
    for (SmallSize Form : {SmallSize::Ragged, SmallSize::Aligned,
                           SmallSize::Powers, SmallSize::None}) {
      if (!D.differs(Form))
        continue;
      if (Wait.isLost()) {
        Proof.Note += "; no other size was tried after a minute";
        if (Filled)
          D.keepOutputs();
        Proof.Form = Unproved();
        return Proof;
      }
      if (llvm::Error E =
              writeFileAtomically(Path, D.text(Form, DraftSizes::Small)))
        return E;
      llvm::Expected<Verdict> V = judged(Path, SourcePath, Parse, Options);
      if (!V) {
        // What is wrong with the workload, as a grid of 0, or with the machine.
        std::string Why = withoutFolderOf(llvm::toString(V.takeError()), Path);
        if (Proof.Note.empty())
          Proof.Note = "not proved: " + Why;
        continue;
      }
      Loads = Loads.value_or(Form);
      if (V->correct()) {
        Proof.Form = Form;
        Proof.Proved = true;
        Proof.Found = degeneraciesIn(V->Run);
        Proof.Note = "proved in the simulator at its small size";
        if (llvm::Error E =
                countBytes(D, Form, Path, SourcePath, Parse, Options, Wait))
          return E;
        Patience More;
        offerBusySize(D, Form, [&](const std::string &Workload) {
          return More.isLost()
                     ? std::nullopt
                     : timesOf(Workload, Path, SourcePath, Parse, Options);
        });
        return Proof;
      }
      if (Proof.Note.empty()) {
        Proof.Note = "not proved in the simulator: " + findingOf(*V);
        Proof.Found = wholeFinding(*V, SourcePath);
      }
      // A host function may have another way for what is ragged.
      bool Other = Form == SmallSize::Ragged && !D.entry().IsKernel &&
                   V->Kind == VerdictKind::Unsupported;
      if (V->Kind == VerdictKind::TimedOut ||
          (V->Kind == VerdictKind::Unsupported && !Other) ||
          V->Kind == VerdictKind::NotCompiled) {
        Proof.Form = Unproved();
        return Proof;
      }
    }
  }
  D.keepOutputs();
  Proof.Form = Unproved();
  return Proof;
}
