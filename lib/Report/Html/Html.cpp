//===- Html.cpp - Text becomes HTML here alone ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Html.h"
#include "stark/Support/Utf8.h"
#include "llvm/ADT/StringExtras.h"
#include <cassert>

using namespace stark;

/// Turns the direction of what follows, breaks lines unseen, or has no width.
static bool isUnseen(uint32_t Code) {
  return changesDirection(Code) || (Code >= 0x200B && Code <= 0x200D) ||
         Code == 0x2028 || Code == 0x2029 ||
         (Code >= 0x2060 && Code <= 0x206F) || Code == 0xFEFF ||
         (Code >= 0x80 && Code <= 0x9F);
}

/// \p Text is UTF-8.
static void escapeTo(llvm::raw_ostream &OS, llvm::StringRef Text) {
  size_t Done = 0;
  for (size_t I = 0; I < Text.size();) {
    unsigned char C = static_cast<unsigned char>(Text[I]);
    size_t Bytes = 1;
    std::string Instead;
    if (C == '<')
      Instead = "&lt;";
    else if (C == '>')
      Instead = "&gt;";
    else if (C == '&')
      Instead = "&amp;";
    else if (C == '"')
      Instead = "&quot;";
    else if (C == '\'')
      Instead = "&#39;";
    else if (C < ' ' && C != '\n' && C != '\t')
      // The picture of the control character; a carriage return is left out.
      Instead = C == '\r' ? "" : "&#" + std::to_string(0x2400 + C) + ";";
    else if (C == 0x7F)
      Instead = "&#9249;";
    else {
      Utf8Character Whole{C, 1};
      if (C >= 0x80)
        Whole = firstCharacter(Text.substr(I));
      Bytes = Whole.Bytes;
      if (!isUnseen(Whole.Code)) {
        I += Bytes;
        continue;
      }
      Instead =
          "[U+" + llvm::utohexstr(Whole.Code, /*LowerCase=*/false, 4) + "]";
    }
    OS << Text.slice(Done, I) << Instead;
    I += Bytes;
    Done = I;
  }
  OS << Text.substr(Done);
}

static void escapeAny(llvm::raw_ostream &OS, llvm::StringRef Text) {
  if (isUtf8(Text))
    escapeTo(OS, Text);
  else
    escapeTo(OS, repairUtf8(Text));
}

llvm::StringRef stark::headOf(llvm::StringRef Text, size_t Limit, size_t &Cut) {
  Cut = 0;
  if (Text.size() <= Limit)
    return Text;
  // Not within a character.
  while (Limit && (static_cast<unsigned char>(Text[Limit]) & 0xC0) == 0x80)
    --Limit;
  Cut = Text.size() - Limit;
  return Text.take_front(Limit);
}

/// Within this page, or a file beside it.
static bool isHarmless(llvm::StringRef Address) {
  if (Address.starts_with("#"))
    return true;
  auto Plain = [](char C) {
    return llvm::isAlnum(C) || C == '_' || C == '-' || C == '.' || C == '/' ||
           C == '#' || C == '%' || C == '+';
  };
  return !Address.starts_with("/") && llvm::all_of(Address, Plain);
}

void HtmlWriter::start(llvm::StringLiteral Tag, HtmlAttributes Attributes) {
  OS << '<' << Tag;
  for (const HtmlAttribute &A : Attributes) {
    OS << ' ' << A.Name << "=\"";
    if (A.Name == "href" && !isHarmless(A.Value))
      OS << '#';
    else
      escapeAny(OS, A.Value);
    OS << '"';
  }
}

HtmlWriter::~HtmlWriter() { assert(Open.empty() && "an element is open"); }

HtmlWriter &HtmlWriter::open(llvm::StringLiteral Tag,
                             HtmlAttributes Attributes) {
  start(Tag, Attributes);
  OS << '>';
  Open.push_back(Tag);
  return *this;
}

HtmlWriter &HtmlWriter::close() {
  assert(!Open.empty() && "no element is open");
  OS << "</" << Open.back() << '>';
  Open.pop_back();
  return *this;
}

HtmlWriter &HtmlWriter::empty(llvm::StringLiteral Tag,
                              HtmlAttributes Attributes) {
  start(Tag, Attributes);
  OS << "/>";
  return *this;
}

HtmlWriter &HtmlWriter::text(llvm::StringRef Text) {
  escapeAny(OS, Text);
  return *this;
}

HtmlWriter &HtmlWriter::element(llvm::StringLiteral Tag,
                                HtmlAttributes Attributes,
                                llvm::StringRef Text) {
  return open(Tag, Attributes).text(Text).close();
}

HtmlWriter &HtmlWriter::openScroll(llvm::StringRef Label) {
  return open("div", {{"class", "scroll"},
                      {"role", "group"},
                      {"aria-label", Label.str()},
                      {"tabindex", "0"}});
}

HtmlWriter &HtmlWriter::preformatted(llvm::StringRef Text) {
  // Less does not reach the height from which page.css lets it scroll, unless
  // the page is very narrow.
  constexpr size_t LongLines = 12, LongBytes = 1200;
  if (Text.size() < LongBytes && Text.count('\n') < LongLines)
    return element("pre", {}, Text);
  return element("pre", {{"tabindex", "0"}}, Text);
}

HtmlWriter &HtmlWriter::line() {
  OS << '\n';
  return *this;
}
