//===- BuildTool.cpp - Which build this process belongs to ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildTool.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

using namespace stark;
using llvm::StringRef;

/// Of a loop, which a folder that is no /proc may have.
static constexpr unsigned MostAncestors = 64;
static constexpr size_t LongestLine = 4096;

namespace {
struct ProcessLine {
  std::string Name; ///< of its program, at most 15 bytes
  long Parent = 0;
  std::string Began; ///< in ticks since the machine started
};
} // namespace

/// "7 (ninja) S 5 ...": the name may hold anything, so its last ')' ends it.
static std::optional<ProcessLine> parseLine(StringRef Text) {
  auto [Head, Tail] = Text.rsplit(')');
  llvm::SmallVector<StringRef> Words;
  Tail.split(Words, ' ', -1, /*KeepEmpty=*/false);
  ProcessLine Line;
  // Field 4 is the parent, 22 the beginning; the first here is field 3.
  if (Words.size() < 20 || Words[1].getAsInteger(10, Line.Parent))
    return std::nullopt;
  Line.Name = Head.split('(').second.str();
  Line.Began = Words[19].trim().str();
  return Line;
}

std::string stark::findBuildTool(long Process, StringRef Proc) {
  std::string Found;
  for (unsigned I = 0; Process > 0 && I < MostAncestors; ++I) {
    std::string Error;
    std::optional<std::string> Text = posix::readRegularFile(
        (Proc + "/" + llvm::Twine(Process) + "/stat").str(), LongestLine,
        Error);
    std::optional<ProcessLine> Line;
    if (Text)
      Line = parseLine(*Text);
    if (!Line)
      return Found;
    if (llvm::is_contained({"ninja", "ninja-build", "samu", "make", "gmake"},
                           StringRef(Line->Name)))
      Found = std::to_string(Process) + "-" + Line->Began;
    Process = Line->Parent;
  }
  return Found;
}
