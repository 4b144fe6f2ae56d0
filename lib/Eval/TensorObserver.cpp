//===- TensorObserver.cpp - What ATen does in a simulated call ------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   operators that the entry itself calls -> name, bytes, operations
///   tensors' memory -> from the arena that the simulator sees, each told
/// Bytes are those of the tensors that go in and come out; operations those of
/// products of matrices and convolutions. What only looks at its input in
/// another way (a view) is no work.
///
//===----------------------------------------------------------------------===//

#include "TensorObserver.h"

using namespace stark;

const char *const stark::TensorObserver = R"cpp(
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <ATen/core/function_schema.h>
// RecordFunction has one more member without it, and libtorch was built with.
#ifndef NDEBUG
#define NDEBUG
#endif
#include <ATen/record_function.h>
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {
// lib/SimHost/HostCall.cpp has the same.
struct Listener {
  void (*ran)(const char *, double, double, unsigned);
  void (*allocated)(void *, size_t);
  void (*released)(void *);
  void (*written)(void *, size_t);
  char *arena;
  char *arena_end;
};
Listener listener;
bool watching = false;
int depth = 0;

void collect(const c10::IValue &value, std::vector<at::Tensor> &to) {
  if (value.isTensor()) {
    if (value.toTensor().defined())
      to.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor &one : value.toTensorVector())
      if (one.defined())
        to.push_back(one);
  } else if (value.isList()) {
    for (const c10::IValue &one : value.toListRef())
      collect(one, to);
  } else if (value.isTuple()) {
    for (const c10::IValue &one : value.toTupleRef().elements())
      collect(one, to);
  }
}

template <class Values> std::vector<at::Tensor> tensorsOf(const Values &all) {
  std::vector<at::Tensor> found;
  for (const c10::IValue &one : all)
    collect(one, found);
  return found;
}

const void *storageOf(const at::Tensor &one) {
  return one.has_storage() ? one.storage().unsafeGetStorageImpl() : nullptr;
}

// An expanded tensor moves no more than its storage holds.
double bytesOf(const at::Tensor &one) {
  double bytes = double(one.numel()) * double(one.element_size());
  return one.has_storage() ? std::min(bytes, double(one.storage().nbytes()))
                           : bytes;
}

struct Seen : at::ObserverContext {
  bool counts = false;
  double inputs = 0;
  std::vector<const void *> storages;
  std::vector<std::vector<int64_t>> shapes;
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &of) {
  auto seen = std::make_unique<Seen>();
  seen->counts = watching && depth++ == 0;
  if (!seen->counts)
    return seen;
  for (const at::Tensor &one : tensorsOf(of.inputs())) {
    seen->inputs += bytesOf(one);
    seen->storages.push_back(storageOf(one));
    seen->shapes.push_back(one.sizes().vec());
  }
  return seen;
}

double product(const std::vector<int64_t> &shape, size_t from) {
  double all = 1;
  for (size_t i = from; i < shape.size(); ++i)
    all *= double(shape[i]);
  return all;
}

bool is(const std::string &name, std::initializer_list<const char *> of) {
  return std::any_of(of.begin(), of.end(),
                     [&](const char *each) { return name == each; });
}

// Multiplications and additions.
double operations(const std::string &name, const Seen &seen,
                  const std::vector<at::Tensor> &made) {
  if (made.empty() || seen.shapes.empty())
    return 0;
  const auto &shapes = seen.shapes;
  double results = double(made[0].numel());
  auto inner = [&](size_t which) {
    return which < shapes.size() && !shapes[which].empty()
               ? double(shapes[which].back())
               : 1.0;
  };
  if (is(name, {"linear", "mm", "bmm", "matmul", "mv", "dot", "inner", "einsum"}))
    return 2 * results * inner(0);
  if (is(name, {"addmm", "addmm_", "baddbmm", "baddbmm_", "addbmm", "addmv"}))
    return 2 * results * inner(1);
  if (shapes.size() > 1 && name.find("conv_transpose") == 0)
    return 2 * product(shapes[0], 0) * product(shapes[1], 1);
  if (shapes.size() > 1 && name.find("conv") == 0)
    return 2 * results * product(shapes[1], 1);
  if (shapes.size() > 1 && shapes[1].size() > 1 &&
      name == "scaled_dot_product_attention")
    return 4 * product(shapes[0], 0) * double(shapes[1][shapes[1].size() - 2]);
  // Each step of each sequence meets each weight.
  if (is(name, {"lstm", "gru", "rnn_tanh", "rnn_relu"})) {
    double weights = 0;
    for (size_t i = 1; i < shapes.size(); ++i)
      weights += shapes[i].size() == 2 ? product(shapes[i], 0) : 0;
    return 2 * weights * product(shapes[0], 0) / inner(0);
  }
  return 0;
}

