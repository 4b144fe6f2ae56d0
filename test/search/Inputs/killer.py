"""killer.py KILLS COMMAND...: kills the command KILLS times with SIGKILL, after a
drawn while, starting it again each time; then it is left to end. Exits with its
code."""
import random
import subprocess
import sys

draw = random.Random(3)
for _ in range(int(sys.argv[1])):
    process = subprocess.Popen(sys.argv[2:])
    try:
        process.wait(draw.uniform(0.4, 2.0))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.returncode == 0:
        break
    assert process.returncode == -9, process.returncode
sys.exit(subprocess.run(sys.argv[2:]).returncode)
