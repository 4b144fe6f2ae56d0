//===- Flags.cpp - nvcc's flags as Clang takes them ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Flags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

using namespace stark;

/// Options whose value is the next word and that a parse does not need. Source:
/// CUDA Compiler Driver NVCC 13.0, sections 4.2.1 to 4.2.9.
static constexpr llvm::StringLiteral DroppedWithValue[] = {
    "-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode",
    "--generate-code", "-ccbin", "--compiler-bindir", "-o", "--output-file",
    "-odir", "--output-directory", "-Xptxas", "--ptxas-options", "-Xnvlink",
    "--nvlink-options", "-Xlinker", "--linker-options", "-Xarchive",
    "--archive-options", "-Xcicc", "-Xcudafe", "-maxrregcount",
    "--maxrregcount", "-diag-suppress", "--diag-suppress", "-diag-error",
    "--diag-error", "-diag-warn", "--diag-warn", "-t", "--threads", "-MF",
    "--dependency-output", "-MT", "--dependency-target-name", "-MQ", "-cudart",
    "--cudart", "-cudadevrt", "--cudadevrt", "-l", "--library", "-L",
    "--library-path", "-x", "--x", "-rdc", "--relocatable-device-code",
    "--default-stream", "-default-stream", "-keep-dir", "--keep-dir", "-O",
    "--optimize", "-m", "--machine", "-ftz", "--ftz", "-prec-div", "--prec-div",
    "-prec-sqrt", "--prec-sqrt", "-fmad", "--fmad", "-ldir",
    "--libdevice-directory", "-target-dir", "--target-directory", "-idp",
    "--input-drive-prefix", "-ddp", "-run-args", "--run-args", "-split-compile",
    "--split-compile", "-jobserver", "-Werror", "--Werror", "-dopt", "--dopt",
    "-isysroot", "--sysroot", "-target", "--target", "-arch-list",
    // Clang's own, which could load a plugin, run a program or write a file.
    "-Xclang", "-Xpreprocessor", "-Wp", "-load", "-mllvm", "-include-pch",
    "-serialize-diagnostics", "--serialize-diagnostics", "-dependency-file"};

/// nvcc's long names of what Clang has under another.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Renamed[] =
    {{"--define-macro", "-D"},
     {"--undefine-macro", "-U"},
     {"--include-path", "-I"},
     {"--system-include", "-isystem"},
     {"--pre-include", "-include"},
     {"-D", "-D"},
     {"-U", "-U"},
     {"-I", "-I"},
     {"-isystem", "-isystem"},
     {"-iquote", "-iquote"},
     {"-idirafter", "-idirafter"},
     {"-include", "-include"},
     {"-imacros", "-imacros"}};

/// Words that are kept as they are.
static bool isKept(llvm::StringRef F) {
  return F.starts_with("-std=") || F == "-fms-extensions" ||
         F == "-fno-exceptions" || F == "-fno-rtti" || F == "-nostdinc" ||
         F == "-nostdinc++" || F == "-nocudainc" || F == "-fopenmp" ||
         F.starts_with("-stdlib=") || F == "-fgpu-rdc" || F == "-fchar8_t" ||
         F == "-fsigned-char" || F == "-funsigned-char" ||
         F.starts_with("-ftemplate-depth") ||
         F.starts_with("-fconstexpr-depth");
}

namespace {
class Translator {
public:
  explicit Translator(llvm::StringRef Folder) : Folder(Folder) {}

