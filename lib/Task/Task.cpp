//===- Task.cpp - All that a search needs --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Task.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/Path.h"

using namespace stark;
namespace path = llvm::sys::path;

/// Folder-independent: contents and file names only. Flags that name folders
/// count through the headers that they find.
static std::string digestOf(const Task &T, llvm::StringRef WorkloadText,
                            llvm::ArrayRef<std::string> HeaderTexts) {
  DigestBuilder Digest;
  Digest.add("format", "task 1");
  Digest.add("name", path::filename(T.SourcePath));
  Digest.add("source", T.SourceText);
  Digest.add("workload", WorkloadText);
  for (size_t I = 0; I < HeaderTexts.size(); ++I) {
    Digest.add("header", path::filename(T.Headers[I]));
    Digest.add("text", HeaderTexts[I]);
  }
  bool FolderFollows = false;
  for (const std::string &Flag : T.NvccFlags) {
    llvm::StringRef F = Flag;
    bool NamesFolder = F.starts_with("-I") || F.starts_with("-isystem") ||
                       F.starts_with("-iquote");
    if (!NamesFolder && !FolderFollows)
      Digest.add("flag", F);
    FolderFollows = F == "-I" || F == "-isystem" || F == "-iquote";
  }
  return Digest.finish();
}

llvm::Expected<Task> stark::loadTask(llvm::StringRef SourcePath,
                                     llvm::StringRef WorkloadPath,
                                     const ParseOptions &Options) {
  Task T;
  T.SourcePath = absolutePath(SourcePath);
  T.Name = path::stem(T.SourcePath).str();
  llvm::Expected<std::string> Source = readFile(SourcePath);
  if (!Source)
    return Source.takeError();
  T.SourceText = std::move(*Source);
  llvm::Expected<std::string> WorkloadText = readFile(WorkloadPath);
  if (!WorkloadText)
    return WorkloadText.takeError();
  llvm::Expected<Workload> Load = parseWorkload(*WorkloadText, WorkloadPath);
  if (!Load)
    return Load.takeError();
  T.Load = std::move(*Load);
  T.Parse = Options;
  T.NvccFlags = Options.Flags;

  auto Parsed = parseSource(T.SourcePath, T.SourceText, Options);
  if (!Parsed)
    return Parsed.takeError();
  T.Parsed = std::move(*Parsed);
  llvm::Expected<Signature> Entry = findEntry(*T.Parsed, T.Load.Entry);
  if (!Entry)
    return withContext(Entry.takeError(), WorkloadPath);
  T.Entry = std::move(*Entry);
  if (llvm::Error E = checkWorkload(T.Load, T.Entry))
    return E;
  if (!T.Load.Reference.empty()) {
    llvm::Expected<Signature> Other = findEntry(*T.Parsed, T.Load.Reference);
    if (!Other)
      return withContext(Other.takeError(),
                         WorkloadPath + ": field 'reference'");
    if (llvm::Error E = checkWorkload(T.Load, *Other))
      return withContext(std::move(E), "reference '" + T.Load.Reference + "'");
  }
  if (auto Cases = makeCases(T); !Cases)
    return Cases.takeError();

  T.Headers = T.Parsed->includedFiles();
  std::vector<std::string> HeaderTexts;
  for (const std::string &Header : T.Headers) {
    llvm::Expected<std::string> Text = readFile(Header);
    if (!Text)
      return Text.takeError();
    HeaderTexts.push_back(std::move(*Text));
  }
  T.Digest = digestOf(T, *WorkloadText, HeaderTexts);
  return T;
}
