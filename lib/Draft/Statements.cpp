//===- Statements.cpp - The way that a dry run takes ---------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DryRun.h"
#include "clang/AST/Attr.h"
#include <cmath>

using namespace stark;
using namespace stark::draft;
using namespace clang;

void Machine::declare(const VarDecl *V, bool IsLoop) {
  if (V->isStaticLocal() || V->hasAttr<CUDASharedAttr>()) {
    placeOfVariable(V);
    return;
  }
  QualType Type = V->getType();
  Object *O = create(V->getNameAsString(),
                     V->hasAttr<CUDASharedAttr>() ? Space::Shared : Space::Host,
                     sizeOf(Type.getNonReferenceType()), nullptr, Type);
  Top->Locals[V] = O;
  const Expr *Init = V->getInit();
  if (!Init || Type->isDependentType())
    return;
  Place P;
  P.To = O;
  P.OffsetHow = constant(0);
  P.Type = Type;
  if (Type->isReferenceType()) {
    Place Referee = place(Init);
    Value At =
        Referee ? Value::address(Referee.To, Referee.Offset, Referee.OffsetHow)
                : Value();
    At.Exact = Referee.Exact;
    At.takeLoaded(Referee.Index);
    O->Cells[0] = At;
    return;
  }
  if (IsLoop)
    InLoopHead = true;
  initialize(P, Init);
  InLoopHead = false;
  auto Cell = O->Cells.find(0);
  if (Cell == O->Cells.end() || !Type->isIntegerType() ||
      Type->isBooleanType() || IsLoop)
    return;
  Cell->second = named(readResult(Cell->second, V->getNameAsString()),
                       V->getNameAsString());
}

bool draft::leaves(const Stmt *S) {
  if (!S || isa<LambdaExpr>(S))
    return false;
  if (isa<ReturnStmt, CXXThrowExpr, BreakStmt, ContinueStmt, GotoStmt>(S))
    return true;
  if (const auto *C = dyn_cast<CallExpr>(S))
    if (const auto *F = C->getDirectCallee();
        F &&
        (F->isNoReturn() || (F->getIdentifier() && (F->getName() == "exit" ||
                                                    F->getName() == "abort"))))
      return true;
  return llvm::any_of(S->children(),
                      [](const Stmt *Child) { return leaves(Child); });
}

/// Of a block of statements the last.
static const Stmt *lastOf(const Stmt *S) {
  const auto *Block = dyn_cast<CompoundStmt>(S);
  return Block && !Block->body_empty() ? Block->body_back() : S;
}

Flow Machine::followIf(const IfStmt *S) {
  if (S->getInit())
    follow(S->getInit());
  if (const DeclStmt *D = S->getConditionVariableDeclStmt())
    follow(D);
  std::optional<bool> Taken;
  if (S->isConstexpr()) {
    Expr::EvalResult R;
    if (S->getCond()->EvaluateAsInt(R, Context))
      Taken = R.Val.getInt().getBoolValue();
  }
  if (!Taken)
    Taken = agreedWay(S);
  if (!Taken)
    Taken = truth(eval(S->getCond()));
  // What is read is as the program wants it, where it would end otherwise.
  if (Taken && *Taken && !As && !S->getElse() && leaves(S->getThen()) &&
      !launches(S->getThen()) && asksOfInput(S->getCond()))
    Taken = false;
  if (Taken) {
    const Stmt *Way = *Taken ? S->getThen() : S->getElse();
    Flow Then = Way ? follow(Way) : Flow::Next;
    roundUpCounted(S);
    return Then;
  }
  // Where it is not known, a way that leaves is an exception on the host; a
  // thread may leave, and another goes on. Of two ways one is taken.
  bool Doubtful = As && !S->getElse();
  Doubts += Doubtful;
  std::set<Object *> Before = std::exchange(WrittenInDoubt, {});
  if (!leaves(S->getThen()) || As)
    follow(S->getThen());
  // What follows a thread that may have left is as doubtful.
  if (Doubtful && isa<ReturnStmt>(lastOf(S->getThen()))) {
    if (MayHaveLeft++)
      std::erase_if(WrittenBefore,
                    [&](Object *O) { return !WrittenInDoubt.count(O); });
    else
      WrittenBefore = WrittenInDoubt;
  } else {
    Doubts -= Doubtful;
  }
  WrittenInDoubt.insert(Before.begin(), Before.end());
  if (S->getElse() && (!leaves(S->getElse()) || As))
    follow(S->getElse());
  return Flow::Next;
}

