"""kill.py RUN FOLDER LEAST -- COMMAND...: kills the command until the run is done.

The command writes the run folder FOLDER. It is killed with SIGKILL when there
are one to four more files or events in it, at once or a moment later, and
started again, until it ends by itself. Then FOLDER must be RUN, byte for byte.
All of that again, in an empty folder, until there were LEAST kills.
"""
import filecmp
import os
import random
import shutil
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


def one_run(folder, command, draw, moments):
    """Kills until the run ends by itself; returns how often."""
    kills = 0
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
            return kills
        assert process.returncode == -9, f"after {kills} kills: exit code {process.returncode}\n{output}"
        kills += 1
        moments.add(progress(folder))


def main():
    dashes = sys.argv.index("--")
    (run, folder, least), command = sys.argv[1:dashes], sys.argv[dashes + 1 :]
    least = int(least)
    draw = random.Random(7)
    names = files(run)
    kills, moments = 0, set()
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        kills += one_run(folder, command, draw, moments)
        assert files(folder) == names, f"{files(folder)}\ninstead of\n{names}"
        _, different, failing = filecmp.cmpfiles(run, folder, names, shallow=False)
        assert not different and not failing, different + failing
        if kills >= least:
            break
    assert kills >= least, f"only {kills} kills"
    print(f"killed {kills} times, at {len(moments)} stages; {len(names)} files are the same")


if __name__ == "__main__":
    main()
