//===- Estimate.cpp - What a run would cost ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Search/Estimate.h"
#include "stark/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;

/// As long as observations and advice get in a window, and of the selected
/// node.
static constexpr size_t ShownBytes = 2500, LatestBytes = 6000;

static WindowEntry longEntry(const Task &T, size_t Bytes) {
  WindowEntry E;
  E.Node = 1;
  E.Title = "attempt 10 (child of 9): " + std::string(60, 'x');
  // No line is the source's, so that all of it is shown and not what changed.
  for (llvm::StringRef Rest = T.SourceText; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    E.Text += "x" + Line.str() + "\n";
    Rest = After;
  }
  E.Advice = std::string(ShownBytes, 'x');
  E.Compiler = E.Run = std::string(Bytes, 'x');
  return E;
}

namespace {
/// Makes requests for an attempt that sees little, or as much as can be.
class Asker {
public:
  Asker(const Task &T, const PromptSet &Prompts, const SearchOptions &Options)
      : Plain{}, Long(longEntry(T, LatestBytes)), All(findSites(*T.Parsed)),
        Team(makeAgentTeam(
            Prompts, Options.Temperature,
            [this](const ChatRequest &R) -> llvm::Expected<ChatReply> {
              Made = R;
              return suspended("only estimated");
            })) {
    Plain.Title = "source";
    Plain.Text = T.SourceText;
    Plain.Run = "correct";
    In.Attempt = 1;
    In.Of = &T;
    In.Base = T.Parsed.get();
    In.BaseSites = &All;
    In.Device = T.Parse.Arch;
    Given.Title = std::string(60, 'x');
    Given.Advice = std::string(ShownBytes, 'x');
    Given.Anchors.emplace_back();
    Given.Anchors.back().Bytes = {0, T.SourceText.size()};
    In.Given = &Given;
    if (Options.Windows)
      for (unsigned I = 2; I < Options.WindowLimit; ++I)
        Window.push_back(longEntry(T, ShownBytes));
  }

  llvm::Expected<ChatRequest> make(llvm::StringRef Role, bool Full) {
    In.Selected = Full ? &Long : &Plain;
    In.Window = Full ? Window : std::vector<WindowEntry>();
    Made.reset();
    llvm::Error E = Role == "plan"    ? Team->plan(In).takeError()
                    : Role == "code"  ? Team->code(In).takeError()
                    : Role == "debug" ? Team->debug(In).takeError()
                                      : Team->single(In).takeError();
    if (!Made)
      return E;
    llvm::consumeError(std::move(E));
    return *Made;
  }

private:
  WindowEntry Plain, Long;
  Sites All;
  Instruction Given;
  std::vector<WindowEntry> Window;
  AgentInput In;
  std::optional<ChatRequest> Made;
  std::unique_ptr<AgentTeam> Team;
};
} // namespace

static WorstCase sum(const WorstCase &A, const WorstCase &B) {
  WorstCase S{A.InputTokens + B.InputTokens, A.OutputTokens + B.OutputTokens,
              std::nullopt};
  if (A.MicroUsd && B.MicroUsd)
    S.MicroUsd = *A.MicroUsd + *B.MicroUsd;
  return S;
}

llvm::Expected<RunEstimate> stark::estimateRun(const Task &T,
                                               const PromptSet &Prompts,
                                               const ChatClient &Chat,
                                               const SearchOptions &Options) {
  RunEstimate E;
  E.Attempts = Options.Attempts;
  bool Alone = Options.Agents == AgentsKind::Single;
  E.FewestCalls = Options.Attempts;
  E.MostCalls = Options.Attempts * (Alone ? 1 : 2);
  Asker Ask(T, Prompts, Options);
  std::vector<std::string> Roles = {"plan", "code", "debug"};
  if (Alone)
    Roles = {"single"};
  for (const std::string &Role : Roles) {
    RoleEstimate R;
    R.Role = Role;
    for (bool Full : {false, true}) {
      llvm::Expected<ChatRequest> Request = Ask.make(Role, Full);
      if (!Request)
        return Request.takeError();
      std::optional<WorstCase> Worst = Chat.worstCase(*Request);
      E.Free |= !Worst;
      (Full ? R.Full : R.First) = Worst.value_or(WorstCase());
    }
    E.Roles.push_back(std::move(R));
  }
  // An attempt plans and codes, or it repairs.
  WorstCase Dearest = E.Roles[0].Full;
  if (!Alone) {
    Dearest = sum(E.Roles[0].Full, E.Roles[1].Full);
    if (E.Roles[2].Full.tokens() > Dearest.tokens())
      Dearest = E.Roles[2].Full;
  }
  E.Most = WorstCase{Dearest.InputTokens * E.Attempts,
                     Dearest.OutputTokens * E.Attempts, std::nullopt};
  if (Dearest.MicroUsd)
    E.Most.MicroUsd = *Dearest.MicroUsd * int64_t(E.Attempts);
  return E;
}

static std::string usd(const std::optional<int64_t> &MicroUsd) {
  if (!MicroUsd)
    return "an unknown price";
  std::string Text;
  llvm::raw_string_ostream(Text)
      << llvm::format("%.4f USD", double(*MicroUsd) * 1e-6);
  return Text;
}

void stark::printEstimate(const RunEstimate &E, llvm::raw_ostream &OS) {
  OS << E.Attempts << " attempts: " << E.FewestCalls;
  if (E.MostCalls != E.FewestCalls)
    OS << " to " << E.MostCalls;
  OS << " calls, and one more for each reply that cannot be used.\n";
  if (E.Free) {
    OS << "The provider replays a run: calls take no tokens and no money.\n";
    return;
  }
  for (const RoleEstimate &R : E.Roles)
    OS << R.Role << ": at most " << R.First.InputTokens
       << " tokens in for a first attempt, " << R.Full.InputTokens
       << " with a full window, " << R.Full.OutputTokens << " out; "
       << usd(R.Full.MicroUsd) << " a call.\n";
  OS << "All attempts at their dearest: " << E.Most.InputTokens
     << " tokens in, " << E.Most.OutputTokens << " out, "
     << usd(E.Most.MicroUsd)
     << ". Candidates are taken to be as long as the source; --budget sets a "
        "hard limit.\n";
}
