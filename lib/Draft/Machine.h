//===- Machine.h - A dry run of a source ---------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   AST -> what the host allocates and launches, and how kernels use it
/// Nothing is compiled or run: statements are followed with the values that are
/// known. Of long loops the first iterations and the last are followed; where a
/// condition is not known, both branches. Sizes carry the formula by which they
/// follow from the host's own variables.
///
//===----------------------------------------------------------------------===//

#ifndef STARK_LIB_DRAFT_MACHINE_H
#define STARK_LIB_DRAFT_MACHINE_H

#include "Memory.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

namespace stark::draft {

/// One launch, with the values that its arguments had.
struct Launch {
  const clang::FunctionDecl *Kernel = nullptr;
  Value Grid[3], Block[3], Shared;
  std::vector<Value> Arguments; ///< a struct: the address of its copy
  bool MadeUp = false; ///< by a function that nothing in the file calls
};

/// A call of a function of the source's own file.
struct HostCall {
  const clang::FunctionDecl *Callee = nullptr;
  std::vector<Value> Arguments;
};

/// Which thread a kernel is followed as.
struct Thread {
  int64_t Index[3], Block[3], BlockDim[3], GridDim[3];
};

/// What a kernel asks of an axis of its threads: blockIdx.x * blockDim.x +
/// threadIdx.x < Limit.
struct AxisGuard {
  int Axis = 0;
  Formula Limit;
  int64_t Last = 0;    ///< the last index that passes
  bool InLoop = false; ///< of strides: for (i = ...; i < Limit; i += ...)
  bool Whole = false;  ///< the blocks of all axes are counted through
};

/// A number for a name that blocks are made of.
struct BlockNumber {
  int64_t Number = 0;
  /// It counts threads, and nothing else: it is no size of the workload.
  bool Fixed = false;
};
using BlockNumbers = std::map<std::string, BlockNumber>;

enum class Flow { Next, Break, Continue, Return, Exit };

class Machine {
public:
  Machine(clang::ASTContext &Context, const std::set<std::string> &FixedNames)
      : Context(Context), FixedNames(FixedNames) {}

  /// Follows \p F, a method as of \p This, with \p Arguments; what it returns.
  Value run(const clang::FunctionDecl *F, std::vector<Value> Arguments,
            const Value &This = Value());
  /// For what nobody gives a value: a size of its own, an array of unknown
  /// length, an object whose fields are made up in turn.
  Value makeUp(clang::QualType Type, const std::string &Name);
  /// Follows \p Kernel as one thread.
  void runThread(const clang::FunctionDecl *Kernel,
                 const std::vector<Value> &Arguments, const Thread &As);
  /// As several threads of first, last and middle blocks.
  void runKernel(const Launch &L);

  Object *create(std::string Name, Space Where, int64_t Size, Formula SizeHow,
                 clang::QualType Type);
  /// Sizes that are ours, not the program's: \p Own, and those of \p Host,
  /// which may be null.
  void giveNames(const Bindings &Own, const Machine *Host);
  /// What stands for the field of \p O's structs that lies \p At bytes in one.
  Object &fieldOf(Object &O, int64_t At);
  /// What the host put there, all fields included.
  void copyHeld(Object &To, const Object &From);
  Value load(const Place &P);
  void store(const Place &P, const Value &V);
  /// The argument \p V of parameter \p P, a struct by its address.
  void bind(const clang::ParmVarDecl *P, const Value &V);
  int64_t sizeOf(clang::QualType Type) const;
  /// Null when nothing used \p Global.
  const Object *objectOf(const clang::VarDecl *Global) const {
    return Globals.lookup(Global);
  }
  /// Whether it is known where its fields are. \p R may be null.
  static bool hasLayout(const clang::RecordDecl *R);

