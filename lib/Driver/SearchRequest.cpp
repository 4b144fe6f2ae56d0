//===- SearchRequest.cpp - A search from file names and specs ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/SearchRequest.h"
#include "Counters.h"
#include "FindArch.h"
#include "stark/Agent/RulesTeam.h"
#include "stark/Search/Estimate.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "clang/Basic/Version.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;
using llvm::sys::fs::exists;

std::string stark::defaultWorkload(llvm::StringRef Source) {
  llvm::SmallString<256> Path(Source);
  llvm::sys::path::replace_extension(Path, "workload.json");
  return Path.str().str();
}

std::string stark::promptsFolder() {
  return sharedFolder("prompts", STARK_PROMPTS);
}

/// The identity of the run that is replayed; unset when none is.
static llvm::Expected<std::optional<RunIdentity>>
replayed(llvm::StringRef RunFolder) {
  if (RunFolder.empty())
    return std::nullopt;
  llvm::Expected<RunIdentity> Then = readIdentity(RunFolder);
  if (!Then)
    return withContext(Then.takeError(), "cannot replay");
  return std::optional<RunIdentity>(std::move(*Then));
}

llvm::Expected<std::optional<SearchOptions>>
stark::replayedOptions(const ProviderSpec &Provider) {
  llvm::Expected<std::optional<RunIdentity>> Then =
      replayed(Provider.replayedRun());
  if (!Then)
    return Then.takeError();
  if (!*Then)
    return std::optional<SearchOptions>();
  return std::optional<SearchOptions>(std::move((*Then)->Options));
}

llvm::Expected<std::unique_ptr<ChatClient>>
stark::makeAnsweringClient(const ProviderSpec &Provider,
                           ChatClientOptions Options, Clock &Time) {
  llvm::Expected<std::optional<RunIdentity>> Then =
      replayed(Provider.replayedRun());
  if (!Then)
    return Then.takeError();
  if (*Then)
    Options.ReplayedAs = (*Then)->Provider;
  return makeChatClient(Provider, Options, Time);
}

/// The order in which the run that \p Provider replays was made; empty for
/// other specs, and when another number of jobs cannot follow it.
static llvm::Expected<std::vector<ScheduleStep>>
orderToFollow(const ProviderSpec &Provider, unsigned Jobs) {
  std::string Run = Provider.replayedRun();
  if (Jobs == 1 || Run.empty())
    return std::vector<ScheduleStep>();
  llvm::Expected<std::optional<RunIdentity>> Then = replayed(Run);
  if (!Then)
    return Then.takeError();
  if ((*Then)->Options.Jobs != Jobs)
    return std::vector<ScheduleStep>();
  llvm::Expected<std::vector<ScheduleStep>> Order = readSchedule(Run);
  if (!Order)
    return withContext(Order.takeError(), "cannot replay");
  return Order;
}

static bool isRun(const std::string &Folder) {
  return !Folder.empty() && exists(Folder + "/run.json");
}

static std::string promptsFor(const SearchRequest &Request,
                              const std::string &GoesOn) {
  if (!Request.Prompts.empty())
    return Request.Prompts;
  if (isRun(GoesOn) && exists(GoesOn + "/prompts"))
    return GoesOn + "/prompts";
  if (std::string Run = Request.Provider.replayedRun(); !Run.empty())
    return Run + "/prompts";
  return promptsFolder();
}

/// What made the run; a replay of a run was made with what that run was.
static std::map<std::string, std::string>
versions(const SearchRequest &Request,
         const std::optional<RunIdentity> &Judged) {
  if (Judged)
    return Judged->Versions;
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
  Task Of;
  std::shared_ptr<const UsersSource> Users; ///< null unless extracted
  std::string Note;
  PromptSet Prompts;
  std::unique_ptr<ChatClient> Chat;
};

class Prepared : public PreparedSearch {
public:
  Prepared(Question Q, SearchOptions Options, SearchObserver &Observer)
      : Q(std::move(Q)), Options(std::move(Options)), Observer(Observer) {}

