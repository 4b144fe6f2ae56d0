//===- Formula.h - How an integer follows from named ones ----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   (n + 255) / 256 -> "ceildiv(n, 256)": a workload's expression
/// Formulas are simplified as they are made.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_FORMULA_H
#define STARK_LIB_DRAFT_FORMULA_H

#include "stark/Task/Expression.h"
#include <functional>
#include <memory>
#include <set>

namespace stark::draft {

enum class Op {
  Constant,
  Name,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  CeilDiv,
  Min,
  Max,
  Quotient, ///< of real numbers
  /// Computed of Pins in a way that no expression says: its value is Number
  /// while they are what they were.
  Opaque
};

struct Term;
using Formula = std::shared_ptr<const Term>;

struct Term {
  Op Kind = Op::Constant;
  int64_t Number = 0;
  std::string Name;
  Formula Left, Right;
  std::set<std::string> Pins;
  unsigned Terms = 1;
};

Formula constant(int64_t Value);
Formula named(const std::string &Name);
/// Of whole numbers that are not negative, as sizes are. Null when an operand
/// is, or when it would be too long for anybody to read.
Formula combine(Op Kind, Formula Left, Formula Right);
Formula opaque(int64_t Value, Formula Left, Formula Right = nullptr);

/// Null for null.
bool isConstant(const Formula &F);
bool isName(const Formula &F);
/// All names; those below Opaque as well in \p Pinned, if given.
void collectNames(const Formula &F, std::set<std::string> &All,
                  std::set<std::string> *Pinned = nullptr);
bool hasNames(const Formula &F);
Formula substitute(const Formula &F,
                   const std::function<Formula(const std::string &)> &With);
/// No value: a name is unknown, or what C leaves undefined.
std::optional<int64_t> evaluate(const Formula &F, const Bindings &Names);
std::string print(const Formula &F);
/// Of a grid or a block, "ceildiv(n, 256), rows": without axes of 1 at the end,
/// \p Otherwise for a first one that is not known.
std::string printTriple(const Formula (&Axes)[3], const char *Otherwise);
/// What the product \p F consists of, constants first; F itself when it is
/// none.
std::vector<Formula> factors(const Formula &F);

} // namespace stark::draft

#endif
