//===- WorkloadProof.cpp - Whether a workload runs ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Eval/WorkloadProof.h"
#include "Reach.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;
namespace path = llvm::sys::path;

/// Bytes of arguments of a timed size that is run as well.
static constexpr uint64_t MostTimedBytes = uint64_t(256) << 20;

std::string stark::withoutFolderOf(std::string Text, llvm::StringRef Path) {
  std::string Prefix = path::parent_path(absolutePath(Path)).str() + "/";
  for (size_t At = 0;
       Prefix.size() > 1 && (At = Text.find(Prefix, At)) != std::string::npos;)
    Text.erase(At, Prefix.size());
  return Text;
}

std::string stark::degeneraciesIn(llvm::StringRef Run) {
  std::string Text;
  for (llvm::StringRef Line : llvm::split(Run, '\n'))
    if (Line.starts_with("degenerate ("))
      Text += (Text.empty() ? "" : "\n") + Line.str();
  return Text;
}

static uint64_t bytesOf(const std::vector<job::Leaf> &Leaves,
                        const job::Case &C) {
  uint64_t Bytes = 0;
  for (size_t I = 0; I < Leaves.size(); ++I)
    if (Leaves[I].Kind == job::LeafKind::Buffer)
      Bytes += C.Values[I].elements() * job::dtypeBytes(Leaves[I].Type);
  return Bytes;
}

namespace {
/// The size of the file that has the fewest bytes.
struct Smallest {
  size_t Index = 0;
  uint64_t Bytes = ~uint64_t(0);
};
} // namespace

/// What is wrong with the sizes of \p T; empty: nothing.
static std::string checkBytes(const Task &T, Smallest &Found) {
  llvm::Expected<std::vector<job::Case>> Cases = makeCases(T);
  if (!Cases)
    return llvm::toString(Cases.takeError());
  std::vector<job::Leaf> Leaves = makeLeaves(T);
  for (const job::Case &C : *Cases)
    if (uint64_t Bytes = bytesOf(Leaves, C); Bytes > MostWorkloadBytes)
      return "size '" + C.Label + "' has arguments of " +
             std::to_string(Bytes >> 20) + " MiB, wanted at most " +
             std::to_string(MostWorkloadBytes >> 20) + " MiB in all";
  for (size_t I = 0; I < T.Load.Sizes.size(); ++I)
    for (const job::Case &C : *Cases)
      if (!C.Added && !C.Brief && C.Label == T.Load.Sizes[I].label())
        if (uint64_t Bytes = bytesOf(Leaves, C); Bytes < Found.Bytes)
          Found = {I, Bytes};
  if (Found.Bytes > MostProofBytes && !T.Load.Sizes.empty())
    return "its smallest size, '" + T.Load.Sizes[Found.Index].label() +
           "', has arguments of " + std::to_string(Found.Bytes >> 20) +
           " MiB; wanted one with \"check_only\" of less than " +
           std::to_string(MostProofBytes >> 20) +
           " MiB, which is run in the simulator";
  return "";
}

