//===- Tiles.cpp - What a kernel's text says of its block -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   blockIdx.x * 16 + threadIdx.x, tile[threadIdx.y][threadIdx.x] ->
/// a block of 16 x 16
///
//===----------------------------------------------------------------------===//

#include "Tiles.h"
#include "stark/AST/BlockLimits.h"
#include "clang/AST/Attr.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

/// The axis of \p Which, as "threadIdx"; -1 where \p F is something else.
static int axisNamed(const Formula &F, llvm::StringRef Which) {
  llvm::StringRef Name = isName(F) ? llvm::StringRef(F->Name) : "";
  return Name.consume_front(Which) && Name.size() == 2 && Name[0] == '.'
             ? Name[1] - 'x'
             : -1;
}

/// Of the two of a sum.
void Machine::noteTile(const Value &L, const Value &R) {
  if (!As)
    return;
  for (auto [Thread, Block] : {std::pair(&L, &R), std::pair(&R, &L)}) {
    int Axis = axisNamed(Thread->How, "threadIdx");
    if (Axis < 0 || !Block->How)
      continue;
    std::vector<Formula> Parts = factors(Block->How);
    if (Parts.size() == 2 && isConstant(Parts[0]) && Parts[0]->Number > 1 &&
        axisNamed(Parts[1], "blockIdx") == Axis)
      TileSide[Axis] = TileSide[Axis]
                           ? std::min(TileSide[Axis], Parts[0]->Number)
                           : Parts[0]->Number;
  }
}

/// How many threads along an axis an array of \p Count elements has room for,
/// where each has the element \p Plus behind its own number.
static int64_t sideOf(int64_t Count, int64_t Plus) {
  // A border on both sides, else what lies in front.
  if (Plus > 0)
    return Count > 2 * Plus ? Count - 2 * Plus : Count - Plus;
  // tile[32][33]: one more against conflicts of banks.
  bool Padded = Count > 8 && ((Count - 1) & (Count - 2)) == 0;
  return Padded ? Count - 1 : Count;
}

/// for (t = 0; t < n / 16; ++t): what is left of n is left out.
void Machine::noteWholeTiles(const Formula &Limit) {
  if (!As || !InLoopCondition)
    return;
  if (isName(Limit))
    LoopLimits.insert(Limit->Name);
  if (!Limit || Limit->Kind != Op::Div || !isName(Limit->Left))
    return;
  int Axis = axisNamed(Limit->Right, "blockDim");
  int64_t &Tile = WholeTiles[Limit->Left->Name];
  Tile = std::max(Tile, Axis >= 0                  ? As->BlockDim[Axis]
                        : isConstant(Limit->Right) ? Limit->Right->Number
                                                   : 0);
}

void Machine::noteSharedSide(const Value &Base, const Value &Index,
                             QualType Array) {
  const ConstantArrayType *Type =
      As && Base.isAddress() && Base.To->Where == Space::Shared && Index.How
          ? Context.getAsConstantArrayType(Array)
          : nullptr;
  if (!Type)
    return;
  Formula Thread = Index.How;
  int64_t Plus = 0;
  if (Thread->Kind == Op::Add && isConstant(Thread->Right)) {
    Plus = Thread->Right->Number;
    Thread = Thread->Left;
  }
  int Axis = axisNamed(Thread, "threadIdx");
  // What the last thread of the block does not reach says nothing of it.
  if (Axis >= 0 &&
      (As->BlockDim[Axis] < 2 || As->Index[Axis] != As->BlockDim[Axis] - 1))
    return;
  int64_t Count = int64_t(Type->getSize().getLimitedValue(INT32_MAX));
  if (Axis < 0 || Plus < 0 || Plus >= Count)
    return;
  int64_t Side = sideOf(Count, Plus);
  SharedSide[Axis] = SharedSide[Axis] ? std::min(SharedSide[Axis], Side) : Side;
}

