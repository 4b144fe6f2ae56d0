//===- SymbolGate.cpp - What an object asks for from outside -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A table of names and prefixes, each with the reason that a programmer is
///   told.
///
//===----------------------------------------------------------------------===//

#include "SymbolGate.h"
#include "stark/Support/Error.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ObjectFile.h"
#include <algorithm>

using namespace stark;

namespace {
struct Rule {
  const char *Name; ///< a trailing '*' stands for any rest
  const char *Why;
};

constexpr const char *OtherStream =
    "work must stay on the stream that the entry is given";
constexpr const char *Clock = "the clock belongs to the judge";
constexpr const char *Device = "the device's settings belong to the judge";
constexpr const char *Thread = "the entry must not start threads";
constexpr const char *Process = "the entry must not start processes";
constexpr const char *Reach = "the entry must not reach beyond its arguments";
constexpr const char *Files = "the entry must not use files";
constexpr const char *Network = "the entry must not use the network";

constexpr Rule Rules[] = {{"cudaStreamCreate*", OtherStream},
                          {"cudaStreamDestroy*", OtherStream},
                          {"cudaStreamBeginCapture*", OtherStream},
                          {"cudaStreamEndCapture*", OtherStream},
                          {"cudaStreamWaitEvent*", OtherStream},
                          {"cudaStreamAddCallback", OtherStream},
                          {"cudaStreamSetAttribute*", Device},
                          {"cudaStreamAttachMemAsync*", OtherStream},
                          {"cudaGraph*", OtherStream},
                          {"cudaUserObject*", OtherStream},
                          {"cudaLaunchHostFunc*", OtherStream},
                          {"cudaEvent*", Clock},
                          {"cudaDeviceSetLimit", Device},
                          {"cudaDeviceReset", Device},
                          {"cudaDeviceSetCacheConfig", Device},
                          {"cudaDeviceSetSharedMemConfig", Device},
                          {"cudaSetDevice*", Device},
                          {"cudaInitDevice", Device},
                          {"cudaSetValidDevices", Device},
                          {"cudaCtxResetPersistingL2Cache", Device},
                          {"cudaProfiler*", Device},
                          {"cudaIpc*", Reach},
                          {"cudaImportExternal*", Reach},
                          {"cudaDeviceEnablePeerAccess", Reach},
                          {"cudaMemPool*", Reach},
                          {"cudaGetDriverEntryPoint*", Reach},
                          {"cudaGetSymbolAddress_driver*", Reach},
                          {"cudaGetExportTable", Reach},
                          {"pthread_*", Thread},
                          {"thrd_*", Thread},
                          {"_ZNSt6thread*", Thread},
                          {"_ZNSt6jthread*", Thread},
                          {"_ZSt5async*", Thread},
                          {"_ZNSt13__future_base*", Thread},
                          {"GOMP_parallel*", Thread},
                          {"timer_create", Thread},
                          {"fork", Process},
                          {"vfork", Process},
                          {"clone", Process},
                          {"system", Process},
                          {"popen", Process},
                          {"exec*", Process},
                          {"fexecve", Process},
                          {"posix_spawn*", Process},
                          {"daemon", Process},
                          {"kill", Process},
                          {"raise", Process},
                          {"ptrace", Reach},
                          {"process_vm_*", Reach},
                          {"syscall", Reach},
                          {"prctl", Reach},
                          {"ioctl", Reach},
                          {"dlopen", Reach},
                          {"dlmopen", Reach},
                          {"dlsym", Reach},
                          {"dlvsym", Reach},
                          {"dladdr*", Reach},
                          {"dl_iterate_phdr", Reach},
                          {"mmap*", Reach},
                          {"mprotect", Reach},
                          {"mremap", Reach},
                          {"shm_open", Reach},
                          {"shmget", Reach},
                          {"shmat", Reach},
                          {"memfd_create", Reach},
                          {"getenv", Reach},
                          {"secure_getenv", Reach},
                          {"setenv", Reach},
                          {"putenv", Reach},
                          {"environ", Reach},
                          {"__environ", Reach},
                          {"signal", Reach},
                          {"sigaction", Reach},
                          {"setjmp", Reach},
                          {"_setjmp", Reach},
                          {"longjmp", Reach},
                          {"atexit", Reach},
                          {"on_exit", Reach},
                          {"backtrace*", Reach},
                          {"clock_*", Clock},
                          {"clock", Clock},
                          {"gettimeofday", Clock},
                          {"time", Clock},
                          {"_ZNSt6chrono*", Clock},
                          {"open", Files},
                          {"open64", Files},
                          {"openat*", Files},
                          {"creat*", Files},
                          {"fopen*", Files},
                          {"freopen*", Files},
                          {"fdopen", Files},
                          {"read", Files},
                          {"pread*", Files},
                          {"write", Files},
                          {"pwrite*", Files},
                          {"unlink*", Files},
                          {"rename*", Files},
                          {"opendir", Files},
                          {"readlink*", Files},
                          {"_ZNSt14basic_ifstream*", Files},
                          {"_ZNSt14basic_ofstream*", Files},
                          {"_ZNSt13basic_fstream*", Files},
                          {"_ZNSt13basic_filebuf*", Files},
                          {"_ZNSt10filesystem*", Files},
                          {"socket*", Network},
                          {"connect", Network},
                          {"bind", Network},
                          {"send*", Network},
                          {"recv*", Network},
                          {"getaddrinfo", Network},
                          {"gethostby*", Network}};

bool matches(llvm::StringRef Import, llvm::StringRef Pattern) {
  return Pattern.consume_back("*") ? Import.starts_with(Pattern)
                                   : Import == Pattern;
}

/// The runtime's exported names carry suffixes: cudaEventCreate_v2,
/// cudaLaunchKernel_ptsz.
llvm::StringRef withoutSuffix(llvm::StringRef Import) {
  for (llvm::StringRef Suffix : {"_ptsz", "_ptds"})
    Import.consume_back(Suffix);
  return Import;
}
} // namespace

