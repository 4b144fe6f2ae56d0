//===- KeptPrelude.cpp - Headers that are parsed once for all runs --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbeddedHeaders.h"
#include "HeaderWords.h"
#include "stark/AST/Flags.h"
#include "stark/AST/Prelude.h"
#include "stark/AST/Toolkit.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "clang/Basic/Version.h"
#include "llvm/Support/FileSystem.h"
#include <map>
#include <mutex>

using namespace stark;

/// A file that an installation brings anew.
static std::string timeOf(const std::string &Path) {
  llvm::sys::fs::file_status Status;
  llvm::sys::fs::status(Path, Status);
  return std::to_string(llvm::sys::toTimeT(Status.getLastModificationTime()));
}

/// What Clang's reading depends on whatever the headers are.
static void addCommon(DigestBuilder &Key, const ParseOptions &Options,
                      const std::optional<Toolkit> &Found) {
  Key.add("clang", clang::getClangFullVersion())
      .add("resources", clangResourceFolder())
      .add("arch", Options.Arch);
  if (Found)
    Key.add("toolkit", Found->Root + " " + std::to_string(Found->Major) + "." +
                           std::to_string(Found->Minor))
        .add("toolkit installed",
             timeOf(Found->Root + "/include/cuda_runtime.h"));
  for (const EmbeddedHeader &H : embeddedHeaders(/*WithToolkit=*/true))
    Key.add(H.Name, H.Text);
}

static std::string finish(DigestBuilder &Key) {
  return Key.finish().substr(0, 16);
}

static std::string torchKey(const ParseOptions &Options,
                            const posix::Libtorch &Torch,
                            const std::string &Text) {
  DigestBuilder Key;
  Key.add("format", "2")
      .add("torch", Torch.Root + " " + Torch.Version)
      .add("text", Text)
      .add("folder", Options.Folder)
      .add("installed", timeOf(Torch.Includes.front() + "/ATen/ATen.h"));
  addCommon(Key, Options, findToolkit(Options.Toolkit));
  for (const std::string &Flag : Options.Flags)
    Key.add("flag", Flag);
  return finish(Key);
}

const Prelude *Prelude::kept(const std::string &Name, std::string Text,
                             const ParseOptions &Options, PassOf Pass,
                             bool WithWords) {
  // A tree that was made with one refers to it for as long as it lives.
  static std::mutex Guard;
  static std::map<std::string, std::unique_ptr<Prelude>> Known;
  std::lock_guard Lock(Guard);
  auto [At, IsNew] = Known.try_emplace(Name);
  if (!IsNew)
    return At->second.get();
  TraceScope Traced("parse headers");
  auto Made = std::make_unique<Prelude>();
  std::string Cache = userCacheFolder();
  if (!Cache.empty())
    Made->File = Cache + "/" + Name + ".pch";
  llvm::Expected<std::string> Kept =
      Cache.empty() ? llvm::Expected<std::string>("") : readFile(Made->File);
  if (!Kept)
    llvm::consumeError(Kept.takeError());
  else if (!Kept->empty()) {
    Made->Precompiled = std::move(*Kept);
    Made->MadeOf = std::move(Text);
    return (At->second = std::move(Made)).get();
  }
  HeaderWords Words;
  if (!Made->precompile(std::move(Text), Options, Pass,
                        WithWords ? &Words : nullptr))
    return nullptr;
  // A cache that cannot be written to only costs time.
  if (!Cache.empty()) {
    if (WithWords)
      llvm::consumeError(writeFileAtomically(Made->wordsFile(), Words.print(),
                                             /*Flush=*/false));
    llvm::consumeError(
        writeFileAtomically(Made->File, Made->Precompiled, /*Flush=*/false));
  }
  return (At->second = std::move(Made)).get();
}

void Prelude::forget() const {
  if (!File.empty())
    llvm::sys::fs::remove(File);
}

const Prelude *Prelude::ofTorch(const ParseOptions &Options) {
  llvm::Expected<posix::Libtorch> Torch = torchFor(Options);
  if (!Torch) {
    llvm::consumeError(Torch.takeError());
    return nullptr;
  }
  std::string Text = torchHeaders(*Torch);
  std::string Key = torchKey(Options, *Torch, Text);
  return kept("torch/" + Key, std::move(Text), Options, PassOf::Device,
              /*WithWords=*/false);
}

namespace {
/// Flags as they concern headers that a source need not name.
struct SortedFlags {
  explicit SortedFlags(const ParseOptions &Options) {
    std::vector<std::string> Flags = parseFlags(Options.Flags, Options.Folder);
    for (size_t I = 0; I < Flags.size(); ++I) {
      llvm::StringRef F = Flags[I];
      bool IsMacro = F == "-D" || F == "-U";
      bool IsFolder =
          F == "-I" || F == "-isystem" || F == "-iquote" || F == "-idirafter";
      if ((IsMacro || IsFolder) && I + 1 < Flags.size())
        (IsMacro ? Macros : Folders).push_back(Flags[++I]);
      else
        Others.push_back(F.str());
    }
  }
  /// \p Own is the folder that these headers lie in anyway, of which Clang
  /// takes no second one.
  bool concern(const HeaderWords &Words, const std::string &Own) const {
    return llvm::any_of(Macros,
                        [&](const auto &M) { return Words.haveMacro(M); }) ||
           llvm::any_of(Folders, [&](const auto &F) {
             return !llvm::sys::fs::equivalent(F, Own) && Words.mayLieIn(F);
           });
  }
  std::vector<std::string> Macros, Folders, Others;
};
} // namespace

const Prelude *Prelude::ofToolkit(const ParseOptions &Options, PassOf Pass) {
  std::optional<Toolkit> Found = findToolkit(Options.Toolkit);
  if (!Found || userCacheFolder().empty())
    return nullptr;
  SortedFlags Flags(Options);
  ParseOptions Plain = Options;
  Plain.Flags = Flags.Others;
  DigestBuilder Key;
  Key.add("format", "1");
  if (Pass == PassOf::Host)
    Key.add("pass", "host");
  addCommon(Key, Options, Found);
  for (const std::string &Flag : Flags.Others)
    Key.add("flag", Flag);
  const Prelude *Made =
      kept("cuda/" + finish(Key), "", Plain, Pass, /*WithWords=*/true);
  if (!Made || (Flags.Macros.empty() && Flags.Folders.empty()))
    return Made;
  llvm::Expected<std::string> Words = readFile(Made->wordsFile());
  if (!Words) {
    llvm::consumeError(Words.takeError());
    return nullptr;
  }
  return Flags.concern(HeaderWords::parse(*Words), Found->Root + "/include")
             ? nullptr
             : Made;
}
