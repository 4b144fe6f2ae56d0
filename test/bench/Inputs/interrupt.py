"""interrupt.py SIGNAL FILE COMMAND ...: runs the command, and once FILE has a line
sends it SIGNAL. Ends with the command's exit code, or 128 and its signal."""
import os
import signal
import subprocess
import sys
import time

running = subprocess.Popen(sys.argv[3:])
while not (os.path.exists(sys.argv[2]) and os.path.getsize(sys.argv[2])):
    if running.poll() is not None:
        sys.exit(f"ended with {running.returncode} before {sys.argv[2]} was there")
    time.sleep(0.05)
running.send_signal(signal.Signals[sys.argv[1]])
code = running.wait()
sys.exit(code if code >= 0 else 128 - code)
