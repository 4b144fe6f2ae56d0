//===- MatmulTiling.cpp - A matrix product in tiles -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to the launch of a kernel in which a thread computes one element:
///
///     if (row >= m || col >= n) return;
///     T sum = 0;
///     for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
///     c[row * n + col] = sum;
///
/// a and b may also be transposed, and the element may be scaled or added to
/// what is there. The launch goes to a new kernel whose blocks compute a tile
/// of 128 x 128 elements (64 x 64 of eight bytes), 64 (16) a thread, from
/// slices of a and b in shared memory; the next slices are loaded meanwhile:
/// the template below.
///
/// Faster, because each loaded number is used 128 times rather than once a
/// thread, and most operands come from registers.
///
/// Kept: each element is summed in the same order by the same expressions, so
/// not even the rounding changes. Rows, columns and depths that fill no tile
/// are padded with zeros.
///
/// Refused where the launch does not cover the whole result in the plain way,
/// where the sum is of anything but a product of one element each, and where
/// the kernel does anything else.
///
//===----------------------------------------------------------------------===//

#include "Analysis/GridCover.h"
#include "Analysis/MatrixProduct.h"
#include "Catalogue.h"
#include "CodeTemplate.h"

using namespace stark;
using namespace clang;

static constexpr ReasonKind
    OfBlock("its indices hold more than row, column and depth");
static constexpr ReasonKind NoHost("it stands in no plain host function");
static constexpr ReasonKind NotEditable("%0");
static constexpr ReasonKind SizeUnknown("its block size is no constant");
static constexpr ReasonKind
    DynamicShared("it gives the kernel dynamic shared memory");
static constexpr ReasonKind
    OddBounds("the numbers of rows and columns are no plain arguments");
static constexpr ReasonKind
    NotCovered("its grid is not seen to cover all of '%0'");
static constexpr ReasonKind ThirdDimension("it uses a third dimension");

static constexpr CodeTemplate Tiled(R"cuda(
/// $of in tiles of $tile x $tile elements a block of 256 threads, $each x $each a
/// thread. The slices of both operands go through shared memory, and the next
/// ones are loaded while these are multiplied.
static __global__ void __launch_bounds__(256, 2) $name($parameters) {
  constexpr int @kTile = $tile, @kDepth = $depth, @kEach = $each;
  __shared__ __align__(16) $a_type @a_tile[2][@kDepth][@kTile + 4];
  __shared__ __align__(16) $b_type @b_tile[2][@kDepth][@kTile + 4];
  const int @across = ($col_bound + @kTile - 1) / @kTile;
  const int @first_row = blockIdx.x / @across * @kTile,
            @first_col = blockIdx.x % @across * @kTile;
  // A thread has groups of four rows and columns, $apart so that a warp
  // reads shared memory without conflicts.
  const int @thread_row = threadIdx.x / 16 * 4,
            @thread_col = threadIdx.x % 16 * 4;
  $a_type @a_next[$count];
  $b_type @b_next[$count];
  $sum_type @acc[@kEach][@kEach] = {};

  auto @fetch = [&]($depth_type @begin) {
#pragma unroll
    for (int @slot = 0; @slot < $count; ++@slot) {
      const int @place = threadIdx.x + @slot * 256;
      {
        const $row_type $row = @first_row + $a_wide;
        const $depth_type $in = @begin + $a_deep;
        @a_next[@slot] = $row < $row_bound && $in < $depth_bound ? $a : $a_zero;
      }
      {
        const $col_type $col = @first_col + $b_wide;
        const $depth_type $in = @begin + $b_deep;
        @b_next[@slot] = $col < $col_bound && $in < $depth_bound ? $b : $b_zero;
      }
    }
  };
  auto @keep = [&](int @now) {
#pragma unroll
    for (int @slot = 0; @slot < $count; ++@slot) {
      const int @place = threadIdx.x + @slot * 256;
      @a_tile[@now][$a_deep][$a_wide] = @a_next[@slot];
      @b_tile[@now][$b_deep][$b_wide] = @b_next[@slot];
    }
  };

  @fetch(0);
  @keep(0);
  __syncthreads();
  int @now = 0;
  for ($depth_type @begin = 0; @begin < $depth_bound; @begin += @kDepth) {
    const bool @more = @begin + @kDepth < $depth_bound;
    if (@more)
      @fetch(@begin + @kDepth);
#pragma unroll
    for (int @w = 0; @w < @kDepth; ++@w) {
      $a_type @a_part[@kEach];
      $b_type @b_part[@kEach];
#pragma unroll
      for (int @u = 0; @u < @kEach; ++@u) {
        @a_part[@u] = @a_tile[@now][@w][@u / 4 * 64 + @thread_row + @u % 4];
        @b_part[@u] = @b_tile[@now][@w][@u / 4 * 64 + @thread_col + @u % 4];
      }
#pragma unroll
      for (int @u = 0; @u < @kEach; ++@u)
#pragma unroll
        for (int @v = 0; @v < @kEach; ++@v)
          @acc[@u][@v] += $term;
    }
    if (@more) {
      @now ^= 1;
      @keep(@now);
      __syncthreads();
    }
  }

#pragma unroll
  for (int @u = 0; @u < @kEach; ++@u)
#pragma unroll
    for (int @v = 0; @v < @kEach; ++@v) {
      const $row_type $row = @first_row + @u / 4 * 64 + @thread_row + @u % 4;
      const $col_type $col = @first_col + @v / 4 * 64 + @thread_col + @v % 4;
      if ($row < $row_bound && $col < $col_bound)
        $store;
    }
}
)cuda");

