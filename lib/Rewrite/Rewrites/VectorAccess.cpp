//===- VectorAccess.cpp - 16 bytes a load and a store ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop whose iterations the threads of a block, or of the grid,
/// share and that reads or writes `p[i]` or `p[offset + i]`. Each thread then
/// takes 16 bytes at a time: four floats, eight halves.
///
///     for (int i = threadIdx.x; i < n; i += blockDim.x)
///       y[i] = x[i] * 2;
/// ->
///     const int whole = is_wide_aligned(&x[0]) && ... ? n / 4 * 4 : 0;
///     for (int at = threadIdx.x; at < whole / 4; at += blockDim.x) {
///       const wide_vec<float, 4> x_vec = ...;
///       for (int lane = 0; lane < 4; ++lane)
///         y_vec.at[lane] = x_vec.at[lane] * 2;
///       ... = y_vec;
///     }
///     for (int i = whole + threadIdx.x; i < n; i += blockDim.x)
///       y[i] = x[i] * 2;
///
/// A while that counts (ThreadLoop.h) is read and written as such a for.
///
/// Faster, because a warp asks for its 128 bytes with a quarter of the
/// instructions (an eighth for half), and more bytes are under way for each of
/// them. Of the bytes themselves none are saved.
///
/// Kept: every element is computed by the same expressions, once. The elements
/// that are left over, and all of them when a row does not begin at a multiple
/// of 16 bytes, take the loop as it was. Elements change threads, so sums that
/// are reduced over the block are added in another order. Pointers that are
/// stored through must be the same or lie apart, which is tested as well.
///
/// Refused where the thread that runs an iteration matters (whyNotRemap), where
/// a store depends on a condition, and inside macros; and where the body has a
/// loop of its own that goes through memory: fewer threads would each run it
/// more often, at elements four apart.
///
//===----------------------------------------------------------------------===//

#include "Analysis/Pragmas.h"
#include "Analysis/Streams.h"
#include "Catalogue.h"
#include "CodeTemplate.h"
#include "WideVectors.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

static constexpr llvm::StringLiteral Apart(R"cuda(
static __device__ __forceinline__ bool lie_apart(const void *p, const void *q,
                                                 size_t bytes) {
  size_t a = reinterpret_cast<size_t>(p), b = reinterpret_cast<size_t>(q);
  return a + bytes <= b || b + bytes <= a;
}
)cuda");

static constexpr CodeTemplate Loop(R"cuda({
  // 16 bytes at a time where the addresses allow it.
  const $bound_type @whole = $guard ? $bound / $width * $width : 0;
  for ($type @at = $start; @at < @whole / $width; @at += $step) {
    const $type $index = @at * $width;
$loads
#pragma unroll
    for (int @lane = 0; @lane < $width; ++@lane)
      $one_lane
$stores
  }
  for ($type $index = @whole + $start; $condition; $increment)
    $body
})cuda");
static constexpr CodeTemplate Load(R"cuda(
    $const $vec $name = *reinterpret_cast<const $vec *>(&$base[$at]);)cuda");
static constexpr CodeTemplate Room(R"cuda(
    $vec $name;)cuda");
static constexpr CodeTemplate Store(R"cuda(
    *reinterpret_cast<$vec *>(&$base[$at]) = $name;)cuda");
static constexpr CodeTemplate
    Test("lie_apart(&$one, &$other, ($bound) * sizeof($type))");
static constexpr CodeTemplate
    TestOrSame("((const void *)&$one == (const void *)&$other || $test)");

static constexpr ReasonKind
    InnerLoop("the loop at line %0 within it takes the time, and a quarter of "
              "the threads would run it");

namespace {
struct Plan {
  const Kernel *K;
  const Site *At;
  ThreadLoop L;
  Streams Moved;
  unsigned width() const { return VectorBytes / Moved.Least; }
};

/// The texts of one loop.
class Writer {
public:
  Writer(const Facts &F, const Plan &P);
  OrReason<Changes> write() const;

private:
  std::optional<std::string> body(const std::vector<Instead> &Nodes) const;
  std::optional<std::string> oneLane() const;
  std::string element(const Stream &S, llvm::StringRef Index) const;
  std::string guard(bool &Compares) const;
  std::string vec(const Stream &S) const;
  std::string loads() const;
  std::string stores() const;

  const Facts &F;
  const Plan &P;
  const std::string Index; ///< the loop's
  const CodeTemplate::Values Names;
  std::vector<std::string> VecNames; ///< one a stream
};
} // namespace

