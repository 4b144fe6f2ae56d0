//===- SearchRun.cpp - A search from file names --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchRun.h"
#include "stark/Agent/RulesTeam.h"
#include "stark/Search/Estimate.h"
#include "stark/Search/Record.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "clang/Basic/Version.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;
using namespace stark::tool;
using llvm::sys::fs::exists;

/// A base that takes longer to simulate is not waited for.
static constexpr uint64_t CountersTimeoutMs = 60000;

std::string tool::defaultWorkload(llvm::StringRef Source) {
  llvm::SmallString<256> Path(Source);
  llvm::sys::path::replace_extension(Path, "workload.json");
  return Path.str().str();
}

/// The folder of "replay:RUN", empty for other specs.
static std::string replayed(llvm::StringRef Spec) {
  return Spec.consume_front("replay:") ? Spec.str() : "";
}

static llvm::Expected<RunIdentity> identityOf(llvm::StringRef RunFolder) {
  std::string File = (RunFolder + "/run.json").str();
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  return parseIdentity(*Text, File);
}

llvm::Expected<std::optional<SearchOptions>>
tool::replayedOptions(llvm::StringRef Provider) {
  std::string Run = replayed(Provider);
  if (Run.empty())
    return std::optional<SearchOptions>();
  llvm::Expected<RunIdentity> Then = identityOf(Run);
  if (!Then)
    return withContext(Then.takeError(), "cannot replay");
  SearchOptions Options = Then->Options;
  if (Options.Jobs > 1) {
    llvm::Expected<std::vector<ScheduleStep>> Order = readSchedule(Run);
    if (!Order)
      return withContext(Order.takeError(), "cannot replay");
    Options.Follow = std::move(*Order);
  }
  return std::optional<SearchOptions>(std::move(Options));
}

std::string tool::promptsFolder() {
  std::string Installed = programFolder() + "/../share/stark/prompts";
  return exists(Installed) ? Installed : STARK_PROMPTS;
}

static std::string promptsFor(const SearchRequest &Request) {
  if (!Request.Prompts.empty())
    return Request.Prompts;
  if (exists(Request.RunFolder + "/run.json") &&
      exists(Request.RunFolder + "/prompts"))
    return Request.RunFolder + "/prompts";
  if (std::string Run = replayed(Request.Provider); !Run.empty())
    return Run + "/prompts";
  return tool::promptsFolder();
}

/// The architecture that the evaluator's GPU has, so that Clang sees the
/// branches that nvcc will compile.
static llvm::Expected<std::string> findArch(const SearchRequest &Request) {
  if (!Request.Arch.empty())
    return Request.Arch;
  if (std::string Run = replayed(Request.Evaluator); !Run.empty()) {
    llvm::Expected<RunIdentity> Then = identityOf(Run);
    if (!Then)
      return withContext(Then.takeError(), "cannot replay");
    return Then->Arch;
  }
  llvm::StringRef Spec = Request.Evaluator;
  if (Spec.consume_front("spool:")) {
    std::string File = (Spec + "/device.json").str();
    // Without it the evaluator says what to do.
    if (!exists(File))
      return std::string();
    llvm::Expected<std::string> Text = readFile(File);
    if (!Text)
      return Text.takeError();
    llvm::Expected<DeviceDescription> D = parseDevice(*Text, File);
    if (!D)
      return D.takeError();
    return D->Arch;
  }
  if (Spec == "cuda") {
    llvm::Expected<DeviceDescription> D = probeDevice(EvaluatorOptions());
    if (!D)
      return D.takeError();
    return D->Arch;
  }
  return std::string();
}

