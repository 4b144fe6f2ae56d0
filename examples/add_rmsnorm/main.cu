// Runs the linked add_rmsnorm at a production size and prints its time.

#include "../median_time.h"
#include "add_rmsnorm.h"

int main() {
  int tokens = 16384, hidden = 8192;
  size_t count = (size_t)tokens * hidden;
  __half *x = device_buffer<__half>(count), *y = device_buffer<__half>(count);
  __half *residual = device_buffer<__half>(count);
  __half *weight = device_buffer<__half>(hidden);
  double us = median_us([&] {
    add_rmsnorm(x, residual, weight, y, tokens, hidden, 1e-5f, nullptr);
  });
  std::printf("add_rmsnorm %dx%d: %.1f us, %.0f GB/s\n", tokens, hidden, us,
              4.0 * count * sizeof(__half) / us * 1e-3);
}