/// What \p B compares: i of i < ceil(n / 16.0f), as it counts.
static const Expr *counted(const BinaryOperator *B) {
  return B->getLHS()->IgnoreParenImpCasts();
}

/// Of several conditions the first that bounds something from above.
static const BinaryOperator *boundOf(const Expr *Cond) {
  const auto *B = dyn_cast_or_null<BinaryOperator>(
      Cond ? Cond->IgnoreParenImpCasts() : nullptr);
  if (!B)
    return nullptr;
  if (B->getOpcode() == BO_LAnd) {
    const BinaryOperator *Left = boundOf(B->getLHS());
    return Left ? Left : boundOf(B->getRHS());
  }
  bool Up = B->getOpcode() == BO_LT || B->getOpcode() == BO_LE ||
            B->getOpcode() == BO_NE;
  return Up && counted(B)->getType()->isIntegerType() ? B : nullptr;
}

/// What a loop's turns change: what \p Cond bounds, and the frame's integers
/// and pointers.
Machine::Turn Machine::turn(const Expr *Cond) {
  Turn Now;
  const BinaryOperator *B = boundOf(Cond);
  if (!B || !Top || B->getLHS()->HasSideEffects(Context))
    return Now;
  Now.Bounded = convert(eval(counted(B)), counted(B)->getType());
  for (const auto &[V, O] : Top->Locals) {
    QualType Type = V->getType();
    auto Cell = O->Cells.find(0);
    if (Cell != O->Cells.end() &&
        (Type->isIntegerType() || Type->isPointerType()))
      Now.Locals[O] = Cell->second;
  }
  return Now;
}

/// A number, or a place of an object.
static std::optional<int64_t> positionOf(const Value &V, const Value &Like) {
  if (V.isInteger() && Like.isInteger())
    return V.Number;
  bool Same = V.isAddress() && Like.isAddress() && V.To == Like.To && V.Exact;
  return Same ? std::optional(V.Offset) : std::nullopt;
}

/// \p Now, after as many turns again; itself where it has not grown by as much
/// in each of the two since \p Earlier.
static Value after(const Value &Earlier, const Value &Before, const Value &Now,
                   int64_t Turns) {
  std::optional<int64_t> First = positionOf(Earlier, Now),
                         Second = positionOf(Before, Now),
                         Third = positionOf(Now, Now);
  if (!First || !Second || !Third || *Third == *Second ||
      *Third - *Second != *Second - *First)
    return Now;
  int64_t At = *Third + Turns * (*Third - *Second);
  if (Now.isInteger())
    return Value::integer(At);
  Value Then = Now;
  Then.Offset = At;
  Then.OffsetHow = opaque(At, Now.OffsetHow);
  return Then;
}

/// Brings a loop to its last \p Few turns: what \p Cond bounds grows by as much
/// in each as it has since the second of \p Seen, and so does all that has in
/// both.
bool Machine::skipToLast(const Expr *Cond, const Turn (&Seen)[2],
                         unsigned Few) {
  const BinaryOperator *B = boundOf(Cond);
  Turn Now = turn(Cond);
  if (!B || !Seen[1].Bounded.isInteger() || !Now.Bounded.isInteger())
    return false;
  Value Bound = eval(B->getRHS());
  int64_t Step = Now.Bounded.Number - Seen[1].Bounded.Number;
  bool Within = B->getOpcode() == BO_LE;
  if (Bound.Kind == Value::Real && std::fabs(Bound.Floating) < 1e15)
    Bound = Value::integer(int64_t(Within ? std::floor(Bound.Floating)
                                          : std::ceil(Bound.Floating)));
  int64_t Last = Bound.Number - (Within ? 0 : 1);
  if (!Bound.isInteger() || Step <= 0 || Last < Now.Bounded.Number)
    return false;
  int64_t Turns = std::max<int64_t>(
      (Last - Now.Bounded.Number) / Step - int64_t(Few) + 1, 0);
  for (const auto &[O, V] : Now.Locals) {
    auto Earlier = Seen[0].Locals.find(O), Before = Seen[1].Locals.find(O);
    if (Earlier != Seen[0].Locals.end() && Before != Seen[1].Locals.end() &&
        !V.Wraps)
      O->Cells[0] = after(Earlier->second, Before->second, V, Turns);
  }
  return true;
}

/// Whether a loop's condition holds, which comes to \p V.
std::optional<bool> Machine::goesOn(const Expr *Cond, Value &V) {
  InLoopCondition = true;
  V = eval(Cond);
  InLoopCondition = false;
  return truth(V);
}

