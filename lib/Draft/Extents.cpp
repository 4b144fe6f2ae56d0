//===- Extents.cpp - How long an array has to be -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   the last byte that threads were seen to reach -> "rows * cols"
/// Sizes that a dry run makes up are so far apart that their products tell
/// which of them an array is as long as.
///
//===----------------------------------------------------------------------===//

#include "DraftText.h"
#include "Dtypes.h"
#include "SizeChoice.h"
#include "stark/Job/Job.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;
using namespace stark::draft;

namespace {
/// Products of sizes that are near to what was seen.
struct Search {
  const Bindings &Names;
  int64_t Seen;
  Formula Best;
  int64_t BestValue = INT64_MAX;
  int64_t Lanes = 1;                ///< scalars of one element
  int64_t Threads = 1;              ///< of a block
  std::set<const Term *> Once = {}; ///< grids
  std::vector<Formula> All = {};    ///< atoms

  /// With other numbers for sizes; null: none.
  const Bindings *OtherNames = nullptr;
  int64_t OtherSeen = 0;

  /// Whether \p F, of \p Value, is as near to what was seen with other numbers.
  bool holdsAgain(const Formula &F, int64_t Value, bool Exactly) const {
    std::optional<int64_t> Other =
        OtherNames ? evaluate(F, *OtherNames) : std::nullopt;
    if (!OtherNames || !Other || Exactly)
      return !OtherNames || (Other && *Other == OtherSeen);
    double Here = double(Value) / double(Seen),
           There = double(*Other) / double(OtherSeen);
    return There >= 0.95 && There / Here > 0.8 && There / Here < 1.25;
  }
  void consider(const Formula &F, bool Exactly = false) {
    std::optional<int64_t> Value = evaluate(F, Names);
    if (!Value || *Value < Seen || *Value > BestValue ||
        !holdsAgain(F, *Value, Exactly))
      return;
    if (*Value == BestValue && !isPlainer(F, Best))
      return;
    Best = F;
    BestValue = *Value;
  }
  /// Of as many factors, those that differ: rows * columns, where there are as
  /// many of the one as of the other.
  static bool isPlainer(const Formula &L, const Formula &R) {
    std::set<std::string> Left, Right;
    collectNames(L, Left);
    collectNames(R, Right);
    return factors(L).size() == factors(R).size() && Left.size() > Right.size();
  }
  /// With a border, or a part of it, where that is just what was seen.
  void considerExact(const Formula &F) {
    if (BestValue != Seen && evaluate(F, Names) == Seen)
      consider(F, /*Exactly=*/true);
  }
  /// \p Sum of two, and rows of that length, or as many.
  void sums(llvm::ArrayRef<Formula> Atoms, const Formula &Sum) {
    considerExact(Sum);
    if (OtherNames)
      for (const Formula &A : Atoms)
        considerExact(combine(Op::Mul, A, Sum));
  }
  void lookIn(const EntryUse &Use);
  void products(llvm::ArrayRef<Formula> Atoms, const Formula &So, int Left) {
    for (int64_t Times : {1, 2, 3, 4})
      consider(combine(Op::Mul, constant(Times), So));
    for (int64_t Times : {6, 8, 9, 12, 16, 32, 64, 128})
      considerExact(combine(Op::Mul, constant(Times), So));
    considerExact(combine(Op::Mul, constant(Lanes), So));
    considerExact(combine(Op::Mul, constant(Threads), So));
    // One less is what the threads that are followed miss of it, or a guard.
    for (int64_t Plus : {1, 2})
      considerExact(combine(Op::Add, So, constant(Plus)));
    if (Left == 0)
      return;
    // A coincidence would not be one twice.
    if (OtherNames)
      for (const Formula &A : All)
        for (int64_t Plus : {1, 2, 4, 5, -1})
          for (int64_t Times : {1, 2, 3, 4})
            considerExact(combine(Op::Mul,
                                  combine(Op::Mul, constant(Times), So),
                                  combine(Op::Add, A, constant(Plus))));
    // A size may be squared, the grid is no size.
    for (size_t I = 0; I < Atoms.size(); ++I)
      products(Atoms.drop_front(Once.count(Atoms[I].get()) ? I + 1 : I),
               combine(Op::Mul, So, Atoms[I]), Left - 1);
  }
};
} // namespace

