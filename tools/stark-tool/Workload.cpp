//===- Workload.cpp - stark-tool workload --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"
#include "stark/AST/Flags.h"
#include "stark/AST/SourceFile.h"
#include "stark/Driver/DraftWithModel.h"
#include "stark/Eval/DraftProof.h"
#include "stark/Job/Names.h"
#include "stark/Posix/Interrupt.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Utf8.h"
#include "stark/Task/Task.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using tool::Flag;
namespace cl = llvm::cl;

static cl::SubCommand Command(
    "workload",
    "Draft a workload for a CUDA source, or check one\n\n"
    "  stark-tool workload FILE.cu [--entry NAME | --all] [-o FILE] [-- "
    "flags]\n"
    "  stark-tool workload FILE.cu --provider P [--rounds N] [-o FILE] [-- "
    "flags]\n"
    "  stark-tool workload FILE.cu --check NAME.workload.json [-- flags]\n\n"
    "A draft takes sizes, shapes, grid and block from what main() allocates\n"
    "and launches, else from the indices that the entry uses. The entry is a\n"
    "host function that launches on pointers of the device, else the kernel\n"
    "that the program launches most. The draft is run at a small size on the\n"
    "simulated GPU. What was guessed, and what was found, is listed on\n"
    "standard error: read it, and put in production sizes.\n"
    "With --provider a model is shown the program, the draft and what its run\n"
    "found, and says what is right. Its answer is checked and run likewise;\n"
    "what is wrong goes back to it, for --rounds answers at most. What it\n"
    "changed is listed. Where no answer passes, the tool's own draft is\n"
    "written. Where it needs a call of its own, that is NAME.call.cu, beside\n"
    "-o FILE. Where the model cannot be asked nothing is written.\n"
    "--check says whether a workload fits the source, and prints each size\n"
    "with the bytes that its buffers take, the tool's own sizes included.\n"
    "docs/workload.md describes the format. What stands after -- are compiler\n"
    "flags, for nvcc or clang++. Without flags, a draft is made with those\n"
    "of compile_commands.json; a check is made with what is given, as a\n"
    "search would be.\n\n"
    "  stark-tool workload softmax.cu -o softmax.workload.json -- -Iinclude\n\n"
    "Exit codes: 0 done, 1 failed, 2 the workload or the command is wrong, 75\n"
    "waits for an answer (exchange:DIR), 130 interrupted.");
static cl::opt<std::string> File(cl::Positional, cl::desc("FILE.cu"),
                                 cl::Required, cl::sub(Command));
static Flag<std::string> Entry(Command, "entry", cl::value_desc("NAME"),
                               cl::desc("the function to call"));
static Flag<bool> All(Command, "all",
                      cl::desc("a draft for each entry, as "
                               "NAME.ENTRY.workload.json beside FILE.cu"));
static Flag<bool> NoProve(Command, "no-prove",
                          cl::desc("do not run the draft in the simulator"));
static Flag<std::string>
    Output(Command, "o", cl::value_desc("FILE"),
           cl::desc("write the draft here (default: standard output)"));
static Flag<bool> Force(Command, "force", cl::desc("replace an existing file"));
static tool::ProviderFlags Shared(Command, cl::Optional);
static Flag<unsigned>
    Rounds(Command, "rounds", cl::init(3), cl::value_desc("n"),
           cl::desc("answers of the model, 1 to 20 (default 3)"));
static Flag<std::string> Check(Command, "check", cl::value_desc("FILE"),
                               cl::desc("check this workload instead"));
static Flag<bool> ShowCall(Command, "call",
                           cl::desc("with --check: print the call"));
static Flag<std::string>
    CudaPath(Command, "cuda-path", cl::value_desc("DIR"),
             cl::desc("the CUDA toolkit (default: looked for)"));