/// What made the run; a replay of a run was made with what that run was.
static llvm::Expected<std::map<std::string, std::string>>
versions(const SearchRequest &Request) {
  if (std::string Run = replayed(Request.Evaluator); !Run.empty()) {
    llvm::Expected<RunIdentity> Then = identityOf(Run);
    if (!Then)
      return withContext(Then.takeError(), "cannot replay");
    return Then->Options.Versions;
  }
  std::map<std::string, std::string> V;
  V["stark"] = STARK_VERSION;
  V["clang"] = CLANG_VERSION_STRING;
  if (std::optional<Toolkit> Found = findToolkit(Request.Toolkit))
    V["toolkit"] = Found->version();
  return V;
}

namespace {
/// What is asked and who answers.
struct Question {
  Task T;
  PromptSet Prompts;
  std::unique_ptr<ChatClient> Chat;
};
} // namespace

static llvm::Expected<Question> load(const SearchRequest &Request,
                                     const std::string &Arch) {
  ParseOptions Parse;
  Parse.Flags = Request.Flags;
  Parse.Toolkit = Request.Toolkit;
  if (!Arch.empty())
    Parse.Arch = Arch;
  std::string Workload = Request.Workload.empty()
                             ? defaultWorkload(Request.Source)
                             : Request.Workload;
  llvm::Expected<Task> T = loadTask(Request.Source, Workload, Parse);
  if (!T)
    return T.takeError();
  llvm::Expected<PromptSet> Prompts = loadPrompts(promptsFor(Request));
  if (!Prompts)
    return Prompts.takeError();
  llvm::Expected<ProviderSpec> Provider =
      parseProviderSpec(Request.Provider, Request.Answering.ModelsFile);
  if (!Provider)
    return Provider.takeError();
  ChatClientOptions Answering = Request.Answering;
  Answering.Exchange.WaitMs = Request.WaitMs;
  llvm::Expected<std::unique_ptr<ChatClient>> Chat =
      makeChatClient(*Provider, Answering);
  if (!Chat)
    return Chat.takeError();
  return Question{std::move(*T), std::move(*Prompts), std::move(*Chat)};
}

llvm::Error tool::printRequestEstimate(const SearchRequest &Request,
                                       llvm::raw_ostream &OS) {
  // The judge's GPU changes little, and need not be there yet.
  llvm::Expected<Question> Q = load(Request, Request.Arch);
  if (!Q)
    return Q.takeError();
  llvm::Expected<RunEstimate> E =
      estimateRun(Q->T, Q->Prompts, *Q->Chat, Request.Search);
  if (!E)
    return E.takeError();
  printEstimate(*E, OS);
  return llvm::Error::success();
}

static llvm::StringRef simulatedGpu(llvm::StringRef Arch) {
  return llvm::StringSwitch<llvm::StringRef>(Arch)
      .StartsWith("sm_80", "a100")
      .StartsWith("sm_86", "rtx4090")
      .StartsWith("sm_89", "rtx4090")
      .Default("h200");
}

namespace {
struct CountersChoice {
  std::string Of; ///< as in SearchOptions
  enum Source { Default, Recorded, Asked } From = Default;
};
} // namespace

static llvm::Expected<CountersChoice> chooseCounters(const SearchRequest &R,
                                                     const ChatClient &Chat,
                                                     llvm::StringRef Arch) {
  llvm::StringRef Spec = R.Counters;
  if (Spec == "off")
    return CountersChoice();
  if (Spec == "sim")
    return CountersChoice{("sim:" + simulatedGpu(Arch)).str(),
                          CountersChoice::Asked};
  if (Spec.starts_with("sim:") && Spec.size() > 4)
    return CountersChoice{Spec.str(), CountersChoice::Asked};
  if (!Spec.empty())
    return usageError("--counters: got '" + Spec +
                      "', wanted sim, sim:GPU or off");
  if (exists(R.RunFolder + "/run.json")) {
    llvm::Expected<RunIdentity> Then = identityOf(R.RunFolder);
    if (!Then)
      return Then.takeError();
    return CountersChoice{Then->Options.CountersOf, CountersChoice::Recorded};
  }
  if (!replayed(R.Provider).empty())
    return CountersChoice{R.Search.CountersOf, CountersChoice::Recorded};
  bool Measured = R.Evaluator == "cuda" ||
                  llvm::StringRef(R.Evaluator).starts_with("spool:");
  if (!Measured || isRulesProvider(Chat.identity()))
    return CountersChoice();
  return CountersChoice{("sim:" + simulatedGpu(Arch)).str(),
                        CountersChoice::Default};
}

