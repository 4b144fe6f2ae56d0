# fake_torch.sh FOLDER VERSION: a libtorch of a few lines, with a CMake package
# that sets what the real one does.
set -e
root=$1
mkdir -p "$root/include/ATen/core" "$root/include/ATen/ops" "$root/include/torch/headeronly" \
  "$root/include/torch/csrc/api/include" "$root/lib" "$root/share/cmake/Torch"
echo "#include <ATen/core/Tensor.h>" > "$root/include/ATen/ATen.h"
cat > "$root/include/ATen/core/Tensor.h" <<'END'
#pragma once
#if !defined(AT_PER_OPERATOR_HEADERS) || !defined(__CUDA_NO_HALF_OPERATORS__) || _GLIBCXX_USE_CXX11_ABI != 1
#error a flag of torch's is missing
#endif
namespace at {
// libtorch-says-this
enum ScalarType { kFloat };
struct Tensor {
  long numel() const;
  bool is_cuda() const;
  bool is_contiguous() const;
  int get_device() const;
  ScalarType scalar_type() const;
  long dim() const;
  long size(long) const;
  void *data_ptr() const;
  template <class T> const T *const_data_ptr() const { return nullptr; }
  template <class T> T *mutable_data_ptr() const { return nullptr; }
};
}
END
cat > "$root/include/ATen/ops/empty_like.h" <<'END'
#pragma once
namespace at {
Tensor empty_like(const Tensor &);
}
END
echo "$2" | {
  IFS=. read -r major minor patch
  printf '#define TORCH_VERSION_MAJOR %s\n#define TORCH_VERSION_MINOR %s\n#define TORCH_VERSION_PATCH %s\n' \
    "$major" "$minor" "$patch" > "$root/include/torch/headeronly/version.h"
}
echo 'namespace at { enum ScalarType { kFloat }; struct Tensor { long numel() const; bool is_cuda() const, is_contiguous() const;
int get_device() const; ScalarType scalar_type() const; long dim() const, size(long) const; void *data_ptr() const; };
bool Tensor::is_cuda() const { return true; } bool Tensor::is_contiguous() const { return true; }
int Tensor::get_device() const { return 0; } ScalarType Tensor::scalar_type() const { return kFloat; }
long Tensor::dim() const { return 1; } long Tensor::size(long) const { return 1; } void *Tensor::data_ptr() const { return 0; }
long Tensor::numel() const { return 1; }
Tensor empty_like(const Tensor &) { return {}; } }' > "$root/lib/torch.cpp"
c++ -shared -fPIC -o "$root/lib/libtorch.so" "$root/lib/torch.cpp"
cat > "$root/share/cmake/Torch/TorchConfig.cmake" <<'END'
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_CUDA_ARCHITECTURES OFF)
string(APPEND CMAKE_CUDA_FLAGS " -gencode arch=compute_90,code=compute_90 -Xcudafe --diag_suppress=bad_friend_decl --expt-relaxed-constexpr")
if(NOT TARGET torch)
  add_library(torch_cpu_library INTERFACE IMPORTED)
  set_target_properties(torch_cpu_library PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${root}/include"
    INTERFACE_COMPILE_DEFINITIONS AT_PER_OPERATOR_HEADERS)
  add_library(torch SHARED IMPORTED)
  set_target_properties(torch PROPERTIES
    IMPORTED_LOCATION "${root}/lib/libtorch.so"
    INTERFACE_INCLUDE_DIRECTORIES "${root}/include;${root}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_OPTIONS "-D_GLIBCXX_USE_CXX11_ABI=1;$<$<COMPILE_LANGUAGE:CUDA>:-D__CUDA_NO_HALF_OPERATORS__>;$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler -fwrapv>"
    INTERFACE_LINK_LIBRARIES torch_cpu_library)
endif()
END
