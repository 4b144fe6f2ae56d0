//===- PtxTensor.cpp - Matrices, bulk copies, barriers in memory in PTX ---===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   ldmatrix and stmatrix are shuffles of addresses and accesses of two
/// bytes or four, so their accesses are seen as any other's; mma is done by the
/// runtime for the whole warp (TensorOps.h).
///
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "PtxInstruction.h"
#include "TensorOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace stark::sim;

static std::optional<MatrixType> matrixType(StringRef Word) {
  return StringSwitch<std::optional<MatrixType>>(Word)
      .Case("f16", MatrixType::F16)
      .Case("bf16", MatrixType::BF16)
      .Case("tf32", MatrixType::TF32)
      .Case("f32", MatrixType::F32)
      .Case("f64", MatrixType::F64)
      .Case("s8", MatrixType::S8)
      .Case("u8", MatrixType::U8)
      .Case("s32", MatrixType::S32)
      .Case("e4m3", MatrixType::E4M3)
      .Case("e5m2", MatrixType::E5M2)
      .Default(std::nullopt);
}

/// The shapes of the PTX ISA whose elements lie as TensorOps.cpp has them.
static bool isKnown(const MatrixOp &Op) {
  unsigned Bits = bitsOf(Op.A);
  if (bitsOf(Op.B) != Bits || Op.N != 8)
    return false;
  if (Bits == 64)
    return Op.C == MatrixType::F64 &&
           ((Op.M == 8 && Op.K == 4) ||
            (Op.M == 16 && (Op.K == 4 || Op.K == 8 || Op.K == 16)));
  bool Whole = Op.A == MatrixType::S8 || Op.A == MatrixType::U8;
  if (Whole != (Op.C == MatrixType::S32) || Op.C == MatrixType::F64)
    return false;
  // A register of A has 32 / Bits elements, and a lane one or two columns.
  return Op.M == 16 && (Op.K == 128 / Bits || Op.K == 256 / Bits);
}

static std::optional<MatrixOp> matrixOf(const PtxStatement &S) {
  MatrixOp Op;
  size_t Last = S.Words.size();
  if (Last < 9 || !S.has("sync") || !S.has("row") || !S.has("col") ||
      S.has("sp") || S.has("xor") || S.has("and"))
    return std::nullopt;
  StringRef Shape = S.Words[3];
  auto A = matrixType(S.Words[Last - 3]), B = matrixType(S.Words[Last - 2]),
       C = matrixType(S.Words[Last - 1]);
  if (!A || !B || !C || S.Words[Last - 4] != S.Words[Last - 1] ||
      !Shape.consume_front("m") || Shape.consumeInteger(10, Op.M) ||
      !Shape.consume_front("n") || Shape.consumeInteger(10, Op.N) ||
      !Shape.consume_front("k") || Shape.getAsInteger(10, Op.K))
    return std::nullopt;
  Op.A = *A;
  Op.B = *B;
  Op.C = *C;
  Op.Saturates = S.has("satfinite");
  return isKnown(Op) ? std::optional(Op) : std::nullopt;
}

/// mma.sync: registers in memory -> the runtime -> registers.
bool PtxBody::matrix(const PtxStatement &S) {
  std::optional<MatrixOp> Op = matrixOf(S);
  if (!Op || S.Operands.size() != 4)
    return false;
  unsigned Counts[] = {Op->registersOfA(), Op->registersOfB(),
                       Op->registersOfC()};
  IRBuilder<> Entry(&F->getEntryBlock(), F->getEntryBlock().begin());
  Type *Int = B.getInt32Ty();
  Value *In = Entry.CreateAlloca(
      ArrayType::get(Int, Counts[0] + Counts[1] + Counts[2]));
  Value *Out = Entry.CreateAlloca(ArrayType::get(Int, Counts[2]));
  uint64_t At = 0;
  for (unsigned I = 0; I < 3; ++I) {
    std::vector<std::string> List = listOf(S.Operands[I + 1]);
    unsigned Words = List.empty() ? 0 : unsigned(Counts[I] / List.size());
    if (!Words || Words > 2 || Words * List.size() != Counts[I])
      return false;
    for (const std::string &Register : List) {
      Value *V = read(Register, 32 * Words);
      if (!V)
        return false;
      B.CreateStore(V, B.CreateConstGEP1_64(Int, In, At));
      At += Words;
    }
  }
  call("__stark_sim_matrix", B.getVoidTy(), {B.getInt32(Op->code()), In, Out});
  std::vector<std::string> List = listOf(S.Operands[0]);
  unsigned Words = unsigned(Counts[2] / List.size());
  for (size_t I = 0; I < List.size(); ++I)
    if (!write(List[I],
               B.CreateLoad(B.getIntNTy(32 * Words),
                            B.CreateConstGEP1_64(Int, Out, I * Words))))
      return false;
  return true;
}

