"""A model and a GPU of a few lines each, for tests of the search.

answer_requests(DIR) answers what is pending in an exchange folder;
work_off(DIR) works off the jobs of a spool. Both are functions of the request
or the job alone, so that two runs that ask the same get the same.

As a program: fakes.py EXCHANGE SPOOL -- COMMAND...  runs the command, answering
what it asks, and runs it again for as long as it is suspended (exit code 75).
"""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import time

KERNEL = """__global__ void scale_kernel(const float *x, float *y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = {value};
}}"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".part", "w") as f:
        f.write(text)
    os.rename(path + ".part", path)


def plan(attempt, again):
    # The fourth plan names a site that does not exist, and does so again.
    site = "scale_kernel:loop7" if attempt == 4 else "scale_kernel"
    return (
        f"## Advice\n\nAttempt {attempt}: write the sum in another way.\n\n"
        "```json\n" + json.dumps({"title": f"another sum, number {attempt}", "sites": [site]}) + "\n```\n"
    )


def code(attempt, again):
    value = {
        2: "twice(x[i]) + nothing",  # does not compile
        6: "2.0f * x[i] + 0.0f * 1",  # the same tokens as attempt 1
    }.get(attempt, f"2.0f * x[i] + 0.0f * {attempt}")
    text = "Another sum.\n\n"
    if attempt == 3 and not again:
        return "I would rather not."  # asked again, it answers
    if attempt == 5:  # a device function that no anchor covers
        source = open(os.path.join(os.path.dirname(__file__), "scale.cu")).read()
        return text + "```cuda file\n" + source.replace("v + v", "2.0f * v") + "```\n"
    return text + "```cuda anchor 1\n" + KERNEL.format(value=value) + "\n```\n"


def debug(attempt, again):
    return "Repaired.\n\n```cuda anchor 1\n" + KERNEL.format(value=f"x[i] * 2.0f + 0.0f * {attempt}") + "\n```\n"


def answer_requests(folder):
    for path in sorted(glob.glob(folder + "/pending/*.json")):
        stem = os.path.basename(path)[: -len(".json")]
        attempt, role, turn = re.match(r"(\d+)-(\w+)-(\d+)-", stem).groups()
        text = {"plan": plan, "code": code, "debug": debug}[role](int(attempt), turn != "1")
        head = f"---\nmodel: fake-1\ninput_tokens: {os.path.getsize(path)}\noutput_tokens: {len(text)}\n---\n"
        answer = f"{folder}/answers/{stem}.md"
        if not os.path.exists(answer):
            write(answer, head + text)


def timing(label, us):
    return {
        "label": label,
        "samples": 40,
        "discarded": 0,
        "median_us": us,
        "iqr_us": round(us / 100, 3),
        "min_us": round(us * 0.98, 3),
        "source_median_us": 100.0,
        "source_iqr_us": 1.0,
        "source_min_us": 98.0,
        "speedup": round(100 / us, 4),
        "speedup_low": round(99 / us, 4),
        "speedup_high": round(101 / us, 4),
    }


def judge(job):
    """Outcome and times follow from the candidate's digest."""
    digest = job["candidate_digest"]
    result = {
        "format": 1,
        "id": job["id"],
        "candidate_digest": digest,
        "source_digest": job["source_digest"],
        "outcome": "correct",
        "diagnostics": "",
        "compiler": "ptxas info: 12 registers",
        "event_pair_us": 1.25,
        "copy_gb_per_s": 4000.0,
        "device": "Fake GPU",
        "driver": "1.0",
        "modelled": False,
        "wall_ms": 5,
        "timings": [],
    }
    draw = int(hashlib.sha256(digest.encode()).hexdigest()[:6], 16)
    us = 100.0 if digest == job["source_digest"] else 40 + draw % 800 / 10
    if us != 100.0 and draw % 4 == 0:
        result["outcome"] = "wrong"
        result["diagnostics"] = "y[7]: got 1, wanted 2"
    else:
        result["timings"] = [timing(c["label"], us) for c in job["cases"] if c["timed"]]
    return result


def work_off(folder):
    for path in sorted(glob.glob(folder + "/jobs/*/job.json")):
        with open(path) as f:
            job = json.load(f)
        result = f"{folder}/results/{job['id']}.json"
        if not os.path.exists(result):
            write(result, json.dumps(judge(job)))


def main():
    exchange, spool, dashes, *command = sys.argv[1:]
    assert dashes == "--", __doc__
    for _ in range(200):
        running = subprocess.Popen(command)
        while running.poll() is None:
            time.sleep(0.05)
            answer_requests(exchange)
            work_off(spool)
        if running.returncode != 75:
            return running.returncode
        answer_requests(exchange)
        work_off(spool)
    print("still suspended after 200 turns")
    return 1


if __name__ == "__main__":
    sys.exit(main())