/// A loop of the body that goes through memory, an element at a time.
static const Stmt *innerLoop(const ThreadLoop &L, const Accesses &A) {
  const Stmt *Found = nullptr;
  forEach(L.Body, [&](const Stmt *N) {
    if (llvm::isa<ForStmt, WhileStmt, DoStmt>(N) && !A.in(N).empty())
      Found = N;
  });
  return Found;
}

static void find(const Facts &F, const Visitor<Plan> &Out) {
  for (const Kernel &K : F.kernels()) {
    if (K.Problem) {
      Out.refuse(*K.At, *K.Problem);
      continue;
    }
    Accesses A(F, K);
    std::vector<Reduction> Reductions = findReductions(F, K).All;
    for (const Stmt *S : threadLoopsOf(K)) {
      const Site *At = F.siteAt(SiteKind::Loop, S);
      std::optional<OrReason<ThreadLoop>> L = readThreadLoop(F, K, S);
      if (!At || !L)
        continue;
      if (!*L) {
        Out.refuse(*At, L->why());
        continue;
      }
      if (const Stmt *Inner = innerLoop(**L, A))
        Out.refuse(*At, Reason(InnerLoop, F.lineOf(Inner)));
      else if (OrReason<Streams> Moved = readStreams(F, K, A, Reductions, **L))
        Out.fits({&K, At, **L, *Moved});
      else
        Out.refuse(*At, Moved.why());
    }
  }
}

static Match describe(const Facts &, const Plan &P) {
  std::string Names =
      quotedList(P.Moved.All, [](const Stream &S) { return nameOf(S.Base); });
  return matchAt(
      *P.At, {P.K->name()}, 80, "Load and store 16 bytes at a time",
      "The loop at line " + std::to_string(P.At->Line) + " moves " + Names +
          " element by element. Let each thread take " +
          std::to_string(P.width()) +
          " neighbouring elements with 16-byte accesses, which takes a warp "
          "fewer instructions for the same bytes. The rest, and rows that do "
          "not begin at a multiple of 16 bytes, keep the scalar loop. Sums are "
          "added in another order, so their rounding may differ.");
}

Writer::Writer(const Facts &F, const Plan &P)
    : F(F), P(P), Index(nameOf(P.L.I)),
      Names(Loop.names([&](llvm::StringRef N) { return F.freshName(N); })) {
  for (const Stream &S : P.Moved.All) {
    std::string Name = F.freshName(nameOf(S.Base) + "_vec");
    if (llvm::is_contained(VecNames, Name))
      Name += std::to_string(VecNames.size() + 1);
    VecNames.push_back(Name);
  }
}

/// p[offset + 0]; the streams' indices stand in no macro.
std::string Writer::element(const Stream &S, llvm::StringRef Index) const {
  return nameOf(S.Base) + "[" + *withIndex(F, *P.K, P.L, S.Index, Index) + "]";
}

std::string Writer::vec(const Stream &S) const {
  return "wide_vec<" + S.Type + ", " + std::to_string(P.width()) + ">";
}

/// The body with \p Nodes replaced, without the next index.
std::optional<std::string>
Writer::body(const std::vector<Instead> &Nodes) const {
  std::optional<Range> Whole = F.statementRange(P.L.Body);
  std::vector<Substitute> Parts;
  if (P.L.isWhile()) {
    std::optional<Range> Next = F.statementRange(P.L.Next);
    if (!Next)
      return std::nullopt;
    Parts.push_back({*Next, ""});
  }
  for (const auto &[Node, Text] : Nodes) {
    std::optional<Range> R = F.range(Node);
    if (!R)
      return std::nullopt;
    Parts.push_back({*R, Text});
  }
  return Whole ? substituted(F.text(), *Whole, Parts) : std::nullopt;
}

/// The body for one element of the vectors.
std::optional<std::string> Writer::oneLane() const {
  std::vector<Instead> Nodes;
  std::set<const Stmt *> Taken;
  std::string Lane = Names.lookup("lane");
  for (size_t I = 0; I < VecNames.size(); ++I)
    for (const Access &Each : P.Moved.All[I].Members) {
      Nodes.emplace_back(Each.Whole, VecNames[I] + ".at[" + Lane + "]");
      Taken.merge(nodesOf(Each.Whole));
    }
  if (P.L.isWhile())
    Taken.merge(nodesOf(P.L.Next));
  forEachUse(P.L.Body, [&](const DeclRefExpr *Ref, const VarDecl *V) {
    if (V == P.L.I && !Taken.count(Ref))
      Nodes.emplace_back(Ref, "(" + Index + " + " + Lane + ")");
  });
  return body(Nodes);
}

