//===- Team.cpp - Plan, code, debug ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   prompt + inputs -> request -> reply -> value; on a reply that cannot be
/// used, the same conversation goes on with one sentence that says why.
///
//===----------------------------------------------------------------------===//

#include "CandidateText.h"
#include "TextForms.h"
#include "stark/AST/Parse.h"
#include "stark/Agent/Conversation.h"
#include "stark/Agent/Reply.h"
#include "stark/Eval/Verdict.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

static constexpr unsigned MaxTries = 2;
static constexpr uint64_t PlanTokens = 16000, CodeTokens = 32000;
/// Bytes of a problem's text.
static constexpr size_t ProblemLimit = 2000;

namespace {
using Values = std::map<std::string, std::string>;

/// One role's question.
struct Question {
  const Prompt &P;
  Values Inputs;
  double Temperature;
  uint64_t MaxOutputTokens;
  std::string Schema = "", InsteadOfTemperature = "";
};

class Team : public AgentTeam {
public:
  Team(const PromptSet &Prompts, Temperatures Temperature, AskFunction Ask)
      : Prompts(Prompts), Temperature(Temperature), Ask(std::move(Ask)) {}

  llvm::Expected<AgentResult<Instruction>> plan(const AgentInput &In) override;
  llvm::Expected<AgentResult<std::string>> code(const AgentInput &In) override;
  llvm::Expected<AgentResult<std::string>> debug(const AgentInput &In) override;
  llvm::Expected<AgentResult<SingleAnswer>>
  single(const AgentInput &In) override;

private:
  llvm::Expected<Values> shared(const AgentInput &In) const;
  llvm::Expected<Values> withHistory(const AgentInput &In) const;
  llvm::Expected<ChatRequest> firstRequest(const Question &Q) const;
  template <class T>
  llvm::Expected<AgentResult<T>>
  ask(const AgentInput &In, const Question &Q,
      llvm::function_ref<llvm::Expected<T>(llvm::StringRef)> Use);
  llvm::Expected<AgentResult<std::string>> askForCode(const AgentInput &In,
                                                      const Question &Q);

  PromptSet Prompts;
  Temperatures Temperature;
  AskFunction Ask;
};
} // namespace

/// The parts that every role takes in, the same for all; "more" is for those
/// who answer with code: how that looks, and what the task leaves out.
llvm::Expected<Values> Team::shared(const AgentInput &In) const {
  llvm::Expected<Values> OfTask = taskInputs(In, Prompts);
  if (!OfTask)
    return OfTask.takeError();
  Values V;
  for (auto [Name, Part] : {std::pair("system", &Prompts.System),
                            std::pair("example", &Prompts.Example),
                            std::pair("task", &Prompts.Task)}) {
    llvm::Expected<std::string> Text =
        renderPrompt(Part->System, Part->Inputs, *OfTask);
    if (!Text)
      return Text.takeError();
    V[Name] = *Text + "\n";
  }
  V["more"] = OfTask->at("left_out");
  if (!Prompts.Example.User.empty())
    V["more"] = Prompts.Example.User + "\n\n" + V["more"];
  return V;
}

llvm::Expected<ChatRequest> Team::firstRequest(const Question &Q) const {
  ChatRequest R;
  R.Role = Q.P.Role;
  R.Temperature = Q.Temperature;
  R.MaxOutputTokens = Q.MaxOutputTokens;
  R.ResponseSchema = Q.Schema;
  R.InsteadOfTemperature = Q.InsteadOfTemperature;
  llvm::Expected<std::string> System =
      renderPrompt(Q.P.System, Q.P.Inputs, Q.Inputs);
  if (!System)
    return System.takeError();
  llvm::Expected<std::string> User =
      renderPrompt(Q.P.User, Q.P.Inputs, Q.Inputs);
  if (!User)
    return User.takeError();
  R.System = std::move(*System);
  R.StablePrefix = R.System.size();
  // The task stays the same over a run; what comes after it does not.
  const std::string &Task = Q.Inputs.at("task");
  if (llvm::StringRef(*User).starts_with(Task))
    R.StablePrefix += Task.size();
  R.Messages.push_back({ChatMessage::Speaker::User, std::move(*User)});
  return R;
}

