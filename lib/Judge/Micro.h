//===- Micro.h - A time, for a message ------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_JUDGE_MICRO_H
#define STARK_LIB_JUDGE_MICRO_H

#include <cstdio>
#include <string>

namespace stark::judge {

/// "3.25 us"
inline std::string micro(double Us) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.2f us", Us);
  return Text;
}

} // namespace stark::judge

#endif