static llvm::Error checkOne(const ParseOptions &Options) {
  llvm::Expected<Task> T = loadTask(File, Check, Options);
  if (!T)
    return T.takeError();
  llvm::Expected<std::vector<job::Case>> Cases = makeCases(*T);
  if (!Cases)
    return Cases.takeError();
  std::vector<job::Leaf> Leaves = makeLeaves(*T);
  llvm::outs() << "entry " << T->Entry.Name << ", line " << T->Entry.Line
               << "\n";
  size_t Drawn = 0;
  std::string Values;
  for (const job::Case &C : *Cases) {
    bool OtherValues = C.Brief && C.Filling != job::Regime::Given;
    if (OtherValues && !C.Drawn)
      Values += std::string(Values.empty() ? "" : ", ") + nameOf(C.Filling);
    Drawn += C.Drawn;
    if (C.Drawn || OtherValues)
      continue;
    uint64_t Bytes = 0;
    for (size_t I = 0; I < Leaves.size(); ++I)
      if (Leaves[I].Kind == job::LeafKind::Buffer)
        Bytes += C.Values[I].elements() * job::dtypeBytes(Leaves[I].Type);
    llvm::outs() << "size " << C.Label << ": "
                 << (C.Timed ? "compared and timed" : "compared") << ", "
                 << Bytes << " bytes\n";
  }
  if (!Values.empty())
    llvm::outs() << "the smallest compared with other values, too: " << Values
                 << "\n";
  if (Drawn)
    llvm::outs() << Drawn << " more to draw from, all in a confirmation\n";
  if (ShowCall)
    llvm::outs() << makeTrampoline(*T) << makeReferenceTrampoline(*T);
  return llvm::Error::success();
}

static EvaluatorOptions judging(const ParseOptions &Options) {
  EvaluatorOptions Judge;
  Judge.Build.Arch = Options.Arch;
  Judge.TimeoutMs = 30000;
  return Judge;
}

/// Runs \p D, unless nobody wants that.
static llvm::Expected<DraftProof> prove(Draft &D, const ParseOptions &Options) {
  DraftProof Proof;
  Proof.Form = likelyForm(D);
  if (NoProve || !D.Comparable)
    return Proof;
  llvm::Expected<DraftProof> Tried =
      proveDraft(D, File, Options, judging(Options));
  if (Tried)
    D.Notes.push_back(Tried->Note);
  return Tried;
}

static llvm::Error checkNew(const std::string &Into) {
  if (!Into.empty() && !Force && llvm::sys::fs::exists(Into))
    return usageError("'" + Into + "' exists; --force replaces it");
  return llvm::Error::success();
}

static void note(const std::vector<std::string> &Notes) {
  for (const std::string &Note : Notes)
    llvm::errs() << "note: " << Note << "\n";
}

/// Where a call of the model's goes; empty: to nowhere.
static std::string callFile() {
  if (Output.empty())
    return "";
  llvm::SmallString<256> Path(llvm::sys::path::parent_path(Output));
  llvm::sys::path::append(Path, callName(File));
  return Path.str().str();
}

/// To standard output when \p Into is empty.
static llvm::Error write(const std::string &Into, const std::string &Text) {
  if (!Into.empty())
    return writeFileAtomically(Into, Text);
  llvm::outs() << Text;
  return llvm::Error::success();
}

/// The draft of \p Name, written to \p Into.
static llvm::Error draftOne(Drafter &Drafts, const std::string &Name,
                            const std::string &Into,
                            const ParseOptions &Options) {
  llvm::Expected<std::unique_ptr<Draft>> D = Drafts.draft(Name);
  if (!D)
    return D.takeError();
  if (llvm::Error E = checkNew(Into))
    return E;
  llvm::Expected<DraftProof> Proof = prove(**D, Options);
  if (!Proof)
    return Proof.takeError();
  note((*D)->Notes);
  return write(Into, (*D)->text(Proof->Form, DraftSizes::All));
}

/// "dir/softmax.cu", "k<float, 4>" -> "dir/softmax.k_float_4.workload.json"
static std::string fileFor(llvm::StringRef Source, llvm::StringRef Name) {
  std::string Plain;
  for (char C : Name)
    if (llvm::isAlnum(C) || C == '_')
      Plain += C;
    else if (!Plain.empty() && Plain.back() != '_')
      Plain += '_';
  llvm::SmallString<256> Path(Source);
  llvm::sys::path::replace_extension(Path, llvm::StringRef(Plain).rtrim('_') +
                                               ".workload.json");
  return Path.str().str();
}

