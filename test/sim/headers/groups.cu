// Cooperative groups, and what is offered of CUB, give each thread the rank, the exchanged values, the
// reductions and the prefix sums that their definition says, run on one warp.
// RUN: %sim-device-pass -O1 -emit-obj %s -o %t.o
// RUN: %sim-cxx -std=c++17 -pthread %S/Inputs/warp.cpp %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: {{^}}0 failures

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/cub.cuh>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

extern "C" __device__ void expect(int good, const char *what);

struct Wide {
  int Values[5];
};

__device__ unsigned rank_in(cg::thread_group group) {
  return group.thread_rank();
}
template <unsigned Size>
__device__ int halving(cg::thread_block_tile<Size> tile, int value) {
  for (int step = tile.size() / 2; step > 0; step /= 2)
    value += tile.shfl_down(value, step);
  return value;
}

__shared__ int Copied[32];
__device__ int Source[32];

extern "C" __global__ void kernel() {
  int lane = threadIdx.x;
  cg::thread_block block = cg::this_thread_block();
  expect(block.size() == 32 && block.thread_rank() == lane &&
             rank_in(block) == lane,
         "block");

  // Eight lanes: 0-7, 8-15, ...
  auto tile = cg::tiled_partition<8>(block);
  int rank = lane % 8, first = lane / 8 * 8;
  expect(tile.size() == 8 && tile.thread_rank() == rank &&
             tile.meta_group_rank() == lane / 8 && tile.meta_group_size() == 4 &&
             rank_in(tile) == rank,
         "tile");
  expect(tile.shfl(lane, 3) == first + 3 && tile.shfl_xor(lane, 1) == (lane ^ 1) &&
             tile.shfl_up(lane, 2) == (rank < 2 ? lane : lane - 2) &&
             tile.shfl_down(lane, 2) == (rank > 5 ? lane : lane + 2),
         "tile's shuffles");
  Wide wide = {{lane, lane + 1, lane + 2, lane + 3, lane + 4}};
  wide = tile.shfl(wide, 7);
  expect(wide.Values[0] == first + 7 && wide.Values[4] == first + 11,
         "shuffle of a struct");
  expect(cg::reduce(tile, lane, cg::plus<int>()) == 8 * first + 28 &&
             cg::reduce(tile, (float)lane, cg::greater<float>()) == first + 7 &&
             cg::reduce(tile, lane, cg::less<int>()) == first,
         "tile's reductions");
  expect(cg::inclusive_scan(tile, rank) == rank * (rank + 1) / 2 &&
             cg::exclusive_scan(tile, rank) == rank * (rank - 1) / 2 &&
             cg::inclusive_scan(tile, -rank, cg::less<int>()) == -rank,
         "tile's prefix sums");
  expect(tile.ballot(rank == 2) == 4 && tile.any(rank == 2) &&
             !tile.all(rank == 2) && tile.match_any(rank / 2) == 3u << rank / 2 * 2,
         "tile's votes");
  int total = halving(tile, 1);
  expect(rank != 0 || total == 8, "template over a tile's size");
  expect(cg::tiled_partition<4>(tile).thread_rank() == lane % 4,
         "tile of a tile");
  cg::thread_group dynamic = cg::tiled_partition(block, 16);
  dynamic.sync();
  expect(dynamic.size() == 16 && dynamic.thread_rank() == lane % 16,
         "tile of a size at run time");

  auto odd = cg::binary_partition(tile, lane & 1);
  expect(odd.size() == 4 && odd.thread_rank() == rank / 2, "two parts");
  expect(cg::reduce(odd, lane, cg::plus<int>()) ==
             4 * first + ((lane & 1) ? 16 : 12),
         "a part's sum");
  auto label = cg::labeled_partition(cg::tiled_partition<32>(block), lane % 3);
  expect(label.size() == (lane % 3 == 2 ? 10 : 11) &&
             label.thread_rank() == lane / 3 && label.shfl(lane, 1) == lane % 3 + 3,
         "labels");
  expect(cg::inclusive_scan(label, 1) == lane / 3 + 1, "a label's prefix sum");

  if (lane < 20) {
    cg::coalesced_group here = cg::coalesced_threads();
    expect(here.size() == 20 && here.thread_rank() == lane, "coalesced");
    expect(cg::reduce(here, lane, cg::plus<int>()) == 190 &&
               here.ballot(lane == 19) == 1u << 19 &&
               here.shfl_down(lane, 4) == (lane < 16 ? lane + 4 : lane) &&
               here.shfl_up(lane, 4) == (lane < 4 ? lane : lane - 4),
           "coalesced exchanges");
    cg::thread_group part = cg::tiled_partition(here, 5);
    expect(part.size() == 5 && part.thread_rank() == lane % 5,
           "part of a coalesced group");
  }
  block.sync();

  Source[lane] = 3 * lane;
  block.sync();
  cg::memcpy_async(block, Copied, Source, sizeof(Source));
  cg::wait(block);
  expect(Copied[31 - lane] == 3 * (31 - lane), "copy");

  expect(__shfl_xor_sync(~0u, __half((float)lane), 4) == __half((float)(lane ^ 4)),
         "half's shuffle");
  int all = 0;
  expect(__match_all_sync(~0u, 2.5, &all) == ~0u && all == 1, "match");

  __shared__ cub::BlockReduce<int, 32>::TempStorage reduced;
  __shared__ cub::BlockScan<int, 32>::TempStorage scanned;
  cub::WarpReduce<int, 8>::TempStorage none;
  int sum = cub::BlockReduce<int, 32>(reduced).Sum(lane);
  expect(lane != 0 || sum == 496, "block's sum");
  sum = cub::WarpReduce<int, 8>(none).Reduce(lane, cub::Max());
  expect(rank != 0 || sum == first + 7, "logical warp's maximum");
  int before, sums;
  cub::BlockScan<int, 32>(scanned).ExclusiveSum(lane, before, sums);
  expect(before == lane * (lane - 1) / 2 && sums == 496, "block's prefix sum");

  expect(cg::this_grid().size() == 32 && cg::this_grid().thread_rank() == lane,
         "grid");
}
