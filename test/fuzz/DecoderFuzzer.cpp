//===- DecoderFuzzer.cpp - Whatever a server sends ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The first byte picks the wire format, the second where the bytes are cut
/// in two; the rest is a stream, a whole body and an error body. Two parts must
/// give what one gives. Built and run by utils/fuzz.
///
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include <cstdlib>

using namespace stark;

static Answer decode(const Dialect &D, const Secret &Key, llvm::StringRef First,
                     llvm::StringRef Second) {
  std::unique_ptr<AnswerDecoder> Decoder = D.decoder(Key, {});
  EventStream Stream(
      [&](const StreamEvent &E) {
        Decoder->take(E);
        return llvm::Error::success();
      },
      1 << 16);
  for (llvm::StringRef Part : {First, Second})
    llvm::consumeError(Stream.feed(Part));
  llvm::consumeError(Stream.finish());
  return Decoder->answer();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size < 2)
    return 0;
  static const Secret Key("marked-key-0123456789");
  llvm::StringRef Bytes(reinterpret_cast<const char *>(Data + 2), Size - 2);
  const Dialect &D = *dialects()[Data[0] % dialects().size()];
  size_t Cut = Bytes.empty() ? 0 : Data[1] % (Bytes.size() + 1);
  Answer Whole = decode(D, Key, Bytes, "");
  Answer Parts = decode(D, Key, Bytes.take_front(Cut), Bytes.substr(Cut));
  if (Whole.Text != Parts.Text || Whole.Complete != Parts.Complete ||
      Whole.Problem.has_value() != Parts.Problem.has_value())
    std::abort();

  std::unique_ptr<AnswerDecoder> Decoder = D.decoder(Key, {});
  Decoder->takeWhole(Bytes);
  HttpAnswer Refused;
  Refused.Status = 400 + Data[1];
  Refused.Headers = {{"retry-after", Bytes.take_front(40).str()}};
  Fault F = faultOfAnswer(Refused, Bytes, Key);
  if (llvm::StringRef(F.describe()).contains(Key.reveal()))
    std::abort();
  return 0;
}
