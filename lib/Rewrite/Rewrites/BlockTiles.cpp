//===- BlockTiles.cpp - A matrix product in tiles of the block's size -----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel of square blocks in which a thread computes one
/// element of a matrix product (MatrixProduct.h), whoever launches it: the
/// block loads square tiles of both operands into shared memory.
///
///     for (int i = 0; i < k; ++i)         for each tile along k:
///       sum += a[row * k + i]        ->     load a_tile, b_tile; barrier
///              * b[i * n + col];            sum += a_tile[y][w] * b_tile[w][x]
///
/// Faster, because an element is loaded once a block rather than once a
/// thread, and by threads that lie side by side along the memory.
///
/// Kept: each element is summed in the same order by the same expressions,
/// what the sum begins with is read by threads that have an element, and
/// neither grid nor block changes. What lies outside is taken as zero. Where
/// the launch can be edited matmul-tiling is faster. Refused where the block
/// is not square or not known.
///
//===----------------------------------------------------------------------===//

#include "Analysis/MatrixProduct.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OddBlock("its blocks are no squares of 8, 16 or 32 threads a side");

static constexpr CodeTemplate Tiles(R"cuda($declared
  // The block's operands, in tiles that all of its threads load.
  constexpr int @kTile = $tile;
  __shared__ $a_type @a_tile[@kTile][@kTile$a_pad];
  __shared__ $b_type @b_tile[@kTile][@kTile$b_pad];
  const $row_type @first_row = $row - threadIdx.$row_axis;
  const $col_type @first_col = $col - threadIdx.$col_axis;
  $sum_type $sum = $start;
  for ($depth_type @begin = 0; @begin < $depth_bound; @begin += @kTile) {
    {
      const $row_type $row = @first_row + threadIdx.$a_wide;$row_shifted
      const $depth_type $in = @begin + threadIdx.$a_deep;
      @a_tile[threadIdx.$a_wide][threadIdx.$a_deep] = $row_inside$in < $depth_bound ? $a : $a_zero;
    }
    {
      const $col_type $col = @first_col + threadIdx.$b_wide;$col_shifted
      const $depth_type $in = @begin + threadIdx.$b_deep;
      @b_tile[threadIdx.$b_deep][threadIdx.$b_wide] = $col_inside$in < $depth_bound ? $b : $b_zero;
    }
    __syncthreads();
#pragma unroll
    for (int @w = 0; @w < @kTile; ++@w)
      $add
    __syncthreads();
  }
  $guard$store;)cuda");

namespace {
struct Plan {
  const Kernel *K;
  MatrixProduct P;
  uint64_t Side; ///< of the block
};
} // namespace

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses All(F, *K);
    std::optional<OrReason<MatrixProduct>> P = readMatrixProduct(F, *K, All);
    // Why it is no product matmul-tiling says.
    if (!P || !*P)
      continue;
    OrReason<std::array<uint64_t, 3>> Block = F.block(*K);
    if (!Block) {
      Out.refuse(*K->At, Block.why());
      continue;
    }
    auto [X, Y, Z] = *Block;
    bool Plane = (*P)->Row.Axis != 'z' && (*P)->Col.Axis != 'z';
    if (X == Y && Z == 1 && (X == 8 || X == 16 || X == 32) && Plane)
      Out.fits({K, **P, X});
    else
      Out.refuse(*K->At, Reason(OddBlock));
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Side = std::to_string(P.Side);
  return matchAt(
      *P.K->At, {P.K->name()}, 90, "Share tiles of the operands in the block",
      "'" + P.K->name() +
          "' computes one element a thread, and every operand is loaded again "
          "by each thread that needs it. Let the block of " +
          Side + " x " + Side + " threads load tiles of " + Side + " x " +
          Side +
          " elements of both into shared memory and multiply from there. The "
          "order of each sum stays, and so does its rounding.");
}

/// "row < m && ", or nothing where the source has no guard.
static std::string inside(const Facts &F, const Coordinate &C) {
  return C.Bound ? nameOf(C.V) + " < " + F.text(C.Bound) + " && " : "";
}

/// "sum += term;", after what the loop names; unset inside macros.
static std::optional<std::string>
addText(const Facts &F, const MatrixProduct &M, llvm::ArrayRef<Instead> Tiles) {
  std::string Text;
  for (const Stmt *S : M.Named) {
    std::vector<Instead> Mine;
    for (const Instead &Each : Tiles)
      if (nodesOf(S).count(Each.first))
        Mine.push_back(Each);
    std::optional<std::string> Line = F.textWith(S, Mine);
    if (!Line)
      return std::nullopt;
    Text += *Line + "\n";
  }
  std::vector<Instead> Mine;
  for (const Instead &Each : Tiles)
    if (nodesOf(M.Term).count(Each.first))
      Mine.push_back(Each);
  std::optional<std::string> Term = F.textWith(M.Term, Mine);
  if (!Term)
    return std::nullopt;
  Text += nameOf(M.Sum) + " += " + *Term + ";";
  return M.Named.empty() ? Text : "{\n" + Text + "\n}";
}

