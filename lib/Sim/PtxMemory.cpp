//===- PtxMemory.cpp - Loads, stores, atomics and meetings in PTX ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

using namespace llvm;
using namespace stark::sim;

/// "[%0]", "[%0+16]", "[p-4]"; in the space that the words name.
Value *PtxBody::address(StringRef Operand, const PtxStatement &S) {
  Operand = Operand.trim();
  if (!Operand.consume_front("[") || !Operand.consume_back("]"))
    return nullptr;
  for (const char *Space : {"param", "const", "tex"})
    if (S.has(Space))
      return nullptr;
  size_t Sign = Operand.find_first_of("+-");
  StringRef Base = Operand.substr(0, Sign).trim();
  int64_t Offset = 0;
  if (Sign != StringRef::npos) {
    StringRef Number = Operand.drop_front(Sign + 1).trim();
    bool Negative = Operand[Sign] == '-' || Number.consume_front("-");
    if (std::optional<uint64_t> Given = constantOf(Number))
      Offset = Negative ? -int64_t(*Given) : int64_t(*Given);
    else
      return nullptr;
  }
  Value *V = read(Base, 64);
  if (!V)
    return nullptr;
  Value *Pointer =
      S.has("shared") || S.has("shared::cta") || S.has("shared::cluster")
          ? sharedAt(V)
          : B.CreateIntToPtr(V, B.getPtrTy());
  return Offset
             ? B.CreateGEP(B.getInt8Ty(), Pointer, B.getInt64(uint64_t(Offset)))
             : Pointer;
}

/// Counted from the block's own: what another block of the cluster has may lie
/// before it, in 32 bits as in 64.
Value *PtxBody::sharedAt(Value *Address) {
  Value *Low = B.CreateTrunc(Address, B.getInt32Ty());
  return B.CreateGEP(B.getInt8Ty(), sharedBase(),
                     B.CreateSExt(Low, B.getInt64Ty()));
}

/// mapa and getctarank: the same place in another block's shared memory, and
/// whose it is.
bool PtxBody::ofCluster(const PtxStatement &S) {
  bool Maps = S.Words[0] == "mapa";
  if (S.Operands.size() < 2u + Maps)
    return false;
  Value *V = read(S.Operands[1], 64);
  Value *Rank = Maps ? read(S.Operands[2], 32) : nullptr;
  if (!V || (Maps && !Rank))
    return false;
  bool InSpace = S.has("shared::cluster") || S.has("shared");
  Value *Place = InSpace ? sharedAt(V) : B.CreateIntToPtr(V, B.getPtrTy());
  if (!Maps)
    return write(S.Operands[0],
                 call("__stark_sim_shared_rank", B.getInt32Ty(), {Place}));
  Value *Found = call("__stark_sim_map_shared", B.getPtrTy(), {Place, Rank});
  Value *Number = B.CreatePtrToInt(Found, B.getInt64Ty());
  if (InSpace)
    Number =
        B.CreateSub(Number, B.CreatePtrToInt(sharedBase(), B.getInt64Ty()));
  return write(S.Operands[0], Number);
}

/// ld and st. An access of several elements is one access, as on a GPU.
bool PtxBody::memory(const PtxStatement &S) {
  std::optional<PtxType> T = parsePtxType(S.Words.back());
  bool Loads = S.Words[0] == "ld";
  if (!T || T->Bits < 8 || S.Operands.size() < 2 || S.has("mmio"))
    return false;
  std::vector<std::string> List = listOf(S.Operands[Loads ? 0 : 1]);
  size_t Count = S.has("v2") ? 2 : S.has("v4") ? 4 : S.has("v8") ? 8 : 1;
  Value *Where = address(S.Operands[Loads ? 1 : 0], S);
  if (!Where || List.size() != Count)
    return false;
  Type *One = B.getIntNTy(T->bits());
  Type *Whole = Count > 1 ? FixedVectorType::get(One, unsigned(Count)) : One;
  Align Aligned(Count * T->bits() / 8);
  bool Ordered = S.has("volatile") || S.has("relaxed") || S.has("acquire") ||
                 S.has("release");
  if (Loads) {
    Value *V = B.CreateAlignedLoad(Whole, Where, Aligned, Ordered);
    for (size_t I = 0; I < Count; ++I) {
      Value *Element = Count > 1 ? B.CreateExtractElement(V, I) : V;
      if (!writeAs(List[I], *T, Element))
        return false;
    }
    return true;
  }
  Value *V = Count > 1 ? PoisonValue::get(Whole) : nullptr;
  for (size_t I = 0; I < Count; ++I) {
    Value *Element = read(List[I], T->bits());
    if (!Element)
      return false;
    V = Count > 1 ? B.CreateInsertElement(V, Element, I) : Element;
  }
  B.CreateAlignedStore(V, Where, Aligned, Ordered);
  if (!S.has("async"))
    return true;
  // Bytes that a barrier awaits, in the same block's memory.
  Value *Barrier = S.Operands.size() > 2 ? address(S.Operands[2], S) : nullptr;
  if (Barrier)
    call("__stark_sim_async_bulk", B.getVoidTy(),
         {Where, B.getInt64(Count * T->bits() / 8), Barrier});
  return Barrier != nullptr;
}

