//===- CompileStep.cpp - A compile that is never worse  ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/CompileStep.h"
#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Process.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace stark;
using nlohmann::json;

/// What a compiler may say, at most.
static constexpr size_t OutputLimit = size_t(64) << 20;

static std::string fallbackPath(llvm::StringRef Generated) {
  return (Generated + ".fallback").str();
}

namespace stark {
template <class IO> static void fields(IO &F, Fallback &B) {
  F.required("source", B.Source);
  F.required("entry", B.Entry);
  F.required("require", B.Require);
}
} // namespace stark

llvm::Error stark::writeFallback(llvm::StringRef Generated, const Fallback &F) {
  return writeFileAtomically(fallbackPath(Generated),
                             dumpJson(writeFields<json>(F)) + "\n",
                             /*Flush=*/false);
}

void stark::removeFallback(llvm::StringRef Generated) {
  (void)llvm::sys::fs::remove(fallbackPath(Generated));
}

/// The word of \p Command that is a generated source; its end when none is.
static const std::string *generatedIn(llvm::ArrayRef<std::string> Command) {
  return llvm::find_if(Command, [](const std::string &Word) {
    return llvm::StringRef(Word).ends_with(".cu") &&
           llvm::sys::fs::is_regular_file(fallbackPath(Word));
  });
}

bool stark::namesWinner(llvm::ArrayRef<std::string> Command) {
  return generatedIn(Command) != Command.end();
}

static llvm::Expected<ProcessResult> run(llvm::ArrayRef<std::string> Command) {
  ProcessSpec Spec;
  Spec.Program = Command.front();
  Spec.Arguments.assign(Command.begin() + 1, Command.end());
  Spec.OutputLimit = OutputLimit;
  Spec.Environment.emplace();
  for (char **Entry = environ; *Entry; ++Entry)
    Spec.Environment->push_back(*Entry);
  return runProcess(Spec);
}

/// The line of what a compiler said that tells the most.
static std::string firstError(const ProcessResult &R) {
  for (const std::string *Text : {&R.Err, &R.Out}) {
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(*Text).split(Lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef Line : Lines)
      if (Line.contains("error"))
        return Line.trim().str();
  }
  return "the compiler failed with " +
         (R.Signal ? "signal " + std::to_string(R.Signal)
                   : "exit code " + std::to_string(R.ExitCode));
}

llvm::Expected<CompileResult>
stark::compileWinner(llvm::ArrayRef<std::string> Command) {
  const std::string *Generated = generatedIn(Command);
  assert(Generated != Command.end() && "there is nothing to fall back to");
  llvm::Expected<std::string> Text = readFile(fallbackPath(*Generated));
  if (!Text)
    return Text.takeError();
  Fallback F;
  json Root = json::parse(*Text, nullptr, /*allow_exceptions=*/false);
  if (std::string Why = readFields(Root, fallbackPath(*Generated), "", F);
      !Why.empty())
    return failed(Why);
  llvm::Expected<ProcessResult> Tried = run(Command);
  if (!Tried)
    return Tried.takeError();
  if (Tried->ok())
    return CompileResult{0, std::move(Tried->Out), std::move(Tried->Err), ""};
  std::string Why = "the winner of " +
                    llvm::sys::path::filename(F.Source).str() + " (entry " +
                    F.Entry +
                    ") does not compile for this target: " + firstError(*Tried);
  if (F.Require)
    return failed(Why + "; and the mode is REQUIRE");
  std::vector<std::string> Words(Command.begin(), Command.end());
  Words[Generated - Command.begin()] = F.Source;
  Tried = run(Words);
  if (!Tried)
    return Tried.takeError();
  CompileResult Result;
  Result.ExitCode = Tried->ok() ? 0 : Tried->ExitCode ? Tried->ExitCode : 1;
  Result.Out = std::move(Tried->Out);
  Result.Err = std::move(Tried->Err);
  if (Result.ExitCode == 0)
    Result.Warning = Why + "; building the source as it is";
  return Result;
}
