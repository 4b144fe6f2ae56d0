//===- main.cpp - stark-cache, the build step's look-up ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + workload + store -> generated source + depfile + stamp
/// Starts in milliseconds: links no Clang, starts no process on a hit. On a
/// miss it becomes `stark-tool build` when the mode allows a search and there
/// is one, else the source goes through as it is, with one warning.
///
//===----------------------------------------------------------------------===//

#include "stark/Cache/BuildStep.h"
#include "stark/Cache/CompileStep.h"
#include "stark/Cache/Counters.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace stark;
namespace cl = llvm::cl;

static cl::OptionCategory Category("stark-cache options");
static cl::SubCommand LookupCommand(
    "lookup", "Put a source's winner, or the source itself, where a build "
              "wants it\n\n"
              "  stark-cache lookup FILE.cu --workload W --output OUT.cu "
              "--arch sm_NN\n"
              "              --toolkit-version V [flags]\n\n"
              "The build step behind stark_optimize_kernels(). With several "
              "--workload a winner\n"
              "of each is written, which is taken where it was proved. "
              "Folders are looked through in\n"
              "the order of --store, then the user's cache "
              "($STARK_CACHE_DIR,\n"
              "$XDG_CACHE_HOME/stark, ~/.cache/stark), then the remote of "
              "$STARK_REMOTE, from\n"
              "which a winner comes into the user's cache. OUT.cu is "
              "written only when it\n"
              "changes.\n\n"
              "Exit codes: 0 done, with a winner or the source as it is; 1 "
              "failed; 2 usage;\n"
              "75 the search is suspended: run the same again later.");
static cl::SubCommand
    VerifyCommand("verify",
                  "Look at every entry of a store\n\n"
                  "  stark-cache verify DIR\n\n"
                  "Prints how many entries there are and names the damaged "
                  "ones. For the tests of\n"
                  "a project that commits its store.\n\n"
                  "Exit codes: 0 all are whole, 1 one is damaged or DIR is no "
                  "folder, 2 usage.");

static cl::SubCommand StatsCommand(
    "stats", "Show what became of look-ups\n\n"
             "  stark-cache stats\n\n"
             "Counts of the user's cache folder, of all builds since it was "
             "made: look-ups\n"
             "with and without a winner, and what a remote gave and "
             "failed.\n\n"
             "Exit codes: 0 done, 1 there is no cache folder, 2 usage.");

namespace {
template <class T> struct Flag : cl::opt<T> {
  template <class... Mods>
  Flag(llvm::StringRef Name, const Mods &...M)
      : cl::opt<T>(Name, cl::sub(LookupCommand), cl::cat(Category), M...) {}
};
} // namespace

static cl::opt<std::string> Source(cl::Positional, cl::desc("FILE.cu"),
                                   cl::Required, cl::sub(LookupCommand));
static cl::list<std::string>
    Workloads("workload",
              cl::desc("A workload of it; a winner of each is taken where it "
                       "was proved, of the first that was"),
              cl::value_desc("file"), cl::OneOrMore, cl::cat(Category),
              cl::sub(LookupCommand));
static Flag<std::string> Output("output",
                                cl::desc("Where the source to build goes"),
                                cl::value_desc("file"), cl::Required);
static Flag<std::string>
    Depfile("depfile", cl::desc("Where what it depends on goes, as a makefile"),
            cl::value_desc("file"));
static Flag<std::string>
    DepfileTarget("depfile-target",
                  cl::desc("What that file says depends (default: the stamp)"),
                  cl::value_desc("file"));
static Flag<std::string>
    Stamp("stamp", cl::desc("An empty file, written at each run that is done"),
          cl::value_desc("file"));
static cl::list<std::string> Stores("store",
                                    cl::desc("A folder of winners; in order"),
                                    cl::value_desc("dir"), cl::cat(Category),
                                    cl::sub(LookupCommand));
static cl::list<std::string>
    Archs("arch",
          cl::desc("GPU architecture; the first is the one to search for, a "
                   "winner of each is taken where it was proved"),
          cl::value_desc("sm_NN"), cl::OneOrMore, cl::cat(Category),
          cl::sub(LookupCommand));
