//===- ExtractCheck.cpp - Whether an entry means what it meant ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractCheck.h"
#include "MeaningWalk.h"
#include "stark/Support/Digest.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace stark;
using namespace clang;
using llvm::StringRef;

namespace {
class MeaningReader : public MeaningWalk {
public:
  MeaningReader(const ParsedSource &Source, const MeaningOptions &Options)
      : MeaningWalk(Source.unit().getASTContext()),
        SM(Source.unit().getSourceManager()), Options(Options),
        Policy(Context.getPrintingPolicy()) {
    Policy.FullyQualifiedName = true;
    Policy.AnonymousTagLocations = Options.Places;
  }

  Meanings Found;

protected:
  void begin(const Decl *D) override { Current = D; }
  void end() override {
    if (!Text.empty())
      Found[nameOf(Current)].insert(sha256(plain(Text)));
    Text.clear();
  }
  bool walksBody(const Decl *D) override { return Options.IsOurs(D); }
  bool walksDestructors() const override { return false; }

  void onNode(const Stmt *S) override {
    Text += S->getStmtClassName();
    auto *E = dyn_cast<Expr>(S);
    if (!E) {
      if (auto *Declared = dyn_cast<DeclStmt>(S))
        for (const Decl *D : Declared->decls())
          if (auto *V = dyn_cast<ValueDecl>(D))
            Text += " " + V->getNameAsString() + ":" + typeName(V->getType());
      Text += "\n";
      return;
    }
    // The length of a text that names its own place depends on that.
    if (Options.Places || !isa<StringLiteral, PredefinedExpr>(E))
      Text += " " + typeName(E->getType());
    if (Options.Places || !saysPlace(E))
      value(E);
    Text += "\n";
  }

private:
  /// Whether __LINE__ or its like wrote \p E.
  bool saysPlace(const Expr *E) const {
    SourceLocation At = E->getBeginLoc();
    if (!isa<IntegerLiteral, StringLiteral>(E) || !At.isMacroID())
      return false;
    return llvm::StringSwitch<bool>(
               Lexer::getImmediateMacroName(At, SM, Context.getLangOpts()))
        .Cases("__LINE__", "__FILE__", "__FILE_NAME__", "__BASE_FILE__", true)
        .Default(false);
  }

  void value(const Expr *E) {
    llvm::raw_string_ostream OS(Text);
    if (auto *Ref = dyn_cast<DeclRefExpr>(E))
      OS << ' ' << nameOf(Ref->getDecl());
    else if (auto *Member = dyn_cast<MemberExpr>(E))
      OS << ' ' << nameOf(Member->getMemberDecl());
    else if (auto *Made = dyn_cast<CXXConstructExpr>(E))
      OS << ' ' << nameOf(Made->getConstructor());
    else if (auto *Number = dyn_cast<IntegerLiteral>(E))
      OS << ' ' << Number->getValue();
    else if (auto *Number = dyn_cast<FloatingLiteral>(E))
      OS << ' ' << Number->getValueAsApproximateDouble();
    else if (auto *Bytes = dyn_cast<StringLiteral>(E))
      OS << ' ' << Bytes->getBytes();
    else if (auto *Char = dyn_cast<CharacterLiteral>(E))
      OS << ' ' << Char->getValue();
    else if (auto *Truth = dyn_cast<CXXBoolLiteralExpr>(E))
      OS << ' ' << Truth->getValue();
    else if (auto *Two = dyn_cast<BinaryOperator>(E))
      OS << ' ' << Two->getOpcodeStr();
    else if (auto *One = dyn_cast<UnaryOperator>(E))
      OS << ' ' << UnaryOperator::getOpcodeStr(One->getOpcode());
    else if (auto *Cast = dyn_cast<CastExpr>(E))
      OS << ' ' << Cast->getCastKindName();
    else if (auto *Trait = dyn_cast<UnaryExprOrTypeTraitExpr>(E))
      OS << ' ' << int(Trait->getKind());
  }

  const std::string &typeName(QualType T) {
    auto [Known, New] = Types.try_emplace(T.getAsOpaquePtr());
    if (!New)
      return Known->second;
    T = T.getCanonicalType();
    // That of a function of Clang's own is not known before somebody asks.
    if (T->isFunctionProtoType())
      T = Context.getFunctionTypeWithExceptionSpec(
          T, FunctionProtoType::ExceptionSpecInfo());
    return Known->second = T.getAsString(Policy);
  }

  const std::string &nameOf(const Decl *D) {
    auto [Known, New] = Names.try_emplace(D);
    if (!New)
      return Known->second;
    std::string &Name = Known->second;
    llvm::raw_string_ostream OS(Name);
    OS << "'";
    if (auto *Named = dyn_cast<NamedDecl>(D))
      Named->getNameForDiagnostic(OS, Policy, /*Qualified=*/true);
    OS << "'";
    if (auto *F = D->getAsFunction())
      OS << " " << typeName(F->getType());
    PresumedLoc At = SM.getPresumedLoc(SM.getExpansionLoc(D->getLocation()));
    if (At.isValid() && Options.Places && !isBuiltin(D))
      OS << " (" << At.getFilename() << ":" << At.getLine() << ")";
    return Name = plain(std::move(Name));
  }

  std::string plain(std::string Of) const {
    if (!Options.Without.empty())
      for (size_t At; (At = Of.find(Options.Without)) != std::string::npos;)
        Of.erase(At, Options.Without.size());
    return Of;
  }

  const SourceManager &SM;
  const MeaningOptions &Options;
  PrintingPolicy Policy;
  const Decl *Current = nullptr;
  std::string Text;
  std::map<const void *, std::string> Types;
  std::map<const Decl *, std::string> Names;
};
} // namespace

Meanings stark::meaningsOf(const ParsedSource &Source,
                           llvm::ArrayRef<const Decl *> Entries,
                           const MeaningOptions &Options) {
  MeaningReader Reader(Source, Options);
  for (const Decl *D : Entries)
    Reader.add(D);
  Reader.run();
  return std::move(Reader.Found);
}

std::string stark::firstDifference(const Meanings &Before,
                                   const Meanings &After) {
  for (const auto &[Name, Digest] : Before) {
    auto There = After.find(Name);
    if (There == After.end() || There->second != Digest)
      return Name;
  }
  for (const auto &[Name, Digest] : After)
    if (!Before.count(Name))
      return Name;
  return "";
}
