//===- Ptx.h - Inline PTX as code for this CPU ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   An asm statement becomes a function that does the same, which is inlined:
/// its accesses, barriers and instructions are then seen as any other's.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIM_PTX_H
#define STARK_LIB_SIM_PTX_H

#include "PtxText.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <map>

namespace stark::sim {

/// Replaces all inline assembly of device code. What is not known here is
/// reported as unsupported, with its line, when a thread reaches it.
void translatePtx(llvm::Module &Device);

/// The body of one asm statement while it is made. Values are kept as bits, in
/// a slot for each register; the optimizer sees through that.
class PtxBody {
public:
  /// Null when it cannot be translated: why() says what stands in the way.
  static llvm::Function *make(llvm::CallBase &Asm, std::string &Why);

  llvm::IRBuilder<> B;
  llvm::Module &M;

  // Operands. Both fail for what is no register, immediate or special register.
  llvm::Value *read(llvm::StringRef Operand, unsigned Bits);
  bool write(llvm::StringRef Operand, llvm::Value *Bits);
  llvm::Value *readAs(llvm::StringRef Operand, const PtxType &T);
  bool writeAs(llvm::StringRef Operand, const PtxType &T, llvm::Value *V);
  llvm::Type *typeOf(const PtxType &T);
  llvm::Value *bitsOf(llvm::Value *V);
  std::vector<std::string> listOf(llvm::StringRef Braced) const;
  std::optional<uint64_t> constantOf(llvm::StringRef Operand);
  /// One of the runtime's functions.
  llvm::Value *call(llvm::StringRef Name, llvm::Type *Result,
                    llvm::ArrayRef<llvm::Value *> Arguments);

private:
  PtxBody(llvm::Module &M) : B(M.getContext()), M(M) {}
  bool statement(const PtxStatement &S);
  bool instruction(const PtxStatement &S);
  bool declare(const PtxStatement &S);
  bool memory(const PtxStatement &S);
  bool atomic(const PtxStatement &S);
  bool copy(const PtxStatement &S);
  bool together(const PtxStatement &S);
  bool barrier(const PtxStatement &S);
  bool ofCluster(const PtxStatement &S);
  llvm::Value *sharedAt(llvm::Value *Address);
  void multicast(llvm::Value *To, llvm::Value *From, llvm::Value *Bytes,
                 llvm::Value *Barrier, llvm::Value *Ranks);
  bool matrix(const PtxStatement &S);
  bool matrixMemory(const PtxStatement &S);
  bool bulkCopy(const PtxStatement &S);
  bool memoryBarrier(const PtxStatement &S);
  bool jump(const PtxStatement &S);
  bool labelsAreThere(std::string &Missing) const;
  llvm::BasicBlock *labelled(llvm::StringRef Name);
  bool move(const PtxStatement &S);
  llvm::Value *address(llvm::StringRef Operand, const PtxStatement &S);
  llvm::Value *special(llvm::StringRef Name);
  llvm::Value *sharedBase();

  struct Slot {
    llvm::AllocaInst *Where = nullptr;
    llvm::Type *Type = nullptr;
  };
  std::map<std::string, Slot> Slots;     ///< "$0" and declared names
  std::map<std::string, uint64_t> Known; ///< operands that are immediates
  std::map<std::string, llvm::BasicBlock *> Labels;
  llvm::Function *F = nullptr;
};

/// Arithmetic, comparisons and conversions. False: not known.
bool ptxArithmetic(PtxBody &P, const PtxStatement &S);

} // namespace stark::sim

#endif
