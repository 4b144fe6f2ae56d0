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

#include "stark/Eval/Events.h"
#include "stark/LLM/RunEnd.h"
#include "stark/LLM/Transcript.h"
#include "stark/Search/Options.h"
#include "stark/Search/Window.h"
#include "stark/Support/Journal.h"

namespace stark {

/// run.json. A run goes on only with the same task, options, prompts, provider
/// and evaluator.
struct RunIdentity {
  std::string TaskName, Entry, TaskDigest, Arch, PromptsDigest;
  std::string Provider, Evaluator;
  SearchOptions Options;
  /// The tool's and Clang's version, the toolkit: what the run began with.
  std::map<std::string, std::string> Versions;
  std::string Device; ///< that judged the source; empty before
};
std::string printIdentity(const RunIdentity &I);
llvm::Expected<RunIdentity> parseIdentity(llvm::StringRef Text,
                                          llvm::StringRef File);
/// Of the run in \p RunFolder.
llvm::Expected<RunIdentity> readIdentity(llvm::StringRef RunFolder);
/// A digest of all that must agree for a run to go on: 64 hexadecimal digits.
std::string digestOf(const RunIdentity &I);
/// Empty when \p Now may go on with what \p Then began, else the first thing
/// that differs: "has seed 1, now it is 2".
std::string differenceOf(const RunIdentity &Then, const RunIdentity &Now);

// The journal's events. Type stands on the line, the rest is its body. What the
// model (LLM/Transcript.h), the profiler and the judge said (Eval/Events.h) is
// a ReplyEvent, a CountersEvent, a VerdictEvent.

/// The part of the tree that one role was shown.
struct ShownTo {
  WindowRole Role;
  std::vector<unsigned> Nodes; ///< ascending, root and selected node included
};

struct SelectEvent {
  static constexpr const char Type[] = "select";
  unsigned Attempt = 0;
  Selection Chosen;
  bool Debug = false;  ///< the node has a bug: repair it
  bool Single = false; ///< one agent does what there is to do
  bool Tune = false;   ///< no agent is asked: it gets other numbers
  std::vector<ShownTo> Shown;
  /// The plans of other attempts that are in flight, and what is known of them.
  std::vector<PlanInFlight> Beside;
  /// On the variants before this one, where that is limited.
  std::optional<unsigned> SpentS;
};

/// A number of a source that may be another one.
struct TunedNumber {
  std::string Name; ///< as a Tunable has it
  unsigned Line = 0, Value = 0;
};

/// No more attempts are begun but variants of a node, which have other numbers.
struct TuneEvent {
  static constexpr const char Type[] = "tune";
  unsigned Node = 0;
  unsigned Attempts = 0; ///< that were begun before
  std::vector<TunedNumber> Numbers;
  RunEnd Ended; ///< the attempts
};

struct NodeEvent {
  static constexpr const char Type[] = "node";
  unsigned Attempt = 0;
  Node N; ///< without text and verdict
  VerdictKind Kind = VerdictKind::NoCandidate;
  std::string File;      ///< "candidates/0007.cu", empty without a candidate
  std::string Candidate; ///< digest of the text, empty without one
};

struct EndEvent {
  static constexpr const char Type[] = "end";
  int Winner = -1;
  unsigned Attempts = 0;
  RunEnd Ended;
};

/// The body of \p E, a SelectEvent to an EndEvent: one object, keys sorted.
template <class Event> std::string printEvent(const Event &E);
/// The error says what is wrong with the body; the caller knows the line.
template <class Event> llvm::Expected<Event> parseEvent(llvm::StringRef Body);

/// The attempt that \p Event is a step of; unset for where tuning begins, a
/// confirmation, the end and what cannot be read.
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
  Tree Nodes;
  std::vector<RecordedAttempt> Attempts; ///< from 0
  std::optional<TuneEvent> Tuning;       ///< what follows of attempts is its
  std::vector<VerdictEvent> Confirmations;
  /// By request: calls that failed or were interrupted, and have no reply.
  std::map<std::string, DiscardedAnswers> Lost;
  /// Judged, and no node came of it: of a source that is not correct by its own
  /// standard, with which a search ends, or of an attempt that was cut off.
  std::optional<VerdictEvent> Unrecorded;
  std::optional<EndEvent> End; ///< unset: the run goes on
  std::string Note;            ///< a torn last line, or empty
  /// workload.json, as it was read; empty in runs of before it was kept.
  std::string WorkloadText;
};

/// Reads a run from its folder alone and changes nothing.
llvm::Expected<RecordedRun> readRun(llvm::StringRef RunFolder);

/// The same from a journal that was read. Errors name file and line. \p Jobs
/// attempts may be in flight at a time.
llvm::Expected<RecordedRun> readEvents(llvm::StringRef RunFolder,
                                       const JournalContent &Content,
                                       unsigned Jobs = 1);

/// Attempts begin and end in some order, which a run with several in flight
/// keeps in its journal.
struct ScheduleStep {
  bool Begins = false; ///< it is selected; else its node is recorded
  unsigned Attempt = 0;
  std::vector<PlanInFlight> Beside; ///< of the selection
};

/// The order in which attempts begin and end in a journal, variants left out.
std::vector<ScheduleStep> scheduleOf(const JournalContent &Content);
llvm::Expected<std::vector<ScheduleStep>>
readSchedule(llvm::StringRef RunFolder);

/// The seconds spent before each variant in the journal of a run that has ended
/// (0 where they are not limited); unset: it has not, or tuned nothing.
llvm::Expected<std::optional<std::vector<unsigned>>>
readTuned(llvm::StringRef RunFolder);

/// By name: what the run's agents were told by, as it is, at most 1 MiB of it.
std::map<std::string, std::string> readPromptFiles(llvm::StringRef RunFolder);

/// In a run's folder: the bytes of the workload.
inline constexpr char RunWorkloadFile[] = "workload.json";
/// "candidates/0007.cu"
std::string candidateFile(unsigned Node);
/// "replies/0007-plan-1.lost.json"
std::string lostFile(llvm::StringRef Request);
/// Fills \p Run.Lost in; \p Run has its replies.
llvm::Error readLost(llvm::StringRef RunFolder, RecordedRun &Run);

} // namespace stark

#endif
