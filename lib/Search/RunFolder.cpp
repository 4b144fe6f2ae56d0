//===- RunFolder.cpp - The folder that a search writes to ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunFolder.h"
#include "stark/LLM/Transcript.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace stark;

static bool isTemporary(llvm::StringRef Name) {
  // writeFileAtomically()'s names: NAME.XXXXXX.tmp
  return Name.ends_with(".tmp") &&
         Name.drop_back(4).rsplit('.').second.size() == 6;
}

/// The names in \p Folder, sorted; what a killed process left half written is
/// removed when \p Clean is set, and not named.
static std::vector<std::string> entriesOf(const std::string &Folder,
                                          bool Clean) {
  std::vector<std::string> Names;
  std::error_code Code;
  for (llvm::sys::fs::directory_iterator I(Folder, Code), End;
       I != End && !Code; I.increment(Code)) {
    std::string Name = llvm::sys::path::filename(I->path()).str();
    if (!isTemporary(Name))
      Names.push_back(Name);
    else if (Clean)
      (void)llvm::sys::fs::remove(I->path());
  }
  std::sort(Names.begin(), Names.end());
  return Names;
}

/// Whether each file in \p Folder is one of \p Prompts.
static bool holdsOnly(const std::string &Folder, const PromptSet &Prompts) {
  for (const std::string &Name : entriesOf(Folder, /*Clean=*/false)) {
    auto Known = Prompts.Files.find(Name);
    llvm::Expected<std::string> Bytes = readFile(Folder + "/" + Name);
    if (!Bytes) {
      llvm::consumeError(Bytes.takeError());
      return false;
    }
    if (Known == Prompts.Files.end() || Known->second != *Bytes)
      return false;
  }
  return true;
}

llvm::Expected<RunFolder> RunFolder::open(llvm::StringRef Path,
                                          const RunIdentity &Identity,
                                          const PromptSet &Prompts,
                                          SearchObserver &Observer) {
  RunFolder Run;
  Run.Path = Path.str();
  Run.Observer = &Observer;
  Run.Identity = Identity;
  Run.Flush = Identity.Options.Flush;
  if (llvm::Error E = createFolders(Path))
    return E;
  llvm::Expected<std::unique_ptr<FileLock>> Lock = lockFolder(Path);
  if (!Lock)
    return Lock.takeError();
  Run.Lock = std::move(*Lock);

  std::string IdentityFile = Run.Path + "/run.json";
  std::vector<std::string> Entries = entriesOf(Run.Path, /*Clean=*/false);
  if (!llvm::is_contained(Entries, "run.json")) {
    // A process that was killed early leaves prompts and no run.json.
    for (const std::string &Name : Entries)
      if (Name != "prompts" || !holdsOnly(Run.Path + "/prompts", Prompts))
        return failed("run folder '" + Path + "' has no run.json but holds '" +
                      Name + "'; wanted an empty folder or a run");
    if (llvm::Error E = Run.begin(Prompts))
      return E;
    return Run;
  }

  llvm::Expected<RunIdentity> Then = readIdentity(Run.Path);
  if (!Then)
    return Then.takeError();
  if (std::string Difference = differenceOf(*Then, Identity);
      !Difference.empty())
    return usageError("'" + IdentityFile + "' " + Difference +
                      "; a run goes on only with what it began with");
  for (const auto &[Name, Version] : Identity.Options.Versions)
    if (Then->Options.Versions[Name] != Version)
      Observer.onNote("the run began with " + Name + " " +
                      Then->Options.Versions[Name] + ", now it is " + Version);
  // run.json keeps saying what the run began with.
  Run.Identity = std::move(*Then);

  llvm::Expected<JournalContent> Content =
      readJournal(Run.Path + "/journal.jsonl");
  if (!Content)
    return Content.takeError();
  Run.Content = std::move(*Content);
  llvm::Expected<RecordedRun> Recorded =
      readEvents(Path, Run.Content, Run.Identity.Options.Jobs);
  if (!Recorded)
    return Recorded.takeError();
  Run.Recorded = std::move(*Recorded);
  Run.sortEvents();
  if (!Run.Content.Note.empty())
    Observer.onNote(Run.Content.Note);
  if (!Run.Recorded.End)
    if (llvm::Error E = Run.begin(Prompts))
      return E;
  if (llvm::Error E = readLost(Path, Run.Recorded))
    return E;
  return Run;
}

