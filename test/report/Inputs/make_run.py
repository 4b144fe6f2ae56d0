"""make_run.py FOLDER [--attempts N] [--goes-on] [--no-winner] [--modelled]
[--hostile] [--no-workload] [--wrong-source] [--proved]: writes the folder of a run that never was, which
reads as one (docs/journal.md). Verdicts, speeds and texts are drawn with a fixed
seed. --proved says of correct ones what they were compared with. --hostile puts what a page must not run into all that can hold it."""
import argparse
import hashlib
import json
import os
import random

arguments = argparse.ArgumentParser()
arguments.add_argument("folder")
arguments.add_argument("--attempts", type=int, default=12)
arguments.add_argument("--lines", type=int, default=60)
for flag in ("goes-on", "no-winner", "modelled", "hostile", "no-workload", "wrong-source", "proved"):
    arguments.add_argument("--" + flag, action="store_true")
A = arguments.parse_args()
draw = random.Random(7)

# What breaks out of text, attributes, elements, comments, scripts, CDATA.
EVIL = ("</script><script>window.bad=1</script><img src=x onerror=\"window.bad=2\">"
        "\"'><svg onload=window.bad=3>]]>--><a href='javascript:window.bad=4'>x</a>"
        "</style></pre></td></table><iframe src=http://evil.invalid/>")
TURNED = "\u202egnp.exe\u2066\u200b"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def framed(fields):
    text = b""
    for name, value in fields:
        text += b"%d:%s%d:%s" % (len(name), name, len(value), value)
    return sha256(text)


class Journal:
    def __init__(self, path):
        self.file, self.number = open(path, "wb"), 0

    def add(self, event, body):
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        check = framed([(b"n", b"%d" % self.number), (b"event", event.encode()), (b"body", text)])[:16]
        self.file.write(b'{"body":%s,"check":"%s","event":"%s","n":%d}\n'
                        % (text, check.encode(), event.encode(), self.number))
        self.number += 1


def write(path, data):
    full = os.path.join(A.folder, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data)
    return sha256(data)


def source(generation):
    lines = ["#include <cuda_runtime.h>", "__global__ void scale_kernel(float *y, const float *x, int n) {"]
    for i in range(A.lines):
        tuned = i * 7919 % 500 < generation
        lines.append(f"  float v{i} = x[threadIdx.x + {i}]{' * 2.0f' if tuned else ''}; // line {i}")
    lines += ["  y[blockIdx.x * blockDim.x + threadIdx.x] = v0;", "}",
              "void launch_scale(float *y, const float *x, int n, cudaStream_t s) {",
              "  scale_kernel<<<n / 256, 256, 0, s>>>(y, x, n);", "}", ""]
    data = "\n".join(lines).encode()
    if A.hostile:
        data += ("// " + EVIL + TURNED + "\n").encode() + b"// \x00\x01\xff\xfe\xc3(\n"
        if generation == 1:
            data += b"// " + b"<b>" * 3_500_000 + b"\n"
    return data


def timing(label, source_us, speed):
    # Of few digits, which everybody prints alike: a journal's lines have digests.
    speed = round(speed, 4)
    figures = {"label": label, "samples": 30, "discarded": 3, "median_us": source_us / speed, "iqr_us": 0.5,
            "min_us": source_us / speed - 0.4, "source_median_us": source_us, "source_iqr_us": 1.0,
            "source_min_us": source_us - 1, "speedup": speed, "speedup_low": speed * 0.99,
            "speedup_high": speed * 1.01}
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in figures.items()}


def verdict(kind, speed):
    found = {"compiler": "scale_kernel: 32 registers, no spills\n", "device": "Fake GPU", "kind": kind,
             "modelled": A.modelled, "run": "said by the judge\n", "timings": []}
    if kind == "correct":
        found["timings"] = [timing("n=1048576", 100.0, speed), timing("n=4096", 10.0, speed)]
    if A.proved and kind == "correct":
        found["proved"] = ["values as the workload says, at 3 sizes", "other values: tiny, huge, one hot, purple",
                           "pointers that are aligned to their elements alone"]
    if A.hostile:
        for field in ("compiler", "run"):
            found[field] += EVIL + TURNED + "\u0000\u001b[31m\n"
        found["device"] = "Fake " + EVIL
    return found


os.makedirs(A.folder, exist_ok=True)
journal = Journal(os.path.join(A.folder, "journal.jsonl"))
identity = {
    "device": "Fake GPU", "evaluator": "fake", "format": 1,
    "options": {"attempts": A.attempts, "confirm": True, "dead_branch": 3, "epsilon": 0.3, "grounding": "support",
                "leaderboard": 2, "margin": 1.02, "root_throttle": 5, "seed": 1, "temperature_code": 0.1,
                "temperature_debug": 0.1, "temperature_plan": 0.8, "window": 5},
    "prompts": "0" * 64, "provider": "exchange" + (EVIL if A.hostile else ""),
    "task": {"arch": "sm_90", "digest": "1" * 64, "entry": "launch_scale" + (EVIL if A.hostile else ""),
             "name": "scale" + (EVIL + TURNED if A.hostile else "")},
    "versions": {"clang": "19.1.7", "stark": "0.1.0", "toolkit": "13.0"}}
