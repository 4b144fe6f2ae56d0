"""check-buggy.py STARK-TOOL FOLDER: simulates each kernel of FOLDER.

NAME.cu has its fault in the line marked `// BUG: <kind>`; NAME-fixed.cu has
none. Prints what was found otherwise than that.
"""
import json
import os
import re
import subprocess
import sys

WORDS = {
    "out of bounds": "out-of-bounds",
    "race": "data race",
    "divergent barrier": "barrier reached by a part",
    "misaligned": "misaligned",
    "uninitialised": "uninitialised",
    "wrong mask": "wrong mask",
    "launch": "cannot be launched",
    "exited lane": "has left the kernel, and the outputs depend",
}


def simulate(tool, path):
    ran = subprocess.run([tool, "simulate", path, "--format", "json"], capture_output=True, text=True)
    try:
        return ran.returncode, json.loads(ran.stdout)
    except ValueError:
        return ran.returncode, {"kind": "none", "run": ran.stdout + ran.stderr}


def main():
    tool, folder = sys.argv[1:]
    found = clean = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".cu"):
            continue
        path = os.path.join(folder, name)
        code, verdict = simulate(tool, path)
        told = verdict.get("run", "")
        if name.endswith("-fixed.cu"):
            if code == 0 and verdict["kind"] == "correct":
                clean += 1
            else:
                print(f"{name}: a false alarm: {told}")
            continue
        for number, text in enumerate(open(path), 1):
            if mark := re.search(r"// BUG: (.+)$", text):
                kind, line = mark[1].strip(), number
        ok = code == 1 and verdict["kind"] != "correct" and WORDS[kind] in told
        if ok and re.search(rf"\bline {line}\b", told):
            found += 1
        else:
            print(f"{name}: wanted {kind} in line {line}: {verdict['kind']}: {told}")
    print(f"{found} faulty kernels found, {clean} corrected twins clean")


main()
