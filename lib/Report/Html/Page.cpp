//===- Page.cpp - What is around every page -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PageFiles.h"
#include "stark/Report/Html.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

using namespace stark;

/// As a Content-Security-Policy names what may run.
static std::string hashOf(llvm::StringRef Text) {
  llvm::SHA256 Hash;
  Hash.update(Text);
  auto Bytes = Hash.final();
  return "'sha256-" + llvm::encodeBase64(Bytes) + "'";
}

void stark::beginPage(HtmlWriter &W, llvm::raw_ostream &OS,
                      llvm::StringRef Title) {
  OS << "<!DOCTYPE html>\n";
  W.open("html", {{"lang", "en"}}).open("head").line();
  W.empty("meta", {{"charset", "utf-8"}}).line();
  W.empty("meta",
          {{"http-equiv", "Content-Security-Policy"},
           {"content", "default-src 'none'; style-src " + hashOf(PageStyle) +
                           "; script-src " + hashOf(PageScript) +
                           "; base-uri 'none'; form-action 'none'"}})
      .line();
  W.empty("meta", {{"name", "viewport"},
                   {"content", "width=device-width, initial-scale=1"}})
      .line();
  W.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}}).line();
  W.empty("meta", {{"name", "referrer"}, {"content", "no-referrer"}}).line();
  W.element("title", {}, Title).line();
  // The program's own, byte for byte as hashed.
  OS << "<style>" << PageStyle << "</style>\n";
  W.close().line().open("body");
  W.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the content");
  W.open("main", {{"id", "main"}}).line();
}

void stark::endPage(HtmlWriter &W, llvm::raw_ostream &OS) {
  W.line().close().line();
  OS << "<script>" << PageScript << "</script>\n";
  W.close().line().close().line();
}
