"""spread.py ROOT SIM OUT RUN [TAKEN]: test/sim/spread/kernels.cu with the launches RUN.

It is simulated on 1, 2 and 5 cores, blocks spread over them where they can be,
and comes to the same: the result, but for the time that it took, and what was
computed, to the byte. Prints the outcome. TAKEN: of a run with 5 cores, how many
parts of launches other cores ran, at least.
"""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

root, sim, out, run, *taken = sys.argv[1:]
with open(os.path.join(root, "test", "sim", "spread", "kernels.cu"), encoding="utf-8") as f:
    source = f.read()
digest = hashlib.sha256(source.encode()).hexdigest()


def buffer(name, kind, role, init):
    return {"name": name, "kind": "buffer", "type": kind, "role": role, "tolerance": 1e-4, "init": init}


job = {
    "format": 1, "id": "spread", "purpose": "attempt", "arch": "sm_90", "source_library": "kernel.cu",
    "candidate_library": "kernel.cu", "source_digest": digest, "candidate_digest": digest,
    "leaves": [buffer("x", "f32", "input", {"kind": "uniform", "low": 0, "high": 1}),
               buffer("y", "f32", "inout", {"kind": "zeros"}), buffer("z", "i32", "inout", {"kind": "zeros"}),
               {"name": "n", "kind": "integer"}],
    "cases": [{"label": "n=700", "timed": False, "added": False,
               "values": [{"shape": [700]}, {"shape": [1024]}, {"shape": [256]}, {"integer": 700}]}],
    "seeds": [101, 102], "timing_seed": 104, "timeout_ms": 60000,
    "timing": {"warmup_ms": 1, "min_samples": 3, "max_samples": 3, "max_ms": 10, "relative_error": 0.1}}
os.makedirs(out)
for name, text in (("kernel.cu", source), ("job.json", json.dumps(job)),
                   ("compile.json", json.dumps({"path": "kernels.cu", "folder": out, "flags": ["-DRUN=" + run],
                                                "arch": "sm_90"}))):
    with open(os.path.join(out, name), "w", encoding="utf-8") as f:
        f.write(text)


def came_to(cores):
    """The result without times, the outputs, and how many parts others ran."""
    prefix = os.path.join(out, f"cores{cores}")
    done = subprocess.run([sim, out, "--jobs", str(cores), "--spread-after", "0", "--speed", "--outputs", prefix],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{cores} cores: {done.stdout}{done.stderr}")
    result = re.sub(r'"(wall_ms|begin_us|end_us)": [\d.]+', "", done.stdout)
    files = {os.path.basename(p)[len(f"cores{cores}"):]: open(p, "rb").read() for p in sorted(glob.glob(prefix + ".*"))}
    return result, files, int(re.search(r"other cores ran: (\d+)", done.stderr)[1])


one, files, _ = came_to(1)
for cores in (2, 5):
    result, others, parts = came_to(cores)
    if result != one:
        sys.exit(f"{cores} cores come to another result:\n{one}\n{result}")
    if others != files:
        sys.exit(f"{cores} cores compute something else: {[n for n in files if files[n] != others.get(n)]}")
    if cores == 5 and taken and parts < int(taken[0]):
        sys.exit(f"other cores ran {parts} parts, expected are {taken[0]}")
print(re.search(r'"outcome": "(.*)"', one)[1], f"{len(files)} outputs", re.search(r'"diagnostics": "(.*)"', one)[1])
