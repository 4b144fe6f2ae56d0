//===- Names.h - Words of the job format ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The enumerators' names in job.json and result files, for nameOf() and
/// valueNamed() (Json/Names.h). Apart from Job.h, which nvcc reads as C++17.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_JOB_NAMES_H
#define STARK_JOB_NAMES_H

#include "stark/Job/Job.h"
#include "stark/Json/Names.h"

namespace stark::job {

inline constexpr Named<DType> DTypeNames[] = {
#define STARK_DTYPE(Enumerator, Name, Bytes, Whole, Descriptor, Cpp, Aten)     \
  {DType::Enumerator, Name},
#include "stark/Job/DTypes.def"
};
constexpr std::span<const Named<DType>> namesOf(DType) { return DTypeNames; }

inline constexpr Named<Role> RoleNames[] = {{Role::Input, "input"},
                                            {Role::Output, "output"},
                                            {Role::InOut, "inout"},
                                            {Role::Scratch, "scratch"}};
constexpr std::span<const Named<Role>> namesOf(Role) { return RoleNames; }

inline constexpr Named<InitKind> InitNames[] = {
    {InitKind::Normal, "normal"},
    {InitKind::Uniform, "uniform"},
    {InitKind::Integers, "integers"},
    {InitKind::Mixed, "mixed"},
    {InitKind::Arange, "arange"},
    {InitKind::Zeros, "zeros"},
    {InitKind::Ones, "ones"},
    {InitKind::Constant, "constant"},
    {InitKind::Permutation, "permutation"},
    {InitKind::OneHot, "one_hot"},
    {InitKind::File, "file"}};
constexpr std::span<const Named<InitKind>> namesOf(InitKind) {
  return InitNames;
}

inline constexpr Named<Triangle> TriangleNames[] = {{Triangle::Whole, "whole"},
                                                    {Triangle::Lower, "lower"},
                                                    {Triangle::Upper, "upper"}};
constexpr std::span<const Named<Triangle>> namesOf(Triangle) {
  return TriangleNames;
}

inline constexpr Named<Regime> RegimeNames[] = {
    {Regime::Given, "given"},
    {Regime::Hardened, "hardened"},
    {Regime::Tiny, "tiny"},
    {Regime::Huge, "huge"},
    {Regime::Mixed, "mixed"},
    {Regime::Integers, "integers"},
    {Regime::Zeros, "zeros"},
    {Regime::OneHot, "one hot"},
    {Regime::EqualRows, "equal rows"},
    {Regime::Denormals, "denormals"}};
constexpr std::span<const Named<Regime>> namesOf(Regime) { return RegimeNames; }

inline constexpr Named<LeafKind> LeafKindNames[] = {
    {LeafKind::Buffer, "buffer"},
    {LeafKind::Integer, "integer"},
    {LeafKind::Real, "real"},
    {LeafKind::Stream, "stream"}};
constexpr std::span<const Named<LeafKind>> namesOf(LeafKind) {
  return LeafKindNames;
}

inline constexpr Named<Outcome> OutcomeNames[] = {
    {Outcome::Correct, "correct"},
    {Outcome::Wrong, "wrong"},
    {Outcome::Unstable, "unstable"},
    {Outcome::Crashed, "crashed"},
    {Outcome::TimedOut, "timed-out"},
    {Outcome::Forbidden, "forbidden"},
    {Outcome::NotCompiled, "not-compiled"},
    {Outcome::Unsupported, "unsupported"},
    {Outcome::Infrastructure, "infrastructure"}};
constexpr std::span<const Named<Outcome>> namesOf(Outcome) {
  return OutcomeNames;
}

} // namespace stark::job

#endif
