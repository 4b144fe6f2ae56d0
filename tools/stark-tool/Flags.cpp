//===- Flags.cpp - Flags that verbs share --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/AST/Flags.h"
#include "stark/Report/Review.h"
#include "stark/Search/Preset.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace stark::tool;

llvm::Error tool::checkRange(const Flag<unsigned> &F, unsigned Least,
                             unsigned Most) {
  if (F >= Least && F <= Most)
    return llvm::Error::success();
  return usageError(
      "--" + F.ArgStr + ": got " + llvm::Twine(F.getValue()) + ", wanted " +
      (Least ? llvm::Twine(Least) + " to " : "at most ") + llvm::Twine(Most));
}

SourceFlags::SourceFlags(cl::SubCommand &Of)
    : File(cl::Positional, cl::desc("FILE.cu"), cl::Required, cl::sub(Of)),
      Workload(Of, "workload", cl::value_desc("file"),
               cl::desc("What the entry is called with (default: "
                        "NAME.workload.json beside FILE.cu)")) {}

std::string SourceFlags::workload() const {
  return Workload.empty() ? defaultWorkload(File) : Workload.getValue();
}

static const char *const ToolkitText = "CUDA toolkit (default: found)";

ParseFlags::ParseFlags(cl::SubCommand &Of)
    : Arch(Of, "arch", cl::value_desc("sm_NN"), cl::init("sm_90"),
           cl::desc("GPU architecture to parse for (default sm_90)")),
      CudaPath(Of, "cuda-path", cl::value_desc("dir"), cl::desc(ToolkitText)) {}

llvm::Expected<ParseOptions>
ParseFlags::options(llvm::StringRef File,
                    const std::vector<std::string> &Flags) const {
  ParseOptions Options;
  Options.Flags = Flags;
  Options.Arch = Arch;
  Options.Toolkit = CudaPath;
  if (llvm::Error E = completeFlags(File, Options))
    return E;
  return Options;
}

ProviderFlags::ProviderFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need)
    : Provider(Of, "provider", cl::value_desc("spec"), Need,
               cl::desc("Who answers the agents' requests")),
      Model(Of, "model", cl::value_desc("name"),
            cl::desc("Model of an HTTP provider (default: the provider's)")),
      BaseUrl(
          Of, "base-url", cl::value_desc("url"),
          cl::desc("Address of an HTTP provider (default: the provider's)")),
      Models(Of, "models", cl::value_desc("file"),
             cl::desc("More models, capabilities and prices, as "
                      "docs/providers.md says")) {}

ChatClientOptions ProviderFlags::answering() const {
  ChatClientOptions Options;
  Options.Model = Model;
  Options.BaseUrl = BaseUrl;
  Options.ModelsFile = Models;
  return Options;
}

EvaluatorFlags::EvaluatorFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need)
    : Evaluator(Of, "evaluator", cl::value_desc("spec"), Need,
                cl::desc("Who judges candidates")),
      Wait(Of, "wait", cl::init(0), cl::value_desc("seconds"),
           cl::desc("How long to wait for each answer or result before "
                    "suspending (default 0; for a worker of Slurm's a week)")),
      Arch(Of, "arch", cl::value_desc("sm_NN"),
           cl::desc("GPU architecture (default: that of the evaluator's GPU, "
                    "or of the run)")),
      CudaPath(Of, "cuda-path", cl::value_desc("dir"), cl::desc(ToolkitText)) {}

SearchFlags::SearchFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need)
    : ProviderFlags(Of, Need), EvaluatorFlags(Of, Need),
      Attempts(Of, "attempts", cl::init(30), cl::value_desc("n"),
               cl::desc("Attempts of a search (default 30)")),
      Jobs(Of, "jobs", cl::init(1), cl::value_desc("n"),
           cl::desc("Attempts in flight on the one tree, 1 to 256 (default 1, "
                    "which alone is repeatable with a live model)")),
      Budget(Of, "budget", cl::value_desc("limit"), cl::CommaSeparated,
             cl::desc("Of each search: tokens=N, usd=X, minutes=M; code:usd=X "
                      "is of one role. A spent budget ends it with the best "
                      "so far")),
      Prompts(Of, "prompts", cl::value_desc("dir"),
              cl::desc("Prompt files (default: those of the run that goes on "
                       "or is replayed, then the tool's)")),
      NoExtract(Of, "no-extract",
                cl::desc("Search the file alone, not what its entry reaches in "
                         "headers of the project")) {}

llvm::Error SearchFlags::check() const {
  if (llvm::Error E = checkRange(Jobs, 1, 256))
    return E;
  return checkRange(Attempts, 0, 100000);
}

