"""The part eval of utils/bench: how long a candidate takes from its text to its verdict.

Five timed sizes each. Candidates that are judged alone, one after the other, each another text: the softmax of examples/
with other blocks (plain), its stored winner, whose headers take nvcc longer, and a + b as KernelBench's example has it.
Each by a spool that `stark-worker --watch` works off beside it, as it does in a search, and by the evaluator cuda. Beside
them, in turns, KernelBench's own harness on its example."""
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VERDICT_LIMIT_S, GPU_LIMIT_S, HARNESS_TIMES = 1.5, 0.5, 20.0
# A harness run takes a minute; so many of them.
HARNESS_RUNS = 2

ADD = """#include <cuda_runtime.h>

__global__ void add_kernel(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a[i] + b[i];
}

void launch_add(const float *a, const float *b, float *out, int n, cudaStream_t stream) {
  add_kernel<<<(n + 127) / 128, 128, 0, stream>>>(a, b, out, n);
}
"""
ADD_WORKLOAD = {
    "entry": "launch_add",
    "sizes": [{"n": n} for n in (128, 4096, 65536, 1 << 20, 1 << 22)],
    "arguments": {
        "a": {"dtype": "f32", "shape": ["n"], "init": "normal"},
        "b": {"dtype": "f32", "shape": ["n"], "init": "normal"},
        "out": {"dtype": "f32", "shape": ["n"], "role": "output"},
        "n": {"value": "n"},
    },
}


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else values * 3


def seconds(values):
    low, middle, high = quartiles(values)
    return f"{middle:6.2f} s (quartiles {low:.2f} and {high:.2f}, {len(values)} runs)"


def held(trace):
    """Of each job how long the worker worked, and the sums of stages, in seconds."""
    rows, sums = {}, {}
    names = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
    for e in trace:
        if e["ph"] != "X" or e["name"].startswith("Total "):
            continue
        if names.get(e["pid"], "").startswith(("stark-worker", "stark-sim")):
            rows.setdefault(e["pid"], []).append(e)
        sums.setdefault(e["name"], []).append(e["dur"] / 1e6)
    return [(max(e["ts"] + e["dur"] for e in r) - min(e["ts"] for e in r)) / 1e6 for r in rows.values()], sums


class Kind:
    """Candidates of one kind by one evaluator, judged one at a time."""

    def __init__(self, name, source, workload, text, by, evaluator):
        self.name, self.source, self.workload, self.text, self.by, self.evaluator = name, source, workload, text, by, evaluator
        self.walls, self.on_gpu, self.sums, self.verdicts, self.asked = [], [], {}, set(), 0

    def judge(self, tool, folder):
        candidate, trace = os.path.join(folder, "candidate.cu"), os.path.join(folder, "trace.json")
        self.asked += 1
        with open(candidate, "w") as f:
            f.write(f"{self.text}\n// {self.asked}\n")
        command = [tool, "evaluate", self.source, "--workload", self.workload, *self.evaluator, "--json", "--quiet",
                   "--time-trace", trace, "--candidate", candidate]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if not done.stdout:
            sys.exit(f"bench: {' '.join(command)} exited with {done.returncode}")
        # The first is not counted: headers are precompiled, and a worker starts.
        if self.asked == 1:
            return
        judged = json.loads(done.stdout)["candidates"][0]
        self.verdicts.add(judged["verdict"]["kind"])
        self.walls.append(judged["wall_ms"] / 1e3)
        with open(trace) as f:
            held_s, stages = held(json.load(f)["traceEvents"])
        self.on_gpu += held_s
        for name, took in stages.items():
            self.sums.setdefault(name, []).extend(took)

    def report(self):
        print(f"{self.name}, by {self.by}: {', '.join(sorted(self.verdicts))}")
        print("  text to verdict", seconds(self.walls))
        print("  on the GPU     ", seconds(self.on_gpu))
        count = len(self.walls)
        for name, took in sorted(self.sums.items(), key=lambda s: -sum(s[1])):
            if sum(took) >= 0.01 * count:
                print(f"    {name:24} {sum(took) / count:7.3f} s of {len(took) / count:.0f}")
        sys.stdout.flush()


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def kinds(folder):
    """Of each: name, source, workload, candidate's text."""
    softmax = os.path.join(ROOT, "examples", "softmax", "softmax.cu")
    with open(softmax) as f:
        plain = f.read().replace("kThreads = 256", "kThreads = 512")
    with open(glob.glob(os.path.join(ROOT, "examples", "store", "softmax.cu", "*", "kernel.cu"))[0]) as f:
        winner = f.read()
    with open(softmax.removesuffix(".cu") + ".workload.json") as f:
        workload = json.load(f)
    workload["sizes"] = [{"rows": rows, "cols": 1024} for rows in (512, 1024, 2048, 4096, 8192)]
    of_softmax = write(folder, "softmax.workload.json", json.dumps(workload))
    add = write(folder, "add.cu", ADD)
    of_add = write(folder, "add.workload.json", json.dumps(ADD_WORKLOAD))
    return [("plain", softmax, of_softmax, plain), ("the stored winner", softmax, of_softmax, winner),
            ("a + b", add, of_add, ADD.replace("127", "255").replace("128", "256"))]


