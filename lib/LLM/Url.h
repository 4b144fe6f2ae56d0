//===- Url.h - Addresses that a key may be sent to ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_URL_H
#define STARK_LIB_LLM_URL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace stark {

/// Success when \p Url may be sent a key: https anywhere, http to this machine
/// only. Errors show it without passwords.
llvm::Error checkUrl(llvm::StringRef Url);

} // namespace stark

#endif
