//===- CompilerOutput.cpp - What nvcc says, for a programmer -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Line by line; a message is an error line and what follows it up to the
///   next.
///
//===----------------------------------------------------------------------===//

#include "CompilerOutput.h"
#include "stark/Eval/Verdict.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Demangle/Demangle.h"
#include <csignal>
#include <cstdint>
#include <vector>

using namespace stark;

namespace {
std::vector<llvm::StringRef> linesOf(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef, 64> Lines;
  Text.split(Lines, '\n', -1, false);
  return {Lines.begin(), Lines.end()};
}

bool isError(llvm::StringRef Line) {
  return Line.contains("error:") || Line.contains("error :") ||
         Line.contains(": error") || Line.contains("): error") ||
         Line.starts_with("nvcc fatal") || Line.contains("fatal error") ||
         Line.starts_with("ptxas fatal") || Line.starts_with("catastrophic") ||
         Line.contains("Internal error");
}
bool isOther(llvm::StringRef Line) {
  return Line.contains("warning") || Line.starts_with("ptxas info") ||
         Line.contains("Remark:") || Line.contains(": note:");
}

/// The number that stands before \p Word, 0 when there is none.
uint64_t numberBefore(llvm::StringRef Line, llvm::StringRef Word) {
  size_t At = Line.find(Word);
  if (At == llvm::StringRef::npos)
    return 0;
  llvm::StringRef Before = Line.take_front(At).rtrim();
  size_t Digits = Before.find_last_not_of("0123456789");
  uint64_t Value = 0;
  Before.drop_front(Digits == llvm::StringRef::npos ? 0 : Digits + 1)
      .getAsInteger(10, Value);
  return Value;
}

/// "k<&silu(float)>" of "k<&silu(float)>(float const*, int)".
std::string kernelName(llvm::StringRef Mangled) {
  std::string Name = llvm::demangle(Mangled);
  llvm::StringRef Short = Name;
  Short.consume_front("void ");
  for (size_t At;
       (At = Short.find("(anonymous namespace)::")) != llvm::StringRef::npos;) {
    Name = (Short.take_front(At) + Short.drop_front(At + 23)).str();
    Short = Name;
  }
  unsigned Depth = 0;
  for (size_t I = Short.size(); I-- > 0;) {
    Depth += Short[I] == ')';
    if (Short[I] == '(' && --Depth == 0)
      return Short.take_front(I).str();
    if (Depth == 0)
      break;
  }
  return Short.str();
}
} // namespace

std::string stark::compilerErrors(llvm::StringRef Said) {
  std::string Out;
  llvm::StringSet<> Seen;
  bool Inside = false;
  for (llvm::StringRef Line : linesOf(Said)) {
    if (isError(Line))
      Inside = Seen.insert(Line).second;
    else if (isOther(Line))
      Inside = false;
    if (Inside)
      Out += (Line + "\n").str();
  }
  return Out.empty() ? Said.str() : Out;
}

std::string stark::linkerErrors(llvm::StringRef Said) {
  std::string Out;
  llvm::StringSet<> Seen;
  for (llvm::StringRef Line : linesOf(Said)) {
    size_t At = Line.find("undefined reference to");
    if (At == llvm::StringRef::npos)
      At = Line.find("multiple definition of");
    if (At == llvm::StringRef::npos)
      continue;
    llvm::StringRef Short = Line.drop_front(At);
    if (Seen.insert(Short).second)
      Out += (Short + "\n").str();
  }
  return Out.empty() ? Said.str() : Out;
}

/// Of a line that begins what ptxas says of a kernel, its symbol; else empty.
static llvm::StringRef compiledKernel(llvm::StringRef Line) {
  return Line.contains("Compiling entry function")
             ? Line.split('\'').second.split('\'').first
             : llvm::StringRef();
}

llvm::StringSet<> stark::compiledKernels(llvm::StringRef Said) {
  llvm::StringSet<> Symbols;
  for (llvm::StringRef Line : linesOf(Said))
    if (llvm::StringRef Symbol = compiledKernel(Line); !Symbol.empty())
      Symbols.insert(Symbol);
  return Symbols;
}

