//===- Tiles.h - What a kernel's text says of its block ---------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Where nobody says how many threads a block has, the tiles of the kernel
/// do, and its launch bounds.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_TILES_H
#define STARK_LIB_DRAFT_TILES_H

#include "EntryUse.h"

namespace stark::draft {

/// The block that \p Kernel asks for, threads of which \p Seen has followed.
/// False, and nothing changed, where it says nothing of it.
bool takeBlockOf(const Machine &Seen, const clang::FunctionDecl *Kernel,
                 Formula (&Block)[3]);

/// The sides of a block for \p Kernel, threads of which \p Seen has followed:
/// what it asks for, else the usual ones.
void blockSides(const Machine &Seen, const clang::FunctionDecl *Kernel,
                int64_t (&Sides)[3]);

/// The one size that an entry is given; null where there are several.
Formula onlySize(const EntryUse &Use);

/// Whether \p Grid is of numbers of ours that nothing else of \p Use is of: it
/// says nothing.
bool isOnlyOurs(const EntryUse &Use, const Formula &Grid);

/// Sides of a grid and of a block that are arguments of an entry: the block is
/// what the kernel asks for, else the usual one, and there are as many as its
/// guards ask for.
void settleDimensions(const EntryUse &Use,
                      std::map<std::string, Formula> &Settled);

/// Numbers for the names that blocks of \p Host are made of and that the
/// program reads or nobody gives.
BlockNumbers blockNumbers(clang::ASTContext &Context,
                          const std::set<std::string> &Fixed,
                          const Machine &Host);

} // namespace stark::draft

#endif
