//===- Formats.h - The fields of jobs and results -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   job.json and result files, once for print and parse (Json/Fields.h). Both
/// may come from anywhere: file names must be plain, sizes must fit, and every
/// leaf must have a value in every case before anybody looks further.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JOB_FORMATS_H
#define STARK_JOB_FORMATS_H

#include "stark/Job/Names.h"
#include "stark/Json/Fields.h"
#include <algorithm>

namespace stark::job {

/// Of job.json and of a result.
constexpr int64_t FormatVersion = 1;
constexpr uint64_t MaxRounds = 10;
constexpr uint64_t MaxTimeMs = 24ull * 3600 * 1000;
/// More than any GPU has; keeps every product of a shape in range.
constexpr uint64_t MaxBufferBytes = uint64_t(1) << 40;

/// Is it a name inside the job's folder, so that no job reaches beyond it?
inline bool isPlainName(const std::string &Name) {
  return !Name.empty() && Name[0] != '.' &&
         Name.find('/') == std::string::npos &&
         Name.find('\0') == std::string::npos;
}

/// Are all extents 1 or more, and all elements within MaxBufferBytes?
inline bool shapeFits(const std::vector<int64_t> &Shape, DType Type) {
  uint64_t Limit = MaxBufferBytes / dtypeBytes(Type);
  for (int64_t Extent : Shape) {
    if (Extent <= 0 || uint64_t(Extent) > Limit)
      return false;
    Limit /= uint64_t(Extent);
  }
  return true;
}

inline bool isSha256(const std::string &Text) {
  return Text.size() == 64 &&
         Text.find_first_not_of("0123456789abcdef") == Text.npos;
}

template <class IO> void fileName(IO &F, const char *Name, std::string &Value) {
  F.required(Name, Value);
  F.check(isPlainName(Value), Name, "the name of a file in the job's folder");
}

template <class IO> void fields(IO &F, Init &I) {
  F.required("kind", I.Kind);
  F.optional("low", I.Low);
  F.optional("high", I.High);
  F.sparse("times", I.Times, 1);
  F.sparse("plus", I.Plus, 0);
  F.sparse("clamped", I.Clamped, false);
  F.optional("least", I.Least, I.Clamped);
  F.optional("greatest", I.Greatest, I.Clamped);
  F.sparse("keep", I.Keep, Triangle::Whole);
  F.sparse("equal_rows", I.EqualRows, false);
  if (I.Kind == InitKind::File)
    fileName(F, "file", I.File);
}

template <class IO> void fields(IO &F, RegimeFill &R) {
  F.required("regime", R.Of);
  F.required("init", R.Fill);
}

template <class IO> void fields(IO &F, Field &D) {
  F.required("name", D.Name);
  F.required("offset", D.Offset);
  F.required("type", D.Type);
  F.sparse("count", D.Count, uint64_t(1));
  F.check(!isComplex(D.Type), "type", "the type of a number");
  F.check(D.Offset < MaxBufferBytes && D.Offset % dtypeBytes(D.Type) == 0,
          "offset", "a multiple of " + std::to_string(dtypeBytes(D.Type)));
  F.check(D.Count >= 1 && D.Count <= MaxBufferBytes, "count",
          "an integer of 1 or more");
  F.optional("init", D.Fill);
  F.check(D.Fill.Kind != InitKind::File, "init", "no file");
  F.optional("otherwise", D.Otherwise, !D.Otherwise.empty());
  F.optional("tolerance", D.Tolerance);
  F.check(D.Tolerance >= 0 && D.Tolerance <= 1, "tolerance",
          "a number from 0 to 1");
}

/// Whether all of \p Fields lie in records of \p Bytes bytes, and aligned.
inline bool fieldsFit(const std::vector<Field> &Fields, uint64_t Bytes) {
  return std::all_of(Fields.begin(), Fields.end(), [&](const Field &D) {
    uint64_t Own = dtypeBytes(D.Type);
    return Bytes % Own == 0 && D.Offset <= Bytes &&
           D.Count <= (Bytes - D.Offset) / Own;
  });
}

template <class IO> void fields(IO &F, Leaf &L) {
  F.required("name", L.Name);
  F.required("kind", L.Kind);
  if (L.Kind != LeafKind::Buffer)
    return;
  F.required("type", L.Type);
  F.required("role", L.Use);
  F.optional("tolerance", L.Tolerance);
  F.check(L.Tolerance >= 0 && L.Tolerance <= 1, "tolerance",
          "a number from 0 to 1");
  F.optional("init", L.Fill);
  F.optional("otherwise", L.Otherwise, !L.Otherwise.empty());
  F.sparse("weight", L.Weight, false);
  F.optional("fields", L.Fields, !L.Fields.empty());
  F.check(L.Fields.empty() || L.Type == DType::U8, "type",
          "u8 where there are \"fields\"");
}

/// What stands in a value depends on its leaf.
template <class IO> void valueFields(IO &F, LeafValue &V, const Leaf &L) {
  if (L.Kind == LeafKind::Buffer) {
    F.required("shape", V.Shape);
    F.check(shapeFits(V.Shape, L.Type), "shape",
            "integers of 1 or more, " + std::to_string(MaxBufferBytes >> 30) +
                " GiB in all at most");
    F.optional("init", V.Fill);
    F.check(!V.Fill || V.Fill->Kind != InitKind::File, "init",
            "no file beside the leaf's");
    F.check(L.Fields.empty() || (!V.Shape.empty() &&
                                 fieldsFit(L.Fields, uint64_t(V.Shape.back()))),
            "shape", "one whose last extent has room for the leaf's fields");
    F.optional("field_inits", V.FieldFills, !V.FieldFills.empty());
    F.check(V.FieldFills.empty() || V.FieldFills.size() == L.Fields.size(),
            "field_inits", "one for each of the leaf's fields");
    for (const Init &Each : V.FieldFills)
      F.check(Each.Kind != InitKind::File, "field_inits", "no files");
  } else if (L.Kind == LeafKind::Integer) {
    F.required("integer", V.Integer);
  } else if (L.Kind == LeafKind::Real) {
    F.required("real", V.Real);
  }
}

template <class IO>
void caseFields(IO &F, Case &C, const std::vector<Leaf> &Leaves) {
  F.required("label", C.Label);
  F.required("timed", C.Timed);
  F.optional("added", C.Added);
  F.check(!C.Added || !C.Timed, "added", "false where \"timed\" is true");
  F.sparse("regime", C.Filling, Regime::Given);
  F.check(C.Filling == Regime::Given || !C.Timed, "regime",
          "given where \"timed\" is true");
  F.sparse("brief", C.Brief, false);
  F.sparse("drawn", C.Drawn, false);
  F.check(!C.Drawn || !C.Timed, "drawn", "false where \"timed\" is true");
  F.sparse("shifted", C.Shifted, false);
  F.sparse("moved_bytes", C.MovedBytes, 0.0);
  if constexpr (!IO::Writes) {
    const auto *Values = F.raw("values");
    F.check(Values && Values->is_array() && Values->size() == Leaves.size(),
            "values",
            "an array with one value for each of the " +
                std::to_string(Leaves.size()) + " leaves");
  }
  if (F.good())
    F.list("values", C.Values, [&](auto &Inner, LeafValue &V, size_t I) {
      valueFields(Inner, V, Leaves[I]);
    });
}

template <class IO> void fields(IO &F, TimingRule &T) {
  F.required("warmup_ms", T.WarmupMs);
  F.required("min_samples", T.MinSamples);
  F.required("max_samples", T.MaxSamples);
  F.required("max_ms", T.MaxMs);
  F.required("relative_error", T.RelativeError);
  F.optional("rounds", T.Rounds);
  F.sparse("pairs_a_placement", T.PairsAPlacement,
           TimingRule().PairsAPlacement);
  F.check(T.MinSamples >= 3 && T.MinSamples <= T.MaxSamples &&
              T.MaxSamples <= 100000,
          "min_samples", "3 <= min_samples <= max_samples <= 100000");
  F.check(T.WarmupMs <= MaxTimeMs, "warmup_ms", "a day at most");
  F.check(T.MaxMs <= MaxTimeMs, "max_ms", "a day at most");
  F.check(T.RelativeError > 0 && T.RelativeError < 1, "relative_error",
          "a number between 0 and 1");
  F.check(T.Rounds >= 1 && T.Rounds <= MaxRounds, "rounds", "1 to 10");
  F.check(T.PairsAPlacement >= 1 && T.PairsAPlacement <= 100000,
          "pairs_a_placement", "1 to 100000");
}

template <class IO> void fields(IO &F, Job &J) {
  F.format("format", FormatVersion);
  F.required("id", J.Id);
  F.required("purpose", J.Purpose);
  fileName(F, "source_library", J.SourceLibrary);
  fileName(F, "candidate_library", J.CandidateLibrary);
  F.required("source_digest", J.SourceDigest);
  F.required("candidate_digest", J.CandidateDigest);
  F.sparse("shared_source", J.SharedSource, std::string());
  F.check(J.SharedSource.empty() || isSha256(J.SharedSource), "shared_source",
          "64 lower-case hexadecimal digits");
  F.required("arch", J.Arch);
  F.optional("compiler", J.Compiler);
  F.sparse("torch", J.Torch, std::string());
  F.sparse("drawn_cases", J.DrawnCases, uint64_t(0));
  F.sparse("may_be_degenerate", J.MayBeDegenerate, false);
  F.sparse("agree_with_source", J.AgreeWithSource, false);
  F.optional("precision", J.Precision, !J.Precision.empty());
  F.sparse("sanitize_above", J.SanitizeAbove, -1.0);
  F.sparse("async_barriers", J.AsyncBarriers, false);
  F.sparse("profiled_text", J.ProfiledText, std::string());
  F.check(J.ProfiledText.empty() || isPlainName(J.ProfiledText),
          "profiled_text", "the name of a file in the job's folder");
  F.required("timing_seed", J.TimingSeed);
  F.required("timeout_ms", J.TimeoutMs);
  F.check(J.TimeoutMs > 0 && J.TimeoutMs <= MaxTimeMs, "timeout_ms",
          "1 ms to a day");
  F.required("timing", J.Timing);
  F.required("leaves", J.Leaves);
  F.check(!J.Leaves.empty(), "leaves", "an array of leaves");
  F.list("cases", J.Cases,
         [&](auto &Inner, Case &C, size_t) { caseFields(Inner, C, J.Leaves); });
  F.check(!J.Cases.empty(), "cases", "an array of cases");
  F.required("seeds", J.Seeds);
  F.check(!J.Seeds.empty(), "seeds", "an array of integers of 0 or more");
}

template <class IO> void fields(IO &F, Block &B) {
  F.required("source_us", B.SourceUs);
  F.required("candidate_us", B.CandidateUs);
  F.required("source_wall_us", B.SourceWallUs);
  F.required("candidate_wall_us", B.CandidateWallUs);
}

template <class IO> void fields(IO &F, Samples &S) {
  F.required("label", S.Label);
  F.required("round", S.Round);
  F.required("discarded", S.Discarded);
  F.required("throttled", S.Throttled);
  F.required("blocks", S.Blocks);
}

template <class IO> void fields(IO &F, Timing &T) {
  F.required("label", T.Label);
  F.required("samples", T.Samples);
  F.required("discarded", T.Discarded);
  F.sparse("throttled", T.Throttled, uint64_t(0));
  F.required("median_us", T.MedianUs);
  F.required("iqr_us", T.IqrUs);
  F.required("min_us", T.MinUs);
  F.required("source_median_us", T.SourceMedianUs);
  F.required("source_iqr_us", T.SourceIqrUs);
  F.required("source_min_us", T.SourceMinUs);
  F.required("speedup", T.Speedup);
  F.required("speedup_low", T.SpeedupLow);
  F.required("speedup_high", T.SpeedupHigh);
  F.check(T.MedianUs > 0, "median_us", "a positive time");
  F.check(T.SourceMedianUs > 0, "source_median_us", "a positive time");
}

template <class IO> void fields(IO &F, Stage &S) {
  F.required("stage", S.Name);
  F.sparse("size", S.Label, std::string());
  F.required("begin_us", S.BeginUs);
  F.required("end_us", S.EndUs);
  F.check(S.BeginUs <= S.EndUs && S.EndUs <= 1000 * MaxTimeMs, "end_us",
          "begin_us or later, a day at most");
}

template <class IO> void fields(IO &F, Profile &P) {
  F.required("text", P.Text);
  F.required("problem", P.Problem);
  F.sparse("unavailable", P.Unavailable, false);
}

template <class IO> void fields(IO &F, Result &R) {
  F.format("format", FormatVersion);
  F.required("id", R.Id);
  F.required("candidate_digest", R.CandidateDigest);
  F.required("source_digest", R.SourceDigest);
  F.required("outcome", R.End);
  F.required("diagnostics", R.Diagnostics);
  F.optional("compiler", R.Compiler);
  F.sparse("right_as_shipped", R.RightAsShipped, false);
  F.optional("proved", R.Proved, !R.Proved.empty());
  F.optional("precision", R.Precision, !R.Precision.empty());
  F.required("event_pair_us", R.EventPairUs);
  F.required("copy_gb_per_s", R.CopyGBs);
  F.required("device", R.Device);
  F.required("driver", R.Driver);
  F.required("modelled", R.Modelled);
  F.required("wall_ms", R.WallMs);
  F.optional("stages", R.Stages, !R.Stages.empty());
  F.check(R.Stages.size() <= MaxStages, "stages",
          std::to_string(MaxStages) + " at most");
  F.optional("profile", R.Counted);
  F.required("timings", R.Timings);
}

} // namespace stark::job

#endif
