//===- HostDecoder.h - Instructions of x86-64 -------------------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_HOSTDECODER_H
#define STARK_LIB_EVAL_HOSTDECODER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include <memory>
#include <optional>

namespace stark {

class HostDecoder {
public:
  /// Null where this LLVM has not got it.
  static std::unique_ptr<HostDecoder> make();
  /// The instruction at \p At of \p Code, of \p Size bytes. False: these are
  /// none.
  bool decode(llvm::ArrayRef<uint8_t> Code, uint64_t At, llvm::MCInst &Read,
              uint64_t &Size) const;
  llvm::StringRef nameOf(const llvm::MCInst &I) const {
    return Instructions->getName(I.getOpcode());
  }
  const llvm::MCInstrDesc &describe(const llvm::MCInst &I) const {
    return Instructions->get(I.getOpcode());
  }
  /// Where \p I, of \p Size bytes at \p At, jumps to or calls, as it stands
  /// there; unset: it says so nowhere.
  std::optional<uint64_t> targetOf(const llvm::MCInst &I, uint64_t At,
                                   uint64_t Size) const;

private:
  std::unique_ptr<llvm::MCRegisterInfo> Registers;
  std::unique_ptr<llvm::MCAsmInfo> Assembly;
  std::unique_ptr<llvm::MCInstrInfo> Instructions;
  std::unique_ptr<llvm::MCInstrAnalysis> Analysis;
  std::unique_ptr<llvm::MCSubtargetInfo> Subtarget;
  std::unique_ptr<llvm::MCContext> Context;
  std::unique_ptr<llvm::MCDisassembler> Disassembler;
};

} // namespace stark

#endif