Flow Machine::followLoop(const Stmt *Init, const Expr *Cond, const Expr *Inc,
                         const Stmt *Body, bool BodyFirst) {
  if (Init) {
    if (const auto *D = dyn_cast<DeclStmt>(Init)) {
      for (const Decl *Each : D->decls())
        if (const auto *V = dyn_cast<VarDecl>(Each))
          declare(V, /*IsLoop=*/true);
    } else {
      InLoopHead = true;
      follow(Init);
      InLoopHead = false;
    }
  }
  unsigned Left = 0; // turns after those that were skipped
  Turn Seen[2];
  // Of loops in loops fewer.
  static constexpr unsigned OnHost[] = {40, 8, 3}, OnDevice[] = {4, 3, 3};
  unsigned Depth = LoopDepth < 2 ? LoopDepth : 2;
  unsigned Most = (As ? OnDevice : OnHost)[Depth];
  struct Deeper {
    unsigned &Depth;
    ~Deeper() { --Depth; }
  } Inside{LoopDepth};
  ++LoopDepth;
  for (unsigned I = 0; !spent(); ++I) {
    if (Cond && !(BodyFirst && I == 0)) {
      Value V;
      std::optional<bool> Goes = goesOn(Cond, V);
      if (!Goes) {
        for (Object *O : V.Loaded)
          O->Used.BoundsLoop = true;
        if (I >= 2)
          return Flow::Next;
      } else if (!*Goes) {
        return Flow::Next;
      }
    } else if (!Cond && I >= 2) {
      return Flow::Next;
    }
    Flow F = follow(Body);
    if (F == Flow::Return || F == Flow::Exit)
      return F;
    if (F == Flow::Break)
      return Flow::Next;
    if (Left == 1)
      return Flow::Next;
    if (Inc)
      eval(Inc);
    // In long loops the first and the last iterations.
    if (I + 3 == Most || I + 2 == Most)
      Seen[I + 2 == Most] = turn(Cond);
    // What the host does by turns, as signs, it does at the end as well.
    if (Left)
      --Left;
    else if (unsigned Few = As || Depth ? 1 : 4;
             I + 1 == Most && skipToLast(Cond, Seen, Few))
      Left = Few;
    else if (I + 1 >= MostIterations)
      return Flow::Next;
  }
  return Flow::Next;
}

static std::optional<int64_t> labelOf(const SwitchCase *C,
                                      const ASTContext &Context) {
  const auto *Case = dyn_cast<CaseStmt>(C);
  Expr::EvalResult R;
  if (!Case || !Case->getLHS()->EvaluateAsInt(R, Context))
    return std::nullopt;
  return R.Val.getInt().getExtValue();
}

static bool endsProgram(const Stmt *S) {
  if (!S || isa<LambdaExpr>(S))
    return false;
  const auto *C = dyn_cast<CallExpr>(S);
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  if (isa<CXXThrowExpr>(S) ||
      (F &&
       (F->isNoReturn() || (F->getIdentifier() && F->getName() == "exit"))))
    return true;
  return llvm::any_of(S->children(),
                      [](const Stmt *Child) { return endsProgram(Child); });
}

/// Whether what is done from the label \p From of \p Body on ends the program.
static bool endsFrom(const Stmt *Body, const SwitchCase *From) {
  bool In = false;
  for (const Stmt *Each : Body->children())
    if ((In |= Each == From) && endsProgram(Each))
      return true;
    else if (In && isa<BreakStmt>(Each))
      return false;
  return false;
}

Flow Machine::followSwitch(const SwitchStmt *S) {
  Value V = eval(S->getCond());
  const SwitchCase *Wanted = nullptr;
  const SwitchCase *First = nullptr, *Default = nullptr;
  for (const SwitchCase *C = S->getSwitchCaseList(); C;
       C = C->getNextSwitchCase()) {
    First = C;
    if (isa<DefaultStmt>(C))
      Default = C;
    else if (V.isInteger() && labelOf(C, Context) == V.Number)
      Wanted = C;
  }
  // What is none of those that it knows is an error.
  if (!As && Default && Default != First && endsFrom(S->getBody(), Default))
    Default = nullptr;
  if (!As && V.isInteger() && isName(V.How) && First)
    Choices[V.How->Name] = Wanted || Default
                               ? V.Number
                               : labelOf(First, Context).value_or(V.Number);
  if (!Wanted)
    Wanted = V.isInteger() ? Default : First;
  const auto *Body = dyn_cast<CompoundStmt>(S->getBody());
  if (!Wanted || !Body)
    return Flow::Next;
  if (As && !V.isInteger()) {
    // As of an if: without a default it is not known that a way is taken.
    Doubts += !Default;
    for (const SwitchCase *C = S->getSwitchCaseList(); C;
         C = C->getNextSwitchCase()) {
      if (std::optional<int64_t> Label = labelOf(C, Context))
        noteCompared(V, *Label);
      followCase(Body, C);
    }
    Doubts -= !Default;
    return Flow::Next;
  }
  Flow F = followCase(Body, Wanted);
  return F == Flow::Break ? Flow::Next : F;
}