/// What lengths are products of: sizes, and the grid, which is put into \p Once
/// as well.
static std::vector<Formula> atomsOf(const EntryUse &Use,
                                    std::set<const Term *> &Once) {
  std::vector<Formula> Atoms;
  // Rows that nobody counts but the grid.
  for (int I = 2; I >= 0; --I)
    if (isName(Use.Grid[I]) && Use.GridGuessed)
      Atoms.push_back(Use.Grid[I]);
  for (const LeafUse &Other : Use.Leaves)
    if (!Other.Array && hasNames(Other.Given.How) && Other.Given.isInteger() &&
        !Use.Settled.count(sizeName(Other.P->Name))) {
      Atoms.push_back(Other.Given.How);
      // A filter around each element.
      if (isHandful(Other.P->Name))
        Atoms.push_back(combine(Op::Add,
                                combine(Op::Mul, constant(2), Other.Given.How),
                                constant(1)));
    }
  std::vector<Formula> Grids(Use.Grid, Use.Grid + 3);
  if (!Use.Entry.IsKernel)
    for (const Launch &L : Use.Run->Launches)
      for (const Value &G : L.Grid)
        if (G.isInteger() && Grids.size() < 6)
          Grids.push_back(G.How);
  for (const Formula &G : Grids)
    if (G && hasNames(G)) {
      if (llvm::none_of(Atoms,
                        [&](const Formula &A) { return print(A) == print(G); }))
        Atoms.push_back(G);
      if (!isName(G))
        Once.insert(G.get());
      // Where the grid is n / 4 / 128, n is as long as something.
      std::set<std::string> InGrid;
      collectNames(G, InGrid);
      for (const std::string &Name : InGrid)
        if (Use.Names.count(Name) &&
            llvm::none_of(Atoms, [&](const Formula &A) {
              return isName(A) && A->Name == Name;
            }))
          Atoms.push_back(named(Name));
    }
  if (Use.Names.count("n") && Atoms.size() == 1)
    Atoms.push_back(named("n"));
  if (Atoms.size() > 8)
    Atoms.resize(8);
  return Atoms;
}

int64_t draft::scalarsAtOnce(const LeafUse &L) {
  return std::max<int64_t>(L.P->Lanes, L.Array->Used.InexactBytes /
                                           job::dtypeBytes(dtypeFor(*L.P)));
}

/// Whether nothing but values of other arrays says where \p L is reached.
static bool isTable(const LeafUse &L) {
  return L.Array && !L.Bytes && L.Array->Used.Most <= 0 &&
         L.Array->Used.Inexact;
}

/// The argument that counts what rows hold in all, as nnz, which no guard and
/// no grid has; null where there is none.
static Formula countOfEntries(const EntryUse &Use) {
  std::set<std::string> Elsewhere;
  for (const AxisGuard &G : Use.Run->Guards)
    collectNames(G.Limit, Elsewhere);
  for (const Formula &G : Use.Grid)
    collectNames(G, Elsewhere);
  for (const LeafUse &L : Use.Leaves)
    if (!L.Array && L.Given.isInteger() && isName(L.Given.How) &&
        isCountOfEntries(L.P->Name) && !Elsewhere.count(L.Given.How->Name))
      return L.Given.How;
  return nullptr;
}

/// How many rows the table \p L has. What the same array's values bound, as
/// columns and values of a sparse matrix, is as long.
static Formula rowsOf(const LeafUse &L, const EntryUse &Use) {
  for (const LeafUse &By : Use.Leaves)
    if (By.Array && By.Array->Used.BoundsLoop &&
        llvm::is_contained(By.Array->Used.Indexes, L.Array)) {
      if (Formula Count = countOfEntries(Use))
        return Count;
      for (const LeafUse &First : Use.Leaves)
        if (isTable(First) &&
            llvm::is_contained(By.Array->Used.Indexes, First.Array))
          return named(sizeName(First.P->Name) + "_rows");
    }
  return named(sizeName(L.P->Name) + "_rows");
}

/// A table that another array's values choose from, and nothing else reaches:
/// as many rows as there may be, a size of its own. Null where it is none.
static Formula tableOf(const LeafUse &L, const EntryUse &Use) {
  if (!isTable(L))
    return nullptr;
  Formula Row;
  bool Bytes = false, Chosen = false;
  for (const LeafUse &By : Use.Leaves) {
    if (!By.Array || By.Array == L.Array || By.Array->Used.Scaled ||
        !llvm::is_contained(By.Array->Used.Indexes, L.Array))
      continue;
    Chosen = true;
    Bytes |= By.P->Fields.empty() && job::dtypeBytes(dtypeFor(*By.P)) == 1;
    if (auto At = By.Array->Used.Strides.find(L.Array);
        At != By.Array->Used.Strides.end() && At->second)
      Row = At->second;
  }
  // What depends on the thread is no row's length.
  std::set<std::string> In;
  collectNames(Row, In);
  if (!Chosen || llvm::any_of(In, [&](const std::string &Name) {
        return !Use.Names.count(Name);
      }))
    return nullptr;
  Formula Rows = Bytes ? constant(256) : rowsOf(L, Use);
  return combine(Op::Mul, combine(Op::Mul, Rows, constant(scalarsAtOnce(L))),
                 Row ? Row : constant(1));
}