/// By __launch_bounds__; 0: nothing is said.
static int64_t boundOf(const FunctionDecl *Kernel) {
  const auto *Bounds = Kernel->getAttr<CUDALaunchBoundsAttr>();
  Expr::EvalResult R;
  if (!Bounds || !Bounds->getMaxThreads() ||
      Bounds->getMaxThreads()->isValueDependent() ||
      !Bounds->getMaxThreads()->EvaluateAsInt(R, Kernel->getASTContext()))
    return 0;
  return R.Val.getInt().getExtValue();
}

/// Chooses the sides of a block that are \p Free for \p Kernel, threads of
/// which \p Seen has followed; the others are as they are in \p Sides. False
/// where the kernel says nothing of them: then they are the usual ones.
static bool chooseBlock(const Machine &Seen, const FunctionDecl *Kernel,
                        const bool (&Free)[3], int64_t (&Sides)[3]) {
  constexpr int64_t Most = int64_t(MostThreadsOfBlock), Usual = 256;
  int64_t Bound = boundOf(Kernel), Threads = 1;
  std::vector<int> Rest;
  for (int I = 0; I < 3; ++I)
    if (!Free[I])
      Threads *= Sides[I];
  for (int I = 0; I < 3; ++I) {
    int64_t Side = Seen.blockSide(I);
    if (!Free[I])
      continue;
    if (Side > 0 && Threads * Side <= Most)
      Threads *= Sides[I] = Side;
    else
      Rest.push_back(I);
  }
  bool Bounded = Bound > 0 && Bound <= Most;
  int64_t Left = (Bounded ? Bound : std::max(Usual, Threads)) / Threads;
  bool Said = Bounded || llvm::count(Free, true) > ptrdiff_t(Rest.size());
  // 256, 16 x 16, 8 x 8 x 4
  for (; !Rest.empty(); Rest.pop_back()) {
    int64_t Side = 1;
    auto Fits = [&](int64_t Each) {
      int64_t All = 1;
      for (size_t I = 0; I < Rest.size(); ++I)
        All *= Each;
      return All <= Left;
    };
    while (Fits(Side * 2))
      Side *= 2;
    Sides[Rest.back()] = Rest.size() == 1 ? std::max<int64_t>(Left, 1) : Side;
    Left /= Side;
  }
  return Said;
}

bool draft::takeBlockOf(const Machine &Seen, const FunctionDecl *Kernel,
                        Formula (&Block)[3]) {
  int64_t Sides[3] = {1, 1, 1};
  if (!chooseBlock(Seen, Kernel, Seen.ThreadUsed, Sides))
    return false;
  for (int I = 0; I < 3; ++I)
    Block[I] = constant(Sides[I]);
  return true;
}

void draft::blockSides(const Machine &Seen, const FunctionDecl *Kernel,
                       int64_t (&Sides)[3]) {
  bool Used[3];
  for (int I = 0; I < 3; ++I) {
    Used[I] = Seen.ThreadUsed[I] || I == 0;
    Sides[I] = 1;
  }
  chooseBlock(Seen, Kernel, Used, Sides);
}

Formula draft::onlySize(const EntryUse &Use) {
  Formula Only;
  for (const LeafUse &L : Use.Leaves)
    if (!L.Array && L.Given.isInteger() && hasNames(L.Given.How)) {
      if (Only)
        return nullptr;
      Only = L.Given.How;
    }
  return Only;
}

bool draft::isOnlyOurs(const EntryUse &Use, const Formula &Grid) {
  std::set<std::string> In, Elsewhere;
  collectNames(Grid, In);
  for (const LeafUse &L : Use.Leaves) {
    collectNames(L.Given.isInteger() ? L.Given.How : nullptr, Elsewhere);
    collectNames(L.Bytes, Elsewhere);
  }
  return !In.empty() && llvm::all_of(In, [&](const std::string &Name) {
    return !Elsewhere.count(Name) &&
           (Use.MadeUpNames.count(Name) || Use.ReadNames.count(Name));
  });
}

