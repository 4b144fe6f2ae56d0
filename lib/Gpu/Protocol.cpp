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
#include "stark/Json/Fields.h"
#include "stark/Judge/Judge.h"
#include <nlohmann/json.hpp>

using namespace stark;
using namespace stark::gpu;
using Json = nlohmann::json;

std::string gpu::printFacts(const DeviceFacts &F) {
  Json J = {{"device", F.Name},
            {"driver", F.Driver},
            {"arch", F.Arch},
            {"memory_mib", F.MemoryMiB},
            {"l2_bytes", F.L2Bytes},
            {"event_pair_us", F.EventPairUs},
            {"copy_gb_per_s", F.CopyGBs},
            {"lockdown", F.Lockdown}};
  return J.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool gpu::parseFacts(const std::string &Text, DeviceFacts &F) {
  Json J = Json::parse(Text, nullptr, false);
  if (J.is_discarded())
    return false;
  FieldReader<Json> R(J, "device facts", "");
  R.required("device", F.Name);
  R.required("driver", F.Driver);
  R.required("arch", F.Arch);
  R.required("memory_mib", F.MemoryMiB);
  R.required("l2_bytes", F.L2Bytes);
  R.required("event_pair_us", F.EventPairUs);
  R.required("copy_gb_per_s", F.CopyGBs);
  R.required("lockdown", F.Lockdown);
  return R.problem().empty();
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
