//===- RulesClient.cpp - Answers that the asker made itself ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/LLM/ChatClient.h"
#include "stark/Support/Error.h"

using namespace stark;

namespace {
class RulesClient : public ChatClient {
public:
  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override {
    if (Control.Cancelled && *Control.Cancelled)
      return interrupted("request '" + Request.Id + "' was cancelled");
    if (Request.Prepared.empty())
      return failed("request '" + Request.Id +
                    "' needs a model, and the provider is 'rules'");
    ChatReply R;
    R.Text = Request.Prepared;
    R.StopDetail = "end";
    R.Provider = R.Model = "rules";
    R.Tokens = {0, 0, 0, 0, 0};
    R.CostMicroUsd = 0;
    if (Control.OnText)
      Control.OnText(R.Text);
    return R;
  }
  std::string identity() const override { return "rules"; }
  std::optional<WorstCase> worstCase(const ChatRequest &) const override {
    return WorstCase{0, 0, 0};
  }
};
} // namespace

std::unique_ptr<ChatClient> stark::makeRulesClient() {
  return std::make_unique<RulesClient>();
}
