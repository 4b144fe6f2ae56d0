"""resize.py EXAMPLES NAME TIMED COMPARED: copies the example NAME here, with one
size that is timed, "rows=64,cols=2048", and one that is only compared. No other
sizes or values are."""
import json
import shutil
import sys

examples, name = sys.argv[1:3]
timed, compared = ({k: int(v) for k, v in (pair.split("=") for pair in size.split(","))} for size in sys.argv[3:])
shutil.copytree(f"{examples}/{name}", name)
with open(f"{name}/{name}.workload.json") as f:
    workload = json.load(f)
assert set(timed) == set(compared) == set(workload["sizes"][0])
workload["sizes"] = [timed, dict(compared, check_only=True)]
workload["added_sizes"] = workload["harden"] = False
with open(f"{name}/{name}.workload.json", "w") as f:
    json.dump(workload, f, indent=2)
