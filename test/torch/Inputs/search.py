#!/usr/bin/env python3
"""search.py WORKER SOURCE ASK SPOOL -- COMMAND...: runs a search, answering it with a list of candidates, and works off its jobs.

The candidate of attempt N is SOURCE with what EDITS has for N in place of its last statement. COMMAND is run again for as long as it is
suspended.
"""
import glob
import os
import re
import subprocess
import sys

EDITS = {
    1: "static at::Tensor kept = mul; return add + kept - kept;",
    2: "at::globalContext().setAllowTF32CuBLAS(true); return add;",
    3: "return add.t();",
    4: "return at::add(at::mul(blocks_2, scale), at::scalar_tensor(0.5, add.options()));",
}


def main():
    worker, source, ask, spool = sys.argv[1:5]
    command = sys.argv[6:]
    with open(source) as f:
        text = f.read()
    while True:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 75:
            print(done.stdout + done.stderr)
            sys.exit(done.returncode)
        for path in glob.glob(ask + "/pending/*.json"):
            stem = os.path.basename(path)[: -len(".json")]
            edit = EDITS[int(re.match(r"\d+", stem).group())]
            candidate = re.sub(r"return \w+;\n", lambda _: edit + "\n", text)
            with open("answer", "w") as f:
                f.write("---\nmodel: fake-1\ninput_tokens: 1\noutput_tokens: 1\n---\n")
                f.write("## Another form\n\nOf the last line.\n\n```cuda file\n" + candidate + "```\n")
            os.makedirs(ask + "/answers", exist_ok=True)
            os.rename("answer", ask + "/answers/" + stem + ".md")
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([sys.executable, here + "/work_off.py", worker, spool], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
