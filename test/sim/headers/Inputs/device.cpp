// The host primitives on a device that is plain memory. A kernel is a name: a
// launch prints its configuration and the first argument.

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
struct Dim3 {
  unsigned X, Y, Z;
};
Dim3 Grid, Block;
size_t Shared;
void *Stream;
int LastError;
} // namespace

extern "C" {
int __stark_sim_host_malloc(void **pointer, size_t bytes) {
  if (bytes > 1 << 20)
    return LastError = 2;
  *pointer = std::malloc(bytes ? bytes : 1);
  return 0;
}
int __stark_sim_host_free(void *pointer) {
  std::free(pointer);
  return 0;
}
int __stark_sim_host_copy(void *to, const void *from, size_t bytes, int) {
  std::memmove(to, from, bytes);
  return 0;
}
int __stark_sim_host_set(void *to, int value, size_t bytes) {
  std::memset(to, value, bytes);
  return 0;
}
int __stark_sim_host_copy_in(void *to, const void *from, size_t bytes, void *,
                             int) {
  return __stark_sim_host_copy(to, from, bytes, 0);
}
int __stark_sim_host_set_in(void *to, int value, size_t bytes, void *) {
  return __stark_sim_host_set(to, value, bytes);
}
int __stark_sim_host_managed(void **pointer, size_t bytes) {
  return __stark_sim_host_malloc(pointer, bytes);
}
void __stark_sim_host_map(void *, size_t) {}
void __stark_sim_host_unmap(void *) {}
const void *__stark_sim_host_stream_create(unsigned) { return &Stream; }
void __stark_sim_host_stream_sync(void *) {}
void __stark_sim_host_event_record(unsigned long long, void *) {}
void __stark_sim_host_event_wait(void *, unsigned long long) {}
void __stark_sim_host_event_sync(unsigned long long) {}
int __stark_sim_host_sync() { return 0; }
int __stark_sim_host_last_error(int clear) {
  int error = LastError;
  if (clear)
    LastError = 0;
  return error;
}
int __stark_sim_host_attribute(int attribute) {
  switch (attribute) {
  case -1:
    return 1000;
  case 16:
    return 132;
  case 75:
    return 9;
  }
  return attribute;
}
int __stark_sim_host_func_attribute(const void *, int attribute, int value) {
  if (attribute < 100)
    return attribute == 8 && value > 232448 ? 1 : 0;
  return attribute == 103 ? 1024 : attribute;
}
// As if each thread had 40 registers of 65536.
int __stark_sim_host_occupancy(int *blocks, const void *, int size, size_t) {
  *blocks = 65536 / 40 / size;
  return 0;
}
int __stark_sim_host_symbol(const void *host, void **address) {
  *address = const_cast<void *>(host);
  return 0;
}
void __stark_sim_host_unsupported(const char *what) {
  std::printf("unsupported: %s\n", what);
}
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared,
                                     void *stream) {
  Grid = grid;
  Block = block;
  Shared = shared;
  Stream = stream;
  return 0;
}
int __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *shared,
                               void **stream) {
  *grid = Grid;
  *block = Block;
  *shared = Shared;
  *stream = Stream;
  return 0;
}
int cudaLaunchKernel(const void *, Dim3 grid, Dim3 block, void **arguments,
                     size_t shared, void *) {
  std::printf("launch %u,%u,%u of %u,%u,%u with %zu: %d\n", grid.X, grid.Y,
              grid.Z, block.X, block.Y, block.Z, shared,
              *static_cast<int *>(arguments[0]));
  return 0;
}
int cudaLaunchCooperativeKernel(const void *kernel, Dim3 grid, Dim3 block,
                                void **arguments, size_t shared, void *stream) {
  std::printf("together: ");
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
int __stark_sim_host_launch_in_clusters(const void *kernel, Dim3 grid,
                                        Dim3 block, void **arguments,
                                        size_t shared, void *stream, int,
                                        const Dim3 *cluster) {
  std::printf("clusters of %u: ", cluster->X);
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
}
