//===- ExchangeClient.cpp - Requests as files, answers as files -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   request -> pending/STEM.md, .json -> (somebody) -> answers/STEM.md ->
///   reply
/// A taken request moves to answered/; its answer stays in answers/, so that a
/// run killed before it has noted the reply finds it again.
///
//===----------------------------------------------------------------------===//

#include "ExchangeAnswer.h"
#include "stark/LLM/Transcript.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace stark;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr uint64_t MaxAnswerBytes = 10 * 1024 * 1024;
static constexpr auto PollEvery = std::chrono::milliseconds(200);

namespace {
class ExchangeClient : public ChatClient {
public:
  ExchangeClient(std::string Folder, const ExchangeOptions &Options,
                 Clock &Time)
      : Folder(std::move(Folder)), Options(Options), Time(Time) {}

  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override;
  std::string identity() const override { return "exchange"; }

private:
  std::string file(llvm::StringRef Where, const llvm::Twine &Name) const {
    return (Folder + "/" + Where + "/" + Name).str();
  }
  llvm::Error ask(const ChatRequest &Request) const;
  /// Unset: no answer is there yet.
  llvm::Expected<std::optional<ChatReply>>
  look(const ChatRequest &Request) const;
  llvm::Error findMisdirected(const ChatRequest &Request) const;
  void retire(const ChatRequest &Request) const;

  std::string Folder;
  ExchangeOptions Options;
  Clock &Time;
};
} // namespace

llvm::Error ExchangeClient::ask(const ChatRequest &Request) const {
  std::string Stem = requestFileStem(Request);
  // The .md comes last: whoever watches for it finds the .json beside it.
  for (const auto &[Suffix, Text] :
       {std::pair(".json", printRequestJson(Request)),
        std::pair(".md", printRequestMarkdown(Request))}) {
    std::string Path = file("pending", Stem + Suffix);
    llvm::Expected<std::string> Old = readFile(Path);
    if (Old && *Old == Text)
      continue;
    if (!Old)
      llvm::consumeError(Old.takeError());
    if (llvm::Error E = writeFileAtomically(Path, Text))
      return E;
  }
  return llvm::Error::success();
}

llvm::Expected<std::optional<ChatReply>>
ExchangeClient::look(const ChatRequest &Request) const {
  std::string Path = file("answers", requestFileStem(Request) + ".md");
  fs::file_status Status;
  if (fs::status(Path, Status) ||
      Status.type() == fs::file_type::file_not_found) {
    if (llvm::Error E = findMisdirected(Request))
      return E;
    return std::nullopt;
  }
  // A pipe or a device would block, or never end.
  if (Status.type() != fs::file_type::regular_file)
    return failed("answer '" + Path + "': wanted a regular file");
  // Made by touch, or by an editor that writes afterwards.
  if (Status.getSize() == 0)
    return std::nullopt;
  if (Status.getSize() > MaxAnswerBytes)
    return failed("answer '" + Path + "' has " + llvm::Twine(Status.getSize()) +
                  " bytes, wanted at most " + llvm::Twine(MaxAnswerBytes));
  llvm::Expected<std::string> Bytes = readFile(Path);
  if (!Bytes)
    return Bytes.takeError();
  llvm::Expected<ChatReply> Reply = parseAnswer(*Bytes, Request, Path);
  if (!Reply)
    return Reply.takeError();
  return std::optional<ChatReply>(std::move(*Reply));
}

/// An answer with this request's id but another digest, for which there never
/// was a request here, was written for something else: waiting on would hide
/// that.
llvm::Error ExchangeClient::findMisdirected(const ChatRequest &Request) const {
  std::string Stem = requestFileStem(Request);
  std::vector<std::string> Names;
  std::error_code Code;
  for (fs::directory_iterator I(file("answers", ""), Code), End;
       I != End && !Code; I.increment(Code))
    Names.push_back(path::filename(I->path()).str());
  std::sort(Names.begin(), Names.end());
  for (llvm::StringRef Name : Names) {
    llvm::StringRef Digest = Name;
    if (!Digest.consume_front(Request.Id + "-") ||
        !Digest.consume_back(".md") || Name == Stem + ".md" ||
        !llvm::all_of(Digest, llvm::isHexDigit))
      continue;
    std::string Json = (path::stem(Name) + ".json").str();
    if (fs::exists(file("pending", Json)) || fs::exists(file("answered", Json)))
      continue;
    return failed("answer '" + file("answers", Name) +
                  "' is for another request: it has digest '" + Digest +
                  "', wanted '" + llvm::StringRef(Stem).take_back(12) +
                  "' of '" + file("pending", Stem + ".md") + "'");
  }
  return llvm::Error::success();
}

/// Only tidies up, so that what is in pending/ waits: failing does no harm.
void ExchangeClient::retire(const ChatRequest &Request) const {
  std::string Stem = requestFileStem(Request);
  for (const char *Suffix : {".md", ".json"})
    (void)fs::rename(file("pending", Stem + Suffix),
                     file("answered", Stem + Suffix));
}

llvm::Expected<ChatReply> ExchangeClient::complete(const ChatRequest &Request,
                                                   const CallControl &Control) {
  assert(!Request.Id.empty() && llvm::all_of(Request.Id, [](char C) {
    return llvm::isAlnum(C) || C == '-' || C == '_';
  }) && "an id is part of a file name");
  const Clock::Time Deadline =
      Time.now() + std::chrono::milliseconds(Options.WaitMs);
  for (bool Asked = false;; Asked = true) {
    if (Control.Cancelled && *Control.Cancelled)
      return interrupted("request '" + Request.Id + "' was cancelled");
    llvm::Expected<std::optional<ChatReply>> Reply = look(Request);
    if (!Reply)
      return Reply.takeError();
    if (*Reply) {
      // Also when the answer lay there first: answered/ holds every request.
      if (!Asked)
        if (llvm::Error E = ask(Request))
          return E;
      retire(Request);
      if (Control.OnText)
        Control.OnText((*Reply)->Text);
      return std::move(**Reply);
    }
    if (!Asked)
      if (llvm::Error E = ask(Request))
        return E;
    const Clock::Time Now = Time.now();
    if (Now >= Deadline)
      break;
    Time.sleep(std::min<Clock::Duration>(PollEvery, Deadline - Now));
  }
  std::string Stem = requestFileStem(Request);
  return suspended("waiting for an answer to '" +
                   file("pending", Stem + ".md") + "': write it to '" +
                   file("answers", Stem + ".md") +
                   "' and run the same command again");
}

llvm::Expected<std::unique_ptr<ChatClient>>
stark::makeExchangeClient(llvm::StringRef Folder,
                          const ExchangeOptions &Options, Clock &Time) {
  if (Folder.empty())
    return usageError("exchange: got no folder, wanted exchange:DIR");
  for (const char *Name : {"pending", "answers", "answered"})
    if (llvm::Error E = createFolders((Folder + "/" + Name).str()))
      return E;
  return std::make_unique<ExchangeClient>(Folder.str(), Options, Time);
}
