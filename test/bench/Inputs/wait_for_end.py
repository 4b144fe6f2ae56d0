"""wait_for_end.py FILE: ends once the process whose number FILE holds has ended."""
import sys
import time

with open(sys.argv[1]) as file:
    number = int(file.read())
while True:
    try:
        with open(f"/proc/{number}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] in "ZX":
                break
    except (FileNotFoundError, ProcessLookupError):
        break
    time.sleep(0.05)
