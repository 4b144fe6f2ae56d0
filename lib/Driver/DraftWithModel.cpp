//===- DraftWithModel.cpp - A model settles what a draft guesses ----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   answer -> read -> call checked -> fits the source -> run -> accepted, or
///   the next message
/// What cannot be used and what the run found go back until the rounds are
/// over; what says little is asked about once. The last answer that passed
/// stays.
///
//===----------------------------------------------------------------------===//

#include "stark/Driver/DraftWithModel.h"
#include "DraftDoubts.h"
#include "stark/Agent/Agent.h"
#include "stark/Agent/Conversation.h"
#include "stark/Agent/Quote.h"
#include "stark/Eval/WorkloadProof.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace stark;
namespace path = llvm::sys::path;

/// Bytes of a finding that go back, of a note, and lines of the model's words.
static constexpr size_t FindingLimit = 4000, NoteLimit = 300, MostWords = 12;

namespace {
/// What became of an answer.
struct Step {
  bool Accepted = false;
  std::string Message; ///< what is said to it; empty: nothing is left to say
  std::string Problem; ///< for people, in a line; empty when accepted
};

/// Tokens and money of all answers.
struct Spent {
  uint64_t Input = 0, Output = 0;
  int64_t MicroUsd = 0;
  unsigned Answers = 0;
  bool TokensKnown = true, CostKnown = true;
  std::string Who;

  void add(const ChatReply &R);
  std::string note() const;
};

/// An answer that passed.
struct Passed {
  DraftAnswer Said;
  WorkloadProof Proof;
  std::vector<std::string> Doubts;
};

class Asking {
public:
  Asking(const ModelDraftRequest &Request, ChatClient &Client,
         const CallControl &Control)
      : Request(Request), Q(Request.Question), Client(Client), Control(Control),
        ShownFault(Request.FoundFault),
        SourceName(path::filename(Q.Source.path()).str()) {}

  llvm::Expected<ModelDraft> run(ChatRequest Chat);

private:
  llvm::Expected<Step> look(const ChatReply &Reply, const ChatRequest &Asked);
  llvm::Expected<Step> prove(DraftAnswer Said);
  Step judge(DraftAnswer Said, WorkloadProof Proof);
  llvm::Expected<WorkloadProof> proofOf(const DraftAnswer &Said);
  std::string otherEntry(const DraftAnswer &Said) const;
  Step accept(DraftAnswer Said, WorkloadProof Proof);
  void tell(const std::string &Note) const {
    if (Request.OnNote)
      Request.OnNote(Note);
  }
  ModelDraft made();

  const ModelDraftRequest &Request;
  const DraftQuestion &Q;
  ChatClient &Client;
  const CallControl &Control;
  bool ShownFault;      ///< the model was shown what a run found
  bool Doubted = false; ///< it was asked about what says little
  unsigned Left = 0;    ///< answers after this one
  const std::string SourceName;
  Spent Cost;
  std::optional<Passed> Best;
  std::string LastProblem;
  std::vector<std::string> Notes;
};
} // namespace

void Spent::add(const ChatReply &R) {
  ++Answers;
  Who = R.Provider + ", " + R.Model;
  TokensKnown &= R.Tokens.Input && R.Tokens.Output;
  Input += R.Tokens.Input.value_or(0) + R.Discarded.Input;
  Output += R.Tokens.Output.value_or(0) + R.Discarded.Output;
  CostKnown &= R.CostMicroUsd.has_value();
  MicroUsd += R.CostMicroUsd.value_or(0);
  if (R.Discarded.Answers) {
    CostKnown &= R.Discarded.CostMicroUsd.has_value();
    MicroUsd += R.Discarded.CostMicroUsd.value_or(0);
  }
}

std::string Spent::note() const {
  return "answered by " + visibleLine(Who) + ", " + std::to_string(Answers) +
         (Answers == 1 ? " time" : " times") + "; tokens in " +
         (TokensKnown ? std::to_string(Input) : "not said") + ", out " +
         (TokensKnown ? std::to_string(Output) : "not said") + "; cost " +
         (CostKnown ? std::to_string(MicroUsd) + " micro-USD" : "unknown");
}

static Step unusable(const std::string &Problem) {
  Step S;
  S.Problem = Problem;
  S.Message = reaskFor(Problem);
  return S;
}

llvm::Expected<Step> Asking::look(const ChatReply &Reply,
                                  const ChatRequest &Asked) {
  StopProblem Stop = problemOfStop(Reply, Asked);
  if (!Stop.Text.empty()) {
    Step S = unusable(Stop.Text);
    if (!Stop.AskAgain)
      S.Message.clear();
    return S;
  }
  llvm::Expected<DraftAnswer> Said = readDraft(Reply.Text, SourceName);
  if (!Said)
    return unusable(llvm::toString(Said.takeError()));
  if (!Said->Call.empty()) {
    llvm::Expected<std::string> Forbidden =
        forbiddenInCall(Said->Call, Q.Source.path(), Q.Options);
    if (!Forbidden)
      return Forbidden.takeError();
    if (!Forbidden->empty())
      return unusable("the call does what it may not do: " +
                      trimForWindow(*Forbidden, FindingLimit));
  }
  if (std::string Other = otherEntry(*Said); !Other.empty())
    return unusable(Other);
  return prove(std::move(*Said));
}