/// The workload with these of its sizes alone, timed.
static std::string withSizes(llvm::StringRef Text,
                             llvm::ArrayRef<size_t> Which) {
  ordered_json Root =
      ordered_json::parse(Text.begin(), Text.end(), nullptr, false, true);
  ordered_json Sizes = ordered_json::array();
  for (size_t I : Which) {
    Sizes.push_back(Root["sizes"][I]);
    Sizes.back().erase("check_only");
  }
  Root["sizes"] = std::move(Sizes);
  return Root.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

namespace {
class Prover {
public:
  Prover(llvm::StringRef SourcePath, const ParseOptions &Parse,
         const EvaluatorOptions &Options, TemporaryFolder Folder)
      : SourcePath(SourcePath), Parse(Parse), Options(Options),
        Folder(std::move(Folder)) {}

  llvm::Expected<WorkloadProof> run(llvm::StringRef Text, bool Run);

private:
  llvm::Expected<Task> load(llvm::StringRef Text) {
    if (llvm::Error E =
            writeFileAtomically(workloadPath(), Text, /*Flush=*/false))
      return E;
    return loadTask(SourcePath, workloadPath(), Parse);
  }
  std::string workloadPath() const {
    return (Folder.path() + "/workload.json").str();
  }
  std::string plain(std::string Text) const {
    return withoutFolderOf(withoutFolderOf(std::move(Text), workloadPath()),
                           SourcePath);
  }
  llvm::Expected<Verdict> judge(const Task &T) const;
  llvm::Error reach(const Task &T, WorkloadProof &Proof) const;
  llvm::Error runTimed(llvm::StringRef Text, const Task &Whole,
                       WorkloadProof &Proof);

  const std::string SourcePath;
  const ParseOptions &Parse;
  const EvaluatorOptions &Options;
  const TemporaryFolder Folder;
};
} // namespace

/// Runs the sizes of \p T.
llvm::Expected<Verdict> Prover::judge(const Task &T) const {
  llvm::Expected<std::unique_ptr<Evaluator>> Judge =
      makeSimEvaluator(T, "h200", Options);
  if (!Judge)
    return Judge.takeError();
  Candidate C;
  C.Seed = 1;
  C.Text = T.SourceText;
  llvm::Expected<Verdict> V = (*Judge)->evaluate(C);
  if (V) {
    V->Run = plain(V->Run);
    V->Compiler = plain(V->Compiler);
    return V;
  }
  // What keeps the simulator from its end is the workload's fault or the
  // source's, unless the user wants to stop.
  llvm::Error E = V.takeError();
  if (errorKind(E) != ErrorKind::Failed)
    return E;
  Verdict Not;
  Not.Kind = VerdictKind::Unsupported;
  Not.Run = plain(llvm::toString(std::move(E)));
  return Not;
}

/// What \p T, which is correct, reads and writes.
llvm::Error Prover::reach(const Task &T, WorkloadProof &Proof) const {
  for (bool SameValues : {false, true}) {
    llvm::Expected<std::optional<WholeArguments>> Whole =
        reachOfSource(T, SameValues, Options);
    if (!Whole)
      return Whole.takeError();
    if (!*Whole) {
      // With one value throughout it need not come to an end.
      if (Proof.Seen)
        Proof.Seen->Read.clear(), Proof.Seen->Written.clear();
      break;
    }
    if (!Proof.Seen) {
      Proof.Seen = **Whole;
      continue;
    }
    auto Keep = [](std::set<std::string> &Of, const std::set<std::string> &In) {
      std::erase_if(Of, [&](const std::string &N) { return !In.count(N); });
    };
    Keep(Proof.Seen->Read, (*Whole)->Read);
    Keep(Proof.Seen->Written, (*Whole)->Written);
  }
  return llvm::Error::success();
}

/// Runs the timed sizes of \p Whole, of large ones a sample of blocks: what is
/// found there is what was found.
llvm::Error Prover::runTimed(llvm::StringRef Text, const Task &Whole,
                             WorkloadProof &Proof) {
  llvm::Expected<std::vector<job::Case>> Cases = makeCases(Whole);
  if (!Cases)
    return Cases.takeError();
  std::vector<job::Leaf> Leaves = makeLeaves(Whole);
  std::vector<size_t> Timed;
  std::string Labels;
  for (size_t I = 0; I < Whole.Load.Sizes.size(); ++I) {
    std::string Label = Whole.Load.Sizes[I].label();
    auto C = llvm::find_if(*Cases, [&](const job::Case &Each) {
      return Each.Timed && Each.Label == Label;
    });
    if (Label == Proof.SizeRun || C == Cases->end() ||
        bytesOf(Leaves, *C) > MostTimedBytes)
      continue;
    Timed.push_back(I);
    Labels += (Labels.empty() ? "" : "; ") + Label;
  }
  if (Timed.empty())
    return llvm::Error::success();
  ordered_json Root = ordered_json::parse(withSizes(Text, Timed));
  Root["added_sizes"] = false;
  llvm::Expected<Task> T = load(Root.dump());
  if (!T)
    return T.takeError();
  llvm::Expected<Verdict> V = judge(*T);
  if (!V)
    return V.takeError();
  // What takes too long or cannot be run there says nothing of the workload.
  if (V->Kind != VerdictKind::Crashed && V->Kind != VerdictKind::Wrong &&
      V->Kind != VerdictKind::Unstable)
    return llvm::Error::success();
  Proof.Found = std::move(*V);
  Proof.SizeRun = Labels;
  return llvm::Error::success();
}

llvm::Expected<WorkloadProof> Prover::run(llvm::StringRef Text, bool Run) {
  WorkloadProof Proof;
  auto Misfit = [&](llvm::Error E) -> llvm::Expected<WorkloadProof> {
    if (ErrorKind K = errorKind(E);
        K == ErrorKind::Interrupted || K == ErrorKind::Suspended)
      return E;
    Proof.Misfit = plain(llvm::toString(std::move(E)));
    return std::move(Proof);
  };
  llvm::Expected<Task> Whole = load(Text);
  if (!Whole)
    return Misfit(Whole.takeError());
  Smallest Least;
  Proof.Misfit = plain(checkBytes(*Whole, Least));
  if (!Proof.Misfit.empty() || !Run)
    return Proof;
  Proof.SizeRun = Whole->Load.Sizes[Least.Index].label();
  llvm::Expected<Task> One = load(withSizes(Text, Least.Index));
  if (!One)
    return Misfit(One.takeError());
  llvm::Expected<Verdict> V = judge(*One);
  if (!V)
    return V.takeError();
  Proof.Found = std::move(*V);
  if (!Proof.Found->correct())
    return Proof;
  if (llvm::Error E = reach(*One, Proof))
    return E;
  if (llvm::Error E = runTimed(Text, *Whole, Proof))
    return E;
  return Proof;
}

llvm::Expected<WorkloadProof>
stark::proveWorkload(llvm::StringRef Text, llvm::StringRef SourcePath,
                     const ParseOptions &Parse, const EvaluatorOptions &Options,
                     bool Run) {
  llvm::Expected<TemporaryFolder> Folder =
      TemporaryFolder::create("stark-workload");
  if (!Folder)
    return Folder.takeError();
  return Prover(SourcePath, Parse, Options, std::move(*Folder)).run(Text, Run);
}
