"""interrupt.py FILE COMMAND ...: runs the command, and once FILE is there sends it SIGTERM."""
import os
import signal
import subprocess
import sys
import time

running = subprocess.Popen(sys.argv[2:])
while not os.path.exists(sys.argv[1]):
    if running.poll() is not None:
        sys.exit(f"ended with {running.returncode} before {sys.argv[1]} was there")
    time.sleep(0.05)
running.send_signal(signal.SIGTERM)
sys.exit(running.wait())
