//===- EventStream.h - Server-sent events from bytes ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Bytes as they arrive -> lines -> events. Any split of the same bytes gives
/// the same events. Source: WHATWG HTML, section 9.2.6 (event stream parsing).
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_LLM_EVENTSTREAM_H
#define STARK_LIB_LLM_EVENTSTREAM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>

namespace stark {

struct StreamEvent {
  std::string Type; ///< of the "event:" field, "message" when there is none
  std::string Data; ///< the "data:" fields, joined by line feeds
};

class EventStream {
public:
  using Handler = std::function<llvm::Error(const StreamEvent &)>;
  /// A line or an event longer than \p Limit bytes is an error.
  explicit EventStream(Handler OnEvent, size_t Limit = size_t(32) << 20)
      : OnEvent(std::move(OnEvent)), Limit(Limit) {}

  llvm::Error feed(llvm::StringRef Bytes);
  /// The end of the transfer. Servers that cut the last blank line still get
  /// their last event through.
  llvm::Error finish();

private:
  llvm::Error takeLine();
  llvm::Error dispatch();

  Handler OnEvent;
  size_t Limit;
  std::string Line;
  StreamEvent Event;
  bool HasData = false;
  bool AfterReturn = false; ///< a CR ended the last line; an LF belongs to it
  bool FirstLine = true;
};

} // namespace stark

#endif