/// All that lengths of \p Use may be.
void Search::lookIn(const EntryUse &Use) {
  Threads = threadsOf(Use.Block, Use.Names);
  std::vector<Formula> Atoms = atomsOf(Use, Once);
  All = Atoms;
  for (size_t I = 0; I < Atoms.size(); ++I)
    products(llvm::ArrayRef(Atoms).drop_front(Once.count(Atoms[I].get()) ? I + 1
                                                                         : I),
             Atoms[I], 3);
  for (size_t I = 0; I < Atoms.size(); ++I)
    for (size_t J = 0; J < I; ++J)
      sums(Atoms, combine(Op::Add, Atoms[J], Atoms[I]));
  // Of an image's colours every second row.
  if (OtherNames)
    for (const Formula &Rows : Atoms)
      for (const Formula &Row : Atoms)
        if (Rows != Row && isName(Rows) && isName(Row))
          consider(combine(Op::Mul, combine(Op::Div, Rows, constant(2)), Row));
  Formula Whole = constant(1);
  for (const Formula &Limit : Use.Limits)
    if (Limit) {
      consider(Limit);
      consider(Whole = combine(Op::Mul, Whole, Limit));
    }
}

Formula draft::extentSeen(const LeafUse &L, const EntryUse &Use) {
  const draft::Use &U = L.Array->Used;
  if (Formula Table = tableOf(L, Use))
    return Table;
  if (U.Most <= 0 && U.Inexact && Use.Followed) {
    // As many as there are threads, where they are told to go elsewhere.
    Formula Threads;
    for (const Formula &G : Use.Grid)
      if (G && G->Kind == Op::CeilDiv && hasNames(G->Left))
        Threads = Threads ? combine(Op::Mul, Threads, G->Left) : G->Left;
    if (Threads)
      return Threads;
    for (const LeafUse &Other : Use.Leaves)
      if (!Other.Array && Other.Given.isInteger() && hasNames(Other.Given.How))
        return Other.Given.How;
  }
  if (U.Most <= 0)
    return nullptr;
  int64_t Scalar = job::dtypeBytes(dtypeFor(*L.P));
  // Not all fields of the last element are used.
  auto Whole = [&](int64_t Bytes) {
    return llvm::alignTo((Bytes + Scalar - 1) / Scalar, L.P->Lanes);
  };
  int64_t Seen = int64_t(Whole(U.Most));
  Search S{Use.Names, Seen, nullptr};
  S.Lanes = L.P->Lanes;
  size_t At = &L - Use.Leaves.data();
  if (Use.Again && At < Use.Again->Leaves.size() &&
      Use.Again->Leaves[At].Array) {
    const draft::Use &Other = Use.Again->Leaves[At].Array->Used;
    if (Other.Most > 0 && Other.Inexact == U.Inexact) {
      S.OtherNames = &Use.Again->Names;
      S.OtherSeen = int64_t(Whole(Other.Most));
    }
  }
  S.lookIn(Use);
  // A few elements are as many at any size.
  if (Seen <= 512 && S.BestValue > Seen)
    return constant(Seen);
  if (S.Best && double(S.BestValue) <= 1.4 * double(Seen))
    return S.Best;
  if (U.Inexact)
    return nullptr;
  // No size tells how many threads there are.
  bool Fixed = llvm::none_of(Use.Grid, hasNames);
  return Fixed && Use.Recorded && !Use.GridGuessed ? constant(Seen) : S.Best;
}

Formula draft::sharedSeen(const EntryUse &Use) {
  int64_t Bytes = Use.Run->SharedBytes;
  if (!Bytes)
    return nullptr;
  for (int64_t Scalar : {4, 2, 1}) {
    if (Bytes % Scalar)
      continue;
    Search S{Use.Names, Bytes / Scalar, nullptr};
    if (Use.Again) {
      S.OtherNames = &Use.Again->Names;
      S.OtherSeen = Use.Again->Run->SharedBytes / Scalar;
    }
    // What is as much at other sizes follows from none.
    if (!Use.Again || S.OtherSeen == S.Seen)
      break;
    S.lookIn(Use);
    if (S.Best && S.BestValue == S.Seen)
      return combine(Op::Mul, constant(Scalar), S.Best);
  }
  return constant((Bytes + 15) / 16 * 16);
}
