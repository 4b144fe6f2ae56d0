//===- Regimes.cpp - What else arguments are filled with ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   an argument's own values -> its values in each other regime
/// The values of one draw hide faults: a module's weights that are all 1 or 0,
/// inputs that are all positive, magnitudes that fit into fewer bits.
/// docs/judging.md says what takes their place.
///
//===----------------------------------------------------------------------===//

#include "stark/Task/Task.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cmath>

using namespace stark;
using job::InitKind;
using job::Regime;

/// How many products a sum over \p A as a weight has: all but the first of its
/// extents. 1 where these are not numbers.
static double fanIn(const Argument &A) {
  double Product = 1;
  for (const std::string &Extent : llvm::drop_begin(A.Shape)) {
    uint64_t Value = 0;
    if (!llvm::StringRef(Extent).getAsInteger(10, Value))
      Product *= double(std::max<uint64_t>(Value, 1));
  }
  return Product;
}

static job::Init drawn(job::InitKind Kind, double Low, double High) {
  job::Init Fill;
  Fill.Kind = Kind;
  Fill.Low = Low;
  Fill.High = High;
  return Fill;
}

static std::optional<job::Init> hardenedWeight(const Argument &A) {
  llvm::StringRef Path = A.Path;
  if (A.Tensor == TensorKind::Buffer) {
    if (Path.ends_with("running_var"))
      return drawn(job::InitKind::Uniform, 0.5, 1.5);
    if (Path.ends_with("running_mean"))
      return drawn(job::InitKind::Normal, 0, 0.3);
    return std::nullopt;
  }
  if (A.Shape.size() >= 2)
    return drawn(job::InitKind::Normal, 0, std::sqrt(2 / fanIn(A)));
  if (Path.ends_with("bias"))
    return drawn(job::InitKind::Normal, 0, 0.3);
  return drawn(job::InitKind::Uniform, 0.5, 1.5);
}

/// Of a tensor; nothing where that is what any case fills it with.
static std::optional<job::Init> hardened(const Argument &A) {
  // What counts, orders or selects is as it is for a reason.
  bool Drawn = A.Fill.Kind == job::InitKind::Normal ||
               A.Fill.Kind == job::InitKind::Uniform ||
               A.Fill.Kind == job::InitKind::Zeros ||
               A.Fill.Kind == job::InitKind::Ones ||
               A.Fill.Kind == job::InitKind::Constant;
  if (!Drawn)
    return std::nullopt;
  if (A.Tensor == TensorKind::Parameter || A.Tensor == TensorKind::Buffer)
    return hardenedWeight(A);
  if (A.Tensor == TensorKind::Constant)
    return std::nullopt;
  job::Init Mixed = drawn(job::InitKind::Mixed, 0, 1);
  Mixed.Keep = A.Fill.Keep;
  return Mixed;
}

/// The powers of two by which what is drawn is made smaller and larger, where
/// the workload says nothing: sums of squares of it are far from what the type
/// holds. None for halves, which reach from 2^-24 to 2^16.
static int reachOf(job::DType Type) {
  switch (Type) {
  case job::DType::F16:
    return 5;
  case job::DType::F32:
  case job::DType::F64:
  case job::DType::BF16:
    return 20;
  default:
    return 0;
  }
}

/// Of what is drawn.
static double rmsOf(const job::Init &Fill) {
  if (Fill.Kind == InitKind::Normal)
    return std::hypot(Fill.Low, Fill.High);
  return std::sqrt(
      (Fill.Low * Fill.Low + Fill.Low * Fill.High + Fill.High * Fill.High) / 3);
}

/// The least and the greatest that is drawn; of a normal one, six sigma are
/// all.
static std::pair<double, double> rangeOf(const job::Init &Fill) {
  double Low = Fill.Low, High = Fill.High;
  if (Fill.Kind == InitKind::Normal) {
    Low = Fill.Low - 6 * Fill.High;
    High = Fill.Low + 6 * Fill.High;
  }
  return std::minmax(
      {Low * Fill.Times + Fill.Plus, High * Fill.Times + Fill.Plus});
}

/// Whether both signs are drawn. Where one is, an entry may count on it, by a
/// root or a logarithm.
static bool isSigned(const job::Init &Fill) {
  auto [Least, Greatest] = rangeOf(Fill);
  return Least < 0 && Greatest > 0;
}

static bool holdsZero(const job::Init &Fill) {
  auto [Least, Greatest] = rangeOf(Fill);
  return Least <= 0 && Greatest >= 0;
}

/// \p Positive, which is drawn above 0, with the sign of \p Given.
static job::Init signedAs(const job::Init &Given, job::Init Positive) {
  if (rangeOf(Given).first < 0)
    Positive.Times = -Positive.Times;
  return Positive;
}

