//===- PageFiles.h - Style and script that lie in the program -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef STARK_LIB_REPORT_HTML_PAGEFILES_H
#define STARK_LIB_REPORT_HTML_PAGEFILES_H

namespace stark {

/// lib/Report/Html/page.css and page.js.
extern const char *const PageStyle;
extern const char *const PageScript;

} // namespace stark

#endif