/// When the vectors may be used. \p Compares: by the addresses of two streams.
std::string Writer::guard(bool &Compares) const {
  const std::vector<Stream> &All = P.Moved.All;
  std::string Guard;
  for (const Stream &S : All)
    Guard += (Guard.empty() ? "is_wide_aligned(&" : " && is_wide_aligned(&") +
             element(S, "0") + ")";
  for (size_t I = 0; I < All.size(); ++I)
    for (size_t J = I + 1; J < All.size(); ++J) {
      const Stream &A = All[I], &B = All[J];
      const auto *X = llvm::dyn_cast_or_null<ParmVarDecl>(A.Root),
                 *Y = llvm::dyn_cast_or_null<ParmVarDecl>(B.Root);
      if ((!A.Store && !B.Store) || A.Base == B.Base ||
          (X && Y && X != Y && !F.whyNotApart(*P.K, X, Y)))
        continue;
      CodeTemplate::Values Both{{"one", element(A, "0")},
                                {"other", element(B, "0")}};
      CodeTemplate::Values Given = Both;
      Given["bound"] = F.text(P.L.Bound);
      Given["type"] = A.Bytes > B.Bytes ? A.Type : B.Type;
      std::string Text = llvm::cantFail(Test.fill(Given));
      if (!P.Moved.LoadAfterStore && !(A.Store && B.Store) &&
          A.Bytes == B.Bytes) {
        Both["test"] = Text;
        Text = llvm::cantFail(TestOrSame.fill(Both));
      }
      Guard += " && " + Text;
      Compares = true;
    }
  return Guard;
}

std::string Writer::loads() const {
  std::string Text;
  for (size_t I = 0; I < VecNames.size(); ++I) {
    const Stream &S = P.Moved.All[I];
    CodeTemplate::Values Given{{"vec", vec(S)}, {"name", VecNames[I]}};
    if (S.Load) {
      Given["const"] = S.Store ? "" : "const";
      Given["base"] = nameOf(S.Base);
      Given["at"] = *withIndex(F, *P.K, P.L, S.Index, Index);
    }
    Text += llvm::cantFail((S.Load ? Load : Room).fill(Given));
  }
  return Text;
}

std::string Writer::stores() const {
  std::string Text;
  for (size_t I = 0; I < VecNames.size(); ++I) {
    const Stream &S = P.Moved.All[I];
    if (S.Store)
      Text += llvm::cantFail(
          Store.fill({{"vec", vec(S)},
                      {"name", VecNames[I]},
                      {"base", nameOf(S.Base)},
                      {"at", *withIndex(F, *P.K, P.L, S.Index, Index)}}));
  }
  return Text;
}

OrReason<Changes> Writer::write() const {
  const ThreadLoop &L = P.L;
  std::optional<Range> Plain = F.statementRange(L.S),
                       Whole = Plain ? withPragmas(F, *Plain) : std::nullopt;
  std::string Start = F.text(L.Start), Bound = F.text(L.Bound),
              Step = F.text(L.Step);
  if (!Whole || Start.empty() || Bound.empty() || Step.empty())
    return Reason(why::InMacro, "the loop");
  std::optional<std::string> OneLane = oneLane(), Body = body({});
  if (!OneLane || !Body)
    return Reason(why::InMacro, "the index");
  bool Compares = false;
  std::string Guard = guard(Compares);
  std::string Text =
      llvm::cantFail(Loop.fill({{"bound_type", F.typeName(L.Bound->getType())},
                                {"guard", Guard},
                                {"bound", asOperand(Bound)},
                                {"width", std::to_string(P.width())},
                                {"type", F.writtenType(L.I->getType())},
                                {"start", Start},
                                {"step", Step},
                                {"index", Index},
                                {"loads", loads()},
                                {"one_lane", *OneLane},
                                {"stores", stores()},
                                {"condition", F.text(L.Cond)},
                                {"increment", F.text(L.Next)},
                                {"body", *Body}},
                               Names));
  Changes Made;
  for (auto [Name, Declared, Wanted] :
       {std::tuple("wide_vec", WideVec, true),
        std::tuple("is_wide_aligned", WideAligned, true),
        std::tuple("lie_apart", Apart, Compares)}) {
    if (!Wanted)
      continue;
    OrReason<Changes> Some = F.declare(*P.K, Name, Declared.ltrim());
    if (!Some)
      return Some;
    Made.add(*Some);
  }
  Made.write(*Whole, Text);
  return Made;
}

static OrReason<Changes> write(const Facts &F, const Plan &P) {
  return Writer(F, P).write();
}

STARK_REWRITE(VectorAccess, "vector-access")
