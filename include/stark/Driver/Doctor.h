//===- Doctor.h - What a search needs, and what is here ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   this machine -> findings, each with what to do about it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRIVER_DOCTOR_H
#define STARK_DRIVER_DOCTOR_H

#include "stark/Json/Names.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace stark {

struct Diagnosis {
  enum class State {
    Ok,
    Missing, ///< and needed to search on this machine
    Absent,  ///< and not needed: the advice says what goes without it
  };
  static constexpr Named<State> StateNames[] = {{State::Ok, "ok"},
                                                {State::Missing, "missing"},
                                                {State::Absent, "absent"}};
  std::string What; ///< "toolkit", "worker", ...
  State Is = State::Ok;
  std::string Found;  ///< what, where
  std::string Advice; ///< what to do; empty when ok
};
constexpr std::span<const Named<Diagnosis::State>> namesOf(Diagnosis::State) {
  return Diagnosis::StateNames;
}

struct DoctorOptions {
  std::string CudaPath;   ///< of the toolkit; empty: find it
  std::string Store;      ///< whose entries are looked at; may be empty
  std::string ModelsFile; ///< more providers; may be empty
};

/// Starts the compiler and the worker to ask for their versions, and asks the
/// ports of this machine where model servers usually are; changes nothing but
/// for making the user's cache folder. Values of keys are not read out. An
/// error only when the file of models cannot be read.
llvm::Expected<std::vector<Diagnosis>> examine(const DoctorOptions &Options);

/// "toolkit, nvcc": what is needed and missing; empty when nothing is.
std::string lacking(const std::vector<Diagnosis> &All);

/// A line each, with its advice below it.
void printDiagnoses(const std::vector<Diagnosis> &All, llvm::raw_ostream &OS);
/// What `stark-tool doctor --json` prints.
std::string diagnosesJson(const std::vector<Diagnosis> &All);

} // namespace stark

#endif
