//===- Environment.cpp - What a run was made with, and how to repeat it ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sections.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

static void row(HtmlWriter &W, llvm::StringRef What, llvm::StringRef Value) {
  W.open("tr").element("th", {{"scope", "row"}}, What);
  W.element("td", {{"class", "left"}}, Value).close().line();
}

static std::string budgetOf(const SearchOptions &O) {
  std::vector<std::string> Limits = {std::to_string(O.Attempts) + " attempts"};
  for (const BudgetLimit &L : O.Limits)
    Limits.push_back(printBudgetLimit(L));
  return llvm::join(Limits, ", ");
}

static void writeOptions(HtmlWriter &W, const RunIdentity &I) {
  const SearchOptions &O = I.Options;
  row(W, "policy", policyName(O.Policy.Kind));
  row(W, "seed", std::to_string(O.Seed));
  row(W, "budget", budgetOf(O));
  row(W, "agents", agentsName(O.Agents));
  row(W, "grounding", groundingName(O.Strictness));
  row(W, "attempts at a time", std::to_string(O.Jobs));
  row(W, "speed-up that a winner needs", fixed(O.Margin, 3));
  row(W, "temperatures",
      "plan " + printTemperature(O.Temperature.Plan) + ", code " +
          printTemperature(O.Temperature.Code) + ", debug " +
          printTemperature(O.Temperature.Debug));
}

/// A word of a command line that a shell takes for one.
static std::string quoted(llvm::StringRef Word) {
  auto Plain = [](char C) {
    return llvm::isAlnum(C) || llvm::StringRef("_-./:=,+@").contains(C);
  };
  if (!Word.empty() && llvm::all_of(Word, Plain))
    return Word.str();
  std::string Out = "'";
  for (char C : Word)
    Out += C == '\'' ? std::string("'\\''") : std::string(1, C);
  return Out + "'";
}

static void writeRepeat(HtmlWriter &W, const RunFacts &R) {
  const RunIdentity &I = R.Run.Identity;
  std::string Name = R.Name.empty() ? "RUN" : R.Name;
  std::string Source = quoted(I.TaskName + ".cu");
  std::string Begin = "stark-tool optimize " + Source;
  if (R.Run.End) {
    W.element("p", {},
              "The same again, with no model and no GPU, from the same source, "
              "headers, flags and workload:");
    W.element("pre", {{"class", "shell"}},
              Begin + " \\\n  --provider " + quoted("replay:" + Name) +
                  " \\\n  --evaluator " + quoted("replay:" + Name) +
                  " \\\n  --run-dir again");
  }
  W.element("p", {},
            "Another search like it, which may end elsewhere (what a provider "
            "or an evaluator needs after its name is not in the record):");
  W.element("pre", {{"class", "shell"}},
            Begin + " \\\n  --provider " + quoted(I.Provider) +
                " --evaluator " + quoted(I.Evaluator) + " \\\n  --attempts " +
                std::to_string(I.Options.Attempts) + " --seed " +
                std::to_string(I.Options.Seed) + " --run-dir another");
  W.line();
}

static void writeFile(HtmlWriter &W, const std::string &Id,
                      llvm::StringRef Heading, llvm::StringRef Text) {
  size_t Cut = 0;
  W.open("details", {{"id", Id}}).element("summary", {}, Heading);
  W.preformatted(headOf(Text, 64 << 10, Cut));
  if (Cut)
    W.element("p", {{"class", "cut"}}, grouped(Cut) + " bytes more.");
  W.close().line();
}

void stark::writeEnvironment(HtmlWriter &W, const RunFacts &R) {
  const RunIdentity &I = R.Run.Identity;
  W.open("section", {{"id", "environment"}});
  W.element("h2", {}, "With what, and how to repeat it").line();
  W.openScroll("Environment").open("table", {{"class", "pairs"}});
  W.open("tbody").line();
  row(W, "task", I.TaskName + ", entry " + I.Entry);
  row(W, "digest of the task", I.TaskDigest);
  row(W, "device", R.Device.empty() ? "not known yet" : R.Device);
  row(W, "architecture", I.Arch);
  row(W, "provider", I.Provider);
  row(W, "models",
      R.Count.Models.empty() ? "none" : llvm::join(R.Count.Models, ", "));
  row(W, "evaluator", I.Evaluator);
  for (const auto &[Name, Version] : I.Versions)
    row(W, Name, Version);
  writeOptions(W, I);
  row(W, "digest of the prompts", I.PromptsDigest);
  W.close().close().close().line();
  writeRepeat(W, R);
  W.element("h3", {{"id", "task"}}, "The task");
  if (R.Run.WorkloadText.empty())
    W.element("p", {{"class", "note"}},
              "The workload is not in the record: " + R.LoadProblem + ".");
  else
    writeFile(W, "workload", "Workload: sizes, inputs, tolerances",
              R.Run.WorkloadText);
  if (R.Load && R.Load->Imported)
    W.element("p", {},
              "Imported from module " + R.Load->Imported->Module + " of " +
                  R.Load->Imported->File + ", torch " +
                  R.Load->Imported->Torch + ".");
  W.element("h3", {{"id", "prompts"}}, "The prompts").line();
  std::map<std::string, std::string> Files = readPromptFiles(R.Folder);
  for (const auto &[Name, Text] : Files)
    if (llvm::StringRef(Name).ends_with(".md"))
      writeFile(W, "prompt-" + llvm::StringRef(Name).drop_back(3).str(), Name,
                Text);
  for (const char *Role : {"plan", "code", "debug", "single"})
    if (!Files.count(std::string(Role) + ".md"))
      W.open("p", {{"class", "note"}, {"id", std::string("prompt-") + Role}})
          .text(std::string("The prompt of the ") + Role +
                " agent is not in the record.")
          .close()
          .line();
  W.close().line();
}
