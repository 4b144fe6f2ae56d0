//===- Headers.h - Headers that an entry names ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   header's path <-> how another checkout finds it
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_CACHE_HEADERS_H
#define STARK_LIB_CACHE_HEADERS_H

#include "CacheKey.h"
#include "Entry.h"

namespace stark {

/// How an entry names \p File: relative to the deepest of the source's folder
/// and the include folders that holds it. A name on the include path is looked
/// up along that path, so that a header which now comes first is seen.
llvm::Expected<StoredHeader> nameHeader(llvm::StringRef File,
                                        llvm::StringRef SourceFolder,
                                        const BuildFlags &Flags);

/// Finds \p Headers as they are now and puts their names into \p Found; what is
/// wrong with the first that is not what it was.
std::optional<MissReason> checkHeaders(llvm::ArrayRef<StoredHeader> Headers,
                                       const CacheInputs &In,
                                       const KeyParts &Now,
                                       std::vector<std::string> &Found);

} // namespace stark

#endif
