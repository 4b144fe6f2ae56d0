"""recorded.py LANDSCAPE.json REPORT.json: the curves of the first landscape end at
most at the best speed-up of the run that it was made from."""
import json
import sys

lab, run = (json.load(open(name)) for name in sys.argv[1:])
print("recorded:", lab["recorded"])
best = max(node.get("speedup", 0) for node in run["nodes"])
ends = [policy["best_so_far"][-1] for policy in lab["landscapes"][0]["policies"]]
assert all(1 <= end <= best * 1.001 for end in ends), (ends, best)
print(f"no speed-up above the record's {best}")
