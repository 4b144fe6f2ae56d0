//===- Result.cpp - Result files, read and written -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What a worker found. The search reads it as it reads anything from another
/// machine: a field of the wrong type is an error, never a guess.
///
//===----------------------------------------------------------------------===//

#include "stark/Job/Job.h"
#include "stark/Json/Fields.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::job;
using Json = nlohmann::json;
using Reader = FieldReader<Json>;

static constexpr int64_t Format = 1;

/// JSON has no infinities; a figure that could not be formed is 0.
static double finiteOr0(double Value) {
  return std::isfinite(Value) ? Value : 0;
}

std::string stark::job::printTiming(const Timing &T) {
  Json Out = {{"label", T.Label},
              {"samples", T.Samples},
              {"discarded", T.Discarded},
              {"median_us", finiteOr0(T.MedianUs)},
              {"iqr_us", finiteOr0(T.IqrUs)},
              {"min_us", finiteOr0(T.MinUs)},
              {"source_median_us", finiteOr0(T.SourceMedianUs)},
              {"source_iqr_us", finiteOr0(T.SourceIqrUs)},
              {"source_min_us", finiteOr0(T.SourceMinUs)},
              {"speedup", finiteOr0(T.Speedup)},
              {"speedup_low", finiteOr0(T.SpeedupLow)},
              {"speedup_high", finiteOr0(T.SpeedupHigh)}};
  return Out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Timing stark::job::parseTiming(const std::string &Text, const std::string &File,
                               const std::string &Path, std::string &Error) {
  Timing T;
  Json J = Json::parse(Text, nullptr, false);
  Reader R(J, File, Path);
  R.required("label", T.Label);
  R.required("samples", T.Samples);
  R.required("discarded", T.Discarded);
  R.required("median_us", T.MedianUs);
  R.required("iqr_us", T.IqrUs);
  R.required("min_us", T.MinUs);
  R.required("source_median_us", T.SourceMedianUs);
  R.required("source_iqr_us", T.SourceIqrUs);
  R.required("source_min_us", T.SourceMinUs);
  R.required("speedup", T.Speedup);
  R.required("speedup_low", T.SpeedupLow);
  R.required("speedup_high", T.SpeedupHigh);
  if (R.good() && !(T.MedianUs > 0 && T.SourceMedianUs > 0))
    R.fail("median_us", std::to_string(T.MedianUs), "a positive time");
  Error = R.problem();
  return T;
}

Result stark::job::parseResult(const std::string &Text, const std::string &File,
                               std::string &Error) {
  Result Out;
  Error.clear();
  Json J = Json::parse(Text, nullptr, false);
  if (J.is_discarded()) {
    Error = File + ": not valid JSON";
    return Out;
  }
  Reader R(J, File, "");
  int64_t Version = 0;
  R.required("format", Version);
  if (R.good() && Version != Format)
    R.fail("format", std::to_string(Version), std::to_string(Format));
  R.required("id", Out.Id);
  R.required("candidate_digest", Out.CandidateDigest);
  R.required("source_digest", Out.SourceDigest);
  R.required("diagnostics", Out.Diagnostics);
  R.optional("compiler", Out.Compiler);
  R.required("event_pair_us", Out.EventPairUs);
  R.required("copy_gb_per_s", Out.CopyGBs);
  R.required("device", Out.Device);
  R.required("driver", Out.Driver);
  R.required("modelled", Out.Modelled);
  R.required("wall_ms", Out.WallMs);
  std::string End;
  R.required("outcome", End);
  if (R.good()) {
    if (std::optional<Outcome> O = parseOutcome(End))
      Out.End = *O;
    else
      R.fail("outcome", "'" + End + "'",
             "correct, wrong, unstable, crashed, timed-out, forbidden or "
             "infrastructure");
  }
  const Json *Timings = R.raw("timings");
  if (R.good() && (!Timings || !Timings->is_array()))
    R.fail("timings", Timings ? describeJson(*Timings) : "nothing",
           "an array of objects");
  Error = R.problem();
  for (size_t I = 0; Error.empty() && I < Timings->size(); ++I)
    Out.Timings.push_back(parseTiming(
        (*Timings)[I].dump(-1, ' ', false, Json::error_handler_t::replace),
        File, "timings[" + std::to_string(I) + "]", Error));
  return Out;
}

std::string stark::job::printResult(const Result &R) {
  Json Out = {{"format", Format},
              {"id", R.Id},
              {"candidate_digest", R.CandidateDigest},
              {"source_digest", R.SourceDigest},
              {"outcome", outcomeName(R.End)},
              {"diagnostics", R.Diagnostics},
              {"compiler", R.Compiler},
              {"event_pair_us", finiteOr0(R.EventPairUs)},
              {"copy_gb_per_s", finiteOr0(R.CopyGBs)},
              {"device", R.Device},
              {"driver", R.Driver},
              {"modelled", R.Modelled},
              {"wall_ms", R.WallMs}};
  Out["timings"] = Json::array();
  for (const Timing &T : R.Timings)
    Out["timings"].push_back(Json::parse(printTiming(T), nullptr, false));
  return Out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
