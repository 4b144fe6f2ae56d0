//===- main.cpp - stark-tool ----------------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   argv -> verb -> its file. Exit codes: 0 done, 1 failed, 2 usage, 75
/// suspended (run the same command again later), 130 interrupted.
/// As a compiler it is a child of its own (stark/HostCode/OwnCompiler.h).
///
//===----------------------------------------------------------------------===//

#include "Verbs.h"
#include "stark/HostCode/OwnCompiler.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "stark/Support/Utf8.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"
#include <optional>

using namespace stark;

/// Clang recurses once a level of nesting, and generated sources nest deeply.
/// Pages that are never touched cost nothing.
static constexpr unsigned StackBytes = 1u << 30;

static llvm::cl::opt<std::string> TimeTrace(
    "time-trace", llvm::cl::sub(llvm::cl::SubCommand::getAll()),
    llvm::cl::cat(tool::category()), llvm::cl::value_desc("file"),
    llvm::cl::desc("Write where the time went, in Chrome's trace format "
                   "(docs/time-trace.md)"));

static llvm::Error runTraced(const tool::Verb &V,
                             const std::vector<std::string> &Flags) {
  if (TimeTrace.empty())
    return V.run(Flags);
  startTimeTrace("stark-tool");
  llvm::Error E = V.run(Flags);
  // What the verb came to counts, and is told first.
  return llvm::joinErrors(std::move(E), writeTimeTrace(TimeTrace));
}

/// Runs \p Body on a stack that deep sources do not overflow.
template <class Body> static auto onLargeStack(Body &&Run) {
  std::optional<decltype(Run())> Result;
  llvm::thread Runner(std::optional<unsigned>(StackBytes),
                      [&] { Result.emplace(Run()); });
  Runner.join();
  return std::move(*Result);
}

llvm::cl::OptionCategory &tool::category() {
  static llvm::cl::OptionCategory Category("stark-tool options");
  return Category;
}

/// Made when the first verb registers itself, whichever that is.
static std::vector<const tool::Verb *> &registered() {
  static std::vector<const tool::Verb *> All;
  return All;
}

tool::Verb::Verb(llvm::cl::SubCommand &Command, Function Run)
    : Command(Command), Run(Run) {
  registered().push_back(this);
}

const std::vector<const tool::Verb *> &tool::Verb::all() {
  return registered();
}

/// A message may quote what a model wrote, or what a file holds, of any length:
/// it does nothing on a terminal, and of a long line the middle is left out.
static std::string messageText(llvm::StringRef Message) {
  constexpr size_t Most = 4000, End = 300;
  std::string Text;
  while (!Message.empty()) {
    auto [Line, Rest] = Message.split('\n');
    Text += Line.size() <= Most
                ? Line.str()
                : shortenUtf8(Line, Most - End) +
                      Line.take_back(End)
                          .drop_while([](char C) { return (C & 0xC0) == 0x80; })
                          .str();
    if (Line.size() < Message.size())
      Text += "\n";
    Message = Rest;
  }
  return visibleText(Text);
}

/// LLVM's parser says several things of an option that there is not; this says
/// one. Empty: there is none such.
static std::string unknownOption(llvm::ArrayRef<const char *> Words) {
  if (Words.size() < 2)
    return "";
  auto &Verbs = tool::Verb::all();
  auto V = llvm::find_if(Verbs, [&](const tool::Verb *Verb) {
    return Verb->command().getName() == Words[1];
  });
  if (V == Verbs.end())
    return "";
  auto &Known = llvm::cl::getRegisteredOptions((*V)->command());
  for (size_t I = 2; I < Words.size(); ++I) {
    llvm::StringRef Word = Words[I];
    if (!Word.starts_with("-") || Word == "-")
      continue;
    auto [Name, Value] = Word.ltrim('-').split('=');
    if (auto Found = Known.find(Name); Found != Known.end()) {
      bool IsNext =
          !Word.contains('=') &&
          Found->second->getValueExpectedFlag() == llvm::cl::ValueRequired;
      I += IsNext;
      continue;
    }
    std::string Nearest;
    unsigned Least = unsigned(Name.size() / 2 + 1);
    for (const auto &Option : Known)
      if (unsigned Far = Name.edit_distance(Option.first()); Far < Least) {
        Least = Far;
        Nearest = ", wanted --" + Option.first().str() + " perhaps";
      }
    return ("got option '" + Word + "'" + Nearest + "; stark-tool " +
            llvm::StringRef(Words[1]) + " --help lists them")
        .str();
  }
  return "";
}

int main(int Argc, char **Argv) {
  llvm::InitLLVM Init(Argc, Argv);
  if (Argc > 1 && llvm::StringRef(Argv[1]) == OwnCompilerWord)
    // What Clang holds is not given back piece by piece.
    llvm::sys::Process::Exit(
        onLargeStack(
            [&] { return runOwnCompiler(llvm::ArrayRef(Argv + 2, Argc - 2)); }),
        /*NoCleanup=*/true);
  // What stands after "--" belongs to the compiler.
  std::vector<std::string> Flags;
  int Own = Argc;
  for (int I = 1; I < Argc; ++I)
    if (llvm::StringRef(Argv[I]) == "--") {
      Flags.assign(Argv + I + 1, Argv + Argc);
      Own = I;
      break;
    }
  for (const tool::Verb *V : tool::Verb::all())
    llvm::cl::HideUnrelatedOptions(tool::category(), V->command());
  llvm::cl::HideUnrelatedOptions(tool::category());
  std::string Problem = unknownOption(llvm::ArrayRef<const char *>(Argv, Own));
  if (!Problem.empty()) {
    llvm::errs() << "error: " << messageText(Problem) << "\n";
    return 2;
  }
  llvm::raw_string_ostream ProblemStream(Problem);
  if (!llvm::cl::ParseCommandLineOptions(
          Own, Argv,
          "Makes CUDA kernels faster with a team of language-model agents.\n\n"
          "Exit codes: 0 done, 1 failed, 2 usage, 75 suspended (run the same\n"
          "command again later), 130 interrupted.\n",
          &ProblemStream)) {
    llvm::errs() << Problem;
    return 2;
  }
  for (const tool::Verb *V : tool::Verb::all()) {
    if (!V->command())
      continue;
    llvm::Error E = onLargeStack([&] { return runTraced(*V, Flags); });
    int Code = exitCodeFor(E);
    bool Waits = Code == 75;
    llvm::handleAllErrors(std::move(E), [&](const llvm::ErrorInfoBase &Info) {
      llvm::errs() << (Waits ? "suspended: " : "error: ")
                   << messageText(Info.message()) << "\n";
    });
    return Code;
  }
  llvm::errs() << "error: no verb given; stark-tool --help lists them\n";
  return 2;
}
