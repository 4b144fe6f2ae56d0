"""What the search itself costs: cost.py STARK-TOOL ATTEMPTS.

Records a run of ATTEMPTS attempts with the model and judge of fakes.py in the
current folder, replays it with neither, and prints wall time, processor time and
peak memory of the replay. Exit code 1 when they are above what 1,000 attempts
may take: 300 MB, and the share of 60 s of processor time that ATTEMPTS are,
times --slack (default 1; a start that does not grow with the attempts is given
5 s).
"""
import argparse
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fakes

SECONDS, MEGABYTES, ATTEMPTS = 60.0, 300.0, 1000
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scale.cu")


def record(tool, attempts, folder="."):
    """The run folder of a search of fakes; several attempts are in flight, so
    that little time is spent waiting for answers."""
    fakes.make_judge(folder + "/judge", attempts)
    # Without throttle and pruning nothing ends the search early.
    command = [tool, "optimize", SOURCE, "--provider", f"exchange:{folder}/ask", "--evaluator", f"replay:{folder}/judge",
               "--run-dir", f"{folder}/run", "--attempts", str(attempts), "--jobs", "16", "--wait", "60", "--quiet",
               "--root-throttle", "1000", "--dead-branch", "1000"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while running.poll() is None:
        fakes.answer_requests(f"{folder}/ask")
        time.sleep(0.02)
    if running.returncode:
        sys.exit(f"recording exited with {running.returncode}: {running.stderr.read()}")
    return f"{folder}/run"


def replay(tool, run, folder="."):
    """Wall seconds, processor seconds and peak megabytes of replaying a run."""
    command = [tool, "optimize", SOURCE, "--provider", f"replay:{run}", "--evaluator", f"replay:{run}",
               "--run-dir", f"{folder}/again", "--quiet"]
    start = time.perf_counter()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if running.returncode:
        sys.exit(f"the replay exited with {running.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def main():
    options = argparse.ArgumentParser()
    options.add_argument("tool")
    options.add_argument("attempts", type=int)
    options.add_argument("--slack", type=float, default=1)
    given = options.parse_args()
    wall, cpu, megabytes = replay(given.tool, record(given.tool, given.attempts))
    limit = given.slack * (5 + SECONDS * given.attempts / ATTEMPTS)
    print(f"{given.attempts} attempts replayed in {wall:.1f} s, {cpu:.1f} s of the processor's (limit {limit:.0f}), "
          f"peak {megabytes:.0f} MB (limit {MEGABYTES:.0f})")
    sys.exit(cpu > limit or megabytes > MEGABYTES)


if __name__ == "__main__":
    main()
