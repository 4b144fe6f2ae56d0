//===- RulesTeam.cpp - Agents without a model -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Agent/RulesTeam.h"
#include "stark/Json/Fields.h"
#include "stark/Rewrite/Rewrite.h"
#include "stark/Support/Error.h"
#include "stark/Support/Random.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>
#include <set>

using namespace stark;

/// Ends each advice: how code knows what to do, and plan what was tried.
static constexpr llvm::StringLiteral KeyLine("Rewrite: `");
/// Opens an answer that gives none.
static constexpr llvm::StringLiteral Nothing("No rewrite is left: ");

bool stark::isRulesProvider(llvm::StringRef Identity) {
  return Identity == "rules";
}

static std::string keyOf(llvm::StringRef Advice) {
  size_t At = Advice.rfind(KeyLine);
  if (At == llvm::StringRef::npos)
    return "";
  return Advice.drop_front(At + KeyLine.size()).split('`').first.str();
}

/// In a fence that is longer than any in it.
static std::string fileBlock(llvm::StringRef Text) {
  size_t Longest = 2, Run = 0;
  for (char C : Text) {
    Run = C == '`' ? Run + 1 : 0;
    Longest = std::max(Longest, Run);
  }
  std::string Fence(Longest + 1, '`');
  return Fence + "cuda file\n" + Text.str() +
         (Text.ends_with("\n") ? "" : "\n") + Fence + "\n";
}

namespace {
/// plan: the most promising rewrite that was not tried on this base and gives
/// a text that is not in the tree; equal ones are drawn from the seed and the
/// attempt. code: the source with that rewrite made. debug: another rewrite
/// within the same anchors. Each has a problem and no value when none is left.
class RulesTeam : public AgentTeam {
public:
  RulesTeam(uint64_t Seed, AskFunction Ask) : Seed(Seed), Ask(std::move(Ask)) {}

  llvm::Expected<AgentResult<Instruction>> plan(const AgentInput &In) override;
  llvm::Expected<AgentResult<std::string>> code(const AgentInput &In) override;
  llvm::Expected<AgentResult<std::string>> debug(const AgentInput &In) override;
  llvm::Expected<AgentResult<SingleAnswer>>
  single(const AgentInput &In) override;
  bool takesHints() const override { return false; }

private:
  struct Choice {
    const Match *Chosen = nullptr;
    std::string Text;    ///< the candidate
    std::string Listing; ///< what there was to choose from
    std::string Why;     ///< when nothing is chosen
  };
  Choice choose(const RewriteSet &Set, const AgentInput &In,
                const std::set<std::string> &Tried,
                llvm::function_ref<bool(const Match &)> Allowed) const;
  ChatRequest request(const AgentInput &In, llvm::StringRef Role,
                      const std::string &Text, std::string Prepared) const;
  template <class T>
  llvm::Expected<AgentResult<T>>
  answer(const ChatRequest &Request,
         llvm::function_ref<llvm::Expected<T>(llvm::StringRef)> Read);

  const uint64_t Seed;
  const AskFunction Ask;
};
} // namespace

static RewriteInput inputOf(const AgentInput &In) {
  RewriteInput R;
  R.Source = In.Base;
  R.All = In.BaseSites;
  R.Given = In.Of;
  return R;
}

/// Of each function the rewrite that came near it, of several the one that the
/// catalogue has first, and what it lacks: "; nearest: k: block-reduce lacks:
/// line 18: the block size of a launch is no constant".
static std::string nearest(const RewriteSet &Set) {
  constexpr size_t Most = 6;
  std::vector<std::pair<std::string, std::string>> Of;
  for (const Refusal &R : Set.refusals()) {
    std::string Function = llvm::StringRef(R.Site).split(':').first.str();
    if (llvm::none_of(Of, [&](auto &O) { return O.first == Function; }))
      Of.push_back({Function, R.Rewrite + " lacks: line " +
                                  std::to_string(R.Line) + ": " + R.Why.str()});
  }
  std::string Text;
  for (size_t I = 0; I < std::min(Of.size(), Most); ++I)
    Text += (I ? "; " : "; nearest: ") + Of[I].first + ": " + Of[I].second;
  return Text;
}

