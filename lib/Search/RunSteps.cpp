//===- RunSteps.cpp - Each step of a search, taken or made ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunSteps.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

using namespace stark;

RunSteps::RunSteps(RunFolder &Run, SearchObserver &Observer)
    : Run(Run), Observer(Observer), OneLine(Run.identity().Options.Jobs == 1) {
  const std::vector<JournalEvent> &Events = Run.content().Events;
  for (size_t I = 0; I < Events.size(); ++I)
    Left[OneLine ? 0 : attemptOf(Events[I]).value_or(Tail)].push_back(I);
}

const JournalEvent *RunSteps::next(unsigned Attempt) const {
  auto Found = Left.find(lineOf(Attempt));
  if (Found == Left.end() || Found->second.empty())
    return nullptr;
  return &Run.content().Events[Found->second.front()];
}

bool RunSteps::judgedOnly(unsigned Attempt) const {
  auto Found = Left.find(lineOf(Attempt));
  return Found != Left.end() && !Found->second.empty() &&
         Run.content().Events[Found->second.back()].Type == VerdictEvent::Type;
}

static std::string shortened(llvm::StringRef Text) {
  return Text.size() <= 300 ? Text.str() : (Text.take_front(297) + "...").str();
}

llvm::Error RunSteps::mismatch(const JournalEvent &Had, llvm::StringRef Does,
                               llvm::StringRef What) const {
  return failed(Run.path() + "/journal.jsonl:" + llvm::Twine(Had.Number + 1) +
                ": the journal has " + Had.Type + " " + shortened(Had.Body) +
                ", the search came to " + Does + " " + shortened(What));
}

llvm::Error RunSteps::append(llvm::StringRef Type, llvm::StringRef Body) {
  if (!Out) {
    llvm::Expected<std::unique_ptr<Journal>> Opened =
        Journal::open(Run.path() + "/journal.jsonl", Run.content());
    if (!Opened)
      return Opened.takeError();
    Out = std::move(*Opened);
  }
  return Out->append(Type, Body);
}

std::optional<SelectEvent> RunSteps::recordedSelect(unsigned Attempt) const {
  if (!recorded<SelectEvent>(Attempt))
    return std::nullopt;
  llvm::Expected<SelectEvent> E = parseEvent<SelectEvent>(next(Attempt)->Body);
  if (E)
    return std::move(*E);
  // Told by whoever takes it.
  llvm::consumeError(E.takeError());
  return std::nullopt;
}

template <class Event>
llvm::Expected<Event>
RunSteps::step(unsigned Attempt, const Expectation<Event> &Wanted,
               std::function<llvm::Expected<Event>()> Make) {
  if (const JournalEvent *Had = next(Attempt)) {
    if (Had->Type != Event::Type)
      return mismatch(*Had, Wanted.Does, Wanted.What);
    llvm::Expected<Event> E = parseEvent<Event>(Had->Body);
    if (!E)
      return E.takeError();
    if (!Wanted.IsSame(*E))
      return mismatch(*Had, Wanted.Does, Wanted.What);
    take(Attempt);
    return E;
  }
  llvm::Expected<Event> E = Make();
  if (!E)
    return E.takeError();
  std::string Body = printEvent(*E);
  if (llvm::Error Problem = append(Event::Type, Body))
    return Problem;
  return parseEvent<Event>(Body);
}

template <class Event>
llvm::Expected<Event> RunSteps::step(unsigned Attempt, const Event &E) {
  std::string Body = printEvent(E);
  auto IsSame = [&](const Event &Had) { return printEvent(Had) == Body; };
  return step<Event>(Attempt, {Event::Type, Body, IsSame},
                     [&] { return llvm::Expected<Event>(E); });
}

namespace stark {
template llvm::Expected<SelectEvent> RunSteps::step(unsigned,
                                                    const SelectEvent &);
template llvm::Expected<NodeEvent> RunSteps::step(unsigned, const NodeEvent &);
template llvm::Expected<EndEvent> RunSteps::step(unsigned, const EndEvent &);
template llvm::Expected<TuneEvent> RunSteps::step(unsigned, const TuneEvent &);
template llvm::Expected<SelectEvent>
RunSteps::step(unsigned, const Expectation<SelectEvent> &,
               std::function<llvm::Expected<SelectEvent>()>);
template llvm::Expected<ReplyEvent>
RunSteps::step(unsigned, const Expectation<ReplyEvent> &,
               std::function<llvm::Expected<ReplyEvent>()>);
template llvm::Expected<CountersEvent>
RunSteps::step(unsigned, const Expectation<CountersEvent> &,
               std::function<llvm::Expected<CountersEvent>()>);
template llvm::Expected<VerdictEvent>
RunSteps::step(unsigned, const Expectation<VerdictEvent> &,
               std::function<llvm::Expected<VerdictEvent>()>);
} // namespace stark

std::optional<Node> RunSteps::skipToNode(unsigned Attempt) {
  const RecordedRun &Before = Run.recorded();
  if (Attempt >= Before.Attempts.size() || !Before.Attempts[Attempt].Node)
    return std::nullopt;
  for (bool AtNode = false; !AtNode; take(Attempt))
    AtNode = recorded<NodeEvent>(Attempt);
  Node N = Before.Nodes.node(*Before.Attempts[Attempt].Node);
  N.Children.clear();
  return N;
}

void RunSteps::skipToTuning() {
  auto Found = Left.find(lineOf(Tail));
  while (Found != Left.end() && !Found->second.empty() &&
         !recorded<TuneEvent>(Tail))
    Found->second.pop_front();
}

llvm::Error RunSteps::write(llvm::StringRef File, llvm::StringRef Text) {
  RunLockReleased Released(RunLock);
  return writeFileAtomically((Run.path() + "/" + File).str(), Text,
                             Run.flushes());
}

void RunSteps::remove(llvm::StringRef File) {
  (void)llvm::sys::fs::remove(Run.path() + "/" + File);
}

llvm::Error RunSteps::flush() {
  if (!Out || !Run.flushes())
    return llvm::Error::success();
  RunLockReleased Released(RunLock);
  return Out->flush();
}

llvm::Expected<std::string> RunSteps::readText(llvm::StringRef File,
                                               llvm::StringRef Digest) const {
  std::string Path = (Run.path() + "/" + File).str();
  llvm::Expected<std::string> Text = readFile(Path);
  if (Text && sha256(*Text) != Digest)
    return failed("'" + Path +
                  "' was changed: its digest is not the recorded one");
  return Text;
}

void RunSteps::noteOnce(Once Kind, llvm::StringRef What) {
  if (Noted.insert(Kind).second)
    Observer.onNote(What);
}
