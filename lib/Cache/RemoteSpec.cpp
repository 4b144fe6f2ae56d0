//===- RemoteSpec.cpp - What STARK_REMOTE says ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Cache/RemoteSpec.h"
#include "stark/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <cstdlib>

using namespace stark;
using llvm::StringRef;

static constexpr uint64_t LongestTimeoutMs = 600'000;

static llvm::Error wrong(const llvm::Twine &Got, const llvm::Twine &Wanted) {
  return usageError("STARK_REMOTE: got '" + Got + "', wanted " + Wanted);
}

static llvm::Error setAttribute(RemoteSpec &Spec, StringRef Text) {
  auto [Name, Value] = Text.split('=');
  double Seconds = 0;
  if (Text == "read-only")
    Spec.ReadOnly = true;
  else if (Name == "bearer-file" && !Value.empty())
    Spec.BearerFile = Value.str();
  else if (Name == "basic-file" && !Value.empty())
    Spec.BasicFile = Value.str();
  else if (Name != "timeout")
    // The value may be what somebody took for a place of a password.
    return wrong(Name, "read-only, timeout=SECONDS, bearer-file=FILE or "
                       "basic-file=FILE behind the address");
  else if (Value.getAsDouble(Seconds) || !(Seconds > 0) ||
           Seconds * 1000 > double(LongestTimeoutMs))
    return wrong(Text, "timeout=SECONDS, more than 0 and at most 600");
  else
    Spec.TimeoutMs = std::max(uint64_t(1), uint64_t(Seconds * 1000));
  return llvm::Error::success();
}

llvm::Expected<RemoteSpec> stark::parseRemoteSpec(StringRef Text) {
  llvm::SmallVector<StringRef> Parts;
  Text.split(Parts, '|');
  RemoteSpec Spec;
  Spec.Url = Parts.front().trim().rtrim('/').str();
  auto [Scheme, Rest] = StringRef(Spec.Url).split("://");
  if (Rest.contains('@'))
    return usageError("STARK_REMOTE: a password does not belong into it; "
                      "wanted basic-file=FILE behind the address");
  if (Rest.empty() ||
      !llvm::is_contained({"http", "https", "redis", "file"}, Scheme) ||
      (Scheme == "file" && !Rest.starts_with("/")) ||
      llvm::any_of(Spec.Url, [](char C) {
        return (unsigned char)C <= ' ' || C == '?' || C == '#';
      }))
    return wrong(Spec.Url, "http://HOST/..., https://HOST/..., "
                           "redis://HOST[:PORT][/NUMBER] or file:///FOLDER");
  for (StringRef Part : llvm::drop_begin(Parts))
    if (llvm::Error E = setAttribute(Spec, Part.trim()))
      return E;
  if (!Spec.BearerFile.empty() && !Spec.BasicFile.empty())
    return usageError("STARK_REMOTE: bearer-file and basic-file exclude each "
                      "other");
  return Spec;
}

std::string stark::remoteOfUser() {
  const char *Text = std::getenv("STARK_REMOTE");
  return Text ? Text : "";
}
