// Rounded arithmetic and conversions equal the processor's in the same rounding
// mode, over random bits; intrinsics equal their definitions.
// RUN: %sim-device-pass -O1 -emit-obj %s -o %t.o
// RUN: %sim-cxx %S/Inputs/reference.cpp %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: {{^}}0 failures

extern "C" {
__device__ float reference_float(int mode, int operation, float a, float b,
                                 float c);
__device__ double reference_double(int mode, int operation, double a, double b,
                                   double c);
__device__ float reference_to_float(int mode, double value);
__device__ double reference_whole(int mode, double value);
__device__ float reference_from_integer(int mode, long long value);
}

namespace {

__device__ int Failures;
__device__ unsigned long long Seed = 88172645463325252ull;
__device__ unsigned long long random_bits() {
  Seed ^= Seed << 13;
  Seed ^= Seed >> 7;
  return Seed ^= Seed << 17;
}

template <class T>
__device__ void expect(const char *what, int mode, T a, T b, T c, T got,
                       T wanted) {
  bool same = got == wanted ? signbit(got) == signbit(wanted)
                            : got != got && wanted != wanted;
  if (!same && ++Failures <= 20)
    printf("%s, mode %d, of %a, %a and %a: %a, not %a\n", what, mode, (double)a,
           (double)b, (double)c, (double)got, (double)wanted);
}
__device__ void expect(bool good, const char *what) {
  if (!good && ++Failures <= 20)
    printf("%s\n", what);
}

#define MODES(CALL, ...)                                                       \
  (mode == 0   ? CALL##_rn(__VA_ARGS__)                                        \
   : mode == 1 ? CALL##_rz(__VA_ARGS__)                                        \
   : mode == 2 ? CALL##_rd(__VA_ARGS__)                                        \
               : CALL##_ru(__VA_ARGS__))

__device__ void arithmetic(float a, float b, float c) {
  for (int mode = 0; mode < 4; ++mode) {
    auto reference = [=](int operation) {
      return reference_float(mode, operation, a, b, c);
    };
    expect("sum", mode, a, b, c, MODES(__fadd, a, b), reference(0));
    expect("difference", mode, a, b, c, MODES(__fsub, a, b), reference(1));
    expect("product", mode, a, b, c, MODES(__fmul, a, b), reference(2));
    expect("quotient", mode, a, b, c, MODES(__fdiv, a, b), reference(3));
    expect("root", mode, a, b, c, MODES(__fsqrt, a), reference(4));
    expect("fma", mode, a, b, c, MODES(__fmaf, a, b, c), reference(5));
    expect("reciprocal", mode, a, b, c, MODES(__frcp, b),
           reference_float(mode, 3, 1.0f, b, c));
  }
}
__device__ void arithmetic(double a, double b, double c) {
  for (int mode = 0; mode < 4; ++mode) {
    auto reference = [=](int operation) {
      return reference_double(mode, operation, a, b, c);
    };
    expect("sum", mode, a, b, c, MODES(__dadd, a, b), reference(0));
    expect("difference", mode, a, b, c, MODES(__dsub, a, b), reference(1));
    expect("product", mode, a, b, c, MODES(__dmul, a, b), reference(2));
    expect("quotient", mode, a, b, c, MODES(__ddiv, a, b), reference(3));
    expect("root", mode, a, b, c, MODES(__dsqrt, a), reference(4));
    expect("fma", mode, a, b, c, MODES(__fma, a, b, c), reference(5));
  }
}

/// A number saturated to what T holds.
template <class T> __device__ T saturated(double whole) {
  if (whole >= 2.0 * (double)(std::numeric_limits<T>::max() / 2 + 1))
    return std::numeric_limits<T>::max();
  if (whole <= (double)std::numeric_limits<T>::min())
    return std::numeric_limits<T>::min();
  return (T)whole;
}

__device__ void conversions(double x, long long i) {
  float f = (float)x;
  for (int mode = 0; mode < 4; ++mode) {
    expect("double to float", mode, (float)x, 0.f, 0.f,
           MODES(__double2float, x), reference_to_float(mode, x));
    expect("long long to float", mode, (float)i, 0.f, 0.f,
           MODES(__ll2float, i), reference_from_integer(mode, i));
    expect("int to float", mode, (float)i, 0.f, 0.f,
           MODES(__int2float, (int)i), reference_from_integer(mode, (int)i));
    if (x != x)
      continue;
    double whole = reference_whole(mode, x), whole_f = reference_whole(mode, f);
    expect(MODES(__double2int, x) == saturated<int>(whole), "double to int");
    expect(MODES(__double2uint, x) == saturated<unsigned>(whole),
           "double to unsigned");
    expect(MODES(__double2ll, x) == saturated<long long>(whole),
           "double to long long");
    expect(MODES(__double2ull, x) == saturated<unsigned long long>(whole),
           "double to unsigned long long");
    expect(MODES(__float2int, f) == saturated<int>(whole_f), "float to int");
    expect(MODES(__float2uint, f) == saturated<unsigned>(whole_f),
           "float to unsigned");
    expect(MODES(__float2ll, f) == saturated<long long>(whole_f),
           "float to long long");
    expect(MODES(__float2ull, f) == saturated<unsigned long long>(whole_f),
           "float to unsigned long long");
  }
}

__device__ void integers(unsigned a, unsigned b, unsigned c) {
  unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned shift = c & 31;
  int bits = 0, leading = 32;
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) {
    bits += a >> i & 1;
    reversed |= (a >> i & 1) << (31 - i);
    if (a >> i & 1)
      leading = 31 - i;
  }
  expect(__popc(a) == bits && __clz(a) == leading && __brev(a) == reversed,
         "bits");
  expect(__ffs(a) == (a ? 32 - __clz(a & -a) : 0), "first bit");
  expect(__funnelshift_l(a, b, c) == (unsigned)(both << shift >> 32) &&
             __funnelshift_r(a, b, c) == (unsigned)(both >> shift),
         "funnel shift");
  expect(__umulhi(a, b) == (unsigned)((unsigned long long)a * b >> 32) &&
             __mulhi((int)a, (int)b) ==
                 (int)((long long)(int)a * (int)b >> 32),
         "high product");
  unsigned permuted = 0, dot = c, added = 0, largest = 0;
  int signed_dot = (int)c;
  for (int i = 0; i < 4; ++i) {
    unsigned x = a >> (8 * i) & 255, y = b >> (8 * i) & 255;
    unsigned from = c >> (4 * i) & 7;
    unsigned byte = both >> (8 * from) & 255;
    permuted |= (c >> (4 * i) & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
    dot += x * y;
    signed_dot = (int)((unsigned)signed_dot +
                       (unsigned)((int)(signed char)x * (signed char)y));
    added |= (x + y & 255) << (8 * i);
    largest |= (unsigned)((signed char)x > (signed char)y ? x : y) << (8 * i);
  }
  expect(__byte_perm(a, b, c) == permuted, "byte permutation");
  expect(__dp4a(a, b, c) == dot && __dp4a((int)a, (int)b, (int)c) == signed_dot,
         "dot product");
  expect(__vadd4(a, b) == added && __vmaxs4(a, b) == largest, "four bytes");
  expect(__vcmpeq4(a, a) == ~0u && __vsetne2(a, a) == 0 &&
             __vabsdiffu4(a, a) == 0 && __vavgu2(a, a) == a,
         "lanes of equals");
  expect(__hiloint2double(__double2hiint(1.5), __double2loint(1.5)) == 1.5 &&
             __uint_as_float(__float_as_uint(-2.5f)) == -2.5f,
         "bits of numbers");
}

__device__ bool near(double got, double wanted, double error = 1e-12) {
  return fabs(got - wanted) <= error * fmax(fabs(wanted), 1.0);
}
__device__ void functions() {
  expect(sinpi(1.0) == 0 && sinpi(0.5) == 1 && cospi(0.5) == 0 &&
             cospi(1.0) == -1 && near(sinpi(2.25), M_SQRT1_2) &&
             near(cospi(-7.75), M_SQRT1_2) && near(sinpi(-0.1), -sinpi(0.1)),
         "sinpi and cospi");
  for (double y = -0.999; y < 1; y += 0.037)
    expect(near(erf(erfinv(y)), y) && near(erfc(erfcinv(1 + y)), 1 + y) &&
               near(normcdf(normcdfinv(0.5 + y / 2)), 0.5 + y / 2),
           "inverse error functions");
  expect(near(erfc(erfcinv(1e-100)) * 1e100, 1, 1e-9), "erfcinv far out");
  expect(near(erfcx(20.0) / 0.02817434874123, 1, 1e-9) &&
             near(erfcx(9.999), erfcx(10.001), 1e-3),
         "erfcx");
  expect(near(cyl_bessel_i0(1.0), 1.2660658777520084) &&
             near(cyl_bessel_i1(1.0), 0.5651591039924851),
         "Bessel functions");
  expect(rsqrtf(4.0f) == 0.5f && rcbrt(8.0) == 0.5 &&
             norm3d(2, 3, 6) == 7.0 && near(rhypot(3.0, 4.0), 0.2),
         "roots");
  expect(__saturatef(NAN) == 0 && __saturatef(2) == 1 && __saturatef(0.25f) == 0.25f,
         "saturation");
  expect(near(__expf(1), M_E, 1e-6) && near(__logf(10), M_LN10, 1e-6) &&
             near(__powf(2, 0.5f), M_SQRT2, 1e-6) && __fdividef(1, 0x1p127f) == 0,
         "fast functions");
  expect(min(-1, 1u) == 1u && max(1.5f, 2.0) == 2.0 && max(NAN, 1.0f) == 1.0f,
         "minima and maxima of mixed types");
  expect(__float2int_rn(NAN) == 0 &&
             __float2ll_rn(NAN) == (long long)(1ull << 63) &&
             __double2int_rz(NAN) == (int)(1u << 31),
         "NaN as an integer");
  expect(abs(-3) == 3 && abs(-3.5f) == 3.5f && std::abs(-3l) == 3l &&
             std::max(2, 3) == 3,
         "C and C++ library");
}

} // namespace

extern "C" __device__ int check() {
  for (int i = 0; i < 100000; ++i) {
    unsigned long long x = random_bits(), y = random_bits(), z = random_bits();
    // Every second triple has near exponents, where results are subtle.
    unsigned high = i & 1 ? 0 : ~0u;
    auto f = [=](unsigned bits) {
      return __uint_as_float(high ? bits
                                  : (bits & 0x80ffffff) | (unsigned)x & 0x7f000000);
    };
    arithmetic(f((unsigned)x), f((unsigned)y), f((unsigned)z));
    auto d = [=](unsigned long long bits) {
      return __longlong_as_double(
          high ? bits
               : (bits & 0x803fffffffffffff) | (x & 0x7fc0000000000000) | 1ull << 60);
    };
    // What a double product loses must itself be a double.
    double a = d(x), b = d(y), c = d(z);
    if (fabs(a) > 1e-70 && fabs(a) < 1e70 && fabs(b) > 1e-70 && fabs(b) < 1e70)
      arithmetic(a, b, c);
    double scaled = ldexp((double)(long long)y, -(int)(z % 80));
    conversions(scaled, (long long)z >> (x % 60));
    conversions(d(x), (long long)z);
    integers((unsigned)x >> (z % 32), (unsigned)y, (unsigned)z);
  }
  functions();
  return Failures;
}
