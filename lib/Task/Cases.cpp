//===- Cases.cpp - A task's arguments as leaves and numbers ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLeaves.h"
#include "stark/AST/BlockLimits.h"
#include "stark/Job/Names.h"
#include "stark/Support/Error.h"
#include "stark/Task/Task.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace stark;

static const char *const LaunchNames[] = {
    "launch.grid.x",  "launch.grid.y",  "launch.grid.z",      "launch.block.x",
    "launch.block.y", "launch.block.z", "launch.shared_bytes"};

static const Argument *argumentOf(const Task &T, llvm::StringRef Name) {
  for (const Argument &A : T.Load.Arguments)
    if (A.Name == Name)
      return &A;
  return nullptr;
}

static double toleranceOf(const Task &T, job::DType Type) {
  auto Found = T.Load.Tolerance.find(Type);
  return Found == T.Load.Tolerance.end() ? 0 : Found->second;
}

/// What \p A says of the structs that \p P points to, in its order.
static std::vector<job::Field> recordFields(const Task &T, const Argument &A,
                                            const Parameter &P) {
  std::vector<job::Field> Fields;
  for (const Argument &Of : A.Fields)
    for (const Parameter &At : P.Fields) {
      if (At.Name != Of.Name)
        continue;
      job::Field &F = Fields.emplace_back();
      F.Name = Of.Name;
      F.Offset = At.Offset;
      F.Count = At.Lanes;
      F.Type = Of.Type;
      F.Fill = Of.Fill;
      F.Tolerance = toleranceOf(T, Of.Type);
      if (isHardened(T))
        F.Otherwise = makeRegimes(Of, T.Load, /*IsTensor=*/false);
    }
  return Fields;
}

std::vector<job::Leaf> stark::makeLeaves(const Task &T) {
  std::vector<job::Leaf> Leaves;
  for (const Parameter *P : leavesOf(T.Entry)) {
    job::Leaf L;
    L.Name = P->Name;
    if (P->Kind == ParameterKind::Stream)
      L.Kind = job::LeafKind::Stream;
    else if (P->Kind == ParameterKind::Scalar)
      L.Kind = isReal(*P) ? job::LeafKind::Real : job::LeafKind::Integer;
    if (const Argument *A = argumentOf(T, P->Name); A && A->IsBuffer) {
      L.Type = A->Type;
      L.Use = A->Use;
      L.Fill = A->Fill;
      L.Weight =
          A->Tensor == TensorKind::Parameter || A->Tensor == TensorKind::Buffer;
      if (isHardened(T))
        L.Otherwise = makeRegimes(*A, T.Load, isTensorEntry(T.Entry));
      L.Tolerance = toleranceOf(T, A->Type);
      L.Fields = recordFields(T, *A, *P);
      for (const job::Field &Of : L.Fields)
        L.Tolerance = std::max(L.Tolerance, Of.Tolerance);
    }
    Leaves.push_back(std::move(L));
  }
  for (size_t I = 0; I < T.Load.Returns.size(); ++I) {
    job::Leaf L;
    L.Name = T.Load.Returns.size() == 1 ? "result"
                                        : "result[" + std::to_string(I) + "]";
    L.Type = T.Load.Returns[I].Type;
    L.Use = job::Role::Output;
    L.Tolerance = toleranceOf(T, L.Type);
    Leaves.push_back(std::move(L));
  }
  for (const Argument &A : T.Load.Arguments) {
    if (A.Before.empty())
      continue;
    job::Leaf L;
    L.Name = A.Name + ".before";
    L.Kind = job::LeafKind::Integer;
    Leaves.push_back(std::move(L));
  }
  if (T.Load.Launch) {
    for (const char *Name : LaunchNames) {
      job::Leaf L;
      L.Name = Name;
      L.Kind = job::LeafKind::Integer;
      Leaves.push_back(std::move(L));
    }
    job::Leaf Stream;
    Stream.Name = "launch.stream";
    Stream.Kind = job::LeafKind::Stream;
    Leaves.push_back(std::move(Stream));
  }
  return Leaves;
}

