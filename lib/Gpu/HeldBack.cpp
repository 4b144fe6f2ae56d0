//===- HeldBack.cpp - Is the device's clock lowered? ----------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   dlopen -> nvmlInit_v2 -> the device by its UUID -> reasons
/// Names and numbers are those of NVML's reference manual; what was called
/// throttle reasons is called clocks event reasons since CUDA 12.2.
///
//===----------------------------------------------------------------------===//

#include "HeldBack.h"
#include "stark/Gpu/Device.h"
#include <dlfcn.h>

using namespace stark;
using namespace stark::gpu;

bool gpu::isHeldBack(uint64_t Reasons) {
  constexpr uint64_t SwPowerCap = 0x4, HwSlowdown = 0x8,
                     SwThermalSlowdown = 0x20, HwThermalSlowdown = 0x40,
                     HwPowerBrakeSlowdown = 0x80;
  return Reasons & (SwPowerCap | HwSlowdown | SwThermalSlowdown |
                    HwThermalSlowdown | HwPowerBrakeSlowdown);
}

namespace {
class Nvml : public ClockWatch {
public:
  /// What is missing stays null.
  Nvml() : Library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (!Library)
      return;
    find(Init, "nvmlInit_v2");
    find(Shutdown, "nvmlShutdown");
    find(HandleByUuid, "nvmlDeviceGetHandleByUUID");
    if (!find(Reasons, "nvmlDeviceGetCurrentClocksEventReasons"))
      find(Reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  ~Nvml() override {
    if (Begun && Shutdown)
      Shutdown();
    // Not closed: its threads may outlive nvmlShutdown().
  }
  bool open(const std::string &DeviceId) {
    if (!Init || !HandleByUuid || !Reasons || Init() != 0)
      return false;
    Begun = true;
    unsigned long long Ignored = 0;
    return HandleByUuid(DeviceId.c_str(), &Device) == 0 &&
           Reasons(Device, &Ignored) == 0;
  }
  /// 0: not known.
  unsigned count() {
    int (*Count)(unsigned *) = nullptr;
    if (!Init || !find(Count, "nvmlDeviceGetCount_v2") || Init() != 0)
      return 0;
    Begun = true;
    unsigned Found = 0;
    return Count(&Found) == 0 ? Found : 0;
  }
  bool heldBack() override {
    unsigned long long Now = 0;
    return Reasons(Device, &Now) == 0 && isHeldBack(Now);
  }

private:
  template <class T> bool find(T &Function, const char *Name) {
    Function = reinterpret_cast<T>(dlsym(Library, Name));
    return Function;
  }

  void *Library;
  int (*Init)() = nullptr;
  int (*Shutdown)() = nullptr;
  int (*HandleByUuid)(const char *, void **) = nullptr;
  int (*Reasons)(void *, unsigned long long *) = nullptr;
  void *Device = nullptr;
  bool Begun = false;
};
} // namespace

unsigned gpu::countDevices() { return Nvml().count(); }

std::unique_ptr<ClockWatch> gpu::watchClocks(const std::string &DeviceId) {
  auto Watch = std::make_unique<Nvml>();
  if (!Watch->open(DeviceId))
    return nullptr;
  return Watch;
}
