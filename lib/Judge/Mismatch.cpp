//===- Mismatch.cpp - A wrong output as a programmer wants it told -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   first bad index, got, wanted, how many of how many
///
//===----------------------------------------------------------------------===//

#include "stark/Judge/Compare.h"
#include <cstdio>

using namespace stark;
using namespace stark::job;
using namespace stark::judge;

static std::string number(double Value) {
  char Text[40];
  std::snprintf(Text, sizeof(Text), "%.9g", Value);
  return Text;
}

/// "y[3][17] (flat 3089)": the index along each dimension.
static std::string place(const Leaf &L, const LeafValue &V, uint64_t Flat) {
  std::string Indices;
  uint64_t Rest = Flat;
  for (size_t I = V.Shape.size(); I-- > 0;) {
    Indices = "[" + std::to_string(Rest % uint64_t(V.Shape[I])) + "]" + Indices;
    Rest /= uint64_t(V.Shape[I]);
  }
  std::string Out = L.Name + Indices;
  return V.Shape.size() > 1 ? Out + " (flat index " + std::to_string(Flat) + ")"
                            : Out;
}

std::string judge::describeMismatch(const Leaf &L, const LeafValue &V,
                                    const Comparison &C,
                                    const std::string &Where, double Scale) {
  char Share[16];
  std::snprintf(Share, sizeof(Share), "%.3g",
                100.0 * double(C.Mismatches) / double(C.Count));
  std::string Elements =
      isComplex(L.Type) ? " real and imaginary parts" : " elements";
  std::string Text = "output '" + L.Name + "' is wrong (" + Where + ").\n" +
                     std::to_string(C.Mismatches) + " of " +
                     std::to_string(C.Count) + Elements + " (" + Share +
                     " %) differ from the source's.\n" +
                     "First: " + place(L, V, C.FirstBad) + " = " +
                     number(C.Got) + ", wanted " + number(C.Wanted) + ".\n";
  if (C.Unwritten)
    Text += std::to_string(C.Unwritten) + Elements +
            " were never written; they still hold the pattern that "
            "outputs are filled with before a call.\n";
  if (!isWhole(L.Type))
    Text +=
        "Allowed: |got - wanted| <= " + number(L.Tolerance) + " * (" +
        (Scale > 0 ? number(Scale) : "rms of the row") + " + |wanted|)" +
        (Scale > 0 ? ", and wanted is what the source itself returned" : "") +
        (C.WorstError > 0 ? "; the worst element is at " +
                                number(C.WorstError) + " times that.\n"
                          : ".\n");
  return Text;
}
