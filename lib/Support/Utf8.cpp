//===- Utf8.cpp - Text that JSON can hold ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Unicode.h"
#include <vector>

using namespace stark;
using namespace llvm;

bool stark::isUtf8(StringRef Text) {
  const UTF8 *At = Text.bytes_begin();
  return isLegalUTF8String(&At, Text.bytes_end());
}

Utf8Character stark::firstCharacter(StringRef Text) {
  const UTF8 *At = Text.bytes_begin();
  UTF32 Code = 0;
  if (convertUTF8Sequence(&At, Text.bytes_end(), &Code, strictConversion) !=
      conversionOK)
    return {(unsigned char)Text.front(), 1};
  return {Code, size_t(At - Text.bytes_begin())};
}

bool stark::changesDirection(uint32_t Code) {
  return Code == 0x061C || Code == 0x200E || Code == 0x200F ||
         (Code >= 0x202A && Code <= 0x202E) ||
         (Code >= 0x2066 && Code <= 0x2069);
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

std::string stark::visibleText(StringRef Text) {
  std::string Repaired = repairUtf8(Text), Out;
  Out.reserve(Repaired.size());
  for (StringRef Rest = Repaired; !Rest.empty();) {
    Utf8Character C = firstCharacter(Rest);
    StringRef Bytes = Rest.take_front(C.Bytes);
    Rest = Rest.drop_front(C.Bytes);
    if (Bytes == "\n" || Bytes == "\t") {
      Out += Bytes;
      continue;
    }
    if (sys::unicode::isPrintable(int(C.Code)))
      Out += Bytes;
    else
      Out += "\\u{" + utohexstr(C.Code, /*LowerCase=*/true) + "}";
  }
  return Out;
}

std::string stark::visibleLine(StringRef Text) {
  std::string Line = visibleText(Text);
  for (char &C : Line)
    if (C == '\n' || C == '\t')
      C = ' ';
  return Line;
}

size_t stark::columnsOf(StringRef Line) {
  int Columns = sys::unicode::columnWidthUTF8(Line);
  return Columns < 0 ? Line.size() : size_t(Columns);
}

std::string stark::fitLine(StringRef Line, size_t Columns) {
  if (columnsOf(Line) <= Columns)
    return Line.str();
  StringRef Ellipsis = StringRef("...").take_front(Columns);
  std::string Out;
  size_t Used = Ellipsis.size();
  while (!Line.empty()) {
    StringRef Bytes = Line.take_front(firstCharacter(Line).Bytes);
    Line = Line.drop_front(Bytes.size());
    Used += columnsOf(Bytes);
    if (Used > Columns)
      break;
    Out += Bytes;
  }
  return Out + Ellipsis.str();
}
