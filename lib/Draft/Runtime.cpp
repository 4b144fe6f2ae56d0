//===- Runtime.cpp - What CUDA's and C's functions do in a dry run --------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "stark/AST/BlockLimits.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace stark;
using namespace stark::draft;
using namespace clang;

void Machine::allocate(const Expr *Into, const Expr *Bytes, Space Where) {
  Value Size = eval(Bytes), To = eval(Into);
  Allocates = true;
  if (!To.isAddress())
    return;
  Object *O = create(To.To->Name, Where, Size.isInteger() ? Size.Number : -1,
                     Size.isInteger() ? Size.How : nullptr, QualType());
  if (!Size.isInteger())
    O->SizeHow = nullptr;
  To.To->Cells[To.Offset] = Value::address(O);
}

/// An operation of the stream reads or writes what \p V points to.
static void operate(const Value &V, bool Writes) {
  if (!V.isAddress() || !V.To->IsParameter)
    return;
  Use &U = V.To->Used;
  if (Writes) {
    U.Written = U.Surely = true;
    V.To->SetBefore |= V.Exact && V.Offset == 0;
  } else {
    U.Read = true;
    U.ReadFirst |= !V.To->SetBefore && !V.To->WrittenIn;
  }
}

void Machine::copyContents(const Value &To, const Value &From) {
  operate(From, /*Writes=*/false);
  operate(To, /*Writes=*/true);
  for (const Value *V : {&To, &From})
    if (V->isAddress() && V->To->IsParameter &&
        (!To.isAddress() || !From.isAddress() ||
         To.To->Where != From.To->Where))
      V->To->Used.OnHost = true;
  if (!To.isAddress())
    return;
  if (To.To->Where == Space::Variable && To.To->Var)
    SymbolsSet.insert(To.To->Var);
  if (!From.isAddress())
    return;
  Object &Source = *From.To;
  auto Cell = Source.Cells.find(From.Offset);
  bool One = !Source.Type.isNull() && Source.Type->isIntegerType() &&
             Source.Where == Space::Host && Source.Size == sizeOf(Source.Type);
  if (!One || !From.Exact || Cell == Source.Cells.end())
    return copyHeld(*To.To, Source);
  // What a variable holds now, not all that it held.
  Contents Now;
  Now.add(Cell->second, 0);
  To.To->Held.add(Now);
}

/// cudaMemcpy(x, of_host, bytes, cudaMemcpyHostToDevice): an array that the
/// entry is given is the host's.
static void noteDirection(const Value &To, const Value &From,
                          const Value &Kind) {
  constexpr int64_t HostToDevice = 1, DeviceToHost = 2;
  if (!Kind.isInteger())
    return;
  for (auto [V, Number] :
       {std::pair(&From, HostToDevice), std::pair(&To, DeviceToHost)})
    if (V->isAddress() && V->To->IsParameter && Kind.Number == Number)
      V->To->Used.OnHost = true;
}

/// Pitched rows begin at multiples of 512 bytes.
void Machine::allocatePitched(const CallExpr *C) {
  QualType Type = Context.getSizeType();
  Value Width = eval(C->getArg(2)), Height = eval(C->getArg(3));
  Value Pitch = arithmetic(
      BO_Mul,
      arithmetic(BO_Div, arithmetic(BO_Add, Width, Value::integer(511), Type),
                 Value::integer(512), Type),
      Value::integer(512), Type);
  put(C->getArg(1), Pitch);
  Value Bytes = arithmetic(BO_Mul, Pitch, Height, Type);
  Value At = eval(C->getArg(0));
  if (At.isAddress())
    put(C->getArg(0),
        Value::address(create(
            At.To->Name, Space::Device, Bytes.isInteger() ? Bytes.Number : -1,
            Bytes.isInteger() ? Bytes.How : nullptr, QualType())));
}

/// What \p Into points to becomes \p V.
void Machine::put(const Expr *Into, const Value &V) {
  if (Value At = eval(Into); At.isAddress())
    At.To->Cells[At.Offset] = V;
}

