"""interrupt.py FOLDER COUNT COMMAND...: runs COMMAND, sends it SIGINT once the
journals below FOLDER have COUNT nodes, and prints how it ended."""

import glob
import signal
import subprocess
import sys
import time

folder, count, *command = sys.argv[1:]


def nodes():
    texts = [open(path).read() for path in glob.glob(folder + "/*/journal.jsonl")]
    return sum(text.count('"event":"node"') for text in texts)


running = subprocess.Popen(command)
while running.poll() is None and nodes() < int(count):
    time.sleep(0.01)
if running.poll() is None:
    running.send_signal(signal.SIGINT)
print("interrupted:", "no" if running.wait() == 0 else "yes")
