//===- VectorAccess.cpp - 16 bytes a load and a store ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a loop whose iterations the threads of a block, or of the grid,
/// share (`for (i = threadIdx.x; i < n; i += blockDim.x)`) and that reads or
/// writes `p[i]` or `p[offset + i]`. Each thread then takes 16 bytes at a time:
/// four floats, eight halves.
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
/// a store depends on a condition, and inside macros.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "ThreadLoop.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace clang;

static constexpr unsigned VectorBytes = 16;

static const char VecText[] =
    "/// Elements that are loaded and stored 16 bytes at a time.\n"
    "template <typename T, int N> struct alignas(16) wide_vec {\n"
    "  T at[N];\n"
    "};\n";
static const char AlignedText[] =
    "static __device__ __forceinline__ bool is_wide_aligned(const void *p) {\n"
    "  return reinterpret_cast<size_t>(p) % 16 == 0;\n"
    "}\n";
static const char ApartText[] =
    "static __device__ __forceinline__ bool lie_apart(const void *p,\n"
    "                                                   const void *q,\n"
    "                                                   size_t bytes) {\n"
    "  size_t a = reinterpret_cast<size_t>(p), b = "
    "reinterpret_cast<size_t>(q);\n"
    "  return a + bytes <= b || b + bytes <= a;\n"
    "}\n";

namespace {
/// All accesses of a loop to p[offset + i].
struct Stream {
  const VarDecl *Base = nullptr;
  const VarDecl *Root = nullptr;
  const Expr *Index = nullptr;
  std::string IndexText;
  std::string Type;
  unsigned Bytes = 0;
  bool Load = false, Store = false, Always = false;
  std::vector<Access> Members;
  std::string Name;
};

struct Plan {
  ThreadLoop L;
  std::vector<Stream> Streams;
  unsigned Width = 0;
  bool LoadAfterStore = false; ///< of another stream, in an iteration
};

class VectorAccess : public Rewrite {
public:
  llvm::StringRef name() const override { return "vector-access"; }
  llvm::StringRef summary() const override {
    return "load and store 16 bytes at a time in a loop that threads share";
  }
  void prepare(const Facts &F, Findings &Out) const override;
};
} // namespace

/// Whether each iteration evaluates \p E exactly once.
static bool isUnconditional(const Expr *E, const Stmt *Body, const Kernel &K) {
  const Stmt *Child = E;
  for (const Stmt *Up = K.Parents->getParent(const_cast<Expr *>(E));
       Up && Child != Body;
       Child = Up, Up = K.Parents->getParent(const_cast<Stmt *>(Up))) {
    if (const auto *C = llvm::dyn_cast<ConditionalOperator>(Up);
        C && C->getCond() != Child)
      return false;
    if (const auto *B = llvm::dyn_cast<BinaryOperator>(Up);
        B && B->isLogicalOp() && B->getLHS() != Child)
      return false;
    if (llvm::isa<IfStmt, ForStmt, WhileStmt, DoStmt, SwitchStmt,
                  BinaryConditionalOperator>(Up))
      return false;
    if (Up == Body)
      return true;
  }
  return true;
}

static bool isElementType(QualType T, const ASTContext &Context,
                          unsigned &Bytes) {
  if (T.isVolatileQualified() || T->isDependentType() || T->isIncompleteType())
    return false;
  T = T.getCanonicalType().getUnqualifiedType();
  std::string Name = T.getAsString();
  bool Small = llvm::StringRef(Name).ends_with("__half") ||
               llvm::StringRef(Name).ends_with("__nv_bfloat16");
  if (!(T->isArithmeticType() && !T->isBooleanType()) && !Small)
    return false;
  Bytes = unsigned(Context.getTypeSizeInChars(T).getQuantity());
  return Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8;
}

/// \p S with the loop's index written as \p As.
static std::optional<std::string> withIndex(const Facts &F, const Kernel &K,
                                            const ThreadLoop &L, const Expr *E,
                                            llvm::StringRef As) {
  std::optional<Range> Whole = F.range(E);
  if (!Whole)
    return std::nullopt;
  std::vector<Edit> Edits;
  bool Clean = true;
  forEach(E, [&](const Stmt *N) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(N);
    if (!Ref || !isLoopIndex(K, L, Ref))
      return;
    std::optional<Range> R = F.range(Ref);
    if (!R || !Whole->contains(*R)) {
      Clean = false;
      return;
    }
    Edits.push_back(
        {{R->Begin - Whole->Begin, R->End - Whole->Begin}, As.str()});
  });
  llvm::Expected<std::string> Text = applyEdits(F.text(*Whole), Edits);
  if (!Clean || !Text) {
    if (!Text)
      llvm::consumeError(Text.takeError());
    return std::nullopt;
  }
  return *Text;
}

