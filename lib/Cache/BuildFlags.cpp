//===- BuildFlags.cpp - Which flags count for a key ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildFlags.h"
#include "stark/Support/Digest.h"
#include "stark/Support/File.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"
#include <optional>

using namespace stark;
using llvm::StringRef;

namespace {
/// What becomes of a flag that has a value, attached, behind '=' or as the next
/// word.
enum class Use { Folder, File, Macro, Host, Ignored, Options, None };

/// The flags are read as nvcc reads them, so the words between are values.
class Reader {
public:
  Reader(BuildFlags &To) : To(To) {}

  void read(llvm::ArrayRef<std::string> Words, unsigned Depth) {
    for (size_t I = 0; I < Words.size(); ++I) {
      StringRef Word = Words[I];
      if (Word.starts_with("@")) {
        readFileOfFlags(Word.drop_front(), Depth);
        continue;
      }
      if (!Word.starts_with("-")) {
        To.Counting.push_back(Word.str());
        continue;
      }
      // nvcc takes long names with one dash or two.
      Word.consume_front("-");
      bool Long = Word.consume_front("-");
      auto [Name, Value] = Word.split('=');
      std::optional<std::string> Given;
      if (Word.contains('='))
        Given = Value.str();
      Use How = named(Name);
      if (How == Use::None && !Long) {
        // -Ifolder, -DNAME=1, -O2
        StringRef Rest = Word;
        How = attached(Rest);
        if (How != Use::None)
          Given = Rest.str();
      }
      if (How == Use::None) {
        if (!ignored(Name))
          To.Counting.push_back("-" + Word.str());
        continue;
      }
      if (!Given && I + 1 < Words.size())
        Given = Words[++I];
      if (Given)
        use(How, Name, *Given, Depth);
    }
  }

private:
  static Use named(StringRef Name) {
    return llvm::StringSwitch<Use>(Name)
        .Cases("I", "isystem", "iquote", "idirafter", Use::Folder)
        .Cases("include-path", "system-include", Use::Folder)
        .Cases("include", "pre-include", Use::File)
        .Cases("D", "define-macro", Use::Macro)
        .Cases("Xcompiler", "compiler-options", Use::Host)
        .Cases("optf", "options-file", Use::Options)
        .Cases("arch", "gpu-architecture", "code", "gpu-code", Use::Ignored)
        .Cases("gencode", "generate-code", Use::Ignored)
        .Cases("ccbin", "compiler-bindir", "t", "threads", Use::Ignored)
        .Cases("x", "o", "output-file", "keep-dir", Use::Ignored)
        .Cases("diag-suppress", "diag-error", "diag-warn", Use::Ignored)
        .Cases("Werror", "MF", "MT", "MQ", "Xcudafe", Use::Ignored)
        // Clang's, as the CUDA compiler.
        .Cases("cuda-path", "ptxas-path", Use::Ignored)
        .Cases("cuda-gpu-arch", "no-cuda-gpu-arch", Use::Ignored)
        .Cases("offload-arch", "no-offload-arch", Use::Ignored)
        .Cases("cuda-include-ptx", "no-cuda-include-ptx", Use::Ignored)
        .Default(Use::None);
  }

  static Use attached(StringRef &Rest) {
    for (auto [Prefix, How] :
         {std::pair<StringRef, Use>{"isystem", Use::Folder},
          {"iquote", Use::Folder},
          {"I", Use::Folder},
          {"D", Use::Macro}})
      if (Rest.consume_front(Prefix))
        return How;
    return Use::None;
  }

  static bool ignored(StringRef Name) {
    static const StringRef Names[] = {"g",
                                      "G",
                                      "O",
                                      "O0",
                                      "O1",
                                      "O2",
                                      "O3",
                                      "Os",
                                      "w",
                                      "v",
                                      "lineinfo",
                                      "generate-line-info",
                                      "debug",
                                      "verbose",
                                      "optimize",
                                      "device-debug",
                                      "keep",
                                      "k",
                                      "save-temps",
                                      "resource-usage",
                                      "MD",
                                      "MMD",
                                      "M",
                                      "res-usage",
                                      "fPIC",
                                      "fPIE",
                                      "fpic",
                                      "fpie",
                                      "pipe",
                                      "c",
                                      "disable-warnings",
                                      "restrict-warnings",
                                      "forward-unknown-to-host-compiler",
                                      "forward-unknown-to-host-linker",
                                      "forward-unknown-opts",
                                      "no-cuda-version-check",
                                      "cuda-noopt-device-debug"};
    if (llvm::is_contained(Names, Name))
      return true;
    if (Name.starts_with("W"))
      return !Name.starts_with("Wp,");
    return Name.starts_with("fdiagnostics") ||
           Name.starts_with("fvisibility") ||
           (Name.starts_with("g") && Name.drop_front().size() == 1);
  }

  void use(Use How, StringRef Name, const std::string &Value, unsigned Depth) {
    switch (How) {
    case Use::Folder:
      To.Folders.push_back(Value);
      return;
    case Use::File:
      if (llvm::Expected<std::string> Text = readFile(Value)) {
        To.Counting.push_back("-include " + sha256(*Text));
      } else {
        llvm::consumeError(Text.takeError());
        To.Counting.push_back("-include " + Value);
      }
      return;
    case Use::Macro:
      if (Value != "NDEBUG")
        To.Counting.push_back("-D" + Value);
      return;
    case Use::Options:
      readFileOfFlags(Value, Depth);
      return;
    case Use::Host:
      host(Value);
      return;
    case Use::Ignored:
    case Use::None:
      return;
    }
  }

  /// What nvcc hands on to the host compiler, separated by commas.
  void host(StringRef Value) {
    llvm::SmallVector<StringRef> Parts;
    Value.split(Parts, ',', -1, false);
    for (size_t I = 0; I < Parts.size(); ++I) {
      StringRef Part = Parts[I];
      StringRef Name = Part;
      Name.consume_front("-");
      if (Name == "iquote" || Name == "I" || Name == "isystem") {
        if (I + 1 < Parts.size())
          To.Folders.push_back(Parts[++I].str());
        continue;
      }
      if (!ignored(Name))
        To.Counting.push_back("-Xcompiler=" + Part.str());
    }
  }

  void readFileOfFlags(StringRef Path, unsigned Depth) {
    llvm::Expected<std::string> Text = readFile(Path);
    if (!Text || Depth > 4) {
      if (!Text)
        llvm::consumeError(Text.takeError());
      To.Counting.push_back("@" + Path.str());
      return;
    }
    llvm::BumpPtrAllocator Memory;
    llvm::StringSaver Saver(Memory);
    llvm::SmallVector<const char *> Words;
    llvm::cl::TokenizeGNUCommandLine(*Text, Saver, Words);
    read(std::vector<std::string>(Words.begin(), Words.end()), Depth + 1);
  }

  BuildFlags &To;
};
} // namespace

BuildFlags::BuildFlags(llvm::ArrayRef<std::string> Flags) {
  Reader(*this).read(Flags, 0);
}
