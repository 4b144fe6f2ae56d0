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

/// Begun and never asked for; a few may wait for their turn.
static constexpr size_t MostBegun = 16;

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
  std::lock_guard Lock(Guard);
  if (Begun.size() >= MostBegun)
    Begun.erase(Begun.begin());
  std::future<Answer> &Place = Begun[{Kernels, Text}];
  if (Place.valid())
    return;
  // Here, not in the thread: whoever forks meanwhile would fork with its lock.
  llvm::Expected<posix::Libtorch> Torch = torchFor(Of.Parse);
  if (!Torch) {
    // Is told to who asks for the text.
    llvm::consumeError(Torch.takeError());
    Begun.erase({Kernels, Text});
    return;
  }
  auto Work = [&Of, Text, Kernels, Folders = Torch->Includes] {
    return llvm::expectedToOptional(
        takeApartInChild(Of, Text, Folders, Kernels));
  };
  Place = std::async(std::launch::async, Work);
}

llvm::Expected<TakenApart>
TextsAhead::take(const Task &Of, const std::string &Text,
                 llvm::ArrayRef<std::string> TorchFolders,
                 KernelsOfHost Kernels) {
  std::future<Answer> Known;
  {
    std::lock_guard Lock(Guard);
    if (auto Found = Begun.find({Kernels, Text}); Found != Begun.end()) {
      Known = std::move(Found->second);
      Begun.erase(Found);
    }
  }
  if (Known.valid()) {
    TraceScope Traced("wait for the halves");
    if (Answer Found = Known.get())
      return std::move(*Found);
  }
  return takeApartInChild(Of, Text, TorchFolders, Kernels);
}