/// ldmatrix and stmatrix of 8 x 8 elements of 16 bits. Lane 8 I + J has the
/// address of row J of matrix I.
bool PtxBody::matrixMemory(const PtxStatement &S) {
  bool Loads = S.Words[0] == "ldmatrix", Turned = S.has("trans");
  unsigned Count = S.has("x1") ? 1 : S.has("x2") ? 2 : S.has("x4") ? 4 : 0;
  if (!Count || !S.has("m8n8") || !S.has("b16") || S.Operands.size() != 2)
    return false;
  std::vector<std::string> List = listOf(S.Operands[!Loads]);
  Value *Row = address(S.Operands[Loads], S);
  if (!Row || List.size() != Count)
    return false;
  Type *Int = B.getInt32Ty(), *Long = B.getInt64Ty();
  Value *Lane = call("__stark_sim_sreg", Int, {B.getInt32(12)});
  Value *Bits = B.CreatePtrToInt(Row, Long);
  auto RowOf = [&](Value *Which, unsigned Matrix) {
    Value *From = B.CreateAdd(Which, B.getInt32(8 * Matrix));
    Value *Got =
        call("__stark_sim_shuffle", Long,
             {B.getInt32(~0u), Bits, B.getInt32(0), From, B.getInt32(32)});
    return B.CreateIntToPtr(Got, B.getPtrTy());
  };
  Value *High = B.CreateLShr(Lane, 2), *Low = B.CreateAnd(Lane, 3);
  Type *Half = B.getInt16Ty();
  for (unsigned I = 0; I < Count; ++I) {
    Value *Places[2];
    if (Turned) {
      for (unsigned J = 0; J < 2; ++J)
        Places[J] = B.CreateGEP(
            Half, RowOf(B.CreateAdd(B.CreateShl(Low, 1), B.getInt32(J)), I),
            B.CreateZExt(High, Long));
    } else {
      Places[0] = B.CreateGEP(Int, RowOf(High, I), B.CreateZExt(Low, Long));
    }
    if (Loads && !Turned) {
      if (!write(List[I], B.CreateAlignedLoad(Int, Places[0], Align(4))))
        return false;
    } else if (Loads) {
      Value *Both[2];
      for (unsigned J = 0; J < 2; ++J)
        Both[J] =
            B.CreateZExt(B.CreateAlignedLoad(Half, Places[J], Align(2)), Int);
      if (!write(List[I], B.CreateOr(Both[0], B.CreateShl(Both[1], 16))))
        return false;
    } else {
      Value *V = read(List[I], 32);
      if (!V)
        return false;
      if (!Turned) {
        B.CreateAlignedStore(V, Places[0], Align(4));
        continue;
      }
      for (unsigned J = 0; J < 2; ++J)
        B.CreateAlignedStore(B.CreateTrunc(B.CreateLShr(V, 16 * J), Half),
                             Places[J], Align(2));
    }
  }
  return true;
}

/// A copy to the same place of several blocks, a bit of \p Ranks each. It is
/// read once; the barrier at that place of each is told.
void PtxBody::multicast(Value *To, Value *From, Value *Bytes, Value *Barrier,
                        Value *Ranks) {
  auto Target = [&](Value *Place, Value *Rank) {
    return call("__stark_sim_map_shared", B.getPtrTy(), {Place, Rank});
  };
  auto New = [&] { return BasicBlock::Create(M.getContext(), "", F); };
  // What is copied first is read no more when its barrier has been told.
  for (bool Tells : {false, true}) {
    BasicBlock *Before = B.GetInsertBlock(), *Head = New(), *Body = New(),
               *Next = New(), *After = New();
    B.CreateBr(Head);
    B.SetInsertPoint(Head);
    PHINode *Rank = B.CreatePHI(B.getInt32Ty(), 2),
            *Source = B.CreatePHI(B.getPtrTy(), 2);
    Value *Bit = B.CreateAnd(B.CreateLShr(Ranks, Rank), B.getInt32(1));
    B.CreateCondBr(B.CreateIsNotNull(Bit), Body, Next);
    B.SetInsertPoint(Body);
    Value *Place = Target(To, Rank);
    if (Tells)
      call("__stark_sim_async_bulk", B.getVoidTy(),
           {Place, Bytes, Target(Barrier, Rank)});
    else
      B.CreateMemCpy(Place, Align(16), Source, Align(16), Bytes)
          ->setMetadata(BulkCopyNote, MDNode::get(B.getContext(), {}));
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
    PHINode *Known = B.CreatePHI(B.getPtrTy(), 2);
    Known->addIncoming(Source, Head);
    Known->addIncoming(Place, Body);
    Value *Following = B.CreateAdd(Rank, B.getInt32(1));
    B.CreateCondBr(B.CreateIsNotNull(B.CreateLShr(Ranks, Following)), Head,
                   After);
    Rank->addIncoming(B.getInt32(0), Before);
    Rank->addIncoming(Following, Next);
    Source->addIncoming(From, Before);
    Source->addIncoming(Known, Next);
    B.SetInsertPoint(After);
  }
}

