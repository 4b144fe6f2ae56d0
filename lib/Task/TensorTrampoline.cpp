//===- TensorTrampoline.cpp - The call of an entry of tensors -------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   stark_prepare: leaves -> tensors over the judge's buffers
///   stark_call: the entry, and nothing else, is between the two events
///   stark_collect: what it returned -> the judge's buffers
///   stark_reference: the same entry in double precision, TF32 off
/// C++17 for the host alone; ATen reports by exceptions, which end here.
///
//===----------------------------------------------------------------------===//

#include "TensorTrampoline.h"
#include "EntryLeaves.h"
#include "llvm/ADT/STLExtras.h"

using namespace stark;

/// Every name has a prefix of its own, because the source may have macros.
static constexpr const char *Support = R"cpp(
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>
#define STARK_EXPORT extern "C" __attribute__((visibility("default")))
namespace stark_tensors {
struct stark_leaf {
  void *stark_data;
  const long long *stark_shape;
  long long stark_rank;
};
struct stark_place {
  unsigned stark_index;
  at::ScalarType stark_type;
};
struct stark_state {
  std::vector<at::Tensor> stark_inputs, stark_results;
  std::string stark_problem, stark_note;
  at::DeviceType stark_device = at::kCPU;
};
// Never destroyed: CUDA may be gone by then.
inline stark_state &stark_now() {
  static stark_state *stark_only = new stark_state;
  return *stark_only;
}
inline at::Tensor stark_view(void **stark_leaves, stark_place stark_at) {
  auto *stark_of = static_cast<stark_leaf *>(stark_leaves[stark_at.stark_index]);
  std::vector<int64_t> stark_shape(stark_of->stark_shape,
                                   stark_of->stark_shape + stark_of->stark_rank);
  return at::from_blob(stark_of->stark_data, stark_shape,
                       at::TensorOptions()
                           .dtype(stark_at.stark_type)
                           .device(stark_now().stark_device));
}
inline void stark_keep(std::vector<at::Tensor> &stark_to, at::Tensor stark_one) {
  stark_to.push_back(std::move(stark_one));
}
inline void stark_keep(std::vector<at::Tensor> &stark_to,
                       std::vector<at::Tensor> stark_all) {
  stark_to = std::move(stark_all);
}
template <class... stark_T>
void stark_keep(std::vector<at::Tensor> &stark_to,
                std::tuple<stark_T...> stark_all) {
  std::apply([&](auto &...stark_each) { (stark_to.push_back(stark_each), ...); },
             stark_all);
}
// Runs what may throw, and keeps what it said.
template <class stark_F> bool stark_try(stark_F stark_do) {
  stark_now().stark_problem.clear();
  try {
    stark_do();
    return true;
  } catch (const c10::Error &stark_error) {
    stark_now().stark_problem = stark_error.what_without_backtrace();
  } catch (const std::exception &stark_error) {
    stark_now().stark_problem = stark_error.what();
  } catch (...) {
    stark_now().stark_problem = "it is no std::exception";
  }
  return false;
}
inline std::string stark_describe(const at::Tensor &stark_one) {
  if (!stark_one.defined())
    return "no tensor";
  std::string stark_text = c10::toString(stark_one.scalar_type());
  stark_text += " [";
  for (int64_t stark_i = 0; stark_i < stark_one.dim(); ++stark_i)
    stark_text += (stark_i ? ", " : "") + std::to_string(stark_one.size(stark_i));
  return stark_text + "] on " + c10::DeviceTypeName(stark_one.device().type(), true);
}
} // namespace stark_tensors
)cpp";