static bool addTypes(const Facts &F, const MatrixProduct &P,
                     CodeTemplate::Values &Given) {
  auto Written = [&](const VarDecl *V) { return F.writtenType(V->getType()); };
  Given["a_type"] = P.A.Type;
  Given["b_type"] = P.B.Type;
  Given["a_zero"] = zeroOf(P.A.Type);
  Given["b_zero"] = zeroOf(P.B.Type);
  Given["sum_type"] = F.typeName(P.Sum->getType());
  Given["sum"] = nameOf(P.Sum);
  Given["depth_type"] = Written(P.Depth);
  Given["in"] = nameOf(P.Depth);
  for (auto [Name, C] :
       {std::pair<std::string, const Coordinate *>("row", &P.Row),
        {"col", &P.Col}}) {
    Given[Name + "_type"] = Written(C->V);
    Given[Name] = nameOf(C->V);
    Given[Name + "_axis"] = std::string(1, C->Axis);
    Given[Name + "_inside"] = inside(F, *C);
    if (C->Bound && F.text(C->Bound).empty())
      return false;
    std::string &Shifted = Given[Name + "_shifted"];
    for (const ShiftedIndex &S : P.Shifted) {
      std::optional<Range> R = F.statementRange(S.Declared);
      if (!R)
        return false;
      if (S.Of == C->V)
        Shifted += "\n" + F.text(*R);
    }
  }
  std::string Common;
  for (const Coordinate &C : P.Common) {
    if (F.text(C.Bound).empty())
      return false;
    Common += inside(F, C);
  }
  for (const char *Hole : {"row_inside", "col_inside"})
    Given[Hole] = Common + Given[Hole];
  // Neighbouring threads load what lies side by side in memory.
  for (auto [Name, O] :
       {std::pair<std::string, const Operand *>("a", &P.A), {"b", &P.B}}) {
    Given[Name + "_deep"] = O->Along ? "x" : "y";
    Given[Name + "_wide"] = O->Along ? "y" : "x";
    Given[Name] = F.text(O->At.Whole);
    if (Given[Name].empty())
      return false;
  }
  // Only a tile whose columns threads side by side touch is padded.
  Given["a_pad"] = !P.A.Along || P.Row.Axis == 'x' ? " + 1" : "";
  Given["b_pad"] = P.B.Along ? " + 1" : "";
  return true;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const MatrixProduct &M = P.P;
  auto Names = Tiles.names([&](llvm::StringRef N) { return F.freshName(N); });
  CodeTemplate::Values Given;
  const auto *Body = llvm::cast<CompoundStmt>(P.K->body());
  std::optional<Range> First = F.range(Body->body_front()),
                       Last = F.statementRange(Body->body_back());
  auto At = [&](llvm::StringRef Tile, std::string Row, std::string Col) {
    return Names.lookup(Tile) + "[" + Row + "][" + Col + "]";
  };
  std::string W = Names.lookup("w");
  std::optional<std::string> Add = addText(
      F, M,
      {Instead(M.A.At.Whole,
               At("a_tile", std::string("threadIdx.") + M.Row.Axis, W)),
       Instead(M.B.At.Whole,
               At("b_tile", W, std::string("threadIdx.") + M.Col.Axis))});
  std::string Declared, Depth = F.text(M.DepthBound), Store = F.text(M.Store);
  bool Whole = First && Last && Add && !Depth.empty() && !Store.empty() &&
               addTypes(F, M, Given);
  for (const Stmt *S : M.Declared) {
    std::optional<Range> R = F.statementRange(S);
    Whole &= R.has_value();
    Declared += R ? "\n  " + F.text(*R) : "";
  }
  if (!Whole)
    return Reason(why::InMacro, "part of it");
  Given["declared"] = Declared;
  Given["tile"] = std::to_string(P.Side);
  Given["depth_bound"] = Depth;
  Given["add"] = *Add;
  Given["store"] = Store;
  std::string Guard = Given["row_inside"] + inside(F, M.Col);
  Given["guard"] =
      Guard.empty()
          ? ""
          : "if (" + llvm::StringRef(Guard).drop_back(4).str() + ")\n    ";
  Given["start"] = "0";
  if (M.Start) {
    std::string Start = F.text(M.Start);
    if (Start.empty())
      return Reason(why::InMacro, "part of it");
    Given["start"] = Guard.empty()
                         ? Start
                         : llvm::StringRef(Guard).drop_back(4).str() + " ? (" +
                               Given["sum_type"] + ")(" + Start + ") : (" +
                               Given["sum_type"] + ")0";
  }
  Changes Made;
  Made.write({First->Begin, Last->End},
             llvm::StringRef(llvm::cantFail(Tiles.fill(Given, Names))).trim());
  return Made;
}

STARK_REWRITE(BlockTiles, "block-tiles")
