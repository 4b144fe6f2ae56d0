//===- ContractMessage.cpp - What is said of a broken contract -----------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   Violation -> the line that people and models read. A new kind is a row of
/// the table here and an enumerator in Contract.h.
///
//===----------------------------------------------------------------------===//

#include "ContractFindings.h"
#include "stark/Json/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace stark;
using K = ViolationKind;

namespace stark {
/// Why each is forbidden.
static constexpr Named<Harm> HarmTexts[] = {
    {Harm::Streams, "work goes to the stream that the entry is given"},
    {Harm::Events, "events could tamper with the clock"},
    {Harm::Graphs, "graphs could defer work"},
    {Harm::Device, "the state of the device belongs to the caller"},
    {Harm::Loading, "no code may be loaded or looked up at run time"},
    {Harm::State, "nothing may be kept between calls"},
    {Harm::Threads,
     "no threads or processes of its own; work could escape the clock"},
    {Harm::Files, "no files, sockets or other processes"},
    {Harm::Clocks, "a kernel has no use for a clock"},
    {Harm::Process, "the process belongs to the caller"},
    {Harm::Judge, "the name is the judge's own"},
    {Harm::Place, "code may not ask where it stands, which is elsewhere once "
                  "it is built; leave the check or the report out"},
    {Harm::Build, "it tells compilers apart, or what is judged from what is "
                  "built"}};
static constexpr std::span<const Named<Harm>> namesOf(Harm) {
  return HarmTexts;
}

static constexpr Named<SymbolRole> RoleNames[] = {
    {SymbolRole::Entry, "entry"},
    {SymbolRole::Kernel, "kernel"},
    {SymbolRole::Function, "function"},
    {SymbolRole::Variable, "variable"}};
static constexpr std::span<const Named<SymbolRole>> namesOf(SymbolRole) {
  return RoleNames;
}
} // namespace stark

namespace {
struct Wording {
  ViolationKind Kind;
  Subject Of;
  /// {0} is the name, {1} what it could do, {2} the symbol ("entry 'f'"), {3}
  /// and {4} what it was and is; {5} and {6} are what else is said of a symbol,
  /// {7} of a variable.
  const char *Format;
};
} // namespace

