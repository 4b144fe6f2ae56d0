//===- Trampoline.cpp - The call of an entry from plain pointers ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Support/Error.h"
#include "stark/Task/Task.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace stark;

static bool isReal(const Parameter &P) {
  return P.Element == ScalarType::F16 || P.Element == ScalarType::BF16 ||
         P.Element == ScalarType::F32 || P.Element == ScalarType::F64;
}

/// Calls \p Visit with each leaf's parameter, in the order of stark_call().
template <class Function>
static void forEachLeaf(const Signature &Entry, Function Visit) {
  for (const Parameter &P : Entry.Parameters) {
    if (P.Kind == ParameterKind::Struct)
      for (const Parameter &F : P.Fields)
        Visit(F);
    else
      Visit(P);
  }
}

static const char *const LaunchNames[] = {
    "launch.grid.x",  "launch.grid.y",  "launch.grid.z",      "launch.block.x",
    "launch.block.y", "launch.block.z", "launch.shared_bytes"};

static const Argument *argumentOf(const Task &T, llvm::StringRef Name) {
  for (const Argument &A : T.Load.Arguments)
    if (A.Name == Name)
      return &A;
  return nullptr;
}

std::vector<job::Leaf> stark::makeLeaves(const Task &T) {
  std::vector<job::Leaf> Leaves;
  forEachLeaf(T.Entry, [&](const Parameter &P) {
    job::Leaf L;
    L.Name = P.Name;
    if (P.Kind == ParameterKind::Stream)
      L.Kind = job::LeafKind::Stream;
    else if (P.Kind == ParameterKind::Scalar)
      L.Kind = isReal(P) ? job::LeafKind::Real : job::LeafKind::Integer;
    if (const Argument *A = argumentOf(T, P.Name); A && A->IsBuffer) {
      L.Type = A->Type;
      L.Use = A->Use;
      L.Fill = A->Fill;
      auto Found = T.Load.Tolerance.find(A->Type);
      L.Tolerance = Found == T.Load.Tolerance.end() ? 0 : Found->second;
    }
    Leaves.push_back(std::move(L));
  });
  if (T.Load.Launch) {
    for (const char *Name : LaunchNames) {
      job::Leaf L;
      L.Name = Name;
      L.Kind = job::LeafKind::Integer;
      Leaves.push_back(std::move(L));
    }
    job::Leaf Stream;
    Stream.Name = "launch.stream";
    Stream.Kind = job::LeafKind::Stream;
    Leaves.push_back(std::move(Stream));
  }
  return Leaves;
}

/// The value of each of LaunchNames for one size.
static llvm::Expected<std::vector<int64_t>>
launchValues(const LaunchRule &Rule, const Bindings &Names) {
  std::vector<int64_t> Values;
  for (const std::string *Text : {&Rule.Grid, &Rule.Block}) {
    llvm::SmallVector<llvm::StringRef> Parts = splitTriple(*Text);
    Parts.resize(3, "1");
    for (llvm::StringRef Part : Parts) {
      llvm::Expected<int64_t> Value = evaluateExpression(Part, Names);
      if (!Value)
        return Value.takeError();
      Values.push_back(*Value);
    }
  }
  llvm::Expected<int64_t> Shared = evaluateExpression(Rule.SharedBytes, Names);
  if (!Shared)
    return Shared.takeError();
  Values.push_back(*Shared);
  return Values;
}

static llvm::Expected<job::Case> makeCase(const Task &T, const Size &S) {
  job::Case C;
  C.Label = S.label();
  C.Timed = !S.CheckOnly && !S.Added;
  C.Added = S.Added;
  uint64_t Bytes = 0;
  std::string Why;
  forEachLeaf(T.Entry, [&](const Parameter &P) {
    job::LeafValue V;
    const Argument *A = argumentOf(T, P.Name);
    if (A && A->IsBuffer) {
      uint64_t Elements = 1;
      for (const std::string &Part : A->Shape) {
        llvm::Expected<int64_t> Extent = evaluateExpression(Part, S.Names);
        if (!Extent) {
          Why = llvm::toString(Extent.takeError());
          return;
        }
        V.Shape.push_back(*Extent);
        if (__builtin_mul_overflow(Elements, uint64_t(*Extent), &Elements))
          Why = "the shape of '" + A->Name + "' has more than 2^64 elements";
      }
      uint64_t Size = 0;
      if (__builtin_mul_overflow(Elements, job::dtypeBytes(A->Type), &Size) ||
          __builtin_add_overflow(Bytes, Size, &Bytes) ||
          Bytes > (uint64_t(1) << 40))
        Why = "the arguments take more than 1 TiB";
    } else if (A && isReal(P)) {
      llvm::Expected<double> Value = evaluateReal(A->Value, S.Names);
      if (!Value)
        Why = llvm::toString(Value.takeError());
      else
        V.Real = *Value;
    } else if (A) {
      llvm::Expected<int64_t> Value = evaluateExpression(A->Value, S.Names);
      if (!Value)
        Why = llvm::toString(Value.takeError());
      else
        V.Integer = *Value;
    }
    C.Values.push_back(std::move(V));
  });
  if (!Why.empty())
    return usageError(T.Load.File + ": size '" + C.Label + "': " + Why);
  if (T.Load.Launch) {
    auto Values = launchValues(*T.Load.Launch, S.Names);
    if (!Values)
      return withContext(Values.takeError(), T.Load.File + ": launch rule");
    for (int64_t Value : *Values) {
      job::LeafValue V;
      V.Integer = Value;
      C.Values.push_back(V);
    }
    C.Values.push_back({});
  }
  return C;
}

