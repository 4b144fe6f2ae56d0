"""A model and a GPU of a few lines each, for tests of the search.

answer_requests(DIR) answers what is pending in an exchange folder;
work_off(DIR) works off the jobs of a spool. Both are functions of the request
or the job alone, so that two runs that ask the same get the same.

make_judge(DIR) writes a run folder with the verdict on every candidate that the
model can come to, for --evaluator replay:DIR: no compiler is needed then.

Where FAKE_PROFILE is set, a job that asks for the GPU's counters is told that they are that text, or that nobody may
read them ("denied").

As a program: fakes.py EXCHANGE SPOOL -- COMMAND...  runs the command, answering
what it asks, and runs it again for as long as it is suspended (exit code 75);
fakes.py --judge DIR  calls make_judge.
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


def read_source():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "scale.cu")) as f:
        return f.read()


def code_value(attempt):
    return {
        2: "twice(x[i]) + nothing",  # does not compile
        7: "x[i] * 2.0f + 0.0f * 6",  # the same tokens as the repair in attempt 6
    }.get(attempt, f"2.0f * x[i] + 0.0f * {attempt}")


def debug_value(attempt):
    return f"x[i] * 2.0f + 0.0f * {attempt}"


def code(attempt, again):
    text = "Another sum.\n\n"
    if attempt == 3 and not again:
        return "I would rather not."  # asked again, it answers
    if attempt == 5:  # a device function that no anchor covers
        return text + "```cuda file\n" + read_source().replace("v + v", "2.0f * v") + "```\n"
    return text + "```cuda anchor 1\n" + KERNEL.format(value=code_value(attempt)) + "\n```\n"


def debug(attempt, again):
    return "Repaired.\n\n```cuda anchor 1\n" + KERNEL.format(value=debug_value(attempt)) + "\n```\n"


def rewritten(value):
    return re.sub(r"__global__.*?\n}", lambda _: KERNEL.format(value=value), read_source(), flags=re.S)


def single(attempt, again):
    return f"## Another sum, number {attempt}\n\nAlone.\n\n```cuda file\n" + rewritten(code_value(attempt)) + "```\n"


def answer_requests(folder):
    for path in sorted(glob.glob(folder + "/pending/*.json")):
        stem = os.path.basename(path)[: -len(".json")]
        attempt, role, turn = re.match(r"(\d+)-(\w+)-(\d+)-", stem).groups()
        text = {"plan": plan, "code": code, "debug": debug, "single": single}[role](int(attempt), turn != "1")
        answer = f"{folder}/answers/{stem}.md"
        try:
            size = os.path.getsize(path)
        except FileNotFoundError:  # an earlier answer was taken meanwhile
            continue
        head = f"---\nmodel: fake-1\ninput_tokens: {size}\noutput_tokens: {len(text)}\n---\n"
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
    draw = int(hashlib.sha256(b"54" + digest.encode()).hexdigest()[:6], 16)
    us = 100.0 if digest == job["source_digest"] else 40 + draw % 800 / 10
    if us != 100.0 and draw % 4 == 0:
        result["outcome"] = "wrong"
        result["diagnostics"] = "y[7]: got 1, wanted 2"
    else:
        result["timings"] = [timing(c["label"], us) for c in job["cases"] if c["timed"]]
        text = os.environ.get("FAKE_PROFILE")
        if text == "denied" and "profiled_text" in job:
            result["profile"] = {"text": "", "problem": "ncu: nobody may", "unavailable": True}
        elif text and "profiled_text" in job:
            result["profile"] = {"text": f"{text}, {us} us\n", "problem": ""}
    return result


def work_off(folder):
    for path in sorted(glob.glob(folder + "/jobs/*/job.json")):
        with open(path) as f:
            job = json.load(f)
        result = f"{folder}/results/{job['id']}.json"
        if not os.path.exists(result):
            write(result, json.dumps(judge(job)))


def verdict(kind, compiler="", run="", timings=[]):
    return {
        "kind": kind,
        "compiler": compiler,
        "run": run,
        "timings": timings,
        "device": "Fake GPU" if kind != "not-compiled" else "",
        "modelled": False,
    }


def digest(fields):
    """As stark's DigestBuilder: names and values with their lengths."""
    text = "".join(f"{len(part)}:{part}" for field in fields for part in field)
    return hashlib.sha256(text.encode()).hexdigest()


def make_judge(folder, attempts=30):
    source = read_source()
    texts = [source] + [
        rewritten(value)
        for attempt in range(1, attempts + 1)
        for value in (code_value(attempt), debug_value(attempt))
    ]
    lines = []
    for text in dict.fromkeys(texts):
        sha = hashlib.sha256(text.encode()).hexdigest()
        if "nothing" in text:
            found = verdict("not-compiled", "error: identifier \"nothing\" is undefined")
        else:
            job = {
                "id": "",
                "candidate_digest": sha,
                "source_digest": hashlib.sha256(source.encode()).hexdigest(),
                "cases": [{"label": "n=1048576", "timed": True}, {"label": "n=65536", "timed": True}],
            }
            result = judge(job)
            found = verdict(result["outcome"], result["compiler"], result["diagnostics"], result["timings"])
        for purpose in ("attempt", "confirm"):
            body = {"attempt": 0, "node": 0, "purpose": purpose, "candidate": sha, "verdict": found}
            n = len(lines)
            compact = json.dumps(body, sort_keys=True, separators=(",", ":"))
            check = digest([("n", str(n)), ("event", "verdict"), ("body", compact)])[:16]
            event = {"n": n, "event": "verdict", "body": body, "check": check}
            lines.append(json.dumps(event, sort_keys=True, separators=(",", ":")) + "\n")
    options = {
        "attempts": attempts, "seed": 1, "epsilon": 0.3, "root_throttle": 5, "dead_branch": 3, "leaderboard": 2,
        "window": 5, "grounding": "support", "temperature_plan": 0.8, "temperature_code": 0.1,
        "temperature_debug": 0.1, "margin": 1.02, "confirm": True,
    }  # fmt: skip
    identity = {
        "format": 1,
        "task": {"name": "scale", "entry": "launch_scale", "digest": "", "arch": "sm_90"},
        "prompts": "",
        "provider": "none",
        "evaluator": "fake",
        "options": options,
        "versions": {"fakes": "1"},
    }
    write(folder + "/run.json", json.dumps(identity))
    write(folder + "/journal.jsonl", "".join(lines))


def main():
    if sys.argv[1:2] == ["--judge"]:
        return make_judge(sys.argv[2])
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
