//===- Contract.h - What a candidate must keep ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   The contract, always checked on the AST: the entry's signature and
/// linkage, the exported symbols, and nothing forbidden is called.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_AST_CONTRACT_H
#define STARK_AST_CONTRACT_H

#include "stark/AST/EntryUsed.h"
#include "stark/AST/Parse.h"
#include <optional>
#include <string>
#include <vector>

namespace stark {

/// What a forbidden name could do.
enum class Harm {
  Streams, ///< of its own
  Events,  ///< that could touch the clock
  Graphs,
  Device,  ///< its state is changed
  Loading, ///< of code
  State,   ///< is kept between calls
  Threads, ///< and processes
  Files,   ///< and sockets
  Clocks,
  Process, ///< its state is changed
  Judge,   ///< the name is the judge's own
  Place,   ///< what is shipped stands in another file
  Build,   ///< or is compiled by another compiler, with other flags
};

enum class ViolationKind {
  // Words and what they mean.
  UsesName,
  DeclaresName,
  CallsFunction,
  PastesTokens,
  PragmaOperator,
  UsesAttribute,
  NamesSymbol, ///< for the linker, as an assembler name does
  TellingString,
  // Directives.
  UsesDirective,
  UsesPragma,
  ComputedInclude,
  OutsideInclude,
  HarmfulInclude,
  ForeignInclude,
  MissingInclude,
  SkippedInclude,
  UndefinesName,
  RedefinesLanguage,
  RedefinesFunction,
  RedefinesDeclared,
  AsksCompiler,
  SkippedText,
  // Code.
  FunctionFromNumber,
  StreamFromNumber,
  LaunchAttributeFromNumber,
  HandleAsNumber, ///< of a texture or surface object, or the other way round
  WritesConst,    ///< to what the source may only read
  WritesInput,    ///< which the entry takes without const
  HostAssembly,
  FileAssembly,
  PtxDeclaration, ///< or braces in assembly that are not balanced
  UndefinedFunction,
  AddsToStd,
  // Variables that live between calls.
  ManagedVariable,
  FilledConstant,
  ForeignVariable,
  DeviceVariable,
  StaticVariable,
  GlobalVariable,
  RunsInitialiser,
  RunsDestructor,
  SomeStatic,   ///< that Clang did not see
  SomeVariable, ///< likewise
  // What others rely on: Subject says of what.
  NoSuchEntry,
  SymbolMissing,
  TypeChanged,
  SideChanged,
  LinkageLost,
  LinkageGained,
  BecameInternal,
  BecameVisible,
  TemplateLost,
  TemplateGained,
  BecameInline,
  EntryOverloaded,
  InlineOrTemplate,
  DefaultsChanged,
  ParametersMoved, ///< the same names and types in another order
  SymbolAdded,
};

/// What a changed or missing symbol is.
enum class SymbolRole { Entry, Kernel, Function, Variable };

struct Violation {
  ViolationKind Kind = ViolationKind::UsesName;
  unsigned Line = 0;  ///< in the candidate, 0 when something is missing
  std::string Name{}; ///< what it is about
  std::optional<Harm> Why{};
  /// From tokens alone: Clang does not understand all of the file.
  bool Guessed = false;
  SymbolRole Role = SymbolRole::Entry; ///< of a symbol
  std::string Was{}, Is{};             ///< its type or side

  bool forbidden() const; ///< something not allowed, else a broken contract
  std::string message() const; ///< "entry 'launch' was 'void ()', is now ..."
};

/// What the entry is given to read alone, whatever its parameters' types say.
struct EntryInput {
  unsigned Position = 0; ///< of the parameter
  std::string Name;      ///< for messages
  std::string Field{};   ///< of a struct that is passed by value
};

/// Compares \p Candidate with the source the search began with. Forbidden are
/// calls with which a candidate could fool the judge or harm the host: streams
/// and graphs of its own, device limits, events, process and thread creation,
/// files and sockets, inline host assembly, static state kept between calls,
/// stores to \p Inputs.
std::vector<Violation> checkContract(const ParsedSource &Source,
                                     const ParsedSource &Candidate,
                                     llvm::StringRef Entry,
                                     EntryUsed As = EntryUsed::Called,
                                     llvm::ArrayRef<EntryInput> Inputs = {});

} // namespace stark

#endif