RulesTeam::Choice
RulesTeam::choose(const RewriteSet &Set, const AgentInput &In,
                  const std::set<std::string> &Tried,
                  llvm::function_ref<bool(const Match &)> Allowed) const {
  Choice C;
  std::vector<const Match *> Left;
  for (const Match &M : Set.matches()) {
    bool Was = Tried.count(M.key()) != 0;
    C.Listing += "- `" + M.key() + "` (line " + std::to_string(M.Line) +
                 "): " + M.Title + (Was ? "; tried" : "") + "\n";
    if (!Was && Allowed(M))
      Left.push_back(&M);
  }
  if (Set.matches().empty())
    C.Listing += "- none\n";
  if (!Set.refusals().empty())
    C.Listing += "\nRefused:\n\n";
  for (const Refusal &R : Set.refusals())
    C.Listing += "- `" + R.Rewrite + "@" + R.Site + "` (line " +
                 std::to_string(R.Line) + "): " + R.Why.str() + "\n";
  // Equally promising ones in an order that seed and attempt fix.
  Random Draw(Seed * 0x9E3779B97F4A7C15u + In.Attempt);
  for (size_t Begin = 0; Begin < Left.size();) {
    size_t End = Begin + 1;
    while (End < Left.size() && Left[End]->Promise == Left[Begin]->Promise)
      ++End;
    for (size_t I = Begin; I + 1 < End; ++I)
      std::swap(Left[I], Left[I + Draw.below(End - I)]);
    Begin = End;
  }
  unsigned Same = 0;
  for (const Match *M : Left) {
    llvm::Expected<std::string> Text = Set.apply(M->key());
    if (!Text) {
      C.Why = "'" + M->key() + "': " + llvm::toString(Text.takeError());
      continue;
    }
    if (In.Known && In.Known(*Text)) {
      ++Same;
      continue;
    }
    C.Chosen = M;
    C.Text = std::move(*Text);
    return C;
  }
  if (!C.Why.empty())
    return C;
  if (Set.matches().empty())
    C.Why = "none applies to this text";
  else if (Same)
    C.Why = "the " + std::to_string(Same) +
            " that were not tried on this text give texts that are in the "
            "tree already";
  else
    C.Why = "all " + std::to_string(Set.matches().size()) +
            " that apply were tried on this text";
  C.Why += nearest(Set);
  return C;
}

ChatRequest RulesTeam::request(const AgentInput &In, llvm::StringRef Role,
                               const std::string &Text,
                               std::string Prepared) const {
  ChatRequest R;
  R.Id = requestId(In.Attempt, Role, 1);
  R.Role = Role.str();
  R.System = "Answered by rewrites of the syntax tree, without a model.\n";
  R.Messages.push_back({ChatMessage::Speaker::User, Text});
  R.Prepared = std::move(Prepared);
  return R;
}

template <class T>
llvm::Expected<AgentResult<T>>
RulesTeam::answer(const ChatRequest &Request,
                  llvm::function_ref<llvm::Expected<T>(llvm::StringRef)> Read) {
  llvm::Expected<ChatReply> Reply = Ask(Request);
  if (!Reply)
    return Reply.takeError();
  AgentResult<T> Result;
  llvm::StringRef Said = llvm::StringRef(Reply->Text).trim();
  if (Said.starts_with(Nothing)) {
    Result.Problem = llvm::StringRef("no rewrite is left: ").str() +
                     Said.drop_front(Nothing.size()).take_front(2000).str();
    return Result;
  }
  llvm::Expected<T> Value = Read(Reply->Text);
  if (Value)
    Result.Value = std::move(*Value);
  else
    Result.Problem = llvm::toString(Value.takeError());
  return Result;
}

static std::set<std::string> triedOn(const AgentInput &In) {
  std::set<std::string> Keys;
  for (const std::string &Advice : In.Tried)
    Keys.insert(keyOf(Advice));
  return Keys;
}

static std::string fileName(const AgentInput &In) {
  return llvm::sys::path::filename(In.Of->SourcePath).str();
}

