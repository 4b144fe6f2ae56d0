//===- Names.cpp - Words of the job format -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The enumerators' names in job.json and result files, both ways.
///
//===----------------------------------------------------------------------===//

#include "stark/Job/Job.h"

using namespace stark::job;

namespace {
template <class Enum> struct Word {
  Enum Value;
  const char *Name;
};

constexpr Word<DType> DTypes[] = {{DType::F32, "f32"}, {DType::F64, "f64"},
                                  {DType::F16, "f16"}, {DType::BF16, "bf16"},
                                  {DType::I32, "i32"}, {DType::I64, "i64"},
                                  {DType::U8, "u8"}};
constexpr Word<Role> Roles[] = {{Role::Input, "input"},
                                {Role::Output, "output"},
                                {Role::InOut, "inout"},
                                {Role::Scratch, "scratch"}};
constexpr Word<InitKind> Inits[] = {
    {InitKind::Normal, "normal"}, {InitKind::Uniform, "uniform"},
    {InitKind::Arange, "arange"}, {InitKind::Zeros, "zeros"},
    {InitKind::Ones, "ones"},     {InitKind::Permutation, "permutation"},
    {InitKind::File, "file"}};
constexpr Word<LeafKind> Leaves[] = {{LeafKind::Buffer, "buffer"},
                                     {LeafKind::Integer, "integer"},
                                     {LeafKind::Real, "real"},
                                     {LeafKind::Stream, "stream"}};
constexpr Word<Outcome> Outcomes[] = {
    {Outcome::Correct, "correct"},
    {Outcome::Wrong, "wrong"},
    {Outcome::Unstable, "unstable"},
    {Outcome::Crashed, "crashed"},
    {Outcome::TimedOut, "timed-out"},
    {Outcome::Forbidden, "forbidden"},
    {Outcome::NotCompiled, "not-compiled"},
    {Outcome::Unsupported, "unsupported"},
    {Outcome::Infrastructure, "infrastructure"}};

template <class Enum, size_t N>
const char *nameIn(const Word<Enum> (&Table)[N], Enum Value) {
  for (const Word<Enum> &W : Table)
    if (W.Value == Value)
      return W.Name;
  return "?";
}

template <class Enum, size_t N>
std::optional<Enum> parseIn(const Word<Enum> (&Table)[N],
                            const std::string &Name) {
  for (const Word<Enum> &W : Table)
    if (Name == W.Name)
      return W.Value;
  return std::nullopt;
}
} // namespace

const char *stark::job::dtypeName(DType T) { return nameIn(DTypes, T); }
std::optional<DType> stark::job::parseDType(const std::string &Name) {
  return parseIn(DTypes, Name);
}

unsigned stark::job::dtypeBytes(DType T) {
  switch (T) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::U8:
    return 1;
  }
  return 1;
}

const char *stark::job::roleName(Role R) { return nameIn(Roles, R); }
std::optional<Role> stark::job::parseRole(const std::string &Name) {
  return parseIn(Roles, Name);
}

const char *stark::job::initName(InitKind K) { return nameIn(Inits, K); }
std::optional<InitKind> stark::job::parseInit(const std::string &Name) {
  return parseIn(Inits, Name);
}

const char *stark::job::leafKindName(LeafKind K) { return nameIn(Leaves, K); }
std::optional<LeafKind> stark::job::parseLeafKind(const std::string &Name) {
  return parseIn(Leaves, Name);
}

const char *stark::job::outcomeName(Outcome O) { return nameIn(Outcomes, O); }
std::optional<Outcome> stark::job::parseOutcome(const std::string &Name) {
  return parseIn(Outcomes, Name);
}
