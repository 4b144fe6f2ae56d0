// Runs the linked matmul at a production size and prints its time.

#include "../median_time.h"
#include "matmul.h"

int main() {
  int m = 4096, n = 4096, k = 4096;
  float *a = device_buffer<float>((size_t)m * k, 1);
  float *b = device_buffer<float>((size_t)k * n, 1);
  float *c = device_buffer<float>((size_t)m * n);
  double us = median_us([&] { matmul(a, b, c, m, n, k, nullptr); });
  std::printf("matmul %dx%dx%d: %.1f us, %.1f TFLOP/s\n", m, n, k, us,
              2.0 * m * n * k / us * 1e-6);
}
