//===- Rewrites.cpp - stark-tool rewrites ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/Rewrite/RewriteReport.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

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

static llvm::Error checkAll(const RewriteSet &Set, const ParsedSource &Source,
                            const ParseOptions &Options) {
  std::vector<BadMatch> Bad = checkMatches(Set, Source, Options);
  for (const BadMatch &B : Bad)
    llvm::outs() << B.Key << ": " << B.Why << "\n";
  llvm::outs() << Set.matches().size() << " rewrites, " << Bad.size()
               << " of them bad\n";
  llvm::outs().flush();
  return Bad.empty() ? llvm::Error::success()
                     : failed("rewrites of " + Given.File + " do not parse");
}

static llvm::Error applyOne(const RewriteSet &Set) {
  llvm::Expected<std::string> Changed = Set.apply(Apply);
  if (!Changed)
    return Changed.takeError();
  if (!Output.empty())
    return writeFileAtomically(Output, *Changed);
  llvm::outs() << *Changed;
  return llvm::Error::success();
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  if (Apply.empty() && !Output.empty())
    return usageError("rewrites: -o is for what --apply NAME@SITE makes");
  llvm::Expected<ParseOptions> Options = Parse.options(Given.File, Flags);
  if (!Options)
    return Options.takeError();
  std::string Workload = Given.workload();
  if (Given.Workload.empty() && !llvm::sys::fs::exists(Workload))
    Workload.clear();
  llvm::Expected<RewriteSource> Source =
      loadRewriteSource(Given.File, Workload, *Options);
  if (!Source)
    return Source.takeError();
  RewriteSet Set(Source->input());
  if (Check)
    return checkAll(Set, *Source->Source, *Options);
  if (!Apply.empty())
    return applyOne(Set);
  if (Json)
    llvm::outs() << rewritesJson(Set, Given.File) << "\n";
  else
    printRewrites(Set, llvm::outs());
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
