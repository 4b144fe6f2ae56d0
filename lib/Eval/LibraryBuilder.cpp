//===- LibraryBuilder.cpp - Source and candidates as libraries ------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryBuilder.h"
#include "HostCommand.h"
#include "KeptLibraries.h"
#include "SourceKey.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include <future>

using namespace stark;

llvm::Expected<std::string> LibraryBuilder::folder() {
  if (!Folder) {
    llvm::Expected<TemporaryFolder> Made =
        TemporaryFolder::create("stark-libraries");
    if (!Made)
      return Made.takeError();
    Folder = std::make_unique<TemporaryFolder>(std::move(*Made));
  }
  return Folder->path().str();
}

llvm::Expected<BuildResult>
LibraryBuilder::fetchOrBuild(const std::string &Where, const std::string &Name,
                             HostCompiler By) {
  BuildOptions Now = Options;
  Now.Host = By;
  std::string Kept = keptLibraries();
  std::string Key = Kept.empty() ? "" : sourceKey(Of, Now);
  if (auto Known = fetchLibrary(Kept, Key, Where + "/" + Name)) {
    Known->Host = By;
    return std::move(*Known);
  }
  llvm::Expected<BuildResult> Built =
      buildLibrary(Of, Of.SourceText, Where, Name, Now);
  // What was changed while it was read has another key now.
  if (Built && Built->Ok && !Key.empty() && Key == sourceKey(Of, Now))
    keepLibrary(Kept, Key, *Built);
  return Built;
}

llvm::Expected<const BuildResult *> LibraryBuilder::source(HostCompiler By) {
  std::lock_guard<std::mutex> Held(OfSource);
  auto Known = Sources.find(By);
  if (Known == Sources.end()) {
    llvm::Expected<std::string> Where = folder();
    if (!Where)
      return Where.takeError();
    llvm::Expected<BuildResult> Built = fetchOrBuild(
        *Where, By == HostCompiler::Own ? "source-own.so" : "source.so", By);
    if (!Built)
      return Built.takeError();
    Known = Sources.emplace(By, std::move(*Built)).first;
  }
  const BuildResult &Built = Known->second;
  if (!Built.Ok && By == HostCompiler::Users)
    return failed("the source itself does not build: " +
                  trimForWindow(Built.Diagnostics, CompilerLimit));
  return &Built;
}

bool LibraryBuilder::mayUseOwn() const {
  return Options.Host == HostCompiler::Own && hasOwnCompiler(Options);
}

void LibraryBuilder::prepare(const Candidate &C) {
  if (C.Text == Of.SourceText)
    return;
  // Compiling takes as long as checking, and runs nothing of the text.
  if (!isTensorEntry(Of.Entry))
    return Begun.begin({C.Why, C.Text}, [this, C] { return make(C); });
  bool Stubs = Options.Simulated || (C.Why == Purpose::Attempt && mayUseOwn());
  Ahead.begin(Of, C.Text,
              Stubs ? KernelsOfHost::Stubs : KernelsOfHost::Declared);
}

bool LibraryBuilder::ownIsOfNoUse() {
  std::lock_guard<std::mutex> Held(OfSource);
  auto Known = Sources.find(HostCompiler::Own);
  return Known != Sources.end() && !Known->second.Ok;
}

llvm::Expected<BuildResult> LibraryBuilder::build(llvm::StringRef Text,
                                                  HostCompiler By,
                                                  const BuildResult *First) {
  // The source against itself.
  if (Text == Of.SourceText) {
    llvm::Expected<const BuildResult *> Source = source(By);
    if (!Source)
      return Source.takeError();
    BuildResult Same = **Source;
    Same.Precision.clear(); // nothing that it has not itself
    return Same;
  }
  // Beside the candidate, which only the gate holds against it.
  auto Source = [&] { return source(By); };
  std::future<void> Beside =
      std::async(std::launch::async,
                 traced([&] { llvm::consumeError(Source().takeError()); }));
  BuildOptions Now = Options;
  Now.Host = By;
  Now.Ahead = &Ahead;
  llvm::Expected<TemporaryFolder> Where =
      TemporaryFolder::create("stark-candidate");
  if (!Where)
    return Where.takeError();
  llvm::Expected<BuildResult> Built =
      buildLibrary(Of, Text, Where->path(), "candidate.so", Now, Source, First);
  if (!Built)
    return Built;
  // What is wrong with the source comes before what the candidate has come to.
  if (llvm::Error E = Source().takeError())
    return E;
  Built->Diagnostics = trimForWindow(Built->Diagnostics, CompilerLimit);
  Built->Keeps = std::make_shared<TemporaryFolder>(std::move(*Where));
  return Built;
}

void LibraryBuilder::begin(const Candidate &C) {
  llvm::Expected<BuildResult> Built = candidate(C);
  // What cannot be built now is told when it is asked for.
  if (!Built)
    return llvm::consumeError(Built.takeError());
  Begun.keep({C.Why, C.Text}, std::move(*Built));
}

llvm::Expected<BuildResult> LibraryBuilder::candidate(const Candidate &C) {
  if (std::optional<BuildResult> Built = Begun.take({C.Why, C.Text}))
    return std::move(*Built);
  return make(C);
}

llvm::Expected<BuildResult> LibraryBuilder::make(const Candidate &C) {
  if (C.Why != Purpose::Attempt || !mayUseOwn() || ownIsOfNoUse())
    return build(C.Text, HostCompiler::Users);
  llvm::Expected<BuildResult> Built = build(C.Text, HostCompiler::Own);
  if (!Built)
    return Built;
  if (ownIsOfNoUse())
    return build(C.Text, HostCompiler::Users);
  if (Built->Ok || Built->Kind == VerdictKind::Unsupported)
    return Built;
  // What it refuses or the gate does, the user's has the last word of.
  return build(C.Text, HostCompiler::Users, &*Built);
}
