//===- HostCall.h - One call of an entry of tensors -----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_SIMHOST_HOSTCALL_H
#define STARK_LIB_SIMHOST_HOSTCALL_H

#include "stark/SimHost/Protocol.h"

namespace stark::simhost {

/// In a fork of the host process: maps, locks down, loads, calls, says what
/// came of it, and ends the process.
[[noreturn]] void runCall(const StartCall &Start, int Socket, int Memory);

/// The socket of the call that this process makes.
int callSocket();

/// Links Runtime.cpp, which only libraries use that are loaded later.
void useRuntime();

} // namespace stark::simhost

#endif
