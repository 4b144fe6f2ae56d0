//===- Table.cpp - Columns of text ---------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Report/Table.h"
#include "stark/Support/Utf8.h"
#include <algorithm>

using namespace stark;

void Table::add(std::vector<std::string> Row) {
  for (std::string &Cell : Row) {
    // Titles come from a model.
    Cell = visibleLine(Cell);
    std::replace(Cell.begin(), Cell.end(), '|', '/');
  }
  Rows.push_back(std::move(Row));
}

void Table::print(bool Markdown, llvm::raw_ostream &OS) const {
  std::vector<size_t> Width(Rows.front().size(), Markdown ? 3 : 0);
  for (const auto &Row : Rows)
    for (size_t I = 0; I < Row.size(); ++I)
      Width[I] = std::max(Width[I], columnsOf(Row[I]));
  for (size_t R = 0; R < Rows.size(); ++R) {
    std::string Line = Markdown ? "| " : "  ";
    for (size_t I = 0; I < Rows[R].size(); ++I) {
      if (I)
        Line += Markdown ? " | " : "  ";
      std::string Space(Width[I] - columnsOf(Rows[R][I]), ' ');
      Line += Numbers.count(I) ? Space + Rows[R][I] : Rows[R][I] + Space;
    }
    if (Markdown)
      Line += " |";
    OS << llvm::StringRef(Line).rtrim() << "\n";
    if (R || !Markdown)
      continue;
    OS << "|";
    for (size_t I = 0; I < Width.size(); ++I)
      OS << std::string(Width[I] + 1, '-') << (Numbers.count(I) ? ":" : "-")
         << "|";
    OS << "\n";
  }
}
