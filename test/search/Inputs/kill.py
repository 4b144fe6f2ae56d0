"""kill.py RUN FOLDER [LEAST] -- COMMAND...: kills the command until the run is done.

The command writes the run folder FOLDER. It is killed with SIGKILL when there
are one to four more files or events in it, at once or a moment later, and
started again, until it ends by itself, after at least LEAST (10) kills. Then FOLDER must
be RUN, byte for byte.
"""
import filecmp
import os
import random
import subprocess
import sys
import time


def files(folder):
    return sorted(
        os.path.relpath(os.path.join(path, name), folder) for path, _, names in os.walk(folder) for name in names
    )


def progress(folder):
    """Files and journal lines; what is being written does not count."""
    try:
        with open(folder + "/journal.jsonl", "rb") as f:
            events = f.read().count(b"\n")
    except OSError:
        events = 0
    return events + sum(not name.endswith(".tmp") for name in files(folder))


def main():
    dashes = sys.argv.index("--")
    (run, folder, *least), command = sys.argv[1:dashes], sys.argv[dashes + 1 :]
    least = int(least[0]) if least else 10
    draw = random.Random(7)
    kills, moments = 0, set()
    while True:
        wanted = progress(folder) + draw.choice([1, 2, 3, 4])
        delay = draw.choice([0, 0, 0.002, 0.02])
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while process.poll() is None:
            if progress(folder) >= wanted:
                time.sleep(delay)
                process.kill()
                break
            time.sleep(0.0005)
        output = process.communicate()[0].decode()
        if process.returncode == 0:
            break
        if process.returncode != -9:
            print(f"after {kills} kills: exit code {process.returncode}\n{output}")
            return 1
        kills += 1
        moments.add(progress(folder))
    names = files(run)
    assert files(folder) == names, f"{files(folder)}\ninstead of\n{names}"
    _, different, failing = filecmp.cmpfiles(run, folder, names, shallow=False)
    assert not different and not failing, different + failing
    assert kills >= least, f"only {kills} kills"
    print(f"killed {kills} times, at {len(moments)} stages; {len(names)} files are the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