namespace {
struct Compiled {
  sim::KernelResources Kernel;
  bool TellsSpills = false;
};
} // namespace

static std::vector<Compiled> kernelsIn(llvm::StringRef Said) {
  std::vector<Compiled> All;
  Compiled Now;
  sim::KernelResources &K = Now.Kernel;
  for (llvm::StringRef Line : linesOf(Said)) {
    if (llvm::StringRef Symbol = compiledKernel(Line); !Symbol.empty()) {
      Now = {};
      K.Symbol = Symbol.str();
    } else if (Line.contains("bytes spill stores")) {
      K.SpillStoreBytes = numberBefore(Line, "bytes spill stores");
      K.SpillLoadBytes = numberBefore(Line, "bytes spill loads");
      K.StackBytes = numberBefore(Line, "bytes stack frame");
      Now.TellsSpills = true;
    } else if (Line.contains("Used ") && !K.Symbol.empty()) {
      K.Registers = unsigned(numberBefore(Line, "registers"));
      K.SharedBytes = numberBefore(Line, "bytes smem");
      All.push_back(Now);
      Now = {};
    }
  }
  return All;
}

static std::string describeSpills(const Compiled &C) {
  const sim::KernelResources &K = C.Kernel;
  if (!C.TellsSpills)
    return "spills unknown";
  if (K.SpillStoreBytes + K.SpillLoadBytes)
    return std::to_string(K.SpillStoreBytes) + " bytes of spill stores, " +
           std::to_string(K.SpillLoadBytes) + " of spill loads";
  return "no spills" +
         (K.StackBytes ? ", " + std::to_string(K.StackBytes) + " bytes of stack"
                       : "");
}

std::string stark::describeResources(llvm::StringRef Said) {
  std::string Out;
  for (const Compiled &C : kernelsIn(Said))
    Out += kernelName(C.Kernel.Symbol) + ": " +
           std::to_string(C.Kernel.Registers) + " registers, " +
           std::to_string(C.Kernel.SharedBytes) +
           " bytes of static shared memory, " + describeSpills(C) + "\n";
  return Out;
}

sim::ResourceTable stark::resourcesIn(llvm::StringRef Said) {
  sim::ResourceTable Table;
  for (Compiled &C : kernelsIn(Said))
    Table.Kernels.push_back(std::move(C.Kernel));
  return Table;
}

std::map<std::string, unsigned> stark::registersOf(const Verdict &V) {
  std::map<std::string, unsigned> Least;
  for (llvm::StringRef Line : linesOf(V.Compiler)) {
    size_t End = Line.find(" registers, ");
    llvm::StringRef Before = Line.take_front(End);
    auto [Name, Digits] = Before.rsplit(": ");
    unsigned Registers = 0;
    if (End == llvm::StringRef::npos || Digits.getAsInteger(10, Registers))
      continue;
    Name = Name.split('<').first;
    if (size_t Colons = Name.rfind("::"); Colons != llvm::StringRef::npos)
      Name = Name.drop_front(Colons + 2);
    auto [At, First] = Least.try_emplace(Name.str(), Registers);
    At->second = std::min(At->second, Registers);
  }
  return Least;
}

bool stark::isFromOutside(int Signal) {
  return Signal == SIGKILL || Signal == SIGTERM || Signal == SIGINT;
}

bool stark::compilerItselfFailed(const ProcessResult &How,
                                 llvm::StringRef Said) {
  // nvcc starts its compilers through a shell, whose exit code says that a
  // signal ended one.
  int ShellSignal = How.ExitCode > 128 ? How.ExitCode - 128 : 0;
  if (isFromOutside(How.Signal ? How.Signal : ShellSignal))
    return true;
  // For a full disk or a folder that may not be written to nvcc and the host's
  // compiler exit with 1, as they do for an error in the text, and what filled
  // the disk is gone by the time that it could be asked. So what they say is
  // all there is. These are the C library's and nvcc's own words.
  return Said.contains("No space left on device") ||
         Said.contains("cannot create temporary file") ||
         Said.contains("Could not open output file") ||
         Said.contains("Permission denied");
}
