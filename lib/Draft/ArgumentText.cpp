//===- ArgumentText.cpp - The arguments of a draft ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentText.h"
#include "stark/AST/Parse.h"
#include "stark/Job/Names.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::draft;
using nlohmann::ordered_json;

static ordered_json asJson(const Formula &F) {
  if (isConstant(F))
    return F->Number;
  return print(F);
}

/// As far as its name and type tell.
static const char *roleByName(const Parameter &P, bool OthersAreWritten) {
  if (isOneOf(P.Name, {"tmp", "temp", "buffer", "buf", "ws"},
              {"scratch", "workspace", "partial"}))
    return "scratch";
  if (isOneOf(P.Name, {"residual", "inout", "io", "state", "acc"}))
    return "inout";
  bool LooksRead = isOneOf(
      P.Name, {"x",     "a",    "b",     "q",       "k",      "v",       "w",
               "in",    "src",  "input", "inp",     "weight", "weights", "bias",
               "gamma", "beta", "idx",   "indices", "index",  "mask"},
      {"input", "in_"});
  if (LooksRead)
    return OthersAreWritten ? "input" : "inout";
  return "output";
}

std::string ArgumentWriter::role(const LeafUse &L, const Formula &Scalars) {
  if (L.P->Const)
    return "input";
  const draft::Use &U = L.Array->Used;
  if (!U.Read && !U.Written) {
    if (Use.Followed)
      return "input";
    return roleByName(*L.P, OthersAreWritten);
  }
  if (!U.Written)
    return "input";
  // Parts that nobody writes are as they were.
  bool Part = U.Inexact || !U.Surely;
  if (L.Array->Size >= 0 && U.Most > INT64_MIN)
    Part |= U.Least > 0;
  Part |= L.PartLeft;
  Part &= !L.Array->SetBefore;
  return U.ReadFirst || Part ? "inout" : "output";
}

/// Structs of several types, as bytes.
static bool isBytes(const LeafUse &L) {
  if (L.P->Element != ScalarType::U8 || L.Type.isNull())
    return false;
  const clang::RecordDecl *R =
      L.Type->getPointeeOrArrayElementType()->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  return R && llvm::any_of(R->fields(), [](const clang::FieldDecl *F) {
           const clang::ASTContext &Context = F->getASTContext();
           return Context.getTypeSize(
                      Context.getBaseElementType(F->getType())) > 8;
         });
}

Formula ArgumentWriter::extentOf(const Object *O) const {
  for (size_t I = 0; I < Use.Leaves.size(); ++I)
    if (Use.Leaves[I].Array == O)
      return Extents[I];
  return nullptr;
}

ordered_json ArgumentWriter::shape(const LeafUse &L, const Formula &Scalars) {
  ordered_json Shape = ordered_json::array();
  Formula Elements = Scalars;
  int64_t Lanes = L.P->Lanes;
  bool Split = false;
  if (Elements && Lanes > 1) {
    Formula Without = combine(Op::Div, Elements, constant(Lanes));
    Split = Without && Without->Kind != Op::Div;
    if (Split)
      Elements = Without;
  }
  if (!Elements)
    for (const std::string &Name : Dimensions)
      Shape.push_back(Name);
  else {
    std::vector<Formula> Parts = factors(Elements);
    if (Parts.size() > 1 && isConstant(Parts[0])) {
      // "4 * n" is one extent.
      Parts[1] = combine(Op::Mul, Parts[0], Parts[1]);
      Parts.erase(Parts.begin());
    }
    for (const Formula &Part : Parts)
      Shape.push_back(asJson(Part));
  }
  if (Split || (!Scalars && Lanes > 1))
    Shape.push_back(Lanes);
  return Shape;
}

