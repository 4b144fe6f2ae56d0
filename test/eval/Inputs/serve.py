"""serve.py WORKER FOLDER: has WORKER serve a spool, tells it of two jobs that
cannot be read, one after the other, ends its input, and prints what it did."""

import os
import subprocess
import sys
import time

worker, folder = sys.argv[1:]
spool = folder + "/spool"
os.makedirs(spool + "/jobs")
environment = dict(os.environ, STARK_LOCK_DIR=folder + "/locks")
os.mkdir(folder + "/locks", 0o700)
running = subprocess.Popen([worker, "--spool", spool, "--serve"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def children():
    with open(f"/proc/{running.pid}/task/{running.pid}/children") as f:
        return len(f.read().split())


while not os.path.exists(spool + "/device.json") or children() != 2:
    time.sleep(0.01)
print("children before the first job:", children())
for name in ("one", "two"):
    os.makedirs(f"{spool}/making/{name}")
    with open(f"{spool}/making/{name}/job.json", "w") as job:
        job.write("{}")
    os.rename(f"{spool}/making/{name}", f"{spool}/jobs/{name}")
    running.stdin.write("\n")
    running.stdin.flush()
    while not os.path.exists(f"{spool}/results/{name}.json"):
        time.sleep(0.01)
    print(*sorted(n for n in os.listdir(spool + "/results") if not n.startswith(".")))
running.stdin.close()
print("ended with", running.wait())
