//===- Record.h - What a run folder holds --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   run.json is the identity of a run; journal.jsonl has an event for each
/// step; candidates/NNNN.cu and replies/ID.md hold the texts. docs/journal.md
/// describes the format; these are the values in it. A resumed run, a replay
/// and a report read nothing else.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SEARCH_RECORD_H
#define STARK_SEARCH_RECORD_H

#include "stark/Search/Search.h"
#include "stark/Support/Journal.h"

namespace stark {

/// run.json. A run goes on only with the same task, options, prompts, provider
/// and evaluator.
struct RunIdentity {
  std::string TaskName, Entry, TaskDigest, Arch, PromptsDigest;
  std::string Provider, Evaluator;
  SearchOptions Options;
  std::string Device; ///< that judged the source; empty before
};
std::string printIdentity(const RunIdentity &I);
llvm::Expected<RunIdentity> parseIdentity(llvm::StringRef Text,
                                          llvm::StringRef File);
/// Of the run in \p RunFolder.
llvm::Expected<RunIdentity> readIdentity(llvm::StringRef RunFolder);
/// Of a run that runSearch() would begin with these.
RunIdentity identityOf(const Task &T, const PromptSet &Prompts,
                       const ChatClient &Chat, const Evaluator &Judge,
                       const SearchOptions &Options);
/// A digest of all that must agree for a run to go on: 64 hexadecimal digits.
std::string digestOf(const RunIdentity &I);
/// Empty when \p Now may go on with what \p Then began, else the first thing
/// that differs: "has seed 1, now it is 2".
std::string differenceOf(const RunIdentity &Then, const RunIdentity &Now);

// The bodies of the journal's events. Each parse function's error says what is
// wrong with the body; the caller knows the line.

struct SelectEvent {
  unsigned Attempt = 0;
  Selection Chosen;
  bool Debug = false;  ///< the node has a bug: repair it
  bool Single = false; ///< one agent does what there is to do
  std::vector<ShownTo> Shown;
};
std::string printSelect(const SelectEvent &E);
llvm::Expected<SelectEvent> parseSelect(llvm::StringRef Body);

struct ReplyEvent {
  std::string Id, Digest; ///< of the request
  std::string File;       ///< "replies/ID.md"
  std::string TextDigest; ///< of that file
  ChatReply Reply;        ///< parseReplyEvent leaves the text empty
};
std::string printReplyEvent(const ReplyEvent &E);
llvm::Expected<ReplyEvent> parseReplyEvent(llvm::StringRef Body);

/// What the profiler found of a base, before the plan agent is asked.
struct CountersEvent {
  unsigned Attempt = 0, Node = 0; ///< Node: the base
  std::string Candidate;          ///< digest of the base's text
  Counters Found;
};
std::string printCountersEvent(const CountersEvent &E);
llvm::Expected<CountersEvent> parseCountersEvent(llvm::StringRef Body);

struct VerdictEvent {
  unsigned Attempt = 0, Node = 0;
  /// "attempt" and "confirm" come from the evaluator, "check" from the search:
  /// ungrounded, contract-broken, forbidden, no candidate, a known candidate.
  std::string Purpose;
  std::string Candidate; ///< digest of the text, empty without one
  Verdict Found;
};
std::string printVerdictEvent(const VerdictEvent &E);
llvm::Expected<VerdictEvent> parseVerdictEvent(llvm::StringRef Body);

struct NodeEvent {
  unsigned Attempt = 0;
  Node N; ///< without text and verdict
  VerdictKind Kind = VerdictKind::NoCandidate;
  std::string File;      ///< "candidates/0007.cu", empty without a candidate
  std::string Candidate; ///< digest of the text, empty without one
};
std::string printNodeEvent(const NodeEvent &E);
llvm::Expected<NodeEvent> parseNodeEvent(llvm::StringRef Body);

struct EndEvent {
  int Winner = -1;
  unsigned Attempts = 0;
  std::string Why;
};
std::string printEnd(const EndEvent &E);
llvm::Expected<EndEvent> parseEnd(llvm::StringRef Body);

/// The attempt that \p Event is a step of; unset for a confirmation, the end
/// and what cannot be read.
std::optional<unsigned> attemptOf(const JournalEvent &Event);

/// One attempt as it is recorded, whole or in flight.
struct RecordedAttempt {
  std::optional<SelectEvent> Select;  ///< attempt 0, the source, has none
  std::optional<CountersEvent> Found; ///< when a base was profiled for it
  std::vector<ReplyEvent> Replies;    ///< without their texts
  std::optional<unsigned> Node;       ///< unset while in flight
};

struct RecordedRun {
  RunIdentity Identity;
  Tree T;
  std::vector<RecordedAttempt> Attempts; ///< from 0
  std::vector<VerdictEvent> Confirmations;
  /// By request: calls that failed or were interrupted, and have no reply.
  std::map<std::string, DiscardedAnswers> Lost;
  std::optional<EndEvent> End; ///< unset: the run goes on
  std::string Note;            ///< a torn last line, or empty
};

/// Reads a run from its folder alone and changes nothing.
llvm::Expected<RecordedRun> readRun(llvm::StringRef RunFolder);

/// The same from a journal that was read. Errors name file and line. \p Jobs
/// attempts may be in flight at a time.
llvm::Expected<RecordedRun> readEvents(llvm::StringRef RunFolder,
                                       const JournalContent &Content,
                                       unsigned Jobs = 1);

/// The order in which attempts begin and end in a journal.
std::vector<ScheduleStep> scheduleOf(const JournalContent &Content);
llvm::Expected<std::vector<ScheduleStep>>
readSchedule(llvm::StringRef RunFolder);

/// "candidates/0007.cu"
std::string candidateFile(unsigned Node);
/// "replies/0007-plan-1.lost.json"
std::string lostFile(llvm::StringRef Request);
/// Fills \p Run.Lost in; \p Run has its replies.
llvm::Error readLost(llvm::StringRef RunFolder, RecordedRun &Run);

} // namespace stark

#endif
