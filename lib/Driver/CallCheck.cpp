//===- CallCheck.cpp - What a call of a source may not do -----------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   A call is read as a candidate is: what no candidate may have, it may not
/// have either. What the source has itself is the user's.
///
//===----------------------------------------------------------------------===//

#include "stark/AST/Contract.h"
#include "stark/Driver/DraftWithModel.h"
#include "stark/Posix/ChildAnswer.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <filesystem>

using namespace stark;
namespace path = llvm::sys::path;

std::string stark::callName(llvm::StringRef Source) {
  return (path::stem(Source) + ".call.cu").str();
}

/// From the folder \p From, both absolute; as it is where they share no folder.
static std::string relativeTo(llvm::StringRef From, llvm::StringRef File) {
  std::filesystem::path Folder(From.str()), To(File.str());
  // The root alone is none.
  auto First = [](const std::filesystem::path &P) {
    return P.relative_path().empty() ? P : *P.relative_path().begin();
  };
  return First(Folder) == First(To) ? To.lexically_relative(Folder).string()
                                    : File.str();
}

std::string stark::callFor(const std::string &Call, llvm::StringRef Source,
                           llvm::StringRef Path) {
  std::string Absolute = absolutePath(Path), File = absolutePath(Source),
              Quoted = "\"" + path::filename(Source).str() + "\"",
              From =
                  "\"" + relativeTo(path::parent_path(Absolute), File) + "\"",
              Out;
  for (llvm::StringRef Rest = Call; !Rest.empty();) {
    auto [Line, After] = Rest.split('\n');
    size_t At = Line.find(Quoted);
    bool Includes = Line.ltrim().starts_with("#") &&
                    Line.ltrim(" \t#").starts_with("include") &&
                    At != llvm::StringRef::npos;
    Out += (Includes ? Line.take_front(At).str() + From +
                           Line.drop_front(At + Quoted.size()).str()
                     : Line.str()) +
           "\n";
    Rest = After;
  }
  return Out;
}

/// In the child.
static std::string check(const std::string &Path, llvm::StringRef Source,
                         llvm::StringRef Text, const ParseOptions &Options) {
  std::string Bare = "#include \"" + path::filename(Source).str() + "\"\n";
  auto Base = parseSource(Path, Bare, Options);
  if (!Base)
    return llvm::toString(Base.takeError());
  auto Call = parseSource(Path, Text, Options);
  if (!Call)
    return llvm::toString(Call.takeError());
  std::string Found;
  for (const Violation &V : checkContract(**Base, **Call, ""))
    if (V.forbidden())
      Found +=
          (Found.empty() ? "" : "\n") +
          (V.Line ? "line " + std::to_string(V.Line) + ": " : std::string()) +
          V.message();
  return Found;
}

llvm::Expected<std::string>
stark::forbiddenInCall(llvm::StringRef Text, llvm::StringRef Source,
                       const ParseOptions &Options) {
  llvm::SmallString<256> Path(path::parent_path(absolutePath(Source)));
  path::append(Path, callName(Source));
  posix::ChildAnswer Said = posix::askChild(
      [&] { return check(Path.str().str(), Source, Text, Options); }, {});
  switch (Said.End) {
  case posix::ChildEnd::Answered:
    return Said.Text;
  case posix::ChildEnd::OutOfTime:
  case posix::ChildEnd::OutOfMemory:
  case posix::ChildEnd::Crashed:
    return "Clang cannot read it within its limits of time and memory";
  case posix::ChildEnd::Asleep:
  case posix::ChildEnd::Killed:
  case posix::ChildEnd::NotStarted:
    return failed("the process that reads a call did not come to its end");
  case posix::ChildEnd::Interrupted:
    return interrupted("interrupted while a call was read");
  }
  llvm_unreachable("all ends are named");
}
