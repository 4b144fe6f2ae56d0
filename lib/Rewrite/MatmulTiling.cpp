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
/// slices of a and b in shared memory; the next slices are loaded meanwhile.
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

#include "Catalogue.h"
#include "MatrixProduct.h"
#include "ThreadLoop.h"
#include "stark/Support/Error.h"
#include "clang/AST/ExprCXX.h"

using namespace stark;
using namespace clang;

namespace {
class MatmulTiling : public Rewrite {
public:
  llvm::StringRef name() const override { return "matmul-tiling"; }
  llvm::StringRef summary() const override {
    return "compute a matrix product in tiles of shared memory and registers";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

/// (n + 16 - 1) / 16, (n + 15) / 16, (n + block.x - 1) / block.x, and a call of
/// a function of the file that returns this: covers \p Count with blocks of
/// \p Width.
static bool coversAll(const Facts &F, const Launch &L, const Expr *Grid,
                      llvm::StringRef Count, uint64_t Width, char Axis) {
  const HostFunction *H = F.hostOf(L.Host);
  if (!Grid || !H)
    return false;
  auto Value = [&](const Expr *E) -> std::optional<uint64_t> {
    if (std::optional<uint64_t> N = F.constantOf(E, L))
      return N;
    const auto *M = llvm::dyn_cast<MemberExpr>(strip(E));
    if (M && variableOf(M->getBase()) &&
        variableOf(M->getBase()) == variableOf(L.Block) &&
        M->getMemberDecl()->getName() == llvm::StringRef(&Axis, 1))
      return Width;
    return std::nullopt;
  };
  const Expr *E = strip(Grid);
  for (unsigned Depth = 0; Depth < 3; ++Depth) {
    const VarDecl *V = variableOf(E);
    if (!V || !V->hasLocalStorage() || llvm::isa<ParmVarDecl>(V) ||
        !V->getInit() || !isNeverWritten(V, L.Host->getBody(), *H->Parents))
      break;
    E = strip(V->getInit());
  }
  if (const auto *Call = llvm::dyn_cast<CallExpr>(E)) {
    const FunctionDecl *D = Call->getDirectCallee();
    if (!D || D->getNumParams() != 2 || Call->getNumArgs() != 2 ||
        !D->hasBody(D))
      return false;
    const auto *Body = llvm::dyn_cast<CompoundStmt>(D->getBody());
    const auto *Return = Body && Body->size() == 1
                             ? llvm::dyn_cast<ReturnStmt>(Body->body_front())
                             : nullptr;
    std::string Text = Return ? F.text(Return->getRetValue()) : "";
    llvm::erase(Text, ' ');
    std::string A = D->getParamDecl(0)->getNameAsString(),
                B = D->getParamDecl(1)->getNameAsString();
    return Text == "(" + A + "+" + B + "-1)/" + B &&
           D->getReturnType()->isIntegerType() &&
           F.context().getTypeSize(D->getReturnType()) >= 32 &&
           F.text(strip(Call->getArg(0))) == Count &&
           Value(Call->getArg(1)) == Width;
  }
  const auto *Div = llvm::dyn_cast<BinaryOperator>(E);
  if (!Div || Div->getOpcode() != BO_Div || Value(Div->getRHS()) != Width)
    return false;
  int64_t Rest = 0;
  unsigned Counts = 0;
  bool Known = true;
  auto Walk = [&](const Expr *T, int Sign, auto &&Self) -> void {
    const Expr *Inner = strip(T);
    const auto *B = llvm::dyn_cast<BinaryOperator>(Inner);
    if (B && B->isAdditiveOp()) {
      Self(B->getLHS(), Sign, Self);
      Self(B->getRHS(), B->getOpcode() == BO_Sub ? -Sign : Sign, Self);
      return;
    }
    if (Sign > 0 && F.text(Inner) == Count) {
      ++Counts;
      return;
    }
    std::optional<uint64_t> N = Value(Inner);
    Known &= N && *N < (1u << 20);
    Rest += Sign * int64_t(N.value_or(0));
  };
  Walk(Div->getLHS(), 1, Walk);
  return Known && Counts == 1 && Rest == int64_t(Width) - 1;
}

/// The argument that the launch gives for a bound, as text that can be
/// repeated.
static std::string argumentFor(const Facts &F, const Kernel &K, const Launch &L,
                               const Expr *Bound) {
  const ParmVarDecl *P = parameterOf(Bound, K);
  if (!P || P->getFunctionScopeIndex() >= L.Call->getNumArgs())
    return "";
  const Expr *Given = strip(L.Call->getArg(P->getFunctionScopeIndex()));
  const VarDecl *V = variableOf(Given);
  if (!llvm::isa<IntegerLiteral>(Given) &&
      !(V && (V->getType()->isIntegerType())))
    return "";
  // The parameter must hold what the argument holds.
  if (F.context().getTypeSize(Given->getType()) >
      F.context().getTypeSize(P->getType()))
    return "";
  return F.text(Given);
}

/// \p S as text, with the nodes in \p Instead written otherwise.
static llvm::Expected<std::string>
rewritten(const Facts &F, const Stmt *S,
          const std::vector<std::pair<const Stmt *, std::string>> &Instead) {
  std::optional<Range> Whole = F.range(S);
  if (!Whole)
    return failed("it stands in a macro");
  std::vector<Edit> Edits;
  for (const auto &[Node, Text] : Instead) {
    std::optional<Range> R = F.range(Node);
    if (!R || !Whole->contains(*R))
      return failed("part of it stands in a macro");
    Edits.push_back({{R->Begin - Whole->Begin, R->End - Whole->Begin}, Text});
  }
  return applyEdits(F.text(*Whole), Edits);
}

static llvm::Expected<std::vector<Edit>>
write(const Facts &F, const Kernel &K, const Launch &L, const Product &P) {
  const PrintingPolicy &Policy = F.context().getPrintingPolicy();
  std::string SumType =
      P.Sum->getType().getCanonicalType().getUnqualifiedType().getAsString(
          Policy);
  bool Wide = F.context().getTypeSize(P.Sum->getType()) > 32 ||
              F.context().getTypeSize(P.A.At.E->getType()) > 32 ||
              F.context().getTypeSize(P.B.At.E->getType()) > 32;
  // 256 threads in 16 x 16, each with Halves x Halves groups of 4 x 4.
  unsigned Halves = Wide ? 1 : 2;
  unsigned Tile = 64 * Halves, Each = 4 * Halves, Depth = Wide ? 16 : 8;
  std::string Rows = argumentFor(F, K, L, P.Row.Bound),
              Cols = argumentFor(F, K, L, P.Col.Bound);
  std::string Row = P.Row.V->getNameAsString(),
              Col = P.Col.V->getNameAsString(), In = P.Depth->getNameAsString();
  std::string DepthType =
      P.Depth->getType().getUnqualifiedType().getAsString(Policy);
  auto Typed = [&](const VarDecl *V) {
    return "const " + V->getType().getUnqualifiedType().getAsString(Policy) +
           " " + V->getNameAsString();
  };
  auto Name = [&](llvm::StringRef Wanted) { return F.freshName(Wanted); };
  std::string TA = Name("a_tile"), TB = Name("b_tile"), NA = Name("a_next"),
              NB = Name("b_next"), FA = Name("a_part"), FB = Name("b_part"),
              FR = Name("first_row"), FC = Name("first_col"),
              Begin = Name("begin"), Now = Name("now"), E = Name("e"),
              X = Name("u"), Y = Name("v"), Z = Name("w"), Part = Name("acc"),
              Fetch = Name("fetch"), Keep = Name("keep"),
              Tr = Name("thread_row"), Tc = Name("thread_col"),
              Across = Name("across"), kT = Name("kTile"), kD = Name("kDepth"),
              kE = Name("kEach"), Slot = Name("slot"), Place = Name("place"),
              More = Name("more");
  std::string RowBound = F.text(P.Row.Bound), ColBound = F.text(P.Col.Bound),
              DepthBound = F.text(P.DepthBound);
  std::string TextA = F.text(P.A.At.Whole), TextB = F.text(P.B.At.Whole);
  llvm::Expected<std::string> Term = rewritten(
      F, P.Term,
      {{P.A.At.Whole, FA + "[" + X + "]"}, {P.B.At.Whole, FB + "[" + Y + "]"}});
  if (!Term)
    return Term.takeError();
  std::vector<std::pair<const Stmt *, std::string>> Sums;
  forEach(P.Store, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (Ref && Ref->getDecl() == P.Sum)
      Sums.emplace_back(N, Part + "[" + X + "][" + Y + "]");
  });
  llvm::Expected<std::string> Store = rewritten(F, P.Store, Sums);
  if (!Store)
    return Store.takeError();
  if (Rows.empty() || Cols.empty() || RowBound.empty() || ColBound.empty() ||
      DepthBound.empty() || TextA.empty() || TextB.empty())
    return failed("part of it stands in a macro");
  std::string Parameters;
  for (const ParmVarDecl *Q : K.F->parameters()) {
    std::optional<Range> R = F.range(Q->getSourceRange());
    if (!R)
      return failed("its parameters stand in a macro");
    Parameters += (Parameters.empty() ? "" : ", ") + F.text(*R);
  }
  bool Replace = K.F->getFormalLinkage() == Linkage::Internal &&
                 K.Launches.size() == 1 && K.LaunchedElsewhere.empty();
  std::string NewName = F.freshName(K.F->getNameAsString() + "_tiled");

  auto Load = [&](const Operand &O, const Coordinate &C,
                  const std::string &First, const std::string &Bound,
                  const std::string &Next, const std::string &Text) {
    std::string T;
    std::string Deep = O.Along ? Place + " % " + kD : Place + " / " + kT;
    std::string Wide = O.Along ? Place + " / " + kD : Place + " % " + kT;
    T += "      {\n";
    T += "        " + Typed(C.V) + " = " + First + " + " + Wide + ";\n";
    T += "        " + Typed(P.Depth) + " = " + Begin + " + " + Deep + ";\n";
    T += "        " + Next + "[" + Slot + "] = " + C.V->getNameAsString() +
         " < " + Bound + " && " + In + " < " + DepthBound + " ? " + Text +
         " : " + O.Type + "{};\n";
    T += "      }\n";
    return T;
  };
  auto Save = [&](const Operand &O, const std::string &Tile_,
                  const std::string &Next) {
    std::string Deep = O.Along ? Place + " % " + kD : Place + " / " + kT;
    std::string Wide = O.Along ? Place + " / " + kD : Place + " % " + kT;
    return "      " + Tile_ + "[" + Now + "][" + Deep + "][" + Wide +
           "] = " + Next + "[" + Slot + "];\n";
  };
  std::string Count = std::to_string(Tile * Depth / 256);
  std::string T;
  T += "/// " + K.F->getNameAsString() + " in tiles of " +
       std::to_string(Tile) + " x " + std::to_string(Tile) +
       " elements a block of 256 threads, " + std::to_string(Each) + " x " +
       std::to_string(Each) +
       " a\n/// thread. The slices of both operands "
       "go through shared memory, and the next\n/// ones are loaded while "
       "these are multiplied.\n";
  T += "static __global__ void __launch_bounds__(256, 2)\n    " + NewName +
       "(" + Parameters + ") {\n";
  T += "  constexpr int " + kT + " = " + std::to_string(Tile) + ", " + kD +
       " = " + std::to_string(Depth) + ", " + kE + " = " +
       std::to_string(Each) + ";\n";
  T += "  __shared__ __align__(16) " + P.A.Type + " " + TA + "[2][" + kD +
       "][" + kT + " + 4];\n";
  T += "  __shared__ __align__(16) " + P.B.Type + " " + TB + "[2][" + kD +
       "][" + kT + " + 4];\n";
  T += "  const int " + Across + " = (" + ColBound + " + " + kT + " - 1) / " +
       kT + ";\n";
  T += "  const int " + FR + " = blockIdx.x / " + Across + " * " + kT + ", " +
       FC + " = blockIdx.x % " + Across + " * " + kT + ";\n";
  T += "  // A thread has groups of four rows and columns, " +
       std::string(Wide ? "so that" : "64 apart, so that") +
       " a warp\n  // reads shared memory without conflicts.\n";
  T += "  const int " + Tr + " = threadIdx.x / 16 * 4, " + Tc +
       " = threadIdx.x % 16 * 4;\n";
  T += "  " + P.A.Type + " " + NA + "[" + Count + "];\n  " + P.B.Type + " " +
       NB + "[" + Count + "];\n";
  T += "  " + SumType + " " + Part + "[" + kE + "][" + kE + "] = {};\n\n";
  T += "  auto " + Fetch + " = [&](" + DepthType + " " + Begin +
       ") {\n#pragma unroll\n" + "    for (int " + Slot + " = 0; " + Slot +
       " < " + Count + "; ++" + Slot + ") {\n      const int " + Place +
       " = threadIdx.x + " + Slot + " * 256;\n";
  T += Load(P.A, P.Row, FR, RowBound, NA, TextA);
  T += Load(P.B, P.Col, FC, ColBound, NB, TextB);
  T += "    }\n  };\n";
  T += "  auto " + Keep + " = [&](int " + Now + ") {\n#pragma unroll\n" +
       "    for (int " + Slot + " = 0; " + Slot + " < " + Count + "; ++" +
       Slot + ") {\n      const int " + Place + " = threadIdx.x + " + Slot +
       " * 256;\n";
  T += Save(P.A, TA, NA) + Save(P.B, TB, NB);
  T += "    }\n  };\n\n";
  T += "  " + Fetch + "(0);\n  " + Keep + "(0);\n  __syncthreads();\n";
  T += "  int " + Now + " = 0;\n";
  T += "  for (" + DepthType + " " + Begin + " = 0; " + Begin + " < " +
       DepthBound + "; " + Begin + " += " + kD + ") {\n";
  T += "    const bool " + More + " = " + Begin + " + " + kD + " < " +
       DepthBound + ";\n";
  T += "    if (" + More + ")\n      " + Fetch + "(" + Begin + " + " + kD +
       ");\n";
  T += "#pragma unroll\n    for (int " + Z + " = 0; " + Z + " < " + kD +
       "; ++" + Z + ") {\n";
  T += "      " + P.A.Type + " " + FA + "[" + kE + "];\n      " + P.B.Type +
       " " + FB + "[" + kE + "];\n";
  T += "#pragma unroll\n      for (int " + X + " = 0; " + X + " < " + kE +
       "; ++" + X + ") {\n";
  T += "        " + FA + "[" + X + "] = " + TA + "[" + Now + "][" + Z + "][" +
       X + " / 4 * 64 + " + Tr + " + " + X + " % 4];\n";
  T += "        " + FB + "[" + X + "] = " + TB + "[" + Now + "][" + Z + "][" +
       X + " / 4 * 64 + " + Tc + " + " + X + " % 4];\n      }\n";
  T += "#pragma unroll\n      for (int " + X + " = 0; " + X + " < " + kE +
       "; ++" + X + ")\n#pragma unroll\n        for (int " + Y + " = 0; " + Y +
       " < " + kE + "; ++" + Y + ")\n          " + Part + "[" + X + "][" + Y +
       "] += " + *Term + ";\n    }\n";
  T += "    if (" + More + ") {\n      " + Now + " ^= 1;\n      " + Keep + "(" +
       Now + ");\n      __syncthreads();\n    }\n  }\n\n";
  T += "#pragma unroll\n  for (int " + X + " = 0; " + X + " < " + kE + "; ++" +
       X + ")\n#pragma unroll\n    for (int " + Y + " = 0; " + Y + " < " + kE +
       "; ++" + Y + ") {\n";
  T += "      " + Typed(P.Row.V) + " = " + FR + " + " + X + " / 4 * 64 + " +
       Tr + " + " + X + " % 4;\n";
  T += "      " + Typed(P.Col.V) + " = " + FC + " + " + Y + " / 4 * 64 + " +
       Tc + " + " + Y + " % 4;\n";
  T += "      if (" + Row + " < " + RowBound + " && " + Col + " < " + ColBound +
       ")\n        " + *Store + ";\n    }\n}";

  std::vector<Edit> Edits;
  if (Replace)
    Edits.push_back({K.Bytes, T});
  else
    Edits.push_back({{K.Bytes.End, K.Bytes.End}, "\n\n" + T});
  std::string Arguments;
  for (const Expr *A : L.Call->arguments()) {
    std::string Text = F.text(A);
    if (Text.empty())
      return failed("an argument of the launch stands in a macro");
    Arguments += (Arguments.empty() ? "" : ", ") + Text;
  }
  std::optional<Range> Call = F.range(L.Call);
  if (!Call)
    return failed("the launch stands in a macro");
  std::string Stream = L.Stream ? F.text(L.Stream) : "";
  if (L.Stream && Stream.empty())
    return failed("the launch stands in a macro");
  std::string Of = std::to_string(Tile), Less = std::to_string(Tile - 1);
  Edits.push_back({*Call, NewName + "<<<((" + Cols + " + " + Less + ") / " +
                              Of + ") * ((" + Rows + " + " + Less + ") / " +
                              Of + "), 256" +
                              (Stream.empty() ? "" : ", 0, " + Stream) +
                              ">>>(" + Arguments + ")"});
  return Edits;
}

void MatmulTiling::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty())
      continue;
    Accesses All(F, K);
    Product P;
    std::string Why = readProduct(F, K, All, P);
    if (Why == "-")
      continue;
    if (!Why.empty() || K.Launches.empty()) {
      Out.refuse(K.name(), K.At->Line,
                 Why.empty() ? "no launch of it is in this file" : Why);
      continue;
    }
    auto Number = [](char Axis) { return Axis - 'x'; };
    for (const Launch *L : K.Launches) {
      if (!L->At)
        continue;
      const Site *Host = nullptr;
      for (const Site &S : F.In.All->All)
        if (S.Kind == SiteKind::Host && S.Bytes.contains(L->At->Bytes))
          Host = &S;
      std::array<const Expr *, 3> Grid = F.dimensions(L->Grid, *L);
      std::string Rows = argumentFor(F, K, *L, P.Row.Bound),
                  Cols = argumentFor(F, K, *L, P.Col.Bound);
      std::string No;
      if (!Host)
        No = "it stands in no plain host function";
      else if (!L->At->editable() || !Host->editable())
        No = L->At->editable() ? Host->Against.str() : L->At->Against.str();
      else if (!L->BlockSize)
        No = "its block size is no constant";
      else if (L->Shared && F.constantOf(L->Shared, *L) != 0u)
        No = "it gives the kernel dynamic shared memory";
      else if (Rows.empty() || Cols.empty())
        No = "the numbers of rows and columns are no plain arguments";
      else
        for (const auto &[C, N] : {std::pair(&P.Row, &Rows), {&P.Col, &Cols}})
          if (!coversAll(F, *L, Grid[Number(C->Axis)], *N,
                         (*L->BlockSize)[Number(C->Axis)], C->Axis))
            No = "its grid is not seen to cover all of '" + *N + "'";
      for (char Axis : {'x', 'y', 'z'})
        if (No.empty() && Axis != P.Row.Axis && Axis != P.Col.Axis &&
            ((*L->BlockSize)[Number(Axis)] != 1 ||
             (Grid[Number(Axis)] &&
              F.constantOf(Grid[Number(Axis)], *L) != 1u)))
          No = "it uses a third dimension";
      if (No.empty()) {
        llvm::Expected<std::vector<Edit>> Try = write(F, K, *L, P);
        if (!Try)
          No = llvm::toString(Try.takeError());
      }
      if (!No.empty()) {
        Out.refuse(L->At->Id, L->At->Line, No);
        continue;
      }
      Match M;
      M.Site = L->At->Id;
      M.Line = L->At->Line;
      M.Sites = {K.name(), Host->Id};
      M.Promise = 95;
      M.Title = "Compute the matrix product in tiles";
      M.Advice =
          "'" + K.name() +
          "' computes one element a thread, so every operand is read from "
          "memory again by each thread that needs it. Compute a tile of "
          "128 x 128 elements a block (64 x 64 for eight bytes), 64 (16) in "
          "registers a thread, from slices of both operands in shared memory, "
          "and load the next slices meanwhile. The order of each sum stays, "
          "and so does its rounding.";
      Out.offer(std::move(M), [&F, &K, L, P] { return write(F, K, *L, P); });
    }
  }
}

std::unique_ptr<const Rewrite> stark::makeMatmulTiling() {
  return std::make_unique<MatmulTiling>();
}