DiscardedAnswers RunFolder::lost(const std::string &Id) const {
  auto Found = Recorded.Lost.find(Id);
  return Found == Recorded.Lost.end() ? DiscardedAnswers() : Found->second;
}

/// Notes what \p E took; returns \p E.
llvm::Error RunFolder::keepLost(const std::string &Id, llvm::Error E) {
  DiscardedAnswers Took;
  llvm::visitErrors(E, [&](const llvm::ErrorInfoBase &Info) {
    if (Info.isA<CallLost>())
      Took += static_cast<const CallLost &>(Info).lost();
  });
  if (Took.Answers == 0)
    return E;
  DiscardedAnswers &All = Recorded.Lost[Id];
  All += Took;
  return llvm::joinErrors(std::move(E),
                          write(lostFile(Id), printDiscarded(All)));
}

/// Everything here may have been done, in part, by a process that was killed.
/// run.json comes last: a folder that has it has its prompts, too.
llvm::Error RunFolder::begin(const PromptSet &Prompts) {
  std::vector<std::string> Entries = entriesOf(Path, /*Clean=*/true);
  for (llvm::StringRef Sub : {"candidates", "replies", "prompts"})
    entriesOf((Path + "/" + Sub).str(), /*Clean=*/true);
  for (const auto &[Name, Bytes] : Prompts.Files) {
    std::string File = Path + "/prompts/" + Name;
    if (!llvm::sys::fs::exists(File))
      if (llvm::Error E = writeFileAtomically(File, Bytes, Flush))
        return E;
  }
  if (!llvm::is_contained(Entries, "run.json"))
    return writeFileAtomically(Path + "/run.json", printIdentity(Identity),
                               Flush);
  return llvm::Error::success();
}

llvm::Error RunFolder::append(llvm::StringRef Type, llvm::StringRef Body) {
  if (!Out) {
    llvm::Expected<std::unique_ptr<Journal>> Opened =
        Journal::open(Path + "/journal.jsonl", Content);
    if (!Opened)
      return Opened.takeError();
    Out = std::move(*Opened);
  }
  return Out->append(Type, Body);
}

llvm::Error RunFolder::flush() {
  if (!Out || !Flush)
    return llvm::Error::success();
  BatonDown Down(*Baton);
  return Out->flush();
}

/// Without the baton, as it waits for the disk.
llvm::Error RunFolder::write(llvm::StringRef File, llvm::StringRef Text) {
  BatonDown Down(*Baton);
  return writeFileAtomically((Path + "/" + File).str(), Text, Flush);
}

static std::string shortened(llvm::StringRef Text) {
  return Text.size() <= 300 ? Text.str() : (Text.take_front(297) + "...").str();
}

void RunFolder::sortEvents() {
  for (size_t I = 0; I < Content.Events.size(); ++I)
    Left[Identity.Options.Jobs == 1
             ? 0
             : attemptOf(Content.Events[I]).value_or(Tail)]
        .push_back(I);
}

std::optional<size_t> RunFolder::next(unsigned Attempt) const {
  auto Found = Left.find(lineOf(Attempt));
  if (Found == Left.end() || Found->second.empty())
    return std::nullopt;
  return Found->second.front();
}

void RunFolder::take(unsigned Attempt) { Left[lineOf(Attempt)].pop_front(); }

llvm::Error RunFolder::mismatch(size_t At, llvm::StringRef Type,
                                llvm::StringRef Body) const {
  const JournalEvent &Event = Content.Events[At];
  return failed(Path + "/journal.jsonl:" + llvm::Twine(Event.Number + 1) +
                ": the journal has " + Event.Type + " " +
                shortened(Event.Body) + ", the search came to " + Type + " " +
                shortened(Body));
}

llvm::Error RunFolder::match(size_t At, llvm::StringRef Type,
                             llvm::StringRef Body) {
  const JournalEvent &Event = Content.Events[At];
  if (Event.Type != Type || Event.Body != Body)
    return mismatch(At, Type, Body);
  return llvm::Error::success();
}

llvm::Error RunFolder::select(const SelectEvent &E) {
  std::string Body = printSelect(E);
  std::optional<size_t> At = next(E.Attempt);
  if (!At)
    return append("select", Body);
  take(E.Attempt);
  return match(*At, "select", Body);
}

void RunFolder::noteDrift(llvm::StringRef Id) {
  if (!DriftNoted)
    Observer->onNote("request " + Id.str() +
                     " is rendered otherwise than when it was answered; the "
                     "recorded replies stand");
  DriftNoted = true;
}

