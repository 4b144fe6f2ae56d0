"""A cluster of one machine, for tests: sbatch, squeue and scancel in bin are
this program. Its state is the folder $FAKE_SLURM: calls (a line each), tasks/ID
(the process, the job's name), and what a test puts there: dies (the next task is
killed once it has claimed a job), pending (tasks do not start)."""
import os
import signal
import subprocess
import sys
import time

STATE = os.environ["FAKE_SLURM"]
TASKS = os.path.join(STATE, "tasks")


def has(name):
    return os.path.exists(os.path.join(STATE, name))


def note(line):
    with open(os.path.join(STATE, "calls"), "a") as calls:
        calls.write(line + "\n")


def start(task, options):
    """The task's process, in a session of its own."""
    folder = options["chdir"]
    log = options["output"].replace("%A_%a", task)
    with open(os.path.join(folder, log), "ab") as out:
        environment = dict(os.environ, SLURM_ARRAY_JOB_ID=task.split("_")[0])
        process = subprocess.Popen(["sh", "-c", options["wrap"]], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                   start_new_session=True, env=environment)
    if has("dies"):
        os.remove(os.path.join(STATE, "dies"))
        claimed = os.path.join(folder, "claimed")
        while process.poll() is None:
            if os.path.isdir(claimed) and any(not name.startswith(".") for name in os.listdir(claimed)):
                os.killpg(process.pid, signal.SIGKILL)
                note("killed in the middle of a job")
                break
            time.sleep(0.01)
    return process.pid


def sbatch(options):
    if "ANTHROPIC_API_KEY" in os.environ:
        note("a key was passed on")
    if options.get("partition") == "silent":
        return
    if options.get("partition") == "nope":
        sys.exit("sbatch: error: invalid partition specified: nope\n"
                 "sbatch: error: Batch job submission failed: Invalid partition name specified")
    first, last = map(int, options["array"].split("-"))
    with open(os.path.join(STATE, "jobs"), "a+") as jobs:
        jobs.write("x")
        job = jobs.tell()
    for index in range(first, last + 1):
        task = f"{job}_{index}"
        pid = 0 if has("pending") else start(task, options)
        with open(os.path.join(TASKS, task), "w") as file:
            file.write(f"{pid} {options['job-name']}")
    print(f"You have 12 hours left this month.\n{job};fake")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def tasks(options):
    for task in sorted(os.listdir(TASKS)):
        with open(os.path.join(TASKS, task)) as file:
            pid, name = file.read().split()
        if name == options["name"] and (pid == "0" or alive(pid)):
            yield task, int(pid)


def squeue(options):
    for task, pid in tasks(options):
        print(f"{task}|RUNNING|None" if pid else f"{task}|PENDING|Resources")


def scancel(options):
    for task, pid in list(tasks(options)):
        os.remove(os.path.join(TASKS, task))
        if pid:
            os.killpg(pid, signal.SIGTERM)


def main():
    program, *words = sys.argv[1:]
    os.makedirs(TASKS, exist_ok=True)
    note(" ".join([program, *words]))
    options = dict(word[2:].split("=", 1) if "=" in word else (word[2:], "") for word in words)
    {"sbatch": sbatch, "squeue": squeue, "scancel": scancel}[program](options)


main()
