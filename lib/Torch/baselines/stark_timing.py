"""The two ways in which a call is timed. Times are in milliseconds.

`kernelbench` is KernelBench's cuda_event method (src/kernelbench/timing.py at
commit 423217d), `stark` is the judge's (docs/judging.md, "Time"), but for new
inputs in each sample and for a second side to alternate with.

Both ask a watch to time a call: one with events on a GPU, one with the clock on
the CPU, where nothing is flushed."""
import math
import time

KERNELBENCH_WARM, KERNELBENCH_TRIALS, KERNELBENCH_DISCARDED = 5, 100, 1
KERNELBENCH_FLUSH = (32, 1024, 1024)  # of int64: 256 MiB
STARK_WARM_S, STARK_LIMIT_S = 0.2, 2.0
STARK_FEWEST, STARK_LEAST, STARK_MOST = 5, 30, 200
STARK_ERROR = 0.005  # of the mean, over the mean
STARK_FLUSH_BYTES = 256 << 20


class HostWatch:
    """Wall clock, for the CPU."""
    clock, flush_bytes, kept = "wall", 0, None

    def synchronize(self):
        pass

    def empty_cache(self):
        pass

    def _timed(self, call):
        begin = time.perf_counter()
        kept = call()
        passed = time.perf_counter() - begin
        del kept
        return passed * 1e3

    def after_fill(self, call):
        return self._timed(call)

    def after_flush(self, call):
        return self._timed(call)

    def empty_ms(self):
        return quantile([self._timed(lambda: None) for _ in range(100)], 0.5)


class EventWatch:
    """Events on the current stream of a GPU."""
    clock = "events"

    def __init__(self, torch, device):
        self.torch, self.device = torch, device
        l2 = int(getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or 0)
        self.flush_bytes = max(STARK_FLUSH_BYTES, 2 * l2)
        self.kept = None
        self.space = torch.empty(self.flush_bytes // 8, dtype=torch.int64, device=device)

    def synchronize(self):
        self.torch.cuda.synchronize(self.device)

    def empty_cache(self):
        self.torch.cuda.empty_cache()

    def _events(self):
        return [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def after_fill(self, call):
        """KernelBench's trial: the device is waited for before and after it. An output
        lives until there is the next one, so that a trial may have to get memory."""
        self.synchronize()
        start, end = self._events()
        space = self.torch.empty(KERNELBENCH_FLUSH, dtype=self.torch.int64, device=self.device)
        space.fill_(42)
        del space
        start.record()
        self.kept = call()
        end.record()
        self.synchronize()
        return start.elapsed_time(end)

    def after_flush(self, call):
        """The judge's sample: the flush is queued and not waited for, so that the
        call is launched while the device is still flushing."""
        start, end = self._events()
        self.space.fill_(0)
        seen = self.space.sum()
        start.record()
        kept = call()
        end.record()
        end.synchronize()
        del kept, seen
        return start.elapsed_time(end)

    def empty_ms(self):
        """What two events without a call between them come to."""
        return quantile([self.after_flush(lambda: None) for _ in range(100)], 0.5)


def quantile(values, q):
    """Linear between the two nearest."""
    ascending = sorted(values)
    at = q * (len(ascending) - 1)
    low = int(at)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (at - low) * (ascending[high] - ascending[low])


def mean_of(values):
    return math.fsum(values) / len(values)


def three_digits(value):
    return float(f"{value:.3g}")


def kernelbench(call, watch):
    for _ in range(KERNELBENCH_WARM):
        call()
        watch.synchronize()
    watch.empty_cache()
    times = [watch.after_fill(call) for _ in range(KERNELBENCH_TRIALS + KERNELBENCH_DISCARDED)][KERNELBENCH_DISCARDED:]
    mean = mean_of(times)
    deviation = math.sqrt(mean_of([(t - mean) ** 2 for t in times]))
    watch.kept = None
    return {"mean_ms": three_digits(mean), "std_ms": three_digits(deviation), "min_ms": three_digits(min(times)),
            "max_ms": three_digits(max(times)), "median_ms": quantile(times, 0.5), "samples": len(times),
            "discarded": KERNELBENCH_WARM + KERNELBENCH_DISCARDED}


def relative_error(times):
    """Standard error of the mean, over the mean."""
    n, mean = len(times), mean_of(times)
    if n < 2 or mean <= 0:
        return math.inf
    return math.sqrt(math.fsum((t - mean) ** 2 for t in times) / (n - 1) / n) / mean


def enough(times, passed_s):
    n = len(times)
    if n < STARK_FEWEST:
        return False
    if n >= STARK_MOST or passed_s >= STARK_LIMIT_S:
        return True
    return n >= STARK_LEAST and relative_error(times) < STARK_ERROR


def stark(call, watch, now=time.monotonic):
    """`now` is the clock that ends warm-up and sampling."""
    discarded, begin = 0, now()
    while True:
        watch.after_flush(call)
        discarded += 1
        if now() - begin >= STARK_WARM_S:
            break
    times, begin = [], now()
    while not enough(times, now() - begin):
        times.append(watch.after_flush(call))
    return {"median_ms": quantile(times, 0.5), "iqr_ms": quantile(times, 0.75) - quantile(times, 0.25),
            "min_ms": min(times), "samples": len(times), "discarded": discarded, "error": relative_error(times)}