llvm::Expected<std::vector<job::Case>> stark::makeCases(const Task &T) {
  std::vector<Size> Sizes = T.Load.Sizes;
  std::vector<Size> Added = addedSizes(T.Load);
  Sizes.insert(Sizes.end(), Added.begin(), Added.end());
  llvm::stable_sort(Sizes, [](const Size &L, const Size &R) {
    return L.CheckOnly < R.CheckOnly;
  });
  std::vector<job::Case> Cases;
  for (const Size &S : Sizes) {
    llvm::Expected<job::Case> C = makeCase(T, S);
    if (!C) {
      // A launch rule need not hold for a size that the tool thought of.
      if (S.Added) {
        llvm::consumeError(C.takeError());
        continue;
      }
      return C.takeError();
    }
    Cases.push_back(std::move(*C));
  }
  return Cases;
}

std::string stark::makeTrampoline(const Task &T) {
  // Each argument is a class whose conversion takes the parameter's own type,
  // so that no type has to be spelled: names of types may lie in namespaces,
  // be local to the file or be template parameters.
  std::string Text = R"(
#line 1 "stark_call"
namespace stark_trampoline {
struct Pointer {
  void *Leaf;
  template <class T> operator T *() const { return *static_cast<T **>(Leaf); }
};
struct Integer {
  void *Leaf;
  template <class T> operator T() const {
    return static_cast<T>(*static_cast<long long *>(Leaf));
  }
};
struct Real {
  void *Leaf;
  template <class T> operator T() const {
    return static_cast<T>(*static_cast<double *>(Leaf));
  }
};
template <class To, class From> void set(To &Field, From Value) {
  Field = Value.operator To();
}
template <class To> void set(To *&Field, Pointer Value) {
  Field = Value.operator To *();
}
)";
  auto Wrap = [](const Parameter &P, unsigned Leaf, llvm::StringRef Base) {
    std::string Class = P.Kind == ParameterKind::Scalar
                            ? (isReal(P) ? "Real" : "Integer")
                            : "Pointer";
    return "stark_trampoline::" + Class + "{" + Base.str() + "[" +
           std::to_string(Leaf) + "]}";
  };
  std::string Call;
  unsigned Leaf = 0, Struct = 0;
  for (const Parameter &P : T.Entry.Parameters) {
    Call += Call.empty() ? "" : ", ";
    if (P.Kind != ParameterKind::Struct) {
      Call += Wrap(P, Leaf++, "stark_leaves");
      continue;
    }
    std::string Name = "Struct" + std::to_string(Struct++);
    Text += "struct " + Name +
            " {\n  void **Leaves;\n"
            "  template <class T> operator T() const {\n    T Value{};\n";
    for (const Parameter &F : P.Fields)
      Text += "    set(Value." + F.Name.substr(P.Name.size() + 1) + ", " +
              Wrap(F, Leaf++, "Leaves") + ");\n";
    Text += "    return Value;\n  }\n};\n";
    Call += "stark_trampoline::" + Name + "{stark_leaves}";
  }
  Text += "} // namespace stark_trampoline\n"
          "extern \"C\" __attribute__((visibility(\"default\"))) void "
          "stark_call(void **stark_leaves) {\n";
  std::string Callee = "::" + llvm::StringRef(T.Entry.Name).ltrim(':').str();
  if (!T.Load.Launch) {
    Text += "  (void)" + Callee + "(" + Call + ");\n}\n";
    return Text;
  }
  auto At = [&](unsigned I) {
    return "*static_cast<long long *>(stark_leaves[" +
           std::to_string(Leaf + I) + "])";
  };
  auto Triple = [&](unsigned I) {
    return "dim3(unsigned(" + At(I) + "), unsigned(" + At(I + 1) +
           "), unsigned(" + At(I + 2) + "))";
  };
  // More dynamic shared memory than 48 KiB has to be asked for.
  Text += "  long long stark_shared = " + At(6) +
          ";\n"
          "  if (stark_shared > 49152)\n"
          "    cudaFuncSetAttribute(reinterpret_cast<const void *>(&" +
          Callee +
          "), cudaFuncAttributeMaxDynamicSharedMemorySize, "
          "int(stark_shared));\n  " +
          Callee + "<<<" + Triple(0) + ", " + Triple(3) +
          ", size_t(stark_shared), "
          "*static_cast<cudaStream_t *>(stark_leaves[" +
          std::to_string(Leaf + 7) + "])>>>(" + Call + ");\n}\n";
  return Text;
}
