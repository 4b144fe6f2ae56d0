//===- KeptPrelude.cpp - Headers that are parsed once for all runs --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbeddedHeaders.h"
#include "HeaderWords.h"
#include "LeadingIncludes.h"
#include "stark/AST/Flags.h"
#include "stark/AST/Prelude.h"
#include "stark/AST/Toolkit.h"
#include "stark/AST/Torch.h"
#include "stark/Posix/Forked.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "stark/Support/TimeTrace.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/ASTUnit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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

/// Sets of headers that sources begin with, of which a kept one takes 10 to 40
/// MB, and those that cannot be kept.
static constexpr size_t MostSets = 16;

/// That it was used, for forgetOldest().
static void touch(const std::string &Path) {
  if (llvm::Expected<llvm::sys::fs::file_t> File =
          llvm::sys::fs::openNativeFileForRead(Path)) {
    llvm::sys::fs::setLastAccessAndModificationTime(
        *File, std::chrono::system_clock::now());
    llvm::sys::fs::closeFile(*File);
  } else {
    llvm::consumeError(File.takeError());
  }
}

/// Leaves the \p Most that were used last.
static void forgetOldest(const std::string &Folder, size_t Most) {
  std::vector<std::pair<llvm::sys::TimePoint<>, std::string>> Found;
  std::error_code Error;
  for (llvm::sys::fs::directory_iterator I(Folder, Error), End;
       I != End && !Error; I.increment(Error))
    if (llvm::StringRef Path = I->path();
        Path.ends_with(".pch") || Path.ends_with(".none"))
      if (llvm::ErrorOr<llvm::sys::fs::basic_file_status> S = I->status())
        Found.emplace_back(S->getLastModificationTime(), Path);
  llvm::sort(Found, std::greater<>());
  for (size_t I = Most; I < Found.size(); ++I) {
    llvm::sys::fs::remove(Found[I].second);
    llvm::sys::fs::remove(Found[I].second + ".words");
  }
}

const Prelude *Prelude::kept(const std::string &Name, std::string Text,
                             std::vector<std::string> Includes,
                             const ParseOptions &Options, PassOf Pass,
                             bool WithWords) {
  // A tree that was made with one refers to it for as long as it lives.
  static std::mutex Guard;
  static std::map<std::string, std::unique_ptr<Prelude>> Known;
  posix::UnlessForked Lock(Guard);
  auto [At, IsNew] = Known.try_emplace(Name);
  if (!IsNew)
    return At->second.get();
  TraceScope Traced("parse headers");
  auto Made = std::make_unique<Prelude>();
  bool OfSet = !Includes.empty();
  Made->Includes = std::move(Includes);
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
    if (OfSet)
      touch(Made->File);
    return (At->second = std::move(Made)).get();
  }
  std::string None = Cache + "/" + Name + ".none";
  if (OfSet && llvm::sys::fs::exists(None))
    return nullptr;
  HeaderWords Words;
  if (!Made->precompile(std::move(Text), Options, Pass,
                        WithWords ? &Words : nullptr)) {
    // It is not tried again with each source.
    if (OfSet)
      llvm::consumeError(writeFileAtomically(None, "", /*Flush=*/false));
    return nullptr;
  }
  // A cache that cannot be written to only costs time.
  if (!Cache.empty()) {
    if (WithWords)
      llvm::consumeError(writeFileAtomically(Made->wordsFile(), Words.print(),
                                             /*Flush=*/false));
    llvm::consumeError(
        writeFileAtomically(Made->File, Made->Precompiled, /*Flush=*/false));
  }
  if (OfSet)
    forgetOldest(llvm::sys::path::parent_path(Made->File).str(), MostSets);
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
  return kept("torch/" + Key, std::move(Text), {}, Options, PassOf::Device,
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
  return ofToolkitWith({}, Options, Pass);
}

const Prelude *Prelude::ofToolkitWith(std::vector<std::string> Includes,
                                      const ParseOptions &Options,
                                      PassOf Pass) {
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
  for (const std::string &Name : Includes)
    Key.add("include", Name);
  std::string Text = textOf(Includes),
              Folder = Includes.empty() ? "cuda/" : "cuda-includes/";
  const Prelude *Made = kept(Folder + finish(Key), std::move(Text),
                             std::move(Includes), Plain, Pass,
                             /*WithWords=*/true);
  if (!Made || (Flags.Macros.empty() && Flags.Folders.empty()))
    return Made;
  std::optional<HeaderWords> Words = Made->words();
  return Words && !Flags.concern(*Words, Found->Root + "/include") ? Made
                                                                   : nullptr;
}

std::optional<HeaderWords> Prelude::words() const {
  llvm::Expected<std::string> Words = readFile(wordsFile());
  if (Words)
    return HeaderWords::parse(*Words);
  llvm::consumeError(Words.takeError());
  return std::nullopt;
}

const Prelude *Prelude::ofIncludes(llvm::StringRef Text,
                                   const ParseOptions &Options,
                                   const Prelude *Known) {
  std::optional<Toolkit> Found = findToolkit(Options.Toolkit);
  if (!Found)
    return nullptr;
  SlowOpening Opening = slowOpening(Text, Found->Root);
  if (Opening.Includes.empty() ||
      (Known && Known->Includes.size() >= Opening.Includes.size()))
    return nullptr;
  return ofToolkitWith(std::move(Opening.Includes), Options, PassOf::Device);
}

/// What a file of the system may define without any other's knowing.
static bool isReserved(llvm::StringRef Macro) { return Macro.starts_with("_"); }

bool Prelude::mayDiffer(llvm::StringRef Text, clang::ASTUnit &Unit,
                        bool HasErrors) const {
  // Of the main file nothing but includes stands before the last of these.
  bool Own = false, Behind = false;
  size_t At = 0;
  for (const LeadingInclude &I : leadingIncludes(Text)) {
    Behind |= Own && At < Includes.size();
    Own |= !I.Angled;
    At += I.Angled;
  }
  if (!Behind)
    return false;
  std::optional<HeaderWords> Words;
  if (!HasErrors)
    Words = words();
  if (!Words)
    return true;
  const clang::SourceManager &SM = Unit.getSourceManager();
  for (unsigned I = 0; I < SM.local_sloc_entry_size(); ++I) {
    const clang::SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (!Entry.isFile() || !Entry.getFile().getContentCache().OrigEntry ||
        Entry.getFile().getContentCache().OrigEntry ==
            SM.getFileEntryRefForID(SM.getMainFileID()))
      continue;
    bool OfSystem =
        clang::SrcMgr::isSystem(Entry.getFile().getFileCharacteristic());
    std::optional<llvm::StringRef> Header =
        Entry.getFile().getContentCache().getBufferDataIfLoaded();
    std::vector<std::string> Macros;
    if (!Header || (!macrosOf(*Header, Macros) && !OfSystem) ||
        llvm::any_of(Macros, [&](llvm::StringRef M) {
          return !(OfSystem && isReserved(M)) && Words->haveMacro(M);
        }))
      return true;
  }
  return false;
}
