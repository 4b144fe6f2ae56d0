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
#include "Initializers.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Object/ELFObjectFile.h"
#include <algorithm>

using namespace stark;

namespace {
struct Rule {
  const char *Name; ///< a trailing '*' stands for any rest
  Reach Why;
};

constexpr Rule Rules[] = {
    {"cudaStreamCreate*", Reach::OtherStream},
    {"cudaStreamDestroy*", Reach::OtherStream},
    {"cudaStreamBeginCapture*", Reach::OtherStream},
    {"cudaStreamEndCapture*", Reach::OtherStream},
    {"cudaStreamWaitEvent*", Reach::OtherStream},
    {"cudaStreamAddCallback", Reach::OtherStream},
    {"cudaStreamSetAttribute*", Reach::Device},
    {"cudaStreamAttachMemAsync*", Reach::OtherStream},
    {"cudaGraph*", Reach::OtherStream},
    // c10::cuda::getStreamFromPool and its kind
    {"_ZN3c104cuda17getStreamFromPool*", Reach::OtherStream},
    {"_ZN3c104cuda21getStreamFromExternal*", Reach::OtherStream},
    {"_ZN3c104cuda20setCurrentCUDAStream*", Reach::OtherStream},
    {"_ZN2at4cuda9CUDAGraph*", Reach::OtherStream},
    {"_ZN3c104cuda9SetDevice*", Reach::Device},
    {"_ZN3c104cuda10set_device*", Reach::Device},
    {"_ZN2at8autocast*", Reach::Device},
    {"_ZN2at15set_num_threads*", Reach::Device},
    {"_ZN2at6launch*", Reach::Thread},
    {"_ZN2at14intraop_launch*", Reach::Thread},
    {"_ZN2at4_ops9from_file*", Reach::Files},
    {"_ZN5torch3jit*", Reach::Beyond},
    {"_ZN5torch9serialize*", Reach::Files},
    {"cudaUserObject*", Reach::OtherStream},
    {"cudaLaunchHostFunc*", Reach::OtherStream},
    {"cudaEvent*", Reach::Clock},
    {"cudaDeviceSetLimit", Reach::Device},
    {"cudaDeviceReset", Reach::Device},
    {"cudaDeviceSetCacheConfig", Reach::Device},
    {"cudaDeviceSetSharedMemConfig", Reach::Device},
    {"cudaSetDevice*", Reach::Device},
    {"cudaInitDevice", Reach::Device},
    {"cudaSetValidDevices", Reach::Device},
    {"cudaCtxResetPersistingL2Cache", Reach::Device},
    {"cudaProfiler*", Reach::Device},
    {"cudaIpc*", Reach::Beyond},
    {"cudaImportExternal*", Reach::Beyond},
    {"cudaDeviceEnablePeerAccess", Reach::Beyond},
    {"cudaMemPool*", Reach::Beyond},
    {"cudaGetDriverEntryPoint*", Reach::Beyond},
    {"cudaGetSymbolAddress_driver*", Reach::Beyond},
    {"cudaGetExportTable", Reach::Beyond},
    {"pthread_*", Reach::Thread},
    {"thrd_*", Reach::Thread},
    {"_ZNSt6thread*", Reach::Thread},
    {"_ZNSt6jthread*", Reach::Thread},
    {"_ZSt5async*", Reach::Thread},
    {"_ZNSt13__future_base*", Reach::Thread},
    {"GOMP_parallel*", Reach::Thread},
    {"timer_create", Reach::Thread},
    {"fork", Reach::Process},
    {"vfork", Reach::Process},
    {"clone", Reach::Process},
    {"system", Reach::Process},
    {"popen", Reach::Process},
    {"exec*", Reach::Process},
    {"fexecve", Reach::Process},
    {"posix_spawn*", Reach::Process},
    {"daemon", Reach::Process},
    {"kill", Reach::Process},
    {"raise", Reach::Process},
    {"ptrace", Reach::Beyond},
    {"process_vm_*", Reach::Beyond},
    {"syscall", Reach::Beyond},
    {"prctl", Reach::Beyond},
    {"ioctl", Reach::Beyond},
    {"dlopen", Reach::Beyond},
    {"dlmopen", Reach::Beyond},
    {"dlsym", Reach::Beyond},
    {"dlvsym", Reach::Beyond},
    {"dladdr*", Reach::Beyond},
    {"dl_iterate_phdr", Reach::Beyond},
    {"mmap*", Reach::Beyond},
    {"mprotect", Reach::Beyond},
    {"mremap", Reach::Beyond},
    {"shm_open", Reach::Beyond},
    {"shmget", Reach::Beyond},
    {"shmat", Reach::Beyond},
    {"memfd_create", Reach::Beyond},
    {"getenv", Reach::Beyond},
    {"secure_getenv", Reach::Beyond},
    {"setenv", Reach::Beyond},
    {"putenv", Reach::Beyond},
    {"environ", Reach::Beyond},
    {"__environ", Reach::Beyond},
    {"signal", Reach::Beyond},
    {"sigaction", Reach::Beyond},
    {"setjmp", Reach::Beyond},
    {"_setjmp", Reach::Beyond},
    {"longjmp", Reach::Beyond},
    {"atexit", Reach::Beyond},
    {"on_exit", Reach::Beyond},
    {"backtrace*", Reach::Beyond},
    {"clock_*", Reach::Clock},
    {"clock", Reach::Clock},
    {"gettimeofday", Reach::Clock},
    {"time", Reach::Clock},
    {"_ZNSt6chrono*", Reach::Clock},
    {"open", Reach::Files},
    {"open64", Reach::Files},
    {"openat*", Reach::Files},
    {"creat*", Reach::Files},
    {"fopen*", Reach::Files},
    {"freopen*", Reach::Files},
    {"fdopen", Reach::Files},
    {"read", Reach::Files},
    {"pread*", Reach::Files},
    {"write", Reach::Files},
    {"pwrite*", Reach::Files},
    {"unlink*", Reach::Files},
    {"rename*", Reach::Files},
    {"opendir", Reach::Files},
    {"readlink*", Reach::Files},
    {"_ZNSt14basic_ifstream*", Reach::Files},
    {"_ZNSt14basic_ofstream*", Reach::Files},
    {"_ZNSt13basic_fstream*", Reach::Files},
    {"_ZNSt13basic_filebuf*", Reach::Files},
    {"_ZNSt10filesystem*", Reach::Files},
    {"socket*", Reach::Network},
    {"connect", Reach::Network},
    {"bind", Reach::Network},
    {"send*", Reach::Network},
    {"recv*", Reach::Network},
    {"getaddrinfo", Reach::Network},
    {"gethostby*", Reach::Network}};

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

std::optional<Reach> stark::whyForbidden(llvm::StringRef Import) {
  Import = withoutSuffix(Import);
  for (const Rule &R : Rules)
    if (matches(Import, R.Name))
      return R.Why;
  // at::Context::setAllowTF32CuBLAS and the like.
  if (Import.starts_with("_ZN2at7Context") &&
      Import.drop_front(14).ltrim("0123456789").starts_with("set"))
    return Reach::Device;
  // The driver's own interface, cuStreamCreate and the like, goes around all
  // rules for the runtime's.
  if (Import.size() > 2 && Import.starts_with("cu") && Import[2] >= 'A' &&
      Import[2] <= 'Z')
    return Reach::Beyond;
  return std::nullopt;
}

static llvm::StringRef describeReach(Reach R) {
  switch (R) {
  case Reach::OtherStream:
    return "work must stay on the stream that the entry is given";
  case Reach::Clock:
    return "the clock belongs to the judge";
  case Reach::Device:
    return "the device's settings belong to the judge";
  case Reach::Thread:
    return "the entry must not start threads";
  case Reach::Process:
    return "the entry must not start processes";
  case Reach::Beyond:
    return "the entry must not reach beyond its arguments";
  case Reach::Files:
    return "the entry must not use files";
  case Reach::Network:
    return "the entry must not use the network";
  }
  llvm_unreachable("all are above");
}

/// The symbols that what \p Object brings into memory refers to.
static llvm::Expected<llvm::StringSet<>>
usedIn(const llvm::object::ObjectFile &Object) {
  using namespace llvm::object;
  llvm::StringSet<> Used;
  for (const SectionRef &Section : Object.sections()) {
    llvm::Expected<section_iterator> Of = Section.getRelocatedSection();
    if (!Of)
      return Of.takeError();
    if (*Of == Object.section_end() ||
        !(ELFSectionRef(**Of).getFlags() & llvm::ELF::SHF_ALLOC))
      continue;
    for (const RelocationRef &Relocation : Section.relocations()) {
      symbol_iterator Symbol = Relocation.getSymbol();
      if (Symbol == Object.symbol_end())
        continue;
      llvm::Expected<llvm::StringRef> Name = Symbol->getName();
      if (!Name)
        return Name.takeError();
      Used.insert(*Name);
    }
  }
  return Used;
}

/// Adds what the object at \p Path has to \p Facts, and what it defines to
/// \p Defined.
static llvm::Error addObject(llvm::StringRef Path, ObjectFacts &Facts,
                             llvm::StringSet<> &Defined) {
  using namespace llvm::object;
  llvm::Expected<OwningBinary<ObjectFile>> Opened =
      ObjectFile::createObjectFile(Path);
  if (!Opened)
    return withContext(Opened.takeError(), Path);
  const ObjectFile &Object = *Opened->getBinary();
  if (!Object.isELF())
    return llvm::createStringError(Path + ": is no ELF object");
  llvm::Expected<llvm::StringSet<>> Used = usedIn(Object);
  if (!Used)
    return withContext(Used.takeError(), Path);
  for (const SymbolRef &Symbol : Object.symbols()) {
    llvm::Expected<uint32_t> Flags = Symbol.getFlags();
    if (!Flags)
      return withContext(Flags.takeError(), Path);
    llvm::Expected<llvm::StringRef> Name = Symbol.getName();
    if (!Name)
      return withContext(Name.takeError(), Path);
    if (*Flags & SymbolRef::SF_Undefined) {
      if (Used->contains(*Name))
        Facts.Imports.push_back(Name->str());
    } else if (*Flags & SymbolRef::SF_Global) {
      Defined.insert(*Name);
    }
  }
  for (const SectionRef &Section : Object.sections()) {
    llvm::Expected<llvm::StringRef> Name = Section.getName();
    if (!Name)
      return withContext(Name.takeError(), Path);
    Facts.HasDeviceCode |= *Name == ".nv_fatbin";
  }
  llvm::Expected<unsigned> Initializers = initializersIn(Object);
  if (!Initializers)
    return withContext(Initializers.takeError(), Path);
  Facts.Initializers += *Initializers;
  return llvm::Error::success();
}

llvm::Expected<ObjectFacts>
stark::readObjects(llvm::ArrayRef<std::string> Paths) {
  TraceScope Traced("symbols");
  ObjectFacts Facts;
  llvm::StringSet<> Defined;
  for (const std::string &Path : Paths)
    if (llvm::Error E = addObject(Path, Facts, Defined))
      return E;
  llvm::erase_if(Facts.Imports, [&](const std::string &Import) {
    return Defined.contains(Import);
  });
  llvm::sort(Facts.Imports);
  Facts.Imports.erase(llvm::unique(Facts.Imports), Facts.Imports.end());
  return Facts;
}

std::vector<std::string> stark::operatorsIn(const ObjectFacts &Object) {
  std::vector<std::string> Names;
  for (llvm::StringRef Import : Object.Imports) {
    // at::_ops::NAME::call, whose name has its length before it.
    unsigned Length = 0;
    if (!Import.consume_front("_ZN2at4_ops") ||
        Import.consumeInteger(10, Length) || Length > Import.size())
      continue;
    if (llvm::StringRef Name = Import.take_front(Length); Name != "copy_")
      Names.push_back(Name.str());
  }
  llvm::sort(Names);
  Names.erase(llvm::unique(Names), Names.end());
  return Names;
}

bool stark::onlyMovesOrViews(llvm::StringRef Operator) {
  // Each with its overloads: "empty_memory_format", "slice_Tensor".
  for (llvm::StringRef Name : {"empty",      "empty_like",    "empty_strided",
                               "new_empty",  "zeros",         "zeros_like",
                               "new_zeros",  "full",          "full_like",
                               "view",       "_unsafe_view",  "reshape",
                               "transpose",  "permute",       "t",
                               "slice",      "select",        "narrow",
                               "squeeze",    "unsqueeze",     "expand",
                               "expand_as",  "flatten",       "unflatten",
                               "as_strided", "contiguous",    "split",
                               "chunk",      "unbind",        "detach",
                               "size",       "stride",        "movedim",
                               "view_as",    "is_contiguous", "resize_",
                               "clone",      "copy_"})
    if (Operator == Name || (Operator.starts_with(Name) &&
                             Operator.drop_front(Name.size()).starts_with("_")))
      return true;
  return false;
}

std::optional<GateFinding> stark::gate(const ObjectFacts &Candidate,
                                       const BuildResult &Source) {
  TraceScope Traced("gate");
  GateFinding Found;
  bool NewDeviceCode = Candidate.HasDeviceCode && !Source.HasDeviceCode;
  for (const std::string &Import : Candidate.Imports) {
    // What registers the kernels takes them off again at the end. (Who writes
    // the word is seen by the contract.)
    if (NewDeviceCode && Import == "atexit")
      continue;
    if (std::binary_search(Source.Imports.begin(), Source.Imports.end(),
                           Import))
      continue;
    if (std::optional<Reach> Why = whyForbidden(Import))
      Found.Imports.push_back({Import, *Why});
  }
  // One registers the kernels with the runtime.
  Found.Allowed = std::max(1u, Source.Initializers + NewDeviceCode);
  Found.Initializers = Candidate.Initializers;
  if (Found.Imports.empty() && Found.Initializers <= Found.Allowed)
    return std::nullopt;
  return Found;
}

std::string stark::describe(const GateFinding &Found) {
  std::string Out;
  for (const auto &[Import, Why] : Found.Imports)
    Out += "the candidate uses '" + llvm::demangle(Import) +
           "', which the source does not: " + describeReach(Why).str() + "\n";
  if (Found.Initializers > Found.Allowed)
    Out += "the candidate has " + std::to_string(Found.Initializers) +
           " functions that run when it is loaded, wanted " +
           std::to_string(Found.Allowed) +
           " at most: no dynamic initialisers of globals\n";
  return Out;
}