static llvm::Error draftAll(Drafter &Drafts, const ParseOptions &Options) {
  for (const std::string &Name : Drafts.entries()) {
    std::string Into = fileFor(File, Name);
    llvm::errs() << Into << "\n";
    if (llvm::Error E = draftOne(Drafts, Name, Into, Options))
      llvm::errs() << "note: no draft: " << llvm::toString(std::move(E))
                   << "\n";
  }
  return llvm::Error::success();
}

/// What Clang does not take is left out, and with it what follows from it.
static void noteErrors(const ParsedSource &Source) {
  if (Source.errors().empty())
    return;
  const SourceError &First = Source.errors().front();
  llvm::errs() << "note: "
               << (First.Line ? "line " + std::to_string(First.Line) + ": "
                              : std::string())
               << First.Message
               << (Source.errors().size() > 1
                       ? " (and " + std::to_string(Source.errors().size() - 1) +
                             " errors more)"
                       : std::string())
               << "; the draft is made of the rest, and may lack what this "
                  "hides: give the compiler's flags after --\n";
}

namespace {
/// The program, as drafts are made of it.
struct Program {
  ParseOptions Options;
  std::unique_ptr<ParsedSource> Source, WithInstances; ///< or null
  std::vector<std::unique_ptr<ParsedSource>> Callers;
};

/// Who is asked, and how.
struct Model {
  std::unique_ptr<ChatClient> Client;
  Prompt Asks;
};
} // namespace

static llvm::Expected<Program> readProgram(const ParseOptions &Given) {
  Program P;
  P.Options = Given;
  if (llvm::Error E = completeFlags(File, P.Options))
    return E;
  auto Source = parseSourceFile(File, P.Options);
  if (!Source)
    return Source.takeError();
  P.Source = std::move(*Source);
  noteErrors(*P.Source);
  P.Callers = findCallers(*P.Source, P.Options);
  for (const auto &Caller : P.Callers)
    llvm::errs() << "note: launches are also looked for in " << Caller->path()
                 << "\n";
  std::vector<std::string> Notes;
  P.WithInstances = makeInstances(*P.Source, P.Callers, P.Options, Notes);
  note(Notes);
  return P;
}

/// The entry that is drafted where nobody names one; which it is, is told.
static std::string chooseEntry(const Drafter &Drafts) {
  std::vector<std::string> Names = Drafts.entries();
  if (!Entry.empty() || Names.empty())
    return Entry;
  std::string Chosen = Names.front();
  Names.erase(Names.begin());
  if (!Names.empty())
    llvm::errs() << "note: the entry is " << Chosen
                 << "; --entry picks another of " << llvm::join(Names, ", ")
                 << "\n";
  return Chosen;
}

static llvm::Expected<Model> openModel() {
  llvm::Expected<ProviderSpec> Spec =
      parseProviderSpec(Shared.Provider, Shared.Models);
  if (!Spec)
    return Spec.takeError();
  if (Spec->Of == ProviderSpec::Kind::Rules ||
      Spec->Of == ProviderSpec::Kind::Replay)
    return usageError("--provider: got '" + Shared.Provider +
                      "', wanted a model, or exchange:DIR");
  llvm::Expected<std::unique_ptr<ChatClient>> Client =
      makeAnsweringClient(*Spec, Shared.answering(), machineClock());
  if (!Client)
    return Client.takeError();
  llvm::Expected<Prompt> Asks = loadDraftPrompt(promptsFolder());
  if (!Asks)
    return Asks.takeError();
  return Model{std::move(*Client), std::move(*Asks)};
}

/// What a model made of a draft, and where its call is.
static llvm::Error writeModels(const ModelDraft &Made) {
  if (Made.Call.empty())
    return write(Output, Made.Workload);
  std::string Into = callFile();
  if (Into.empty()) {
    llvm::errs() << "note: the workload is of this file, which -o writes as "
                 << callName(File) << ":\n"
                 << visibleText(Made.Call) << "\n";
    return write(Output, Made.Workload);
  }
  if (llvm::Error E = writeFileAtomically(Into, callFor(Made.Call, File, Into)))
    return E;
  llvm::errs() << "note: the workload is of " << Into
               << ", which calls the source: give that to simulate and "
                  "optimize, with --workload\n";
  return write(Output, Made.Workload);
}

