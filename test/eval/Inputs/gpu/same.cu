// EXPECT: correct
// SPEEDUP: 0.9 1.1
// The source once more: neither faster nor slower.
#include "source.cu"
