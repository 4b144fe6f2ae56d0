//===- HostedRun.cpp - A call whose host code runs elsewhere --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   StartCall -> stark-sim-host -> messages -> profile, how it ended
///
//===----------------------------------------------------------------------===//

#include "HostedRun.h"
#include "HostProcess.h"
#include "HostRuntime.h"
#include "Model/Model.h"
#include "stark/Posix/Lockdown.h"
#include "llvm/Demangle/Demangle.h"
#include <csignal>
#include <cstring>
#include <sys/wait.h>

using namespace stark;
using namespace stark::sim;
using namespace stark::simhost;

namespace {
class HostedRun {
public:
  HostedRun(const CallSpec &Spec, const GpuDescription &Gpu,
            const RunHooks &Hooks, RunProfile &Into, Report &Told)
      : Spec(Spec), Gpu(Gpu), Hooks(Hooks), Into(Into), Told(Told) {}
  void run();

private:
  void end(Report::Status What, const std::string &Text) {
    Told.What = What;
    setText(Told.Text, Text);
  }
  /// False after the last message.
  bool take(HostMessage &M);
  bool answer(const Answer &A) {
    return sendRecord(Messages, &A, sizeof(A)) || true;
  }
  int launch(const HostMessage &M);
  /// Does this process see it, too?
  bool isShared(uint64_t Address, uint64_t Bytes) const {
    const SharedMemory &S = Spec.Arguments->shared();
    return Address >= S.Address && Bytes <= S.Bytes &&
           Address - S.Address <= S.Bytes - Bytes;
  }
  static char *pointer(uint64_t Address) {
    return reinterpret_cast<char *>(Address);
  }
  void addOperator(const HostMessage &M);
  void tellDeath(int Fate);
  void serve(int Fate);

  const CallSpec &Spec;
  const GpuDescription &Gpu;
  const RunHooks &Hooks;
  RunProfile &Into;
  Report &Told;
  Machine *On = nullptr;
  int Messages = -1;
  std::vector<OperatorProfile> Operators;
};
constexpr int InvalidDeviceFunction = 98; // cudaErrorInvalidDeviceFunction
} // namespace

/// A cudaError_t.
int HostedRun::launch(const HostMessage &M) {
  auto Known = On->KernelOfName->find(M.Name);
  if (Known == On->KernelOfName->end())
    return InvalidDeviceFunction;
  const Kernel &K = On->Kernels[Known->second];
  // How a struct is passed is between each compiler and itself.
  bool Same = M.Count == K.ParameterBytes.size();
  uint64_t At = 0;
  for (unsigned I = 0; Same && I < M.Count && I < MostParameters; ++I) {
    At = (At + 15) / 16 * 16;
    Same = M.Sizes[I] == K.ParameterBytes[I] && At == K.ParameterOffsets[I];
    At += M.Sizes[I];
  }
  if (!Same || At > sizeof(M.Data)) {
    Hooks.OnUnsupported({UnsupportedKind::Function,
                         "a launch beside tensors of kernel " + K.Name +
                             ", which takes a struct by value"});
    return InvalidDeviceFunction;
  }
  std::vector<char> Closure(K.ClosureBytes + 64);
  char *Begin = Closure.data() +
                (64 - reinterpret_cast<uintptr_t>(Closure.data()) % 64) % 64;
  std::memcpy(Begin, M.Data, At);
  return On->launch(Known->second, Begin,
                    {{M.Grid[0], M.Grid[1], M.Grid[2]},
                     {M.Block[0], M.Block[1], M.Block[2]},
                     M.Bytes});
}

void HostedRun::addOperator(const HostMessage &M) {
  OperatorProfile P;
  P.Name = M.Name;
  P.Bytes = double(M.Bytes);
  P.Flops = M.Flops;
  P.ElementBytes = M.ElementBytes;
  P.TimeUs = modelOperator(P, Gpu);
  Operators.push_back(std::move(P));
}

