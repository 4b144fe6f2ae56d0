//===- ProgressPrinter.cpp - A search as it goes on, on standard error ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/ProgressPrinter.h"
#include "stark/Report/EventLog.h"
#include "stark/Report/Progress.h"
#include "stark/Report/SearchProgress.h"
#include "stark/Report/TerminalBlock.h"
#include "stark/Support/Error.h"
#include "stark/Support/Utf8.h"
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace stark;

namespace {
constexpr std::chrono::milliseconds DrawEvery(200);

/// The block and the thread that draws it.
class LiveBlock : public SearchProgress {
public:
  LiveBlock(llvm::raw_ostream &OS, Clock &Time)
      : SearchProgress(Time), Block(OS), Drawer([this] { drawUntilEnd(); }) {}
  ~LiveBlock() override { end(); }

  /// What is told may change what is drawn.
  template <class Function> void tell(Function Change) {
    std::lock_guard Lock(Guard);
    Change(*this);
  }
  /// Prints \p Line above the block.
  void print(llvm::raw_ostream &OS, const std::string &Line) {
    std::lock_guard Lock(Guard);
    Block.clear(size());
    OS << Line << "\n";
    draw();
  }
  void end() {
    {
      std::lock_guard Lock(Guard);
      if (Ended)
        return;
      Ended = true;
    }
    Wake.notify_all();
    Drawer.join();
    draw();
    Block.leave();
  }

private:
  static posix::TerminalSize size() {
    return posix::terminalSize(STDERR_FILENO).value_or(posix::TerminalSize());
  }
  void draw() {
    posix::TerminalSize Size = size();
    Block.draw(lines(Size.Columns - (Size.Columns > 1), Size.Rows - 1), Size);
  }
  void drawUntilEnd() {
    std::unique_lock Lock(Guard);
    while (!Wake.wait_for(Lock, DrawEvery, [this] { return Ended; }))
      draw();
  }

  std::mutex Guard; ///< of all that follows, and of what is told
  std::condition_variable Wake;
  bool Ended = false;
  TerminalBlock Block;
  std::thread Drawer;
};

class Printer : public ProgressPrinter {
public:
  explicit Printer(ProgressOptions Options) : Options(std::move(Options)) {
    if (!this->Options.Quiet && this->Options.Prefix.empty() &&
        posix::terminalSize(STDERR_FILENO))
      Live = std::make_unique<LiveBlock>(llvm::errs(), *this->Options.Time);
  }

  llvm::Error openEvents() {
    if (Options.EventsFile.empty())
      return llvm::Error::success();
    llvm::Expected<std::unique_ptr<EventLog>> Made =
        EventLog::create(Options.EventsFile, *Options.Time,
                         [this](llvm::StringRef Note) { note(Note); });
    if (!Made)
      return Made.takeError();
    Events = std::move(*Made);
    return llvm::Error::success();
  }

  void onBegin(const RunIdentity &Run) override {
    tell([&](SearchObserver &O) { O.onBegin(Run); });
  }
  void onSelect(unsigned Attempt, const Selection &S, const Tree &T,
                const std::vector<ShownTo> &Shown, bool Recorded) override {
    tell(
        [&](SearchObserver &O) { O.onSelect(Attempt, S, T, Shown, Recorded); });
    if (Options.Explain)
      print(selectionLine(Attempt, S, T, Shown));
  }
  void onStep(unsigned Attempt, const SearchStep &Step) override {
    tell([&](SearchObserver &O) { O.onStep(Attempt, Step); });
    if (!Options.Quiet && !Live && Options.Prefix.empty() &&
        Step.Does != SearchStep::Kind::Queue)
      print(stepLine(Attempt, Step));
  }
  void onReply(unsigned Attempt, llvm::StringRef Request, const ChatReply &R,
               bool Recorded) override {
    tell([&](SearchObserver &O) { O.onReply(Attempt, Request, R, Recorded); });
  }
  void onNode(unsigned Attempt, const Node &N, const Tree &T,
              bool Recorded) override {
    tell([&](SearchObserver &O) { O.onNode(Attempt, N, T, Recorded); });
    // What an earlier call made is told again only to who asks for it, and a
    // build tells nothing of the source.
    bool Wanted = Options.Prefix.empty() ? !Live || Options.Explain : Attempt;
    if (!Options.Quiet && Wanted && (!Recorded || Options.Explain))
      print(nodeLine(Attempt, N, Recorded));
  }
  void onNote(llvm::StringRef Note) override {
    tell([&](SearchObserver &O) { O.onNote(Note); });
    note(Note);
  }
  void onEnd(const SearchOutcome &Outcome) override {
    tell([&](SearchObserver &O) { O.onEnd(Outcome); });
  }

  llvm::Error finish(llvm::Error E) override {
    if (Live)
      Live->end();
    if (!E || !Events)
      return E;
    int Code = exitCodeFor(E);
    std::string Why;
    E = llvm::handleErrors(std::move(E),
                           [&](std::unique_ptr<llvm::ErrorInfoBase> Info) {
                             Why += (Why.empty() ? "" : "\n") + Info->message();
                             return llvm::Error(std::move(Info));
                           });
    Events->stopped(Why, Code);
    return E;
  }

private:
  template <class Function> void tell(Function Change) {
    if (Live)
      Live->tell(Change);
    if (Events)
      Change(*Events);
  }
  void print(const std::string &Line) {
    write(Options.Prefix + Options.Subject + Line);
  }
  void note(llvm::StringRef Note) {
    write("note: " + Options.Prefix + Note.str());
  }
  void write(const std::string &Line) {
    std::string Text = visibleLine(Line);
    if (Live)
      Live->print(llvm::errs(), Text);
    else
      llvm::errs() << Text << "\n";
  }

  const ProgressOptions Options;
  std::unique_ptr<EventLog> Events;
  std::unique_ptr<LiveBlock> Live;
};
} // namespace

llvm::Expected<std::unique_ptr<ProgressPrinter>>
ProgressPrinter::create(ProgressOptions Options) {
  auto Made = std::make_unique<Printer>(std::move(Options));
  if (llvm::Error E = Made->openEvents())
    return E;
  return Made;
}