static Flag<std::string> ToolkitVersion("toolkit-version",
                                        cl::desc("CUDA toolkit, e.g. 13.0"),
                                        cl::value_desc("version"),
                                        cl::Required);
static Flag<std::string>
    Mode("mode", cl::desc("AUTO, CACHED, SEARCH or REQUIRE (default AUTO)"),
         cl::value_desc("mode"), cl::init("AUTO"));
static Flag<std::string> FlagsFile("flags-file",
                                   cl::desc("The compiler's flags, one a line"),
                                   cl::value_desc("file"));
static Flag<bool> Explain("explain",
                          cl::desc("Say which winners there are, or why there "
                                   "is none"));
static cl::list<std::string>
    Search("search",
           cl::desc("The command that searches on a miss, one word each time, "
                    "to which the flags of this one are added; none: no "
                    "search"),
           cl::value_desc("word"), cl::cat(Category), cl::sub(LookupCommand));

static cl::SubCommand
    CompileCommand("compile",
                   "Compile, and compile the source itself when its winner "
                   "does not\n\n"
                   "  stark-cache compile -- COMPILER ARGUMENTS\n\n"
                   "A compiler launcher: stark_optimize_kernels() puts it "
                   "before the compiler. When\n"
                   "the command compiles a source that lookup wrote and fails, "
                   "it is run again\n"
                   "with the user's source, and one warning names the entry "
                   "and the error.\n\n"
                   "Exit codes: the compiler's; 1 when the mode is REQUIRE and "
                   "the winner does not\n"
                   "compile; 2 usage.");
static cl::list<std::string> Compiler(cl::Positional, cl::desc("COMPILER..."),
                                      cl::OneOrMore, cl::sub(CompileCommand));

static cl::opt<std::string> Store(cl::Positional, cl::desc("DIR"), cl::Required,
                                  cl::sub(VerifyCommand));

/// Becomes \p Words; returns only when they could not start.
static llvm::Error become(std::vector<std::string> Words) {
  std::vector<char *> Arguments;
  for (std::string &Word : Words)
    Arguments.push_back(Word.data());
  Arguments.push_back(nullptr);
  ::execvp(Arguments[0], Arguments.data());
  return failed("cannot run '" + Words[0] + "': " + std::strerror(errno));
}

static llvm::Expected<int> compile(std::vector<std::string> Words) {
  if (!namesWinner(Words))
    return become(std::move(Words));
  llvm::Expected<CompileResult> Done = compileWinner(Words);
  if (!Done)
    return Done.takeError();
  llvm::outs() << Done->Out;
  llvm::errs() << Done->Err;
  if (!Done->Warning.empty())
    llvm::errs() << "warning: STARK: " << Done->Warning << "\n";
  return Done->ExitCode;
}

/// The searching command instead of this one.
static llvm::Error becomeSearch() {
  std::vector<std::string> Words(Search.begin(), Search.end());
  Words.push_back(Source);
  auto Add = [&](const char *Name, const std::string &Value) {
    if (!Value.empty())
      Words.push_back(std::string(Name) + Value);
  };
  Add("--workload=", Workloads.front());
  for (const std::string &Workload : llvm::drop_begin(Workloads))
    Add("--more-workload=", Workload);
  Add("--output=", Output);
  Add("--depfile=", Depfile);
  Add("--depfile-target=", DepfileTarget);
  Add("--stamp=", Stamp);
  for (const std::string &Folder : Stores)
    Add("--store=", Folder);
  Add("--arch=", Archs.front());
  for (const std::string &Arch : llvm::drop_begin(Archs))
    Add("--more-arch=", Arch);
  Add("--toolkit-version=", ToolkitVersion);
  Add("--mode=", Mode);
  Add("--flags-file=", FlagsFile);
  return become(std::move(Words));
}

