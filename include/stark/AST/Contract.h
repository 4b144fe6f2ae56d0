//===- Contract.h - What a candidate must keep ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The contract, always checked on the AST: the entry's signature and
/// linkage, the exported symbols, and nothing forbidden is called.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_CONTRACT_H
#define STARK_AST_CONTRACT_H

#include "stark/AST/Parse.h"
#include <string>
#include <vector>

namespace stark {

struct Violation {
  unsigned Line = 0;      ///< in the candidate, 0 when something is missing
  bool Forbidden = false; ///< a call that is not allowed, else broken contract
  std::string Message;    ///< "entry 'launch' returned void, now returns int"
};

/// Compares \p Candidate with the source the search began with. Forbidden are
/// calls with which a candidate could fool the judge or harm the host: streams
/// and graphs of its own, device limits, events, process and thread creation,
/// files and sockets, inline host assembly, static state kept between calls.
std::vector<Violation> checkContract(const ParsedSource &Source,
                                     const ParsedSource &Candidate,
                                     llvm::StringRef Entry);

} // namespace stark

#endif
