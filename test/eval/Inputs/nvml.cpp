// Stands in for libnvidia-ml.so.1: knows one device, which is too hot.
#include <cstring>
extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByUUID(const char *Id, void **Device) {
  *Device = nullptr;
  return std::strncmp(Id, "GPU-", 4) == 0 ? 0 : 6;
}
int nvmlDeviceGetCurrentClocksEventReasons(void *, unsigned long long *Why) {
  *Why = 0x40;
  return 0;
}
}