  // What was seen.
  std::vector<Launch> Launches;
  std::vector<HostCall> Calls;
  Bindings Names; ///< the host's variables that sizes follow from
  std::set<std::string> ReadNames;   ///< of these: what the program reads
  std::set<std::string> MadeUpNames; ///< of these: what nobody gives a value
  /// Names of others that the run of an entry is given, which are not the
  /// program's.
  std::set<std::string> GivenNames;
  bool MainEnded = false; ///< main() exited before it came to its end
  size_t CallsOfMain = 0; ///< of Calls those before what nothing calls
  std::map<std::string, std::string> Powers; ///< of these: 2 to another
  std::vector<AxisGuard> Guards;
  bool AxisUsed[3] = {}, BlockUsed[3] = {}, ThreadUsed[3] = {};
  /// What lies at blockIdx times something that follows from sizes.
  bool BlockIsRow[3] = {};
  bool WatchBlocks = false; ///< whether that is looked for
  /// Whether a kernel waits for all of its grid, which then has to be there at
  /// once.
  bool WaitsForGrid = false;
  /// How many threads along an axis the kernel's own text says that a block
  /// has; 0: it does not.
  int64_t blockSide(int Axis) const {
    return SharedSide[Axis] ? SharedSide[Axis] : TileSide[Axis];
  }
  /// Of blockIdx.x * TileSide + threadIdx.x; 0: none.
  int64_t TileSide[3] = {};
  /// Sizes that the kernel takes whole tiles of, and how long these are.
  Bindings WholeTiles;
  std::set<std::string> LoopLimits; ///< what loops of a kernel run up to
  /// Of what the program reads, or nobody gives, and makes blocks of.
  BlockNumbers Blocks;
  /// Names that a switch of the host chooses by, and a number that it knows.
  Bindings Choices;
  /// What the program reads and compares with numbers, and these: a way that it
  /// is told to go.
  std::map<std::string, std::set<int64_t>> Asked;
  /// Places that are read or written as a whole of so many bytes, at multiples
  /// of which they have to lie.
  std::vector<std::pair<Formula, int64_t>> Aligned;
  int64_t SharedBytes = 0; ///< of dynamic shared memory, as far as was reached
  std::set<const clang::VarDecl *> SymbolsUsed; ///< by kernels
  std::set<const clang::VarDecl *> SymbolsSet;  ///< by the host
  std::set<const clang::VarDecl *> SymbolsGot;  ///< ... which it reads back
  bool Allocates = false, Prints = false, Exited = false;
  /// Whether launches are followed into their kernels.
  bool FollowLaunches = false;
  /// Whether a constant in a variable is a size that may be another: not inside
  /// an entry, where nobody could choose it.
  bool MakesNames = true;
  bool MadeUp = false;    ///< what is launched now is so with arguments of ours
  bool HasFilter = false; ///< what is made up now has a filter's width
  bool HasRank = false;   ///< ... is told how many sides a tensor has
  int ArgumentCount = 1;  ///< of main

private:
  struct Frame {
    llvm::DenseMap<const clang::VarDecl *, Object *> Locals;
    Value This;
    Value Returned;
    const clang::FunctionDecl *Of = nullptr;
    const Frame *Outer = nullptr; ///< of the caller, whose lambda it may be
  };
  /// Between two turns of a loop.
  struct Turn {
    Value Bounded;
    std::map<Object *, Value> Locals;
  };

  // Statements.
  Flow follow(const clang::Stmt *S);
  Flow followIf(const clang::IfStmt *S);
  std::string nameOfRead(const clang::Expr *Into, const Object &In) const;
  bool asksOfInput(const clang::Stmt *Cond);
  bool isOurs(const Value &V) const;
  bool agree(const clang::Expr *Cond, clang::BinaryOperatorKind Op,
             bool Constants = false);
  std::optional<bool> agreedWay(const clang::IfStmt *S);
  void noteMultiple(const clang::Expr *Cond, bool Holds);
  Flow followLoop(const clang::Stmt *Init, const clang::Expr *Cond,
                  const clang::Expr *Inc, const clang::Stmt *Body,
                  bool BodyFirst);
  std::optional<bool> goesOn(const clang::Expr *Cond, Value &V);
  Flow followSwitch(const clang::SwitchStmt *S);
  Flow followCase(const clang::CompoundStmt *Body,
                  const clang::SwitchCase *Wanted);
  void followAssembly(const clang::GCCAsmStmt *S);
  void declare(const clang::VarDecl *V, bool IsLoop);
  Turn turn(const clang::Expr *Cond);
  bool skipToLast(const clang::Expr *Cond, const Turn (&Seen)[2], unsigned Few);

