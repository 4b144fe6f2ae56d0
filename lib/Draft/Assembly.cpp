//===- Assembly.cpp - Inline PTX in a dry run -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   asm("st.global.v4.f32 [%0], ..." :: "l"(out), ...) -> 16 bytes of out are
///   written
/// Of registers that PTX computes nothing is known but what they come from.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

namespace {
/// One instruction on memory.
struct MemoryAccess {
  bool Reads = false, Writes = false, Atomic = false;
  unsigned Operand = 0; ///< which has the address
  int64_t Plus = 0;     ///< bytes added to it
  int64_t Bytes = 0;
};
} // namespace

/// "ld.global.nc.v4.f32" -> 16.
static int64_t bytesOf(llvm::StringRef Opcode) {
  int64_t Lanes = 1, Bits = 32;
  llvm::SmallVector<llvm::StringRef, 8> Parts;
  Opcode.split(Parts, '.');
  for (llvm::StringRef Part : llvm::drop_begin(Parts)) {
    unsigned Number = 0;
    if (Part.size() < 2 || Part.drop_front().getAsInteger(10, Number))
      continue;
    if (Part[0] == 'v')
      Lanes = Number;
    else if (llvm::StringRef("bfsu").contains(Part[0]))
      Bits = Number;
  }
  return Lanes * Bits / 8;
}

/// "[$2+16]" -> operand 2, 16 bytes on; false for what is no operand.
static bool readAddress(llvm::StringRef Text, MemoryAccess &A) {
  Text = Text.trim();
  if (!Text.consume_front("$") || Text.consumeInteger(10, A.Operand))
    return false;
  Text = Text.trim();
  return !Text.consume_front("+") || !Text.trim().getAsInteger(10, A.Plus);
}

/// What the PTX of \p Statement does to memory that is not a block's own.
static std::vector<MemoryAccess> accessesOf(llvm::StringRef Statement) {
  std::vector<MemoryAccess> All;
  Statement = Statement.trim(" \t\n\r{}");
  if (Statement.starts_with("@"))
    Statement = Statement.drop_until(llvm::isSpace).trim();
  llvm::StringRef Opcode = Statement.take_until(llvm::isSpace);
  llvm::StringRef Kind = Opcode.take_until([](char C) { return C == '.'; });
  bool Copies = Opcode.starts_with("cp.async") && Opcode.contains(".global");
  bool Shared = Opcode.contains(".shared") && !Copies;
  if (Shared || !(Kind == "ld" || Kind == "ldu" || Kind == "st" ||
                  Kind == "red" || Kind == "atom" || Copies))
    return All;
  MemoryAccess A;
  A.Atomic = Kind == "red" || Kind == "atom";
  A.Writes = Kind == "st" || A.Atomic;
  A.Reads = !A.Writes || A.Atomic;
  A.Bytes = bytesOf(Opcode);
  llvm::StringRef Rest = Statement;
  // cp.async.cg.shared.global [to], [from], 16: the second one is global.
  for (int I = 0; I < (Copies ? 2 : 1); ++I)
    Rest = Rest.split('[').second;
  auto [Inside, After] = Rest.split(']');
  if (Copies)
    After.ltrim(" ,").consumeInteger(10, A.Bytes);
  if (readAddress(Inside, A))
    All.push_back(A);
  return All;
}

void Machine::followAssembly(const GCCAsmStmt *S) {
  unsigned Outputs = S->getNumOutputs();
  std::vector<Value> Inputs;
  Value From;
  for (unsigned I = 0; I < S->getNumInputs(); ++I) {
    Inputs.push_back(eval(S->getInputExpr(I)));
    if (!Inputs.back().isAddress())
      From.addLoaded(Inputs.back());
  }
  std::string Text = S->generateAsmString(Context);
  llvm::SmallVector<llvm::StringRef, 8> Statements;
  llvm::StringRef(Text).split(Statements, ';');
  for (llvm::StringRef Statement : Statements)
    for (const MemoryAccess &A : accessesOf(Statement)) {
      if (!As || A.Operand < Outputs || A.Operand - Outputs >= Inputs.size() ||
          A.Bytes < 1)
        continue;
      QualType Type = Context.getExtVectorType(Context.CharTy, A.Bytes);
      Place P = placeAt(addToPointer(Inputs[A.Operand - Outputs],
                                     Value::integer(A.Plus), 1, false),
                        Type);
      if (P && A.Atomic)
        touchAtomically(P);
      else if (P && A.Writes)
        store(P, Value());
      else if (P)
        From.addLoaded(load(P));
    }
  for (unsigned I = 0; I < Outputs; ++I)
    store(place(S->getOutputExpr(I)), From);
}