/// What shows them; null when it is not there and nobody asked, or when a run
/// goes on whose journal may have them all.
static llvm::Expected<std::unique_ptr<Profiler>>
makeProfiler(const SearchRequest &Request, const Task &T,
             EvaluatorOptions Options, CountersChoice &Choice,
             SearchObserver &Observer) {
  if (Choice.Of.empty())
    return nullptr;
  if (std::string Run = replayed(Request.Evaluator); !Run.empty()) {
    llvm::Expected<RunIdentity> Then = identityOf(Run);
    if (!Then)
      return Then.takeError();
    if (Then->Options.CountersOf == Choice.Of)
      return makeReplayProfiler(Run);
  }
  Options.TimeoutMs = CountersTimeoutMs;
  llvm::Expected<std::unique_ptr<Profiler>> P = makeSimProfiler(
      T, llvm::StringRef(Choice.Of).drop_front(strlen("sim:")), Options);
  if (P || Choice.From == CountersChoice::Asked)
    return P;
  if (Choice.From == CountersChoice::Recorded) {
    llvm::consumeError(P.takeError());
    return nullptr;
  }
  Observer.onNote("plans are shown no counters: " +
                  llvm::toString(P.takeError()));
  Choice.Of.clear();
  return nullptr;
}

llvm::Expected<SearchResult>
tool::runSearchRequest(const SearchRequest &Request, SearchObserver &Observer) {
  llvm::Expected<std::string> Arch = findArch(Request);
  if (!Arch)
    return Arch.takeError();
  llvm::Expected<Question> Q = load(Request, *Arch);
  if (!Q)
    return Q.takeError();
  Task *T = &Q->T;
  EvaluatorOptions Judging;
  Judging.Build.Toolkit = Request.Toolkit;
  Judging.Build.Arch = *Arch;
  Judging.WaitMs = Request.WaitMs;
  llvm::Expected<std::unique_ptr<Evaluator>> Judge =
      makeEvaluator(Request.Evaluator, *T, Judging);
  if (!Judge)
    return Judge.takeError();
  if (Request.Known && isRepeatable(Request.Evaluator))
    *Judge = rememberVerdicts(std::move(*Judge), *T, *Request.Known);

  SearchOptions Options = Request.Search;
  if (Request.WorkloadMargin)
    Options.Margin = T->Load.Margin;
  llvm::Expected<std::map<std::string, std::string>> Versions =
      versions(Request);
  if (!Versions)
    return Versions.takeError();
  Options.Versions = std::move(*Versions);
  llvm::Expected<CountersChoice> Choice =
      chooseCounters(Request, *Q->Chat, T->Parse.Arch);
  if (!Choice)
    return Choice.takeError();
  llvm::Expected<std::unique_ptr<Profiler>> Profile =
      makeProfiler(Request, *T, Judging, *Choice, Observer);
  if (!Profile)
    return Profile.takeError();
  Options.CountersOf = Choice->Of;
  Options.Profile = Profile->get();
  // A replay of a run is made again from it in no time.
  Options.Flush =
      replayed(Request.Provider).empty() || replayed(Request.Evaluator).empty();
  llvm::Expected<SearchOutcome> Outcome = runSearch(
      *T, Q->Prompts, *Q->Chat, **Judge, Options, Request.RunFolder, Observer);
  if (!Outcome)
    return Outcome.takeError();
  return SearchResult{std::move(*T), std::move(*Outcome)};
}