/// The parts that are the same for every entry.
static constexpr const char *Functions = R"cpp(
STARK_EXPORT void stark_prepare(void **stark_leaves, int stark_on_gpu) {
  using namespace stark_tensors;
  stark_try([&] {
    stark_now().stark_device = stark_on_gpu ? at::kCUDA : at::kCPU;
    stark_now().stark_results.clear();
    stark_now().stark_inputs.clear();
    for (unsigned stark_i = 0; stark_i < stark_input_count; ++stark_i)
      stark_now().stark_inputs.push_back(
          stark_view(stark_leaves, stark_inputs[stark_i]));
  });
}
STARK_EXPORT void stark_call(void **stark_leaves) {
  using namespace stark_tensors;
  c10::NoGradGuard stark_no_gradients;
  stark_try([&] {
    stark_enter(stark_leaves, stark_now().stark_inputs, stark_now().stark_results);
  });
}
STARK_EXPORT int stark_collect(void **stark_leaves) {
  using namespace stark_tensors;
  bool stark_good = true;
  c10::NoGradGuard stark_no_gradients;
  stark_try([&] {
    auto &stark_results = stark_now().stark_results;
    std::string stark_bad;
    size_t stark_wanted = stark_output_count;
    if (stark_results.size() != stark_wanted)
      stark_bad = "it returned " + std::to_string(stark_results.size()) +
                  " tensors, wanted " + std::to_string(stark_wanted);
    for (size_t stark_i = 0; stark_bad.empty() && stark_i < stark_wanted; ++stark_i) {
      at::Tensor stark_to = stark_view(stark_leaves, stark_outputs[stark_i]);
      const at::Tensor &stark_got = stark_results[stark_i];
      if (!stark_got.defined() || stark_got.sizes() != stark_to.sizes() ||
          stark_got.scalar_type() != stark_to.scalar_type() ||
          stark_got.device().type() != stark_to.device().type())
        stark_bad = "returned tensor " + std::to_string(stark_i) + " is " +
                    stark_describe(stark_got) + ", wanted " +
                    stark_describe(stark_to);
      else
        stark_to.copy_(stark_got);
    }
    if (!stark_bad.empty()) {
      stark_good = false;
      throw std::runtime_error(stark_bad);
    }
  });
  return stark_good;
}
STARK_EXPORT const char *stark_problem() {
  return stark_tensors::stark_now().stark_problem.c_str();
}
)cpp";

/// IEEE arithmetic, in double precision as far as that goes: an operator may
/// not have it, or the device not the memory.
static constexpr const char *Reference = R"cpp(
#if defined(STARK_TORCH_CUDA)
#include <c10/cuda/CUDACachingAllocator.h>
#endif
namespace stark_tensors {
inline at::ScalarType stark_wide(at::ScalarType stark_type) {
  if (at::isComplexType(stark_type))
    return at::kComplexDouble;
  return at::isFloatingType(stark_type) ? at::kDouble : stark_type;
}
inline void stark_free_memory() {
#if defined(STARK_TORCH_CUDA)
  if (stark_now().stark_device == at::kCUDA)
    c10::cuda::CUDACachingAllocator::emptyCache();
#endif
}
inline void stark_compute(void **stark_leaves, bool stark_is_wide) {
  std::vector<at::Tensor> stark_given = stark_now().stark_inputs, stark_made;
  for (at::Tensor &stark_one : stark_given)
    // Always a copy: what fails halfway is done again from the same inputs.
    stark_one = stark_one.to(stark_is_wide ? stark_wide(stark_one.scalar_type())
                                           : stark_one.scalar_type(),
                             /*non_blocking=*/false, /*copy=*/true);
  stark_refer(stark_leaves, stark_given, stark_made);
  for (size_t stark_i = 0; stark_i < stark_given.size(); ++stark_i)
    if (stark_changed[stark_i])
      stark_now().stark_inputs[stark_i].copy_(stark_given[stark_i]);
  stark_now().stark_results.clear();
  for (size_t stark_i = 0; stark_i < stark_made.size(); ++stark_i)
    stark_now().stark_results.push_back(
        stark_i < stark_output_count
            ? stark_made[stark_i].to(stark_outputs[stark_i].stark_type)
            : stark_made[stark_i]);
}
} // namespace stark_tensors
STARK_EXPORT void stark_reference(void **stark_leaves) {
  using namespace stark_tensors;
  c10::NoGradGuard stark_no_gradients;
  auto &stark_context = at::globalContext();
  bool stark_blas = stark_context.allowTF32CuBLAS(),
       stark_dnn = stark_context.allowTF32CuDNN();
  stark_context.setAllowTF32CuBLAS(false);
  stark_context.setAllowTF32CuDNN(false);
  stark_now().stark_note = "in f64, TF32 off";
  if (!stark_try([&] { stark_compute(stark_leaves, true); })) {
    std::string stark_why = stark_now().stark_problem;
    stark_now().stark_note = "in the source's own types, TF32 off (f64: " +
                             stark_why.substr(0, stark_why.find('\n')) + ")";
    stark_free_memory();
    stark_try([&] { stark_compute(stark_leaves, false); });
  }
  stark_free_memory();
  stark_context.setAllowTF32CuBLAS(stark_blas);
  stark_context.setAllowTF32CuDNN(stark_dnn);
}
STARK_EXPORT const char *stark_note() {
  return stark_tensors::stark_now().stark_note.c_str();
}
)cpp";

namespace {
/// The call of one function: Enter, which takes tensors and keeps tensors.
class CallWriter {
public:
  explicit CallWriter(const Signature &Callee) : Callee(Callee) {}
  std::string write(llvm::StringRef Name);

private:
  std::string argument(const Parameter &P);
  std::string tensor() {
    ++Leaf;
    return "stark_given[" + std::to_string(Tensor++) + "]";
  }

