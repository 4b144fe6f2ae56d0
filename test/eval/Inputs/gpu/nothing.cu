// EXPECT: wrong elements were never written
#include "entry.h"
void launch(const float *, float *, long, cudaStream_t) {}
