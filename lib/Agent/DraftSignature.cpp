//===- DraftSignature.cpp - What an entry takes, in a workload's words
//-----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftTexts.h"
#include "stark/Task/Workload.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

/// Entries that are listed beside the draft's.
static constexpr size_t MostOthers = 16;

static const char *dtypeOf(ScalarType T) {
  switch (T) {
  case ScalarType::Bool:
    return "bool";
  case ScalarType::I8:
    return "i8";
  case ScalarType::U8:
    return "u8";
  case ScalarType::I16:
  case ScalarType::U16:
    return "i16";
  case ScalarType::I32:
  case ScalarType::U32:
    return "i32";
  case ScalarType::I64:
  case ScalarType::U64:
    return "i64";
  case ScalarType::F16:
    return "f16";
  case ScalarType::BF16:
    return "bf16";
  case ScalarType::F32:
    return "f32";
  case ScalarType::F64:
    return "f64";
  case ScalarType::Other:
    return "?";
  }
  return "?";
}

static std::string prototype(const Signature &S) {
  std::string Text = S.ReturnType + " " + S.Name + "(";
  for (size_t I = 0; I < S.Parameters.size(); ++I)
    Text += (I ? ", " : "") + S.Parameters[I].Type + " " + S.Parameters[I].Name;
  return "`" + Text + ")`, " + (S.IsKernel ? "a kernel" : "a host function") +
         ", line " + std::to_string(S.Line);
}

/// "fields of 16 bytes: `at` (f32, 2 of them, byte 0), ..."
static std::string describeRecord(const Parameter &P) {
  std::string Text = "structs of " + std::to_string(P.Lanes) + " bytes:";
  for (size_t I = 0; I < P.Fields.size(); ++I)
    Text += std::string(I ? ", `" : " `") + P.Fields[I].Name + "` (" +
            dtypeOf(P.Fields[I].Element) +
            (P.Fields[I].Lanes > 1
                 ? ", " + std::to_string(P.Fields[I].Lanes) + " of them"
                 : "") +
            ")";
  return Text;
}

static std::string describeParameter(const Parameter &P) {
  std::string Line = "- `" + P.Name + "`: ";
  switch (P.Kind) {
  case ParameterKind::Pointer:
    Line += P.Const ? "buffer that is only read, " : "buffer, ";
    if (P.Untyped)
      Line += "of any dtype";
    else if (!P.Fields.empty())
      Line += describeRecord(P);
    else
      Line += dtypeOf(P.Element);
    if (P.Fields.empty() && P.Lanes > 1)
      Line +=
          ", " + std::to_string(P.Lanes) + " of them make one `" + P.Type + "`";
    if (P.Count)
      Line += ", " + std::to_string(P.Count * P.Lanes) + " elements";
    return Line + "\n";
  case ParameterKind::Scalar:
    return Line + "scalar `" + P.Type + "`\n";
  case ParameterKind::Stream:
    return Line + "a stream: no entry in \"arguments\"\n";
  case ParameterKind::Struct: {
    std::string Lines;
    for (Parameter Field : P.Fields) {
      if (!llvm::StringRef(Field.Name).starts_with(P.Name + "."))
        Field.Name = P.Name + "." + Field.Name;
      Lines += describeParameter(Field);
    }
    return Lines;
  }
  case ParameterKind::Tensor:
  case ParameterKind::TensorList:
  case ParameterKind::OptionalTensor:
    return Line + "`" + P.Type + "`, of PyTorch\n";
  case ParameterKind::Unsupported:
    return Line + "`" + P.Type + "`, which no workload can give: " + P.Reason +
           "\n";
  }
  return Line + "\n";
}

std::string stark::describeSignature(const Signature &S) {
  std::string Text = prototype(S) + ":\n\n";
  for (const Parameter &P : S.Parameters)
    Text += describeParameter(P);
  return Text;
}

std::string stark::describeOthers(const DraftQuestion &Q) {
  std::vector<Signature> All = entryCandidates(Q.Source);
  llvm::erase_if(All, [&](const Signature &S) {
    return Q.Of && S.Name == Q.Of->Name && S.IsKernel == Q.Of->IsKernel;
  });
  if (All.empty() && !Q.Of)
    return "Nothing that the file itself defines: it takes a call of your "
           "own.\n";
  if (All.empty() || (Q.IsFixed && Q.Of))
    return "";
  std::string Text = Q.Of ? "\nBeside it:\n\n" : "";
  for (size_t I = 0; I < All.size() && I < MostOthers; ++I) {
    Text += "- " + prototype(All[I]);
    for (const Parameter &P : All[I].Parameters)
      if (P.Kind == ParameterKind::Unsupported)
        Text += "; no workload can give `" + P.Name + "`: " + P.Reason;
    Text += "\n";
  }
  if (All.size() > MostOthers)
    Text += "- and " + std::to_string(All.size() - MostOthers) + " more\n";
  return Text;
}
