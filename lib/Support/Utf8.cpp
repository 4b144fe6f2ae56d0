//===- Utf8.cpp - Text that JSON can hold ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Utf8.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/ErrorHandling.h"
#include <vector>

using namespace stark;
using namespace llvm;

bool stark::isUtf8(StringRef Text) {
  const UTF8 *At = Text.bytes_begin();
  return isLegalUTF8String(&At, Text.bytes_end());
}

std::string stark::repairUtf8(StringRef Text) {
  if (isUtf8(Text))
    return Text.str();
  // No text has more characters than bytes, nor a character more than 4 bytes.
  std::vector<UTF32> Characters(Text.size());
  const UTF8 *From = Text.bytes_begin();
  UTF32 *Wide = Characters.data();
  ConvertUTF8toUTF32(&From, Text.bytes_end(), &Wide, Wide + Characters.size(),
                     lenientConversion);
  std::string Out(4 * size_t(Wide - Characters.data()), '\0');
  const UTF32 *Narrow = Characters.data();
  UTF8 *To = reinterpret_cast<UTF8 *>(Out.data()), *const Begin = To;
  if (ConvertUTF32toUTF8(&Narrow, Wide, &To, Begin + Out.size(),
                         strictConversion) != conversionOK)
    llvm_unreachable("repaired characters are characters");
  Out.resize(size_t(To - Begin));
  return Out;
}

std::string stark::withUnixLines(StringRef Text) {
  std::string Out;
  Out.reserve(Text.size());
  for (size_t I = 0; I < Text.size(); ++I)
    if (Text[I] != '\r' || I + 1 == Text.size() || Text[I + 1] != '\n')
      Out += Text[I];
  return Out;
}

std::string stark::shortenUtf8(llvm::StringRef Text, size_t Limit) {
  if (Text.size() <= Limit)
    return Text.str();
  llvm::StringRef Cut = Text.take_front(Limit - 3);
  while (!Cut.empty() && !isUtf8(Cut))
    Cut = Cut.drop_back();
  return Cut.str() + "...";
}
