//===- JournaledClient.cpp - Replies as steps of a run --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Journaled.h"
#include "stark/LLM/Transcript.h"
#include "stark/Support/Digest.h"

using namespace stark;

DiscardedAnswers stark::lostBy(const llvm::Error &E) {
  DiscardedAnswers Took;
  llvm::visitErrors(E, [&](const llvm::ErrorInfoBase &Info) {
    if (Info.isA<CallLost>())
      Took += static_cast<const CallLost &>(Info).lost();
  });
  return Took;
}

DiscardedAnswers LostAnswers::of(const std::string &Id) const {
  auto Found = All.find(Id);
  return Found == All.end() ? DiscardedAnswers() : Found->second;
}

llvm::Error LostAnswers::keep(const std::string &Id, llvm::Error E) {
  DiscardedAnswers Took = lostBy(E);
  if (Took.Answers == 0)
    return E;
  DiscardedAnswers &Sum = All[Id];
  Sum += Took;
  return llvm::joinErrors(std::move(E),
                          Steps.write(lostFile(Id), printDiscarded(Sum)));
}

void LostAnswers::forget(const std::string &Id) {
  if (All.erase(Id))
    Steps.remove(lostFile(Id));
}

namespace {
class JournaledClient : public ChatClient {
public:
  JournaledClient(
      ChatClient &Live, RunSteps &Steps, LostAnswers &Lost, unsigned Attempt,
      std::function<void(const ChatRequest &, const ChatReply &)> OnRecorded)
      : Live(Live), Steps(Steps), Lost(Lost), Attempt(Attempt),
        OnRecorded(std::move(OnRecorded)) {}

  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override;
  std::optional<WorstCase>
  worstCase(const ChatRequest &Request) const override {
    return Live.worstCase(Request);
  }
  std::string identity() const override { return Live.identity(); }

private:
  /// Asks, and keeps the text beside the event.
  llvm::Expected<ReplyEvent> ask(const ChatRequest &Request,
                                 const CallControl &Control, std::string &Text);

  ChatClient &Live;
  RunSteps &Steps;
  LostAnswers &Lost;
  const unsigned Attempt;
  std::function<void(const ChatRequest &, const ChatReply &)> OnRecorded;
};
} // namespace

llvm::Expected<ReplyEvent> JournaledClient::ask(const ChatRequest &Request,
                                                const CallControl &Control,
                                                std::string &Text) {
  llvm::Expected<ChatReply> Reply = Live.complete(Request, Control);
  if (!Reply)
    return Lost.keep(Request.Id, Reply.takeError());
  Text = std::move(Reply->Text);
  ReplyEvent E;
  E.Id = Request.Id;
  E.Digest =
      Reply->AnsweredDigest.empty() ? Request.digest() : Reply->AnsweredDigest;
  E.File = "replies/" + Request.Id + ".md";
  E.TextDigest = sha256(Text);
  E.Reply = std::move(*Reply);
  if (llvm::Error Problem = Steps.write(E.File, Text))
    return Problem;
  return E;
}

llvm::Expected<ChatReply>
JournaledClient::complete(const ChatRequest &Request,
                          const CallControl &Control) {
  std::string Digest = Request.digest(), Text;
  bool Recorded = true;
  llvm::Expected<ReplyEvent> E = Steps.step<ReplyEvent>(
      Attempt,
      {"ask for",
       "a reply to " + Request.Id + " (request " + Digest.substr(0, 16) + ")",
       [&](const ReplyEvent &Had) { return Had.Id == Request.Id; }},
      [&] {
        Recorded = false;
        return ask(Request, Control, Text);
      });
  if (!E)
    return E.takeError();
  if (E->Digest != Digest)
    Steps.noteOnce(RunSteps::Once::RequestDrift,
                   "request " + Request.Id +
                       " is rendered otherwise than when it was answered; the "
                       "recorded replies stand");
  if (Recorded) {
    llvm::Expected<std::string> Kept = Steps.readText(E->File, E->TextDigest);
    if (!Kept)
      return Kept.takeError();
    Text = std::move(*Kept);
  } else {
    if (llvm::Error Problem = Steps.flush())
      return Problem;
    Lost.forget(Request.Id);
  }
  E->Reply.Text = std::move(Text);
  if (Recorded)
    OnRecorded(Request, E->Reply);
  return std::move(E->Reply);
}

std::unique_ptr<ChatClient> stark::journalReplies(
    ChatClient &Live, RunSteps &Steps, LostAnswers &Lost, unsigned Attempt,
    std::function<void(const ChatRequest &, const ChatReply &)> OnRecorded) {
  return std::make_unique<JournaledClient>(Live, Steps, Lost, Attempt,
                                           std::move(OnRecorded));
}
