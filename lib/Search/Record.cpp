//===- Record.cpp - A run read back from its folder ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Record.h"
#include "stark/LLM/Transcript.h"
#include "stark/Posix/File.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace stark;

std::string stark::candidateFile(unsigned Node) {
  std::string Digits = std::to_string(Node);
  if (Digits.size() < 4)
    Digits.insert(0, 4 - Digits.size(), '0');
  return "candidates/" + Digits + ".cu";
}

static constexpr llvm::StringLiteral LostSuffix = ".lost.json";

/// A run folder may come from anywhere: what is no file of its own could be
/// without an end.
static llvm::Expected<std::string> readRecorded(const std::string &Path) {
  constexpr size_t Most = size_t(1) << 28;
  std::string Problem;
  std::optional<std::string> Bytes =
      posix::readRegularFile(Path, Most, Problem);
  if (!Bytes)
    return failed(Problem);
  return std::move(*Bytes);
}

std::string stark::lostFile(llvm::StringRef Request) {
  return ("replies/" + Request + LostSuffix).str();
}

llvm::Error stark::readLost(llvm::StringRef RunFolder, RecordedRun &Run) {
  std::error_code Code;
  for (llvm::sys::fs::directory_iterator I(RunFolder + "/replies", Code), End;
       I != End && !Code; I.increment(Code)) {
    llvm::StringRef Id = llvm::sys::path::filename(I->path());
    if (!Id.consume_back(LostSuffix))
      continue;
    llvm::Expected<std::string> Text = readRecorded(I->path());
    if (!Text)
      return Text.takeError();
    llvm::Expected<DiscardedAnswers> Took = parseDiscarded(*Text, I->path());
    if (!Took)
      return Took.takeError();
    Run.Lost[Id.str()] = *Took;
  }
  // Killed before it could remove the file: the reply says it already.
  for (const RecordedAttempt &A : Run.Attempts)
    for (const ReplyEvent &R : A.Replies)
      Run.Lost.erase(R.Id);
  return llvm::Error::success();
}

std::optional<unsigned> stark::attemptOf(const JournalEvent &Event) {
  auto Of = [](auto Parsed) -> std::optional<unsigned> {
    if (Parsed)
      return Parsed->Attempt;
    llvm::consumeError(Parsed.takeError());
    return std::nullopt;
  };
  if (Event.Type == SelectEvent::Type)
    return Of(parseEvent<SelectEvent>(Event.Body));
  if (Event.Type == NodeEvent::Type)
    return Of(parseEvent<NodeEvent>(Event.Body));
  if (Event.Type == VerdictEvent::Type) {
    llvm::Expected<VerdictEvent> E = parseEvent<VerdictEvent>(Event.Body);
    if (E && E->Purpose == VerdictEvent::By::Confirm)
      return std::nullopt;
    return Of(std::move(E));
  }
  if (Event.Type == CountersEvent::Type)
    return Of(parseEvent<CountersEvent>(Event.Body));
  if (Event.Type != ReplyEvent::Type)
    return std::nullopt;
  llvm::Expected<ReplyEvent> E = parseEvent<ReplyEvent>(Event.Body);
  if (!E) {
    llvm::consumeError(E.takeError());
    return std::nullopt;
  }
  // "0007-plan-1"
  unsigned Attempt = 0;
  if (llvm::StringRef(E->Id).split('-').first.getAsInteger(10, Attempt))
    return std::nullopt;
  return Attempt;
}

std::vector<ScheduleStep> stark::scheduleOf(const JournalContent &Content) {
  std::vector<ScheduleStep> Steps;
  for (const JournalEvent &Event : Content.Events) {
    if (Event.Type == TuneEvent::Type)
      break;
    if (Event.Type == SelectEvent::Type || Event.Type == NodeEvent::Type)
      if (std::optional<unsigned> Attempt = attemptOf(Event);
          Attempt && *Attempt) {
        Steps.push_back({Event.Type == SelectEvent::Type, *Attempt, {}});
        // Which titles were known when it began, only the event tells.
        if (!Steps.back().Begins)
          continue;
        if (auto Select = parseEvent<SelectEvent>(Event.Body))
          Steps.back().Beside = std::move(Select->Beside);
        else
          llvm::consumeError(Select.takeError());
      }
  }
  return Steps;
}

llvm::Expected<std::vector<ScheduleStep>>
stark::readSchedule(llvm::StringRef RunFolder) {
  llvm::Expected<JournalContent> Content =
      readJournal((RunFolder + "/journal.jsonl").str());
  if (!Content)
    return Content.takeError();
  return scheduleOf(*Content);
}

llvm::Expected<std::optional<std::vector<unsigned>>>
stark::readTuned(llvm::StringRef RunFolder) {
  llvm::Expected<RecordedRun> Run = readRun(RunFolder);
  if (!Run)
    return Run.takeError();
  if (!Run->End || !Run->Tuning)
    return std::nullopt;
  std::vector<unsigned> Spent;
  for (const RecordedAttempt &A : Run->Attempts)
    if (A.Select && A.Select->Tune)
      Spent.push_back(A.Select->SpentS.value_or(0));
  return Spent;
}