/// Is it computed of the workload's sizes alone?
bool ArgumentWriter::ofSizes(const Formula &F) const {
  std::set<std::string> Names;
  collectNames(F, Names);
  return F && llvm::all_of(Names, [&](const std::string &Name) {
           return llvm::is_contained(Dimensions, Name);
         });
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
      return ordered_json{{"arange", asJson(Step)}};
    }
  }
  return ordered_json{{"integers", ordered_json::array({0, asJson(Least)})}};
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
        {"integers",
         ordered_json::array(
             {asJson(Length), asJson(combine(Op::Add, Length, constant(1)))})}};
  if (One && (U.Divides || (U.Scaled && Beside)))
    return ordered_json("ones");
  if (U.Divides)
    return ordered_json{{"integers", {1, 16}}};
  return std::nullopt;
}

std::optional<ordered_json> ArgumentWriter::fill(const LeafUse &L,
                                                 const Formula &Scalars,
                                                 const std::string &Role) {
  if (Role != "input" && Role != "inout")
    return std::nullopt;
  if (isBytes(L)) {
    Bytes = true;
    // Any numbers are a state of this generator; of zeros it makes the same.
    const auto *R = L.Type->getPointeeOrArrayElementType()->getAsRecordDecl();
    if (R->getName() == "curandStateXORWOW")
      return ordered_json{{"uniform", {0, 256}}};
    note(*L.P, "its structs have fields of several types; zeros are guessed");
    return ordered_json("zeros");
  }
  const Contents &Held = L.Array->Held;
  bool Whole = job::isWhole(dtypeFor(*L.P));
  bool Known = Held.Any && !Held.Unknown;
  bool Zero = Known && Held.Least == 0 && Held.Most == 0 && !Held.Limit;
  if (Role == "inout" && (Zero || (L.Array->Used.Atomic && !Known)))
    return ordered_json("zeros");
  if (!Whole)
    return Known ? std::nullopt : places(L, Scalars);
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
         ordered_json::array({int64_t(Held.Least), asJson(Held.Limit)})}};
  auto Places = places(L, Scalars);
  if (Places)
    return Places;
  bool Constant = Held.Limit && InLimit.empty() && Held.Limit->Number > 0;
  double Greatest = Constant ? double(Held.Limit->Number) - 1 : Held.Most;
  if (Known && !Zero && Held.Least >= -2147483648.0 &&
      Greatest < 2147483647.0) {
    // The program may count on what is left of a number in a smaller type.
    auto [Least, Most] = wholeRange(dtypeFor(*L.P));
    int64_t From = std::max(int64_t(Held.Least), Least);
    int64_t To = std::min(int64_t(Greatest), Most) + 1;
    if (From < To)
      return ordered_json{{"integers", {From, To}}};
  }
  if (dtypeFor(*L.P) == job::DType::Bool)
    return std::nullopt;
  if (int64_t Within = L.Array->Used.Within; Within && !Known)
    return ordered_json{{"integers", {0, Within}}};
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

ordered_json ArgumentWriter::buffer(const LeafUse &L, const Formula &Scalars) {
  ordered_json A;
  A["dtype"] = nameOf(dtypeFor(*L.P));
  A["shape"] = shape(L, Scalars);
  std::string Role = role(L, Scalars);
  A["role"] = Role;
  const draft::Use &U = L.Array->Used;
  if (auto Fill = fill(L, Scalars, Role))
    A["init"] = *Fill;
  int64_t Scalar = job::dtypeBytes(dtypeFor(*L.P));
  if (L.Ahead)
    A["before"] = formulaJson(combine(Op::Div, L.Ahead, constant(Scalar)));
  if (U.Unordered && Role != "input")
    note(*L.P,
         "what an atomic operation returns says where its elements go: unless "
         "they are equal there, their order differs from run to run, and no "
         "comparison of elements is of use; wanted an entry that orders them");
  bool Seen = U.Read || U.Written;
  std::string Shape;
  for (const ordered_json &Part : A["shape"])
    Shape += (Shape.empty() ? "" : ", ") +
             (Part.is_string() ? Part.get<std::string>() : Part.dump());
  if (!Scalars)
    note(*L.P, "shape [" + Shape + "] " +
                   (Seen ? "is" : "and role " + Role + " are") + " guessed" +
                   (L.P->Untyped ? ", and dtype f32" : ""));
  else if (!L.Bytes && Seen)
    note(*L.P, "shape [" + Shape + "] is what some threads were seen to reach");
  else if (!Seen)
    note(*L.P, "nothing was seen to use it: role " + Role + " is guessed");
  if (Scalars && L.P->Untyped)
    note(*L.P, "dtype f32 is guessed");
  if (L.Bytes && L.Array->Size >= 0 && U.Most > L.Array->Size)
    note(*L.P, "the kernel reaches " + std::to_string(U.Most) +
                   " bytes, the program allocates " +
                   std::to_string(L.Array->Size));
  return A;
}

