//===- HostDecoder.cpp - Instructions of x86-64 ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostDecoder.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

using namespace stark;

std::unique_ptr<HostDecoder> HostDecoder::make() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetDisassembler();
  const llvm::Triple X86("x86_64-unknown-linux-gnu");
  std::string Error;
  const llvm::Target *T = llvm::TargetRegistry::lookupTarget(X86.str(), Error);
  if (!T)
    return nullptr;
  auto D = std::make_unique<HostDecoder>();
  D->Registers.reset(T->createMCRegInfo(X86.str()));
  D->Assembly.reset(
      T->createMCAsmInfo(*D->Registers, X86.str(), llvm::MCTargetOptions()));
  D->Instructions.reset(T->createMCInstrInfo());
  D->Analysis.reset(T->createMCInstrAnalysis(D->Instructions.get()));
  D->Subtarget.reset(T->createMCSubtargetInfo(X86.str(), "", ""));
  D->Context = std::make_unique<llvm::MCContext>(
      X86, D->Assembly.get(), D->Registers.get(), D->Subtarget.get());
  D->Disassembler.reset(T->createMCDisassembler(*D->Subtarget, *D->Context));
  return D->Disassembler && D->Analysis ? std::move(D) : nullptr;
}

bool HostDecoder::decode(llvm::ArrayRef<uint8_t> Code, uint64_t At,
                         llvm::MCInst &Read, uint64_t &Size) const {
  return Disassembler->getInstruction(Read, Size, Code.drop_front(At), At,
                                      llvm::nulls()) ==
         llvm::MCDisassembler::Success;
}

std::optional<uint64_t>
HostDecoder::targetOf(const llvm::MCInst &I, uint64_t At, uint64_t Size) const {
  uint64_t Target = 0;
  return Analysis->evaluateBranch(I, At, Size, Target) ? std::optional(Target)
                                                       : std::nullopt;
}
