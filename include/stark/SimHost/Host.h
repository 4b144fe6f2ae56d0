//===- Host.h - The process that has libtorch -----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   libtorch and the observer, loaded once -> a fork for each call, locked
/// down, which loads the library of source or candidate
///
//===----------------------------------------------------------------------===//

#ifndef STARK_SIMHOST_HOST_H
#define STARK_SIMHOST_HOST_H

#include <string>

namespace stark::simhost {

struct HostOptions {
  int Control = -1;    ///< where StartCall comes from; its end ends the process
  std::string Preload; ///< libtorch's files and the observer, with ':' between
};

/// Serves calls until nobody can ask for one. The exit code.
int runHost(const HostOptions &Options);

} // namespace stark::simhost

#endif