def architecture():
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, stdout=subprocess.PIPE, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"bench: eval needs a GPU, but {' '.join(query)} fails: {error}")
    return "sm_" + done.stdout.split()[0].replace(".", "")


def harness_seconds(kernelbench):
    prompts = os.path.join(kernelbench, "src", "kernelbench", "prompts")
    start = time.monotonic()
    done = subprocess.run([os.path.join(ROOT, "utils", "kernelbench-harness"), kernelbench, os.path.join(prompts, "model_ex_add.py"),
                           os.path.join(prompts, "model_new_ex_add.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench: KernelBench's harness exited with {done.returncode}: {done.stderr[-2000:]}")
    return time.monotonic() - start


def bench(bin_folder, folder, options):
    tool, harness = os.path.join(bin_folder, "stark-tool"), []
    given = kinds(folder)
    by_spool = ["--evaluator", "spool:" + os.path.join(folder, "spool"), "--wait", "100", "--arch", architecture()]
    by_cuda = ["--evaluator", "cuda"]
    every = []
    for by, evaluator in (("a spool", by_spool), ("cuda", by_cuda)):
        # A worker beside cuda's would wait for the GPU's lock, and the other for it.
        worker = None
        if evaluator is by_spool:
            worker = subprocess.Popen([os.path.join(bin_folder, "stark-worker"), "--spool", os.path.join(folder, "spool"), "--watch"],
                                      stdout=subprocess.DEVNULL)
        try:
            turn = [Kind(*kind, by, evaluator) for kind in given]
            for _ in range(options.candidates + 1):
                for kind in turn:
                    kind.judge(tool, folder)
        finally:
            if worker:
                worker.terminate()
                worker.wait()
        every += turn
        for kind in turn:
            kind.report()
        if options.kernelbench and len(harness) < HARNESS_RUNS:
            harness.append(harness_seconds(options.kernelbench))
    plain = [kind for kind in every if kind.name == "plain"]
    good = all(kind.verdicts == {"correct"} for kind in every)
    for kind in plain:
        verdict, gpu = statistics.median(kind.walls), statistics.median(kind.on_gpu)
        print(f"eval: plain, by {kind.by}: {verdict:.2f} s (limit {VERDICT_LIMIT_S}), {gpu:.2f} s on the GPU (limit {GPU_LIMIT_S})")
        good &= verdict <= VERDICT_LIMIT_S and gpu <= GPU_LIMIT_S
        if harness:
            times = statistics.median(harness) / verdict
            print(f"eval: KernelBench's harness takes {', '.join(f'{s:.1f}' for s in harness)} s for its a + b, {times:.1f} times as long "
                  f"(at least {HARNESS_TIMES:.0f})")
            good &= times >= HARNESS_TIMES
    if not harness:
        print("eval: nothing beside it (--kernelbench names a clone of KernelBench)")
    return good