void end(const at::RecordFunction &of, at::ObserverContext *context) {
  auto *seen = static_cast<Seen *>(context);
  if (watching)
    --depth;
  if (!seen || !seen->counts || !watching)
    return;
  std::vector<at::Tensor> made = tensorsOf(of.outputs());
  auto schema = of.operator_schema();
  bool writes = schema && schema->is_mutable(), fresh = false;
  double bytes = seen->inputs;
  for (const at::Tensor &one : made) {
    fresh |= std::find(seen->storages.begin(), seen->storages.end(),
                       storageOf(one)) == seen->storages.end();
    bytes += bytesOf(one);
  }
  std::string name = of.name();
  if (name.find("aten::") == 0)
    name.erase(0, 6);
  // Memory that nobody wrote is no work either.
  if (name.find("empty") == 0 || name.find("new_empty") == 0 ||
      name == "resize_")
    return;
  for (const at::Tensor &one : made)
    if ((writes || fresh) && one.has_storage() && one.storage().nbytes())
      listener.written(one.storage().mutable_data(), one.storage().nbytes());
  if (writes || fresh)
    listener.ran(name.c_str(), bytes, operations(name, *seen, made),
         made.empty() ? 4 : unsigned(made[0].element_size()));
}

// Nothing is given out twice: what is freed is known to be.
class Arena : public c10::Allocator {
public:
  at::DataPtr allocate(size_t bytes) override {
    size_t whole = (bytes + 255) / 256 * 256 + 4096;
    TORCH_CHECK(whole > bytes &&
                    whole < size_t(listener.arena_end - listener.arena),
                "the simulator has no memory for ", bytes, " bytes");
    char *at = listener.arena;
    listener.arena += whole;
    listener.allocated(at, bytes);
    return {at, at, &release, at::Device(at::kCPU)};
  }
  at::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void *to, const void *from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

private:
  static void release(void *at) {
    if (at)
      listener.released(at);
  }
};
} // namespace

#if defined(STARK_TORCH_CUDA)
// What host code of kernels asks libtorch's CUDA part for.
namespace c10::cuda {
CUDAStream getCurrentCUDAStream(DeviceIndex) {
  return CUDAStream(CUDAStream::UNCHECKED,
                    Stream(Stream::DEFAULT, Device(kCUDA, 0)));
}
CUDAStream getDefaultCUDAStream(DeviceIndex) { return getCurrentCUDAStream(0); }
cudaStream_t CUDAStream::stream() const { return nullptr; }
void c10_cuda_check_implementation(const int32_t error, const char *, const char *,
                                   const uint32_t, const bool) {
  TORCH_CHECK(error == 0, "CUDA error ", error);
}
DeviceIndex current_device() { return 0; }
} // namespace c10::cuda
namespace at::cuda {
cudaDeviceProp *getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp made = {};
    auto ask = [](cudaDeviceAttr what) {
      int value = 0;
      cudaDeviceGetAttribute(&value, what, 0);
      return value;
    };
    made.multiProcessorCount = ask(cudaDevAttrMultiProcessorCount);
    made.maxThreadsPerBlock = ask(cudaDevAttrMaxThreadsPerBlock);
    made.maxThreadsPerMultiProcessor =
        ask(cudaDevAttrMaxThreadsPerMultiProcessor);
    made.sharedMemPerBlock = ask(cudaDevAttrMaxSharedMemoryPerBlock);
    made.sharedMemPerBlockOptin = ask(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    made.warpSize = 32;
    made.major = ask(cudaDevAttrComputeCapabilityMajor);
    made.minor = ask(cudaDevAttrComputeCapabilityMinor);
    return made;
  }();
  return &properties;
}
} // namespace at::cuda
#endif

#define STARK_EXPORT extern "C" __attribute__((visibility("default")))
STARK_EXPORT void stark_observe_begin(const Listener *to) {
  listener = *to;
  c10::SetCPUAllocator(new Arena, /*priority=*/255);
  // Of one thread, so that sums are the same each time.
  at::set_num_threads(1);
  at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                            .needsInputs(true)
                            .needsOutputs(true)
                            .scopes({at::RecordScope::FUNCTION}));
}
STARK_EXPORT void stark_observe(int on) {
  depth = 0;
  watching = on;
}
)cpp";
