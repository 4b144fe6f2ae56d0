//===- DoctorReport.cpp - What a search needs, as text and JSON -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Driver/Doctor.h"
#include "stark/Json/Fields.h"
#include "llvm/Support/FormatAdapters.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

static constexpr int64_t FormatVersion = 1;

namespace stark {
static void fields(FieldWriter<json> &F, const Diagnosis &D) {
  F.required("what", D.What);
  F.required("state", D.Is);
  F.required("found", D.Found);
  F.sparse("advice", D.Advice, "");
}
} // namespace stark

using namespace stark;

void stark::printDiagnoses(const std::vector<Diagnosis> &All,
                           llvm::raw_ostream &OS) {
  for (const Diagnosis &D : All) {
    OS << llvm::left_justify(nameOf(D.Is), 8) << llvm::left_justify(D.What, 15)
       << D.Found << "\n";
    if (!D.Advice.empty())
      OS << llvm::left_justify("", 23) << D.Advice << "\n";
  }
}

std::string stark::diagnosesJson(const std::vector<Diagnosis> &All) {
  FieldWriter<json> F;
  F.format("version", FormatVersion);
  F.required("usable", lacking(All).empty());
  F.required("findings", All);
  return dumpJson(F.take(), 2);
}
