//===- DraftTexts.h - A program as one who drafts reads it ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_AGENT_DRAFTTEXTS_H
#define STARK_LIB_AGENT_DRAFTTEXTS_H

#include "stark/Agent/DraftAgent.h"

namespace stark {

/// The source, what the entry and main() reach of the project's headers, and
/// the files that call it. What is long is cut down to what the entry and
/// main() reach.
std::string describeProgram(const DraftQuestion &Q);

/// The parameters of the draft's entry, one a line.
std::string describeSignature(const Signature &S);

/// All that could be an entry beside it, one a line with what cannot be given.
std::string describeOthers(const DraftQuestion &Q);

} // namespace stark

#endif
