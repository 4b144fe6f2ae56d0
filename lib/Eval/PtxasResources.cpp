//===- PtxasResources.cpp - What ptxas gives the kernels of a text --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxasResources.h"
#include "CompilerOutput.h"
#include "HostFlags.h"
#include "stark/AST/Toolkit.h"
#include "stark/AST/Torch.h"
#include "stark/Sim/Gpu.h"
#include "stark/Support/Digest.h"
#include "stark/Support/Process.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>

using namespace stark;

/// The machine's, until everything is late.
class PtxasResources::EndingClock : public Clock {
public:
  Clock::Time now() override {
    return machineClock().now() +
           (Ended ? std::chrono::hours(1000) : std::chrono::hours(0));
  }
  void sleep(Duration For) override { machineClock().sleep(For); }
  void end() { Ended = true; }

private:
  std::atomic<bool> Ended{false};
};

namespace {
/// One text, in a folder of its own.
struct Compilation {
  ProcessSpec Spec;
  std::string Folder, File, Text;
  Clock *Time;

  sim::ResourceTable run() const;
};
} // namespace

/// What does not compile leaves no kernels, and the estimate stands.
sim::ResourceTable Compilation::run() const {
  TraceScope Traced("ptxas");
  if (llvm::Error E = writeFileAtomically(File, Text)) {
    llvm::consumeError(std::move(E));
    return {};
  }
  ProcessResult How;
  std::string Problem;
  bool Ran =
      posix::runProcess(Spec, *Time, How, Problem) == posix::Ran::ToAnEnd;
  (void)llvm::sys::fs::remove_directories(Folder);
  return Ran && How.ok() ? resourcesIn(How.Out + How.Err)
                         : sim::ResourceTable();
}

/// What nvcc is to compile for: the architecture that \p Arch says as \p Gpu
/// would have it, whose own machine code this is where it can run it.
static std::string targetFor(llvm::StringRef Arch,
                             const sim::GpuDescription &Gpu) {
  sim::GpuDescription Asked;
  Asked.Arch = Arch.str();
  // Code for one architecture alone (sm_90a) is for no other.
  bool Alone = Arch.empty() || Arch.back() < '0' || Arch.back() > '9';
  if (!Arch.empty() && (Alone || Arch == Gpu.Arch ||
                        Gpu.computeCapability() < Asked.computeCapability()))
    return ("-arch=" + Arch).str();
  llvm::StringRef Number = Arch.empty() ? llvm::StringRef(Gpu.Arch) : Arch;
  Number.consume_front("sm_");
  return ("-gencode=arch=compute_" + Number + ",code=" + Gpu.Arch).str();
}

PtxasResources::PtxasResources(const Task &Of, llvm::StringRef Gpu,
                               const BuildOptions &Options)
    : Of(Of), Options(Options), Time(std::make_unique<EndingClock>()) {
  llvm::Expected<sim::GpuDescription> Which = sim::describeGpu(Gpu);
  std::optional<Toolkit> Cuda = findToolkit(Options.Toolkit);
  // A GPU that is not there is told by who simulates it.
  if (!Which) {
    llvm::consumeError(Which.takeError());
    return;
  }
  Target = targetFor(Options.Arch, *Which);
  if (Cuda)
    Nvcc = Cuda->Nvcc;
}

PtxasResources::~PtxasResources() { Time->end(); }

uint64_t PtxasResources::waitMs() const {
  constexpr uint64_t ToWriteMs = 10000;
  return Options.TimeoutMs + ToWriteMs;
}

static std::vector<std::string> torchIncludes(const Task &Of,
                                              llvm::StringRef Text) {
  std::vector<std::string> Flags;
  if (!Text.contains("#include <c10/"))
    return Flags;
  llvm::Expected<posix::Libtorch> Torch = torchFor(Of.Parse);
  if (!Torch) {
    llvm::consumeError(Torch.takeError());
    return Flags;
  }
  for (const std::string &Include : Torch->Includes)
    Flags.insert(Flags.end(), {"-isystem", Include});
  return Flags;
}

llvm::Expected<std::string> PtxasResources::begin(llvm::StringRef Text) {
  std::lock_guard Lock(Guard);
  if (!Folder) {
    llvm::Expected<TemporaryFolder> Made =
        TemporaryFolder::create("stark-ptxas");
    if (!Made)
      return Made.takeError();
    Folder = std::make_unique<TemporaryFolder>(std::move(*Made));
  }
  std::string Work = (Folder->path() + "/" + sha256(Text)).str(),
              Answer = Work + ".json";
  std::future<void> &Place = Begun[Answer];
  if (Place.valid())
    return Answer;
  if (llvm::Error E = createFolders(Work))
    return E;
  Compilation C;
  C.Folder = Work;
  C.File = (Work + "/" + llvm::sys::path::filename(Of.SourcePath)).str();
  C.Text = Text.str();
  C.Time = Time.get();
  C.Spec.Program = Nvcc;
  C.Spec.TimeoutMs = Options.TimeoutMs;
  C.Spec.MemoryLimit = Options.MemoryLimit;
  C.Spec.WorkingFolder = Of.Parse.Folder;
  C.Spec.Environment = environmentWithin(Work);
  C.Spec.Arguments = nvccFlagsOf(Of.NvccFlags);
  std::vector<std::string> Torch = torchIncludes(Of, Text);
  C.Spec.Arguments.insert(C.Spec.Arguments.end(), Torch.begin(), Torch.end());
  std::string Home = llvm::sys::path::parent_path(Of.SourcePath).str();
  C.Spec.Arguments.insert(C.Spec.Arguments.end(),
                          {Target, "-cubin", "-Xptxas", "-v", "-o", "/dev/null",
                           "-Xcompiler", "-iquote," + pathForHost(Home, Work),
                           C.File});
  Place = std::async(std::launch::async, [C = std::move(C), Answer] {
    llvm::consumeError(
        writeFileAtomically(Answer, sim::printResources(C.run())));
  });
  return Answer;
}
