//===- HostSyscalls.cpp - Host code that asks the kernel itself -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSyscalls.h"
#include "HostDecoder.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Object/ObjectFile.h"
#include <algorithm>

using namespace stark;
using namespace llvm::object;
using llvm::StringRef;

/// What an instruction of this name does that a candidate must not; empty:
/// nothing.
static StringRef whyForbiddenInstruction(StringRef Name) {
  return llvm::StringSwitch<StringRef>(Name)
      .Cases("SYSCALL", "SYSENTER", "INT", "FARCALL64m", "FARJMP64m",
             "makes a system call")
      .Cases("FARCALL32m", "FARCALL16m", "FARJMP32m", "FARJMP16m",
             "makes a system call")
      .Cases("RDTSC", "RDTSCP", "RDPMC", "reads the processor's clock")
      .Cases("RDRAND16r", "RDRAND32r", "RDRAND64r", "RDSEED16r", "RDSEED32r",
             "RDSEED64r", "asks the processor for a random number")
      .Cases("CPUID", "XGETBV", "RDPID32", "RDPID64", "RDPRU",
             "asks the processor what it is")
      .Cases("RDFSBASE", "RDFSBASE64", "WRFSBASE", "WRFSBASE64",
             "reads or changes what the process keeps in a register")
      .Cases("RDGSBASE", "RDGSBASE64", "WRGSBASE", "WRGSBASE64",
             "reads or changes what the process keeps in a register")
      .Default("");
}

/// Do these bytes of an instruction make a system call when they are jumped
/// into?
static bool hidesCall(int64_t Immediate) {
  for (unsigned I = 0; I + 1 < 8; ++I) {
    unsigned Two = unsigned(uint64_t(Immediate) >> 8 * I) & 0xFFFF;
    if (Two == 0x050F || Two == 0x340F || Two == 0x80CD)
      return true;
  }
  return false;
}

static std::string read(const HostDecoder &By, StringRef Section,
                        llvm::ArrayRef<uint8_t> Code) {
  std::string Found;
  auto Say = [&](uint64_t At, const llvm::Twine &What) {
    Found += ("the candidate's host code " + What + " (" + Section + " at " +
              llvm::Twine(At) + ")\n")
                 .str();
  };
  for (uint64_t At = 0; At < Code.size();) {
    llvm::MCInst Read;
    uint64_t Size = 0;
    if (!By.decode(Code, At, Read, Size)) {
      // Data among the code: its bytes are looked at one by one.
      At += std::max<uint64_t>(Size, 1);
      continue;
    }
    StringRef Why = whyForbiddenInstruction(By.nameOf(Read));
    if (!Why.empty())
      Say(At, Why + " by itself");
    const llvm::MCInstrDesc &What = By.describe(Read);
    if (!What.isBranch() && !What.isCall())
      for (const llvm::MCOperand &Operand : Read)
        if (Operand.isImm() && hidesCall(Operand.getImm()))
          Say(At, "holds a constant whose bytes make a system call");
    At += Size;
  }
  return Found;
}

static llvm::Error addObject(StringRef Path, const HostDecoder &By,
                             std::string &Found) {
  llvm::Expected<OwningBinary<ObjectFile>> Opened =
      ObjectFile::createObjectFile(Path);
  if (!Opened)
    return withContext(Opened.takeError(), Path);
  const ObjectFile &Object = *Opened->getBinary();
  if (Object.getArch() != llvm::Triple::x86_64)
    return llvm::Error::success();
  for (const SectionRef &Section : Object.sections()) {
    if (!Section.isText())
      continue;
    llvm::Expected<StringRef> Name = Section.getName(),
                              Code = Section.getContents();
    if (!Name || !Code)
      return withContext(llvm::joinErrors(Name.takeError(), Code.takeError()),
                         Path);
    Found += read(By, *Name, {Code->bytes_begin(), Code->size()});
  }
  return llvm::Error::success();
}

llvm::Expected<std::string>
stark::systemCallsIn(llvm::ArrayRef<std::string> Paths) {
  TraceScope Traced("host instructions");
  std::unique_ptr<HostDecoder> By = HostDecoder::make();
  std::string Found;
  if (!By)
    return Found;
  for (const std::string &Path : Paths)
    if (llvm::Error E = addObject(Path, *By, Found))
      return E;
  return Found;
}
