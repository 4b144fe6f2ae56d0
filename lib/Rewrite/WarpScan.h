//===- WarpScan.h - Scans of a block by its warps -------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_REWRITE_WARPSCAN_H
#define STARK_LIB_REWRITE_WARPSCAN_H

#include <string>

namespace stark {

/// A device function that all threads of a block of whole warps call, with the
/// value of each. In the end `value` is the sum of what its warp brings up to
/// it, and `sums[w]` of what the warps up to w do.
struct WarpScan {
  std::string Name, Type;
  std::string Says;   ///< its comment, lines of "/// ..."
  std::string Result; ///< statements that return what is wanted of these
};
std::string printWarpScan(const WarpScan &Of);

} // namespace stark

#endif
