"""One task, one variant, in a process of its own:

    task -> the variant's first call -> compared with eager's -> timed in two ways

What comes of it is one JSON object in a file, for the task may print what it
likes. Run by stark_child.py, in a fork of a process that has torch loaded, or as
`python3 stark_measure.py REQUEST`."""
import ctypes
import json
import math
import os
import signal
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "exporter"))
import stark_subject
import stark_timing
from stark_problem import Problem, first_line, missing_package, place

# name -> torch.compile's mode (none: eager), and whether a CUDA graph of it is timed.
VARIANTS = {
    "eager": (None, False),
    "compile": ("default", False),
    "eager-graph": (None, True),
    "compile-graph": ("default", True),
    "max-autotune": ("max-autotune-no-cudagraphs", False),
    "max-autotune-graph": ("max-autotune-no-cudagraphs", True),
}
PR_SET_PDEATHSIG = 1
GRAPH_WARM = 3  # calls on another stream before a graph is captured
TOLERANCE = 1e-2  # absolute, and relative to eager
CHUNK = 1 << 26  # elements that are compared at once
CALLS_COMPARED = 2  # one after another: a module may keep something between calls


def device_of(torch, name):
    """The device, usable, or a Problem."""
    if name == "cpu":
        return "cpu"
    try:
        torch.cuda.init()
        torch.zeros(1, device="cuda").item()
    except Exception as error:
        raise Problem(f"torch {torch.__version__} cannot use a GPU: {first_line(error)}")
    return "cuda"


def tf32_of(torch):
    """As found; a setting that this torch cannot say is null."""
    def found(read):
        try:
            return read()
        except Exception:
            return None
    return {"matmul": found(lambda: torch.backends.cuda.matmul.allow_tf32),
            "cudnn": found(lambda: torch.backends.cudnn.allow_tf32),
            "float32_matmul_precision": found(torch.get_float32_matmul_precision)}


class Variant:
    """A module and how it is called. `first` seconds went into its first call."""

    def __init__(self, torch, subject, inputs, name, watch):
        self.torch, self.inputs, self.watch = torch, inputs, watch
        mode, self.graphed = VARIANTS[name]
        self.calls = 0  # that have been run
        self.model = subject.model()
        self.call = self._eager
        self.what = self.model
        if mode:
            torch._dynamo.reset()
            self.what = torch.compile(self.model, backend="inductor", mode=mode)
        begin = time.monotonic()
        self.run()
        watch.synchronize()
        self.first = time.monotonic() - begin

    def _eager(self):
        return self.what(*self.inputs)

    def run(self):
        self.torch.manual_seed(stark_subject.SEED)
        self.calls += 1
        return self.call()

    def capture(self):
        """From here on a call is a replay of a CUDA graph."""
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(GRAPH_WARM):
                self.run()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        # A module may let go of these while the graph still reads them.
        self.held = stark_subject.loose_tensors(torch, self.model)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            output = self.call()

        def replay():
            graph.replay()
            return output

        self.call = replay


