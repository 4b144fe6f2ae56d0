//===- Job.cpp - job.json, read and written ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A job may come from anywhere: file names must be plain, sizes must fit,
///   and
/// every leaf must have a value in every case before the worker looks further.
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

namespace {
constexpr int64_t Format = 1;
/// More than any GPU has; keeps every product of a shape in range.
constexpr uint64_t MaxBufferBytes = uint64_t(1) << 40;
constexpr uint64_t MaxTimeMs = 24ull * 3600 * 1000;

/// A wrong name in a field of words: what was given and what was wanted.
template <class Enum>
void readWord(Reader &R, const char *Name, bool Required, Enum &Value,
              std::optional<Enum> (*Parse)(const std::string &),
              const char *Wanted) {
  std::string Word;
  if (!Required && !R.has(Name))
    return;
  R.required(Name, Word);
  if (!R.good())
    return;
  if (std::optional<Enum> E = Parse(Word))
    Value = *E;
  else
    R.fail(Name, "'" + Word + "'", Wanted);
}

/// A name inside the job's folder, so that no job reaches beyond it.
void readFileName(Reader &R, const char *Name, std::string &Value) {
  R.required(Name, Value);
  if (R.good() && (Value.empty() || Value[0] == '.' ||
                   Value.find('/') != std::string::npos ||
                   Value.find('\0') != std::string::npos))
    R.fail(Name, "'" + Value + "'", "the name of a file in the job's folder");
}

void readInit(Reader &R, const Json &J, const std::string &File, Init &Fill,
              std::string &Error) {
  Reader I(J, File, R.join("init"));
  readWord(I, "kind", true, Fill.Kind, parseInit,
           "normal, uniform, arange, zeros, ones, permutation or file");
  I.optional("low", Fill.Low);
  I.optional("high", Fill.High);
  if (Fill.Kind == InitKind::File)
    readFileName(I, "file", Fill.File);
  Error = I.problem();
}

Leaf readLeaf(const Json &J, const std::string &File, const std::string &Path,
              std::string &Error) {
  Leaf L;
  Reader R(J, File, Path);
  R.required("name", L.Name);
  readWord(R, "kind", true, L.Kind, parseLeafKind,
           "buffer, integer, real or stream");
  if (L.Kind == LeafKind::Buffer) {
    readWord(R, "type", true, L.Type, parseDType,
             "f32, f64, f16, bf16, i32, i64 or u8");
    readWord(R, "role", true, L.Use, parseRole,
             "input, output, inout or scratch");
    R.optional("tolerance", L.Tolerance);
    if (!(L.Tolerance >= 0 && L.Tolerance <= 1))
      R.fail("tolerance", std::to_string(L.Tolerance), "a number from 0 to 1");
    if (const Json *I = R.raw("init"))
      readInit(R, *I, File, L.Fill, Error);
  }
  if (Error.empty())
    Error = R.problem();
  return L;
}

void readShape(Reader &R, const Leaf &L, LeafValue &V) {
  const Json *Shape = R.raw("shape");
  if (!Shape || !Shape->is_array()) {
    R.fail("shape", Shape ? describeJson(*Shape) : "nothing",
           "an array of integers");
    return;
  }
  uint64_t Limit = MaxBufferBytes / dtypeBytes(L.Type);
  for (const Json &Item : *Shape) {
    int64_t Size = Item.is_number_integer() ? Item.get<int64_t>() : 0;
    if (Size <= 0 || uint64_t(Size) > Limit) {
      R.fail("shape", describeJson(*Shape),
             "integers of 1 or more, " + std::to_string(MaxBufferBytes >> 30) +
                 " GiB in all at most");
      return;
    }
    Limit /= uint64_t(Size);
    V.Shape.push_back(Size);
  }
}

LeafValue readValue(const Json &J, const Leaf &L, const std::string &File,
                    const std::string &Path, std::string &Error) {
  LeafValue V;
  Reader R(J, File, Path);
  if (L.Kind == LeafKind::Buffer && J.is_object())
    readShape(R, L, V);
  else if (L.Kind == LeafKind::Integer)
    R.required("integer", V.Integer);
  else if (L.Kind == LeafKind::Real)
    R.required("real", V.Real);
  Error = R.problem();
  return V;
}

Case readCase(const Json &J, const std::vector<Leaf> &Leaves,
              const std::string &File, const std::string &Path,
              std::string &Error) {
  Case C;
  Reader R(J, File, Path);
  R.required("label", C.Label);
  R.required("timed", C.Timed);
  R.optional("added", C.Added);
  if (R.good() && C.Added && C.Timed)
    R.fail("added", "true", "false where \"timed\" is true");
  const Json *Values = R.raw("values");
  if (R.good() &&
      (!Values || !Values->is_array() || Values->size() != Leaves.size()))
    R.fail("values", Values ? describeJson(*Values) : "nothing",
           "an array with one value for each of the " +
               std::to_string(Leaves.size()) + " leaves");
  Error = R.problem();
  for (size_t I = 0; Error.empty() && I < Leaves.size(); ++I)
    C.Values.push_back(readValue((*Values)[I], Leaves[I], File,
                                 Path + ".values[" + std::to_string(I) + "]",
                                 Error));
  return C;
}

void readTiming(const Json &J, const std::string &File, TimingRule &T,
                std::string &Error) {
  Reader R(J, File, "timing");
  R.required("warmup_ms", T.WarmupMs);
  R.required("min_samples", T.MinSamples);
  R.required("max_samples", T.MaxSamples);
  R.required("max_ms", T.MaxMs);
  R.required("relative_error", T.RelativeError);
  if (R.good() && (T.MinSamples < 3 || T.MaxSamples < T.MinSamples ||
                   T.MaxSamples > 100000))
    R.fail("min_samples",
           std::to_string(T.MinSamples) + " with max_samples " +
               std::to_string(T.MaxSamples),
           "3 <= min_samples <= max_samples <= 100000");
  if (R.good() && (T.WarmupMs > MaxTimeMs || T.MaxMs > MaxTimeMs))
    R.fail("max_ms", std::to_string(T.MaxMs), "a day at most");
  if (R.good() && !(T.RelativeError > 0 && T.RelativeError < 1))
    R.fail("relative_error", std::to_string(T.RelativeError),
           "a number between 0 and 1");
  Error = R.problem();
}

const Json *readArray(Reader &R, const char *Name, const char *Wanted) {
  const Json *Items = R.raw(Name);
  if (R.good() && (!Items || !Items->is_array() || Items->empty()))
    R.fail(Name, Items ? describeJson(*Items) : "nothing", Wanted);
  return R.good() ? Items : nullptr;
}

Json printValue(const Leaf &L, const LeafValue &V) {
  switch (L.Kind) {
  case LeafKind::Buffer:
    return {{"shape", V.Shape}};
  case LeafKind::Integer:
    return {{"integer", V.Integer}};
  case LeafKind::Real:
    return {{"real", V.Real}};
  case LeafKind::Stream:
    break;
  }
  return Json::object();
}

Json printLeaf(const Leaf &L) {
  Json J = {{"name", L.Name}, {"kind", leafKindName(L.Kind)}};
  if (L.Kind != LeafKind::Buffer)
    return J;
  J["type"] = dtypeName(L.Type);
  J["role"] = roleName(L.Use);
  J["tolerance"] = L.Tolerance;
  Json Fill = {{"kind", initName(L.Fill.Kind)},
               {"low", L.Fill.Low},
               {"high", L.Fill.High}};
  if (L.Fill.Kind == InitKind::File)
    Fill["file"] = L.Fill.File;
  J["init"] = Fill;
  return J;
}
} // namespace