/// That the user asks for another entry; empty: not so.
std::string Asking::otherEntry(const DraftAnswer &Said) const {
  if (!Q.IsFixed || !Said.Call.empty())
    return "";
  auto Root = nlohmann::json::parse(Said.Workload, nullptr, false);
  std::string Name;
  if (Root.contains("entry") && Root["entry"].is_string())
    Name = Root["entry"].get<std::string>();
  else if (Root.contains("launch") && Root["launch"].is_object() &&
           Root["launch"].contains("kernel") &&
           Root["launch"]["kernel"].is_string())
    Name = Root["launch"]["kernel"].get<std::string>();
  if (llvm::StringRef(Name).split('<').first ==
      llvm::StringRef(Q.Entry).split('<').first)
    return "";
  return "the workload is of '" + shortenUtf8(Name, 60) +
         "', but the user asks for '" + Q.Entry + "'";
}

llvm::Expected<WorkloadProof> Asking::proofOf(const DraftAnswer &Said) {
  if (Said.Call.empty())
    return proveWorkload(Said.Workload, Q.Source.path(), Q.Options,
                         Request.Judge, Request.Prove);
  llvm::Expected<TemporaryFolder> Folder =
      TemporaryFolder::create("stark-call");
  if (!Folder)
    return Folder.takeError();
  std::string Path = (Folder->path() + "/" + callName(Q.Source.path())).str();
  if (llvm::Error E = writeFileAtomically(
          Path, callFor(Said.Call, Q.Source.path(), Path), /*Flush=*/false))
    return E;
  llvm::Expected<WorkloadProof> Proof = proveWorkload(
      Said.Workload, Path, Q.Options, Request.Judge, Request.Prove);
  if (!Proof)
    return Proof.takeError();
  auto Plain = [&](std::string &Text) {
    Text = withoutFolderOf(std::move(Text), Q.Source.path());
  };
  Plain(Proof->Misfit);
  if (Proof->Found) {
    Plain(Proof->Found->Run);
    Plain(Proof->Found->Compiler);
  }
  return Proof;
}

llvm::Expected<Step> Asking::prove(DraftAnswer Said) {
  llvm::Expected<WorkloadProof> Proof = proofOf(Said);
  if (!Proof)
    return Proof.takeError();
  if (!Proof->Misfit.empty())
    return unusable(trimForWindow(Proof->Misfit, FindingLimit));
  return judge(std::move(Said), std::move(*Proof));
}

static std::string observations(const Verdict &V) {
  std::string Text = verdictName(V.Kind).str();
  for (const std::string *Part : {&V.Compiler, &V.Run})
    if (llvm::StringRef Said = llvm::StringRef(*Part).trim(); !Said.empty())
      Text += ("\n" + Said).str();
  return Text;
}

/// The first line that says something, with the kind.
static std::string inALine(const Verdict &V) {
  for (const std::string *Text : {&V.Run, &V.Compiler})
    if (llvm::StringRef Line = llvm::StringRef(*Text).trim().split('\n').first;
        !Line.empty())
      return shortenUtf8((verdictName(V.Kind) + ": " + Line).str(), NoteLimit);
  return verdictName(V.Kind).str();
}

Step Asking::accept(DraftAnswer Said, WorkloadProof Proof) {
  std::vector<std::string> Doubts = doubtsOf(Said.Workload, Proof);
  Best = Passed{std::move(Said), std::move(Proof), Doubts};
  Step S;
  S.Accepted = true;
  bool Runs = !Best->Proof.Found || Best->Proof.Found->correct();
  if (Doubts.empty() || Doubted || !Left || !Runs)
    return S;
  Doubted = true;
  S.Message =
      (Best->Proof.Found ? "The simulator ran this workload at " +
                               Best->Proof.SizeRun + " and it is correct."
                         : std::string("This workload fits.")) +
      " This is asked once:\n\n";
  for (const std::string &Doubt : Best->Doubts)
    S.Message += "- " + Doubt + "\n";
  S.Message += "\nIf the program's own calls are so, send the same answer "
               "again. Otherwise mend it, and send the whole answer again, in "
               "the form asked for.";
  return S;
}

