//===- Sites.cpp - stark-tool sites --------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"
#include "stark/AST/Parse.h"
#include "stark/AST/Site.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
namespace cl = llvm::cl;

static cl::SubCommand
    Command("sites",
            "List the places of a CUDA source where a change could go");
static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.cu"),
                                 cl::Required, cl::sub(Command));
static cl::opt<bool> Json("json", cl::desc("Print JSON"), cl::sub(Command),
                          cl::cat(tool::category()));

static llvm::Error run(const std::vector<std::string> &Flags) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  ParseOptions Options;
  Options.Flags = Flags;
  auto Source = parseSource(File, *Text, Options);
  if (!Source)
    return Source.takeError();
  Sites Found = findSites(**Source);
  if (Json)
    llvm::outs() << Found.toJson(**Source) << "\n";
  else
    Found.print(llvm::outs());
  return llvm::Error::success();
}

tool::Verb tool::sitesVerb() { return {Command, run}; }