/// Whether \p L has as many blocks as it takes of so many threads.
static bool dividesGrid(const Launch &L, const std::string &Name) {
  std::set<std::string> In;
  for (const Value &G : L.Grid)
    collectNames(G.How, In);
  return In.count(Name);
}

/// The name that \p B is a multiple of, and how many times: 32 of warps * 32.
/// Of one that is ours; else empty.
static std::pair<std::string, int64_t> freeSide(const Value &B,
                                                const Machine &Host) {
  std::vector<Formula> Parts =
      B.isInteger() && B.How ? factors(B.How) : std::vector<Formula>();
  int64_t Times = 1;
  if (Parts.size() == 2 && isConstant(Parts[0])) {
    Times = Parts[0]->Number;
    Parts.erase(Parts.begin());
  }
  bool Ours = Parts.size() == 1 && isName(Parts[0]) && Times > 0 &&
              (Host.ReadNames.count(Parts[0]->Name) ||
               Host.MadeUpNames.count(Parts[0]->Name));
  return Ours ? std::pair(Parts[0]->Name, Times)
              : std::pair(std::string(), Times);
}

/// Names that are ours and that \p F divides something of sizes by.
static void collectDivisors(const Formula &F, const Machine &Host,
                            std::set<std::string> &Found) {
  if (!F)
    return;
  if ((F->Kind == Op::Div || F->Kind == Op::CeilDiv) && hasNames(F->Left) &&
      isName(F->Right) &&
      (Host.ReadNames.count(F->Right->Name) ||
       Host.MadeUpNames.count(F->Right->Name)))
    Found.insert(F->Right->Name);
  collectDivisors(F->Left, Host, Found);
  collectDivisors(F->Right, Host, Found);
}

BlockNumbers draft::blockNumbers(ASTContext &Context,
                                 const std::set<std::string> &Fixed,
                                 const Machine &Host) {
  BlockNumbers Numbers;
  for (const Launch &L : Host.Launches) {
    bool Free[3] = {}, Known = true;
    int64_t Sides[3] = {1, 1, 1};
    for (int I = 0; I < 3; ++I) {
      const Value &B = L.Block[I];
      Free[I] = !freeSide(B, Host).first.empty();
      Known &= B.isInteger();
      Sides[I] = B.isInteger() ? B.Number : 1;
    }
    if (!Known || llvm::none_of(Free, [](bool Is) { return Is; }))
      continue;
    Machine Look(Context, Fixed);
    Launch Tried;
    Tried.Kernel = L.Kernel;
    for (const ParmVarDecl *P : L.Kernel->parameters())
      Tried.Arguments.push_back(
          Look.makeUp(P->getType(), P->getNameAsString()));
    for (int I = 0; I < 3; ++I) {
      Tried.Grid[I] = Value::integer(2);
      Tried.Block[I] = Value::integer(Free[I] ? 16 : Sides[I]);
    }
    Look.runKernel(Tried);
    chooseBlock(Look, L.Kernel, Free, Sides);
    // A name for two sides, in several launches: the least.
    for (int I = 0; I < 3; ++I)
      if (Free[I]) {
        auto [Name, Times] = freeSide(L.Block[I], Host);
        bool Counts = isBlockSize(Name) || dividesGrid(L, Name) || Times > 1;
        int64_t Number = std::max<int64_t>(Sides[I] / Times, 1);
        auto [At, New] = Numbers.try_emplace(Name, BlockNumber{Number, Counts});
        At->second.Number = std::min(At->second.Number, Number);
        At->second.Fixed |= Counts;
      }
  }
  // How much of a size each block takes is a handful: as large as the size, it
  // would leave one block, or none.
  constexpr int64_t Part = 16;
  std::set<std::string> Divisors;
  for (const Launch &L : Host.Launches)
    for (const Value &G : L.Grid)
      collectDivisors(G.How, Host, Divisors);
  for (const std::string &Name : Divisors)
    Numbers.try_emplace(Name, BlockNumber{Part, true});
  return Numbers;
}
