"""stand_ins.py PROGRAM-FOLDER TASK VARIANT ...: what would run on a GPU, with
stand-ins for torch.cuda that count, on the CPU. Prints a record a line."""
import contextlib
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import torch
import stark_measure
import stark_timing

counts = {}


def count(name, result=None):
    def counted(*_):
        counts[name] = counts.get(name, 0) + 1
        return result
    return counted


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = time.perf_counter()

    synchronize = count("waits for an event")

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e3


class Stream:
    def wait_stream(self, other):
        pass


class Graph:
    def replay(self):
        count("replays")()


@contextlib.contextmanager
def capture(graph, capture_error_mode):
    count("captures")()
    yield


class Properties:
    L2_cache_size = 1000


torch.cuda.Event, torch.cuda.Stream, torch.cuda.CUDAGraph, torch.cuda.graph = Event, Stream, Graph, capture
torch.cuda.synchronize, torch.cuda.empty_cache = count("waits for the device"), count("empties the cache")
torch.cuda.current_stream, torch.cuda.stream = Stream, lambda stream: contextlib.nullcontext()
torch.cuda.get_device_properties = lambda device: Properties
stark_measure.device_of = lambda torch, name: "cpu:0"
stark_timing.KERNELBENCH_FLUSH, stark_timing.STARK_FLUSH_BYTES = (8,), 64
for variant in sys.argv[3:]:
    counts.clear()
    stark_measure.answer({"file": sys.argv[2], "variant": variant, "device": "cuda", "out": "answer.json"})
    with open("answer.json") as file:
        record = json.load(file)
    print(variant, record["outcome"], record["why"], record.get("clock"), record.get("flush_bytes"),
          "agrees" if record.get("agrees") else "differs", "counts", dict(sorted(counts.items())))