  void translate(llvm::ArrayRef<std::string> Words, unsigned Depth = 0) {
    for (size_t I = 0; I < Words.size(); ++I) {
      llvm::StringRef F = Words[I];
      auto Next = [&]() -> std::string {
        return I + 1 < Words.size() ? Words[++I] : std::string();
      };
      if (F == "--options-file" || F == "-optf") {
        responseFile(Next(), Depth);
      } else if (F.consume_front("--options-file=") ||
                 F.consume_front("-optf=") || F.consume_front("@")) {
        responseFile(F, Depth);
      } else if (F == "-Xcompiler" || F == "--compiler-options") {
        hostOptions(Next(), Depth);
      } else if (F.consume_front("-Xcompiler=") ||
                 F.consume_front("--compiler-options=")) {
        hostOptions(F, Depth);
      } else if (F == "-std" || F == "--std") {
        Kept.push_back("-std=" + Next());
      } else if (F.consume_front("--std=")) {
        Kept.push_back(("-std=" + F).str());
      } else if (F == "-dc" || F == "--device-c" || F == "-rdc=true" ||
                 F == "--relocatable-device-code=true") {
        Kept.push_back("-fgpu-rdc");
      } else if (F == "-use_fast_math" || F == "--use_fast_math") {
        Kept.push_back("-D__USE_FAST_MATH__");
      } else if (isKept(F)) {
        Kept.push_back(F.str());
      } else if (!takeRenamed(F, Next) &&
                 llvm::is_contained(DroppedWithValue, F)) {
        std::string Value = Next();
        if ((F == "-rdc" || F == "--relocatable-device-code") &&
            Value == "true")
          Kept.push_back("-fgpu-rdc");
      }
      // All else steers code generation, linking or warnings, or names files.
    }
  }

  std::vector<std::string> Kept;

private:
  template <class Function> bool takeRenamed(llvm::StringRef F, Function Next) {
    for (auto [Name, Clang] : Renamed) {
      llvm::StringRef Value = F;
      if (!Value.consume_front(Name))
        continue;
      bool Joined = !Value.empty();
      // "-include-something" is another option, "--define-macro=X" a value.
      if (Joined && Name.starts_with("--") && !Value.consume_front("="))
        continue;
      if (Joined && (Name == "-include" || Name == "-imacros") &&
          !Value.starts_with("="))
        continue;
      bool IsPath = Clang != "-D" && Clang != "-U";
      // nvcc takes -isystem=folder, as CMake writes it; Clang does not.
      if (Joined && IsPath)
        Value.consume_front("=");
      std::string Text = Joined ? Value.str() : Next();
      if (Text.empty())
        return true;
      Kept.push_back(Clang.str());
      Kept.push_back(IsPath ? absolute(Text) : std::move(Text));
      return true;
    }
    return false;
  }

  std::string absolute(llvm::StringRef Path) const {
    if (Folder.empty() || llvm::sys::path::is_absolute(Path))
      return Path.str();
    llvm::SmallString<256> Whole(Folder);
    llvm::sys::path::append(Whole, Path);
    return std::string(Whole);
  }

  /// "-fPIC,-DX=1,-I,dir": the host compiler's options.
  void hostOptions(llvm::StringRef Text, unsigned Depth) {
    llvm::SmallVector<llvm::StringRef> Parts;
    Text.trim("\"'").split(Parts, ',');
    std::vector<std::string> Words;
    for (llvm::StringRef Part : Parts) {
      // One word may hold several options in quotes.
      llvm::SmallVector<llvm::StringRef> Inner;
      Part.split(Inner, ' ', -1, /*KeepEmpty=*/false);
      for (llvm::StringRef Word : Inner)
        Words.push_back(Word.str());
    }
    if (Depth < DepthLimit)
      translate(Words, Depth + 1);
  }

  void responseFile(llvm::StringRef Name, unsigned Depth) {
    auto Buffer = llvm::MemoryBuffer::getFile(absolute(Name.trim("\"'")));
    if (!Buffer || Depth >= DepthLimit)
      return;
    llvm::BumpPtrAllocator Allocator;
    llvm::StringSaver Saver(Allocator);
    llvm::SmallVector<const char *> Words;
    llvm::cl::TokenizeGNUCommandLine((*Buffer)->getBuffer(), Saver, Words);
    translate(std::vector<std::string>(Words.begin(), Words.end()), Depth + 1);
  }

  static constexpr unsigned DepthLimit = 8;
  llvm::StringRef Folder;
};
} // namespace

std::vector<std::string> stark::parseFlags(llvm::ArrayRef<std::string> Given,
                                           llvm::StringRef Folder) {
  Translator T(Folder);
  T.translate(Given);
  return std::move(T.Kept);
}
