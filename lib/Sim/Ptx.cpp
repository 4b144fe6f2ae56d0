//===- Ptx.cpp - Inline PTX as code for this CPU --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   asm call -> its operands in slots -> one statement after the other -> a
/// call of what was made
///
//===----------------------------------------------------------------------===//

#include "Ptx.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace stark::sim;

Type *PtxBody::typeOf(const PtxType &T) {
  Type *One = T.Kind == 'g'   ? B.getBFloatTy()
              : T.Kind != 'f' ? B.getIntNTy(T.Bits)
              : T.Bits == 16  ? B.getHalfTy()
              : T.Bits == 32  ? B.getFloatTy()
                              : B.getDoubleTy();
  return T.Lanes == 1 ? One : FixedVectorType::get(One, T.Lanes);
}

Value *PtxBody::bitsOf(Value *V) {
  Type *T = V->getType();
  if (T->isPointerTy())
    return B.CreatePtrToInt(V, B.getInt64Ty());
  unsigned Bits = unsigned(T->getPrimitiveSizeInBits());
  return B.CreateBitCast(V, B.getIntNTy(Bits));
}

static Value *resized(IRBuilder<> &B, Value *V, unsigned Bits) {
  return B.CreateZExtOrTrunc(V, B.getIntNTy(Bits));
}

Value *PtxBody::call(StringRef Name, Type *Result, ArrayRef<Value *> Values) {
  SmallVector<Type *, 5> Types;
  for (Value *V : Values)
    Types.push_back(V->getType());
  FunctionCallee Callee =
      M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false));
  CallInst *Call = B.CreateCall(Callee, Values);
  // What brings threads together stays where it is.
  if (Name != "__stark_sim_sreg")
    Call->setConvergent();
  return Call;
}

Value *PtxBody::sharedBase() {
  return B.CreateLoad(B.getPtrTy(),
                      M.getOrInsertGlobal("__stark_sim_shared", B.getPtrTy()));
}

/// ".reg .b32 a, b<3>;"
bool PtxBody::declare(const PtxStatement &S) {
  std::optional<PtxType> T =
      S.Words.size() == 2 ? parsePtxType(S.Words[1]) : std::nullopt;
  if (S.Words[0] != ".reg" || !T)
    return false;
  auto Add = [&](const std::string &Name) {
    IRBuilder<> Entry(&F->getEntryBlock(), F->getEntryBlock().begin());
    Type *Held = B.getIntNTy(T->bits());
    Slots[Name] = {Entry.CreateAlloca(Held), Held};
  };
  for (StringRef Name : S.Operands) {
    size_t Open = Name.find('<');
    unsigned Count = 0;
    if (Open == StringRef::npos) {
      Add(Name.str());
      continue;
    }
    if (Name.slice(Open + 1, Name.find('>')).getAsInteger(10, Count) ||
        Count > 256)
      return false;
    for (unsigned I = 0; I < Count; ++I)
      Add((Name.take_front(Open) + Twine(I)).str());
  }
  return true;
}

/// mov and cvta.
bool PtxBody::move(const PtxStatement &S) {
  std::optional<PtxType> T = parsePtxType(S.Words.back());
  if (!T || S.Operands.size() != 2)
    return false;
  if (S.Words[0] == "cvta") {
    Value *V = read(S.Operands[1], 64);
    bool Shared =
        S.has("shared") || S.has("shared::cluster") || S.has("shared::cta");
    if (V && Shared) {
      Value *Base = B.CreatePtrToInt(sharedBase(), B.getInt64Ty());
      V = S.has("to") ? B.CreateSub(V, Base)
                      : B.CreatePtrToInt(sharedAt(V), B.getInt64Ty());
    }
    return (Shared || S.has("global")) && write(S.Operands[0], V);
  }
  std::vector<std::string> To = listOf(S.Operands[0]),
                           From = listOf(S.Operands[1]);
  // One value of several parts, or the other way round.
  size_t Parts = std::max(To.size(), From.size());
  if ((To.size() > 1 && From.size() > 1) || T->bits() % Parts != 0)
    return false;
  unsigned Part = unsigned(T->bits() / Parts);
  Value *Whole = nullptr;
  for (size_t I = 0; I < From.size(); ++I) {
    Value *V = read(From[I], From.size() > 1 ? Part : T->bits());
    if (!V)
      return false;
    V = resized(B, V, T->bits());
    Whole = Whole ? B.CreateOr(Whole, B.CreateShl(V, uint64_t(Part) * I)) : V;
  }
  for (size_t I = 0; I < To.size(); ++I) {
    Value *V = To.size() > 1
                   ? resized(B, B.CreateLShr(Whole, uint64_t(Part) * I), Part)
                   : Whole;
    if (!write(To[I], V))
      return false;
  }
  return true;
}