llvm::Expected<ChatReply>
RunFolder::reply(unsigned Attempt, const ChatRequest &Request,
                 llvm::function_ref<llvm::Expected<ChatReply>()> Ask) {
  ReplyEvent E;
  E.Id = Request.Id;
  E.Digest = Request.digest();
  E.File = "replies/" + Request.Id + ".md";
  std::string File = Path + "/" + E.File;
  if (std::optional<size_t> At = next(Attempt)) {
    const JournalEvent &Event = Content.Events[*At];
    std::string Wanted =
        "a reply to " + E.Id + " (request " + E.Digest.substr(0, 16) + ")";
    if (Event.Type != "reply")
      return mismatch(*At, "ask for", Wanted);
    llvm::Expected<ReplyEvent> Had = parseReplyEvent(Event.Body);
    if (!Had)
      return Had.takeError();
    if (Had->Id != E.Id)
      return mismatch(*At, "ask for", Wanted);
    if (Had->Digest != E.Digest)
      noteDrift(E.Id);
    llvm::Expected<std::string> Text = readFile(File);
    if (!Text)
      return Text.takeError();
    if (sha256(*Text) != Had->TextDigest)
      return failed("'" + File +
                    "' was changed: its digest is not the recorded one");
    take(Attempt);
    Had->Reply.Text = std::move(*Text);
    return std::move(Had->Reply);
  }
  llvm::Expected<ChatReply> Reply = Ask();
  if (!Reply)
    return keepLost(E.Id, Reply.takeError());
  Reply->Discarded += lost(E.Id);
  std::string Text = std::move(Reply->Text);
  E.TextDigest = sha256(Text);
  if (!Reply->AnsweredDigest.empty()) {
    E.Digest = Reply->AnsweredDigest;
    noteDrift(E.Id);
  }
  E.Reply = std::move(*Reply);
  std::string Body = printReplyEvent(E);
  if (llvm::Error Problem = write(E.File, Text))
    return Problem;
  if (llvm::Error Problem = append("reply", Body))
    return Problem;
  if (llvm::Error Problem = flush())
    return Problem;
  if (Recorded.Lost.erase(E.Id))
    (void)llvm::sys::fs::remove(Path + "/" + lostFile(E.Id));
  llvm::Expected<ReplyEvent> Back = parseReplyEvent(Body);
  if (!Back)
    return Back.takeError();
  Back->Reply.Text = std::move(Text);
  return std::move(Back->Reply);
}

/// Says once why there are no counters.
void RunFolder::keep(unsigned Node, const Counters &Found) {
  Profiles[Node] = Found;
  TooSlow |= Found.TooSlow;
  if (!Found.Problem.empty() && !CountersNoted) {
    Observer->onNote("plans are shown no counters of node " +
                     std::to_string(Node) + ": " + Found.Problem);
    CountersNoted = true;
  }
}

llvm::Expected<Counters>
RunFolder::counters(unsigned Attempt, unsigned Number, const std::string &Text,
                    llvm::function_ref<llvm::Expected<Counters>()> Look) {
  std::string Digest = sha256(Text);
  if (std::optional<size_t> At = next(Attempt);
      At && Content.Events[*At].Type == "counters") {
    llvm::Expected<CountersEvent> Had =
        parseCountersEvent(Content.Events[*At].Body);
    if (!Had)
      return Had.takeError();
    if (Had->Attempt != Attempt || Had->Node != Number ||
        Had->Candidate != Digest)
      return mismatch(*At, "profile",
                      "node " + std::to_string(Number) + ", candidate " +
                          Digest.substr(0, 16));
    take(Attempt);
    keep(Number, Had->Found);
    return std::move(Had->Found);
  }
  // With several attempts in flight, which are made again in another order,
  // each has its own.
  bool One = Identity.Options.Jobs == 1;
  auto Known = Profiles.find(Number);
  if (One && Known != Profiles.end())
    return Known->second;
  // What was asked about without them is asked so again.
  if (next(Attempt) || (One && TooSlow))
    return Counters();
  CountersEvent E{Attempt, Number, Digest, {}};
  if (Known != Profiles.end()) {
    E.Found = Known->second;
  } else if (TooSlow) {
    E.Found.Problem = "an earlier node was too slow";
  } else {
    llvm::Expected<Counters> Found = Look();
    if (!Found)
      return Found.takeError();
    E.Found = std::move(*Found);
  }
  std::string Body = printCountersEvent(E);
  if (llvm::Error Problem = append("counters", Body))
    return Problem;
  llvm::Expected<CountersEvent> Back = parseCountersEvent(Body);
  if (!Back)
    return Back.takeError();
  keep(Number, Back->Found);
  return std::move(Back->Found);
}

