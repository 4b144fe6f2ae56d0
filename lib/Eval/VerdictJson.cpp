//===- VerdictJson.cpp - Verdicts as JSON --------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   printVerdict(V) is one object with sorted keys, without line breaks, as
///   the
/// journal wants it; parseVerdict() gives V back.
///
//===----------------------------------------------------------------------===//

#include "stark/Eval/Verdict.h"
#include "stark/Job/Formats.h"
#include "stark/Support/Error.h"
#include <nlohmann/json.hpp>

using namespace stark;
using Json = nlohmann::json;

namespace {
struct KindWord {
  VerdictKind Kind;
  const char *Name;
};
constexpr KindWord Words[] = {{VerdictKind::NotCompiled, "not-compiled"},
                              {VerdictKind::ContractBroken, "contract-broken"},
                              {VerdictKind::Forbidden, "forbidden"},
                              {VerdictKind::Ungrounded, "ungrounded"},
                              {VerdictKind::Unsupported, "unsupported"},
                              {VerdictKind::Crashed, "crashed"},
                              {VerdictKind::TimedOut, "timed-out"},
                              {VerdictKind::Wrong, "wrong"},
                              {VerdictKind::Unstable, "unstable"},
                              {VerdictKind::Correct, "correct"},
                              {VerdictKind::NoCandidate, "no-candidate"}};
} // namespace

llvm::StringRef stark::verdictName(VerdictKind K) {
  for (const KindWord &W : Words)
    if (W.Kind == K)
      return W.Name;
  return "?";
}

llvm::Expected<VerdictKind> stark::parseVerdictKind(llvm::StringRef Name) {
  std::string Known;
  for (const KindWord &W : Words) {
    if (Name == W.Name)
      return W.Kind;
    Known += (Known.empty() ? "" : ", ") + std::string(W.Name);
  }
  return failed("verdict: got '" + Name + "', wanted one of " + Known);
}

std::string stark::printVerdict(const Verdict &V) {
  Json Out = {{"kind", verdictName(V.Kind).str()},
              {"compiler", V.Compiler},
              {"run", V.Run},
              {"device", V.Device},
              {"modelled", V.Modelled}};
  Out["timings"] = Json::array();
  for (const job::Timing &T : V.Timings)
    Out["timings"].push_back(writeFields<Json>(T));
  return Out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

llvm::Expected<Verdict> stark::parseVerdict(llvm::StringRef Text,
                                            llvm::StringRef File) {
  Json J = Json::parse(Text.begin(), Text.end(), nullptr, false);
  if (J.is_discarded())
    return failed(File + ": verdict is not valid JSON");
  Verdict V;
  std::string Kind;
  FieldReader<Json> R(J, File.str(), "verdict");
  R.required("kind", Kind);
  R.required("compiler", V.Compiler);
  R.required("run", V.Run);
  R.required("device", V.Device);
  R.required("modelled", V.Modelled);
  const Json *Timings = R.raw("timings");
  if (R.good() && (!Timings || !Timings->is_array()))
    R.fail("timings", Timings ? describeJson(*Timings) : "nothing",
           "an array of objects");
  if (std::string P = R.problem(); !P.empty())
    return failed(P);
  llvm::Expected<VerdictKind> Known = parseVerdictKind(Kind);
  if (!Known)
    return withContext(Known.takeError(), File);
  V.Kind = *Known;
  for (size_t I = 0; I < Timings->size(); ++I)
    if (std::string P = readFields((*Timings)[I], File.str(),
                                   "verdict.timings[" + std::to_string(I) + "]",
                                   V.Timings.emplace_back());
        !P.empty())
      return failed(P);
  return V;
}
