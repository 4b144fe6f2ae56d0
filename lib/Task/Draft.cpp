//===- Draft.cpp - A first workload from the AST -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLeaves.h"
#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::ordered_json;

/// The dtype that stands for what \p P points to; f32 when none does.
static const char *dtypeFor(const Parameter &P) {
  switch (P.Element) {
  case ScalarType::F64:
    return "f64";
  case ScalarType::F16:
    return "f16";
  case ScalarType::BF16:
    return "bf16";
  case ScalarType::I32:
  case ScalarType::U32:
    return "i32";
  case ScalarType::I64:
  case ScalarType::U64:
    return "i64";
  case ScalarType::Bool:
  case ScalarType::I8:
  case ScalarType::U8:
    return "u8";
  default:
    return "f32";
  }
}

static bool isInteger(const Parameter &P) {
  switch (P.Element) {
  case ScalarType::I32:
  case ScalarType::U32:
  case ScalarType::I64:
  case ScalarType::U64:
    return P.Kind == ParameterKind::Scalar;
  default:
    return false;
  }
}

/// A name that expressions can use: "params.dims[0]" -> "params_dims_0".
static std::string sizeName(llvm::StringRef Name) {
  std::string Out;
  for (char C : Name)
    if (llvm::isAlnum(C))
      Out += C;
    else if (C != ']')
      Out += '_';
  return Out;
}

/// Whether \p Name, or the field that it ends in, is one of \p Words, but for
/// case and what \p Prefixes says.
static bool isOneOf(llvm::StringRef Name,
                    std::initializer_list<llvm::StringRef> Words,
                    std::initializer_list<llvm::StringRef> Prefixes = {}) {
  std::string Field = Name.substr(Name.rfind('.') + 1).lower();
  llvm::StringRef Bare = llvm::StringRef(Field).trim('_');
  for (llvm::StringRef Prefix : {"d_", "dev_", "h_", "p_"})
    Bare.consume_front(Prefix);
  return llvm::is_contained(Words, Bare) ||
         llvm::any_of(Prefixes,
                      [&](llvm::StringRef P) { return Bare.starts_with(P); });
}

/// An integer that is no extent of anything.
static bool isSetting(llvm::StringRef Name) {
  return isOneOf(Name,
                 {"axis", "dim", "seed", "flag", "flags", "mode", "causal",
                  "offset", "pad", "padding", "debug", "device", "step", "type",
                  "op", "start", "stream"},
                 {"is_", "use_", "has_", "do_", "enable", "pad_"});
}

/// For the first size, so that all buffers stay below a few megabytes each.
static int64_t extentFor(size_t Dimensions) {
  static constexpr int64_t Extents[] = {1 << 20, 1 << 20, 1024, 256, 48, 24};
  return Dimensions < std::size(Extents) ? Extents[Dimensions] : 8;
}

