//===- TextsAhead.cpp - Host code and kernels of texts, read in children --===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextsAhead.h"
#include "stark/AST/Torch.h"
#include "stark/Posix/ChildAnswer.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/Path.h"

using namespace stark;

/// Clang's errors, as a compiler that failed prints them.
static std::string errorsOf(const ParsedSource &Source) {
  std::string Text;
  for (const SourceError &E : Source.errors())
    Text += (llvm::sys::path::filename(Source.path()) + ":" +
             llvm::Twine(E.Line) + ": error: " + E.Message + "\n")
                .str();
  return Text;
}

/// Texts of any bytes in one.
static std::string pack(llvm::ArrayRef<std::string> Texts) {
  std::string All;
  for (const std::string &Text : Texts)
    All += std::to_string(Text.size()) + ":" + Text;
  return All;
}

static std::vector<std::string> unpack(llvm::StringRef All) {
  std::vector<std::string> Texts;
  size_t Size = 0;
  while (!All.consumeInteger(10, Size) && All.consume_front(":")) {
    Texts.push_back(All.take_front(Size).str());
    All = All.drop_front(std::min(Size, All.size()));
  }
  return Texts;
}

/// What a child says: why the text cannot be read; or WhyNot and Errors, and
/// both halves where it was taken apart.
static std::string answer(const Task &Of, llvm::StringRef Text,
                          llvm::ArrayRef<std::string> TorchFolders,
                          KernelsOfHost Kernels) {
  auto Parsed = parseSource(Of.SourcePath, Text, Of.Parse);
  if (!Parsed)
    return pack({llvm::toString(Parsed.takeError())});
  std::string WhyNot;
  std::optional<Halves> Apart =
      takeApart(**Parsed, TorchFolders, WhyNot, Kernels);
  std::vector<std::string> Said = {WhyNot, errorsOf(**Parsed)};
  if (Apart)
    Said.insert(Said.end(), {Apart->Device, Apart->Host});
  return pack(Said);
}

static std::string whyNot(const posix::ChildAnswer &Said,
                          const posix::ChildLimits &Limits) {
  switch (Said.End) {
  case posix::ChildEnd::OutOfTime:
    return "it takes more than " + std::to_string(Limits.CpuMs / 1000) +
           " s to parse";
  case posix::ChildEnd::OutOfMemory:
    return "it takes more than " + std::to_string(Limits.Bytes >> 20) +
           " MiB to parse";
  default:
    return "Clang crashed when it read it";
  }
}

llvm::Expected<TakenApart>
stark::takeApartInChild(const Task &Of, llvm::StringRef Text,
                        llvm::ArrayRef<std::string> TorchFolders,
                        KernelsOfHost Kernels) {
  TraceScope Traced("take apart");
  posix::ChildLimits Limits;
  posix::ChildAnswer Said = posix::askChild(
      [&] { return answer(Of, Text, TorchFolders, Kernels); }, Limits);
  switch (Said.End) {
  case posix::ChildEnd::Answered:
    break;
  case posix::ChildEnd::OutOfTime:
  case posix::ChildEnd::OutOfMemory:
  case posix::ChildEnd::Crashed:
    return TakenApart{std::nullopt, whyNot(Said, Limits), ""};
  case posix::ChildEnd::Interrupted:
    return interrupted("interrupted while the text was read");
  case posix::ChildEnd::Asleep:
  case posix::ChildEnd::Killed:
  case posix::ChildEnd::NotStarted:
    return failed("the process that takes the text apart was stopped or could "
                  "not be started; is there memory enough?");
  }
  std::vector<std::string> Fields = unpack(Said.Text);
  if (Fields.size() == 1)
    return failed(Fields.front());
  if (Fields.size() != 2 && Fields.size() != 4)
    return failed("the process that takes the text apart gave half an answer");
  TakenApart Found;
  Found.WhyNot = Fields[0];
  Found.Errors = Fields[1];
  if (Fields.size() == 4)
    Found.Apart = Halves{Fields[2], Fields[3]};
  return Found;
}

void TextsAhead::begin(const Task &Of, const std::string &Text,
                       KernelsOfHost Kernels) {
  // Here, not in the thread: a child that is forked meanwhile would ask Python
  // itself.
  llvm::Expected<posix::Libtorch> Torch = torchFor(Of.Parse);
  if (!Torch) // is told to who asks for the text
    return llvm::consumeError(Torch.takeError());
  Begun.begin({Kernels, Text}, [&Of, Text, Kernels, Folders = Torch->Includes] {
    return takeApartInChild(Of, Text, Folders, Kernels);
  });
}

llvm::Expected<TakenApart>
TextsAhead::take(const Task &Of, const std::string &Text,
                 llvm::ArrayRef<std::string> TorchFolders,
                 KernelsOfHost Kernels) {
  if (std::optional<TakenApart> Found = Begun.take({Kernels, Text}))
    return std::move(*Found);
  return takeApartInChild(Of, Text, TorchFolders, Kernels);
}
