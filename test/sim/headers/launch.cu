// A launch pushes its configuration and calls the stub, which asks for the
// launch; the device's kernel and the stub are named after one another.
// RUN: %sim-host-pass -emit-llvm -O1 %s -o - | FileCheck %s
// RUN: %sim-device-pass -emit-llvm -O1 %s -o - | FileCheck %s --check-prefix=DEVICE

// DEVICE: define {{.*}}void @_Z5scalePfif(
// DEVICE-NOT: define {{.*}}@launch

// CHECK: define {{.*}}void @_Z20__device_stub__scalePfif(
// CHECK: call i32 @__cudaPopCallConfiguration(
// CHECK: call noundef i32 @cudaLaunchKernel(ptr noundef nonnull @_Z20__device_stub__scalePfif,
// CHECK: define {{.*}}@launch(
// CHECK: call {{.*}}i32 @__cudaPushCallConfiguration({{.*}}i64 noundef 256, ptr noundef %stream)
// CHECK: call {{.*}}i32 @__stark_sim_host_func_attribute(ptr noundef {{.*}}@_Z20__device_stub__scalePfif, i32 noundef 8, i32 noundef 65536)
// CHECK: call {{.*}}i32 @cudaLaunchCooperativeKernel(ptr {{.*}}@_Z20__device_stub__scalePfif,

__global__ void scale(float *x, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= by;
}

extern "C" cudaError_t launch(float *x, int n, cudaStream_t stream) {
  scale<<<dim3((n + 127) / 128), 128, 256, stream>>>(x, n, 2.0f);
  cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       65536);
  cudaLaunchAttribute together;
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 4;
  config.blockDim = 128;
  config.attrs = &together;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, scale, x, n, 2.0f);
}
