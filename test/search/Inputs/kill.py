"""kill.py RUN FOLDER -- COMMAND...: kills the command until the run is done.

The command writes the run folder FOLDER. It is killed with SIGKILL when the
journal has grown by one to three events, at once or a moment later, and started
again, until it ends by itself. Then FOLDER must be RUN, byte for byte.
"""
import filecmp
import os
import random
import subprocess
import sys
import time


def length(folder):
    try:
        return os.path.getsize(folder + "/journal.jsonl")
    except OSError:
        return 0


def events(folder):
    try:
        with open(folder + "/journal.jsonl", "rb") as f:
            return f.read().count(b"\n")
    except OSError:
        return 0


def files(folder):
    return sorted(
        os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names
    )


def main():
    run, folder, dashes, *command = sys.argv[1:]
    assert dashes == "--", __doc__
    draw = random.Random(7)
    kills, moments = 0, set()
    while True:
        wanted = events(folder) + draw.choice([1, 1, 2, 3])
        delay = draw.choice([0, 0, 0.002, 0.02])
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        before = length(folder)
        while process.poll() is None:
            now = length(folder)
            if now != before and events(folder) >= wanted:
                time.sleep(delay)
                process.kill()
                break
            before = now
            time.sleep(0.0005)
        output = process.communicate()[0].decode()
        if process.returncode == 0:
            break
        if process.returncode != -9:
            print(f"after {kills} kills: exit code {process.returncode}\n{output}")
            return 1
        kills += 1
        moments.add(events(folder))
    names = files(run)
    assert files(folder) == names, f"{files(folder)}\ninstead of\n{names}"
    _, different, failing = filecmp.cmpfiles(run, folder, names, shallow=False)
    assert not different and not failing, different + failing
    assert kills >= 10, f"only {kills} kills"
    print(f"killed {kills} times, at {len(moments)} lengths of the journal; {len(names)} files are the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