llvm::Expected<Verdict>
RunFolder::verdict(VerdictEvent E, const std::string &Text,
                   llvm::function_ref<llvm::Expected<Verdict>()> Judge) {
  bool Confirms = E.Purpose == "confirm";
  unsigned Line = Confirms ? Tail : E.Attempt;
  if (!Text.empty())
    E.Candidate = sha256(Text);
  if (std::optional<size_t> At = next(Line)) {
    const JournalEvent &Event = Content.Events[*At];
    std::string Wanted = "node " + std::to_string(E.Node) + ", purpose " +
                         E.Purpose + ", candidate " + E.Candidate.substr(0, 16);
    if (Event.Type != "verdict")
      return mismatch(*At, "judge", Wanted);
    llvm::Expected<VerdictEvent> Had = parseVerdictEvent(Event.Body);
    if (!Had)
      return Had.takeError();
    if (Had->Attempt != E.Attempt || Had->Node != E.Node ||
        Had->Purpose != E.Purpose || Had->Candidate != E.Candidate)
      return mismatch(*At, "judge", Wanted);
    take(Line);
    return std::move(Had->Found);
  }
  llvm::Expected<Verdict> Found = Judge();
  if (!Found)
    return Found.takeError();
  E.Found = std::move(*Found);
  if (!Confirms && !Text.empty())
    if (llvm::Error Problem = write(candidateFile(E.Node), Text))
      return Problem;
  std::string Body = printVerdictEvent(E);
  if (llvm::Error Problem = append("verdict", Body))
    return Problem;
  llvm::Expected<VerdictEvent> Back = parseVerdictEvent(Body);
  if (!Back)
    return Back.takeError();
  return std::move(Back->Found);
}

llvm::Expected<Node> RunFolder::node(unsigned Attempt, Node N) {
  NodeEvent E;
  E.Attempt = Attempt;
  E.Kind = N.Found.Kind;
  if (!N.Text.empty()) {
    E.File = candidateFile(N.Number);
    E.Candidate = sha256(N.Text);
  }
  E.N = N;
  std::string Body = printNodeEvent(E);
  if (std::optional<size_t> At = next(Attempt)) {
    if (llvm::Error Problem = match(*At, "node", Body))
      return Problem;
    take(Attempt);
  } else {
    // A process that was killed may have had another in mind for the number.
    if (E.File.empty())
      (void)llvm::sys::fs::remove(Path + "/" + candidateFile(N.Number));
    if (llvm::Error Problem = append("node", Body))
      return Problem;
  }
  llvm::Expected<NodeEvent> Back = parseNodeEvent(Body);
  if (!Back)
    return Back.takeError();
  Back->N.Text = std::move(N.Text);
  Back->N.Found = std::move(N.Found);
  return std::move(Back->N);
}

std::optional<Node> RunFolder::recordedNode(unsigned Attempt) {
  if (Attempt >= Recorded.Attempts.size() || !Recorded.Attempts[Attempt].Node)
    return std::nullopt;
  if (const std::optional<CountersEvent> &Had =
          Recorded.Attempts[Attempt].Found)
    keep(Had->Node, Had->Found);
  for (bool Node = false; !Node; take(Attempt))
    Node = Content.Events[*next(Attempt)].Type == "node";
  Node N = Recorded.T.node(*Recorded.Attempts[Attempt].Node);
  N.Children.clear();
  return N;
}

bool RunFolder::judgedOnly(unsigned Attempt) const {
  auto Found = Left.find(lineOf(Attempt));
  return Found != Left.end() && !Found->second.empty() &&
         Content.Events[Found->second.back()].Type == "verdict";
}

llvm::Error RunFolder::end(const EndEvent &E) {
  std::string Body = printEnd(E);
  std::optional<size_t> At = next(Tail);
  if (!At)
    return append("end", Body);
  take(Tail);
  return match(*At, "end", Body);
}

llvm::Error RunFolder::setDevice(llvm::StringRef Device) {
  if (Identity.Device == Device || Recorded.End)
    return llvm::Error::success();
  Identity.Device = Device.str();
  return write("run.json", printIdentity(Identity));
}
