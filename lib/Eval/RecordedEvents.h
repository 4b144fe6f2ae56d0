//===- RecordedEvents.h - What a run recorded ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   journal of a run -> the events of one type
/// For replays of a judge, which need no more of a run than that.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_RECORDEDEVENTS_H
#define STARK_LIB_EVAL_RECORDEDEVENTS_H

#include "stark/Eval/Formats.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Journal.h"

namespace stark {

/// The name of \p RunFolder's journal.
inline std::string journalOf(llvm::StringRef RunFolder) {
  return (RunFolder + "/journal.jsonl").str();
}

/// Hands each \p Event to \p Take(Event). There must be a journal.
template <class Event, class Json, class Function>
llvm::Error forEachEvent(llvm::StringRef RunFolder, Function Take) {
  std::string File = journalOf(RunFolder);
  if (llvm::Expected<std::string> There = readFile(File); !There)
    return There.takeError();
  llvm::Expected<JournalContent> Content = readJournal(File);
  if (!Content)
    return Content.takeError();
  for (const JournalEvent &Line : Content->Events) {
    if (Line.Type != Event::Type)
      continue;
    std::string Where = File + ", event " + std::to_string(Line.Number);
    Event E;
    if (std::string Problem = readKnownFields(
            Json::parse(Line.Body, nullptr, false), Where, "body", E);
        !Problem.empty())
      return failed(Problem);
    Take(std::move(E));
  }
  return llvm::Error::success();
}

} // namespace stark

#endif
