"""Prints what baselines.json says that is the same on every machine."""
import json
import sys

with open(sys.argv[1]) as file:
    read = json.load(file)
assert read["version"] == 1
for r in read["records"]:
    line = f"{r['variant']} {r['outcome']} {r.get('mode')} {r.get('graph')}"
    if r["outcome"] == "ok":
        k, s, b = r["kernelbench"], r["stark"], r["bytes"]
        assert 0 < k["min_ms"] <= k["mean_ms"] <= k["max_ms"] and 0 < s["min_ms"] <= s["median_ms"]
        line += (f" {r['clock']} kernelbench {k['samples']} of {k['samples'] + k['discarded']}, stark at least 5: "
                 f"{s['samples'] >= 5}, agrees {r['agrees']}, bytes {b['inputs']} {b['weights']} {b['outputs']}")
        if "compiled" in r:
            line += f", {r['compiled']['graphs']} graph, {r['compiled']['graph_breaks']} breaks"
    print("; ".join([line, *r.get("notes", [])]))
