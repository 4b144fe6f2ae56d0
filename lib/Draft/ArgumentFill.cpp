//===- ArgumentFill.cpp - What a draft fills arrays with ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what the host puts there, what the kernel does with it -> an init
///
//===----------------------------------------------------------------------===//

#include "ArgumentText.h"
#include "Dtypes.h"
#include "stark/AST/RecordText.h"
#include "stark/Job/Names.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::draft;
using nlohmann::ordered_json;

/// Of structs of several types, which are bytes to a workload: their type.
static const clang::RecordDecl *structOfBytes(const LeafUse &L) {
  if (L.P->Element != ScalarType::U8 || L.Type.isNull())
    return nullptr;
  const clang::RecordDecl *R =
      L.Type->getPointeeOrArrayElementType()->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  bool Wide = R && llvm::any_of(R->fields(), [](const clang::FieldDecl *F) {
                const clang::ASTContext &Context = F->getASTContext();
                return Context.getTypeSize(
                           Context.getBaseElementType(F->getType())) > 8;
              });
  return Wide ? R : nullptr;
}

/// Of a struct, that are named in a note.
static constexpr unsigned MostFields = 8;

/// Any numbers are a state of this generator; of zeros it makes the same.
static bool isRandomState(const clang::RecordDecl *R) {
  return R && R->getName() == "curandStateXORWOW";
}

bool draft::isGivenByFields(const LeafUse &L) {
  const clang::RecordDecl *R = structOfBytes(L);
  return R && !isRandomState(R) && !L.P->Fields.empty();
}

/// Each field as an array of its own would be.
ordered_json ArgumentWriter::recordFields(const LeafUse &L,
                                          const Formula &Scalars,
                                          const std::string &Role) {
  Formula Count =
      Scalars ? combine(Op::Div, Scalars, constant(L.P->Lanes)) : nullptr;
  ordered_json All = ordered_json::object();
  for (const Parameter &Field : L.P->Fields) {
    Parameter P = Field;
    P.Name = L.P->Name + "." + Field.Name;
    Object Untouched;
    Untouched.Used.Read = true; // not what nothing is known of
    auto Known = L.Array->Fields.find(int64_t(Field.Offset));
    LeafUse Of;
    Of.P = &P;
    Of.Array = Known == L.Array->Fields.end() ? &Untouched : Known->second;
    ordered_json One = {{"dtype", nameOf(dtypeFor(P))}};
    Formula Own =
        Count ? combine(Op::Mul, Count, constant(Field.Lanes)) : nullptr;
    if (auto Fill = fill(Of, Own, Role))
      One["init"] = *Fill;
    All[Field.Name] = One;
  }
  return All;
}

/// Where another array's values choose the row of \p O in which those of \p L
/// choose the element: how long a row is.
Formula ArgumentWriter::strideBeside(const LeafUse &L, const Object *O) const {
  for (const LeafUse &Other : Use.Leaves) {
    if (!Other.Array || Other.Array == L.Array)
      continue;
    auto At = Other.Array->Used.Strides.find(const_cast<Object *>(O));
    if (At != Other.Array->Used.Strides.end() && ofSizes(At->second))
      return At->second;
  }
  return nullptr;
}

/// Values that are places in another array: they stay inside it.
std::optional<ordered_json> ArgumentWriter::places(const LeafUse &L,
                                                   const Formula &Scalars) {
  const draft::Use &U = L.Array->Used;
  if (U.Indexes.empty())
    return std::nullopt;
  Formula Least;
  for (const Object *O : U.Indexes)
    if (Formula E = extentOf(O)) {
      int64_t AtOnce = 1;
      for (const LeafUse &Other : Use.Leaves)
        if (Other.Array == O)
          AtOnce = scalarsAtOnce(Other);
      E = combine(Op::Div, E, constant(AtOnce));
      // x[at[i] * columns + j]
      if (auto Stride = U.Strides.find(const_cast<Object *>(O));
          Stride != U.Strides.end() && ofSizes(Stride->second))
        E = combine(Op::Div, E, Stride->second);
      // q[state[i] * actions + action[i]]
      else if (Formula Row = strideBeside(L, O))
        E = Row;
      // Of where rows begin the last is where they end.
      if (O->Used.BoundsLoop)
        E = combine(Op::Sub, E, constant(1));
      Least = Least ? combine(Op::Min, Least, E) : E;
    }
  if (!Least)
    return std::nullopt;
  // Labels may be real numbers, as long as each is a place as it stands.
  bool Whole = job::isWhole(dtypeFor(*L.P));
  if (!Whole && U.Scaled)
    return std::nullopt;
  if (Whole && U.BoundsLoop && Scalars) {
    // Where each row begins: as many for each.
    Formula Rows = combine(Op::Sub, Scalars, constant(1));
    bool None = isConstant(Rows) && Rows->Number < 1;
    Formula Step = Rows && !None ? combine(Op::Div, Least, Rows) : nullptr;
    if (Step) {
      note(*L.P, "its values bound a loop over another array; they rise in "
                 "equal steps");
      return ordered_json{{"arange", formulaJson(Step)}};
    }
  }
  return ordered_json{
      {"integers", ordered_json::array({0, formulaJson(Least)})}};
}

