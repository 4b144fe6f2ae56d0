//===- EmbeddedHeaders.h - Headers that lie in the program ---------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   lib/AST/headers, embedded, so that a program needs no data files to parse.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_AST_EMBEDDEDHEADERS_H
#define STARK_LIB_AST_EMBEDDEDHEADERS_H

#include <string>
#include <vector>

namespace stark {

/// Where Clang sees them.
inline constexpr char HeaderFolder[] = "/stark-headers";

struct EmbeddedHeader {
  std::string Name, Text;
};

/// What is added to a toolkit's headers, or what stands in for them.
const std::vector<EmbeddedHeader> &embeddedHeaders(bool WithToolkit);

} // namespace stark

#endif