static llvm::Error lookup() {
  llvm::Expected<BuildMode> How = parseBuildMode(Mode);
  if (!How)
    return How.takeError();
  llvm::Expected<std::vector<std::string>> Flags = readFlagsFile(FlagsFile);
  if (!Flags)
    return Flags.takeError();
  BuildStep Step;
  Step.In = {Source, Workloads.front(), std::move(*Flags), Archs.front(),
             ToolkitVersion};
  Step.MoreWorkloads.assign(Workloads.begin() + 1, Workloads.end());
  Step.MoreArchs.assign(Archs.begin() + 1, Archs.end());
  Step.Require = *How == BuildMode::Require;
  Step.Stores.assign(Stores.begin(), Stores.end());
  Step.Output = Output;
  Step.Depfile = Depfile;
  Step.DepfileTarget = DepfileTarget;
  Step.Stamp = Stamp;
  std::string Warning;
  llvm::Expected<Lookup> Found = findHereOrRemote(Step, Warning);
  if (!Found)
    return Found.takeError();
  if (!Warning.empty())
    llvm::errs() << "warning: STARK: " << Warning << "\n";
  llvm::Expected<BuildChoice> Choice =
      chooseBuild(Step, *Found, *How, /*CanSearch=*/!Search.empty());
  if (!Choice)
    return Choice.takeError();
  if (Explain)
    for (const std::string &Line : explain(Step, *Found))
      llvm::errs() << "note: STARK: " << Line << "\n";
  if (!Choice->Warning.empty())
    llvm::errs() << "warning: STARK: " << Choice->Warning << "\n";
  switch (Choice->Does) {
  case BuildChoice::Kind::UseWinner:
    return useWinner(Step, *Found);
  case BuildChoice::Kind::Search:
    return becomeSearch();
  case BuildChoice::Kind::UseSource:
    break;
  }
  return useSource(Step, *Found);
}

static llvm::Error verify() {
  llvm::Expected<StoreCheck> Found = checkStore(Store);
  if (!Found)
    return Found.takeError();
  for (const std::string &Problem : Found->Problems)
    llvm::errs() << "error: STARK: " << Problem << "\n";
  llvm::outs() << Found->Entries << " entries, " << Found->Problems.size()
               << " damaged\n";
  if (!Found->Problems.empty())
    return failed("'" + Store + "' has damaged entries");
  return llvm::Error::success();
}

static llvm::Error stats() {
  std::string Folder = userCacheFolder();
  if (Folder.empty() || !llvm::sys::fs::is_directory(Folder))
    return failed("there is no cache folder '" + Folder + "'");
  printStats(Folder, llvm::outs());
  return llvm::Error::success();
}

static int finish(llvm::Error E) {
  int Code = exitCodeFor(E);
  llvm::handleAllErrors(std::move(E), [](const llvm::ErrorInfoBase &Info) {
    llvm::errs() << "error: STARK: " << Info.message() << "\n";
  });
  return Code;
}

static int runCompiler(std::vector<std::string> Words) {
  llvm::Expected<int> Done = compile(std::move(Words));
  return Done ? *Done : finish(Done.takeError());
}

int main(int Argc, char **Argv) {
  // As a launcher: the compiler's words are its own, "@file" among them.
  if (Argc > 3 && llvm::StringRef(Argv[1]) == "compile" &&
      llvm::StringRef(Argv[2]) == "--")
    return runCompiler({Argv + 3, Argv + Argc});
  for (cl::SubCommand *Command :
       {&LookupCommand, &VerifyCommand, &CompileCommand, &StatsCommand})
    cl::HideUnrelatedOptions(Category, *Command);
  cl::HideUnrelatedOptions(Category);
  std::string Problem;
  llvm::raw_string_ostream Stream(Problem);
  if (!cl::ParseCommandLineOptions(
          Argc, Argv,
          "Finds winners for a build, fast: no parse, no compiler, and no "
          "network but for\nwhat $STARK_REMOTE names.\n\nExit codes: 0 done, 1 "
          "failed, 2 usage, 75 suspended.\n",
          &Stream)) {
    llvm::errs() << Problem;
    return 2;
  }
  if (!LookupCommand && !VerifyCommand && !CompileCommand && !StatsCommand) {
    llvm::errs() << "error: STARK: no verb given; stark-cache --help lists "
                    "them\n";
    return 2;
  }
  if (CompileCommand)
    return runCompiler({Compiler.begin(), Compiler.end()});
  return finish(LookupCommand ? lookup() : VerifyCommand ? verify() : stats());
}
