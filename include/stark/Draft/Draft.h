//===- Draft.h - A first workload for a source ---------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   source -> a dry run of its main() -> entry, sizes, shapes, launch -> text
/// Nothing of the source is compiled or run.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_DRAFT_DRAFT_H
#define STARK_DRAFT_DRAFT_H

#include "stark/AST/Parse.h"
#include "stark/AST/Signature.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>
#include <set>
#include <string>

namespace stark {

/// How the size that is compared but not timed differs from the one that the
/// program uses.
enum class SmallSize {
  Ragged,  ///< small odd numbers
  Aligned, ///< small multiples of the block
  Powers,  ///< small powers of two
  None,    ///< there is none: the program's own
};

/// Which sizes a text of a draft has.
enum class DraftSizes {
  All,
  Small, ///< the small one alone, timed: for a proof that takes seconds
  Own,   ///< all, and none that the tool would add: to see how long they take
};

/// Names of arguments.
struct WholeArguments {
  std::set<std::string> Read;    ///< each byte, before it is written
  std::set<std::string> Written; ///< each byte
  /// Of what was written nearly all elements have one value.
  std::set<std::string> Alike;
  /// Neither read nor written at all.
  std::set<std::string> Untouched;
};

/// The text of a workload with "bytes" as a draft has them, where that can be
/// said: of arguments that a run was seen to reach in full. What is counted,
/// and what is not, is added to \p Notes.
std::string withBytes(llvm::StringRef Workload, const WholeArguments &Seen,
                      std::vector<std::string> &Notes);

/// What a draft is made of; text() of it may be asked for in several forms.
class Draft {
public:
  virtual ~Draft();
  virtual const Signature &entry() const = 0;
  /// The workload.
  virtual std::string text(SmallSize Small, DraftSizes Sizes) const = 0;
  /// Whether the small size of this form is another than those before it.
  virtual bool differs(SmallSize Small) const = 0;
  /// Whether threads stay inside the arrays at the small size of this form, as
  /// far as a few of them tell, where they do at the program's.
  virtual bool fits(SmallSize Small) const = 0;
  /// From now on outputs are filled before each call, as what the entry does
  /// not write in full has to be. False where there is none.
  virtual bool fillOutputs() = 0;
  virtual void keepOutputs() = 0;
  /// From now on the workload counts bytes: those of arguments that a run was
  /// seen to reach in full. What is left out is said in a note, and which
  /// outputs tell little.
  virtual void countBytes(const WholeArguments &Seen) = 0;
  /// What the arrays come to at the largest timed size.
  virtual double timedBytes() const = 0;
  /// From now on there is a second timed size, whose arrays come to \p Bytes or
  /// more: the program's own times a power of two. False, and nothing changed,
  /// where the grid would not grow with it or could not be as large.
  virtual bool enlarge(double Bytes) = 0;
  /// There is no second timed size from now on.
  virtual void keepSize() = 0;
  /// The entry writes something that can be compared; else no task can be made
  /// of it, which the notes say.
  bool Comparable = true;
  /// What was guessed, and what would settle it.
  std::vector<std::string> Notes;
};

/// The first form that fits; where none does, the program's own sizes alone.
SmallSize likelyForm(const Draft &D);

/// All that could be an entry of a source, best first, from one dry run.
class Drafter {
public:
  virtual ~Drafter();
  /// Names as a workload gives them.
  virtual std::vector<std::string> entries() const = 0;
  /// Errors: those of findEntry() and checkCallable().
  virtual llvm::Expected<std::unique_ptr<Draft>>
  draft(llvm::StringRef Entry) = 0;
};

/// The program's other files that launch a kernel of \p Source, or call a
/// function of it: looked for in its folder and the one above, else in all of
/// its project, where it has no main() itself. Three at most, as far as they
/// can be parsed.
std::vector<std::unique_ptr<ParsedSource>>
findCallers(const ParsedSource &Source, const ParseOptions &Options);

/// Where all kernels of \p Source are templates that nothing in it
/// instantiates: the source with instances of them, those of \p Callers, else
/// ones with arguments that are guessed, which \p Notes say; else null.
std::unique_ptr<ParsedSource>
makeInstances(const ParsedSource &Source,
              llvm::ArrayRef<std::unique_ptr<ParsedSource>> Callers,
              const ParseOptions &Options, std::vector<std::string> &Notes);

/// Usage error when \p Source, which must outlive what is returned, as must
/// \p Callers, has nothing that could be an entry.
llvm::Expected<std::unique_ptr<Drafter>>
makeDrafter(const ParsedSource &Source,
            llvm::ArrayRef<std::unique_ptr<ParsedSource>> Callers = {});

} // namespace stark

#endif
