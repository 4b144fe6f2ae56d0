// half and bfloat16 round as IEEE 754 says: every value, every boundary between
// two values in each direction, and random sums, products, quotients and fused
// products against 113-bit arithmetic.
// RUN: %sim-device-pass -O1 -emit-obj %s -o %t.o
// RUN: %sim-cxx %S/Inputs/reference.cpp %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: half: 65536 values, 31744 boundaries, 200000 of arithmetic
// CHECK: bfloat16: 65536 values, 32640 boundaries, 200000 of arithmetic
// CHECK: {{^}}0 failures

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

__device__ int Failures;

__device__ void expect(bool good, const char *what, double a, double b,
                       unsigned got) {
  if (!good && ++Failures <= 10)
    printf("%s of %a and %a gave %04x\n", what, a, b, got);
}

__device__ unsigned long long Seed = 88172645463325252ull;
__device__ unsigned long long random_bits() {
  Seed ^= Seed << 13;
  Seed ^= Seed >> 7;
  return Seed ^= Seed << 17;
}

struct Half {
  typedef __half Type;
  typedef __half_raw Raw;
  static constexpr int Mantissa = 10, Smallest = -14, Infinity = 0x7c00;
  static __device__ unsigned round(float f, int mode) {
    return __half_as_ushort(mode == 0   ? __float2half_rn(f)
                            : mode == 1 ? __float2half_rz(f)
                            : mode == 2 ? __float2half_rd(f)
                                        : __float2half_ru(f));
  }
};
struct Bfloat {
  typedef __nv_bfloat16 Type;
  typedef __nv_bfloat16_raw Raw;
  static constexpr int Mantissa = 7, Smallest = -126, Infinity = 0x7f80;
  static __device__ unsigned round(float f, int mode) {
    return __bfloat16_as_ushort(mode == 0   ? __float2bfloat16_rn(f)
                                : mode == 1 ? __float2bfloat16_rz(f)
                                : mode == 2 ? __float2bfloat16_rd(f)
                                            : __float2bfloat16_ru(f));
  }
};

/// The value of finite bits, by the format's definition.
template <class F> __device__ double value_of(unsigned bits) {
  int exponent = (bits & 0x7fff) >> F::Mantissa;
  double digits = bits & ((1 << F::Mantissa) - 1);
  double value =
      exponent == 0
          ? ldexp(digits, F::Smallest - F::Mantissa)
          : ldexp(digits + (1 << F::Mantissa),
                  exponent - 1 + F::Smallest - F::Mantissa);
  return bits & 0x8000 ? -value : value;
}

template <class F> __device__ void values(int *count) {
  for (unsigned bits = 0; bits < 0x10000; ++bits, ++*count) {
    float f = (float)typename F::Type(typename F::Raw{(unsigned short)bits});
    unsigned magnitude = bits & 0x7fff;
    if (magnitude > F::Infinity) {
      expect(f != f, "value", bits, 0, bits);
      expect(F::round(f, 0) == 0x7fff, "NaN", bits, 0, F::round(f, 0));
      continue;
    }
    double exact = magnitude == F::Infinity
                       ? (bits & 0x8000 ? -INFINITY : INFINITY)
                       : value_of<F>(bits);
    expect(f == exact, "value", exact, f, bits);
    for (int mode = 0; mode < 4; ++mode)
      expect(F::round(f, mode) == bits, "round trip", f, mode,
             F::round(f, mode));
  }
}

/// Between two neighbours: just above the lower, the middle and its neighbours,
/// just below the upper. A float has those for either format.
template <class F> __device__ void boundaries(int *count) {
  for (unsigned low = 0; low < F::Infinity; ++low, ++*count) {
    unsigned high = low + 1;
    double from = value_of<F>(low), to = high == F::Infinity
                                             ? 2 * from - value_of<F>(low - 1)
                                             : value_of<F>(high);
    double middle = (from + to) / 2;
    double places[] = {nextafter(from, to), nextafter(middle, from), middle,
                       nextafter(middle, to), nextafter(to, from)};
    for (int place = 0; place < 5; ++place)
      for (int minus = 0; minus < 2; ++minus) {
        double x = minus ? -places[place] : places[place];
        bool upper = place > 2 || (place == 2 && (low & 1));
        unsigned sign = minus ? 0x8000 : 0;
        // The nearer in double precision.
        unsigned near = __stark_sim_narrow<F::Mantissa, F::Smallest>(
            x, __stark_sim_rn);
        expect(near == (sign | (upper ? high : low)), "nearest", x, middle,
               near);
        typename F::Type made(x);
        expect(made.__x == near, "constructor", x, middle, made.__x);
        // In single precision, where x is one.
        float f = (float)x;
        if (f != x)
          continue;
        expect(F::round(f, 0) == near, "nearest of float", x, middle,
               F::round(f, 0));
        expect(F::round(f, 1) == (sign | low), "to zero", x, middle,
               F::round(f, 1));
        expect(F::round(f, 2) == (sign | (minus ? high : low)), "down", x,
               middle, F::round(f, 2));
        expect(F::round(f, 3) == (sign | (minus ? low : high)), "up", x, middle,
               F::round(f, 3));
      }
  }
}

