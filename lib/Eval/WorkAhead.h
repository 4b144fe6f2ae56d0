//===- WorkAhead.h - What is begun before it is asked for -------*- C++ -*-===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   key, work -> a thread -> its result, taken once
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_EVAL_WORKAHEAD_H
#define STARK_LIB_EVAL_WORKAHEAD_H

#include "stark/Support/TimeTrace.h"
#include "llvm/Support/Error.h"
#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace stark {

/// Used by several threads. Whoever destroys it waits for what runs.
template <class Key, class Result> class WorkAhead {
public:
  /// Begins \p Work, which returns an Expected<Result>, unless it is known. Of
  /// what nobody takes, a few are kept.
  template <class Function> void begin(const Key &K, Function Work) {
    std::lock_guard<std::mutex> Held(Guard);
    if (Known.count(K) || !hasPlace())
      return;
    auto Made = std::make_shared<std::optional<Result>>();
    auto Run = traced([Work = std::move(Work), Made]() mutable {
      *Made = llvm::expectedToOptional(Work());
    });
    std::future<std::optional<Result>> Later =
        std::async(std::launch::async, [Run, Made] {
          Run();
          return std::move(*Made);
        });
    Known.emplace(K, Place{std::move(Later), /*Wanted=*/false});
  }
  /// Keeps what was made for who will take it.
  void keep(const Key &K, Result Made) {
    std::promise<std::optional<Result>> Now;
    Now.set_value(std::move(Made));
    std::lock_guard<std::mutex> Held(Guard);
    Known.insert_or_assign(K, Place{Now.get_future(), /*Wanted=*/true});
  }
  /// Waits for it. Unset where it was not begun, or came to nothing: an error
  /// is told to who does it anew.
  std::optional<Result> take(const Key &K) {
    std::future<std::optional<Result>> Later;
    {
      std::lock_guard<std::mutex> Held(Guard);
      auto Found = Known.find(K);
      if (Found == Known.end())
        return std::nullopt;
      Later = std::move(Found->second.Later);
      Known.erase(Found);
    }
    TraceScope Traced("wait for what was begun");
    return Later.get();
  }

private:
  struct Place {
    std::future<std::optional<Result>> Later;
    bool Wanted; ///< somebody will take it
  };
  static constexpr std::ptrdiff_t MostUnasked = 16;

  /// Forgets what is done and was not asked for, if that makes a place.
  bool hasPlace() {
    if (std::count_if(Known.begin(), Known.end(), [](const auto &Each) {
          return !Each.second.Wanted;
        }) < MostUnasked)
      return true;
    auto Done = std::find_if(Known.begin(), Known.end(), [](const auto &Each) {
      return !Each.second.Wanted &&
             Each.second.Later.wait_for(std::chrono::seconds(0)) ==
                 std::future_status::ready;
    });
    if (Done == Known.end())
      return false;
    Known.erase(Done);
    return true;
  }

  std::mutex Guard;
  std::map<Key, Place> Known;
};

} // namespace stark

#endif
