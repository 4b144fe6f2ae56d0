//===- Launches.cpp - Kernels in a dry run -------------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace stark;
using namespace stark::draft;
using namespace clang;

Value Machine::dimension(const Place &P, int Axis) {
  if (!P)
    return Value();
  auto Cell = P.To->Cells.find(P.Offset + 4 * Axis);
  return Cell == P.To->Cells.end() ? Value() : Cell->second;
}

void Machine::record(Launch L) {
  for (int I = 0; I < 3; ++I) {
    // What it is made of is known all the same: a size and how much of it each
    // block takes.
    if (L.Grid[I].isInteger() && L.Grid[I].Number < 1)
      L.Grid[I].Kind = Value::Unknown;
    if (L.Block[I].isInteger() && L.Block[I].Number < 1)
      L.Block[I] = Value();
  }
  L.MadeUp = MadeUp;
  if (FollowLaunches)
    runKernel(L);
  if (Launches.size() < 1000)
    Launches.push_back(std::move(L));
}

void Machine::launch(const CUDAKernelCallExpr *C) {
  Launch L;
  L.Kernel = C->getDirectCallee();
  if (!L.Kernel)
    if (Value V = eval(C->getCallee()); V.Kind == Value::Function)
      L.Kernel = V.Callee;
  const CallExpr *Config = C->getConfig();
  // A struct of its own each, as both may be made of one variable.
  for (int I = 0; I < 2 && unsigned(I) < Config->getNumArgs(); ++I) {
    Value Made = eval(Config->getArg(I));
    Place P = placeAt(Made, Config->getArg(I)->getType());
    for (int Axis = 0; Axis < 3; ++Axis)
      (I ? L.Block : L.Grid)[Axis] = dimension(P, Axis);
  }
  L.Shared = Value::integer(0);
  if (Config->getNumArgs() > 2 && !isa<CXXDefaultArgExpr>(Config->getArg(2)))
    L.Shared = eval(Config->getArg(2));
  std::vector<const FunctionDecl *> All;
  if (L.Kernel)
    All.push_back(L.Kernel);
  else
    All = mayBeCalled(C->getCallee()->getType());
  for (const FunctionDecl *Each : All) {
    L.Kernel = Each;
    launchWith(L, {C->getArgs(), C->getNumArgs()});
  }
}

/// \p L, which has all but the arguments, with \p Given.
void Machine::launchWith(Launch L, llvm::ArrayRef<const Expr *> Given) {
  if (const FunctionDecl *Def = L.Kernel->getDefinition())
    L.Kernel = Def;
  for (unsigned I = 0; I < Given.size() && I < L.Kernel->getNumParams(); ++I) {
    const ParmVarDecl *P = L.Kernel->getParamDecl(I);
    Value V;
    if (P->getType()->isReferenceType()) {
      Place At = place(Given[I]);
      V = At ? Value::address(At.To, At.Offset, At.OffsetHow) : Value();
    } else if (P->getType()->isRecordType()) {
      Place From = placeAt(eval(Given[I]), P->getType());
      Place Copy;
      Copy.Type = P->getType();
      Copy.To = create(P->getNameAsString(), Space::Host, sizeOf(Copy.Type),
                       nullptr, Copy.Type);
      Copy.OffsetHow = constant(0);
      copy(Copy, From);
      V = Value::address(Copy.To);
    } else {
      V = convert(eval(Given[I]), P->getType());
    }
    L.Arguments.push_back(std::move(V));
  }
  record(std::move(L));
}

