//===- Formats.h - The fields of verdicts and counters --------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   verdict, counters and their events, once for print and parse
/// (Json/Fields.h)
///
//===----------------------------------------------------------------------===//

#ifndef STARK_EVAL_FORMATS_H
#define STARK_EVAL_FORMATS_H

#include "stark/Eval/Events.h"
#include "stark/Job/Formats.h"

namespace stark {

/// Of a node or an attempt; -1, where the type has it, is none.
template <class IO, class T>
void treeNumber(IO &F, const char *Name, T &Value) {
  F.required(Name, Value);
  F.check(int64_t(Value) >= -1 && int64_t(Value) <= 1000000, Name,
          "a number of a node or attempt");
}

template <class IO> void fields(IO &F, Verdict &V) {
  F.required("kind", V.Kind);
  F.required("compiler", V.Compiler);
  F.required("run", V.Run);
  F.required("device", V.Device);
  F.sparse("driver", V.Driver, "");
  F.required("modelled", V.Modelled);
  F.sparse("copy_gb_per_s", V.CopyGBs, 0.0);
  F.sparse("event_pair_us", V.EventPairUs, 0.0);
  F.sparse("right_as_shipped", V.RightAsShipped, false);
  F.optional("proved", V.Proved, !V.Proved.empty());
  F.optional("precision", V.Precision, !V.Precision.empty());
  F.optional("profile", V.Counted);
  F.required("timings", V.Timings);
}

template <class IO> void fields(IO &F, Counters &C) {
  F.required("device", C.Device);
  F.required("text", C.Text);
  F.required("problem", C.Problem);
  F.required("too_slow", C.TooSlow);
}

template <class IO> void fields(IO &F, CountersEvent &E) {
  F.required("candidate", E.Candidate);
  treeNumber(F, "attempt", E.Attempt);
  treeNumber(F, "node", E.Node);
  fields(F, E.Found);
}

template <class IO> void fields(IO &F, VerdictEvent &E) {
  F.required("candidate", E.Candidate);
  treeNumber(F, "attempt", E.Attempt);
  treeNumber(F, "node", E.Node);
  F.required("purpose", E.Purpose);
  F.required("verdict", E.Found);
}

} // namespace stark

#endif
