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

/// A special register; null when it is not known.
Value *PtxBody::special(StringRef Name) {
  auto Register = [&](unsigned Index) {
    return call("__stark_sim_sreg", B.getInt32Ty(), {B.getInt32(Index)});
  };
  StringRef Axis = Name;
  for (auto [Prefix, First] : {std::pair<const char *, unsigned>{"tid.", 0},
                               {"ctaid.", 3},
                               {"ntid.", 6},
                               {"nctaid.", 9}}) {
    Axis = Name;
    if (Axis.consume_front(Prefix))
      return Axis == "x" || Axis == "y" || Axis == "z"
                 ? Register(First + unsigned(Axis[0] - 'x'))
                 : nullptr;
  }
  if (Name == "laneid")
    return Register(12);
  if (Name == "warpid")
    return Register(13);
  // Which SM a block is on is anybody's guess; each GPU has 32.
  if (Name == "smid")
    return B.CreateAnd(Register(3), 31);
  if (Name == "dynamic_smem_size")
    return Register(14);
  if (Name == "clock64" || Name == "globaltimer" || Name == "clock")
    return call("__stark_sim_clock", B.getInt64Ty(), {});
  if (Name.consume_front("lanemask_")) {
    Value *Bit = B.CreateShl(B.getInt32(1), Register(12));
    Value *Below = B.CreateSub(Bit, B.getInt32(1));
    return Name == "eq"   ? Bit
           : Name == "lt" ? Below
           : Name == "le" ? B.CreateOr(Below, Bit)
           : Name == "ge" ? B.CreateNot(Below)
           : Name == "gt" ? B.CreateNot(B.CreateOr(Below, Bit))
                          : nullptr;
  }
  return nullptr;
}

std::optional<uint64_t> PtxBody::constantOf(StringRef Operand) {
  uint64_t Number = 0;
  if (auto Found = Known.find(Operand.str()); Found != Known.end())
    return Found->second;
  if (Operand == "WARP_SZ")
    return 32;
  if (Operand.starts_with("0f") || Operand.starts_with("0F") ||
      Operand.starts_with("0d") || Operand.starts_with("0D")) {
    bool Good = !Operand.drop_front(2).getAsInteger(16, Number);
    return Good ? std::optional(Number) : std::nullopt;
  }
  bool Negative = Operand.consume_front("-");
  Operand.consume_back("U");
  if (Operand.empty() || Operand.getAsInteger(0, Number))
    return std::nullopt;
  return Negative ? 0 - Number : Number;
}

Value *PtxBody::read(StringRef Operand, unsigned Bits) {
  Operand = Operand.trim();
  if (Operand.starts_with("!")) {
    Value *V = read(Operand.drop_front(), Bits);
    return V ? B.CreateNot(V) : nullptr;
  }
  if (auto Found = Slots.find(Operand.str()); Found != Slots.end())
    return resized(
        B, bitsOf(B.CreateLoad(Found->second.Type, Found->second.Where)), Bits);
  if (Operand.starts_with("%")) {
    Value *V = special(Operand.drop_front());
    return V ? resized(B, V, Bits) : nullptr;
  }
  std::optional<uint64_t> Number = constantOf(Operand);
  return Number ? ConstantInt::get(B.getIntNTy(Bits),
                                   APInt(64, *Number).zextOrTrunc(Bits))
                : nullptr;
}

bool PtxBody::write(StringRef Operand, Value *Bits) {
  if (Operand.trim() == "_")
    return true;
  auto Found = Slots.find(Operand.trim().str());
  if (Found == Slots.end() || !Bits)
    return false;
  Type *T = Found->second.Type;
  unsigned Width =
      T->isPointerTy() ? 64 : unsigned(T->getPrimitiveSizeInBits());
  Value *V = resized(B, Bits, Width);
  V = T->isPointerTy() ? B.CreateIntToPtr(V, T) : B.CreateBitCast(V, T);
  B.CreateStore(V, Found->second.Where);
  return true;
}

Value *PtxBody::readAs(StringRef Operand, const PtxType &T) {
  Value *V = read(Operand, T.bits());
  return V ? B.CreateBitCast(V, typeOf(T)) : nullptr;
}

/// A signed result that goes into a wider register is extended as such.
bool PtxBody::writeAs(StringRef Operand, const PtxType &T, Value *V) {
  if (!V)
    return false;
  Value *Bits = bitsOf(V);
  auto Found = Slots.find(Operand.trim().str());
  if (T.Kind == 's' && Found != Slots.end() &&
      Found->second.Type->isIntegerTy())
    Bits = B.CreateSExtOrTrunc(Bits, Found->second.Type);
  return write(Operand, Bits);
}

std::vector<std::string> PtxBody::listOf(StringRef Braced) const {
  std::vector<std::string> Out;
  if (!Braced.consume_front("{") || !Braced.consume_back("}"))
    return {Braced.str()};
  SmallVector<StringRef, 8> Parts;
  Braced.split(Parts, ',');
  for (StringRef Part : Parts)
    Out.push_back(Part.trim().str());
  return Out;
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
    if (V && S.has("shared")) {
      Value *Base = B.CreatePtrToInt(sharedBase(), B.getInt64Ty());
      V = S.has("to") ? B.CreateSub(V, Base) : B.CreateAdd(V, Base);
    }
    return (S.has("shared") || S.has("global")) && write(S.Operands[0], V);
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
  if (Name == "prefetch" || Name == "prefetchu" || Name == "nanosleep" ||
      Name == "griddepcontrol" || Name == "brkpt" || Name == "setmaxnreg" ||
      Name == "discard" || Name == "applypriority" || Name == "pmevent")
    return true; // changes no value
  if (Name == "createpolicy")
    return !S.Operands.empty() && write(S.Operands[0], B.getInt64(0));
  return together(S) || ptxArithmetic(*this, S);
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
  if (!Good) {
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
