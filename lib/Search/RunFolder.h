//===- RunFolder.h - The folder that a search writes to ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The search runs the same code from the start each time it is called. Each
/// step asks the run folder first: what the journal has is taken from it, after
/// a check that it is the same step; otherwise the step is done, written down
/// and, if it was dear, flushed to disk. What goes on is always what the
/// journal says, read back, so that a resumed run and an undisturbed one see
/// the same bytes.
///   Attempts may be made by several threads. Whoever holds the baton works; it
/// is put down only while the chat client, the evaluator or the disk is waited
/// for. So the tree, the journal and Clang are never used by two. All functions
/// here are called with the baton held.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SEARCH_RUNFOLDER_H
#define STARK_LIB_SEARCH_RUNFOLDER_H

#include "stark/Search/Record.h"
#include "stark/Support/File.h"
#include <deque>
#include <limits>
#include <mutex>

namespace stark {

/// Puts the baton down and takes it up again.
class BatonDown {
public:
  explicit BatonDown(std::mutex &Baton) : Baton(Baton) { Baton.unlock(); }
  ~BatonDown() { Baton.lock(); }

private:
  std::mutex &Baton;
};

class RunFolder {
public:
  /// Locks the folder, reads what is there and checks that \p Identity may go
  /// on with it; a new folder gets run.json and the prompts.
  static llvm::Expected<RunFolder> open(llvm::StringRef Path,
                                        const RunIdentity &Identity,
                                        const PromptSet &Prompts,
                                        SearchObserver &Observer);

  std::mutex &baton() { return *Baton; }

  /// What was recorded when the folder was opened.
  const RecordedRun &recorded() const { return Recorded; }

  /// Whether the journal has a step of \p Attempt that was not taken yet.
  bool recordedStep(unsigned Attempt) const {
    return next(Attempt).has_value();
  }

  /// Whether \p Attempt has its verdict, which names its node, and no node.
  bool judgedOnly(unsigned Attempt) const;

  /// The order in which the recorded attempts begin and end.
  std::vector<ScheduleStep> schedule() const { return scheduleOf(Content); }

  llvm::Error select(const SelectEvent &E);
  llvm::Expected<ChatReply>
  reply(unsigned Attempt, const ChatRequest &Request,
        llvm::function_ref<llvm::Expected<ChatReply>()> Ask);
  /// What answers to request \p Id took of which none was a reply yet.
  DiscardedAnswers lost(const std::string &Id) const;
  /// The counters of node \p Number that attempt \p Attempt shows: those that
  /// an earlier attempt had, else what \p Look returns.
  llvm::Expected<Counters>
  counters(unsigned Attempt, unsigned Number, const std::string &Text,
           llvm::function_ref<llvm::Expected<Counters>()> Look);
  /// Fills \p E in: \p E.Found is what \p Judge returns on the candidate
  /// \p Text, which may be empty. Writes the candidate, then the event.
  llvm::Expected<Verdict>
  verdict(VerdictEvent E, const std::string &Text,
          llvm::function_ref<llvm::Expected<Verdict>()> Judge);
  /// Returns the node as it reads back. The baton is not put down.
  llvm::Expected<Node> node(unsigned Attempt, Node N);
  /// The node of a whole recorded attempt, its other steps passed over.
  std::optional<Node> recordedNode(unsigned Attempt);
  llvm::Error end(const EndEvent &E);

  /// Waits, without the baton, until the disk has what was written; not at all
  /// when the options say that nobody would miss it.
  llvm::Error flush();

  /// Puts the device into run.json once the source was judged.
  llvm::Error setDevice(llvm::StringRef Device);

private:
  /// Confirmations and the end, which are of no attempt.
  static constexpr unsigned Tail = std::numeric_limits<unsigned>::max();

  RunFolder() = default;
  llvm::Error begin(const PromptSet &Prompts);
  llvm::Error append(llvm::StringRef Type, llvm::StringRef Body);
  llvm::Error write(llvm::StringRef File, llvm::StringRef Text);
  /// The next recorded event, as an index, of \p Attempt, or of Tail. With one
  /// job there is one line of events, with several one an attempt.
  std::optional<size_t> next(unsigned Attempt) const;
  void take(unsigned Attempt);
  unsigned lineOf(unsigned Attempt) const {
    return Identity.Options.Jobs == 1 ? 0 : Attempt;
  }
  /// An error unless event \p At is of \p Type with \p Body.
  llvm::Error match(size_t At, llvm::StringRef Type, llvm::StringRef Body);
  llvm::Error mismatch(size_t At, llvm::StringRef Type,
                       llvm::StringRef Body) const;
  void sortEvents();

  llvm::Error keepLost(const std::string &Id, llvm::Error E);
  void keep(unsigned Node, const Counters &Found);

  /// Says once that a recorded request was rendered otherwise.
  void noteDrift(llvm::StringRef Id);

  std::unique_ptr<std::mutex> Baton = std::make_unique<std::mutex>();
  std::string Path;
  SearchObserver *Observer = nullptr;
  bool Flush = true, DriftNoted = false, CountersNoted = false, TooSlow = false;
  RunIdentity Identity;
  std::unique_ptr<FileLock> Lock;
  JournalContent Content;
  RecordedRun Recorded;
  std::map<unsigned, Counters> Profiles; ///< by node
  /// Indices of events that were not taken yet.
  std::map<unsigned, std::deque<size_t>> Left;
  std::unique_ptr<Journal> Out; ///< opened by the first append
};

} // namespace stark

#endif
