//===- Formats.h - The fields of replies ----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   reply, its event and what came to nothing, once for print and parse
/// (Json/Fields.h)
/// What the provider did not say is left out, never written as 0.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LLM_FORMATS_H
#define STARK_LLM_FORMATS_H

#include "stark/Json/Fields.h"
#include "stark/LLM/Transcript.h"

namespace stark {

template <class IO> void fields(IO &F, Usage &U) {
  F.optional("input", U.Input);
  F.optional("cache_read", U.CacheRead);
  F.optional("cache_write", U.CacheWrite);
  F.optional("output", U.Output);
  F.optional("reasoning", U.Reasoning);
}

template <class IO> void fields(IO &F, DiscardedAnswers &D) {
  F.required("answers", D.Answers);
  F.check(D.Answers >= 1 && D.Answers <= 1000, "answers", "1 to 1000");
  F.required("input", D.Input);
  F.required("output", D.Output);
  F.required("estimated", D.Estimated);
  F.optional("cost_micro_usd", D.CostMicroUsd);
}

template <class IO> void fields(IO &F, ChatReply &R) {
  F.required("applied", R.Applied);
  F.required("model", R.Model);
  F.required("provider", R.Provider);
  F.required("stop", R.Stop);
  F.required("stop_detail", R.StopDetail);
  F.required("wall_ms", R.WallMs);
  F.optional("cost_micro_usd", R.CostMicroUsd);
  F.optional("discarded", R.Discarded, R.Discarded.Answers > 0);
  F.required("usage", R.Tokens);
}

template <class IO> void fields(IO &F, ReplyEvent &E) {
  F.required("id", E.Id);
  F.required("digest", E.Digest);
  F.required("file", E.File);
  F.check(isReplyFile(E.File), "file", "replies/ID.md");
  F.required("text_digest", E.TextDigest);
  F.required("reply", E.Reply);
}

} // namespace stark

#endif
