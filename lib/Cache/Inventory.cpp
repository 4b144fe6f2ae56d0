//===- Inventory.cpp - What a cache holds --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/Inventory.h"
#include "EntryFolder.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
namespace path = llvm::sys::path;

static std::string nameOf(llvm::StringRef Folder) {
  return (path::filename(path::parent_path(Folder)) + "/" +
          path::filename(Folder))
      .str();
}

static llvm::Expected<StoredEntry> readWholeEntry(llvm::StringRef Folder) {
  StoredEntry E;
  std::string Kernel;
  bool Gone = false;
  if (std::string Why = readWhole(Folder, E, Kernel, Gone); !Why.empty())
    return failed("entry " + nameOf(Folder) + " is corrupt: " + Why);
  return E;
}

std::string stark::entryLine(llvm::StringRef Folder) {
  llvm::Expected<StoredEntry> E = readWholeEntry(Folder);
  if (!E)
    return nameOf(Folder) + " damaged: " + llvm::toString(E.takeError());
  std::string Line = nameOf(Folder) + " " + E->Arch + ", ";
  if (E->Kernel.empty())
    return Line + "nothing won";
  Line += llvm::formatv("{0:F3} times as fast{1}, ", E->Facts.Speedup,
                        E->Facts.Modelled ? " (modelled)" : "");
  return Line + E->Facts.Device;
}

llvm::Expected<std::string> stark::entryFacts(llvm::StringRef Folder) {
  llvm::Expected<StoredEntry> E = readWholeEntry(Folder);
  if (!E)
    return E.takeError();
  const WinnerFacts &F = E->Facts;
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  auto Say = [&](const char *What, llvm::StringRef Is) {
    if (!Is.empty())
      OS << llvm::left_justify(What, 12) << Is << "\n";
  };
  Say("entry", nameOf(Folder));
  Say("winner", E->Kernel.empty() ? "" : F.Title);
  Say("no winner", E->Kernel.empty() ? F.Title : "");
  Say("model", F.Model);
  Say("device", F.Device);
  Say("driver", F.Driver);
  Say("arch", E->Arch);
  Say("toolkit", E->Toolkit);
  Say("torch", E->Torch);
  if (!E->Kernel.empty())
    Say("times", F.Modelled ? "modelled, not measured" : "measured");
  for (const std::string &Line : F.Timings)
    Say("", Line);
  Say("proved for", E->Plan.Covers);
  std::string Verdicts;
  for (const auto &[Kind, Count] : F.Verdicts)
    Verdicts +=
        (Verdicts.empty() ? "" : ", ") + std::to_string(Count) + " " + Kind;
  Say("candidates", Verdicts);
  Say("flags", llvm::join(E->Flags, " "));
  for (const StoredHeader &H : E->Headers)
    Say("header", H.Path);
  Say("key", E->Key);
  Say("source", E->Source);
  Say("workload", E->Workload);
  Say("kernel.cu", E->Kernel);
  Say("run", F.RunDigest);
  return Text;
}

llvm::Expected<std::string> stark::entryDiff(llvm::StringRef Folder) {
  llvm::Expected<StoredEntry> E = readWholeEntry(Folder);
  if (!E)
    return E.takeError();
  if (E->Facts.Diff.empty())
    return failed("entry " + nameOf(Folder) +
                  (E->Kernel.empty() ? " has no winner"
                                     : " is of an older Stark, which kept no "
                                       "diff: compare kernel.cu with the "
                                       "source"));
  return E->Facts.Diff;
}