static constexpr CodeTemplate
    Call("$name<<<(($cols + $less) / $tile) * (($rows + $less) / $tile), "
         "256$stream>>>($arguments)");

namespace {
struct Plan {
  const Kernel *K;
  const Launch *L;
  MatrixProduct P;
  const Expr *Rows, *Cols; ///< arguments of the launch
};

/// How the work is shared. 256 threads in 16 x 16 have groups of 4 x 4
/// elements, two by two of them unless the elements are wide.
struct Shape {
  bool Wide;
  unsigned Tile, Each, Depth;
  unsigned loads() const { return Tile * Depth / 256; }
};
} // namespace

/// The argument that the launch gives for a bound, when it can be repeated;
/// else null.
static const Expr *argumentFor(const Facts &F, const Kernel &K, const Launch &L,
                               const Expr *Bound) {
  const ParmVarDecl *P = parameterOf(Bound, K);
  if (!P || P->getFunctionScopeIndex() >= L.Call->getNumArgs())
    return nullptr;
  const Expr *Given = strip(L.Call->getArg(P->getFunctionScopeIndex()));
  const VarDecl *V = variableOf(Given);
  if (!llvm::isa<IntegerLiteral>(Given) &&
      !(V && V->getType()->isIntegerType()))
    return nullptr;
  // The parameter must hold what the argument holds.
  if (F.context().getTypeSize(Given->getType()) >
          F.context().getTypeSize(P->getType()) ||
      F.text(Given).empty())
    return nullptr;
  return Given;
}