/// As far as its name and type tell.
static const char *roleFor(const Parameter &P, bool OthersAreWritten) {
  if (P.Const)
    return "input";
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

namespace {
class Drafter {
public:
  Drafter(const Signature &Entry, std::vector<std::string> &Notes)
      : Entry(Entry), Notes(Notes) {}
  std::string draft();

private:
  void collect();
  ordered_json scalar(const Parameter &P);
  ordered_json buffer(const Parameter &P, bool OthersAreWritten);
  std::optional<ordered_json> tensor(const Parameter &P);
  void note(const Parameter &P, const std::string &What) {
    Notes.push_back("argument '" + P.Name + "': " + What);
  }

  const Signature &Entry;
  std::vector<std::string> &Notes;
  std::vector<const Parameter *> Leaves;
  std::vector<std::string> Dimensions;
};
} // namespace

void Drafter::collect() {
  Leaves = leavesOf(Entry);
  for (const Parameter *P : Leaves)
    if (isInteger(*P) && !isSetting(P->Name))
      Dimensions.push_back(sizeName(P->Name));
  if (Dimensions.empty()) {
    Dimensions.push_back("n");
    Notes.push_back("no integer parameter looks like a size; buffers have 'n' "
                    "elements");
  } else {
    Notes.push_back("integer parameters are taken for sizes; put in "
                    "production sizes");
  }
}

ordered_json Drafter::scalar(const Parameter &P) {
  ordered_json A;
  if (isInteger(P) && !isSetting(P.Name)) {
    A["value"] = sizeName(P.Name);
    return A;
  }
  if (isOneOf(P.Name, {}, {"eps"}))
    A["value"] = "1e-5";
  else if (isReal(P))
    A["value"] = 1;
  else
    A["value"] = 0;
  note(P, "the value " +
              (A["value"].is_string() ? A["value"].get<std::string>()
                                      : A["value"].dump()) +
              " is guessed");
  return A;
}

ordered_json Drafter::buffer(const Parameter &P, bool OthersAreWritten) {
  ordered_json A;
  A["dtype"] = dtypeFor(P);
  // As many elements as all sizes together: never too few for an entry that
  // indexes by them.
  A["shape"] = Dimensions;
  std::string Role = roleFor(P, OthersAreWritten);
  A["role"] = Role;
  note(P, "shape [" + llvm::join(Dimensions, ", ") + "] and role " + Role +
              " are guessed" + (P.Untyped ? ", and dtype f32" : ""));
  llvm::StringRef Type = dtypeFor(P);
  if ((Type == "i32" || Type == "i64") && Role == "input") {
    A["init"] = {{"uniform", {0, 16}}};
    note(P, "values from 0 to 15 are guessed; if they index something, give "
            "their range");
  }
  return A;
}

/// A tensor tells neither shape nor dtype: both are guessed.
std::optional<ordered_json> Drafter::tensor(const Parameter &P) {
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

std::string Drafter::draft() {
  collect();
  auto IsWritten = [](const Parameter *P, bool Others) {
    llvm::StringRef Role =
        P->Kind == ParameterKind::Pointer ? roleFor(*P, Others) : "";
    return Role == "output" || Role == "inout";
  };
  bool AnyWritten = llvm::any_of(
      Leaves, [&](const Parameter *P) { return IsWritten(P, true); });
  ordered_json Large, Ragged, Arguments = ordered_json::object();
  for (size_t I = 0; I < Dimensions.size(); ++I) {
    int64_t Extent = extentFor(Dimensions.size());
    Large[Dimensions[I]] = Extent;
    // No two the same: not every matrix is square.
    Ragged[Dimensions[I]] = Extent / 8 + 3 + 2 * int64_t(I);
  }
  Ragged["check_only"] = true;
  for (const Parameter *P : Leaves) {
    if (P->Kind == ParameterKind::Scalar)
      Arguments[P->Name] = scalar(*P);
    else if (P->Kind == ParameterKind::Pointer)
      Arguments[P->Name] = buffer(*P, AnyWritten);
  }
  for (const Parameter &P : Entry.Parameters)
    if (std::optional<ordered_json> A = tensor(P))
      Arguments[P.Name] = *A;
  if (!Entry.ReturnsTensors && llvm::none_of(Leaves, [&](const Parameter *P) {
        return IsWritten(P, AnyWritten);
      }))
    Notes.push_back("no argument is written, so there is nothing to compare: "
                    "the workload cannot be used as it is");
  ordered_json Root;
  if (Entry.IsKernel) {
    Root["launch"] = {{"kernel", Entry.Name},
                      {"grid", "ceildiv(" + Dimensions.front() + ", 256)"},
                      {"block", "256"}};
    Notes.push_back("the entry is a kernel; its launch rule is guessed");
  } else {
    Root["entry"] = Entry.Name;
  }
  Root["sizes"] = ordered_json::array({Large, Ragged});
  Root["arguments"] = std::move(Arguments);
  if (Entry.ReturnsTensors) {
    Root["returns"] =
        ordered_json::array({{{"dtype", "f32"}, {"shape", Dimensions}}});
    Notes.push_back("what is returned is guessed: one f32 tensor [" +
                    llvm::join(Dimensions, ", ") + "]");
  }
  return Root.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

std::string stark::draftWorkload(const Signature &Entry,
                                 std::vector<std::string> &Notes) {
  return Drafter(Entry, Notes).draft();
}