/// The value of each of LaunchNames for one size.
static llvm::Expected<std::vector<int64_t>>
launchValues(const LaunchRule &Rule, const Bindings &Names) {
  std::vector<int64_t> Values;
  for (const std::string *Text : {&Rule.Grid, &Rule.Block}) {
    llvm::SmallVector<llvm::StringRef> Parts = splitTriple(*Text);
    Parts.resize(3, "1");
    for (llvm::StringRef Part : Parts) {
      llvm::Expected<int64_t> Value = evaluateExpression(Part, Names);
      if (!Value)
        return Value.takeError();
      Values.push_back(*Value);
    }
  }
  llvm::Expected<int64_t> Shared = evaluateExpression(Rule.SharedBytes, Names);
  if (!Shared)
    return Shared.takeError();
  Values.push_back(*Shared);
  return Values;
}

/// Whether a parameter of type \p T holds \p Value.
static bool fitsScalar(ScalarType T, int64_t Value) {
  switch (T) {
  case ScalarType::Bool:
    return Value == 0 || Value == 1;
  case ScalarType::I8:
    return Value == int8_t(Value);
  case ScalarType::U8:
    return Value == uint8_t(Value);
  case ScalarType::I16:
    return Value == int16_t(Value);
  case ScalarType::U16:
    return Value == uint16_t(Value);
  case ScalarType::I32:
    return Value == int32_t(Value);
  case ScalarType::U32:
    return Value == uint32_t(Value);
  case ScalarType::U64:
    return Value >= 0;
  default:
    return true;
  }
}

/// What every device refuses, or an empty text.
static std::string launchProblem(const std::vector<int64_t> &V) {
  static constexpr int64_t Most[] = {2147483647,
                                     65535,
                                     65535,
                                     MostThreadsOfBlock,
                                     MostThreadsOfBlock,
                                     64,
                                     MostSharedOfBlock};
  for (size_t I = 0; I < V.size(); ++I)
    if (V[I] < (I < 6 ? 1 : 0) || V[I] > Most[I])
      return std::string(LaunchNames[I]) + " is " + std::to_string(V[I]) +
             ", wanted " + (I < 6 ? "1 to " : "0 to ") +
             std::to_string(Most[I]);
  constexpr int64_t MostThreads = MostThreadsOfBlock;
  if (V[3] * V[4] * V[5] > MostThreads)
    return "a block has " + std::to_string(V[3] * V[4] * V[5]) +
           " threads, wanted " + std::to_string(MostThreads) + " or fewer";
  return "";
}

/// The shape of buffer \p Name for one size, whose bytes are added to \p Bytes;
/// what is wrong with it, or an empty text.
static std::string readShape(const std::string &Name, job::DType Type,
                             llvm::ArrayRef<std::string> Extents,
                             const Bindings &Names, std::vector<int64_t> &Shape,
                             uint64_t &Bytes) {
  uint64_t Elements = 1, Size = 0;
  for (const std::string &Part : Extents) {
    llvm::Expected<int64_t> Extent = evaluateExpression(Part, Names);
    if (!Extent)
      return "shape of '" + Name + "': " + llvm::toString(Extent.takeError());
    Shape.push_back(*Extent);
    if (*Extent < 1)
      return "the shape of '" + Name + "' has " + std::to_string(*Extent) +
             ", wanted 1 or more";
    if (__builtin_mul_overflow(Elements, uint64_t(*Extent), &Elements))
      return "the shape of '" + Name + "' has more than 2^64 elements";
  }
  if (__builtin_mul_overflow(Elements, job::dtypeBytes(Type), &Size) ||
      __builtin_add_overflow(Bytes, Size, &Bytes) ||
      Bytes > (uint64_t(1) << 40))
    return "the arguments take more than 1 TiB";
  return "";
}

/// The fill of buffer \p A, or of a field, for one size, where it depends on
/// it, goes to \p Into; what is wrong with it, or an empty text.
static std::string readFill(const Argument &A, const Bindings &Names,
                            std::optional<job::Init> &Into) {
  if (A.Low.empty() && A.High.empty() && A.Times.empty())
    return "";
  job::Init Fill = A.Fill;
  for (auto [Text, Number] :
       {std::pair(&A.Low, &Fill.Low), std::pair(&A.High, &Fill.High),
        std::pair(&A.Times, &Fill.Times)}) {
    if (Text->empty())
      continue;
    llvm::Expected<int64_t> Value = evaluateExpression(*Text, Names);
    if (!Value)
      return "init of '" + A.Name + "': " + llvm::toString(Value.takeError());
    *Number = double(*Value);
  }
  if (Fill.Kind == job::InitKind::Integers && Fill.Low >= Fill.High)
    return "init of '" + A.Name + "' has the range from " +
           std::to_string(int64_t(Fill.Low)) + " up to, but without, " +
           std::to_string(int64_t(Fill.High)) +
           ", wanted a low end below the high one";
  Into = Fill;
  return "";
}

