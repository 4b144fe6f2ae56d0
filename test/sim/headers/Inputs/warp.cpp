// One warp of 32 threads, each a thread of the host, with the primitives by
// which they exchange values: what every lane of a mask brought, once all came.

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace {
struct Meeting {
  unsigned Arrived = 0, Left = 0;
  unsigned long long Values[32] = {};
};
std::mutex Lock;
std::condition_variable Changed;
std::map<unsigned, Meeting> Meetings;
thread_local int Lane;
int Failures;

/// The values of all lanes of \p mask, by lane.
std::vector<unsigned long long> exchange(unsigned mask,
                                         unsigned long long value) {
  std::unique_lock<std::mutex> held(Lock);
  Meeting &here = Meetings[mask];
  // The last meeting of these lanes has to be over.
  Changed.wait(held, [&] { return here.Left == 0; });
  here.Values[Lane] = value;
  here.Arrived |= 1u << Lane;
  if (here.Arrived == mask) {
    here.Left = mask;
    Changed.notify_all();
  }
  Changed.wait(held, [&] { return here.Left & (1u << Lane); });
  std::vector<unsigned long long> values(here.Values, here.Values + 32);
  here.Left &= ~(1u << Lane);
  if (here.Left == 0) {
    here.Arrived = 0;
    Changed.notify_all();
  }
  return values;
}
} // namespace

extern "C" {
unsigned __stark_sim_sreg(int which) {
  switch (which) {
  case 0:
  case 12:
    return Lane;
  case 6:
    return 32;
  case 3:
  case 4:
  case 5:
  case 1:
  case 2:
  case 13:
  case 14:
    return 0;
  }
  return 1;
}
void __stark_sim_barrier(int, int) { exchange(~0u, 0); }
void __stark_sim_syncwarp(unsigned mask) { exchange(mask, 0); }
void __stark_sim_grid_sync() { exchange(~0u, 0); }
// The test's kernel calls it where exactly the lanes below 20 are.
void __stark_sim_async_begun(void *, unsigned long long) {}
void __stark_sim_async_commit() {}
void __stark_sim_async_wait(unsigned) {}
unsigned __stark_sim_activemask() { return 0xfffff; }
unsigned long long __stark_sim_shuffle(unsigned mask, unsigned long long value,
                                       int mode, int argument, int width) {
  auto values = exchange(mask, value);
  int first = Lane / width * width, from = Lane;
  if (mode == 0)
    from = first + (argument & (width - 1));
  else if (mode == 1)
    from = Lane - argument < first ? Lane : Lane - argument;
  else if (mode == 2)
    from = Lane + argument >= first + width ? Lane : Lane + argument;
  else
    from = (Lane ^ argument) >= first + width ? Lane : Lane ^ argument;
  return values[from];
}
unsigned __stark_sim_vote(unsigned mask, int op, int predicate) {
  auto values = exchange(mask, predicate != 0);
  unsigned ballot = 0;
  for (int i = 0; i < 32; ++i)
    if (mask >> i & 1)
      ballot |= (unsigned)values[i] << i;
  return op == 0 ? ballot == mask : op == 1 ? ballot != 0 : ballot;
}
unsigned __stark_sim_match(unsigned mask, unsigned long long value, int op,
                           int *predicate) {
  auto values = exchange(mask, value);
  unsigned same = 0;
  for (int i = 0; i < 32; ++i)
    if (mask >> i & 1)
      same |= (unsigned)(values[i] == value) << i;
  if (op == 0)
    return same;
  *predicate = same == mask;
  return same == mask ? mask : 0;
}
unsigned __stark_sim_reduce(unsigned mask, unsigned value, int) {
  auto values = exchange(mask, value);
  unsigned sum = 0;
  for (int i = 0; i < 32; ++i)
    if (mask >> i & 1)
      sum += (unsigned)values[i];
  return sum;
}

void expect(int good, const char *what) {
  std::lock_guard<std::mutex> held(Lock);
  if (!good && ++Failures <= 20)
    std::printf("lane %d: %s\n", Lane, what);
}
void kernel();
}

int main() {
  std::vector<std::thread> lanes;
  for (int i = 0; i < 32; ++i)
    lanes.emplace_back([i] {
      Lane = i;
      kernel();
    });
  for (std::thread &lane : lanes)
    lane.join();
  std::printf("%d failures\n", Failures);
  return Failures != 0;
}
