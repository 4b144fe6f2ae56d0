"""trace.py FILE NAME...: checks that a time trace is one, and prints for each
stage NAME what it was about, or how often it came when it was short."""
import json
import sys

with open(sys.argv[1]) as f:
    events = json.load(f)["traceEvents"]
for event in events:
    assert event["ph"] in "XMbe", event
    assert event["ph"] != "X" or event["dur"] >= 0 and isinstance(event["ts"], int), event
for name in sys.argv[2:]:
    details = sorted({e.get("args", {}).get("detail", "") for e in events if e["name"] == name and e["ph"] == "X"})
    totals = [e["args"]["count"] for e in events if e["name"] == "Total " + name]
    if not details and not totals:
        print(f"{name}: never")
    else:
        print(f"{name}: {'; '.join(details) if details else 'short'}")
for event in events:
    if event["ph"] == "M" and event["name"] == "process_name":
        print("process", event["args"]["name"])
