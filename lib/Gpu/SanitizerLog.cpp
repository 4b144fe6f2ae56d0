//===- SanitizerLog.cpp - What compute-sanitizer wrote --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SanitizerLog.h"
#include <set>

using namespace stark;

namespace {
constexpr std::string_view Mark = "=========";
/// Of a finding that a prompt has room for.
constexpr size_t MostLines = 5, LineLimit = 300;

/// Lines without the mark, from one that is not indented on.
using Block = std::vector<std::string_view>;

bool begins(std::string_view Text, std::string_view With) {
  return Text.substr(0, With.size()) == With;
}

std::string_view trimmed(std::string_view Line) {
  size_t First = Line.find_first_not_of(" \t");
  return First == Line.npos ? "" : Line.substr(First);
}

std::vector<Block> blocksOf(std::string_view Log) {
  std::vector<Block> Blocks;
  bool Open = false;
  while (!Log.empty()) {
    size_t End = std::min(Log.find('\n'), Log.size());
    std::string_view Line = Log.substr(0, End);
    Log.remove_prefix(std::min(End + 1, Log.size()));
    if (!begins(Line, Mark)) {
      Open = false;
      continue;
    }
    Line.remove_prefix(Mark.size());
    if (trimmed(Line).empty()) {
      Open = false;
      continue;
    }
    // "========= Text" begins one, "=========     more" goes on.
    bool More = begins(Line, "  ");
    if (!More) {
      Blocks.emplace_back();
      Open = true;
    }
    if (Open)
      Blocks.back().push_back(trimmed(Line));
  }
  return Blocks;
}

/// "at k(float *)+0x40 in k.cu:12", "at 0x40 in k.cu:12:k(float *)"
bool isPlace(std::string_view Line) {
  return Line.find("+0x") != Line.npos || begins(Line, "at 0x");
}

std::string printable(std::string_view Line) {
  std::string Text(Line.substr(0, LineLimit));
  for (char &C : Text)
    if ((unsigned char)C < 32 || C == 127)
      C = '?';
  return Text;
}

/// Empty: it is none.
std::string findingOf(const Block &B) {
  if (begins(B[0], "Warning"))
    return "";
  std::string Text;
  bool HasPlace = false;
  size_t Lines = 0;
  for (std::string_view Line : B) {
    // What follows is of the host.
    if (begins(Line, "Saved host backtrace") || begins(Line, "Host Frame"))
      break;
    HasPlace |= isPlace(Line);
    if (Lines++ < MostLines)
      Text += (Text.empty() ? "" : "\n  ") + printable(Line);
  }
  return HasPlace ? Text : "";
}

/// A finding without what differs from thread to thread.
std::string kindOf(const std::string &Finding) {
  std::string Kind;
  size_t At = 0;
  while (At < Finding.size()) {
    size_t End = std::min(Finding.find('\n', At), Finding.size());
    std::string_view Line =
        trimmed(std::string_view(Finding).substr(At, End - At));
    if (!begins(Line, "by thread") && !begins(Line, "Address 0x") &&
        !begins(Line, "Access to") && !begins(Line, "and is"))
      // "and Read access at ... [8 hazards]"
      Kind += std::string(Line.substr(0, Line.rfind(" ["))) + '\n';
    At = End + 1;
  }
  return Kind;
}
} // namespace

std::vector<std::string> gpu::findingsIn(std::string_view Log) {
  std::vector<std::string> Findings;
  std::set<std::string> Kinds;
  for (const Block &B : blocksOf(Log))
    if (std::string Finding = findingOf(B);
        !Finding.empty() && Kinds.insert(kindOf(Finding)).second)
      Findings.push_back(std::move(Finding));
  return Findings;
}

std::string gpu::complaintIn(std::string_view Log) {
  for (const Block &B : blocksOf(Log))
    if (begins(B[0], "Error") && findingOf(B).empty())
      return printable(B[0]);
  return "";
}
