//===- TextsAhead.h - Host code and kernels of texts, read in children ----===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   a text that a model wrote -> a child with limits -> its halves
/// A text may be begun before it is known whether it is
/// wanted: nothing of it is compiled or run here.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_TEXTSAHEAD_H
#define STARK_LIB_EVAL_TEXTSAHEAD_H

#include "stark/AST/Halves.h"
#include "stark/Task/Task.h"
#include <future>
#include <map>
#include <mutex>

namespace stark {

struct TakenApart {
  std::optional<Halves> Apart;
  std::string WhyNot; ///< where Apart is unset
  std::string Errors; ///< Clang's, as a compiler prints them
};

/// Errors: \p Text cannot be read at all, or the user interrupted. What takes
/// too much time or memory, or crashes, is not taken apart.
llvm::Expected<TakenApart>
takeApartInChild(const Task &Of, llvm::StringRef Text,
                 llvm::ArrayRef<std::string> TorchFolders,
                 KernelsOfHost Kernels);

class TextsAhead {
public:
  /// \p Of, of an entry of tensors, has to outlive this.
  void begin(const Task &Of, const std::string &Text, KernelsOfHost Kernels);
  /// What takeApartInChild() says, which may have been asked before.
  llvm::Expected<TakenApart> take(const Task &Of, const std::string &Text,
                                  llvm::ArrayRef<std::string> TorchFolders,
                                  KernelsOfHost Kernels);

private:
  using Key = std::pair<KernelsOfHost, std::string>;
  using Answer = std::optional<TakenApart>;
  std::mutex Guard;
  std::map<Key, std::future<Answer>> Begun;
};

} // namespace stark

#endif
