//===- Guard.cpp - Where a winner was proved  ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Task/Guard.h"
#include "EntryLeaves.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace stark;

namespace {
class GuardWriter {
public:
  explicit GuardWriter(const Task &T)
      : T(T), Parameters(leavesOf(T.Entry)), Leaves(makeLeaves(T)) {}

  llvm::Expected<Guard> run() {
    llvm::Expected<std::vector<job::Case>> All = makeCases(T);
    if (!All)
      return All.takeError();
    for (job::Case &C : *All)
      if (!C.Added && C.Filling == job::Regime::Given)
        Cases.push_back(std::move(C));
    if (!T.Entry.Symbols.empty())
      return failed("'" + T.Entry.Name +
                    "' reads variables of the device that its host sets, "
                    "which a winner has not");
    for (const Argument &A : T.Load.Arguments)
      if (!A.Before.empty())
        return failed("argument '" + A.Name +
                      "' has elements before it, which are not looked at at "
                      "run time");
    for (size_t I = 0; I < Parameters.size(); ++I)
      if (std::string Why = problem(*Parameters[I]); !Why.empty())
        return failed("argument '" + Parameters[I]->Name + "' " + Why);
    always();
    if (T.Load.Range == Envelope::Between) {
      if (std::string Why = between(); !Why.empty())
        return failed(Why);
    } else {
      exactly();
    }
    return Guard{std::move(Text), std::move(Covers)};
  }

private:
  std::string problem(const Parameter &P) const;
  void always();
  void exactly();
  std::string between();
  std::string apart(size_t I, size_t J, uint64_t Bytes, uint64_t Others) const;
  std::string value(size_t I, const job::LeafValue &V) const;
  std::string shape(size_t I, const job::LeafValue &V) const;
  uint64_t bytes(size_t I, const job::LeafValue &V) const {
    return V.elements() * job::dtypeBytes(Leaves[I].Type);
  }
  bool isBuffer(size_t I) const {
    return I < Parameters.size() &&
           Parameters[I]->Kind == ParameterKind::Pointer;
  }
  void both(const std::string &Condition) {
    Text += (Text.empty() ? "" : " &&\n       ") + Condition;
  }

  const Task &T;
  std::vector<const Parameter *> Parameters;
  std::vector<job::Leaf> Leaves;
  std::vector<job::Case> Cases;
  std::string Text, Covers;
};
} // namespace

/// Why no condition can be made of \p P.
std::string GuardWriter::problem(const Parameter &P) const {
  switch (P.Kind) {
  case ParameterKind::Pointer:
  case ParameterKind::Stream:
  case ParameterKind::Tensor:
    return "";
  case ParameterKind::Scalar:
    return P.Element == ScalarType::F16 || P.Element == ScalarType::BF16
               ? "is a number of 16 bits, which is not compared at run time"
               : "";
  default:
    return "has the type '" + P.Type + "', which is not looked at at run time";
  }
}

/// What holds for every size.
void GuardWriter::always() {
  for (size_t I = 0; I < Parameters.size(); ++I) {
    const std::string &Name = Parameters[I]->Name;
    if (isBuffer(I)) {
      both("stark_aligned(" + Name + ")");
    } else if (Parameters[I]->Kind == ParameterKind::Tensor) {
      both(Name + ".is_cuda() && " + Name + ".get_device() == stark_device()");
      both(Name + ".scalar_type() == " + job::atenName(Leaves[I].Type) +
           " && " + Name + ".is_contiguous()");
      both("stark_aligned(" + Name + ".data_ptr())");
    }
  }
}

/// Scalar \p I is what it was.
std::string GuardWriter::value(size_t I, const job::LeafValue &V) const {
  const Parameter &P = *Parameters[I];
  std::string Condition;
  llvm::raw_string_ostream OS(Condition);
  if (!isReal(P)) {
    OS << "(long long)" << P.Name << " == " << V.Integer << "LL";
  } else if (P.Element == ScalarType::F32) {
    OS << P.Name << " == (float)" << llvm::format("%.17g", V.Real);
  } else {
    OS << P.Name << " == (double)" << llvm::format("%.17g", V.Real);
  }
  return Condition;
}

std::string GuardWriter::shape(size_t I, const job::LeafValue &V) const {
  const std::string &Name = Parameters[I]->Name;
  std::string Condition = Name + ".dim() == " + std::to_string(V.Shape.size());
  for (size_t D = 0; D < V.Shape.size(); ++D)
    Condition += " && " + Name + ".size(" + std::to_string(D) +
                 ") == " + std::to_string(V.Shape[D]);
  return Condition;
}