bool PtxBody::instruction(const PtxStatement &S) {
  StringRef Name = S.Words[0];
  if (Name == "mov" || Name == "cvta")
    return move(S);
  if (Name == "ld" || Name == "st")
    return memory(S);
  if (Name == "atom" || Name == "red")
    return atomic(S);
  if (Name == "cp")
    return copy(S);
  if (Name == "mma")
    return matrix(S);
  if (Name == "ldmatrix" || Name == "stmatrix")
    return matrixMemory(S);
  if (Name == "mbarrier")
    return memoryBarrier(S);
  if (Name == "mapa" || Name == "getctarank")
    return ofCluster(S);
  if (Name == "bra" || Name == ":")
    return jump(S);
  if (Name == "prefetch" || Name == "prefetchu" || Name == "nanosleep" ||
      Name == "griddepcontrol" || Name == "brkpt" || Name == "setmaxnreg" ||
      Name == "discard" || Name == "applypriority" || Name == "pmevent")
    return true; // changes no value
  if (Name == "createpolicy")
    return !S.Operands.empty() && write(S.Operands[0], B.getInt64(0));
  return together(S) || ptxArithmetic(*this, S);
}

BasicBlock *PtxBody::labelled(StringRef Name) {
  BasicBlock *&Block = Labels[Name.str()];
  if (!Block)
    Block = BasicBlock::Create(M.getContext(), "", F);
  return Block;
}

/// A label at the end has nothing after it; otherwise it is of another
/// statement.
bool PtxBody::labelsAreThere(std::string &Missing) const {
  for (const auto &[Name, Block] : Labels)
    if (Block->empty() && Block != B.GetInsertBlock()) {
      Missing = Name;
      return false;
    }
  return true;
}

/// A label, or what goes to one.
bool PtxBody::jump(const PtxStatement &S) {
  if (S.Operands.size() != 1)
    return false;
  BasicBlock *To = labelled(S.Operands[0]);
  B.CreateBr(To);
  B.SetInsertPoint(
      S.Words[0] == ":" ? To : BasicBlock::Create(M.getContext(), "", F));
  return true;
}

bool PtxBody::statement(const PtxStatement &S) {
  if (S.Words[0].front() == '.')
    return declare(S);
  if (S.Guard.empty())
    return instruction(S);
  Value *Held = read(S.Guard, 1);
  if (!Held)
    return false;
  if (S.Negated)
    Held = B.CreateNot(Held);
  BasicBlock *Then = BasicBlock::Create(M.getContext(), "", F),
             *After = BasicBlock::Create(M.getContext(), "", F);
  B.CreateCondBr(Held, Then, After);
  B.SetInsertPoint(Then);
  bool Good = instruction(S);
  B.CreateBr(After);
  B.SetInsertPoint(After);
  return Good;
}

/// As PTX has it: Clang keeps braces and percent signs its own way.
static std::string plainText(StringRef Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text[I] != '$' || I + 1 == Text.size()) {
      Out += Text[I];
      continue;
    }
    char Next = Text[I + 1];
    size_t Close = Text.find('}', I);
    if (Next == '(' || Next == ')' || Next == '|' || Next == '$') {
      Out += Next == '(' ? '{' : Next == ')' ? '}' : Next;
      ++I;
    } else if (Next == '{' && Close != StringRef::npos) {
      Out += "$" + Text.slice(I + 2, Close).split(':').first.str();
      I = Close;
    } else {
      Out += '$';
    }
  }
  return Out;
}

