//===- SizeNames.cpp - Sizes that nobody gives a number -------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   what a parameter is called -> a size, a setting, a block -> a number
///
//===----------------------------------------------------------------------===//

#include "EntryUse.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;
using namespace stark::draft;

std::string draft::sizeName(llvm::StringRef Name) {
  std::string Out;
  for (char C : Name)
    if (llvm::isAlnum(C))
      Out += C;
    else if (C != ']')
      Out += '_';
  return Out;
}

bool draft::isOneOf(llvm::StringRef Name,
                    std::initializer_list<llvm::StringRef> Words,
                    std::initializer_list<llvm::StringRef> Prefixes) {
  std::string Field = Name.substr(Name.rfind('.') + 1).lower();
  llvm::StringRef Bare = llvm::StringRef(Field).trim('_');
  for (llvm::StringRef Prefix : {"d_", "dev_", "h_", "p_"})
    Bare.consume_front(Prefix);
  return llvm::is_contained(Words, Bare) ||
         llvm::any_of(Prefixes,
                      [&](llvm::StringRef P) { return Bare.starts_with(P); });
}

bool draft::isChannels(llvm::StringRef Name) {
  return isOneOf(Name, {"channels", "nchannels", "num_channels", "n_channels",
                        "numchannels"});
}

bool draft::isRank(llvm::StringRef Name) {
  return isOneOf(Name, {"num_dims", "numdims", "n_dims", "ndims", "ndim",
                        "num_dim", "rank", "dims_count"});
}

bool draft::isSide(llvm::StringRef Name) { return isOneOf(Name, {"dim"}); }

bool draft::isPitch(llvm::StringRef Name) {
  std::string Field = Name.substr(Name.rfind('.') + 1).lower();
  llvm::StringRef Bare = Field;
  return isOneOf(Name, {"ld", "stride"}, {"pitch", "leading"}) ||
         (Bare.size() == 3 && Bare.starts_with("ld")) ||
         Bare.ends_with("pitch") || Bare.ends_with("_stride") ||
         Bare.starts_with("ld_");
}

bool draft::isStride(llvm::StringRef Name) {
  return isOneOf(Name, {"stride", "strides", "stridex", "stridey"},
                 {"stride_"});
}

bool draft::isCountOfEntries(llvm::StringRef Name) {
  return isOneOf(Name, {"edges", "nedges", "m_nnz"},
                 {"nnz", "num_nnz", "n_nnz", "nonzero", "num_nonzero",
                  "num_edges", "n_edges", "numedges", "numnonzero"});
}

bool draft::isSetting(llvm::StringRef Name) {
  return llvm::StringRef(Name.lower()).ends_with("offset") ||
         isOneOf(Name,
                 {"axis", "seed", "flag", "flags", "mode", "causal", "offset",
                  "pad", "padding", "debug", "device", "step", "type", "op",
                  "start", "stream"},
                 {"is_", "use_", "has_", "do_", "enable", "pad_"});
}

bool draft::isHandful(llvm::StringRef Name) {
  return isOneOf(
      Name,
      {"radius",        "halo",         "ksize",        "filter_radius",
       "fsize",         "filter_size",  "filtersize",   "filterradius",
       "filter_w",      "filter_h",     "kernel_size",  "kernelsize",
       "kernel_radius", "kernelradius", "window",       "window_size",
       "windowsize",    "win_size",     "mask_size",    "masksize",
       "mask_width",    "maskwidth",    "filter_width", "filterwidth",
       "dilation",      "factor",       "order",        "levels",
       "iters",         "iterations",   "niter",        "num_iterations"});
}

bool draft::isBlockSize(llvm::StringRef Name) {
  return isOneOf(Name, {"threads", "nthreads", "n_threads", "num_threads",
                        "block_size", "blocksize", "block_dim", "blockdim",
                        "threadsperblock", "threads_per_block"});
}

int64_t draft::inventedSize(int I, llvm::StringRef Name) {
  static constexpr int64_t Handfuls[] = {29, 37, 53, 61};
  if (isHandful(Name))
    return Handfuls[I % 4];
  // No row is longer than what it is told to lie in.
  static constexpr int64_t Pitches[] = {29, 31, 37, 41};
  if (isPitch(Name))
    return 1024 * Pitches[I % 4];
  static constexpr int64_t Odd[] = {3, 5, 7, 11, 13, 17, 19, 23};
  return 1024 * Odd[I % 8];
}

Bindings draft::otherSizes(const EntryUse &Use) {
  static constexpr int64_t Sizes[] = {11, 19, 5, 23, 3, 17, 7, 13},
                           Handfuls[] = {41, 31, 47, 43},
                           Pitches[] = {37, 29, 41, 31};
  std::set<std::string> MadeUp, All, Pinned;
  auto Pin = [&](const Formula &F) { collectNames(F, All, &Pinned); };
  for (const LeafUse &L : Use.Leaves) {
    if (!L.Array && L.MadeUp && isName(L.Given.How))
      MadeUp.insert(L.Given.How->Name);
    Pin(L.Given.isInteger() ? L.Given.How : nullptr);
    Pin(L.Bytes);
  }
  for (const auto &[Name, Number] : Use.Run->Choices)
    Pinned.insert(Name);
  for (int I = 0; I < 3; ++I) {
    Pin(Use.Grid[I]);
    Pin(Use.Block[I]);
  }
  Bindings Others = Use.Names;
  size_t Next = 0;
  for (auto &[Name, Number] : Others)
    if (!Pinned.count(Name) &&
        (MadeUp.count(Name) || Use.MadeUpNames.count(Name) ||
         Use.ReadNames.count(Name)))
      Number = isHandful(Name) ? Handfuls[Next++ % 4]
               : isPitch(Name) ? 1024 * Pitches[Next++ % 4]
                               : 1024 * Sizes[Next++ % std::size(Sizes)];
  return Next ? Others : Bindings();
}

/// The program's sizes, each times another number, so that no two are the same
/// because they were. Empty where there are no two.
Bindings draft::unlikeSizes(const EntryUse &Use) {
  // No product of two is near to another.
  static constexpr int64_t Times[] = {2, 6, 30, 210}, Least = 64;
  std::set<std::string> All, Pinned;
  for (const LeafUse &L : Use.Leaves) {
    collectNames(L.Bytes, All, &Pinned);
    collectNames(L.Given.isInteger() ? L.Given.How : nullptr, All, &Pinned);
  }
  for (int I = 0; I < 3; ++I) {
    collectNames(Use.Grid[I], All, &Pinned);
    collectNames(Use.Block[I], Pinned);
  }
  for (const auto &[Name, Number] : Use.Run->Choices)
    Pinned.insert(Name);
  Bindings Others = Use.Names;
  size_t Next = 0;
  for (auto &[Name, Number] : Others)
    if (All.count(Name) && !Pinned.count(Name) && Number >= Least)
      Number *= Times[Next++ % std::size(Times)];
  return Next > 1 ? Others : Bindings();
}