/// What an index is divided by, and what its parts are multiplied with: of a
/// tensor of one side its length, and 1. No divisor is 0.
std::optional<ordered_json>
ArgumentWriter::sides(const LeafUse &L, const Formula &Scalars) const {
  bool One = llvm::any_of(Use.Leaves, [](const LeafUse &Other) {
    return !Other.Array && isRank(Other.P->Name) && Other.Given.isInteger() &&
           Other.Given.Number == 1;
  });
  bool Beside = llvm::any_of(Use.Leaves, [&](const LeafUse &Other) {
    return Other.Array && Other.Array != L.Array && Other.Array->Used.Divides;
  });
  const draft::Use &U = L.Array->Used;
  const Formula &Length = Use.Limits[0];
  bool Single = isConstant(Scalars) && Scalars->Number == 1;
  if (U.Divides && One && Single && ofSizes(Length))
    return ordered_json{
        {"integers", ordered_json::array({formulaJson(Length),
                                          formulaJson(combine(Op::Add, Length,
                                                              constant(1)))})}};
  if (One && (U.Divides || (U.Scaled && Beside)))
    return ordered_json("ones");
  if (U.Divides)
    return ordered_json{{"integers", {1, 16}}};
  return std::nullopt;
}

/// Values that the kernel compares with, and no others where it names two.
static std::optional<ordered_json> compared(const LeafUse &L) {
  const std::set<int64_t> &With = L.Array->Used.Compared;
  auto [Lowest, Highest] = wholeRange(dtypeFor(*L.P));
  constexpr int64_t Many = 99; // what whole numbers are drawn below anyway
  if (With.empty() && L.Array->Used.SumCompared)
    return ordered_json{{"integers", {0, 2}}};
  if (With.empty())
    return std::nullopt;
  int64_t Least = std::min<int64_t>(*With.begin(), 0), Most = *With.rbegin();
  // A byte of an image that is black and white.
  if (Most == 255 && Least == 0 && With.size() <= 2)
    return ordered_json{{"integers", {0, 2}}, {"times", 255}};
  Most = std::max<int64_t>(Most, 1);
  if (Least < std::max<int64_t>(Lowest, -Many) ||
      Most > std::min<int64_t>(Highest, Many))
    return std::nullopt;
  return ordered_json{{"integers", {Least, Most + 1}}};
}

/// From the least to the greatest, in the steps that they were seen in. A
/// number that the host puts here and there leaves zeros beside it, and one
/// that it puts everywhere would hide what the entry does with it.
static std::optional<ordered_json> rangeHeld(const LeafUse &L, bool Several) {
  const Contents &Held = L.Array->Held;
  job::DType Type = dtypeFor(*L.P);
  bool Bounded = isConstant(Held.Limit) && Held.Limit->Number > 0;
  double Greatest = Bounded ? double(Held.Limit->Number) - 1 : Held.Most;
  // Beyond 32 bits it may be no number, as all bits of a key are not.
  bool Wide = Type == job::DType::I64 && Held.Least == Held.Most &&
              std::fabs(Held.Least) < 1e15;
  if (!Wide && (Held.Least < -2147483648.0 || Greatest >= 2147483647.0))
    return std::nullopt;
  // The program may count on what is left of a number in a smaller type.
  auto [Lowest, Highest] =
      Wide ? std::pair(INT64_MIN, INT64_MAX) : wholeRange(Type);
  int64_t From = std::max(int64_t(Held.Least), Lowest);
  int64_t To = std::min(int64_t(Greatest), Highest);
  bool Whole = From == int64_t(Held.Least) && To == int64_t(Held.Most);
  if (Whole && Held.Sparse && From == To && From > 0)
    return From == 1 ? ordered_json{{"integers", {0, 2}}}
                     : ordered_json{{"integers", {0, 2}}, {"times", From}};
  if (Whole && Held.Step > 1 && !Held.Limit) {
    ordered_json Steps = {{"integers", {0, (To - From) / Held.Step + 1}},
                          {"times", Held.Step}};
    if (From)
      Steps["plus"] = From;
    return Steps;
  }
  if (From > To)
    return std::nullopt;
  const draft::Use &U = L.Array->Used;
  if (Whole && Several && From == To && !U.BoundsLoop) {
    From = std::min<int64_t>(From, 0);
    To = std::max<int64_t>(To, 0);
    if (U.Divides)
      (To ? From : To) = To ? 1 : -1;
  }
  return ordered_json{{"integers", {From, To + 1}}};
}