bool Machine::allocates(llvm::StringRef Name, const CallExpr *C) {
  unsigned Count = C->getNumArgs();
  if (Count < 2)
    return false;
  if (Name == "cudaMalloc" || Name == "cudaMallocAsync" ||
      Name == "cudaMallocManaged") {
    allocate(C->getArg(0), C->getArg(1), Space::Device);
  } else if (Name == "cudaMallocHost" || Name == "cudaHostAlloc") {
    allocate(C->getArg(0), C->getArg(1), Space::Host);
  } else if (Name == "cudaMallocPitch" && Count >= 4) {
    allocatePitched(C);
  } else if (Name == "cudaHostGetDevicePointer") {
    Value From = eval(C->getArg(1));
    if (From.isAddress())
      From.To->Where = Space::Device;
    put(C->getArg(0), From);
  } else if (Name == "cudaGetSymbolAddress") {
    Place Of = place(C->getArg(1)->IgnoreParenImpCasts());
    put(C->getArg(0), Of ? Value::address(Of.To, 0) : Value());
  } else {
    return false;
  }
  return true;
}

bool Machine::copies(llvm::StringRef Name, const CallExpr *C) {
  unsigned Count = C->getNumArgs();
  auto Arg = [&](unsigned I) { return eval(C->getArg(I)); };
  if (Count < 3)
    return false;
  if (Name.starts_with("cudaMemcpyToSymbol")) {
    Place To = place(C->getArg(0)->IgnoreParenImpCasts());
    Value From = Arg(1);
    if (To)
      copyContents(Value::address(To.To, To.Offset), From);
  } else if (Name.starts_with("cudaMemcpyFromSymbol")) {
    Arg(0);
    if (Place From = place(C->getArg(1)->IgnoreParenImpCasts());
        From && From.To->Var)
      SymbolsGot.insert(From.To->Var);
  } else if (Name.starts_with("cudaMemcpy2D") && Count >= 6) {
    copyContents(Arg(0), Arg(2));
  } else if (Name == "cudaMemcpy" || Name == "cudaMemcpyAsync") {
    Value To = Arg(0), From = Arg(1);
    if (Count > 3)
      noteDirection(To, From, Arg(3));
    copyContents(To, From);
  } else if (Name.starts_with("cudaMemset")) {
    Value To = Arg(0), With = Arg(1);
    if (!To.isAddress())
      return true;
    operate(To, /*Writes=*/true);
    To.To->Held = Contents();
    To.To->Held.add(
        With.isInteger() && With.Number == 0 ? Value::integer(0) : Value(), -1);
  } else {
    return false;
  }
  return true;
}

/// Of an H200, as far as launches ask for it.
void Machine::describeDevice(const Expr *Into) {
  Value At = eval(Into);
  QualType Type = Into->IgnoreParenImpCasts()->getType();
  if (Type->isPointerType())
    Type = Type->getPointeeType();
  const RecordDecl *R = Type->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!At.isAddress() || !hasLayout(R))
    return;
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(R);
  for (const FieldDecl *F : R->fields()) {
    int64_t Number =
        llvm::StringSwitch<int64_t>(F->getName())
            .Case("multiProcessorCount", 132)
            .Case("maxThreadsPerBlock", MostThreadsOfBlock)
            .Case("maxThreadsPerMultiProcessor", 2048)
            .Case("warpSize", 32)
            .Case("major", 9)
            .Case("sharedMemPerBlock", MostStaticSharedOfBlock)
            .Case("sharedMemPerMultiprocessor", 233472)
            .Case("totalGlobalMem", int64_t(141) << 30)
            .Cases("unifiedAddressing", "managedMemory", "canMapHostMemory",
                   "concurrentManagedAccess", "cooperativeLaunch", 1)
            .Default(0);
    if (F->getType()->isIntegerType())
      At.To->Cells[At.Offset +
                   int64_t(Layout.getFieldOffset(F->getFieldIndex()) / 8)] =
          Value::integer(Number);
  }
}

/// By the numbers of cudaDeviceAttr.
static Value deviceAttribute(const Value &Which) {
  switch (Which.isInteger() ? Which.Number : 0) {
  case 1: // threads a block
    return Value::integer(MostThreadsOfBlock);
  case 8: // shared memory a block
    return Value::integer(MostStaticSharedOfBlock);
  case 10: // threads a warp
    return Value::integer(32);
  case 39: // threads a multiprocessor
    return Value::integer(2048);
  default: // multiprocessors, for one
    return Value::integer(132);
  }
}

