//===- Rewrites.cpp - stark-tool rewrites ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Json/Fields.h"
#include "stark/Rewrite/Rewrite.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;
using nlohmann::json;

static cl::SubCommand Command(
    "rewrites",
    "List the changes that need no model, or make one\n\n"
    "  stark-tool rewrites FILE.cu [--workload W] [--json] [-- flags]\n"
    "      Where each rewrite applies, and why not where it might be thought\n"
    "      to. Each line is NAME@SITE, or NAME=VARIANT@SITE.\n"
    "  stark-tool rewrites FILE.cu --apply NAME@SITE [-o OUT.cu]\n"
    "      Prints FILE.cu with that change, or writes it to OUT.cu.\n"
    "  stark-tool rewrites FILE.cu --check\n"
    "      Makes each change by itself and has Clang parse what it gives.\n\n"
    "A rewrite keeps what the source computes, but for the order in which a\n"
    "sum is added where it says so. What only the caller can know, such as\n"
    "that two buffers do not overlap or what error is allowed, is taken from\n"
    "the workload (default: NAME.workload.json beside FILE.cu, if it is\n"
    "there); without one, rewrites that depend on it are refused.\n"
    "docs/rewrites.md has them all. --provider rules of optimize searches\n"
    "with them.\n\n"
    "Example:\n"
    "  stark-tool rewrites softmax.cu --apply "
    "vector-access@softmax_kernel:loop1\n\n"
    "Exit codes: 0 done, also when none applies; 1 it does not apply, or\n"
    "failed; 2 usage.");
static tool::SourceFlags Given(Command);
static Flag<std::string> Apply(Command, "apply", cl::value_desc("name@site"),
                               cl::desc("Make this change"));
static Flag<std::string> Output(Command, "o", cl::value_desc("file"),
                                cl::desc("Where the changed text goes"));
static Flag<bool> Check(Command, "check",
                        cl::desc("Make each change and parse the result"));
static Flag<bool> Json(Command, "json", cl::desc("Print JSON (version 1)"));
static tool::ParseFlags Parse(Command);

static void printText(const RewriteSet &Set) {
  for (const Match &M : Set.matches())
    llvm::outs() << M.key() << ": line " << M.Line << ": " << M.Title << "\n";
  if (Set.matches().empty())
    llvm::outs() << "no rewrite applies\n";
  for (const Refusal &R : Set.refusals())
    llvm::outs() << "not " << R.Rewrite << "@" << R.Site << ": line " << R.Line
                 << ": " << R.Why.str() << "\n";
}

static void printJson(const RewriteSet &Set) {
  json Matches = json::array(), Refusals = json::array();
  for (const Match &M : Set.matches())
    Matches.push_back(json{{"key", M.key()},
                           {"rewrite", M.Rewrite},
                           {"variant", M.Variant},
                           {"site", M.Site},
                           {"sites", M.Sites},
                           {"line", M.Line},
                           {"title", M.Title},
                           {"advice", M.Advice},
                           {"promise", M.Promise}});
  for (const Refusal &R : Set.refusals())
    Refusals.push_back(json{{"rewrite", R.Rewrite},
                            {"site", R.Site},
                            {"line", R.Line},
                            {"reason", R.Why.str()}});
  const json All = {{"version", 1},
                    {"file", Given.File.getValue()},
                    {"rewrites", std::move(Matches)},
                    {"refused", std::move(Refusals)}};
  llvm::outs() << dumpJson(All) << "\n";
}

static llvm::Error checkAll(const RewriteSet &Set, const ParsedSource &Source,
                            const ParseOptions &Options) {
  unsigned Bad = 0;
  auto Say = [&](const Match &M, const std::string &What) {
    llvm::outs() << M.key() << ": " << What << "\n";
    ++Bad;
  };
  for (const Match &M : Set.matches()) {
    llvm::Expected<std::string> Changed = Set.apply(M.key());
    if (!Changed) {
      Say(M, "cannot be made: " + llvm::toString(Changed.takeError()));
      continue;
    }
    if (*Changed == Source.text()) {
      Say(M, "changes nothing");
      continue;
    }
    auto Parsed = parseSource(Given.File, *Changed, Options);
    if (!Parsed)
      Say(M, llvm::toString(Parsed.takeError()));
    else if (auto New = newErrors(Source, **Parsed); !New.empty())
      Say(M, "line " + std::to_string(New[0].Line) + ": " + New[0].Message);
  }
  llvm::outs() << Set.matches().size() << " rewrites, " << Bad
               << " of them bad\n";
  llvm::outs().flush();
  return Bad ? failed("rewrites of " + Given.File + " do not parse")
             : llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  if (Apply.empty() && !Output.empty())
    return usageError("rewrites: -o is for what --apply NAME@SITE makes");
  const std::string &File = Given.File;
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  llvm::Expected<ParseOptions> Options = Parse.options(File, Flags);
  if (!Options)
    return Options.takeError();
  std::string Workload = Given.workload();
  std::optional<Task> T;
  std::shared_ptr<ParsedSource> Source;
  if (!Given.Workload.empty() || llvm::sys::fs::exists(Workload)) {
    llvm::Expected<Task> Loaded = loadTask(File, Workload, *Options);
    if (!Loaded)
      return Loaded.takeError();
    T = std::move(*Loaded);
    Source = T->Parsed;
  } else {
    auto Parsed = parseSource(File, *Text, *Options);
    if (!Parsed)
      return Parsed.takeError();
    Source = std::move(*Parsed);
  }
  Sites All = findSites(*Source);
  RewriteInput In;
  In.Source = Source.get();
  In.All = &All;
  In.Given = T ? &*T : nullptr;
  RewriteSet Set(In);
  if (Check)
    return checkAll(Set, *Source, *Options);
  if (Apply.empty()) {
    if (Json)
      printJson(Set);
    else
      printText(Set);
    return llvm::Error::success();
  }
  llvm::Expected<std::string> Changed = Set.apply(Apply);
  if (!Changed)
    return Changed.takeError();
  if (!Output.empty())
    return writeFileAtomically(Output, *Changed);
  llvm::outs() << *Changed;
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