/// Likewise of all that buffer \p A holds.
static std::string readFills(const Argument &A, const Bindings &Names,
                             job::LeafValue &V) {
  std::string Why = readFill(A, Names, V.Fill);
  bool Any = false;
  for (const Argument &Of : A.Fields) {
    std::optional<job::Init> Fill;
    if (Why.empty())
      Why = readFill(Of, Names, Fill);
    Any |= Fill.has_value();
    V.FieldFills.push_back(Fill.value_or(Of.Fill));
  }
  if (!Any)
    V.FieldFills.clear();
  return Why;
}

/// An array by reference and a variable of the device have as many elements as
/// their type says.
static std::string checkCount(const Parameter &P, const job::LeafValue &V) {
  if (!P.Count || V.elements() == P.Count * P.Lanes)
    return "";
  return "the shape of '" + P.Name + "' has " + std::to_string(V.elements()) +
         " elements, but '" + P.Type + "' has " +
         std::to_string(P.Count * P.Lanes);
}

/// The value of scalar \p A for one size; what is wrong with it, or an empty
/// text.
static std::string readScalar(const Argument &A, const Parameter &P,
                              const Bindings &Names, job::LeafValue &V) {
  auto Problem = [&](llvm::Error E) {
    return "value of '" + A.Name + "': " + llvm::toString(std::move(E));
  };
  if (isReal(P)) {
    llvm::Expected<double> Value = evaluateReal(A.Value, Names);
    if (!Value)
      return Problem(Value.takeError());
    V.Real = *Value;
    return "";
  }
  llvm::Expected<int64_t> Value = evaluateExpression(A.Value, Names);
  if (!Value)
    return Problem(Value.takeError());
  V.Integer = *Value;
  return fitsScalar(P.Element, *Value)
             ? ""
             : "argument '" + A.Name + "' gets " + std::to_string(*Value) +
                   ", which does not fit '" + P.Type + "'";
}

static llvm::Expected<job::Case> makeCase(const Task &T, const Size &S) {
  job::Case C;
  C.Label = S.label();
  C.Timed = !S.CheckOnly && !S.Added;
  C.Added = S.Added;
  C.Brief = C.Drawn = S.Drawn;
  auto Fail = [&](const std::string &Why) {
    return usageError(T.Load.File + ": size '" + C.Label + "': " + Why);
  };
  if (C.Timed && !T.Load.Bytes.empty()) {
    llvm::Expected<double> Moved = evaluateReal(T.Load.Bytes, S.Names);
    if (!Moved)
      return Fail("\"bytes\": " + llvm::toString(Moved.takeError()));
    C.MovedBytes = *Moved;
  }
  uint64_t Bytes = 0;
  for (const Parameter *P : leavesOf(T.Entry)) {
    job::LeafValue V;
    const Argument *A = argumentOf(T, P->Name);
    std::string Why;
    if (A)
      Why = A->IsBuffer
                ? readShape(A->Name, A->Type, A->Shape, S.Names, V.Shape, Bytes)
                : readScalar(*A, *P, S.Names, V);
    if (A && A->IsBuffer && Why.empty())
      Why = readFills(*A, S.Names, V);
    if (A && A->IsBuffer && Why.empty())
      Why = checkCount(*P, V);
    if (!Why.empty())
      return Fail(Why);
    C.Values.push_back(std::move(V));
  }
  for (const ReturnedTensor &R : T.Load.Returns)
    if (std::string Why = readShape("returns", R.Type, R.Shape, S.Names,
                                    C.Values.emplace_back().Shape, Bytes);
        !Why.empty())
      return Fail(Why);
  for (const Argument &A : T.Load.Arguments) {
    if (A.Before.empty())
      continue;
    llvm::Expected<int64_t> Before = evaluateExpression(A.Before, S.Names);
    if (!Before)
      return Fail("'before' of '" + A.Name +
                  "': " + llvm::toString(Before.takeError()));
    C.Values.emplace_back().Integer = *Before;
  }
  if (!T.Load.Launch)
    return C;
  auto Values = launchValues(*T.Load.Launch, S.Names);
  if (!Values)
    return withContext(Values.takeError(), T.Load.File + ": launch rule");
  if (std::string Bad = launchProblem(*Values); !Bad.empty())
    return Fail(Bad);
  for (int64_t Value : *Values) {
    job::LeafValue V;
    V.Integer = Value;
    C.Values.push_back(V);
  }
  C.Values.push_back({});
  return C;
}

