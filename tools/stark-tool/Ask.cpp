//===- Ask.cpp - One question to a provider -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/LLM/Transcript.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "ask",
    "Ask a provider one question: does the key work, and what is applied?\n\n"
    "  stark-tool ask --provider P [--model M] \"QUESTION\"\n\n"
    "Prints the answer, then, on standard error, what answered,\n"
    "why it stopped, tokens, cost and what was applied of what was wanted.\n"
    "Without a question, standard input is read. Keys come from the\n"
    "environment: docs/providers.md.\n\n"
    "  stark-tool ask --provider anthropic \"Say one word.\"\n\n"
    "Exit codes: 0 answered, 1 failed, 2 usage, 75 suspended, 130 "
    "interrupted.");

static cl::opt<std::string> Question(cl::Positional, cl::desc("QUESTION"),
                                     cl::sub(Command));
static tool::ProviderFlags Shared(Command, cl::Required);
static Flag<std::string> Role(Command, "role", cl::init("plan"),
                              cl::value_desc("role"),
                              cl::desc("Role that asks (default plan)"));
static Flag<std::string> System(Command, "system", cl::value_desc("text"),
                                cl::desc("System prompt"));
static Flag<double> Temperature(Command, "temperature", cl::init(0.8),
                                cl::value_desc("t"),
                                cl::desc("Wanted temperature (default 0.8)"));
static Flag<unsigned> MaxTokens(Command, "max-tokens", cl::init(1000),
                                cl::value_desc("n"),
                                cl::desc("Longest answer (default 1000)"));
static Flag<std::string> SchemaFile(Command, "schema", cl::value_desc("file"),
                                    cl::desc("JSON schema of the answer"));
static Flag<bool> Json(Command, "json",
                       cl::desc("Print the reply as JSON instead"));

static void printFacts(const ChatReply &R) {
  llvm::raw_ostream &OS = llvm::errs();
  OS << "\nanswered by " << R.Provider << ", " << R.Model
     << "; stopped: " << nameOf(R.Stop);
  if (!R.StopDetail.empty())
    OS << " (" << R.StopDetail << ")";
  auto Count = [&](const char *Name, const std::optional<uint64_t> &C) {
    OS << "; " << Name << " ";
    if (C)
      OS << *C;
    else
      OS << "not said";
  };
  Count("tokens in", R.Tokens.Input);
  Count("from cache", R.Tokens.CacheRead);
  Count("out", R.Tokens.Output);
  if (const DiscardedAnswers &D = R.Discarded; D.Answers)
    OS << "; discarded " << (D.Estimated ? "about " : "") << D.Input << " in, "
       << D.Output << " out";
  OS << "; cost ";
  if (R.CostMicroUsd)
    OS << *R.CostMicroUsd << " micro-USD";
  else
    OS << "unknown";
  OS << "; " << R.WallMs << " ms\n";
  for (const std::string &A : R.Applied)
    OS << "applied: " << A << "\n";
}

static llvm::Error run(const std::vector<std::string> &) {
  ChatRequest Request;
  Request.Id = "0000-ask-1";
  Request.Role = Role;
  Request.System = System;
  Request.Temperature = Temperature;
  Request.MaxOutputTokens = MaxTokens;
  std::string Text = Question;
  auto ReadInto = [](llvm::StringRef Name, std::string &Into) -> llvm::Error {
    auto File = llvm::MemoryBuffer::getFileOrSTDIN(Name);
    if (!File)
      return failed("cannot read '" + Name + "': " + File.getError().message());
    Into = (*File)->getBuffer().str();
    return llvm::Error::success();
  };
  if (Text.empty())
    if (llvm::Error E = ReadInto("-", Text))
      return E;
  if (!SchemaFile.empty())
    if (llvm::Error E = ReadInto(SchemaFile, Request.ResponseSchema))
      return E;
  Request.Messages = {{ChatMessage::Speaker::User, Text}};

  llvm::Expected<ProviderSpec> Spec =
      parseProviderSpec(Shared.Provider, Shared.Models);
  if (!Spec)
    return Spec.takeError();
  llvm::Expected<std::unique_ptr<ChatClient>> Client =
      makeAnsweringClient(*Spec, Shared.answering(), machineClock());
  if (!Client)
    return Client.takeError();
  watchInterrupts();
  CallControl Control;
  Control.Cancelled = &interruptFlag();
  llvm::Expected<ChatReply> Reply = (*Client)->complete(Request, Control);
  if (!Reply)
    return Reply.takeError();
  if (Json) {
    llvm::outs() << printReply(*Reply) << "\n";
    return llvm::Error::success();
  }
  llvm::outs() << Reply->Text << "\n";
  llvm::outs().flush();
  printFacts(*Reply);
  return llvm::Error::success();
}

static const tool::Verb Registered(Command, run);