/// atom and red.
bool PtxBody::atomic(const PtxStatement &S) {
  std::optional<PtxType> T = parsePtxType(S.Words.back());
  bool Returns = S.Words[0] == "atom";
  if (!T || T->Lanes > 1 || T->Bits < 32 || S.has("noftz") ||
      S.Operands.size() < 2u + Returns)
    return false;
  Value *Where = address(S.Operands[Returns], S);
  Value *V = readAs(S.Operands[1 + Returns], *T);
  if (!Where || !V)
    return false;
  Align Aligned(T->Bits / 8);
  Value *Old = nullptr;
  if (S.has("cas")) {
    Value *New = S.Operands.size() > 3 ? readAs(S.Operands[3], *T) : nullptr;
    if (!New || T->floats())
      return false;
    Old = B.CreateExtractValue(B.CreateAtomicCmpXchg(Where, V, New, Aligned,
                                                     AtomicOrdering::Monotonic,
                                                     AtomicOrdering::Monotonic),
                               0);
  } else {
    bool Signed = T->Kind == 's', Float = T->floats();
    AtomicRMWInst::BinOp Op =
        S.has("add")    ? Float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add
        : S.has("exch") ? AtomicRMWInst::Xchg
        : S.has("and")  ? AtomicRMWInst::And
        : S.has("or")   ? AtomicRMWInst::Or
        : S.has("xor")  ? AtomicRMWInst::Xor
        : S.has("min")  ? Signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin
        : S.has("max")  ? Signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax
                        : AtomicRMWInst::BAD_BINOP;
    if (Op == AtomicRMWInst::BAD_BINOP ||
        (Float && Op != AtomicRMWInst::FAdd && Op != AtomicRMWInst::Xchg))
      return false;
    Old = B.CreateAtomicRMW(Op, Where, V, Aligned, AtomicOrdering::Monotonic);
  }
  return !Returns || writeAs(S.Operands[0], *T, Old);
}

/// cp.async of 4, 8 or 16 bytes. The data are there at once, and in flight
/// until they have been waited for (AsyncCopy.cpp). Of a source that is shorter
/// the rest is zeros.
bool PtxBody::copy(const PtxStatement &S) {
  if (!S.has("async") || S.has("reduce"))
    return false;
  if (S.has("bulk"))
    return bulkCopy(S);
  Type *Void = B.getVoidTy();
  if (S.has("mbarrier")) {
    Value *Barrier = S.Operands.empty() ? nullptr : address(S.Operands[0], S);
    if (Barrier)
      call("__stark_sim_async_arrive", Void,
           {Barrier, B.getInt32(S.has("noinc"))});
    return Barrier != nullptr;
  }
  if (S.has("commit_group") || S.has("wait_all"))
    call("__stark_sim_async_commit", Void, {});
  if (S.has("wait_group") || S.has("wait_all")) {
    Value *Left = S.has("wait_all")    ? B.getInt32(0)
                  : S.Operands.empty() ? nullptr
                                       : read(S.Operands[0], 32);
    if (Left)
      call("__stark_sim_async_wait", Void, {Left});
    return Left != nullptr;
  }
  if (S.has("commit_group"))
    return true;
  std::optional<uint64_t> Bytes =
      S.Operands.size() >= 3 ? constantOf(S.Operands[2]) : std::nullopt;
  if (!Bytes || (*Bytes != 4 && *Bytes != 8 && *Bytes != 16))
    return false;
  // Of a policy there is nothing to be known.
  Value *Given = S.Operands.size() > 3 &&
                         !(S.has("L2::cache_hint") && S.Operands.size() == 4)
                     ? read(S.Operands[3], 32)
                     : B.getInt32(uint32_t(*Bytes));
  if (!Given)
    return false;
  PtxStatement From;
  From.Words = {"ld", "global"};
  Value *Source = address(S.Operands[1], From),
        *Target = address(S.Operands[0], S);
  if (!Source || !Target)
    return false;
  Type *T = FixedVectorType::get(B.getInt32Ty(), unsigned(*Bytes / 4));
  auto *Whole = dyn_cast<ConstantInt>(Given);
  if (Whole && Whole->getZExtValue() == *Bytes) {
    B.CreateAlignedStore(B.CreateAlignedLoad(T, Source, Align(*Bytes)), Target,
                         Align(*Bytes));
  } else {
    // What is not read need not be there.
    B.CreateAlignedStore(Constant::getNullValue(T), Target, Align(*Bytes));
    Value *Some = B.CreateICmpUGE(Given, B.getInt32(uint32_t(*Bytes)));
    BasicBlock *All = BasicBlock::Create(M.getContext(), "", F),
               *Part = BasicBlock::Create(M.getContext(), "", F),
               *After = BasicBlock::Create(M.getContext(), "", F);
    B.CreateCondBr(Some, All, Part);
    B.SetInsertPoint(All);
    B.CreateAlignedStore(B.CreateAlignedLoad(T, Source, Align(*Bytes)), Target,
                         Align(*Bytes));
    B.CreateBr(After);
    B.SetInsertPoint(Part);
    B.CreateMemCpy(Target, Align(1), Source, Align(1),
                   B.CreateZExt(Given, B.getInt64Ty()));
    B.CreateBr(After);
    B.SetInsertPoint(After);
  }
  call("__stark_sim_async_begun", Void, {Target, B.getInt64(*Bytes)});
  return true;
}

