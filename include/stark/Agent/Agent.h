//===- Agent.h - Plan, code, debug ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   window + source -> prompt -> chat client -> reply -> instruction or
/// candidate. An agent asks at most twice: a reply that cannot be used is
/// answered with one precise sentence, and a second one ends the attempt with
/// its reason.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AGENT_AGENT_H
#define STARK_AGENT_AGENT_H

#include "stark/AST/Anchor.h"
#include "stark/Agent/Prompt.h"
#include "stark/Eval/Verdict.h"
#include "stark/LLM/ChatClient.h"
#include "stark/Task/Task.h"
#include <optional>

namespace stark {

/// The grounded instruction: advice with its anchors in the base.
struct Instruction {
  std::string Title, Advice;
  std::vector<Anchor> Anchors;
};

/// A past attempt as an agent is shown it.
struct WindowEntry {
  unsigned Node = 0;
  std::string Title;    ///< "source", "attempt 4 (child of 2): vector loads"
  std::string Text;     ///< the candidate's source
  std::string Advice;   ///< of its instruction
  std::string Compiler; ///< compiler observation
  std::string Run;      ///< run observation
};

/// A plan that was asked for, and whose attempt goes on.
struct PlanInFlight {
  unsigned Attempt = 0, Node = 0; ///< Node: whose text it is to change
  std::string Title;              ///< empty: not known yet
  bool operator==(const PlanInFlight &) const = default;
};

/// What every role is given.
struct AgentInput {
  unsigned Attempt = 0;
  const Task *Of = nullptr;
  const ParsedSource *Base = nullptr; ///< what anchors refer to
  const Sites *BaseSites = nullptr;
  const WindowEntry *Selected = nullptr;
  std::vector<WindowEntry> Window;    ///< without root and selected node
  const Instruction *Given = nullptr; ///< of code and debug
  std::string Device;                 ///< "NVIDIA H200, sm_90, ..."
  /// Of the source, which says what its device was measured to do; may be null.
  const Verdict *OfSource = nullptr;
  /// What other planners are at while this one is asked.
  std::vector<PlanInFlight> Beside;
  std::string Hints; ///< more for plan and debug, may be empty
  /// The advice given for this base before, oldest first. Unlike the window it
  /// leaves nothing out; for agents that are no models.
  std::vector<std::string> Tried;
  /// Whether a text has the tokens of a node that there is; may be empty.
  std::function<bool(llvm::StringRef Text)> Known;
};

template <class T> struct AgentResult {
  std::optional<T> Value;
  std::string Problem; ///< why there is no value
};

/// Asks the model, or takes the answer from the journal when it is there.
using AskFunction =
    std::function<llvm::Expected<ChatReply>(const ChatRequest &)>;

/// What an agent that works alone answers: its own account of what it did, no
/// anchors, and the candidate's whole text.
struct SingleAnswer {
  Instruction Given;
  std::string Text;
};

class AgentTeam {
public:
  virtual ~AgentTeam() = default;
  virtual llvm::Expected<AgentResult<Instruction>>
  plan(const AgentInput &In) = 0;
  /// The candidate's whole text.
  virtual llvm::Expected<AgentResult<std::string>>
  code(const AgentInput &In) = 0;
  virtual llvm::Expected<AgentResult<std::string>>
  debug(const AgentInput &In) = 0;
  /// Plans, implements and repairs in one; In.Given is not looked at.
  virtual llvm::Expected<AgentResult<SingleAnswer>>
  single(const AgentInput &In) = 0;
  /// Whether plan() reads AgentInput::Hints.
  virtual bool takesHints() const { return true; }
};

/// Makes the team of one attempt, which asks through \p Ask.
using TeamFactory = std::function<std::unique_ptr<AgentTeam>(AskFunction Ask)>;

struct Temperatures {
  double Plan = 0.8, Code = 0.1, Debug = 0.1; ///< paper, appendix B
  double Single = 0.7; ///< likewise, of its single-agent baselines
};

/// "0007-code-1": attempt, role, try.
std::string requestId(unsigned Attempt, llvm::StringRef Role, unsigned Try);

/// A reply to plan, grounded. The error's text is the re-ask.
llvm::Expected<Instruction> readPlan(const AgentInput &In,
                                     llvm::StringRef Reply);
/// A reply to code or debug as a whole candidate; likewise.
llvm::Expected<std::string> readCode(const AgentInput &In,
                                     llvm::StringRef Reply);
/// A reply to single; likewise.
llvm::Expected<SingleAnswer> readSingle(const AgentInput &In,
                                        llvm::StringRef Reply);

std::unique_ptr<AgentTeam> makeAgentTeam(const PromptSet &Prompts,
                                         Temperatures Temperature,
                                         AskFunction Ask);

} // namespace stark

#endif