std::optional<ordered_json> ArgumentWriter::fill(const LeafUse &L,
                                                 const Formula &Scalars,
                                                 const std::string &Role) {
  if (Role != "input" && Role != "inout")
    return std::nullopt;
  if (const clang::RecordDecl *R = structOfBytes(L)) {
    Bytes = true;
    if (isRandomState(R))
      return ordered_json{{"uniform", {0, 256}}};
    note(*L.P, "its structs have fields of several types; zeros are guessed, "
               "which may hide everything: wanted a .npy of u8 with the values "
               "of " +
                   fieldsText(R, MostFields));
    return ordered_json("zeros");
  }
  const Contents &Held = L.Array->Held;
  bool Whole = job::isWhole(dtypeFor(*L.P));
  bool Known = Held.Any && !Held.Unknown;
  bool Zero = Known && Held.Least == 0 && Held.Most == 0 && !Held.Limit;
  // What only becomes less has to be large before.
  job::DType Type = dtypeFor(*L.P);
  if (Role == "inout" && !Known && Whole && L.Array->Used.Lowered)
    return ordered_json{{"constant", Type == job::DType::I64
                                         ? int64_t(1) << 62
                                         : wholeRange(Type).second}};
  if (Role == "inout" && (Zero || (L.Array->Used.Atomic && !Known)))
    return ordered_json("zeros");
  if (!Whole)
    return Known ? std::nullopt : places(L, Scalars);
  if (Formula Size = sizeIn(L); Size && ofSizes(Size))
    return ordered_json{
        {"integers", ordered_json::array(
                         {formulaJson(Size),
                          formulaJson(combine(Op::Add, Size, constant(1)))})}};
  if (Known && Held.Counting && Held.Most >= 2)
    return ordered_json("arange");
  if (L.Array->Used.BoundsLoop)
    if (auto Places = places(L, Scalars))
      return Places;
  if (!Known)
    if (auto Sides = sides(L, Scalars))
      return Sides;
  std::set<std::string> InLimit;
  collectNames(Held.Limit, InLimit);
  if (Known && ofSizes(Held.Limit) && !InLimit.empty())
    return ordered_json{
        {"integers",
         ordered_json::array({int64_t(Held.Least), formulaJson(Held.Limit)})}};
  auto Places = places(L, Scalars);
  if (Places)
    return Places;
  if (Known && !Zero)
    if (auto Range = rangeHeld(L, !isConstant(Scalars) || Scalars->Number > 1))
      return Range;
  if (dtypeFor(*L.P) == job::DType::Bool)
    return std::nullopt;
  if (int64_t Within = L.Array->Used.Within; Within && !Known)
    return ordered_json{{"integers", {0, Within}}};
  // Cleared by the host, it may have been filled since by what is not seen.
  if (!Known || Zero)
    if (auto Few = compared(L))
      return Few;
  if (L.Array->Used.BoundsLoop) {
    note(*L.P, "its values bound a loop; 0 to 15 are guessed");
    return ordered_json{{"integers", {0, 16}}};
  }
  bool Seen = L.Array->Used.Read;
  if (Role == "input" && !Seen &&
      (dtypeFor(*L.P) == job::DType::I32 ||
       dtypeFor(*L.P) == job::DType::I64)) {
    note(*L.P, "values from 0 to 15 are guessed; if they index something, give "
               "their range");
    return ordered_json{{"uniform", {0, 16}}};
  }
  return std::nullopt;
}
