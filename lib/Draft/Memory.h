//===- Memory.h - Values and where they lie ------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   What a dry run of a source knows: a value, or what is known of one that it
/// has not; objects with the cells that were written; how kernels use them.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_MEMORY_H
#define STARK_LIB_DRAFT_MEMORY_H

#include "Formula.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/SmallVector.h"
#include <climits>
#include <set>

namespace clang {
class FunctionDecl;
class VarDecl;
} // namespace clang

namespace stark::draft {

struct Object;

struct Value {
  enum KindType { Unknown, Integer, Real, Address, Function };
  KindType Kind = Unknown;
  int64_t Number = 0; ///< of an Integer; of a Sum, its terms
  double Floating = 0;
  /// An Integer of ours for one that the program reads; an Unknown that may be
  /// such a one.
  bool WasRead = false;
  bool Fixed = false;   ///< a macro's that kernels are written with
  bool Element = false; ///< an Unknown that is one of Loaded's as it stands
  bool Sum = false;     ///< an Unknown that is a sum of Loaded's as they stand
  /// Of an Integer that is a remainder: its divisor, -1 where that may be
  /// another number; else 0.
  int64_t Wraps = 0;
  bool Ticket = false;  ///< computed of what an atomic operation returned
  std::string Exponent; ///< the size that 2 was raised to; empty: none
  Formula How; ///< of an Integer, or of a Real that is a quotient of some
  Object *To = nullptr;
  int64_t Offset = 0; ///< in bytes
  bool Exact = true;  ///< whether Offset is known
  Formula OffsetHow;
  /// Of an Address in a field of a struct of several types: the bytes of the
  /// outermost such struct, and of these those before the field; 0: of none.
  int64_t Record = 0, InRecord = 0;
  const clang::FunctionDecl *Callee = nullptr;
  /// Of an Unknown, or an Address that is not exact: the arrays that it was
  /// computed of, and the range that it lies in: [Low, High], and below Limit.
  llvm::SmallVector<Object *, 2> Loaded;
  /// By how much it grows with a value of such an array, where that is known
  /// and not 1.
  std::map<Object *, Formula> Strides;
  std::optional<int64_t> Low, High;
  int64_t Step = 1; ///< ... as one of Low, Low + Step, ...
  Formula Limit;

  static Value integer(int64_t Number, Formula How = nullptr) {
    Value V;
    V.Kind = Integer;
    V.Number = Number;
    V.How = How ? std::move(How) : constant(Number);
    return V;
  }
  /// What a program reads that nobody gives it.
  static Value wasRead() {
    Value V = integer(1024);
    V.WasRead = true;
    return V;
  }
  static Value real(double Floating, Formula How = nullptr) {
    Value V;
    V.Kind = Real;
    V.Floating = Floating;
    V.How = std::move(How);
    return V;
  }
  static Value address(Object *To, int64_t Offset = 0,
                       Formula OffsetHow = nullptr) {
    Value V;
    V.Kind = Address;
    V.To = To;
    V.Offset = Offset;
    V.OffsetHow = OffsetHow ? std::move(OffsetHow) : constant(Offset);
    return V;
  }
  bool isInteger() const { return Kind == Integer; }
  bool isAddress() const { return Kind == Address && To; }
  void addLoaded(const Value &Other);
  /// It is \p L and \p R added up: a sum of one array's elements, as of
  /// neighbours, or an element after nothing.
  void addUp(const Value &L, const Value &R);
  void takeLoaded(const Value &Other) {
    Ticket = Other.Ticket;
    Loaded = Other.Loaded;
    Strides = Other.Strides;
  }
  /// What it was computed of is multiplied by \p Factor.
  void scaleLoaded(const Formula &Factor);
};

/// What the host put into an array, as far as samples tell.
struct Contents {
  bool Any = false,
       Unknown = false; ///< Unknown: a value that nothing is known of
  bool Counting = true; ///< each value is its own index
  bool Sparse = false;  ///< stored at places that are not known
  double Least = 0, Most = 0;
  int64_t Step = 0; ///< all values are Least plus multiples of it; 0: Least
  Formula Limit;    ///< all values lie below
  Formula Only;     ///< how the one value follows from sizes; null: not known
  void add(const Value &V, int64_t Index);
  void add(const Contents &Other); ///< what is copied there
};

/// How kernels use an array.
struct Use {
  bool Read = false, Written = false, Atomic = false;
  bool ReadFirst = false; ///< before anything was written to it
  bool Inexact = false;   ///< at places that are not known
  bool Surely = false;    ///< written, whatever values arrays hold
  bool BoundsLoop = false, Adjacent = false;
  bool Scaled = false;      ///< its values are places times something not known
  bool Divides = false;     ///< its values divide something: none is 0
  bool OnHost = false;      ///< by host code
  bool Lowered = false;     ///< by atomicMin()
  int64_t InexactBytes = 0; ///< at once, at a place that is not known
  int64_t Within = 0;   ///< its values are places in as many elements; 0: none
  bool Chooses = false; ///< its values are places in a block's memory
  bool Unordered = false;     ///< written where an atomic operation says
  std::set<int64_t> Compared; ///< numbers that its values may be equal to
  bool SumCompared = false;   ///< sums of its values may be a small number
  int64_t Least = INT64_MAX, Most = INT64_MIN; ///< bytes [Least, Most)
  std::vector<Object *> Indexes;       ///< arrays that its values are places of
  std::map<Object *, Formula> Strides; ///< Value::Strides, of such an array
};

enum class Space { Host, Device, Shared, Variable };

struct Object {
  std::string Name;
  Space Where = Space::Host;
  int64_t Size = -1; ///< bytes; -1: not known
  Formula SizeHow;
  clang::QualType Type; ///< of a variable, or of an array's element
  const clang::VarDecl *Var = nullptr;
  std::map<int64_t, Value> Cells; ///< by offset
  Contents Held;
  Use Used;
  Value Carried; ///< of a block's memory: what its integers come from
  Object *Buffer = nullptr; ///< of a vector: its elements
  /// Of structs of several types: what each field holds and how it is used, by
  /// its offset in the struct.
  std::map<int64_t, Object *> Fields;
  Object *CopyOf = nullptr; ///< of a struct: the array that it was copied from
  unsigned WrittenIn = 0;   ///< the first launch that wrote to it; 0: none
  bool SetBefore = false;   ///< by a copy or a set, before what follows
  bool IsParameter = false; ///< of the entry that is looked at
  bool MadeUp = false;      ///< its fields are made up when they are looked at
};

/// An lvalue.
struct Place {
  Object *To = nullptr; ///< null: nowhere that is known
  int64_t Offset = 0;
  bool Exact = true;
  Formula OffsetHow;
  int64_t Record = 0, InRecord = 0; ///< as Value's
  clang::QualType Type;
  Value Index; ///< what an inexact place was computed of
  explicit operator bool() const { return To; }
};

/// A pointer to \p P, which is somewhere.
Value addressOf(const Place &P);

} // namespace stark::draft

#endif