/// Whether \p bits is the value nearest to \p exact, the even one of two. \p lost
/// has the sign of what even 113 bits have lost.
template <class F>
__device__ bool nearest(unsigned bits, __float128 exact, __float128 lost = 0) {
  unsigned magnitude = bits & 0x7fff;
  if (bits & 0x8000) {
    exact = -exact;
    lost = -lost;
  }
  double largest = value_of<F>(F::Infinity - 1);
  double step = largest - value_of<F>(F::Infinity - 2);
  if (magnitude == F::Infinity)
    return exact >= (__float128)largest + step / 2;
  if (magnitude > F::Infinity)
    return false;
  __float128 value = value_of<F>(magnitude);
  __float128 above =
      magnitude + 1 == F::Infinity ? value + step : value_of<F>(magnitude + 1);
  __float128 below = magnitude ? (__float128)value_of<F>(magnitude - 1)
                               : -(__float128)value_of<F>(1);
  bool even = (magnitude & 1) == 0;
  __float128 over = exact - value, up = above - exact, down = exact - below;
  __float128 distance = over < 0 ? -over : over;
  return (distance < up ||
          (distance == up && (lost < 0 || (lost == 0 && even)))) &&
         (distance < down ||
          (distance == down && (lost > 0 || (lost == 0 && even))));
}

template <class F> __device__ void arithmetic(int *count) {
  typedef typename F::Type T;
  for (int i = 0; i < 50000; ++i) {
    unsigned long long random = random_bits();
    // Half of the triples have near exponents, where sums cancel and tie.
    unsigned short a = (unsigned short)random, b = random >> 16,
                   c = random >> 32;
    if (i & 1) {
      b = (unsigned short)((b & 0x80ff) | (a & 0x7f00));
      c = (unsigned short)((c & 0x80ff) | (a & 0x7f00));
    }
    if ((a & 0x7fff) >= F::Infinity || (b & 0x7fff) >= F::Infinity ||
        (c & 0x7fff) >= F::Infinity || !(b & 0x7fff)) {
      *count += 4;
      continue;
    }
    T x(typename F::Raw{a}), y(typename F::Raw{b}), z(typename F::Raw{c});
    __float128 p = value_of<F>(a), q = value_of<F>(b), r = value_of<F>(c);
    expect(nearest<F>((x + y).__x, p + q), "sum", p, q, (x + y).__x);
    expect(nearest<F>((x * y).__x, p * q), "product", p, q, (x * y).__x);
    expect(nearest<F>((x / y).__x, p / q), "quotient", p, q, (x / y).__x);
    T fused = __hfma(x, y, z);
    __float128 sum = p * q + r, part = sum - p * q;
    __float128 lost = (p * q - (sum - part)) + (r - part);
    expect(nearest<F>(fused.__x, sum, lost), "fused product", p, q, fused.__x);
    *count += 4;
  }
}

template <class F> __device__ void format(const char *name) {
  int value_count = 0, boundary_count = 0, arithmetic_count = 0;
  values<F>(&value_count);
  boundaries<F>(&boundary_count);
  arithmetic<F>(&arithmetic_count);
  printf("%s: %d values, %d boundaries, %d of arithmetic\n", name, value_count,
         boundary_count, arithmetic_count);
}

} // namespace

extern "C" __device__ int check() {
  format<Half>("half");
  format<Bfloat>("bfloat16");

  for (long long i : {2049ll, 65519ll, 65520ll, -65520ll, (1ll << 62) + 1,
                      (1ll << 40) + (1ll << 32) + 1}) {
    expect(nearest<Half>(__ll2half_rn(i).__x, i), "integer to half", i, 0,
           __ll2half_rn(i).__x);
    expect(nearest<Bfloat>(__nv_bfloat16(i).__x, i), "integer to bfloat16", i,
           0, __nv_bfloat16(i).__x);
  }
  expect(__half2int_rn(__half(2.5f)) == 2 && __half2int_ru(__half(2.5f)) == 3 &&
             __half2short_rz(__half(-1e9f)) == -32768 &&
             __half2uint_rz(__half(-1.0f)) == 0,
         "half to integer", 2.5, 0, 0);

  __half nan = __ushort_as_half(0x7fff), one(1.0f);
  expect(__hmax(nan, one).__x == 0x3c00, "maximum", 0, 0, 0);
  expect(__hisnan(__hmax_nan(nan, one)), "NaN's maximum", 0, 0, 0);
  expect(!__heq(nan, nan) && __hequ(nan, nan) && nan != nan, "NaN's equality",
         0, 0, 0);
  __half2 pair(one, __half(-2.0f));
  expect(__hgt2_mask(pair, __half2(__half(0.0f), __half(0.0f))) == 0xffffu,
         "mask", 0, 0, 0);
  expect(__hfma2_relu(pair, pair, -pair).y.__x == 0x4600, "relu", 0, 0, 0);
  expect(sizeof(pair) == 4 && alignof(__half2) == 4 && sizeof(one) == 2,
         "layout", 0, 0, 0);
  return Failures;
}
