"""hold_gpu.py WORKER FOLDER: holds the GPU's lock, starts WORKER on a spool with
a job that cannot be read, lets the lock go once the worker says that it waits,
and prints what happened in which order."""

import fcntl
import json
import os
import subprocess
import sys

worker, folder = sys.argv[1:]
locks, spool = folder + "/locks", folder + "/spool"
os.makedirs(locks)
os.makedirs(spool + "/jobs/one")
with open(spool + "/jobs/one/job.json", "w") as job:
    job.write("{}")
environment = dict(os.environ, STARK_LOCK_DIR=locks)
facts = json.loads(subprocess.run([worker, "--probe"], check=True, capture_output=True).stdout)
path = f"{locks}/{facts['id']}.lock"
held = open(path, "w")
fcntl.flock(held, fcntl.LOCK_EX)
running = subprocess.Popen([worker, "--spool", spool], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
for line in running.stderr:
    print(line.strip().replace(folder, "FOLDER"))
    if "waited for" in line:
        print("results:", len(os.listdir(spool + "/results")))
        held.close()
print("ended with", running.wait(), "results:", os.listdir(spool + "/results"))