  const Signature &Callee;
  unsigned Leaf = 0, Tensor = 0;
};
} // namespace

std::string CallWriter::argument(const Parameter &P) {
  switch (P.Kind) {
  case ParameterKind::Tensor:
    return tensor();
  case ParameterKind::OptionalTensor:
    return P.Fields.empty() ? "std::nullopt"
                            : "std::optional<at::Tensor>(" + tensor() + ")";
  case ParameterKind::TensorList: {
    std::string List;
    for (size_t I = 0; I < P.Fields.size(); ++I)
      List += (I ? ", " : "") + tensor();
    return "stark_lists.emplace_back(std::vector<at::Tensor>{" + List + "})";
  }
  case ParameterKind::Scalar:
    return std::string(isReal(P) ? "*static_cast<double *>(stark_leaves["
                                 : "*static_cast<long long *>(stark_leaves[") +
           std::to_string(Leaf++) + "])";
  default:
    break;
  }
  // A pointer, a stream, a struct: refused by checkCallable().
  return "";
}

std::string CallWriter::write(llvm::StringRef Name) {
  std::string Arguments;
  for (const Parameter &P : Callee.Parameters) {
    Arguments += Arguments.empty() ? "" : ", ";
    // Each converts to the parameter's own type.
    Arguments += argument(P);
  }
  std::string Called = "::" + llvm::StringRef(Callee.Name).ltrim(':').str() +
                       "(" + Arguments + ")";
  return ("\nnamespace stark_tensors {\ninline void " + Name +
          "(void **stark_leaves, std::vector<at::Tensor> &stark_given,\n"
          "    std::vector<at::Tensor> &stark_made) {\n"
          "  (void)stark_leaves, (void)stark_given, (void)stark_made;\n"
          "  std::vector<std::vector<at::Tensor>> stark_lists;\n"
          "  stark_lists.reserve(" +
          std::to_string(Callee.Parameters.size()) + ");\n  " +
          (Callee.ReturnsTensors ? "stark_keep(stark_made, " + Called + ");"
                                 : "(void)" + Called + ";") +
          "\n}\n} // namespace stark_tensors\n")
      .str();
}

/// "stark_inputs" and "stark_input_count": the places of those of \p Leaves
/// that
/// \p Pick picks. Nothing here runs when the library is loaded.
template <class Function>
static std::string places(const std::string &What,
                          llvm::ArrayRef<job::Leaf> Leaves, Function Pick) {
  std::string Items;
  unsigned Count = 0;
  for (size_t I = 0; I < Leaves.size(); ++I)
    if (Pick(I)) {
      Items += "{" + std::to_string(I) + ", " + job::atenName(Leaves[I].Type) +
               "}, ";
      ++Count;
    }
  return "static constexpr stark_place " + What + "s[] = {" + Items +
         "{0, at::kFloat}};\nstatic constexpr unsigned " + What +
         "_count = " + std::to_string(Count) + ";\n";
}

std::string stark::makeTensorTrampoline(const Task &T) {
  std::vector<job::Leaf> Leaves = makeLeaves(T);
  size_t Arguments = leavesOf(T.Entry).size();
  auto IsBuffer = [&](size_t I) {
    return Leaves[I].Kind == job::LeafKind::Buffer;
  };
  return std::string("\n#line 1 \"stark_tensors\"") + Support +
         "namespace stark_tensors {\n" +
         places("stark_input", Leaves,
                [&](size_t I) { return I < Arguments && IsBuffer(I); }) +
         places("stark_output", Leaves,
                [&](size_t I) { return I >= Arguments; }) +
         "} // namespace stark_tensors\n" +
         CallWriter(T.Entry).write("stark_enter") + Functions;
}

std::string stark::makeTensorReference(const Task &T) {
  const Signature &Callee = T.Load.Reference.empty() ? T.Entry : T.Reference;
  std::vector<job::Leaf> Leaves = makeLeaves(T);
  std::string Changed;
  for (const job::Leaf &L :
       llvm::ArrayRef(Leaves).take_front(leavesOf(T.Entry).size()))
    if (L.Kind == job::LeafKind::Buffer)
      Changed += L.Use == job::Role::Input ? "false, " : "true, ";
  return "\n#line 1 \"stark_reference\"\nnamespace stark_tensors {\nstatic "
         "constexpr bool stark_changed[] = {" +
         Changed + "false};\n} // namespace stark_tensors\n" +
         CallWriter(Callee).write("stark_refer") + Reference;
}