std::string stark::whyForbidden(llvm::StringRef Import) {
  Import = withoutSuffix(Import);
  for (const Rule &R : Rules)
    if (matches(Import, R.Name))
      return R.Why;
  // The driver's own interface, cuStreamCreate and the like, goes around all
  // rules for the runtime's.
  if (Import.size() > 2 && Import.starts_with("cu") && Import[2] >= 'A' &&
      Import[2] <= 'Z')
    return Reach;
  return "";
}

llvm::Expected<ObjectFacts> stark::readObject(llvm::StringRef Path) {
  using namespace llvm::object;
  llvm::Expected<OwningBinary<ObjectFile>> Opened =
      ObjectFile::createObjectFile(Path);
  if (!Opened)
    return withContext(Opened.takeError(), Path);
  const ObjectFile &Object = *Opened->getBinary();
  ObjectFacts Facts;
  for (const SymbolRef &Symbol : Object.symbols()) {
    llvm::Expected<uint32_t> Flags = Symbol.getFlags();
    if (!Flags)
      return withContext(Flags.takeError(), Path);
    if (!(*Flags & SymbolRef::SF_Undefined))
      continue;
    llvm::Expected<llvm::StringRef> Name = Symbol.getName();
    if (!Name)
      return withContext(Name.takeError(), Path);
    if (!Name->empty())
      Facts.Imports.push_back(Name->str());
  }
  std::sort(Facts.Imports.begin(), Facts.Imports.end());
  for (const SectionRef &Section : Object.sections()) {
    llvm::Expected<llvm::StringRef> Name = Section.getName();
    if (!Name)
      return withContext(Name.takeError(), Path);
    if (Name->starts_with(".init_array") || Name->starts_with(".ctors") ||
        Name->starts_with(".preinit_array"))
      Facts.Initializers += unsigned(Section.getSize() / 8);
  }
  return Facts;
}

std::string stark::gate(const ObjectFacts &Candidate,
                        const BuildResult &Source) {
  std::string Out;
  for (const std::string &Import : Candidate.Imports) {
    if (std::binary_search(Source.Imports.begin(), Source.Imports.end(),
                           Import))
      continue;
    if (std::string Why = whyForbidden(Import); !Why.empty())
      Out += "the candidate uses '" + llvm::demangle(Import) +
             "', which the source does not: " + Why + "\n";
  }
  // One registers the kernels with the runtime.
  unsigned Allowed = std::max(1u, Source.Initializers);
  if (Candidate.Initializers > Allowed)
    Out += "the candidate has " + std::to_string(Candidate.Initializers) +
           " functions that run when it is loaded, wanted " +
           std::to_string(Allowed) +
           " at most: no dynamic initialisers of globals\n";
  return Out;
}
