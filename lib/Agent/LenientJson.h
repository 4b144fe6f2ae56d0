//===- LenientJson.h - JSON as models write it ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Comments, trailing commas, raw line breaks and bad escapes inside strings
/// are made good; prose after the object is dropped. Deep nesting is refused
/// before any parser sees it.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AGENT_LENIENTJSON_H
#define STARK_LIB_AGENT_LENIENTJSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace stark {

/// The first JSON object of \p Text, made strict. \p Text begins with its '{'.
/// \p Used is set to the number of bytes that were read.
llvm::Expected<std::string> strictJson(llvm::StringRef Text, size_t &Used);

/// A string, or an array of lines, which some models send.
std::optional<std::string> asText(const nlohmann::json &Value);

} // namespace stark

#endif