SearchRequest SearchFlags::request() const {
  SearchRequest Request;
  Request.Answering = answering();
  Request.Prompts = Prompts;
  Request.Arch = Arch;
  Request.Toolkit = CudaPath;
  Request.WaitMs = uint64_t(Wait) * 1000;
  Request.Extract = !NoExtract;
  return Request;
}

llvm::Error SearchFlags::apply(SearchOptions &Search) const {
  if (Attempts.given())
    Search.Attempts = Attempts;
  if (Jobs.given())
    Search.Jobs = Jobs;
  if (!Budget.given())
    return llvm::Error::success();
  llvm::Expected<std::vector<BudgetLimit>> Limits =
      parseBudgetLimits(Budget.values());
  if (!Limits)
    return Limits.takeError();
  Search.Limits = std::move(*Limits);
  return llvm::Error::success();
}

RemarksFlag::RemarksFlag(cl::SubCommand &Of)
    : Flag(Of, "remarks", cl::value_desc("file"),
           cl::desc("Write the run as LLVM's optimisation remarks, in YAML "
                    "(docs/review.md)")) {}

llvm::Error RemarksFlag::write(const RecordedRun &Run) const {
  if (empty())
    return llvm::Error::success();
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (llvm::Error E = printRemarks(Run, OS))
    return E;
  return writeFileAtomically(getValue(), Text);
}

ProgressFlags::ProgressFlags(cl::SubCommand &Of)
    : Quiet(Of, "quiet", cl::desc("Print the result alone")),
      Explain(Of, "explain",
              cl::desc("Say which node was selected, why, and what the agents "
                       "were shown")),
      Events(Of, "events", cl::value_desc("file"),
             cl::desc("Write what happens as JSON, an object a line "
                      "(docs/progress.md)")) {}

ProgressOptions ProgressFlags::options() const {
  ProgressOptions Options;
  Options.Quiet = Quiet;
  Options.Explain = Explain;
  Options.EventsFile = Events;
  return Options;
}

/// Flags keep no text of their own.
static llvm::StringRef presetText() {
  static const std::string Text =
      "One of " + llvm::join(presetNames(), ", ") +
      " (docs/search.md; default: stark, the paper's search). Flags beside it "
      "win";
  return Text;
}

OneSearchFlags::OneSearchFlags(cl::SubCommand &Of, cl::NumOccurrencesFlag Need)
    : SearchFlags(Of, Need),
      Seed(Of, "seed", cl::init(1), cl::value_desc("n"),
           cl::desc("Of every draw of the search (default 1)")),
      Preset(Of, "preset", cl::value_desc("name"), cl::desc(presetText())),
      Patience(Of, "patience", cl::init(DefaultPatience), cl::value_desc("n"),
               cl::desc("End once n attempts, and as many as the last gain had "
                        "taken, have made the best less than 5 % faster, one "
                        "having beaten the source by as much; 0: never "
                        "(default 5; 0 for rules)")),
      StopAt(Of, "stop-at", cl::init(DefaultStopAt), cl::value_desc("share"),
             cl::desc("End once the fastest spends this share of its time, in "
                      "each size, on moving the workload's \"bytes\" at the "
                      "GPU's copy rate; 0: never (default 0.95)")) {}

llvm::Error OneSearchFlags::check() const {
  if (llvm::Error E = SearchFlags::check())
    return E;
  if (!(StopAt >= 0 && StopAt <= 1))
    return usageError("--stop-at: got " + std::to_string(StopAt) +
                      ", wanted a share from 0 to 1");
  return checkRange(Patience, 0, 100000);
}

llvm::Expected<SearchRequest> OneSearchFlags::request() const {
  llvm::Expected<ProviderSpec> Answers = parseProviderSpec(Provider, Models);
  if (!Answers)
    return Answers.takeError();
  llvm::Expected<EvaluatorSpec> Judges = parseEvaluatorSpec(Evaluator);
  if (!Judges)
    return Judges.takeError();
  SearchRequest Request = SearchFlags::request();
  Request.Provider = std::move(*Answers);
  Request.Evaluator = std::move(*Judges);
  if (Patience.given())
    Request.Patience = Patience.getValue();
  if (StopAt.given())
    Request.StopAt = StopAt.getValue();
  return Request;
}

llvm::Error OneSearchFlags::apply(SearchOptions &Search) const {
  if (!Preset.empty())
    if (llvm::Error E = applyPreset(Preset, Search))
      return usageError("--preset: " + llvm::toString(std::move(E)));
  if (Seed.given())
    Search.Seed = Seed;
  return SearchFlags::apply(Search);
}