/// The least power of two that makes \p Rms at least \p Low (\p Up), or the
/// greatest that keeps it at most \p High.
static int exponentTo(double Rms, double Bound, bool Up) {
  double Exact = std::log2(Bound / Rms);
  return int(Up ? std::ceil(Exact) : std::floor(Exact));
}

/// What a pointer's buffer is filled with in \p R; nothing where that is out of
/// what the workload says of magnitudes.
static std::optional<job::Init> regimeOf(const Argument &A, const Workload &W,
                                         Regime R) {
  job::Init Fill = A.Fill;
  double Rms = rmsOf(Fill);
  bool Signed = isSigned(A.Fill);
  int Down = -reachOf(A.Type), Up = -Down;
  if (W.Magnitude) {
    Down = std::max(Down, exponentTo(Rms, W.Magnitude->first, true));
    Up = std::min(Up, exponentTo(Rms, W.Magnitude->second, false));
  }
  switch (R) {
  case Regime::Tiny:
  case Regime::Huge: {
    int Exponent = R == Regime::Tiny ? Down : Up;
    if (Rms == 0 || (R == Regime::Tiny ? Exponent >= 0 : Exponent <= 0))
      return std::nullopt;
    Fill.Times *= std::ldexp(1.0, Exponent);
    Fill.Plus *= std::ldexp(1.0, Exponent);
    return Fill;
  }
  case Regime::Mixed:
    // 2^-6 to 2^6 times a normal one.
    if (W.Magnitude &&
        (W.Magnitude->first > 0x1p-6 || W.Magnitude->second < 0x1p6))
      return std::nullopt;
    // Six sigma keep what has a sign away from 0.
    Fill = Signed ? drawn(InitKind::Mixed, 0, 1)
                  : signedAs(A.Fill, drawn(InitKind::Mixed, 1, 0.125));
    break;
  case Regime::Integers:
    if (W.Magnitude && (W.Magnitude->first > 1 || W.Magnitude->second < 2))
      return std::nullopt;
    Fill = Signed ? drawn(InitKind::Integers, -2, 3)
                  : signedAs(A.Fill, drawn(InitKind::Integers, 1, 3));
    break;
  case Regime::Zeros:
    if (!holdsZero(A.Fill))
      return std::nullopt;
    Fill = drawn(InitKind::Zeros, 0, 0);
    break;
  case Regime::OneHot:
    if (!holdsZero(A.Fill) ||
        (W.Magnitude && (W.Magnitude->first > 1 || W.Magnitude->second < 1)))
      return std::nullopt;
    Fill = signedAs(A.Fill, drawn(InitKind::OneHot, 0, 0));
    break;
  case Regime::EqualRows:
    if (A.Shape.size() < 2)
      return std::nullopt;
    Fill.EqualRows = true;
    break;
  case Regime::Denormals:
    if (W.Magnitude || (A.Type != job::DType::F32 && A.Type != job::DType::F16))
      return std::nullopt;
    Fill = Signed ? drawn(InitKind::Normal, 0, 1)
                  : signedAs(A.Fill, drawn(InitKind::Uniform, 0.25, 1));
    Fill.Times *= std::ldexp(1.0, A.Type == job::DType::F32 ? -132 : -17);
    break;
  case Regime::Given:
  case Regime::Hardened:
    return std::nullopt;
  }
  Fill.Keep = A.Fill.Keep;
  return Fill;
}

std::vector<job::RegimeFill>
stark::makeRegimes(const Argument &A, const Workload &W, bool IsTensor) {
  std::vector<job::RegimeFill> All;
  bool Written = A.Use == job::Role::Output || A.Use == job::Role::Scratch;
  if (!A.IsBuffer || Written || job::isWhole(A.Type) || A.FromWeights)
    return All;
  if (IsTensor) {
    if (std::optional<job::Init> Fill = hardened(A))
      All.push_back({Regime::Hardened, *Fill});
    return All;
  }
  if (A.Fill.Kind != InitKind::Normal && A.Fill.Kind != InitKind::Uniform)
    return All;
  for (Regime R :
       {Regime::Tiny, Regime::Huge, Regime::Mixed, Regime::Integers,
        Regime::Zeros, Regime::OneHot, Regime::EqualRows, Regime::Denormals})
    if (std::optional<job::Init> Fill = regimeOf(A, W, R))
      All.push_back({R, *Fill});
  return All;
}

bool stark::isHardened(const Task &T) {
  return T.Load.Harden.value_or(!isTensorEntry(T.Entry) ||
                                T.Load.Imported.has_value());
}