/// Whether an iteration may read an array after it stored to another one, which
/// might be the same memory.
static bool readsAfterStore(const Facts &F, const Kernel &K,
                            const std::vector<const Access *> &Mine,
                            const Stmt *Body) {
  bool Found = false;
  forEach(Body, [&](const Stmt *N) {
    const auto *B = llvm::dyn_cast<BinaryOperator>(N);
    Found |= B && B->getOpcode() == BO_Comma;
  });
  for (const Access *Store : Mine) {
    if (!Store->Store)
      continue;
    const Stmt *Whole = Store->E;
    for (const Stmt *Up = Whole; Up;
         Up = K.Parents->getParent(const_cast<Stmt *>(Up))) {
      if (llvm::isa<Expr, DeclStmt>(Up))
        Whole = Up;
      if (Up == Body)
        break;
    }
    std::optional<Range> R = F.range(Whole);
    for (const Access *Load : Mine) {
      std::optional<Range> At = F.range(Load->E);
      if (Load->Load && Load->Base != Store->Base &&
          (!R || !At || At->Begin >= R->End))
        Found = true;
    }
  }
  return Found;
}

static std::string planLoop(const Facts &F, const Kernel &K, const Accesses &A,
                            const std::vector<Reduction> &Reductions, Plan &P) {
  if (std::string Why = whyNotRemap(F, K, A, Reductions, P.L); !Why.empty())
    return Why;
  std::vector<const Access *> Mine = A.in(P.L.S);
  for (const Access *Each : Mine) {
    if (Each->E->getType().isVolatileQualified())
      return "it accesses volatile memory";
    if (!Each->Index || !Each->Base || !Each->Base->getType()->isPointerType())
      continue;
    if (Each->Shared || !isNeverWritten(Each->Base, K.body(), *K.Parents) ||
        !isShiftedIndex(F, K, P.L, Each->Index))
      continue;
    unsigned Bytes = 0;
    if (!isElementType(Each->E->getType(), F.context(), Bytes))
      continue;
    bool Always = isUnconditional(Each->E, P.L.S->getBody(), K);
    if (Each->Store && !Always)
      return "it stores to '" + Each->Base->getNameAsString() +
             "' under a condition";
    std::optional<std::string> Text = withIndex(F, K, P.L, Each->Index, "i");
    if (!Text || !F.range(Each->Whole))
      return "it accesses '" + Each->Base->getNameAsString() +
             "' inside a macro";
    Stream *Into = nullptr;
    for (Stream &S : P.Streams)
      if (S.Base == Each->Base && S.IndexText == *Text)
        Into = &S;
    if (!Into) {
      P.Streams.emplace_back();
      Into = &P.Streams.back();
      Into->Base = Each->Base;
      Into->Root = Each->Root;
      Into->Index = Each->Index;
      Into->IndexText = *Text;
      Into->Bytes = Bytes;
      Into->Type = Each->E->getType()
                       .getUnqualifiedType()
                       .getCanonicalType()
                       .getUnqualifiedType()
                       .getAsString(F.context().getPrintingPolicy());
    }
    Into->Load |= Each->Load;
    Into->Store |= Each->Store;
    Into->Always |= Always;
    Into->Members.push_back(*Each);
  }
  llvm::erase_if(P.Streams, [](const Stream &S) { return !S.Always; });
  if (P.Streams.empty())
    return "no array is read or written at the index, or the index plus "
           "something that stays the same";
  unsigned Least = VectorBytes;
  for (const Stream &S : P.Streams)
    Least = std::min(Least, S.Bytes);
  P.Width = VectorBytes / Least;
  for (const Access *Each : Mine) {
    bool Vector = false;
    for (const Stream &S : P.Streams)
      for (const Access &Member : S.Members)
        Vector |= Member.E == Each->E;
    if (!Vector && Each->Store && !Each->Shared)
      return "it also stores elements one by one";
    if (!Vector && Each->Load && !Each->Shared)
      for (const Access *Other : Mine)
        if (Other->Store && A.conflict(*Each, *Other))
          return "it reads memory one by one that it may store to";
  }
  P.LoadAfterStore = readsAfterStore(F, K, Mine, P.L.S->getBody());
  return "";
}

/// Text of an expression as a factor.
static std::string inProduct(const std::string &Text) {
  for (char C : Text)
    if (!llvm::isAlnum(C) && C != '_')
      return "(" + Text + ")";
  return Text;
}

