//===- WarpScan.cpp - Scans of a block by its warps -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpScan.h"
#include "CodeTemplate.h"

using namespace stark;

static constexpr CodeTemplate Function(R"cuda(
$says
static __device__ __forceinline__ $type $name($type value) {
  __shared__ $type sums[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    $type below = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset)
      value += below;
  }
  if (lane == 31)
    sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    $type sum = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (unsigned offset = 1; offset < 32; offset *= 2) {
      $type below = __shfl_up_sync(0xffffffffu, sum, offset);
      if (lane >= offset)
        sum += below;
    }
    sums[lane] = sum;
  }
  __syncthreads();
$result
}
)cuda");

std::string stark::printWarpScan(const WarpScan &Of) {
  return llvm::StringRef(llvm::cantFail(Function.fill({{"says", Of.Says},
                                                       {"name", Of.Name},
                                                       {"type", Of.Type},
                                                       {"result", Of.Result}})))
      .ltrim()
      .str();
}