/// cp.async.bulk of plain bytes, and its groups. From shared memory to global
/// memory it is made at once.
bool PtxBody::bulkCopy(const PtxStatement &S) {
  if (S.has("commit_group") || S.has("wait_group"))
    return true;
  if (S.has("tensor") || S.has("prefetch") || S.Operands.size() < 3)
    return S.has("prefetch") && !S.has("tensor");
  auto IsShared = [&](size_t Word) {
    return Word < S.Words.size() &&
           StringRef(S.Words[Word]).starts_with("shared");
  };
  bool ToShared = IsShared(3) && S.has("mbarrier::complete_tx::bytes");
  if (!ToShared && !S.has("bulk_group"))
    return false;
  PtxStatement Shared, Global;
  Shared.Words = {"ld", "shared"};
  Global.Words = {"ld", "global"};
  bool FromShared = !ToShared || IsShared(4);
  Value *To = address(S.Operands[0], ToShared ? Shared : Global),
        *From = address(S.Operands[1], FromShared ? Shared : Global),
        *Bytes = read(S.Operands[2], 32);
  if (!To || !From || !Bytes)
    return false;
  Bytes = B.CreateZExt(Bytes, B.getInt64Ty());
  if (S.has("multicast::cluster")) {
    Value *Barrier = S.Operands.size() > 4 && ToShared
                         ? address(S.Operands[3], Shared)
                         : nullptr;
    Value *Ranks = Barrier ? read(S.Operands[4], 16) : nullptr;
    if (Ranks)
      multicast(To, From, Bytes, Barrier, B.CreateZExt(Ranks, B.getInt32Ty()));
    return Ranks != nullptr;
  }
  B.CreateMemCpy(To, Align(16), From, Align(16), Bytes)
      ->setMetadata(BulkCopyNote, MDNode::get(B.getContext(), {}));
  if (!ToShared)
    return true;
  Value *Barrier =
      S.Operands.size() > 3 ? address(S.Operands[3], Shared) : nullptr;
  if (!Barrier)
    return false;
  call("__stark_sim_async_bulk", B.getVoidTy(), {To, Bytes, Barrier});
  return true;
}

/// A barrier in shared memory, of this block or another of the cluster.
bool PtxBody::memoryBarrier(const PtxStatement &S) {
  Type *Int = B.getInt32Ty(), *Long = B.getInt64Ty(), *Void = B.getVoidTy();
  PtxStatement Space;
  bool Shared =
      S.has("shared") || S.has("shared::cta") || S.has("shared::cluster");
  Space.Words = {"ld", Shared ? "shared" : "generic"};
  auto Where = [&](size_t I) {
    return I < S.Operands.size() ? address(S.Operands[I], Space) : nullptr;
  };
  auto Number = [&](size_t I) -> Value * {
    return I < S.Operands.size() ? read(S.Operands[I], 32) : nullptr;
  };
  if (S.has("inval"))
    return Where(0) != nullptr;
  if (S.has("init")) {
    Value *At = Where(0), *Count = Number(1);
    if (At && Count)
      call("__stark_sim_mbarrier_init", Void, {At, Count});
    return At && Count;
  }
  if (S.has("arrive") || S.has("arrive_drop") || S.Words[1] == "expect_tx") {
    bool Expects = S.has("expect_tx"), Alone = S.Words[1] == "expect_tx";
    // Without a place for the state the barrier comes first.
    size_t First = StringRef(S.Operands[0]).starts_with("[") ? 0 : 1;
    Value *At = Where(First), *Given = Number(First + 1);
    if (!At || (Expects && !Given))
      return false;
    Value *Count = Alone               ? B.getInt32(0)
                   : Expects || !Given ? B.getInt32(1)
                                       : Given;
    Value *Bytes = Expects ? B.CreateZExt(Given, Long) : B.getInt64(0);
    Value *State = call("__stark_sim_mbarrier_arrive", Long,
                        {At, Count, Bytes, B.getInt32(S.has("arrive_drop"))});
    return First == 0 || write(S.Operands[0], State);
  }
  bool Blocks = S.has("try_wait");
  if (Blocks || S.has("test_wait")) {
    Value *At = Where(1), *Parity = Number(2);
    if (!At || !Parity)
      return false;
    Value *Done = call("__stark_sim_mbarrier_test", Int,
                       {At, B.CreateAnd(Parity, 1), B.getInt32(Blocks)});
    return write(S.Operands[0], B.CreateTrunc(Done, B.getInt1Ty()));
  }
  return false;
}