/// The same with other values.
static job::Case twin(job::Case C, job::Regime R) {
  C.Label += std::string(", ") + nameOf(R);
  C.Timed = false;
  C.Filling = R;
  // Of tensors it is what the import stands for; what pointers hold beside what
  // is said of them is the tool's own idea.
  bool OfTensors = R == job::Regime::Hardened;
  C.Added |= !OfTensors;
  C.Brief |= !OfTensors;
  return C;
}

static uint64_t elementsOf(const job::Case &C) {
  uint64_t Sum = 0;
  for (const job::LeafValue &V : C.Values)
    Sum += V.elements();
  return Sum;
}

/// Hardened ones of all timed sizes; of the other regimes the smallest size of
/// the file, and the timed ones to draw from.
static void addRegimes(const std::vector<job::Leaf> &Leaves,
                       std::vector<job::Case> &Cases) {
  std::vector<job::Regime> Regimes;
  auto Add = [&](const std::vector<job::RegimeFill> &Otherwise) {
    for (const job::RegimeFill &F : Otherwise)
      if (!llvm::is_contained(Regimes, F.Of))
        Regimes.push_back(F.Of);
  };
  for (const job::Leaf &L : Leaves) {
    Add(L.Otherwise);
    for (const job::Field &Of : L.Fields)
      Add(Of.Otherwise);
  }
  llvm::sort(Regimes);
  size_t Known = Cases.size();
  const job::Case *Smallest = nullptr;
  for (const job::Case &C : Cases)
    if (!C.Added && (!Smallest || elementsOf(C) < elementsOf(*Smallest)))
      Smallest = &C;
  size_t Least = size_t(Smallest - Cases.data());
  for (job::Regime R : Regimes)
    for (size_t I = 0; I < Known; ++I)
      if (Cases[I].Timed || (I == Least && R != job::Regime::Hardened)) {
        job::Case C = twin(Cases[I], R);
        C.Drawn = R != job::Regime::Hardened && I != Least;
        Cases.push_back(std::move(C));
      }
}

/// Those that the source has not come first: there may be too many.
static std::vector<int64_t> constantsOf(const Task &T,
                                        llvm::StringRef Candidate) {
  if (Candidate.empty())
    return {};
  std::vector<int64_t> All = integerConstants(Candidate),
                       Old = integerConstants(T.SourceText);
  std::stable_partition(All.begin(), All.end(), [&](int64_t V) {
    return !std::binary_search(Old.begin(), Old.end(), V);
  });
  return All;
}

llvm::Expected<std::vector<job::Case>>
stark::makeCases(const Task &T, llvm::StringRef Candidate) {
  std::vector<Size> Sizes = T.Load.Sizes;
  std::vector<Size> Added = addedSizes(T.Load, constantsOf(T, Candidate));
  Sizes.insert(Sizes.end(), Added.begin(), Added.end());
  llvm::stable_sort(Sizes, [](const Size &L, const Size &R) {
    return L.CheckOnly < R.CheckOnly;
  });
  std::vector<job::Case> Cases;
  for (const Size &S : Sizes) {
    llvm::Expected<job::Case> C = makeCase(T, S);
    if (!C) {
      // A launch rule need not hold for a size that the tool thought of.
      if (S.Added) {
        llvm::consumeError(C.takeError());
        continue;
      }
      return C.takeError();
    }
    Cases.push_back(std::move(*C));
  }
  if (T.Load.Misaligned)
    for (size_t I = 0, N = Cases.size(); I < N; ++I)
      if (Cases[I].Timed) {
        job::Case C = Cases[I];
        C.Label += ", misaligned";
        C.Timed = false;
        C.Added = C.Brief = C.Shifted = true;
        Cases.push_back(std::move(C));
      }
  addRegimes(makeLeaves(T), Cases);
  return Cases;
}
