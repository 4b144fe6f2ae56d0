// Runs a device pass's `check` as the one thread that it is, and gives it
// reference results that the processor rounds in its own rounding modes.

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace {
constexpr int Modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

template <class T> T arithmetic(int operation, T a, T b, T c) {
  volatile T x = a, y = b, z = c, result = 0;
  switch (operation) {
  case 0:
    result = x + y;
    break;
  case 1:
    result = x - y;
    break;
  case 2:
    result = x * y;
    break;
  case 3:
    result = x / y;
    break;
  case 4:
    result = std::sqrt(x);
    break;
  case 5:
    result = std::fma(x, y, z);
    break;
  }
  return result;
}
template <class T> T rounded(int mode, int operation, T a, T b, T c) {
  std::fesetround(Modes[mode]);
  T result = arithmetic(operation, a, b, c);
  std::fesetround(FE_TONEAREST);
  return result;
}
} // namespace

extern "C" {
float reference_float(int mode, int operation, float a, float b, float c) {
  return rounded(mode, operation, a, b, c);
}
double reference_double(int mode, int operation, double a, double b, double c) {
  return rounded(mode, operation, a, b, c);
}
float reference_to_float(int mode, double value) {
  std::fesetround(Modes[mode]);
  volatile double from = value;
  volatile float to = (float)from;
  std::fesetround(FE_TONEAREST);
  return to;
}
double reference_whole(int mode, double value) {
  std::fesetround(Modes[mode]);
  volatile double from = value;
  volatile double to = std::nearbyint(from);
  std::fesetround(FE_TONEAREST);
  return to;
}
float reference_from_integer(int mode, long long value) {
  std::fesetround(Modes[mode]);
  volatile long long from = value;
  volatile float to = (float)from;
  std::fesetround(FE_TONEAREST);
  return to;
}

// The primitives of a block of one thread.
unsigned __stark_sim_sreg(int) { return 0; }
unsigned long long __stark_sim_shuffle(unsigned, unsigned long long value, int,
                                       int, int) {
  return value;
}

int check();
}

int main() {
  int failures = check();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
