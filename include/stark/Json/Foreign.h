//===- Foreign.h - An object that somebody else wrote ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STARK_JSON_FOREIGN_H
#define STARK_JSON_FOREIGN_H

#include <string_view>

namespace stark {

/// The object in \p Text; discarded when it is none, or nested deeper than
/// \p Deepest, of which no more is read. \p Comments: it may have some.
template <class Json>
Json parseForeignObject(std::string_view Text, int Deepest,
                        bool Comments = false) {
  bool TooDeep = false;
  Json Root = Json::parse(
      Text.begin(), Text.end(),
      [&](int Depth, typename Json::parse_event_t, Json &) {
        TooDeep |= Depth > Deepest;
        return !TooDeep;
      },
      /*allow_exceptions=*/false, /*ignore_comments=*/Comments);
  if (TooDeep || !Root.is_object())
    return Json(Json::value_t::discarded);
  return Root;
}

} // namespace stark

#endif
