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

namespace stark {

enum class EntryUsed {
  Called,   ///< of two of one name the host function, else the kernel
  Launched, ///< the kernel, by a launch rule
};

} // namespace stark

#endif