/// cudaLaunchKernel(function, grid, block, arguments, shared bytes, stream)
/// cudaLaunchKernelExC(configuration, function, arguments)
/// cudaLaunchKernelEx(configuration, function, argument, ...)
void Machine::launchByCall(const CallExpr *C) {
  Launch L;
  unsigned Count = C->getNumArgs();
  const FunctionDecl *By = C->getDirectCallee();
  bool Configured = By && By->getName().starts_with("cudaLaunchKernelEx");
  bool Apart = Configured && By->getName() != "cudaLaunchKernelExC";
  Value Callee = eval(C->getArg(Configured ? 1 : 0));
  if (Callee.Kind != Value::Function || Count < (Configured ? 2 : 4)) {
    for (unsigned I = 1; I < Count; ++I)
      eval(C->getArg(I));
    return;
  }
  L.Kernel = Callee.Callee->getDefinition() ? Callee.Callee->getDefinition()
                                            : Callee.Callee;
  Place Config;
  if (Configured)
    Config =
        placeAt(eval(C->getArg(0)), C->getArg(0)->getType()->getPointeeType());
  for (int I = 0; I < 2; ++I) {
    Place P = Config; // of two dim3, which come first
    P.Offset += 12 * I;
    if (!Configured)
      P = placeAt(eval(C->getArg(I + 1)), C->getArg(I + 1)->getType());
    for (int Axis = 0; Axis < 3; ++Axis) {
      Value &Side = (I ? L.Block : L.Grid)[Axis];
      Side = dimension(P, Axis);
      if (Configured && Axis > 0 && Side.Kind == Value::Unknown)
        Side = Value::integer(1); // as a dim3 is made
    }
  }
  L.Shared = Configured  ? dimension(Config, 6) // after them
             : Count > 4 ? eval(C->getArg(4))
                         : Value::integer(0);
  if (Apart)
    return launchWith(std::move(L), {C->getArgs() + 2, Count - 2});
  Value Table = eval(C->getArg(Configured ? 2 : 3));
  for (unsigned I = 0; I < L.Kernel->getNumParams(); ++I) {
    QualType Type = L.Kernel->getParamDecl(I)->getType();
    Value V;
    if (Table.isAddress()) {
      auto Cell = Table.To->Cells.find(Table.Offset + 8 * int64_t(I));
      if (Cell != Table.To->Cells.end()) {
        V = Cell->second;
        if (!Type->isRecordType())
          V = load(placeAt(V, Type.getNonReferenceType()));
      }
    }
    L.Arguments.push_back(std::move(V));
  }
  record(std::move(L));
}

void Machine::runThread(const FunctionDecl *Kernel,
                        const std::vector<Value> &Arguments,
                        const Thread &Which) {
  const Thread *Was = std::exchange(As, &Which);
  WrittenByThread.clear();
  run(Kernel, Arguments);
  As = Was;
}

/// The first thread, the last and some between, of the first block and the
/// last, along each axis.
void Machine::runKernel(const Launch &L) {
  if (!L.Kernel || !L.Kernel->hasBody() || As)
    return;
  ++LaunchCount;
  Thread T;
  std::vector<int64_t> Index[3], Block[3];
  for (int I = 0; I < 3; ++I) {
    T.GridDim[I] = L.Grid[I].isInteger() ? L.Grid[I].Number : 1;
    T.BlockDim[I] = L.Block[I].isInteger() ? L.Block[I].Number : 1;
    // The first of the last warp may be who writes.
    int64_t Last = T.BlockDim[I] - 1;
    for (int64_t At : {int64_t(0), T.BlockDim[I] / 2, Last / 32 * 32, Last})
      if (Index[I].empty() || Index[I].back() < At)
        Index[I].push_back(At);
    for (int64_t At : {int64_t(0), T.GridDim[I] - 1})
      if (Block[I].empty() || Block[I].back() < At)
        Block[I].push_back(At);
  }
  auto Each = [&](const std::vector<int64_t>(&Of)[3], int64_t(&Into)[3],
                  llvm::function_ref<void()> Then) {
    for (int64_t Z : Of[2])
      for (int64_t Y : Of[1])
        for (int64_t X : Of[0]) {
          Into[0] = X;
          Into[1] = Y;
          Into[2] = Z;
          Then();
        }
  };
  Each(Block, T.Block, [&] {
    Each(Index, T.Index, [&] { runThread(L.Kernel, L.Arguments, T); });
  });
  // A grid that is not known has as many blocks as guards ask for.
  for (const AxisGuard &G : Guards)
    if (!L.Grid[G.Axis].isInteger() && G.Last > 0)
      T.GridDim[G.Axis] =
          std::max(T.GridDim[G.Axis], G.Last / T.BlockDim[G.Axis] + 1);
  followLast(L, T);
}