write("run.json", json.dumps(identity, indent=2).encode())
write("prompts/plan.md", ("---\nrole: plan\n---\nPlan " + (EVIL if A.hostile else "")).encode())
if A.hostile:
    write("prompts/<img src=x onerror=window.bad=5>.md", EVIL.encode())
if not A.no_workload:
    write("workload.json", json.dumps({
        "entry": "launch_scale", "sizes": [{"n": 1048576}, {"n": 4096}, {"n": 1000, "check_only": True}],
        "arguments": {"x": {"dtype": "f32", "shape": ["n"], "init": "normal"},
                      "y": {"dtype": "f32", "shape": ["n"], "role": "output"}, "n": {"value": "n"}},
        "tolerance": {"f32": 1e-4}, "bytes": "8 * n"}).encode())

speeds, texts, best = {0: 1.0}, {0: source(0)}, 0
for attempt in range(A.attempts + 1):
    parent = -1
    if attempt:
        parent = best if draw.random() < 0.5 else draw.choice(sorted(speeds))
        journal.add("select", {"attempt": attempt, "node": parent, "reason": "best of 2 eligible" + (EVIL if A.hostile else ""),
                               "action": "plan", "shown": {"plan": [0], "code": sorted({0, parent})}})
        for role in ("plan", "code"):
            name = f"{attempt:04}-{role}-1"
            text = (f"Reply {name}\n" + "words of a reply, one after the other\n" * 150).encode()
            if A.hostile:
                text += EVIL.encode() + b"\x00\xff```\n"
            digest = write(f"replies/{name}.md", text)
            journal.add("reply", {"id": name, "digest": "2" * 64, "file": f"replies/{name}.md", "text_digest": digest,
                                  "reply": {"applied": ["temperature=0.8"],
                                            "model": "fake-1" + (EVIL if A.hostile else ""), "provider": "exchange",
                                            "stop": "end", "stop_detail": "", "wall_ms": 2000, "cost_micro_usd": 1500,
                                            "usage": {"input": 1000, "output": 500}}})
    kind = draw.choice(["correct", "correct", "correct", "wrong", "not-compiled", "ungrounded", "crashed", "no-candidate"])
    if attempt == 0 or attempt == 1:
        kind = "correct"
    if A.wrong_source:
        kind = "wrong"
    if not attempt:
        speed = 1.0
    elif A.no_winner:
        speed = 0.7
    else:
        speed = max(0.1, min(40, speeds.get(parent, 1.0))) * draw.choice([0.8, 1.0, 1.2, 1.5])
    file = candidate = ""
    if kind != "no-candidate":
        texts[attempt] = source(attempt)
        file = f"candidates/{attempt:04}.cu"
        candidate = write(file, texts[attempt])
    journal.add("verdict", {"attempt": attempt, "node": attempt, "purpose": "check" if kind in ("ungrounded", "no-candidate") else "attempt",
                            "candidate": candidate, "verdict": verdict(kind, speed)})
    if A.wrong_source:
        raise SystemExit
    anchors = []
    if parent in texts and attempt:
        begin = texts[parent].find(b"  float v3")
        anchors = [{"begin": begin, "end": begin + 400, "line": 6, "end_line": 14, "grew_before": 0, "grew_after": 0,
                    "sites": ["scale_kernel" + (EVIL if A.hostile else "")]}]
        if A.hostile and attempt == 2:
            anchors.append({"begin": 10**9, "end": 10**9 + 5, "line": 1, "end_line": 9, "grew_before": 0,
                            "grew_after": 0, "sites": ["nowhere"]})
    journal.add("node", {"attempt": attempt, "node": attempt, "parent": parent, "base": parent, "from_debug": False,
                         "same_as": -1, "title": (f"Change number {attempt}" + (EVIL + TURNED if A.hostile else "")) if attempt else "",
                         "advice": ("Do it well. " + (EVIL if A.hostile else "")) if attempt else "", "anchors": anchors,
                         "verdict": kind, "file": file, "candidate": candidate})
    if kind == "correct":
        speeds[attempt] = speed
        if speed > speeds[best]:
            best = attempt
winner = -1 if A.no_winner or not best else best
if not A.goes_on:
    if winner >= 0:
        journal.add("verdict", {"attempt": A.attempts + 1, "node": winner, "purpose": "confirm",
                                "candidate": sha256(texts[winner]), "verdict": verdict("correct", speeds[winner])})
    journal.add("end", {"attempts": A.attempts, "winner": winner, "why": f"{A.attempts} attempts"})
journal.file.close()