namespace {
/// Turns events into a run, one by one.
class Reader {
public:
  Reader(llvm::StringRef RunFolder, unsigned Jobs)
      : Folder(RunFolder.str()), Jobs(Jobs) {}

  llvm::Error add(const JournalEvent &Event) {
    if (Run.End)
      return failed("an event follows the end of the run");
    if (Event.Type == SelectEvent::Type)
      return addSelect(Event.Body);
    if (Event.Type == CountersEvent::Type)
      return addCounters(Event.Body);
    if (Event.Type == ReplyEvent::Type)
      return addReply(Event);
    if (Event.Type == VerdictEvent::Type)
      return addVerdict(Event.Body);
    if (Event.Type == NodeEvent::Type)
      return addNode(Event.Body);
    if (Event.Type == TuneEvent::Type)
      return addTune(Event.Body);
    if (Event.Type == EndEvent::Type)
      return addEnd(Event.Body);
    return failed(
        "unknown event '" + Event.Type +
        "'; wanted select, counters, reply, verdict, node, tune or end");
  }

  RecordedRun take() {
    Run.Unrecorded = std::move(Judged);
    return std::move(Run);
  }

  RecordedRun Run;

private:
  llvm::Error addSelect(llvm::StringRef Body) {
    llvm::Expected<SelectEvent> E = parseEvent<SelectEvent>(Body);
    if (!E)
      return E.takeError();
    // Of variants one is in flight, whatever a spent budget left behind.
    bool Full = E->Tune ? Variants && !Run.Attempts.back().Node
                        : Run.Attempts.size() - Run.Nodes.size() >= Jobs;
    if (E->Attempt != Run.Attempts.size() || Run.Nodes.size() == 0 || Full ||
        (Judged && Jobs > 1))
      return failed("select of attempt " + llvm::Twine(E->Attempt) +
                    ", wanted attempt " + llvm::Twine(Run.Attempts.size()));
    if (E->Tune != Run.Tuning.has_value() ||
        (E->Tune && E->Chosen.Node != Run.Tuning->Node))
      return failed("attempt " + llvm::Twine(E->Attempt) +
                    (E->Tune ? " tries other numbers of a node that is not "
                               "being tuned"
                             : " is begun after tuning began"));
    if (E->Chosen.Node >= Run.Nodes.size())
      return failed("selects node " + llvm::Twine(E->Chosen.Node) + " of " +
                    llvm::Twine(Run.Nodes.size()));
    Variants |= E->Tune;
    Run.Attempts.emplace_back();
    Run.Attempts.back().Select = std::move(*E);
    Judged.reset();
    return llvm::Error::success();
  }

  /// Whether \p Attempt was selected and has no node yet.
  bool inFlight(unsigned Attempt) const {
    return Attempt < Run.Attempts.size() && !Run.Attempts[Attempt].Node &&
           (Jobs > 1 || Attempt + 1 == Run.Attempts.size());
  }

  llvm::Error addCounters(llvm::StringRef Body) {
    llvm::Expected<CountersEvent> E = parseEvent<CountersEvent>(Body);
    if (!E)
      return E.takeError();
    if (Run.Attempts.empty() || !inFlight(E->Attempt) ||
        Run.Attempts[E->Attempt].Found || E->Node >= Run.Nodes.size() ||
        sha256(Run.Nodes.node(E->Node).Text) != E->Candidate)
      return failed("counters of node " + llvm::Twine(E->Node) +
                    " do not follow from the events before them");
    Run.Attempts[E->Attempt].Found = std::move(*E);
    return llvm::Error::success();
  }

  llvm::Error addReply(const JournalEvent &Event) {
    llvm::Expected<ReplyEvent> E = parseEvent<ReplyEvent>(Event.Body);
    if (!E)
      return E.takeError();
    // With one job an id need not tell.
    unsigned Attempt = unsigned(Run.Attempts.size()) - 1;
    if (Jobs > 1)
      Attempt = attemptOf(Event).value_or(0);
    if (Run.Attempts.empty() || !inFlight(Attempt))
      return failed("a reply that belongs to no attempt");
    Run.Attempts[Attempt].Replies.push_back(std::move(*E));
    return llvm::Error::success();
  }

  llvm::Error addVerdict(llvm::StringRef Body) {
    llvm::Expected<VerdictEvent> E = parseEvent<VerdictEvent>(Body);
    if (!E)
      return E.takeError();
    if (E->Purpose == VerdictEvent::By::Confirm) {
      if (E->Node >= Run.Nodes.size())
        return failed("confirms node " + llvm::Twine(E->Node) + " of " +
                      llvm::Twine(Run.Nodes.size()));
      Run.Confirmations.push_back(std::move(*E));
      return llvm::Error::success();
    }
    bool Source = Run.Nodes.size() == 0 && E->Attempt == 0;
    if (E->Node != Run.Nodes.size() || Judged ||
        (Jobs == 1 && !Run.Tuning ? E->Attempt != Run.Nodes.size()
                                  : !Source && !inFlight(E->Attempt)))
      return failed("a verdict on node " + llvm::Twine(E->Node) +
                    ", wanted node " + llvm::Twine(Run.Nodes.size()));
    if (Run.Attempts.empty())
      Run.Attempts.emplace_back();
    Judged = std::move(*E);
    return llvm::Error::success();
  }