std::optional<Value> Machine::callCuda(llvm::StringRef Name,
                                       const CallExpr *C) {
  unsigned Count = C->getNumArgs();
  if (!Name.starts_with("cu") && !Name.starts_with("__cuda"))
    return std::nullopt;
  Value Success = Value::integer(0);
  if (allocates(Name, C) || copies(Name, C))
    return Success;
  if (Name.starts_with("cudaLaunch") && Count >= 3) {
    launchByCall(C);
    return Success;
  }
  if (Name.starts_with("cudaGetDeviceProperties") && Count >= 1) {
    describeDevice(C->getArg(0));
    return Success;
  }
  if (Name.starts_with("cudaOccupancyMaxPotentialBlockSize") && Count >= 3) {
    put(C->getArg(0), Value::integer(264));
    put(C->getArg(1), Value::integer(256));
    return Success;
  }
  if (Name.starts_with("cudaOccupancyMaxActiveBlocks") && Count >= 3) {
    Value Block = eval(C->getArg(2));
    int64_t Threads =
        Block.isInteger() ? std::max<int64_t>(Block.Number, 1) : 512;
    put(C->getArg(0), Value::integer(std::max<int64_t>(1024 / Threads, 1)));
    return Success;
  }
  if ((Name == "cudaGetDeviceCount" || Name == "cudaGetDevice") && Count == 1) {
    put(C->getArg(0), Value::integer(Name == "cudaGetDeviceCount"));
    return Success;
  }
  if (Name == "cudaDeviceGetAttribute" && Count == 3) {
    put(C->getArg(0), deviceAttribute(eval(C->getArg(1))));
    return Success;
  }
  if (Name.starts_with("cudaEvent") || Name == "cudaFree")
    Prints = true; // what is timed or freed is no launcher
  for (const Expr *A : C->arguments())
    if (!isa<CXXDefaultArgExpr>(A))
      eval(A);
  return Success;
}

std::optional<Value> Machine::callMemory(llvm::StringRef Name,
                                         const CallExpr *C) {
  unsigned Count = C->getNumArgs();
  auto Arg = [&](unsigned I) { return eval(C->getArg(I)); };
  if ((Name == "malloc" || Name == "aligned_alloc" || Name == "calloc" ||
       Name == "_mm_malloc") &&
      Count >= 1) {
    Value Bytes = Arg(Name == "aligned_alloc" ? 1 : 0);
    if (Name == "calloc" && Count == 2)
      Bytes = arithmetic(BO_Mul, Bytes, Arg(1), Context.getSizeType());
    Object *O =
        create("host", Space::Host, Bytes.isInteger() ? Bytes.Number : -1,
               Bytes.isInteger() ? Bytes.How : nullptr, QualType());
    if (Name == "calloc")
      O->Held.add(Value::integer(0), -1);
    return Value::address(O);
  }
  if (Name == "posix_memalign" && Count == 3) {
    allocate(C->getArg(0), C->getArg(2), Space::Host);
    return Value::integer(0);
  }
  if ((Name == "memset" || Name == "memcpy") && Count == 3) {
    Value To = Arg(0), From = Arg(1);
    if (Name == "memcpy")
      copyContents(To, From);
    else if (To.isAddress())
      To.To->Held.add(From, -1);
    return To;
  }
  return std::nullopt;
}

/// What a program reads, prints or draws.
std::optional<Value> Machine::callInput(llvm::StringRef Name,
                                        const CallExpr *C) {
  unsigned Count = C->getNumArgs();
  if (Name == "exit" || Name == "_exit" || Name == "abort" ||
      Name == "quick_exit") {
    Exited = !As;
    return Value();
  }
  if (Name == "rand" || Name == "random" || Name == "lrand48") {
    Value V;
    V.Low = 0;
    V.High = INT32_MAX;
    return V;
  }
  if (llvm::is_contained({"atoi", "atol", "atoll", "stoi", "stol", "stoll",
                          "stoul", "stoull", "strtol", "strtoul", "strtoll",
                          "strtoull"},
                         Name))
    return Value::wasRead();
  // Where a whole number is wanted of it.
  if (llvm::is_contained({"atof", "stof", "stod", "strtof", "strtod"}, Name)) {
    Value V;
    V.WasRead = !As;
    return V;
  }
  if ((Name == "scanf" || Name == "fscanf" || Name == "sscanf") && Count >= 1) {
    for (unsigned I = 1; I < Count; ++I) {
      QualType Type = C->getArg(I)->IgnoreParenImpCasts()->getType();
      Value At = eval(C->getArg(I));
      if (At.isAddress() && Type->isPointerType() &&
          Type->getPointeeType()->isIntegerType() &&
          !Type->getPointeeType()->isCharType())
        At.To->Cells[At.Offset] =
            named(Value::wasRead(), nameOfRead(C->getArg(I), *At.To));
    }
    return Value::integer(int64_t(Count) - 1);
  }
  if (Name.starts_with("getopt"))
    return Value::integer(-1); // no options: the program's own values
  if (Name == "strlen")
    return Value::wasRead();
  if (Name == "fopen")
    return Value::address(create("file", Space::Host, -1, nullptr, QualType()));
  if (Name == "printf" || Name == "fprintf" || Name == "puts") {
    Prints |= !As;
    for (const Expr *A : C->arguments())
      eval(A);
    return Value::integer(0);
  }
  return std::nullopt;
}

