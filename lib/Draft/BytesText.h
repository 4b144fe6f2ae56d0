//===- BytesText.h - What a call has to move, of a draft ------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_DRAFT_BYTESTEXT_H
#define STARK_LIB_DRAFT_BYTESTEXT_H

#include "stark/Draft/Draft.h"
#include <nlohmann/json_fwd.hpp>

namespace stark::draft {

/// "8 * rows * cols + 4 * cols": of \p Arguments, as a draft writes them, those
/// that \p Seen has, each read and each write once. Empty where it has none.
/// What is counted and what is not is added to \p Notes.
std::string bytesOf(const nlohmann::ordered_json &Arguments,
                    const WholeArguments &Seen,
                    std::vector<std::string> &Notes);

/// Tells in \p Notes of the outputs of \p Arguments that \p Seen has as alike.
void noteAlike(const nlohmann::ordered_json &Arguments,
               const WholeArguments &Seen, std::vector<std::string> &Notes);

} // namespace stark::draft

#endif
