// Every value of the two eight-bit formats comes back from its bits, and numbers
// between two values round to the nearer, the even one of a tie.
// RUN: %sim-device-pass -O1 -emit-obj %s -o %t.o
// RUN: %sim-cxx %S/Inputs/reference.cpp %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: {{^}}0 failures

#include <cuda_fp8.h>

namespace {
__device__ int Failures;
__device__ void expect(bool good, const char *what, double x, unsigned got) {
  if (!good && ++Failures <= 20)
    printf("%s of %a: %02x\n", what, x, got);
}

template <class Number> __device__ void format(unsigned largest, double most) {
  auto value = [](unsigned bits) {
    Number number;
    number.__x = (unsigned char)bits;
    return (double)number;
  };
  expect(value(largest) == most, "largest", most, largest);
  for (unsigned low = 0; low < largest; ++low) {
    double from = value(low), to = value(low + 1), middle = (from + to) / 2;
    expect(from < to, "order", from, low);
    for (double sign : {1.0, -1.0}) {
      unsigned high_bit = sign < 0 ? 0x80 : 0;
      auto rounded = [=](double x) { return Number(sign * x).__x ^ high_bit; };
      expect(rounded(from) == low, "round trip", from, rounded(from));
      expect(rounded(nextafter(middle, from)) == low, "below", middle, low);
      expect(rounded(nextafter(middle, to)) == low + 1, "above", middle, low);
      expect(rounded(middle) == low + (low & 1), "tie", middle,
             rounded(middle));
    }
  }
  expect(Number(1e30f).__x == largest && Number(-INFINITY).__x == (largest | 0x80),
         "saturation", 1e30, Number(1e30f).__x);
  expect(isnan((float)Number(NAN)), "NaN", NAN, Number(NAN).__x);
}
} // namespace

extern "C" __device__ int check() {
  format<__nv_fp8_e4m3>(0x7e, 448);
  format<__nv_fp8_e5m2>(0x7b, 57344);
  expect(__nv_cvt_float_to_fp8(1e5f, __NV_NOSAT, __NV_E5M2) == 0x7c &&
             __nv_cvt_float_to_fp8(500, __NV_NOSAT, __NV_E4M3) == 0x7f,
         "overflow", 1e5, 0);
  float4 back = (float4)__nv_fp8x4_e4m3(make_float4(1, -2, 3, 0.5f));
  expect(back.x == 1 && back.y == -2 && back.z == 3 && back.w == 0.5f, "four",
         back.x, 0);
  return Failures;
}
