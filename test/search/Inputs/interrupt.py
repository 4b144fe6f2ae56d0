"""interrupt.py TEXT -- COMMAND...  runs the command, sends it SIGINT once it has
printed TEXT, prints what it printed and exits as it did."""
import signal
import subprocess
import sys

text, command = sys.argv[1], sys.argv[sys.argv.index("--") + 1 :]
run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for line in run.stdout:
    print(line, end="")
    if text in line:
        run.send_signal(signal.SIGINT)
sys.exit(run.wait())