/// From \p Wanted on, until something leaves.
Flow Machine::followCase(const CompoundStmt *Body, const SwitchCase *Wanted) {
  bool In = false;
  for (const Stmt *Each : Body->body()) {
    const Stmt *Inner = Each;
    while (const auto *C = dyn_cast<SwitchCase>(Inner)) {
      In |= C == Wanted;
      Inner = C->getSubStmt();
    }
    if (!In)
      continue;
    if (Flow F = follow(Inner); F != Flow::Next)
      return F;
  }
  return Flow::Next;
}

Flow Machine::follow(const Stmt *S) {
  if (!S || spent() || Exited)
    return Exited ? Flow::Exit : Flow::Next;
  if (const auto *C = dyn_cast<CompoundStmt>(S)) {
    for (const Stmt *Each : C->body())
      if (Flow F = follow(Each); F != Flow::Next)
        return F;
    return Flow::Next;
  }
  if (const auto *D = dyn_cast<DeclStmt>(S)) {
    for (const Decl *Each : D->decls())
      if (const auto *V = dyn_cast<VarDecl>(Each); V && Top)
        declare(V, false);
    return Exited ? Flow::Exit : Flow::Next;
  }
  if (const auto *I = dyn_cast<IfStmt>(S))
    return followIf(I);
  if (const auto *F = dyn_cast<ForStmt>(S))
    return followLoop(F->getInit(), F->getCond(), F->getInc(), F->getBody(),
                      false);
  if (const auto *W = dyn_cast<WhileStmt>(S))
    return followLoop(nullptr, W->getCond(), nullptr, W->getBody(), false);
  if (const auto *D = dyn_cast<DoStmt>(S))
    return followLoop(nullptr, D->getCond(), nullptr, D->getBody(), true);
  if (const auto *R = dyn_cast<CXXForRangeStmt>(S)) {
    // The elements are not looked at one by one.
    follow(R->getRangeStmt());
    const VarDecl *V = R->getLoopVariable();
    if (Top)
      Top->Locals[V] = create(V->getNameAsString(), Space::Host,
                              sizeOf(V->getType().getNonReferenceType()),
                              nullptr, V->getType());
    Flow F = follow(R->getBody());
    return F == Flow::Return || F == Flow::Exit ? F : Flow::Next;
  }
  if (const auto *W = dyn_cast<SwitchStmt>(S))
    return followSwitch(W);
  if (const auto *R = dyn_cast<ReturnStmt>(S)) {
    if (R->getRetValue() && Top) {
      const Expr *E = R->getRetValue();
      Top->Returned = E->isGLValue() && !E->getType()->isRecordType() ? [&] {
        Place P = place(E);
        return P ? Value::address(P.To, P.Offset, P.OffsetHow) : Value();
      }()
                                                                      : eval(E);
    }
    return Exited ? Flow::Exit : Flow::Return;
  }
  if (isa<BreakStmt>(S))
    return Flow::Break;
  if (isa<ContinueStmt>(S))
    return Flow::Continue;
  if (const auto *A = dyn_cast<AttributedStmt>(S))
    return follow(A->getSubStmt());
  if (const auto *L = dyn_cast<LabelStmt>(S))
    return follow(L->getSubStmt());
  if (const auto *T = dyn_cast<CXXTryStmt>(S))
    return follow(T->getTryBlock());
  if (const auto *C = dyn_cast<SwitchCase>(S))
    return follow(C->getSubStmt());
  if (const auto *A = dyn_cast<GCCAsmStmt>(S)) {
    followAssembly(A);
    return Flow::Next;
  }
  if (const auto *E = dyn_cast<Expr>(S)) {
    eval(E);
    return Exited ? Flow::Exit : Flow::Next;
  }
  return Flow::Next;
}