static llvm::Expected<std::vector<Edit>>
writeLoop(const Facts &F, const Kernel &K, const Plan &P) {
  const ThreadLoop &L = P.L;
  std::optional<Range> Whole = F.statementRange(L.S);
  std::optional<Range> Body = F.statementRange(L.S->getBody());
  std::string Start = F.text(L.Start), Bound = F.text(L.Bound),
              Step = F.text(L.Step);
  if (!Whole || !Body || Start.empty() || Bound.empty() || Step.empty())
    return failed("the loop stands in a macro");
  std::string Type = L.I->getType().getUnqualifiedType().getAsString(
      F.context().getPrintingPolicy());
  std::string BoundType =
      L.Bound->getType().getCanonicalType().getUnqualifiedType().getAsString(
          F.context().getPrintingPolicy());
  std::string I = L.I->getNameAsString();
  std::string Rest = F.freshName("whole"), At = F.freshName("at"),
              Lane = F.freshName("lane");
  std::string N = std::to_string(P.Width);

  std::vector<Stream> Streams = P.Streams;
  for (size_t J = 0; J < Streams.size(); ++J) {
    Streams[J].Name = F.freshName(Streams[J].Base->getNameAsString() + "_vec");
    for (size_t Other = 0; Other < J; ++Other)
      if (Streams[Other].Name == Streams[J].Name)
        Streams[J].Name += std::to_string(J + 1);
  }

  // The body for one element of the vectors.
  std::vector<Edit> Inner;
  std::vector<Range> Taken;
  for (const Stream &S : Streams)
    for (const Access &Each : S.Members) {
      std::optional<Range> R = F.range(Each.Whole);
      if (!R || !Body->contains(*R))
        return failed("an access stands in a macro");
      Inner.push_back({{R->Begin - Body->Begin, R->End - Body->Begin},
                       S.Name + ".at[" + Lane + "]"});
      Taken.push_back(*R);
    }
  bool Clean = true;
  forEach(L.S->getBody(), [&](const Stmt *Node) {
    const auto *Ref = llvm::dyn_cast<DeclRefExpr>(Node);
    if (!Ref || Ref->getDecl() != L.I)
      return;
    std::optional<Range> R = F.range(Ref);
    if (!R || !Body->contains(*R)) {
      Clean = false;
      return;
    }
    for (const Range &T : Taken)
      if (T.contains(*R))
        return;
    Inner.push_back({{R->Begin - Body->Begin, R->End - Body->Begin},
                     "(" + I + " + " + Lane + ")"});
  });
  if (!Clean)
    return failed("the index stands in a macro");
  llvm::Expected<std::string> OneLane = applyEdits(F.text(*Body), Inner);
  if (!OneLane)
    return OneLane.takeError();

  std::string Guard;
  bool Apart = false;
  for (const Stream &S : Streams) {
    std::optional<std::string> First = withIndex(F, K, L, S.Index, "0");
    if (!First)
      return failed("an index stands in a macro");
    Guard +=
        (Guard.empty() ? "" : " && ") +
        ("is_wide_aligned(&" + S.Base->getNameAsString() + "[" + *First + "])");
  }
  for (size_t J = 0; J < Streams.size(); ++J)
    for (size_t Other = J + 1; Other < Streams.size(); ++Other) {
      const Stream &A = Streams[J], &B = Streams[Other];
      const auto *PA = llvm::dyn_cast_or_null<ParmVarDecl>(A.Root),
                 *PB = llvm::dyn_cast_or_null<ParmVarDecl>(B.Root);
      if ((!A.Store && !B.Store) || A.Base == B.Base ||
          (PA && PB && PA != PB && F.whyNotApart(K, PA, PB).empty()))
        continue;
      std::string At0 = "&" + A.Base->getNameAsString() + "[" +
                        *withIndex(F, K, L, A.Index, "0") + "]";
      std::string Bt0 = "&" + B.Base->getNameAsString() + "[" +
                        *withIndex(F, K, L, B.Index, "0") + "]";
      std::string Test = "lie_apart(" + At0 + ", " + Bt0 + ", (" + Bound +
                         ") * sizeof(" + (A.Bytes > B.Bytes ? A.Type : B.Type) +
                         "))";
      bool SameIsFine =
          !P.LoadAfterStore && !(A.Store && B.Store) && A.Bytes == B.Bytes;
      if (SameIsFine)
        Test = "((const void *)" + At0 + " == (const void *)" + Bt0 + " || " +
               Test + ")";
      Guard += " && " + Test;
      Apart = true;
    }

  std::string In = F.indentAt(Whole->Begin);
  std::string T;
  T += "{\n";
  T += In + "  // 16 bytes at a time where the addresses allow it.\n";
  T += In + "  const " + BoundType + " " + Rest + " =\n" + In + "      " +
       Guard + " ? " + inProduct(Bound) + " / " + N + " * " + N + " : 0;\n";
  T += In + "  for (" + Type + " " + At + " = " + Start + "; " + At + " < " +
       Rest + " / " + N + "; " + At + " += " + Step + ") {\n";
  T += In + "    const " + Type + " " + I + " = " + At + " * " + N + ";\n";
  for (const Stream &S : Streams) {
    std::string Vec = "wide_vec<" + S.Type + ", " + N + ">";
    std::string Address = "(&" + S.Base->getNameAsString() + "[" +
                          *withIndex(F, K, L, S.Index, I) + "])";
    if (S.Load)
      T += In + "    " + (S.Store ? "" : "const ") + Vec + " " + S.Name +
           " =\n" + In + "        *reinterpret_cast<const " + Vec + " *>" +
           Address + ";\n";
    else
      T += In + "    " + Vec + " " + S.Name + ";\n";
  }
  T += "#pragma unroll\n";
  T += In + "    for (int " + Lane + " = 0; " + Lane + " < " + N + "; ++" +
       Lane + ")\n";
  T += In + "      " + *OneLane + "\n";
  for (const Stream &S : Streams)
    if (S.Store)
      T += In + "    *reinterpret_cast<wide_vec<" + S.Type + ", " + N +
           "> *>(&" + S.Base->getNameAsString() + "[" +
           *withIndex(F, K, L, S.Index, I) + "]) =\n" + In + "        " +
           S.Name + ";\n";
  T += In + "  }\n";
  T += In + "  for (" + Type + " " + I + " = " + Rest + " + " + Start + "; " +
       F.text(L.S->getCond()) + "; " + F.text(L.S->getInc()) + ")\n";
  T += In + "    " + F.text(*Body) + "\n";
  T += In + "}";

  std::vector<Edit> Edits;
  for (auto [Name, Text, Wanted] :
       {std::tuple("wide_vec", VecText, true),
        std::tuple("is_wide_aligned", AlignedText, true),
        std::tuple("lie_apart", ApartText, Apart)}) {
    if (!Wanted)
      continue;
    llvm::Expected<std::vector<Edit>> Some = F.declare(K, Name, Text);
    if (!Some)
      return Some.takeError();
    Edits.insert(Edits.end(), Some->begin(), Some->end());
  }
  Edits.push_back({*Whole, T});
  return Edits;
}