  llvm::Error addNode(llvm::StringRef Body) {
    llvm::Expected<NodeEvent> E = parseEvent<NodeEvent>(Body);
    if (!E)
      return E.takeError();
    unsigned Number = E->N.Number;
    if (Number != Run.Nodes.size() || !Judged ||
        E->Attempt != Judged->Attempt || E->N.Tuned != Run.Tuning.has_value() ||
        (E->N.Parent < 0) != (Number == 0) || Judged->Found.Kind != E->Kind ||
        Judged->Candidate != E->Candidate)
      return failed("node " + llvm::Twine(Number) +
                    " does not follow from the events before it");
    if (!E->File.empty()) {
      std::string Path = Folder + "/" + E->File;
      llvm::Expected<std::string> Text = readRecorded(Path);
      if (!Text)
        return Text.takeError();
      if (sha256(*Text) != E->Candidate)
        return failed("'" + Path +
                      "' was changed: its digest is not the recorded one");
      E->N.Text = std::move(*Text);
    }
    E->N.Found = std::move(Judged->Found);
    unsigned Attempt = Judged->Attempt;
    Judged.reset();
    Run.Nodes.add(std::move(E->N));
    Run.Attempts[Attempt].Node = Number;
    return llvm::Error::success();
  }

  llvm::Error addTune(llvm::StringRef Body) {
    llvm::Expected<TuneEvent> E = parseEvent<TuneEvent>(Body);
    if (!E)
      return E.takeError();
    if (Run.Tuning || Judged || !Run.Confirmations.empty() ||
        E->Node >= Run.Nodes.size() || E->Attempts + 1 != Run.Attempts.size())
      return failed("tuning of node " + llvm::Twine(E->Node) +
                    " does not follow from the events before it");
    Run.Tuning = std::move(*E);
    return llvm::Error::success();
  }

  llvm::Error addEnd(llvm::StringRef Body) {
    llvm::Expected<EndEvent> E = parseEvent<EndEvent>(Body);
    if (!E)
      return E.takeError();
    if (E->Winner >= int(Run.Nodes.size()))
      return failed("winner " + llvm::Twine(E->Winner) + " of " +
                    llvm::Twine(Run.Nodes.size()) + " nodes");
    Run.End = std::move(*E);
    return llvm::Error::success();
  }

  std::string Folder;
  const unsigned Jobs;
  std::optional<VerdictEvent> Judged; ///< and not recorded yet
  bool Variants = false;              ///< one was begun
};
} // namespace

llvm::Expected<RecordedRun> stark::readEvents(llvm::StringRef RunFolder,
                                              const JournalContent &Content,
                                              unsigned Jobs) {
  Reader R(RunFolder, Jobs);
  for (const JournalEvent &Event : Content.Events)
    if (llvm::Error E = R.add(Event))
      return withContext(std::move(E), RunFolder + "/journal.jsonl:" +
                                           llvm::Twine(Event.Number + 1));
  R.Run.Note = Content.Note;
  return R.take();
}

llvm::Expected<RecordedRun> stark::readRun(llvm::StringRef RunFolder) {
  llvm::Expected<RunIdentity> Identity = readIdentity(RunFolder);
  if (!Identity)
    return Identity.takeError();
  llvm::Expected<JournalContent> Content =
      readJournal((RunFolder + "/journal.jsonl").str());
  if (!Content)
    return Content.takeError();
  llvm::Expected<RecordedRun> Run =
      readEvents(RunFolder, *Content, Identity->Options.Jobs);
  if (!Run)
    return Run;
  Run->Identity = std::move(*Identity);
  if (llvm::Error E = readLost(RunFolder, *Run))
    return E;
  std::string Path = (RunFolder + "/" + RunWorkloadFile).str();
  if (!llvm::sys::fs::exists(Path))
    return Run;
  llvm::Expected<std::string> Text = readRecorded(Path);
  if (!Text)
    return Text.takeError();
  Run->WorkloadText = std::move(*Text);
  return Run;
}

std::map<std::string, std::string>
stark::readPromptFiles(llvm::StringRef RunFolder) {
  std::map<std::string, std::string> Files;
  std::error_code Code;
  for (llvm::sys::fs::directory_iterator I(RunFolder + "/prompts", Code), End;
       I != End && !Code && Files.size() < 100; I.increment(Code)) {
    if (I->type() != llvm::sys::fs::file_type::regular_file)
      continue;
    llvm::Expected<std::string> Text = readFile(I->path());
    if (Text)
      Files[llvm::sys::path::filename(I->path()).str()] =
          Text->substr(0, 1 << 20);
    else
      llvm::consumeError(Text.takeError());
  }
  return Files;
}
