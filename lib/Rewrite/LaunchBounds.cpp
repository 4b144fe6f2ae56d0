//===- LaunchBounds.cpp - The largest block that is launched --------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Applies to a kernel whose launches are all in the file with constant block
/// sizes: `__launch_bounds__` with the largest.
///
/// Faster, because the compiler need not leave registers for blocks of 1024
/// threads.
///
/// Kept: everything. Refused where another launch could be larger: one that is
/// not constant, or that another file may make.
///
//===----------------------------------------------------------------------===//

#include "Catalogue.h"
#include "Facts.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"

using namespace stark;
using namespace clang;

namespace {
class LaunchBounds : public Rewrite {
public:
  llvm::StringRef name() const override { return "launch-bounds"; }
  llvm::StringRef summary() const override {
    return "tell the compiler the largest block that is launched";
  }
  void prepare(const Facts &F, Findings &Out) const override {
    for (const Kernel &K : F.kernels()) {
      if (K.F->hasAttr<CUDALaunchBoundsAttr>())
        continue;
      std::string Why =
          K.LaunchedElsewhere.empty() ? K.Problem : K.LaunchedElsewhere;
      if (Why.empty() && K.Launches.empty())
        Why = "no launch of it is in this file";
      if (Why.empty() &&
          (!K.F->isFirstDecl() || K.F->getMostRecentDecl() != K.F))
        Why = "it is declared before it is defined";
      uint64_t Largest = 0;
      for (const Launch *L : K.Launches) {
        if (!L->BlockSize)
          Why = "the block size of a launch is no constant";
        else
          Largest = std::max(Largest, (*L->BlockSize)[0] * (*L->BlockSize)[1] *
                                          (*L->BlockSize)[2]);
      }
      if (Why.empty() && (Largest == 0 || Largest > 1024))
        Why = "its blocks have " + std::to_string(Largest) +
              " threads, which no GPU runs";
      size_t Name =
          F.context().getSourceManager().getFileOffset(K.F->getLocation());
      if (Why.empty() &&
          (!F.context().getSourceManager().isInMainFile(K.F->getLocation()) ||
           !K.Bytes.contains(Range{Name, Name + 1})))
        Why = "its name is written in a macro";
      if (!Why.empty()) {
        Out.refuse(K.name(), K.At->Line, Why);
        continue;
      }
      Match M;
      M.Site = K.name();
      M.Line = K.At->Line;
      M.Sites = {K.name()};
      M.Promise = 20;
      M.Title = "Declare the largest block";
      M.Advice = "'" + K.name() + "' is launched with at most " +
                 std::to_string(Largest) +
                 " threads a block. Say so with __launch_bounds__, so that the "
                 "compiler may use the registers that this leaves.";
      Out.offer(std::move(M),
                std::vector<Edit>{
                    {{Name, Name},
                     "__launch_bounds__(" + std::to_string(Largest) + ") "}});
    }
  }
};
} // namespace

std::unique_ptr<const Rewrite> stark::makeLaunchBounds() {
  return std::make_unique<LaunchBounds>();
}