void VectorAccess::prepare(const Facts &F, Findings &Out) const {
  for (const Kernel &K : F.kernels()) {
    if (!K.Problem.empty()) {
      Out.refuse(K.name(), K.At->Line, K.Problem);
      continue;
    }
    std::vector<const ForStmt *> Loops;
    forEach(K.body(), [&](const Stmt *N) {
      if (const auto *Loop = llvm::dyn_cast<ForStmt>(N))
        Loops.push_back(Loop);
    });
    if (Loops.empty())
      continue;
    Accesses A(F, K);
    std::vector<Reduction> Reductions = findReductions(F, K);
    for (const ForStmt *Loop : Loops) {
      const Site *At = F.siteAt(SiteKind::Loop, Loop);
      std::string Why;
      Plan P;
      std::optional<ThreadLoop> L = readThreadLoop(F, K, Loop, Why);
      if (!At || (!L && Why.empty()))
        continue;
      if (L) {
        P.L = *L;
        Why = planLoop(F, K, A, Reductions, P);
      }
      if (Why.empty()) {
        llvm::Expected<std::vector<Edit>> Try = writeLoop(F, K, P);
        if (!Try)
          Why = llvm::toString(Try.takeError());
      }
      if (!Why.empty()) {
        Out.refuse(At->Id, At->Line, Why);
        continue;
      }
      Match M;
      M.Site = At->Id;
      M.Line = At->Line;
      M.Sites = {K.name()};
      M.Promise = 80;
      M.Title = "Load and store 16 bytes at a time";
      std::string Names;
      for (const Stream &S : P.Streams)
        Names +=
            (Names.empty() ? "`" : ", `") + S.Base->getNameAsString() + "`";
      M.Advice =
          "The loop at line " + std::to_string(At->Line) + " moves " + Names +
          " element by element. Let each thread take " +
          std::to_string(P.Width) +
          " neighbouring elements with 16-byte accesses, which takes a warp "
          "fewer instructions for the same bytes. The rest, and rows that do "
          "not begin at a multiple of 16 bytes, keep the scalar loop. Sums are "
          "added in another order, so their rounding may differ.";
      Out.offer(std::move(M), [&F, &K, P] { return writeLoop(F, K, P); });
    }
  }
}

std::unique_ptr<const Rewrite> stark::makeVectorAccess() {
  return std::make_unique<VectorAccess>();
}