  // Expressions.
  Value eval(const clang::Expr *E);
  Place place(const clang::Expr *E);
  Value evalBinary(const clang::BinaryOperator *B);
  Value evalUnary(const clang::UnaryOperator *U);
  Value evalCast(const clang::CastExpr *C);
  Value roundedUp(const clang::Expr *Cond, Value V);
  Value sumRoundedUp(const clang::BinaryOperator *B, const Value &L,
                     const Value &R, Value Sum);
  void roundUpCounted(const clang::IfStmt *S);
  Value evalConditional(const clang::ConditionalOperator *C);
  Value evalLiteral(const clang::IntegerLiteral *L);
  Value nameMacro(const clang::BinaryOperator *B, const Value &V);
  Value evalBuiltin(const clang::Expr *E);
  Value assign(const clang::BinaryOperator *B);
  Value arithmetic(clang::BinaryOperatorKind Op, const Value &L, const Value &R,
                   clang::QualType Type);
  Value addToPointer(const Value &P, const Value &I, int64_t Bytes, bool Minus);
  Value compare(clang::BinaryOperatorKind Op, const Value &L, const Value &R);
  void noteGuard(clang::BinaryOperatorKind Op, const Value &L, const Value &R);
  Value convert(const Value &V, clang::QualType To);
  std::optional<bool> truth(const Value &V);
  void noteShared(const Place &P);
  void noteTile(const Value &L, const Value &R);
  void noteCompared(const Value &V, int64_t With);
  void noteWholeTiles(const Formula &Limit);
  void noteSharedSide(const Value &Base, const Value &Index,
                      clang::QualType Array);
  Place placeOfVariable(const clang::VarDecl *V);
  Place placeAt(const Value &Pointer, clang::QualType Type);
  void initialize(const Place &P, const clang::Expr *Init);
  void initializeField(const Place &P, const clang::FieldDecl *F,
                       const clang::Expr *Init);
  void copy(const Place &To, const Place &From);
  void holdFields(const Place &To, const Place &From);
  bool isOfSeveralTypes(clang::QualType Type);
  Value loadedFrom(Object &O, const Place &P);
  Value evalNew(const clang::CXXNewExpr *N);
  std::optional<Value> evalWrapped(const clang::Expr *E);
  Place placeOfMember(const clang::MemberExpr *M);
  Place temporary(const clang::Expr *E);
  Value named(const Value &V, const std::string &Name);
  std::string freshName(const std::string &Wanted, int64_t Value);
  int64_t sizeRead(llvm::StringRef Name);
  /// Whether \p V is read and too large for what 2 is raised to: what comes of
  /// it is a size, rather than it.
  bool isExponentRead(const Value &V) const;

