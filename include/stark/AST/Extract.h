//===- Extract.h - Code in headers as one source --------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source + entry -> one text with all that the entry reaches in the source
///   and in the project's headers
/// Includes of project headers are replaced, in place, by what is reached of
/// them, so order, namespaces, macros and conditions stay what they are;
/// everything else that is included stays an include. What is made is read
/// again: it has no new error, and the entry and all that it reaches mean what
/// they meant, declaration by declaration, for the device and for the host.
/// Where that is not so, more is kept.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_EXTRACT_H
#define STARK_AST_EXTRACT_H

#include "stark/AST/Parse.h"
#include "llvm/ADT/ArrayRef.h"

namespace stark {

/// How much is kept, least first.
enum class ExtractLevel {
  Least, ///< as below, and of others' includes those that something is of
  Used,  ///< what the entry reaches, and of classes and templates what it uses
  Reached, ///< what the entry reaches, classes whole
  Macros,  ///< that, with every macro and condition of the headers
  Whole,   ///< all headers, whole
};

/// A header, with what of it was taken.
struct ExtractedHeader {
  std::string Path; ///< as Clang names it
  std::string Name; ///< as it is included
  std::string Text;
};

struct Extraction {
  ExtractLevel Level = ExtractLevel::Least;
  std::string Text;  ///< with a comment where another file begins
  std::string Lines; ///< the same with #line directives in place of those
  std::vector<ExtractedHeader> Headers; ///< of which something was taken
  /// A function for the device, or a kernel, is reached in a header.
  bool DeviceCode = false;
  std::string WhyMore; ///< why not less was kept; empty at the first level
};

/// \p Source was parsed with \p Options. \p Entries are qualified names, "f",
/// "ns::f<float>": the workload's entry and reference. Errors: an entry is
/// defined in no file of the project; or what cannot be carried, by file and
/// line.
llvm::Expected<Extraction> extractEntry(const ParsedSource &Source,
                                        const ParseOptions &Options,
                                        llvm::ArrayRef<std::string> Entries);

/// Whether \p Source includes a header of the project at all.
bool hasProjectHeaders(const ParsedSource &Source, const ParseOptions &Options);

} // namespace stark

#endif
