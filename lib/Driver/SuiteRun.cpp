//===- SuiteRun.cpp - The searches of a suite ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/SuiteRun.h"
#include "stark/Search/Preset.h"
#include "stark/Support/Error.h"

using namespace stark;

namespace {
/// One search of the suite.
struct Cell {
  const SuiteTask &Of;
  const std::string &Preset;
  unsigned Seed;
  std::string name() const {
    return Of.Name + "/" + Preset + "/seed-" + std::to_string(Seed);
  }
};

class CellObserver : public SearchObserver {
public:
  CellObserver(std::string Name, SuiteObserver &Observer)
      : Name(std::move(Name)), Observer(Observer) {}
  void onNode(unsigned Attempt, const Node &N, const Tree &,
              bool Recorded) override {
    Observer.onNode(Name, Attempt, N, Recorded);
  }
  void onNote(llvm::StringRef Note) override { Observer.onNote(Name, Note); }

private:
  const std::string Name;
  SuiteObserver &Observer;
};
} // namespace

static std::string filled(std::string Spec, const Cell &C,
                          const SuiteRequest &Request) {
  for (const auto &[Name, Value] :
       {std::pair<llvm::StringRef, std::string>("{task}", C.Of.Name),
        {"{preset}", C.Preset},
        {"{seed}", std::to_string(C.Seed)},
        {"{run}", C.name()},
        {"{suite}", Request.Folder.empty() ? "." : Request.Folder}})
    for (size_t At = 0; (At = Spec.find(Name, At)) != std::string::npos;
         At += Value.size())
      Spec.replace(At, Name.size(), Value);
  return Spec;
}

static llvm::Expected<SearchRequest> requestOf(const Cell &C,
                                               const SuiteRequest &Suite) {
  SearchRequest Request = Suite.Common;
  Request.Source = C.Of.Source;
  Request.Workload = C.Of.Workload;
  Request.Flags = C.Of.Flags;
  Request.Flags.insert(Request.Flags.end(), Suite.Common.Flags.begin(),
                       Suite.Common.Flags.end());
  llvm::Expected<ProviderSpec> Provider = parseProviderSpec(
      filled(Suite.Provider, C, Suite), Request.Answering.ModelsFile);
  if (!Provider)
    return Provider.takeError();
  Request.Provider = std::move(*Provider);
  llvm::Expected<EvaluatorSpec> Judge =
      parseEvaluatorSpec(filled(Suite.Evaluator, C, Suite));
  if (!Judge)
    return Judge.takeError();
  Request.Evaluator = std::move(*Judge);
  Request.Search.Seed = C.Seed;
  if (llvm::Error E = applyPreset(C.Preset, Request.Search))
    return E;
  return Request;
}

/// Runs, resumes or reads one cell.
static llvm::Expected<CellFigures> runCell(const Cell &C,
                                           const SuiteRequest &Suite,
                                           KnownVerdicts &Known,
                                           SuiteObserver &Observer) {
  llvm::Expected<SearchRequest> Request = requestOf(C, Suite);
  if (!Request)
    return Request.takeError();
  Request->Known = &Known;
  std::string RunFolder = Suite.Out + "/" + C.name();
  CellObserver Told(C.name(), Observer);
  llvm::Expected<std::unique_ptr<PreparedSearch>> Prepared =
      prepareSearch(*Request, RunFolder, Told);
  if (!Prepared)
    return Prepared.takeError();
  llvm::Expected<SearchOutcome> Outcome = (*Prepared)->run(RunFolder);
  if (!Outcome)
    return Outcome.takeError();
  llvm::Expected<RecordedRun> Run = readRun(RunFolder);
  if (!Run)
    return Run.takeError();
  CellFigures F = figuresOf(*Run);
  F.Task = C.Of.Name;
  F.Group = C.Of.Group;
  F.Preset = C.Preset;
  compareWith(C.Of, Suite.Baselines, F);
  return F;
}

llvm::Expected<SuiteResult> stark::runSuite(const SuiteRequest &Request,
                                            SuiteObserver &Observer) {
  SuiteResult R;
  R.Suite = Request.Tasks.Name;
  R.Attempts = Request.Common.Search.Attempts;
  R.Seeds = Request.Seeds;
  R.Presets = Request.Presets;
  R.Missing = Request.Missing;
  if (Request.TasksMayBeWrong && !Request.Tasks.Tasks.empty()) {
    // What all tasks share is right, or nothing is run.
    Cell First{Request.Tasks.Tasks.front(), Request.Presets.front(), 1};
    if (llvm::Expected<SearchRequest> Shared = requestOf(First, Request);
        !Shared)
      return Shared.takeError();
  }
  // What one preset's candidate came to on a simulated GPU, the same candidate
  // of another one comes to as well.
  KnownVerdicts Known;
  for (const SuiteTask &Of : Request.Tasks.Tasks)
    for (const std::string &Preset : Request.Presets)
      for (unsigned Seed = 1; Seed <= Request.Seeds; ++Seed) {
        Cell C{Of, Preset, Seed};
        llvm::Expected<CellFigures> F = runCell(C, Request, Known, Observer);
        if (F) {
          R.Cells.push_back(std::move(*F));
          continue;
        }
        llvm::Error E = withContext(F.takeError(), C.name());
        ErrorKind Kind = errorKind(E);
        if (Kind == ErrorKind::Interrupted ||
            (Kind == ErrorKind::Usage && !Request.TasksMayBeWrong))
          return E;
        // The other runs need not wait for it.
        R.Missing.push_back(
            {llvm::toString(std::move(E)), Kind == ErrorKind::Suspended});
      }
  return R;
}

llvm::Error stark::missingRuns(const SuiteResult &R) {
  if (R.Missing.empty())
    return llvm::Error::success();
  const MissingRun *First = &R.Missing.front();
  for (const MissingRun &M : R.Missing)
    if (First->Suspended && !M.Suspended)
      First = &M;
  std::string Text = First->Why + "; " + std::to_string(R.Missing.size()) +
                     " of " +
                     std::to_string(R.Missing.size() + R.Cells.size()) +
                     " runs have not ended";
  return First->Suspended ? suspended(Text) : failed(Text);
}

llvm::Error stark::checkPresets(const std::vector<std::string> &Presets) {
  for (size_t I = 0; I < Presets.size(); ++I) {
    SearchOptions Unused;
    if (llvm::Error E = applyPreset(Presets[I], Unused))
      return usageError("--presets: " + llvm::toString(std::move(E)));
    if (llvm::is_contained(llvm::ArrayRef(Presets).take_front(I), Presets[I]))
      return usageError("--presets: got '" + Presets[I] + "' twice");
  }
  return llvm::Error::success();
}