/// bar and barrier: of the block, a part of it, or a warp.
bool PtxBody::barrier(const PtxStatement &S) {
  Type *Void = B.getVoidTy();
  if (S.has("cluster") && (S.has("arrive") || S.has("wait"))) {
    call(S.has("arrive") ? "__stark_sim_cluster_arrive"
                         : "__stark_sim_cluster_wait",
         Void, {});
    return true;
  }
  Value *Id = S.Operands.empty() ? nullptr : read(S.Operands[0], 32);
  Value *Count =
      S.Operands.size() > 1 ? read(S.Operands[1], 32) : B.getInt32(0);
  if (!Id || !Count || S.has("cluster") || S.has("red"))
    return false;
  if (S.has("arrive") && S.Operands.size() > 1)
    call("__stark_sim_barrier_arrive", Void, {Id, Count});
  else if (S.has("warp"))
    call("__stark_sim_syncwarp", Void, {Id});
  else if (S.has("sync"))
    call("__stark_sim_barrier", Void, {Id, Count});
  else
    return false;
  return true;
}

/// Barriers, fences, and what the lanes of a warp do together.
bool PtxBody::together(const PtxStatement &S) {
  StringRef Name = S.Words[0];
  Type *Int = B.getInt32Ty(), *Void = B.getVoidTy(), *Long = B.getInt64Ty();
  auto In = [&](size_t I) {
    return I < S.Operands.size() ? read(S.Operands[I], 32) : nullptr;
  };
  if (Name == "membar" || Name == "fence") {
    unsigned Scope = S.has("cta") ? 0 : S.has("sys") ? 2 : 1;
    call("__stark_sim_fence", Void, {B.getInt32(Scope)});
    return true;
  }
  if (Name == "trap") {
    call("__stark_sim_trap", Void, {});
    return true;
  }
  if (Name == "activemask")
    return S.Operands.size() == 1 &&
           write(S.Operands[0], call("__stark_sim_activemask", Int, {}));
  if (Name == "bar" || Name == "barrier")
    return barrier(S);
  if (!S.has("sync") || S.Operands.size() < 3)
    return false;
  Value *V = In(1), *Mask = In(S.Operands.size() - 1);
  if (Name == "shfl" && S.Operands.size() == 5) {
    // The operand that holds the width: 0 or 31, and the lanes' part above.
    std::optional<uint64_t> Limits = constantOf(S.Operands[3]);
    unsigned Mode = S.has("idx")    ? 0
                    : S.has("up")   ? 1
                    : S.has("down") ? 2
                    : S.has("bfly") ? 3
                                    : 4;
    Value *Lane = In(2);
    if (!V || !Mask || !Lane || Mode == 4 || !Limits ||
        (*Limits & 31) != (Mode == 1 ? 0 : 31))
      return false;
    unsigned Width = 32 - unsigned(*Limits >> 8 & 31);
    Value *Got = call("__stark_sim_shuffle", Long,
                      {Mask, B.CreateZExt(V, Long), B.getInt32(Mode), Lane,
                       B.getInt32(Width)});
    return write(S.Operands[0], Got);
  }
  if (Name == "vote" && S.Operands.size() == 3) {
    unsigned Op = S.has("all")      ? 0
                  : S.has("any")    ? 1
                  : S.has("ballot") ? 2
                  : S.has("uni")    ? 3
                                    : 4;
    Value *Held = read(S.Operands[1], 1);
    if (!Held || !Mask || Op == 4)
      return false;
    return write(S.Operands[0],
                 call("__stark_sim_vote", Int,
                      {Mask, B.getInt32(Op), B.CreateZExt(Held, Int)}));
  }
  if (Name == "redux" && S.Operands.size() == 3 && !S.has("f32")) {
    bool Signed = S.has("s32");
    unsigned Op = S.has("add")   ? 0
                  : S.has("min") ? Signed ? 3 : 1
                  : S.has("max") ? Signed ? 4 : 2
                  : S.has("and") ? 5
                  : S.has("or")  ? 6
                  : S.has("xor") ? 7
                                 : 8;
    if (!V || !Mask || Op == 8)
      return false;
    return write(S.Operands[0],
                 call("__stark_sim_reduce", Int, {Mask, V, B.getInt32(Op)}));
  }
  return false;
}