/// Asks \p Of about the draft of an entry, or about why there is none.
static llvm::Error askModel(const Program &P, Drafter *Drafts,
                            const std::string &WhyNone, const Model &Of) {
  for (const std::string &Into : {Output.getValue(), callFile()})
    if (llvm::Error E = checkNew(Into))
      return E;
  ModelDraftRequest Request{{*P.Source, P.Callers, P.Options, ""}};
  DraftQuestion &Q = Request.Question;
  Q.IsFixed = !Entry.empty();
  Q.Entry = Drafts ? chooseEntry(*Drafts) : Entry;
  Q.WhyNone = WhyNone;
  Request.Rounds = Rounds;
  Request.Prove = !NoProve;
  Request.Judge = judging(P.Options);
  Request.OnNote = [](const std::string &Note) { note({Note}); };
  std::unique_ptr<Draft> Own;
  if (Drafts && Q.Entry.empty())
    Q.WhyNone = "the file defines no entry";
  else if (Drafts) {
    llvm::Expected<std::unique_ptr<Draft>> D = Drafts->draft(Q.Entry);
    if (D)
      Own = std::move(*D);
    else
      Q.WhyNone = llvm::toString(D.takeError());
  }
  if (Own && isTensorEntry(Own->entry()))
    return usageError("--provider: '" + Q.Entry +
                      "' takes tensors, of which no model is asked");
  if (Own) {
    llvm::Expected<DraftProof> Proof = prove(*Own, P.Options);
    if (!Proof)
      return Proof.takeError();
    Q.Of = &Own->entry();
    Q.Draft = Own->text(Proof->Form, DraftSizes::All);
    Q.Notes = Own->Notes;
    Q.Found = Proof->Found;
    Request.FoundFault = !Proof->Proved && !Proof->Found.empty();
  }
  watchInterrupts();
  CallControl Control;
  Control.Cancelled = &interruptFlag();
  llvm::Expected<ModelDraft> Made =
      draftWithModel(Request, Of.Asks, *Of.Client, Control);
  if (!Made)
    return withContext(Made.takeError(), "no draft is written");
  bool Passed = !Made->Workload.empty();
  if (!Passed)
    note(Q.Notes);
  note(Made->Notes);
  if (Passed)
    return writeModels(*Made);
  if (!Own)
    return usageError(Q.WhyNone);
  llvm::errs() << "note: this is the tool's own draft\n";
  return write(Output, Q.Draft);
}

static llvm::Error checkFlags() {
  if (All && (!Entry.empty() || !Output.empty()))
    return usageError("--all: got --entry or -o beside it, wanted neither");
  if (All && !Shared.Provider.empty())
    return usageError("--all: got --provider beside it, wanted one entry");
  if (Rounds.given() && Shared.Provider.empty())
    return usageError("--rounds: got no --provider, wanted who is asked");
  return tool::checkRange(Rounds, 1, 20);
}

static llvm::Error run(const std::vector<std::string> &Flags) {
  ParseOptions Options;
  Options.Flags = Flags;
  Options.Toolkit = CudaPath;
  if (!Check.empty())
    return checkOne(Options);
  if (llvm::Error E = checkFlags())
    return E;
  // What is wrong with a key is said before minutes are spent.
  std::optional<Model> Asked;
  if (!Shared.Provider.empty()) {
    llvm::Expected<Model> Opened = openModel();
    if (!Opened)
      return Opened.takeError();
    Asked = std::move(*Opened);
  }
  llvm::Expected<Program> P = readProgram(Options);
  if (!P)
    return P.takeError();
  llvm::Expected<std::unique_ptr<Drafter>> Drafts = makeDrafter(
      P->WithInstances ? *P->WithInstances : *P->Source, P->Callers);
  if (!Drafts && Asked)
    return askModel(*P, nullptr, llvm::toString(Drafts.takeError()), *Asked);
  if (!Drafts)
    return Drafts.takeError();
  if (Asked)
    return askModel(*P, Drafts->get(), "", *Asked);
  if (All)
    return draftAll(**Drafts, P->Options);
  return draftOne(**Drafts, chooseEntry(**Drafts), Output, P->Options);
}

static const tool::Verb Registered(Command, run);
