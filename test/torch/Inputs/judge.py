#!/usr/bin/env python3
"""judge.py WORKER SPOOL FOLDER CANDIDATE [SOURCE] [timed|agree]: judges a variant of step.cpp against another.

Takes the one job that lies in SPOOL, puts a variant's letter (see step.cpp) into each of its libraries, has the worker judge it in
FOLDER, and prints the outcome and the diagnostics. SOURCE is A unless given; a variant against itself is a source that is tried
before a search. Sizes are compared, not timed, unless the last word is "timed" or, for a workload that wants a candidate to agree
with the source, "agree".
"""
import glob
import json
import os
import shutil
import subprocess
import sys

MARK = b"step-variant="


def put(path, letter):
    with open(path, "rb") as f:
        text = f.read()
    assert text.count(MARK) == 1, "the mark is there %d times" % text.count(MARK)
    at = text.index(MARK) + len(MARK)
    with open(path, "wb") as f:
        f.write(text[:at] + letter.encode() + text[at + 1:])


def main():
    worker, spool, folder, candidate = sys.argv[1:5]
    words = sys.argv[5:]
    agree = words[-1:] == ["agree"]
    timed = agree or words[-1:] == ["timed"]
    source = words[0] if len(words) > timed else "A"
    (job,) = glob.glob(os.path.join(spool, "jobs", "*"))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(job, folder)
    path = os.path.join(folder, "job.json")
    with open(path) as f:
        j = json.load(f)
    shutil.copy(os.path.join(spool, "libraries", j["shared_source"] + ".so"), os.path.join(folder, "source.so"))
    put(os.path.join(folder, "source.so"), source)
    put(os.path.join(folder, "candidate.so"), candidate)
    j["source_digest"], j["candidate_digest"] = source, candidate
    j["timing"].update(warmup_ms=1, min_samples=30, relative_error=0.5)
    j["agree_with_source"] = agree
    for case in j["cases"]:
        case["timed"] &= timed
    with open(path, "w") as f:
        json.dump(j, f)
    result = os.path.join(folder, "result.json")
    code = subprocess.call([worker, folder, "--result", result], stdout=subprocess.DEVNULL)
    with open(result) as f:
        r = json.load(f)
    shipped = " (right as shipped)" if r.get("right_as_shipped") else ""
    print("exit code %d, %s%s: %s" % (code, r["outcome"], shipped, r["diagnostics"]))


if __name__ == "__main__":
    main()