Step Asking::judge(DraftAnswer Said, WorkloadProof Proof) {
  if (!Proof.Found || Proof.Found->correct())
    return accept(std::move(Said), std::move(Proof));
  const Verdict &V = *Proof.Found;
  // Who cannot compile the user's own file can judge no call of it.
  bool OfCall = !Said.Call.empty() &&
                llvm::StringRef(V.Compiler).contains(callName(SourceName));
  bool NotSimulated = V.Kind == VerdictKind::Unsupported ||
                      (V.Kind == VerdictKind::NotCompiled && !OfCall);
  bool ProgramsOwn = !Said.Fault.empty() && ShownFault;
  if (NotSimulated || ProgramsOwn)
    return accept(std::move(Said), std::move(Proof));
  Step S;
  S.Problem = inALine(V);
  S.Message =
      "The simulator ran this workload at " + Proof.SizeRun +
      " and found:\n\n" +
      fenced("", trimForWindow(observations(V), FindingLimit)) +
      "\nMend the workload, and send the whole answer again, in the form "
      "asked for. If the program's own calls have this fault as well, send the "
      "workload as the program calls the entry, with a line `Fault of the "
      "program: ` that says what it is.";
  ShownFault = true;
  return S;
}

/// "note"s of what the model says in its own words.
static void addWords(llvm::StringRef Changes, std::vector<std::string> &Notes) {
  size_t Words = 0;
  for (llvm::StringRef Line : llvm::split(Changes, '\n')) {
    Line = Line.trim(" \t#*");
    if (Line.empty() || Words++ >= MostWords)
      continue;
    Notes.push_back("it says: " + shortenUtf8(visibleLine(Line), NoteLimit));
  }
}

ModelDraft Asking::made() {
  ModelDraft Made;
  Made.Notes.push_back(Cost.note());
  if (!Best) {
    Made.Notes.push_back(
        "no answer passed" +
        (LastProblem.empty()
             ? std::string()
             : "; the last one: " +
                   shortenUtf8(visibleLine(LastProblem), 2 * NoteLimit)));
    return Made;
  }
  const WorkloadProof &Proof = Best->Proof;
  std::vector<std::string> Changes;
  if (!Q.Draft.empty() && Best->Said.Call.empty())
    Changes = workloadChanges(Q.Draft, Best->Said.Workload);
  for (const std::string &Change : Changes)
    Made.Notes.push_back("changed " + visibleLine(Change));
  if (!Q.Draft.empty() && Changes.empty() && Best->Said.Call.empty())
    Made.Notes.push_back(
        "it changed nothing: the workload is the tool's draft");
  addWords(Best->Said.Changes, Made.Notes);
  Made.Workload = Best->Said.Workload;
  Made.Call = Best->Said.Call;
  if (Proof.Seen)
    Made.Workload = withBytes(Made.Workload, *Proof.Seen, Made.Notes);
  for (const std::string &Doubt : Best->Doubts)
    Made.Notes.push_back(
        (Doubted ? "it was asked, and this stays: " : "this says little: ") +
        Doubt);
  for (const std::string &Note : Notes)
    Made.Notes.push_back(Note);
  if (!Proof.Found)
    return Made;
  if (Proof.Found->correct())
    Made.Notes.push_back("proved in the simulator at its smallest size, " +
                         Proof.SizeRun);
  else if (Best->Said.Fault.empty())
    Made.Notes.push_back("not simulated: " +
                         visibleLine(inALine(*Proof.Found)));
  else
    Made.Notes.push_back("the run found " + visibleLine(inALine(*Proof.Found)) +
                         "; it says that this is a fault of the program: " +
                         visibleLine(Best->Said.Fault));
  return Made;
}

llvm::Expected<ModelDraft> Asking::run(ChatRequest Chat) {
  tell("asking " + Client.identity());
  for (unsigned Try = 1; Try <= Request.Rounds; ++Try) {
    Left = Request.Rounds - Try;
    Chat.Id = requestId(0, Chat.Role, Try);
    llvm::Expected<ChatReply> Reply = Client.complete(Chat, Control);
    if (!Reply) {
      llvm::Error E = Reply.takeError();
      // What has passed is not lost because one more call fails.
      if (!Best || errorKind(E) != ErrorKind::Failed)
        return E;
      Notes.push_back("it could not be asked once more: " +
                      visibleLine(llvm::toString(std::move(E))));
      break;
    }
    Cost.add(*Reply);
    llvm::Expected<Step> Next = look(*Reply, Chat);
    if (!Next)
      return Next.takeError();
    if (!Next->Accepted)
      LastProblem = Next->Problem;
    if (Next->Message.empty())
      break;
    tell(
        "answer " + std::to_string(Try) + " of " +
        std::to_string(Request.Rounds) +
        (Next->Accepted
             ? " runs, and is asked about: " + visibleLine(Best->Doubts.front())
             : ": " + shortenUtf8(visibleLine(LastProblem), 2 * NoteLimit)));
    goOn(Chat, *Reply, Next->Message);
  }
  return made();
}

llvm::Expected<ModelDraft>
stark::draftWithModel(const ModelDraftRequest &Request, const Prompt &P,
                      ChatClient &Client, const CallControl &Control) {
  llvm::Expected<ChatRequest> First = makeDraftRequest(P, Request.Question);
  if (!First)
    return First.takeError();
  return Asking(Request, Client, Control).run(std::move(*First));
}