Function *PtxBody::make(CallBase &Asm, std::string &Why) {
  auto *Text = cast<InlineAsm>(Asm.getCalledOperand());
  Why = plainText(Text->getAsmString());
  std::vector<PtxStatement> Statements;
  if (!readPtx(Why, Statements))
    return nullptr;
  PtxBody P(*Asm.getModule());
  SmallVector<Type *, 8> Parameters;
  for (Value *V : Asm.args())
    Parameters.push_back(V->getType());
  P.F = Function::Create(FunctionType::get(Asm.getType(), Parameters, false),
                         GlobalValue::InternalLinkage, "__stark_ptx", P.M);
  // The inliner wants the same machine on both sides.
  for (const char *Name : {"target-cpu", "target-features", "tune-cpu"})
    if (Asm.getFunction()->hasFnAttribute(Name))
      P.F->addFnAttr(Asm.getFunction()->getFnAttribute(Name));
  P.F->addFnAttr(Attribute::AlwaysInline);
  P.F->addFnAttr(Attribute::Convergent);
  P.F->addFnAttr(Attribute::NoUnwind);
  P.B.SetInsertPoint(BasicBlock::Create(P.M.getContext(), "", P.F));

  // Operands as the compiler numbers them: outputs, then inputs.
  auto *Several = dyn_cast<StructType>(Asm.getType());
  unsigned Outputs = 0, Operand = 0, Argument = 0;
  bool Good = true;
  for (const InlineAsm::ConstraintInfo &C : Text->ParseConstraints()) {
    std::string Name = "$" + std::to_string(Operand);
    if (C.Type == InlineAsm::isOutput && !C.isIndirect) {
      Type *T = Several ? Several->getElementType(Outputs) : Asm.getType();
      P.Slots[Name] = {P.B.CreateAlloca(T), T};
      P.B.CreateStore(Constant::getNullValue(T), P.Slots[Name].Where);
      ++Outputs;
      ++Operand;
    } else if (C.Type == InlineAsm::isInput && !C.isIndirect) {
      Value *V = P.F->getArg(Argument++);
      unsigned Tied = 0;
      if (!C.Codes.empty() && !StringRef(C.Codes[0]).getAsInteger(10, Tied)) {
        Name = "$" + std::to_string(Tied);
        Good &= P.write(Name, P.bitsOf(V));
      } else {
        P.Slots[Name] = {P.B.CreateAlloca(V->getType()), V->getType()};
        P.B.CreateStore(V, P.Slots[Name].Where);
        if (auto *Given =
                dyn_cast<ConstantInt>(Asm.getArgOperand(Argument - 1)))
          P.Known[Name] = Given->getZExtValue();
      }
      ++Operand;
    } else if (C.Type != InlineAsm::isClobber) {
      Good = false;
    }
    if (!Good)
      break;
  }
  for (const PtxStatement &S : Statements)
    if (Good && !P.statement(S)) {
      Why = S.Text;
      Good = false;
    }
  if (!Good || !P.labelsAreThere(Why)) {
    P.F->eraseFromParent();
    return nullptr;
  }
  if (Outputs == 0) {
    P.B.CreateRetVoid();
    return P.F;
  }
  Value *Result = Several ? PoisonValue::get(Several) : nullptr;
  for (unsigned I = 0; I < Outputs; ++I) {
    Slot &Of = P.Slots["$" + std::to_string(I)];
    Value *V = P.B.CreateLoad(Of.Type, Of.Where);
    Result = Several ? P.B.CreateInsertValue(Result, V, I) : V;
  }
  P.B.CreateRet(Result);
  return P.F;
}

/// Ends the run when a thread comes here.
static void tellUnsupported(CallBase &Call, StringRef Why) {
  std::string Text = "\"" + join(split(Why.trim(), '\n'), " ") + "\"";
  if (Text.size() > 69)
    Text = Text.substr(0, 65) + "...\"";
  IRBuilder<> B(&Call);
  Module &M = *Call.getModule();
  B.CreateCall(M.getOrInsertFunction("__stark_sim_unsupported_ptx",
                                     B.getVoidTy(), B.getPtrTy()),
               {B.CreateGlobalString(Text)});
}

void stark::sim::translatePtx(Module &Device) {
  std::vector<CallBase *> Calls;
  for (Function &F : Device)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isInlineAsm())
        Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    std::string Why;
    Value *Result = nullptr;
    if (Function *Body = PtxBody::make(*Call, Why)) {
      IRBuilder<> B(Call);
      SmallVector<Value *, 8> Arguments(Call->args());
      Result = B.CreateCall(Body, Arguments);
    } else {
      tellUnsupported(*Call, Why);
      Result = PoisonValue::get(Call->getType());
    }
    if (!Call->getType()->isVoidTy())
      Call->replaceAllUsesWith(Result);
    if (Call->isTerminator()) {
      // `asm goto`, which is not known.
      BasicBlock *Here = Call->getParent();
      for (BasicBlock *Next : successors(Here))
        Next->removePredecessor(Here);
      new UnreachableInst(Device.getContext(), Call->getIterator());
    }
    Call->eraseFromParent();
  }
}