def compare_leaf(torch, ours, theirs):
    """Whether a tensor agrees with eager's, and the largest difference."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False, math.inf
    if ours.numel() == 0:
        return True, 0.0
    ours, theirs = ours.detach().reshape(-1), theirs.detach().reshape(-1)
    agrees, largest = True, 0.0
    wide = torch.complex128 if ours.is_complex() else torch.float64
    for at in range(0, ours.numel(), CHUNK):
        a, b = ours[at:at + CHUNK].to(wide), theirs[at:at + CHUNK].to(wide)
        agrees &= torch.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        difference = (a - b).abs()
        difference = difference[torch.isfinite(difference)]
        if difference.numel():
            largest = max(largest, difference.max().item())
    return bool(agrees), largest


def compare(torch, ours, theirs):
    ours, theirs = stark_subject.flatten(ours), stark_subject.flatten(theirs)
    if len(ours) != len(theirs):
        return False, math.inf
    agrees, largest = True, 0.0
    for a, b in zip(ours, theirs):
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            same, difference = compare_leaf(torch, a, b)
        else:
            same, difference = type(a) is type(b) and a == b, 0.0
        agrees, largest = agrees and bool(same), max(largest, difference)
    return agrees, largest


def notes_on(torch, output):
    """What makes a comparison say little."""
    tensors = [leaf for leaf in stark_subject.flatten(output) if isinstance(leaf, torch.Tensor)]
    if not any(t.numel() for t in tensors):
        return ["the module returns no numbers"]
    notes = []
    for t in tensors:
        if t.numel() and not t.is_complex():
            if t.is_floating_point() and not bool(torch.isfinite(t).all()):
                notes.append("the module's output has NaN or infinity")
            elif t.numel() > 1 and bool((t.reshape(-1)[0] == t).all()):
                notes.append("the module's output is the same everywhere")
    return sorted(set(notes))


def compare_with_eager(torch, subject, variant, record):
    """The same calls of another module of the same weights, on inputs that are drawn
    anew: a module may write to them."""
    try:
        own = subject.inputs()
        other = Variant(torch, subject, own, "eager", variant.watch)
        while other.calls < variant.calls:
            other.run()
        agrees, largest = True, 0.0
        for _ in range(CALLS_COMPARED):
            theirs, ours = other.run(), variant.run()
            same, difference = compare(torch, ours, theirs)
            agrees, largest = agrees and same, max(largest, difference)
        record["agrees"] = agrees
        record["largest_difference"] = largest
        record["bytes"] = {"inputs": stark_subject.bytes_of(torch, own),
                           "weights": stark_subject.bytes_of(torch, [list(other.model.parameters()), list(other.model.buffers())]),
                           "outputs": stark_subject.bytes_of(torch, theirs)}
        record["notes"] += notes_on(torch, theirs)
    except torch.cuda.OutOfMemoryError:
        record["notes"].append("not compared: out of memory")


def compiled_facts(torch):
    from torch._dynamo.utils import counters
    return {"graphs": counters["stats"]["unique_graphs"], "graph_breaks": sum(counters["graph_break"].values()),
            "cache_hits": counters["inductor"]["fxgraph_cache_hit"]}


def measure(request, record):
    import torch
    if request.get("probe"):  # can such a process use the device, and what is it?
        record.update(device_facts(torch, request["device"]))
        return
    device = device_of(torch, request["device"])
    record["outcome"] = "failed"
    name = request["variant"]
    mode, graphed = VARIANTS[name]
    record["mode"], record["graph"] = mode or "eager", graphed
    if graphed and device == "cpu":
        raise Problem("a CUDA graph needs a GPU")
    with torch.no_grad():
        subject = stark_subject.Subject(torch, request["file"], device)
        inputs = subject.inputs()
        record["inputs_drawn_on"] = subject.drawn_on
        watch = stark_timing.HostWatch() if device == "cpu" else stark_timing.EventWatch(torch, device)
        record.update(clock=watch.clock, flush_bytes=watch.flush_bytes)
        variant = Variant(torch, subject, inputs, name, watch)
        if mode:
            record["compile_seconds"] = round(variant.first, 3)
            record["compiled"] = compiled_facts(torch)
        record["tf32"] = tf32_of(torch)
        if graphed:
            variant.capture()
        compare_with_eager(torch, subject, variant, record)
        watch.empty_cache()
        record["empty_ms"] = watch.empty_ms()
        record["kernelbench"] = stark_timing.kernelbench(variant.call, watch)
        record["stark"] = stark_timing.stark(variant.call, watch)
    record["outcome"] = "ok"


def device_facts(torch, name):
    device = device_of(torch, name)
    try:
        import triton
        triton_version = triton.__version__
    except Exception:
        triton_version = None
    facts = {"outcome": "ok", "torch": torch.__version__, "triton": triton_version,
             "python": ".".join(map(str, sys.version_info[:3])), "cuda": None, "cudnn": None, "gpu": None}
    if device != "cpu":
        facts.update(gpu=torch.cuda.get_device_name(), cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version(),
                     copy_gbs=copy_rate(torch))
    return facts


def copy_rate(torch, size=1 << 30):
    """GB/s of a copy on the device, what is read and what is written; or null."""
    try:
        source, target = (torch.empty(size, dtype=torch.uint8, device="cuda") for _ in range(2))
        times = []
        for _ in range(13):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            target.copy_(source)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        return round(2 * size / stark_timing.quantile(times[3:], 0.5) / 1e6, 1)
    except Exception:
        return None


def why(error, file):
    package = missing_package(error)
    if package:
        return f"{os.path.basename(file)} needs the package '{package}', which {sys.executable} does not have"
    if isinstance(error, Problem):
        return str(error)
    if isinstance(error, SystemExit):
        return f"{place(error, file)}the module ends the program"
    return f"{place(error, file)}{type(error).__name__}: {first_line(error)}"


def is_out_of_memory(error):
    text = str(error)
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or any(
        words in text for words in ("out of memory", "can't allocate memory", "not enough memory"))


def finite(value):
    """JSON has no infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def die_with_parent():
    """Who measures must not go on once nobody is there to end it."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def answer(request):
    """Writes what came of it to request["out"], whatever came of it."""
    die_with_parent()
    record = {"outcome": "no-device", "why": "", "notes": []}
    try:
        measure(request, record)
    except BaseException as error:
        if record["outcome"] != "no-device":
            record["outcome"] = "out of memory" if is_out_of_memory(error) else "failed"
        record["why"] = " ".join(why(error, request.get("file", "")).split())[:500]
    text = json.dumps(finite(record))
    with open(request["out"] + ".new", "w") as file:
        file.write(text)
    os.replace(request["out"] + ".new", request["out"])


if __name__ == "__main__":
    answer(json.loads(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)
