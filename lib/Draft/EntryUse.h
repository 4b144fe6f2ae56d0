//===- EntryUse.h - What an entry does with its arguments ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   entry + the arguments that the program gives it -> a dry run of the entry
/// on arrays of its own -> how each is used
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_ENTRYUSE_H
#define STARK_LIB_DRAFT_ENTRYUSE_H

#include "Machine.h"
#include "stark/AST/Signature.h"
#include <functional>

namespace stark::draft {

/// A parameter, or a field of a by-value struct.
struct LeafUse {
  const Parameter *P = nullptr;
  clang::QualType Type;
  Value Given;             ///< by the program, or made up
  bool MadeUp = false;     ///< nothing is known of what it is given
  Object *Array = nullptr; ///< of a pointer: stands for what it points to
  Formula Bytes;           ///< of the array, as the program allocates it
  Formula Ahead;           ///< bytes of it before the pointer; null: none
  bool OneOfParts = false; ///< other launches are given other places of it
  bool PartLeft = false;   ///< threads reach no more than half of it
  bool TurnsOn = false;    ///< at 0 the entry writes nothing
};

/// A variable of the device that an entry uses.
struct SymbolUse {
  const clang::VarDecl *V = nullptr;
  Use Used;         ///< by the entry
  Contents Held;    ///< what the host puts there
  bool Set = false; ///< by the host, before a launch
  bool Got = false; ///< by the host, after one
};

struct EntryUse {
  const clang::FunctionDecl *F = nullptr;
  Signature Entry;
  std::vector<LeafUse> Leaves;
  bool Recorded = false;        ///< the program calls it
  bool MadeUp = false;          ///< ... from where nothing calls
  std::unique_ptr<Machine> Run; ///< of the entry alone
  Formula Grid[3], Block[3], Shared;
  bool GridGuessed = false, BlockGuessed = false;
  Formula Limits[3]; ///< what guards of the whole index ask for along an axis
  Bindings Names;    ///< what formulas consist of
  std::set<std::string> ReadNames;   ///< of these: what the program reads
  std::set<std::string> MadeUpNames; ///< of these: what nobody gives a value
  std::map<std::string, std::string> Powers; ///< of these: 2 to another
  std::vector<SymbolUse> Symbols;
  bool Followed = false; ///< some array was seen to be used
  /// What arguments of ours are, by their names: of a grid and a block that the
  /// entry is given.
  std::map<std::string, Formula> Settled;
  /// What settings of which nothing is known are, by their parameters' names.
  Bindings Forced;
  /// Follows the entry once more, with other numbers for its sizes.
  std::function<std::unique_ptr<EntryUse>(const Bindings &)> Repeat;
  /// With other numbers for the sizes that nobody gives: what follows from them
  /// follows in both. Null where there are none.
  std::unique_ptr<EntryUse> Again;
};

/// How \p Entry used the variable \p V, and what \p Host does with it, which
/// may be null.
SymbolUse symbolUse(const clang::VarDecl *V, const Machine &Entry,
                    const Machine *Host);

/// The array of \p L holds what the host put into \p Of; one that holds a size,
/// that size. \p Instead: other numbers for sizes, or null.
void holdWhat(Machine &M, LeafUse &L, const Object &Of,
              const Bindings *Instead);
/// The size that a whole number in an array of its own is; null: none.
Formula sizeIn(const LeafUse &L);

/// \p Call: of a host function; \p L: of a kernel; both null: neither is seen.
std::unique_ptr<EntryUse> useOf(clang::ASTContext &Context,
                                const std::set<std::string> &Fixed,
                                Signature Entry, const clang::FunctionDecl *F,
                                const HostCall *Call, const Launch *L,
                                const Machine *Host, bool Twice);

/// By the entry, as far as it was seen.
inline bool isUsed(const LeafUse &L) {
  return L.Array && (L.Array->Used.Read || L.Array->Used.Written);
}

/// The array of \p L, where it is one, and what stands for each field of it.
std::vector<Object *> objectsOf(const LeafUse &L);

/// What values of fields choose counts for their arrays as well.
void addFieldUse(EntryUse &Use);

/// A scalar of whole numbers, bool not among them.
bool isWhole(const Parameter &P);

/// Settings without which \p Use writes nothing are 1. \p Without: the entry
/// with other values for some.
Bindings turnedOn(
    const EntryUse &Use,
    llvm::function_ref<std::unique_ptr<EntryUse>(const Bindings &)> Without);

/// Of a real number that nobody gives, and that is an end of a range by its
/// name and another's ("lo", "hi"): which. Where values choose places by it, as
/// the bin of a histogram, the range has all that normal ones come to.
std::optional<double> endOfRange(const EntryUse &Use, const LeafUse &L);

/// The scalars of \p L that a value chooses at once: 4 of a float4.
int64_t scalarsAtOnce(const LeafUse &L);

/// Other numbers for the sizes of \p Use that nobody gives, as far as what
/// follows from them can be said. Empty where there are none.
Bindings otherSizes(const EntryUse &Use);
Bindings unlikeSizes(const EntryUse &Use);

/// So far apart that a product of some tells which, and multiples of any block;
/// few for a \p Name of a handful.
int64_t inventedSize(int I, llvm::StringRef Name = "");
/// An integer that is no extent of anything, by its name.
bool isSetting(llvm::StringRef Name);
/// Of an image: a few, and no size to choose.
bool isChannels(llvm::StringRef Name);
/// A size that is a handful where others are thousands: a filter's, for one.
bool isHandful(llvm::StringRef Name);
/// One of the sides of a tensor, where it is told how many these are; else a
/// size.
bool isSide(llvm::StringRef Name);
/// How many sides a tensor has: one is enough.
bool isRank(llvm::StringRef Name);
/// From one row to the next: no less than what a row holds.
bool isPitch(llvm::StringRef Name);
/// By how much a filter moves on, where there is one.
bool isStride(llvm::StringRef Name);
/// What the rows of a sparse matrix or a graph hold in all.
bool isCountOfEntries(llvm::StringRef Name);
/// The threads of a block.
bool isBlockSize(llvm::StringRef Name);
/// "params.dims[0]" -> "params_dims_0": a name that expressions can use.
std::string sizeName(llvm::StringRef Name);
bool isOneOf(llvm::StringRef Name, std::initializer_list<llvm::StringRef> Words,
             std::initializer_list<llvm::StringRef> Prefixes = {});

} // namespace stark::draft

#endif
