//===- ReportJson.h - A report as JSON -----------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_REPORT_REPORTJSON_H
#define STARK_LIB_REPORT_REPORTJSON_H

#include "stark/Search/Record.h"

namespace stark {

/// {"version":1,...}; docs/search.md lists the fields.
void printReportJson(const RecordedRun &Run, llvm::raw_ostream &OS);

} // namespace stark

#endif