  const Task &task() const override { return Q.Of; }
  const UsersSource *users() const override { return Q.Users.get(); }
  RunIdentity identity() const override { return identityOf(*Setup, Options); }
  void setExtent(const RunExtent &To) override {
    Options.Attempts = To.Attempts;
    Options.Limits = To.Limits;
  }
  llvm::Expected<SearchOutcome> run(llvm::StringRef RunFolder) override {
    return runSearch(*Setup, Options, RunFolder, Observer);
  }

  /// When enough was found.
  void chooseEnd(const SearchRequest &Request, const RunIdentity *Before);
  /// The rest, which refers to the task where it is now.
  llvm::Error chooseJudge(const SearchRequest &Request, const std::string &Arch,
                          const std::optional<RunIdentity> &Judged,
                          const std::optional<RunIdentity> &Before);

private:
  const Question Q;
  SearchOptions Options;
  SearchObserver &Observer;
  std::unique_ptr<Evaluator> Judge;
  std::unique_ptr<Profiler> Profile;
  std::optional<SearchSetup> Setup; ///< unset until the judge was chosen
};
} // namespace

static llvm::Expected<Question> load(const SearchRequest &Request,
                                     const std::string &GoesOn,
                                     const std::string &Arch) {
  ParseOptions Parse;
  Parse.Flags = Request.Flags;
  Parse.Toolkit = Request.Toolkit;
  Parse.Torch = Request.Torch;
  if (!Arch.empty())
    Parse.Arch = Arch;
  std::string Workload = Request.Workload.empty()
                             ? defaultWorkload(Request.Source)
                             : Request.Workload;
  llvm::Expected<ExtractedTask> T =
      loadWith(Request.Extract, Request.Source, Workload, Parse);
  if (!T)
    return T.takeError();
  llvm::Expected<PromptSet> Prompts = loadPrompts(promptsFor(Request, GoesOn));
  if (!Prompts)
    return Prompts.takeError();
  ChatClientOptions Answering = Request.Answering;
  Answering.Exchange.WaitMs = Request.WaitMs;
  llvm::Expected<std::unique_ptr<ChatClient>> Chat = makeAnsweringClient(
      Request.Provider, std::move(Answering), *Request.Time);
  if (!Chat)
    return Chat.takeError();
  return Question{std::move(T->Of), std::move(T->Users), std::move(T->Note),
                  std::move(*Prompts), std::move(*Chat)};
}

llvm::Error stark::printRequestEstimate(const SearchRequest &Request,
                                        llvm::StringRef GoesOn,
                                        llvm::raw_ostream &OS) {
  SearchRequest Asked = Request;
  Asked.Answering.NeedsKey = false; // nobody is asked
  // The judge's GPU changes little, and need not be there yet.
  llvm::Expected<Question> Q = load(Asked, GoesOn.str(), Request.Arch);
  if (!Q)
    return Q.takeError();
  llvm::Expected<RunEstimate> E =
      estimateRun(Q->Of, Q->Prompts, *Q->Chat, Request.Search);
  if (!E)
    return E.takeError();
  printEstimate(*E, OS);
  return llvm::Error::success();
}

void Prepared::chooseEnd(const SearchRequest &Request,
                         const RunIdentity *Before) {
  // A replay has its run's options from the start.
  if (Before) {
    Options.Patience = Before->Options.Patience;
    Options.StopAt = Before->Options.StopAt;
  } else if (Request.Provider.replayedRun().empty()) {
    Options.Patience =
        isRulesProvider(Q.Chat->identity()) ? 0 : DefaultPatience;
    Options.StopAt = DefaultStopAt;
  }
  if (Request.Patience)
    Options.Patience = *Request.Patience;
  if (Request.StopAt)
    Options.StopAt = *Request.StopAt;
}