uint64_t LeafValue::elements() const {
  uint64_t N = 1;
  for (int64_t S : Shape)
    N *= uint64_t(S);
  return N;
}

Job stark::job::parseJob(const std::string &Text, const std::string &File,
                         std::string &Error) {
  Job J;
  Error.clear();
  Json Whole = Json::parse(Text, nullptr, false);
  if (Whole.is_discarded()) {
    Error = File + ": not valid JSON";
    return J;
  }
  Reader R(Whole, File, "");
  int64_t Version = 0;
  R.required("format", Version);
  if (R.good() && Version != Format)
    R.fail("format", std::to_string(Version), std::to_string(Format));
  R.required("id", J.Id);
  R.required("purpose", J.Purpose);
  readFileName(R, "source_library", J.SourceLibrary);
  readFileName(R, "candidate_library", J.CandidateLibrary);
  R.required("source_digest", J.SourceDigest);
  R.required("candidate_digest", J.CandidateDigest);
  R.required("arch", J.Arch);
  R.optional("compiler", J.Compiler);
  R.required("timing_seed", J.TimingSeed);
  R.required("timeout_ms", J.TimeoutMs);
  if (R.good() && (J.TimeoutMs == 0 || J.TimeoutMs > MaxTimeMs))
    R.fail("timeout_ms", std::to_string(J.TimeoutMs), "1 ms to a day");
  const Json *Timing = R.raw("timing");
  if (R.good() && !Timing)
    R.fail("timing", "nothing", "an object");
  const Json *Leaves = readArray(R, "leaves", "an array of leaves");
  const Json *Cases = readArray(R, "cases", "an array of cases");
  const Json *Seeds =
      readArray(R, "seeds", "an array of integers of 0 or more");
  if (Seeds)
    for (const Json &S : *Seeds) {
      if (!S.is_number_unsigned()) {
        R.fail("seeds", describeJson(S), "an integer of 0 or more");
        break;
      }
      J.Seeds.push_back(S.get<uint64_t>());
    }
  Error = R.problem();
  if (Error.empty())
    readTiming(*Timing, File, J.Timing, Error);
  for (size_t I = 0; Error.empty() && I < Leaves->size(); ++I)
    J.Leaves.push_back(readLeaf((*Leaves)[I], File,
                                "leaves[" + std::to_string(I) + "]", Error));
  for (size_t I = 0; Error.empty() && I < Cases->size(); ++I)
    J.Cases.push_back(readCase((*Cases)[I], J.Leaves, File,
                               "cases[" + std::to_string(I) + "]", Error));
  return J;
}