llvm::Expected<AgentResult<Instruction>> RulesTeam::plan(const AgentInput &In) {
  RewriteSet Set(inputOf(In));
  Choice C = choose(Set, In, triedOn(In), [](const Match &) { return true; });
  std::string Prepared = Nothing.str() + C.Why + "\n";
  if (C.Chosen) {
    const nlohmann::json Object = {{"title", C.Chosen->Title},
                                   {"sites", C.Chosen->Sites}};
    Prepared = "## Advice\n\n" + C.Chosen->Advice + "\n\n" + KeyLine.str() +
               C.Chosen->key() + "`\n\n```json\n" + dumpJson(Object) +
               "\n```\n";
  }
  ChatRequest R = request(
      In, "plan",
      "Choose a rewrite of `" + fileName(In) +
          "` that was not tried on this text. These apply:\n\n" + C.Listing,
      std::move(Prepared));
  return answer<Instruction>(
      R, [&](llvm::StringRef Text) { return readPlan(In, Text); });
}

llvm::Expected<AgentResult<std::string>> RulesTeam::code(const AgentInput &In) {
  std::string Key = keyOf(In.Given->Advice), Prepared;
  RewriteSet Set(inputOf(In));
  llvm::Expected<std::string> Text =
      Key.empty() ? failed("the plan names no rewrite") : Set.apply(Key);
  if (Text)
    Prepared = "`" + Key + "`, made in the syntax tree.\n\n" + fileBlock(*Text);
  else
    Prepared = Nothing.str() + llvm::toString(Text.takeError()) + "\n";
  ChatRequest R = request(
      In, "code", "Make the rewrite `" + Key + "` in `" + fileName(In) + "`.\n",
      std::move(Prepared));
  return answer<std::string>(
      R, [&](llvm::StringRef Reply) { return readCode(In, Reply); });
}

llvm::Expected<AgentResult<std::string>>
RulesTeam::debug(const AgentInput &In) {
  // A rewrite that failed cannot be mended, but another may do in its place.
  RewriteSet Set(inputOf(In));
  std::set<std::string> Places, Tried = triedOn(In);
  for (const Anchor &A : In.Given->Anchors)
    Places.insert(A.SiteIds.begin(), A.SiteIds.end());
  Tried.insert(keyOf(In.Given->Advice));
  Choice C = choose(Set, In, Tried, [&](const Match &M) {
    return llvm::all_of(
        M.Sites, [&](const std::string &Id) { return Places.count(Id) != 0; });
  });
  std::string Prepared =
      C.Chosen ? "Instead `" + C.Chosen->key() +
                     "`, made in the syntax tree.\n\n" + fileBlock(C.Text)
               : Nothing.str() + (C.Chosen || !C.Why.empty() ? C.Why : "none") +
                     "\n";
  ChatRequest R = request(In, "debug",
                          "The rewrite `" + keyOf(In.Given->Advice) + "` of `" +
                              fileName(In) +
                              "` failed. Choose another one at the same "
                              "places. These apply:\n\n" +
                              C.Listing,
                          std::move(Prepared));
  return answer<std::string>(
      R, [&](llvm::StringRef Reply) { return readCode(In, Reply); });
}

llvm::Expected<AgentResult<SingleAnswer>>
RulesTeam::single(const AgentInput &In) {
  RewriteSet Set(inputOf(In));
  Choice C = choose(Set, In, triedOn(In), [](const Match &) { return true; });
  std::string Prepared = C.Chosen
                             ? C.Chosen->Title + "\n\n" + C.Chosen->Advice +
                                   "\n\n" + KeyLine.str() + C.Chosen->key() +
                                   "`\n\n" + fileBlock(C.Text)
                             : Nothing.str() + C.Why + "\n";
  ChatRequest R = request(
      In, "single",
      "Choose a rewrite of `" + fileName(In) +
          "` that was not tried on this text, and make it. These apply:\n\n" +
          C.Listing,
      std::move(Prepared));
  return answer<SingleAnswer>(
      R, [&](llvm::StringRef Reply) { return readSingle(In, Reply); });
}

TeamFactory stark::teamFor(llvm::StringRef Identity, const PromptSet &Prompts,
                           Temperatures Temperature, uint64_t Seed) {
  if (isRulesProvider(Identity))
    return [Seed](AskFunction Ask) {
      return std::make_unique<RulesTeam>(Seed, std::move(Ask));
    };
  return [&Prompts, Temperature](AskFunction Ask) {
    return makeAgentTeam(Prompts, Temperature, std::move(Ask));
  };
}