llvm::Error Prepared::chooseJudge(const SearchRequest &Request,
                                  const std::string &Arch,
                                  const std::optional<RunIdentity> &Judged,
                                  const std::optional<RunIdentity> &Before) {
  EvaluatorOptions Judging;
  Judging.Build.Toolkit = Request.Toolkit;
  Judging.Build.Arch = Arch;
  Judging.WaitMs = Request.Evaluator.waitMs(Request.WaitMs);
  // A winner that nobody judges again is compiled at once as the user will.
  if (!Options.Confirm)
    Judging.Build.Host = HostCompiler::Users;
  if (Judged)
    Judging.ReplayedAs = Judged->Evaluator;
  llvm::Expected<std::unique_ptr<Evaluator>> Made =
      makeEvaluator(Request.Evaluator, Q.Of, Judging, *Request.Time);
  if (!Made)
    return Made.takeError();
  Judge = std::move(*Made);
  if (Request.Known && Request.Evaluator.repeats())
    Judge = rememberVerdicts(std::move(Judge), Q.Of, *Request.Known);
  llvm::Expected<CountersChoice> Choice = chooseCounters(
      Request, Before ? &*Before : nullptr, *Q.Chat, Q.Of.Parse.Arch);
  if (!Choice)
    return Choice.takeError();
  llvm::Expected<std::unique_ptr<Profiler>> Shown = makeProfiler(
      Request, Judged ? &*Judged : nullptr, Q.Of, Judging, *Choice, Observer);
  if (!Shown)
    return Shown.takeError();
  Profile = std::move(*Shown);
  Options.CountersOf = Choice->Gpu ? printEvaluatorSpec(*Choice->Gpu) : "";
  Options.Profile = Choice->Profile;
  chooseEnd(Request, Before ? &*Before : nullptr);
  llvm::Expected<std::vector<ScheduleStep>> Order =
      orderToFollow(Request.Provider, Options.Jobs);
  if (!Order)
    return Order.takeError();
  Setup.emplace(SearchSetup{Q.Of, Q.Prompts, *Q.Chat, *Judge,
                            teamFor(Q.Chat->identity(), Q.Prompts,
                                    Options.Temperature, Options.Seed)});
  Setup->Profile = Profile.get();
  Setup->Modelled = makeTimeModel(Request, Q.Of, Judging, Observer);
  Setup->Follow = std::move(*Order);
  if (std::string Run = Request.Evaluator.replayedRun();
      Options.Tune.any() && !Run.empty() &&
      Run == Request.Provider.replayedRun()) {
    llvm::Expected<std::optional<std::vector<unsigned>>> Tuned = readTuned(Run);
    if (!Tuned)
      return withContext(Tuned.takeError(), "cannot replay");
    Setup->Tuned = std::move(*Tuned);
  }
  // A replay of a run is made again from it in no time.
  Setup->Flush = Request.Provider.replayedRun().empty() ||
                 Request.Evaluator.replayedRun().empty();
  Setup->Versions = versions(Request, Judged);
  Setup->Cancelled = Request.Cancelled;
  Setup->Time = Request.Time;
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<PreparedSearch>>
stark::prepareSearch(const SearchRequest &Request, llvm::StringRef GoesOn,
                     SearchObserver &Observer) {
  llvm::Expected<std::optional<RunIdentity>> Judged =
      replayed(Request.Evaluator.replayedRun());
  if (!Judged)
    return Judged.takeError();
  llvm::Expected<std::string> Arch =
      findArch(Request.Evaluator, Request.Arch, *Judged ? (*Judged)->Arch : "");
  if (!Arch)
    return Arch.takeError();
  std::string Folder = GoesOn.str();
  std::optional<RunIdentity> Before;
  if (isRun(Folder)) {
    llvm::Expected<RunIdentity> Then = readIdentity(Folder);
    if (!Then)
      return Then.takeError();
    Before = std::move(*Then);
  }
  llvm::Expected<Question> Q = load(Request, Folder, *Arch);
  if (!Q)
    return Q.takeError();
  if (!Q->Note.empty())
    Observer.onNote(Q->Note);
  if (Q->Users)
    Observer.onNote(describeExtracted(*Q->Users));
  SearchOptions Options = Request.Search;
  if (Request.WorkloadMargin)
    Options.Margin = Q->Of.Load.Margin;
  auto Made =
      std::make_unique<Prepared>(std::move(*Q), std::move(Options), Observer);
  if (llvm::Error E = Made->chooseJudge(Request, *Arch, *Judged, Before))
    return E;
  return Made;
}
