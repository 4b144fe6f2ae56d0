//===- Extract.cpp - Code in headers as one source ------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/AST/Extract.h"
#include "ExtractCheck.h"
#include "ExtractPrint.h"
#include "Unit.h"
#include "stark/AST/Torch.h"
#include "stark/Support/Error.h"
#include "stark/Support/TimeTrace.h"
#include "clang/AST/Attr.h"
#include "clang/Frontend/ASTUnit.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

/// The host's pass; null for sources of torch, which would take too long.
static std::unique_ptr<ParsedSource> parseForHost(const std::string &Path,
                                                  StringRef Text,
                                                  const ParseOptions &Options) {
  if (includesTorch(Text))
    return nullptr;
  std::vector<SourceError> Errors;
  std::unique_ptr<ASTUnit> Unit = makeUnitAnyway(
      Path, Text, Options, Prelude::ofToolkit(Options, PassOf::Host), Errors,
      PassOf::Host);
  if (!Unit)
    return nullptr;
  return std::make_unique<ParsedSource>(Path, Text.str(), std::move(Unit),
                                        std::move(Errors));
}

namespace {
class Extractor {
public:
  Extractor(const ParsedSource &Source, const ParseOptions &Options,
            llvm::ArrayRef<std::string> Entries)
      : Source(Source), Options(Options), Entries(Entries),
        Host(parseForHost(Source.path(), Source.text(), Options)),
        Tree(passes(), Options) {}

  llvm::Expected<Extraction> run();

private:
  std::vector<const ParsedSource *> passes() const {
    std::vector<const ParsedSource *> All{&Source};
    if (Host)
      All.push_back(Host.get());
    return All;
  }
  llvm::Expected<Extraction> tryLevel(ExtractLevel Level);
  llvm::Error check(const Extraction &E);
  Meanings meanings(const IncludeTree &In, size_t Pass) const;

  const ParsedSource &Source;
  const ParseOptions &Options;
  llvm::ArrayRef<std::string> Entries;
  std::unique_ptr<ParsedSource> Host;
  IncludeTree Tree;
  std::vector<Meanings> Before;
};
} // namespace

Meanings Extractor::meanings(const IncludeTree &In, size_t Pass) const {
  UnitsOfFiles Units(In);
  std::vector<const Decl *> Found;
  for (const std::string &Entry : Entries)
    for (const Decl *D : entriesNamed(Units, Pass, Entry))
      Found.push_back(D);
  MeaningOptions Read;
  Read.IsOurs = [&](const Decl *D) {
    return In.place(Pass, D->getLocation()).first >= 0;
  };
  return meaningsOf(In.source(Pass), Found, Read);
}

llvm::Error Extractor::check(const Extraction &E) {
  auto Device = parseSource(Source.path(), E.Lines, Options);
  if (!Device)
    return Device.takeError();
  std::unique_ptr<ParsedSource> HostMade;
  std::vector<const ParsedSource *> Made{Device->get()};
  if (Host) {
    HostMade = parseForHost(Source.path(), E.Lines, Options);
    if (!HostMade)
      return failed("Clang could not make an AST of it");
    Made.push_back(HostMade.get());
  }
  IncludeTree After(Made, Options);
  for (size_t Pass = 0; Pass < Made.size(); ++Pass) {
    std::vector<SourceError> New = newErrors(Tree.source(Pass), *Made[Pass]);
    if (!New.empty())
      return failed((New.front().Line
                         ? "line " + std::to_string(New.front().Line) + ": "
                         : "") +
                    New.front().Message);
    if (Before.size() <= Pass)
      Before.push_back(meanings(Tree, Pass));
    std::string Other = firstDifference(Before[Pass], meanings(After, Pass));
    if (!Other.empty())
      return failed(Other + " would mean something else");
  }
  if (After.Files.size() > 1)
    return failed("'" + After.Files[1].Path + "' is still included");
  return llvm::Error::success();
}

llvm::Expected<Extraction> Extractor::tryLevel(ExtractLevel Level) {
  UnitsOfFiles Units(Tree, Level <= ExtractLevel::Used);
  if (Level != ExtractLevel::Whole && !Units.WhyNot.empty())
    return failed(Units.WhyNot);
  Reach From(Tree, Units, Level);
  if (llvm::Error E = From.addEntries(Entries))
    return E;
  KeptTokens Kept(Tree, Units, Level);
  Kept.complete(From);
  Extraction Made;
  Made.Level = Level;
  Made.Text = printKept(Tree, Units, Kept, /*WithLines=*/false).Text;
  PrintedText Lines = printKept(Tree, Units, Kept, /*WithLines=*/true);
  Made.Lines = std::move(Lines.Text);
  for (auto &[File, Text] : Lines.OfFile)
    Made.Headers.push_back(
        {Tree.Files[File].Path, Tree.Files[File].Name, std::move(Text)});
  for (const CodeUnit &U : Units.All)
    for (const auto &Of : U.Decls)
      for (const Decl *D : Of)
        if (const FunctionDecl *F = D->getAsFunction();
            F && U.Kept && U.File && F->isDefined())
          Made.DeviceCode |=
              F->hasAttr<CUDAGlobalAttr>() || F->hasAttr<CUDADeviceAttr>();
  return Made;
}

llvm::Expected<Extraction> Extractor::run() {
  std::string Why;
  for (ExtractLevel Level :
       {ExtractLevel::Least, ExtractLevel::Used, ExtractLevel::Reached,
        ExtractLevel::Macros, ExtractLevel::Whole}) {
    llvm::Expected<Extraction> Made = tryLevel(Level);
    llvm::Error E = Made ? check(*Made) : Made.takeError();
    if (!E) {
      Made->WhyMore = Why;
      return Made;
    }
    if (errorKind(E) == ErrorKind::Usage)
      return E;
    std::string Now = llvm::toString(std::move(E));
    if (Why.empty())
      Why = Now;
  }
  return failed(Source.path() + ": cannot be made one source: " + Why);
}

llvm::Expected<Extraction>
stark::extractEntry(const ParsedSource &Source, const ParseOptions &Options,
                    llvm::ArrayRef<std::string> Entries) {
  TraceScope Traced("extract");
  return Extractor(Source, Options, Entries).run();
}

bool stark::hasProjectHeaders(const ParsedSource &Source,
                              const ParseOptions &Options) {
  return IncludeTree({&Source}, Options).Files.size() > 1;
}
