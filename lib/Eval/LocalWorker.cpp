//===- LocalWorker.cpp - A worker beside the tool -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalWorker.h"
#include "stark/Eval/Evaluator.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Posix/Pipe.h"
#include "stark/Posix/Process.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <cstring>
#include <mutex>

using namespace stark;

static constexpr uint64_t StartLimitMs = 180000;
static constexpr std::chrono::milliseconds LookEvery(5);
static constexpr unsigned MostRestarts = 5;
/// Of what the worker printed last.
static constexpr size_t MostBytes = 600;

namespace {
class LocalWorker : public SpoolWorkers {
public:
  LocalWorker(llvm::StringRef Program, TemporaryFolder Where, bool Tensors,
              Clock &Time)
      : Program(Program), Folder(std::move(Where)), Tensors(Tensors),
        Time(Time) {}
  llvm::Error open();
  const gpu::DeviceFacts &device() const { return Device; }
  void posted() override;
  llvm::Error attend() override;
  std::string waitsFor() override;
  std::string identity() const override { return "cuda:" + Device.Name; }
  llvm::Error late(const std::string &Job) override {
    return failed("stark-worker did not end " + Job + " in time");
  }
  std::string interrupted() const override {
    return "is ended; the same command judges it again";
  }

private:
  llvm::Error start();
  std::string lastLine() const;
  std::string logFile() const { return (Folder.path() + "/worker.log").str(); }

  std::string Program;
  TemporaryFolder Folder;
  bool Tensors;
  Clock &Time;
  gpu::DeviceFacts Device;
  std::mutex Guard; ///< of what follows
  /// The worker's standard input. Both ends are held here, so that writing to
  /// one that has died is no error, and the next finds what was written.
  posix::Pipe Lines;
  unsigned Restarts = 0;
  std::optional<posix::ChildGroup> Running; ///< killed before the folder goes
};
} // namespace

llvm::Error LocalWorker::start() {
  posix::ProcessSpec Spec;
  Spec.Program = Program;
  Spec.Arguments = {"--spool", Folder.path().str(), "--serve"};
  if (Tensors)
    Spec.Arguments.push_back("--tensors");
  Spec.Input = Lines.readEnd();
  std::string Error;
  Running = posix::startProgram(Spec, logFile(), Error);
  return Running ? llvm::Error::success() : failed(Error);
}

llvm::Error LocalWorker::open() {
  TraceScope Traced("start worker");
  std::string File = (Folder.path() + "/device.json").str();
  if (!Lines.open())
    return failed("cannot make a pipe: " + llvm::Twine(std::strerror(errno)));
  if (llvm::Error E = start())
    return E;
  const Clock::Time Begun = Time.now();
  while (!llvm::sys::fs::exists(File)) {
    if (interruptFlag())
      return stark::interrupted("while the GPU was opened");
    if (llvm::Error E = attend())
      return E;
    if (Time.millisecondsSince(Begun) >= StartLimitMs)
      return failed("stark-worker has not opened the GPU within " +
                    llvm::Twine(StartLimitMs / 1000) + " s");
    Time.sleep(LookEvery);
  }
  llvm::Expected<std::string> Text = readText(File);
  if (!Text)
    return Text.takeError();
  llvm::Expected<gpu::DeviceFacts> Facts = parseDevice(*Text, File);
  if (!Facts)
    return Facts.takeError();
  Device = std::move(*Facts);
  return llvm::Error::success();
}

void LocalWorker::posted() {
  std::lock_guard<std::mutex> Held(Guard);
  // It looks by itself, too.
  (void)!::write(Lines.writeEnd(), "\n", 1);
}

llvm::Error LocalWorker::attend() {
  std::lock_guard<std::mutex> Held(Guard);
  if (!Running->ended())
    return llvm::Error::success();
  const posix::ExitStatus How = Running->status();
  if (How.Signal && Restarts++ < MostRestarts)
    return start();
  std::string Said = lastLine();
  llvm::StringRef Why = Said;
  Why.consume_front("error: ");
  if (How.Signal)
    return failed("stark-worker was ended by a signal (" +
                  llvm::Twine(strsignal(How.Signal)) + "), " +
                  llvm::Twine(Restarts) + " times in all" +
                  (Why.empty() ? "" : "; it said last: ") + Why);
  return failed(Why.empty() ? "stark-worker ended with exit code " +
                                  llvm::Twine(How.ExitCode)
                            : llvm::Twine(Why));
}

/// Of what it printed; a line is complete when it ends.
std::string LocalWorker::lastLine() const {
  llvm::Expected<std::string> Text = readFile(logFile());
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return "";
  }
  llvm::StringRef Lines = llvm::StringRef(*Text).rtrim();
  return Lines.substr(Lines.rfind('\n') + 1).take_front(MostBytes).str();
}

/// It says so where another program has the GPU.
std::string LocalWorker::waitsFor() {
  std::lock_guard<std::mutex> Held(Guard);
  std::string Said = lastLine();
  llvm::StringRef Why = Said;
  return Why.consume_front("note: ") ? Why.str() : "";
}

llvm::Expected<std::unique_ptr<SpoolWorkers>>
stark::makeLocalWorker(llvm::StringRef Program, TemporaryFolder Folder,
                       bool Tensors, gpu::DeviceFacts &Facts, Clock &Time) {
  auto Worker =
      std::make_unique<LocalWorker>(Program, std::move(Folder), Tensors, Time);
  if (llvm::Error E = Worker->open())
    return E;
  Facts = Worker->device();
  return Worker;
}
