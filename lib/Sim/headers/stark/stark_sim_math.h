//===- stark_sim_math.h - Mathematical functions beyond the C library's --===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   math.h and <cmath> serve device code as they are. Here is what CUDA adds,
/// for both sides where its own headers do so.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIM_MATH_H
#define STARK_SIM_MATH_H

#include "stark_sim_rounding.h"

#include "stark_sim_cast.h"

#include "stark_sim_fast_math.h"

#include "stark_sim_integer.h"

#include "stark_sim_simd.h"

STARK_SIM_BOTH float rsqrtf(float x) { return __stark_sim_unit_rsqrt(x); }
STARK_SIM_BOTH double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
STARK_SIM_BOTH float rsqrt(float x) { return rsqrtf(x); }

/// sin and cos of pi times x: the turn is taken off exactly first.
STARK_SIM_BOTH double sinpi(double x) {
  double rest = fmod(x, 2.0);
  double near = nearbyint(2.0 * rest);
  double angle = (rest - 0.5 * near) * 3.14159265358979323846;
  int quarter = (int)near & 3;
  double value = quarter & 1 ? cos(angle) : sin(angle);
  if (rest == near * 0.5 && !(quarter & 1))
    return copysign(0.0, x);
  return quarter & 2 ? -value : value;
}
STARK_SIM_BOTH double cospi(double x) {
  double rest = fmod(fabs(x), 2.0);
  double near = nearbyint(2.0 * rest);
  double angle = (rest - 0.5 * near) * 3.14159265358979323846;
  int quarter = (int)near & 3;
  if (rest == near * 0.5 && (quarter & 1))
    return 0.0;
  double value = quarter & 1 ? -sin(angle) : cos(angle);
  return quarter & 2 ? -value : value;
}
STARK_SIM_BOTH float sinpif(float x) { return (float)sinpi(x); }
STARK_SIM_BOTH float cospif(float x) { return (float)cospi(x); }
STARK_SIM_BOTH void sincospi(double x, double *sine, double *cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
STARK_SIM_BOTH void sincospif(float x, float *sine, float *cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
// They write through pointers, which has to happen where the pass sees it.
#define sincos __stark_sim_sincos
#define sincosf __stark_sim_sincosf
STARK_SIM_BOTH void sincos(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
STARK_SIM_BOTH void sincosf(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
STARK_SIM_BOTH void sincos(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}

STARK_SIM_BOTH double rcbrt(double x) { return 1.0 / cbrt(x); }
STARK_SIM_BOTH float rcbrtf(float x) { return (float)rcbrt(x); }
STARK_SIM_BOTH double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
STARK_SIM_BOTH float rhypotf(float x, float y) {
  return (float)rhypot((double)x, (double)y);
}
STARK_SIM_BOTH double norm3d(double a, double b, double c) {
  return hypot(hypot(a, b), c);
}
STARK_SIM_BOTH double norm4d(double a, double b, double c, double d) {
  return hypot(hypot(a, b), hypot(c, d));
}
STARK_SIM_BOTH double rnorm3d(double a, double b, double c) {
  return 1.0 / norm3d(a, b, c);
}
STARK_SIM_BOTH double rnorm4d(double a, double b, double c, double d) {
  return 1.0 / norm4d(a, b, c, d);
}
STARK_SIM_BOTH double norm(int count, const double *values) {
  double length = 0;
  for (int i = 0; i < count; ++i)
    length = hypot(length, values[i]);
  return length;
}
STARK_SIM_BOTH float normf(int count, const float *values) {
  double squares = 0;
  for (int i = 0; i < count; ++i)
    squares += (double)values[i] * values[i];
  return (float)sqrt(squares);
}
STARK_SIM_BOTH double rnorm(int count, const double *values) {
  return 1.0 / norm(count, values);
}
STARK_SIM_BOTH float rnormf(int count, const float *values) {
  return 1.0f / normf(count, values);
}
STARK_SIM_BOTH float norm3df(float a, float b, float c) {
  return (float)norm3d(a, b, c);
}
STARK_SIM_BOTH float norm4df(float a, float b, float c, float d) {
  return (float)norm4d(a, b, c, d);
}
STARK_SIM_BOTH float rnorm3df(float a, float b, float c) {
  return (float)rnorm3d(a, b, c);
}
STARK_SIM_BOTH float rnorm4df(float a, float b, float c, float d) {
  return (float)rnorm4d(a, b, c, d);
}

STARK_SIM_BOTH double normcdf(double x) {
  return 0.5 * erfc(x * -0.70710678118654752440);
}
STARK_SIM_BOTH float normcdff(float x) { return (float)normcdf(x); }
/// exp(x * x) * erfc(x): by its continued fraction where erfc is about to
/// underflow.
STARK_SIM_BOTH double erfcx(double x) {
  if (x < 10.0)
    return exp(x * x) * erfc(x);
  double fraction = x;
  for (int i = 40; i > 0; --i)
    fraction = x + 0.5 * i / fraction;
  return 0.56418958354775628695 / fraction;
}
STARK_SIM_BOTH float erfcxf(float x) { return (float)erfcx(x); }
/// The x of which erfc is \p y: Halley's steps on erfc from a first guess by
/// its leading terms.
STARK_SIM_BOTH double erfcinv(double y) {
  if (!(y >= 0 && y <= 2))
    return __builtin_nan("");
  if (y == 0 || y == 2)
    return y == 0 ? __builtin_inf() : -__builtin_inf();
  double side = y < 1 ? y : 2 - y;
  double t = sqrt(-2.0 * log(side / 2));
  double x = -0.70711 *
             ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
  for (int i = 0; i < 3; ++i) {
    double error = erfc(x) - side;
    x += error / (1.12837916709551257 * exp(-x * x) - x * error);
  }
  return y < 1 ? x : -x;
}
STARK_SIM_BOTH double erfinv(double y) {
  if (fabs(y) > 0.5)
    return y > 0 ? erfcinv(1 - y) : -erfcinv(1 + y);
  double x = y * 0.88622692545275801365;
  for (int i = 0; i < 5; ++i) {
    double error = erf(x) - y;
    x -= error / (1.12837916709551257 * exp(-x * x) + x * error);
  }
  return x;
}
STARK_SIM_BOTH float erfinvf(float y) { return (float)erfinv(y); }
STARK_SIM_BOTH float erfcinvf(float y) { return (float)erfcinv(y); }
STARK_SIM_BOTH double normcdfinv(double y) {
  return -1.41421356237309504880 * erfcinv(2.0 * y);
}
STARK_SIM_BOTH float normcdfinvf(float y) { return (float)normcdfinv(y); }
/// The modified Bessel functions of order 0 and 1, by their power series.
STARK_SIM_BOTH double __stark_sim_bessel(int order, double x) {
  double quarter = 0.25 * x * x, term = order ? 0.5 * x : 1.0, sum = term;
  for (int i = 1; i < 2000 && fabs(term) > 1e-17 * fabs(sum); ++i) {
    term *= quarter / ((double)i * (i + order));
    sum += term;
  }
  return sum;
}
STARK_SIM_BOTH double cyl_bessel_i0(double x) {
  return __stark_sim_bessel(0, x);
}
STARK_SIM_BOTH double cyl_bessel_i1(double x) {
  return __stark_sim_bessel(1, x);
}
STARK_SIM_BOTH float cyl_bessel_i0f(float x) { return (float)cyl_bessel_i0(x); }
STARK_SIM_BOTH float cyl_bessel_i1f(float x) { return (float)cyl_bessel_i1(x); }

#define STARK_SIM_MIN_MAX(RESULT, A, B)                                        \
  STARK_SIM_BOTH constexpr RESULT min(A a, B b) {                              \
    return (RESULT)a < (RESULT)b ? (RESULT)a : (RESULT)b;                      \
  }                                                                            \
  STARK_SIM_BOTH constexpr RESULT max(A a, B b) {                              \
    return (RESULT)a > (RESULT)b ? (RESULT)a : (RESULT)b;                      \
  }
STARK_SIM_MIN_MAX(int, int, int)
STARK_SIM_MIN_MAX(unsigned, unsigned, unsigned)
STARK_SIM_MIN_MAX(unsigned, int, unsigned)
STARK_SIM_MIN_MAX(unsigned, unsigned, int)
STARK_SIM_MIN_MAX(long, long, long)
STARK_SIM_MIN_MAX(unsigned long, unsigned long, unsigned long)
STARK_SIM_MIN_MAX(unsigned long, long, unsigned long)
STARK_SIM_MIN_MAX(unsigned long, unsigned long, long)
STARK_SIM_MIN_MAX(long long, long long, long long)
STARK_SIM_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
STARK_SIM_MIN_MAX(unsigned long long, long long, unsigned long long)
STARK_SIM_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef STARK_SIM_MIN_MAX
// A number wins over NaN, as with fmin and fmax.
#define STARK_SIM_MIN_MAX(RESULT, A, B, MIN, MAX)                              \
  STARK_SIM_BOTH RESULT min(A a, B b) { return MIN((RESULT)a, (RESULT)b); }    \
  STARK_SIM_BOTH RESULT max(A a, B b) { return MAX((RESULT)a, (RESULT)b); }
STARK_SIM_MIN_MAX(float, float, float, __builtin_fminf, __builtin_fmaxf)
STARK_SIM_MIN_MAX(double, double, double, __builtin_fmin, __builtin_fmax)
STARK_SIM_MIN_MAX(double, float, double, __builtin_fmin, __builtin_fmax)
STARK_SIM_MIN_MAX(double, double, float, __builtin_fmin, __builtin_fmax)
#undef STARK_SIM_MIN_MAX

STARK_SIM_BOTH unsigned umin(unsigned a, unsigned b) { return min(a, b); }
STARK_SIM_BOTH unsigned umax(unsigned a, unsigned b) { return max(a, b); }
STARK_SIM_BOTH long long llmin(long long a, long long b) { return min(a, b); }
STARK_SIM_BOTH long long llmax(long long a, long long b) { return max(a, b); }
STARK_SIM_BOTH unsigned long long ullmin(unsigned long long a,
                                         unsigned long long b) {
  return min(a, b);
}
STARK_SIM_BOTH unsigned long long ullmax(unsigned long long a,
                                         unsigned long long b) {
  return max(a, b);
}

#endif