bool HostedRun::take(HostMessage &M) {
  M.Name[sizeof(M.Name) - 1] = 0;
  switch (M.What) {
  case HostEvent::Operator:
    addOperator(M);
    return true;
  case HostEvent::Allocation:
    if (!isShared(M.Address, M.Bytes))
      break;
    On->adopt(pointer(M.Address), M.Bytes, "", 1, /*Holds=*/false);
    return true;
  case HostEvent::Release:
    On->release(pointer(M.Address));
    return true;
  case HostEvent::Written:
    On->markWritten(pointer(M.Address), M.Bytes);
    return true;
  case HostEvent::Attribute:
    return answer({0, deviceAttribute(Gpu, M.Value)});
  case HostEvent::Launch:
    return answer({launch(M), 0});
  case HostEvent::AllowShared: {
    auto Known = On->KernelOfName->find(M.Name);
    return answer({Known == On->KernelOfName->end()
                       ? InvalidDeviceFunction
                       : allowShared(*On, Known->second, M.Value),
                   0});
  }
  case HostEvent::Copy:
    return answer(
        {beginCopy(*On, pointer(M.Address), pointer(M.From), M.Bytes), 0});
  case HostEvent::Set:
    return answer({beginSet(*On, pointer(M.Address), M.Bytes), 0});
  case HostEvent::Done:
    end(Report::Done, M.Name);
    return false;
  case HostEvent::Threw:
    end(Report::Stopped,
        std::string("the entry threw an exception: ") + M.Name);
    return false;
  case HostEvent::BadResult:
    end(Report::BadResult, std::string("what the entry returned cannot be "
                                       "used: ") +
                               M.Name);
    return false;
  case HostEvent::NotLoaded:
    Hooks.OnUnsupported({UnsupportedKind::HostSymbol, llvm::demangle(M.Name)});
    return false;
  case HostEvent::Infrastructure:
    end(Report::NotRun, M.Name);
    return false;
  }
  end(Report::Stopped, "the host code of the entry sent what makes no sense");
  return false;
}

/// The fork is gone without a last message.
void HostedRun::tellDeath(int Fate) {
  int How = 0;
  if (!receiveRecord(Fate, &How, sizeof(How)))
    return end(Report::NotRun, "the process that has libtorch ended: it cannot "
                               "be loaded, or there is no memory");
  if (WIFSIGNALED(How))
    return end(Report::Stopped,
               std::string("the host code of the entry crashed: ") +
                   strsignal(WTERMSIG(How)));
  end(Report::Stopped, "the entry ended the process with exit code " +
                           std::to_string(WEXITSTATUS(How)));
}

void HostedRun::run() {
  StartCall Start;
  setText(Start.Library, Spec.Of->Library);
  Start.Reference = Spec.Reference;
  Start.Memory = Spec.Arguments->shared();
  std::optional<HostedCall> Call =
      Spec.Host->begin(Start, Spec.Arguments->memoryFile());
  if (!Call)
    return end(Report::NotRun, "the process that has libtorch is gone");
  posix::lockDown({"/"});
  Messages = Call->Messages;
  Into = Program::runWith(
      Spec.Of->Kernels.get(),
      [&](Machine &M) {
        On = &M;
        serve(Call->Fate);
      },
      Gpu, Spec.Mode, Spec.Arguments->buffers(), Hooks);
  Into.Operators = std::move(Operators);
}

void HostedRun::serve(int Fate) {
  HostMessage M;
  while (receiveRecord(Messages, &M, sizeof(M)))
    if (!take(M))
      return;
  tellDeath(Fate);
}

void sim::runHosted(const CallSpec &Spec, const GpuDescription &Gpu,
                    const RunHooks &Hooks, RunProfile &Into, Report &Told) {
  HostedRun(Spec, Gpu, Hooks, Into, Told).run();
}