std::string stark::job::printJob(const Job &J) {
  Json Out = {{"format", Format},
              {"id", J.Id},
              {"purpose", J.Purpose},
              {"source_library", J.SourceLibrary},
              {"candidate_library", J.CandidateLibrary},
              {"source_digest", J.SourceDigest},
              {"candidate_digest", J.CandidateDigest},
              {"arch", J.Arch},
              {"compiler", J.Compiler},
              {"seeds", J.Seeds},
              {"timing_seed", J.TimingSeed},
              {"timeout_ms", J.TimeoutMs}};
  Out["timing"] = {{"warmup_ms", J.Timing.WarmupMs},
                   {"min_samples", J.Timing.MinSamples},
                   {"max_samples", J.Timing.MaxSamples},
                   {"max_ms", J.Timing.MaxMs},
                   {"relative_error", J.Timing.RelativeError}};
  Out["leaves"] = Json::array();
  for (const Leaf &L : J.Leaves)
    Out["leaves"].push_back(printLeaf(L));
  Out["cases"] = Json::array();
  for (const Case &C : J.Cases) {
    Json Values = Json::array();
    for (size_t I = 0; I < C.Values.size(); ++I)
      Values.push_back(printValue(J.Leaves[I], C.Values[I]));
    Out["cases"].push_back({{"label", C.Label},
                            {"timed", C.Timed},
                            {"added", C.Added},
                            {"values", Values}});
  }
  return Out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