ordered_json ArgumentWriter::scalar(const LeafUse &L) {
  ordered_json A;
  const Parameter &P = *L.P;
  if (L.TurnsOn)
    note(P, "with 0 nothing would be written; the value 1 is guessed");
  if (L.Given.isInteger() && !L.MadeUp) {
    A["value"] = asJson(L.Given.How);
    return A;
  }
  if (L.Given.Kind == Value::Real) {
    A["value"] = L.Given.Floating;
    return A;
  }
  if (L.Given.isInteger() && hasNames(L.Given.How)) {
    A["value"] = print(L.Given.How);
    if (Use.Recorded)
      note(P,
           "what the program gives it is not known; it is a size of its own");
    return A;
  }
  bool Real = P.Element == ScalarType::F16 || P.Element == ScalarType::BF16 ||
              P.Element == ScalarType::F32 || P.Element == ScalarType::F64;
  if (isOneOf(P.Name, {}, {"eps"}))
    A["value"] = "1e-5";
  // Of an optimizer: 1 less than that divides.
  else if (Real && isOneOf(P.Name, {"momentum"}, {"beta"}))
    A["value"] = 0.9;
  else if (Real)
    A["value"] = 1;
  else
    A["value"] = 0;
  note(P, "the value " +
              (A["value"].is_string() ? A["value"].get<std::string>()
                                      : A["value"].dump()) +
              " is guessed");
  return A;
}

/// A tensor tells neither shape nor dtype: both are guessed.
std::optional<ordered_json> ArgumentWriter::tensor(const Parameter &P) {
  ordered_json One = {{"dtype", "f32"}, {"shape", Dimensions}};
  if (P.Kind == ParameterKind::OptionalTensor) {
    note(P, "it is left out");
    return ordered_json(nullptr);
  }
  if (P.Kind != ParameterKind::Tensor && P.Kind != ParameterKind::TensorList)
    return std::nullopt;
  note(P, "dtype f32 and shape [" + llvm::join(Dimensions, ", ") +
              "] are guessed");
  return P.Kind == ParameterKind::Tensor ? One : ordered_json::array({One});
}

bool ArgumentWriter::write(ordered_json &Arguments, ordered_json &Symbols) {
  for (const LeafUse &L : Use.Leaves)
    if (L.Array && !L.P->Const) {
      std::string Role = roleByName(*L.P, true);
      OthersAreWritten |= Role == "output" || Role == "inout";
    }
  bool AnyWritten = Use.Entry.ReturnsTensors;
  for (size_t I = 0; I < Use.Leaves.size(); ++I) {
    const LeafUse &L = Use.Leaves[I];
    if (L.P->Kind == ParameterKind::Scalar) {
      Arguments[L.P->Name] = scalar(L);
    } else if (L.Array) {
      Arguments[L.P->Name] = buffer(L, Extents[I]);
      std::string Role = Arguments[L.P->Name]["role"];
      AnyWritten |= Role == "output" || Role == "inout";
    }
  }
  for (const Parameter &P : Use.Entry.Parameters)
    if (std::optional<ordered_json> A = tensor(P))
      Arguments[P.Name] = *A;
  if (Use.Entry.ReturnsTensors)
    Notes.push_back("what is returned is guessed: one f32 tensor [" +
                    llvm::join(Dimensions, ", ") + "]");
  AnyWritten |= writeSymbols(Symbols, AnyWritten);
  if (!AnyWritten)
    Notes.push_back(
        "no argument is written, so there is nothing to compare: "
        "the workload is for 'simulate' alone; wanted an entry that "
        "puts its result where an argument points to, or into a "
        "variable of the device");
  return AnyWritten;
}
