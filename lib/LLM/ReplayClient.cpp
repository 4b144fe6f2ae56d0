//===- ReplayClient.cpp - Replies from the journal of a run ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/Formats.h"
#include "stark/LLM/RunEnd.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Journal.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

namespace {
using Replies = std::multimap<std::string, ReplyEvent>; ///< by request

class ReplayClient : public ChatClient {
public:
  ReplayClient(std::string Folder, std::string Provider, Replies Known,
               std::string Spent)
      : Folder(std::move(Folder)), Provider(std::move(Provider)),
        Known(std::move(Known)), Spent(std::move(Spent)) {}

  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override;
  // That of the recorded run: a replay is that run again.
  std::string identity() const override { return Provider; }
  std::optional<WorstCase> worstCase(const ChatRequest &) const override {
    return std::nullopt;
  }

private:
  const std::string Folder, Provider;
  const Replies Known;
  const std::string Spent; ///< why the run ended, when its budget was spent
};
} // namespace

llvm::Expected<ChatReply> ReplayClient::complete(const ChatRequest &Request,
                                                 const CallControl &Control) {
  if (Control.Cancelled && *Control.Cancelled)
    return interrupted("request '" + Request.Id + "' was cancelled");
  std::string Digest = Request.digest();
  auto [First, Last] = Known.equal_range(Request.Id);
  if (First == Last && !Spent.empty())
    return llvm::make_error<BudgetSpent>(Spent);
  if (First == Last)
    return failed("run '" + Folder + "' holds no reply to request '" +
                  Request.Id + "' (digest " + Digest.substr(0, 12) + ")");
  auto Found = std::find_if(
      First, Last, [&](const auto &R) { return R.second.Digest == Digest; });
  // A newer tool may word a request otherwise. The reply is still the one that
  // was given at this place of the run; whoever asks is told.
  bool Drifted = Found == Last;
  if (Drifted)
    Found = First;
  const ReplyEvent &R = Found->second;
  llvm::Expected<std::string> Text = readReplyText(Folder, R);
  if (!Text)
    return Text.takeError();
  ChatReply Reply = R.Reply;
  Reply.Text = std::move(*Text);
  if (Drifted)
    Reply.AnsweredDigest = R.Digest;
  if (Control.OnText)
    Control.OnText(Reply.Text);
  return Reply;
}

llvm::Expected<std::unique_ptr<ChatClient>>
stark::makeReplayClient(llvm::StringRef RunFolder, llvm::StringRef Provider) {
  std::string File = (RunFolder + "/journal.jsonl").str();
  llvm::Expected<JournalContent> Content = readJournal(File);
  if (!Content)
    return Content.takeError();
  Replies Known;
  std::string Spent;
  for (const JournalEvent &Event : Content->Events) {
    bool Ends = Event.Type == "end";
    if (!Ends && Event.Type != ReplyEvent::Type)
      continue;
    json Body = json::parse(Event.Body, nullptr, false);
    std::string Where = File + ":" + std::to_string(Event.Number + 1), Problem;
    if (Ends) {
      RunEnd End;
      Problem = readKnownFields(Body, Where, "body", End);
      if (End.By == EndedBy::Budget)
        Spent = std::move(End.Why);
    } else {
      ReplyEvent Reply;
      Problem = readKnownFields(Body, Where, "body", Reply);
      Known.emplace(Reply.Id, std::move(Reply));
    }
    if (!Problem.empty())
      return failed(Problem);
  }
  return std::make_unique<ReplayClient>(RunFolder.str(), Provider.str(),
                                        std::move(Known), std::move(Spent));
}