static OrReason<Plan> planFor(const Facts &F, const Kernel &K, const Launch &L,
                              const MatrixProduct &P) {
  // Another launch than the one that counts.
  if (K.LaunchedByWorkload)
    return *K.LaunchedElsewhere;
  if (K.IsTemplate)
    return Reason(why::KernelIsTemplate);
  if (!L.HostAt)
    return Reason(NoHost);
  for (const Site *Each : {L.At, L.HostAt})
    if (!Each->editable())
      return Reason(NotEditable, Each->Against.str());
  if (!L.BlockSize)
    return Reason(SizeUnknown);
  if (L.Shared && F.constantOf(L.Shared, L) != 0u)
    return Reason(DynamicShared);
  const Expr *Rows = argumentFor(F, K, L, P.Row.Bound),
             *Cols = argumentFor(F, K, L, P.Col.Bound);
  if (!Rows || !Cols)
    return Reason(OddBounds);
  if (!coversAll(F, L, Cols, P.Col.Axis))
    return Reason(NotCovered, F.text(Cols));
  if (!coversAll(F, L, Rows, P.Row.Axis))
    return Reason(NotCovered, F.text(Rows));
  std::array<const Expr *, 3> Grid = F.dimensions(L.Grid, L);
  for (char Axis : {'x', 'y', 'z'}) {
    auto I = unsigned(Axis - 'x');
    if (Axis != P.Row.Axis && Axis != P.Col.Axis &&
        ((*L.BlockSize)[I] != 1 || (Grid[I] && F.constantOf(Grid[I], L) != 1u)))
      return Reason(ThirdDimension);
  }
  return Plan{&K, &L, P, Rows, Cols};
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel *K : F.openKernels()) {
    Accesses All(F, *K);
    std::optional<OrReason<MatrixProduct>> P = readMatrixProduct(F, *K, All);
    if (!P)
      continue;
    if (!*P || K->Launches.empty()) {
      Out.refuse(*K->At, *P ? Reason(why::NoLaunchHere) : P->why());
      continue;
    }
    if ((*P)->Start || !(*P)->Shifted.empty()) {
      Out.refuse(*K->At, (*P)->Start ? Reason(why::OddStart)
                                     : Reason(why::OddVariable,
                                              nameOf((*P)->Shifted.front().V)));
      continue;
    }
    if ((*P)->OfBlock || !(*P)->Common.empty() || !(*P)->Named.empty()) {
      Out.refuse(*K->At, Reason(OfBlock));
      continue;
    }
    for (const Launch *L : K->Launches) {
      if (!L->At)
        continue;
      if (OrReason<Plan> Found = planFor(F, *K, *L, **P))
        Out.fits(*Found);
      else
        Out.refuse(K->LaunchedElsewhere ? *K->At : *L->At, Found.why());
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  return matchAt(
      *P.L->At, {P.K->name(), P.L->HostAt->Id}, 95,
      "Compute the matrix product in tiles",
      "'" + P.K->name() +
          "' computes one element a thread, so every operand is read from "
          "memory again by each thread that needs it. Compute a tile of "
          "128 x 128 elements a block (64 x 64 for eight bytes), 64 (16) in "
          "registers a thread, from slices of both operands in shared memory, "
          "and load the next slices meanwhile. The order of each sum stays, "
          "and so does its rounding.");
}

static Shape shapeOf(const Facts &F, const MatrixProduct &P) {
  for (QualType T :
       {P.Sum->getType(), P.A.At.E->getType(), P.B.At.E->getType()})
    if (F.context().getTypeSize(T) > 32)
      return {true, 64, 4, 16};
  return {false, 128, 8, 8};
}

/// The texts of the parameters or arguments \p All; unset inside macros.
template <typename Range>
static std::optional<std::string> listOf(const Facts &F, const Range &All) {
  std::string List;
  for (const auto *Each : All) {
    std::optional<stark::Range> R = F.range(Each->getSourceRange());
    if (!R)
      return std::nullopt;
    List += (List.empty() ? "" : ", ") + F.text(*R);
  }
  return List;
}

/// Puts the texts of \p P that are written otherwise into \p Given; false when
/// one stands in a macro.
static bool addExpressions(const Facts &F, const MatrixProduct &P,
                           const CodeTemplate::Values &Names,
                           CodeTemplate::Values &Given) {
  auto At = [&](llvm::StringRef Array, llvm::StringRef Index) {
    return Names.lookup(Array) + "[" + Names.lookup(Index) + "]";
  };
  std::vector<Instead> Sums;
  forEachUse(P.Store, [&](const DeclRefExpr *Ref, const VarDecl *V) {
    if (V == P.Sum)
      Sums.emplace_back(Ref, At("acc", "u") + "[" + Names.lookup("v") + "]");
  });
  std::optional<std::string> Term =
      F.textWith(P.Term, {Instead(P.A.At.Whole, At("a_part", "u")),
                          Instead(P.B.At.Whole, At("b_part", "v"))});
  std::optional<std::string> Store = F.textWith(P.Store, Sums);
  if (!Term || !Store)
    return false;
  Given["term"] = *Term;
  Given["store"] = *Store;
  for (auto [Hole, E] :
       {std::pair("row_bound", P.Row.Bound),
        std::pair("col_bound", P.Col.Bound),
        std::pair("depth_bound", P.DepthBound), std::pair("a", P.A.At.Whole),
        std::pair("b", P.B.At.Whole)}) {
    Given[Hole] = F.text(E);
    if (Given[Hole].empty())
      return false;
  }
  return true;
}

static void addTypes(const Facts &F, const MatrixProduct &P,
                     CodeTemplate::Values &Given) {
  auto Written = [&](const VarDecl *V) { return F.writtenType(V->getType()); };
  Given["a_type"] = P.A.Type;
  Given["b_type"] = P.B.Type;
  Given["a_zero"] = zeroOf(P.A.Type);
  Given["b_zero"] = zeroOf(P.B.Type);
  Given["sum_type"] = F.typeName(P.Sum->getType());
  Given["depth_type"] = Written(P.Depth);
  Given["row_type"] = Written(P.Row.V);
  Given["col_type"] = Written(P.Col.V);
  Given["row"] = nameOf(P.Row.V);
  Given["col"] = nameOf(P.Col.V);
  Given["in"] = nameOf(P.Depth);
}

/// The new kernel, of the name \p Name.
static OrReason<std::string> kernelText(const Facts &F, const Plan &P,
                                        const Shape &S,
                                        const std::string &Name) {
  auto Names = Tiled.names([&](llvm::StringRef N) { return F.freshName(N); });
  CodeTemplate::Values Given;
  if (!addExpressions(F, P.P, Names, Given))
    return Reason(why::InMacro, "part of it");
  std::optional<std::string> Parameters = listOf(F, P.K->F->parameters());
  if (!Parameters)
    return Reason(why::InMacro, "a parameter");
  addTypes(F, P.P, Given);
  // Neighbouring threads load what lies side by side in memory.
  std::string Place = Names.lookup("place");
  for (auto [Hole, O] : {std::pair("a", &P.P.A), std::pair("b", &P.P.B)}) {
    Given[std::string(Hole) + "_deep"] =
        Place + (O->Along ? " % " + Names.lookup("kDepth")
                          : " / " + Names.lookup("kTile"));
    Given[std::string(Hole) + "_wide"] =
        Place + (O->Along ? " / " + Names.lookup("kDepth")
                          : " % " + Names.lookup("kTile"));
  }
  Given["of"] = nameOf(P.K->F);
  Given["name"] = Name;
  Given["parameters"] = *Parameters;
  Given["tile"] = std::to_string(S.Tile);
  Given["each"] = std::to_string(S.Each);
  Given["depth"] = std::to_string(S.Depth);
  Given["count"] = std::to_string(S.loads());
  Given["apart"] = S.Wide ? "" : "64 apart,";
  return llvm::StringRef(llvm::cantFail(Tiled.fill(Given, Names))).trim().str();
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  const Kernel &K = *P.K;
  Shape S = shapeOf(F, P.P);
  std::string Name = F.freshName(nameOf(K.F) + "_tiled");
  OrReason<std::string> Text = kernelText(F, P, S, Name);
  if (!Text)
    return Text.why();
  std::optional<std::string> Arguments = listOf(F, P.L->Call->arguments());
  std::optional<Range> Launched = F.range(P.L->Call);
  std::string Stream = P.L->Stream ? F.text(P.L->Stream) : "";
  if (!Arguments || !Launched || (P.L->Stream && Stream.empty()))
    return Reason(why::InMacro, "the launch");
  Changes Made;
  if (K.F->getFormalLinkage() == Linkage::Internal && K.Launches.size() == 1 &&
      !K.LaunchedElsewhere)
    Made.write(K.Bytes, *Text);
  else
    Made.write({K.Bytes.End, K.Bytes.End}, "\n\n" + *Text);
  Made.write(*Launched, llvm::cantFail(Call.fill(
                            {{"name", Name},
                             {"rows", F.text(P.Rows)},
                             {"cols", F.text(P.Cols)},
                             {"tile", std::to_string(S.Tile)},
                             {"less", std::to_string(S.Tile - 1)},
                             {"stream", Stream.empty() ? "" : ", 0, " + Stream},
                             {"arguments", *Arguments}})));
  return Made;
}

STARK_REWRITE(MatmulTiling, "matmul-tiling")
