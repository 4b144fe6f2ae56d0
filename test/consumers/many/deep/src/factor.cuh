#ifndef FACTOR
#define FACTOR 2.0f
#endif
#ifndef NAMED
#define NAMED other
#endif
