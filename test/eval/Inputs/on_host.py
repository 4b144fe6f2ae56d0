#!/usr/bin/env python3
"""on_host.py WORKER FOLDER NAME 'C++ body' [key=value ...]: judges one body.

Builds y[i] = 2 * x[i] + 1 as the source and the body (with x, y, n) as the
candidate, for the host, and runs worker-on-host on them. Prints the outcome,
the diagnostics and the labels of the timings. Keys: source=BODY, added=1 (the
odd size is the tool's own), untimed=1 (sizes are only compared), timeout=MS, spool=1 (through a spool),
outputs=1 (keep the candidate's outputs in FOLDER/outputs), values=1 (the odd size with other values, too), shifted=1
(and with pointers that are aligned to their elements alone), same=1 (it stands for the source), columns=N (of y, where n is 50000), few=1 (y has one element), samples=1 (keep every sample and say how many
there are), rounds=N (pairs of processes), sanitize=PROGRAM (in place of compute-sanitizer), above=X (only what is so much faster than the source),
profile=PROGRAM (in place of ncu), cupti=LIBRARY (in place of CUPTI; without, there is none), works=NS (what it records of a call), jobs=N (so many of them in the spool, at which opening the device takes half a second; says how many
children each started itself), shared=1 (the source is among the spool's libraries; "changed": another than it was; each of several jobs has other sizes, and says how often it loaded its source), gpus=N (a worker each).
What is proved by such tools is printed after the rest where there is a sanitizer.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

GOOD = "for (long i = 0; i < n; ++i) y[i] = 2 * x[i] + 1;"
FRAME = """
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
extern "C" void *__libc_stack_end;
static int error = 0, delay = 0;
extern "C" int stark_last_error() {
  if (delay)
    usleep(delay);
  return error;
}
static void launch(const float *x, float *y, long n) { %s }
extern "C" void stark_call(void **a) {
  launch(*(float **)a[0], *(float **)a[1], *(long long *)a[2]);
}
"""


# C++14 has no header of special functions, half of what there is to compile.
COMPILE = ["c++", "-std=c++14", "-O1", "-shared", "-fPIC"]


def build(folder, name, body):
    path = os.path.join(folder, name + ".cpp")
    with open(path, "w") as f:
        f.write(FRAME % body)
    subprocess.run([*COMPILE, path, "-o", os.path.join(folder, name + ".so")], check=True)


def build_source(folder, job, body):
    """The same for nearly all, and so kept beside the folder."""
    kept = os.path.join(folder + ".sources", hashlib.sha256(" ".join([*COMPILE, FRAME % body]).encode()).hexdigest() + ".so")
    if not os.path.exists(kept):
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        build(job, "source", body)
        os.rename(os.path.join(job, "source.so"), kept)
    shutil.copy(kept, os.path.join(job, "source.so"))


def by_entry(text):
    """Less what the address sanitizer itself prints when a child changes its stack."""
    text = re.sub(r"==\d+==WARNING: ASan doesn't fully support makecontext/swapcontext .*\n?", "", text)
    return re.sub(r"\nIt printed:\n(?= \(|$)", "", text)


def main():
    worker, folder, name, body = sys.argv[1:5]
    keys = dict(a.split("=", 1) for a in sys.argv[5:])
    shutil.rmtree(folder, ignore_errors=True)
    job = os.path.join(folder, "jobs", name)
    os.makedirs(job)
    build_source(folder, job, keys.get("source", GOOD))
    build(job, "candidate", body)
    shared = {}
    if "shared" in keys:
        with open(os.path.join(job, "source.so"), "rb") as f:
            shared["shared_source"] = hashlib.sha256(f.read()).hexdigest()
        library = os.path.join(folder, "libraries", shared["shared_source"] + ".so")
        os.makedirs(os.path.dirname(library))
        os.rename(os.path.join(job, "source.so"), library)
        if keys["shared"] == "changed":
            shutil.copy(os.path.join(job, "candidate.so"), library)

    def case(n, timed, **more):
        columns = int(keys["columns"]) if "columns" in keys and n == 50000 else 0
        label = f"n={n}" + "".join(", " + more[key] for key in ("regime", "note") if key in more)
        more.pop("note", None)
        return {"label": label, "timed": timed and "untimed" not in keys, "added": not timed and "added" in keys, **more,
                "values": [{"shape": [n]}, {"shape": [n // columns, columns] if columns else [1] if "few" in keys else [n]}, {"integer": n}, {}]}

    init = {"kind": "normal", "low": 0, "high": 1}
    other = {"tiny": {**init, "times": 2.0**-20}, "huge": {**init, "times": 2.0**20}, "mixed": {**init, "kind": "mixed"},
             "integers": {"kind": "integers", "low": -2, "high": 3}, "zeros": {"kind": "zeros"}, "one hot": {"kind": "one_hot"},
             "equal rows": {**init, "equal_rows": True}, "denormals": {**init, "times": 2.0**-132}}
    cases = [case(50000, True), case(1003, False)]
    if "values" in keys:
        cases += [case(1003, False, regime=name, added=True, brief=True) for name in other]
    if "shifted" in keys:
        cases += [case(1003, False, shifted=True, added=True, brief=True, note="misaligned")]
    with open(os.path.join(job, "job.json"), "w") as f:
        json.dump({
            "format": 1, "id": name, "purpose": "attempt", "arch": "sm_90", "compiler": "",
            "source_library": "source.so", "candidate_library": "candidate.so",
            **({"sanitize_above": float(keys.get("above", 0))} if "sanitize" in keys else {}),
            **({"async_barriers": True} if "mbarriers" in keys else {}),
            **({"profiled_text": "on_host.cu"} if "profile" in keys else {}),
            **shared, "source_digest": "s", "candidate_digest": "s" if "same" in keys else "c",
            "leaves": [
                {"name": "x", "kind": "buffer", "type": "f32", "role": "input", "tolerance": 0, "init": init,
                 "otherwise": [{"regime": name, "init": values} for name, values in other.items()]},
                {"name": "y", "kind": "buffer", "type": "f32", "role": "output", "tolerance": 1e-5, "init": init},
                {"name": "n", "kind": "integer"}, {"name": "stream", "kind": "stream"}],
            "cases": cases,
            "seeds": [1, 2, 3], "timing_seed": 4, "timeout_ms": int(keys.get("timeout", 5000)),
            "timing": {"warmup_ms": 20, "min_samples": 12, "max_samples": 16, "max_ms": 600000 if "samples" in keys else 500, "relative_error": 0.05,
                       "rounds": int(keys.get("rounds", 1)), "pairs_a_placement": 4}}, f)
    result = os.path.join(folder, "results", name + ".json")
    os.makedirs(os.path.dirname(result))
    outputs = ["--outputs", os.path.join(folder, "outputs")] if "outputs" in keys else []
    if "samples" in keys:
        outputs += ["--samples", os.path.join(folder, "samples")]
    if "sanitize" in keys:
        outputs += ["--sanitizer", keys["sanitize"]]
    if "profile" in keys:
        outputs += ["--ncu", keys["profile"]]
        with open(os.path.join(job, "on_host.cu"), "w") as f:
            f.write(body)
    outputs += ["--cupti", keys.get("cupti", "none")]
    if "works" in keys:
        os.environ["CUDA_DEVICE_ORDER"] = "WORKS_" + keys["works"]
    if "jobs" in keys:
        os.environ["CUDA_DEVICE_ORDER"] = "OPENS_IN_500"
        for other in range(1, int(keys["jobs"])):
            shutil.copytree(job, f"{job}{other}")
            with open(f"{job}{other}/job.json") as f:
                more = f.read()
            if shared:  # of other sizes
                more = more.replace("50000", str(50000 + 512 * other)).replace("1003", str(1003 + 2 * other))
            with open(f"{job}{other}/job.json", "w") as f:
                json.dump({**json.loads(more), "id": f"{name}{other}"}, f)
    if "gpus" in keys:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(int(keys["gpus"]))))
        outputs += ["--gpus", "all"]
    if "spool" in keys:
        code = subprocess.call([worker, "--spool", folder, *outputs])
    else:
        code = subprocess.call([worker, job, "--result", result, *outputs])
    with open(result) as f:
        r = json.load(f)
    print("exit code:", code)
    print("outcome:", r["outcome"], by_entry(r["diagnostics"]), end="\n")
    if "sanitize" in keys:
        print("proved:", *[line for line in r.get("proved", []) if "sanitizer" in line or "CUPTI" in line])
    if "profile" in r:
        found = r["profile"]
        print("unavailable:" if found.get("unavailable") else "profile:", found["problem"] or "no problem")
        print(found["text"], end="")
    for t in r["timings"]:
        print("timed:", t["label"], f"throttled {t['throttled']}, speed-up" if "throttled" in t else "speed-up", "above 1.5" if t["speedup"] > 1.5 else "about 1" if t["speedup"] > 0.3 else "low")
    for other in range(int(keys.get("jobs", 0))):
        with open(result.replace(".json", f"{other or ''}.json")) as f:
            r = json.load(f)
        stages = [s["stage"] for s in r["stages"]]
        print(f"job {other}:", r["outcome"], f"pairs of children {stages.count('meet device')}, started for it {stages.count('start child')}",
              *([f"sources loaded {stages.count('load source')}"] if shared else []))
    if "samples" in keys:
        with open(os.path.join(folder, "samples", name + ".jsonl")) as f:
            for line in map(json.loads, f):
                pairs = [len(b[side]) for b in line["blocks"] for side in ("source_us", "candidate_wall_us")]
                print("samples:", line["label"], "round", line["round"], "placements", len(line["blocks"]) >= 3,
                      "pairs as counted", sum(pairs) // 2 >= 12 and min(pairs) >= 3)


if __name__ == "__main__":
    main()
