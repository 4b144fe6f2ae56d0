//===- EntryUsed.h - Of a launcher and its kernel the one meant -*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A launcher is often named as its kernel is: whether a name stands for the
/// one or the other is said by how the entry is used.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_ENTRYUSED_H
#define STARK_AST_ENTRYUSED_H

#include "llvm/Support/Error.h"
#include <string>

namespace stark {

class ParsedSource;
struct Signature;

enum class EntryUsed {
  Called,   ///< of two of one name the host function, else the kernel
  Launched, ///< the kernel, by a launch rule
};

inline EntryUsed entryUsed(bool ByLaunchRule) {
  return ByLaunchRule ? EntryUsed::Launched : EntryUsed::Called;
}

/// findEntry() of Signature.h, which is that of an entry that is called.
llvm::Expected<Signature> findEntry(const ParsedSource &Source,
                                    llvm::StringRef Entry, EntryUsed As);

/// The type of a pointer to \p Entry where a kernel and a host function have
/// its name, which tells them apart: "void (*)(float *, int)". Empty where it
/// has one of its own.
std::string entryPointer(const ParsedSource &Source, llvm::StringRef Entry,
                         EntryUsed As);

} // namespace stark

#endif
