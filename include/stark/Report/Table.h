//===- Table.h - Columns of text -----------------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_REPORT_TABLE_H
#define STARK_REPORT_TABLE_H

#include "llvm/Support/raw_ostream.h"
#include <set>
#include <string>
#include <vector>

namespace stark {

/// Rows under headings, as aligned text or as a Markdown table.
class Table {
public:
  /// \p Numbers are the columns that are aligned to the right.
  Table(std::vector<std::string> Headings, std::set<size_t> Numbers)
      : Numbers(std::move(Numbers)) {
    add(std::move(Headings));
  }
  /// Line breaks and what would end a cell are replaced.
  void add(std::vector<std::string> Row);
  void print(bool Markdown, llvm::raw_ostream &OS) const;

private:
  std::vector<std::vector<std::string>> Rows;
  std::set<size_t> Numbers;
};

} // namespace stark

#endif
