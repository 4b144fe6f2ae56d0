//===- RecordedEvents.h - What a run recorded ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   journal of a run -> the bodies of the events of one type
/// For replays of a judge, which need no more of a run than that.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_RECORDEDEVENTS_H
#define STARK_LIB_EVAL_RECORDEDEVENTS_H

#include "stark/Json/Fields.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "stark/Support/Journal.h"

namespace stark {

/// The name of \p RunFolder's journal.
inline std::string journalOf(llvm::StringRef RunFolder) {
  return (RunFolder + "/journal.jsonl").str();
}

/// Hands each event of \p Type to \p Take(Fields, Where), which reads the
/// fields of its body that it needs; \p Where is for errors. There must be a
/// journal.
template <class Json, class Function>
llvm::Error forEachEvent(llvm::StringRef RunFolder, llvm::StringRef Type,
                         Function Take) {
  std::string File = journalOf(RunFolder);
  if (llvm::Expected<std::string> There = readFile(File); !There)
    return There.takeError();
  llvm::Expected<JournalContent> Content = readJournal(File);
  if (!Content)
    return Content.takeError();
  for (const JournalEvent &Event : Content->Events) {
    if (Event.Type != Type)
      continue;
    std::string Where = File + ", event " + std::to_string(Event.Number);
    Json Body = Json::parse(Event.Body, nullptr, false);
    FieldReader<Json> Fields(Body, Where, "body");
    Fields.allowUnknown();
    if (llvm::Error E = Take(Fields, Where))
      return E;
    if (std::string Problem = Fields.problem(); !Problem.empty())
      return failed(Problem);
  }
  return llvm::Error::success();
}

} // namespace stark

#endif