/// The judge's buffers lie apart; empty when both are only read.
std::string GuardWriter::apart(size_t I, size_t J, uint64_t Bytes,
                               uint64_t Others) const {
  if (!isBuffer(I) || !isBuffer(J) ||
      (Leaves[I].Use == job::Role::Input && Leaves[J].Use == job::Role::Input))
    return "";
  return "stark_apart(" + Parameters[I]->Name + ", " + std::to_string(Bytes) +
         ", " + Parameters[J]->Name + ", " + std::to_string(Others) + ")";
}

void GuardWriter::exactly() {
  std::vector<std::string> Any;
  for (const job::Case &C : Cases) {
    std::string All;
    auto Add = [&](const std::string &Condition) {
      if (!Condition.empty())
        All += (All.empty() ? "" : " && ") + Condition;
    };
    for (size_t I = 0; I < Parameters.size(); ++I) {
      if (Parameters[I]->Kind == ParameterKind::Scalar)
        Add(value(I, C.Values[I]));
      else if (Parameters[I]->Kind == ParameterKind::Tensor)
        Add(shape(I, C.Values[I]));
      for (size_t J = I + 1; J < Parameters.size(); ++J)
        Add(apart(I, J, bytes(I, C.Values[I]), bytes(J, C.Values[J])));
    }
    if (!All.empty() && !llvm::is_contained(Any, All))
      Any.push_back(All);
    Covers += (Covers.empty() ? "" : "; ") + C.Label;
  }
  std::string Joined;
  for (const std::string &One : Any)
    Joined += (Joined.empty() ? "((" : ") ||\n        (") + One;
  both(Joined.empty() ? "true" : Joined + "))");
}

/// From the least to the greatest of each size, in steps of what divides all.
std::string GuardWriter::between() {
  for (size_t I = 0; I < Parameters.size(); ++I) {
    const Parameter &P = *Parameters[I];
    if (P.Kind == ParameterKind::Tensor)
      return "the envelope 'between' is not known of tensors";
    uint64_t Largest = 0;
    for (const job::Case &C : Cases)
      if (isBuffer(I))
        Largest = std::max(Largest, bytes(I, C.Values[I]));
    for (size_t J = I + 1; J < Parameters.size(); ++J) {
      uint64_t Others = 0;
      for (const job::Case &C : Cases)
        if (isBuffer(J))
          Others = std::max(Others, bytes(J, C.Values[J]));
      if (std::string Apart = apart(I, J, Largest, Others); !Apart.empty())
        both(Apart);
    }
    if (P.Kind != ParameterKind::Scalar)
      continue;
    bool Same = llvm::all_of(Cases, [&](const job::Case &C) {
      return value(I, C.Values[I]) == value(I, Cases.front().Values[I]);
    });
    if (Same) {
      both(value(I, Cases.front().Values[I]));
      continue;
    }
    auto A = llvm::find_if(T.Load.Arguments, [&](const Argument &Given) {
      return Given.Name == P.Name;
    });
    if (isReal(P) || A == T.Load.Arguments.end() ||
        !T.Load.Sizes.front().Names.count(A->Value))
      return "with the envelope 'between' argument '" + P.Name +
             "' has to be one of the sizes or the same for all of them";
    int64_t Least = INT64_MAX, Greatest = INT64_MIN, Step = 0;
    for (const job::Case &C : Cases) {
      int64_t V = C.Values[I].Integer;
      Least = std::min(Least, V);
      Greatest = std::max(Greatest, V);
      Step = std::gcd(Step, V);
    }
    std::string Name = "(long long)" + P.Name;
    both(Name + " >= " + std::to_string(Least) + "LL && " + Name +
         " <= " + std::to_string(Greatest) + "LL && " + Name + " % " +
         std::to_string(std::max<int64_t>(Step, 1)) + " == 0");
    Covers += (Covers.empty() ? "" : "; ") + A->Value + " from " +
              std::to_string(Least) + " to " + std::to_string(Greatest) +
              ", multiples of " + std::to_string(std::max<int64_t>(Step, 1));
  }
  if (Text.empty())
    Text = "true";
  return "";
}

llvm::Expected<Guard> stark::makeGuard(const Task &T) {
  return GuardWriter(T).run();
}