/// ceil, floor and their kin of \p V.
static Value rounded(llvm::StringRef Name, const Value &V) {
  double D = V.Floating;
  Formula How;
  if (Name.starts_with("ceil") || Name.starts_with("floor")) {
    bool Up = Name.starts_with("ceil");
    How = V.How;
    if (V.How && V.How->Kind == Op::Quotient)
      How = combine(Up ? Op::CeilDiv : Op::Div, V.How->Left, V.How->Right);
    D = Up ? std::ceil(D) : std::floor(D);
  } else if (Name.starts_with("sqrt")) {
    D = std::sqrt(std::max(D, 0.0));
  } else if (Name.starts_with("log2")) {
    D = D > 0 ? std::log2(D) : 0;
  } else if (Name == "round" || Name.starts_with("rint")) {
    D = std::rint(D);
  } else {
    D = std::fabs(D);
  }
  if (!How && V.How)
    How = opaque(int64_t(D), V.How);
  return Value::real(D, How);
}

std::optional<Value> Machine::callLibrary(llvm::StringRef Name,
                                          const CallExpr *C) {
  if (std::optional<Value> V = callMemory(Name, C))
    return V;
  if (std::optional<Value> V = callInput(Name, C))
    return V;
  unsigned Count = C->getNumArgs();
  auto Arg = [&](unsigned I) { return eval(C->getArg(I)); };
  if ((Name == "min" || Name == "max" || Name == "fmin" || Name == "fmax") &&
      Count == 2) {
    Value L = Arg(0), R = Arg(1);
    bool Min = Name.ends_with("min");
    if (L.isInteger() && R.isInteger()) {
      int64_t Number =
          Min ? std::min(L.Number, R.Number) : std::max(L.Number, R.Number);
      Formula How = combine(Min ? Op::Min : Op::Max, L.How, R.How);
      return Value::integer(Number, How ? How : opaque(Number, L.How, R.How));
    }
    Value Out;
    Out.addLoaded(L);
    Out.addLoaded(R);
    return Out;
  }
  if (Name.starts_with("pow") && Count == 2) {
    auto Number = [](const Value &V) {
      return V.isInteger() ? double(V.Number) : V.Floating;
    };
    Value L = Arg(0), R = Arg(1);
    if (L.Kind == Value::Unknown || R.Kind == Value::Unknown || L.isAddress() ||
        R.isAddress())
      return Value();
    if (isExponentRead(R))
      return Value::wasRead();
    double D = std::pow(Number(L), Number(R));
    bool Whole = std::fabs(D) < 1e15 && D == std::floor(D);
    bool Named = hasNames(L.How) || hasNames(R.How);
    Value Out = Value::real(D, Named   ? opaque(int64_t(D), L.How, R.How)
                               : Whole ? constant(int64_t(D))
                                       : nullptr);
    if (isConstant(L.How) && isName(R.How) && !As)
      Out.Exponent = R.How->Name;
    return Out;
  }
  bool Math = llvm::StringSwitch<bool>(Name)
                  .Cases("ceil", "ceilf", "floor", "floorf", "sqrt", "sqrtf",
                         "log2", "log2f", "round", true)
                  .Cases("abs", "fabs", "fabsf", "rint", "rintf", true)
                  .Default(false);
  if (Count != 1 || !Math)
    return std::nullopt;
  Value V = Arg(0);
  if (V.isInteger() && Name == "abs")
    return Value::integer(std::llabs(V.Number), V.How);
  if (V.isInteger())
    V = Value::real(double(V.Number), V.How);
  return V.Kind == Value::Real ? rounded(Name, V) : V;
}
