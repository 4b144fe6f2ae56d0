//===- Protocol.cpp - What supervisor and child say to one another -------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The device's facts as JSON, and the layout of the shared memory.
///
//===----------------------------------------------------------------------===//

#include "Protocol.h"
#include "stark/Gpu/Formats.h"
#include "stark/Judge/Judge.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::gpu;
using Json = nlohmann::json;

std::string gpu::printFacts(const DeviceFacts &F) {
  return dumpJson(writeFields<Json>(F));
}

bool gpu::parseFacts(const std::string &Text, DeviceFacts &F) {
  Json J = Json::parse(Text, nullptr, false);
  return !J.is_discarded() && readFields(J, "device facts", "", F).empty();
}

std::vector<OutputPlace> gpu::outputPlaces(const job::Job &J,
                                           const job::Case &C) {
  constexpr uint64_t Page = 4096;
  std::vector<OutputPlace> Places;
  uint64_t Offset = 0;
  for (unsigned I = 0; I < J.Leaves.size(); ++I) {
    const job::Leaf &L = J.Leaves[I];
    if (!judge::isOutput(L))
      continue;
    uint64_t Bytes = C.Values[I].elements() * dtypeBytes(L.Type);
    Places.push_back({I, Offset, Bytes});
    Offset += (Bytes + Page - 1) / Page * Page;
  }
  return Places;
}

uint64_t gpu::outputBytes(const std::vector<OutputPlace> &Places) {
  constexpr uint64_t Page = 4096;
  return Places.empty()
             ? 0
             : (Places.back().Offset + Places.back().Bytes + Page - 1) / Page *
                   Page;
}
