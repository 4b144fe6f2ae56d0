"""baselines_rules.py PROGRAM-FOLDER: the rules of timing and of the tables, without torch."""
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import stark_measure  # finds the exporter's modules
import stark_records
import stark_tables
import stark_timing


class Watch:
    """Times are a list's, again and again; the clock advances by what they say."""

    def __init__(self, times, extra_s=0.0):
        self.times, self.extra_s, self.asked, self.now, self.kept = times, extra_s, 0, 0.0, None

    def after_flush(self, call):
        call()
        value = self.times[self.asked % len(self.times)]
        self.asked += 1
        self.now += value / 1e3 + self.extra_s
        return value

    after_fill = after_flush

    def synchronize(self):
        self.waited = getattr(self, "waited", 0) + 1

    def empty_cache(self):
        assert self.asked == 0  # after warm-up, before the trials


def stark(times, extra_s=0.0):
    watch = Watch(times, extra_s)
    found = stark_timing.stark(lambda: None, watch, lambda: watch.now)
    return found["samples"], found["discarded"]


print("steady", stark([1.0]))
print("noisy", stark([1.0, 9.0]))
print("slow", stark([250.0, 125.0]))
print("very slow", stark([3000.0]))
print("noisy and slow to set up", stark([1.0, 9.0], extra_s=0.05))

calls = []
watch = Watch([50.0] + [float(1 + i % 4) for i in range(100)])
found = stark_timing.kernelbench(lambda: calls.append(1), watch)
print("kernelbench", len(calls), "calls,", watch.waited, "waits,", found)
print("digits", stark_timing.three_digits(12.3456), stark_timing.three_digits(0.00123456))


def record(task, variant, ms, outcome="ok", agrees=True):
    return {"task": task, "variant": variant, "level": "level 1", "machine": {"gpu": "A GPU", "torch": "2.11"}, "clock": "events",
            "outcome": outcome, "why": "too slow" if outcome != "ok" else "", "agrees": agrees, "largest_difference": 1.0,
            "kernelbench": {"mean_ms": ms}, "stark": {"median_ms": 2 * ms}}


print(stark_tables.markdown([
    record("10_c", "eager", 4.0), record("2_b", "eager", 4.0), record("1_a", "eager", 4.0), record("3_d", "eager", 1.0),
    record("1_a", "compile", 1.0), record("2_b", "compile", 4.0), record("10_c", "compile", 8.0),
    record("3_d", "compile", 0.1, agrees=False), record("1_a", "max-autotune", 0, outcome="timed-out")]))

# A time-out is tried again with more time only; another machine's record says nothing.
with tempfile.TemporaryDirectory() as folder:
    one = {"digest": "d", "variant": "eager", "machine": {"gpu": "A GPU"}}
    records = stark_records.Records(folder)
    records.add(dict(one, outcome="timed-out", timeout_s=5))
    print("found", [records.find(one, timeout) is not None for timeout in (4, 5, 6)])
    records.add(dict(one, outcome="ok", timeout_s=5))
    print("replaced", [r["outcome"] for r in stark_records.Records(folder).all], os.listdir(folder))
    print("found", [records.find(dict(one, **other), 6) is not None for other in (
        {}, {"digest": "e"}, {"variant": "compile"}, {"machine": {"gpu": "another"}})])