static const Wording Wordings[] = {
    {K::UsesName, Subject::Name, "uses '{0}', which is forbidden{1}"},
    {K::DeclaresName, Subject::Name, "declares '{0}', which is forbidden"},
    {K::CallsFunction, Subject::Call, "calls '{0}', which is forbidden{1}"},
    {K::PastesTokens, Subject::Paste,
     "pastes tokens with '##', which hides what is named"},
    {K::PragmaOperator, Subject::Pragma,
     "uses _Pragma({0}), which is forbidden; only unroll and nv_ pragmas are "
     "allowed"},
    {K::UsesAttribute, Subject::Attribute,
     "uses the attribute '{0}', which is forbidden: it changes how code is "
     "linked or loaded"},
    {K::NamesSymbol, Subject::Attribute,
     "gives a function another name for the linker, which is forbidden"},
    {K::TellingString, Subject::String,
     "has '{0}' in a string, which is forbidden"},

    {K::UsesDirective, Subject::Directive, "uses #{0}, which is forbidden"},
    {K::UsesPragma, Subject::Pragma,
     "uses #pragma {0}, which is forbidden; only unroll, pack, once and "
     "diagnostics are allowed"},
    {K::ComputedInclude, Subject::Include,
     "includes {0}, which is forbidden: the file's name must be written out"},
    {K::OutsideInclude, Subject::Include,
     "includes {0}, which is forbidden: only headers of the toolkit, of the "
     "standard library, or those that the source has"},
    {K::HarmfulInclude, Subject::Include,
     "includes {0}, which is forbidden{1}"},
    {K::ForeignInclude, Subject::Include,
     "includes {0}, which is forbidden: a file that the source does not "
     "include"},
    {K::MissingInclude, Subject::Include,
     "includes {0}, which is forbidden: there is no such file"},
    {K::SkippedInclude, Subject::Include,
     "includes {0} in a branch that Clang skips, so it cannot be checked"},
    {K::UndefinesName, Subject::Undef,
     "undefines '{0}', which this file does not define"},
    {K::RedefinesLanguage, Subject::Define,
     "redefines '{0}', which is forbidden: the name belongs to the language, "
     "to CUDA or to the system"},
    {K::RedefinesFunction, Subject::Define,
     "redefines the function '{0}' by a macro"},
    {K::RedefinesDeclared, Subject::Define,
     "redefines '{0}', which a header declares"},
    {K::AsksCompiler, Subject::Condition,
     "asks the preprocessor about '{0}', which is forbidden: compilers may "
     "answer differently; only __CUDA_ARCH__, CUDART_VERSION and macros of "
     "this file are allowed"},
    {K::SkippedText, Subject::Skipped,
     "has text in a branch that the device pass skips, so it cannot be "
     "checked; keep conditionals inside __global__ and __device__ functions, "
     "or around them"},

    {K::FunctionFromNumber, Subject::FunctionCast,
     "makes a function pointer from a number, which is forbidden"},
    {K::StreamFromNumber, Subject::StreamCast,
     "makes a stream from a number or another pointer, which is forbidden: "
     "work goes to the "
     "stream that the entry is given"},
    {K::LaunchAttributeFromNumber, Subject::LaunchCast,
     "makes a launch attribute from a number, which is forbidden"},
    {K::HandleAsNumber, Subject::HandleCast,
     "takes the handle of a texture or surface object for a number, or a "
     "number for one, which is forbidden: it may tell one call from another"},
    {K::WritesConst, Subject::Input,
     "writes to what is const behind a cast, which is forbidden: inputs stay "
     "as they are, also while it works"},
    {K::WritesInput, Subject::Input,
     "writes to '{0}', which is an input, and so forbidden: inputs stay as "
     "they "
     "are, also while it works"},
    {K::HostAssembly, Subject::Assembly,
     "has assembly in host code, which is forbidden"},
    {K::FileAssembly, Subject::Assembly,
     "has assembly outside every function, which is forbidden"},
    {K::PtxDeclaration, Subject::Assembly,
     "has '{0}' in assembly, which is forbidden: it may declare registers and "
     "labels, and nothing that outlives it"},
    {K::UndefinedFunction, Subject::Undefined,
     "declares host function '{0}', which neither it nor the source defines"},
    {K::AddsToStd, Subject::Std, "adds to namespace std, which is forbidden"},

    {K::ManagedVariable, Subject::Variable,
     "variable '{0}' is managed memory{7}"},
    {K::FilledConstant, Subject::Variable,
     "variable '{0}' is constant memory that the host would fill{7}"},
    {K::ForeignVariable, Subject::Variable,
     "variable '{0}' belongs to another file{7}"},
    {K::DeviceVariable, Subject::Variable,
     "variable '{0}' is mutable device memory{7}"},
    {K::StaticVariable, Subject::Variable,
     "variable '{0}' is static and can change{7}"},
    {K::GlobalVariable, Subject::Variable,
     "variable '{0}' is global and can change{7}"},
    {K::RunsInitialiser, Subject::Variable,
     "variable '{0}' is initialised by code that runs once{7}"},
    {K::RunsDestructor, Subject::Variable,
     "variable '{0}' runs a destructor when the program ends{7}"},
    {K::SomeStatic, Subject::Static,
     "keeps a static variable between calls, which is forbidden"},
    {K::SomeVariable, Subject::Variable,
     "declares a variable that lives between calls, which is forbidden"},

    {K::NoSuchEntry, Subject::Symbol, "the source defines no function '{0}'"},
    {K::SymbolMissing, Subject::Symbol,
     "{2} is missing, which the source has in line {3}; {5}"},
    {K::TypeChanged, Subject::Symbol, "{2} was '{3}', is now '{4}'{6}"},
    {K::SideChanged, Subject::Symbol, "{2} must stay {3}, is now {4}"},
    {K::LinkageLost, Subject::Symbol, "{2} was extern \"C\", is not now"},
    {K::LinkageGained, Subject::Symbol, "{2} is now extern \"C\""},
    {K::BecameInternal, Subject::Symbol,
     "{2} was visible to other files, is now internal"},
    {K::BecameVisible, Subject::Symbol,
     "{2} was internal, is now visible to other files"},
    {K::TemplateLost, Subject::Symbol, "{2} was a template, is not now"},
    {K::TemplateGained, Subject::Symbol, "{2} is now a template"},
    {K::BecameInline, Subject::Symbol, "{2} is now inline"},
    {K::EntryOverloaded, Subject::Symbol,
     "{2} has another function of its name beside it, which a call might "
     "prefer"},
    {K::InlineOrTemplate, Subject::Symbol,
     "{2} is now inline or a template; other files may not find it"},
    {K::DefaultsChanged, Subject::Symbol,
     "{2} has other default arguments than before"},
    {K::ParametersMoved, Subject::Symbol,
     "{2} had the parameters ({3}), has ({4}) now; callers pass them by "
     "position"},
    {K::SymbolAdded, Subject::Symbol,
     "adds exported {2}; make it static or put it into an anonymous "
     "namespace"},
};

static const Wording &wordingOf(ViolationKind Kind) {
  const Wording *Found =
      llvm::find_if(Wordings, [&](const Wording &W) { return W.Kind == Kind; });
  assert(Found != std::end(Wordings) && "each kind has its words");
  return *Found;
}

Subject stark::subjectOf(ViolationKind Kind) { return wordingOf(Kind).Of; }

bool Violation::forbidden() const { return subjectOf(Kind) != Subject::Symbol; }

std::string Violation::message() const {
  bool IsEntry = Role == SymbolRole::Entry;
  std::string Text = llvm::formatv(
      wordingOf(Kind).Format, Name, Why ? std::string(": ") + nameOf(*Why) : "",
      nameOf(Role) + (" '" + Name + "'"), Was, Is,
      IsEntry ? "it must stay as the source has it" : "other files may use it",
      IsEntry ? "" : "; other files may use it",
      ", which is forbidden: nothing may be kept between calls");
  return Guessed ? Text + " (Clang does not understand all of this file)"
                 : Text;
}