template <class T>
llvm::Expected<AgentResult<T>>
Team::ask(const AgentInput &In, const Question &Q,
          llvm::function_ref<llvm::Expected<T>(llvm::StringRef)> Use) {
  llvm::Expected<ChatRequest> Request = firstRequest(Q);
  if (!Request)
    return Request.takeError();
  AgentResult<T> Result;
  for (unsigned Try = 1; Try <= MaxTries; ++Try) {
    Request->Id = requestId(In.Attempt, Q.P.Role, Try);
    llvm::Expected<ChatReply> Reply = Ask(*Request);
    if (!Reply)
      return Reply.takeError();
    StopProblem Stop = problemOfStop(*Reply, *Request);
    if (Stop.Text.empty()) {
      llvm::Expected<T> Value = Use(Reply->Text);
      if (Value) {
        Result.Value = std::move(*Value);
        Result.Problem.clear();
        return Result;
      }
      Stop.Text = llvm::toString(Value.takeError());
    }
    Result.Problem = trimForWindow(cleanText(Stop.Text), ProblemLimit);
    if (!Stop.AskAgain)
      break;
    goOn(*Request, *Reply, reaskFor(Result.Problem));
  }
  return Result;
}

/// What those are told who see the attempts so far.
llvm::Expected<Values> Team::withHistory(const AgentInput &In) const {
  llvm::Expected<Values> V = shared(In);
  if (V) {
    (*V)["latest"] = describeLatest(In);
    (*V)["window"] = describeWindow(In);
    (*V)["beside"] = describeBeside(In);
  }
  return V;
}

llvm::Expected<AgentResult<Instruction>> Team::plan(const AgentInput &In) {
  llvm::Expected<Values> V = withHistory(In);
  if (!V)
    return V.takeError();
  (*V)["sites"] = describeSites(*In.BaseSites, In.Base->text());
  (*V)["hints"] = In.Hints.empty() ? "" : cleanText(In.Hints) + "\n";
  // Code stays fenced text: models write it worse inside of a JSON string.
  Question Q{Prompts.Plan, std::move(*V),      Temperature.Plan,
             PlanTokens,   Prompts.PlanSchema, Prompts.Diversity};
  return ask<Instruction>(
      In, Q, [&](llvm::StringRef Text) { return readPlan(In, Text); });
}

llvm::Expected<AgentResult<std::string>> Team::askForCode(const AgentInput &In,
                                                          const Question &Q) {
  return ask<std::string>(
      In, Q, [&](llvm::StringRef Text) { return readCode(In, Text); });
}

/// What code and debug are both told of their instruction.
static void addInstruction(const AgentInput &In, Values &V) {
  V["base"] = describeMarked(In);
  V["anchors"] = describeAnchors(In.Given->Anchors);
  V["title"] = cleanText(In.Given->Title);
  V["advice"] = cleanText(In.Given->Advice);
  V["window"] = describeWindow(In);
  V["observations"] = describeObservations(*In.Selected, LatestLimit);
}

llvm::Expected<AgentResult<std::string>> Team::code(const AgentInput &In) {
  llvm::Expected<Values> V = shared(In);
  if (!V)
    return V.takeError();
  addInstruction(In, *V);
  return askForCode(
      In, {Prompts.Code, std::move(*V), Temperature.Code, CodeTokens});
}

llvm::Expected<AgentResult<std::string>> Team::debug(const AgentInput &In) {
  if (In.Given->Anchors.empty())
    return AgentResult<std::string>{
        std::nullopt, "the failed attempt has no instruction to follow"};
  llvm::Expected<Values> V = shared(In);
  if (!V)
    return V.takeError();
  addInstruction(In, *V);
  (*V)["hints"] = In.Hints.empty() ? "" : cleanText(In.Hints) + "\n";
  (*V)["failing"] =
      In.Selected->Text.empty()
          ? "It gave no candidate that could be judged: write it.\n"
          : fenced("cuda", In.Selected->Text);
  return askForCode(
      In, {Prompts.Debug, std::move(*V), Temperature.Debug, CodeTokens});
}

llvm::Expected<AgentResult<SingleAnswer>> Team::single(const AgentInput &In) {
  llvm::Expected<Values> V = withHistory(In);
  if (!V)
    return V.takeError();
  Question Q{Prompts.Single, std::move(*V), Temperature.Single, CodeTokens};
  return ask<SingleAnswer>(
      In, Q, [&](llvm::StringRef Text) { return readSingle(In, Text); });
}

std::unique_ptr<AgentTeam> stark::makeAgentTeam(const PromptSet &Prompts,
                                                Temperatures Temperature,
                                                AskFunction Ask) {
  return std::make_unique<Team>(Prompts, Temperature, std::move(Ask));
}