  // Calls.
  Value evalCall(const clang::CallExpr *C);
  Value construct(const Place &P, const clang::CXXConstructExpr *C);
  Value enter(const clang::FunctionDecl *F, const Value &This,
              llvm::ArrayRef<const clang::Expr *> Arguments);
  Value finish(const clang::FunctionDecl *F, std::unique_ptr<Frame> Made);
  /// std::forward() and std::move().
  static bool isPassedOn(const clang::CallExpr *C);
  Value thisOf(const clang::CXXThisExpr *E) const;
  bool wrapLambda(const Place &P, const clang::CXXConstructExpr *C);
  std::optional<Value> callWrapped(const clang::CallExpr *C,
                                   const clang::FunctionDecl *F);
  Value functionValue(const clang::FunctionDecl *F);
  std::vector<const clang::FunctionDecl *>
  mayBeCalled(clang::QualType Through) const;
  void callLambdas(llvm::ArrayRef<const clang::Expr *> Arguments);
  void touchArguments(const clang::CallExpr *C, const clang::FunctionDecl *F);
  void touch(clang::QualType Parameter, const clang::Expr *E);
  void noteCall(const clang::FunctionDecl *F,
                const std::vector<Value> &Arguments);
  bool isOwn(const clang::FunctionDecl *F) const;
  void launch(const clang::CUDAKernelCallExpr *C);
  Value callThrough(clang::QualType Through,
                    llvm::ArrayRef<const clang::Expr *> Arguments);
  void launchWith(Launch L, llvm::ArrayRef<const clang::Expr *> Given);
  void launchByCall(const clang::CallExpr *C);
  void record(Launch L);
  void followLast(const Launch &L, Thread T);
  Value dimension(const Place &P, int Axis);
  std::optional<Value> callDevice(llvm::StringRef Name,
                                  const clang::CallExpr *C);
  Value touchAtomically(const Place &P);
  void touchBytes(const Value &Pointer, int64_t Bytes, bool Write);
  void touchFragment(const clang::CallExpr *C, bool Write);
  Value touchCopied(const clang::CallExpr *C);
  std::optional<Value> callLibrary(llvm::StringRef Name,
                                   const clang::CallExpr *C);
  std::optional<Value> callCuda(llvm::StringRef Name, const clang::CallExpr *C);
  std::optional<Value> callMember(const clang::CXXMemberCallExpr *C);
  std::optional<Place> elementOfVector(const clang::CXXOperatorCallExpr *C);
  void makeVector(const Place &P, llvm::ArrayRef<const clang::Expr *> Args,
                  clang::QualType Type);
  std::optional<Value> callMemory(llvm::StringRef Name,
                                  const clang::CallExpr *C);
  std::optional<Value> callInput(llvm::StringRef Name,
                                 const clang::CallExpr *C);
  bool allocates(llvm::StringRef Name, const clang::CallExpr *C);
  bool copies(llvm::StringRef Name, const clang::CallExpr *C);
  void allocatePitched(const clang::CallExpr *C);
  void describeDevice(const clang::Expr *Into);
  void put(const clang::Expr *Into, const Value &V);
  Value returned(const clang::FunctionDecl *F);
  Value readResult(const Value &V, llvm::StringRef Into);
  void readInto(const clang::FunctionDecl *F, unsigned I, const clang::Expr *E);
  std::optional<Value> readFromStream(const clang::CXXOperatorCallExpr *C);
  void allocate(const clang::Expr *Into, const clang::Expr *Bytes, Space Where);
  void copyContents(const Value &To, const Value &From);
  void noteRows(const Formula &Offset);
  void noteAligned(const Place &P);
  void use(Object *O, const Place &P, int64_t Bytes, bool Write, bool Atomic);

  clang::ASTContext &Context;
  const std::set<std::string> &FixedNames;
  std::deque<std::unique_ptr<Object>> Heap;
  llvm::DenseMap<const clang::VarDecl *, Object *> Globals;
  llvm::DenseMap<const clang::RecordDecl *, bool> OfSeveralTypes;
  /// Functions that became values.
  std::vector<const clang::FunctionDecl *> Pointed;
  Frame *Top = nullptr;
  const Thread *As = nullptr; ///< null: host code
  unsigned Depth = 0, LaunchCount = 0, MadeUpSizes = 0;
  uint64_t Steps = 0;
  bool InLoopHead = false, InLoopCondition = false;
  std::set<std::pair<Object *, int64_t>> WrittenByThread;
  static constexpr uint64_t MostSteps = 4000000;
  static constexpr unsigned MostDepth = 40, MostIterations = 40;
  unsigned LoopDepth = 0;
  unsigned RowsLookedFor = 0, AlignedLookedFor = 0;
  int64_t SharedSide[3] = {};
  std::set<std::string> AlignedSeen;
  size_t SizesRead = 0;
  unsigned Doubts = 0; ///< conditions that are not known to hold
  /// Of these: where a thread may have left before. What it wrote on each such
  /// way, and what was written in doubt.
  unsigned MayHaveLeft = 0;
  std::set<Object *> WrittenBefore, WrittenInDoubt;
  bool spent() { return ++Steps > MostSteps; }
};

/// Whether \p Type is a class template of a growing array, and of what.
bool isVectorType(clang::QualType Type, clang::QualType *Element = nullptr,
                  Space *Where = nullptr);

} // namespace stark::draft

#endif
