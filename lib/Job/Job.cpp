//===- Job.cpp - Jobs and results, read and written -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   text -> JSON -> fields -> record, and back. Either side reads what the
/// other wrote as it reads anything from another machine: a field of the wrong
/// type is an error, never a guess.
///
//===----------------------------------------------------------------------===//

#include "stark/Job/Job.h"
#include "stark/Job/Formats.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::job;
using Json = nlohmann::json;

template <class Record>
static Record parse(const std::string &Text, const std::string &File,
                    std::string &Error) {
  Record R;
  Json Whole = Json::parse(Text, nullptr, false);
  Error = Whole.is_discarded() ? File + ": not valid JSON"
                               : readFields(Whole, File, "", R);
  return R;
}

template <class Record> static std::string print(const Record &R) {
  return dumpJson(writeFields<Json>(R), /*Indent=*/1) + "\n";
}

Job job::parseJob(const std::string &Text, const std::string &File,
                  std::string &Error) {
  return parse<Job>(Text, File, Error);
}

Result job::parseResult(const std::string &Text, const std::string &File,
                        std::string &Error) {
  return parse<Result>(Text, File, Error);
}

std::string job::printJob(const Job &J) { return print(J); }
std::string job::printResult(const Result &R) { return print(R); }
std::string job::printSamples(const Samples &S) {
  return dumpJson(writeFields<Json>(S)) + "\n";
}

const Init &Leaf::fillIn(Regime R) const {
  for (const RegimeFill &Other : Otherwise)
    if (Other.Of == R)
      return Other.Fill;
  return Fill;
}

uint64_t LeafValue::elements() const {
  uint64_t N = 1;
  for (int64_t S : Shape)
    N *= uint64_t(S);
  return N;
}

bool job::isWhole(DType T) {
  static constexpr bool Whole[] = {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  Whole,
#include "stark/Job/DTypes.def"
  };
  return Whole[unsigned(T)];
}

const char *job::atenName(DType T) {
  static constexpr const char *Names[] = {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten) Aten,
#include "stark/Job/DTypes.def"
  };
  return Names[unsigned(T)];
}

DType job::partOf(DType T) {
  return T == DType::C64 ? DType::F32 : T == DType::C128 ? DType::F64 : T;
}

unsigned job::dtypeBytes(DType T) {
  switch (T) {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  case DType::Enumerator:                                                      \
    return Bytes;
#include "stark/Job/DTypes.def"
  }
  return 1;
}
